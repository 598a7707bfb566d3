"""Records as text for people: the same words on a terminal and in a pipe, colours only where they show."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Final

import click

from hexad.core.as_json import plain
from hexad.core.prompt_fence import revealed
from hexad.interfaces.cli.app.base import note, on_terminal, print_json, state

if TYPE_CHECKING:
    from hexad import Explanation, Hit, Memory, Redactions

EXCERPT_LINES: Final = 6
PIPE_WIDTH: Final = 100
_GAP: Final = "  "
_PLACE: Final = "\0"  # in no text that is clean
_PADDED_MOST: Final = 80
"""So wide a column gets where nothing is clipped: a path of thousands of characters would push all others away."""
_NARROWEST: Final = 8
_WIDE_ENOUGH: Final = 110
_WIDEST: Final = 120
_VERBATIM: Final = frozenset({"code", "config", "log"})
"""Kinds whose line breaks mean something; all other texts are wrapped."""
_PROSE: Final = frozenset({"markdown", "rst", "asciidoc", "html"})
"""Languages that are wrapped whatever the kind: a changelog is a log, and Markdown."""
_BLOCK: Final = re.compile(r"\s*(?:[-*+>#|]|\d+[.)]|`{3}|~{3})")
"""How a line of prose starts that is not the continuation of the line before: a list, a heading, a table."""


def show(value: object, *, table: str | Iterable[str], tells: bool = False) -> None:
    """Print what a command answers: with --json the value, else the lines of `table`.

    A `table` that is a generator does nothing with --json; it may write notes between its lines. What was taken out of
    the texts that were typed is said after it, and in an object of JSON, unless the answer `tells` it by itself.
    """
    taken = None if tells else state().taken_out
    if state().json:
        written = plain(value)
        if taken and isinstance(written, dict):
            print_json({**written, "redacted": taken.total})
        else:
            print_json(written)
            _note_taken_out(taken)
        return
    for line in [table] if isinstance(table, str) else table:
        click.echo(line)
    _note_taken_out(taken)


def _note_taken_out(taken: Redactions | None) -> None:
    if taken:
        rules = ", ".join(f"{rule} ×{number}" for rule, number in taken.items())
        note(f"{_counted(taken.total - taken.personal, taken.personal)} taken out: {rules}")


def width() -> int:
    """Return how many columns a line of ours may have."""
    return min(get_terminal_size((PIPE_WIDTH, 24)).columns, _WIDEST) if on_terminal() else PIPE_WIDTH


_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Return a text on one line, without control characters: what a memory holds must not steer the terminal, hide on
    it, or begin a line that passes for one of the command.

    >>> clean("red\\x1b[31m al\\u200bert\\n1  mem_01")
    'red�[31m alert 1  mem_01'
    """
    return clean_lines(text).replace("\n", " ")


def clean_lines(text: str) -> str:
    """Return a text without control characters, its lines as they are: each is printed behind an indent or a bar."""
    if text.isascii() and text.isprintable():
        return text
    if not text.isprintable():
        text = "".join(char if char in "\n\t" or not _steers(char) else "�" for char in text)
    return text if text.isascii() else revealed(text)


def _steers(char: str) -> bool:
    """Whether a character would steer a terminal: controls, and what turns the direction of writing."""
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _TURNING


