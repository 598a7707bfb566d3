"""Learning across projects: what their facts say of a person, and how sure that is.

Pure where it counts: `mine` looks at what projects published and at what is held, and says what would change; the same
values give nothing to change the second time, so it may run as often as one likes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Final

from hexad.layers.user.publishing import PATTERN_PREFIX
from hexad.layers.user.tables.preferences import MINED, StoredPreference, look
from hexad.layers.user.values import (
    CONFIDENCE_LEAST,
    DRIFT,
    EXPLICIT_CONFIDENCE,
    INFERRED_CONFIDENCE,
    INFERRED_MOST,
    LOWER,
    PROJECTS_LEAST,
    SUGGESTED_LEAST,
    SUPPORT_LEAST,
    LearnedChange,
    Pattern,
    PatternType,
    Preference,
    ProjectValue,
    Source,
    UserRule,
    lower_confidence,
    mined_confidence,
    raise_confidence,
)
from hexad.memory.confidence import decayed
from hexad.text.key_names import canonical_key

TOGETHER_LEAST: Final = 0.8
"""In this part of the projects that have the one, and say anything of the other, both stand together in a rule."""
RULES_LIMIT: Final = 100
FORGOTTEN: Final = 0.1
"""What was mined alone and is less sure than this goes."""


# What projects say together -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPreferences:
    """What would be stored: preferences, those that go, the rules that follow, and the changes in words."""

    projects: int
    put: Sequence[StoredPreference] = ()
    remove: Sequence[StoredPreference] = ()
    rules: Sequence[UserRule] = ()
    changes: Sequence[LearnedChange] = ()


@dataclass(slots=True)
class _ValueUse:
    """Who uses one value."""

    value: str
    last_seen: datetime
    projects: set[str] = field(default_factory=set)


class _ProjectIndex:
    """What projects published, looked up from each side. Projects stand in the order in which they began."""

    def __init__(self, values: Sequence[ProjectValue]) -> None:
        self.order = list(dict.fromkeys(project_value.project_id for project_value in values))
        self.begun = {project_value.project_id: project_value.begun for project_value in values}
        self.uses: dict[tuple[str, str], _ValueUse] = {}
        self.saying: dict[str, set[str]] = {}
        self.deciding: dict[str, set[str]] = {}  # by the key of all names
        for project_value in values:
            if project_value.attribute.startswith(PATTERN_PREFIX):
                continue  # counts as a project; `mine_patterns` looks at what it says
            pair = (project_value.attribute, look(project_value.value))
            use = self.uses.setdefault(pair, _ValueUse(project_value.value, project_value.last_seen))
            if project_value.last_seen >= use.last_seen:
                use.value, use.last_seen = project_value.value, project_value.last_seen
            use.projects.add(project_value.project_id)
            self.saying.setdefault(project_value.attribute, set()).add(project_value.project_id)
            self.deciding.setdefault(canonical_key(project_value.attribute), set()).add(
                project_value.project_id
            )

    def support(self, pair: tuple[str, str]) -> float:
        """Return in which part of all projects a value is used."""
        use = self.uses.get(pair)
        return len(use.projects) / len(self.order) if use and self.order else 0.0

    def unused(self, stored_preference: StoredPreference) -> int:
        """Return in how many of the latest projects, of those that say anything of the key, the value is not used.

        What somebody said counts from when it was last said or seen: older projects say nothing against it.
        """
        preference = stored_preference.preference
        saying = self.deciding.get(canonical_key(preference.key), set())
        use = self.uses.get((preference.key, look(preference.value)))
        count = 0
        for project in reversed(self.order):
            if project not in saying:
                continue
            begun = self.begun[project]
            if use is not None and project in use.projects:
                break
            if stored_preference.origin != MINED and begun is not None and begun <= preference.last_seen:
                break
            count += 1
        return count


def mine(
    values: Sequence[ProjectValue],
    stored_preferences: Sequence[StoredPreference],
    *,
    user_id: str,
    at: datetime,
    drift_projects: int,
) -> LearnedPreferences:
    """Return what the values of all projects change in what is held.

    A value that at least half of the projects have, and at least three, becomes a preference with a confidence by
    its support; support that grows or falls moves it; each project that takes it up raises it; each that decides
    otherwise, past the last `drift_projects`, lowers it.
    """
    book = _ProjectIndex(_under_one_key(values, stored_preferences))
    known_rows = {(row.preference.key, look(row.preference.value)): row for row in stored_preferences}
    put: list[StoredPreference] = []
    remove: list[StoredPreference] = []
    changes: list[LearnedChange] = []
    for pair in sorted(book.uses.keys() | known_rows.keys()):
        before = known_rows.get(pair)
        after, reason = _weighed_preference(
            book, pair, before, user_id=user_id, drift_projects=drift_projects
        )
        if after is None:
            if before is not None:
                remove.append(before)
                changes.append(_change("forgotten", before, None, reason))
        elif after != before:
            put.append(after)
            if before is None or after.preference.confidence != before.preference.confidence:
                what = (
                    "promoted"
                    if before is None
                    else "raised"
                    if after.preference.confidence > before.preference.confidence
                    else "lowered"
                )
                changes.append(_change(what, before, after, reason))
    removed_keys = {(row.preference.key, look(row.preference.value)) for row in remove}
    stored = {**known_rows, **{(row.preference.key, look(row.preference.value)): row for row in put}}
    current = [row.preference for pair, row in stored.items() if pair not in removed_keys]
    rules = _rules(book, current, user_id=user_id, at=at)
    return LearnedPreferences(projects=len(book.order), put=put, remove=remove, rules=rules, changes=changes)


def _under_one_key(
    values: Sequence[ProjectValue], stored_preferences: Sequence[StoredPreference]
) -> Sequence[ProjectValue]:
    """Return the values with one attribute where projects have the same under several names (`db`, `database`): the
    key of the preference, else the name that most projects use.
    """
    uses = Counter(
        (attribute, like)
        for _, attribute, like in {(value.project_id, value.attribute, look(value.value)) for value in values}
    )
    names: dict[tuple[str, str], str] = {}
    for row in stored_preferences:
        key = row.preference.key
        names.setdefault((canonical_key(key), look(row.preference.value)), key)
    for attribute, like in sorted(uses, key=lambda use: (-uses[use], use)):
        names.setdefault((canonical_key(attribute), like), attribute)
    return [
        value
        if value.attribute.startswith(PATTERN_PREFIX)
        else replace(value, attribute=names[canonical_key(value.attribute), look(value.value)])
        for value in values
    ]


def _weighed_preference(
    book: _ProjectIndex,
    pair: tuple[str, str],
    before: StoredPreference | None,
    *,
    user_id: str,
    drift_projects: int,
) -> tuple[StoredPreference | None, str]:
    """Return what is to be held of a value, None for nothing, and the reason in words."""
    use, support = book.uses.get(pair), book.support(pair)
    count = len(use.projects) if use else 0
    wide = support >= SUPPORT_LEAST and count >= PROJECTS_LEAST
    share_text = f"in {count} of {len(book.order)} projects"
    if before is None:
        if use is None or not wide:
            return None, ""
        base = mined_confidence(support)
        new_preference = Preference(
            id="",
            user_id=user_id,
            key=pair[0],
            value=use.value,
            confidence=base,
            source=Source.INFERRED,
            evidence_count=count,
            projects=count,
            support=support,
            accepted=0,
            rejected=0,
            first_seen=use.last_seen,
            last_seen=use.last_seen,
        )
        return StoredPreference(preference=new_preference, base=base, origin=MINED), share_text
    preference, confidence, reasons = before.preference, before.preference.confidence, [share_text]
    base_now = mined_confidence(support) if wide else None
    if preference.source is Source.INFERRED:
        confidence = _moved(before, base_now)
    adopted = count - preference.projects
    if adopted > 0 and confidence <= preference.confidence:  # else its support says so already
        most = EXPLICIT_CONFIDENCE if preference.source is Source.EXPLICIT else INFERRED_MOST
        confidence = raise_confidence(confidence, adopted, most=most)
        reasons.append(f"{adopted} more took it up")
    unused = book.unused(before)
    # Projects may have set another number: what one has lowered, another does not lower once more.
    drifted = max(unused - drift_projects + 1, before.drifted) if unused else 0
    if drifted > before.drifted:
        confidence = lower_confidence(confidence, drifted - before.drifted, by=DRIFT)
        reasons.append(f"not in the last {unused} that decided")
    if before.origin == MINED and not preference.accepted and (count == 0 or confidence < FORGOTTEN):
        return None, share_text
    moment = preference.last_seen if use is None else max(preference.last_seen, use.last_seen)
    after = replace(
        preference,
        confidence=preference.confidence if confidence == preference.confidence else round(confidence, 9),
        projects=count,
        support=support if count else None,
        evidence_count=preference.evidence_count + max(adopted, 0),
        last_seen=moment,
    )
    return replace(before, preference=after, base=base_now, drifted=drifted), ", ".join(reasons)


def _moved(before: StoredPreference, base_now: float | None) -> float:
    """Return an inferred confidence after its support changed: as much up or down as the support's own."""
    preference = before.preference
    if base_now is None:
        # What was carried by projects and is not any more keeps half of it; feedback stays in it.
        return (
            preference.confidence
            if before.base is None
            else lower_confidence(preference.confidence, by=LOWER)
        )
    if before.base is None:
        return (
            preference.confidence
            if preference.rejected > preference.accepted
            else max(preference.confidence, base_now)
        )
    return min(max(preference.confidence + base_now - before.base, CONFIDENCE_LEAST), INFERRED_MOST)


