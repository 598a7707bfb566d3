"""Events of the stream as one relation, from the files beside segments and from the timesteps that these do not have.

A segment's events are joined already, as far as they are in it. So are joined here those that go on in another one or
in a log, and runs of tokens without an event's id that end where another source begins. Where the ticks of a session's
sources lie between each other, or ticks of an event left for a COLD record, its timesteps are grouped anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hexad.errors import StorageFailure
from hexad.experience.stream.event_texts_file import PIECE_COLUMNS, pieces
from hexad.experience.stream.filters import TickRanges
from hexad.experience.stream.grouping_sql import JOINED, OUTPUT
from hexad.experience.stream.manifest import SessionRange
from hexad.experience.stream.rows import RELATION

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

    held: Mapping[str, Sequence[SessionRange]]
    sides: Mapping[str, str]
    table: Mapping[str, NDArray[Any]] | None
    gone: TickRanges | None
    session: int | None
    event: str | None
    name: Callable[[str], str]


def create_events(cursor: duckdb.DuckDBPyConnection, given: PieceSources) -> str:
    """Return the statement that gives each event once, whole.

    `rows`, `gone` and `gone_ranges` are registered with the cursor where there are any.
    """
    spans = list(_spans(given))
    mixed = _mixed(spans) | _left(cursor, given)
    sources: dict[int, int] = defaultdict(int)
    for _, session, _, _ in spans:
        sources[session] += session not in mixed
    divided = sorted(session for session, count in sources.items() if count > 1)
    relations, params = _fresh(given, mixed)
    parts = list[str]()
    if relations:
        fresh = f"({' UNION ALL '.join(relations)})"
        if divided or params:
            cursor.execute(f"CREATE TEMP TABLE fresh AS {fresh}", params)
            fresh = "fresh"
        parts.append(f"SELECT {PIECE_COLUMNS}, source FROM {fresh}")
    if given.sides:
        conditions = [_one_of("session", mixed, negated=True), *_scope(given)]
        paths = ", ".join(_literal(given.name(side)) for side in given.sides.values())
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
    return _joined(cursor, divided)


def _joined(cursor: duckdb.DuckDBPyConnection, divided: Sequence[int]) -> str:
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


def _spans(given: PieceSources) -> Iterator[tuple[str, int, int, int]]:
    """Yield each source with the sessions that it holds, and their first and last ticks."""
    import numpy as np

    for path, ranges in given.held.items():
        for session_range in ranges:
            if given.session in (None, session_range.session):
                yield path, session_range.session, *session_range.ticks
    if given.table is not None:
        for session in np.unique(given.table["session"]).tolist():
            ticks = given.table["tick"][given.table["session"] == session]
            yield _LOGS, session, int(ticks.min()), int(ticks.max())


def _mixed(spans: Iterable[tuple[str, int, int, int]]) -> set[int]:
    """Return the sessions in which the ticks of one source lie between those of another."""
    reached: dict[int, int] = {}
    found = set()
    for _, session, first, last in sorted(spans, key=lambda span: (span[1], span[2])):
        if first <= reached.get(session, -1):
            found.add(session)
        reached[session] = max(last, reached.get(session, -1))
    return found


def _left(cursor: duckdb.DuckDBPyConnection, given: PieceSources) -> set[int]:
    """Return the sessions in whose files of events there are ticks that left."""
    if given.gone is None or not given.sides:
        return set()
    rows = cursor.execute(
        f"SELECT DISTINCT session FROM {_READ} steps SEMI JOIN gone_ranges gone ON gone.session = steps.session"
        " AND gone.first_tick <= steps.last_tick AND gone.last_tick >= steps.first_tick",
        [sorted(map(given.name, given.sides.values()))],
    ).fetchall()
    return {row[0] for row in rows}


def _fresh(given: PieceSources, mixed: set[int]) -> tuple[list[str], list[Any]]:
    """Return the statements that put together what no file of events has, and their parameters."""
    gone = "" if given.gone is None else given.gone.outside("gone")
    relations, params = list[str](), list[Any]()

    def add(reads: Sequence[str], conditions: Sequence[str], source: str, values: Sequence[Any]) -> None:
        rows = " UNION ALL ".join(f"SELECT {_NEEDED} FROM {relation}" for relation in reads)
        where = " AND ".join([*conditions, *_scope(given)])
        steps = f"(SELECT {_NEEDED} FROM ({rows}) steps{gone} WHERE {where})"
        relations.append(f"SELECT {PIECE_COLUMNS}, {_literal(source)} AS source FROM ({pieces(steps)})")
        params.extend(values)

    others = [_one_of("session", mixed, negated=True)]
    for path in given.held:
        if path not in given.sides:
            add([_READ], others, path, [[given.name(path)]])
    if given.table is not None:
        add([f"({RELATION})"], others, _LOGS, [])
    if mixed:
        paths = [
            given.name(path)
            for path, held in given.held.items()
            if any(session_range.session in mixed for session_range in held)
        ]
        reads = [_READ] if paths else []
        logs = [f"({RELATION})"] if given.table is not None else []
        add([*reads, *logs], [_one_of("session", mixed)], "", [paths] if paths else [])
    return relations, params


def _scope(given: PieceSources) -> list[str]:
    found = []
    if given.session is not None:
        found.append(f"session = {given.session}")
    if given.event is not None:
        found.append(f"event = {_literal(given.event)}")
    return found


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
