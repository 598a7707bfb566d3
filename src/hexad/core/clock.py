"""Time, handed in: the only module that reads the system's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where times come from."""

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards, for durations and deadlines."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the wall clock's time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()


class FrozenClock:
    """A clock that moves only when told to; durations follow it."""

    def __init__(self, at: datetime | None = None) -> None:
        self._now = (at or datetime(2026, 1, 1, tzinfo=UTC)).astimezone(UTC)
        self._start = self._now

    def now(self) -> datetime:
        """Return the frozen time."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds by which the clock was advanced since it was made."""
        return (self._now - self._start).total_seconds()

    def advance(self, **amount: float) -> None:
        """Move forward by `timedelta(**amount)`."""
        self._now += timedelta(**amount)


def format_time(time: datetime) -> str:
    """Return RFC 3339 in UTC with `Z`; fractions of a second only where there are any."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