def _change(
    what: str, before: StoredPreference | None, after: StoredPreference | None, reason: str
) -> LearnedChange:
    row = after or before
    assert row is not None
    return LearnedChange(
        what=what,
        key=row.preference.key,
        value=row.preference.value,
        reason=reason,
        before=None if before is None else before.preference.confidence,
        after=None if after is None else after.preference.confidence,
    )


# Rules --------------------------------------------------------------------------------------------------------------


def _rules(
    book: _ProjectIndex, preferences: Sequence[Preference], *, user_id: str, at: datetime
) -> list[UserRule]:
    """Return the rules that follow: what is usual, and what stands together more often than it does by itself."""
    rules = [
        UserRule(
            id="",
            user_id=user_id,
            text=f"Usually uses {preference.value} for {preference.key.replace('_', ' ')}.",
            source=Source.INFERRED,
            confidence=preference.confidence,
            evidence_count=preference.projects,
            key=preference.key,
            value=preference.value,
            last_seen=preference.last_seen,
        )
        for preference in preferences
        if preference.confidence >= SUGGESTED_LEAST and preference.projects >= PROJECTS_LEAST
    ]
    often = [pair for pair, use in sorted(book.uses.items()) if len(use.projects) >= PROJECTS_LEAST]
    for pair, other in permutations(often, 2):
        rule = _rule_support(book, pair, other, user_id=user_id, at=at)
        if rule is not None:
            rules.append(rule)
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.evidence_count, rule.text))[:RULES_LIMIT]


