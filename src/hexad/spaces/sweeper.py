"""Retention by itself: gc over every space whose policy allows it, when it is due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from hexad.core.clock import Clock
from hexad.database.leases import Lease
from hexad.database.meta import Meta
from hexad.errors import AccessDenied, NotFound
from hexad.spaces.retention import GcOptions, Retention

GC_EVERY: Final = timedelta(hours=1)
_LAST: Final = "gc_ran_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What gc did over several spaces."""

    archived: int = 0
    purged: int = 0


class Sweeper:
    """Runs gc for the background and for `maintain`. One process at a time does so unasked."""

    def __init__(self, retention: Retention, meta: Meta, *, lease: Callable[[], Lease], clock: Clock) -> None:
        self._retention = retention
        self._meta = meta
        self._lease = lease
        self._clock = clock
        self._next_s = float("-inf")

    def sweep(self, *, stop: Callable[[], bool] = lambda: False) -> Swept:
        """Run gc over every space whose policy sets a lifetime and allows deletion."""
        archived = purged = 0
        for name in self._retention.allowed():
            if stop():
                break
            try:
                report = self._retention.gc(name, GcOptions(quiet=True, stop=stop), at=self._clock.now())
            except (NotFound, AccessDenied):
                continue  # deleted, or its policy changed, since the list was made
            archived += report.archived
            purged += report.purged
        return Swept(archived=archived, purged=purged)

    def sweep_when_due(self, *, stop: Callable[[], bool]) -> Swept | None:
        """Run gc unless this store's last one was within the hour or another process is at it; then None."""
        if self._clock.monotonic() < self._next_s:
            return None
        self._next_s = self._clock.monotonic() + GC_EVERY.total_seconds()
        if not self._retention.allowed():
            return None
        with self._lease().held_for() as ours:
            now = self._clock.now()
            last = self._meta.get(_LAST)
            if not ours or (last is not None and abs(now - _time(last)) < GC_EVERY):
                return None
            self._meta.put(_LAST, now.isoformat())
            return self.sweep(stop=stop)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)  # damaged: as if it never ran
