"""Definitions in languages without braces: each goes on to the next that is indented no deeper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.ingest.sources.formats.code_definitions import NESTING_LIMIT, Definition
from hexad.ingest.sources.formats.code_languages import FlatLanguage

LINE_LOOKED_AT: Final = 400
"""A definition shows at the beginning of its line; minified lines are not searched to their end."""


def flat_definitions(text: str, language: FlatLanguage) -> list[Definition]:
    """Return the outermost definitions, and those directly inside of containers as their children."""
    lines = text.split("\n")
    found: list[tuple[int, int, str, bool]] = []
    for number, line in enumerate(lines):
        head = line[:LINE_LOOKED_AT]
        if match := language.definitions.match(head):
            is_container = language.containers is not None and language.containers.match(head) is not None
            found.append((number, len(line) - len(line.lstrip()), named(match.groupdict()), is_container))
    starts = [_with_comments(lines, number, language.comment) for number, *_ in found]
    return _nested(found, starts, range(len(found)), len(lines), NESTING_LIMIT)


def named(groups: dict[str, str | None]) -> str:
    """Return the name that a definition's pattern caught, whichever of its groups did."""
    receiver = groups.pop("receiver", None)
    name = next((value.strip() for value in groups.values() if value), "")
    return f"{receiver}.{name}" if receiver else name


def _with_comments(lines: Sequence[str], number: int, comment: str) -> int:
    while number > 0 and lines[number - 1].lstrip().startswith((comment, "@")):
        number -= 1
    return number


def _nested(
    found: Sequence[tuple[int, int, str, bool]], starts: Sequence[int], span: range, end: int, level: int
) -> list[Definition]:
    """Return those of `found` in `span` that lie in no other, with what the containers contain."""
    definitions = []
    at = span.start
    while at < span.stop:
        _, indent, name, is_container = found[at]
        following = at + 1
        while following < span.stop and found[following][1] > indent:
            following += 1
        stop = starts[following] if following < span.stop else end
        inner = range(at + 1, following if is_container and level else at + 1)
        children = _nested(found, starts, inner, stop, level - 1)
        definitions.append(Definition(name=name, start=starts[at], end=stop, children=tuple(children)))
        at = following
    return definitions
