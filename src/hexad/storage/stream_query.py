"""Questions to the stream: what is still in logs, anybody's, and what is in segments, answered as one.

Logs are read before the manifest is: a log that is sealed in between is then in a segment that the manifest names,
and dropped here. The other way round its rows would be in neither.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.errors import NotFound, StorageFailure
from hexad.model.experience import Fidelity, StepQuery, TimestepRecord
from hexad.model.ticks import Ranges, holds
from hexad.storage.codec import to_micros
from hexad.storage.cold import ColdRanges, range_columns
from hexad.storage.compressed import Compressed, Match
from hexad.storage.connection import Database
from hexad.storage.duck import Duck
from hexad.storage.sessions import Sessions
from hexad.storage.stream_frames import KIND_CODES, Frames
from hexad.storage.stream_log import list_logs, read_log
from hexad.storage.stream_manifest import Manifest
from hexad.storage.stream_records import ConceptNumbers, cold_timestep, timestep
from hexad.storage.stream_rows import RELATION, Keep, flat, merge_small
from hexad.storage.windows import Windows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS: Final = "session, tick, ts, kind, flags, token, tokens, role, event, content, concepts, scores"
# Else DuckDB takes a folder above the store that is called `session=7` for a column.
_PARQUET: Final = "read_parquet(?, hive_partitioning = false)"
_NOT_GONE: Final = (
    "NOT EXISTS (SELECT 1 FROM gone WHERE gone.session = steps.session"
    " AND steps.tick BETWEEN gone.first_tick AND gone.last_tick)"
)
_ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """Where the answers of one query are: what logs hold, the files of segments, ticks that left, COLD records."""

    logs: Sequence[Frames]
    paths: Sequence[str]
    session: int | None
    gone: Mapping[int, Ranges]
    cold: Sequence[Match]


class StreamReader:
    """Answers questions to the stream of one store."""

    def __init__(self, db: Database, directory: Path, duck: Duck) -> None:
        self._db = db
        self._duck = duck
        self._manifest = Manifest(db)
        self._sessions = Sessions(db)
        self._gone, self._compressed, self._windows = ColdRanges(db), Compressed(db), Windows(db)
        self._log_directory, self._segments = directory / "log", directory / "segments"
        self._known: dict[str, Frames] = {}
        self._lock = threading.Lock()

    def query(self, question: StepQuery) -> list[TimestepRecord]:
        """Return what holds, in the order of sessions and ticks, or strongest first; COLD records among it.

        Raises `NotFound` for a session that was never started, `IntegrityError` for a damaged log or segment.
        """
        for _ in range(_ATTEMPTS):
            found = self._query(question)
            if found is not None:
                return found
        raise StorageFailure("The stream is being compressed faster than it can be read; ask again.")

    def _query(self, question: StepQuery) -> list[TimestepRecord] | None:
        """Return what holds; None when a COLD record went while it was looked for, into a coarser one."""
        sources = self._sources(question)
        concepts = ConceptNumbers(self._manifest)
        places = _places(question, self._sessions)
        nowhere = places is not None and not len(places["session"])
        gone = range_columns(dict(sources.gone)) if sources.gone else None
        keep = _keep(question, sources.session, places, gone)
        logs = [] if nowhere else sources.logs
        table = flat(logs, concept_numbers=concepts.numbers, keep=keep, event=question.event_id)
        paths = [] if nowhere else list(sources.paths)
        if table is None and not paths and not sources.cold:
            return []
        sql, params = _statement(question, sources, concepts, rows=table is not None, paths=paths)
        with self._duck.cursor(self._segments, table) as cursor:
            if places is not None:
                cursor.register("places", places)
            if gone is not None:
                cursor.register("gone", gone)
            if sources.cold:
                cursor.register("cold", _cold_columns(sources.cold))
            rows = cursor.execute(sql, [*params, question.limit, question.offset]).fetchall()
        return self._records(rows, concepts)

    def _records(
        self, rows: Sequence[Sequence[Any]], concepts: ConceptNumbers
    ) -> list[TimestepRecord] | None:
        cold = self._compressed.by_numbers([row[0] for row in rows if row[0]])
        if any(row[0] and row[0] not in cold for row in rows):
            return None
        names = self._sessions.names(row[2] for row in rows if not row[0])
        fidelity = _labels(self._windows, names)
        return [
            cold_timestep(cold[row[0]]) if row[0] else timestep(row[2:], names, concepts, fidelity)
            for row in rows
        ]

    def counts(self) -> tuple[int, int]:
        """Return how many timesteps are sealed, and how many are not yet; those that left do not count."""
        sources = self._sources(StepQuery())
        if not sources.gone:
            sealed = sum(one.rows for one in self._manifest.segments())
            return sealed, sum(len(frame) for log in sources.logs for frame in log.frames)
        gone = range_columns(dict(sources.gone))
        unsealed = sum(
            int((~_placed(frame.numbers, gone)).sum()) for log in sources.logs for frame in log.frames
        )
        if not sources.paths:
            return 0, unsealed
        with self._duck.cursor(self._segments) as cursor:
            cursor.register("gone", gone)
            row = cursor.execute(
                f"SELECT count(*) FROM (SELECT session, tick FROM {_PARQUET}) steps WHERE {_NOT_GONE}",
                [list(sources.paths)],
            ).fetchone()
        assert row is not None
        return int(row[0]), unsealed

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
                gone=self._gone.by_session(session, question.ticks),
                cold=self._compressed.matches(question, session),
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


def _keep(
    question: StepQuery,
    session: int | None,
    places: Mapping[str, NDArray[np.int64]] | None,
    gone: Mapping[str, NDArray[np.int64]] | None,
) -> Keep:
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
        if gone is not None:
            wanted &= ~_placed(numbers, gone)
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
    if question.tagged is None:
        return None
    ranges: dict[int, Ranges] = {}
    for session_id, some in question.tagged.items():
        number = sessions.number(session_id)
        if number is not None:
            ranges[number] = tuple(some)
    return range_columns(ranges)


def _statement(
    question: StepQuery,
    sources: _Sources,
    concepts: ConceptNumbers,
    *,
    rows: bool,
    paths: Sequence[str],
) -> tuple[str, list[Any]]:
    """Return the query and its parameters, but for limit and offset; COLD records stand in it by their numbers."""
    relations, params = list[str](), list[Any]()
    if rows:
        relations.append(f"SELECT {_COLUMNS} FROM ({RELATION})")
    if paths:
        relations.append(f"SELECT {_COLUMNS} FROM {_PARQUET}")
        params.append(list(paths))
    score = "0.0"
    if question.strongest is not None:
        score = f"scores[list_position(concepts, {concepts.numbers([question.strongest])[0]})]"
    parts = []
    if relations:
        conditions, values = _conditions(question, sources.session, concepts)
        if sources.gone:
            conditions = f"{conditions} AND {_NOT_GONE}"
        parts.append(
            f"SELECT 0 AS cold_no, {score} AS score, {_COLUMNS} FROM ({' UNION ALL '.join(relations)}) steps"
            f" WHERE {conditions}"
        )
        params += values
    if sources.cold:
        parts.append(
            "SELECT cold_no, score, session, tick, ts, NULL AS kind, NULL AS flags, NULL AS token, NULL AS tokens,"
            " NULL AS role, NULL AS event, NULL AS content, NULL AS concepts, NULL AS scores FROM cold"
        )
    strongest = "" if question.strongest is None else "score DESC, "
    return (
        f"SELECT * FROM ({' UNION ALL '.join(parts)}) ORDER BY {strongest}session, tick, ts, cold_no LIMIT ? OFFSET ?"
    ), params


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


def _cold_columns(matches: Sequence[Match]) -> dict[str, NDArray[Any]]:
    import numpy as np

    return {
        "cold_no": np.array([one.no for one in matches], np.int64),
        "session": np.array([one.session for one in matches], np.uint32),
        "tick": np.array([one.tick for one in matches], np.int64),
        "ts": np.array([one.at for one in matches], np.int64),
        "score": np.array([one.score for one in matches], np.float64),
    }


def _conditions(question: StepQuery, session: int | None, concepts: ConceptNumbers) -> tuple[str, list[Any]]:
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
