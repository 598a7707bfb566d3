"""The calendar tree of `temporal`: years, in them months, in them ISO weeks, all in UTC.

Every memory hangs at a leaf by the time of its last change. How much it decayed is decided by its leaf alone, so it
is computed once for each leaf, not for each memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

YEAR_WEIGHT, MONTH_WEIGHT, WEEK_WEIGHT = 1.0, 1.5, 2.0
_HALF: Final = 0.5
_DAY_MICROS: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A week within a month: `week` is its Monday, in days since 1970."""

    year: int
    month: int
    week: int


@dataclass(slots=True)
class _Month:
    weeks: dict[int, int] = field(default_factory=dict)  # Monday -> number of the leaf


@dataclass(slots=True)
class _Year:
    months: dict[int, _Month] = field(default_factory=dict)


class CalendarTree:
    """The weeks in which something changed, under their months and years."""

    def __init__(self) -> None:
        self._years: dict[int, _Year] = {}
        self._leaves: list[Leaf] = []
        self._by_day: dict[int, int] = {}

    def leaf(self, day: int) -> int:
        """Return the number of the leaf that a day (since 1970) is on, grown when it is new."""
        number = self._by_day.get(day)
        if number is None:
            at = leaf_of(day)
            weeks = self._years.setdefault(at.year, _Year()).months.setdefault(at.month, _Month()).weeks
            number = weeks.setdefault(at.week, len(self._leaves))
            if number == len(self._leaves):
                self._leaves.append(at)
            self._by_day[day] = number
        return number

    def decays(self, updated: NDArray[np.int64], now: datetime) -> NDArray[np.float64]:
        """Return the decay of each time, given in microseconds since 1970.

        1.0·0.5^years + 1.5·0.5^months + 2.0·0.5^weeks, added from left to right; the distances are those of whole
        calendar years, calendar months and ISO weeks, and what lies ahead of `now` has distance 0.
        """
        import numpy as np

        if not len(updated):
            return np.empty(0, dtype=np.float64)
        days = updated // _DAY_MICROS
        first = int(days.min())
        days -= first
        today = leaf_of((now.astimezone(UTC).date() - _EPOCH).days)
        by_day = np.zeros(int(days.max()) + 1, dtype=np.float64)
        by_leaf: dict[int, float] = {}
        for day in np.flatnonzero(np.bincount(days)).tolist():
            number = self.leaf(first + day)
            if number not in by_leaf:
                by_leaf[number] = decay(self._leaves[number], today)
            by_day[day] = by_leaf[number]
        return by_day[days]


def leaf_of(day: int) -> Leaf:
    """Return the leaf that a day since 1970 is on."""
    at = _EPOCH + timedelta(days=day)
    return Leaf(at.year, at.month, day - at.weekday())


def decay(at: Leaf, today: Leaf) -> float:
    """Return what is left at `today` of a memory changed at `at`: 4.5 in the same week, less with every bucket."""
    years = max(0, today.year - at.year)
    months = max(0, 12 * (today.year - at.year) + today.month - at.month)
    weeks = max(0, (today.week - at.week) // 7)
    return YEAR_WEIGHT * _HALF**years + MONTH_WEIGHT * _HALF**months + WEEK_WEIGHT * _HALF**weeks
