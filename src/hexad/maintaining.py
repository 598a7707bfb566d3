"""Upkeep of experience: what the background does, and `maintain`. A store without experience does not load it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hexad.asking import RouterUpkeep
from hexad.deciding import ProjectKnowledge
from hexad.personal import UserUpkeep
from hexad.sessioning import SessionUpkeep

if TYPE_CHECKING:
    from hexad.clock import Clock
    from hexad.experiencing import Experiencing
    from hexad.storage.stores import Stores
    from hexad.wiring import Base, Place


class StreamUpkeep(SessionUpkeep, UserUpkeep, RouterUpkeep, ProjectKnowledge):
    """The part of `Parts` that looks after experience; each step does nothing where there is nothing for it."""

    base: Base
    place: Place
    clock: Clock
    stores: Stores
    if TYPE_CHECKING:

        @cached_property
        def experiencing(self) -> Experiencing:
            """The experience database."""

    def seal_when_due(self, *, stop: Callable[[], bool] = lambda: False) -> tuple[int, Sequence[str]]:
        """Seal what was recorded, by whomever, where it is large or old; return how many timesteps, and what is wrong
        with logs that stay for that.
        """  # fmt: skip
        if "experiencing" not in self.__dict__:
            from hexad.storage.stream_log import list_logs

            if not list_logs(self.place.directory / "stream" / "log"):
                return 0, ()
        report = self.experiencing.experience.seal(stop=stop)
        return report.rows, report.problems

    def compact_idle(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows that were left full, and those of sessions in which nothing was recorded for long;
        return how many compactions.
        """  # fmt: skip
        if not (self.place.directory / "stream").is_dir():
            return 0
        compactor = self.experiencing.compacting.compactor
        return compactor.relieve(stop=stop) + compactor.expire_idle(stop=stop)

    def compact_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compact the windows that this process found full, and each hour those that were left, full or idle."""
        if "experiencing" in self.__dict__:
            self.experiencing.compacting.compactor.work(stop=stop)

    def compress(self) -> int:
        """Compress experience that is over its limits; return how many records became part of coarser ones."""
        limited = self.base.settings.xdb_max_storage_bytes is not None
        if "experiencing" not in self.__dict__ and not limited and not self.stores.meta.has_cold():
            return 0
        records = self.experiencing.storage.check_and_compress().records
        self.experiencing.compacting.remembrance.catch_up()
        return records

    def compress_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compress experience that is over its limits, once this process has to do with experience."""
        if "experiencing" in self.__dict__ and self.experiencing.storage.compress_when_due(stop=stop):
            self.experiencing.compacting.remembrance.catch_up(stop=stop)

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

    def close_experience(self) -> None:
        """Write what waits of sessions and of experience, and release both, and the user layer."""
        try:
            self.close_user()
            self.close_sessions()
        finally:
            if "experiencing" in self.__dict__:
                self.experiencing.experience.close()

    def hand_on(self, successor: StreamUpkeep) -> None:
        """Let the same store with another embedder go on with sessions: nothing of them depends on an embedder."""
        self.hand_sessions(successor)
        if "user" in self.__dict__:
            successor.__dict__["user"] = self.user
        if "experiencing" in self.__dict__:
            successor.experiencing = self.experiencing
