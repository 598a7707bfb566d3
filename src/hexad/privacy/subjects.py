"""The people whose data a store holds, and what to say of somebody whose it is not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Final

from hexad.core.erasure import Mention
from hexad.database.component import Component
from hexad.database.connection import Database
from hexad.errors import NotFound
from hexad.privacy.memory_rows import ErasedMemories

_NEAREST: Final = 3
_LISTED: Final = 5


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


def unknown_subject(
    subject: str, names: Collection[str], *, outcome: str, mentions: Sequence[Mention] = ()
) -> NotFound:
    """Return the error for a person of whom nothing is held, with the names most like theirs and what names them."""
    looks: dict[str, list[str]] = {}
    for name in sorted(names):
        looks.setdefault(name.casefold(), []).append(name)
    nearest = [repr(name) for look in get_close_matches(subject.casefold(), looks) for name in looks[look]]
    if nearest:
        remedy = f"The nearest names are {', '.join(nearest[:_NEAREST])}; capitals count."
    elif mentions:
        kind = "memory by its id" if all(entry.memory_id for entry in mentions) else "record"
        remedy = f"Erase such a {kind}, or give it the name in data_subjects and ask again."
    else:
        remedy = "A subject is a name in data_subjects, as it was written."
    named = "" if subject.casefold() in looks else _named_in(mentions)  # in other capitals it is the person
    reason = f"No data is about {subject!r}, and {outcome}.{named}"
    return NotFound(reason, argument="subject", remedy=remedy)


def _named_in(mentions: Sequence[Mention]) -> str:
    """Return a sentence about the texts that name a person and do not say that they are about them."""
    if not mentions:
        return ""
    listed = ", ".join(
        f'{entry.memory_id or f"{entry.place} {entry.id}".strip()} ("{entry.text}")'
        for entry in mentions[:_LISTED]
    )
    more = len(mentions) - _LISTED
    others = f" and {more:,} more" if more > 0 else ""
    if any(entry.memory_id is None for entry in mentions):
        what = "1 record names" if len(mentions) == 1 else f"{len(mentions):,} records name"
    else:
        what = "1 memory names" if len(mentions) == 1 else f"{len(mentions):,} memories name"
    return f" {what} them in its text or path: {listed}{others}."
