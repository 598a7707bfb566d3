"""Chunks as a caller cut them (document 1, "chunks"): found again in the text, and made whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.text.chunking import LineIndex, Section
from hexad.text.chunking import chunk as cut
from hexad.text.normalize import clean

SPANS_LIMIT: Final = 2_000
"""Most chunks of one memory that a caller may cut."""


def locate(text: str, spans: Sequence[str]) -> tuple[Section, ...] | None:
    """Return where the spans lie in `text`, in its order; None when one is not there.

    They may overlap, as a sliding window does. White space around a span is looked for and not insisted on.
    """
    if not spans or len(spans) > SPANS_LIMIT:
        return None
    wanted = [clean(span) for span in spans]
    places = _in_order(text, wanted, overlapping=False) or _in_order(text, wanted, overlapping=True)
    if places is None:
        return None
    lines = LineIndex(text)
    return tuple(lines.section(start, end) for start, end in places)


def _in_order(text: str, spans: Sequence[str], *, overlapping: bool) -> list[tuple[int, int]] | None:
    """Return the first places of the spans: each after the one before, or where they overlap, after its start."""
    places: list[tuple[int, int]] = []
    at = 0
    for span in spans:
        place = _find(text, span, at)
        if place is None:
            return None
        places.append(place)
        at = place[0] + 1 if overlapping else place[1]
    return places


def _find(text: str, span: str, at: int) -> tuple[int, int] | None:
    for wanted in (span, span.strip()):
        start = text.find(wanted, at) if wanted.strip() else -1
        if start >= 0:
            return start, start + len(wanted)
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
