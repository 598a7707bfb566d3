"""What the user layer answers: what holds for a key, what to suggest, what learning changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hexad.layers.user.values import Preference, ProjectException, Source
from hexad.memory.memory import JSONValue, format_time


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
        return {
            "key": self.key,
            "value": self.value,
            "confidence": round(self.confidence, 6),
            "source": self.source.value,
            "projects": self.projects,
            "of_projects": self.of_projects,
            "last_seen": format_time(self.last_seen),
            "because": self.because,
            "text": self.text,
        }


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
        return {
            "key": self.key,
            "value": self.value,
            "statement": self.statement,
            "preference": None if self.preference is None else self.preference.to_dict(),
            "exception": None if self.exception is None else self.exception.to_dict(),
            "others": [one.to_dict() for one in self.others],
            "note": self.note,
        }


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
        return {
            "what": self.what,
            "key": self.key,
            "value": self.value,
            "reason": self.reason,
            "before": None if self.before is None else round(self.before, 6),
            "after": None if self.after is None else round(self.after, 6),
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
        return {
            "projects": self.projects,
            "published": self.published,
            "retracted": self.retracted,
            "left_out": dict(self.left_out),
            "changes": [one.to_dict() for one in self.changes],
            "rules": self.rules,
            "skipped": self.skipped,
            "dry_run": self.dry_run,
        }
