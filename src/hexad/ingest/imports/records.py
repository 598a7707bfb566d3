"""What all readers of other systems share: records from JSON, texts that are put together, what is kept of a record."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

from hexad.core.arguments import is_whole
from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.jsonlines import load_json, records_of
from hexad.ingest.write.validate import NAME_LIMIT, is_name
from hexad.memory.source import ImportedFields, Item, Skip
from hexad.redaction.redact import RedactionRules, find, redact
from hexad.text.normalize import clean

IMPORTED: Final = "imported"
"""Name in a memory's metadata under which stands what the other system said of it."""
LINES: Final = (".jsonl", ".ndjson")
LEADS_OUT: Final = "it is a link that leads out of the folder: it is not followed"
_TEXT_LIMIT: Final = 2_000

Record = Mapping[str, object]
Placed = tuple[str, Item]
"""An item with the place of its record, in words for a reader."""


def refuse(path: Path, format: str, seen: str) -> NoReturn:
    """Raise for a file that is not what the caller says; `seen` says what it is instead."""
    raise InvalidInput(
        f"{str(path)!r} does not look like {format}: {seen}. Check the format that you named (docs/imports.md), or "
        "ingest it as a plain file."
    )


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file of a folder is a link to something outside of it, which nobody named."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def json_lines(path: Path) -> Iterator[tuple[str, object] | Skip]:
    """Give the records of JSON lines with their places."""
    try:
        with path.open("rb") as file:
            for record in records_of(file):
                yield record if isinstance(record, Skip) else (f"line {record[0]}", record[1])
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be opened: {error.strerror}. Check its permissions."
        ) from error


def json_value(path: Path) -> object:
    """Return the value of a JSON file; raises `InvalidInput` with the line and the column where it is damaged."""
    try:
        return load_json(path)
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be opened: {error.strerror}. Check its permissions."
        ) from error


def origin_of(format: str, original: str, record: Record, names: Sequence[str]) -> dict[str, JSONValue]:
    """Return what is kept of a record: where it is from, its id there, and of the fields those that say something."""
    origin: dict[str, JSONValue] = {"from": format, "id": original}
    for name in names:
        value = record.get(name)
        if value is None or value in ("", [], {}):
            continue
        origin[name] = value if isinstance(value, str | int | float | bool) else _as_json(value)
    return {IMPORTED: origin}


