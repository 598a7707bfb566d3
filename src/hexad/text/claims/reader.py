"""What a text claims to be so now: sentences read as subject, relation and value, by the closed classes of English.

No model and no dictionary: a clause is parted at its copula, its verb or its colon. What asks, plans, supposes or
quotes claims nothing. A sentence that cannot be parted claims nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from hexad.text.claims import english
from hexad.text.claims.words import CALENDAR, CLOSED, POINTING, Token, is_day, stem, tokens_of
from hexad.text.search_terms import STOP_WORDS
from hexad.text.summary.sentences import sentences

CHARACTERS_LIMIT: Final = 1_200
"""Longer texts are documents: what they say is said in their context."""
CLAIMS_LIMIT: Final = 12
_LABELLED_LINES: Final = 3
"""In a longer text a label says something of what stands above it."""
# Sets that are asked of every word: put together once.
_BEGINS_SUBJECT: Final = english.POSSESSIVES | english.SPEAKERS | {"the", "it", "she", "he", "they", "we"}
_UNSURE: Final = english.CHANGE | english.ENDING | english.SOON
"""Beside such a word "may" gives no leave."""
_AUXILIARIES_NOW: Final = english.AUXILIARIES - {"was", "were", "had"}
_ASKING: Final = english.DO | english.BE | english.HAVE
BESIDE_VERB: Final = english.AUXILIARIES | english.NEGATIONS | english.ADVERBS
_AFTER_COPULA: Final = english.PREPOSITIONS | {"a", "an", "the", "now", "not", "no"}
_BEFORE_INFINITIVE: Final = english.DO | english.MODALS | english.NEGATIONS | {"to"}
_EXISTS: Final = english.HAVE | {"there"}
_BEFORE_NOUN: Final = english.PREPOSITIONS | english.DETERMINERS
_PERSONS: Final = english.PRONOUNS - english.POSSESSIVES
_AFTER_VERB: Final = english.PREPOSITIONS | english.DETERMINERS | english.PRONOUNS | english.ADVERBS
_RELATIONS: Final = frozenset[str]().union(*english.RELATIONS.values())


class Claim(NamedTuple):
    """What a clause says to be so. `former` is what it says to be so no more; `around` are words said just before.

    `changes` is whether its own words say that it was otherwise before; `person` whether it is about who speaks; `gone`
    whether there is no more what it names, and nothing is said of where or for what. `tokens` are of the clause without
    what it says to be so no more, `clause` is all of it; `closes` is whether a verb in it may end something.
    """

    subject: frozenset[str]
    verb: str
    value: tuple[Token, ...]
    qualifiers: frozenset[str] = frozenset()
    former: tuple[frozenset[str], ...] = ()
    around: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    changes: bool = False
    person: bool = False
    pronoun: bool = False
    negative: bool = False
    ended: bool = False
    gone: bool = False
    past: bool = False
    preposition: str = ""
    article: str = ""
    attributive: bool = False
    owners: int = 0
    speaker: str = ""
    opening: str = ""
    age: str = ""
    places: frozenset[str] = frozenset()
    inverse: bool = False
    named: bool = False
    adds: bool = False
    closes: bool = False
    tokens: tuple[Token, ...] = ()
    clause: tuple[Token, ...] = ()
    before: tuple[str, ...] = ()
    former_words: tuple[tuple[str, ...], ...] = ()
    # What is made of these once, since a claim is compared with many:
    root: str = ""  # the stem of the verb
    lead: str = ""  # that of the first word that says nothing of time
    stems: frozenset[str] = frozenset()  # those of the value
    topic: frozenset[str] = frozenset()  # the words that say what it is about: subject and qualifiers
    timeless: tuple[Token, ...] = ()  # the tokens that say nothing of time


_SPEAKER: Final = re.compile(
    r"^\s*(?:\[[^\]\n]{1,30}\]\s*)?([A-Z][\w .-]{0,24}|user|assistant|human|me|you)\s*:\s+(?=\S)"
)
_ROLES: Final = frozenset({"user", "human", "me"})
_LIST: Final = re.compile(r"^\s*(?:[-*+•>#]+|\d+[.)])\s+")
_TURNS_OUT: Final = re.compile(
    r"(?i)^(?:(?:actually|well|so|apparently|ok|okay),? )?(?:it )?turn(?:s|ed) out,? (?:that )?"
)
"""What leads to something that was believed to be otherwise."""
_QUOTED: Final = re.compile(r"[\"“][^\"”]{12,}[\"”]")


def claims(text: str) -> tuple[Claim, ...]:
    """Return what a text claims to be so now, in order; nothing for a text that is too long to be plain.

    >>> [(sorted(c.topic), [t.written for t in c.value]) for c in claims("The rate limit is 250 now.")]
    [(['limit', 'rat'], ['250'])]
    """
    if len(text) > CHARACTERS_LIMIT:
        return ()
    spans = sentences(text)
    found: list[Claim] = []
    known: dict[str, Token] = {}
    around: frozenset[str] = frozenset()
    before: tuple[str, ...] = ()
    for start, end in spans:
        sentence = _LIST.sub("", text[start:end].strip())
        if _QUOTED.search(sentence):
            continue
        corrected = _TURNS_OUT.sub("", sentence)
        corrects, sentence = corrected != sentence, corrected
        tokens = tokens_of(sentence, known)
        opening = tokens[:4]
        speaker, rest = _without_speaker(sentence)
        if rest != sentence:
            sentence, tokens = rest, tokens_of(rest)
        if tokens and tokens[0].low in english.CONDITIONS:
            continue
        corrects |= not english.CORRECTIONS.isdisjoint([token.low for token in (*opening, *tokens[:4])])
        for clause in clauses_of(tokens):
            claim = _claim(clause, asks=sentence.rstrip().endswith("?"))
            said = frozenset([token.stem for token in clause if token.content])
            if claim is not None and (claim.verb or len(spans) <= _LABELLED_LINES):
                timeless = tuple([token for token in claim.tokens if token.low not in english.SAID_OF_TIME])
                found.append(
                    claim._replace(
                        around=around | claim.around,
                        words=said,
                        clause=tuple(clause),
                        before=before,
                        speaker=speaker,
                        changes=claim.changes or corrects,
                        topic=claim.subject | claim.qualifiers,
                        lead=timeless[0].stem if timeless else "",
                        timeless=timeless,
                    )
                )
                if len(found) == CLAIMS_LIMIT:
                    return tuple(found)
            around = (around | said) if len(said) < 3 else said
            before = tuple([token.low for token in clause if token.stem in around])
    return tuple(found)


def _without_speaker(sentence: str) -> tuple[str, str]:
    """Return who speaks, "" for the user and where nobody is named, and what is said."""
    match = _SPEAKER.match(sentence)
    if match is None:
        return "", sentence
    rest = sentence[match.end() :]
    tokens = tokens_of(rest)
    found = verb_of(tokens)
    if found is None or any(token.low in {"(", "/", "-"} for token in tokens[: found[0]]):
        return "", sentence
    if found[0] and tokens[found[0] - 1].low == ",":
        return "", sentence
    name = match[1].lower()
    return ("" if name in _ROLES or " " in name else name), rest


def clauses_of(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Part a sentence where another clause begins: at a semicolon or dash, and between two verbs."""
    clause: list[Token] = []
    for at, token in enumerate(tokens):
        if token.low in _DASHES and 0 < len(clause) < _LABEL_WORDS and verb_of(clause) is None:
            clause.append(Token(":", ":", ":"))
        elif token.low in _ENDS_CLAUSE or (token.low in _PARTS and _is_between(clause, tokens, at)):
            if clause:
                yield clause
            clause = [token] if token.low == "(" else []
        elif token.low != ")":
            clause.append(token)
    if clause:
        yield clause


