"""Upkeep of experience: what the background does, and `maintain`. A store without experience does not load it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexad.clock import Clock
    from hexad.experiencing import Experiencing
    from hexad.storage.stores import Stores
    from hexad.wiring import Place


class StreamUpkeep:
    """The part of `Parts` that looks after experience; each step does nothing where there is nothing for it."""

    place: Place
    clock: Clock
    stores: Stores
    if TYPE_CHECKING:

        @property
        def experiencing(self) -> Experiencing:
            """The experience database."""

    def seal_when_due(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Seal what was recorded, by whomever, where it is large or old; return how many timesteps."""
        if "experiencing" not in self.__dict__:
            from hexad.storage.stream_log import list_logs

            if not list_logs(self.place.directory / "stream" / "log"):
                return 0
        return self.experiencing.experience.seal(stop=stop).rows

    def compact_idle(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows of sessions in which nothing was recorded for long; return how many compactions."""
        if not (self.place.directory / "stream" / "segments").is_dir():
            return 0
        compacting = self.experiencing.compacting
        done = compacting.compactor.expire_idle(stop=stop)
        compacting.remembrance.compactions(stop=stop)
        return done

    def compact_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compact the windows that this process found full, and each hour those of idle sessions."""
        if "experiencing" in self.__dict__:
            self.experiencing.compacting.compactor.work(stop=stop)

    def compress_when_due(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compress COLD experience that is over its limit; return how many records became part of coarser ones."""
        if "experiencing" not in self.__dict__ and not self.stores.meta.has_cold():
            return 0
        report = self.experiencing.storage.compress_when_due(stop=stop)
        return 0 if report is None else report.records

    def let_go_when_due(self) -> int:
        """Let go of windows whose grace is over; return how many."""
        if "experiencing" not in self.__dict__ and not self.stores.meta.has_windows_to_settle(
            self.clock.now()
        ):
            return 0
        return self.experiencing.tiers.release_when_due()

    def tidy(self, *, stop: Callable[[], bool] = lambda: False, when_due: bool = False) -> int:
        """Remove from the stream's files what left for COLD records; return how many bytes came free."""
        there = (self.place.directory / "stream" / "segments").is_dir()
        if not there or (when_due and "experiencing" not in self.__dict__):
            return 0
        return self.experiencing.experience.tidy(stop=stop, when_due=when_due).freed_bytes
