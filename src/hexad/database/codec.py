"""Between values and columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from hexad.core.json_types import JSONValue
from hexad.errors import IntegrityError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_micros(time: datetime) -> int:
    """Return microseconds since 1970; exact, unlike `timestamp()`."""
    return (time - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the UTC time that `to_micros` encoded; raises `IntegrityError` for what can only be damage."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except TypeError as error:
        raise _damaged(micros, "a time") from error


def optional_time(micros: int | None) -> datetime | None:
    """Return the time of a nullable column."""
    return None if micros is None else from_micros(micros)


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
"""Made once: `json.dumps` makes another one for each value."""


def dump(value: JSONValue) -> str:
    """Return compact JSON with sorted keys: the same bytes for the same value."""
    return _ENCODER.encode(value)


def parse(text: object) -> Any:
    """Return the value of JSON that we wrote; raises `IntegrityError` for what can only be damage."""
    try:
        return json.loads(cast("str", text))
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(text, "JSON") from error


def _damaged(text: object, form: str) -> IntegrityError:
    return IntegrityError(
        f"The store holds {str(text)[:80]!r} where {form} was written: it is damaged. "
        "Run `hexad check`, and put a backup in its place."
    )


def load_object(text: object) -> dict[str, JSONValue]:
    """Return the JSON object of a column."""
    value = parse(text)
    if not isinstance(value, dict):
        raise _damaged(text, "a JSON object")
    return cast("dict[str, JSONValue]", value)


def load_objects(texts: Sequence[str]) -> list[dict[str, JSONValue]]:
    """Return the JSON objects of many columns, as `load_object` of each would, in a third of the time."""
    try:
        objects = json.loads(f"[{','.join(texts)}]")
    except (ValueError, RecursionError):
        objects = []
    if len(objects) != len(texts) or not all(
        isinstance(each, dict) for each in objects
    ):  # one of them is damaged: say which
        return [load_object(text) for text in texts]
    return cast("list[dict[str, JSONValue]]", objects)


def load_strings(text: object) -> tuple[str, ...]:
    """Return the JSON list of strings of a column."""
    if text == "[]":
        return ()
    if not isinstance(values := parse(text), list):
        raise _damaged(text, "a JSON list")
    return tuple(values)
