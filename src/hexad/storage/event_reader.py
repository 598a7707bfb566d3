"""Questions about whole events: of the stream, and COLD records of one reply each."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.errors import StorageFailure
from hexad.model.experience import TICK_LIMIT, CompressionLevel, Fidelity, StepQuery, timestep_id
from hexad.model.ticks import union
from hexad.model.tiers import CompressedRecord, EventRecord
from hexad.storage.codec import from_micros
from hexad.storage.compressed import Compressed, Match
from hexad.storage.connection import Database
from hexad.storage.duck import Duck
from hexad.storage.event_pieces import PieceSources, create_events, held_by
from hexad.storage.segment_events import KIND
from hexad.storage.sessions import Sessions
from hexad.storage.stream_filters import TickRanges, row_filter
from hexad.storage.stream_frames import KIND_CODES, KINDS
from hexad.storage.stream_keys import BREAK
from hexad.storage.stream_manifest import Manifest
from hexad.storage.stream_query import Asked, Sources, StreamReader
from hexad.storage.stream_records import scored
from hexad.storage.stream_rows import flat
from hexad.storage.windows import Windows
from hexad.text.search_terms import SearchTerms, folded

if TYPE_CHECKING:
    import duckdb

_ATTEMPTS: Final = 10
_BATCH: Final = 200
_OF_HITS: Final = (
    " SEMI JOIN hits ON hits.session = events.session AND hits.event IS NOT DISTINCT FROM events.event"
    " AND hits.first_tick <= events.last_tick AND hits.last_tick >= events.first_tick"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
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


class EventReader:
    """Answers questions about the events of one store."""

    def __init__(self, db: Database, directory: Path, duck: Duck, reader: StreamReader) -> None:
        self._duck = duck
        self._reader = reader
        self._manifest = Manifest(db)
        self._sessions, self._windows, self._compressed = Sessions(db), Windows(db), Compressed(db)
        self._segments = directory / "segments"

    def recall(self, question: StepQuery, terms: SearchTerms | None) -> list[EventRecord]:
        """Return the events with a timestep for which all of `question` holds and whose text has all of `terms`.

        They come whole, by session and first tick. Raises what `StreamReader.query` does.
        """
        end = question.offset + question.limit

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, sources: Sources) -> list[_Event]:
            hot = _stream(cursor, sql, question, terms, None if terms else end)
            cold = self._cold(sources.cold, terms)
            both = merge(hot, cold, key=lambda one: (one.session, one.first_tick))
            return list(islice(both, question.offset, end))

        return self._records(self._with_events(question, terms, take))

    def spelling(self, question: StepQuery, text: str, until: tuple[int, int] | None) -> dict[int, list[int]]:
        """Return the ticks of tokens that spell `text` together within an event, by session.

        Looked for in the events with a timestep for which `question` holds, up to the session and tick `until`.
        """
        terms = SearchTerms((folded(text),), ())
        question = replace(question, event_types=None)

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, _sources: Sources) -> list[_Event]:
            found = []
            for event in _stream(cursor, sql, question, terms, None):
                if until is not None and (event.session, event.first_tick) > until:
                    break
                found += [event] if event.timesteps > 1 else []
            return found

        events = self._with_events(question, terms, take, cold=False)
        return self._spelled(events, folded(text)) if events else {}

    # The stream -------------------------------------------------------------------------------------------------

    def _with_events(
        self,
        question: StepQuery,
        terms: SearchTerms | None,
        take: Callable[[duckdb.DuckDBPyConnection, str, Sources], list[_Event]],
        *,
        cold: bool = True,
    ) -> list[_Event]:
        scope = StepQuery(session_id=question.session_id, event_id=question.event_id)
        needle = (
            max((one for one in terms.needles if one.isascii()), key=len, default=None) if terms else None
        )
        plain = replace(question, text=None)
        for _ in range(_ATTEMPTS):
            hits = self._hits(replace(plain, event_types=None))  # the type is the event's
            sources = self._reader.sources(scope, cold=replace(plain, text=needle) if cold else None)
            try:
                with self._opened(scope, sources, hits) as (cursor, sql):
                    return take(cursor, sql, sources)
            except StorageFailure:
                if not self._reader.outdated(sources):
                    raise
        raise StorageFailure("The stream is being compressed faster than it can be read; ask again.")

    @contextmanager
    def _opened(
        self, scope: StepQuery, sources: Sources, hits: Mapping[str, Any] | None
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        gone = TickRanges(sources.gone) if sources.gone else None
        table = flat(
            sources.logs,
            concept_numbers=self._provisional,
            keep=row_filter(scope, sources.session, None, gone),
            events=None if scope.event_id is None else [scope.event_id],
        )
        held = held_by(sources.paths, self._manifest.ranges()) if sources.paths else {}
        sides = self._manifest.sides(KIND)
        of = ((path, side) for path in held for side in sides.get(Path(path).name, ()))
        files = {path: str(self._segments / side.name) for path, side in of}
        given = PieceSources(
            held=held,
            sides={path: side for path, side in files.items() if os.path.exists(side)},
            table=table,
            gone=gone,
            session=sources.session,
            event=scope.event_id,
            name=self._duck.name,
        )
        with self._duck.cursor(self._segments, table) as cursor:
            if gone is not None:
                cursor.register("gone", gone.table)
                cursor.register("gone_ranges", gone.plain)
            events = create_events(cursor, given)
            sql = f"SELECT * FROM ({events}) events"
            if hits is not None:
                cursor.register("hits", hits)
                sql = f"{sql}{_OF_HITS}"
            yield cursor, sql

    @staticmethod
    def _provisional(ids: Sequence[str]) -> list[int]:
        return list(range(len(ids)))  # nothing is asked about concepts here

    def _hits(self, question: StepQuery) -> Mapping[str, Any] | None:
        """Return where timesteps are for which the question holds: events by id, else ranges; None where all do."""
        if not (question.ticks or question.times or question.activations) and question.tagged is None:
            return None

        def read(asked: Asked) -> Mapping[str, Any]:
            import numpy as np

            rows: list[tuple[int, str | None, int]] = []
            if asked.steps is not None:
                rows = asked.cursor.execute(
                    f"SELECT session, event, min(tick) {asked.steps}"
                    " GROUP BY session, event, CASE WHEN event IS NULL THEN tick END",
                    list(asked.params),
                ).fetchall()
            ticks: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for session, event, tick in rows:
                if event is None:
                    ticks[session].append((tick, tick))
            found: list[tuple[int, str | None, int, int]]
            found = [(session, event, 0, TICK_LIMIT) for session, event, _ in rows if event is not None]
            found += [(session, None, *one) for session, some in ticks.items() for one in union(some)]
            return {
                "session": np.array([one[0] for one in found], np.uint32),
                "event": np.array([one[1] for one in found], dtype=object),
                "first_tick": np.array([one[2] for one in found], np.int64),
                "last_tick": np.array([one[3] for one in found], np.int64),
            }

        return self._reader.ask(question, read, light=True)

    def _spelled(self, events: Sequence[_Event], text: str) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        tokens: dict[tuple[int, str | None, int], list[tuple[int, int, str]]] = {}
        for session, tick, at, kind, content in self._tokens(events):
            event = events[at]
            tokens.setdefault((session, event.event_id, event.first_tick), []).append((tick, kind, content))
        for (session, _, _), some in tokens.items():
            some.sort()
            found.setdefault(session, []).extend(_spell(some, text))
        return found

    def _tokens(self, events: Sequence[_Event]) -> list[tuple[Any, ...]]:
        return self._of_chosen(
            events, "steps.session, steps.tick, chosen.place, steps.kind, steps.content", ""
        )[0]

    def _of_chosen(
        self, events: Sequence[_Event], columns: str, after: str
    ) -> tuple[list[tuple[Any, ...]], Callable[[int], str]]:
        """Return columns of the timesteps of events, and what gives the ids of concepts."""
        import numpy as np

        numbers = {one.session for one in events}
        names = self._sessions.names(numbers)
        tagged: dict[str, list[tuple[int, int]]] = {}
        for one in events:
            tagged.setdefault(names[one.session], []).append((one.first_tick, one.last_tick))
        only = next(iter(tagged)) if len(tagged) == 1 else None
        chosen = {
            "session": np.array([one.session for one in events], np.uint32),
            "event": np.array([one.event_id for one in events], dtype=object),
            "first_tick": np.array([one.first_tick for one in events], np.int64),
            "last_tick": np.array([one.last_tick for one in events], np.int64),
            "place": np.arange(len(events)),
        }
        ticks = None
        if only is not None:
            ticks = (min(one.first_tick for one in events), max(one.last_tick for one in events))

        def read(asked: Asked) -> tuple[list[tuple[Any, ...]], Callable[[int], str]]:
            if asked.steps is None:
                return [], asked.concepts.id
            asked.cursor.register("chosen", chosen)
            rows = asked.cursor.execute(
                f"SELECT {columns} FROM (SELECT * {asked.steps}) steps JOIN chosen"
                " ON chosen.session = steps.session AND chosen.event IS NOT DISTINCT FROM steps.event"
                f" AND steps.tick BETWEEN chosen.first_tick AND chosen.last_tick {after}",
                list(asked.params),
            ).fetchall()
            return rows, asked.concepts.id

        return self._reader.ask(StepQuery(session_id=only, ticks=ticks), read)

    # Records ----------------------------------------------------------------------------------------------------

    def _cold(self, matches: Sequence[Match], terms: SearchTerms | None) -> Iterator[_Event]:
        """Yield the replies among COLD records that match, by session and tick."""
        ordered = sorted(
            (one for one in matches if one.tick), key=lambda one: (one.session, one.tick, one.no)
        )
        for at in range(0, len(ordered), _BATCH):
            some = ordered[at : at + _BATCH]
            records = self._compressed.by_numbers([one.no for one in some])
            for one in some:
                record = records.get(one.no)
                if record is None or record.level is not CompressionLevel.REPLY:
                    continue
                if terms is None or terms.match(record.summary):
                    yield _Event(session=one.session, first_tick=one.tick, cold=record)

    def _records(self, events: Sequence[_Event]) -> list[EventRecord]:
        hot = [one for one in events if one.cold is None]
        names = self._sessions.names(one.session for one in hot)
        peaks: dict[int, list[tuple[str, float]]] = {}
        if hot:
            rows, concept = self._of_chosen(
                hot,
                "place, concept, max(score) FROM (SELECT chosen.place, unnest(concepts) AS concept,"
                " unnest(scores) AS score",
                ") GROUP BY place, concept",
            )
            for at, number, score in rows:
                ((_, shortest),) = scored([number], [score])
                peaks.setdefault(at, []).append((concept(number), shortest))
        protected = self._windows.protected_by_session() if hot else {}
        places = {id(one): at for at, one in enumerate(hot)}
        return [
            _cold_record(one.cold)
            if one.cold is not None
            else _record(
                one, names[one.session], peaks.get(places[id(one)], []), protected.get(one.session, {})
            )
            for one in events
        ]


def _stream(
    cursor: duckdb.DuckDBPyConnection,
    events: str,
    question: StepQuery,
    terms: SearchTerms | None,
    limit: int | None,
) -> Iterator[_Event]:
    """Yield the events of the stream that match, by session and first tick."""
    conditions, params = ["true"], list[Any]()
    if question.event_types is not None:
        conditions.append("list_contains(?, kind)")
        params.append([KIND_CODES[one] for one in question.event_types])
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
        for session, event, kind, role, first, last, since, until, content, tokens, timesteps in rows:
            if terms is None or terms.match(content):
                yield _Event(
                    session=session, first_tick=first, event_id=event, kind=kind, role=role, last_tick=last,
                    times=(since, until), content=content, tokens=tokens, timesteps=timesteps,
                )  # fmt: skip


def _spell(tokens: Sequence[tuple[int, int, str]], text: str) -> Iterator[int]:
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


def _record(
    one: _Event,
    session_id: str,
    peaks: Sequence[tuple[str, float]],
    protected: Mapping[Fidelity, Sequence[tuple[int, int]]],
) -> EventRecord:
    covered = (
        fidelity
        for fidelity, ranges in protected.items()
        if any(first <= one.last_tick and last >= one.first_tick for first, last in ranges)
    )
    return EventRecord(
        id=timestep_id(session_id, one.first_tick),
        session_id=session_id,
        event_id=one.event_id,
        event_type=KINDS[one.kind],
        role=one.role,
        start_tick=one.first_tick,
        end_tick=one.last_tick,
        start_time=from_micros(one.times[0]),
        end_time=from_micros(one.times[1]),
        content=one.content,
        concept_activations=dict(sorted(peaks, key=lambda peak: (-peak[1], peak[0]))),
        token_count=one.tokens,
        timesteps=one.timesteps,
        fidelity=next(covered, Fidelity.HOT),
    )


def _cold_record(record: CompressedRecord) -> EventRecord:
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