def columns(text: str) -> int:
    """Return how many columns of a terminal a text fills."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(char) for char in text)


def _columns_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, room: int) -> str:
    """Return one line of at most `room` columns; what does not fit ends in `…`.

    >>> clip("a long line", 6)
    'a lon…'
    """
    line = clean(text).replace("\t", "    ")
    if columns(line) <= room:
        return line
    kept_chars, used = [], 1
    for char in line:
        used += _columns_of(char)
        if used > room:
            break
        kept_chars.append(char)
    return "".join(kept_chars).rstrip() + "…"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "memory", "memories"), count(1200, "item")
    ('1 memory', '1,200 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: int) -> str:
    """Return a number of bytes for people.

    >>> size(512), size(15_400_000)
    ('512 B', '14.7 MiB')
    """
    amount = float(number)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def taken_out(redacted: int, flags: object) -> str:
    """Say how much was taken out of a memory's fields: secrets, and personal data, which are none.

    `flags` are the memory's `pii_flags`.

    >>> taken_out(3, [{"rule": "email", "kind": "pii", "hash": "…", "count": 2}])
    '1 secret and 2 personal data'
    """
    listed = flags if isinstance(flags, Sequence) and not isinstance(flags, str) else ()
    counts = [flag.get("count") for flag in listed if isinstance(flag, Mapping) and flag.get("kind") == "pii"]
    personal = min(redacted, sum(number for number in counts if isinstance(number, int)))
    return _counted(redacted - personal, personal)


def _counted(secrets: int, personal: int) -> str:
    parts = []
    if secrets:
        parts.append(count(secrets, "secret"))
    if personal:
        parts.append(count(personal, "personal datum", "personal data"))
    return " and ".join(parts)


# Hits -------------------------------------------------------------------------------------------------------


def hit_lines(
    number: int,
    hit: Hit,
    *,
    query: str,
    explain: bool,
    room: int,
    lines: int = EXCERPT_LINES,
    dated: bool = False,
) -> Iterator[str]:
    """Give the lines of one hit: where, what it is, the text that answers, and why."""
    memory = hit.memory
    yield f"{number:>2}. {click.style(clip(hit.location, room - 4), bold=True)}"
    facts = [f"relevance {hit.relevance:.2f}", memory.kind, hit.layer, memory.id]
    if memory.space != "default":
        facts.insert(0, f"space {memory.space}")
    if dated:
        facts.insert(0, f"{memory.valid_from or memory.created_at:%Y-%m-%d %H:%M}")
    if memory.pinned:
        facts.append("pinned")
    if hit.instruction_like:
        facts += [f"trust: {memory.trust}", "reads as instructions"]
    yield f"    {click.style(clean(' · '.join(facts)), fg='cyan')}"
    verbatim = memory.kind in _VERBATIM and memory.metadata.get("language") not in _PROSE
    for line in excerpt(hit.text, query=query, room=room - 6, verbatim=verbatim, limit=lines):
        yield f"    {click.style('│', dim=True)} {line}"
    if hit.replaced is not None:
        until = f"{hit.replaced.valid_to:%Y-%m-%d}"
        yield from hanging(f"replaces, until {until}: {hit.replaced.text}", indent=4, room=room)
    if hit.superseded_by is not None:
        words = str(hit.superseded_by)
        if explain:
            words += f" (reason: {hit.superseded_by.reason}, confidence {hit.superseded_by.confidence:.2f})"
        yield from (click.style(line, fg="yellow") for line in hanging(words, indent=4, room=room))
    if hit.assertion is not None:
        words = _ASSERTIONS.get(hit.assertion, hit.assertion)
        yield from (click.style(line, fg="yellow") for line in hanging(words, indent=4, room=room))
    for checked in hit.citations:
        words = str(checked)
        yield from (
            click.style(line, fg="yellow") if checked.stale else line
            for line in hanging(words, indent=4, room=room)
        )
    if explain:
        parts = " + ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
        yield from hanging(f"score: {parts or '0'} = {hit.score:.3f}", indent=4, room=room)
        for reason in hit.why:
            yield from hanging(f"why: {reason}", indent=4, room=room)


_ASSERTIONS: Final = {
    "former": "says what was, not what is",
    "possible": "says what may be, not what is",
}


def excerpt(text: str, *, query: str, room: int, verbatim: bool, limit: int = EXCERPT_LINES) -> list[str]:
    """Return at most `limit` lines of a text: those around the words that were asked for."""
    lines = _verbatim(text) if verbatim else _wrapped(text, room)
    start, end = _trimmed(lines, 0, len(lines))
    if end - start > limit:
        start += _best_window(lines[start:end], query, limit)
        window = _trimmed(lines, start, start + limit)
        before, after = any(map(str.strip, lines[: window[0]])), any(map(str.strip, lines[window[1] :]))
        lines = lines[window[0] : window[1]]
        lines[0] = ("… " if before else "") + (lines[0].lstrip() if before else lines[0])
        if after:
            lines[-1] = clip(lines[-1], room - 2) + " …"
    else:
        lines = lines[start:end]
    return [clip(line, room) for line in lines]


def _verbatim(text: str) -> list[str]:
    return textwrap.dedent(clean_lines(text).expandtabs(4)).splitlines()


def _wrapped(text: str, room: int) -> list[str]:
    """Return prose wrapped to `room`, without blank lines: what belongs to one paragraph flows together."""
    paragraphs: list[str] = []
    open_ = False
    for line in clean_lines(text).splitlines():
        apart = not line.strip() or _BLOCK.match(line) is not None
        if open_ and not apart:
            paragraphs[-1] += " " + line.strip()
        else:
            paragraphs.append(line.rstrip())
        open_ = bool(line.strip()) and not line.startswith(("#", "|"))
    return [line for part in paragraphs for line in textwrap.wrap(part, room)]


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return the range without the blank lines at its ends."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _best_window(lines: Sequence[str], query: str, limit: int) -> int:
    """Return where the window of `limit` lines starts that names the most of the query's words."""
    words = {word[:5] for word in query.casefold().split() if len(word) > 3}
    named = [frozenset(word for word in words if word in line.casefold()) for line in lines]
    best, most = 0, 0
    for start in range(len(lines) - limit + 1):
        count = len(frozenset().union(*named[start : start + limit]))
        if count > most:
            best, most = start, count
    return best


