"""Questions about whole events: of the stream, and COLD records of one reply each."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.core.tick_ranges import union
from hexad.database.connection import Database
from hexad.errors import StorageFailure
from hexad.experience.events.records import Event, cold_event_record, event_of, event_record, spell
from hexad.experience.events.relation import PieceSources, create_events, held_by
from hexad.experience.query.reader import Asked, Sources, StreamReader
from hexad.experience.query.records import scored
from hexad.experience.stream.duckdb_engine import Duck
from hexad.experience.stream.event_texts_file import KIND
from hexad.experience.stream.filters import TickRanges, row_filter
from hexad.experience.stream.manifest import Manifest
from hexad.experience.stream.rows import flat
from hexad.experience.tables.cold_records import Compressed, Match
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.windows import Windows
from hexad.experience.values.records import KIND_CODES, TICK_LIMIT, CompressionLevel, StepQuery
from hexad.experience.values.tiers import EventRecord
from hexad.text.search_terms import SearchTerms, folded

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

_ATTEMPTS: Final = 10
_BATCH: Final = 200
_CONTENT: Final = 8
_OF_HITS: Final = (
    " SEMI JOIN hits ON hits.session = events.session AND hits.event IS NOT DISTINCT FROM events.event"
    " AND hits.first_tick <= events.last_tick AND hits.last_tick >= events.first_tick"
)


class EventReader:
    """Answers questions about the events of one store."""

    def __init__(self, db: Database, directory: Path, duck: Duck, reader: StreamReader) -> None:
        self._duck = duck
        self._reader = reader
        self._manifest = Manifest(db)
        self._sessions, self._windows, self._compressed = Sessions(db), Windows(db), Compressed(db)
        self._segments = directory / "segments"

    def recall(
        self, question: StepQuery, terms: SearchTerms | None, *, activations: bool = True
    ) -> list[EventRecord]:
        """Return the events with a timestep for which all of `question` holds and whose text has all of `terms`.

        They come whole, by session and first tick, with their activations or without. Raises what
        `StreamReader.query` does.
        """
        end = question.offset + question.limit

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, sources: Sources) -> list[Event]:
            hot = _stream(cursor, sql, question, terms, None if terms else end)
            cold = self._cold(sources.cold, terms)
            both = merge(hot, cold, key=lambda event: (event.session, event.first_tick))
            return list(islice(both, question.offset, end))

        return self.records(self._with_events(question, terms, take), activations=activations)

    def cold(self, terms: SearchTerms) -> Iterator[Event]:
        """Yield the replies among COLD records whose text has all of `terms`, by session and tick."""
        needle = _needle(terms)
        return self._cold(self._compressed.matches(StepQuery(text=needle), None), terms)

    def spelling(self, question: StepQuery, text: str, until: tuple[int, int] | None) -> dict[int, list[int]]:
        """Return the ticks of tokens that spell `text` together within an event, by session.

        Looked for in the events with a timestep for which `question` holds, up to the session and tick `until`.
        """
        terms = SearchTerms((folded(text),), ())
        question = replace(question, event_types=None)

        def take(cursor: duckdb.DuckDBPyConnection, sql: str, _sources: Sources) -> list[Event]:
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
        take: Callable[[duckdb.DuckDBPyConnection, str, Sources], list[Event]],
        *,
        cold: bool = True,
    ) -> list[Event]:
        scope = StepQuery(session_id=question.session_id, event_id=question.event_id)
        needle = _needle(terms) if terms else None
        plain = replace(question, text=None)
        for _ in range(_ATTEMPTS):
            hits = self._hits(replace(plain, event_types=None))  # the type is the event's
            sources = self._reader.sources(scope, cold=replace(plain, text=needle) if cold else None)
            try:
                with self.opened(sources, event=scope.event_id, hits=hits) as (cursor, sql):
                    return take(cursor, sql, sources)
            except StorageFailure:
                if not self._reader.outdated(sources):
                    raise
        raise StorageFailure("The stream is being compressed faster than it can be read; ask again.")

    @contextmanager
    def opened(
        self,
        sources: Sources,
        *,
        event: str | None = None,
        ticks: tuple[int, int] | None = None,
        hits: Mapping[str, Any] | None = None,
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """Give a cursor, and the statement that gives each event of the sources once, whole.

        One `event` alone is put together, rows of logs within `ticks`, and events that share a timestep with `hits`.
        Raises `StorageFailure` when a segment was replaced meanwhile.
        """
        gone = TickRanges(sources.gone) if sources.gone else None
        table = self.of_logs(sources, gone, event=event, ticks=ticks)
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
            event=event,
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

    def of_logs(
        self,
        sources: Sources,
        gone: TickRanges | None,
        *,
        event: str | None = None,
        ticks: tuple[int, int] | None = None,
    ) -> dict[str, NDArray[Any]] | None:
        """Return the rows of logs that `opened` puts together; None where there are none."""
        return flat(
            sources.logs,
            concept_numbers=self._provisional,
            keep=row_filter(StepQuery(ticks=ticks), sources.session, None, gone),
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
            found += [(session, None, *span) for session, some in ticks.items() for span in union(some)]
            return {
                "session": np.array([row[0] for row in found], np.uint32),
                "event": np.array([row[1] for row in found], dtype=object),
                "first_tick": np.array([row[2] for row in found], np.int64),
                "last_tick": np.array([row[3] for row in found], np.int64),
            }

        return self._reader.ask(question, read, light=True)

    def _spelled(self, events: Sequence[Event], text: str) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        tokens: dict[tuple[int, str | None, int], list[tuple[int, int, str]]] = {}
        for session, tick, at, kind, content in self._tokens(events):
            event = events[at]
            tokens.setdefault((session, event.event_id, event.first_tick), []).append((tick, kind, content))
        for (session, _, _), some in tokens.items():
            some.sort()
            found.setdefault(session, []).extend(spell(some, text))
        return found

    def _tokens(self, events: Sequence[Event]) -> list[tuple[Any, ...]]:
        return self._of_chosen(
            events, "steps.session, steps.tick, chosen.place, steps.kind, steps.content", ""
        )[0]

    def _of_chosen(
        self, events: Sequence[Event], columns: str, after: str
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

    def _cold(self, matches: Sequence[Match], terms: SearchTerms | None) -> Iterator[Event]:
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
                    yield Event(session=match.session, first_tick=match.tick, cold=record)

    def records(self, events: Sequence[Event], *, activations: bool = True) -> list[EventRecord]:
        """Return events as records, with their activations or without."""
        hot = [event for event in events if event.cold is None]
        names = self._sessions.names(event.session for event in hot)
        peaks: dict[int, list[tuple[str, float]]] = {}
        if hot and activations:
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
) -> Iterator[Event]:
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
