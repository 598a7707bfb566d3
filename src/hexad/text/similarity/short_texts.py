"""Short texts that say the same in nearly the same words: by the words that carry them and what stands there.

MinHash of word runs knows them only when they are equal: in eight words one put otherwise changes half of the runs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from hexad.text.claims import english
from hexad.text.claims.words import CLOSED, LETTERS, Token, stem, token_of_letter, tokens_of, written_in
from hexad.text.noise_words import HOLLOW
from hexad.text.search_terms import STOP_WORDS

CHARACTERS_LIMIT: Final = 400
"""Longer texts are compared by runs of words."""
_WORDS_LEAST: Final = 2
_DECIDING: Final = (
    english.MODALS
    | english.CONDITIONS
    | {"or", "all", "both", "each", "every", "some", "any", "new", "old", "current"}
)
"""Small words without which a text says something else."""
_HOLLOW: Final = frozenset(map(stem, HOLLOW - STOP_WORDS))
"""Stems of words that may stand in one of two texts alone; stop words, such as "other", matter here."""
_ENDS: Final = frozenset({".", "!", "?", ";"})
_OPENING_ENDS: Final = frozenset({",", ":"})
_TURNS: Final = english.NEGATIONS | english.CONDITIONS | (english.HEARSAY - {"said"})
_LEADING: Final = english.PREPOSITIONS | {"each", "every"}
_WAS: Final = frozenset({"was", "were", "wasn't", "weren't", "had", "hadn't", "used"})
_PERSONS: Final = {
    **dict.fromkeys(english.FIRST_PERSON, "i"),
    **dict.fromkeys(("he", "him", "his", "he's"), "he"),
    **dict.fromkeys(("she", "her", "hers", "she's"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs", "they're"), "they"),
    **dict.fromkeys(("you", "your", "yours"), "you"),
}
_MODALS: Final = {
    "'ll": "will",
    "won't": "will",
    "'d": "would",
    "wouldn't": "would",
    "can't": "can",
    "cannot": "can",
}


@dataclass(frozen=True, slots=True)
class ShortText:
    """A short text as it is compared with others: its words that say something, and what decides what they say."""

    words: tuple[str, ...]
    prepositions: tuple[frozenset[str], ...]
    """Those before each word, and those behind the last."""
    deciding: frozenset[str]
    denied: frozenset[str]
    asides: frozenset[str]
    persons: frozenset[str]
    happened: frozenset[str]
    asks: bool
    lows: tuple[str, ...]

    @property
    def mark(self) -> int:
        """A signed 64-bit number that is the same for all texts that may be near this one."""
        return _mark_of(self.words)


def _mark_of(words: Iterable[str]) -> int:
    key = "\0".join(sorted(words)).encode("utf-8", "surrogatepass")
    return int.from_bytes(
        hashlib.blake2b(key, digest_size=8, person=b"short text").digest(), "big", signed=True
    )


class MarkWords(dict[str, "tuple[tuple[str, int], ...]"]):
    """What the words, numbers and marks of some texts are to the marks of these, by how they are written.

    Each is what its tokens give to a mark, if anything, and what they do: `_TELLING` or `_ENDING` a sentence, `_OPENED`
    for what ends an opening. What is asked for is added; texts of one batch have words in common.
    """

    def __missing__(self, written: str) -> tuple[tuple[str, int], ...]:
        if written.isascii() and written.isalpha():
            found: tuple[tuple[str, int], ...] = (_letters_of_mark(written.lower()),)
        else:
            found = tuple(map(_word_of_mark, tokens_of(written)))
        self[written] = found
        return found

    def of(self, text: str) -> list[str]:
        """Return the words of `short_text(text)`, also where they are too few."""
        pieces = written_in(text)
        found = chain.from_iterable(map(self.__getitem__, pieces))
        if not LETTERS.isdisjoint(pieces):
            found = chain.from_iterable(
                self[piece] if not at or piece not in LETTERS else (_word_of_mark(token_of_letter(piece)),)
                for at, piece in enumerate(pieces)
            )
        words: list[str] = []
        sentence: list[str] = []
        is_telling = tells = False
        for word, part in found:
            if word:
                sentence.append(word)
            if not part:
                continue
            if part == _TELLING:
                tells = True
            elif part == _ENDING or not is_telling:
                if tells:
                    words += sentence
                    is_telling = True
                sentence, tells = [], False
        return words + sentence if tells else words


_TELLING, _ENDING, _OPENED = 1, 2, 3


def _letters_of_mark(low: str) -> tuple[str, int]:
    """Return what a word of nothing but letters is to a mark, as `_word_of_mark` does of its token."""
    is_number = low in english.NUMBERS
    if not is_number and low in CLOSED:
        return "", _TELLING if low in _TURNS else 0
    word = low if is_number else stem(low)
    tells = is_number or low not in HOLLOW or low in _TURNS
    return "" if word in _HOLLOW else word, _TELLING if tells else 0


def _word_of_mark(token: Token) -> tuple[str, int]:
    word = token.stem + token.unit if token.content and token.stem not in _HOLLOW else ""
    if token.low in _ENDS or token.low in _OPENING_ENDS:
        return word, _ENDING if token.low in _ENDS else _OPENED
    return word, _TELLING if _tells([token]) else 0


def short_mark(text: str, known: MarkWords) -> int | None:
    """Return the mark of `short_text(text)`, None where that is None, without what only a comparison needs."""
    if len(text) > CHARACTERS_LIMIT:
        return None
    words = known.of(text)
    return None if len(words) < _WORDS_LEAST else _mark_of(words)


def short_text(text: str) -> ShortText | None:
    """Return a text as short texts are compared; None for a long one, and for one of fewer than two words that tell."""
    if len(text) > CHARACTERS_LIMIT:
        return None
    tokens = _telling(tokens_of(text))
    words: list[str] = []
    prepositions: list[frozenset[str]] = []
    before: set[str] = set()
    denied: set[str] = set()
    denies = False
    for token in tokens:
        if token.content and token.stem not in _HOLLOW:
            words.append(token.stem + token.unit)
            prepositions.append(frozenset(before))
            if denies:
                denied.add(words[-1])
            before.clear()
            denies = False
        elif token.low in _LEADING:
            before.add(token.low)
        denies = denies or token.low in english.NEGATIONS
    if len(words) < _WORDS_LEAST:
        return None
    lows = frozenset(token.low for token in tokens)
    return ShortText(
        words=tuple(words),
        prepositions=(*prepositions, frozenset(before)),
        deciding=frozenset(_MODALS.get(low, low.removesuffix("n't")) for low in lows & _DECIDING),
        denied=frozenset(denied | ({""} if denies else set())),
        asides=(lows & english.ADVERBS)
        | frozenset(token.stem for token in tokens if token.content and token.stem in _HOLLOW),
        persons=frozenset(_PERSONS[low] for low in lows if low in _PERSONS),
        happened=frozenset(token.stem for token in tokens if token.low in _WAS or _is_past(token.low)),
        asks=tokens[-1].low == "?",
        lows=tuple(token.low for token in tokens if token.low[0].isalnum() or token.low[0] == "'"),
    )


def similarity(text: ShortText, other: ShortText) -> float:
    """Return how much of their words two texts that say the same share, 0 to 1; 0 for texts that say different things.

    >>> round(similarity(short_text("The rate limit is 100."), short_text("Now, the rate limit's 100")), 2)
    0.8
    >>> similarity(short_text("The rate limit is 100."), short_text("The rate limit is 250."))
    0.0
    """
    if not (_is_order_kept(text, other) and _decides_the_same(text, other)):
        return 0.0
    mine, theirs = Counter(text.lows), Counter(other.lows)
    return 2 * (mine & theirs).total() / (mine.total() + theirs.total())


def _telling(tokens: list[Token]) -> list[Token]:
    """Return the tokens without an opening and without sentences that say nothing: "By the way, …", "… Thanks!"."""
    telling: list[Token] = []
    start = 0
    for at, (_, low, *_) in enumerate(tokens, start=1):
        if low in _ENDS or (not telling and low in _OPENING_ENDS):
            if _tells(part := tokens[start:at]):
                telling += part
            start = at
    part = tokens[start:]
    return telling + part if _tells(part) else telling


def _tells(part: list[Token]) -> bool:
    for _, low, _, number, _, content in part:  # not by name: most of the time of a short text's mark is here
        if low in _TURNS or (content and (number is not None or low not in HOLLOW)):
            return True
    return False


def _is_order_kept(text: ShortText, other: ShortText) -> bool:
    """Whether the words are the same in the same order, but for one phrase with a preposition put first or last."""
    count = len(text.words)
    if count != len(other.words):
        return False
    for start in range(count):
        if text.words[start:] + text.words[:start] != other.words:
            continue
        if start and not (text.prepositions[start] or other.prepositions[count - start]):
            continue
        theirs = [other.prepositions[(at - start) % count] for at in range(count)]
        pairs = zip(text.prepositions, [*theirs, other.prepositions[count]], strict=True)
        if not any(_differ(mine, its) for mine, its in pairs):
            return True
    return False


def _decides_the_same(text: ShortText, other: ShortText) -> bool:
    return (
        (text.deciding, text.denied, text.happened, text.asks)
        == (other.deciding, other.denied, other.happened, other.asks)
        and not _differ(text.asides, other.asides)
        and not _differ(text.persons, other.persons)
    )


def _is_past(low: str) -> bool:
    return low.endswith("ed") and not low.endswith("eed")


def _differ(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether each says something that the other does not: what only one says is filler."""
    return bool(mine - theirs and theirs - mine)
