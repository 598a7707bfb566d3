"""By which tense and aspect a question asks: what was, what has been, what came one after the other, what is usual.

The perfect tense needs its participle: "Which ports has the gateway had?" asks for a history, "Which fields has an
order?" for a fact, and "Which tables have indexed columns?" too, where the participle belongs to a noun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hexad.layers.router.question_rules import Rule
from hexad.layers.router.question_words import WH
from hexad.memory.layer_names import QueryClass

_IRREGULAR: Final = (
    r"been|become|begun|broken|brought|built|bought|caught|chosen|come|done|drawn|driven|fallen|felt"
    r"|found|given|gone"
    r"|got|gotten|grown|had|held|kept|known|left|led|lost|made|meant|met|paid|said|sat|seen|sent"
    r"|shown|slept|sold"
    r"|spent|spoken|stood|taken|taught|thought|told|thrown|won|worn|written"
)
PARTICIPLE: Final = rf"(?:(?!need|feed|seed|speed|embed|bed|red|shed)[a-z]{{2,}}ed|{_IRREGULAR})"
_WENT: Final = (
    r"(?:was|were|had|came|went|got|became|began|broke|brought|built|bought|chose|drove|fell|grew"
    r"|held|led|lost|made|meant"
    r"|paid|ran|said|sat|sent|sold|spoke|stood|taught|told|thought|took|won|wore|wrote)"
)
_PAST: Final = r"(?:did|was|were|had|has|have)"
_PRESENT: Final = r"(?:is|are|be|do|does|can|could|should|will|would|may|must|gets?)"
_FREE: Final = (
    r"(?=[,.?!]*$|,|\s+(?:about|after|and|around|as|at|before|between|by|down|during|ever|for|from"
    r"|further|here|in|into|it|its"
    r"|most|much|of|off|on|one|or|out|over|since|so|than|that|the|their|them|there|through|to"
    r"|together|under|until|up|us|with"
    r"|a|an|all|another|any|some|both|each|every|his|her|me|my|our|this|these|those|you|your"
    r"|[a-z]{2,}ly|[a-z]+ed|[a-z]+ing"
    r"|been|longer|already|always|earlier|once|worse|better|more|less)\b)"
)
"""What may follow a verb; a bare noun makes an adjective of a participle: "indexed columns"."""
_NO_HISTORY: Final = (
    r"(?!(?:art|pages?|steps?|items?|rows?|lines?|elements?|entry|parameters?|arguments?|nodes?"
    r"|buttons?|slides?|tokens?|frames?"
    r"|events?|messages?|results?|sections?|chapters?|words?|characters?|siblings?|screens?|tabs?"
    r"|calls?|statements?|than"
    r"|and|or|experience|knowledge|in|on|to)\b)"
)


def _rule(query_class: QueryClass, weight: float, pattern: str, reason: str) -> Rule:
    return Rule(query_class, weight, re.compile(pattern), reason)


TENSE_RULES: Final[Sequence[Rule]] = (
    # What has been: the perfect, with its participle.
    _rule(
        QueryClass.HISTORICAL,
        3.3,
        rf"^(?:[a-z]+ )?{WH}\b.{{0,80}}?\b(?:has|have|had) (?!to\b)(?:[\w'-]+ ){{0,5}}?{PARTICIPLE}{_FREE}",
        "it asks what has been",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:has|have|had) (?!to\b)(?:[\w'-]+ ){{1,5}}?{PARTICIPLE}{_FREE}|^(?:has|have) .+ (?:ever"
        rf"|always)\b"
        r"|^ha(?:s|ve) (?:we|i|you|they|anyone|anybody|somebody|someone)\b",
        "it asks whether something has been",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"\b(?:that|which|we|they|you|i|who|team) (?:[\w'-]+ ){{0,3}}?(?:has|have"
        rf"|had) (?!to\b)(?:ever |already |once )?{PARTICIPLE}{_FREE}"
        rf"|\b(?:has|have) ever\b",
        "it tells what has been",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.7,
        rf"^how (?:has|have|had|did) .*\b(?:evolved?|changed?|developed?|grown|grew|grow|come (?:about"
        rf"|to be)|improved?){_FREE}",
        "it asks how something changed",
    ),
    # What was: the past, whoever its subject is. In German "was" asks what is.
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:did|was|were) (?!ist\b|sind\b|hat\b|kann\b|soll\b|wird\b|macht\b)[\w'-]+"
        rf"|^(?:[a-z]+ )?{WH}\b(?: [\w'-]+){{0,5}} (?:did|was|were|had)\b"
        rf"|^(?:what|who|which(?: (?!{_PRESENT}\b)[\w-]+){{1,3}}) {_WENT}\b(?! to (?:be|do)\b)",
        "it asks in the past tense",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:as of|before|until|up to|in|back in|during|after|since"
        rf"|at) [^,?]{{1,60}}, {WH}\b.*\b(?:was|were|did|had|[a-z]{{3,}}ed)\b"
        r"|^since when\b"
        r"|^(?!.*\b(?:is|are|am|be|does|do|can|should|get|getting|being)\b.*\bused to\b).*\bused to\b",
        "it asks for a time that is over",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.0,
        rf"^(?:what|who|which(?: [\w-]+){{1,3}}) (?:preceded|succeeded|replaced|superseded"
        rf"|came (?:before|after|first))\b"
        rf"|\b{_PAST}\b.*\b(?:before|earlier|formerly|previously|until then|at first"
        rf"|at the (?:beginning|start|time))\b[.?!]*$",
        "it asks what came before",
    ),
    _rule(
        QueryClass.HISTORICAL,
        3.3,
        rf"\b(?:{_PAST}|chang(?:e|ed|es)|evolv(?:e|ed|es)|develop(?:ed|s)?|list|name|show)\b.*"
        r"\b(?:over (?:time|the (?:years|months|weeks))(?!-)|through(?:out)? the years"
        r"|one after (?:the other|another)"
        r"|since the (?:beginning|start)|down the years|to date)\b",
        "it asks how something changed",
    ),
    _rule(
        QueryClass.HISTORICAL,
        2.8,
        rf"\b(?:previous|former|prior|earlier|bygone|erstwhile|one-time) {_NO_HISTORY}[a-z-]+",
        "it asks for what was before",
    ),
    # The person who asks, by what is said of them.
    _rule(
        QueryClass.USER,
        4.0,
        r"^how [a-z]+ am i\b|\b(?:about|of) (?:me|myself)[.?!]*$|^where do i (?:live|work|come from"
        r"|sit)\b(?! (?:on|with|around))"
        r"|\bmy (?:own |usual )?(?:ways?|manner|approach|view|take|thoughts|feelings) (?:of|to|on|about)\b"
        r"|^who am i\b|^what am i like\b",
        "it asks about somebody",
    ),
    _rule(
        QueryClass.USER,
        4.0,
        r"\b(?:do|am|have) i\b.*\b(?:most often|most of the time|all the time|every time"
        r"|again and again|too often|as a rule"
        r"|at weekends|on weekdays|every (?:day|morning|week))\b|\bi .*\bas a rule\b",
        "it asks what somebody does again and again",
    ),
    _rule(
        QueryClass.USER,
        3.6,
        r"^(?:what|which)\b.* do i (?:find|consider|deem) [\w-]+[.?!]*$|^how do i (?:like|take|prefer"
        r"|want) (?:my|things|it|to be)\b",
        "it asks for somebody's taste",
    ),
    # What follows from a change is how parts hang together; where something is put is how it is done.
    _rule(
        QueryClass.ARCHITECTURAL,
        3.6,
        r"^what (?:would|will|could|might) (?:break|fail|stop working|be affected|change|happen)\b.*\bif\b",
        "it asks what hangs together with a part",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        4.1,
        r"^how (?:do|can|could|should) i (?:set up|install|configure|change|update|upgrade|reset"
        r"|enable|connect|add|run|start"
        r"|restart|fix|move|export|import|back up|restore)\b",
        "it asks how something is done",
    ),
    _rule(
        QueryClass.PROCEDURAL,
        2.5,
        r"^where (?:do|should|can|must) (?:i|we|you|one) (?:put|set|place|register|configure|enter"
        r"|declare|enable|install)\b",
        "it asks how something is done",
    ),
)
