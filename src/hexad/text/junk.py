"""Whether a text is worth remembering at all: rules for what memory systems fill up with. They know English.

Each rule is about all of a text, never about a part: a sentence that means something saves the rest.
"""

from __future__ import annotations

import re
from typing import Final

from hexad.text.normalize import fold
from hexad.text.salience import is_program_output

RULES: Final = {
    "empty": "it has no words, or nothing but what was taken out",
    "small_talk": "greetings, thanks and assent say nothing later",
    "announcement": "it says what an agent was about to do",
    "boilerplate": "it is what models say to everybody, or are told to be",
    "trace": "a stack trace or a log without a word about it",
    "test": "it was written to see whether writing works",
    "heartbeat": "a program reported that it runs",
}
"""The rules by name, with why what they find is junk."""

_LONG: Final = 600
_ANNOUNCED: Final = 320
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_SENTENCE: Final = re.compile(r"(?<=[.!?…:])\s+|\n+")
_PLACEHOLDER: Final = re.compile(r"\[REDACTED:[a-z0-9_-]{1,64}\]")
_SPEAKER: Final = re.compile(r"(?i)^\s*(?:user|assistant|human|ai|agent|bot|system)\s*:\s*")

_TALK: Final = frozenset(
    (
        "hi hello hey hiya yo morning evening afternoon night good day dear thanks thank thx ty you your u"
        " so much very a lot"
        " many again all everyone everybody there ok okay k sure fine great perfect awesome cool nice"
        " excellent wonderful"
        " amazing lovely yes yeah yep no nope not alright right got it that that's this is sounds works for"
        " me welcome you're"
        " bye goodbye cheers see later soon have great one please sorry lol haha hahaha hmm ah oh wow well"
        " done job problem"
        " worries np anytime i'm glad to help my pleasure the help how are doing today going and too am i"
        " it's been talk weekend"
    ).split()
)
_MARKS: Final = frozenset(
    "hi hello hey hiya yo morning thanks thank thx ty ok okay sure great perfect awesome cool nice yes"
    " yeah yep no nope"
    " alright welcome bye goodbye cheers lol haha hahaha wow sorry excellent wonderful amazing lovely np"
    " anytime k fine".split()
)
_DOING: Final = (
    r"check|look|read|search|run|examin|inspect|analy[sz]|review|explor|investigat|verify|open|fetch"
)
_ANNOUNCEMENT: Final = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|sure|great|perfect|alright|now|next|first|good|got it|understood|absolutely)[,.!:]?\s+)*"
    r"(?:(?:now|next|first|then),?\s+)?"
    r"(?:i(?:'ll| will| am going to|'m going to| shall| need to| want to)\s+"
    r"(?:now\s+|first\s+|also\s+|then\s+|next\s+|just\s+|quickly\s+)*"
    r"(?:check|look|read|search|run|start|begin|take|examine|inspect|analy[sz]e|review|explore|try|see|verify|open|list"
    r"|find|write|create|update|fix|implement|add|continue|proceed|go|do|help|get|fetch|make|test|investigate|think)\b"
    r"|let me (?:now |first |also |just |quickly )*(?:see|start|begin|try|take|get|find|list|think|"
    + _DOING
    + r")\w*\b"
    r"(?! (?:showed|shows|found|revealed)\b)"
    r"|let's (?:start|begin|check|look|see|take|run|try|go|do)\b"
    r"|i(?:'m| am) (?:now )?(?:" + _DOING + r")(?:n?ing|ing) \w+"
    r"|(?:checking|looking|reading|searching|running) (?:on|for|at|into|through|the|it)\b)"
)
_OUTCOME: Final = re.compile(
    r"(?i)\b(?:because|found|turns out|decided|must|never|always|so that|the (?:fix|cause|reason)|instead"
    r" of|fails?|failed)\b"
)
_BOILERPLATE: Final = re.compile(
    r"(?i)^(?:as an ai(?: language)? (?:model|assistant)\b|i(?:'m| am) (?:just )?an ai\b"
    r"|i(?:'m| am) sorry,? (?:but )?i (?:can(?:'|no)?t|am unable|do not|don't)\b"
    r"|i apologi[sz]e for (?:the|any) (?:confusion|inconvenience)\b|you(?:'re| are) absolutely right\b"
    r"|(?:please )?(?:let me know|feel free to (?:ask|reach out)|don't hesitate)\b|is there anything else\b"
    r"|how (?:can|may) i (?:help|assist)\b|what (?:can|would) (?:i|you) (?:help|like)\b|i hope (?:this|that) helps\b"
    r"|you are (?:a|an) (?:helpful|expert|ai|friendly|professional)\b[^.]*\b(?:assistant|model|agent|engineer)\b"
    r"|i'?(?:m| am) here to help\b|happy to help\b|certainly!?$|of course!?$"
    r"|the user (?:said|says|greeted|thanked|asked for help|is chatting|wants to chat)\b[^.]{0,40}\.?$)"
)
_TEST: Final = re.compile(
    r"(?i)^\W*(?:(?:this is (?:just )?|just |a |an )*(?:test(?:ing)?|dummy|sample|placeholder|example)"
    r"(?: (?:memory|memories|entry|note|message|data|item|text|string|record|content|123|one|two|three"
    r"|please ignore|run|\d+|only))*"
    r"|hello,? world|foo(?:[ ,]*ba[rz])*|(?:asdf|qwerty|lorem ipsum|abc|xyz|123|blah)\b.*|todo|tbd|n/?a"
    r"|none|null|undefined|nan)\W*$"
)
_HEARTBEAT: Final = re.compile(
    r"(?i)^\W*(?:heartbeat(?:[_ ]ok)?|no[_ ]reply|ping|pong|still (?:alive|running|here)|nothing (?:new"
    r" )?to (?:report|do)"
    r"|no (?:new )?(?:changes?|updates?|messages?|tasks?)(?: (?:found|detected|since last (?:run|check)))?"
    r"|(?:cron|scheduled|background|periodic|health|heartbeat)[ -](?:job|task|check|run)\b.{0,80}\b(?:ok"
    r"|completed|succeeded|ran|passed"
    r"|executed|finished|healthy)(?: (?:successfully|at [\d:. -]+|in [\d.]+ ?m?s))*"
    r"|(?:all )?(?:systems?|services?|checks?)(?: are| is)? (?:ok|operational|nominal|healthy|green|passed)"
    r"|status:? (?:ok|idle|running|alive))\W*$"
)


