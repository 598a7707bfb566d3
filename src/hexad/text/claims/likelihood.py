"""How likely a newer short text says of the same thing something else: two logistic models over how the two differ.

They know no subjects and no verbs but the closed classes: what the texts share, where they differ (before what they
share, or behind it), what stands left of the difference, numbers, and by which small words the newer one changes,
ends, corrects, plans or remembers. The second model also knows the question that both may answer, and so which of
their words are asked about. `python -m benchmarks.update_likelihood` fits the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import exp
from typing import Final

from hexad.text.claims import english
from hexad.text.claims.assertion import (
    Assertion,
    asks_former,
    asks_possible,
    assertion_of_tokens,
)
from hexad.text.claims.reader import verb_of
from hexad.text.claims.words import Token, tokens_of

SIGNS: Final = (
    "share of the older", "share of the newer", "shared", "nothing shared", "only the older has",
    "the older begins apart", "they begin alike", "both begin apart", "both end apart",
    "the older differs first", "verb of change", "now", "turns", "corrects", "names the former last",
    "turns all of it", "plans", "hearsay", "adds", "tells the past", "number against words",
    "only numbers differ", "numbers and words differ", "numbers differ",
    "the same stands before the difference", "beginning", "end", "first person", "another one speaks",
    "difference behind the same", "begin alike, the same before the difference", "both happened",
    "one denies", "nothing new", "words of the newer", "words of the older", "openings differ",
)  # fmt: skip
QUESTION_SIGNS: Final = (
    "share of the question in the older", "in the newer", "in both", "the same words of it",
    "more of it in the newer", "shared words that are not asked for", "one without any", "more of it in the older",
)  # fmt: skip

_KEY: Final = 5
"""Words are the same that begin so: "schedule", "scheduled"."""
_FRAME, _MOST_IN_PLACE = 2, 3
_MOST_SHARED, _MOST_OLDER, _MOST_ASIDE, _MOST_WORDS = 4, 4, 3, 15
_ARTICLES: Final = frozenset({"a", "an", "the"})
_BEFORE_SLOT: Final = _ARTICLES | {"now"}
_PASSED_OVER: Final = english.ADVERBS | _ARTICLES | {",", "."}
_INSTEAD: Final = frozenset({"instead", "rather", "anymore", "longer"})
_ENDS: Final = english.ENDING | english.GONE | {"finished", "gave", "given"}
_NOW: Final = english.NOW | english.RETURNS
_TURNS: Final = english.CHANGE | _NOW | _ENDS | english.CORRECTIONS
_SUPPOSES: Final = english.PLANS | english.CONDITIONS
_MIGHT: Final = frozenset({"would", "could", "might", "should", "maybe", "perhaps", "'d"})
_ASKS: Final = [Token("?", "?", "?")]
_WAS: Final = english.PAST | {"was", "were", "had", "used", "ago", "back", "until"}


class Wording:
    """A short text as it is compared: its words, and which of them say something."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens_of(text)
        self.lows = frozenset(token.low for token in self.tokens)
        self.content = [(at, _key(token)) for at, token in enumerate(self.tokens) if token.content]
        self.keys = frozenset(key for _, key in self.content)
        was = self.lows & _WAS
        self.tells_past = bool(was) and (was != {"used"} or not self._is_used)
        """Whether it speaks of what was; not by what "is used" for something."""

    @cached_property
    def spine(self) -> list[str]:
        """All its words in order but articles and adverbs."""
        return [token.stem for token in self.tokens if token.low not in _PASSED_OVER]

    @cached_property
    def speaker(self) -> str:
        """The word before a colon at the beginning; "" without."""
        return self.tokens[0].low if len(self.tokens) > 2 and self.tokens[1].low == ":" else ""

    @cached_property
    def opening(self) -> str:
        """The preposition that it begins with; "" without."""
        low = self.tokens[0].low if self.tokens else ""
        return low if low in english.PREPOSITIONS else ""

    @cached_property
    def happened(self) -> bool:
        """Whether it tells of something that was done."""
        if not self.lows.isdisjoint(english.AUXILIARIES):
            return False
        return any(
            token.low in english.IRREGULAR or (token.low.endswith("ed") and token.written.islower())
            for token in self.tokens
        )

    @cached_property
    def numbered(self) -> frozenset[tuple[str, str]]:
        """Words with the number right behind each: "server 3", "ticket 101"."""
        return frozenset(
            (before.stem[:_KEY], token.stem)
            for before, token in pairwise(self.tokens)
            if token.number and not token.unit and before.content and not before.number
        )

    @cached_property
    def assertion(self) -> Assertion | None:
        """What it says that does not say what is; what asks says what may be."""
        if self.tokens[-1:] == _ASKS:
            return Assertion.POSSIBLE
        return assertion_of_tokens(self.tokens) if english.may_say_otherwise(self.lows) else None

    @cached_property
    def asks_former(self) -> bool:
        """Whether it asks what was."""
        return asks_former([token.low for token in self.tokens])

    def asks_for(self, text: Wording) -> bool:
        """Whether it asks for what a text says that does not say what is."""
        if text.assertion is Assertion.FORMER:
            return self.asks_former
        return text.assertion is not None and asks_possible(self.lows, text.lows)

    def names_all_of(self, older: Wording) -> bool:
        """Whether it has all words of an older text but for its verb, of which it may have another form."""
        stems = {token.stem for token in self.tokens}
        rest = {token.stem for token in older.tokens if token.content and token.stem not in stems}
        if not rest:
            return True
        found = verb_of(older.tokens)
        return found is not None and rest <= {found[1].stem}

    @property
    def _is_used(self) -> bool:
        """Whether each "used" of it is of what "is used"."""
        lows = [token.low for token in self.tokens if token.low not in english.ADVERBS]
        return all(
            at and not english.BE.isdisjoint(lows[:at]) and lows[at + 1 : at + 2] != ["to"]
            for at, low in enumerate(lows)
            if low == "used"
        )

    @property
    def supposes(self) -> bool:
        """Whether it asks, or says what might be."""
        return self.tokens[-1:] == _ASKS or not self.lows.isdisjoint(_MIGHT)

    def apart(self, shared: frozenset[str]) -> list[int]:
        """Return where the words stand that are not shared."""
        return [at for at, key in self.content if key not in shared]

    def before(self, at: int) -> str:
        """Return the word before a place, articles aside; "" at the beginning."""
        at -= 1
        while at >= 0 and self.tokens[at].low in _BEFORE_SLOT:
            at -= 1
        return self.tokens[at].stem if at >= 0 else ""


