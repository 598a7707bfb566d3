"""Text to word-piece ids, as BERT's uncased models were trained on them.

The steps and the vocabulary are those of BERT's published uncased tokenizer: clean, put CJK characters apart,
lower-case, strip accents, split at punctuation, then take the longest known piece from the left. The spelling
of a special token inside a text ("[SEP]") is plain text here: stored content must not be able to end its own
sequence.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from hexad.errors import InvalidInput

MAX_TOKENS = 256
"""What the default model was trained to read, [CLS] and [SEP] included."""

_MAX_WORD_CHARS = 100
_CACHED_CHUNK_CHARS = 64
_CACHED_CHUNKS = 50_000
_CACHED_CODE_POINTS = 20_000

# White space that separates. `str.split` would also split at control characters, which the cleaning removes
# without putting anything in their place.
_CHUNK = re.compile(r"[^ \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_DROPPED_CATEGORIES = frozenset(("Cc", "Cf", "Co", "Cs"))
_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Table(dict[int, str]):
    """A lazily filled table for `str.translate`."""

    def __missing__(self, code: int) -> str:
        replacement = self.replace(chr(code), code)
        if len(self) < _CACHED_CODE_POINTS:
            self[code] = replacement
        return replacement

    def replace(self, char: str, code: int) -> str:
        raise NotImplementedError


class _Cleaning(_Table):
    """Before decomposition: drop control characters, make white space plain, put CJK characters apart."""

    def replace(self, char: str, code: int) -> str:
        if char in "\t\n\r":
            return " "
        category = unicodedata.category(char)
        if code == 0xFFFD or category in _DROPPED_CATEGORIES:
            return ""
        if category in ("Zs", "Zl", "Zp"):
            return " "
        return f" {char} " if any(low <= code <= high for low, high in _CJK_RANGES) else char


class _Splitting(_Table):
    """After decomposition: drop accents, put punctuation apart."""

    def replace(self, char: str, code: int) -> str:
        category = unicodedata.category(char)
        if category == "Mn":
            return ""
        # BERT counts every ASCII character that is neither letter, digit nor white space as punctuation,
        # also those that Unicode calls symbols ("$", "+", "^").
        ascii_symbol = 32 < code < 127 and not char.isalnum()
        return f" {char} " if ascii_symbol or category.startswith("P") else char


def load_vocabulary() -> dict[str, int]:
    """Return the shipped vocabulary, piece -> id; 30,522 entries, in about 10 ms."""
    packed = (Path(__file__).parent / "data" / "vocab.txt.gz").read_bytes()
    # Not `splitlines`: some pieces are characters that it takes for line ends.
    pieces = gzip.decompress(packed).decode("utf-8").removesuffix("\n").split("\n")
    return {piece: number for number, piece in enumerate(pieces)}


class WordPiece:
    """Encodes texts; safe to share between threads, since a lost cache entry is only computed again."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._first, self._last, self._unknown = (vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest = max(map(len, vocabulary))
        self._cleaning, self._splitting = _Cleaning(), _Splitting()
        self._cache: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str, *, max_tokens: int = MAX_TOKENS) -> list[int]:
        """Return [CLS], at most `max_tokens - 2` pieces of `text` from its beginning, and [SEP].

        A word without a known beginning, or of more than 100 characters, is one [UNK]. A text without words
        gives two ids. Time is bounded by the text's length, and stops growing once the room is full.
        Raises `InvalidInput` for a `max_tokens` below 2.
        """
        if max_tokens < 2:
            raise InvalidInput(f"max_tokens is {max_tokens}; give at least 2, for [CLS] and [SEP].")
        room = max_tokens - 2
        ids = [self._first]
        for match in _CHUNK.finditer(text):
            if len(ids) > room:
                break
            chunk = match.group()
            known = self._cache.get(chunk)
            ids.extend(self._learn(chunk, room) if known is None else known)
        del ids[room + 1 :]
        ids.append(self._last)
        return ids

    def _learn(self, chunk: str, room: int) -> tuple[int, ...]:
        """Return ids of a chunk without white space; short chunks are remembered, long ones cut at `room`."""
        ids = chain.from_iterable(map(self._pieces, self._words(chunk)))
        if len(chunk) > _CACHED_CHUNK_CHARS:
            return tuple(islice(ids, room))
        if len(self._cache) >= _CACHED_CHUNKS:
            self._cache.clear()
        learned = self._cache[chunk] = tuple(ids)
        return learned

    def _words(self, chunk: str) -> list[str]:
        cleaned = unicodedata.normalize("NFD", chunk.translate(self._cleaning))
        # Lower-casing goes character by character in BERT; only Python's final sigma looks at its neighbours.
        return cleaned.translate(self._splitting).replace("Σ", "σ").lower().split()

    def _pieces(self, word: str) -> Iterator[int]:
        if len(word) > _MAX_WORD_CHARS:
            return iter((self._unknown,))
        ids = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                found = self._vocabulary.get(prefix + word[start:end])
                if found is not None:
                    ids.append(found)
                    start = end
                    break
            else:
                return iter((self._unknown,))
        return iter(ids)
