"""What a question asks for: its telling words, who is named in it, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.text.dates.date_ranges import DateRange, date_range
from hexad.text.identifiers import split_identifiers
from hexad.text.stopwords import QUESTION_WORDS, STOP_WORDS

TERMS_MOST: Final = 64
POSTINGS_MOST: Final = 2_500
_RAREST_KEPT: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
# A role is not a name: "what does the user want" names nobody.
_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "agent", "model", "speaker"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """A question taken apart: words to search for, words left out, the names and dates in it."""

    wanted: tuple[str, ...]
    ignored: tuple[str, ...]
    words: frozenset[str]
    dates: DateRange | None


def understand(question: str, *, now: datetime) -> Terms:
    """Return the words of a question that say what it is about; all of them when nothing else is left."""
    found = _WORD.findall(question)
    words = dict.fromkeys(word.lower() for word in found)
    words.update(dict.fromkeys(word.lower() for word in split_identifiers(question)))
    telling = [word for word in words if word not in STOP_WORDS and word not in QUESTION_WORDS]
    wanted = (telling or list(words))[:TERMS_MOST]
    return Terms(
        wanted=tuple(wanted),
        ignored=tuple(word for word in words if word not in set(wanted)),
        words=frozenset(word.casefold() for word in words),  # as the names of speakers are kept
        dates=date_range(question, now=now),
    )


def match_expression(terms: tuple[str, ...], frequencies: Mapping[str, int]) -> str:
    """Return the FTS5 OR expression of the terms; "" when none of them occurs.

    Terms are taken from the rarest on while together they occur in at most `POSTINGS_MOST` rows; the two rarest
    always. That bounds the time, which grows with the rows that match. Dropping every term of more than a tenth
    of the rows was tried: it cost a point on questions about code and still grew with the store.
    """
    kept: set[str] = set()
    reached = 0
    for count, term in sorted((frequencies.get(term, 0), term) for term in terms if frequencies.get(term, 0)):
        reached += count
        if len(kept) < _RAREST_KEPT or reached <= POSTINGS_MOST:
            kept.add(term)
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms if term in kept)


def named(speaker: str, words: frozenset[str]) -> bool:
    """Whether a question names a speaker: by any word of the name, but not by a role."""
    return any(
        len(part) > 1 and part not in _ROLES and part in words for part in _WORD.findall(speaker.casefold())
    )
