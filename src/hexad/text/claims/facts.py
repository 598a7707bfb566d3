"""Whether a sentence states a fact that lasts: what somebody or something is, has, uses, and where; rules, no model.

What passes (a state, a mishap, what points at "this" or "now"), what is told of the past, asked, ordered or supposed is
no such fact. Neither is a sentence about "it": what it speaks of stands elsewhere.
"""

from __future__ import annotations

from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.claims import english
from hexad.text.claims.reader import CHARACTERS_LIMIT, Claim, claims
from hexad.text.claims.words import Token, stem, tokens_of
from hexad.text.commitments import Commitment, commitment_of, is_doubtful
from hexad.text.noise import is_program_output
from hexad.text.summary.sentences import sentences

_POINTS: Final = frozenset("this that these those here there".split())
"""What points at something that whoever reads the sentence later does not see."""
_AT_HAND: Final = frozenset("you your yours you're you've you'll this these those here".split())
"""Whoever is spoken to, and what they have before them: such a sentence is for them, and not for later."""
_VAGUE: Final = frozenset(
    map(stem, "thing things stuff life everything something people nature moments".split())
)
_PASSING: Final = frozenset(
    """
    tired sorry stuck confused sure unsure ready done back busy happy unhappy glad sad afraid curious hungry late fine
    ok okay lost interested able unable aware here there wrong right good great bad better worse sick ill bored lucky
    broken red green down proud excited passionate thankful grateful hopeful amazing awesome nice cool important
     slow fast weird strange correct working running failing
    """.split()
)
"""States that are over soon, or judge what is at hand."""
_MISHAPS: Final = frozenset(
    """
    fail fails break breaks crash crashes hang hangs error errors throw throws raise raises time times complain
    complains say says look looks seem seems appear appears sound sounds feel feels help helps
    """.split()
)
_OF_MINDS: Final = frozenset(
    """
    see get got need want know mean find found hear read ask feel guess believe understand look wonder forget remember
    try hope wish agree disagree appreciate thank miss admire
    """.split()
)
"""What a person does at the moment: no fact about them."""
_WENT: Final = frozenset("go goes going went gone came come".split())
_MOMENT: Final = lazy_pattern(r"(?i)\b(?:right now|at the moment|again|today|tonight|yesterday|just)\b")
_OBJECTS: Final = frozenset(
    "a an the me us him them it my your our his her their this that these those some any".split()
)
_FUNCTION_WORDS: Final = (
    english.AUXILIARIES | english.PREPOSITIONS | english.PRONOUNS | english.CONJUNCTIONS | english.ADVERBS
    | english.DETERMINERS | english.NEGATIONS
)  # fmt: skip
_BINDING: Final = frozenset({Commitment.DECISION, Commitment.CONVENTION, Commitment.PREFERENCE})
_INTRODUCTION: Final = lazy_pattern(r"^\W*[A-Za-z][\w '’-]{1,30}:\s+(?=\S+\s+\S+\s+\S)")
"""What leads to a whole sentence: "Noted: …", "From the stand-up: …"."""
_LABELLED_WORDS: Final = 4
_SUBJECT_WORDS: Final = 4
_PARTICIPLES: Final = ("ing", "ed")
_YEAR: Final = lazy_pattern(r"(?:19|20)\d\d")
_RELATIONS: Final = frozenset().union(*english.RELATIONS.values())
_OURS: Final = frozenset({"my", "our", "mine", "ours"})
_DEFINITE: Final = english.POSSESSIVES | {"the", "all", "each", "every", "both"}
_GENERALLY: Final = frozenset("all every each always usually mostly often only never".split())
_CORRECTS: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:no|sorry|oops|hm+|ah)\b[,.!—–-]* *)*(?:actually|correction|scratch that|i was wrong|my mistake"
    r"|that(?:'s| is| was) (?:wrong|not (?:right|correct|true))|wrong)\b"
)
_INSTEAD: Final = lazy_pattern(
    r"(?i), (?:and )?not (?:in |on |at |by |from |the |a )?[\w.$€£%-]+(?: [\w.-]+)?[.!]?\s*$"
)


def corrects(sentence: str) -> bool:
    """Whether a sentence says of itself that it puts something right.

    >>> [corrects(text) for text in ("Actually, it is 250.", "The owner is Kim, not Lee.", "The owner is Kim.")]
    [True, True, False]
    """
    plain = sentence.replace("’", "'")
    return _CORRECTS.match(plain) is not None or _INSTEAD.search(plain) is not None


