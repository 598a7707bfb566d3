"""What is asked of the ledger, as conditions of a statement and of one record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hexad.core.event_types import EventType
from hexad.database.codec import to_micros
from hexad.database.connection import SQLValue

TIMESTEP: Final = "timestep"
EVENTS: Final = "kind <> 'timestep'"
"""What the index of kinds holds, as it must stand in a statement that is to use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerQuery:
    """Which records are asked for; everything given must hold. Ticks include both ends, times leave out theirs."""

    sessions: Sequence[str] | None = None
    ticks: tuple[int, int] | None = None
    times: tuple[datetime, datetime] | None = None
    event_types: Sequence[EventType] | None = None
    kinds: Sequence[str] | None = None
    after: int = -1
    before: int | None = None  # numbers of records, both left out
    limit: int = 100
    offset: int = 0


def conditions(query: LedgerQuery) -> tuple[str, dict[str, SQLValue]]:
    """Return the conditions of a statement over `entries e`, and their values."""
    where = ["e.seq > :after"]
    params = dict[str, SQLValue](after=query.after, limit=query.limit, offset=query.offset)
    if query.before is not None:
        where.append("e.seq < :before")
        params["before"] = query.before
    for column, values in (
        ("session", query.sessions),
        ("kind", query.kinds),
        (
            "event_type",
            None if query.event_types is None else [event_type.value for event_type in query.event_types],
        ),
    ):
        if values is not None:
            where.append(f"e.{column} IN (SELECT value FROM json_each(:{column}))")
            params[column] = json.dumps(list(values))
    if query.kinds is not None and TIMESTEP not in query.kinds:
        where.append(f"e.{EVENTS}")
    if query.ticks is not None:
        where.append("e.tick BETWEEN :first AND :last")
        params |= {"first": query.ticks[0], "last": query.ticks[1]}
    if query.times is not None:
        where.append("e.at >= :since AND e.at < :until")
        params |= {"since": to_micros(query.times[0]), "until": to_micros(query.times[1])}
    return " AND ".join(where), params


def holds(query: LedgerQuery, said: dict[str, Any]) -> bool:
    """Whether a record that says this is asked for; limit and offset left aside."""
    types = None if query.event_types is None else [event_type.value for event_type in query.event_types]
    return (
        said["seq"] > query.after
        and (query.before is None or said["seq"] < query.before)
        and (query.sessions is None or said["session"] in query.sessions)
        and (query.kinds is None or said["kind"] in query.kinds)
        and (types is None or said["event_type"] in types)
        and (
            query.ticks is None
            or (said["tick"] is not None and query.ticks[0] <= said["tick"] <= query.ticks[1])
        )
        and (query.times is None or to_micros(query.times[0]) <= said["at"] < to_micros(query.times[1]))
    )
