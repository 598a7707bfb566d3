"""Definitions in languages with braces: from where they begin to the brace that closes them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.ingest.sources.formats.code_definitions import NESTING_LIMIT, Definition
from hexad.ingest.sources.formats.code_indented import LINE_LOOKED_AT, named
from hexad.ingest.sources.formats.code_languages import BraceLanguage

_ABOVE: Final = ("//", "/*", "*", "@", "#[", "#!", "[", "#")
"""What the lines directly above a definition begin with when they belong to it: comments and attributes."""
_BODY_WITHIN_LINES: Final = 20
"""Where the opening brace has to be; a declaration without a body ends before."""


@dataclass(frozen=True, slots=True)
class _Found:
    line: int
    depth: int
    name: str
    is_container: bool


def brace_definitions(text: str, language: BraceLanguage) -> list[Definition]:
    """Return the outermost definitions, and those directly inside of containers as their children."""
    lines = text.split("\n")
    depths, masked = _depths(text, language, len(lines))
    found = []
    for number, line in enumerate(lines):
        if masked[number] or not line or depths[number] < 0:
            continue
        head = line[:LINE_LOOKED_AT]
        match, is_container = language.containers.match(head), True
        if match is None:
            match, is_container = language.functions.match(head), False
        if match is None and depths[number] > 0 and language.members is not None:
            match = language.members.match(head)
        if match is not None:
            found.append(_Found(number, depths[number], named(match.groupdict()), is_container))
    return _Nesting(lines, depths, masked).within(found, 0, len(lines), depth=min(depths, default=0))


def _depths(text: str, language: BraceLanguage, lines: int) -> tuple[list[int], bytearray]:
    """Return for each line how deep in braces it begins, and whether it begins inside a string or comment."""
    tokens = re.compile(language.skipped.pattern + r"|[{}\n]", language.skipped.flags)
    depths = [0] * (lines + 1)
    masked = bytearray(lines + 1)
    line = depth = 0
    for match in tokens.finditer(text):
        token = match[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth = max(depth - 1, 0)  # one too many would push all that follows out of reach
        elif token == "\n":
            line += 1
            depths[line] = depth
        else:
            for _ in range(token.count("\n")):
                line += 1
                depths[line], masked[line] = depth, 1
    depths[lines] = 0
    return depths, masked


class _Nesting:
    def __init__(self, lines: Sequence[str], depths: Sequence[int], masked: Sequence[int]) -> None:
        self._lines = lines
        self._depths = depths
        self._masked = masked

    def within(
        self, found: Sequence[_Found], start: int, end: int, *, depth: int, level: int = NESTING_LIMIT
    ) -> list[Definition]:
        """Return the definitions at `depth` between two lines, each with what it contains."""
        candidates = [each for each in self._between(found, start, end) if each.depth == depth]
        definitions: list[Definition] = []
        at = start
        for number, each in enumerate(candidates):
            if each.line < at:
                continue
            limit = candidates[number + 1].line if number + 1 < len(candidates) else end
            stop = min(self._end(each, limit, end), end)
            inner = self._between(found, each.line + 1, stop) if each.is_container and level else []
            children = (
                self.within(inner, each.line + 1, stop, depth=depth + 1, level=level - 1) if inner else []
            )
            begin = max(self._with_comments(each.line, at), at)
            definitions.append(Definition(name=each.name, start=begin, end=stop, children=tuple(children)))
            at = stop
        return definitions

    @staticmethod
    def _between(found: Sequence[_Found], start: int, end: int) -> Sequence[_Found]:
        first = bisect_left(found, start, key=lambda each: each.line)
        return found[first : bisect_left(found, end, lo=first, key=lambda each: each.line)]

    def _end(self, definition: _Found, next_line: int, end: int) -> int:
        """Return the line after the definition's last: after its closing brace, or after its statement."""
        depth = definition.depth
        opened = False
        for line in range(definition.line + 1, end + 1):
            if self._depths[line] > depth:
                opened = True
            elif opened or "{" in self._lines[line - 1]:
                return line
            elif line >= next_line or line - definition.line > _BODY_WITHIN_LINES:
                return min(line, max(next_line, definition.line + 1))
            elif self._is_statement(self._lines[line - 1].rstrip()):
                return line
        return end

    @staticmethod
    def _is_statement(line: str) -> bool:
        return line.endswith(");") or (line.endswith((";", ",")) and "(" not in line)

    def _with_comments(self, line: int, floor: int) -> int:
        while line > floor and (self._masked[line] or self._lines[line - 1].lstrip().startswith(_ABOVE)):
            line -= 1
        return line
