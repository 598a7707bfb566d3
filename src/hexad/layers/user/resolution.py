"""What holds of a person here and now: one statement where several things are known, and what to suggest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from hexad.layers.user.database import UserStore
from hexad.layers.user.layer import (
    EXCEPTION,
    PREFERENCE,
    UserStatement,
    statement_of_expertise,
    statement_of_pattern,
    statements_of_rules,
)
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
from hexad.text.key_names import canonical_key, topic_key

NEAR: Final = 0.15
"""Another value whose confidence is this near is named beside the one that holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """What is known of a person, as one project sees it.

    `known_as` is the id under which `values` has it. `preferences` are by `canonical_key`, the surest first, so are
    `exceptions`; `suppressions` are by how their value looks; `projects` is how many take part in learning.
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
            (suppression.key is None or _same_key(suppression.key, key))
            and suppression.project_id in (None, self.project_id)
            for suppression in self.suppressions.get(look(value), ())
        )

    def of(self, key: str) -> list[Preference]:
        """Return what may be said of a key, the surest first."""
        return [
            preference
            for preference in self.preferences.get(canonical_key(key), ())
            if not self.suppressed(key, preference.value)
        ]


def resolve(key: str, here: ProjectView) -> ResolvedPreference | None:
    """Return what holds for a key here: this project's exception before what is usual; None where nothing is known."""
    known_preferences, exception = here.of(key), here.exceptions.get(canonical_key(key))
    first = known_preferences[0] if known_preferences else None
    if exception is not None:
        usual = exception.usual or (None if first is None else first.value)
        usually = "" if usual is None else f"Usually uses {usual} for {_key_in_words(exception.key)}; "
        text = f"{usually}{exception.value} in this project, because {exception.reason.rstrip('.')}."
        return ResolvedPreference(
            key=key,
            value=exception.value,
            statement=text[0].upper() + text[1:],
            preference=first,
            exception=exception,
            others=tuple(known_preferences),
            note=f"This project is an exception: it uses {exception.value}, and what is usual does not hold here.",
        )
    if first is None:
        return None
    also = [preference for preference in known_preferences[1:] if _both_stated(first, preference)]
    near = [
        preference
        for preference in known_preferences[1:]
        if preference not in also and first.confidence - preference.confidence <= NEAR
    ]
    note = None
    if near:
        names = " and ".join(f"{preference.value} ({preference.confidence:.2f})" for preference in near)
        note = f"{first.value} ({first.confidence:.2f}) is only just ahead of {names}."
    return ResolvedPreference(
        key=key,
        value=first.value,
        statement=statement(first, here, also),
        preference=first,
        others=tuple(known_preferences[1:]),
        note=note,
    )


def _both_stated(preference: Preference, other: Preference) -> bool:
    """Whether somebody stated two values that hold beside each other."""
    return preference.source is other.source is Source.EXPLICIT and preference.confidence == other.confidence


def statement(preference: Preference, here: ProjectView, also: Sequence[Preference] = ()) -> str:
    """Return a preference in one sentence, with others that hold beside it."""
    if preference.source is Source.EXPLICIT:
        names = [preference.value, *sorted(other.value for other in also)]
        text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"Prefers {text} for {_key_in_words(preference.key)}."
    basis = f" ({preference.projects} of {here.projects} projects)" if preference.projects else ""
    return f"Usually uses {preference.value} for {_key_in_words(preference.key)}{basis}."


def suggest(here: ProjectView, *, decided: Collection[str]) -> list[Suggestion]:
    """Return defaults for what is not decided, the surest first: one for each key, whatever names it has.

    `decided` are topics of keys. A rule whose condition this project fulfils speaks before what is usual elsewhere.
    """
    mine = {
        (canonical_key(project_value.attribute), look(project_value.value))
        for project_value in here.values
        if project_value.project_id == here.known_as
    }
    suggestions = []
    for key in here.preferences:
        if topic_key(key) in decided or key in here.exceptions:
            continue
        known_preferences = here.of(key)
        if known_preferences and known_preferences[0].confidence >= SUGGESTED_LEAST:
            preference = _fitting(key, known_preferences, here, mine)
            suggestions.append(
                Suggestion(
                    key=preference.key,
                    value=preference.value,
                    confidence=preference.confidence,
                    source=preference.source,
                    projects=preference.projects,
                    of_projects=here.projects,
                    last_seen=preference.last_seen,
                    because=_because(preference, here),
                )
            )
    return sorted(
        suggestions, key=lambda suggestion: (-suggestion.confidence, -suggestion.projects, suggestion.key)
    )


