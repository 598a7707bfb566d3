"""What is known of a person, weighed anew as time goes by: what nobody said and nobody sees any more is less sure.

Pure, and in whole days: the same state on the same day gives nothing to change the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from hexad.layers.user.learning import FORGOTTEN
from hexad.layers.user.pattern_mining import text_of
from hexad.layers.user.publishing import PATTERN_PREFIX
from hexad.layers.user.tables.preferences import Held, look
from hexad.layers.user.values import (
    CONFIDENCE_LEAST,
    PROJECTS_LEAST,
    LearnedChange,
    Pattern,
    ProjectValue,
    Source,
)
from hexad.memory.confidence import decayed

RESCORED_AT: Final = "rescored_at"
LOWERED: Final = "lowered"
"""Where the layer keeps how sure things were before they grew old, and how sure they were made."""
GRACE: Final = timedelta(days=30)
HALF_LIFE_DAYS: Final = 180.0
"""Unseen for so long, past the grace, something is half as sure."""
_WORTH_WRITING: Final = 0.005
Lowered = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What is known: values of projects (the project that began first comes first), patterns, preferences; `lowered`
    gives, by name, how sure something was before it was lowered, and to what it was lowered.
    """

    values: Sequence[ProjectValue]
    patterns: Sequence[Pattern]
    held: Sequence[Held]
    lowered: Lowered


@dataclass(slots=True)
class Rescored:
    """What would be stored and what would go, and the changes in words."""

    patterns: list[Pattern] = field(default_factory=list)
    gone_patterns: list[Pattern] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    gone_held: list[Held] = field(default_factory=list)
    lowered: dict[str, list[float]] = field(default_factory=dict)
    changes: tuple[LearnedChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _One:
    """A preference or a pattern, as far as it is weighed."""

    name: str
    key: str
    value: str
    confidence: float
    evidence: int
    seen: datetime
    share: float


def rescored(known: Weighed, *, now: datetime, recent: int) -> Rescored:
    """Return what time has done to what is known; `recent` is how many of the latest projects speak for it."""
    found, changes = Rescored(), list[LearnedChange]()
    latest = _Latest(known.values, recent)
    for pattern in known.patterns:
        assertion = _One(
            name=f"{pattern.pattern_type.value} {look(pattern.description)}",
            key=pattern.pattern_type.value,
            value=pattern.description,
            confidence=pattern.confidence,
            evidence=pattern.evidence_count,
            seen=pattern.last_seen,
            share=latest.showing(look(pattern.description)),
        )
        after, change = _aged(assertion, known.lowered, found.lowered, now=now)
        if change is None:
            continue
        changes.append(change)
        if after is None:
            found.gone_patterns.append(pattern)
        else:
            found.patterns.append(replace(pattern, confidence=after))
    for held in known.held:
        said = held.preference
        if said.source is Source.EXPLICIT:
            continue
        assertion = _One(
            name=f"preference {said.key} {look(said.value)}",
            key=said.key,
            value=said.value,
            confidence=said.confidence,
            evidence=said.evidence_count + said.accepted,
            seen=said.last_seen,
            share=latest.using(said.key, look(said.value)),
        )
        after, change = _aged(assertion, known.lowered, found.lowered, now=now)
        if change is None:
            continue
        changes.append(change)
        if after is None:
            found.gone_held.append(held)
        else:
            found.held.append(replace(held, preference=replace(said, confidence=after)))
    found.changes = tuple(changes)
    return found


class _Latest:
    """The projects that began last, and what they have."""

    def __init__(self, values: Sequence[ProjectValue], recent: int) -> None:
        order = list(dict.fromkeys(project_value.project_id for project_value in values))
        self._projects = set(order[-recent:])
        self._values = [
            project_value for project_value in values if project_value.project_id in self._projects
        ]

    def using(self, key: str, like: str) -> float:
        return self._share(
            project_value.project_id
            for project_value in self._values
            if project_value.attribute == key and look(project_value.value) == like
        )

    def showing(self, like: str) -> float:
        return self._share(
            project_value.project_id
            for project_value in self._values
            if project_value.attribute.startswith(PATTERN_PREFIX) and look(text_of(project_value)) == like
        )

    def _share(self, projects: Iterable[str]) -> float:
        return len(set(projects)) / len(self._projects) if self._projects else 0.0


def _aged(
    assertion: _One, lowered: Lowered, kept: dict[str, list[float]], *, now: datetime
) -> tuple[float | None, LearnedChange | None]:
    """Return how sure something is by now, None where it goes, and the change; no change where it stays as it is.

    `kept` takes what is to be remembered of it.
    """
    base, to = lowered.get(assertion.name, (assertion.confidence, assertion.confidence))
    if abs(assertion.confidence - to) >= 1e-6:
        base = assertion.confidence  # evidence came since: it is as sure as that made it
    unseen = max((now - assertion.seen - GRACE).days, 0)
    after = decayed(
        base,
        days=unseen * (1 - assertion.share),
        half_life_days=HALF_LIFE_DAYS,
        least=min(base, CONFIDENCE_LEAST),
    )
    if after < FORGOTTEN and assertion.evidence < PROJECTS_LEAST:
        return None, _change("forgotten", assertion, None, now)
    if abs(after - assertion.confidence) < _WORTH_WRITING:
        if base > assertion.confidence:
            kept[assertion.name] = [base, assertion.confidence]
        return assertion.confidence, None
    if base > after:
        kept[assertion.name] = [base, after]
    return after, _change("raised" if after > assertion.confidence else "lowered", assertion, after, now)


def _change(what: str, assertion: _One, after: float | None, now: datetime) -> LearnedChange:
    reason = f"not seen for {max((now - assertion.seen).days, 0)} days"
    if assertion.share:
        reason += f", though {assertion.share:.0%} of the latest projects show it"
    return LearnedChange(
        what=what,
        key=assertion.key,
        value=assertion.value,
        reason=reason,
        before=assertion.confidence,
        after=after,
    )
