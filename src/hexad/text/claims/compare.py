"""Whether a newer text says of the same thing something else than an older one: by their words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from hexad.text.claims import english
from hexad.text.claims.endings import Ending, endings_of, ends
from hexad.text.claims.reader import Claim, claims
from hexad.text.claims.words import PARTS_OF_DAY, POINTING, Token, is_day, stem


class UpdateReason(StrEnum):
    """Why a text is taken to be out of date."""

    FORMER = "former"  # the newer one names its value as what was
    ENDED = "ended"  # the newer one says that it is so no more
    VALUE = "value"  # the newer one gives another value of the same


class Update(NamedTuple):
    """That a text takes the place of another: why, and how sure that is, from 0 to 1."""

    reason: UpdateReason
    confidence: float


_OVER: Final = Update(UpdateReason.ENDED, 0.85)
_STATES: Final = frozenset({"", "be"})
WEAK: Final = 0.4
"""How sure it is that of two values that may both hold the later one is meant."""


def update_of(
    old: str | Sequence[Claim], new: str | Sequence[Claim], *, over: Sequence[Ending] | None = None
) -> Update | None:
    """Return whether `new` takes the place of `old`; None for what is only similar.

    `over` is what `new` says to be over, `endings_of` it, where it is compared with many.

    >>> update_of("Our database is MySQL.", "We moved from MySQL to Postgres.").reason.value
    'former'
    >>> update_of("The rate limit is 100.", "The rate limit is 250.").reason.value
    'value'
    >>> update_of("Ann lives in Porto.", "Ben lives in Lisbon.") is None
    True
    """
    older = claims(old) if isinstance(old, str) else old
    newer = claims(new) if isinstance(new, str) else new
    best: Update | None = None
    over = endings_of(newer) if over is None else over
    for was in older:
        if was.ended:
            continue
        if over and any(ends(was, ending) for ending in over):
            best = max(best or _OVER, _OVER, key=lambda update: update.confidence)
        for now in newer:
            if was.past != now.past:
                continue
            if was.verb == now.verb == "" and was.value and was.stems <= _told(newer):
                now = now._replace(changes=True)  # it names the older value beside its own
            update = _past_update(was, now) if was.past else _update(was, now)
            if update is not None and (best is None or update.confidence > best.confidence):
                best = update
    return None if best is None else _calibrated(best)


def _told(claimed: Sequence[Claim]) -> frozenset[str]:
    return frozenset[str]().union(*(words for claim in claimed for words in (claim.words, *claim.former)))


_SHARES: Final = ((0.9, 0.97), (0.85, 0.95), (0.7, 0.88), (0.5, 0.13), (0.4, 0.2))
"""From which strength of the signs on which share was right on the development half of `plain-updates`, 1,210 stores
of which 210 hold an update: 77 of 77, 78 of 80, 17 of 18, 2 of 15 and 15 of 78, one of each added to both sides."""


def _calibrated(update: Update) -> Update | None:
    """Return an update with the share of its like that were right; None for signs that say little (1 of 38)."""
    share = next((share for strength, share in _SHARES if update.confidence >= strength - 1e-9), None)
    return None if share is None else Update(update.reason, share)


def _update(was: Claim, now: Claim) -> Update | None:
    if was.former and _said_again(was, now):
        return None
    if now.ended and _is_narrower(was, now):
        return None
    if now.ended and not was.negative and (update := _ended(was, now)) is not None:
        return update
    if was.owners != now.owners and was.subject & now.subject:
        return None
    if now.former and (update := _taken_over(was, now)) is not None:
        return update
    goes_to = now.preposition == "to" and now.verb in english.CHANGE and not now.negative
    if goes_to and (_is_other_version(was, now) or _is_other_time(was, now)):
        return Update(UpdateReason.VALUE, 0.85)
    if _apart(was, now) or not _one_subject(was, now):
        return None
    if now.age == "new" and not was.age:
        now = now._replace(changes=True)
    if now.former and (update := _former(was, now)) is not None:
        return update
    if now.negative or was.negative:
        return _turned(was, now)
    if now.adds or not (was.value and now.value and (was.verb or was.topic) and (now.verb or now.topic)):
        return None
    update = _by_another(was, now) if was.preposition == "by" or was.verb in english.CHANGE else None
    if update is None and was.lead == now.lead:
        update = _same_words(was, now)
    update = update or _other_value(was, now)
    if update is None or update.confidence <= WEAK:
        return update
    # Who is allergic to nuts may be to bees as well.
    is_one_of_several = _is_trait(was) and not _is_participle_verb(was)
    return Update(update.reason, WEAK) if is_one_of_several or _numbered_apart(was, now) else update


def _numbered_apart(was: Claim, now: Claim) -> bool:
    """Whether the same is said to be done by two that have numbers for names: "boat 1 sails on Monday", "boat 2 …"."""
    if was.verb in _STATES or was.root != now.root or not _same_value(was.value, now.value):
        return False
    mine, theirs = (
        {t.number for t in claim.tokens if t.number and t.stem in claim.subject} for claim in (was, now)
    )
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _is_narrower(was: Claim, now: Claim) -> bool:
    """Whether what is so no more is so only in some place, at some time of day or with something: "not with milk"."""
    phrase: list[Token] = []
    begun = next((at for at, token in enumerate(now.clause) if token.low in _ENDS), 0)
    for at, token in enumerate([*now.clause, _END]):
        if token.low not in _ENDS_PHRASE:
            phrase.append(token)
            continue
        if phrase and phrase[0].low in _NARROWING and not _is_date(phrase) and phrase[1:2] != [_ANY]:
            words = _stems([each for each in phrase if each.content])
            if words and words.isdisjoint(was.words):
                return True
        if token.low in english.CONJUNCTIONS or (token.low in {",", ":"} and at > begun):
            break
        phrase = [token]
    return False


_END: Final = Token(".", ".", ".")
_ANY: Final = Token("any", "any", "any")
_ENDS: Final = english.NEGATIONS | {"longer", "anymore", "stopped", "quit"}


def _is_date(phrase: Sequence[Token]) -> bool:
    """Whether a phrase says when something came to be over, "in May"; what is habitual does not: "on Mondays"."""
    lows = [token.low for token in phrase]
    which = not (POINTING | {"end", "beginning"}).isdisjoint(lows)
    return any(
        (is_day(token) and (which or token.low not in _HABITUAL) and not token.low.endswith("days"))
        or (token.number is not None and len(token.low) == 4)
        for token in phrase
    )


_HABITUAL: Final = PARTS_OF_DAY | {"mornings", "nights", "weekends", "summer", "winter"}
_NARROWING: Final = frozenset("in on at with before after during within while without".split())
_ENDS_PHRASE: Final = (english.PREPOSITIONS - {"of"}) | english.CONJUNCTIONS | {",", ":", "(", ")", "."}


def _said_again(was: Claim, now: Claim) -> bool:
    """Whether the same is said as in a clause that says how it came to be so."""
    return not set(was.former).isdisjoint(now.former) or was.words == now.words


def _apart(was: Claim, now: Claim) -> bool:
    """Whether two clauses speak of different things by who speaks, where, when, or of the old and the new one."""
    if was.age and now.age and was.age != now.age:
        return True
    if was.person and now.person and was.speaker and now.speaker and was.speaker != now.speaker:
        return True
    if was.opening and now.opening and was.opening != now.opening:
        return True
    return bool(was.places and now.places and not was.places & now.places)


def _by_another(was: Claim, now: Claim) -> Update | None:
    """Whether somebody else does what was done by somebody; or who switched once switches to something besides."""
    if was.preposition == "by" and now.named and now.changes and was.subject:
        return Update(UpdateReason.VALUE, 0.75) if was.subject <= now.stems else None
    happened = was.verb in english.IRREGULAR or was.verb.endswith("ed")
    if was.verb in english.CHANGE and happened and was.root == now.root and was.named:
        return None if was.attributive else Update(UpdateReason.VALUE, WEAK)
    return None


def _past_update(was: Claim, now: Claim) -> Update | None:
    """Compare two things that were done: of "it was sold to Ann" and "it was sold to Ben" the later may count."""
    if was.preposition != now.preposition or was.root != now.root:
        return None
    update = _update(was, now)
    return None if update is None else Update(update.reason, WEAK)


def _ended(was: Claim, now: Claim) -> Update | None:
    """Whether the newer says that what the older says is so no more, or that what it is said of is no more."""
    if now.gone and was.verb in {"", "be"} and was.subject == now.words:
        return Update(UpdateReason.ENDED, 0.9)
    if not was.words or was.words - now.words - {was.root} or was.words == {was.root}:
        return None
    if was.person != now.person and not was.subject & now.words:
        return None
    return Update(UpdateReason.ENDED, 0.9)


def _is_other_version(was: Claim, now: Claim) -> bool:
    """Whether who speaks has brought what they have to another version: "our database is MySQL 5.7", "to MySQL 8.0"."""
    ours = was.verb in _STATES and len(was.subject) == 1 and was.tokens[0].low in {"my", "our"}
    if not ours or was.places or was.negative or not now.person or now.topic:
        return False
    mine, theirs = ({token.stem for token in claim.value if not token.number} for claim in (was, now))
    numbers = [{token.number for token in claim.value if token.number} for claim in (was, now)]
    return bool(mine) and mine == theirs and all(numbers) and numbers[0] != numbers[1]


def _is_other_time(was: Claim, now: Claim) -> bool:
    """Whether what somebody has at some time was put off: "I have a dental check on Monday", "the check moved to …"."""
    if was.verb not in english.HAVE or not was.value or not (was.person or was.subject <= now.words):
        return False
    if now.qualifiers:
        return False
    if any(token.low in english.OTHERS for token in now.clause):
        return False
    if not all(token.number or is_day(token) for token in now.value):
        return False
    named = [token.stem for token in was.value if not token.number and not is_day(token)]
    timed = any(is_day(token) for token in was.clause)
    return timed and bool(named) and named[-1] in now.subject and now.subject <= was.words


def _taken_over(was: Claim, now: Claim) -> Update | None:
    """Whether the newer says the same of something else, and names the older's subject as what was."""
    for former in now.former:
        rest = was.words - former
        if former & was.words and former <= was.words and len(rest) > 1 and rest <= now.words:
            return Update(UpdateReason.FORMER, 0.95)
    return None