def _rule_support(
    book: _ProjectIndex, premise: tuple[str, str], other: tuple[str, str], *, user_id: str, at: datetime
) -> UserRule | None:
    if premise[0] == other[0]:
        return None
    first, second = book.uses[premise], book.uses[other]
    both = len(first.projects & second.projects)
    deciding = len(first.projects & book.saying[other[0]])
    if both < PROJECTS_LEAST or both / deciding < TOGETHER_LEAST:
        return None
    if both / deciding <= len(second.projects) / len(book.saying[other[0]]):
        return None  # no more often than anyhow
    return UserRule(
        id="",
        user_id=user_id,
        text=f"With {first.value} for {premise[0].replace('_', ' ')}, uses {second.value} for "
        f"{other[0].replace('_', ' ')}.",
        source=Source.INFERRED,
        confidence=round(max(INFERRED_CONFIDENCE, INFERRED_MOST * both / deciding), 6),
        evidence_count=both,
        key=other[0],
        value=second.value,
        given_key=premise[0],
        given_value=first.value,
        last_seen=min(max(first.last_seen, second.last_seen), at),
    )


# What is said of a preference ---------------------------------------------------------------------------------------


def state_preference(
    stored_preference: StoredPreference | None, fresh: Preference, *, origin: str, at: datetime
) -> StoredPreference:
    """Return a preference that somebody stated: certain from now on."""
    preference = fresh if stored_preference is None else stored_preference.preference
    stated = replace(
        preference,
        value=fresh.value,
        source=Source.EXPLICIT,
        confidence=EXPLICIT_CONFIDENCE,
        evidence_count=preference.evidence_count + 1,
        last_seen=at,
    )
    return StoredPreference(
        preference=stated,
        base=None if stored_preference is None else stored_preference.base,
        drifted=0,
        origin=origin,
    )


def lower_overridden(stored_preference: StoredPreference) -> StoredPreference:
    """Return a preference in whose place another was stated."""
    preference = stored_preference.preference
    return replace(
        stored_preference,
        preference=replace(
            preference, confidence=lower_confidence(preference.confidence), rejected=preference.rejected + 1
        ),
    )