def _fitting(
    key: str, known_preferences: Sequence[Preference], here: ProjectView, mine: Collection[tuple[str, str]]
) -> Preference:
    for rule in here.rules:
        if not (rule.given_key and _same_key(rule.key, key)):
            continue
        if (canonical_key(rule.given_key), look(rule.given_value or "")) in mine:
            for preference in known_preferences:
                if (
                    rule.value
                    and look(preference.value) == look(rule.value)
                    and preference.confidence >= SUGGESTED_LEAST
                ):
                    return preference
    return known_preferences[0]


def _because(preference: Preference, here: ProjectView) -> str:
    parts = []
    if preference.source is Source.EXPLICIT:
        parts.append("you said so")
    if preference.projects:
        parts.append(f"in {preference.projects} of {here.projects} projects")
    if preference.accepted:
        parts.append("accepted once" if preference.accepted == 1 else f"accepted {preference.accepted} times")
    if not parts:
        parts.append(
            "seen once" if preference.evidence_count == 1 else f"seen {preference.evidence_count} times"
        )
    return f"{', '.join(parts)}, last seen {preference.last_seen:%Y-%m-%d}"


def _same_key(key: str | None, other: str | None) -> bool:
    return key is not None and other is not None and canonical_key(key) == canonical_key(other)


def _key_in_words(key: str) -> str:
    return key.replace("_", " ")


_One = TypeVar("_One")


def project_view(store: UserStore, project_id: str, place: str | None) -> ProjectView:
    """Return what is known of a person, as one project sees it."""
    values = store.projects.values()
    return ProjectView(
        project_id=project_id,
        known_as=store.projects.known_as(project_id, place),
        preferences=_by(
            (row.preference for row in store.preferences.all()),
            lambda preference: canonical_key(preference.key),
        ),
        exceptions={
            canonical_key(exception.key): exception
            for exception in reversed(store.projects.exceptions(project_id))
        },
        suppressions=_by(store.projects.suppressions(), lambda suppression: look(suppression.value)),
        rules=store.patterns.rules(),
        values=values,
        projects=len({project_value.project_id for project_value in values}),
    )


class StatementCache:
    """What may be said in one project, put together again only where the layer has changed, whoever changed it."""

    def __init__(self) -> None:
        self._known: tuple[UserStore, int, Sequence[UserStatement]] | None = None

    def get(self, store: UserStore, here: Callable[[UserStore], ProjectView]) -> Sequence[UserStatement]:
        """Return it; the same object as long as nothing has changed."""
        revision, known = store.holdings.revision(), self._known
        if known is None or known[0] is not store or known[1] != revision:
            statements = tuple(statements_in(store, here(store)))
            known = self._known = (store, revision, statements)
        return known[2]


def _by(values: Iterable[_One], name: Callable[[_One], str]) -> dict[str, list[_One]]:
    """Return values by name, in their order."""
    groups: dict[str, list[_One]] = {}
    for value in values:
        groups.setdefault(name(value), []).append(value)
    return groups


def statements_in(store: UserStore, here: ProjectView) -> Iterator[UserStatement]:
    """Yield all that may be said: nothing that is suppressed here, and for a key what holds of it alone."""
    for key in dict.fromkeys([*here.exceptions, *here.preferences]):
        resolved_preference = resolve(key, here)
        if resolved_preference is None:
            continue
        if resolved_preference.exception is not None:
            yield _exception(
                resolved_preference.exception, resolved_preference.statement, resolved_preference.note
            )
        elif resolved_preference.preference is not None:
            preference = resolved_preference.preference
            yield UserStatement(
                id=preference.id,
                kind=PREFERENCE,
                text=resolved_preference.statement,
                about=" ".join(
                    [
                        preference.key.replace("_", " "),
                        preference.value,
                        *(other.value for other in resolved_preference.others),
                    ]
                ),
                at=preference.last_seen,
                since=preference.first_seen,
                confidence=preference.confidence,
                source=preference.source,
                key=preference.key,
                value=resolved_preference.value,
                evidence_count=preference.evidence_count,
                notes=() if resolved_preference.note is None else (resolved_preference.note,),
            )
    yield from map(statement_of_pattern, store.patterns.patterns())
    yield from map(statement_of_expertise, store.patterns.expertise())

    def withheld(rule: UserRule) -> bool:
        return rule.value is not None and here.suppressed(rule.key, rule.value)

    yield from statements_of_rules(here.rules, unless=withheld)


def _exception(exception: ProjectException, text: str, note: str | None) -> UserStatement:
    return UserStatement(
        id=exception.id,
        kind=EXCEPTION,
        text=text,
        about=f"{exception.key.replace('_', ' ')} {exception.value} {exception.usual or ''} {exception.reason}",
        at=exception.created_at,
        since=exception.created_at,
        confidence=1.0,
        source=Source.EXPLICIT,
        key=exception.key,
        value=exception.value,
        notes=() if note is None else (note,),
    )
