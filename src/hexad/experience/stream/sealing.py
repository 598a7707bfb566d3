"""Sealing: logs that nobody writes to any more become one Parquet file, sorted by session and tick.

Timesteps that left for COLD records meanwhile are not taken along.

The order is what makes it safe to be killed at any point: write the file under a temporary name, sync it, name
it, then register it and retire its logs in one transaction, and only then remove the logs. Before the
transaction the logs are the stream and the file is nothing; after it the file is. One process seals at a time;
whoever comes next removes what an interrupted one left.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.clock import Clock
from hexad.core.event_types import EventType
from hexad.core.tick_ranges import Ranges, count, intersection, union
from hexad.database import files
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.database.encryption.cipher import FileCipher
from hexad.database.leases import Lease
from hexad.errors import IntegrityError, StorageFailure
from hexad.experience.stream.duckdb_engine import DuckDbEngine, quoted
from hexad.experience.stream.filters import TickRanges, placed, sessions_of
from hexad.experience.stream.frames import HAS_EVENT, SEALED_HEADER_BYTES, Frames
from hexad.experience.stream.log import LOG_BYTES, LOG_ROWS, begun_at, list_logs, lock_if_left, read_log, sync
from hexad.experience.stream.manifest import SegmentManifest, SessionRange, StreamSegment
from hexad.experience.stream.rows import RELATION, flat
from hexad.experience.stream.segment_files import (
    LOGS,
    SEGMENTS,
    SIDE_SUFFIXES,
    SUFFIX,
    TEMPORARY,
    SegmentFiles,
    file_hash,
    leftover,
    side_kinds,
    without_it,
)
from hexad.experience.tables.cold_ranges import ColdRanges, range_columns
from hexad.experience.values.records import KIND_CODES, StreamReport

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SMALL_ROWS: Final = 250_000
SMALL_SEGMENTS: Final = 8
"""So many small segments become one: each costs every question a file to open, and merging costs reading them."""
_MERGED_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A segment that may be written anew: what it holds, and which of its ticks left."""

    segment: StreamSegment
    cold_rows: int
    departed: Mapping[int, Ranges]

    @property
    def rows(self) -> int:
        return self.segment.rows - self.cold_rows


