"""Whether one text says nothing that another does not say: what must hold before one of two may go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hexad.text.normalize import fold, nfkc
from hexad.text.search_terms import STOP_WORDS
from hexad.text.similarity.fingerprints import jaccard, shingles
from hexad.text.summary.sentences import sentences

NEAR: Final = 0.85
"""Jaccard similarity of word shingles from which two texts are near-duplicates (decision 19)."""
_TOKEN: Final = re.compile(
    r"[^\W_]+(?:['.,:/\\_@-]+[^\W_]+)*"  # a word, a number, a path, a version
    r"|(?<!\S)-(?=\d)"  # what makes a number negative
    r"|_+|[^\w\s.,;:!()\[\]{}\"'“”‘„«»…`–—-]+"  # signs that say something: ≥, ++, €, %, ?
)
_LIST_MARK: Final = re.compile(r"^\s*(?:[#*+>-]+|\d+[.)])\s+")
_FILLERS: Final = frozenset("a an the also too please simply really actually basically indeed".split())
_TURNS: Final = frozenset(
    """
    no not none never neither nor without except unless until instead rather only but however longer stop stopped
    before after if when cannot can't don't doesn't didn't won't isn't aren't wasn't weren't shouldn't mustn't
    was were had former formerly previously deprecated removed disabled obsolete wrong false outdated
    may must should shall might could would cant dont hardly barely seldom nobody nothing lack lacks refuse fail fails
    nicht kein keine nie ohne außer pas jamais plus sans sauf no nunca sin non mai senza não sem niet geen zonder нет не
    """.split()
)
"""Words that turn round what is said, or say when it holds; a text with one more of them says something else."""
_NEW_WORDS_LIMIT: Final = 3


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or a sign: as it was written, folded, without its plural where it is no name; `capitals` for US and IT."""

    written: str
    folded: str
    stem: str
    capitals: bool

    def like(self, other: _Word, *, cased: bool) -> bool:
        if self.folded == other.folded:
            return not cased or self.capitals == other.capitals
        return bool(self.stem) and self.stem == other.stem


@dataclass(frozen=True, slots=True)
class Telling:
    """A text by what its sentences tell; made once for a text that is compared with many."""

    sentences: tuple[tuple[_Word, ...], ...]
    cased: bool

    @property
    def turns(self) -> frozenset[str]:
        """The words among it that turn something round."""
        return frozenset(
            word.folded for sentence in self.sentences for word in sentence if word.folded in _TURNS
        )


def telling(text: str) -> Telling:
    """Return what a text tells, sentence by sentence."""
    text = nfkc(text).replace("’", "'")
    cased = text not in (text.upper(), text.lower())
    word_lists = (_words(text[start:end], cased=cased) for start, end in sentences(text))
    return Telling(tuple(words for words in word_lists if words), cased=cased)


def adds_nothing(text: str | Telling, whole: str | Telling) -> bool:
    """Return whether `text` says nothing that `whole` does not say: no other word, number, sign or order.

    Each of its sentences must be a sentence of the other, but for case, articles and the plural of what is no name;
    what the other says besides may not turn it round.

    >>> adds_nothing("The deploys happen on Friday.", "Deploys happen on Friday! Tell ops.")
    True
    >>> adds_nothing("Retries stop after 5.", "Retries stop after 6."), adds_nothing("Turn it on.", "Turn it off.")
    (False, False)
    """
    mine = telling(text) if isinstance(text, str) else text
    other = telling(whole) if isinstance(whole, str) else whole
    cased = mine.cased and other.cased
    rest = list(other.sentences)
    for sentence in mine.sentences:
        at = next((at for at, words in enumerate(rest) if _alike(sentence, words, cased=cased)), None)
        if at is None:
            return False
        del rest[at]
    return bool(mine.sentences) and not Telling(tuple(rest), cased).turns


def says_the_same(text: str, other_text: str) -> bool:
    """Return whether two texts are near-duplicates, and the first adds nothing to the second."""
    return jaccard(shingles(text), shingles(other_text)) >= NEAR and adds_nothing(text, other_text)