def _one_subject(was: Claim, now: Claim) -> bool:
    """Whether both may speak of the same: of the same words, or of whoever speaks."""
    if was.subject:
        around = (now.pronoun or not now.subject) and not was.subject.isdisjoint(now.around)
        return around or not was.subject.isdisjoint(now.words) or (bool(now.former) and now.person)
    if now.subject:
        named = bool(now.subject & was.words) and not _accompanies(now.subject, was)
        return was.person and (named or (bool(now.former) and not now.named and not _is_of_others(was, now)))
    return was.person == now.person or now.pronoun or was.pronoun


def _is_of_others(was: Claim, now: Claim) -> bool:
    """Whether somebody else says of themselves what who speaks said of themselves: "my uncle stopped", "its own"."""
    lows = {token.low for token in now.clause}
    if lows & english.OTHERS:
        return True
    alone = any(token.low in {"i", "my", "me"} for token in was.clause)
    return alone and lows.isdisjoint(english.SPEAKERS)


# What is named as former ----------------------------------------------------------------------------------------


def _accompanies(subject: frozenset[str], was: Claim) -> bool:
    """Whether the older one names a subject only as who was there too: "I went to the gym with Ines"."""
    before = ["", *(token.low for token in was.tokens)]
    named = [low for low, token in zip(before, was.tokens, strict=False) if token.stem in subject]
    return bool(named) and all(low == "with" for low in named)


