"""Records of JSON, one a line or in one document, read without ever holding more than a line allows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from hexad.core.arguments import json_fault
from hexad.errors import InvalidInput
from hexad.ingest.sources.decode import decoded, mark_of
from hexad.memory.source import Skip

LINE_BYTES_LIMIT: Final = 16 << 20
"""Longest line that is parsed; a record is a turn or a document, of which a memory holds 1 MiB."""

JSON_BYTES_LIMIT: Final = 256 << 20
"""Largest single JSON document that is parsed: an export of years of conversations."""

_HEAD_BYTES: Final = 1 << 20

TooLong = int
"""In place of a line that passed the limit: its size in bytes."""


def lines_of(file: BinaryIO) -> Iterator[tuple[int, str | TooLong]]:
    """Give the lines that are not blank with their numbers, decoded; a byte-order mark is dropped.

    Bytes that are no UTF-8 become U+FFFD: inside a string of JSON they cost a character, not the record. A file that
    begins with the mark of UTF-16, as some shells write what is sent to a file, is read as such, whole.
    """
    number = 0
    mark = mark_of(file.read(4))
    file.seek(0)
    if mark not in (None, "utf-8-sig"):
        file = BytesIO((decoded(file.read(JSON_BYTES_LIMIT)) or "").encode("utf-8", "replace"))
    while data := file.readline(LINE_BYTES_LIMIT + 1):
        number += 1
        if len(data) > LINE_BYTES_LIMIT and not data.endswith(b"\n"):
            yield number, len(data) + _skip_line(file)
            continue
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if line := data.decode("utf-8", "replace").strip():
            yield number, line


def _skip_line(file: BinaryIO) -> int:
    size = 0
    while data := file.readline(1 << 20):
        size += len(data)
        if data.endswith(b"\n"):
            break
    return size


def records_of(file: BinaryIO) -> Iterator[tuple[int, object] | Skip]:
    """Give each line's number and its value; a line that is no JSON becomes a `Skip` that says why."""
    for number, line in lines_of(file):
        if isinstance(line, TooLong):
            yield bad_line(number, f"the line has {line:,} bytes, over the limit of {LINE_BYTES_LIMIT:,}")
            continue
        try:
            yield number, json.loads(line)
        except json.JSONDecodeError as error:
            yield bad_line(number, f"not JSON: {error.msg} at column {error.colno}")
        except (RecursionError, ValueError) as error:
            yield bad_line(number, json_fault(error))


def bad_line(number: int, reason: str) -> Skip:
    """Return the skip of a line."""
    return Skip(source_id=f"line {number}", reason=f"line {number}: {reason}")


def load_json(path: Path) -> object:
    """Return the value of a JSON file; raises `InvalidInput` when it is none, or too large to be held."""
    size = path.stat().st_size
    if size > JSON_BYTES_LIMIT:
        raise InvalidInput(
            f"{str(path)!r} has {size:,} bytes; one JSON document may have {JSON_BYTES_LIMIT:,}. "
            "Write it as JSON lines, which are read one at a time."
        )
    text = decoded(path.read_bytes())
    if text is None:
        raise InvalidInput(f"{str(path)!r} is no text, and so no JSON; check which file you named.")
    if not text.strip():
        raise InvalidInput(f"{str(path)!r} is empty; write the export again.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{str(path)!r} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "Repair it, or name it .jsonl if it holds a record a line."
        ) from error
    except (RecursionError, ValueError) as error:
        raise InvalidInput(
            f"{str(path)!r} is no JSON of an export: {json_fault(error)}. Check which file you named."
        ) from error


def json_head(path: Path, *, limit: int) -> list[object]:
    """Return the first records of a JSON file: of its list, or the one object that it is.

    A large file is not parsed whole: its list's first objects are taken from the beginning.
    """
    with path.open("rb") as file:
        text = file.read(_HEAD_BYTES).decode("utf-8-sig", "replace").lstrip()
    if not text.startswith("["):
        return [load_json(path)]
    decoder = json.JSONDecoder()
    records: list[object] = []
    at = 1
    while len(records) < limit:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        if text[at : at + 1] in ("]", ""):
            break
        try:
            record, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            # The first record is longer than the head: only the whole file can say.
            return records or list(_whole_list(path))[:limit]
        records.append(record)
    return records


def _whole_list(path: Path) -> list[object]:
    value = load_json(path)
    return value if isinstance(value, list) else [value]