_DASHES: Final = frozenset({"—", "–", "-", "|", "/"})
_ENDS_CLAUSE: Final = _DASHES | {";", "."}
_LABEL_WORDS: Final = 4
_PARTS: Final = frozenset({"(", ",", "and", "but", "so", "means"})
"""Before what another clause may begin."""
_SHORT: Final = 7
_PHRASE_WORDS: Final = 4


def _is_between(clause: Sequence[Token], tokens: Sequence[Token], at: int) -> bool:
    """Whether the clause so far ends at a token of `_PARTS`, because another one begins behind it."""
    low = tokens[at].low
    following = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if low == "(":
        return _former_at(tokens, at + 1) is None if at + 1 < len(tokens) else True
    if low == ",":
        opens = following != "not" and verb_of(clause) is not None and _opens_clause(tokens[at + 1 :])
        return opens or following in {"but", "so", "and", "while", "which", "because", "since"}
    if low in {"and", "but", "so", "means"}:
        return (
            following in _BEGINS_SUBJECT or (at + 1 < len(tokens) and tokens[at + 1].written[0].isupper())
        ) and (_opens_clause(tokens[at + 1 :]) and verb_of(clause) is not None)
    return False


def _opens_clause(rest: Sequence[Token]) -> bool:
    found = verb_of(rest)
    return found is not None and 0 < found[0] < 6 and not any(token.low == "," for token in rest[: found[0]])


