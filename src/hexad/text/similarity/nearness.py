"""Near-duplicates: texts that say almost the same, whether they are long or short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.text.similarity.fingerprints import bands, jaccard, minhash, shingles
from hexad.text.similarity.short_texts import MarkWords, ShortText, short_mark, short_text, similarity

NEAR: Final = 0.85
"""Jaccard similarity of word shingles from which two texts are near-duplicates (decision 19)."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text as it is compared with others."""

    shingles: frozenset[str]
    short: ShortText | None

    @classmethod
    def of(cls, text: str) -> ComparedText:
        """Return a text as it is compared."""
        return cls(shingles(text), short_text(text))


def near_marks(text: str) -> tuple[int, ...]:
    """Return signed 64-bit numbers of a text: texts that share one are worth comparing, others are hardly near."""
    (marks,) = near_marks_of([text])
    return marks


def near_marks_of(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the marks of texts in order."""
    banded = [bands(minhash(text)) for text in texts]
    known = MarkWords()
    shorts = [short_mark(text, known) for text in texts]
    return [marks if short is None else (*marks, short) for marks, short in zip(banded, shorts, strict=True)]


def nearness(text: ComparedText, other: ComparedText) -> float:
    """Return the similarity of two texts that are near-duplicates, 0 for those that are not.

    Long ones share most of their word shingles; short ones say the same (`short_texts`), in whatever small words.

    >>> nearness(ComparedText.of("Deploys are on Friday."), ComparedText.of("On Friday, deploys are."))
    1.0
    >>> nearness(ComparedText.of("The rate limit is 100."), ComparedText.of("The rate limit is 250."))
    0.0
    """
    runs = jaccard(text.shingles, other.shingles)
    if runs >= NEAR:
        return runs
    if text.short is None or other.short is None or text.short.mark != other.short.mark:
        return 0.0
    return similarity(text.short, other.short)
