"""Whether COLD records stand for exactly what left the stream, and nothing is erased that is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from hexad.database.connection import Database

_LISTED: Final = 20


def check_cold(db: Database) -> Iterator[str]:
    """Yield in words where COLD records and the ticks that left the stream contradict each other."""
    with db.read():
        row = db.query_one(
            "SELECT (SELECT coalesce(sum(last_tick - first_tick + 1), 0) FROM stream_cold),"
            " (SELECT coalesce(sum(timesteps), 0) FROM compressed_records)"
        )
        assert row is not None
        left, told = cast("tuple[int, int]", row)
        if left != told:
            yield (
                f"COLD records stand for {told:,} timesteps, and {left:,} left the stream: the database is damaged. "
                "Put a backup in its place."
            )
        overlapping = db.query(
            "SELECT s.id, count(*) FROM stream_erased e JOIN stream_cold c ON c.session_no = e.session_no"
            " AND c.first_tick <= e.last_tick AND c.last_tick >= e.first_tick JOIN sessions s ON s.no = e.session_no"
            f" GROUP BY s.no LIMIT {_LISTED}"
        )
        for session, count in cast("list[tuple[str, int]]", overlapping):
            yield (
                f"Session {session!r} has {count} ranges of ticks that were erased and that COLD records stand for:"
                " the database is damaged. Put a backup in its place."
            )
        homeless = db.query(
            "SELECT id FROM compressed_records r WHERE CASE WHEN level <= 2 THEN session_no IS NULL ELSE NOT EXISTS"
            f" (SELECT 1 FROM compressed_record_sessions s WHERE s.record_no = r.no) END ORDER BY no LIMIT {_LISTED}"
        )
        for (record_id,) in homeless:
            yield f"The COLD record {record_id!r} is of no session: the database is damaged. Put a backup in its place."