def _as_json(value: object) -> JSONValue:
    """Return a value that came from JSON, as JSON; of a text in SQLite, bytes say nothing."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:_TEXT_LIMIT]
    return value  # type: ignore[return-value]


def string(record: Record, name: str) -> str:
    """Return a field as text without blanks around it; empty where it is none."""
    value = record.get(name)
    if isinstance(value, str):
        return clean(value).strip()
    return str(value) if is_whole(value) else ""


def strings(value: object) -> list[str]:
    """Return a list of texts that is one, or is written as JSON in a text; a plain text is a list of one."""
    if isinstance(value, str):
        bare = value.strip()
        if bare.startswith("["):
            try:
                value = json.loads(bare)
            except (ValueError, RecursionError):
                return [bare]
        else:
            return [bare] if bare else []
    return (
        [clean(text).strip() for text in value if isinstance(text, str) and text.strip()]
        if isinstance(value, list)
        else []
    )


def short_hash(text: str) -> str:
    """Return twelve characters that stand for a text that has no id of its own."""
    return content_hash(text).partition(":")[2][:12]


def keys_of(value: object) -> str:
    """Return in words what a value is, for a message."""
    if isinstance(value, Mapping):
        return "its fields are " + (", ".join(repr(str(key)) for key in list(value)[:8]) or "none")
    return f"it holds {'a list' if isinstance(value, list) else 'a ' + type(value).__name__}"


_ID: Final = 700
"""Characters of an id, so that the number of a part has room behind it."""
_REASON: Final = 500
_BYTES: Final = 32 << 10
"""What is kept beside a text, in bytes of JSON: half of what a memory may have, for what else comes to it."""
_CUT: Final = 500
_DEPTH: Final = 20
_DIGITS: Final = 300
_SECRETS: Final = RedactionRules(pii=frozenset())


def fitting(item: Item) -> Item:
    """Return an item whose names the store takes."""
    claim = item.claim
    return replace(
        item,
        source_id=None if item.source_id is None else fitting_id(item.source_id),
        title=None if item.title is None else _printable(item.title) or None,
        metadata=_fitting_metadata(item.metadata),
        claim=None if claim is None else _fitting_claim(claim),
    )


def fitting_skip(skip: Skip) -> Skip:
    """Return a skip whose words tell no secret and fit a line."""
    reason = skip.reason
    if find(reason, rules=_SECRETS):
        reason = redact(reason, rules=_SECRETS, salt=b"").text
    reason = reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"
    return Skip(source_id=fitting_id(skip.source_id), reason=reason)


def fitting_id(name: str) -> str:
    """Return an id that is printable, of 1 to 700 characters and no secret; different ids stay different."""
    if find(name, rules=_SECRETS):
        return f"secret/{_mark(name)}"
    identifier = safe_id(name)
    if not identifier.isprintable():
        identifier = "".join(
            char
            if char.isprintable()
            else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
            for char in identifier
        )
    if not identifier.strip():
        return f"unnamed/{_mark(name)}"
    return identifier if len(identifier) <= _ID else f"{identifier[: _ID - 13]}-{_mark(name)}"


def _mark(name: str) -> str:
    return content_hash(name).partition(":")[2][:12]


def _printable(name: str) -> str:
    """Return a name without what cannot be printed; other kinds of blanks become blanks."""
    if name.isprintable():
        return name
    characters = (char if char.isprintable() else " " if char.isspace() else "" for char in name)
    return " ".join("".join(characters).split())


def _fitting_claim(claim: ImportedFields) -> ImportedFields:
    subject, attribute = (
        None if name is None else _printable(name) for name in (claim.subject, claim.attribute)
    )
    if any(name is not None and not is_name(name, NAME_LIMIT) for name in (subject, attribute)):
        subject = attribute = value = None  # a sentence then, and no fact
    else:
        value = claim.value
    return replace(
        claim,
        subject=subject,
        attribute=attribute,
        value=value,
        data_subjects=tuple(
            name
            for data_subject in claim.data_subjects
            if is_name(name := _printable(data_subject), NAME_LIMIT)
        ),
        links=tuple((kind, fitting_id(target)) for kind, target in claim.links),
    )


def _fitting_metadata(metadata: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return what is beside a text as JSON that a store keeps; the largest fields are cut first."""
    fields = {_key(name): _fitting_value(value, _DEPTH) for name, value in metadata.items()}
    inner = fields.get("imported")
    if len(_json(fields)) <= _BYTES or not isinstance(inner, dict):
        return fields
    for name in sorted(inner, key=lambda name: len(_json(inner[name])), reverse=True):
        inner[name] = _short(inner[name])
        if len(_json(fields)) <= _BYTES:
            break
    return fields


def _fitting_value(value: JSONValue, depth: int) -> JSONValue:
    match value:
        case str():
            return clean(value)
        case bool() | None:
            return value
        case int():
            return value if abs(value) < 10**_DIGITS else f"a number of {value.bit_length():,} bits"
        case float():
            return value if math.isfinite(value) else str(value)
    if depth == 0:
        return _short(value)
    if isinstance(value, Mapping):
        return {_key(name): _fitting_value(inner, depth - 1) for name, inner in value.items()}
    return [_fitting_value(inner, depth - 1) for inner in value]


def _key(name: str) -> str:
    return clean(name)[:_CUT]


def _short(value: JSONValue) -> JSONValue:
    text = value if isinstance(value, str) else _json(value).decode()
    return text if len(text) <= _CUT else clean(text[: _CUT - 1]) + "…"


def _json(value: JSONValue) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