def _claim(clause: list[Token], *, asks: bool) -> Claim | None:
    if asks or not clause:
        return None
    there = {token.low for token in clause}
    if clause[0].low in english.CONDITIONS or "?" in there:
        return None
    if not english.HEARSAY.isdisjoint(there) or not english.PLANS.isdisjoint(there):
        return None
    if "may" in there and there & _UNSURE:
        return None
    lows = [token.low for token in clause]
    if not _PLAN.isdisjoint(there) and any(low in _PLAN and after == "to" for low, after in pairwise(lows)):
        return None
    ended = _is_ended(lows)
    former: list[tuple[Token, ...]] = []
    if not _LEADS_TO_FORMER.isdisjoint(there):
        clause, former = _without_former(clause)
    if "longer" in there and not ended:
        former = []
    pivot = _pivot(clause)
    if pivot is None:
        if not former and not (1 < len(clause) < _SHORT and clause[0].low not in english.DO):
            return None
        pivot = (len(clause), None, len(clause))
    at, verb, tail_at = pivot
    if verb is None and not former and verb_of(clause[tail_at:]) is not None:
        return None  # a heading, and not what is of a value
    if verb is None and not former and all(token.low in STOP_WORDS for token in clause[:at]):
        return None
    head = _without_opening(clause[:at])
    opening = frozenset([token.stem for token in clause[: at - len(head)] if token.content])
    clause = [*head, *clause[at:]]
    at, tail_at = len(head), tail_at - at + len(head)
    claim = _read(head, verb, clause[tail_at:], clause=clause, former=former, there=there)
    if claim is None:
        return None
    gone = ended and bool(there & _EXISTS) and not there & english.PREPOSITIONS
    return claim._replace(ended=ended, gone=gone, around=opening) if ended or opening else claim


_PLAN: Final = frozenset({"plan", "plans"})


def _without_opening(head: list[Token]) -> list[Token]:
    """Return a subject without what stands before it: "Actually, …", "I checked: …"; but "In staging, …" stays."""
    marks = [at for at, token in enumerate(head) if token.low in {",", ":"}]
    leads = bool(head) and head[0].low in english.PREPOSITIONS and head[0].low != "to"
    if not marks or (leads and marks[-1] <= _PHRASE_WORDS) or marks[-1] + 1 >= len(head):
        return head
    return head[marks[-1] + 1 :]


def _is_ended(lows: Sequence[str]) -> bool:
    """Whether a clause says that something is so no more."""
    for at, low in enumerate(lows):
        if low == "no" and lows[at + 1 : at + 2] == ["longer"]:
            return not (
                at + 2 < len(lows) and lows[at + 2].endswith("ing") and not set(lows[:at]) & english.BE
            )
    if not english.STOPPED.isdisjoint(lows):
        return True
    return not (english.NO_MORE.isdisjoint(lows) or english.NEGATIONS.isdisjoint(lows))


