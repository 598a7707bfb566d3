"""Where sentences begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern

Span = tuple[int, int]
"""Offsets in characters: from the first, up to and without the last."""

WRAPPED_LINE_CHARACTERS: Final = 50
"""A line at least this long may go on in the next one; a shorter one was ended on purpose."""

_ABBREVIATIONS: Final = frozenset(
    """
    mr mrs ms dr prof sr jr st rev gen col lt sgt capt hon gov sen rep pres
    vs cf eg ie e.g i.e viz al approx ca circa est resp incl excl min max
    no nos vol pp ed eds fig figs sec ch eq eqs ref refs para art
    inc ltd co corp dept univ assn bros
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
    u.s u.k e.u a.m p.m ph.d m.sc b.sc d.c
    """.split()
)
# May stand at the end of a sentence as well as inside one: a capital after them decides for the end.
_EITHER: Final = frozenset(
    """
    etc inc ltd co corp jr sr a.m p.m u.s u.k e.u d.c ph.d m.sc b.sc al
    """.split()
)

# Possessive, and begun only at the first of a run of marks: linear on "......".
_LATIN_END = lazy_pattern(r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u2019\u201d\u00bb)\]*_`]*+(?=\s)")
_CJK_END = lazy_pattern(r"[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\u201d\u2019\uff09]*+")
_LAST_WORD = lazy_pattern(r"[^\s(\[\"'\u201c\u2018]*$")
_LAST_WORD_CHARACTERS: Final = 16
_NEXT = lazy_pattern(r"\s+[\"'\u201c\u2018(\[*_`]*(.)", re.DOTALL)
_NEXT_CHARACTERS: Final = 16

_LINE = lazy_pattern(r"[^\n]+")
_FENCE = lazy_pattern(r"[ \t]*(?:```|~~~)")
# A list item, a heading, a quotation, a table's row, a rule, or a speaker's turn: a unit of its own.
_STARTS_UNIT = lazy_pattern(
    r"[ \t]*(?:[-*+\u2022\u2023\u25e6\u00b7] |[0-9]{1,3}[.)] |[a-z]\) |#{1,6} |>|\||={3}|-{3}|\*{3})"
)
_HEADING = lazy_pattern(r"[ \t]*#{1,6} ")


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, in order, without the white space around them.

    Abbreviations, initials, decimals, addresses and version numbers do not end a sentence; the marks of
    Chinese and Japanese do. A list item, a heading, a table's row and a fenced block of code begin a new one;
    a line that was only wrapped does not end one.
    """
    return list(iter_sentences(text))


def iter_sentences(text: str) -> Iterator[Span]:
    """Give the spans of `sentences` one by one, so that a caller who needs few pays for few."""
    for start, end, is_code in _units(text):
        if is_code:
            yield start, end
        else:
            yield from _split(text, start, end)


def _units(text: str) -> Iterator[tuple[int, int, bool]]:
    """Give the stretches that no sentence crosses: paragraphs, list items, headings, fenced blocks."""
    start = end = -1
    fence = -1
    for line in _LINE.finditer(text):
        is_fence = _FENCE.match(text, line.start(), line.end()) is not None
        if fence >= 0:
            if is_fence:
                yield fence, line.end(), True
                fence = -1
            continue
        if start >= 0 and not _continues(text, start, end, line):
            yield start, end, False
            start = -1
        if is_fence:
            if start >= 0:
                yield start, end, False
                start = -1
            fence = line.start()
        else:
            start = line.start() if start < 0 else start
            end = line.end()
    if fence >= 0:
        yield fence, len(text), True
    elif start >= 0:
        yield start, end, False


def _continues(text: str, start: int, end: int, line: re.Match[str]) -> bool:
    """Return whether `line` goes on with the unit whose last line ends at `end`."""
    if line.start() != end + 1:  # a blank line between them
        return False
    if _STARTS_UNIT.match(text, line.start(), line.end()) or _HEADING.match(text, start, end):
        return False
    last_line = max(text.rfind("\n", start, end) + 1, start)
    if end - last_line >= WRAPPED_LINE_CHARACTERS:
        return True
    first = text[line.start() : line.start() + 1]
    return first.islower() and text[end - 1] not in ".!?:;"


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut one unit at the ends of its sentences."""
    at = start
    pattern = _LATIN_END if text.isascii() else _ANY_END
    for mark in pattern.finditer(text, start, end):
        if _ends_sentence(text, at, mark):
            span = _strip(text, at, mark.end())
            if span is not None:
                yield span
            at = mark.end()
    span = _strip(text, at, end)
    if span is not None:
        yield span


_ANY_END = lazy_pattern(f"{_LATIN_END.pattern}|{_CJK_END.pattern}")


def _ends_sentence(text: str, start: int, mark: re.Match[str]) -> bool:
    """Return whether the marks found end the sentence that began at `start`."""
    if mark.group()[0] != ".":
        return True
    window = max(start, mark.start() - _LAST_WORD_CHARACTERS)
    match = _LAST_WORD.search(text, window, mark.start())
    word = match.group().lower() if match else ""
    following = _NEXT.match(text, mark.end(), mark.end() + _NEXT_CHARACTERS)
    next_character = following.group(1) if following else "A"
    if next_character.islower():
        return False
    if len(mark.group()) > 1 and mark.group()[1] == ".":  # an ellipsis, with a capital after it
        return True
    if len(word) == 1 and word.isalpha() and word != "i":
        return False  # an initial: J. Smith
    if word in _EITHER:
        return next_character.isupper()
    if word in _ABBREVIATIONS:
        # "no." is also a word: it abbreviates only before a number.
        return word == "no" and not next_character.isdigit()
    # A number that begins the unit counts it: "1. First".
    return not (word.isdigit() and not text[start : mark.start() - len(word)].strip("-*+> \t\n"))


def _strip(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
