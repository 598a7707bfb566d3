"""The people whose data a store holds, and what to say of somebody whose it is not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Final

from hexad.database.component import Component
from hexad.database.connection import Database
from hexad.errors import NotFound
from hexad.privacy.memory_rows import ErasedMemories

_NEAREST: Final = 3


class Subjects:
    """The names under which people stand in `data_subjects`, as far as `roles` may see them; None sees all."""

    def __init__(
        self, db: Database, components: Sequence[Component], *, roles: tuple[str, ...] | None, owner: bool
    ) -> None:
        self._db, self._roles = db, roles
        self._queries = [query for component in components for query in component.subjects] if owner else []

    def names(self) -> set[str]:
        """Return the people whose data is here."""
        names = ErasedMemories(self._db, roles=self._roles).subjects()
        names.update(row[0] for query in self._queries for row in self._db.query(query))
        return names


def unknown_subject(subject: str, names: Collection[str], *, outcome: str) -> NotFound:
    """Return the error for a person of whom nothing is held, with the names that are most like theirs."""
    looks: dict[str, list[str]] = {}
    for name in sorted(names):
        looks.setdefault(name.casefold(), []).append(name)
    nearest = [repr(name) for look in get_close_matches(subject.casefold(), looks) for name in looks[look]]
    return NotFound(
        f"No data is about {subject!r}, and {outcome}.",
        argument="subject",
        remedy=f"The nearest names are {', '.join(nearest[:_NEAREST])}; capitals count."
        if nearest
        else "A subject is a name in data_subjects, as it was written.",
    )