def _read(
    head: list[Token],
    verb: Token | None,
    tail: list[Token],
    *,
    clause: list[Token],
    former: list[tuple[Token, ...]],
    there: set[str],
) -> Claim | None:
    lows = [token.low for token in clause]
    low = "" if verb is None else verb.low
    change_verb = low in english.CHANGE
    flew = low in english.IRREGULAR or (low.endswith("ed") and low not in english.LEAVES)
    if not change_verb and flew and "from" in there:
        former = []  # who flew from Oslo to Rome lives somewhere
    negative = not english.NEGATIONS.isdisjoint(lows)
    value, qualifiers, places, preposition, adjective = _value(
        tail, change=change_verb, copula=low in english.BE
    )
    past = not former and _is_past(low, lows, there, settles=preposition in _TO)
    low = adjective or low
    returns = low in english.BE and bool(there & english.RETURNS)
    if returns and preposition == "to":
        preposition = ""  # it is back to 850
    if low == "replaced" and preposition == "by":
        former.append(tuple(token for token in head if token.content))
        head = []
    if low in english.BE and value and value[-1].low in english.GONE:
        former.append(tuple(token for token in head if token.content))
        head, value, past = [], [], False
    if not value and not former and verb is not None and low not in english.OVER_VERBS:
        return None
    own = [token for token in head if token.content and token.low not in english.CHANGE]
    if verb is None and head and head[-1].content and "→" in lows and len(own) > 1:
        former.append((own.pop(),))
    subject = frozenset(token.stem for token in own)
    heads = {token.low for token in head}
    inverse = _inverse(own, head, low, tail, passive=_passive(lows, low))
    if inverse:
        preposition, past = "by" if low in english.ROLES else "", past and low != "took"
        subject, value = frozenset(token.stem for token in value) | qualifiers, own
        qualifiers, heads = set(), {token.low for token in tail}
    return Claim(
        subject=subject,
        verb="be" if low in english.BE else low,
        root="be" if low in english.BE else stem(low),
        stems=frozenset([token.stem for token in value]),
        value=tuple(value),
        qualifiers=frozenset(qualifiers),
        former=tuple(frozenset(token.stem for token in tokens) for tokens in former),
        former_words=tuple(tuple(token.low for token in tokens) for tokens in former),
        changes=bool(former or change_verb or returns or there & english.NOW or "since" in there),
        opening=head[0].low if head and head[0].low in english.PREPOSITIONS else "",
        age=next((token.low for token in head if token.low in {"old", "new"}), ""),
        person=bool(heads & english.SPEAKERS) or not (heads or former),
        pronoun=bool(heads & english.THIRD_PERSON) and not subject,
        negative=negative,
        past=past,
        preposition=preposition,
        attributive=len(subject) > 1 or bool(heads & {"my", "our", "'s", "of", "the"}),
        named=bool(own) and head[0].content and head[0].written[0].isupper(),
        adds=bool(there & english.ADDS) or ("well" in there and "as" in there),
        closes=not english.OVER_VERBS.isdisjoint(there),
        owners=sum(token.low == "'s" for token in head),
        tokens=tuple(clause),
        places=frozenset(places),
        article=next((token.low for token in tail[:2] if token.low in {"a", "an", "the"}), ""),
        inverse=inverse,
    )


def _is_past(verb: str, lows: Sequence[str], there: set[str], *, settles: bool) -> bool:
    """Whether a clause tells what happened or was; not what has changed since, such as what "moved to" a place."""
    if not there & english.NOW and there & english.PAST:
        return True
    if verb in english.CHANGE:
        if settles or verb in _OPEN_CHANGES:
            return False
    elif there & english.NOW:
        return False
    told = verb in PASTS or verb in english.IRREGULAR or verb.endswith("ed")
    return told and not _passive(lows, verb)


def _inverse(
    own: Sequence[Token], head: Sequence[Token], verb: str, tail: Sequence[Token], *, passive: bool
) -> bool:
    """Whether the subject is the value: "Ann is our lead", "Ann leads the team"."""
    if (
        not own
        or not all(token.named for token in own)
        or any(token.low in english.DETERMINERS for token in head)
    ):
        return False
    if verb in english.ROLES and not passive:
        return True
    if verb == "took" and tail and tail[0].low == "over":
        return True
    return (
        verb in english.BE
        and any(token.low in {"my", "our", "the", "'s"} for token in tail[:3])
        and not (tail and tail[0].low in english.PREPOSITIONS)
    )


def _passive(lows: Sequence[str], verb: str) -> bool:
    at = lows.index(verb) if verb in lows else 0
    return any(low in _AUXILIARIES_NOW for low in lows[max(0, at - 3) : at])


# Where a clause is parted ---------------------------------------------------------------------------------------


