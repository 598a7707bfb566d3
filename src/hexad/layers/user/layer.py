"""The user layer: what a person prefers, how they work, what they know, where this project is an exception."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final

from hexad.layers.contract import MemoryItem, MemoryQuery
from hexad.layers.router.task_topic import TaskTopic, topic_of
from hexad.layers.scoring import relevance_of_share
from hexad.layers.user.values import Expertise, Pattern, PatternType, Source, UserRule
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.memory import Trust
from hexad.memory.query import Filters
from hexad.redaction.injection.detector import instructions_in
from hexad.search.recall.query_terms import understand
from hexad.text.key_names import keys_near
from hexad.text.search_terms import SearchTerms, folded, search_terms

PREFERENCE, EXCEPTION, RULE, EXPERTISE = "preference", "exception", "rule", "expertise"
KINDS: Final = (PREFERENCE, EXCEPTION, RULE, EXPERTISE, *(pattern_type.value for pattern_type in PatternType))
_ABOUT_USER: Final = 0.5
"""What a question about the user gets of itself, as if so much of its words stood in the text."""
_BUILDING: Final = 0.25
"""So do the surest preferences where somebody is about to build software: nobody names what they always use."""
_STANDING: Final = 0.4
"""So does what somebody stated of answers themselves: it holds for every task."""
_OF_ANSWERS: Final = re.compile(
    r"\b(?:answer(?:s|ing)?|repl(?:y|ies|ying)|respon(?:d|ds|ding|ses?)|tone|emojis?|pronouns?|(?:address|call) me"
    r"|(?:write|speak|talk)(?: to me)? in)\b",
    re.IGNORECASE,
)
_SURE: Final = 0.6
_SECONDS_A_DAY: Final = 86_400
_SPEAKING: Final = frozenset(
    "prefer prefers preferred preference preferences usual usually favourite favorite typical typically like likes"
    " use uses used using want work works know".split()
)
"""Words in which one speaks of what somebody prefers, whatever it is."""
_ASKED: Final = (
    "database storage sql",
    "orm prisma mapper model models",
    "language languages",
    "test_framework spec specs",
    "linter formatter style",
    "web_framework frameworks library libraries",
    "package_manager package packages dependency dependencies",
    "ci pipeline pipelines build builds",
    "branch branches branching pr prs merge review reviews commit commits",
    "deployment hosting cloud",
    "naming name names case",
)
"""Words of questions that ask for the same as a key does, besides the names of that key."""


def _groups() -> dict[str, set[str]]:
    """Return for each word of a question what else asks for the same."""
    groups: dict[str, set[str]] = {}
    for line in _ASKED:
        group = {name for word in line.split() for name in keys_near(word)}
        groups.update(dict.fromkeys(group, group))
    return groups


_ALIKE: Final = _groups()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStatement:
    """One thing that may be said of a person here, ready to be weighed against a question."""

    id: str
    kind: str
    text: str
    at: datetime
    since: datetime
    confidence: float
    source: Source
    key: str | None = None
    value: str | None = None
    evidence_count: int | None = None
    notes: tuple[str, ...] = ()
    about: str | None = None
    """What a question is held against, where that is not all of the text: each sentence has words of its frame."""


class UserLayer:
    """Implements `LayerSource` for the person. `stated` gives all that may be said here; nothing where the actor may
    not see it, or where nothing is known.
    """

    def __init__(self, stated: Callable[[], Sequence[UserStatement]]) -> None:
        self._stated = stated
        self._ready: _StatementIndex | None = None

    @property
    def name(self) -> MemoryLayer:
        """The user layer."""
        return MemoryLayer.USER

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what of a person speaks to the query, best first."""
        if limit < 1 or not _asks_user(query.filters):
            return ()
        wanted_terms, topic = understand(query.text, now=query.now).wanted, topic_of(query)
        telling = [
            word
            for word in wanted_terms
            if word not in _SPEAKING and (word in topic.words or len(_alike(word)) > 1)
        ]
        words = [*map(_terms_of, telling or wanted_terms)]
        statement_index = self._index()
        shares = statement_index.shares(words)
        matches = [
            (share, statement)
            for statement, matched in zip(statement_index.all, shares, strict=True)
            if _in_time(statement, query) and (share := _share(statement, matched, query, topic)) > 0
        ]
        matches.sort(key=lambda pair: (-pair[0], -pair[1].confidence, pair[1].id))
        return [_item(statement, share, query.now) for share, statement in matches[:limit]]

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Return one thing that is known of the person, by the id under which a context shows it."""
        prefix, _, row = item_id.partition(":")
        if prefix != self.name.value:
            return None
        return next((_item(statement, 1.0, now) for statement in self._stated() if statement.id == row), None)

    def warm(self) -> None:
        """Open the layer."""
        self._index()

    def _index(self) -> _StatementIndex:
        """Return all that may be said, made ready once for each state of the layer."""
        stated, statement_index = self._stated(), self._ready
        if statement_index is None or statement_index.all is not stated:
            statement_index = self._ready = _StatementIndex(stated)
        return statement_index


class _StatementIndex:
    """What may be said, with its texts as one, so that a word is looked for in all of them at once."""

    def __init__(self, stated: Sequence[UserStatement]) -> None:
        self.all = stated
        texts = [folded(statement.about or statement.text).replace("\n", " ") for statement in stated]
        self._text = "\n".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def shares(self, words: Sequence[Sequence[SearchTerms]]) -> list[float]:
        """Return for each text which part of the words it has; a word is there where one of its terms is."""
        counts = [0] * len(self.all)
        for word in words:
            for place in {place for terms in word for place in self._having(terms)}:
                counts[place] += 1
        return [count / max(len(words), 1) for count in counts]

    def _having(self, terms: SearchTerms) -> set[int]:
        patterns = terms.patterns or [re.compile(re.escape(needle)) for needle in terms.needles]
        places = [
            {bisect_right(self._starts, match.start()) - 1 for match in pattern.finditer(self._text)}
            for pattern in patterns
        ]
        return set.intersection(*places) if places else set()


def _asks_user(filters: Filters) -> bool:
    """Whether the filters leave anything of a layer that has no spaces, tags or paths."""
    other = (filters.spaces, filters.tags, filters.path, filters.text)
    if any(condition is not None for condition in other) or filters.pinned:
        return False
    return filters.kinds is None or any(kind in KINDS for kind in filters.kinds)


def _in_time(statement: UserStatement, query: MemoryQuery) -> bool:
    filters = query.filters
    if filters.kinds is not None and statement.kind not in filters.kinds:
        return False
    if query.as_of is not None and statement.since > query.as_of:
        return False
    if filters.since is not None and statement.at < filters.since:
        return False
    return filters.until is None or statement.at < filters.until


def _terms_of(word: str) -> list[SearchTerms]:
    """Return a word, and those that ask for the same, as they are looked for."""
    return [search_terms(form) for form in (word, *sorted({*_alike(word)} - {word}))]


def _alike(word: str) -> Collection[str]:
    """Return the words that ask for the same as one, with it: a preference is filed under one of them."""
    return _ALIKE.get(word) or keys_near(word)


def _share(statement: UserStatement, matched: float, query: MemoryQuery, topic: TaskTopic) -> float:
    """Return how much of a question a statement answers that has this part of its words, 0 for nothing."""
    if query.query_class is QueryClass.USER:
        return min(1.0, matched + _ABOUT_USER)
    if statement.source is Source.EXPLICIT and _OF_ANSWERS.search(statement.text):
        return max(matched, _STANDING)
    if matched:
        return matched
    builds = topic.builds and statement.kind in (PREFERENCE, EXCEPTION)
    return _BUILDING if builds and statement.confidence >= _SURE else 0.0


def _item(statement: UserStatement, share: float, now: datetime) -> MemoryItem:
    return MemoryItem(
        id=f"user:{statement.id}",
        layer=MemoryLayer.USER,
        text=statement.text,
        recency=max(0.0, (now - statement.at).total_seconds() / _SECONDS_A_DAY),
        relevance=relevance_of_share(share),
        at=statement.at,
        kind=statement.kind,
        confidence=statement.confidence,
        key=statement.key,
        value=statement.value,
        evidence_count=statement.evidence_count,
        trust=Trust.USER if statement.source is Source.EXPLICIT else Trust.TOOL,
        instruction_like=instructions_in(" ".join((statement.text, *statement.notes))),
        location=f"user.db {statement.id}",
        notes=statement.notes,
    )


def statement_of_pattern(pattern: Pattern) -> UserStatement:
    """Return a pattern as it may be said."""
    avoided = pattern.pattern_type is PatternType.ANTIPATTERN
    return UserStatement(
        id=pattern.id,
        kind=pattern.pattern_type.value,
        text=f"Avoids: {pattern.description}" if avoided else f"Works like this: {pattern.description}",
        about=pattern.description,
        at=pattern.last_seen,
        since=pattern.first_seen,
        confidence=pattern.confidence,
        source=Source.INFERRED,
        evidence_count=pattern.evidence_count,
    )


def statement_of_expertise(expertise: Expertise) -> UserStatement:
    """Return how well somebody knows an area, as it may be said."""
    return UserStatement(
        id=expertise.id,
        kind=EXPERTISE,
        text=f"Expertise in {expertise.area}: {expertise.level.value}.",
        about=f"{expertise.area} {expertise.level.value} expertise",
        at=expertise.last_seen,
        since=expertise.last_seen,
        confidence=expertise.confidence,
        source=expertise.source,
    )


def statements_of_rules(
    rules: Sequence[UserRule], *, unless: Callable[[UserRule], bool]
) -> Iterator[UserStatement]:
    """Yield rules that say more than a preference does: those that somebody stated, and those with a condition."""
    for rule in rules:
        if (rule.source is Source.EXPLICIT or rule.given_key) and not unless(rule):
            yield UserStatement(
                id=rule.id,
                kind=RULE,
                text=rule.text,
                at=rule.last_seen,
                since=rule.last_seen,
                confidence=rule.confidence,
                source=rule.source,
                evidence_count=rule.evidence_count,
            )
