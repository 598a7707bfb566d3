"""Values as JSON: the one place that says how a dataclass, an enum or a time is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import Any

from hexad.core.clock import format_time
from hexad.core.json_types import JSONObject, JSONValue


def as_json(value: Any, *names: str, without: Collection[str] = ()) -> dict[str, JSONValue]:
    """Return a dataclass as an object of its fields, in their order, but those named by `without`.

    With `names` it is of these attributes, fields or properties, in that order.

    Enums are their values, times ISO 8601 in UTC, paths text, tuples, lists and other sequences lists; sets are
    sorted. A value inside that has a `to_dict` of its own is what that says. Raises `TypeError` for anything else.
    """
    names = names or tuple(field.name for field in fields(value) if field.name not in without)
    return {name: plain(getattr(value, name)) for name in names}


def plain(value: object) -> JSONValue:
    """Return any value as JSON, as `as_json` writes those of its fields."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, PurePath):
        return str(value)
    own = getattr(value, "to_dict", None)
    if own is not None:  # first: hits and bundles are sequences besides
        written: JSONObject = own()
        return written
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return [plain(item) for item in sorted(value)]
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return as_json(value)
    raise TypeError(f"{type(value).__name__} has no form as JSON: {value!r}")
