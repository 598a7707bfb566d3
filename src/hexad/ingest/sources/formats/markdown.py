"""Markdown, reStructuredText and AsciiDoc: sections by headings, each under its trail of headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.ingest.sources.formats.frontmatter import read_front_matter
from hexad.ingest.sources.formats.parsed import Parsed
from hexad.text.chunking import LineIndex
from hexad.text.literals import TRAIL
from hexad.text.normalize import clean
from hexad.text.sections import Section

_HEADING_LIMIT: Final = 120
_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_LINK: Final = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_ATTRIBUTES: Final = re.compile(r"\{[^{}]{0,100}\}$")
_NO_PARAGRAPH: Final = re.compile(r"(?:    |\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}(?:[ \t]|$)))")
_RST_ADORNMENT: Final = re.compile(r"([=\-~^\"'`#*+.:_<>!$%&(),/;?@\[\]\\{|}])\1{2,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading: the line (from 0) where its section begins, its depth, its words."""

    line: int
    level: int
    text: str


def parse_markdown(text: str, *, first_line: int = 1) -> Parsed:
    """Return the sections of a Markdown text, and what its front matter says.

    A section goes from its heading (`#` or underlined) to the next one; what stands before the first has no
    heading. Lines in fenced code and in comments are never headings. An unclosed fence goes to the end.
    """
    lines = text.split("\n")
    front = read_front_matter(lines) if first_line == 1 else None
    begin = front.lines if front is not None else 0
    headings = list(_markdown_headings(lines, begin))
    title = front.title if front is not None else None
    return Parsed(
        text=text,
        sections=_sections(text, headings, first_line=first_line),
        title=title or next((heading.text for heading in headings if heading.level == 1), None),
        time=front.time if front is not None else None,
        tags=front.tags if front is not None else (),
    )


def parse_rst(text: str, *, first_line: int = 1) -> Parsed:
    """Return the sections of a reStructuredText: titles are underlined, depths as they come up."""
    headings = list(_rst_headings(text.split("\n")))
    return _by_headings(text, headings, first_line=first_line)


def parse_asciidoc(text: str, *, first_line: int = 1) -> Parsed:
    """Return the sections of an AsciiDoc text: titles begin with `=`, listings between `----` hold none."""
    headings: list[_Heading] = []
    fence = ""
    for number, line in enumerate(text.split("\n")):
        bare = line.rstrip()
        if fence or bare in ("----", "....", "////", "```", "++++"):
            fence = ("" if bare == fence else fence) if fence else bare
            continue
        marks = len(bare) - len(bare.lstrip("="))
        if 1 <= marks <= 6 and bare[marks : marks + 1] == " " and bare[marks:].strip():
            headings.append(_Heading(number, marks, _plain(bare[marks:])))
    return _by_headings(text, headings, first_line=first_line)


def _by_headings(text: str, headings: Sequence[_Heading], *, first_line: int) -> Parsed:
    return Parsed(
        text=text,
        sections=_sections(text, headings, first_line=first_line),
        title=headings[0].text if headings else None,
    )