def junk_rule(text: str) -> str | None:
    """Return the rule (of `RULES`) by which a text is junk; None for one that may mean something.

    >>> junk_rule("Thanks, sounds good!"), junk_rule("Deploys happen on Tuesday.")
    ('small_talk', None)
    """
    bare = _SPEAKER.sub("", _PLACEHOLDER.sub(" ", text)).strip()
    words = _WORD.findall(fold(bare[:_LONG]).replace("\u2019", "'"))
    if not any(any(char.isalpha() for char in word) for word in words):
        return "empty" if not words or bare != text.strip() else None
    if is_program_output(text):
        return "trace"
    if len(bare) > _LONG:
        return None
    plain = bare.replace("\u2019", "'")
    if _TEST.match(plain):
        return "test"
    if _HEARTBEAT.match(plain):
        return "heartbeat"
    if len(words) <= 16 and _MARKS & set(words) and all(word in _TALK for word in words):
        return "small_talk"
    sentences = [one for one in map(str.strip, _SENTENCE.split(plain)) if one]
    if all(_BOILERPLATE.match(one) or _is_talk(one) for one in sentences):
        return "boilerplate"
    if len(plain) <= _ANNOUNCED and not _OUTCOME.search(plain) and _announces(sentences):
        return "announcement"
    return None


def _is_talk(sentence: str) -> bool:
    return all(word in _TALK for word in _WORD.findall(fold(sentence)))


def _announces(sentences: list[str]) -> bool:
    """Whether all that is said is what somebody is about to do."""
    told = [one for one in sentences if not _is_talk(one) and not _BOILERPLATE.match(one)]
    return bool(told) and all(_ANNOUNCEMENT.match(one) and not one.endswith("?") for one in told)
