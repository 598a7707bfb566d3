"""What tag applications and comments are about, as columns; and the probe that finds those that touch a tick."""

from __future__ import annotations

from typing import Final

from hexad.database.connection import Row, SQLValue
from hexad.experience.values.tags import Target, TargetType, TickRange

TARGET_COLUMNS: Final = "session_id, target_type, event_id, range_start, range_end"
NEW_TARGET_COLUMNS: Final = f"{TARGET_COLUMNS}, span"
NEW_TARGET_MARKS: Final = "?,?,?,?,?,?"

_SPANS: Final = "[" + ",".join(map(str, range(63))) + "]"

# A range of span s is at most 2^s - 1 ticks longer than one tick, so it begins that close before what it reaches.
TOUCHING: Final = (
    "json_each(:spans) s CROSS JOIN {table} a ON a.span = s.value AND a.session_id = :session"
    " AND a.range_start BETWEEN :first - ((1 << s.value) - 1) AND :last AND a.range_end >= :first"
)


def target_values(target: Target) -> tuple[SQLValue, ...]:
    """Return the values of `NEW_TARGET_COLUMNS`."""
    first, last = target.range_start, target.range_end
    span = None if first is None or last is None else (last - first).bit_length()
    return (target.session_id, target.target_type.value, target.event_id, first, last, span)


def target_of(row: Row) -> Target:
    """Return what the values of `TARGET_COLUMNS` say."""
    return Target(
        session_id=row[0],
        target_type=TargetType(row[1]),
        event_id=row[2],
        range_start=row[3],
        range_end=row[4],
    )


def touching(session_id: str, ticks: TickRange) -> dict[str, SQLValue]:
    """Return the parameters of `TOUCHING` for what shares a tick with `ticks`."""
    return {"spans": _SPANS, "session": session_id, "first": ticks[0], "last": ticks[1]}