def states_fact(sentence: str, *, context: bool = False) -> bool:
    """Whether a sentence states something that lasts; with `context`, also one about "she", "they" or "it".

    >>> [states_fact(text) for text in ("My sister lives in Porto.", "I'm stuck.", "It rains.", "The limit is 250.")]
    [True, False, False, True]
    """
    tokens = tokens_of(sentence)
    opening = [token.low for token in tokens[:2]]
    orders = len(opening) > 1 and opening[1] in _OBJECTS and not _closed(opening[0])
    if opening[:1] in (["a"], ["an"], ["let"], ["gotta"]) or orders:
        return (
            False  # what holds of any such thing; or an order, for no subject stands right before an object
        )
    if any(token.low in _AT_HAND for token in tokens) or _MOMENT.search(sentence):
        return False
    if sentence.rstrip().endswith("!") and not any(_is_specific(token) for token in tokens[1:]):
        return False
    said = claims(sentence)
    if any(claim.verb in _MISHAPS for claim in said):
        return False
    return any(_lasts(claim, context=context) for claim in said)


def tells_fact(sentence: str, *, context: bool = False) -> bool:
    """Whether a sentence tells a fact in passing that is worth keeping though nobody asked for it.

    That is less than `states_fact`: who speaks tells it of themselves or of what is theirs, or of something that is
    named at the beginning of the sentence, with a number or a name. What is said of the work at hand reads like a fact
    otherwise: an order whose object looks like a verb, a line of a program's output, what a function does.

    >>> [tells_fact(text) for text in ("Our cache holds 2 GB.", "The limit is 250.", "The watcher polls the folder.")]
    [True, True, False]
    >>> [tells_fact(text) for text in ("Improve tests, 5 to 9.", "OK, the limit is 250.", "We already read it.")]
    [False, False, False]
    """
    if not states_fact(sentence, context=context):
        return False
    tokens = tokens_of(sentence)
    first = [token.low for token in tokens[:1]] if not corrects(sentence) else None
    return any(
        _lasts(claim, context=context) and (_is_own(claim) or _is_named_first(claim, first, context=context))
        for claim in claims(sentence)
    )


def _is_own(claim: Claim) -> bool:
    """Whether who speaks says it of themselves, and as what holds, or of what is theirs."""
    lows = [token.low for token in claim.tokens[:_SUBJECT_WORDS]]
    if not claim.person:
        before_theirs = lows[:1] if lows[:1] and lows[0] not in english.PREPOSITIONS else lows
        return not _OURS.isdisjoint(before_theirs)
    if not lows or lows[0] not in english.SPEAKERS or "already" in lows:
        return False
    holds = _is_stative(claim) or not english.BE.isdisjoint(lows)
    general = not _GENERALLY.isdisjoint(token.low for token in claim.tokens)
    return holds or general or claim.ended or bool(claim.former) or any(map(_is_specific, claim.value))


def _is_named_first(claim: Claim, first: list[str] | None, *, context: bool) -> bool:
    """Whether the sentence begins with what the claim is about, and says a number or a name of it."""
    if claim.pronoun and context:
        return True
    lows = [token.low for token in claim.tokens]
    if not lows or (first is not None and lows[:1] != first):
        return False
    if not (claim.ended or claim.former or any(map(_is_specific, claim.value))):
        return False
    opens = lows[0]
    if opens in english.PREPOSITIONS:
        return not _DEFINITE.isdisjoint(lows[1 : 2 + _SUBJECT_WORDS])
    if opens in _DEFINITE:
        return True
    if _is_specific(claim.tokens[0]) and _is_stative(claim):
        return True
    return opens.endswith("s") and lows[1:2] == [claim.verb] and not claim.verb.endswith("s")


def _is_stative(claim: Claim) -> bool:
    """Whether the verb is one of being, having, or a relation."""
    return claim.verb == "be" or claim.verb in english.HAVE or claim.verb in _RELATIONS


def stands(text: str) -> bool:
    """Whether a text says something that holds until it is superseded, in whatever sentence of it.

    That is a fact, what was decided, agreed on or is preferred, and a label with its value. What happened, what
    somebody does at the moment, and what is left to do do not stand. More passes here for a fact than `states_fact`
    lets through: a mistake leaves an old text where it is, and brings none forward.

    >>> [stands(text) for text in ("Noted: the linter is ruff.", "Region: eu-west-1", "The build printed a warning.")]
    [True, True, False]
    """
    if len(text) > CHARACTERS_LIMIT or is_program_output(text):
        return False
    parts = [" ".join(text[start:end].split()) for start, end in sentences(text)]
    return any(_stands(part) for part in parts) or (len(parts) == 1 and _is_label(parts[0]))


