"""The texts of a segment's events, joined, in a file of their own beside it: who looks for words reads these alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hexad.experience.stream.duckdb_engine import quoted
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.stream.grouping_sql import JOINED, KEYED

if TYPE_CHECKING:
    import duckdb

KIND: Final = "events"
PIECE_COLUMNS: Final = (
    "session, event, kind, last_kind, role, first_tick, last_tick, first_at, last_at, content, tokens, timesteps,"
    " starts, ends"
)
_PIECES: Final = (
    "SELECT session, event, arg_min(kind, tick) AS kind, arg_max(kind, tick) AS last_kind,"
    " first(role ORDER BY tick) AS role,"
    " min(tick) AS first_tick, max(tick) AS last_tick, min(ts) AS first_at, max(ts) AS last_at,"
    f" {JOINED.format(tick='tick')} AS content, sum(tokens)::BIGINT AS tokens, count(*) AS timesteps,"
    f" arg_min(flags, tick) & {STARTS} <> 0 AS starts, arg_max(flags, tick) & {ENDS} <> 0 AS ends"
)
_NEEDED: Final = "session, tick, ts, kind, flags, tokens, role, event, content"
_PARQUET: Final = (
    "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, PARQUET_VERSION V2, ROW_GROUP_SIZE 8192"
)


def pieces(steps: str) -> str:
    """Return the statement that joins timesteps to pieces of events; `steps` is a relation with a segment's columns."""
    keyed = KEYED.format(steps=f"FROM (SELECT {_NEEDED} FROM {steps})")
    told = (
        f"SELECT *, lag(kind) OVER (PARTITION BY session, event, run ORDER BY tick) AS before FROM ({keyed})"
    )
    return f"{_PIECES} FROM ({told}) GROUP BY session, event, run"


def write_events(cursor: duckdb.DuckDBPyConnection, segment: str, to: str) -> None:
    """Write the events of a segment, by session and first tick: of one that goes on elsewhere what is in it.

    The files are given by their names for DuckDB.
    """
    steps = f"read_parquet('{quoted(segment)}', hive_partitioning = false)"
    cursor.execute(f"COPY ({pieces(steps)} ORDER BY session, first_tick) TO '{quoted(to)}' ({_PARQUET})")
