"""Statements and their opposites: the same words, with a "not" and without. The words are English."""

from __future__ import annotations

import re
from typing import Final

from hexad.text.normalize import fold

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
