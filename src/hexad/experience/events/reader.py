"""Questions about whole events: of the stream, and COLD records of one reply each."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database.codec import from_micros
from hexad.database.connection import Database
from hexad.errors import StorageFailure
from hexad.experience.query.reader import StepSelection, StreamReader, StreamSources, scored
from hexad.experience.stream.duckdb_engine import DuckDbEngine
from hexad.experience.stream.filters import TickRanges, row_filter
from hexad.experience.stream.manifest import SegmentManifest, SessionRange
from hexad.experience.stream.rows import BREAK, JOINED, OUTPUT, RELATION, flat
from hexad.experience.stream.segment_files import EVENTS, PIECE_COLUMNS, pieces
from hexad.experience.tables.cold_records import ColdMatch, ColdRecords
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.windows import Windows
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.records import (
    KIND_CODES,
    KINDS,
    TICK_LIMIT,
    StepQuery,
    TimestepRecord,
    timestep_id,
)
from hexad.experience.values.tiers import CompressedRecord, EventRecord
from hexad.text.search_terms import SearchTerms, folded

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray


_NEEDED: Final = "session, tick, ts, kind, flags, tokens, role, event, content"
_READ: Final = "read_parquet(?, hive_partitioning = false)"
_LOGS: Final = "logs"
_BORDERS: Final = (
    "SELECT session, source, {which}({{'event': event, 'kind': kind, 'role': role, 'tick': first_tick,"
    " 'starts': starts, 'ends': ends}}, {place}) FROM pieces WHERE list_contains(?, session)"
    " GROUP BY session, source"
)
_WHOLE: Final = (
    "SELECT session, event, arg_min(kind, first_tick) AS kind, first(role ORDER BY first_tick) AS role,"
    " min(first_tick) AS first_tick, max(last_tick) AS last_tick, min(first_at) AS first_at, max(last_at) AS last_at,"
    f" {JOINED.format(tick='first_tick')} AS content, sum(tokens)::BIGINT AS tokens,"
    " sum(timesteps)::BIGINT AS timesteps FROM (SELECT *, lag(last_kind) OVER (PARTITION BY session, event, run"
    " ORDER BY first_tick) AS before FROM (SELECT *, CASE WHEN event IS NULL THEN coalesce(head, first_tick) END AS run"
    " FROM pieces LEFT JOIN joins USING (session, first_tick) WHERE {divided})) GROUP BY session, event, run"
)
_NOTHING: Final = (
    "SELECT 0 AS session, '' AS event, 0 AS kind, '' AS role, 0 AS first_tick, 0 AS last_tick, 0 AS first_at,"
    " 0 AS last_at, '' AS content, 0 AS tokens, 0 AS timesteps WHERE false"
)
_COLUMNS: Final = (
    "session, event, kind, role, first_tick, last_tick, first_at, last_at, content, tokens, timesteps"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceSources:
    """What events are put together from: the segments by path, what they hold, their files of events, and rows of logs.

    `session` and `event` are asked for alone, None for all. `name` gives what stands for a path in a statement.
    """

    ranges_by_path: Mapping[str, Sequence[SessionRange]]
    sides: Mapping[str, str]
    table: Mapping[str, NDArray[Any]] | None
    departed: TickRanges | None
    session: int | None
    event: str | None
    name: Callable[[str], str]


def create_events(cursor: duckdb.DuckDBPyConnection, piece_sources: PieceSources) -> str:
    """Return the statement that gives each event once, whole.

    `rows`, `gone` and `gone_ranges` are registered with the cursor where there are any.
    """
    spans = list(_spans(piece_sources))
    mixed = _mixed_sessions(spans) | _sessions_with_departed(cursor, piece_sources)
    sources: dict[int, int] = defaultdict(int)
    for _, session, _, _ in spans:
        sources[session] += session not in mixed
    divided = sorted(session for session, count in sources.items() if count > 1)
    relations, params = _fresh_statements(piece_sources, mixed)
    parts = list[str]()
    if relations:
        fresh = f"({' UNION ALL '.join(relations)})"
        if divided or params:
            cursor.execute(f"CREATE TEMP TABLE fresh AS {fresh}", params)
            fresh = "fresh"
        parts.append(f"SELECT {PIECE_COLUMNS}, source FROM {fresh}")
    if piece_sources.sides:
        conditions = [_one_of("session", mixed, negated=True), *_scope(piece_sources)]
        paths = ", ".join(_literal(piece_sources.name(side)) for side in piece_sources.sides.values())
        parts.append(
            f"SELECT {PIECE_COLUMNS}, filename AS source FROM read_parquet([{paths}], hive_partitioning = false,"
            f" filename = true) WHERE {' AND '.join(conditions)}"
        )
    if not parts:
        return f"SELECT {_COLUMNS} FROM ({_NOTHING})"
    every = " UNION ALL ".join(parts)
    if not divided:  # asked once: every statement costs some milliseconds
        return f"SELECT {_COLUMNS} FROM ({every})"
    cursor.execute(f"CREATE TEMP VIEW pieces AS {every}")
    return _joined_statement(cursor, divided)


def _joined_statement(cursor: duckdb.DuckDBPyConnection, divided: Sequence[int]) -> str:
    """Return the statement for sessions of which several sources hold something: events may be in more than one."""
    cursor.register("joins", _joins(cursor, divided))
    of_many = _one_of("session", divided)
    cursor.execute(
        "CREATE TEMP TABLE shared AS SELECT session, event FROM pieces"
        f" WHERE event IS NOT NULL AND {of_many} GROUP BY session, event HAVING count(*) > 1"
    )
    shared = (
        "(EXISTS (SELECT 1 FROM shared s WHERE s.session = pieces.session AND s.event = pieces.event)"
        " OR EXISTS (SELECT 1 FROM joins j WHERE j.session = pieces.session AND j.first_tick = pieces.first_tick))"
    )
    return (
        f"SELECT {_COLUMNS} FROM pieces WHERE NOT {shared}"
        f" UNION ALL SELECT {_COLUMNS} FROM ({_WHOLE.format(divided=shared)})"
    )


def _joins(cursor: duckdb.DuckDBPyConnection, divided: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """Return which runs of tokens go on from one source to the next: each piece, and where its run begins."""
    import numpy as np

    borders: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for which, place in (("arg_min", "first_tick"), ("arg_max", "last_tick")):
        for session, source, piece in cursor.execute(
            _BORDERS.format(which=which, place=place), [list(divided)]
        ).fetchall():
            borders[session][source].append(piece)
    rows: list[tuple[int, int, int]] = []
    for session, by_source in borders.items():
        heads: dict[int, int] = {}
        ends: dict[str, Any] | None = None
        for first, last in sorted(by_source.values(), key=lambda pair: pair[0]["tick"]):
            if ends is not None and _goes_on(ends, first):
                head = heads.get(ends["tick"], ends["tick"])
                heads[ends["tick"]] = heads[first["tick"]] = head
            ends = last
        rows += [(session, tick, head) for tick, head in heads.items()]
    columns = np.array(rows, np.int64).reshape(len(rows), 3)
    names = ("session", "first_tick", "head")
    return {name: np.ascontiguousarray(columns[:, at]) for at, name in enumerate(names)}


def _goes_on(piece: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    return (
        all(part["event"] is None and part["kind"] == OUTPUT for part in (piece, following))
        and piece["role"] == following["role"]
        and not piece["ends"]
        and not following["starts"]
    )


def _spans(sources: PieceSources) -> Iterator[tuple[str, int, int, int]]:
    """Yield each source with the sessions that it holds, and their first and last ticks."""
    import numpy as np

    for path, ranges in sources.ranges_by_path.items():
        for session_range in ranges:
            if sources.session in (None, session_range.session):
                yield path, session_range.session, *session_range.ticks
    if sources.table is not None:
        for session in np.unique(sources.table["session"]).tolist():
            ticks = sources.table["tick"][sources.table["session"] == session]
            yield _LOGS, session, int(ticks.min()), int(ticks.max())


def _mixed_sessions(spans: Iterable[tuple[str, int, int, int]]) -> set[int]:
    """Return the sessions in which the ticks of one source lie between those of another."""
    reached: dict[int, int] = {}
    sessions = set()
    for _, session, first, last in sorted(spans, key=lambda span: (span[1], span[2])):
        if first <= reached.get(session, -1):
            sessions.add(session)
        reached[session] = max(last, reached.get(session, -1))
    return sessions


def _sessions_with_departed(cursor: duckdb.DuckDBPyConnection, sources: PieceSources) -> set[int]:
    """Return the sessions in whose files of events there are ticks that left."""
    if sources.departed is None or not sources.sides:
        return set()
    rows = cursor.execute(
        f"SELECT DISTINCT session FROM {_READ} steps SEMI JOIN gone_ranges gone ON gone.session = steps.session"
        " AND gone.first_tick <= steps.last_tick AND gone.last_tick >= steps.first_tick",
        [sorted(map(sources.name, sources.sides.values()))],
    ).fetchall()
    return {row[0] for row in rows}


def _fresh_statements(sources: PieceSources, mixed: set[int]) -> tuple[list[str], list[Any]]:
    """Return the statements that put together what no file of events has, and their parameters."""
    departed = "" if sources.departed is None else sources.departed.outside("gone")
    relations, params = list[str](), list[Any]()

    def add(reads: Sequence[str], conditions: Sequence[str], source: str, values: Sequence[Any]) -> None:
        rows = " UNION ALL ".join(f"SELECT {_NEEDED} FROM {relation}" for relation in reads)
        where = " AND ".join([*conditions, *_scope(sources)])
        steps = f"(SELECT {_NEEDED} FROM ({rows}) steps{departed} WHERE {where})"
        relations.append(f"SELECT {PIECE_COLUMNS}, {_literal(source)} AS source FROM ({pieces(steps)})")
        params.extend(values)

    others = [_one_of("session", mixed, negated=True)]
    for path in sources.ranges_by_path:
        if path not in sources.sides:
            add([_READ], others, path, [[sources.name(path)]])
    if sources.table is not None:
        add([f"({RELATION})"], others, _LOGS, [])
    if mixed:
        paths = [
            sources.name(path)
            for path, session_ranges in sources.ranges_by_path.items()
            if any(session_range.session in mixed for session_range in session_ranges)
        ]
        reads = [_READ] if paths else []
        logs = [f"({RELATION})"] if sources.table is not None else []
        add([*reads, *logs], [_one_of("session", mixed)], "", [paths] if paths else [])
    return relations, params


def _scope(sources: PieceSources) -> list[str]:
    ranges = []
    if sources.session is not None:
        ranges.append(f"session = {sources.session}")
    if sources.event is not None:
        ranges.append(f"event = {_literal(sources.event)}")
    return ranges


def _one_of(column: str, numbers: Iterable[int], *, negated: bool = False) -> str:
    some = ", ".join(map(str, sorted(numbers)))
    if not some:
        return "true" if negated else "false"
    return f"{column} {'NOT ' if negated else ''}IN ({some})"


def _literal(text: str) -> str:
    # A view and a table made of a statement take no parameters for all that stands in them.
    return "'" + text.replace("'", "''") + "'"


def held_by(
    paths: Sequence[str], ranges: Mapping[str, Sequence[SessionRange]]
) -> dict[str, Sequence[SessionRange]]:
    """Return what segments hold; raises `StorageFailure` when one was replaced meanwhile."""
    names = {path: Path(path).name for path in paths}
    if not all(name in ranges for name in names.values()):
        raise StorageFailure("A segment was replaced while it was looked at; ask again.")
    return {path: ranges[name] for path, name in names.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEvent:
    """An event of the stream, or the COLD record of one."""

    session: int
    first_tick: int
    event_id: str | None = None
    kind: int = 0
    role: str | None = None
    last_tick: int = 0
    times: tuple[int, int] = (0, 0)
    content: str = ""
    tokens: int = 0
    timesteps: int = 0
    cold: CompressedRecord | None = None


def spell(tokens: Sequence[tuple[int, int, str]], text: str) -> Iterator[int]:
    """Yield the ticks of the tokens that `text` is spread over, wherever it stands in them."""
    kinds = [tokens[0][1], *(kind for _, kind, _ in tokens)]
    low = [
        (tick, folded(f"{BREAK if kind != before else ''}{content}"))
        for before, (tick, kind, content) in zip(kinds, tokens, strict=False)
    ]
    joined = "".join(content for _, content in low)
    starts, start = [], 0
    for _, content in low:
        starts.append(start)
        start += len(content)
    place = joined.find(text)
    while place >= 0:
        for (tick, content), start in zip(low, starts, strict=True):
            if start < place + len(text) and start + len(content) > place and content:
                yield tick
        place = joined.find(text, place + 1)


def event_of(row: Sequence[Any]) -> ReadEvent:
    """Return an event of the stream from what the relation of events has of it."""
    session, event, kind, role, first, last, since, until, content, tokens, timesteps = row
    return ReadEvent(
        session=session, first_tick=first, event_id=event, kind=kind, role=role, last_tick=last, times=(since, until),
        content=content, tokens=tokens, timesteps=timesteps,
    )  # fmt: skip


def event_record(
    event: ReadEvent,
    session_id: str,
    peaks: Sequence[tuple[str, float]],
    protected: Mapping[Fidelity, Sequence[tuple[int, int]]],
) -> EventRecord:
    """Return an event of the stream with its highest activations; `protected` are ranges of its session."""
    covered = (
        fidelity
        for fidelity, ranges in protected.items()
        if any(first <= event.last_tick and last >= event.first_tick for first, last in ranges)
    )
    return EventRecord(
        id=timestep_id(session_id, event.first_tick),
        session_id=session_id,
        event_id=event.event_id,
        event_type=KINDS[event.kind],
        role=event.role,
        start_tick=event.first_tick,
        end_tick=event.last_tick,
        start_time=from_micros(event.times[0]),
        end_time=from_micros(event.times[1]),
        content=event.content,
        concept_activations=dict(sorted(peaks, key=lambda peak: (-peak[1], peak[0]))),
        token_count=event.tokens,
        timesteps=event.timesteps,
        fidelity=next(covered, Fidelity.HOT),
    )


def cold_event_record(record: CompressedRecord) -> EventRecord:
    """Return the event that a COLD record of one reply stands for."""
    assert record.event_type is not None
    assert record.start_tick is not None
    assert record.end_tick is not None
    return EventRecord(
        id=record.id,
        session_id=record.session_id or "",
        event_id=record.event_id,
        event_type=record.event_type,
        role=record.role,
        start_tick=record.start_tick,
        end_tick=record.end_tick,
        start_time=record.start_time,
        end_time=record.end_time,
        content=record.summary,
        concept_activations=dict(record.peaks),
        token_count=record.token_count,
        timesteps=record.timesteps,
        fidelity=Fidelity.COLD,
        compression_level=record.level,
    )


_BATCH: Final = 200
_CONTENT: Final = 8
_OF_HITS: Final = (
    " SEMI JOIN hits ON hits.session = events.session AND hits.event IS NOT DISTINCT FROM events.event"
    " AND hits.first_tick <= events.last_tick AND hits.last_tick >= events.first_tick"
)


class EventReader:
    """Answers questions about the events of one store."""

    def __init__(self, db: Database, directory: Path, engine: DuckDbEngine, reader: StreamReader) -> None:
        self._engine = engine
        self._reader = reader
        self._manifest = SegmentManifest(db)
        self._sessions, self._windows, self._compressed = Sessions(db), Windows(db), ColdRecords(db)
        self._segments = directory / "segments"

    def recall(
        self, question: StepQuery, terms: SearchTerms | None, *, activations: bool = True
    ) -> list[EventRecord]:
        """Return the events with a timestep for which all of `question` holds and whose text has all of `terms`.

        They come whole, by session and first tick, with their activations or without. Raises what
        `StreamReader.query` does.
        """
        end = question.offset + question.limit

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, sources: StreamSources) -> list[ReadEvent]:
            hot = _stream(cursor, sql, question, terms, None if terms else end)
            cold = self._cold(sources.cold, terms)
            both = merge(hot, cold, key=lambda event: (event.session, event.first_tick))
            return list(islice(both, question.offset, end))

        return self.records(self._with_events(question, terms, take), activations=activations)

    def cold(self, terms: SearchTerms) -> Iterator[ReadEvent]:
        """Yield the replies among COLD records whose text has all of `terms`, by session and tick."""
        needle = _needle(terms)
        return self._cold(self._compressed.matches(StepQuery(text=needle), None), terms)

    def spelling(self, question: StepQuery, text: str, until: tuple[int, int] | None) -> dict[int, list[int]]:
        """Return the ticks of tokens that spell `text` together within an event, by session.

        Looked for in the events with a timestep for which `question` holds, up to the session and tick `until`.
        """
        terms = SearchTerms((folded(text),), ())
        question = replace(question, event_types=None)

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, _sources: StreamSources) -> list[ReadEvent]:
            spellings = []
            for event in _stream(cursor, sql, question, terms, None):
                if until is not None and (event.session, event.first_tick) > until:
                    break
                spellings += [event] if event.timesteps > 1 else []
            return spellings

        events = self._with_events(question, terms, take, cold=False)
        return self._spelled(events, folded(text)) if events else {}

    # The stream -------------------------------------------------------------------------------------------------

    def _with_events(
        self,
        question: StepQuery,
        terms: SearchTerms | None,
        take: Callable[[duckdb.DuckDBPyConnection, str, StreamSources], list[ReadEvent]],
        *,
        cold: bool = True,
    ) -> list[ReadEvent]:
        scope = StepQuery(session_id=question.session_id, event_id=question.event_id)
        needle = _needle(terms) if terms else None
        plain = replace(question, text=None)

        def attempt() -> list[ReadEvent]:
            hits = self._hits(replace(plain, event_types=None))  # the type is the event's
            sources = self._reader.sources(scope, cold=replace(plain, text=needle) if cold else None)
            with (
                self._reader.anew_if_replaced(sources),
                self.opened(sources, event=scope.event_id, hits=hits) as (cursor, sql),
            ):
                return take(cursor, sql, sources)

        return self._reader.retry(attempt)

    @contextmanager
    def opened(
        self,
        sources: StreamSources,
        *,
        event: str | None = None,
        ticks: tuple[int, int] | None = None,
        hits: Mapping[str, Any] | None = None,
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """Give a cursor, and the statement that gives each event of the sources once, whole.

        One `event` alone is put together, rows of logs within `ticks`, and events that share a timestep with `hits`.
        Raises `StorageFailure` when a segment was replaced meanwhile.
        """
        departed = TickRanges(sources.departed) if sources.departed else None
        table = self.of_logs(sources, departed, event=event, ticks=ticks)
        session_ranges = held_by(sources.paths, self._manifest.ranges()) if sources.paths else {}
        sides = self._reader.sides_of(EVENTS)
        of = ((path, side) for path in session_ranges for side in sides.get(Path(path).name, ()))
        files = {path: str(self._segments / side.name) for path, side in of}
        piece_sources = PieceSources(
            ranges_by_path=session_ranges,
            sides={path: side for path, side in files.items() if os.path.exists(side)},
            table=table,
            departed=departed,
            session=sources.session,
            event=event,
            name=self._engine.name,
        )
        with self._engine.cursor(self._segments, table) as cursor:
            if departed is not None:
                cursor.register("gone", departed.table)
                cursor.register("gone_ranges", departed.plain)
            events = create_events(cursor, piece_sources)
            sql = f"SELECT * FROM ({events}) events"
            if hits is not None:
                cursor.register("hits", hits)
                sql = f"{sql}{_OF_HITS}"
            yield cursor, sql

    def of_logs(
        self,
        sources: StreamSources,
        departed: TickRanges | None,
        *,
        event: str | None = None,
        ticks: tuple[int, int] | None = None,
    ) -> dict[str, NDArray[Any]] | None:
        """Return the rows of logs that `opened` puts together; None where there are none."""
        return flat(
            sources.logs,
            concept_numbers=self._provisional,
            keep=row_filter(StepQuery(ticks=ticks), sources.session, None, departed),
            events=None if event is None else [event],
            within=(sources.session, ticks),
        )

    @staticmethod
    def _provisional(ids: Sequence[str]) -> list[int]:
        return list(range(len(ids)))  # nothing is asked about concepts here

    def _hits(self, question: StepQuery) -> Mapping[str, Any] | None:
        """Return where timesteps are for which the question holds: events by id, else ranges; None where all do."""
        if not (question.ticks or question.times or question.activations) and question.tagged is None:
            return None

        def read(selection: StepSelection) -> Mapping[str, Any]:
            import numpy as np

            rows: list[tuple[int, str | None, int]] = []
            if selection.steps is not None:
                rows = selection.cursor.execute(
                    f"SELECT session, event, min(tick) {selection.steps}"
                    " GROUP BY session, event, CASE WHEN event IS NULL THEN tick END",
                    list(selection.params),
                ).fetchall()
            ticks: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for session, event, tick in rows:
                if event is None:
                    ticks[session].append((tick, tick))
            hit_rows: list[tuple[int, str | None, int, int]]
            hit_rows = [(session, event, 0, TICK_LIMIT) for session, event, _ in rows if event is not None]
            hit_rows += [(session, None, *span) for session, some in ticks.items() for span in union(some)]
            return {
                "session": np.array([row[0] for row in hit_rows], np.uint32),
                "event": np.array([row[1] for row in hit_rows], dtype=object),
                "first_tick": np.array([row[2] for row in hit_rows], np.int64),
                "last_tick": np.array([row[3] for row in hit_rows], np.int64),
            }

        return self._reader.ask(question, read, light=True)

    def _spelled(self, events: Sequence[ReadEvent], text: str) -> dict[int, list[int]]:
        ticks: dict[int, list[int]] = {}
        tokens: dict[tuple[int, str | None, int], list[tuple[int, int, str]]] = {}
        for session, tick, at, kind, content in self._tokens(events):
            event = events[at]
            tokens.setdefault((session, event.event_id, event.first_tick), []).append((tick, kind, content))
        for (session, _, _), some in tokens.items():
            some.sort()
            ticks.setdefault(session, []).extend(spell(some, text))
        return ticks

    def _tokens(self, events: Sequence[ReadEvent]) -> list[tuple[Any, ...]]:
        return self._step_columns(
            events, "steps.session, steps.tick, chosen.place, steps.kind, steps.content", ""
        )[0]

    def _step_columns(
        self, events: Sequence[ReadEvent], columns: str, after: str
    ) -> tuple[list[tuple[Any, ...]], Callable[[int], str]]:
        """Return columns of the timesteps of events, and what gives the ids of concepts."""
        import numpy as np

        numbers = {event.session for event in events}
        names = self._sessions.names(numbers)
        tagged: dict[str, list[tuple[int, int]]] = {}
        for event in events:
            tagged.setdefault(names[event.session], []).append((event.first_tick, event.last_tick))
        only = next(iter(tagged)) if len(tagged) == 1 else None
        chosen = {
            "session": np.array([event.session for event in events], np.uint32),
            "event": np.array([event.event_id for event in events], dtype=object),
            "first_tick": np.array([event.first_tick for event in events], np.int64),
            "last_tick": np.array([event.last_tick for event in events], np.int64),
            "place": np.arange(len(events)),
        }
        ticks = None
        if only is not None:
            ticks = (min(event.first_tick for event in events), max(event.last_tick for event in events))

        def read(selection: StepSelection) -> tuple[list[tuple[Any, ...]], Callable[[int], str]]:
            if selection.steps is None:
                return [], selection.concepts.id
            selection.cursor.register("chosen", chosen)
            rows = selection.cursor.execute(
                f"SELECT {columns} FROM (SELECT * {selection.steps}) steps JOIN chosen"
                " ON chosen.session = steps.session AND chosen.event IS NOT DISTINCT FROM steps.event"
                f" AND steps.tick BETWEEN chosen.first_tick AND chosen.last_tick {after}",
                list(selection.params),
            ).fetchall()
            return rows, selection.concepts.id

        return self._reader.ask(StepQuery(session_id=only, ticks=ticks), read)

    # Records ----------------------------------------------------------------------------------------------------

    def _cold(self, matches: Sequence[ColdMatch], terms: SearchTerms | None) -> Iterator[ReadEvent]:
        """Yield the replies among COLD records that match, by session and tick."""
        ordered = sorted(
            (match for match in matches if match.tick),
            key=lambda match: (match.session, match.tick, match.no),
        )
        for at in range(0, len(ordered), _BATCH):
            some = ordered[at : at + _BATCH]
            records = self._compressed.by_numbers([match.no for match in some])
            for match in some:
                record = records.get(match.no)
                if record is None or record.level is not CompressionLevel.REPLY:
                    continue
                if terms is None or terms.match(record.summary):
                    yield ReadEvent(session=match.session, first_tick=match.tick, cold=record)

    def records(self, events: Sequence[ReadEvent], *, activations: bool = True) -> list[EventRecord]:
        """Return events as records, with their activations or without."""
        hot = [event for event in events if event.cold is None]
        names = self._sessions.names(event.session for event in hot)
        peaks: dict[int, list[tuple[str, float]]] = {}
        if hot and activations:
            rows, concept = self._step_columns(
                hot,
                "place, concept, max(score) FROM (SELECT chosen.place, unnest(concepts) AS concept,"
                " unnest(scores) AS score",
                ") GROUP BY place, concept",
            )
            for at, number, score in rows:
                ((_, shortest),) = scored([number], [score])
                peaks.setdefault(at, []).append((concept(number), shortest))
        protected = self._windows.protected_by_session() if hot else {}
        places = {id(event): at for at, event in enumerate(hot)}
        return [
            cold_event_record(event.cold)
            if event.cold is not None
            else event_record(
                event,
                names[event.session],
                peaks.get(places[id(event)], []),
                protected.get(event.session, {}),
            )
            for event in events
        ]


def _needle(terms: SearchTerms) -> str | None:
    """Return the longest part of ASCII that every text with all of `terms` has."""
    return max((needle for needle in terms.needles if needle.isascii()), key=len, default=None)


def _stream(
    cursor: duckdb.DuckDBPyConnection,
    events: str,
    question: StepQuery,
    terms: SearchTerms | None,
    limit: int | None,
) -> Iterator[ReadEvent]:
    """Yield the events of the stream that match, by session and first tick."""
    conditions, params = ["true"], list[Any]()
    if question.event_types is not None:
        conditions.append("list_contains(?, kind)")
        params.append([KIND_CODES[event_type] for event_type in question.event_types])
    # Lower case is not the same everywhere outside of ASCII; what matters is decided below.
    for needle in terms.needles if terms is not None else ():
        if needle.isascii():
            conditions.append("contains(lower(content), ?)")
            params.append(needle)
    cursor.execute(
        f"SELECT * FROM ({events}) WHERE {' AND '.join(conditions)} ORDER BY session, first_tick"
        f"{'' if limit is None else f' LIMIT {limit}'}",
        params,
    )
    while rows := cursor.fetchmany(_BATCH):
        for row in rows:
            if terms is None or terms.match(row[_CONTENT]):
                yield event_of(row)


_Key = Callable[[TimestepRecord], tuple[float, int, int]]


def recall_text(
    reader: StreamReader, events: EventReader, sessions: Sessions, question: StepQuery
) -> list[TimestepRecord]:
    """Return what `StreamReader.query` does, and the tokens that only together with others hold the question's text."""
    end = question.offset + question.limit
    first = replace(question, limit=end, offset=0)
    records = reader.query(first)
    if question.text is not None and len(question.text) > 1:
        until = None
        if question.strongest is None and len(records) == end:
            # What is spelled after the last answer would not be among them.
            number = sessions.number(records[-1].session_id)
            until = None if number is None else (number, records[-1].tick)
        spelled = events.spelling(first, question.text, until)
        if spelled:
            known_record_ids = {record.id for record in records}
            others = [
                record
                for record in _spelled(reader, sessions, first, spelled)
                if record.id not in known_record_ids
            ]
            records = list(merge(records, others, key=_order(sessions, question)))
    return records[question.offset : end]


