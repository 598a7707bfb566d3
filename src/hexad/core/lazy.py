"""A value that is made when it is first asked for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")
_ABSENT: Final = object()


class Lazy(Generic[T]):
    """Makes its value at the first call, once, whichever thread asks first; `loaded` tells whether it has.

    What makes the value may ask for it again: it then gets what was `set` in the meantime, and a circle that never
    sets anything is a `RecursionError`. A value that could not be made is tried anew at the next call.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value: T | object = _ABSENT
        self._lock = threading.RLock()

    def __call__(self) -> T:
        """Return the value."""
        value = self._value
        if value is _ABSENT:
            with self._lock:
                if self._value is _ABSENT:
                    made = self._make()
                    if self._value is _ABSENT:
                        self._value = made
                value = self._value
        return value  # type: ignore[return-value]

    def set(self, value: T) -> None:
        """Take `value` instead of making one."""
        self._value = value

    @property
    def loaded(self) -> T | None:
        """The value where it was made, None before."""
        value = self._value
        return None if value is _ABSENT else value  # type: ignore[return-value]


class LentParts:
    """Counts references to parts. The first that is added must be one that nobody has: it shows what are our own."""

    def __init__(self) -> None:
        self._parts = dict[int, tuple[object, int]]()

    def add(self, part: object) -> None:
        """Note a part, with the references that it has now, before its user has it."""
        if id(part) not in self._parts:
            self._parts[id(part)] = (part, sys.getrefcount(part))

    def any_held(self) -> bool:
        """Whether a part has gained references since it was added."""
        gained = [sys.getrefcount(part) - before for part, before in self._parts.values()]
        return any(each > gained[0] for each in gained)