def puts_otherwise(text: str, known: str) -> bool:
    """Return whether `text` only puts in other words what is `known`: no other number, sign, name or negation, and
    hardly another word.

    >>> puts_otherwise("Deploys of the shop: Fly.", "We deploy with Fly. shop deploy tool")
    True
    >>> puts_otherwise("We deploy with Fly, as Anna pays for it.", "We deploy with Fly. shop deploy tool")
    False
    """  # fmt: skip
    mine, other = telling(text), telling(known)
    there = {
        key
        for sentence in other.sentences
        for word in sentence
        for key in (word.folded, _singular(word.folded))
    }
    new: set[str] = set()
    for sentence in mine.sentences:
        for at, word in enumerate(sentence):
            if word.folded in there or _singular(word.folded) in there:
                continue
            if word.folded in _TURNS:
                return False
            if word.folded in STOP_WORDS:
                continue
            name = at > 0 and mine.cased and word.written != word.written.lower()
            if name or not word.folded.isalpha():
                return False
            new.add(word.folded)
    return len(new) <= _NEW_WORDS_LIMIT


def _words(text: str, *, cased: bool) -> tuple[_Word, ...]:
    text = _LIST_MARK.sub("", text)
    words: list[_Word] = []
    for at, token in enumerate(_TOKEN.findall(text)):
        folded = token.casefold()
        if folded in _FILLERS and (token == folded or at == 0 or not cased):
            continue  # the A of a plan A is no article
        stem = _singular(folded) if token == folded else ""
        words.append(_Word(token, folded, stem, capitals=len(token) > 1 and token.isupper()))
    return tuple(words)


def _alike(mine: Sequence[_Word], other: Sequence[_Word], *, cased: bool) -> bool:
    if len(mine) != len(other):
        return False
    # Near-duplicates mostly differ late: of a run or a number at the end.
    for word, theirs in zip(reversed(mine), reversed(other), strict=True):  # noqa: SIM110 - called for every pair
        if not word.like(theirs, cased=cased):
            return False
    return True


def _singular(word: str) -> str:
    """Take the plural off; more would make one word of two."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and word.isalpha() else word


_WORDS_LIMIT: Final = 40
_WORDS_LEAST: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
_NEGATIONS: Final = frozenset({"not", "never", "cannot", "no"})
_OPPOSITES: Final = {
    "dislike": "like", "dislikes": "like", "disliked": "liked", "hate": "like", "hates": "like", "hated": "liked",
    "disagree": "agree", "disagrees": "agree", "disagreed": "agreed", "disable": "enable", "disables": "enable",
    "disabled": "enabled", "disallow": "allow", "disallows": "allow", "disallowed": "allowed", "forbid": "allow",
    "forbids": "allow", "forbidden": "allowed", "unable": "able", "unsupported": "supported", "lacks": "has",
    "unavailable": "available",
}  # fmt: skip
"""Words that say "not" of another."""
_ANSWER: Final = re.compile(r"^(?:no|yes)\b[,.!]*\s")
_HELPERS: Final = frozenset(
    {"do", "does", "did", "will", "always", "any", "longer", "the", "a", "an", "is", "are", "be"}
)
_SHORTENED: Final = re.compile(r"n['\u2019]t\b")
_NO_LONGER: Final = re.compile(r"\bno longer\b")


def without_negation(text: str) -> tuple[str, bool] | None:
    """Return a statement's words without negation, and whether it was negated; None for what is no short statement.

    >>> without_negation("We don't deploy on Fridays.") == ("we deploy on friday", True)
    True
    """
    if len(text) > 400 or text.rstrip().endswith("?"):
        return None
    view = _NO_LONGER.sub(
        "not", _SHORTENED.sub(" not", fold(text).replace("can't", "can not").replace("won't", "will not"))
    )
    words = [
        word
        for match in _WORD.findall(_ANSWER.sub("", view))
        for word in (("not", _OPPOSITES[match]) if match in _OPPOSITES else (match,))
    ]
    if not _WORDS_LEAST <= len(words) <= _WORDS_LIMIT:
        return None
    negations = sum(word in _NEGATIONS for word in words)
    if negations > 1:
        return None
    rest = [_stem(word) for word in words if word not in _NEGATIONS and word not in _HELPERS]
    if len(rest) < 2:
        return None
    return " ".join(rest), negations == 1


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


"""Characters that take no room, as the inside of a regular expression's set."""
"""Letters of other scripts that look like Latin ones."""
