"""Definitions found in a source text, and how sections are laid over it so that every line has one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.text.chunking import LineIndex, Section

NESTING_LIMIT: Final = 8
"""Containers inside containers that become sections; what lies deeper is part of the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A named stretch of lines, counted from 0; `end` is the line after its last.

    `children` lie inside it, in order, and become sections of their own: the methods of a class.
    """

    name: str
    start: int
    end: int
    children: tuple[Definition, ...] = ()
    signature: str = ""


def lay_sections(text: str, definitions: Sequence[Definition], *, first_line: int = 1) -> tuple[Section, ...]:
    """Return sections that cover the text without overlap: the definitions, and what lies between them.

    What lies between stands without a heading, or under the name of the class that it belongs to. Lines that
    two definitions share go to the first.
    """
    layout = _Layout(LineIndex(text, first_line=first_line), first_line)
    layout.lay(definitions, 0, text.count("\n") + 1, heading="", prefix="")
    return tuple(layout.sections)


class _Layout:
    def __init__(self, index: LineIndex, first_line: int) -> None:
        self._index = index
        self._first_line = first_line
        self.sections: list[Section] = []

    def lay(
        self, definitions: Sequence[Definition], start: int, end: int, *, heading: str, prefix: str
    ) -> None:
        at = start
        for each in definitions:
            begin, stop = max(each.start, at), min(each.end, end)
            if begin >= stop:
                continue
            self._add(at, begin, heading)
            name = prefix + each.name
            if each.children:
                self.lay(each.children, begin, stop, heading=name + each.signature, prefix=name + ".")
            else:
                self._add(begin, stop, name + each.signature)
            at = stop
        self._add(at, end, heading)

    def _add(self, first: int, after: int, heading: str) -> None:
        start = self._index.start(self._first_line + first)
        end = self._index.start(self._first_line + after)
        if start < end:
            self.sections.append(self._index.section(start, end, heading))
