"""`hx.facts`: what holds of a subject's attribute now, what held at a time, what was learned since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final

from hexad.core.arguments import all_texts_checked, parse_text, parse_time, quoted
from hexad.core.clock import Clock
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import InvalidInput
from hexad.memory.fact import (
    LINE,
    STACK,
    TOLD,
    Fact,
    FactChange,
    FactRow,
    Review,
    fact_of,
    family_of,
    predecessor,
    successor,
)
from hexad.memory.memory import Memory, Status
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.text.key_names import topic_key

_NAME_LIMIT: Final = 500


@all_failures_translated
@all_texts_checked
class FactsFacade:
    """Answers about facts: memories with a subject, an attribute, or both. Keys are compared by their look.

    An attribute has one value at a time: a later value that is trusted as much takes the place of the older one. What
    `declare` names holds several. Values that contradict each other and of which neither takes the other's place are
    all kept, and `contradictions` shows them.
    """

    def __init__(self, stores: Stores, *, clock: Clock, mask: Callable[[str], str]) -> None:
        self._stores, self._clock, self._mask = stores, clock, mask
        self._facts = Facts(stores.db, roles=stores.roles)

    # Asking ----------------------------------------------------------------------------------------------------

    def current(
        self, subject: str | None = None, attribute: str | None = None, *, space: str | None = None
    ) -> list[Fact]:
        """Return what holds now of a subject, an attribute or both; an empty list when nothing is known.

        Where several values stand, the one that is trusted most comes first, then the latest. Raises `NotFound` for a
        space that was never created, `InvalidInput` for a name that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ann lives in Oslo.", subject="Ann", attribute="city", value="Oslo")
        ...     _ = hx.remember("Ann lives in Rome.", subject="Ann", attribute="city", value="Rome")
        ...     [fact.value for fact in hx.facts.current("ann", "city")], hx.facts.current("bob", "city")
        (['Rome'], [])
        """
        return self.as_of(self._clock.now(), subject, attribute, space=space)

    def as_of(
        self,
        when: datetime | str,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        space: str | None = None,
        known_at: datetime | str | None = None,
    ) -> list[Fact]:
        """Return what held at a time. `known_at` leaves out what the store learned later. Raises as `current` does."""
        moment, known_moment = parse_time(when, "when"), parse_time(known_at, "known_at")
        if moment is None:
            raise InvalidInput(
                "when = None says no time; give one, or ask for what is `current`.", argument="when"
            )
        with self._stores.db.read():
            facts = [
                fact
                for line in self._lines(subject, attribute, space)
                for fact in self._facts_of_line(
                    [row for row in line if known_moment is None or row.recorded_at <= known_moment],
                    known_moment,
                )
                if fact.holds_at(moment)
            ]
        facts.sort(key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id), reverse=True)
        return sorted(
            facts, key=lambda fact: (-fact.trust.rank, fact.space, fact.subject or "", fact.attribute or "")
        )

    def history(
        self, subject: str | None = None, attribute: str | None = None, *, space: str | None = None
    ) -> list[Fact]:
        """Return all that held of a subject's attribute, the oldest first, each with the time in which it did.

        What was forgotten is left out. Raises as `current` does.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     ann = {"subject": "ann", "attribute": "city"}
        ...     for city, since in (("Rome", "2026-03-01"), ("Oslo", "2024-05-01")):
        ...         _ = hx.remember(f"Ann lives in {city}.", value=city, valid_from=since, **ann)
        ...     [(fact.value, str(fact.valid_to)[:10]) for fact in hx.facts.history("ann", "city")]
        [('Oslo', '2026-03-01'), ('Rome', 'None')]
        """
        with self._stores.db.read():
            return [
                fact
                for line in self._lines(subject, attribute, space)
                for fact in self._facts_of_line(line, None)
            ]

    def what_changed(
        self,
        since: datetime | str,
        until: datetime | str | None = None,
        *,
        space: str | None = None,
    ) -> list[FactChange]:
        """Return what the store learned since a time, in the order in which it did, each with what was known before.

        Asks when facts were recorded, not when they hold. Raises `InvalidInput` for a time that cannot be read,
        and for an `until` before `since`.
        """
        start, end = parse_time(since, "since"), parse_time(until, "until")
        if start is None:
            raise InvalidInput(
                "since = None says no time; give the one from which on to look.", argument="since"
            )
        if end is not None and end < start:
            raise InvalidInput(
                f"until = {quoted(until)} is before {quoted(since)}: nothing is between them.",
                argument="until",
                remedy="Give the earlier time as {since}.",
            )
        changes: list[FactChange] = []
        with self._stores.db.read():
            self._check_space(space)
            for look, space_no in self._facts.changed(since=start, until=None, space=space):
                line = self._facts.line(look, space_no=space_no, statuses=LINE)
                changes += self._changes(line, start, end)
        return sorted(changes, key=lambda change: (change.at, change.fact.id, change.what))

    def contradictions(self, *, space: str | None = None) -> list[tuple[Fact, Fact]]:
        """Return pairs of facts that contradict each other and both stand, the older one first."""
        with self._stores.db.read():
            self._check_space(space)
            lines = [
                self._facts.line(look, space_no=space_no, statuses=LINE)
                for look, space_no in self._facts.contested(space=space)
            ]
            pairs = [
                (fact_of(old, self._rivals(old, line)), fact_of(new, self._rivals(new, line)))
                for line in lines
                for old, new in combinations([row for row in line if row.status is Status.ACTIVE], 2)
                if old.contradicts(new) and new in self._rivals(old, line)
            ]
        return pairs

    def needs_review(self, *, space: str | None = None) -> list[Review]:
        """Return the memories that rest on something that was superseded or forgotten since.

        What rests on what is said by links: `hx.link(what_rests, premise, kind="depends-on")`, or `based-on`.
        """
        with self._stores.db.read():
            self._check_space(space)
            return self._facts.to_review(space=space)

    # Saying ----------------------------------------------------------------------------------------------------

    def reviewed(self, id_or_path: str, *, space: str | None = None) -> Memory:
        """Say that a memory that was marked still holds, and return it. Raises `NotFound` as `Hexad.get` does."""
        with self._stores.span("update_memory") as told, self._stores.db.transaction():
            no = self._stores.memories.resolve_one(id_or_path, space=space)
            self._facts.reviewed(no)
            memory = self._stores.memories.by_no([no])[no]
            told.update(memory=memory.id, count=1)
            return memory

    def declare(self, attribute: str, *, many: bool = True) -> None:
        """Say that an attribute holds several values at once, or with `many=False` that it holds one again.

        It counts for what is remembered from then on; what stands, stands. Raises `InvalidInput` for no name.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     hx.facts.declare("speaks")
        ...     for language in ("Danish", "Welsh"):
        ...         _ = hx.remember(f"Ann speaks {language}.", subject="ann", attribute="speaks", value=language)
        ...     sorted(fact.value for fact in hx.facts.current("ann", "speaks"))
        ['Danish', 'Welsh']
        """
        if not isinstance(many, bool):
            raise InvalidInput(f"many = {quoted(many)} cannot be used; give true or false.", argument="many")
        name = parse_text(attribute, "attribute")
        if name is None or not name.strip() or len(name) > _NAME_LIMIT or not name.isprintable():
            raise InvalidInput(
                f"attribute = {quoted(attribute)} cannot be used; give a name, such as 'speaks'.",
                argument="attribute",
            )
        with self._stores.db.transaction():
            self._facts.declare(self._mask(name.strip()), many=many, at=self._clock.now())

    def declared(self) -> list[str]:
        """Return the attributes that hold several values at once."""
        return self._facts.declared()

    # Inside ----------------------------------------------------------------------------------------------------

    def _lines(self, subject: str | None, attribute: str | None, space: str | None) -> list[list[FactRow]]:
        parse_text(subject, "subject")
        parse_text(attribute, "attribute")
        self._check_space(space)
        lines = [
            self._facts.line(look, space_no=space_no, statuses=LINE)
            for look, space_no in self._facts.looks(subject, attribute, space=space)
        ]
        return lines if lines or attribute is None else self._stack_lines(subject, attribute, space)

    def _stack_lines(self, subject: str | None, attribute: str, space: str | None) -> list[list[FactRow]]:
        """Return the lines of the stack that stand under another name of an attribute."""
        lines = [
            [row for row in self._facts.line(look, space_no=space_no, statuses=LINE) if row.kind == STACK]
            for look, space_no in self._facts.stack_looks(subject, topic_key(attribute), space=space)
        ]
        return [line for line in lines if line]

    def _check_space(self, space: str | None) -> None:
        if space is not None:
            self._stores.spaces.get(space)

    def _facts_of_line(self, line: Sequence[FactRow], moment: datetime | None) -> list[Fact]:
        """Return what is told of a line: the same value again, without another one between, is told once."""
        facts_by_row: list[tuple[FactRow, Fact]] = []
        for row in line:
            if row.status not in TOLD:
                continue
            rivals = self._rivals(row, line)
            last = next(
                (pair for pair in reversed(facts_by_row) if family_of(pair[0].kind) == family_of(row.kind)),
                None,
            )
            goes_on = last is not None and not last[0].differs(row) and last[0].trust.rank >= row.trust.rank
            if goes_on and rivals and last is not None and last[1].holds_at(row.valid_from):
                continue
            facts_by_row.append((row, fact_of(row, rivals, known_at=moment)))
        return [fact for _, fact in facts_by_row]

    def _rivals(self, row: FactRow, line: Sequence[FactRow]) -> list[FactRow]:
        """Return the facts against which one is held: of its family, and none where an attribute holds several."""
        if self._facts.holds_many(row.attribute):
            return []
        return [other for other in line if family_of(other.kind) == family_of(row.kind)]

    def _changes(self, line: Sequence[FactRow], start: datetime, end: datetime | None) -> list[FactChange]:
        def asked(at: datetime) -> bool:
            return start <= at and (end is None or at < end)

        changes: list[FactChange] = []
        for row in line:
            rivals = self._rivals(row, line)
            fact = fact_of(row, rivals)
            if row.status is Status.ARCHIVED:
                if asked(row.changed_at):
                    changes.append(FactChange(at=row.changed_at, what="forgotten", fact=fact))
                continue
            if not asked(row.recorded_at):
                continue
            before, after = predecessor(row, rivals), successor(row, rivals)
            if after is not None and (after.recorded_at, after.no) < (row.recorded_at, row.no):
                what = "late"
            elif before is not None:
                what = "replaced"
            else:
                what = "contradicts" if fact.contradicted_by else "new"
            is_replaced = before is not None and before.status in TOLD and what == "replaced"
            changes.append(
                FactChange(
                    at=row.recorded_at,
                    what=what,
                    fact=fact,
                    before=fact_of(before, rivals) if is_replaced and before is not None else None,
                )
            )
        return changes
