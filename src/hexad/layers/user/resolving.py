"""What holds of a person here and now: one statement where several things are known, and what to suggest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.layers.user.tables.preferences import look
from hexad.layers.user.values import (
    SUGGESTED_LEAST,
    Preference,
    ProjectException,
    ProjectValue,
    ResolvedPreference,
    Source,
    Suggestion,
    Suppression,
    UserRule,
)

NEAR: Final = 0.15
"""Another value whose confidence is this near is named beside the one that holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """What is known of a person, as one project sees it.

    `known_as` is the id under which `values` has it. `preferences` are by key, the surest first, `exceptions` by key,
    `suppressions` by how their value looks; `projects` is how many take part in learning.
    """

    project_id: str
    known_as: str
    preferences: Mapping[str, Sequence[Preference]]
    exceptions: Mapping[str, ProjectException]
    suppressions: Mapping[str, Sequence[Suppression]]
    rules: Sequence[UserRule]
    values: Sequence[ProjectValue]
    projects: int

    def suppressed(self, key: str | None, value: str) -> bool:
        """Whether a value must not be suggested here."""
        return bool(self.suppressions) and any(
            one.key in (None, key) and one.project_id in (None, self.project_id)
            for one in self.suppressions.get(look(value), ())
        )

    def of(self, key: str) -> list[Preference]:
        """Return what may be said of a key, the surest first."""
        return [one for one in self.preferences.get(key, ()) if not self.suppressed(key, one.value)]


def resolve(key: str, here: Here) -> ResolvedPreference | None:
    """Return what holds for a key here: this project's exception before what is usual; None where nothing is known."""
    known, exception = here.of(key), here.exceptions.get(key)
    first = known[0] if known else None
    if exception is not None:
        usual = exception.usual or (None if first is None else first.value)
        usually = "" if usual is None else f"Usually uses {usual} for {_said(key)}; "
        text = f"{usually}{exception.value} in this project, because {exception.reason.rstrip('.')}."
        return ResolvedPreference(
            key=key,
            value=exception.value,
            statement=text[0].upper() + text[1:],
            preference=first,
            exception=exception,
            others=tuple(known),
            note=f"This project is an exception: it uses {exception.value}, and what is usual does not hold here.",
        )
    if first is None:
        return None
    also = [one for one in known[1:] if _both_stated(first, one)]
    near = [one for one in known[1:] if one not in also and first.confidence - one.confidence <= NEAR]
    note = None
    if near:
        names = " and ".join(f"{one.value} ({one.confidence:.2f})" for one in near)
        note = f"{first.value} ({first.confidence:.2f}) is only just ahead of {names}."
    return ResolvedPreference(
        key=key,
        value=first.value,
        statement=statement(first, here, also),
        preference=first,
        others=tuple(known[1:]),
        note=note,
    )


def _both_stated(one: Preference, other: Preference) -> bool:
    """Whether somebody stated two values that hold beside each other."""
    return one.source is other.source is Source.EXPLICIT and one.confidence == other.confidence


def statement(one: Preference, here: Here, also: Sequence[Preference] = ()) -> str:
    """Return a preference in one sentence, with others that hold beside it."""
    if one.source is Source.EXPLICIT:
        names = [one.value, *sorted(other.value for other in also)]
        said = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"Prefers {said} for {_said(one.key)}."
    basis = f" ({one.projects} of {here.projects} projects)" if one.projects else ""
    return f"Usually uses {one.value} for {_said(one.key)}{basis}."


def suggest(here: Here, *, decided: Collection[str]) -> list[Suggestion]:
    """Return defaults for keys that are not decided, the surest first: one for each key.

    A rule whose condition this project fulfils speaks before what is usual elsewhere.
    """
    mine = {(one.attribute, look(one.value)) for one in here.values if one.project_id == here.known_as}
    found = []
    for key in here.preferences:
        if key in decided or key in here.exceptions:
            continue
        known = here.of(key)
        if known and known[0].confidence >= SUGGESTED_LEAST:
            one = _fitting(key, known, here, mine)
            found.append(
                Suggestion(
                    key=key,
                    value=one.value,
                    confidence=one.confidence,
                    source=one.source,
                    projects=one.projects,
                    of_projects=here.projects,
                    last_seen=one.last_seen,
                    because=_because(one, here),
                )
            )
    return sorted(found, key=lambda one: (-one.confidence, -one.projects, one.key))


def _fitting(
    key: str, known: Sequence[Preference], here: Here, mine: Collection[tuple[str, str]]
) -> Preference:
    for rule in here.rules:
        if rule.key == key and rule.given_key and (rule.given_key, look(rule.given_value or "")) in mine:
            for one in known:
                if rule.value and look(one.value) == look(rule.value) and one.confidence >= SUGGESTED_LEAST:
                    return one
    return known[0]


def _because(one: Preference, here: Here) -> str:
    parts = []
    if one.source is Source.EXPLICIT:
        parts.append("you said so")
    if one.projects:
        parts.append(f"in {one.projects} of {here.projects} projects")
    if one.accepted:
        parts.append("accepted once" if one.accepted == 1 else f"accepted {one.accepted} times")
    if not parts:
        parts.append("seen once" if one.evidence_count == 1 else f"seen {one.evidence_count} times")
    return f"{', '.join(parts)}, last seen {one.last_seen:%Y-%m-%d}"


def _said(key: str) -> str:
    return key.replace("_", " ")
