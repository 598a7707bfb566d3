"""Tags, what they are put on, and comments (document 2, sections 3.2 to 3.4)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from hexad.core.arguments import is_whole, join_pairs, quoted
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, InvalidTarget, LimitExceeded

TAG_NAME_CHARS_LIMIT: Final = 512
NOTE_BYTES_LIMIT: Final = 64 << 10
"""Largest note of a tag application and largest description of a tag, in bytes of UTF-8."""
COMMENT_BYTES_LIMIT: Final = 1 << 20
TICK_LIMIT: Final = (1 << 62) - 1

TickRange = tuple[int, int]
"""First and last tick, both included."""


class TagType(StrEnum):
    """What a tag stands for."""

    CONCEPT = "concept"
    ENTITY = "entity"
    BUD = "bud"
    CUSTOM = "custom"


class BudStatus(StrEnum):
    """Where a candidate for training stands."""

    COLLECTING = "collecting"
    READY = "ready"
    TRAINING = "training"
    PROMOTED = "promoted"
    ABANDONED = "abandoned"


class TargetType(StrEnum):
    """What is tagged or commented on."""

    TIMESTEP = "timestep"
    EVENT = "event"
    RANGE = "range"


class TagSource(StrEnum):
    """Who applied a tag: a rule over activations, somebody, or nobody: it follows from a narrower concept's."""

    AUTO = "auto"
    MANUAL = "manual"
    INHERITED = "inherited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A label of the folksonomy. A concept's id is its concept id."""

    id: str
    name: str
    tag_type: TagType
    concept_id: str | None = None
    entity_type: str | None = None
    bud_status: BudStatus | None = None
    created_at: datetime
    created_by: str
    description: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the tag as JSON, in document 2's order."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One timestep, one event or one range of ticks of a session.

    `range_start` and `range_end` are the ticks that a timestep or a range covers. An event's are those that were
    known when it was named, None where nobody said.
    """

    session_id: str
    target_type: TargetType
    event_id: str | None = None
    range_start: int | None = None
    range_end: int | None = None

    @property
    def timestep_id(self) -> str | None:
        """The timestep's id, `ts-<session>-<tick>`; None for an event and for a range."""
        if self.target_type is not TargetType.TIMESTEP:
            return None
        return f"ts-{self.session_id}-{self.range_start}"

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the target as JSON, in document 2's order."""
        return as_json(
            self, "session_id", "target_type", "timestep_id", "event_id", "range_start", "range_end"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TagApplication:
    """One use of a tag. An inherited one carries the id of the application that it follows from."""

    id: str
    tag_id: str
    target: Target
    confidence: float
    source: TagSource
    created_at: datetime
    note: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the application as JSON."""
        rest = as_json(self, without=("id", "tag_id", "target"))
        return {"id": self.id, "tag_id": self.tag_id, **self.target.to_dict(), **rest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A remark on experience; `updated_at` is None until it is edited."""

    id: str
    target: Target
    content: str
    created_at: datetime
    updated_at: datetime | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the comment as JSON."""
        return {"id": self.id, **self.target.to_dict(), **as_json(self, without=("id", "target"))}


class EventTicks(Protocol):
    """What knows which ticks an event covers: the stream. Several sources may write into a session at once, so an
    event need not be one range."""

    def ticks_of(self, session_id: str, event_ids: Sequence[str]) -> Mapping[str, Sequence[TickRange]]:
        """Return the ranges of ticks of these events; one that is not known is left out."""

    def events_at(self, session_id: str, tick: int) -> Sequence[str]:
        """Return the events that the timestep at `tick` belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedTicks:
    """The ticks of one session that a question about tags lets through: sorted, disjoint ranges, both ends included.

    `unknown_events` carry a tag, but nobody could say which ticks they cover.
    """

    ranges: tuple[TickRange, ...]
    unknown_events: frozenset[str] = frozenset()


def parse_timestep_id(timestep_id: str) -> tuple[str, int]:
    """Return `(session, tick)` of `ts-<session>-<tick>`; raises `InvalidTarget` for anything else."""
    value: object = timestep_id
    if not isinstance(value, str):
        raise InvalidTarget(
            f"timestep_id must be a string, not {quoted(value)}; give an id such as 'ts-session-17'.",
            argument="timestep_id",
        )
    session, dash, tick = timestep_id.removeprefix("ts-").rpartition("-")
    if not (timestep_id.startswith("ts-") and dash and session and tick.isascii() and tick.isdigit()):
        raise InvalidTarget(f"{timestep_id[:200]!r} is no timestep; give an id such as 'ts-session-17'.")
    number = int(tick[:20])
    if number > TICK_LIMIT or tick != str(number):
        raise InvalidTarget(f"{timestep_id[:200]!r} is no timestep; its tick is not a number of a tick.")
    return session, number


def timestep_target(timestep_id: str, *, session_id: str | None = None) -> Target:
    """Return a timestep as a target; raises `InvalidTarget` when `session_id` names another session."""
    session, tick = parse_timestep_id(timestep_id)
    if session_id is not None and session_id != session:
        raise InvalidTarget(
            f"Timestep {timestep_id!r} is not of session {session_id!r}; name one of the two."
        )
    return Target(session_id=session, target_type=TargetType.TIMESTEP, range_start=tick, range_end=tick)


def range_target(session_id: str, tick_range: Sequence[int]) -> Target:
    """Return a range of ticks, both ends included, as a target; raises `InvalidTarget`."""
    first, last = check_ticks(tick_range)
    return Target(session_id=session_id, target_type=TargetType.RANGE, range_start=first, range_end=last)


def event_target(session_id: str, event_id: str, ticks: Sequence[int] | None = None) -> Target:
    """Return an event as a target, with the ticks that it is known to cover; raises `InvalidTarget`."""
    if not isinstance(event_id, str) or not event_id:
        raise InvalidTarget(
            f"event_id = {quoted(event_id)} names no event; give the id that its timesteps carry.",
            argument="event_id",
        )
    first, last = (None, None) if ticks is None else check_ticks(ticks)
    return Target(
        session_id=session_id,
        target_type=TargetType.EVENT,
        event_id=event_id,
        range_start=first,
        range_end=last,
    )


def check_ticks(tick_range: Sequence[int]) -> TickRange:
    """Return a range of ticks; raises `InvalidTarget` unless it is two whole numbers in order."""
    numbers = tuple(tick_range) if isinstance(tick_range, Sequence) else ()
    whole = len(numbers) == 2 and all(map(is_whole, numbers))
    if not whole or isinstance(tick_range, (str, bytes)) or not 0 <= numbers[0] <= numbers[1] <= TICK_LIMIT:
        raise InvalidTarget(
            f"tick_range = {quoted(tick_range)} is no range; give its first and its last tick, such as (3, 17).",
            argument="tick_range",
        )
    return numbers[0], numbers[1]


def folded_name(name: str) -> str:
    """Return what two names have in common that are equal but for case and for how accents are coded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def check_tag_name(name: str, what: str = "The name {} of a tag") -> str:
    """Return a name, a tag's or that of `what`, without white space around it; raises `InvalidInput`."""
    shown = name.strip() if isinstance(name, str) else ""
    printable = all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in shown)
    if not shown or len(shown) > TAG_NAME_CHARS_LIMIT or not printable:
        raise InvalidInput(
            f"{what.format(repr(str(name)[:80]))} cannot be used; give 1 to {TAG_NAME_CHARS_LIMIT} characters in "
            "one line."
        )
    return shown


