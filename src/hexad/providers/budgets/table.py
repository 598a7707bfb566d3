"""What calls to models cost, and the caps that they are held to (document 1, section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from hexad.core.clock import Clock
from hexad.database.codec import to_micros
from hexad.database.connection import Database, SQLValue
from hexad.errors import BudgetExceeded
from hexad.memory.policy import Budget, Period, SpaceBudget, parse_stored
from hexad.memory.tables.spaces import Spaces
from hexad.providers.spending import BudgetLine, Spend, Spent

_NOTHING: Final = 0
"""The number of a reservation in a store that is open for reading: there is no row behind it."""
_DAY: Final = 86_400_000_000
"""Microseconds."""
_ROUNDING_USD: Final = 1e-9
"""Sums of binary fractions differ from the amounts by less than this; a cap is not passed by it."""
_SHOWN_USD: Final = 1e-8
"""The smallest amount that is shown with all its digits: a millionth of a cent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cap:
    """A budget, and what it is about: `space` None means the project, `provider` None all of them."""

    space: str | None
    provider: str | None
    budget: Budget

    @property
    def about(self) -> str:
        owner = f"of space {self.space!r}" if self.space is not None else "of the project"
        return f"{owner} for {self.provider}" if self.provider is not None else owner


class Budgets:
    """The budgets of one store, whoever spends: a `BudgetBook` for any number of threads and processes.

    `project` is `[budget]` of the settings; a space's own is in its policy. Every cap that concerns a call counts.
    A call that was set aside and never settled, because its process died, counts with its estimate for good.
    """

    def __init__(self, db: Database, *, clock: Clock, project: SpaceBudget) -> None:
        self._db = db
        self._clock = clock
        self._project = project
        self._spaces = Spaces(db)

    def reserve(
        self, *, space: str | None, provider: str, model: str, operation: str, estimate: Spend
    ) -> int:
        """Set the estimate aside before a call and return its number.

        Raises `BudgetExceeded`, with what is allowed, spent and asked for, when a cap of the space or the project
        would be passed; and for a cap in US dollars when the call has no known price.
        """
        if self._db.readonly:
            with self._db.read():
                self._require_room(space, provider, model, estimate)
            return _NOTHING
        now = self._clock.now()
        # One transaction: between the sums and the row nobody else can spend what is left.
        with self._db.transaction() as con:
            self._require_room(space, provider, model, estimate)
            con.execute(
                "INSERT INTO spending(at, space, provider, model, operation, settled, input_tokens, output_tokens, usd)"
                " VALUES(?,?,?,?,?,0,?,?,?)",
                (
                    to_micros(now),
                    space,
                    provider.lower(),
                    model,
                    operation,
                    estimate.input_tokens,
                    estimate.output_tokens,
                    estimate.usd,
                ),
            )
            return con.last_insert_rowid

    def settle(self, number: int, actual: Spend) -> None:
        """Put what the call cost in the place of its estimate, also when it is more."""
        if number == _NOTHING:
            return
        with self._db.transaction() as con:
            con.execute(
                "UPDATE spending SET settled = 1, input_tokens = ?, output_tokens = ?, usd = ?"
                " WHERE no = ? AND settled = 0",
                (actual.input_tokens, actual.output_tokens, actual.usd, number),
            )
            if con.changes:
                con.execute(
                    "INSERT INTO spending_days(space, provider, day, calls, tokens, usd, unpriced)"
                    " SELECT coalesce(space, ''), provider, at / ?, 1, input_tokens + output_tokens,"
                    " coalesce(usd, 0.0), usd IS NULL FROM spending WHERE no = ?"
                    " ON CONFLICT(space, provider, day) DO UPDATE SET calls = calls + 1,"
                    " tokens = tokens + excluded.tokens, usd = usd + excluded.usd,"
                    " unpriced = unpriced + excluded.unpriced",
                    (_DAY, number),
                )

    def release(self, number: int) -> None:
        """Give back what was set aside for a call that was never made, or was refused unseen."""
        if number == _NOTHING:
            return
        with self._db.transaction() as con:
            con.execute("DELETE FROM spending WHERE no = ? AND settled = 0", (number,))

    def spent(
        self, space: str | None = None, provider: str | None = None, period: Period = Period.TOTAL
    ) -> Spent:
        """Return what was spent in the running period by a space (None: everything) at a provider (None: all).

        `openai` counts what was spent at `openai@host` too.
        """
        where, params = _where(space, provider)
        since = self._since(period)
        calls, tokens, usd, unpriced = self._sums(
            "SELECT total(calls), total(tokens), total(usd), total(unpriced) FROM spending_days"
            f" WHERE day >= ? {where}",
            [since // _DAY, *params],
        )
        reserved_calls, reserved_tokens, reserved_usd, reserved_unpriced = self._sums(
            "SELECT count(*), total(input_tokens + output_tokens), total(usd), count(*) - count(usd) FROM spending"
            f" WHERE settled = 0 AND at >= ? {where}",
            [since, *params],
        )
        return Spent(
            calls=int(calls),
            tokens=int(tokens),
            usd=usd,
            reserved_calls=int(reserved_calls),
            reserved_tokens=int(reserved_tokens),
            reserved_usd=reserved_usd,
            unpriced=int(unpriced + reserved_unpriced),
        )

    def _sums(self, sql: str, params: list[SQLValue]) -> tuple[float, float, float, float]:
        row = self._db.query_one(sql, params)
        assert row is not None
        return row

    def report(self, space: str | None = None) -> list[BudgetLine]:
        """Return every budget of a space, None for the project, with what is spent and left.

        Providers without a cap of their own that were used follow, with what they cost over all time. Raises
        `NotFound` for a space that was never created.
        """
        with self._db.read():
            if space is not None:
                self._spaces.get(space)
            caps = list(self._caps(space))
            own = [cap for cap in caps if cap.space == space]
            if not any(cap.provider is None for cap in own):
                own.insert(0, _Cap(space=space, provider=None, budget=Budget()))
            capped = {cap.provider for cap in own}
            own += [
                _Cap(space=space, provider=provider, budget=Budget())
                for provider in self._providers(space)
                if provider not in capped
            ]
            return [self._line(cap) for cap in own]

    def _line(self, cap: _Cap) -> BudgetLine:
        return BudgetLine(
            space=cap.space,
            provider=cap.provider,
            period=cap.budget.period,
            cap_tokens=cap.budget.tokens,
            cap_usd=cap.budget.usd,
            spent=self.spent(cap.space, cap.provider, cap.budget.period),
        )

    def _providers(self, space: str | None) -> list[str]:
        where, params = _where(space, None)
        rows = self._db.query(
            f"SELECT provider FROM spending_days WHERE 1 {where}"
            f" UNION SELECT provider FROM spending WHERE settled = 0 {where} ORDER BY provider",
            [*params, *params],
        )
        return [row[0] for row in rows]

    # Caps -------------------------------------------------------------------------------------------------------

    def _require_room(self, space: str | None, provider: str, model: str, estimate: Spend) -> None:
        for cap in self._caps(space):
            if cap.provider is None or _concerns(cap.provider, provider.lower()):
                self._require_room_in(cap, f"{provider}:{model}", estimate)

    def _require_room_in(self, cap: _Cap, name: str, estimate: Spend) -> None:
        budget, tokens = cap.budget, estimate.input_tokens + estimate.output_tokens
        if budget.tokens is None and budget.usd is None:
            return
        spent = self.spent(cap.space, cap.provider, budget.period)
        remedy = _remedy(cap, estimate)
        if budget.tokens is not None and spent.all_tokens + tokens > budget.tokens:
            raise BudgetExceeded(
                f"The budget {cap.about} ({budget.period.value}) allows {budget.tokens:,} tokens; {spent.all_tokens:,} "
                f"are spent or set aside, and {name} may take {tokens:,} more. No call was made; {remedy}."
            )
        if budget.usd is None:
            return
        if estimate.usd is None:
            raise BudgetExceeded(
                f"The budget {cap.about} is in US dollars, and no price of {name} is known. No call was made; name it "
                f'in hexad.toml: [prices] "{name}" = {{input = 0.15, output = 0.60}} (dollars per million tokens).'
            )
        if spent.all_usd + estimate.usd > budget.usd + _ROUNDING_USD:
            raise BudgetExceeded(
                f"The budget {cap.about} ({budget.period.value}) allows {_usd(budget.usd)}; {_usd(spent.all_usd)} "
                f"are spent or set aside, and {name} may cost {_usd(estimate.usd)} more. No call was made; {remedy}."
            )

    def _caps(self, space: str | None) -> Iterator[_Cap]:
        """Give the caps that concern a space, its own first; None has those of the project alone."""
        if space is not None and (found_space := self._spaces.find(space)) is not None:
            yield from _caps_of(space, parse_stored(found_space.policies).budget)
        yield from _caps_of(None, self._project)

    def _since(self, period: Period) -> int:
        now = self._clock.now().astimezone(UTC)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        starts = {
            Period.TOTAL: datetime.min.replace(tzinfo=UTC),
            Period.MONTH: day.replace(day=1),
            Period.DAY: day,
        }
        return to_micros(starts[period])


def _where(space: str | None, provider: str | None) -> tuple[str, list[SQLValue]]:
    """Return what keeps a statement to a space and a provider, and its parameters."""
    parts: list[str] = []
    params: list[SQLValue] = []
    if space is not None:
        parts.append("AND space = ?")
        params.append(space)
    if provider is not None:
        parts.append("AND (provider = ? OR substr(provider, 1, length(?) + 1) = ? || '@')")
        params += [provider.lower()] * 3
    return " ".join(parts), params


def _caps_of(space: str | None, budget: SpaceBudget) -> Iterator[_Cap]:
    if budget.total is not None:
        yield _Cap(space=space, provider=None, budget=budget.total)
    for provider, bound in sorted(budget.providers.items()):
        yield _Cap(space=space, provider=provider, budget=bound)


def _concerns(capped: str, provider: str) -> bool:
    """Return whether a cap is about a provider: `openai` is about `openai@host` too, not the other way round."""
    return provider == capped or provider.partition("@")[0] == capped


def _remedy(cap: _Cap, estimate: Spend) -> str:
    ways = ["raise it in the space's policy" if cap.space is not None else "raise [budget] in hexad.toml"]
    if estimate.output_tokens:
        # What an answer may take is most of an estimate, and the caller's to say.
        ways.insert(0, "allow a shorter answer (max_tokens of the call, --max-tokens; or llm_max_tokens)")
    if cap.budget.period is not Period.TOTAL:
        ways.append("wait for the next period")
    return " or ".join([", ".join(ways[:-1]), ways[-1]]) if ways[1:] else ways[0]


def _usd(amount: float) -> str:
    """Return an amount for people: cents, and the digits below that it has, so that sums can be followed.

    >>> _usd(5.0), _usd(0.01234), _usd(0.1 + 0.2), _usd(0.0)
    ('$5.00', '$0.01234', '$0.30', '$0.00')
    """
    whole, _, below = f"{amount:.8f}".partition(".")
    return f"${whole}.{below.rstrip('0'):0<2}" if amount >= _SHOWN_USD or not amount else f"${amount:.2g}"
