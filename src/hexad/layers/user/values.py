"""What is known of a person across projects: what they prefer, how they work, what must not be suggested."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from hexad.core.arguments import is_real, quoted
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

KEY_CHARS_LIMIT: Final = 120
VALUE_CHARS_LIMIT: Final = 400
TEXT_CHARS_LIMIT: Final = 4_000
EXPLICIT_CONFIDENCE: Final = 1.0
INFERRED_CONFIDENCE: Final = 0.6
"""Where what was inferred starts (document 4, section 7.2)."""
INFERRED_MOST: Final = 0.95
"""What nobody said is never certain."""
CONFIDENCE_LEAST: Final = 0.05
RAISE: Final = 0.2
"""An acceptance closes this part of the distance to the most; so does each time that the same is seen again."""
LOWER: Final = 0.5
"""A rejection leaves this part."""
DRIFT: Final = 0.8
"""Each project without it, past the last few (`drift_projects`), leaves this part."""
SUPPORT_LEAST: Final = 0.5
PROJECTS_LEAST: Final = 3
SUGGESTED_LEAST: Final = 0.6
"""What is less certain than this is not suggested."""


class Source(StrEnum):
    """How a preference came to be known."""

    EXPLICIT = "explicit"
    INFERRED = "inferred"


class PatternType(StrEnum):
    """Whether somebody works that way, or means to avoid it."""

    PATTERN = "pattern"
    ANTIPATTERN = "antipattern"


class Level(StrEnum):
    """How well somebody knows a field."""

    NOVICE = "novice"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"
    EXPERT = "expert"


class PreferenceVerdict(StrEnum):
    """What was said of a preference."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SEEN = "seen"


def raise_confidence(confidence: float, times: int, *, most: float = INFERRED_MOST) -> float:
    """Return a confidence after `times` signs for it: nearer to `most` each time, never lower than it was.

    >>> round(raise_confidence(0.6, 1), 3), round(raise_confidence(0.6, 2), 3), raise_confidence(1.0, 1)
    (0.67, 0.726, 1.0)
    """
    return max(confidence, most - (most - confidence) * (1 - RAISE) ** times)


def lower_confidence(confidence: float, times: int = 1, *, by: float = LOWER) -> float:
    """Return a confidence after `times` signs against it.

    >>> lower_confidence(0.8), lower_confidence(1.0, 2)
    (0.4, 0.25)
    """
    return max(min(confidence, CONFIDENCE_LEAST), confidence * by**times)


def mined_confidence(support: float) -> float:
    """Return the confidence of what was found in this part of the projects, from 0.6 at half of them to 0.95 at all.

    >>> mined_confidence(0.5), mined_confidence(0.75), mined_confidence(1.0)
    (0.6, 0.775, 0.95)
    """
    part = (support - SUPPORT_LEAST) / (1 - SUPPORT_LEAST)
    return round(INFERRED_CONFIDENCE + (INFERRED_MOST - INFERRED_CONFIDENCE) * min(max(part, 0.0), 1.0), 6)


def parse_confidence(value: float, name: str = "confidence") -> float:
    """Return a confidence; raises `InvalidInput` for anything but a number from 0 to 1."""
    if not is_real(value):
        raise InvalidInput(f"{name} = {quoted(value)} is no number; give one from 0 to 1.", argument=name)
    if not 0 <= value <= 1:
        raise InvalidInput(f"{name} = {quoted(value)} is outside of 0 to 1.", argument=name)
    return float(value)


def value_text(value: JSONValue, name: str = "value") -> str:
    """Return a preference's value as text: texts as they are, everything else as JSON. Raises `InvalidInput`."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{name} = {quoted(value)} is no JSON value; give a text.", argument=name
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What somebody prefers. `support` is the part of the projects that have it, None where it was not mined."""

    id: str
    user_id: str
    key: str
    value: str
    confidence: float
    source: Source
    evidence_count: int
    projects: int
    support: float | None
    accepted: int
    rejected: int
    first_seen: datetime
    last_seen: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self) | {"confidence": round(self.confidence, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """How somebody works, or what they avoid."""

    id: str
    user_id: str
    pattern_type: PatternType
    description: str
    evidence_count: int
    confidence: float
    first_seen: datetime
    last_seen: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self) | {"confidence": round(self.confidence, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expertise:
    """How well somebody knows a field."""

    id: str
    user_id: str
    area: str
    level: Level
    source: Source
    confidence: float
    last_seen: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self) | {"confidence": round(self.confidence, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRule:
    """A rule that was derived from projects, or said. What is derived is made anew at each learning.

    `key` and `value` are what it says of; where `given_key` is set, it holds where that has `given_value`.
    """

    id: str
    user_id: str
    text: str
    source: Source
    confidence: float
    evidence_count: int
    last_seen: datetime
    key: str | None = None
    value: str | None = None
    given_key: str | None = None
    given_value: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        value = as_json(
            self, "id", "user_id", "text", "source", "confidence", "evidence_count", "key", "value", "given_key",
            "given_value", "last_seen",
        )  # fmt: skip
        return value | {"confidence": round(self.confidence, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectException:
    """That one project does it otherwise, and why. `usual` is what was preferred when it was said."""

    id: str
    user_id: str
    project_id: str
    key: str
    value: str
    usual: str | None
    reason: str
    created_at: datetime

    @property
    def statement(self) -> str:
        """What it says, in one sentence."""
        usually = "" if self.usual is None else f"usually {self.usual}; "
        return f"{self.key}: {usually}{self.value} here because {self.reason}"

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(
            self, "id", "user_id", "project_id", "key", "value", "usual", "reason", "statement", "created_at"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """That something is not to be suggested any more: a value of any key, or of one; everywhere, or in one project."""

    id: str
    user_id: str
    value: str
    key: str | None
    project_id: str | None
    created_at: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectValue:
    """A value that a project which takes part in learning published. `begun` is when the project was first seen."""

    project_id: str
    attribute: str
    value: str
    last_seen: datetime
    begun: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A default for a project that has not decided yet, with what it rests on."""

    key: str
    value: str
    confidence: float
    source: Source
    projects: int
    of_projects: int
    last_seen: datetime
    because: str

    @property
    def text(self) -> str:
        """The suggestion as one says it."""
        key = self.key.replace("_", " ")
        return f"You typically use {self.value} for {key} ({self.because}). Want me to set that up?"

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return {**as_json(self), "confidence": round(self.confidence, 6), "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPreference:
    """What holds for a key here: one statement, what else there is, and a note where that matters."""

    key: str
    value: str
    statement: str
    preference: Preference | None
    exception: ProjectException | None = None
    others: tuple[Preference, ...] = ()
    note: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedChange:
    """One thing that learning changed, and why. `before` and `after` are confidences, None where it was not there."""

    what: str
    key: str
    value: str
    reason: str
    before: float | None = None
    after: float | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self) | {
            name: sure if sure is None else round(sure, 6)
            for name, sure in (("before", self.before), ("after", self.after))
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningReport:
    """What learning did, or would do. `published` are values of this project; `skipped` says why there are none."""

    projects: int = 0
    published: int = 0
    retracted: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    changes: Sequence[LearnedChange] = ()
    rules: int = 0
    skipped: str | None = None
    dry_run: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)