def _key(token: Token) -> str:
    return token.stem if token.number else token.stem[:_KEY]


def signs_of(older: Wording, newer: Wording) -> list[float]:
    """Return the signs of a pair, in the order of `SIGNS`."""
    shared = older.keys & newer.keys
    mine, theirs = older.apart(shared), newer.apart(shared)
    first = [wording.content[0][1] if wording.content else "" for wording in (older, newer)]
    last = [wording.content[-1][1] if wording.content else "" for wording in (older, newer)]
    begins_apart, newer_begins_apart = first[0] not in shared, first[1] not in shared
    alike = not begins_apart and first[0] == first[1]
    ends_apart, newer_ends_apart = last[0] not in shared, last[1] not in shared
    together = [at for at, key in older.content if key in shared]
    differs_first = bool(mine and together and mine[0] < together[0])
    lows = newer.lows
    change, denies = _any(lows, english.CHANGE), _any(lows, english.NEGATIONS)
    ends = _any(lows, _ENDS)
    former = denies or ends or "from" in lows or ("of" in lows and change) or _any(lows, _INSTEAD)
    slots = {newer.before(at) for at in theirs}
    slot = older.before(_run_start(mine)) if mine else ""
    same_before = bool(slot) and slot in slots
    beginning, end = _common(older.spine, newer.spine)
    fewer = max(min(len(older.spine), len(newer.spine)), 1)
    signs = (
        (len(older.content) - len(mine)) / max(len(older.content), 1),
        (len(newer.content) - len(theirs)) / max(len(newer.content), 1),
        min(len(shared), _MOST_SHARED),
        not shared,
        min(len(mine), _MOST_OLDER),
        begins_apart,
        alike,
        begins_apart and newer_begins_apart,
        ends_apart and newer_ends_apart,
        differs_first,
        change,
        _any(lows, _NOW),
        _any(lows, _TURNS),
        _any(lows, english.CORRECTIONS),
        not ends_apart and newer_ends_apart and former,
        (change or ends or denies) and not mine,
        _any(lows, _SUPPOSES),
        _any(lows, english.HEARSAY),
        _any(lows, english.ADDS),
        newer.tells_past,
        *_number_signs(older, newer, mine, theirs),
        same_before,
        beginning / fewer,
        end / fewer,
        _any(older.lows, english.FIRST_PERSON) and _any(lows, english.FIRST_PERSON),
        bool(older.speaker and newer.speaker) and older.speaker != newer.speaker,
        same_before and not differs_first,
        same_before and alike,
        older.happened and newer.happened,
        _any(older.lows, english.NEGATIONS) != denies,
        not theirs,
        min(len(newer.content), _MOST_WORDS) / _MOST_WORDS,
        min(len(older.content), _MOST_WORDS) / _MOST_WORDS,
        bool(older.opening and newer.opening) and older.opening != newer.opening,
    )
    return [float(sign) for sign in signs]


