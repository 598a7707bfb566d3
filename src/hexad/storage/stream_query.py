"""Questions to the stream: what is still in logs, anybody's, and what is in segments, answered as one.

Logs are read before the manifest is: a log that is sealed in between is then in a segment that the manifest names,
and dropped here. The other way round its rows would be in neither.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.errors import NotFound
from hexad.model.experience import StepQuery, TimestepRecord, timestep_id
from hexad.storage.codec import from_micros, to_micros
from hexad.storage.connection import Database
from hexad.storage.duck import Duck
from hexad.storage.sessions import Sessions
from hexad.storage.stream_frames import ENDS, KIND_CODES, KINDS, STARTS, Frames
from hexad.storage.stream_log import list_logs, read_log
from hexad.storage.stream_manifest import Manifest
from hexad.storage.stream_rows import RELATION, Keep, flat, merge_small

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS: Final = "session, tick, ts, kind, flags, token, tokens, role, event, content, concepts, scores"
_PROVISIONAL: Final = 3_000_000_000
"""From here on are the numbers of concepts that no segment holds yet; they are worth nothing outside one query."""


class _Concepts:
    """The numbers of concepts in one query: each is looked up once, so that it cannot change on the way."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._numbers: dict[str, int] = {}
        self._ids: dict[int, str] = {}

    def numbers(self, ids: Sequence[str]) -> list[int]:
        """Return the number of each concept, a provisional one where it has none."""
        for one in ids:
            if one not in self._numbers:
                known = self._manifest.concept_number(one)
                number = _PROVISIONAL + len(self._numbers) if known is None else known
                self._numbers[one], self._ids[number] = number, one
        return [self._numbers[one] for one in ids]

    def id(self, number: int) -> str:
        """Return the concept of a number."""
        return self._ids.get(number) or self._manifest.concept_id(number) or f"#{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """Where the rows of one query are: what logs hold, and the files of segments."""

    logs: Sequence[Frames]
    paths: Sequence[str]
    session: int | None


class StreamReader:
    """Answers questions to the stream of one store."""

    def __init__(self, db: Database, directory: Path, duck: Duck) -> None:
        self._db = db
        self._duck = duck
        self._manifest = Manifest(db)
        self._sessions = Sessions(db)
        self._log_directory, self._segments = directory / "log", directory / "segments"
        self._known: dict[str, Frames] = {}
        self._lock = threading.Lock()

    def query(self, question: StepQuery) -> list[TimestepRecord]:
        """Return what holds, in the order of sessions and ticks, or strongest first.

        Raises `NotFound` for a session that was never started, `IntegrityError` for a damaged log or segment.
        """
        sources = self._sources(question)
        concepts = _Concepts(self._manifest)
        places = _places(question, self._sessions)
        if places is not None and not len(places["session"]):
            return []
        table = flat(
            sources.logs,
            concept_numbers=concepts.numbers,
            keep=_keep(question, sources.session, places),
            event=question.event_id,
        )
        if table is None and not sources.paths:
            return []
        conditions, params = _conditions(question, sources.session, concepts)
        relations = [] if table is None else [f"SELECT {_COLUMNS} FROM ({RELATION})"]
        if sources.paths:
            # Else DuckDB takes a folder above the store that is called `session=7` for a column.
            relations.append(f"SELECT {_COLUMNS} FROM read_parquet(?, hive_partitioning = false)")
            params = [list(sources.paths), *params]
        order = "session, tick"
        if question.strongest is not None:
            order = (
                f"scores[list_position(concepts, {concepts.numbers([question.strongest])[0]})] DESC, {order}"
            )
        sql = (
            f"SELECT {_COLUMNS} FROM ({' UNION ALL '.join(relations)}) steps WHERE {conditions}"
            f" ORDER BY {order} LIMIT ? OFFSET ?"
        )
        with self._duck.cursor(self._segments, table) as cursor:
            if places is not None:
                cursor.register("places", places)
            rows = cursor.execute(sql, [*params, question.limit, question.offset]).fetchall()
        names = self._sessions.names(row[0] for row in rows)
        return [_record(row, names, concepts) for row in rows]

    def counts(self) -> tuple[int, int]:
        """Return how many records are sealed, and how many are not yet."""
        sources = self._sources(StepQuery())
        sealed = sum(one.rows for one in self._manifest.segments())
        return sealed, sum(len(frame) for log in sources.logs for frame in log.frames)

    def _sources(self, question: StepQuery) -> _Sources:
        logs = self._read_logs()
        with self._db.read():
            session = None
            if question.session_id is not None:
                session = self._sessions.number(question.session_id)
                if session is None:
                    raise NotFound(
                        f"There is no session {question.session_id!r}; `sessions()` lists those that there are."
                    )
            times = question.times
            segments = self._manifest.segments(
                session=session,
                ticks=question.ticks,
                times=None if times is None else (to_micros(times[0]), to_micros(times[1])),
            )
            retired = self._manifest.retired(list(logs))
        return _Sources(
            logs=[log for name, log in logs.items() if name not in retired],
            paths=[str(self._segments / one.name) for one in segments],
            session=session,
        )

    def _read_logs(self) -> dict[str, Frames]:
        found: dict[str, Frames] = {}
        with self._lock:
            for path in list_logs(self._log_directory):
                # Taken out while it is read: after an error it is read anew.
                log = read_log(path, self._known.pop(path.name, None))
                if log is not None:
                    merge_small(log)
                    found[path.name] = log
            self._known = dict(found)
            return {name: replace(log, frames=list(log.frames)) for name, log in found.items()}


def _keep(question: StepQuery, session: int | None, places: Mapping[str, NDArray[np.int64]] | None) -> Keep:
    """Return what rules rows of logs out by their numbers, before any text is touched."""
    kinds = None if question.event_types is None else [KIND_CODES[one] for one in question.event_types]

    def keep(numbers: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        import numpy as np

        wanted = np.ones(len(numbers["tick"]), np.bool_)
        if session is not None:
            wanted &= numbers["session"] == session
        if question.ticks is not None:
            wanted &= (numbers["tick"] >= question.ticks[0]) & (numbers["tick"] <= question.ticks[1])
        if question.times is not None:
            since, until = map(to_micros, question.times)
            wanted &= (numbers["ts"] >= since) & (numbers["ts"] < until)
        if kinds is not None:
            wanted &= np.isin(numbers["kind"], kinds)
        if places is not None:
            wanted &= _placed(numbers, places)
        return wanted

    return keep


def _placed(
    numbers: Mapping[str, NDArray[Any]], places: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """Return which rows lie in `places`, whose ranges are in order and apart in each session."""
    import numpy as np

    ticks = numbers["tick"]
    inside = np.zeros(len(ticks), np.bool_)
    for session in np.unique(places["session"]):
        mine = places["session"] == session
        firsts, lasts = places["first_tick"][mine], places["last_tick"][mine]
        before = np.searchsorted(firsts, ticks, side="right") - 1
        reached = (before >= 0) & (ticks <= lasts[np.maximum(before, 0)])
        inside |= (numbers["session"] == session) & reached
    return inside


def _places(question: StepQuery, sessions: Sessions) -> dict[str, NDArray[np.int64]] | None:
    """Return where tags let timesteps through, as columns; None where no tag is asked for."""
    import numpy as np

    if question.tagged is None:
        return None
    rows = [
        (number, first, last)
        for session_id, ranges in question.tagged.items()
        if (number := sessions.number(session_id)) is not None
        for first, last in ranges
    ]
    columns = np.array(rows, np.int64).reshape(len(rows), 3)
    names = ("session", "first_tick", "last_tick")
    return {name: np.ascontiguousarray(columns[:, at]) for at, name in enumerate(names)}


def _conditions(question: StepQuery, session: int | None, concepts: _Concepts) -> tuple[str, list[Any]]:
    conditions, params = ["true"], list[Any]()

    def add(condition: str, *values: object) -> None:
        conditions.append(condition)
        params.extend(values)

    if session is not None:
        add("session = ?", session)
    if question.ticks is not None:
        add("tick BETWEEN ? AND ?", *question.ticks)
    if question.times is not None:
        add("ts >= ? AND ts < ?", *map(to_micros, question.times))
    if question.event_types is not None:
        add("list_contains(?, kind)", [KIND_CODES[one] for one in question.event_types])
    if question.event_id is not None:
        add("event = ?", question.event_id)
    if question.tagged is not None:
        add(
            "EXISTS (SELECT 1 FROM places WHERE places.session = steps.session"
            " AND steps.tick BETWEEN places.first_tick AND places.last_tick)"
        )
    if question.text is not None:
        add("contains(lower(content), lower(?))", question.text)
    for concept, (low, high) in question.activations.items():
        # Scores are kept in single precision, so the bounds are rounded as they were.
        add(
            "scores[list_position(concepts, ?)] BETWEEN CAST(? AS FLOAT) AND CAST(? AS FLOAT)",
            concepts.numbers([concept])[0],
            low,
            high,
        )
    return " AND ".join(conditions), params


def _record(row: Sequence[Any], names: Mapping[int, str], concepts: _Concepts) -> TimestepRecord:
    session, tick, at, kind, flags, token, tokens, role, event, content, numbers, scores = row
    activations = [(concepts.id(number), score) for number, score in _scored(numbers, scores)]
    activations.sort(key=lambda one: (-one[1], one[0]))
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
    )


def _scored(numbers: Sequence[int], scores: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield scores as the shortest number that single precision keeps apart: 0.8, not 0.800000011920929."""
    import numpy as np

    for number, score in zip(numbers, scores, strict=True):
        yield number, float(str(np.float32(score)))
