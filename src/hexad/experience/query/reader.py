"""Questions to the stream: what is still in logs, anybody's, and what is in segments, answered as one.

Logs are read before the manifest is: a log that is sealed in between is then in a segment that the manifest names,
and dropped here. The other way round its rows would be in neither.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core import tick_ranges as ticks
from hexad.core.event_types import EventType
from hexad.core.retry import TryAgain, retry
from hexad.core.tick_ranges import Ranges, holds, intersection
from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database
from hexad.errors import NotFound, StorageFailure
from hexad.experience.query.readable import Answer, ReadableSegments
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.filters import (
    ConceptNumbers,
    TickRanges,
    conditions_of,
    placed,
    row_filter,
    sessions_of,
    tagged_places,
)
from hexad.experience.stream.frames import ENDS, STARTS, Frames
from hexad.experience.stream.log import list_logs, read_log
from hexad.experience.stream.manifest import SegmentManifest, SessionRange, SideFile, StreamSegment
from hexad.experience.stream.rows import RELATION, flat, merge_small
from hexad.experience.stream.segment_files import TOPS
from hexad.experience.tables.cold_ranges import ColdRanges, range_columns
from hexad.experience.tables.cold_records import ColdMatch, ColdRecords
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.windows import Windows
from hexad.experience.values.levels import Fidelity
from hexad.experience.values.records import KINDS, StepQuery, TimestepRecord, timestep_id
from hexad.experience.values.tiers import CompressedRecord

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray


Place = tuple[float, int, int]
"""Where something stands among the strongest: less is before. The score with its sign turned, session, tick."""
LISTS_FROM_ROWS: Final = 300_000
"""Where all segments in question have fewer rows together, reading them is as quick as to ask their lists first."""
_FLOORS: Final = (
    "SELECT filename, concept, bool_or(more), max({'score': -score, 'session': session, 'tick': tick})"
    " FROM read_parquet(?, hive_partitioning = false, filename = true) WHERE list_contains(?, concept)"
    " GROUP BY filename, concept"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPlan:
    """What is read for a question: segments as a whole, and of others the list of one concept.

    `uncertain` are the segments whose list may not be long enough, with its floor. `name` gives what stands for a path
    in a statement.
    """

    whole: Sequence[str]
    lists: Mapping[str, int]
    uncertain: Mapping[str, Place]
    name: Callable[[str], str]

    def failed(self, last: Place | None) -> set[str]:
        """Return the segments that must be read as a whole after all; `last` is where the last answer stands."""
        return {segment for segment, floor in self.uncertain.items() if last is None or last > floor}

    def relations(
        self, columns: str, sides: Mapping[str, str], parts: Sequence[SegmentPart] | None = None
    ) -> tuple[list[str], list[Any]]:
        """Return the statements that read all of it, and their parameters; of whole segments only these `parts`."""
        queries, params = list[str](), list[Any]()
        for part in [SegmentPart(paths=self.whole, condition="true")] if parts is None else parts:
            paths = [path for path in part.paths if path in self.whole]
            if paths:
                # Else DuckDB takes a folder above the store that is called `session=7` for a column.
                queries.append(
                    f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false) WHERE {part.condition}"
                )
                params.append([self.name(path) for path in paths])
        for concept in sorted(set(self.lists.values())):
            queries.append(
                f"SELECT {columns} FROM read_parquet(?, hive_partitioning = false) WHERE concept = ?"
            )
            lists = [self.name(sides[path]) for path, number in self.lists.items() if number == concept]
            params += [lists, concept]
        return queries, params


def plan_reading(
    cursor: duckdb.DuckDBPyConnection,
    question: StepQuery,
    concepts: ConceptNumbers,
    *,
    paths: Sequence[str],
    sides: Mapping[str, str],
    name: Callable[[str], str],
) -> ReadingPlan:
    """Return what to read of the segments `paths`; `sides` gives for some of them the file of their lists."""
    limits = dict(
        zip(concepts.numbers(list(question.activations)), question.activations.values(), strict=True)
    )
    if not limits or not sides:
        return ReadingPlan(whole=paths, lists={}, uncertain={}, name=name)
    strongest = None if question.strongest is None else concepts.numbers([question.strongest])[0]
    floors: dict[str, dict[int, tuple[bool, Place]]] = {}
    for file, concept, more, last in cursor.execute(
        _FLOORS, [sorted(map(name, sides.values())), list(limits)]
    ).fetchall():
        floors.setdefault(Path(file).name, {})[concept] = (
            more,
            (last["score"], last["session"], last["tick"]),
        )
    whole, lists, uncertain = list[str](), dict[str, int](), dict[str, Place]()
    for path in paths:
        if path not in sides:
            whole.append(path)
            continue
        there = floors.get(Path(sides[path]).name, {})
        if not all(concept in there for concept in limits):
            continue  # all concepts are asked for, and one of them the segment has not
        complete = [concept for concept in limits if _is_complete(*there[concept], lowest=limits[concept][0])]
        if complete:
            lists[path] = complete[0]
        elif strongest in there:
            lists[path], uncertain[path] = strongest, there[strongest][1]
        else:
            whole.append(path)
    return ReadingPlan(whole=whole, lists=lists, uncertain=uncertain, name=name)


def _is_complete(more: bool, floor: Place, *, lowest: float) -> bool:
    import numpy as np

    return not more or -floor[0] < float(np.float32(lowest))


_APART: Final = 20_000
"""Ranges with fewer ticks between them are read as one: they are mostly in the same group of rows of a file."""
_SPANS_LIMIT: Final = 64
_PARTS_LIMIT: Final = 16
_ROWS_A_PART: Final = 500_000
"""A statement costs some milliseconds for itself, about as much as it takes to read so many rows of two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPart:
    """Files, and the condition under which their rows may be wanted: numbers only, so it has no parameters."""

    paths: Sequence[str]
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spans:
    """Stretches of ticks of the sessions from the first to the last, all of them of each."""

    sessions: tuple[int, int]
    ticks: Sequence[tuple[int, int]]

    def meets(self, session_range: SessionRange) -> bool:
        inside = self.sessions[0] <= session_range.session <= self.sessions[1]
        return inside and any(
            first <= session_range.ticks[1] and last >= session_range.ticks[0] for first, last in self.ticks
        )

    @property
    def condition(self) -> str:
        ticks = " OR ".join(f"tick BETWEEN {first} AND {last}" for first, last in self.ticks)
        return "session BETWEEN {} AND {} AND ({})".format(*self.sessions, ticks)


