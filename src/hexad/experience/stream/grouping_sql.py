"""Which timesteps of the stream belong together to an event."""

from __future__ import annotations

from typing import Final

from hexad.core.event_types import EventType
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.values.records import KIND_CODES

OUTPUT: Final = KIND_CODES[EventType.OUTPUT]
# An event is all timesteps of its id. Without one a message, a call or a response is an event of its own, and
# generated tokens belong together until something else stands between them or one begins or ends an event.
KEYED: Final = (
    f"SELECT *, CASE WHEN event IS NULL THEN sum(begins) OVER (PARTITION BY session ORDER BY tick) ELSE 0 END AS run"
    f" FROM (SELECT *, CASE WHEN event IS NULL AND kind = {OUTPUT} AND lag(kind) OVER w = kind"
    " AND lag(event) OVER w IS NULL AND lag(role) OVER w IS NOT DISTINCT FROM role"
    f" AND flags & {STARTS} = 0 AND lag(flags) OVER w & {ENDS} = 0 THEN 0 ELSE 1 END AS begins"
    " {steps} WINDOW w AS (PARTITION BY session ORDER BY tick))"
)
"""To be formatted with `steps`, what stands after the columns of a SELECT. An event is a `session`, `event`, `run`."""

BREAK: Final = "\n"
"""Stands in an event's text between timesteps of different types, a call and its response; between others nothing."""
JOINED: Final = (
    "string_agg(CASE WHEN kind <> before THEN chr(10) || content ELSE content END, '' ORDER BY {tick})"
)
"""An event's text from its timesteps or pieces; `before` is the type that stands before each, if any does."""
