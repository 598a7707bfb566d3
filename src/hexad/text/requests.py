"""What a question wants, by its form, in English: something made, explained or advised, or something remembered.

What is remembered may be one thing or several: "in what order …", "how many times did …", "list every …" and "summarise
how … went" want all that happened, as it came about; the best ten would be a part of it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.search_terms import STOP_WORDS

FUNCTION_WORDS: Final = (
    "i|you|he|she|it|we|they|this|that|these|those|there|the|an?|my|your|his|her|its|our|their|what|which|who|how|why"
    "|where|is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|had|nothing|something"
)

_PAST: Final = (
    r"(?i)\b(?:did|was|were|had|have (?:i|we|you)|has|(?:i|we|you)(?:'ve| have| had)? (?:already |ever |just )?"
    r"(?:said|told|chose|made|went|brought|built|wrote|got|gave|took|met|spent|saw|bought|paid|sent|ran|began"
    r"|[a-z]{2,}(?<!ne)(?<!fe)ed)|so far|ago|yesterday|last (?:week|month|year|time)"
    r"|previous(?:ly)?|earlier)\b"
)
_RECALLING: Final = (
    r"remind|recall|remember|recap|summari[sz]e"
    r"|tell me (?:what|when|who|where|which|whether|if|how (?:many|much|long|often))"
)
_POLITE: Final = (
    r"(?:(?:hi|hello|hey|ok|okay|so|and|now|also|well|great|thanks|thank you)\b[,.!]? )*(?:please,? )?"
)
_WORK: Final = (
    rf"(?i)^\W*{_POLITE}(?:"
    rf"(?:can|could|will|would) you(?: please| also| maybe)? (?!{_RECALLING})[a-z]"
    r"|(?:can|could|should|shall|may|would|will) (?:i|we)\b"
    r"|i(?:'d| would|'m| am)? ?(?:like|want|need|have|going|planning|trying|looking|thinking)\b"
    r"|help\b|let's\b|any (?:ideas?|suggestions?|tips|advice|recommendations?)\b"
    r"|(?:how|what|where|when|which|who|why)\b[^?]{0,120}?\b(?:should|could|can|would|might) (?:i|we|you|one|it)\b"
    r"|how do (?:i|we|you|they|it)\b|how do(?:es)?\b[^?]{0,60} work\b|what do (?:i|we) (?:do|need|use|type|have to)\b"
    r"|how (?:to|about)\b|what about\b"
    r"|(?:what|which|where)(?:'s| is| are| would be)[^?]{0,40}\b(?:good|best|better|ideal|right|easiest|proper|nice)\b"
    r"|(?:how|what|which)\b[^?]{0,80}\b(?:should|could|would|might)\b"
    r"|would (?:it|you)\b|is it (?:worth|possible|better|ok|okay)\b"
    rf"|(?!{_RECALLING}|(?:list|name|count|all|both|half)\b|(?:{FUNCTION_WORDS}|when|in|on|at|for|from|if)\b)[a-z]+ "
    r"(?:me|us|an?|the|this|some|my|our|all|up|down|out)\b"
    r")"
)


# Compiled when a question is first asked where they matter: it takes as long as many answers.
_ASKS_WORK: Final = lazy_pattern(_WORK)
_SPEAKS_OF_PAST: Final = lazy_pattern(_PAST)


_OF_MEMORY: Final = frozenset(
    """
    know known knew remember remembered recall recalled told tell said mentioned learned learnt stored memory memories
    """.split()
)
_WHOLE: Final = frozenset(
    """
    what whatever everything anything all tell show list give summarize summarise summary overview far now already
    please myself me us
    """.split()
)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def asks_for_all(question: str) -> bool:
    """Whether a question names nothing but the memory itself, so that everything in it answers.

    >>> [asks_for_all(text) for text in ("What do you know about me?", "Tell me about myself.", "Tell me a joke.")]
    [True, True, False]
    >>> [asks_for_all(text) for text in ("What do you know about Redis?", "What is my name?", "Do you remember?")]
    [False, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(question[:_SHORT])] if len(question) <= _SHORT else []
    if not words or words[0] not in _WHOLE or _OF_MEMORY.isdisjoint(words):
        return False
    return all(word in _OF_MEMORY or word in _WHOLE or word in STOP_WORDS for word in words)


