"""What really happened in a year: every timestep with a checksum, the windows that must not change, the topics."""

from __future__ import annotations

import hashlib
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from agent_year.plan import Step
from agent_year.topics import Topic, quarter_of
from hexad.experience.values.pressure import CompressionReport, StorageUsage
from hexad.experience.values.records import TimestepRecord


class SessionBook:
    """The timesteps of a session as they were handed over: ticks, tokens, checksums."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.ticks, self.tokens, self.checksums = array("q"), array("q"), array("L")
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None

    def add(self, tick: int, step: Step, *, at: datetime) -> None:
        """Note a timestep that was recorded."""
        self.ticks.append(tick)
        self.tokens.append(step.token_count)
        self.checksums.append(checksum_of_step(step))
        self.first_at = self.first_at or at
        self.last_at = at

    @property
    def token_count(self) -> int:
        """All its tokens."""
        return sum(self.tokens)

    def between(self, first: int, last: int) -> slice:
        """Return where the timesteps of a range of ticks are in the columns."""
        return slice(bisect_left(self.ticks, first), bisect_right(self.ticks, last))

    def digest(self, first: int, last: int) -> str:
        """Return a hash of all that was recorded from a tick to another."""
        places = self.between(first, last)
        return digest(zip(self.ticks[places], self.checksums[places], strict=True))


@dataclass(slots=True, kw_only=True)
class Kept:
    """A window that must stay in full detail as long as it is pinned, in grace, or named by a submission."""

    window_id: str
    session_id: str
    first: int
    last: int
    digest: str
    reason: str = ""
    pinned_at: datetime | None = None
    submissions: set[str] = field(default_factory=set)
    grace_until: datetime | None = None

    def protected(self, now: datetime) -> bool:
        """Whether its detail must be there."""
        grace = self.grace_until is not None and now < self.grace_until
        return self.pinned_at is not None or bool(self.submissions) or grace


@dataclass(slots=True, kw_only=True)
class Bud:
    """A candidate of learning: where its examples are, and how far it is."""

    tag_id: str
    name: str
    topic: Topic
    quarter: int
    promoted: bool  # made of a tag that was there
    examples: list[tuple[str, int, int]] = field(default_factory=list)  # session and ticks
    submissions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a night found and did."""

    day: date
    usage: StorageUsage
    pressure: CompressionReport


@dataclass(slots=True, kw_only=True)
class Books:
    """All that a year's questions are held against."""

    topics: tuple[Topic, ...]
    sessions: dict[str, SessionBook] = field(default_factory=dict)
    days: dict[date, Counter[str]] = field(default_factory=dict)  # topic's concept to tokens
    kept: dict[str, Kept] = field(default_factory=dict)
    buds: list[Bud] = field(default_factory=list)
    nights: list[Night] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # what the agent did, and how often
    tagged: Counter[str] = field(default_factory=Counter)  # custom tags, and how often
    active: Counter[str] = field(
        default_factory=Counter
    )  # concepts, and timesteps at which they tag by themselves

    @property
    def timesteps(self) -> int:
        """How many were recorded."""
        return sum(len(session.ticks) for session in self.sessions.values())

    @property
    def tokens(self) -> int:
        """How many tokens they had."""
        return sum(session.token_count for session in self.sessions.values())

    def session(self, session_id: str) -> SessionBook:
        """Return the book of a session, a new one if need be."""
        return self.sessions.setdefault(session_id, SessionBook(session_id))

    def plant(self, topic: Topic, step: Step, *, at: datetime) -> None:
        """Note on what time was spent."""
        self.days.setdefault(at.date(), Counter())[topic.concept] += step.token_count

    def main_topics(self, quarter: int, count: int = 3) -> list[Topic]:
        """Return what a quarter was really mainly about, the most first."""
        by_concept = {topic.concept: topic for topic in self.topics}
        planted: Counter[str] = Counter()
        for day, some in self.days.items():
            if quarter_of(day) == quarter:
                planted.update(some)
        return [by_concept[concept] for concept, _ in planted.most_common(count)]

    def keep(self, window_id: str, session_id: str, ticks: tuple[int, int]) -> Kept:
        """Note a window, with the hash of what is in it."""
        if window_id not in self.kept:
            self.kept[window_id] = Kept(
                window_id=window_id,
                session_id=session_id,
                first=ticks[0],
                last=ticks[1],
                digest=self.sessions[session_id].digest(*ticks),
            )
        return self.kept[window_id]


def checksum_of_step(step: Step) -> int:
    """Return a checksum of what a timestep says."""
    return _checksum(
        (step.event_type.value, step.content, step.event_id, step.event_start, step.event_end, step.token_id),
        (step.role, step.token_count),
        step.activations,
    )


def checksum_of_record(record: TimestepRecord) -> int:
    """Return the same of what a store gives back."""
    return _checksum(
        (
            record.event_type.value, record.content, record.event_id, record.event_start, record.event_end,
            record.token_id,
        ),
        (record.role, record.token_count),
        record.concept_activations,
    )  # fmt: skip


def _checksum(said: tuple[object, ...], more: tuple[object, ...], activations: Mapping[str, float]) -> int:
    # Scores are kept in single precision.
    scores = sorted((concept, struct.pack("f", score)) for concept, score in activations.items())
    return zlib.crc32(repr((said, more, scores)).encode("utf-8", "surrogatepass"))


def digest(timesteps: Iterable[tuple[int, int]]) -> str:
    """Return a hash of ticks with their checksums."""
    found = hashlib.sha256()
    for tick, checksum in timesteps:
        found.update(f"{tick} {checksum}\n".encode())
    return found.hexdigest()