class SegmentUpkeep:
    """Writes segments anew; the caller holds the lease."""

    def __init__(
        self, db: Database, segment_files: SegmentFiles, engine: DuckDbEngine, *, clock: Clock
    ) -> None:
        self._manifest = SegmentManifest(db)
        self._cold = ColdRanges(db)
        self._files = segment_files
        self._engine = engine
        self._clock = clock

    def tidy(self, *, stop: Callable[[], bool]) -> StreamReport:
        """Remove what left, where it is half of a segment or more; merge small segments; make missing sidecars."""
        problems: list[str] = []
        before = self._bytes()
        chosen = self._candidates(problems)
        removed = rewritten = 0
        for group in _merge_groups(chosen):
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
        cold = self._cold.in_files()
        ranges = self._manifest.ranges()
        candidates = []
        for segment in self._manifest.segments():
            try:
                candidates.append(self._candidate(segment, _departed(ranges.get(segment.name, ()), cold)))
            except (IntegrityError, StorageFailure) as error:  # the others are looked after all the same
                problems.append(str(error))
        small = [candidate for candidate in candidates if candidate.rows < SMALL_ROWS]
        merged = (
            {candidate.segment.name for candidate in small} if len(small) >= SMALL_SEGMENTS else set[str]()
        )
        chosen = [
            candidate
            for candidate in candidates
            if candidate.segment.name in merged
            or (candidate.cold_rows and 2 * candidate.cold_rows >= candidate.segment.rows)
        ]
        return [candidate for candidate in chosen if self._is_whole(candidate.segment, problems)]

    def _candidate(self, segment: StreamSegment, departed: Mapping[int, Ranges]) -> _Candidate:
        # The ticks between the first and the last of a segment may be in others, so this is only what it can be.
        rows = sum(count(ranges) for ranges in departed.values())
        path = self._files.directory / segment.name
        if (2 * rows >= segment.rows or (rows and segment.rows < SMALL_ROWS)) and path.exists():
            return _Candidate(segment=segment, cold_rows=self._count(segment, departed), departed=departed)
        return _Candidate(segment=segment, cold_rows=0, departed=departed)

    def _count(self, segment: StreamSegment, ticks: Mapping[int, Ranges]) -> int:
        """Return how many timesteps of a segment are among these."""
        path = self._files.directory / segment.name
        with self._engine.cursor(path) as cursor:
            places = TickRanges(ticks)
            cursor.register("places", places.table)
            row = cursor.execute(
                "SELECT count(*) FROM (SELECT session, tick FROM read_parquet(?, hive_partitioning = false)) steps"
                f"{places.inside('places')}",
                [self._engine.name(path)],
            ).fetchone()
        assert row is not None
        return int(row[0])

    def take_out(self, ticks: Mapping[int, Ranges]) -> tuple[int, list[str], dict[int, Ranges]]:
        """Write anew, without what left, each segment that holds any of these ticks, all of which left.

        Returns how many bytes were written or, where nothing was left, removed, in words which segments could not
        be written anew, and which of the ticks may be in these. One of which all left goes, whether it can be read or
        not.
        """
        problems: list[str] = []
        held: dict[int, Ranges] = {}
        dropped: list[StreamSegment] = []
        before = {segment.name for segment in self._manifest.segments()}
        session_ranges, departed = self._manifest.ranges(), self._cold.in_files()
        for segment in self._manifest.segments():
            ranges = session_ranges.get(segment.name, ())
            here = _departed(ranges, ticks)
            if not here:
                continue
            left, path = _departed(ranges, departed), self._files.directory / segment.name
            known = len(problems)
            if _all_left(ranges, left):
                dropped += [segment] if path.exists() else []
                self._rewrite([_Candidate(segment=segment, cold_rows=segment.rows, departed=left)])
            elif not path.exists():
                problems.append(f"{segment.name} is not there. {without_it(segment.name)}")
            elif self._holds(segment, here, problems) and self._is_whole(segment, problems):
                rows = self._count(segment, left)
                self._rewrite([_Candidate(segment=segment, cold_rows=rows, departed=left)])
                dropped += [segment] if rows == segment.rows else []
            if len(problems) > known:
                held = {
                    session: union([*held.get(session, ()), *here.get(session, ())])
                    for session in held.keys() | here.keys()
                }
        segments = [segment for segment in self._manifest.segments() if segment.name not in before]
        sides = self._manifest.sides()
        size = sum(segment.bytes for segment in (*dropped, *segments))
        size += sum(side.bytes for segment in segments for side in sides.get(segment.name, ()))
        return size, problems, held

    def _holds(self, segment: StreamSegment, ticks: Mapping[int, Ranges], problems: list[str]) -> bool:
        try:
            return self._count(segment, ticks) > 0
        except (IntegrityError, StorageFailure):
            path = self._files.directory / segment.name
            problems.append(
                f"{path} cannot be read, and what it holds of this is in it still; nobody is shown it. Put a backup in "
                f"its place: `hexad maintain` takes it out of that. {without_it(segment.name)}"
            )
            return False

    def _is_whole(self, segment: StreamSegment, problems: list[str]) -> bool:
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
            departed: dict[int, Ranges] = {}
            for candidate in with_rows:
                for session, ranges in candidate.departed.items():
                    departed[session] = tuple(sorted({*departed.get(session, ()), *ranges}))
            names_in = [
                self._engine.name(self._files.directory / candidate.segment.name) for candidate in with_rows
            ]
            paths = ", ".join(f"'{quoted(name)}'" for name in names_in)
            select = f"SELECT * FROM read_parquet([{paths}], hive_partitioning = false) steps"
            cold = TickRanges(departed) if departed else None
            written = self._files.write(
                select if cold is None else f"{select}{cold.outside('gone')}",
                made_of=(SEGMENTS, names),
                departed=None if cold is None else cold.table,
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
            self.remove(name)
        return sum(candidate.segment.rows for candidate in group) - left

    def remove(self, name: str) -> None:
        """Remove the files of a segment that was taken out of the stream."""
        self._files.remove(name)
        self._manifest.forget_replaced(name)

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


def _departed(session_ranges: Sequence[SessionRange], cold: Mapping[int, Ranges]) -> dict[int, Ranges]:
    """Return which ticks that left may be in a segment."""
    departed = {
        session_range.session: intersection(cold.get(session_range.session, ()), [session_range.ticks])
        for session_range in session_ranges
    }
    return {session: ranges for session, ranges in departed.items() if ranges}


def _all_left(session_ranges: Sequence[SessionRange], departed: Mapping[int, Ranges]) -> bool:
    """Whether surely every timestep of a segment left, by what is known of it without reading it."""
    return all(
        session_range.has_all and count(departed.get(session_range.session, ())) == session_range.rows
        for session_range in session_ranges
    )


def _merge_groups(chosen: Sequence[_Candidate]) -> Iterator[list[_Candidate]]:
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


SEAL_AGE_S: Final = 3_600.0
"""A log is not left for longer. Shorter was no gain: every segment costs each query a file to open."""
TIDY_INTERVAL_S: Final = 60.0

Mask = Callable[[list[list[str]]], Iterable[tuple[int, list[str]]]]
"""From answers, as tokens, to those of them that may not be stored as they are: which it is, and its new tokens."""

BeforeSealing = Callable[[Sequence[tuple[Path, Frames]]], None]
"""What is done with logs that nobody writes to any more, before they are part of a segment."""


def _nothing(_logs: Sequence[tuple[Path, Frames]]) -> None:
    """Do nothing before sealing."""


class Sealer:
    """Turns the logs of a store into segments, and keeps these as few and as small as what is left allows."""

    def __init__(
        self,
        db: Database,
        directory: Path,
        engine: DuckDbEngine,
        *,
        clock: Clock,
        mask: Mask,
        before: BeforeSealing = _nothing,
    ) -> None:
        self.manifest = SegmentManifest(db)
        self.logs, self.segments = directory / "log", directory / "segments"
        self._lease = Lease(directory / "seal.lock", clock=clock, purpose="sealing")
        self._turn = threading.Lock()  # the lease is the process's, so threads need one of their own
        self._engine = engine
        self._clock = clock
        self._mask = mask
        self._before = before
        self._cold = ColdRanges(db)
        self._tidied: tuple[int, object] = (0, None)
        self._files = SegmentFiles(self.segments, engine, clock=clock)
        self._upkeep = SegmentUpkeep(db, self._files, engine, clock=clock)

    def seal(self, *, all: bool = False, stop: Callable[[], bool] = lambda: False) -> StreamReport:
        """Seal the logs that no process writes to, when together they are large or one is old; or `all`.

        What another process is sealing is left to it. A log that is damaged stays, and is named in the report.
        """
        if not list_logs(self.logs):
            return StreamReport()
        files.ensure_dir(self.segments, for_data=True)
        with self._turn, self._lease.held_for() as mine:
            if not mine:
                return StreamReport()
            self._sweep()
            return self._seal(all=all, stop=stop)

    def tidy(self, *, stop: Callable[[], bool] = lambda: False, when_due: bool = False) -> StreamReport:
        """Remove timesteps that left for COLD records, merge small segments, make missing sidecars.

        With `when_due` only if segments or what left have changed since, and not every minute.
        """
        if not self.segments.is_dir() or (when_due and not self._is_untidy()):
            return StreamReport()
        with self._turn, self._lease.held_for() as mine:
            if not mine:
                return StreamReport()
            self._sweep()
            report = self._upkeep.tidy(stop=stop)
            self._tidied = (to_micros(self._clock.now()), self.manifest.state())
            return report

    @property
    def cipher(self) -> FileCipher | None:
        """What seals the logs of an encrypted store."""
        return self._engine.cipher

    @contextlib.contextmanager
    def exclusively(self, *, wait_s: float = 0.0) -> Iterator[SegmentUpkeep | None]:
        """Let this thread alone change the stream's files, logs that others write to aside; None where another process
        does, for longer than `wait_s`. What an interrupted run left is removed first.
        """  # fmt: skip
        files.ensure_dir(self.segments, for_data=True)
        with self._turn, self._lease.held_for(wait_s=wait_s) as mine:
            if mine:
                self._sweep()
            yield self._upkeep if mine else None

    def _is_untidy(self) -> bool:
        at, state = self._tidied
        since = to_micros(self._clock.now()) - at
        return not 0 <= since < TIDY_INTERVAL_S * 1e6 and state != self.manifest.state()

    def _sweep(self) -> None:
        """Remove what an interrupted run left: files that were never registered, what others replaced."""
        for name in self.manifest.replaced():
            self._files.remove(name)
            self.manifest.forget_replaced(name)
        left_paths = list_logs(self.logs)
        logs = [path.name for path in left_paths]
        for path in sorted(self.segments.iterdir()):
            if path.name.endswith(TEMPORARY) or (
                path.name.endswith(SUFFIX)
                and not self.manifest.has(path.name)
                and leftover(path, self._engine, self.manifest, logs)
            ):
                files.unlink(path)
        known_side_names = {side.name for sides in self.manifest.sides().values() for side in sides}
        for path in sorted(self.segments.iterdir()):
            if path.suffix not in SIDE_SUFFIXES.values():
                continue
            segment = path.with_suffix(SUFFIX)
            # Beside a segment that is kept although nobody knows it, its sidecar stays too.
            if path.name not in known_side_names and (
                not segment.exists() or self.manifest.has(segment.name)
            ):
                files.unlink(path)
        for name in self.manifest.retired(logs):
            files.unlink(self.logs / name)

    def _seal(self, *, all: bool, stop: Callable[[], bool]) -> StreamReport:
        problems: list[str] = []
        done_logs = done_rows = segments = removed = freed = 0
        with contextlib.ExitStack() as locks:
            left_paths = list(self._abandoned_logs(locks))
            if not (all or self._is_due(left_paths)):
                self._note(left_paths)
                return StreamReport()
            logs = list(_readable_logs(self._whole(left_paths, problems), problems, self._engine.cipher))
            self._before(logs)
            for group in _seal_groups(logs):
                if stop():
                    break
                there = sum(len(frame) for _, log in group for frame in log.frames)
                rows = self._write(group)
                done_rows += rows
                done_logs += len(group)
                segments += rows > 0
                removed += there - rows
                freed += 0 if rows else sum(log.offset for _, log in group)
            for path, log in logs:
                if not log.frames:
                    self._retire(path)
        return StreamReport(
            logs=done_logs,
            rows=done_rows,
            segments=segments,
            removed=removed,
            freed_bytes=freed,
            problems=tuple(problems),
        )

    def _whole(self, left_paths: Sequence[Path], problems: list[str]) -> list[Path]:
        """Return the logs that are as long as was noted: what is left of another would pass for all there was."""
        lost = self.manifest.lost_logs(self.logs.parent)
        problems += (lost[path] for path in left_paths if path in lost)
        return [path for path in left_paths if path not in lost]

    def _note(self, left_paths: Sequence[Path]) -> None:
        """Note how long the logs of killed programs are: nobody else did. What of them was never synced is by then."""
        for path in left_paths:
            if not self.manifest.is_noted(path.name) and path.stat().st_size > SEALED_HEADER_BYTES:
                self.manifest.note_log(path.name, sync(path))

    def _retire(self, log: Path) -> None:
        self.manifest.retire(log.name)
        files.unlink(log)

    def _abandoned_logs(self, locks: contextlib.ExitStack) -> Iterator[Path]:
        """Yield the logs that no process writes to; they stay locked until `locks` is closed."""
        for path in list_logs(self.logs):
            fd = lock_if_left(path)
            if fd is not None:
                locks.callback(os.close, fd)
                yield path

    def _is_due(self, left_paths: Sequence[Path]) -> bool:
        """Whether the logs are together large, or one is old; they are not read for that."""
        if sum(path.stat().st_size for path in left_paths) >= LOG_BYTES:
            return True
        oldest = to_micros(self._clock.now()) - round(SEAL_AGE_S * 1e6)
        return any(begun_at(path) <= oldest for path in left_paths)

    def _write(self, group: Sequence[tuple[Path, Frames]]) -> int:
        """Write what logs hold as a segment, but for what left for COLD records; return how many timesteps."""
        departed = range_columns(self._cold.in_files(partial(sessions_of, [log for _, log in group])))
        table = flat(
            [log for _, log in group],
            concept_numbers=self.manifest.number_concepts,
            keep=(lambda numbers: ~placed(numbers, departed)) if len(departed["session"]) else None,
        )
        if table is None:
            for path, _ in group:
                self._retire(path)
            return 0
        self._mask_spread(table)
        names = [path.name for path, _ in group]
        written = self._files.write(RELATION, table=table, made_of=(LOGS, names))
        self.manifest.register(
            written.segment, written.ranges, sides=written.sides, logs=names, at=self._clock.now()
        )
        for path, _ in group:
            files.unlink(path)
        return written.segment.rows

    def _mask_spread(self, table: dict[str, NDArray[Any]]) -> None:
        """Take out secrets that may be spread over several timesteps: an answer, and an event of several pieces, is
        looked at as a whole. What else came in one piece was looked at when it was recorded.
        """  # fmt: skip
        import numpy as np

        answers = table["kind"] == KIND_CODES[EventType.OUTPUT]
        chosen: NDArray[np.intp] = np.flatnonzero(answers | (table["flags"] & HAS_EVENT != 0))
        if not len(chosen):
            return
        chosen = chosen[np.lexsort((table["tick"][chosen], table["session"][chosen]))]
        groups: dict[tuple[int, int, str], list[int]] = {}
        kinds, sessions, flags, events = (
            table[name][chosen].tolist() for name in ("kind", "session", "flags", "event")
        )
        for at, kind, session, flag, event in zip(
            chosen.tolist(), kinds, sessions, flags, events, strict=True
        ):
            groups.setdefault((kind, session, event if flag & HAS_EVENT else ""), []).append(at)
        contents = table["content"]
        places = [rows for rows in groups.values() if len(rows) > 1 or answers[rows[0]]]
        for which, tokens in self._mask([[contents[at] for at in rows] for rows in places]):
            for at, token in zip(places[which], tokens, strict=True):
                contents[at] = token


def _readable_logs(
    left_paths: Sequence[Path], problems: list[str], cipher: FileCipher | None
) -> Iterator[tuple[Path, Frames]]:
    for path in left_paths:
        try:
            log = read_log(path, cipher=cipher)
        except IntegrityError as error:
            problems.append(str(error))
        else:
            if log is not None:
                yield path, log


def _seal_groups(logs: Sequence[tuple[Path, Frames]]) -> Iterator[list[tuple[Path, Frames]]]:
    """Yield the logs with records, about as many together as fill one log."""
    group: list[tuple[Path, Frames]] = []
    rows = size = 0
    for path, log in logs:
        count = sum(map(len, log.frames))
        if not count:
            continue
        if group and (rows + count > LOG_ROWS or size + log.offset > LOG_BYTES):
            yield group
            group, rows, size = [], 0, 0
        group.append((path, log))
        rows, size = rows + count, size + log.offset
    if group:
        yield group