def _sections(text: str, headings: Sequence[_Heading], *, first_line: int) -> tuple[Section, ...]:
    index = LineIndex(text, first_line=first_line)
    starts = [index.start(first_line + heading.line) for heading in headings]
    sections = []
    if text and (not starts or starts[0] > 0):
        sections.append(index.section(0, starts[0] if starts else len(text)))
    trail: list[_Heading] = []
    for heading, start, end in zip(headings, starts, [*starts, len(text)][1:], strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        trail.append(heading)
        if start < end:
            sections.append(index.section(start, end, TRAIL.join(each.text for each in trail if each.text)))
    return tuple(sections)


def _markdown_headings(lines: Sequence[str], begin: int) -> Iterator[_Heading]:
    fence = ""
    in_comment = False
    paragraph: int | None = None  # the line where the paragraph above began
    for number in range(begin, len(lines)):
        line = lines[number]
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        if in_comment or line.lstrip().startswith("<!--"):
            in_comment = "-->" not in line
            paragraph = None
            continue
        if fence := _opened_fence(line):
            paragraph = None
            continue
        if (level := _atx_level(line)) is not None:
            yield _Heading(number, level, _plain(line.strip().lstrip("#").strip()))
            paragraph = None
        elif paragraph is not None and (level := _underline_level(line)) is not None:
            words = " ".join(each.strip() for each in lines[paragraph:number])
            yield _Heading(paragraph, level, _plain(words))
            paragraph = None
        elif not line.strip() or (paragraph is None and _NO_PARAGRAPH.match(line)):
            paragraph = None
        elif paragraph is None:
            previous = lines[number - 1] if number > begin else ""
            # The rest of a list's item or a quotation is no paragraph that could be underlined.
            paragraph = None if previous.strip() and _NO_PARAGRAPH.match(previous) else number


def _opened_fence(line: str) -> str:
    opening = _FENCE.match(line)
    # A back-tick fence has no back-tick behind it: that would be code within a line.
    if opening is None or (opening[1][0] == "`" and "`" in line[opening.end() :]):
        return ""
    return opening[1]


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _atx_level(line: str) -> int | None:
    bare = line.lstrip(" ")
    if len(line) - len(bare) > 3 or not bare.startswith("#"):
        return None
    level = len(bare) - len(bare.lstrip("#"))
    return level if level <= 6 and bare[level : level + 1] in ("", " ", "\t") else None


def _underline_level(line: str) -> int | None:
    bare = line.strip()
    if not bare or bare[0] not in "=-" or bare != bare[0] * len(bare) or line.startswith(("    ", "\t")):
        return None
    return 1 if bare[0] == "=" else 2


def _rst_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    styles: list[tuple[str, bool]] = []
    number = 0
    while number < len(lines) - 1:
        title, below = lines[number].rstrip(), lines[number + 1]
        above = lines[number - 1] if number else ""
        adorned = _RST_ADORNMENT.match(below)
        overlined = bool(above.strip()) and above.strip() == below.strip()
        # Only a title with a line above may be indented.
        is_title = bool(title) and not _RST_ADORNMENT.match(title) and (overlined or not title[0].isspace())
        stands_free = overlined or not above.strip()
        if not (adorned and is_title and stands_free) or len(below.strip()) < min(len(title.strip()), 4):
            number += 1
            continue
        style = (adorned[1], overlined)
        if style not in styles:
            styles.append(style)
        yield _Heading(number - overlined, styles.index(style) + 1, _plain(title.strip()))
        number += 2


def _plain(heading: str) -> str:
    """Return a heading's words without their markup."""
    words = heading.strip()
    if words.endswith("#") and (closed := words.rstrip("#")).endswith((" ", "\t")):
        words = closed.rstrip()
    words = _ATTRIBUTES.sub("", words[: 4 * _HEADING_LIMIT])
    words = _LINK.sub(r"\1", words).replace("`", "").replace("**", "").replace("__", "")
    return " ".join(words.split())[:_HEADING_LIMIT]


def parse_notebook(text: str) -> Parsed:
    """Return the cells' sources with a blank line between them; the text itself when it is no notebook.

    Outputs are results, not sources: they change with every run and often hold pictures. Line numbers count
    in the text that is returned.
    """
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return Parsed(text=text)
    cells = list(_cells(notebook))
    if not cells:
        return Parsed(text="" if isinstance(notebook, dict) and "cells" in notebook else text)
    joined = "\n\n".join(source for _, source in cells)
    index = LineIndex(joined)
    sections = []
    title = None
    at = 0
    for number, (kind, source) in enumerate(cells, start=1):
        sections.append(index.section(at, at + len(source), f"cell {number} ({kind})"))
        at += len(source) + 2
        if title is None and kind == "markdown":
            title = parse_markdown(source).title
    return Parsed(text=joined, sections=tuple(sections), title=title)


def _cells(notebook: object) -> Iterator[tuple[str, str]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(line for line in source if isinstance(line, str))
        if isinstance(source, str) and (source := clean(source)).strip():
            yield str(cell.get("cell_type", "raw"))[:20], source