def _pivot(clause: Sequence[Token]) -> tuple[int, Token | None, int] | None:
    """Return where the subject ends, the verb (None for a label), and where what is said begins."""
    for at, token in enumerate(clause):
        if token.low in {":", "=", "→"} and 0 < at < len(clause) - 1:
            rest = verb_of(clause[at + 1 :])
            if rest is not None and token.low == ":":  # what introduces a sentence
                start, verb, tail_at = rest
                head = clause[at + 1 : at + 1 + start]
                if verb.low in english.CHANGE or any(
                    each.content or each.low in english.PRONOUNS for each in head
                ):
                    return at + 1 + start, verb, at + 1 + tail_at
            return at, None, at + 1
    return verb_of(clause)


def verb_of(clause: Sequence[Token]) -> tuple[int, Token, int] | None:
    """Return where the subject ends, the verb, and where what follows it begins."""
    for at, token in enumerate(clause):
        low = token.low
        if low == "'s" and not _copula(clause, at):
            continue
        if low in english.AUXILIARIES:
            if at == 0 and low in _ASKING:
                return None
            after = at + 1
            while after < len(clause) and (clause[after].low in BESIDE_VERB):
                after += 1
            if after < len(clause) and _participle(clause, after):
                return at, clause[after], after + 1
            if after < len(clause) and low not in english.BE and _main_verb(clause, after):
                return at, clause[after], after + 1
            return at, token, after
        if _main_verb(clause, at):
            if at + 1 < len(clause) and low in _BEGINS and clause[at + 1].low.endswith("ing"):
                return at, clause[at + 1], at + 2
            return at, token, at + 1
    return None


_BEGINS: Final = frozenset("start starts started begin begins began keep keeps kept".split())


def _copula(clause: Sequence[Token], at: int) -> bool:
    """Whether an 's is "is": after a pronoun, or before what no owned thing begins with."""
    if at == 0 or at + 1 >= len(clause):
        return False
    if clause[at - 1].low in english.PRONOUNS or clause[at - 1].low == "what":
        return True
    following = clause[at + 1].low
    return following in _AFTER_COPULA


def _participle(clause: Sequence[Token], at: int) -> bool:
    low = clause[at].low
    if not low.replace("-", "").isalpha():
        return False
    known = (
        low in english.CHANGE
        or low in english.IRREGULAR
        or low in {"given", "taken", "done", "drawn"}
        or low in _RELATIONS
    )
    if clause[at - 1].low in _BEFORE_INFINITIVE and low.isalpha():
        return low not in CLOSED
    following = clause[at + 1].low if at + 1 < len(clause) else ""
    if low.endswith(("ed", "en", "ing")) and len(low) > 4:
        return known or following in english.PREPOSITIONS
    return known and following in _BEFORE_NOUN


def _main_verb(clause: Sequence[Token], at: int) -> bool:
    """Whether a word is the verb of its clause, by its ending and by what stands around it."""
    token = clause[at]
    low = token.low
    if (
        not low.isalpha()
        or low in CLOSED
        or (at > 0 and token.written[0].isupper() and low not in english.CHANGE)
    ):
        return False
    before = clause[at - 1].low if at else ""
    following = clause[at + 1] if at + 1 < len(clause) else None
    if at == 0:
        return (low in english.CHANGE or low in english.ENDING) and following is not None
    if before in _BEFORE_NOUN or before == "'s":
        return False
    if before in english.PRONOUNS and before not in english.POSSESSIVES:
        return True
    if before in english.POSSESSIVES:
        return False
    if before in english.ADVERBS and at >= 2 and clause[at - 2].low in _PERSONS:
        return True
    if following is None:
        return low.endswith("ed") and at > 0 and clause[at - 1].content
    if following.low in english.CHANGE:
        return False
    if low in english.ROLES or (
        low.endswith(("ed", "s")) and (low in english.CHANGE or low in english.ENDING)
    ):
        return True
    if low in english.IRREGULAR or low in PASTS:
        return True
    opens = following.low in _AFTER_VERB or following.number is not None or following.named
    if low.endswith("s") and not low.endswith("ss"):
        return opens or (following.content and not following.low.endswith("s"))
    if low.endswith("ed"):
        return True
    known = low in english.CHANGE or low in _RELATIONS
    return clause[at - 1].low.endswith("s") and (opens or known)