def parts_of(
    places: Mapping[str, NDArray[np.int64]], ranges_by_path: Mapping[str, Sequence[SessionRange]]
) -> list[SegmentPart]:
    """Return what to read of segments for ranges that are sorted and apart in each session, each row at most once.

    `ranges_by_path` says by the path of each segment which ticks it has of the sessions of `places`.
    """
    rows = sum(session_range.rows for some in ranges_by_path.values() for session_range in some)
    segment_parts = []
    for spans in _spans(places, most=min(_PARTS_LIMIT, 1 + rows // _ROWS_A_PART)):
        wanted_paths = [path for path, some in ranges_by_path.items() if any(map(spans.meets, some))]
        if wanted_paths:
            segment_parts.append(SegmentPart(paths=wanted_paths, condition=spans.condition))
    return segment_parts


def _spans(places: Mapping[str, NDArray[np.int64]], *, most: int) -> list[_Spans]:
    import numpy as np

    order = np.lexsort((places["first_tick"], places["session"]))
    sessions, first, last = (places[name][order] for name in ("session", "first_tick", "last_tick"))
    if not len(sessions):
        return []
    changes = np.flatnonzero(np.diff(sessions)) + 1
    starts, ends = np.append(0, changes), np.append(changes, len(sessions))
    together = -(-len(starts) // most)
    spans = []
    for at in range(0, len(starts), together):
        begin, end = starts[at], ends[min(at + together, len(ends)) - 1]
        is_single = sessions[begin] == sessions[end - 1]
        ticks = (
            _stretches(first[begin:end], last[begin:end])
            if is_single
            else [(int(first[begin:end].min()), int(last[begin:end].max()))]
        )
        spans.append(_Spans(sessions=(int(sessions[begin]), int(sessions[end - 1])), ticks=ticks))
    return spans


def _stretches(first: NDArray[Any], last: NDArray[Any]) -> list[tuple[int, int]]:
    """Return sorted ranges joined where little is between them, and where there would be too many of them."""
    import numpy as np

    gaps = first[1:] - last[:-1]
    apart = np.flatnonzero(gaps > _APART)
    if len(apart) >= _SPANS_LIMIT:
        widest = np.argpartition(gaps, -(_SPANS_LIMIT - 1))[-(_SPANS_LIMIT - 1) :]
        apart = np.sort(widest)
    starts, ends = np.append(0, apart + 1), np.append(apart, len(first) - 1)
    return list(zip(first[starts].tolist(), last[ends].tolist(), strict=True))


_KNOWN_LIMIT = 10_000
LOGS_BYTES: Final = 256 << 20
"""What was read of logs is kept up to this size, and read anew beyond it."""
DepartedTicks = tuple[tuple[int, Ranges], ...]


@dataclass(slots=True)
class SealedCounts:
    """Counts what is left in segments, and remembers it: of a file it changes only when more of its ticks leave."""

    engine: DuckDbEngine
    _known: dict[str, tuple[DepartedTicks, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(
        self, ranges_by_path: Mapping[str, Sequence[SessionRange]], departed: Mapping[int, Ranges]
    ) -> int:
        """Return how many timesteps of segments are in the stream; `ranges_by_path` says by path what is in the files.

        Raises `StorageFailure` when a file has gone.
        """
        left, unsure = 0, dict[str, DepartedTicks]()
        for path, ranges in ranges_by_path.items():
            here = [
                (session_range, intersection(departed.get(session_range.session, ()), [session_range.ticks]))
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
            counts = known[path]
            if counts is None or counts[0] != out:
                counts = out, self._remaining_rows(path, out)
                with self._lock:
                    self._known[path] = counts
            left += counts[1]
        return left

    def _remaining_rows(self, path: str, departed: DepartedTicks) -> int:
        places = TickRanges(dict(departed))
        with self.engine.cursor(Path(path)) as cursor:
            cursor.register("gone", places.table)
            row = cursor.execute(
                "SELECT count(*) FROM (SELECT session, tick FROM read_parquet(?, hive_partitioning = false)) steps"
                + places.outside("gone"),
                [self.engine.name(path)],
            ).fetchone()
        assert row is not None
        return int(row[0])


def timestep(
    row: Sequence[Any],
    names: Mapping[int, str],
    concepts: ConceptNumbers,
    fidelity: Callable[[int, int], Fidelity],
) -> TimestepRecord:
    """Return the timestep of a row; `fidelity` says of a session and a tick at which one it is."""
    session, tick, at, kind, flags, token, tokens, role, event, content, numbers, scores = row
    activations = [(concepts.id(number), score) for number, score in scored(numbers, scores)]
    activations.sort(key=lambda activation: (-activation[1], activation[0]))
    session_id = names[session]
    return TimestepRecord(
        id=timestep_id(session_id, tick),
        session_id=session_id,
        tick=tick,
        timestamp=from_micros(at),
        event_type=KINDS[kind],
        content=content,
        concept_activations=dict(activations),
        event_id=event,
        event_start=bool(flags & STARTS),
        event_end=bool(flags & ENDS),
        token_id=token,
        role=role,
        token_count=tokens,
        fidelity=fidelity(session, tick),
    )


def cold_timestep(record: CompressedRecord) -> TimestepRecord:
    """Return a COLD record as `recall` shows it, by the highest scores of its concepts."""
    return TimestepRecord(
        id=record.id,
        session_id=record.session_id or "",
        tick=record.start_tick or 0,
        timestamp=record.start_time,
        event_type=record.event_type or EventType.SYSTEM,
        content=record.summary,
        concept_activations=dict(record.peaks),
        event_id=record.event_id,
        event_start=True,
        event_end=True,
        role=record.role,
        token_count=record.token_count,
        fidelity=Fidelity.COLD,
        compression_level=record.level,
        end_tick=record.end_tick,
        timesteps=record.timesteps,
    )


def scored(numbers: Sequence[int], scores: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield scores as the shortest number that single precision keeps apart: 0.8, not 0.800000011920929."""
    import numpy as np

    for number, score in zip(numbers, scores, strict=True):
        yield number, float(str(np.float32(score)))


_COLUMNS: Final = "session, tick, ts, kind, flags, token, tokens, role, event, content, concepts, scores"
ATTEMPTS: Final = 10
"""So often a question is asked anew when segments were replaced before they could be read."""
_SHORT: Final = 100
_TOO_FAST: Final = "The stream is being compressed faster than it can be read; ask again."
_EVERYTHING: Final = StepQuery()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSources:
    """Where the answers of one query are: what logs hold, the files of segments, ticks that left, COLD records.

    `sides` are the lists of concepts beside segments, where the question is about concepts. `places` is what tags let
    through, and `parts` where that is in segments.
    """

    logs: Sequence[Frames]
    paths: Sequence[str]
    sides: Mapping[str, str]
    session: int | None
    places: TickRanges | None
    parts: Sequence[SegmentPart] | None
    departed: Mapping[int, Ranges]
    cold: Sequence[ColdMatch]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSelection:
    """Timesteps of the stream, for a statement of one's own.

    `steps` is what comes after the columns of a SELECT, from `FROM` on, with `params`; None where nothing holds. The
    columns are those of a segment. Where the question is about tagged ranges, the table `places` has these.
    `reading` says which segments were only read in part.
    """

    cursor: duckdb.DuckDBPyConnection
    steps: str | None
    params: Sequence[Any]
    concepts: ConceptNumbers
    reading: ReadingPlan


class StreamReader:
    """Answers questions to the stream of one store."""

    def __init__(self, db: Database, directory: Path, engine: DuckDbEngine) -> None:
        self._db = db
        self.engine = engine
        self._manifest = SegmentManifest(db)
        self._sessions = Sessions(db)
        self._departed, self._compressed, self._windows = ColdRanges(db), ColdRecords(db), Windows(db)
        self.log_directory, self._segments = directory / "log", directory / "segments"
        self._sealed = SealedCounts(engine)
        self._known: dict[str, Frames] = {}
        self._lock = threading.Lock()
        self.readable = ReadableSegments(self._manifest, engine, self._segments)
        db.caches.add("logs of the stream", self)

    @property
    def limit_bytes(self) -> int:
        """How much of the logs is kept at most."""
        return LOGS_BYTES

    def nbytes(self) -> int:
        """Return how much of the logs is kept, in bytes as they are in the files."""
        return sum(log.offset for log in list(self._known.values()))

    def query(self, question: StepQuery) -> list[TimestepRecord]:
        """Return what holds, in the order of sessions and ticks, or strongest first; COLD records among it.

        Raises `NotFound` for a session that was never started, `IntegrityError` for a damaged log or segment.
        """

        def attempt() -> list[TimestepRecord]:
            sources = self.sources(question, cold=question)
            with self.anew_if_replaced(sources):
                return self._query(question, sources)

        return self.retry(attempt)

    def in_spite_of_damage(self, ask: Callable[[], Answer]) -> tuple[Answer, list[str]]:
        """Return what `ask` makes of what can be read, and in words what that leaves out, which is logged too."""
        return self.readable.in_spite_of_damage(ask)

    def sides_of(self, kind: str) -> dict[str, Sequence[SideFile]]:
        """Return the lists of a kind beside segments, by the names of these; none in spite of damage."""
        return {} if self.readable.leaves_out else dict(self._manifest.sides(kind))

    def retry(self, attempt: Callable[[], Answer]) -> Answer:
        """Return what `attempt` makes of sources that it reads `anew_if_replaced`."""
        return retry(attempt, times=ATTEMPTS, failure=lambda: StorageFailure(_TOO_FAST))

    @contextmanager
    def anew_if_replaced(self, sources: StreamSources) -> Iterator[None]:
        """Raise `TryAgain` where the block fails because a file of these went since: into another segment, for one."""
        try:
            yield
        except StorageFailure as error:
            if self._outdated(sources):
                raise TryAgain from error
            raise

    def _query(
        self, question: StepQuery, sources: StreamSources, whole: Set[str] = frozenset()
    ) -> list[TimestepRecord]:
        """Return what holds; raises `TryAgain` when a COLD record went while it was looked for, into a coarser one.

        The segments `whole` are read without the lists beside them.
        """
        with self._selection(question, sources, whole) as selection:
            cold = sources.cold
            if selection.steps is None and not cold:
                return []
            sql, params = _statement(question, selection, cold=bool(cold))
            if cold:
                selection.cursor.register("cold", _cold_columns(cold))
            if _is_short(question):  # with a LIMIT DuckDB reads the columns in a second go
                rows = selection.cursor.execute(sql, params).fetchall()[question.offset :][: question.limit]
            else:
                end = [question.limit, question.offset]
                rows = selection.cursor.execute(f"{sql} LIMIT ? OFFSET ?", [*params, *end]).fetchall()
            concepts = selection.concepts
            last = (-rows[-1][1], rows[-1][2], rows[-1][3]) if len(rows) == question.limit else None
            failed = selection.reading.failed(last)
        return self._query(question, sources, whole | failed) if failed else self._records(rows, concepts)

    def ask(
        self, question: StepQuery, use: Callable[[StepSelection], Answer], *, light: bool = False
    ) -> Answer:
        """Return what `use` makes of the timesteps for which `question` holds, COLD records not among them.

        It is called again when a segment was replaced before it could be read. Where it is `light` it asks for no text
        and for no concept: what is in logs has none then.
        """
        question = replace(question, strongest=None)  # a list that may be too short would go unnoticed

        def attempt() -> Answer:
            sources = self.sources(question)
            with (
                self.anew_if_replaced(sources),
                self._selection(question, sources, light=light) as selection,
            ):
                return use(selection)

        return self.retry(attempt)

    @contextmanager
    def select(self, question: StepQuery) -> Iterator[StepSelection]:
        """Give what `ask` does, once."""
        question = replace(question, strongest=None)
        with self._selection(question, self.sources(question)) as selection:
            yield selection

    def _outdated(self, sources: StreamSources) -> bool:
        """Whether a file of these went since: into another segment, or it was only beside one."""
        return any(not self._manifest.has(Path(path).name) for path in sources.paths) or not all(
            map(os.path.exists, sources.sides.values())
        )

    @contextmanager
    def _selection(
        self,
        question: StepQuery,
        sources: StreamSources,
        whole: Set[str] = frozenset(),
        *,
        light: bool = False,
    ) -> Iterator[StepSelection]:
        concepts = ConceptNumbers(self._manifest)
        places = sources.places
        nowhere = places is not None and not len(places.plain["session"])
        departed = TickRanges(sources.departed) if sources.departed else None
        keep = row_filter(question, sources.session, places, departed)
        logs = [] if nowhere else sources.logs
        table = flat(
            logs,
            concept_numbers=concepts.numbers,
            keep=keep,
            events=_events(question),
            within=_outer_bounds(sources.session, question.ticks, places),
            light=light and not question.activations and question.text is None,
        )
        paths = [] if nowhere else list(sources.paths)
        sides = {path: side for path, side in sources.sides.items() if path not in whole}
        with self.engine.cursor(self._segments, table) as cursor:
            joins = ""
            if places is not None:
                cursor.register("places", places.plain)
                cursor.register("places_by_block", places.table)
                joins += places.inside("places_by_block")
            if departed is not None:
                cursor.register("gone", departed.table)
                joins += departed.outside("gone")
            reading = plan_reading(
                cursor, question, concepts, paths=paths, sides=sides, name=self.engine.name
            )
            relations, params = reading.relations(_COLUMNS, sides, sources.parts)
            if table is not None:
                relations.insert(0, f"SELECT {_COLUMNS} FROM ({RELATION})")
            steps, values = _steps(question, sources, concepts, relations, joins)
            yield StepSelection(
                cursor=cursor, steps=steps, params=[*params, *values], concepts=concepts, reading=reading
            )

    def _records(self, rows: Sequence[Sequence[Any]], concepts: ConceptNumbers) -> list[TimestepRecord]:
        cold = self._compressed.by_numbers([row[0] for row in rows if row[0]])
        if any(row[0] and row[0] not in cold for row in rows):
            raise TryAgain
        names = self._sessions.names(row[2] for row in rows if not row[0])
        fidelity = _labels(self._windows, names)
        return [
            cold_timestep(cold[row[0]]) if row[0] else timestep(row[2:], names, concepts, fidelity)
            for row in rows
        ]

    def counts(self) -> tuple[int, int]:
        """Return how many timesteps are sealed, and how many are not yet; those that left do not count."""
        return self.retry(self._counts)

    def _counts(self) -> tuple[int, int]:
        with self._db.read():
            sources = self.sources(_EVERYTHING)
            session_ranges = self._manifest.ranges() if sources.departed else {}
            sealed = 0 if sources.departed else sum(segment.rows for segment in self._manifest.segments())
        departed = range_columns(dict(sources.departed))
        unsealed = sum(
            len(frame) - (int(placed(frame.numbers, departed).sum()) if sources.departed else 0)
            for log in sources.logs
            for frame in log.frames
        )
        with self.anew_if_replaced(sources):
            by_path = {str(self._segments / name): some for name, some in session_ranges.items()}
            return sealed + self._sealed.count(by_path, sources.departed), unsealed

    def sources(self, question: StepQuery, *, cold: StepQuery | None = None) -> StreamSources:
        """Return where the answers to a question are, and the COLD records for which `cold` holds.

        Raises `NotFound` for a session that was never started.
        """
        logs = self._read_logs()
        if not self._db.in_transaction:  # in an older view a log may stand that was sealed since
            self._manifest.require_logs(self.log_directory.parent)
        with self._db.read():
            session = None
            if question.session_id is not None:
                session = self._sessions.number(question.session_id)
                if session is None:
                    raise NotFound(
                        f"There is no session {question.session_id!r};",
                        remedy="`{sessions()}` lists those that there are.",
                    )
            times = question.times
            segments = self._manifest.segments(
                session=session,
                ticks=question.ticks,
                times=None if times is None else (to_micros(times[0]), to_micros(times[1])),
            )
            retired = self._manifest.retired(list(logs))
            sides = self.sides_of(TOPS) if question.activations else {}
            places = tagged_places(question, self._sessions)
            parts = None if places is None else self._parts(places, segments)
            if parts is not None:
                needed = {path for part in parts for path in part.paths}
                segments = [segment for segment in segments if str(self._segments / segment.name) in needed]
            segments = list(self.readable.of(segments))
            own_logs = [log for name, log in logs.items() if name not in retired]
            only, span = _outer_bounds(session, question.ticks, places)
            return StreamSources(
                logs=own_logs,
                paths=[str(self._segments / segment.name) for segment in segments],
                places=places,
                parts=parts,
                sides=self._present(segments, sides),
                session=session,
                departed=self._departed.in_files(partial(sessions_of, own_logs), session=only, ticks=span),
                cold=[] if cold is None else self._compressed.matches(cold, session),
            )

    def _parts(self, places: TickRanges, segments: Sequence[StreamSegment]) -> list[SegmentPart]:
        session_ranges = self._manifest.ranges(set(places.plain["session"].tolist()))
        return parts_of(
            places.plain,
            {
                str(self._segments / segment.name): session_ranges.get(segment.name, ())
                for segment in segments
            },
        )

    def _present(
        self, segments: Sequence[StreamSegment], sides: Mapping[str, Sequence[SideFile]]
    ) -> dict[str, str]:
        """Return the lists of concepts that are there, by the path of their segment."""
        if sum(segment.rows for segment in segments) < LISTS_FROM_ROWS:
            return {}
        paths = {
            str(self._segments / segment.name): str(self._segments / side.name)
            for segment in segments
            for side in sides.get(segment.name, ())
        }
        return {path: side for path, side in paths.items() if os.path.exists(side)}

    def _read_logs(self) -> dict[str, Frames]:
        frames: dict[str, Frames] = {}
        with self._lock:
            for path in list_logs(self.log_directory):
                # Taken out while it is read: after an error it is read anew.
                log = read_log(path, self._known.pop(path.name, None), cipher=self.engine.cipher)
                if log is not None:
                    merge_small(log)
                    frames[path.name] = log
            self._known, used = {}, 0
            for name, log in frames.items():
                used += log.offset
                if used <= LOGS_BYTES:
                    self._known[name] = log
            return {name: replace(log, frames=list(log.frames)) for name, log in frames.items()}


def _is_short(question: StepQuery) -> bool:
    """Whether few timesteps can be found, whatever else is asked."""
    ticks = question.ticks
    return question.session_id is not None and ticks is not None and ticks[1] - ticks[0] < _SHORT


def _outer_bounds(
    session: int | None, ticks: tuple[int, int] | None, places: TickRanges | None
) -> tuple[int | None, tuple[int, int] | None]:
    """Return the session and the ticks outside of which nothing is asked for."""
    if places is not None and places.only is not None:
        number, hull = places.only
        if session in (None, number):
            low, high = ticks or hull
            return number, (max(low, hull[0]), min(high, hull[1]))
    return session, ticks


def _events(question: StepQuery) -> Collection[str] | None:
    return question.events if question.event_id is None else [question.event_id]


def _steps(
    question: StepQuery,
    sources: StreamSources,
    concepts: ConceptNumbers,
    relations: Sequence[str],
    joins: str,
) -> tuple[str | None, list[Any]]:
    """Return where the timesteps that hold are, from `FROM` on, and the parameters; None where there are none."""
    if not relations:
        return None, []
    conditions, values = conditions_of(question, sources.session, concepts)
    return f"FROM ({' UNION ALL '.join(relations)}) steps{joins} WHERE {conditions}", values


def _statement(question: StepQuery, selection: StepSelection, *, cold: bool) -> tuple[str, Sequence[Any]]:
    """Return the query and its parameters, but for limit and offset; COLD records stand in it by their numbers."""
    score, strongest = "0.0", ""
    if question.strongest is not None:
        number = selection.concepts.numbers([question.strongest])[0]
        score, strongest = f"scores[list_position(concepts, {number})]", "score DESC, "
    parts = []
    if selection.steps is not None:
        parts.append(f"SELECT 0 AS cold_no, {score} AS score, {_COLUMNS} {selection.steps}")
    if cold:
        parts.append(
            "SELECT cold_no, score, session, tick, ts, NULL AS kind, NULL AS flags, NULL AS token, NULL AS tokens,"
            " NULL AS role, NULL AS event, NULL AS content, NULL AS concepts, NULL AS scores FROM cold"
        )
    return (
        f"SELECT * FROM ({' UNION ALL '.join(parts)}) ORDER BY {strongest}session, tick, ts, cold_no"
    ), selection.params


def _labels(windows: Windows, sessions: Collection[int]) -> Callable[[int, int], Fidelity]:
    """Return what says at which fidelity a timestep of one of these sessions is kept."""
    only = next(iter(sessions)) if len(sessions) == 1 else None
    protected = windows.protected_by_session(only) if sessions else {}

    def fidelity(session: int, tick: int) -> Fidelity:
        for strength, ranges in protected.get(session, {}).items():
            if holds(ranges, tick):
                return strength
        return Fidelity.HOT

    return fidelity


def _cold_columns(matches: Sequence[ColdMatch]) -> dict[str, NDArray[Any]]:
    import numpy as np

    return {
        "cold_no": np.array([match.no for match in matches], np.int64),
        "session": np.array([match.session for match in matches], np.uint32),
        "tick": np.array([match.tick for match in matches], np.int64),
        "ts": np.array([match.at for match in matches], np.int64),
        "score": np.array([match.score for match in matches], np.float64),
    }
