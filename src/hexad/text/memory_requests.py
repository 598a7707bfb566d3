"""What somebody asks to be remembered, and what they ask for from then on: rules for English, no model.

"Remember that …", "Keep in mind …" and "Don't forget that …" are requests: what they name is kept, whatever it
says. "Note that …", "FYI …" and "For the record …" announce more often what matters for one errand: of these stays
what holds by itself.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.claims.facts import stands
from hexad.text.commitments import is_doubtful

_LEAD: Final = (
    r"^\W*(?:(?:ok(?:ay)?|hey|hi|hello|oh|also|and|but|btw|by the way|so|now|well|thanks|thank you|yes"
    r"|no|sure|great"
    r"|one more thing|another thing|actually|important)\b[,.:!–—-]* *)*"
)
_POLITE: Final = (
    r"(?:(?:please|pls|kindly|you should|you must|make sure (?:to|you)|be sure to|always|just|try to"
    r"|i(?:'d| would) like you to"
    r"|i (?:want|need) you to|(?:can|could|would|will) you please)\b,? *)*"
)
_INDIRECT: Final = lazy_pattern(rf"(?i){_LEAD}(?:can|could|would|will) you please\b")
"""A question in form and a request in fact."""
_ASKS: Final = lazy_pattern(
    rf"(?i){_LEAD}{_POLITE}(?:(?:remember|memori[sz]e|(?:keep|bear) in (?:mind|memory)|(?:don't|do not"
    rf"|never) (?:you )?forget"
    r"|(?:make|take) a (?:mental )?note|take note|save to (?:your )?memory"
    r"|add to (?:your )?memory)(?: for (?:later|next time|the future))?"
    r",? (?:of the fact )?(?:that\b|(?=(?:i|i'm|i've|we|we're|we've|my|our)\b))"
    r"|(?:remember|memori[sz]e|note|save|store|write down|(?:write|note|jot) (?:this|that|it) down"
    r"|(?:keep|bear) in (?:mind|memory)|don't forget)(?: (?:this|the following))?"
    r"(?: (?:down|in (?:your )?memory|for (?:later|next time|the future)))?: ?)\s*(?P<what>\S.*)$"
)
_REMINDS: Final = lazy_pattern(
    rf"(?i){_LEAD}{_POLITE}(?:(?P<forget>(?:don't|do not|never) (?:you )?forget)|remember|memori[sz]e"
    r"|(?:keep|bear) in (?:mind|memory)) (?:about )?"
    r"(?P<what>(?!(?:to|that|when|where|how|why|what|who|which|if|whether|it|this|these|those|me|us|him|her|them)\b)\S.*)$"
)
"""The same without "that": "Don't forget the demo is on Friday", "Don't forget my birthday"."""
_ANNOUNCES: Final = lazy_pattern(
    rf"(?i){_LEAD}{_POLITE}(?:note,? that\b|(?:fyi|for (?:the record|your information|future reference)"
    rf"|(?:just )?so (?:that )?you know"
    r"|heads[- ]up)\b[,:;–—-]*(?: that\b)?)\s*(?P<what>\S.*)$"
)
_STATES: Final = lazy_pattern(
    r"(?i)^(?:i|i'm|i've|i'd|we|we're|we've|he|she|they|my|our|his|her|their|the|all|every|each|no|any"
    r"|some|an?|there|nobody|if|when"
    r"|on|in|at)\b|^(?-i:[A-Z0-9])"
)
"""How a clause begins. What follows "remember that" may be a thing as well: "remember that day"."""
_STATES_LEAST: Final = 3
_POINTS: Final = lazy_pattern(r"(?i)\b(?:this|these|those|here|above|below|following|you|your|it)\b")
_VERBS: Final = """
add address answer apply ask assume avoid begin break call check cite comment commit confirm convert
count do don't document end explain export fix follow format give greet ignore include indent insert
keep leave let limit link list make mark measure mention name number offer only omit order output
place point prefer prefix print provide put quote read refer remind remove reply report respond
return review round run save send set show sign skip sort speak spell start state stick stop store
suggest summarise summarize talk tell test translate treat try use verify warn wrap write
"""
_DO: Final = (
    r"(?:please,? )?(?:(?:always|never|only|also|just|do not|don't|no longer) )*(?:be (?!an?\b|the\b"
    r"|my\b)|no more |"
    r"(?:" + "|".join(_VERBS.split()) + r")\b)"
)
_TOLD: Final = (
    r"(?:(?:you (?:should|must|need to|have to|will)|i(?:'d| would) like you to|i (?:want|need|expect) you to"
    r"|(?:can|could|would|will) you(?: please)?|let's|make sure (?:to|you)) )?"
)
_ONWARDS: Final = (
    r"(?:from (?:now|here|today|this point)(?: on(?:wards?)?| forwards?)?(?: out)?|going forwards?"
    r"|moving forwards?|henceforth"
    r"|in (?:the )?future(?: (?:answers?|repl(?:y|ies)|responses?|conversations?|chats?|sessions?"
    r"|messages?))?"
    r"|in all (?:future |your )?(?:answers?|replies|responses|conversations|chats|sessions|messages)"
    r"|at all times)"
)
_STANDING: Final = lazy_pattern(
    rf"(?i){_LEAD}(?:please,? )?(?:{_ONWARDS}\b[,:]? *{_TOLD}{_DO}|{_TOLD}{_DO}.*\b{_ONWARDS}\W*$"
    rf"|(?:you (?:should|must|need to|have to)|i(?:'d| would) like you to|i (?:want|need|expect) you to"
    rf"|(?:can|could|would|will) you please)"
    rf" (?:please )?(?:always|never) [a-z]+ \S)"
)


class SpeechAct(StrEnum):
    """What a sentence asks for."""

    REMEMBER = "remember"
    REMIND = "remind"
    STANDING = "standing"


def requested(sentence: str) -> tuple[SpeechAct, str] | None:
    """Return what a sentence asks for, and the words of what it names; None where it asks for nothing that lasts.

    >>> requested("Please remember that the staging box is called Heron.")
    (<SpeechAct.REMEMBER: 'remember'>, 'the staging box is called Heron.')
    >>> requested("Don't forget my birthday."), requested("Don't forget the tests.")
    ((<SpeechAct.REMIND: 'remind'>, 'my birthday.'), None)
    >>> requested("Remember that day in Porto?")
    """
    plain = " ".join(sentence.replace("’", "'").split())
    if plain.endswith(("?", "？")):
        if _INDIRECT.match(plain) is None:
            return None
        plain = plain.rstrip("?？ ")
    if (asks := _ASKS.match(plain)) is not None and _is_clause(asks["what"]):
        return SpeechAct.REMEMBER, asks["what"]
    if (reminds := _REMINDS.match(plain)) is not None:
        what = reminds["what"]
        if stands(what):
            return SpeechAct.REMEMBER, what
        of_theirs = reminds["forget"] is not None and what.casefold().startswith(("my ", "our "))
        return (SpeechAct.REMIND, what) if of_theirs else None
    if (announces := _ANNOUNCES.match(plain)) is not None:
        what = announces["what"]
        holds = not is_doubtful(what) and _POINTS.search(what) is None and stands(what)
        return (SpeechAct.REMEMBER, what) if holds else None
    return (
        (SpeechAct.STANDING, plain) if _STANDING.match(plain) is not None and not is_doubtful(plain) else None
    )


def _is_clause(what: str) -> bool:
    """Whether words say something, and do not only name it."""
    return len(what.replace("'", " ").split()) >= _STATES_LEAST and (
        _STATES.match(what) is not None or stands(what)
    )
