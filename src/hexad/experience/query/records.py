"""From rows of the stream, and COLD records among them, to timesteps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hexad.core.event_types import EventType
from hexad.database.codec import from_micros
from hexad.experience.stream.filters import ConceptNumbers
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.values.records import KINDS, Fidelity, TimestepRecord, timestep_id
from hexad.experience.values.tiers import CompressedRecord

"""From here on are the numbers of concepts that no segment holds yet; they are worth nothing outside one query."""


def timestep(
    row: Sequence[Any],
    names: Mapping[int, str],
    concepts: ConceptNumbers,
    fidelity: Callable[[int, int], Fidelity],
) -> TimestepRecord:
    """Return the timestep of a row; `fidelity` says of a session and a tick at which one it is."""
    session, tick, at, kind, flags, token, tokens, role, event, content, numbers, scores = row
    activations = [(concepts.id(number), score) for number, score in scored(numbers, scores)]
    activations.sort(key=lambda activation: (-activation[1], activation[0]))
    session_id = names[session]
    return TimestepRecord(
        id=timestep_id(session_id, tick),
        session_id=session_id,
        tick=tick,
        timestamp=from_micros(at),
        event_type=KINDS[kind],
        content=content,
        concept_activations=dict(activations),
        event_id=event,
        event_start=bool(flags & STARTS),
        event_end=bool(flags & ENDS),
        token_id=token,
        role=role,
        token_count=tokens,
        fidelity=fidelity(session, tick),
    )


def cold_timestep(record: CompressedRecord) -> TimestepRecord:
    """Return a COLD record as `recall` shows it, by the highest scores of its concepts."""
    return TimestepRecord(
        id=record.id,
        session_id=record.session_id or "",
        tick=record.start_tick or 0,
        timestamp=record.start_time,
        event_type=record.event_type or EventType.SYSTEM,
        content=record.summary,
        concept_activations=dict(record.peaks),
        event_id=record.event_id,
        event_start=True,
        event_end=True,
        role=record.role,
        token_count=record.token_count,
        fidelity=Fidelity.COLD,
        compression_level=record.level,
        end_tick=record.end_tick,
        timesteps=record.timesteps,
    )


def scored(numbers: Sequence[int], scores: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield scores as the shortest number that single precision keeps apart: 0.8, not 0.800000011920929."""
    import numpy as np

    for number, score in zip(numbers, scores, strict=True):
        yield number, float(str(np.float32(score)))