def check_confidence(confidence: float) -> float:
    """Return a confidence from 0 to 1; raises `InvalidInput` for anything else."""
    if isinstance(confidence, (int, float)) and math.isfinite(confidence) and 0 <= confidence <= 1:
        return float(confidence)
    raise InvalidInput(
        f"confidence = {quoted(confidence)} is not a number from 0 to 1.", argument="confidence"
    )


def check_size(text: str, what: str, *, limit_bytes: int) -> str:
    """Return `text`; raises `LimitExceeded` when it is too long, `InvalidInput` when it cannot be stored."""
    if not isinstance(text, str):
        raise InvalidInput(f"The {what} must be a string, not {quoted(text)}.")
    try:
        size = len((text := join_pairs(text)).encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The {what} holds half a character, {error.object[error.start]!r} (a lone surrogate); give whole ones."
        ) from error
    if size > limit_bytes:
        raise LimitExceeded(f"The {what} has {size} bytes, {limit_bytes} at most are kept; shorten it.")
    return text


PARENT: Final = "parent"
"""The relation that makes the hierarchy; every other one is named by the pack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """One concept of a pack. Parents and relations name terms of the same pack, or ids of any."""

    id: str
    term: str
    definition: str | None = None
    layer: int | None = None
    domain: str | None = None
    lens: bool = True
    parents: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()  # (relation, target)
    details: Mapping[str, JSONValue] = field(default_factory=dict)  # what else the pack says


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptPack:
    """A pack as read; `fingerprint` is the SHA-256 of what it was read from."""

    id: str
    version: str | None
    concepts: tuple[Concept, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackReport:
    """What loading a pack did. `dangling` relations and `orphans` name a concept that no loaded pack has."""

    pack_id: str
    version: str | None
    concepts: int
    created: int
    removed: int
    aliases: int
    relations: int
    dangling: int
    orphans: tuple[str, ...]
    unchanged: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)
