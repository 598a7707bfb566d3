"""How much a text matters to its project, by what it says: rules of meaning, no model.

What binds (decisions, rules, security, incidents) is high; what passes (chatter, logs, stack traces) is low; the
rest is medium. The rules know English; a text in another language is judged by its kind and its form.
"""

from __future__ import annotations

from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.memory.memory import Relevance
from hexad.text.noise import _LOG_LINE, _TRACE, CONSIDERED_CHARACTERS

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
        lazy_pattern(rf"(?i)(?<![\w.])(?:{words})\b(?!\.\w)"),
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

"""So many words beside a trace still say nothing of it."""
_CHATTER = lazy_pattern(
    r"(?i)\b(?:hi|hello|hey|good (?:morning|evening|night|afternoon)|thanks?|thank you|thx|lol|haha+|cheers|bye"
    r"|see you|talk later|sounds good|no problem|you're welcome|lunch|coffee|weekend|congrats|welcome back)\b"
    r"|[:;]-?[)D(]|[\U0001f600-\U0001f64f]"
)
_EMPTY_WORK = lazy_pattern(
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
