"""Code before what stands around it: a test uses what it tests, a changelog tells what became of it, a guide names it.

They have the words of a question about how something behaves, and often more of them than the code that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nlargest
from typing import Final, Protocol

from hexad.core.lazy import lazy_pattern
from hexad.memory.tables.ranking_columns import RankingRow
from hexad.search.recall.fusion import Fusion
from hexad.search.recall.mentions import CandidateSpan, Mentions, ScoredPassage, follow_mentions
from hexad.text.literals import exact_tokens, is_joined_numbers, is_mentioned, names_defined
from hexad.text.paths import is_changelog_path, is_test_path

CODE: Final = "code"
CHANGELOG: Final = "log"
_OF_CHANGES: Final = lazy_pattern(
    # What only changes have.
    r"\bchange ?logs?\b|\brelease notes?\b|\bwhat(?:'s| is| are) new\b|\bnew in\b"
    r"|\b(?:breaking|incompatible) changes?\b|\b(?:last|latest|newest|recent) changes\b|\bany changes (?:in|to)\b"
    r"|^\W*(?:is|are) there\b.*\bchanges\b|\bhistory of\b.{0,120}\bchang|\b(?:change|version|release|commit) history\b"
    r"|\b(?:upgrade|upgrading|migration) (?:guide|path|notes?)\b|\bregressions? (?:in|since|after)\b"
    # A question in the past: how something has become what it is. What failed is asked of what there is.
    r"|^\W*(?:(?:in|since|by|with) )?(?:(?:what|which|when|why|how|who)\b(?: [\w'.-]+){0,4}? )?"
    r"(?:did|was|were|has|have|had)(?:n't)?\b(?!.*\b(?:fail|crash|hang|hung))"
    r"|\bwhat (?:else )?(?:changed|replaced|broke)\b|^\W*(?:which|what) (?:commit|change|update)\b"
    r"|\bwhich (?:release|version) (?:first|\w+ed|broke)\b"
    r"|\bwhen will\b.{0,120}\b(?:remov|dropp|deprecat|releas)ed\b"
    # Releases that something was in, or came with.
    r"|\b(?:in|since|until|before|after|from|between|with) (?:the |an? |all )?"
    r"(?:previous|former|earlier|old|older|last|latest|next|new|newer|newest|recent|which|what)(?: \w+){0,2}"
    r" (?:releases?|versions?|updates?|upgrades?)\b"
    r"|\bbetween (?:\w+ )?(?:releases|versions)\b|\bsince (?:when|which|what|version|release|v?\d)\b"
    r"|\b(?:when|after|before|since|while)(?: \w+)? (?:upgrading|upgraded)\b"
    r"|\b(?:upgrad|migrat)(?:e|es|ed|ing|ion)\b(?: \w+){0,2} (?:from|off) (?:the |an? )?"
    r"(?:old|older|previous|former|earlier)\b"
    # What is said of something that changed.
    r"|\b(?:is|are|was|were|been|got|gets?)\b(?: [\w'.]+){0,4}? deprecated\b"
    r"|^\W*(?:why|since when|how come)\b.*\b(?:no longer|any ?more|stop(?:s|ped)?)\b|\bstopped \w+ing\b"
    r"|\b(?:\w+n't|not|cannot)\b.{0,120}\bany ?more\b|\bno longer (?!exists?\b)\w+s\b"
    r"|\b(?:it|this|that|they|there|what|which|we) used to\b|\bused to (?:be|have|happen|work|behave)\b",
    re.IGNORECASE,
)
_OF_TESTS: Final = lazy_pattern(r"\b(?:un)?tests?(?:ed|ing|s)?\b|\btest_", re.IGNORECASE)


MENTIONING: Final = 5
"""Of the best, so many that are no code are looked through for names of the code behind them."""
DEFINING: Final = 40
"""Among so many of the best is the code that may be named."""
LIKELY: Final = 0.5
"""Code that has less than this share of the score of what names it is not what that is about."""
_NAME_LEAST: Final = 4
"""A shorter name stands in texts of anything."""


def asks_of_changes(question: str) -> bool:
    """Whether a question is about what became of something, which a changelog tells, and not about how it is.

    >>> asks_of_changes("what changed in 8.2?"), asks_of_changes("how is the total computed?")
    (True, False)
    >>> asks_of_changes("why was the lock removed?"), asks_of_changes("release the lock of the previous page")
    (True, False)
    """
    return _OF_CHANGES.search(question) is not None or any(map(is_joined_numbers, exact_tokens(question)))


def is_changelog(kind: str, file: str | None) -> bool:
    """Whether a memory of this kind is a changelog, by the file that it is of."""
    return kind == CHANGELOG and file is not None and is_changelog_path(file)


def aside_of(question: str, order: Sequence[int], places: Mapping[int, RankingRow]) -> list[int]:
    """Return the places in `order` of tests and changelogs that a question does not ask for; none where no code is."""
    files = [(place, places[no]) for place, no in enumerate(order) if places[no].file is not None]
    tests = [place for place, row in files if row.kind == CODE and is_test_path(row.file or "")]
    if len(tests) == sum(row.kind == CODE for _, row in files):
        return []
    aside = [] if _OF_TESTS.search(question) else tests
    if not asks_of_changes(question):
        aside = [*aside, *(place for place, row in files if is_changelog(row.kind, row.file))]
    return aside


class PassageSource(Protocol):
    """Gives passages of the candidates, which are known by their places."""

    def best(self, seats: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return the heading and the text of the passage of each that answers best."""

    def spans(self, seats: Sequence[int]) -> Sequence[CandidateSpan]:
        """Return all passages of these candidates."""

    def may_mean(self, seats: Collection[int]) -> Callable[[int, int], bool]:
        """Return whether a name in the first of two candidates may mean what the second defines."""

    def texts(self, chunks: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Return the heading and the text of chunks, by their numbers."""

    def occurrences(self, name: str) -> int:
        """Return how many passages have a name; 0 for too many."""


def put_code_first(
    question: str,
    order: Sequence[int],
    places: Mapping[int, RankingRow],
    fusion: Fusion,
    passages: PassageSource,
) -> Mapping[int, Sequence[ScoredPassage]]:
    """Bring code before the tests, changelogs and guides that speak of it, unless a question asks for these.

    Returns the passages of code, by places in `order`.
    """
    if aside := aside_of(question, order, places):
        fusion.put_aside(aside)
    scored: Mapping[int, Sequence[ScoredPassage]] = {}
    if not asks_of_changes(question) and not _OF_TESTS.search(question):
        mentions = mentions_among(order, places, fusion, passages)
        fusion.add_mentions(mentions.gains)
        scored = mentions.passages
    fusion.put_before(defined_before(question, order, places, fusion.scores, passages.best))
    return scored


def mentions_among(
    order: Sequence[int], places: Mapping[int, RankingRow], fusion: Fusion, passages: PassageSource
) -> Mentions:
    """Return what the passages of the best candidates that are of files mention of the code among these."""
    best = nlargest(DEFINING, range(len(order)), key=fusion.scores.__getitem__)
    files = {place: row for place in best if (row := places[order[place]]).file is not None}
    code = {place for place, row in files.items() if _is_code(row)}
    if not code:
        return Mentions(gains={}, passages={})
    return follow_mentions(
        passages.spans([*files]),
        code=code,
        speaking={place for place, row in files.items() if not is_changelog(row.kind, row.file)},
        may_mean=passages.may_mean([*files]),
        texts=passages.texts,
        occurrences=passages.occurrences,
    )


def defined_before(
    question: str,
    order: Sequence[int],
    places: Mapping[int, RankingRow],
    scores: Sequence[float],
    passages: Callable[[Sequence[int]], Mapping[int, tuple[str, str]]],
) -> list[tuple[int, int]]:
    """Return which code comes before which text: the place of a definition, and of the best text that names it.

    What defines a name comes before what uses it, where both come near a question that asks for neither tests nor
    changes.
    """
    best = nlargest(DEFINING, range(len(order)), key=scores.__getitem__)
    files = [place for place in best if places[order[place]].file is not None]
    code = [place for place in files if _is_code(places[order[place]])]
    others = [place for place in files if not _is_code(places[order[place]])][:MENTIONING]
    if not code or not others or asks_of_changes(question) or _OF_TESTS.search(question):
        return []
    texts = passages([*code, *others])
    pairs = []
    for place in code:
        heading, _ = texts.get(place, ("", ""))
        names = [name for name in names_defined(heading) if len(name) >= _NAME_LEAST and name[:2] != "__"]
        for other in others:
            _, text = texts.get(other, ("", ""))
            near = scores[place] >= LIKELY * scores[other] > 0
            if near and scores[place] < scores[other] and any(is_mentioned(name, text) for name in names):
                pairs.append((place, other))
                break
    return pairs


def _is_code(row: RankingRow) -> bool:
    return row.kind == CODE and not is_test_path(row.file or "")