def _spelled(
    reader: StreamReader, sessions: Sessions, question: StepQuery, spelled: dict[int, list[int]]
) -> Iterator[TimestepRecord]:
    """Yield those of the ticks that everything else holds for, in the question's order."""
    names = sessions.names(spelled)
    places: dict[str, Ranges] = {}
    for number, ticks in spelled.items():
        ranges = union((tick, tick) for tick in ticks)
        if question.tagged is not None:
            ranges = intersection(ranges, union(question.tagged.get(names[number], ())))
        if ranges:
            places[names[number]] = ranges
    if places:
        # COLD records have their text in one piece: what is to be found of it was found.
        narrowed = replace(question, text=None, tagged=places, tag_sets=())
        size = sum(last - first + 1 for ranges in places.values() for first, last in ranges)
        for record in reader.query(replace(narrowed, limit=size)):
            if record.fidelity is not Fidelity.COLD:
                yield record


def _order(sessions: Sessions, question: StepQuery) -> _Key:
    numbers: dict[str, int] = {}

    def key(record: TimestepRecord) -> tuple[float, int, int]:
        if record.session_id not in numbers:
            numbers[record.session_id] = sessions.number(record.session_id) or 0
        score = 0.0 if question.strongest is None else record.concept_activations[question.strongest]
        return -score, numbers[record.session_id], record.tick

    return key
