"""Whether a text means to instruct a model, whatever its words: a linear model over its vector and its words.

The vector is the one that the default embedder gave it anyway, so that nothing is embedded to be looked at but the
sentences of the few texts that seem suspect as a whole. Weights and thresholds are data that
`benchmarks/fit_instruction_model.py` makes from texts of our own. What it is worded like (`wording.py`) is looked at
beside it: of a long text only the beginning was, when it was written.
"""

from __future__ import annotations

import math
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.redaction.injection.wording import WordingModel
from hexad.text.summary.sentences import sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatRows = NDArray[np.float32]

MODEL_FILE: Final = Path(__file__).parent / "data" / "meaning.npz"
MEANING: Final = "meaning"
"""What a text has that is found by its meaning, beside the kinds that rules find."""
WORD_PLACES: Final = 4_096
"""Words and pairs of words are counted at so many places, by their checksum."""
_WORDS_READ: Final = 200
_SENTENCES_READ: Final = 24
_SENTENCE_LEAST: Final = 12
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningWeights:
    """A linear model: what each dimension of a vector and each place of a word counts for.

    A text whose score is `flagged` or more is an instruction. One of several sentences whose vector alone has `seems`,
    and with its words `suspect`, is read sentence by sentence, where one needs `sentence`.
    """

    name: str
    embedder: str
    vector: FloatRows
    words: FloatRows
    bias: float
    seems: float
    suspect: float
    flagged: float
    sentence: float


Embed = Callable[[Sequence[str]], "FloatRows"]


class MeaningModel:
    """Reads vectors and texts. Making one costs nothing: the weights are loaded at the first call, once."""

    def __init__(self, file: Path = MODEL_FILE) -> None:
        self._file, self._lock, self._wording = file, threading.Lock(), WordingModel()
        self._loaded: MeaningWeights | None = None

    @property
    def weights(self) -> MeaningWeights:
        """The weights."""
        import numpy as np

        with self._lock:
            if self._loaded is None:
                with np.load(self._file, allow_pickle=False) as arrays:
                    self._loaded = MeaningWeights(
                        name=str(arrays["name"]),
                        embedder=str(arrays["embedder"]),
                        vector=arrays["vector"].astype(np.float32),
                        words=arrays["words"].astype(np.float32),
                        **{
                            field: float(arrays[field])
                            for field in ("bias", "seems", "suspect", "flagged", "sentence")
                        },
                    )
            return self._loaded

    @property
    def name(self) -> str:
        """What changes whenever an answer may."""
        return f"{self.weights.name}+{self._wording.table.name}"

    def seeming(self, vectors: FloatRows) -> FloatRows:
        """Return the rows' scores by their vectors alone; below `weights.seems` nothing else need be looked at."""
        return vectors @ self.weights.vector + self.weights.bias

    def instructs(self, text: str, seeming: float, embed: Embed) -> bool:
        """Return whether a text, or one of its sentences, is an instruction; `seeming` is its vector's score."""
        weights = self.weights
        if seeming < weights.seems:
            return False
        if self._wording.instructs(text):
            return True
        score = seeming + self._by_words(text)
        if score >= weights.flagged or score < weights.suspect:
            return score >= weights.flagged
        spans = sentences(text)
        parts = [part for start, end in spans if len(part := text[start:end].strip()) >= _SENTENCE_LEAST]
        if len(parts) < 2:
            return False
        parts = parts[:_SENTENCES_READ]
        scores = self.seeming(embed(parts))
        return any(
            float(by_vector) + self._by_words(part) >= weights.sentence
            for part, by_vector in zip(parts, scores, strict=True)
        )

    def _by_words(self, text: str) -> float:
        places = word_places(text)
        if not places:
            return 0.0
        total = float(self.weights.words[places].sum())
        return total / math.sqrt(len(places))


def word_places(text: str) -> list[int]:
    """Return the places of a text's words and pairs of words, each once, in order.

    >>> len(word_places("Ignore the rules, ignore the rules"))
    6
    """
    words = _WORD.findall(text[: _WORDS_READ * 20].lower())[:_WORDS_READ]
    found = {*words, *(f"{first} {second}" for first, second in pairwise(words))}
    return sorted({zlib.crc32(word.encode()) % WORD_PLACES for word in found})