def hanging(text: str, *, indent: int, room: int) -> list[str]:
    """Return a text wrapped under an indent, the following lines two columns further in.

    >>> hanging("データベースのログ", indent=0, room=11)
    ['データベー', '  スのログ']
    """
    text = clean(text)
    if columns(text) > len(text):
        # Who fills two columns is given a place more, which in the worst case is left behind at the end of a line.
        text = "".join(_PLACE * (_columns_of(char) - 1) + char for char in text)
        room -= 1
    lines = textwrap.wrap(text, room, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
    return [line.replace(_PLACE, "") for line in lines]


def fitted(text: str) -> Iterator[str]:
    """Give the lines of a text, on a terminal those that are too wide wrapped under their own indent."""
    for line in text.split("\n"):
        if not on_terminal() or columns(line) <= width():
            yield line
        else:
            bare = line.lstrip(" ")
            yield from hanging(bare, indent=len(line) - len(bare), room=width())


def explanation_lines(explanation: Explanation, *, room: int) -> Iterator[str]:
    """Give what a recall understood and considered."""
    yield from hanging(f"understood: {', '.join(explanation.terms) or 'no terms'}", indent=0, room=room)
    if explanation.ignored_terms:
        yield from hanging(f"ignored: {', '.join(explanation.ignored_terms)}", indent=0, room=room)
    if explanation.speakers:
        yield from hanging(f"speakers: {', '.join(explanation.speakers)}", indent=0, room=room)
    arms = ", ".join(f"{name} {number:,}" for name, number in explanation.arms.items())
    yield from hanging(f"candidates: {arms or 'none'}", indent=0, room=room)
    times = ", ".join(f"{name} {value:.1f}" for name, value in explanation.timings_ms.items())
    yield from hanging(f"milliseconds: {times}", indent=0, room=room)


# Memories ---------------------------------------------------------------------------------------------------


def table(
    rows: Sequence[Sequence[str]],
    *,
    heads: Sequence[str],
    room: int | None,
    whole: Collection[str] = (),
) -> list[str]:
    """Return rows as aligned lines of at most `room` columns; None clips nothing, for those who read a pipe.

    What does not fit is clipped in the widest columns first, in those that `whole` names only when no other has any
    room to give.
    """
    widths = [max(_width(row[at], room) for row in [heads, *rows]) for at in range(len(heads))]
    excess = 0 if room is None else sum(widths) + len(_GAP) * (len(widths) - 1) - room
    others = [head for head in heads if head not in whole]
    for named in (others, whole):
        flexible = [at for at, head in enumerate(heads) if head in named]
        while excess > 0 and flexible and max(widths[at] for at in flexible) > _NARROWEST:
            widths[max(flexible, key=widths.__getitem__)] -= 1
            excess -= 1
    lines = [
        _GAP.join(
            _pad(clip(cell, width if room is not None else sys.maxsize), width)
            for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in [heads, *rows]
    ]
    lines[0] = click.style(lines[0], bold=True)
    return lines


def fits(rows: Sequence[Sequence[str]], *, heads: Sequence[str], room: int | None) -> bool:
    """Whether a table shows all of its cells in `room` columns; None has room for all."""
    widths = (max(columns(clean(row[at])) for row in [heads, *rows]) for at in range(len(heads)))
    return room is None or sum(widths) + len(_GAP) * (len(heads) - 1) <= room


def _width(cell: str, room: int | None) -> int:
    """Return how wide a cell wants its column; where nothing is clipped, a long one goes over it instead."""
    width = columns(clean(cell))
    return width if room is not None or width <= _PADDED_MOST else 0


def table_room() -> int | None:
    """Return how wide a table may be: a terminal's width, or as wide as it is in a pipe."""
    return width() if on_terminal() else None


def _pad(text: str, room: int) -> str:
    return text + " " * (room - columns(text))


def memory_table(memories: Sequence[Memory], *, room: int | None, status: bool = False) -> list[str]:
    """Return memories as a table; on a narrow terminal path and summary take a line of their own."""
    narrow = room is not None and room < _WIDE_ENOUGH
    heads = ["id", "space", "kind", *(["status"] if status else []), "updated", "pin", "path", "summary"]
    rows = [
        [
            memory.id,
            memory.space,
            memory.kind,
            *([memory.status.value] if status else []),
            f"{memory.updated_at:%Y-%m-%d}",
            "*" if memory.pinned else "",
            memory.path,
            memory.summary_micro,
        ]
        for memory in memories
    ]
    whole = ("id", "status", "updated", "pin")
    if not narrow or room is None:
        return table(rows, heads=heads, room=room, whole=whole)
    lines = table([row[:-2] for row in rows], heads=heads[:-2], room=room, whole=whole)
    under = [clip(f"    {row[-2]} – {row[-1]}", room) for row in rows]
    return [lines[0], *(line for pair in zip(lines[1:], under, strict=True) for line in pair)]


def memory_lines(memory: Memory, *, room: int) -> Iterator[str]:
    """Give a whole record: its fields by name, then its text as it is stored."""
    fields = memory.to_dict()
    raw = str(fields.pop("raw"))
    fields.pop("chunks")
    names = max(len(name) for name in fields)
    for name, value in fields.items():
        if value is None or value in ([], {}, ""):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = textwrap.wrap(clean(text), max(20, room - names - 2)) or [""]
        yield f"{click.style(name.ljust(names), fg='cyan')}  {first}"
        yield from (" " * (names + 2) + line for line in rest)
    yield ""
    yield from quoted_lines(raw)


def quoted_lines(text: str) -> Iterator[str]:
    """Give the lines of a text that somebody wrote, each behind a bar, so that none reads as a line of the command."""
    for line in clean_lines(text).removesuffix("\n").split("\n"):
        yield f"{click.style('│', dim=True)} {line}"


def own_lines(text: str) -> Iterator[str]:
    """Give the lines of a text that is all of an answer: as they are for a program, behind a bar on a terminal, where
    what is said of it stands among them.
    """  # fmt: skip
    if on_terminal():
        yield from quoted_lines(text)
    else:
        yield clean_lines(text).removesuffix("\n")