# What is said ---------------------------------------------------------------------------------------------------


PASTS: Final = frozenset("became rewrote grew rose fell fallen gone set cut".split())
_CUTS: Final = english.CONJUNCTIONS - {"and", "or"}
_OPENS_GROUP: Final = (english.PREPOSITIONS - {"up", "down", "out", "off", "per", "of"}) | {
    "every", "each", ",", "(", ")", "→", ":", "=",
}  # fmt: skip


def _value(
    tail: Sequence[Token], *, change: bool, copula: bool
) -> tuple[list[Token], set[str], set[str], str, str]:
    """Return the value, the words that say of what else it is said, and the preposition that leads to it."""
    groups: list[tuple[str, list[Token]]] = [("", [])]
    for token in tail:
        if token.low in _CUTS:
            break
        if token.low == "ago":
            _drop_span(groups[-1][1])
        elif token.low in _OPENS_GROUP:
            groups.append((token.low, []))
        elif token.content:
            groups[-1][1].append(token)
    article = any(token.low in english.DETERMINERS for token in tail[:2])
    groups = [group for group in groups if group[1]]
    if not groups:
        return [], set(), set(), "", ""
    chosen, adjective = 0, ""
    to = [at for at, (before, _) in enumerate(groups) if before in _TO]
    if to and (change or (groups[0][0] == "" and len(groups) == 1)):
        chosen = to[0]
    elif (
        copula
        and len(groups) > 1
        and groups[0][0] == ""
        and not article
        and _is_adjective(groups[0][1])
        and groups[1][0] not in _TIMES
    ):
        chosen, adjective = 1, groups[0][1][0].low  # allergic to nuts, due in June
    prepositions, words = groups[chosen][0], groups[chosen][1]
    if any(
        word.number is not None or is_day(word) for word in words
    ):  # a day and a time of day are one value
        for at, (_, others) in enumerate(groups):
            if at != chosen:
                words.extend(word for word in others if word.number is not None or is_day(word))
                others[:] = [word for word in others if word.number is None and not is_day(word)]
    leading = groups[0][1] if adjective else None
    qualifiers: set[str] = set()
    places: set[str] = set()  # of what is, and not of what is done, they may say more of the value
    for at, (before, others) in enumerate(groups):
        if at == chosen or before in _ASIDE or _dates(before, others) or others is leading:
            continue
        aside = copula and not prepositions and before in {"in", "on", "at", "with", "from"}
        (places if aside else qualifiers).update(token.stem for token in others)
    if len(words) > 1 and words[-1].low == "one":
        words.pop()  # a grey one
    return words[:8], qualifiers, places, prepositions, adjective


def _drop_span(words: list[Token]) -> None:
    """Take away how long ago it was, "two weeks": it stands where a value does, and is none."""
    if words and is_day(words[-1]):
        words.pop()
        while words and words[-1].number is not None:
            words.pop()


_TIMES: Final = frozenset({"since", "after", "before", "until"})
_ASIDE: Final = frozenset({",", "(", ")", "since"})
_TO: Final = frozenset({"to", "into", "onto", "→", "with", "by"})
_OPEN_CHANGES: Final = frozenset(
    "join joins joined hired adopt adopted become becomes became named chose picked".split()
)


def _is_adjective(words: Sequence[Token]) -> bool:
    return len(words) == 1 and words[0].written.islower() and words[0].number is None


_DATED: Final = frozenset(
    "as of since in on from at after before until during over around by through".split()
)


def _dates(before: str, words: Sequence[Token]) -> bool:
    """Whether a phrase says since when: it is no part of what is spoken of."""
    return before in _DATED and any(
        word.low in CALENDAR
        or (word.number is not None and len(word.low) == 4 and word.low[:2] in {"19", "20"})
        for word in words
    )


# What is over ---------------------------------------------------------------------------------------------------

_SPAN: Final = 5
_LEADS_TO_FORMER: Final = english.ENDING | {
    "from", "instead", "rather", "no", "away", "rid", "not", "n't", "was", "were", "formerly", "previously", "ex",
    "replaces", "replacing", "resigned", "used", "off", "up", "replaced",
}  # fmt: skip


