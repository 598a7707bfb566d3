"""Whether one text says nothing that another does not say: what must hold before one of two may go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hexad.text.fingerprint import jaccard, shingles
from hexad.text.normalize import fold
from hexad.text.sentences import sentences
from hexad.text.stopwords import STOP_WORDS

NEAR: Final = 0.85
"""Jaccard similarity of word shingles from which two texts are near-duplicates (decision 19)."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TURNS: Final = frozenset(
    """
    no not none never neither nor without except unless until instead rather only but however longer stop stopped
    before after if when cannot can't don't doesn't didn't won't isn't aren't wasn't weren't shouldn't mustn't
    was were had former formerly previously deprecated removed disabled
    """.split()
)
"""Words that turn round what is said, or say when it holds; a text with one more of them says something else."""
_MEANS_NOTHING: Final = STOP_WORDS - _TURNS


def adds_nothing(text: str, beside: str) -> bool:
    """Return whether `text` says nothing that `beside` does not say: no other number, name, negation or order.

    Each of its sentences must have its telling words, in their order, in a sentence of the other; what that says
    besides may not turn it round.

    >>> adds_nothing("Deploys happen on Tuesday.", "The deploys happen on Tuesdays, at noon.")
    True
    >>> adds_nothing("Retries stop after 5.", "Retries stop after 6."), adds_nothing("Use it.", "Never use it.")
    (False, False)
    """
    others = [_telling(one) for one in _split(beside)]
    mine = [_telling(one) for one in _split(text)]
    return all(any(_within(words, other) for other in others) for words in mine if words) and any(mine)


def says_the_same(text: str, beside: str) -> bool:
    """Return whether two texts are near-duplicates, and the first adds nothing to the second."""
    return jaccard(shingles(text), shingles(beside)) >= NEAR and adds_nothing(text, beside)


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def _telling(text: str) -> list[str]:
    words = _WORD.findall(fold(text).replace("’", "'"))
    return [_stem(word) for word in words if word not in _MEANS_NOTHING]


def _stem(word: str) -> str:
    """Take the plural off; more would make one word of two."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and word.isalpha() else word


def _within(words: Sequence[str], other: Sequence[str]) -> bool:
    """Whether words stand in another list in their order, and nothing between or around turns them round."""
    at, extra = 0, []
    for word in other:
        if at < len(words) and words[at] == word:
            at += 1
        else:
            extra.append(word)
    return at == len(words) and not any(word in _TURNS or any(map(str.isdigit, word)) for word in extra)
