"""`hexad xdb record`: what a shell's own agent read, wrote and did."""

from __future__ import annotations

import json
import os
import re
import select
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, json_fault, several, state
from hexad.interfaces.cli.app.completion import concept_ids
from hexad.interfaces.cli.experience.options import CONCEPT, ConceptRange, session_option
from hexad.interfaces.cli.output.progress import meter
from hexad.interfaces.cli.output.render import clean, count, show

if TYPE_CHECKING:
    from hexad import Hexad


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


class InputRows:
    """The rows that lines say, blank ones left out; `before` lines came earlier, `advance` takes how many rows came."""

    def __init__(self, lines: Iterable[bytes], advance: Callable[[int], None], *, before: int = 0) -> None:
        self._lines, self._advance, self._before = lines, advance, before
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
            self._advance(rows)

    def placed(self, message: str) -> str:
        """Return what was refused with the number of its line."""
        match = _ROW.match(message)
        detail = message if match is None else message[match.end() :]
        return f"Line {self._before + self.good(message) + 1:,}: {detail}"

    def good(self, message: str) -> int:
        """Return how many lines stand before the one that was refused: rows are read ahead, blank lines are none."""
        match = _ROW.match(message)
        if match is None:
            return self._read - 1
        row = int(match[1].replace(",", ""))
        return row + sum(before <= row for before in self._blank)


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Give the lines of a stream; of one that is far too long its beginning."""
    while line := stream.readline(LINE_BYTES_LIMIT + 1):
        yield line


def through(lines: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Give the lines that come until there are so many bytes; the others stay."""
    size = 0
    for line in lines:
        yield line
        size += len(line)
        if size >= most:
            return


def as_they_come(stream: BinaryIO, monotonic: Callable[[], float]) -> Iterator[list[bytes]]:
    """Give the lines of a pipe in batches: what came within a tenth of a second, up to 4,096 of them."""
    file = stream.fileno()
    lines: list[bytes] = []
    rest, since, size = b"", 0.0, 0
    while True:
        patience = max(0.0, since + BATCH_S - monotonic()) if lines else None
        if not select.select([file], [], [], patience)[0]:
            yield lines
            lines, size = [], 0
            continue
        data = os.read(file, _READ_BYTES)
        if not data:
            break
        if not lines:
            since = monotonic()
        *whole, rest = (rest + data).split(b"\n")
        lines += whole
        size += len(data)
        if len(rest) > LINE_BYTES_LIMIT:
            yield [*lines, rest]  # whoever reads it says that it is too long
            return
        if len(lines) >= BATCH_LINES or (lines and size >= BATCH_BYTES):
            yield lines
            lines, size = [], 0
    if rest:
        lines.append(rest)
    if lines:
        yield lines


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise hexad.InvalidInput(f"{_shown(line)} is no JSON: {json_fault(error)}.") from error
    if not isinstance(row, dict):
        raise hexad.InvalidInput(f"{_shown(line)} is no JSON object; give event_type and content at least.")
    return row


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


_TYPES: Final = [event_type.value for event_type in hexad.EventType]
_CHECKED_BYTES: Final = 64 << 20
"""So much is refused as a whole: of more, what came before may have been recorded."""
_REFUSED: Final = (hexad.InvalidInput, hexad.LimitExceeded)


@click.command(cls=Command)
@click.argument("text", required=False)
@session_option("Record to this session; started when new, else resumed.", required=True)
@click.option(
    "--type",
    "event_type",
    type=click.Choice(_TYPES),
    help="With TEXT: what it is; default: input.",
)
@click.option("--speaker", "role", help="With TEXT: its role, such as user, assistant, system or tool.")
@click.option("--event", "event_id", metavar="ID", help="With TEXT: the event that it belongs to.")
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    type=CONCEPT,
    metavar="ID:SCORE",
    shell_complete=concept_ids,
    help="With TEXT: a concept that was active, and how much; repeatable.",
)
@click.option(
    "--tokens",
    "token_count",
    type=int,
    help="With TEXT: how many tokens it counts for; default: as the text is long.",
)
@click.option("--max-context-tokens", type=int, help="How large the session's context window is.")
@click.option(
    "--compaction/--no-compaction",
    default=None,
    help="Whether the session compacts by itself when its window is full; default: as it was, at first yes.",
)
@click.option(
    "--data-subject", "data_subjects", multiple=True, help="A person whose data the session is; repeatable."
)
@click.option("--follow", is_flag=True, help="Record lines as they come, each within a tenth of a second.")
@click.option("--end", "ends", is_flag=True, help="End the session afterwards.")
def record(
    *,
    text: str | None,
    session_id: str,
    max_context_tokens: int | None,
    compaction: bool | None,
    data_subjects: tuple[str, ...],
    follow: bool,
    ends: bool,
    **options: Any,
) -> None:
    """Record experience: TEXT, or JSON lines from stdin.

    A line is an object with event_type, content and, if you like, concept_activations, event_id, event_start,
    event_end, token_id, role, token_count and timestamp. Makes a store where there is none. When it returns, all is on
    the disk. A line that cannot be used is named, and nothing is recorded or begun: of more than 64 MiB, nothing from
    there on. With --follow, for a program that goes on writing, what came before it stays.
    """
    row = _row(text, options)
    if row is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to record: give a TEXT, or pipe JSON lines in.")
    if row is not None and follow:
        raise click.UsageError("--follow is for what is piped in; leave TEXT or --follow out.")
    done = _Recorded()
    window: dict[str, Any] = {
        "max_context_tokens": max_context_tokens,
        "compaction": compaction,
        "data_subjects": several(data_subjects),
    }
    with ExitStack() as stack:
        hx, begins = _there(stack, session_id, window)
        first: list[Any] = [row]
        rest: Iterator[Any] = iter(())
        if follow:
            rest = as_they_come(sys.stdin.buffer, hexad.SystemClock().monotonic)
            first = next(rest, []) if begins else []
        elif row is None:
            rest = lines_of(sys.stdin.buffer)
            first = [*through(rest, _CHECKED_BYTES)] if begins else []
        if begins:
            _check(session_id, first, window, follow=follow)
        if hx is None:
            hx = stack.enter_context(state().opened(create=True))
        hx.xdb.start_session(session_id, **window)
        if row is not None:
            done.add(_text(hx, session_id, row))
        elif follow:
            _followed(hx, session_id, chain([first], rest), done)
        else:
            _piped(hx, session_id, chain(first, rest), done)
        if ends:
            hx.xdb.end_session(session_id=session_id)
    _show(session_id, done, ended=ends)