def _stands(sentence: str) -> bool:
    """Whether one sentence says something that holds until it is superseded."""
    if is_doubtful(sentence):
        return False
    commitment = commitment_of(sentence)
    if commitment is not None:
        return commitment in _BINDING
    sentence = _INTRODUCTION.sub("", sentence)
    return _holds(sentence) or states_fact(sentence)  # what most pass first


def _is_label(sentence: str) -> bool:
    """Whether a sentence is a name and its value: "Region: eu-west-1"."""
    if is_doubtful(sentence) or commitment_of(sentence) is not None:
        return False
    said = claims(sentence)
    return (
        len(said) == 1
        and not said[0].verb
        and bool(said[0].subject)
        and 0 < len(said[0].value) <= _LABELLED_WORDS
    )


def _holds(sentence: str) -> bool:
    """Whether a sentence says of something named what it is or does now, however plain the words for that are."""
    tokens = tokens_of(sentence)
    opening = [token.low for token in tokens[:2]]
    orders = len(opening) > 1 and opening[1] in _OBJECTS and not _closed(opening[0])
    if orders or opening[:1] in (["let"], ["gotta"]) or sentence.rstrip().endswith("!"):
        return False
    if any(token.low in _POINTS | {"you", "your"} for token in tokens):
        return False
    return any(_is_so(claim) for claim in claims(sentence))


def _is_so(claim: Claim) -> bool:
    opening = {token.low for token in claim.tokens[:_SUBJECT_WORDS]}
    if claim.verb in _MISHAPS or claim.pronoun or claim.subject & _VAGUE:
        return False
    if claim.person and not english.SPEAKERS & opening:
        return False  # an order, where no subject stands before the verb
    if claim.ended or claim.former:
        return True
    if not claim.verb or not claim.value or _is_passing(claim):
        return False
    if claim.past and not claim.changes:
        return any(_YEAR.fullmatch(token.low) for token in claim.tokens)
    if not claim.person:
        return True
    if _only_went(claim):
        return False
    if english.MODALS & {token.low for token in claim.tokens} or claim.verb in _OF_MINDS:
        return False
    return claim.verb not in english.HAVE or any(map(_is_specific, claim.value))


def _only_went(claim: Claim) -> bool:
    """Whether somebody went or came somewhere that has no name: "we went hiking" happened, and holds no longer."""
    return claim.person and claim.verb in _WENT and not any(map(_is_specific, claim.value))


def _is_specific(token: Token) -> bool:
    """Whether a word is a number or a name."""
    written = token.written
    named = written[0].isupper() and token.low not in _FUNCTION_WORDS
    return token.number is not None or named or any(char.isdigit() for char in written)


def _closed(word: str) -> bool:
    return word in _FUNCTION_WORDS or not word[0].isalnum()


def _lasts(claim: Claim, *, context: bool) -> bool:
    lows = {token.low for token in claim.tokens}
    opening = {token.low for token in claim.tokens[:_SUBJECT_WORDS]}
    if _POINTS & lows or (claim.person and not english.SPEAKERS & opening):
        return (
            False  # it points at what is at hand; or it is an order, where no subject stands before the verb
        )
    if (claim.pronoun and not context) or english.MODALS & lows or claim.subject & _VAGUE:
        return False
    if claim.ended or claim.former:
        return True
    if not claim.verb or not claim.value or _is_passing(claim):
        return False
    if claim.past and not claim.changes:
        return any(_YEAR.fullmatch(token.low) for token in claim.tokens)
    specific = any(map(_is_specific, claim.value)) or bool(claim.places)
    if (claim.past and not specific) or _only_went(claim):
        return False
    if claim.person and claim.verb in english.HAVE:
        return specific
    if claim.person:
        return claim.verb not in _OF_MINDS
    if claim.verb == "be":
        return specific or _leads_on(claim, lows)
    return specific or claim.attributive or claim.named or claim.verb in _RELATIONS


def _is_passing(claim: Claim) -> bool:
    """Whether all that is said of the subject is a state or what goes on: "tired", "stuck with it", "failing"."""
    goes_on = claim.verb.endswith("ing") and claim.verb not in _RELATIONS
    if goes_on or claim.verb in _PASSING:
        return True
    words = [token for token in claim.value if token.content]
    passing = [
        token.low in _PASSING or (token.low.endswith(_PARTICIPLES) and not _is_specific(token))
        for token in words
    ]
    if claim.person and claim.verb == "be" and passing[:1] == [True]:
        return True
    return all(passing) if claim.verb == "be" else not words


def _leads_on(claim: Claim, lows: set[str]) -> bool:
    """Whether what is said is more than an adjective: a thing of somebody's, or a phrase with its preposition."""
    return bool(claim.preposition or claim.article or claim.qualifiers or {"my", "our", "'s"} & lows)
