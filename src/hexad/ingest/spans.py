"""Chunks as a caller cut them (document 1, "chunks"): found again in the text, and made whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.model.source import Section
from hexad.text.chunk import LineIndex
from hexad.text.chunk import chunk as cut
from hexad.text.normalize import clean

SPANS_LIMIT: Final = 2_000
"""Most chunks of one memory that a caller may cut."""


def locate(text: str, spans: Sequence[str]) -> tuple[Section, ...] | None:
    """Return where the spans lie in `text`, in its order; None when one is not there.

    They may overlap, as a sliding window does. White space around a span is looked for and not insisted on.
    """
    if not spans or len(spans) > SPANS_LIMIT:
        return None
    lines = LineIndex(text)
    found: list[Section] = []
    start, end = -1, 0
    for span in spans:
        place = _find(text, clean(span), after=start, from_=end)
        if place is None:
            return None
        start, end = place
        found.append(lines.section(start, end))
    return tuple(found)


def _find(text: str, span: str, *, after: int, from_: int) -> tuple[int, int] | None:
    for wanted in (span, span.strip()):
        if not wanted.strip():
            return None
        at = text.find(wanted, from_)
        if at < 0:
            at = text.find(wanted, after + 1)
        if at >= 0:
            return at, at + len(wanted)
    return None


def completed(text: str, spans: Sequence[Section]) -> tuple[Section, ...]:
    """Return the spans with chunks of our own for what they leave out: all of a text can be found."""
    lines = LineIndex(text)
    whole: list[Section] = []
    at = 0
    for span in [*spans, None]:
        start = span.start if span is not None else len(text)
        while at < start and text[at].isspace():
            at += 1
        if at < start:
            whole += [
                lines.section(at + piece.start, at + piece.end, piece.heading)
                for piece in cut(text[at:start])
            ]
        if span is not None:
            whole.append(span)
            at = max(at, span.end)
    return tuple(whole)
