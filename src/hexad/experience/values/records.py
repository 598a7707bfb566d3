"""The experience stream (document 2, section 3): what an agent read, wrote and did, one record a token or event."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeVar

from hexad.core.as_json import as_json
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.experience.values.levels import CompressionLevel, Fidelity

TOP_ACTIVATIONS: Final = 10
"""How many concepts a timestep keeps: the strongest; of equals the first by id."""
CONTENT_BYTES_LIMIT: Final = 1 << 20
TICK_LIMIT: Final = 1 << 53
CONTEXT_TOKENS: Final = 8_192
"""The context window of a session where neither its program nor a contract says more."""


_Found = TypeVar("_Found")


class StreamAnswer(list[_Found]):
    """What a question to the stream found; `notes` say what is missing since a segment cannot be read."""

    def __init__(self, found: Iterable[_Found] = (), notes: Iterable[str] = ()) -> None:
        super().__init__(found)
        self.notes = tuple(notes)


class Timesteps(StreamAnswer["TimestepRecord"]):
    """The timesteps for which a question holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestepRecord:
    """One token or logical event of a session; `id` is `ts-{session}-{tick}`.

    With `fidelity` COLD it stands for a `CompressedRecord`, whose id it has: `content` is its summary, the activations
    are the concepts' highest scores, `end_tick` and `timesteps` say how much it covers. A session's record has tick 0,
    one of a day or more the session "".
    """

    id: str
    session_id: str
    tick: int
    timestamp: datetime
    event_type: EventType
    content: str
    concept_activations: Mapping[str, float] = field(default_factory=dict)
    event_id: str | None = None
    event_start: bool = False
    event_end: bool = False
    token_id: int | None = None
    role: str | None = None
    token_count: int = 1
    fidelity: Fidelity = Fidelity.HOT
    compression_level: CompressionLevel = CompressionLevel.TOKEN
    end_tick: int | None = None
    timesteps: int = 1

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the record as JSON, its fields in document 2's order."""
        return {
            "id": self.id,
            "session_id": self.session_id,
            "tick": self.tick,
            "timestamp": self.timestamp.isoformat().replace("+00:00", "Z"),
            "event_type": self.event_type.value,
            "content": self.content,
            "concept_activations": dict(self.concept_activations),
            "event_id": self.event_id,
            "event_start": self.event_start,
            "event_end": self.event_end,
            "token_id": self.token_id,
            "role": self.role,
            "token_count": self.token_count,
            "fidelity": self.fidelity.value,
            "compression_level": self.compression_level.name,
            "end_tick": self.end_tick,
            "timesteps": self.timesteps,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session of the stream; `last_tick` is the highest that may have been used.

    Its context window begins after `compacted_through`, the last tick that compaction took out of it. With
    `auto_compact` False nothing is taken out unasked. `data_subjects` are the people whose data it is.
    """

    id: str
    created_at: datetime
    ended_at: datetime | None
    max_context_tokens: int
    last_tick: int
    auto_compact: bool = True
    compacted_through: int = 0
    data_subjects: Sequence[str] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the session as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepQuery:
    """What to look for in the stream; everything given must hold.

    `session_id` None means all sessions; `tick_range` is inclusive at both ends, `time_range` takes its beginning
    and leaves out its end. `activations` gives for each concept the lowest and the highest score, inclusive. `tagged`
    gives for each session the ranges of ticks, inclusive, that tags let through; other sessions are left out.
    `tag_sets` says the same for records without ticks: of each set they carry a tag, or with `any_tag` of one.
    """

    session_id: str | None = None
    ticks: tuple[int, int] | None = None
    times: tuple[datetime, datetime] | None = None
    event_types: Sequence[EventType] | None = None
    activations: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    text: str | None = None
    event_id: str | None = None
    events: Collection[str] | None = None  # any of these
    tagged: Mapping[str, Sequence[tuple[int, int]]] | None = None
    tag_sets: Sequence[Collection[str]] = ()
    any_tag: bool = False
    strongest: str | None = None  # order by this concept's score, strongest first
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """What sealing did, and what became of segments: `removed` timesteps had left for COLD records."""

    logs: int = 0
    rows: int = 0
    segments: int = 0
    removed: int = 0
    rewritten: int = 0  # segments that are gone, or are part of another one
    freed_bytes: int = 0
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self, without=("removed", "rewritten", "freed_bytes"))


def timestep_id(session_id: str, tick: int) -> str:
    """Return the id of a timestep."""
    return f"ts-{session_id}-{tick}"


def timestep_ids(session_id: str, ticks: Iterable[int]) -> list[str]:
    """Return the ids of many timesteps of a session."""
    prefix = f"ts-{session_id}-"
    return [prefix + str(tick) for tick in ticks]


def parse_timestep_id(text: str) -> tuple[str, int]:
    """Return session and tick of a timestep's id; raises `InvalidInput` for what cannot be one."""
    session, dash, tick = text.removeprefix("ts-").rpartition("-")
    plain = tick.isascii() and tick.isdecimal() and not tick.startswith("0") and len(tick) <= 16
    if not (text.startswith("ts-") and dash and session and plain):
        raise InvalidInput(f"{text[:80]!r} is no timestep; ids look like ts-SESSION-TICK.")
    return session, int(tick)


KINDS: Final = tuple(EventType)


KIND_CODES: Final[Mapping[EventType, int]] = {kind: code for code, kind in enumerate(KINDS)}


class ActivityUnit(StrEnum):
    """How long a bucket of `activity` is; in UTC, weeks from Monday on."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptActivity:
    """How active a concept was in a bucket.

    `count` is in how many timesteps, a COLD record with it counting as one; `mean` its score in them, over a COLD
    record's the sum of its scores for all of the record's timesteps; `peak` the highest score.
    """

    count: int
    mean: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityBucket:
    """What happened from `start` to before `end`.

    `compressed` is how many of its timesteps are known from COLD records only; a record counts where it begins, so
    that one of the level `coarsest` may stand for what happened later too. `coarsest` TOKEN: all is in full detail.
    """

    start: datetime
    end: datetime
    timesteps: int
    tokens: int
    compressed: int = 0
    coarsest: CompressionLevel = CompressionLevel.TOKEN
    concepts: Mapping[str, ConceptActivity] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the bucket as JSON."""
        return as_json(self) | {"coarsest": self.coarsest.name}
