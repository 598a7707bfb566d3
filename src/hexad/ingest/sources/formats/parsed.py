"""What a format's reader makes of a text: sections, and definitions that become sections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hexad.text.sections import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A text with its sections, and what it says about itself.

    `text` is what was handed in, but for formats whose markup is taken out (HTML, notebooks).
    """

    text: str
    sections: tuple[Section, ...] = ()
    title: str | None = None
    time: datetime | None = None
    tags: tuple[str, ...] = ()


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