def _former(was: Claim, now: Claim) -> Update | None:
    value = was.stems | was.qualifiers
    for former in now.former:
        leaves = _leaves(was, now, former)
        shared = value & former
        if not shared or not (former <= was.words or shared == value):
            continue
        rest = frozenset() if leaves or was.stems & shared else was.stems
        mine, theirs = _words_of(was.topic | rest) - former, (now.topic | now.stems) - former
        about = mine & (now.words | now.around)
        if mine and not about and not (was.person and now.person and not was.subject):
            # Another thing may have had the same value.
            if now.subject or now.qualifiers or not now.person:
                continue
            if was.subject and not (was.attributive and was.verb in {"", "be"} and not was.preposition):
                continue
            return Update(UpdateReason.FORMER, 0.75)
        extra = frozenset[str]() if leaves else now.topic - was.words - former
        subject = was.subject - _GROUPS if _names_role(was, now) else was.subject
        if (extra or now.topic or about) and (subject - former or mine) - now.words - now.around:
            return Update(UpdateReason.FORMER, 0.6 if about else 0.4)
        return Update(UpdateReason.FORMER, 0.95 if theirs or now.value else 0.85)
    return None


_GROUPS: Final = frozenset(map(stem, "team group squad crew department committee unit".split()))


def _names_role(was: Claim, now: Claim) -> bool:
    """Whether what somebody does is named as a role, where the group may stay unnamed: "as platform lead"."""
    return was.verb in english.ROLES and not _uncovered(frozenset({was.root}), now.words)


