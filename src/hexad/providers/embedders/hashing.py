"""An embedder without a model: words and their letter trigrams, hashed into a fixed number of dimensions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from hexad.core.lazy import CountedCache
from hexad.errors import InvalidInput
from hexad.providers.embedders.rows import checked_texts

if TYPE_CHECKING:
    from hexad.providers.embedders.rows import FloatRows

_WORD = re.compile(r"[^\W_]+")
_CACHED_FEATURES = 250_000
"""A word has one for each of its letters; a tenth of them are of words that stand in one text alone."""
_LONGEST_CACHED = 64
_FEATURE_BYTES = 200
_MAX_WORD_CHARS = 100
_TRIGRAM_WEIGHT = 0.5


class HashEmbedder:
    """Texts that share words or parts of words point the same way; nothing is known of their meaning.

    Needs no model and no warm-up, and gives the same bits on every machine: the hash is keyless, and only
    operations are used that IEEE 754 rounds exactly (so repeats are damped by a square root, not a
    logarithm).
    """

    def __init__(self, dimensions: int = 256) -> None:
        if dimensions < 1:
            raise InvalidInput(f"dimensions is {dimensions}; give at least 1.")
        self.dimensions = dimensions
        self.name = f"hashing-{dimensions}@1"
        self._cache: dict[str, tuple[tuple[int, float], ...]] = {}
        self._kept = 0  # features in it
        self.remembered = CountedCache(_CACHED_FEATURES * _FEATURE_BYTES, lambda: self._kept * _FEATURE_BYTES)

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row of length one per text, in order; zeros for a text without a letter or digit."""
        import numpy as np

        spoken = checked_texts(texts)
        rows = np.zeros((len(spoken), self.dimensions), dtype=np.float32)
        for position, text in enumerate(spoken):
            rows[position] = self._vector(text)
        return rows

    def embed_query(self, text: str) -> FloatRows:
        """Return the row of one text."""
        row: FloatRows = self.embed([text])[0]
        return row

    def forget_words(self) -> None:
        """Let go of the words of texts that were embedded."""
        self._cache.clear()
        self._kept = 0

    def _vector(self, text: str) -> list[float]:
        counts: Counter[tuple[int, float]] = Counter()
        for word in _WORD.findall(text.lower()):
            counts.update(self._features(word[:_MAX_WORD_CHARS]))
        vector = [0.0] * self.dimensions
        for (key, weight), times in counts.items():
            vector[(key >> 1) % self.dimensions] += math.sqrt(times) * (weight if key & 1 else -weight)
        length = math.sqrt(math.fsum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def _features(self, word: str) -> tuple[tuple[int, float], ...]:
        """Return (64-bit key, weight) of the word and of its trigrams, its ends marked."""
        known_features = self._cache.get(word)
        if known_features is not None:
            return known_features
        marked = f"^{word}$"
        trigrams = (marked[at : at + 3] for at in range(len(marked) - 2))
        features = (
            (_key(f"word {word}"), 1.0),
            *((_key(f"part {part}"), _TRIGRAM_WEIGHT) for part in trigrams),
        )
        if len(features) <= _LONGEST_CACHED:
            if self._kept + len(features) > _CACHED_FEATURES:
                self.forget_words()
            self._kept += len(features)
            self._cache[word] = features
        return features


def _key(feature: str) -> int:
    # Lone surrogates cannot be encoded strictly, and a stored text may hold one.
    return int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
