"""How many timesteps there are: said by the manifest, counted only in files that have some of what left the stream."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hexad.core import tick_ranges as ticks
from hexad.core.tick_ranges import Ranges, intersection
from hexad.experience.stream.duckdb_engine import Duck
from hexad.experience.stream.filters import TickRanges
from hexad.experience.stream.manifest import SessionRange

_KNOWN_LIMIT = 10_000
Gone = tuple[tuple[int, Ranges], ...]


@dataclass(slots=True)
class SealedCounts:
    """Counts what is left in segments, and remembers it: of a file it changes only when more of its ticks leave."""

    duck: Duck
    _known: dict[str, tuple[Gone, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, held: Mapping[str, Sequence[SessionRange]], gone: Mapping[int, Ranges]) -> int:
        """Return how many timesteps of segments are in the stream; `held` says by path what is in the files.

        Raises `StorageFailure` when a file has gone.
        """
        left, unsure = 0, dict[str, Gone]()
        for path, ranges in held.items():
            here = [
                (session_range, intersection(gone.get(session_range.session, ()), [session_range.ticks]))
                for session_range in ranges
            ]
            # Without gaps every tick that left is in the file still; with gaps it may have gone from there.
            if all(
                not out or session_range.rows == session_range.ticks[1] - session_range.ticks[0] + 1
                for session_range, out in here
            ):
                left += sum(session_range.rows - ticks.count(out) for session_range, out in here)
            else:
                unsure[path] = tuple((session_range.session, out) for session_range, out in here if out)
        with self._lock:
            if len(self._known) > _KNOWN_LIMIT:
                self._known.clear()
            known = {path: self._known.get(path) for path in unsure}
        for path, out in unsure.items():
            found = known[path]
            if found is None or found[0] != out:
                found = out, self._counted(path, out)
                with self._lock:
                    self._known[path] = found
            left += found[1]
        return left

    def _counted(self, path: str, gone: Gone) -> int:
        places = TickRanges(dict(gone))
        with self.duck.cursor(Path(path)) as cursor:
            cursor.register("gone", places.table)
            row = cursor.execute(
                "SELECT count(*) FROM (SELECT session, tick FROM read_parquet(?, hive_partitioning = false)) steps"
                + places.outside("gone"),
                [self.duck.name(path)],
            ).fetchone()
        assert row is not None
        return int(row[0])
