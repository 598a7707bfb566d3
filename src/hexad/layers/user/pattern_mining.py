"""Patterns that several projects show: from what each published to how its person works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hexad.layers.user.publishing import PATTERN_PREFIX
from hexad.layers.user.tables.preferences import look
from hexad.layers.user.values import (
    PROJECTS_LEAST,
    SUPPORT_LEAST,
    LearnedChange,
    Pattern,
    PatternType,
    ProjectValue,
    lowered,
    mined_confidence,
    raised,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedPatterns:
    """What would be stored: patterns, those that go, in how many projects each was counted, the changes in words."""

    put: Sequence[Pattern] = ()
    remove: Sequence[Pattern] = ()
    counted: Mapping[str, int]
    changes: Sequence[LearnedChange] = ()


@dataclass(slots=True)
class _Shown:
    """A pattern, and the projects that show it."""

    text: str
    last_seen: datetime
    projects: set[str]


def mine_patterns(
    values: Sequence[ProjectValue], known: Sequence[Pattern], counted: Mapping[str, int], *, user_id: str
) -> MinedPatterns:
    """Return what the patterns of all projects change in those that are known.

    One that at least half of the projects show, and at least three, becomes the person's; each project more is
    evidence, each that leaves takes its evidence along. `counted` says in how many projects each was counted before.
    """
    total = len({project_value.project_id for project_value in values})
    shown = _shown(values)
    before = {
        look(pattern.description): pattern for pattern in known if pattern.pattern_type is PatternType.PATTERN
    }
    put: list[Pattern] = []
    remove: list[Pattern] = []
    changes: list[LearnedChange] = []
    now_counted: dict[str, int] = {}
    for like in sorted(shown.keys() | counted.keys()):
        found, was = shown.get(like), counted.get(like, 0)
        count = len(found.projects) if found else 0
        wide = count >= PROJECTS_LEAST and count / total >= SUPPORT_LEAST
        now_counted[like] = count if wide or was else 0
        old, delta = before.get(like), now_counted[like] - was
        if not delta or (old is None and (found is None or delta < 0)):
            continue
        new = _weighed(old, found, delta, support=count / total if total else 0.0, user_id=user_id)
        if new.evidence_count > 0:
            put.append(new)
        elif old is not None:
            remove.append(old)
        changes.append(
            LearnedChange(
                what="promoted" if old is None else "raised" if delta > 0 else "lowered",
                key="pattern",
                value=new.description,
                reason=f"in {count} of {total} projects",
                before=None if old is None else old.confidence,
                after=new.confidence if new.evidence_count > 0 else None,
            )
        )
    kept = {like: count for like, count in now_counted.items() if count}
    return MinedPatterns(put=put, remove=remove, counted=kept, changes=changes)


def text_of(project_value: ProjectValue) -> str:
    """Return the description of the pattern that a published value stands for."""
    return f"{project_value.attribute.removeprefix(PATTERN_PREFIX).replace('_', ' ')}: {project_value.value}"


def _shown(values: Sequence[ProjectValue]) -> dict[str, _Shown]:
    found: dict[str, _Shown] = {}
    for project_value in values:
        if not project_value.attribute.startswith(PATTERN_PREFIX):
            continue
        text = text_of(project_value)
        shown = found.setdefault(look(text), _Shown(text, project_value.last_seen, set()))
        if project_value.last_seen >= shown.last_seen:
            shown.text, shown.last_seen = text, project_value.last_seen
        shown.projects.add(project_value.project_id)
    return found


def _weighed(
    old: Pattern | None, found: _Shown | None, delta: int, *, support: float, user_id: str
) -> Pattern:
    if old is None:
        assert found is not None
        return Pattern(
            id="",
            user_id=user_id,
            pattern_type=PatternType.PATTERN,
            description=found.text,
            evidence_count=delta,
            confidence=mined_confidence(support),
            first_seen=found.last_seen,
            last_seen=found.last_seen,
        )
    sure = raised(old.confidence, delta) if delta > 0 else lowered(old.confidence, -delta)
    return replace(
        old,
        evidence_count=max(old.evidence_count + delta, 0),
        confidence=sure,
        last_seen=old.last_seen if found is None else max(old.last_seen, found.last_seen),
    )
