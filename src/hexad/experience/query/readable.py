"""Which segments can be read: a question that goes on in spite of damage leaves out the others, and says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, TypeVar

from hexad.core.tracing import log
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.manifest import SegmentManifest, SessionRange, StreamSegment

Answer = TypeVar("Answer")
_READ_AT_ONCE: Final = 10_000


class ReadableSegments:
    """Leaves damaged segments out for whoever asks in spite of them; what a thread left out is its own."""

    def __init__(self, manifest: SegmentManifest, engine: DuckDbEngine, directory: Path) -> None:
        self._manifest, self._engine, self._directory = manifest, engine, directory
        self._mine = threading.local()

    @property
    def _known(self) -> dict[str, bool] | None:
        """Whether segments can be read, by path, as far as this thread looked; None where it leaves nothing out."""
        known: dict[str, bool] | None = getattr(self._mine, "known", None)
        return known

    @property
    def leaves_out(self) -> bool:
        """Whether this thread goes on in spite of damage."""
        return self._known is not None

    def in_spite_of_damage(self, ask: Callable[[], Answer]) -> tuple[Answer, list[str]]:
        """Return what `ask` makes of the stream; where segments are damaged, what it makes of the others, and in words
        what that leaves out, which is logged too.

        Within `ask` no segment that cannot be read is a source, and no list beside one: that may be what is damaged.
        """
        try:
            return ask(), []
        except (IntegrityError, StorageFailure):
            if self.leaves_out:
                raise  # whoever asked first leaves it out
        self._mine.known = {}
        try:
            answer = ask()
            missing = self._left_out({path for path, can in self._mine.known.items() if not can})
        finally:
            self._mine.known = None
        for note in missing:
            log.warning("%s", note)
        return answer, missing

    def of(self, segments: Sequence[StreamSegment]) -> Sequence[StreamSegment]:
        """Return the segments to read: all of them, or those that can be read in spite of damage."""
        known = self._known
        if known is None:
            return segments
        for path in (str(self._directory / segment.name) for segment in segments):
            if path not in known:
                known[path] = self.is_readable(path)
        return [segment for segment in segments if known[str(self._directory / segment.name)]]

    def unreadable(self, sessions: Collection[int]) -> dict[str, list[SessionRange]]:
        """Return what segments hold of these sessions that this thread leaves out, as the manifest says, by name."""
        if not self.leaves_out:
            return {}
        ranges = self._manifest.ranges(sessions)
        segments = [segment for segment in self._manifest.segments() if segment.name in ranges]
        readable = {segment.name for segment in self.of(segments)}
        return {name: some for name, some in ranges.items() if name not in readable}

    def is_readable(self, path: str) -> bool:
        """Whether all columns of a segment can be read."""
        try:
            with self._engine.cursor(Path(path)) as cursor:
                sql = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
                rows = cursor.execute(sql, [self._engine.name(path)])
                while rows.fetchmany(_READ_AT_ONCE):  # only who takes the rows learns that texts are texts
                    pass
        except (IntegrityError, StorageFailure):
            return False
        return True

    def _left_out(self, paths: Collection[str]) -> list[str]:
        rows = {segment.name: segment.rows for segment in self._manifest.segments()}
        return [
            f"Segment {path} cannot be read: up to {rows.get(Path(path).name, 0):,} timesteps are missing here. "
            "Run `hexad check`, and put a backup in its place."
            for path in sorted(paths)
        ]
