"""Where events are in the stream, as ranges of ticks: no text is read and no timestep is made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from hexad.core.tick_ranges import Ranges
from hexad.experience.query.reader import Asked, StreamReader
from hexad.experience.stream.frames import ENDS
from hexad.experience.values.records import StepQuery

# Neighbouring ticks of an event have the same distance to their place among its ticks.
_RANGES: Final = (
    f"SELECT event, min(tick), max(tick), bool_or(flags & {ENDS} <> 0) FROM (SELECT event, tick, flags,"
    " tick - row_number() OVER (PARTITION BY event ORDER BY tick) AS run {steps}) GROUP BY event, run"
    " ORDER BY event, min(tick)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPlace:
    """The ticks of an event in the stream: sorted, disjoint ranges; `ended` when one of them says it was the last."""

    ranges: Ranges
    ended: bool


def event_places(reader: StreamReader, session_id: str, event_ids: Collection[str]) -> dict[str, EventPlace]:
    """Return where events of a session are, all of them in one question; one that the stream has not is left out.

    Raises `NotFound` for a session that was never started.
    """
    if not event_ids:
        return {}
    question = StepQuery(session_id=session_id, events=tuple(event_ids))
    if len(event_ids) == 1:
        question = StepQuery(session_id=session_id, event_id=next(iter(event_ids)))
    ranges: dict[str, list[tuple[int, int]]] = defaultdict(list)
    ended = set()
    for event, first, last, ends in reader.ask(question, _ranges, light=True):
        ranges[event].append((first, last))
        if ends:
            ended.add(event)
    return {event: EventPlace(ranges=tuple(some), ended=event in ended) for event, some in ranges.items()}


def events_at(reader: StreamReader, session_id: str, tick: int) -> list[str]:
    """Return the event of the timestep at a tick that is in the stream, if it has one; raises `NotFound` as above."""
    return reader.ask(StepQuery(session_id=session_id, ticks=(tick, tick)), _events, light=True)


def _ranges(asked: Asked) -> list[tuple[Any, ...]]:
    if asked.steps is None:
        return []
    return asked.cursor.execute(_RANGES.format(steps=asked.steps), list(asked.params)).fetchall()


def _events(asked: Asked) -> list[str]:
    if asked.steps is None:
        return []
    rows = asked.cursor.execute(f"SELECT event {asked.steps}", list(asked.params)).fetchall()
    return [row[0] for row in rows if row[0] is not None]
