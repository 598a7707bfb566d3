"""What a clause says to be over by other words than those that told of it: a debt, a couple, an account, a flight.

Such a verb ends few things: who paid somebody back owes them no more, who broke up is no couple any more. So an older
clause is only over where it tells of such a thing, of the same persons, and where each word of the newer that says
something is accounted for: as who, as what, or as when. "I closed the Elm app" closes no account at Elm.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from hexad.text.claims import english
from hexad.text.claims.reader import Claim
from hexad.text.claims.words import MONTHS, PARTS_OF_DAY, POINTING, Token, is_day


class EndingKind(StrEnum):
    """What kind of thing is over."""

    DEBT = "debt"
    COUPLE = "couple"
    HOLDING = "holding"  # an account, a contract
    DATE = "date"  # what is held or booked, or is on a day: a subscription, a flight
    ACTIVITY = "activity"
    LOAN = "loan"
    OFFICE = "office"
    HOUSEHOLD = "household"
    FAULT = "fault"


class Ending(NamedTuple):
    """That a clause says something to be over: who does that and what it is done to, as stems, `SPEAKER` among them.

    `words` are both as they are written in lower case: an older text that tells of it has them all.
    """

    kind: EndingKind
    who: frozenset[str]
    what: frozenset[str]
    words: tuple[str, ...]
    passive: bool = False
    origins: frozenset[str] = frozenset()
    """What it comes from: who flies to Oslo misses no flight from there."""


SPEAKER: Final = "I"
"""Who speaks: no stem, for these are in lower case."""
_KIND_OF: Final = {verb: EndingKind(kind) for kind, verbs in english.OVER.items() for verb in verbs}
_PARTICLES: Final = {
    "broke": {"up"}, "broken": {"up"}, "split": {"up"}, "called": {"off"}, "gave": {"back"}, "given": {"back"},
    "brought": {"back"}, "handed": {"back"}, "moved": {"out"},
}  # fmt: skip
"""What has to stand behind a verb that says something else without it."""
_PASSIVES: Final = english.BE | {"got"}
_PASSIVE: Final = frozenset({EndingKind.HOLDING, EndingKind.DATE, EndingKind.FAULT})
_SMALL: Final = frozenset("up off back with to from of the a an all in full everything".split())
_PARTLY: Final = english.NEGATIONS | frozenset(
    "half part partly partially most some almost nearly half-way first another other new next second".split()
)
_ENDS_OBJECT: Final = frozenset(
    {"and", ",", "(", ";", "because", "so", "but", "since", "when", "after", "as"}
)


def ending_of(claim: Claim) -> Ending | None:
    """Return what a clause says to be over; None where it says nothing of that kind.

    >>> from hexad.text.claims.reader import claims
    >>> [ending_of(claim).kind.value for claim in claims("I paid Marc back yesterday.")]
    ['debt']
    """
    if not claim.closes:
        return None
    found = next(at for at, token in enumerate(claim.clause) if token.low in _KIND_OF)
    tail = claim.clause[found + 1 :]
    end = next((end for end, token in enumerate(tail) if token.low in _ENDS_OBJECT), len(tail))
    head, verb, tail = claim.clause[:found], claim.clause[found].low, tail[:end]
    behind = {token.low for token in tail}
    lows = behind.union(token.low for token in head)
    needed = _PARTICLES.get(verb, behind)
    if not _PARTLY.isdisjoint(lows) or (needed is not behind and needed.isdisjoint(behind)):
        return None
    done_to = _without_when(tail)
    return _read(_KIND_OF[verb], head, done_to, of_others=not english.OTHERS.isdisjoint(lows))


def endings_of(claimed: Sequence[Claim]) -> list[Ending]:
    """Return what a text of these claims says to be over."""
    return [ending for claim in claimed if (ending := ending_of(claim)) is not None]


def _read(
    kind: EndingKind, head: Sequence[Token], done_to: Sequence[Token], *, of_others: bool
) -> Ending | None:
    who, what = _named(head), _named(done_to)
    told = head if kind is EndingKind.OFFICE else (*head, *done_to)
    words = tuple(dict.fromkeys(token.low for token in told if _tells(token)))
    if any(token.low in _PASSIVES for token in head[-3:]) and kind is not EndingKind.COUPLE:
        if kind not in _PASSIVE or what or of_others:
            return None
        origins = frozenset(after.stem for before, after in pairwise(head) if before.low == "from")
        return Ending(kind, frozenset(), who, words, passive=True, origins=origins)
    if of_others and (SPEAKER in who or kind in {EndingKind.DEBT, EndingKind.COUPLE}):
        return None
    return Ending(kind, who, what, words)


def _named(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the words that say something, and whether who speaks is among them."""
    speaks = any(token.low in _SPEAKING for token in tokens)
    words = frozenset(token.stem for token in tokens if _tells(token))
    return words | {SPEAKER} if speaks else words


