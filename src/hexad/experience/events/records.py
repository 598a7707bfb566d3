"""Events of the stream as records: what they are put together from, and where a text stands in their tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexad.database.codec import from_micros
from hexad.experience.stream.grouping_sql import BREAK
from hexad.experience.values.records import KINDS, Fidelity, timestep_id
from hexad.experience.values.tiers import CompressedRecord, EventRecord
from hexad.text.search_terms import folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of the stream, or the COLD record of one."""

    session: int
    first_tick: int
    event_id: str | None = None
    kind: int = 0
    role: str | None = None
    last_tick: int = 0
    times: tuple[int, int] = (0, 0)
    content: str = ""
    tokens: int = 0
    timesteps: int = 0
    cold: CompressedRecord | None = None


def spell(tokens: Sequence[tuple[int, int, str]], text: str) -> Iterator[int]:
    """Yield the ticks of the tokens that `text` is spread over, wherever it stands in them."""
    kinds = [tokens[0][1], *(kind for _, kind, _ in tokens)]
    low = [
        (tick, folded(f"{BREAK if kind != before else ''}{content}"))
        for before, (tick, kind, content) in zip(kinds, tokens, strict=False)
    ]
    joined = "".join(content for _, content in low)
    starts, start = [], 0
    for _, content in low:
        starts.append(start)
        start += len(content)
    place = joined.find(text)
    while place >= 0:
        for (tick, content), start in zip(low, starts, strict=True):
            if start < place + len(text) and start + len(content) > place and content:
                yield tick
        place = joined.find(text, place + 1)


def event_of(row: Sequence[Any]) -> Event:
    """Return an event of the stream from what the relation of events has of it."""
    session, event, kind, role, first, last, since, until, content, tokens, timesteps = row
    return Event(
        session=session, first_tick=first, event_id=event, kind=kind, role=role, last_tick=last, times=(since, until),
        content=content, tokens=tokens, timesteps=timesteps,
    )  # fmt: skip


def event_record(
    event: Event,
    session_id: str,
    peaks: Sequence[tuple[str, float]],
    protected: Mapping[Fidelity, Sequence[tuple[int, int]]],
) -> EventRecord:
    """Return an event of the stream with its highest activations; `protected` are ranges of its session."""
    covered = (
        fidelity
        for fidelity, ranges in protected.items()
        if any(first <= event.last_tick and last >= event.first_tick for first, last in ranges)
    )
    return EventRecord(
        id=timestep_id(session_id, event.first_tick),
        session_id=session_id,
        event_id=event.event_id,
        event_type=KINDS[event.kind],
        role=event.role,
        start_tick=event.first_tick,
        end_tick=event.last_tick,
        start_time=from_micros(event.times[0]),
        end_time=from_micros(event.times[1]),
        content=event.content,
        concept_activations=dict(sorted(peaks, key=lambda peak: (-peak[1], peak[0]))),
        token_count=event.tokens,
        timesteps=event.timesteps,
        fidelity=next(covered, Fidelity.HOT),
    )


def cold_event_record(record: CompressedRecord) -> EventRecord:
    """Return the event that a COLD record of one reply stands for."""
    assert record.event_type is not None
    assert record.start_tick is not None
    assert record.end_tick is not None
    return EventRecord(
        id=record.id,
        session_id=record.session_id or "",
        event_id=record.event_id,
        event_type=record.event_type,
        role=record.role,
        start_tick=record.start_tick,
        end_tick=record.end_tick,
        start_time=record.start_time,
        end_time=record.end_time,
        content=record.summary,
        concept_activations=dict(record.peaks),
        token_count=record.token_count,
        timesteps=record.timesteps,
        fidelity=Fidelity.COLD,
        compression_level=record.level,
    )
