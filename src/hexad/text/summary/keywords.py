"""What a text is about, in a few words: the base of automatic tags."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from hexad.text.graphemes import cut
from hexad.text.search_terms import STOP_WORDS

CONSIDERED_CHARACTERS: Final = 65_536
WORD_LIMIT: Final = 40
"""A longer word is data."""
ASKED_LIMIT: Final = 64
"""Words whose document frequency is asked for at most: the most promising without it."""
UNKNOWN_SPREAD: Final = 0.01
"""Share of documents that a word is taken to be in where nobody counts."""

# Dots, dashes and underscores join: `memory.db`, `write-ahead` and `read_file` are one word each.
_WORD = re.compile(r"[^\W_]+(?:[._-]+[^\W_]+)*")
_FUNCTION_ENDING = re.compile(r"(?:ly|ing|ed)$")
_SENTENCE_START = re.compile(r"[.!?:\n]\s*[\"'(*\u201c]*$")
_COMPOUND = re.compile(r"[^\W\d_A-Z][^\W\d_a-z]|[^\W_][._-]+[^\W_]")


def keywords(
    text: str, *, document_frequency: Callable[[str], int] | None = None, documents: int = 0, limit: int = 8
) -> list[tuple[str, float]]:
    """Return the words that tell `text` from others, lower case, with their weight, heaviest first.

    The weight is the logarithm of a word's count times that of its rarity among `documents`, as
    `document_frequency` gives it (a word's number of documents; asked for 64 words at most). Names and
    identifiers weigh more, adverbs and verb forms less, stop words and bare numbers never count. Ties go to
    the word that comes first. Only the first 64 KiB are read.

    >>> [word for word, _ in keywords("The WAL is synced. Then the WAL is reset by MemoryStore.", limit=2)]
    ['wal', 'memorystore']
    """
    text = cut(text, CONSIDERED_CHARACTERS)
    counts: Counter[str] = Counter()
    favour: dict[str, float] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        folded = word.lower()
        if not _counts(folded):
            continue
        counts[folded] += 1
        favour[folded] = max(favour.get(folded, 0.0), _favour(word, text, match.start()))
    promising = {
        word: (1 + math.log(count)) * favour[word] * min(len(word) / 6, 1.0) ** 0.5
        for word, count in counts.items()
    }
    order = {word: at for at, word in enumerate(promising)}
    candidates = sorted(promising, key=lambda word: (-promising[word], order[word]))[
        : max(ASKED_LIMIT, limit)
    ]
    weights = {word: promising[word] * _rarity(word, document_frequency, documents) for word in candidates}
    best = sorted(candidates, key=lambda word: (-round(weights[word], 9), order[word]))
    return [(word, round(weights[word], 6)) for word in best[: max(limit, 0)] if weights[word] > 0]


def _counts(word: str) -> bool:
    """Return whether a word can tell anything: no stop word, no number, no single letter, no data."""
    if word in STOP_WORDS or not 1 < len(word) <= WORD_LIMIT:
        return False
    return not word[0].isdigit() or sum(map(str.isalpha, word)) > len(word) // 2


def _favour(word: str, text: str, start: int) -> float:
    """Return how likely a word is to name something: identifiers, acronyms and names before plain words."""
    if _COMPOUND.search(word):
        return 1.6
    if word.isupper():
        return 1.5
    if word[0].isupper():
        begins = start == 0 or _SENTENCE_START.search(text, max(start - 6, 0), start)
        return 1.1 if begins else 1.4
    return 0.6 if _FUNCTION_ENDING.search(word) and len(word) > 4 else 1.0


def _rarity(word: str, document_frequency: Callable[[str], int] | None, documents: int) -> float:
    """Return the smoothed inverse document frequency; a word in every document still weighs a little."""
    if document_frequency is None or documents <= 0:
        return math.log(1 + 1 / UNKNOWN_SPREAD)
    spread = min(max(document_frequency(word), 0), documents)
    return math.log((documents + 1) / (spread + 0.5))