def _tells(token: Token) -> bool:
    return token.content and token.low not in _SMALL


_SPEAKING: Final = frozenset("i we me us i've we've".split())


def _without_when(tokens: Sequence[Token]) -> list[Token]:
    """Return a phrase without when it was: "last week", "in May", "on Friday", "two weeks ago"."""
    end = len(tokens)
    lows = [token.low for token in tokens]
    if "ago" in lows:
        end = lows.index("ago")
        while end and (
            is_day(tokens[end - 1]) or tokens[end - 1].number is not None or lows[end - 1] in {"a", "an"}
        ):
            end -= 1
    for at, (low, after) in enumerate(pairwise(lows)):
        once = after not in PARTS_OF_DAY and not after.endswith("days")
        known = low in POINTING or (low in {"in", "on"} and once)
        if at < end and known and is_day(tokens[at + 1]):
            end = at
    return list(tokens[:end])


# Whether an older clause tells of it --------------------------------------------------------------------------


def ends(was: Claim, ending: Ending) -> bool:
    """Whether what an older clause says is over by what a newer one says."""
    if was.negative or was.ended or not was.tokens:
        return False
    return _ENDS[ending.kind](was, ending)


def _ends_debt(was: Claim, ending: Ending) -> bool:
    if was.verb not in {"owe", "owes"} or not was.value or _subject(was) != ending.who or _recurs(was):
        return False
    lows = _lows(was)
    behind = lows[lows.index(was.verb) + 1 :]
    to_speaker = not {"me", "us"}.isdisjoint(behind[:1])
    creditor = SPEAKER if to_speaker else was.value[0].stem
    owed = {token.stem for token in was.value[0 if to_speaker else 1 :]}
    in_money = not owed or not owed.isdisjoint(_MONEY) or any(token.number for token in was.value)
    said = ending.what | (frozenset() if in_money else owed)
    return (
        creditor in said and said <= was.words | ({SPEAKER} if to_speaker else set()) and said == ending.what
    )


_MONEY: Final = frozenset("money cash rent deposit".split())


def _ends_couple(was: Claim, ending: Ending) -> bool:
    lows = _lows(was)
    both = ending.who | ending.what
    if _COUPLES.isdisjoint(lows) or "'s" in lows or len(both) < 2:
        return False
    if "seeing" in lows and any(map(is_day, was.tokens)):
        return False  # a date with somebody
    speaks = was.person or any(low == "my" and after in _COUPLES for low, after in pairwise(lows))
    return both <= was.words | ({SPEAKER} if speaks else set()) and speaks == (SPEAKER in both)


_COUPLES: Final = frozenset(
    """
    dating seeing married engaged girlfriend boyfriend wife husband partner fiance fiancee together couple
    relationship
    """.split()
)


def _ends_holding(was: Claim, ending: Ending) -> bool:
    if was.verb not in _HOLDS or not was.value or not (ending.passive or _subject(was) == ending.who):
        return False
    return _head_of_value(was) in ending.what and _is_accounted(was, ending)


def _ends_date(was: Claim, ending: Ending) -> bool:
    if _recurs(was):
        return False  # of what recurs one date may be meant
    if _ends_holding(was, ending):
        return True
    goals = {after.stem for before, after in pairwise(was.tokens) if before.low == "to"}
    dated = (
        not was.past
        and ending.origins.isdisjoint(goals)
        and any(token.low.rstrip(".") in MONTHS for token in was.value)
    )
    if not dated or not (ending.passive or ending.who == {SPEAKER}):
        return False
    return _head_of_subject(was) in ending.what and _is_accounted(was, ending)


_HOLDS: Final = english.HAVE | frozenset(
    "own owns hold holds keep keeps rent rents booked reserved book scheduled ordered signed".split()
)