def _there(stack: ExitStack, session_id: str, window: dict[str, Any]) -> tuple[Hexad | None, bool]:
    """Open the store, if there is one; say too whether starting the session changes something: it is new, has ended,
    or is given another window.
    """  # fmt: skip
    try:
        hx = stack.enter_context(state().opened())
    except hexad.NotFound:
        return None, True
    running = {session.id for session in hx.xdb.sessions() if session.ended_at is None}
    return hx, session_id not in running or any(value is not None for value in window.values())


def _check(session_id: str, records: Sequence[Any], window: dict[str, Any], *, follow: bool) -> None:
    """Refuse what the store would refuse, before it is made or a session begun; with `follow` only the first line."""
    lines = [line for line in records if isinstance(line, bytes)]
    rows = InputRows(lines, lambda _: None)
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.xdb.start_session(session_id, **window)
        if not follow and records and not lines:
            _text(hx, session_id, records[0])
            return
        try:
            hx.xdb.record_many(rows, session_id=session_id)
        except _REFUSED as error:
            good = rows.good(str(error))
            if not (follow and any(line.strip() for line in lines[:good])):
                raise type(error)(rows.placed(str(error))) from error


def _row(text: str | None, options: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a TEXT is recorded as; None when there is none."""
    concepts: tuple[ConceptRange, ...] = options.pop("concepts")
    values = {name: value for name, value in options.items() if value is not None}
    if text is None:
        if values or concepts:
            raise click.UsageError("--type, --speaker, --event, --concept and --tokens go with a TEXT alone.")
        return None
    for concept in concepts:
        if concept.low is None or concept.high is not None:
            raise click.UsageError(f"--concept {concept.name!r} needs one score, such as {concept.name}:0.8.")
    activations = {concept.name: concept.low for concept in concepts}
    return {"event_type": "input", "content": text, "concept_activations": activations, **values}


def _text(hx: Hexad, session_id: str, row: dict[str, Any]) -> Sequence[str]:
    """Record a TEXT; what is refused is named as it was typed."""
    try:
        return hx.xdb.record_many([row], session_id=session_id)
    except _REFUSED as error:
        raise type(error)(str(error).removeprefix("Row 0: "), argument=error.argument) from error


class _Recorded:
    """How many timesteps were recorded, and the first and the last of them."""

    def __init__(self) -> None:
        self.number = 0
        self.first: str | None = None
        self.last: str | None = None

    def add(self, ids: Sequence[str]) -> None:
        if ids:
            self.number += len(ids)
            self.first, self.last = self.first or ids[0], ids[-1]


def _piped(hx: Hexad, session_id: str, lines: Iterable[bytes], done: _Recorded) -> None:
    """Record what is piped in when all of it is there."""
    with meter("Recording", clock=hx.clock, unit="timesteps") as advance:
        rows = InputRows(lines, advance)
        try:
            done.add(hx.xdb.record_many(rows, session_id=session_id))
        except _REFUSED as error:
            raise type(error)(rows.placed(str(error))) from error


def _followed(hx: Hexad, session_id: str, batches: Iterable[list[bytes]], done: _Recorded) -> None:
    """Record what is piped in as it comes; what was recorded before a line that cannot be stays."""
    before = 0
    with meter("Recording", clock=hx.clock, unit="timesteps") as advance:
        for lines in batches:
            rows = InputRows(lines, lambda number: advance(done.number + number), before=before)
            try:
                done.add(hx.xdb.record_many(rows, session_id=session_id))
            except _REFUSED as error:
                good = lines[: rows.good(str(error))]
                done.add(hx.xdb.record_many(InputRows(good, lambda _: None), session_id=session_id))
                remark = f"{count(done.number, 'timestep')} before it stay."
                raise type(error)(f"{rows.placed(str(error))} {remark}") from error
            before += len(lines)


def _show(session_id: str, done: _Recorded, *, ended: bool) -> None:
    show(
        {
            "session_id": session_id,
            "recorded": done.number,
            "first_id": done.first,
            "last_id": done.last,
            "ended": ended,
        },
        table=_show_lines(session_id, done),
    )


def _show_lines(session_id: str, done: _Recorded) -> Iterator[str]:
    text = f"{clean(session_id)}  {count(done.number, 'timestep')} recorded"
    if done.first is not None and done.last is not None:
        text += f"  {clean(done.first)}" + (f" … {clean(done.last)}" if done.first != done.last else "")
    yield text
