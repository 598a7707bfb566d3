"""Whether a text says what is, or only what was or what may be: by the grammar of each of its clauses.

What was is told by "used to", by the past perfect, by "formerly" or "back then" beside a past, by "no longer" and of a
"former" one; what may be by a plan, a wish, a doubt, a supposition. A text with a clause that says what is says that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from hexad.text.claims import english
from hexad.text.claims.reader import BESIDE_VERB, PASTS, clauses_of, verb_of
from hexad.text.claims.words import CALENDAR, Token, tokens_of


class Assertion(StrEnum):
    """What a text says that does not say what is."""

    FORMER = "former"  # what was, or is no more
    POSSIBLE = "possible"  # what is planned, wished, doubted or supposed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split(","))


_FORMERLY: Final = english.PAST
_TIMES: Final = _phrases(
    "back then,back in,in the past,in those,in the old,in the early,at the time,at that time,at one time,until then"
    ",until recently,until last,long ago,years ago,decades ago,ages ago,once upon a time,when i was,when we were"
    ",when he was,when she was,when they were"
)
"""What tells of a time that is over, where the verb is a past."""
_WAS: Final = _words("was were")
_IS: Final = _words("is are am has have")
_GETS: Final = english.BE | _words("get gets getting got gotten become becomes became")
_RELATIVE: Final = _words("who which that")
_PARTICIPLES: Final = english.IRREGULAR | _words(
    """
    been become begun broken chosen come cut done drawn driven drunk eaten fallen flown forgotten gone grown hidden hurt
    known put read ridden risen run seen set shown sung sunk swum taken thrown worn written
    """
)
_OTHERWISE: Final = _words("but instead")

_SOME_DAY: Final = (*_phrases("one day,at some point,in the long run"), ("someday",), ("eventually",))
_ASIDE: Final = english.CONDITIONS | _words("because while although though")
"""What begins a clause that says of another one when, why or under which condition it holds."""
_GOES_ON: Final = _words("took went started began ended grew fell rose")
"""Verbs of change that without a "to" tell what somebody did all the time."""
_LEADS_ON: Final = _words("to into over from with by")
_AHEAD: Final = english.MODALS | {"'ll", "'d"}
_SURE: Final = english.NOW - {"anymore", "instead"}


class _Clause(NamedTuple):
    """The words of a clause, where its verb begins and the first word that is neither auxiliary nor adverb stands."""

    lows: list[str]
    verb: str
    at: int
    main: int

    @property
    def group(self) -> list[str]:
        """The verb with what stands beside it."""
        return self.lows[self.at : self.main]


def assertion_of(text: str) -> Assertion | None:
    """Return what a text says that does not say what is; None where it says what is, or asks.

    >>> [str(assertion_of(text)) for text in ("It used to be 5.", "It may be 6.", "It was 5, now it is 6.")]
    ['former', 'possible', 'None']
    """
    if text.rstrip().endswith("?"):
        return None
    return assertion_of_tokens(tokens_of(text))


def assertion_of_tokens(tokens: Sequence[Token]) -> Assertion | None:
    """Return what a text says that does not say what is, by its tokens; None where it says what is."""
    lows = [token.low for token in tokens]
    found: Assertion | None = None
    for sentence in _sentences(tokens):
        told = list(_assertions(sentence))
        if None in told:
            return None
        found = found or next(iter(told), None)
    return None if found is Assertion.FORMER and not _SURE.isdisjoint(lows) else found


def asks_former(lows: Sequence[str]) -> bool:
    """Whether a question asks what was, by its words in order: "where did it use to run?", "who was it before?"."""
    if not (_FORMERLY | _WAS).isdisjoint(lows) or "had" in lows or "ago" in lows or _ends(lows):
        return True
    if "did" in lows and (("use", "to") in pairwise(lows) or lows[-2:-1] in (["before"], ["then"])):
        return True
    return _used_to(lows) or ("did" in lows and _has(lows, _TIMES))


def asks_possible(asked: frozenset[str], told: frozenset[str]) -> bool:
    """Whether a question asks for what a text says may be, by the words of both: "what are we considering?"."""
    return not asked.isdisjoint(_ASKS_POSSIBLE) or not asked.isdisjoint(told & _NAMES_POSSIBLE)


_ASKS_POSSIBLE: Final = (
    english.DOUBTS | english.UNSURE | english.WISHES | english.WANTS | english.AIMS | english.CONSIDERS
    | english.WEIGHS | _words("might sure thinking")
)  # fmt: skip
_NAMES_POSSIBLE: Final = (
    english.PROJECTS | english.SUPPOSES | _words("could would should may 'd supposed thought looking talking")
)


def _sentences(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    begin = 0
    for at, token in enumerate(tokens):
        if token.low in _ENDS:
            yield tokens[begin:at]
            begin = at + 1
    yield tokens[begin:]


_ENDS: Final = frozenset(".?!;")


def _assertions(sentence: Sequence[Token]) -> Iterator[Assertion | None]:
    """Yield what each clause says that says anything."""
    lows = [token.low for token in sentence]
    if not lows:
        return
    if _supposes(lows):
        yield Assertion.POSSIBLE
        return
    past = not _FORMERLY.isdisjoint(lows) or _has(lows, _TIMES) or lows[0] == "until" or lows[-1] == "then"
    for tokens in clauses_of(sentence):
        # A comma or a bracket is how the clause was parted.
        words = [token for token in tokens if token.low not in {"(", ")"}]
        yield from _assertion(words[1:] if words and words[0].low == "," else words, past=past)


def _supposes(lows: Sequence[str]) -> bool:
    """Whether a sentence as a whole is a supposition: "What if …", "Suppose …", "If we moved …"."""
    if lows[0] in english.SUPPOSES or list(lows[:2]) == ["what", "if"]:
        return True
    if lows[0] != "if" or len(lows) < 3 or lows[1] not in english.SPEAKERS:
        return False
    verb = next((low for low in lows[2:] if low not in english.ADVERBS), "")
    return verb in english.CHANGE or verb in {"were", "had"} or _is_past_form(verb)


def _assertion(tokens: Sequence[Token], *, past: bool) -> Iterator[Assertion | None]:
    """Yield what a clause says that does not say what is, None for what is, and nothing for a clause without a verb."""
    lows = [token.low for token in tokens]
    clause = _read(tokens)
    if clause is None:
        yield from _without_verb(lows)
    elif lows[0] in _RELATIVE and "," in lows:
        yield None  # the rest of the clause that it stands in
    elif lows[0] in _ASIDE and "," not in lows[: clause.at] and lows[1:2] != ["upon"]:
        return
    elif not _OTHERWISE.isdisjoint(lows[clause.main :]):
        yield None
    elif _may_be(clause):
        yield None if _goes_on(clause) else Assertion.POSSIBLE
    else:
        yield Assertion.FORMER if _was(clause, tokens, past=past) else None


def _goes_on(clause: _Clause) -> bool:
    """Whether the same is said to do something else: "we considered Kafka and use RabbitMQ"."""
    return any(
        low in {"and", "so", "then"} and (after in english.CHANGE or after in _DONE or _is_past_form(after))
        for low, after in pairwise(clause.lows[clause.main :])
    )


_DONE: Final = frozenset[str]().union(*english.RELATIONS.values())


def _without_verb(lows: Sequence[str]) -> Iterator[Assertion | None]:
    if _ends(lows):
        yield Assertion.FORMER if _OTHERWISE.isdisjoint(lows) else None
    elif lows[:1] and lows[0] in _FORMERLY:
        yield Assertion.FORMER
    elif lows[:1] and lows[0] in english.DOUBTS:
        yield Assertion.POSSIBLE
    elif not {":", "=", "→"}.isdisjoint(lows):
        yield None  # a label and its value


def _read(tokens: Sequence[Token]) -> _Clause | None:
    found = verb_of(tokens)
    if found is None:
        return None
    at, verb, _ = found
    lows = [token.low for token in tokens]
    main = at
    while main < len(lows) and (lows[main] in BESIDE_VERB or (main > at and lows[main] in english.DOUBTS)):
        main += 1
    return _Clause(lows, verb.low, at, main)


def _has(lows: Sequence[str], phrases: Iterable[tuple[str, ...]]) -> bool:
    """Whether one of these phrases stands there, and is no part of a longer one: "in the past year"."""
    for phrase in phrases:
        for at in range(len(lows) - len(phrase) + 1):
            if tuple(lows[at : at + len(phrase)]) == phrase:
                following = lows[at + len(phrase)] if at + len(phrase) < len(lows) else ""
                if following not in _OF_TIMES or phrase[-1] in {"those", "last", "old", "early", "in"}:
                    return True
    return False


_OF_TIMES: Final = CALENDAR | _words("years weeks months days hours minutes of")


# What was -----------------------------------------------------------------------------------------------------------


def _was(clause: _Clause, tokens: Sequence[Token], *, past: bool) -> bool:
    lows = clause.lows
    if _ends(lows) or _used_to(lows) or _had(clause) or _is_former_one(clause, tokens):
        return True
    if clause.verb in english.CHANGE and not (clause.verb in _GOES_ON and _LEADS_ON.isdisjoint(lows)):
        return False  # it is so since then
    if not _IS.isdisjoint(lows[clause.at :]):
        return False
    told = not _WAS.isdisjoint(clause.group) or _is_past_form(clause.verb)
    if not told and clause.verb.endswith(
        "s"
    ):  # a plural that looks like a verb: "feature flags lived in a file"
        told = any(map(_is_past_form, lows[clause.at + 1 : clause.at + 2]))
    return told and (past or "once" in lows[max(clause.at - 1, 0) : clause.main])


def _is_past_form(verb: str) -> bool:
    return verb in english.IRREGULAR or verb in PASTS or (verb.endswith("ed") and len(verb) > 3)


def _ends(lows: Sequence[str]) -> bool:
    """Whether it is said that something is so no more."""
    for at, (low, after) in enumerate(pairwise(lows)):
        if (low, after) == ("no", "longer"):
            return lows[at + 2 : at + 3] != ["than"]
    more = "anymore" in lows or ("any", "more") in pairwise(lows)
    return more and not english.NEGATIONS.isdisjoint(lows)


def _used_to(lows: Sequence[str]) -> bool:
    """Whether something "used to" be so; not what "is used to" do something, nor what of many is spoken of."""
    for at, (low, after) in enumerate(pairwise(lows)):
        if (low, after) == ("used", "to") and not {"is", "are"} & set(lows[at + 2 :]):
            before = [low for low in lows[:at] if low not in english.ADVERBS]
            if not (before and before[-1] in _GETS) and not (
                before[-1:] and before[-1] in _RELATIVE and before[1:]
            ):
                return True
    return False


def _had(clause: _Clause) -> bool:
    """Whether the verb is a past perfect, and not of what has become otherwise."""
    if "had" not in clause.group or clause.main >= len(clause.lows):
        return clause.group[-1:] == ["been"] and "had" in clause.group
    if not _RELATIVE.isdisjoint(clause.lows[1 : clause.at]):
        return False
    if "been" in clause.group:
        return clause.lows[clause.main] not in english.CHANGE
    verb = clause.lows[clause.main]
    return (verb in _PARTICIPLES or verb.endswith(("ed", "en"))) and verb not in english.CHANGE


def _is_former_one(clause: _Clause, tokens: Sequence[Token]) -> bool:
    """Whether a "former" one is what the clause is about, or what it says of somebody."""
    lows = clause.lows
    for at, low in enumerate(lows):
        former = low in english.FORMER_ONE or low.startswith("ex-")
        if not (former or (low == "previous" and not _WAS.isdisjoint(clause.group))) or at == 0:
            continue
        if lows[at - 1] not in english.DETERMINERS and lows[at - 1] != "'s":
            continue
        if clause.verb not in english.BE:
            return False  # what the former one does
        if at > clause.at:
            return at <= clause.main + 1
        is_somebody = clause.main < len(tokens) and tokens[clause.main].written[0].isupper()
        return "," not in lows[:at] and "'s" not in lows[at : clause.at] and is_somebody
    return False


# What may be --------------------------------------------------------------------------------------------------------


def _may_be(clause: _Clause) -> bool:
    lows, group = clause.lows, clause.group
    if not english.UNSURE.isdisjoint(lows) or ("not", "sure") in pairwise(lows):
        return True
    if not english.DOUBTS.isdisjoint(lows[: clause.main + 1]):
        return True
    return (
        "might" in group
        or ("could" in group and "not" not in group)
        or _may(clause)
        or _would(clause)
        or _intends(clause)
        or _is_project(clause)
    )


def _may(clause: _Clause) -> bool:
    """Whether "may" says that something is not sure; more often it says that somebody has leave."""
    if "may" not in clause.group or not english.NEGATIONS.isdisjoint(clause.group):
        return False
    following = clause.lows[clause.main : clause.main + 1]
    unsure = clause.group[-1] in {"be", "have"} and not any(map(_is_past_form, following))
    return unsure or not english.SOON.isdisjoint(clause.lows) or not english.CHANGE.isdisjoint(following)


def _would(clause: _Clause) -> bool:
    """Whether something would be so, or somebody would like it to be; not what somebody would rather have."""
    following = clause.lows[clause.main : clause.main + 1]
    if "would" in clause.group or "wouldn't" in clause.group:
        return following != ["prefer"] and "rather" not in clause.group
    return "'d" in clause.group and following in (["like"], ["love"]) and "to" in clause.lows[clause.main :]


def _intends(clause: _Clause) -> bool:
    """Whether the verb says that something is planned, wished, proposed or thought about."""
    lows, at = clause.lows, clause.main
    ahead = not _AHEAD.isdisjoint(clause.group)
    if at < len(lows):
        verb, following = lows[at], lows[at + 1] if at + 1 < len(lows) else ""
        is_passive = not english.BE.isdisjoint(clause.group) and not verb.endswith("ing")
        if verb in english.WISHES and not is_passive:
            return True
        if verb in english.WANTS:
            return "to" in lows[at + 1 : at + 7]
        if verb in english.AIMS and not is_passive:
            return following in {"to", "for", "on"} or verb.endswith("ing")
        if verb in english.CONSIDERS:
            return following.endswith("ing")
        if verb in english.PROPOSES or (verb in english.WEIGHS and not is_passive):
            return not is_passive or not _WAS.isdisjoint(clause.group)
        if following in english.THINKS.get(verb, ()):
            return True
    return (ahead or "supposed" in lows) and _has(lows, _SOME_DAY)


def _is_project(clause: _Clause) -> bool:
    """Whether what is said is what an idea, a proposal or a plan is."""
    lows, at = clause.lows, clause.at
    if lows[at] not in english.BE:
        return False
    if lows[:1] == ["there"]:
        return any(low in english.PROJECTS and after in _OF_PROJECT for low, after in pairwise(lows[at:]))
    if not at or lows[at - 1] not in english.PROJECTS:
        return False
    following = lows[clause.main : clause.main + 1]
    return following == ["to"] or (lows[at - 1] in english.NOTIONS and following in (["a"], ["an"], ["that"]))


_OF_PROJECT: Final = _words("to that")
