"""How much a text matters to its project, by what it says: rules of meaning, no model.

What binds (decisions, rules, security, incidents) is high; what passes (chatter, logs, stack traces) is low; the
rest is medium. The rules know English; a text in another language is judged by its kind and its form.
"""

from __future__ import annotations

import re
from typing import Final

from hexad.memory.memory import Relevance

CONSIDERED_CHARACTERS: Final = 2_000
"""A long text says early what it is; somewhere, every one of them says "never"."""
CHATTER_CHARACTERS: Final = 120
"""A longer text is no chatter, whatever it greets with."""
LOG_SHARE: Final = 0.5
"""From this share of lines that a program wrote on, a text is a log."""

_HIGH: Final = 2.0
_LOW: Final = -1.0

_KINDS: Final = {
    "decision": 2.0, "incident": 2.0, "postmortem": 2.0, "security": 2.0, "policy": 2.0, "adr": 2.0, "rule": 2.0,
    "constraint": 2.0, "requirement": 1.0, "preference": 1.0,
    "code": -0.5, "log": -2.0, "trace": -2.0, "chat": -0.5, "event": -0.5,
}  # fmt: skip

# Of one group, the first sign counts and no second.
_SIGNS: Final = tuple(
    (
        weight,
        re.compile(rf"(?i)(?<![\w.])(?:{words})\b(?!\.\w)"),
    )  # `model.contract` is a name and no contract
    for weight, words in (
        (
            2.0,
            r"(?:we|team|board|group|i)(?: have| had)?(?: all)? (?:decided|agreed|chose|settled|resolved)"
            r"|it (?:is|was) decided|decision(?: from| of|:)|agreed(?: with| on| that|:)|(?:is|was|it's) settled"
            r"|rejected:|we (?:will )?go with|signed off|approved by",
        ),
        (
            2.0,
            r"never|must(?:n't| not)?|under no circumstances|forbidden|prohibited|mandatory|required by|do not"
            r"|don't ever|has to be|have to be|is not allowed|are not allowed|needs approval|compliance",
        ),
        (
            2.0,
            r"outage|incident|post-?mortem|root cause|data loss|(?:were|was|is|are) lost|corrupted?|breach(?:ed)?"
            r"|went down",
        ),
        (
            2.0,
            r"security|vulnerab\w+|cve-\d{4}-\d+|attacker|exploit\w*|injection|leaked|privilege escalation"
            r"|unauthori[sz]ed",
        ),
        (
            2.0,
            r"blocker|blocking the (?:release|launch)|critical|release criteria|show-?stopper|deadline is"
            r"|hard deadline",
        ),
        (
            1.0,
            r"always|important|breaking change|deprecat\w+|approval|contract|by law|legal|gdpr|password\w*"
            r"|owns? the",
        ),
    )
)

_TRACE = re.compile(
    r"(?m)^Traceback \(most recent call last\)|^[^\S\n]+File \"[^\"\n]+\", line \d+"
    r"|^[^\S\n]+at [\w$./<>-]+ ?\([^)\n]*:\d+(?::\d+)?\)|^stack backtrace:|^thread '[^'\n]*' panicked"
    r"|^goroutine \d+ \["
)
_LOG_LINE = re.compile(
    r"(?i)^\W{0,3}(?:\d{4}-\d\d-\d\d[ t]\d\d:\d\d|\d\d:\d\d(?::\d\d)?|[a-z]{3} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d{1,2}/[a-z]{3}/\d{4})"
    r"|^\W{0,3}(?:trace|debug|info|notice|warn(?:ing)?|error|fatal)\b[\]:| ]|^(?:time|ts|level)=\S+ "
    r"|^(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S* \d{3}\b|^(?:npm|yarn|pip) (?:notice|warn|err)"
)
_OF_A_TRACE = re.compile(
    r"^Traceback |^\s+File \"|^\s{2,}\S|^\t\S|^panic: |^fatal error: |^[\w./*()]+\([^()]*\)$|^\s+at "
    r"|^\s*\.\.\. \d+ more|^stack backtrace:|^thread '|^goroutine \d+"
    r"|^\s*\d+: |^(?:Caused by: )?(?:[\w.$]+\.)?\w*(?:Error|Exception|Warning|Panic|Interrupt|Exit)\b"
    r"|^During handling of"
    r"|^The above exception|^note: run with"
)
_TRACE_WORDS: Final = 6
"""So many words beside a trace still say nothing of it."""
_CHATTER = re.compile(
    r"(?i)\b(?:hi|hello|hey|good (?:morning|evening|night|afternoon)|thanks?|thank you|thx|lol|haha+|cheers|bye"
    r"|see you|talk later|sounds good|no problem|you're welcome|lunch|coffee|weekend|congrats|welcome back)\b"
    r"|[:;]-?[)D(]|[\U0001f600-\U0001f64f]"
)
_EMPTY_WORK = re.compile(
    r"(?i)^\W*(?:wip|fix(?:ed|es)? typos?|typos?|merge (?:branch|pull request|remote)|bump version"
    r"|bump \S+ (?:from|to)|release v?\d|formatting|whitespace|lint|test(?: test)+)\b"
    r"|^\W*(?:ok(?:ay)?|yes|no|done|\+1)\W*$"
)
_SHORT_WORDS: Final = 3


def relevance_of(text: str, *, kind: str) -> Relevance:
    """Return how much a text of this kind matters.

    >>> relevance_of("We decided to ship on Monday.", kind="note").value
    'high'
    """
    text = text[:CONSIDERED_CHARACTERS]
    score = _KINDS.get(kind, 0.0) + _form(text)
    if score > _LOW * 2:  # what a program wrote says "must" and "critical" without meaning it
        score += sum(weight for weight, sign in _SIGNS if sign.search(text))
    if score >= _HIGH:
        return Relevance.HIGH
    return Relevance.LOW if score <= _LOW else Relevance.MEDIUM


def is_program_output(text: str) -> bool:
    """Whether a text is a stack trace or a log, and nobody says anything about it in words of their own."""
    text = text[: 4 * CONSIDERED_CHARACTERS]
    lines = [line for line in text.splitlines() if line.strip()]
    logged = sum(_LOG_LINE.match(line) is not None for line in lines)
    if len(lines) > 1 and logged == len(lines):
        return True
    if not _TRACE.search(text):
        return False
    said = [line for line in lines if not _OF_A_TRACE.match(line) and not _LOG_LINE.match(line)]
    return sum(len(line.split()) for line in said) <= _TRACE_WORDS


def is_log_line(line: str) -> bool:
    """Whether a line is one that a program writes to its log."""
    return _LOG_LINE.match(line) is not None


def _form(text: str) -> float:
    """Return what the look of a text takes from it: traces, logs, chatter and words that say nothing."""
    if _TRACE.search(text):
        return -3.0
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and sum(_LOG_LINE.match(line) is not None for line in lines) >= LOG_SHARE * len(lines):
        return -3.0
    if len(text) <= CHATTER_CHARACTERS:
        if _EMPTY_WORK.match(text) or len(text.split()) < _SHORT_WORDS:
            return -1.5
        if _CHATTER.search(text):
            return -1.5
    return 0.0
