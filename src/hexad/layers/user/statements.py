"""What of the user layer may be said in one project: one statement for each key, and what is known besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from hexad.layers.user.database import UserStore
from hexad.layers.user.layer import (
    EXCEPTION,
    PREFERENCE,
    Stated,
    stated_expertise,
    stated_pattern,
    stated_rules,
)
from hexad.layers.user.resolving import Here, resolve
from hexad.layers.user.tables.preferences import look
from hexad.layers.user.values import ProjectException, Source, UserRule

_One = TypeVar("_One")


def here_of(store: UserStore, project_id: str, place: str | None) -> Here:
    """Return what is known of a person, as one project sees it."""
    values = store.projects.values()
    return Here(
        project_id=project_id,
        known_as=store.projects.known_as(project_id, place),
        preferences=_by(
            (row.preference for row in store.preferences.all()), lambda preference: preference.key
        ),
        exceptions={exception.key: exception for exception in store.projects.exceptions(project_id)},
        suppressions=_by(store.projects.suppressions(), lambda suppression: look(suppression.value)),
        rules=store.patterns.rules(),
        values=values,
        projects=len({project_value.project_id for project_value in values}),
    )


class SaidHere:
    """What may be said in one project, put together again only where the layer has changed, whoever changed it."""

    def __init__(self) -> None:
        self._known: tuple[UserStore, int, Sequence[Stated]] | None = None

    def get(self, store: UserStore, here: Callable[[UserStore], Here]) -> Sequence[Stated]:
        """Return it; the same object as long as nothing has changed."""
        revision, known = store.holdings.revision(), self._known
        if known is None or known[0] is not store or known[1] != revision:
            said = tuple(stated_here(store, here(store)))
            known = self._known = (store, revision, said)
        return known[2]


def _by(values: Iterable[_One], name: Callable[[_One], str]) -> dict[str, list[_One]]:
    """Return values by name, in their order."""
    found: dict[str, list[_One]] = {}
    for value in values:
        found.setdefault(name(value), []).append(value)
    return found


def stated_here(store: UserStore, here: Here) -> Iterator[Stated]:
    """Yield all that may be said: nothing that is suppressed here, and for a key what holds of it alone."""
    for key in dict.fromkeys([*here.exceptions, *here.preferences]):
        found = resolve(key, here)
        if found is None:
            continue
        if found.exception is not None:
            yield _exception(found.exception, found.statement, found.note)
        elif found.preference is not None:
            preference = found.preference
            yield Stated(
                id=preference.id,
                kind=PREFERENCE,
                text=found.statement,
                about=" ".join(
                    [key.replace("_", " "), preference.value, *(other.value for other in found.others)]
                ),
                at=preference.last_seen,
                since=preference.first_seen,
                confidence=preference.confidence,
                source=preference.source,
                key=key,
                value=found.value,
                evidence_count=preference.evidence_count,
                notes=() if found.note is None else (found.note,),
            )
    yield from map(stated_pattern, store.patterns.patterns())
    yield from map(stated_expertise, store.patterns.expertise())

    def withheld(rule: UserRule) -> bool:
        return rule.value is not None and here.suppressed(rule.key, rule.value)

    yield from stated_rules(here.rules, unless=withheld)


def _exception(exception: ProjectException, text: str, note: str | None) -> Stated:
    return Stated(
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
