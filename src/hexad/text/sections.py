"""A part of a text that its reader knows as a unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A span of an item's text that its reader knows as a unit: a heading's body, a definition, a cell.

    Offsets are in characters, lines count from 1. Sections of one item do not overlap and are in order.
    `opens` says that a definition which holds others begins here, such as a class.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    heading: str = ""
    opens: bool = False