_SHORT: Final = 120


def asks_for_work(question: str) -> bool:
    """Whether a question wants something made, explained or advised, rather than something remembered.

    >>> asks_for_work("Could you write a parser for me?"), asks_for_work("What is my deadline?")
    (True, False)
    """
    return _ASKS_WORK.search(question) is not None and _SPEAKS_OF_PAST.search(question) is None


# Several memories --------------------------------------------------------------------------------------------------


class SequenceForm(StrEnum):
    """What is asked of several memories."""

    ORDER = "order"
    COUNT = "count"
    LIST = "list"
    SUMMARY = "summary"


QUESTION_CHARACTERS: Final = 400
"""What is longer is a text or a task, and no such question."""
_HINT: Final = re.compile(
    r"(?i)\b(?:order|sequence|chronolog|timeline|sort|arrange|first|earlier|many|much|often|count|times|all|every"
    r"|each|everything"
    r"|which|what|list|summar|sum up|recap|overview|history|story|developed|how (?:has|have|did))"
)
"""Without any of it no rule applies."""

_HAPPENED: Final = (
    r"(?i)\b(?:did|was|were|had|has|have|[a-z]+'ve|(?!need|feed|seed|speed|indeed|embed|shared?|based|nested"
    r"|sorted\b)[a-z]{2,}ed"
    r"|ate|drank|met|saw|came|ran|made|said|told|gave|got|found|lost|won|sent|spent|built|kept|held|led|left|felt"
    r"|heard"
    r"|wrote|spoke|broke|brought|bought|caught|drew|drove|flew|knew|paid|rode|sang|sold|slept|stood|taught|thought"
    r"|threw"
    r"|wore|went|took|began|chose|so far|over time|until now|to date|already)\b"
)
_UNITS: Final = (
    r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centuries|miles?|kilomet(?:er|re)s?"
    r"|met(?:er|re)s?"
    r"|feet|inches|pounds?|kilos?|kilograms?|grams?|litres?|liters?|degrees?|percent|dollars?|euros?|calories"
    r"|steps|points"
    r"|bytes?|[kmg]b|lines|tokens)"
)
_SUBJECT: Final = (
    r"(?:i|we|you|he|she|they|it|there|(?:my|our|your|his|her|their|the|an?) [\w'’-]+(?: [\w'’-]+)?"
    r"|(?-i:[A-Z])[\w'’.-]*(?: (?:and )?(?-i:[A-Z])[\w'’.-]*)*)"
)
_PLURAL: Final = (
    r"(?:(?!(?:does|has|his|its|this|always|towards)\b)[a-z][\w-]*[a-rtv-z]s|people|children|men|women|mice|feet"
    r"|teeth|criteria|phenomena)"
)
_ASK: Final = (
    r"^\W*(?:(?:hi|hello|hey|ok|okay|so|and|now|also|well)\b[,.!]? )*(?:please,? )?(?:(?:can|could|will"
    r"|would) you (?:please )?)?"
)
_ORDER: Final = (
    r"(?i)\b(?:in|by) (?:what|which) (?:chronological |temporal )?(?:order|sequence)\b"
    r"|\b(?:order|sequence|chronology) (?:in which|that)\b"
    r"|\b(?:what|which) (?:is|was|were) the (?:order|sequence|chronology) of\b"
    r"|\bchronological(?:ly)?\b|\b(?:time ?line|chronology) (?:of|for)\b"
    r"|\b(?:sort|order|arrange|rank|put|place|list|name)\b[^?]{0,200}\b(?:by (?:when|date|time)|in (?:the "
    r"|their )?order"
    r"|from (?:the )?(?:first|earliest|oldest) to)\b"
    r"|\b(?:what|which|who)\b[^?:]{0,80}\b(?:first|earlier|earliest|sooner)\b[^?]{0,120}(?:\bor\b|\band (?:what"
    r"|which|who|then)\b|:)"
    r"|\b(?:did|was|were|had)\b[^?]{0,120}\bbefore or after\b"
)
_COUNT: Final = (
    r"(?i)\bhow (?:many (?:different |separate |more )?(?:times|occasions)|often)\b[^?]{0,20}\b(?:did|have|has|had"
    r"|was|were)\b"
    rf"|\bhow many (?!(?:more |other |full |whole )?{_UNITS}\b)(?:(?!(?:do|does|is|are|was|were|can|could|will"
    r"|would)\b)[\w'’-]+ ){1,8}?(?:did|(?:have|has|had)(?! to\b))\b"
    r"|\bhow (?:much|many)\b[^?]{0,120}\b(?:altogether|in total|in all|overall|combined|so far)\b"
    r"|\b(?:number of|count (?:all )?the) (?:times|occasions)\b|\bcount (?:all|every|each|how often)\b"
)
_LIST: Final = (
    r"(?i)\b(?:all|every|each)(?: of)?(?: the| those)?(?: \w+)? (?:times?|occasions?|instances?) (?:that |when "
    r"|on which |in which )?"
    rf"{_SUBJECT}\b"
    rf"|{_ASK}(?:list|name|enumerate|(?:show|give|tell) (?:me|us)) (?:an? (?:full |complete )?list of )?(?:all"
    r"|every|each|everything)\b"
    r"|\b(?:what|which|who) (?:are|were) all (?:of )?(?:the|my|our|those|these|his|her|their)\b"
    r"|\b(?:what|which) (?:(?!is\b|are\b|was\b|were\b|do\b|does\b"
    rf"|did\b)[\w'’-]+ ){{0,4}}?{_PLURAL} (?:(?!do(?:es)?\b|did\b)[\w'’-]+ ){{0,4}}?(?:have"
    rf"|has) (?!to\b)(?:{_SUBJECT} )?[\w'’-]+"
    rf"|\b(?:everything|all) (?:that |which )?{_SUBJECT} (?:have |has |had |'ve |ever |already )*[\w'’-]+"
)
_SUMMARY: Final = (
    r"(?i)\b(?:summari[sz]e|sum up|recap|recapitulate|retrace|overview|summary|history|story|account) (?:of |for "
    r"|over )?(?:me |us )?"
    rf"(?:how|what|everything|all|the (?:history|story|progress|development|course|evolution)|where)\b"
    rf"|\bhow (?:has|have) {_SUBJECT} (?:[\w'’-]+ ){{0,4}}?(?:developed|evolved|changed|progressed|grown|gone"
    r"|improved|unfolded|come along)\b"
    rf"|\bhow did {_SUBJECT} (?:[\w'’-]+ ){{0,4}}?(?:develop|evolve|progress|unfold|change over)\b"
)


_SPEAKS_OF_EVENTS: Final = lazy_pattern(_HAPPENED)
_SEQUENCE_FORMS: Final = tuple(
    (form, lazy_pattern(rule))
    for form, rule in (
        (SequenceForm.ORDER, _ORDER),
        (SequenceForm.COUNT, _COUNT),
        (SequenceForm.SUMMARY, _SUMMARY),
        (SequenceForm.LIST, _LIST),
    )
)


def sequence_form(question: str) -> SequenceForm | None:
    """Return what a question asks of several memories; None where it may be answered by one.

    >>> sequence_form("How many times did I go to the gym?"), sequence_form("When did I last go to the gym?")
    (<SequenceForm.COUNT: 'count'>, None)
    """
    if len(question) > QUESTION_CHARACTERS or _HINT.search(question) is None:
        return None
    if _SPEAKS_OF_EVENTS.search(question) is None:  # first: the forms take longest to compile
        return None
    form = next((form for form, rule in _SEQUENCE_FORMS if rule.search(question)), None)
    return None if form is None or asks_for_work(question) else form
