"""What becomes of experience: windows, compactions, compressed records (document 2, sections 3.5, 3.6 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, overload

from hexad.core.as_json import as_json
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.core.lines import continued, single_line
from hexad.core.tick_ranges import Ranges, count
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.records import timestep_id

TOP_K: Final = 10
"""How many activations and tags a compressed record keeps."""


class CompactionTrigger(StrEnum):
    """Why a context window was compacted."""

    CONTEXT_FULL = "context_full"
    MANUAL = "manual"
    SCHEDULED = "scheduled"
    STORAGE_PRESSURE = "storage_pressure"


class SubmissionStatus(StrEnum):
    """What became of a submission."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class TickIds(Sequence[str]):
    """The ids of the timesteps of some ranges of ticks, made when they are asked for: lineage of a long event."""

    __slots__ = ("ranges", "session_id")

    def __init__(self, session_id: str, ranges: Ranges) -> None:
        self.session_id, self.ranges = session_id, ranges

    def __len__(self) -> int:
        return count(self.ranges)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        for first, last in self.ranges:
            if 0 <= place <= last - first:
                return timestep_id(self.session_id, first + place)
            place -= last - first + 1
        raise IndexError(at)

    def __iter__(self) -> Iterator[str]:
        for first, last in self.ranges:
            for tick in range(first, last + 1):
                yield timestep_id(self.session_id, tick)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TickIds):
            return (self.session_id, self.ranges) == (other.session_id, other.ranges)
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.session_id, self.ranges))

    def __repr__(self) -> str:
        return f"TickIds({self.session_id!r}, {self.ranges!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """A range of ticks of a session, both ends included, at some fidelity.

    `pinned` keeps it WARM; `submission_ids` are the unresolved submissions that name it and keep it SUBMITTED;
    `grace_until` keeps it WARM for a while after a rejection. `summary`, `top_k_activations` and `source_record_ids`
    are there once it is COLD.
    """

    id: str
    session_id: str
    start_tick: int
    end_tick: int
    start_time: datetime
    end_time: datetime
    fidelity: Fidelity
    compression_level: CompressionLevel = CompressionLevel.TOKEN
    pinned: bool = False
    pinned_reason: str | None = None
    submission_ids: Sequence[str] = ()
    summary: str | None = None
    top_k_activations: Mapping[str, float] | None = None
    significant_tags: Sequence[str] = ()
    token_count: int = 0
    source_record_ids: Sequence[str] = ()
    grace_until: datetime | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the window as JSON, its fields in document 2's order."""
        return as_json(self) | {"compression_level": self.compression_level.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedRecord:
    """What stands for many records once their detail is gone: an event, a session, a day … a year.

    `top_k_activations` are sums over what was compressed, `peaks` the highest single score of each of them.
    `record_count` counts the records that were compressed, `timesteps` the timesteps below all of them. `session_id`
    stands at REPLY and SESSION; `start_tick`, `end_tick`, `event_id`, `event_type` and `role` at REPLY only.
    """

    id: str
    level: CompressionLevel
    start_time: datetime
    end_time: datetime
    start_tick: int | None = None
    end_tick: int | None = None
    summary: str
    top_k_activations: Mapping[str, float] = field(default_factory=dict)
    significant_tags: Sequence[str] = ()
    source_record_ids: Sequence[str] = ()
    token_count: int = 0
    record_count: int = 0
    timesteps: int = 0
    peaks: Mapping[str, float] = field(default_factory=dict)
    session_id: str | None = None
    event_id: str | None = None
    event_type: EventType | None = None
    role: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the record as JSON, document 2's fields first."""
        return as_json(self) | {"level": self.level.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRecord:
    """A compaction of a session's context window: what went out of it, and the summary that came in."""

    id: str
    session_id: str
    timestamp: datetime
    range_start: int
    range_end: int
    timesteps_compacted: int
    tokens_before: int
    tokens_after: int
    summary: str
    summary_concept_tags: Sequence[str]
    top_k_activations: Mapping[str, float]
    trigger: CompactionTrigger
    result_level: CompressionLevel = CompressionLevel.REPLY
    generated_by: str = "local"  # the generator's name, or `local`

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the record as JSON, its fields in document 2's order."""
        return as_json(self) | {"result_level": self.result_level.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEvent:
    """An event in a context window: who speaks, else what it is, and the text."""

    start_tick: int
    end_tick: int
    event_type: EventType
    role: str | None
    content: str
    token_count: int

    @property
    def speaker(self) -> str:
        """Who speaks, else what it is."""
        return self.role or self.event_type.value

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the event as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindow:
    """What is in a session's context window: a summary of what went out of it, then its events; `str` is its text.

    In that text only a speaker begins a line: further lines of an event are indented.

    `omitted` counts the oldest events that are left out because the window holds no more and does not compact. `notes`
    say what is missing since a segment cannot be read.
    """

    session_id: str
    summary: str
    events: Sequence[ContextEvent]
    token_count: int
    omitted: int = 0
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        texts = [continued(f"{single_line(event.speaker)}: {event.content}") for event in self.events]
        return "\n".join([*([f"{self.summary}\n"] if self.summary else []), *texts])

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the window as JSON; `notes` are there where anything is missing."""
        return as_json(self, without=() if self.notes else ("notes",))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """A whole event: the timesteps of one `event_id`, or neighbours of one type and role without any.

    `content` is their text, joined; of a COLD one its summary. `concept_activations` are each concept's highest score.
    """

    id: str
    session_id: str
    event_id: str | None
    event_type: EventType
    role: str | None
    start_tick: int
    end_tick: int
    start_time: datetime
    end_time: datetime
    content: str
    concept_activations: Mapping[str, float]
    token_count: int
    timesteps: int
    fidelity: Fidelity
    compression_level: CompressionLevel = CompressionLevel.TOKEN

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the event as JSON."""
        return as_json(self) | {"compression_level": self.compression_level.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A graft or meld that was handed in, with the windows that are its evidence."""

    id: str
    bud_tag_id: str
    status: SubmissionStatus
    submitted_at: datetime
    resolved_at: datetime | None
    window_ids: Sequence[str]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the submission as JSON."""
        return as_json(self)
