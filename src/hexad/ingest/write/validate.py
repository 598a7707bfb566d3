"""What a draft must be before it may be stored: bad input is named, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from hexad.core.arguments import encodable, join_pairs, join_pairs_in, json_fault, quoted
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidMemory, LimitExceeded
from hexad.memory.draft import Draft
from hexad.memory.memory import MEMORY_BYTES_LIMIT, Citation
from hexad.text.normalize import slug
from hexad.text.paths import validate_space

METADATA_BYTES_LIMIT: Final = MEMORY_BYTES_LIMIT
"""As much as a text: a framework's message has its own form there, with files and what tools gave back."""
VALUE_BYTES_LIMIT: Final = 64 << 10
ID_LIMIT: Final = 200
SUMMARY_LIMITS: Final = {"summary_micro": 1_000, "summary_short": 4_000, "summary_long": 32_000}
"""Most characters of a summary that a caller brings along; what Hexad writes itself is shorter."""
DEPTH_LIMIT: Final = 50
"""How deep objects and lists of metadata and values may stand in each other; a space's file holds a few levels more."""
NAME_LIMIT: Final = 500
_TEXTS: Final = ("kind", "path", "id", "source_id", "subject", "attribute", "project", "supersedes")


def validate(draft: Draft) -> Draft:
    """Return a draft with whole characters in its values.

    Raises `InvalidMemory`, `InvalidSpace` or `LimitExceeded` for one that cannot be stored.
    """
    validate_space(draft.space)
    _check_types(draft)
    size = len(draft.text.encode("utf-8", "replace"))
    if size > MEMORY_BYTES_LIMIT:
        raise LimitExceeded(
            f"The text has {size:,} bytes; one memory holds at most {MEMORY_BYTES_LIMIT:,}. "
            "`hexad ingest` stores a longer file in numbered parts.",
            argument="text",
        )
    for name, text, limit in (
        ("id", draft.id, ID_LIMIT),
        ("source_id", draft.source_id, 4 * ID_LIMIT),
        ("kind", draft.kind, 64),
        ("subject", draft.subject, NAME_LIMIT),
        ("supersedes", draft.supersedes, ID_LIMIT),
        ("project", draft.project, NAME_LIMIT),
        ("attribute", draft.attribute, NAME_LIMIT),
    ):
        if text is not None and not is_name(text, limit):
            raise InvalidMemory(
                f"The {name} {text[:80]!r} cannot be used; give 1 to {limit} printable characters.",
                argument=name,
            )
    if draft.kind is not None and not slug(draft.kind):
        raise InvalidMemory(
            f"The kind {draft.kind!r} has no letter or digit; give a word, such as 'note'.", argument="kind"
        )
    for name, number in (("importance", draft.importance), ("confidence", draft.confidence)):
        if number is not None and not 0 <= number <= 1:
            raise InvalidMemory(f"The {name} {quoted(number)} is not between 0 and 1.", argument=name)
    if draft.valid_from and draft.valid_to and draft.valid_to < draft.valid_from:
        raise InvalidMemory(
            f"valid_to {draft.valid_to.isoformat()} is before valid_from {draft.valid_from.isoformat()};",
            argument="valid_to",
            remedy="give a later {valid_to}, or leave it out.",
        )
    if draft.created_at and draft.updated_at and draft.updated_at < draft.created_at:
        raise InvalidMemory(
            f"updated_at {draft.updated_at.isoformat()} is before created_at {draft.created_at.isoformat()}.",
            argument="updated_at",
        )
    _check_summaries(draft)
    if draft.metadata is not None and not isinstance(draft.metadata, Mapping):
        raise InvalidMemory(
            f"metadata = {quoted(draft.metadata)} is not an object; give names with values.",
            argument="metadata",
        )
    metadata: Any = check_json("metadata", draft.metadata, limit_bytes=METADATA_BYTES_LIMIT)
    value = check_json("value", draft.value)
    if metadata is draft.metadata and value is draft.value:
        return draft
    return replace(draft, metadata=metadata, value=value)


def is_name(text: str, limit: int) -> bool:
    """Whether a text can be a name: printable, not blank, and no longer than `limit`."""
    return bool(text.strip()) and len(text) <= limit and text.isprintable()


