"""Events of the stream: the timesteps that belong together, as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hexad.core.event_types import EventType
from hexad.core.tick_ranges import Ranges, union
from hexad.database.codec import from_micros
from hexad.experience.query.reader import StepSelection, StreamReader, scored
from hexad.experience.stream.frames import ENDS
from hexad.experience.stream.rows import BREAK, KEYED
from hexad.experience.values.records import KINDS, StepQuery

_SUM_DIGITS: Final = 6
"""Scores have seven digits of single precision: what a sum has beyond these is noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """The timesteps of one event that are in the stream; `activations` are concept, sum and highest score."""

    session: int
    event_id: str | None
    event_type: EventType
    role: str | None
    ticks: Ranges
    start_time: datetime
    end_time: datetime
    pieces: Sequence[str]
    breaks: Sequence[int]
    """The places in `pieces`, after the first, where another type begins: a call's response."""
    tokens: int
    timesteps: int
    activations: Sequence[tuple[str, float, float]]

    @property
    def texts(self) -> list[str]:
        """The pieces with what stands between them: joined with nothing they are the event's text."""
        texts = list(self.pieces)
        for at in self.breaks:
            texts[at] = f"{BREAK}{texts[at]}"
        return texts


# Timesteps without an event that belong to different ranges are no neighbours: what stands between them is left out.
_APART: Final = (
    "SELECT * REPLACE (CASE WHEN event IS NULL THEN dense_rank() OVER (PARTITION BY session ORDER BY run, place)"
    " ELSE run END AS run) FROM (SELECT k.*, p.first_tick AS place FROM ({keyed}) k JOIN places p"
    " ON p.session = k.session AND k.tick BETWEEN p.first_tick AND p.last_tick)"
)


def stream_events(reader: StreamReader, question: StepQuery) -> list[StreamEvent]:
    """Return the events of the timesteps that a question lets through, by session and first tick."""
    return reader.ask(question, lambda selection: _events(selection, apart=question.tagged is not None))


def _events(selection: StepSelection, *, apart: bool) -> list[StreamEvent]:
    if selection.steps is None:
        return []
    cursor = selection.cursor
    keyed = KEYED.format(steps=selection.steps)
    if apart:
        keyed = _APART.format(keyed=keyed)
    cursor.execute(f"CREATE TEMP TABLE keyed AS {keyed}", list(selection.params))
    groups = cursor.execute(
        "SELECT session, event, run, arg_min(kind, tick), arg_min(role, tick), list(tick ORDER BY tick), min(ts),"
        " max(ts), list(content ORDER BY tick), CASE WHEN min(kind) <> max(kind) THEN list(kind ORDER BY tick) END,"
        " sum(tokens), count(*) FROM keyed GROUP BY session, event, run"
        " ORDER BY session, min(tick)"
    ).fetchall()
    scores: Mapping[tuple[Any, ...], list[tuple[str, float, float]]] = defaultdict(list)
    for session, event, run, concept, total, peak in cursor.execute(
        "SELECT session, event, run, concept, sum(score), max(score) FROM (SELECT session, event, run,"
        " unnest(concepts) AS concept, unnest(scores) AS score FROM keyed) GROUP BY ALL"
    ).fetchall():
        highest = next(score for _, score in scored([concept], [peak]))
        scores[session, event, run].append(
            (selection.concepts.id(concept), round(total, _SUM_DIGITS), highest)
        )
    return [
        StreamEvent(
            session=session,
            event_id=event,
            event_type=KINDS[kind],
            role=role,
            ticks=union(_runs(ticks)),
            start_time=from_micros(since),
            end_time=from_micros(until),
            pieces=texts,
            breaks=_breaks(kinds),
            tokens=int(tokens),
            timesteps=steps,
            activations=scores.get((session, event, run), ()),
        )
        for session, event, run, kind, role, ticks, since, until, texts, kinds, tokens, steps in groups
    ]


def _breaks(kinds: Sequence[int] | None) -> Sequence[int]:
    return () if kinds is None else [at for at in range(1, len(kinds)) if kinds[at] != kinds[at - 1]]


def _runs(ticks: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Yield sorted ticks as ranges: those of an event are mostly one."""
    first = last = ticks[0]
    if ticks[-1] - first == len(ticks) - 1:
        return [(first, ticks[-1])]
    runs = []
    for tick in ticks[1:]:
        if tick > last + 1:
            runs.append((first, last))
            first = tick
        last = tick
    return [*runs, (first, last)]


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
    return reader.ask(StepQuery(session_id=session_id, ticks=(tick, tick)), _event_tokens, light=True)


def _ranges(selection: StepSelection) -> list[tuple[Any, ...]]:
    if selection.steps is None:
        return []
    return selection.cursor.execute(_RANGES.format(steps=selection.steps), list(selection.params)).fetchall()


def _event_tokens(selection: StepSelection) -> list[str]:
    if selection.steps is None:
        return []
    rows = selection.cursor.execute(f"SELECT event {selection.steps}", list(selection.params)).fetchall()
    return [row[0] for row in rows if row[0] is not None]