def _ends_activity(was: Claim, ending: Ending) -> bool:
    goes_on = was.verb.endswith("ing") or (
        was.verb == "be" and was.value[:1] and was.value[0].low.endswith("ing")
    )
    if not goes_on or not was.value or _subject(was) != ending.who:
        return False
    return _head_of_value(was) in ending.what and _is_accounted(was, ending)


def _ends_loan(was: Claim, ending: Ending) -> bool:
    if was.verb not in {"lent", "loaned", "borrowed", "has", "have", "'ve", "got"} or not was.value:
        return False
    who = {was.value[0].stem} if was.verb in {"lent", "loaned"} else _subject(was)
    return (
        who == ending.who and _head_of_value(was) in ending.what - ending.who and _is_accounted(was, ending)
    )


def _ends_office(was: Claim, ending: Ending) -> bool:
    if not was.inverse or was.past or ending.who != {token.stem for token in was.value} or "'s" in _lows(was):
        return False
    is_office = was.verb in english.ROLES or not was.subject.isdisjoint(_OFFICES)
    return is_office and bool(ending.what) and ending.what <= _COMPANIES


_OFFICES: Final = frozenset(
    """
    manager lead head director engineer designer developer owner ceo cto cfo coo president architect admin intern
    analyst recruiter secretary assistant maintainer supervisor coordinator officer boss
    """.split()
)
_COMPANIES: Final = frozenset("company firm team organization business".split())


def _ends_household(was: Claim, ending: Ending) -> bool:
    together = (was.verb in {"live", "lives", "living"} and was.preposition == "with") or (
        was.verb == "be" and not was.subject.isdisjoint(_MATES)
    )
    names = {token.stem for token in was.value if token.written[0].isupper()}
    return together and bool(names) and names <= ending.who <= was.words and not ending.what


_MATES: Final = frozenset("roommat flatmat housemat".split())


def _ends_fault(was: Claim, ending: Ending) -> bool:
    faulty = was.verb in {"be", *_FAULTS} and not _FAULTS.isdisjoint(
        {was.verb, *(token.low for token in was.value)}
    )
    return faulty and bool(was.subject) and was.subject == ending.what


_FAULTS: Final = frozenset(
    "broken leaking jammed cracked offline defective faulty damaged stuck open".split()
)


_ENDS: Final = {
    EndingKind.DEBT: _ends_debt,
    EndingKind.COUPLE: _ends_couple,
    EndingKind.HOLDING: _ends_holding,
    EndingKind.DATE: _ends_date,
    EndingKind.ACTIVITY: _ends_activity,
    EndingKind.LOAN: _ends_loan,
    EndingKind.OFFICE: _ends_office,
    EndingKind.HOUSEHOLD: _ends_household,
    EndingKind.FAULT: _ends_fault,
}


def _lows(was: Claim) -> list[str]:
    return [token.low for token in was.tokens]


def _subject(was: Claim) -> frozenset[str]:
    return was.subject or (frozenset({SPEAKER}) if was.person else frozenset())


def _head_of_value(was: Claim) -> str:
    """Return the word that says what it is: "account" of "a savings account at Elm"."""
    words = [token for token in was.value if token.number is None and not is_day(token)]
    return words[-1].stem if words else ""


def _head_of_subject(was: Claim) -> str:
    """Return the word of the subject that says what it is: "flight" of "the night flight to Oslo"."""
    head = ""
    for token in was.tokens:
        if head and (token.low in english.PREPOSITIONS or token.low == "'s" or token.stem not in was.subject):
            break
        if token.stem in was.subject:
            head = token.stem
    return head


def _recurs(was: Claim) -> bool:
    if any(token.low in _ALWAYS or (is_day(token) and token.low.endswith("s")) for token in was.tokens):
        return True
    return any(before.low in {"a", "per"} and is_day(token) for before, token in pairwise(was.tokens))


_ALWAYS: Final = frozenset("every each daily weekly monthly yearly".split())


def _is_accounted(was: Claim, ending: Ending) -> bool:
    """Whether the newer says nothing that the older does not, and names all that the older calls by a name."""
    said = ending.who | ending.what
    names = {
        token.stem
        for token in was.tokens
        if token.content and token.written[0].isupper() and token.number is None and not is_day(token)
    }
    return said - {SPEAKER} <= was.words and names <= said
