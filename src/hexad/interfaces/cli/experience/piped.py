"""JSON lines as they are piped in: read to their end, or as they come."""

from __future__ import annotations

import json
import os
import re
import select
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Final

import hexad

LINE_BYTES_LIMIT: Final = 8 << 20
"""Longest line that is read: a content has 1 MiB at most, and JSON may need six bytes for one."""
BATCH_LINES: Final = 4_096
BATCH_BYTES: Final = 16 << 20
"""So much is recorded together at most: of a batch that is refused nothing was recorded."""
BATCH_S: Final = 0.1
"""So long a line may wait for others before they are recorded together."""
_READ_BYTES: Final = 1 << 16
_SHOWN: Final = 80
_ROW: Final = re.compile(r"Row ([\d,]+): ")
"""How `record_many` begins what it says of one row, counted from 0."""


class Rows:
    """The rows that lines say, blank ones left out; `before` lines came earlier, `show` is told how many rows came."""

    def __init__(self, lines: Iterable[bytes], show: Callable[[int], None], *, before: int = 0) -> None:
        self._lines, self._show, self._before = lines, show, before
        self._read = 0
        self._blank: list[int] = []  # for each blank line how many rows came before it

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        rows = 0
        for line in self._lines:
            self._read += 1
            if len(line) > LINE_BYTES_LIMIT:
                raise hexad.LimitExceeded(f"It has more than {LINE_BYTES_LIMIT:,} bytes; record it in parts.")
            if not line.strip():
                self._blank.append(rows)
                continue
            yield _parsed(line)
            rows += 1
            self._show(rows)

    def placed(self, message: str) -> str:
        """Return what was refused with the number of its line."""
        found = _ROW.match(message)
        said = message if found is None else message[found.end() :]
        return f"Line {self._before + self.good(message) + 1:,}: {said}"

    def good(self, message: str) -> int:
        """Return how many lines stand before the one that was refused: rows are read ahead, blank lines are none."""
        found = _ROW.match(message)
        if found is None:
            return self._read - 1
        row = int(found[1].replace(",", ""))
        return row + sum(before <= row for before in self._blank)


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Give the lines of a stream; of one that is far too long its beginning."""
    while line := stream.readline(LINE_BYTES_LIMIT + 1):
        yield line


def through(lines: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Give the lines that come until there are so many bytes; the others stay."""
    held = 0
    for line in lines:
        yield line
        held += len(line)
        if held >= most:
            return


def as_they_come(stream: BinaryIO, monotonic: Callable[[], float]) -> Iterator[list[bytes]]:
    """Give the lines of a pipe in batches: what came within a tenth of a second, up to 4,096 of them."""
    file = stream.fileno()
    lines: list[bytes] = []
    rest, since, held = b"", 0.0, 0
    while True:
        patience = max(0.0, since + BATCH_S - monotonic()) if lines else None
        if not select.select([file], [], [], patience)[0]:
            yield lines
            lines, held = [], 0
            continue
        data = os.read(file, _READ_BYTES)
        if not data:
            break
        if not lines:
            since = monotonic()
        *whole, rest = (rest + data).split(b"\n")
        lines += whole
        held += len(data)
        if len(rest) > LINE_BYTES_LIMIT:
            yield [*lines, rest]  # whoever reads it says that it is too long
            return
        if len(lines) >= BATCH_LINES or (lines and held >= BATCH_BYTES):
            yield lines
            lines, held = [], 0
    if rest:
        lines.append(rest)
    if lines:
        yield lines


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise hexad.InvalidInput(f"{_shown(line)} is no JSON: {error}.") from error
    if not isinstance(row, dict):
        raise hexad.InvalidInput(f"{_shown(line)} is no JSON object; give event_type and content at least.")
    return row


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
