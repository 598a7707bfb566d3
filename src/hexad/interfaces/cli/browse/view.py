"""What the browser shows: a state becomes lines of spans, none wider than the terminal.

Nothing that a memory holds reaches the terminal as it is: `plain` leaves no character that could move the cursor,
turn the direction of writing or join others, so that each line is as wide as we think.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hexad.interfaces.cli.browse.model import RECORD_CHROME, SYNTAX, BrowserState, Line, Mode, Record
from hexad.interfaces.cli.output.render import clean_lines, clip, columns, count

TAB: Final = 4
MARKS_KEPT: Final = 3  # combining marks on one character; more would grow out of their line
_DATE: Final = 10
_KIND: Final = 9
_ALL: Final = "all spaces"

KEYS: Final = (
    ("↑ ↓ PgUp PgDn Home End", "move; j k g G as well"),
    ("Enter", "open the memory; Esc closes it, n and b go to the next and the one before"),
    ("/", f"filter while you type: {SYNTAX}"),
    ("Esc", "clear the filter"),
    ("s  S", "sort by the last change, creation, path, relevance, kind"),
    ("Tab", "the next space; Shift-Tab the one before"),
    ("p", "pin or unpin"),
    ("t", "edit the tags"),
    ("a", "archive, or bring an archived one back; u undoes the last"),
    ("r", "read the list again: what other processes wrote appears"),
    ("q", "quit"),
)


class StyledSpan(NamedTuple):
    """A part of a line and how it looks: plain, bold, dim, accent, bar, selected or error."""

    text: str
    style: str = "plain"


Row = tuple[StyledSpan, ...]


class Screen(NamedTuple):
    """The lines from top to bottom, and where the cursor is when something is being typed."""

    rows: list[Row]
    cursor: tuple[int, int] | None = None


def plain(text: str) -> str:
    """Return a text without what a terminal, or its way of placing characters, could be driven by.

    >>> plain("a\\x1b[2J\\u202eb\\u200dc")
    'a�[2J�bc'
    """
    if text.isascii() and text.isprintable():
        return text
    kept_chars: list[str] = []
    marks = 0
    for char in clean_lines(text):
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if category in ("Cf", "Zl", "Zp") or marks > MARKS_KEPT or 0xFE00 <= ord(char) <= 0xFE0F:
            continue
        kept_chars.append(char)
    return "".join(kept_chars)


def wrapped(text: str, room: int) -> list[str]:
    """Return a text in lines of at most `room` columns, broken at spaces where there are any.

    >>> wrapped("one two three", 7), wrapped("記憶の容れ物", 5)
    (['one two', 'three'], ['記憶', 'の容', 'れ物'])
    """
    room = max(2, room)
    return [
        line for part in plain(text).expandtabs(TAB).split("\n") for line in _broken(part.rstrip(), room)
    ] or [""]


def _broken(line: str, room: int) -> Iterator[str]:
    while columns(line) > room:
        end = _fitting(line, room)
        space = line.rfind(" ", 1, end + 1)
        if space > 0 and line[:space].strip():
            yield line[:space].rstrip()
            line = line[space + 1 :].lstrip()
        else:
            yield line[:end]
            line = line[end:]
    yield line


def _fitting(line: str, room: int) -> int:
    """Return how many characters of a line fit into `room` columns, at least one."""
    if line[:room].isascii():
        return room
    used = 0
    for at, char in enumerate(line):
        used += columns(char)
        if used > room and at:
            return at
    return len(line)


# The screens ------------------------------------------------------------------------------------------------------


def screen(state: BrowserState) -> Screen:
    """Return what a state looks like: as many lines as the terminal has, or fewer."""
    if state.mode is Mode.HELP:
        shown = Screen(_help(state))
    elif state.record is not None and Mode.RECORD in (state.mode, state.back):
        shown = _record(state, state.record)
    else:
        shown = _list(state)
    rows = [_fitted(row, state.width) for row in shown.rows[: state.height]]
    return Screen(rows, shown.cursor)


def _fitted(row: Row, room: int) -> Row:
    kept_spans: list[StyledSpan] = []
    for span in row:
        text = span.text if columns(span.text) <= room else clip(span.text, room) if room > 0 else ""
        room -= columns(text)
        kept_spans.append(StyledSpan(text, span.style))
    return tuple(kept_spans)


def _bar(left: str, right: str, width: int) -> Row:
    """A line across the whole width, something at each end; the right end goes first when there is no room."""
    gap = width - columns(left) - columns(right)
    if gap < 2:
        right, gap = "", max(0, width - columns(left))
    return (StyledSpan(left + " " * gap + right, "bar"),)


def _list(state: BrowserState) -> Screen:
    name = plain(state.space) if state.space is not None else _ALL
    shown = f"{min(state.cursor + 1, state.total):,} of {count(state.total, 'memory', 'memories')}"
    rows: list[Row] = [_bar(f" hexad  {name}", f"{shown}, by {_ORDER_NAMES[state.order]} ", state.width)]
    cursor = None
    if state.mode is Mode.FILTER:
        line, cursor = _typed(" filter: ", state.filter, row=1, width=state.width)
        rows.append(line)
    elif state.filter.text:
        rows.append((StyledSpan(" filter: "), StyledSpan(plain(state.filter.text), "bold")))
    else:
        rows.append((StyledSpan(" / filters: words kind: tag: path: status: is:pinned", "dim"),))
    rows.append((StyledSpan(_columns_of(state, "  changed", "kind", "space", "path", "summary"), "bold"),))
    rows.extend(_memories(state))
    rows.extend([()] * (state.height - 2 - len(rows)))
    foot, at = _foot(state)
    rows.append(foot)
    rows.append((StyledSpan(_keys(state), "dim"),))
    return Screen(rows, cursor if at is None else (state.height - 2, at))


_ORDER_NAMES: Final = {
    "updated": "last change",
    "created": "creation",
    "path": "path",
    "relevance": "relevance",
    "kind": "kind",
}


def _memories(state: BrowserState) -> Iterator[Row]:
    end = min(state.top + state.room, state.total)
    for number in range(state.top, end):
        at = number - state.loaded_from
        if not 0 <= at < len(state.rows):
            continue
        memory = state.rows[at]
        mark = "*" if memory.pinned else " " if memory.status.value == "active" else "-"
        time = memory.created_at if state.order == "created" else memory.updated_at
        text = _columns_of(
            state, f"{mark} {time:%Y-%m-%d}", memory.kind, memory.space, memory.path, memory.summary_micro
        )
        if number == state.cursor:
            yield (StyledSpan(text + " " * (state.width - columns(text)), "selected"),)
        else:
            yield (StyledSpan(text, "dim" if memory.status.value != "active" else "plain"),)
    if not state.total and not state.stale:
        what = "Nothing matches; Esc clears the filter." if state.filter.text else "There is no memory."
        yield (StyledSpan(f"  {what}", "dim"),)


def _columns_of(state: BrowserState, time: str, kind: str, space: str, path: str, summary: str) -> str:
    """Lay out a line of the list; path and summary share what the others leave."""
    cells = [(time, _DATE + 2), (kind, _KIND)]
    if state.space is None and len(state.spaces) > 1:
        cells.append((space, max(8, min(16, state.width // 8))))
    left = state.width - sum(room + 2 for _, room in cells) - 2
    if left < 24:
        cells.append((_ending(path, max(4, left + 2)), max(4, left + 2)))
    else:
        path_room = min(48, left * 45 // 100)
        cells.extend([(_ending(path, path_room), path_room), (summary, left - path_room)])
    return "  ".join(_cell(text, room) for text, room in cells).rstrip()


def _ending(path: str, room: int) -> str:
    """Return the end of a path that is too long: its last part says most."""
    path = plain(path)
    if columns(path) <= room:
        return path
    start = len(path) - room + 1
    while columns(path[start:]) > room - 1:
        start += 1
    return "…" + path[start:]


def _cell(text: str, room: int) -> str:
    text = clip(plain(text), room)
    return text + " " * (room - columns(text))


def _foot(state: BrowserState) -> tuple[Row, int | None]:
    """The line above the keys: what is typed, said, or known of the selected memory."""
    if state.mode is Mode.TAGS:
        return _typed(" tags: ", state.tags, row=0, width=state.width, accent=True)[0], _cursor_in(
            " tags: ", state.tags, state.width
        )
    if state.message:
        return (StyledSpan(f" {plain(state.message)}", "error" if state.is_error else "accent"),), None
    if (problem := state.wanted.problem) is not None:
        return (StyledSpan(f" {plain(problem)}", "error"),), None
    memory = state.selected
    if memory is None:
        return (), None
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    facts = [memory.id, memory.relevance.value]
    if memory.status.value != "active":
        facts.append(memory.status.value)
    return (StyledSpan(f" {plain('  '.join([*facts, tags]))}", "accent"),), None


def _typed(
    label: str, line: Line, *, row: int, width: int, accent: bool = False
) -> tuple[Row, tuple[int, int]]:
    """A line being typed, shifted so far that its cursor shows."""
    room = max(1, width - columns(label) - 1)
    text, start = line.text, 0
    while columns(plain(text[start : line.at])) > room:
        start += 1
    end = start + _fitting(text[start:], room) if columns(text[start:]) > room else len(text)
    at = columns(label) + columns(plain(text[start : line.at]))
    style = "accent" if accent else "bold"
    return (StyledSpan(label, style), StyledSpan(plain(text[start:end]))), (row, at)


def _cursor_in(label: str, line: Line, width: int) -> int:
    return _typed(label, line, row=0, width=width)[1][1]


def _keys(state: BrowserState) -> str:
    match state.mode:
        case Mode.FILTER:
            hints = ["Enter keeps it", "Esc clears it", SYNTAX]
        case Mode.TAGS:
            hints = ["Enter keeps these tags", "Esc leaves them as they were"]
        case Mode.RECORD:
            hints = ["Esc back", "? keys", "n next", "b before", "p pin", "t tags", "a archive", "↑ ↓ scroll"]
        case _:
            hints = ["Enter open", "q quit", "? keys", "/ filter", "s sort", "p pin", "t tags", "a archive"]
            hints += ["Tab space", "r refresh"]
    if state.archived is not None:
        hints.insert(2, "u undo")
    return " " + "  ".join(
        hint for at, hint in enumerate(hints) if len("  ".join(hints[: at + 1])) < state.width
    )


def _help(state: BrowserState) -> list[Row]:
    rows: list[Row] = [_bar(" hexad  keys", "any key goes back ", state.width), ()]
    names = max(columns(keys) for keys, _ in KEYS)
    for keys, meaning in KEYS:
        first, *rest = wrapped(meaning, state.width - names - 4)
        rows.append(
            (StyledSpan("  " + keys + " " * (names - columns(keys)), "bold"), StyledSpan(f"  {first}"))
        )
        rows.extend((StyledSpan(" " * (names + 4) + line),) for line in rest)
    return rows


# An open record -----------------------------------------------------------------------------------------------------


def _record(state: BrowserState, record: Record) -> Screen:
    memory = record.memory
    body = record_rows(record, state.width)
    room = max(1, state.height - RECORD_CHROME)
    last = min(state.scroll + room, len(body))
    where = f"line {state.scroll + 1:,} to {last:,} of {len(body):,} "
    rows: list[Row] = [_bar(f" {plain(memory.path)}", where if len(body) > room else "", state.width)]
    rows.extend(body[state.scroll : last])
    rows.extend([()] * (state.height - 2 - len(rows)))
    foot, at = _foot(state)
    rows.append(foot)
    rows.append((StyledSpan(_keys(state), "dim"),))
    return Screen(rows, None if at is None else (state.height - 2, at))


def record_height(state: BrowserState) -> int:
    """Return how many lines the open record has at this width; 0 when none is open."""
    return len(record_rows(state.record, state.width)) if state.record is not None else 0


@lru_cache(maxsize=1)
def record_rows(record: Record, width: int) -> Sequence[Row]:
    """Return a whole record as lines: its text, its fields, what it said before, near-duplicates, links.

    The last one is kept: a text of a megabyte is wrapped once, not at every key.
    """
    memory = record.memory
    rows: list[Row] = [()]
    rows.extend((StyledSpan(f" {line}"),) for line in wrapped(memory.raw, width - 2))
    rows.append(())
    fields = list(_fields(record))
    names = max(columns(name) for name, _ in fields)
    for name, value in fields:
        first, *rest = wrapped(value, width - names - 4)
        rows.append((StyledSpan(f" {name}{' ' * (names - columns(name))}  ", "accent"), StyledSpan(first)))
        rows.extend((StyledSpan(" " * (names + 3) + line),) for line in rest)
    for number, version in enumerate(reversed(record.history)):
        if not number:
            rows.extend([(), (StyledSpan(" What it said before", "bold"),)])
        head = f" version {version['version']}, until {version['replaced_at']}"
        rows.extend([(), (StyledSpan(head, "accent"),)])
        rows.extend((StyledSpan(f" {line}"),) for line in wrapped(str(version["raw"]), width - 2))
    if record.near:
        rows.extend([(), (StyledSpan(" Near-duplicates", "bold"),)])
        rows.extend((StyledSpan(f" {plain(other)}  {similarity:.2f}"),) for other, similarity in record.near)
    if record.links:
        rows.extend([(), (StyledSpan(" Linked", "bold"),)])
    for link in record.links:
        to = link.source.id == memory.id
        other = link.target if to else link.source
        rows.append((StyledSpan(plain(f" {'to' if to else 'from'} {other.space}:{other.path}"), "accent"),))
        sure = "" if link.confidence is None else f" ({link.reason}, {link.confidence:.2f})"
        text = f"{link.kind}{sure}  {other.id}  {other.summary_micro}"
        rows.extend((StyledSpan(f"   {line}"),) for line in wrapped(text, width - 4))
    return rows


def _fields(record: Record) -> Iterator[tuple[str, str]]:
    fields = record.memory.to_dict()
    for name, value in fields.items():
        if name in ("raw", "chunks") or value is None or value in ([], {}, ""):
            continue
        if name in ("summary_micro", "summary_short", "summary_long") and value == fields["raw"]:
            continue
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield "chunks", f"{len(record.memory.chunks):,}"
