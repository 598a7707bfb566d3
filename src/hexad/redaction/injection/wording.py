"""Whether a text means to instruct a model, by its words alone: where nothing has a vector, too.

A linear model over words, pairs of neighbours, how words begin, and pieces of words that are not written in ASCII,
each counted once at a place of a table by its checksum. The table is data that `benchmarks/fit_wording.py`
makes; it is read with the standard library alone, since every write asks it.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from hexad.core.lazy import Lazy
from hexad.redaction.injection.detector import without_mentions
from hexad.text.normalize import blanked

TABLE_FILE: Final = Path(__file__).parent / "data" / "wording.bin"
PLACES: Final = 32_768
_WORDS_READ: Final = 160
"""As many as a passage has about; of a longer text the passages are looked at once they have vectors."""
_STEM: Final = 4
_PIECE: Final = 4
_PIECE_OF_IDEOGRAPHS: Final = 2
_FIRST_IDEOGRAPH: Final = "\u0e00"
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingTable:
    """What each place counts for, in steps; a text whose score is `flagged` or more is an instruction."""

    name: str
    steps: tuple[int, ...]
    step: float
    bias: float
    flagged: float


def table_from(file: Path) -> WordingTable:
    """Return the table of a file: a line of JSON, and a signed byte for each place, compressed."""
    head, _, packed = file.read_bytes().partition(b"\n")
    fields = json.loads(head)
    return WordingTable(steps=tuple(memoryview(zlib.decompress(packed)).cast("b")), **fields)


class WordingModel:
    """Reads texts. Making one costs nothing: the table is loaded at the first call, once."""

    def __init__(self, file: Path = TABLE_FILE) -> None:
        self._table = Lazy(lambda: table_from(file))

    @property
    def table(self) -> WordingTable:
        """The table."""
        return self._table()

    def score(self, text: str) -> float:
        """Return how much the beginning of a text sounds like an instruction to a model."""
        table = self._table()
        places = word_places(text)
        if not places:
            return table.bias
        return table.bias + table.step * sum(map(table.steps.__getitem__, places)) / math.sqrt(len(places))

    def instructs(self, text: str) -> bool:
        """Return whether a text, as it begins, is an instruction; what it only mentions does not count."""
        flagged = self._table().flagged
        if self.score(text) < flagged:
            return False
        low = text.lower()
        meant = without_mentions(low)
        return meant == low or self.score(meant) >= flagged


def word_places(text: str) -> set[int]:
    """Return the places of what a text is made of, each once.

    >>> len(word_places("Hush, all of you; hush, all of you"))
    8
    """
    low = text[: _WORDS_READ * 20].lower()
    if low.isascii():
        return _places_of_ascii(blanked(low).split()[:_WORDS_READ])
    words = _WORD.findall(low)[:_WORDS_READ]
    found = {*words, *(f"{first} {second}" for first, second in pairwise(words))}
    found.update(f"^{word[:_STEM]}" for word in words if len(word) > _STEM)
    for word in words:
        if not word.isascii():
            size = _PIECE_OF_IDEOGRAPHS if word[0] >= _FIRST_IDEOGRAPH else _PIECE
            found.update(f"~{word[at : at + size]}" for at in range(len(word) - size + 1))
    return {zlib.crc32(part.encode("utf-8", "surrogatepass")) % PLACES for part in found}


def _places_of_ascii(words: Sequence[bytes]) -> set[int]:
    """Return the places of a text of these words, at half the price: bytes as they are, and the sums in one call."""
    found = [*words, *map(b" ".join, pairwise(words))]
    found += [b"^" + word[:_STEM] for word in words if len(word) > _STEM]
    return {place % PLACES for place in map(zlib.crc32, found)}