def _without_former(clause: Sequence[Token]) -> tuple[list[Token], list[tuple[Token, ...]]]:
    """Return a clause without the words that name what is over, and these."""
    former: list[tuple[Token, ...]] = []
    rest: list[Token] = []
    at = 0
    while at < len(clause):
        start = _former_at(clause, at)
        if start is None:
            rest.append(clause[at])
            at += 1
            continue
        keep, begin = start
        rest += clause[at:keep]
        end = begin
        words: list[Token] = []
        whole = clause[begin - 1].low in {"longer", "not", "n't", "stopped", "stop", "to"}
        while end < len(clause) and len(words) < _SPAN:
            low = clause[end].low
            if words and whole and low in POINTING and end + 1 < len(clause) and is_day(clause[end + 1]):
                break  # since when it is over
            if clause[end].content:
                words.append(clause[end])
            elif not (
                (whole and low == "the")
                or (not words and (low in english.DETERMINERS or low in english.AUXILIARIES))
                or (low in english.PREPOSITIONS and (whole or not words or low == "of"))
            ):
                break
            end += 1
        if words and [token.low for token in clause[end : end + 1]] == ["'s"]:
            rest += clause[begin:end]  # what was left is something of theirs
        elif words:
            former.append(tuple(words))
        at = max(end, at + 1)
    return rest, former


def _only_goes(rest: Sequence[Token]) -> bool:
    """Whether who left something did so for the day: "left the office at six", "left it with a good feeling"."""
    return any(
        token.low in _FOR_THE_DAY
        or (token.low == "with" and "effect" not in {after.low for after in rest})
        or (token.low == "at" and (after.low in _CLOCK or after.number is not None))
        or (token.low == "and" and after.low in _GOES)
        for token, after in zip(rest, [*rest[1:], rest[-1]], strict=True)
    )


_NO_OBJECT: Final = frozenset("to by on at during until".split())
"""Behind such a word stands when or by whom something was ended, and not what: "cancelled on Monday"."""
_FOR_THE_DAY: Final = frozenset("early late tonight".split())
_CLOCK: Final = frozenset("noon midnight lunchtime dawn dusk night lunch".split())
_GOES: Final = frozenset(
    "walked drove went ran rode cycled hurried headed strolled caught met came flew".split()
)


def _former_at(clause: Sequence[Token], at: int) -> tuple[int, int] | None:
    """Return up to where a phrase that introduces what is over stays, and where that begins; None where none does."""
    low = clause[at].low
    if low not in _LEADS_TO_FORMER:
        return None
    following = clause[at + 1].low if at + 1 < len(clause) else ""
    later = [token.low for token in clause[at + 1 :]]
    before = clause[at - 1].low if at else ""
    if low == "from" and ({"to", "into", "onto", "→"} & set(later[:7])) and following not in {"now", "today"}:
        return at, at + 1
    if low == "from" and (before in {"away", "over"} or "took over" in " ".join(t.low for t in clause[:at])):
        return at, at + 1
    if (low, following) in {
        ("instead", "of"),
        ("rather", "than"),
        ("no", "longer"),
        ("away", "from"),
        ("resigned", "from"),
        ("rid", "of"),
    }:
        return at, at + 2
    if low in {"not", "n't"} and (
        {"anymore", "but"} & set(later[:8])
        or ("more" in later[:8] and "any" in later[:8])
        or before in {",", "("}
    ):
        return at, at + 1
    if low in {"was", "were", "formerly", "previously", "ex", "not", "replaces", "replacing"} and before in {
        "(",
        ",",
    }:
        return at, at + 1
    if low == "used" and following == "to":
        return at, at + 2
    if low in {"off"} and before in english.CHANGE:
        return at, at + 1
    if low == "up" and before in {"gave", "giving", "given"}:
        return at, at + 1
    if (
        low in english.ENDING
        and low not in {"replaced"}
        and at + 1 < len(clause)
        and following not in _NO_OBJECT
        and not (low == "left" and _only_goes(clause[at + 1 :]))
    ):
        return at + 1, at + 1
    if low == "replaced" and following not in {"by", "with", ""}:
        return at + 1, at + 1
    return None
