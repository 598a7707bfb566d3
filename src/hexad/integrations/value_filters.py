"""What a framework's filter asks of a value: fields of objects, and comparisons such as `{"page": {"$gte": 3}}`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_AMONG: Final = ("$in", "$nin")
_JOINING: Final = ("$and", "$or")
_OPERATORS: Final = (*_COMPARISONS, *_AMONG, "$exists", *_JOINING, "$not")
_MISSING: Final = object()
"""The value of a field that an object does not have: equal to None, as in LangGraph's own store."""


def require_filter(wanted: object) -> None:
    """Raise `InvalidInput` naming what of a filter asks for nothing, before anything is looked at."""
    if not isinstance(wanted, Mapping):
        raise InvalidInput(
            f"filter = {quoted(wanted)} must be a dictionary of values, such as {{'page': 3}}.",
            argument="filter",
        )
    _require_usable(wanted)


def _require_usable(wanted: object) -> None:
    if isinstance(wanted, list | tuple):
        for part in wanted:
            _require_usable(part)
    if not isinstance(wanted, Mapping):
        return
    for name, other in wanted.items():
        if not isinstance(name, str):
            raise _refused(f"has the field {quoted(name)}; a field's name is a string.")
        if name.startswith("$"):
            _require_operator(name, other)
        if name not in _AMONG:
            _require_usable(other)


def _require_operator(name: str, other: object) -> None:
    if name not in _OPERATORS:
        raise _refused(f"has {quoted(name)}, which compares nothing; choose one of {', '.join(_OPERATORS)}.")
    if name in _AMONG and not isinstance(other, list | tuple | set | frozenset):
        raise _refused(f"has {name} with {quoted(other)}; give a list of values.")
    if name in _JOINING and not (
        isinstance(other, list | tuple) and other and all(isinstance(each, Mapping) for each in other)
    ):
        raise _refused(f"has {name} with {quoted(other)}; give a list of filters.")
    if name == "$not" and not isinstance(other, Mapping):
        raise _refused(f"has $not with {quoted(other)}; give a filter.")
    if name == "$exists" and not isinstance(other, bool):
        raise _refused(f"has $exists with {quoted(other)}; give True or False.")


def _refused(what: str) -> InvalidInput:
    return InvalidInput(f"filter {what}", argument="filter")


def matches(value: object, wanted: object) -> bool:
    """Whether a value is what a filter asks for: objects by their fields, comparisons by `$gt` and such."""
    if isinstance(wanted, Mapping):
        return all(
            _compares(value, name, other) if name.startswith("$") else _has(value, name, other)
            for name, other in wanted.items()
        ) and (isinstance(value, Mapping) or any(name.startswith("$") for name in wanted))
    own = _own(value)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(own, list | tuple)
            and len(own) == len(wanted)
            and all(matches(part, other) for part, other in zip(own, wanted, strict=True))
        )
    return own == wanted


def _own(value: object) -> object:
    return None if value is _MISSING else value


def _has(value: object, name: str, wanted: object) -> bool:
    return isinstance(value, Mapping) and matches(_part(value, name), wanted)


def _part(value: Mapping[str, Any], name: str) -> object:
    """Return a field of an object; dots lead into objects within it, where no field is called so."""
    if name in value or "." not in name:
        return value.get(name, _MISSING)
    outer, _, inner = name.partition(".")
    within = value.get(outer)
    return _part(within, inner) if isinstance(within, Mapping) else _MISSING


def _compares(value: object, name: str, other: Any) -> bool:
    own = _own(value)
    if name == "$exists":
        return other is (value is not _MISSING)
    if name == "$not":
        return not matches(value, other)
    if name in _JOINING:
        return (all if name == "$and" else any)(matches(value, each) for each in other)
    if name in _AMONG:
        return any(own == each for each in other) is (name == "$in")
    if name in ("$eq", "$ne"):
        return _COMPARISONS[name](own, other)
    comparable = (isinstance(own, str) and isinstance(other, str)) or (
        isinstance(own, int | float) and isinstance(other, int | float)
    )
    return comparable and _COMPARISONS[name](own, other)