def _leaves(was: Claim, now: Claim, former: frozenset[str]) -> bool:
    """Whether somebody is no more where they were something: "I work as a nurse at Elm Clinic", "I left Elm Clinic"."""
    if now.verb not in english.LEAVES or was.verb not in english.SERVES:
        return False
    return former <= was.qualifiers | was.places or (was.preposition in _OF_SERVICE and former <= was.stems)


_OF_SERVICE: Final = frozenset({"at", "for", "with", "in"})


def _turned(was: Claim, now: Claim) -> Update | None:
    """Whether the newer says no of what the older says."""
    if was.negative == now.negative or not was.value:
        return None
    if not _same_value(was.value, now.value) or not _related(was, now):
        return None
    if was.topic - now.words or now.topic - was.words:
        return None
    return Update(UpdateReason.ENDED, 0.9)


# Another value --------------------------------------------------------------------------------------------------


def _other_value(was: Claim, now: Claim) -> Update | None:
    if was.words == now.words or _is_participle(was.value[0]) != _is_participle(now.value[0]):
        return None
    related = _related(was, now)
    if not related and not (now.changes and was.topic and was.topic == now.topic and was.root == now.root):
        return None
    if not _comparable(was.value, now.value) or _same_value(was.value, now.value):
        return None
    if not related or _joined_something(was, now):
        return Update(UpdateReason.VALUE, WEAK)
    common = was.stems & now.stems
    known = now.words | (now.around if now.pronoun else frozenset())
    only_was = _uncovered(was.topic, known)
    only_now = _uncovered(now.topic - english.CHANGE, was.words)
    if now.verb in english.CHANGE and was.topic <= now.qualifiers:
        only_now -= now.subject  # who has changed it
    if _moved(was, now):
        only_now -= now.qualifiers  # why, how and with whom
    if only_was and only_now:
        return None
    if not (was.topic & known) and not common and not (was.person and now.person and not was.subject):
        return None
    if (
        was.verb in english.CHANGE
        and now.verb in english.CHANGE
        and was.named
        and not was.attributive
        and not common
    ):
        return Update(UpdateReason.VALUE, 0.5)
    functional = _functional(was, now)
    if not only_was and not only_now:
        confidence = (
            0.95 if functional and now.changes else 0.85 if functional else 0.75 if now.changes else 0.4
        )
        if not was.topic and not common:
            confidence -= 0.05
    elif only_now:
        confidence = 0.6 if now.changes else 0.3
    else:
        confidence = 0.8 if now.changes and functional else 0.5 if now.changes else 0.3
    return Update(UpdateReason.VALUE, confidence)


def _same_words(was: Claim, now: Claim) -> Update | None:
    """Whether two clauses that begin alike are one but for a value, which stands behind the verb."""
    if was.inverse or now.inverse:
        return None
    mine, theirs = was.timeless, now.timeless
    shorter = min(len(mine), len(theirs))
    at = 0
    while at < shorter and mine[at].stem == theirs[at].stem:
        at += 1
    end = 0
    while end < shorter - at and mine[-1 - end].stem == theirs[-1 - end].stem:
        end += 1
    before, after = mine[:at], mine[len(mine) - end :]
    parts = mine[at : len(mine) - end], theirs[at : len(theirs) - end]
    if not before or not all(parts) or any(not 1 <= sum(t.content for t in part) <= 3 for part in parts):
        return None
    if any(token.low in _LINKS for part in parts for token in part) or any(
        token.low in _FINITE for token in after
    ):
        return None
    if not any(token.content for token in before) or not _comparable(*parts) or _same_value(*parts):
        return None
    if any(token.low in _FINITE for token in after):
        return None
    number = all(any(token.number for token in part) for part in parts)
    if any(token.low in {":", "="} for token in after):
        return None
    if len(before) == 1 and before[0].named and all(len(part) == 1 and part[0].number for part in parts):
        return Update(UpdateReason.VALUE, WEAK)  # iOS 15 is the minimum
    somebody = was.person or (was.named and not was.owners)
    if number and was.verb == "be" and somebody and _same_value(was.value, now.value):
        return Update(UpdateReason.VALUE, WEAK)  # where somebody is on one day, and on another
    leads = any(token.low in _LINKS for token in before) and was.preposition == now.preposition
    if not leads or (after and after[0].content and not number):
        return None
    if not number and not _functional(was, now):
        return Update(UpdateReason.VALUE, 0.75 if now.changes else 0.4)
    return Update(UpdateReason.VALUE, 0.95 if now.changes else 0.85)


