"""Marks by which near-duplicates and our own words are recognised."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.normalize import blanked, blanked_lines, fold

SHINGLE_WORDS: Final = 3
MIN_WORDS: Final = 5
"""Below this many words a text is compared exactly or not at all: two shingles say nothing."""
BANDS: Final = 10
ROWS: Final = 7
"""10 bands of 7 rows: 98 % of the pairs at Jaccard 0.85 share a band, 7 % of those at 0.5, 0.2 % at 0.3."""
MIN_PASSAGE_WORDS: Final = 4
PASSAGES_LIMIT: Final = 1_000
"""Passages of one text that are hashed at most."""

_SEED: Final = 20_240_229  # any constant does; changing it orphans every stored band
# One word per character where a script writes no spaces: otherwise a Chinese sentence were one word.
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_WORD = lazy_pattern(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s|[\u3002\uff61\uff01\uff1f\n\u2028\u2029]")
_BAND_BYTES: Final = 4 * ROWS

_MARKERS: Final = r"[\s>*+#|\u2022\u00b7\u2013\u2014-]*"
_SCORE: Final = r"(?:(?:score|relevance|similarity) ?[:=]? ?)?(?:[01]?\.[0-9]{1,4}|1)(?: ?[)\]])?"
_LEADING = lazy_pattern(
    f"{_MARKERS}"
    r"(?:\(?[0-9]{1,3}[.):](?= ))?"
    f"{_MARKERS}"
    r"(?:\[[ x]\](?= ))?"
    f"{_MARKERS}"
    rf"(?:[\[(] ?{_SCORE}(?= )|[01]?\.[0-9]{{1,4}}(?= ))?"
)
_TRAILING = lazy_pattern(rf"[\[(] ?{_SCORE}\W*$")
_TAIL_CHARACTERS: Final = 48
_PARAGRAPH_BREAK = lazy_pattern(r"\n[^\S\n]*\n")


def shingles(text: str) -> frozenset[str]:
    """Return every run of three words inside a sentence of `text`, folded; a shorter sentence is one run.

    Punctuation, case, white space and the order of sentences make no difference; numbers and names do.
    """
    if text.isascii():
        return frozenset(run.decode("ascii") for run in _ascii_runs(text, least=0))
    runs: set[str] = set()
    for sentence in _SENTENCE_END.split(text):
        words = _WORD.findall(fold(sentence))
        if len(words) > SHINGLE_WORDS:
            runs.update(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
        elif words:
            runs.add(" ".join(words))
    return frozenset(runs)


def shares_elsewhere(texts: Sequence[str]) -> list[float]:
    """Return of each text which share of its shingles another one of them has, too: no pair is more alike than that.

    Of the two that `jaccard` compares neither has more of the other than it shares with all together.
    """
    runs = [_encoded_runs(text) for text in texts]
    counts = Counter(chain.from_iterable(runs))
    return [sum(counts[run] > 1 for run in own) / len(own) if own else 0.0 for own in runs]


def _encoded_runs(text: str) -> Collection[bytes]:
    # Bytes, since a lone surrogate has no UTF-8 that rensa would take.
    return (
        _ascii_runs(text, least=0)
        if text.isascii()
        else [run.encode("utf-8", "surrogatepass") for run in shingles(text)]
    )


def minhash(text: str) -> tuple[int, ...]:
    """Return the text's MinHash signature, 70 numbers of 32 bits; empty below five words.

    The share of places at which two signatures agree estimates `jaccard` of their shingles.
    """
    if text.isascii():
        runs = list(_ascii_runs(text, least=MIN_WORDS))
    else:
        runs = [] if _fewer_words_than(text, MIN_WORDS) else list(_encoded_runs(text))
    if not runs:
        return ()
    from rensa import RMinHash

    sketch = RMinHash(num_perm=BANDS * ROWS, seed=_SEED)
    sketch.update(runs)
    return tuple(sketch.digest())


_ASCII_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s|\n")


def _ascii_runs(text: str, *, least: int) -> set[bytes]:
    """Return the shingles of an ASCII text, whose folded words are those in lower case; none below `least` words."""
    runs: set[bytes] = set()
    count = 0
    for words in _words_of_sentences(text.lower()):
        count += len(words)
        if len(words) > SHINGLE_WORDS:
            runs.update(map(b" ".join, zip(words, words[1:], words[2:], strict=False)))
        elif words:
            runs.add(b" ".join(words))
    return runs if count >= least else set()


def _words_of_sentences(low: str) -> Iterator[list[bytes]]:
    if low.isprintable():  # one line, with no blanks but spaces
        marked = low.replace(". ", "\n").replace("! ", "\n").replace("? ", "\n")
        return map(bytes.split, blanked_lines(marked))
    return (blanked(sentence).split() for sentence in _ASCII_SENTENCE_END.split(low))


def _fewer_words_than(text: str, count: int) -> bool:
    return next(islice(_WORD.finditer(text), count - 1, None), None) is None


def bands(signature: tuple[int, ...]) -> tuple[int, ...]:
    """Return the signature's bands as signed 64-bit numbers: texts that share one are worth comparing.

    Each band's number holds its position, so one column can keep them all. Empty for the empty signature.
    """
    rows = struct.pack(f">{len(signature)}I", *signature)
    digests = [
        hashlib.blake2b(bytes((band,)) + rows[start : start + _BAND_BYTES], digest_size=8).digest()
        for band, start in enumerate(range(0, len(rows), _BAND_BYTES))
    ]
    return struct.unpack(f">{len(digests)}q", b"".join(digests))


def jaccard(left: Collection[str], right: Collection[str]) -> float:
    """Return the share of shingles that two sets have in common, 0 to 1; 0 when both are empty."""
    left, right = frozenset(left), frozenset(right)
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 0.0


def passage_hashes(text: str) -> tuple[int, ...]:
    """Return signed 64-bit hashes of the lines and paragraphs of `text`, each once, in order.

    List markers, numbers, check boxes, quotation marks, scores in brackets and all punctuation are left out,
    so a passage keeps its hash when it is listed, quoted, re-wrapped or ranked. Passages under four words
    have none: anybody may have written them. At most the first 1,000 passages count.
    """
    hashes: dict[int, None] = {}
    for passage in _passages(text):
        words = _WORD.findall(_bare(fold(passage)))
        if len(words) >= MIN_PASSAGE_WORDS:
            digest = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            hashes[int.from_bytes(digest, "big", signed=True)] = None
            if len(hashes) >= PASSAGES_LIMIT:
                break
    return tuple(hashes)


def _passages(text: str) -> Iterator[str]:
    """Give each line, and after a paragraph's lines the paragraph, where it has more than one."""
    for paragraph in _PARAGRAPH_BREAK.split(text):
        lines = paragraph.splitlines()
        yield from lines
        if len(lines) > 1:
            # A quoted or listed paragraph repeats its marker on every line.
            yield " ".join(line.lstrip(" \t>|") for line in lines)


def _bare(line: str) -> str:
    """Return a folded line without what a list, a quotation or a ranking put around it."""
    leading = _LEADING.match(line)
    line = line[leading.end() :] if leading else line
    tail = _TRAILING.search(line, max(len(line) - _TAIL_CHARACTERS, 0))
    return line[: tail.start()] if tail else line
