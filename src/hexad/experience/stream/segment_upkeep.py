"""Upkeep of segments: rows that left for COLD records go, small segments become one, missing sidecars are made.

A segment is never changed. What is left of it is written as another one, which one transaction puts in its place;
only then its files go. Whoever was reading it by then has it open; whoever comes too late asks the manifest again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.clock import Clock
from hexad.core.tick_ranges import Ranges, count, intersection
from hexad.database.connection import Database
from hexad.experience.stream.duckdb_engine import Duck, quoted
from hexad.experience.stream.filters import TickRanges
from hexad.experience.stream.log import LOG_ROWS
from hexad.experience.stream.manifest import Manifest, Segment, SessionRange
from hexad.experience.stream.segment_files import SEGMENTS, SUFFIX, SegmentFiles, file_hash, side_kinds
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.values.records import StreamReport

SMALL_ROWS: Final = 250_000
SMALL_SEGMENTS: Final = 8
"""So many small segments become one: each costs every question a file to open, and merging costs reading them."""
_MERGED_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A segment that may be written anew: what it holds, and which of its ticks left."""

    segment: Segment
    cold_rows: int
    gone: Mapping[int, Ranges]

    @property
    def rows(self) -> int:
        return self.segment.rows - self.cold_rows


class SegmentUpkeep:
    """Writes segments anew; the caller holds the lease."""

    def __init__(self, db: Database, segment_files: SegmentFiles, duck: Duck, *, clock: Clock) -> None:
        self._manifest = Manifest(db)
        self._cold = ColdRanges(db)
        self._files = segment_files
        self._duck = duck
        self._clock = clock

    def tidy(self, *, stop: Callable[[], bool]) -> StreamReport:
        """Remove what left, where it is half of a segment or more; merge small segments; make missing sidecars."""
        problems: list[str] = []
        before = self._bytes()
        chosen = self._candidates(problems)
        removed = rewritten = 0
        for group in _groups(chosen):
            if stop():
                break
            removed += self._rewrite(group)
            rewritten += len(group)
        freed = before - self._bytes()
        self._make_sides(problems, stop)
        return StreamReport(
            removed=removed, rewritten=rewritten, freed_bytes=max(freed, 0), problems=tuple(problems)
        )

    def _bytes(self) -> int:
        sides = self._manifest.sides().values()
        return sum(segment.bytes for segment in self._manifest.segments()) + sum(
            side.bytes for some in sides for side in some
        )

    def _candidates(self, problems: list[str]) -> list[_Candidate]:
        cold = self._cold.by_session()
        ranges = self._manifest.ranges()
        found = [
            self._candidate(segment, _gone(ranges.get(segment.name, ()), cold))
            for segment in self._manifest.segments()
        ]
        small = [candidate for candidate in found if candidate.rows < SMALL_ROWS]
        merged = (
            {candidate.segment.name for candidate in small} if len(small) >= SMALL_SEGMENTS else set[str]()
        )
        chosen = [
            candidate
            for candidate in found
            if candidate.segment.name in merged
            or (candidate.cold_rows and 2 * candidate.cold_rows >= candidate.segment.rows)
        ]
        return [candidate for candidate in chosen if self._is_whole(candidate.segment, problems)]

    def _candidate(self, segment: Segment, gone: Mapping[int, Ranges]) -> _Candidate:
        # The ticks between the first and the last of a segment may be in others, so this is only what it can be.
        rows = sum(count(ranges) for ranges in gone.values())
        path = self._files.directory / segment.name
        if (2 * rows >= segment.rows or (rows and segment.rows < SMALL_ROWS)) and path.exists():
            return _Candidate(segment=segment, cold_rows=self._count(segment, gone), gone=gone)
        return _Candidate(segment=segment, cold_rows=0, gone=gone)

    def _count(self, segment: Segment, ticks: Mapping[int, Ranges]) -> int:
        """Return how many timesteps of a segment are among these."""
        path = self._files.directory / segment.name
        with self._duck.cursor(path) as cursor:
            places = TickRanges(ticks)
            cursor.register("places", places.table)
            row = cursor.execute(
                "SELECT count(*) FROM (SELECT session, tick FROM read_parquet(?, hive_partitioning = false)) steps"
                f"{places.inside('places')}",
                [self._duck.name(path)],
            ).fetchone()
        assert row is not None
        return int(row[0])

    def take_out(self, ticks: Mapping[int, Ranges]) -> tuple[int, list[str]]:
        """Write anew, without what left, each segment that holds any of these ticks, all of which left.

        Returns how many bytes were written or, where nothing was left, removed, and in words which segments could not
        be written anew.
        """
        problems: list[str] = []
        dropped: list[Segment] = []
        before = {segment.name for segment in self._manifest.segments()}
        held, gone = self._manifest.ranges(), self._cold.by_session()
        for segment in self._manifest.segments():
            ranges = held.get(segment.name, ())
            here = _gone(ranges, ticks)
            if not here or not (self._files.directory / segment.name).exists():
                problems += [f"{segment.name} is not there"] if here else []
            elif self._count(segment, here) and self._is_whole(segment, problems):
                left = _gone(ranges, gone)
                rows = self._count(segment, left)
                self._rewrite([_Candidate(segment=segment, cold_rows=rows, gone=left)])
                dropped += [segment] if rows == segment.rows else []
        made = [segment for segment in self._manifest.segments() if segment.name not in before]
        sides = self._manifest.sides()
        size = sum(segment.bytes for segment in (*dropped, *made))
        size += sum(side.bytes for segment in made for side in sides.get(segment.name, ()))
        return size, problems

    def _is_whole(self, segment: Segment, problems: list[str]) -> bool:
        """Whether the file is as it was registered: damage must not become a segment with a hash of its own."""
        path = self._files.directory / segment.name
        if path.exists() and file_hash(path) == segment.sha256:
            return True
        problems.append(f"{path} is not what was sealed; it stays as it is. Run `hexad check`.")
        return False

    def _rewrite(self, group: Sequence[_Candidate]) -> int:
        """Put one segment in the place of several, without the rows that left; return how many these were."""
        names = [candidate.segment.name for candidate in group]
        left = 0
        with_rows = [candidate for candidate in group if candidate.rows]
        if not with_rows:
            for name in names:
                self._manifest.drop(name)
        else:
            gone: dict[int, Ranges] = {}
            for candidate in with_rows:
                for session, ranges in candidate.gone.items():
                    gone[session] = tuple(sorted({*gone.get(session, ()), *ranges}))
            names_in = [
                self._duck.name(self._files.directory / candidate.segment.name) for candidate in with_rows
            ]
            paths = ", ".join(f"'{quoted(name)}'" for name in names_in)
            select = f"SELECT * FROM read_parquet([{paths}], hive_partitioning = false) steps"
            cold = TickRanges(gone) if gone else None
            written = self._files.write(
                select if cold is None else f"{select}{cold.outside('gone')}",
                made_of=(SEGMENTS, names),
                gone=None if cold is None else cold.table,
            )
            self._manifest.register(
                written.segment,
                written.ranges,
                sides=written.sides,
                replaces=names,
                at=self._clock.now(),
            )
            left = written.segment.rows
        for name in names:
            self._files.remove(name)
            self._manifest.forget_replaced(name)
        return sum(candidate.segment.rows for candidate in group) - left

    def _make_sides(self, problems: list[str], stop: Callable[[], bool]) -> None:
        sides = self._manifest.sides()
        for segment in self._manifest.segments():
            there = {
                earlier.kind
                for earlier in sides.get(segment.name, ())
                if (self._files.directory / earlier.name).exists()
            }
            missing = [kind for kind in side_kinds(segment.rows) if kind not in there]
            if not missing or stop() or not self._is_whole(segment, problems):
                continue
            stem = segment.name.removesuffix(SUFFIX)
            for kind in missing:
                side = self._files.write_side(kind, stem, self._files.directory / segment.name)
                self._manifest.add_side(segment.name, side)


def _gone(held: Sequence[SessionRange], cold: Mapping[int, Ranges]) -> dict[int, Ranges]:
    """Return which ticks that left may be in a segment."""
    found = {
        session_range.session: intersection(cold.get(session_range.session, ()), [session_range.ticks])
        for session_range in held
    }
    return {session: ranges for session, ranges in found.items() if ranges}


def _groups(chosen: Sequence[_Candidate]) -> Iterator[list[_Candidate]]:
    """Yield what becomes one segment each: those of which nothing is left by themselves."""
    yield from ([candidate] for candidate in chosen if not candidate.rows)
    group: list[_Candidate] = []
    rows = size = 0
    for candidate in chosen:
        if not candidate.rows:
            continue
        if group and (rows + candidate.rows > LOG_ROWS or size + candidate.segment.bytes > _MERGED_BYTES):
            yield group
            group, rows, size = [], 0, 0
        group.append(candidate)
        rows, size = rows + candidate.rows, size + candidate.segment.bytes
    if group:
        yield group