_FINITE: Final = english.BE | english.HAVE | english.DO | english.MODALS
_LINKS: Final = _FINITE | english.PREPOSITIONS | english.CONJUNCTIONS | {":", "="}


def _words_of(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if not stem[0].isdigit())


_ALIKE_LEAST: Final = 4


def _uncovered(words: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return the words that are not known, nor the beginning of a known one, nor begin with one."""
    left = words - known
    if not left:
        return left
    heads = {other[:_ALIKE_LEAST] for other in known}
    unlike = [word for word in left if word[:_ALIKE_LEAST] not in heads]
    if len(unlike) == len(left):  # as with most
        return left
    others = tuple(other for other in known if len(other) >= _ALIKE_LEAST)
    alike = [word for word in left.difference(unlike) if word.startswith(others)]
    alike += [word for word in left.difference(unlike) if any(other.startswith(word) for other in others)]
    return left.difference(alike)


def _stems(value: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.stem for token in value)


def _is_participle(token: Token) -> bool:
    return (token.low.endswith("ed") and token.written.islower()) or token.low in english.CHANGE


def _same_value(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether two values are one, or one of them says more of it."""
    was, now = _stems(mine), _stems(theirs)
    if not was or not now:
        return False
    if was <= now or now <= was:
        return True
    return not _uncovered(was, now)


def _comparable(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether two values may be values of one attribute: numbers with the same unit, or words."""
    if is_day(mine[0]) != is_day(theirs[0]):
        return any(token.number for token in mine) and any(token.number for token in theirs)
    was, now = [token for token in mine if token.number], [token for token in theirs if token.number]
    if bool(was) != bool(now):
        return any(map(is_day, mine)) and any(map(is_day, theirs))
    if was and was[0].unit and now[0].unit and was[0].unit != now[0].unit:
        return was[0].unit in _TIMES and now[0].unit in _TIMES
    if was:
        units = _stems([token for token in mine if not token.number and not is_day(token)])
        others = _stems([token for token in theirs if not token.number and not is_day(token)])
        return not units or not others or bool(units & others)
    return True


_TIMES: Final = frozenset({"ms", "s", "sec", "min", "h", "kb", "mb", "gb", "tb", "am", "pm"})


def _related(was: Claim, now: Claim) -> bool:
    """Whether two verbs may say the same of a subject."""
    if was.preposition != now.preposition and (was.preposition in _OFTEN or now.preposition in _OFTEN):
        return False
    if was.verb == now.verb or was.root == now.root:
        return _same_shape(was, now)
    if was.verb in _COPULAS and now.verb in _COPULAS:
        return _same_shape(was, now)
    told = _RELATIONS_OF.get(now.verb, frozenset())
    if not told.isdisjoint(_RELATIONS_OF.get(was.verb, frozenset())):
        return True
    place = english.RELATIONS["place"]
    stays = was.verb in place or (was.verb == "be" and was.preposition in {"in", "at"})
    if stays and now.verb not in place and told:
        return False  # who lives somewhere and switched to something lives there still
    if now.verb in english.CHANGE and now.preposition and was.verb not in english.HAVE:
        if _is_trait(was):
            return False  # who is allergic to nuts, or married to Ann, is so wherever they go
        return was.preposition not in {"each", "every", "for"} or any(
            t.number or is_day(t) for t in was.value
        )
    return was.verb in english.CHANGE and (now.verb in _COPULAS or now.preposition == was.preposition)


def _is_trait(claim: Claim) -> bool:
    """Whether a clause says by an adjective how somebody is: "allergic to nuts", and of a person "married to Ann"."""
    if claim.verb in _COPULAS or claim.verb in _RELATIONS_OF or claim.verb in english.CHANGE:
        return False
    words = [token.low for token in claim.tokens if token.low not in english.ADVERBS]
    if claim.verb not in words[1:] or words[words.index(claim.verb) - 1] not in english.BE:
        return False
    return not _is_participle_verb(claim) or (claim.preposition == "to" and (claim.named or claim.person))


def _is_participle_verb(claim: Claim) -> bool:
    return claim.verb.endswith(("ed", "en", "ing"))


def _joined_something(was: Claim, now: Claim) -> bool:
    """Whether who works at one place joined what is no place of work by its article: "Google", and then "a gym"."""
    work = english.RELATIONS["work"]
    return {was.verb, now.verb} <= work and was.root != now.root and bool(was.article) != bool(now.article)


def _moved(was: Claim, now: Claim) -> bool:
    """Whether what lived in one place moved to another: what else is said of the move does not narrow that."""
    place = english.RELATIONS["place"]
    if was.verb not in place or now.verb not in place & english.CHANGE or now.preposition != "to":
        return False
    behind = next((after.low for verb, after in pairwise(now.tokens) if verb.low == now.verb), "")
    return behind == "to" and was.value[0].named and now.value[0].named


_OFTEN: Final = frozenset({"each", "every"})
_COPULAS: Final = frozenset({"", "be", "set"})
_RELATIONS_OF: Final[Mapping[str, frozenset[str]]] = {
    verb: frozenset(name for name, verbs in english.RELATIONS.items() if verb in verbs)
    for verb in frozenset[str]().union(*english.RELATIONS.values())
}
"""By verb what it says of a subject."""


_PLACES: Final = frozenset({"in", "on", "at", "into", "onto", "inside", "within"})


def _same_shape(was: Claim, now: Claim) -> bool:
    """Whether two values are led to alike: what is "in Oslo" may be "at home", and is not "by train"."""
    mine, theirs = was.preposition, now.preposition
    if mine == theirs:
        named = was.value[0].named == now.value[0].named or bool(was.article) == bool(now.article)
        return mine != "for" and (named or now.changes or was.verb != "be")
    if {mine, theirs} <= _PLACES:
        return is_day(was.value[0]) == is_day(now.value[0])
    return "" in {was.verb, now.verb}


def _functional(was: Claim, now: Claim) -> bool:
    """Whether only one of the two values can hold: a quantity, a part of the subject, a place or a time."""
    if was.verb == "":
        return _assigned(was) or _measured(was.value, now.value)
    if any(token.number for token in was.value):
        return True
    if was.verb == "be":
        if was.preposition:
            return was.preposition not in _OF_MATTERS
        return was.attributive and not _one_of_ours(was)
    if was.verb in english.RELATIONS["name"]:
        return True
    if not was.preposition:
        return False
    if any(map(is_day, was.value)) or was.verb in english.RELATIONS["place"]:
        return True
    related = any(was.verb in english.RELATIONS[name] for name in ("work", "time", "role"))
    return related and was.preposition not in _OF_MATTERS | {"on"}


_OF_MATTERS: Final = frozenset({"of", "about", "with", "for", "to", "into"})
"""What leads to something that there may be more of: what somebody is afraid of, works with, is used to."""


def _assigned(was: Claim) -> bool:
    """Whether a label is given its value as a name is in a program: `theme = dark`, `log.level: debug`."""
    for token in was.tokens:
        if token.low in {":", "="}:
            return token.low == "="
        if not token.written.replace("-", "").isalnum():
            return True
    return False


def _measured(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether two values are quantities, dates, versions or codes, and differ in nothing else."""
    words = [
        frozenset(t.stem for t in value if not is_day(t) and not _has_digit(t)) for value in (mine, theirs)
    ]
    return words[0] == words[1] and all(any(map(_has_digit, value)) for value in (mine, theirs))


def _has_digit(token: Token) -> bool:
    return token.number is not None or any(char.isdigit() for char in token.low)


def _one_of_ours(was: Claim) -> bool:
    """Whether what is called so may be one of several that somebody has: "our customer", not "our biggest customer"."""
    return was.tokens[0].low in {"my", "our"} and len(was.subject) == 1