def apply_evidence(
    stored_preference: StoredPreference | None, fresh: Preference, delta: int, *, at: datetime
) -> StoredPreference:
    """Return a preference after `delta` signs for it, or against it where that is negative."""
    if stored_preference is None:
        confidence = raise_confidence(INFERRED_CONFIDENCE, max(delta, 1) - 1)
        new_preference = replace(
            fresh, confidence=confidence, source=Source.INFERRED, evidence_count=max(delta, 1), last_seen=at
        )
        return StoredPreference(preference=new_preference)
    preference = stored_preference.preference
    most = EXPLICIT_CONFIDENCE if preference.source is Source.EXPLICIT else INFERRED_MOST
    confidence = (
        raise_confidence(preference.confidence, delta, most=most)
        if delta >= 0
        else lower_confidence(preference.confidence, -delta)
    )
    changed = replace(
        preference,
        confidence=confidence,
        evidence_count=max(preference.evidence_count + delta, 0),
        last_seen=at if delta >= 0 else preference.last_seen,
    )
    return replace(
        stored_preference, preference=changed, drifted=0 if delta > 0 else stored_preference.drifted
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPatterns:
    """What would be stored: patterns, those that go, in how many projects each was counted, the changes in words."""

    put: Sequence[Pattern] = ()
    remove: Sequence[Pattern] = ()
    counted: Mapping[str, int]
    changes: Sequence[LearnedChange] = ()


@dataclass(slots=True)
class _PatternSupport:
    """A pattern, and the projects that show it."""

    text: str
    last_seen: datetime
    projects: set[str]


def mine_patterns(
    values: Sequence[ProjectValue],
    known_patterns: Sequence[Pattern],
    counted: Mapping[str, int],
    *,
    user_id: str,
) -> LearnedPatterns:
    """Return what the patterns of all projects change in those that are known.

    One that at least half of the projects show, and at least three, becomes the person's; each project more is
    evidence, each that leaves takes its evidence along. `counted` says in how many projects each was counted before.
    """
    total = len({project_value.project_id for project_value in values})
    shown = _pattern_support(values)
    before = {
        look(pattern.description): pattern
        for pattern in known_patterns
        if pattern.pattern_type is PatternType.PATTERN
    }
    put: list[Pattern] = []
    remove: list[Pattern] = []
    changes: list[LearnedChange] = []
    now_counted: dict[str, int] = {}
    for like in sorted(shown.keys() | counted.keys()):
        shown_pattern, was = shown.get(like), counted.get(like, 0)
        count = len(shown_pattern.projects) if shown_pattern else 0
        wide = count >= PROJECTS_LEAST and count / total >= SUPPORT_LEAST
        now_counted[like] = count if wide or was else 0
        old, delta = before.get(like), now_counted[like] - was
        if not delta or (old is None and (shown_pattern is None or delta < 0)):
            continue
        new = _weighed_pattern(
            old, shown_pattern, delta, support=count / total if total else 0.0, user_id=user_id
        )
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
    kept_counts = {like: count for like, count in now_counted.items() if count}
    return LearnedPatterns(put=put, remove=remove, counted=kept_counts, changes=changes)


def text_of(project_value: ProjectValue) -> str:
    """Return the description of the pattern that a published value stands for."""
    return f"{project_value.attribute.removeprefix(PATTERN_PREFIX).replace('_', ' ')}: {project_value.value}"


def _pattern_support(values: Sequence[ProjectValue]) -> dict[str, _PatternSupport]:
    support_by_pattern: dict[str, _PatternSupport] = {}
    for project_value in values:
        if not project_value.attribute.startswith(PATTERN_PREFIX):
            continue
        text = text_of(project_value)
        shown = support_by_pattern.setdefault(
            look(text), _PatternSupport(text, project_value.last_seen, set())
        )
        if project_value.last_seen >= shown.last_seen:
            shown.text, shown.last_seen = text, project_value.last_seen
        shown.projects.add(project_value.project_id)
    return support_by_pattern


def _weighed_pattern(
    old: Pattern | None, pattern_support: _PatternSupport | None, delta: int, *, support: float, user_id: str
) -> Pattern:
    if old is None:
        assert pattern_support is not None
        return Pattern(
            id="",
            user_id=user_id,
            pattern_type=PatternType.PATTERN,
            description=pattern_support.text,
            evidence_count=delta,
            confidence=mined_confidence(support),
            first_seen=pattern_support.last_seen,
            last_seen=pattern_support.last_seen,
        )
    sure = raise_confidence(old.confidence, delta) if delta > 0 else lower_confidence(old.confidence, -delta)
    return replace(
        old,
        evidence_count=max(old.evidence_count + delta, 0),
        confidence=sure,
        last_seen=old.last_seen if pattern_support is None else max(old.last_seen, pattern_support.last_seen),
    )


RESCORED_AT: Final = "rescored_at"
LOWERED: Final = "lowered"
"""Where the layer keeps how sure things were before they grew old, and how sure they were made."""
GRACE: Final = timedelta(days=30)
HALF_LIFE_DAYS: Final = 180.0
"""Unseen for so long, past the grace, something is half as sure."""
_WORTH_WRITING: Final = 0.005
Lowered = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreInput:
    """What is known: values of projects (the project that began first comes first), patterns, preferences; `lowered`
    gives, by name, how sure something was before it was lowered, and to what it was lowered.
    """

    values: Sequence[ProjectValue]
    patterns: Sequence[Pattern]
    preferences: Sequence[StoredPreference]
    lowered: Lowered


@dataclass(slots=True)
class RescoreResult:
    """What would be stored and what would go, and the changes in words."""

    patterns: list[Pattern] = field(default_factory=list)
    gone_patterns: list[Pattern] = field(default_factory=list)
    preferences: list[StoredPreference] = field(default_factory=list)
    gone_preferences: list[StoredPreference] = field(default_factory=list)
    lowered: dict[str, list[float]] = field(default_factory=dict)
    changes: tuple[LearnedChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assertion:
    """A preference or a pattern, as far as it is weighed."""

    name: str
    key: str
    value: str
    confidence: float
    evidence: int
    seen: datetime
    share: float


def rescore(rescore_input: RescoreInput, *, now: datetime, recent: int) -> RescoreResult:
    """Return what time has done to what is known; `recent` is how many of the latest projects speak for it."""
    result, changes = RescoreResult(), list[LearnedChange]()
    latest = _LatestProjects(rescore_input.values, recent)
    for pattern in rescore_input.patterns:
        assertion = _Assertion(
            name=f"{pattern.pattern_type.value} {look(pattern.description)}",
            key=pattern.pattern_type.value,
            value=pattern.description,
            confidence=pattern.confidence,
            evidence=pattern.evidence_count,
            seen=pattern.last_seen,
            share=latest.showing(look(pattern.description)),
        )
        after, change = _aged(assertion, rescore_input.lowered, result.lowered, now=now)
        if change is None:
            continue
        changes.append(change)
        if after is None:
            result.gone_patterns.append(pattern)
        else:
            result.patterns.append(replace(pattern, confidence=after))
    for stored_preference in rescore_input.preferences:
        state_preference = stored_preference.preference
        if state_preference.source is Source.EXPLICIT:
            continue
        assertion = _Assertion(
            name=f"preference {state_preference.key} {look(state_preference.value)}",
            key=state_preference.key,
            value=state_preference.value,
            confidence=state_preference.confidence,
            evidence=state_preference.evidence_count + state_preference.accepted,
            seen=state_preference.last_seen,
            share=latest.using(state_preference.key, look(state_preference.value)),
        )
        after, change = _aged(assertion, rescore_input.lowered, result.lowered, now=now)
        if change is None:
            continue
        changes.append(change)
        if after is None:
            result.gone_preferences.append(stored_preference)
        else:
            result.preferences.append(
                replace(stored_preference, preference=replace(state_preference, confidence=after))
            )
    result.changes = tuple(changes)
    return result


class _LatestProjects:
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
            if canonical_key(project_value.attribute) == canonical_key(key)
            and look(project_value.value) == like
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
    assertion: _Assertion, lowered: Lowered, state: dict[str, list[float]], *, now: datetime
) -> tuple[float | None, LearnedChange | None]:
    """Return how sure something is by now, None where it goes, and the change; no change where it stays as it is.

    `state` takes what is to be remembered of it.
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
        return None, _confidence_change("forgotten", assertion, None, now)
    if abs(after - assertion.confidence) < _WORTH_WRITING:
        if base > assertion.confidence:
            state[assertion.name] = [base, assertion.confidence]
        return assertion.confidence, None
    if base > after:
        state[assertion.name] = [base, after]
    return after, _confidence_change(
        "raised" if after > assertion.confidence else "lowered", assertion, after, now
    )


def _confidence_change(what: str, assertion: _Assertion, after: float | None, now: datetime) -> LearnedChange:
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
