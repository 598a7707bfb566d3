"""Objects that a caller gives of a space, its metadata or its policy: what they must be before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.errors import InvalidSpace
from hexad.spaces.files.reader import depth, read_json

OBJECT_BYTES_LIMIT: Final = 64 << 10
"""Largest metadata or policy of a space."""
OBJECT_DEPTH_LIMIT: Final = 50
"""How deep lists and objects may stand in each other there; the file of a space, around them, has a few levels more."""


def given_object(value: Mapping[str, JSONValue] | str, what: str) -> dict[str, JSONValue]:
    """Return an object that a caller gave, itself or as JSON; raises `InvalidSpace`."""
    example = '{"owner": "docs"}' if what == "metadata" else '{"ttl_days": 30}'
    given: object = value
    if isinstance(value, str):
        try:
            given = read_json(value)
        except ValueError as error:
            raise InvalidSpace(
                f"Invalid space {what}: {error}; give an object, such as {example}."
            ) from error
    if not isinstance(given, Mapping):
        raise InvalidSpace(f"Invalid space {what} {str(given)[:80]!r}: give an object, such as {example}.")
    try:
        text = json.dumps(dict(given), allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSpace(f"Invalid space {what}: {error}; give what JSON can hold.") from error
    if size > OBJECT_BYTES_LIMIT:
        raise InvalidSpace(
            f"Invalid space {what}: {size:,} bytes are more than the {OBJECT_BYTES_LIMIT:,} it may have."
        )
    copy: dict[str, JSONValue] = json.loads(text)
    if depth(copy, OBJECT_DEPTH_LIMIT) > OBJECT_DEPTH_LIMIT:
        raise InvalidSpace(
            f"Invalid space {what}: its lists and objects stand in each other more than {OBJECT_DEPTH_LIMIT} deep; "
            "make it flatter."
        )
    return copy
