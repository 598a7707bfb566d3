"""What a question asks for: its telling words, who is named in it, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from hexad.core.arguments import is_number, is_text, is_whole, quoted, require_question_length
from hexad.errors import InvalidInput
from hexad.memory.query import Filters
from hexad.text.dates import DateRange, date_range
from hexad.text.identifiers import split_identifiers
from hexad.text.literals import code_names, exact_tokens, is_joined_numbers, marked_code, quoted_phrases
from hexad.text.requests import SequenceForm, sequence_form
from hexad.text.search_terms import QUESTION_WORDS, STOP_WORDS

TERMS_MOST: Final = 64
POSTINGS_MOST: Final = 2_500
_RAREST_KEPT: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
# A role is not a name: "what does the user want" names nobody.
_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "agent", "model", "speaker"})
_USER: Final = frozenset({"user", "human"})
_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})
_NAME: Final = re.compile(r"([^\W_]+)(?:['’]s\b)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """A question taken apart: words to search for, words left out, the names and dates in it.

    `phrases` stood in quotation marks, `tokens` stand for themselves: versions, ids, numbers, flags, code. Of
    `numbers`, the tokens that are numbers joined by signs, no part is in `wanted`: `8.2.0` is not an 8, a 2 and a 0.
    `names` are the words that may be names of code, and no tokens. `speakers` are those that it names, by row number,
    folded. `form` says what it wants of several memories, None where one may answer it.
    """

    wanted: tuple[str, ...]
    ignored: tuple[str, ...]
    words: frozenset[str]
    dates: DateRange | None
    phrases: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    question: str = ""
    speakers: Mapping[int, str] = field(default_factory=dict)
    form: SequenceForm | None = None


def understand(question: str, *, now: datetime) -> Terms:
    """Return the words of a question that say what it is about; all of them when nothing else is left."""
    dates = date_range(question, now=now)
    terms = _read(question, dated=dates is not None)
    return terms if dates is None else replace(terms, dates=dates)


def _read(question: str, *, dated: bool) -> Terms:
    phrases = quoted_phrases(question)
    literals = dict.fromkeys((*marked_code(question), *exact_tokens(question, dates=not dated)))
    tokens = tuple(token for token in literals if token not in phrases)
    numbers = tuple(token for token in tokens if is_joined_numbers(token))
    rest = question
    for number in numbers:
        rest = rest.replace(number, " ")
    words = dict.fromkeys(word.lower() for word in _WORD.findall(rest))
    words.update(dict.fromkeys(word.lower() for word in split_identifiers(rest)))
    telling = [word for word in words if word not in STOP_WORDS and word not in QUESTION_WORDS]
    wanted_terms = (telling or ([] if numbers else list(words)))[:TERMS_MOST]
    return Terms(
        wanted=tuple(wanted_terms),
        ignored=tuple(word for word in words if word not in set(wanted_terms)),
        words=frozenset(word.casefold() for word in words),  # as the names of speakers are kept
        dates=None,
        phrases=phrases,
        tokens=tokens,
        numbers=numbers,
        names=tuple(name for name in code_names(question) if name not in tokens),
        question=question,
        form=sequence_form(question),
    )


def searched_terms(terms: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """Return which of the terms full text is asked for, in their order; none when none of them occurs.

    Terms are taken from the rarest on while together they occur in at most `POSTINGS_MOST` rows; the two rarest
    always. That bounds the time, which grows with the rows that match. Dropping every term of more than a tenth
    of the rows was tried: it cost a point on questions about code and still grew with the store.
    """
    kept_terms: set[str] = set()
    reached = 0
    for count, term in sorted((frequencies.get(term, 0), term) for term in terms if frequencies.get(term, 0)):
        reached += count
        if len(kept_terms) < _RAREST_KEPT or reached <= POSTINGS_MOST:
            kept_terms.add(term)
    return [term for term in terms if term in kept_terms]


def names_speaker(speaker: str, words: frozenset[str]) -> bool:
    """Whether a question names a speaker: by any word of the name, but not by a role; in the first person the user."""
    if is_user(speaker):
        return in_first_person(words)
    return not words.isdisjoint(_name_words(speaker))


def in_first_person(words: frozenset[str]) -> bool:
    """Whether a question speaks of who asks it."""
    return not words.isdisjoint(_FIRST_PERSON)


def is_user(speaker: str) -> bool:
    """Whether a speaker is the user of an assistant, whom `I` in a question means."""
    return speaker.casefold() in _USER


def without_names(question: str, speakers: Iterable[str]) -> str:
    """Return what a question asks, without the names of speakers; all of it where they are all that it tells.

    Who speaks is known of each turn: in a vector a name draws what speaks *of* its bearer, or to them.

    >>> without_names("What did Ann's sister buy?", ["ann"]), without_names("And Ann?", ["ann"])
    ('What did sister buy?', 'And Ann?')
    """
    names = {word for speaker in speakers for word in _name_words(speaker)}
    if not names:
        return question
    rest = _NAME.sub(lambda match: "" if match[1].casefold() in names else match[0], question)
    telling = (word.lower() for word in _WORD.findall(rest))
    if all(word in STOP_WORDS for word in telling):
        return question
    return " ".join(rest.split())


def _name_words(speaker: str) -> set[str]:
    return {word for word in _WORD.findall(speaker.casefold()) if len(word) > 1 and word not in _ROLES}


LIMIT_MOST: Final = 1_000
LIMIT: Final = 10
"""So many of the best answer a question, unless the caller says how many."""
SEQUENCE_MOST: Final = 50
"""So many answer one that wants all that happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How a recall answers. `max_tokens` bounds the texts of the hits together; `semantic` None decides itself.

    `folds` leaves out what says word for word the same as a better hit; `feedback` heeds what was said of answers:
    to `asked`, where that is a sentence of which the question is only what its filters left.
    """

    filters: Filters = field(default_factory=Filters)
    limit: int = LIMIT
    max_tokens: int | None = None
    explain: bool = False
    semantic: bool | None = None
    rerank: bool | None = False  # None: by the store's reranker, where it has one
    follow_links: bool = False
    folds: bool = True
    feedback: bool = True
    asked: str | None = None
    as_of: datetime | None = None  # what took another's place later does not count
    min_relevance: float | None = None  # None: an answer whose best hit falls below the default is empty
    unasked: bool = False  # goes before a step that asked nothing: silent unless the store likely knows of it
    near: bool = False  # leave out what has neither a word of the question nor comes near its meaning
    whole: bool = (
        False  # a question that wants several memories gets `SEQUENCE_MOST` of them, as they came about
    )
    definitions: bool = False  # of a file of code, each definition that answers is a hit of its own
    association: float = 0.0  # what of its neighbours' scores in the honeycomb a memory's own gains

    def __post_init__(self) -> None:
        if not (self.rerank is None or isinstance(self.rerank, bool)):
            raise InvalidInput(
                f"rerank must be True, False or None, not {quoted(self.rerank)}.", argument="rerank"
            )
        if not is_whole(self.limit, 1, LIMIT_MOST):
            raise InvalidInput(
                f"limit = {quoted(self.limit)} is not a whole number from 1 to {LIMIT_MOST}.",
                argument="limit",
            )
        if self.max_tokens is not None and not is_whole(self.max_tokens, 1):
            raise InvalidInput(
                f"max_tokens = {quoted(self.max_tokens)} must be a whole number, at least 1.",
                argument="max_tokens",
            )
        for name, share in (("association", self.association), ("min_relevance", self.min_relevance)):
            if not (is_number(share, 0, 1) or (share is None and name == "min_relevance")):
                raise InvalidInput(
                    f"{name} = {quoted(share)} cannot be used; give a number from 0 to 1.", argument=name
                )


def check_query(query: str, argument: str = "query", *, may_be_empty: bool = False) -> str:
    """Return the question; raises `InvalidInput` for an empty one and `LimitExceeded` for one too long.

    `argument` is what the caller calls it. With `may_be_empty` one without words is returned as an empty text.
    """
    if not is_text(query):
        raise InvalidInput(f"The question must be a string, not {quoted(query)}.", argument=argument)
    require_question_length(query, argument)
    if not query.strip():
        if may_be_empty:
            return ""
        raise InvalidInput(
            "The question is empty;",
            argument=argument,
            remedy="say what to recall. `{hx.memories()}` shows everything.",
        )
    return query
