"""`hexad xdb record`: what a shell's own agent read, wrote and did."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

import hexad
from hexad.interfaces.cli.base import Command, print_json, state
from hexad.interfaces.cli.completing import concept_ids
from hexad.interfaces.cli.progress import meter
from hexad.interfaces.cli.render import clean, count
from hexad.interfaces.cli.xdb_options import CONCEPT, ConceptRange, session_option

if TYPE_CHECKING:
    from hexad import Hexad

_TYPES: Final = [one.value for one in hexad.EventType]
_LINE_BYTES_LIMIT: Final = 8 << 20
"""Longest line that is read: a content has 1 MiB at most, and JSON may need six bytes for one."""
_SHOWN: Final = 80
_ROW: Final = re.compile(r"Row ([\d,]+): ")
"""How `record_many` begins what it says of one row, counted from 0."""


@click.command(cls=Command)
@click.argument("text", required=False)
@session_option("Record to this session; begun when new, else gone on with.", required=True)
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
    "--tokens", "token_count", type=int, help="With TEXT: how many tokens it counts for; default: 1."
)
@click.option("--max-context-tokens", type=int, help="How large the session's context window is.")
@click.option(
    "--compaction/--no-compaction",
    default=None,
    help="Whether the session compacts by itself when its window is full; default: as it was, at first yes.",
)
@click.option("--end", "ends", is_flag=True, help="End the session afterwards.")
def record(
    *,
    text: str | None,
    session_id: str,
    max_context_tokens: int | None,
    compaction: bool | None,
    ends: bool,
    **options: Any,
) -> None:
    """Record experience: TEXT, or JSON lines from stdin.

    A line is an object with event_type, content and, if you like, concept_activations, event_id, event_start,
    event_end, token_id, role, token_count and timestamp. Makes a store where there is none. When it returns, all is on
    the disk. A line that cannot be used is named, and nothing is recorded: of more than 64 MiB, nothing from there on.
    """
    row = _row(text, options)
    if row is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to record: give a TEXT, or pipe JSON lines in.")
    with state().opened(create=True) as hx:
        hx.xdb.start_session(session_id, max_context_tokens, compaction=compaction)
        ids = hx.xdb.record_many([row], session_id=session_id) if row is not None else _piped(hx, session_id)
        if ends:
            hx.xdb.end_session(session_id=session_id)
    _show(session_id, ids, ended=ends)


def _row(text: str | None, options: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a TEXT is recorded as; None when there is none."""
    concepts: tuple[ConceptRange, ...] = options.pop("concepts")
    given = {name: value for name, value in options.items() if value is not None}
    if text is None:
        if given or concepts:
            raise click.UsageError("--type, --speaker, --event, --concept and --tokens go with a TEXT alone.")
        return None
    for one in concepts:
        if one.low is None or one.high is not None:
            raise click.UsageError(f"--concept {one.name!r} needs one score, such as {one.name}:0.8.")
    activations = {one.name: one.low for one in concepts}
    return {"event_type": "input", "content": text, "concept_activations": activations, **given}


def _piped(hx: Hexad, session_id: str) -> list[str]:
    with meter("Recording", clock=hx.clock, unit="timesteps") as show:
        lines = _Lines(sys.stdin.buffer, show)
        try:
            return hx.xdb.record_many(lines, session_id=session_id)
        except (hexad.InvalidInput, hexad.LimitExceeded) as error:
            raise type(error)(lines.placed(str(error))) from error


class _Lines:
    """The rows of a stream of JSON lines."""

    def __init__(self, stream: BinaryIO, show: Callable[[int], None]) -> None:
        self._stream, self._show = stream, show
        self._read = 0
        self._blank: list[int] = []  # for each blank line how many rows came before it

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        rows = 0
        while line := self._stream.readline(_LINE_BYTES_LIMIT + 1):
            self._read += 1
            if len(line) > _LINE_BYTES_LIMIT:
                raise hexad.LimitExceeded(
                    f"It has more than {_LINE_BYTES_LIMIT:,} bytes; record it in parts."
                )
            if not line.strip():
                self._blank.append(rows)
                continue
            yield _parsed(line)
            rows += 1
            self._show(rows)

    def placed(self, message: str) -> str:
        """Return what was refused with the number of its line: rows are read ahead, and blank lines are none."""
        found = _ROW.match(message)
        if found is None:
            return f"Line {self._read:,}: {message}"
        row = int(found[1].replace(",", ""))
        line = row + 1 + sum(before <= row for before in self._blank)
        return f"Line {line:,}: {message[found.end() :]}"


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


def _show(session_id: str, ids: list[str], *, ended: bool) -> None:
    first, last = (ids[0], ids[-1]) if ids else (None, None)
    if state().json:
        print_json(
            {
                "session_id": session_id,
                "recorded": len(ids),
                "first_id": first,
                "last_id": last,
                "ended": ended,
            }
        )
        return
    told = f"{clean(session_id)}  {count(len(ids), 'timestep')} recorded"
    if first is not None and last is not None:
        told += f"  {clean(first)}" if first == last else f"  {clean(first)} … {clean(last)}"
    click.echo(told)
