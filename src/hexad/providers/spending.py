"""What calls to models have cost, beside what they may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from hexad.core.json_types import JSONValue
from hexad.errors import ProviderError
from hexad.memory.policy import Period


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent. `reserved_…` is set aside for calls under way, or whose end nobody saw, and counts too.

    `unpriced` is how many calls have no known price; their US dollars are not in any sum.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    reserved_calls: int = 0
    reserved_tokens: int = 0
    reserved_usd: float = 0.0
    unpriced: int = 0

    @property
    def all_tokens(self) -> int:
        """Tokens that a budget counts."""
        return self.tokens + self.reserved_tokens

    @property
    def all_usd(self) -> float:
        """US dollars that a budget counts."""
        return self.usd + self.reserved_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """One budget and what is left of it, or, without a cap, what was spent.

    `space` None means the whole project, `provider` None all providers together.
    """

    space: str | None
    provider: str | None
    period: Period
    cap_tokens: int | None
    cap_usd: float | None
    spent: Spent

    @property
    def left_tokens(self) -> int | None:
        """Tokens that may still be spent, never below 0; None without a cap."""
        return None if self.cap_tokens is None else max(0, self.cap_tokens - self.spent.all_tokens)

    @property
    def left_usd(self) -> float | None:
        """US dollars that may still be spent, never below 0; None without a cap."""
        return None if self.cap_usd is None else max(0.0, self.cap_usd - self.spent.all_usd)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the line as JSON."""
        caps: Mapping[str, JSONValue] = {"tokens": self.cap_tokens, "usd": self.cap_usd}
        left: Mapping[str, JSONValue] = {"tokens": self.left_tokens, "usd": _cents(self.left_usd)}
        return {
            "space": self.space,
            "provider": self.provider,
            "period": self.period.value,
            "cap": caps,
            "calls": self.spent.calls + self.spent.reserved_calls,
            "spent": {"tokens": self.spent.tokens, "usd": _cents(self.spent.usd)},
            "reserved": {"tokens": self.spent.reserved_tokens, "usd": _cents(self.spent.reserved_usd)},
            "left": left,
            "unpriced_calls": self.spent.unpriced,
        }


def _cents(usd: float | None) -> float | None:
    """Return an amount without the noise of binary fractions: a millionth of a cent is enough."""
    return None if usd is None else round(usd, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What a call to a model costs, estimated or measured; `usd` None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


class BudgetBook(Protocol):
    """Keeps calls to models within what a space and the project allow (document 1, section 7)."""

    def reserve(
        self, *, space: str | None, provider: str, model: str, operation: str, estimate: Spend
    ) -> int:
        """Set the estimate aside before a call and return its number; raises `BudgetExceeded`."""

    def settle(self, number: int, actual: Spend) -> None:
        """Put what the call cost in the place of its estimate."""

    def release(self, number: int) -> None:
        """Give back what was set aside for a call that was never made."""


@dataclass(slots=True)
class ModelCall:
    """A call under way; `actual` is what it cost, the estimate until the call says otherwise."""

    actual: Spend


@contextmanager
def within_budget(
    book: BudgetBook, *, space: str | None, provider: str, model: str, operation: str, estimate: Spend
) -> Iterator[ModelCall]:
    """Set aside what a call may cost at most while the block makes it, and count what it did cost.

    A `ProviderError` that says that nothing was charged gives it back; after any other error the estimate counts:
    nobody knows how far the call came. Raises `BudgetExceeded` before the block begins.
    """
    number = book.reserve(space=space, provider=provider, model=model, operation=operation, estimate=estimate)
    call = ModelCall(estimate)
    try:
        yield call
    except ProviderError as error:
        if error.charged:
            book.settle(number, estimate)
        else:
            book.release(number)
        raise
    except BaseException:
        book.settle(number, estimate)
        raise
    book.settle(number, call.actual)
