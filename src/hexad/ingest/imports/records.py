"""What all readers of other systems share: records from JSON, texts that are put together, what is kept of a record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.ingest.sources.jsonlines import load_json, records_of
from hexad.memory.source import Item, Skip
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
    return not path.resolve().is_relative_to(folder.resolve())


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


def kept(format: str, original: str, record: Record, names: Sequence[str]) -> dict[str, JSONValue]:
    """Return what is kept of a record: where it is from, its id there, and of the fields those that say something."""
    found: dict[str, JSONValue] = {"from": format, "id": original}
    for name in names:
        value = record.get(name)
        if value is None or value in ("", [], {}):
            continue
        found[name] = value if isinstance(value, str | int | float | bool) else _as_json(value)
    return {IMPORTED: found}


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
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


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
