"""Taking erased ticks out of the stream's files: logs are sealed without them, segments written anew.

Until a file is done no answer has them: `stream_erased` names them. `stream_erasing` says which files may still hold,
so that whoever comes next goes on where a program was killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import Ranges, difference, union
from hexad.database.connection import Database
from hexad.errors import IntegrityError
from hexad.experience.stream.filters import placed
from hexad.experience.stream.frames import Frames
from hexad.experience.stream.log import list_logs, lock_if_left, read_log
from hexad.experience.stream.sealing import Sealer
from hexad.experience.tables.cold_ranges import ColdRanges, range_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOut:
    """What came of it: bytes written anew, and in words which files still hold what, and why."""

    bytes: int = 0
    held_by: Sequence[str] = ()


class ErasedStream:
    """The erased ticks that files of one store still hold. `give_away` gives this process's own log to be sealed."""

    def __init__(self, db: Database, sealer: Sealer, *, give_away: Callable[[], None]) -> None:
        self._db, self._sealer, self._give_away = db, sealer, give_away
        self._cold = ColdRanges(db)

    def left(self, sessions: Sequence[int] | None = None) -> bool:
        """Whether a file may still hold erased ticks, of these sessions or of any."""
        erasing = self._cold.erasing()
        return bool(erasing) if sessions is None else not erasing.keys().isdisjoint(sessions)

    def take_out(self) -> TakenOut:
        """Take out of the files what they hold of erased ticks; what another process writes to or holds stays."""
        if not self.left():
            return TakenOut()
        self._give_away()
        size = 0
        for _ in range(_ATTEMPTS):
            self._sealer.seal(all=True)
            with self._sealer.alone() as upkeep:
                if upkeep is None:
                    return TakenOut(bytes=size, held_by=["another process is writing the stream's files"])
                # What is erased after this is looked for by whoever erases it.
                erasing = self._cold.erasing()
                written, problems = upkeep.take_out(erasing)
                size += written
                held, logs = self._in_logs(erasing)
                if not problems:
                    with self._db.transaction():
                        self._cold.erased_from_files(
                            {
                                session: difference(ranges, held.get(session, ()))
                                for session, ranges in erasing.items()
                            }
                        )
            # The program that wrote to a log may have ended since: then it is sealed with the next attempt.
            if not any(map(self._is_left, logs)):
                break
        return TakenOut(bytes=size, held_by=[*problems, *map(self._said, logs)])

    def _is_left(self, log: str) -> bool:
        lock = lock_if_left(self._sealer.logs / log)
        if lock is not None:
            os.close(lock)
        return lock is not None

    def _said(self, log: str) -> str:
        if self._is_left(log):
            return f"stream/log/{log} is damaged and cannot be sealed"
        return f"stream/log/{log} is written to by process {log.partition('-')[0]}"

    def _in_logs(self, erasing: Mapping[int, Ranges]) -> tuple[dict[int, Ranges], list[str]]:
        """Return which of these ticks logs hold, and the names of these logs; of a damaged one nobody knows."""
        columns = range_columns(dict(erasing))
        found: dict[int, list[tuple[int, int]]] = {}
        names: list[str] = []
        retired = self._sealer.manifest.retired([path.name for path in list_logs(self._sealer.logs)])
        for path in list_logs(self._sealer.logs):
            if path.name in retired:
                continue
            try:
                log = read_log(path, cipher=self._sealer.cipher)
            except IntegrityError:
                names.append(path.name)
                for session, ranges in erasing.items():
                    found.setdefault(session, []).extend(ranges)
                continue
            here = {} if log is None else _ticks_in(log, columns)
            if here:
                names.append(path.name)
            for session, some in here.items():
                found.setdefault(session, []).extend(some)
        return {session: union(ranges) for session, ranges in found.items()}, names


def _ticks_in(log: Frames, columns: Mapping[str, NDArray[np.int64]]) -> dict[int, Ranges]:
    """Return which ticks in `columns`, as `range_columns` makes them, a log holds, by session."""
    import numpy as np

    found: dict[int, list[tuple[int, int]]] = {}
    for frame in log.frames:
        numbers: dict[str, NDArray[Any]] = frame.numbers
        inside = placed(numbers, columns)
        sessions, ticks = numbers["session"][inside], numbers["tick"][inside]
        for session in np.unique(sessions).tolist():
            mine = np.unique(ticks[sessions == session])
            breaks = np.flatnonzero(np.diff(mine) > 1)
            firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(mine) - 1)
            found.setdefault(session, []).extend(
                zip(mine[firsts].tolist(), mine[lasts].tolist(), strict=True)
            )
    return {session: union(ranges) for session, ranges in found.items()}