def _check_types(draft: Draft) -> None:
    """Raise `InvalidMemory` for a value of another type than its field has: not every caller has a type checker."""
    if not isinstance(draft.text, str):
        raise InvalidMemory(f"text must be a string, not {quoted(draft.text)}.", argument="text")
    for name in _TEXTS:
        value: object = getattr(draft, name)  # a loop over names, as they stand in the message
        if value is not None and not isinstance(value, str):
            raise InvalidMemory(f"{name} must be a string, not {quoted(value)}.", argument=name)
    if draft.pinned is not None and not isinstance(draft.pinned, bool):
        raise InvalidMemory(
            f"pinned {quoted(draft.pinned)} cannot be used; give true or false.", argument="pinned"
        )
    for name, number in (("importance", draft.importance), ("confidence", draft.confidence)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise InvalidMemory(
                f"The {name} {quoted(number)} is no number; give one between 0 and 1.", argument=name
            )
    for citation in draft.citations or ():
        if not isinstance(citation, Citation):
            raise InvalidMemory(
                f"citations hold {quoted(citation)}; give `Citation` objects.", argument="citations"
            )


def _check_summaries(draft: Draft) -> None:
    summaries = (draft.summary_micro, draft.summary_short, draft.summary_long)
    for (name, limit), text in zip(SUMMARY_LIMITS.items(), summaries, strict=True):
        if text is not None and len(text) > limit:
            raise LimitExceeded(
                f"The {name} has {len(text):,} characters; at most {limit:,} are kept. Shorten it, or leave it "
                "out: it is then made from the text.",
                argument=name,
            )


def check_json(name: str, value: Any, *, limit_bytes: int = VALUE_BYTES_LIMIT) -> JSONValue:
    """Return a value, with pairs of surrogates as the characters that they stand for.

    Raises `InvalidMemory` for what is no JSON or stands too deep in itself, `LimitExceeded` for too much of it.
    """
    whole: JSONValue = value
    if value is None or _is_flat(value):
        return whole
    key = _odd_key(value, limit_bytes)
    if key is not None:
        raise InvalidMemory(f"The {name} has the key {key!r}; the keys of JSON are strings.", argument=name)
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        size = len(join_pairs(text).encode())
    except UnicodeEncodeError as error:
        raise InvalidMemory(
            f"The {name} holds half a character, {error.object[error.start]!r}: bytes that are no UTF-8, or half a "
            "surrogate pair. Give whole characters.",
            argument=name,
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMemory(
            f"The {name} is not JSON: {json_fault(error)}. Give objects, lists, strings and numbers.",
            argument=name,
        ) from error
    if size > limit_bytes:
        raise LimitExceeded(
            f"The {name} has {size:,} bytes of JSON; at most {limit_bytes:,} are kept.",
            argument=name,
        )
    level: list[object] = [value]
    for _ in range(DEPTH_LIMIT + 1):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise InvalidMemory(
            f"The {name} holds lists or objects that stand in each other more than {DEPTH_LIMIT} deep; flatten it.",
            argument=name,
        )
    return whole if encodable(text) else join_pairs_in(whole)


def _is_flat(value: object) -> bool:
    """Whether it is a small object of short texts, of which nothing has to be looked at further."""
    return (
        type(value) is dict
        and len(value) <= _FLAT_NAMES
        and all(
            type(name) is str
            and type(item) is str
            and len(name) + len(item) <= _FLAT_CHARACTERS
            and name.isascii()
            and item.isascii()
            for name, item in value.items()
        )
    )


_FLAT_NAMES: Final = 16
_FLAT_CHARACTERS: Final = 500
"""So many of so many, each written in six bytes, are less than is kept."""


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _odd_key(value: object, most: int) -> object:
    """Return a key that is no string, None when there is none; what is no JSON is somebody else's to refuse."""
    waiting, seen = [value], 0
    while waiting and seen <= most:
        item, seen = waiting.pop(), seen + 1
        if isinstance(item, Mapping):
            for key in item:
                if not isinstance(key, str):
                    return repr(key) if key is None else key
        waiting.extend(_inside(item))
    return None
