"""What everything that comes into the stream passes: texts without secrets, names without, permitted lenses only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from hexad.core.arguments import quoted, subject_list
from hexad.errors import InvalidInput
from hexad.experience.values.records import NAME_CHARS_LIMIT
from hexad.redaction.masking import Masking

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NAMES_REMEMBERED: Final = 50_000
_CONCEPTS_REMEMBERED: Final = 200_000


def name(value: object, what: str) -> str:
    """Return an id of a session, an event or a concept, or a role, as it is; raises `InvalidInput`."""
    if not isinstance(value, str) or not value or len(value) > NAME_CHARS_LIMIT:
        raise InvalidInput(
            f"{what} = {quoted(value)} cannot be used; give a text of 1 to {NAME_CHARS_LIMIT} characters."
        )
    if not value.isascii() and _SURROGATE.search(value):
        raise InvalidInput(f"{what} = {value[:80]!r} holds half a character (a lone surrogate).")
    return value


class Intake:
    """What one store lets into its stream. Safe to share between threads.

    `permitted` says of a concept whether its lens may be seen; None where all may. `concepts` are those that were
    looked at before: looking at ten ids again took half of the time of a record.
    """

    def __init__(self, masking: Masking, *, permitted: Callable[[str], bool] | None = None) -> None:
        self._masking = masking
        self.mask, self.masked = masking.text, masking.texts
        self.permitted = permitted
        self.concepts: set[str] = set()
        self._names: set[str] = set()

    def name(self, value: str, what: str) -> str:
        """Return a name that is to be stored, as it is; raises `InvalidInput`, also for one that holds a secret.

        Masking it would make it another name. The message does not repeat it.
        """
        if isinstance(value, str) and value in self._names:
            return value
        self._refuse(value, what)
        if len(self._names) >= _NAMES_REMEMBERED:
            self._names.clear()
        self._names.add(value)
        return value

    def take_names(self, values: Iterable[str], what: str) -> None:
        """Remember names that may be stored; raises `InvalidInput` as `name` does."""
        new = [value for value in values if not isinstance(value, str) or value not in self._names]
        self._refuse_any(new, what)
        if len(self._names) >= _NAMES_REMEMBERED:
            self._names.clear()
        self._names.update(new[:_NAMES_REMEMBERED])

    def take_concepts(self, ids: Iterable[str]) -> None:
        """Remember concepts that may be stored; raises `InvalidInput` for what cannot be the id of one."""
        new = [concept for concept in ids if not isinstance(concept, str) or concept not in self.concepts]
        self._refuse_any(new, "a concept")
        if len(self.concepts) >= _CONCEPTS_REMEMBERED:
            self.concepts.clear()
        self.concepts.update(new)

    def subjects(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return people whose data something is, as they are; raises `InvalidInput`, also for what holds a secret."""
        return tuple(self.name(subject, "a data subject") for subject in subject_list(given))

    def _refuse_any(self, values: list[str], what: str) -> None:
        """Raise `InvalidInput` for the first that cannot be stored; looking has a price for each look."""
        if all(isinstance(value, str) for value in values) and not self._masking.secret_among(values):
            for value in values:
                name(value, what)
        else:
            for value in values:
                self._refuse(value, what)

    def _refuse(self, value: str, what: str) -> None:
        if isinstance(value, str) and (rule := self._masking.secret_in(value)) is not None:
            raise InvalidInput(f"{what} holds what looks like a secret ({rule}); give another one.")
        name(value, what)