def _any(words: frozenset[str], group: frozenset[str]) -> bool:
    return not words.isdisjoint(group)


def _run_start(places: Sequence[int]) -> int:
    """Return where the last run of neighbouring places begins."""
    at = len(places) - 1
    while at > 0 and places[at - 1] == places[at] - 1:
        at -= 1
    return places[at]


def _common(mine: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """Return how many words two texts share at the beginning, and how many of the others at the end."""
    fewer = min(len(mine), len(theirs))
    start = 0
    while start < fewer and mine[start] == theirs[start]:
        start += 1
    end = 0
    while end < fewer - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    return start, end


def _number_signs(
    older: Wording, newer: Wording, mine: Sequence[int], theirs: Sequence[int]
) -> tuple[bool, bool, bool, bool]:
    """Return whether a number stands against words, and whether only numbers, numbers and words, or numbers differ."""
    was, now = (
        [wording.tokens[at].number is not None for at in places]
        for wording, places in ((older, mine), (newer, theirs))
    )
    both = any(was) and any(now)
    return (
        any(was) != any(now),
        both and all(was) and all(now),
        both and not all(was) and not all(now),
        both,
    )


def question_signs(question: Wording, older: Wording, newer: Wording) -> list[float]:
    """Return what a question says of a pair, in the order of `QUESTION_SIGNS`."""
    count = max(len(question.keys), 1)
    mine, theirs = question.keys & older.keys, question.keys & newer.keys
    signs = (
        len(mine) / count,
        len(theirs) / count,
        len(mine & theirs) / count,
        mine == theirs,
        len(theirs - mine) / count,
        min(len((older.keys & newer.keys) - question.keys), _MOST_ASIDE),
        not mine or not theirs,
        len(mine - theirs) / count,
    )
    return [float(sign) for sign in signs]


def pair_likelihood(older: Wording, newer: Wording) -> float:
    """Return how likely `newer` takes the place of `older`, of pairs as alike as those it was fitted on."""
    if newer.supposes or _are_instances(older, newer):
        return 0.0
    return _logistic(PAIR_WEIGHTS, signs_of(older, newer))


def answer_likelihood(question: Wording, older: Wording, newer: Wording) -> float:
    """Return how likely `newer` takes the place of `older`, of two candidates for the answer to a question."""
    if newer.supposes or _are_instances(older, newer) or names_older(question, older, newer):
        return 0.0
    return _logistic(ANSWER_WEIGHTS, [*signs_of(older, newer), *question_signs(question, older, newer)])


def alike(question: Wording, lower: Wording, higher: Wording) -> float:
    """Return how likely one of two candidates takes the place of the other, whichever is newer.

    For texts of which it is known by their grammar that `higher` answers and `lower` does not; 0 where the question
    names what only that one says.
    """
    if _are_instances(lower, higher) or names_older(question, lower, higher):
        return 0.0
    asked = question_signs(question, lower, higher), question_signs(question, higher, lower)
    signs = signs_of(lower, higher), signs_of(higher, lower)
    return max(_logistic(ANSWER_WEIGHTS, [*left, *right]) for left, right in zip(signs, asked, strict=True))


def names_older(question: Wording, older: Wording, newer: Wording) -> bool:
    """Whether a question names what only the older of two texts says that are one but for a few words in one place.

    A number is a name behind the word that it numbers, "boat 1"; else it may be the former value of what is asked for.
    """
    asked, own = question.numbered - newer.numbered, older.numbered
    if any(pair in own and any(word == pair[0] for word, _ in newer.numbered) for pair in asked):
        return True
    begin, end = _common(older.spine, newer.spine)
    was, now = (wording.spine[begin : len(wording.spine) - end] for wording in (older, newer))
    if begin + end < _FRAME or max(len(was), len(now)) > _MOST_IN_PLACE:
        return False
    words = {token.stem for token in older.tokens if token.number is None}
    return any(stem[:_KEY] in question.keys - newer.keys for stem in was if stem in words)


def _are_instances(older: Wording, newer: Wording) -> bool:
    """Whether two texts are one but in two places apart: the first tells of which it is said, "node 5: 35 ms"."""
    if len(older.tokens) != len(newer.tokens):
        return False
    differ: list[int] = []
    for at, (was, now) in enumerate(zip(older.tokens, newer.tokens, strict=True)):
        if was.stem != now.stem:
            if not (was.content and now.content):
                return False
            differ.append(at)
    between = [at for at in range(differ[0] + 1, differ[-1]) if at not in differ] if differ else []
    return any(older.tokens[at].low not in _IN_NUMBERS for at in between)


_IN_NUMBERS: Final = frozenset({"-", "/", ".", ",", "(", ")"})


def _logistic(weights: Sequence[float], signs: Sequence[float]) -> float:
    odds = weights[0] + sum(weight * sign for weight, sign in zip(weights[1:], signs, strict=True))
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, odds))))


PAIR_WEIGHTS: Final = (
    -4.904, 1.077, 0.816, 0.213, -0.358, -0.243, -0.622, -0.246, -0.588, -0.483, -0.335, 0.551, 0.444, 1.205,
    1.011, 1.288, 0.749, -0.488, -1.510, -0.721, 0.125, -0.698, 1.520, -0.637, 0.530, 0.205, 2.246, -1.091,
    0.292, 0.958, 0.414, -0.016, -1.256, -1.184, -1.602, 3.743, -1.675, -1.357,
)  # fmt: skip
ANSWER_WEIGHTS: Final = (
    -4.561, 1.445, 0.674, 0.197, -0.290, -0.280, -0.636, -0.726, -0.434, -0.586, -0.251, 0.829, 0.941, 0.891,
    0.680, 1.610, 1.302, 1.522, -1.091, 0.223, 0.582, -0.846, 2.996, -0.641, 0.364, 0.434, 1.482, -1.994,
    0.414, 0.488, 0.560, 0.220, 1.160, -0.333, -0.893, 1.290, -1.834, 0.000, 0.358, -0.018, 0.948, 0.842,
    -0.681, -0.136, -0.320, -0.068,
)  # fmt: skip
"""The log-odds of nothing, and what each sign adds to them."""
