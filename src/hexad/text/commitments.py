"""What was decided, agreed on or left to do, by the words in which somebody says so: rules, no model.

The rules know English. A question, a doubt, a condition and what somebody else is said to have said decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from hexad.text.summary.sentences import sentences

SENTENCE_CHARS_LIMIT: Final = 400
_WORDS_LEAST: Final = 4


class Commitment(StrEnum):
    """What a sentence says."""

    DECISION = "decision"
    CONVENTION = "convention"
    TODO = "todo"


class Statement(NamedTuple):
    """A sentence, and what it says."""

    what: Commitment
    text: str


_DOUBT = re.compile(
    r"(?i)\b(?:maybe|perhaps|might|could we|should we|shall we|what if|whether|not sure|i think|i guess|wonder"
    r"|(?:have|has|had|did)(?: not|n't) (?:yet )?(?:decide|decided|agree|agreed)|nothing (?:is|was) decided|undecided"
    r"|before we decide|once we|until we (?:decide|agree)|if we (?:decide|decided|agree|agreed))\b"
)
_DECISION = re.compile(
    r"(?i)^\W*(?:decision\s*:|decided\s*:)|\b(?:we|i|the team|everybody) (?:have |has |had )?(?:now |finally |all )?"
    r"(?:decided|agreed|chose|settled|resolved) (?:to|on|that|for|against|not)\b"
    r"|\b(?:we|i)(?:'ll| will| are going to|'re going to| shall) (?:go with|stick with|settle on|switch to)\b"
    r"|\b(?:it (?:is|was) (?:decided|settled|agreed)) (?:to|that|on)\b|^\W*(?:let's|let us) go with\b"
    r"|\bwe (?:picked|rejected|dropped) .{2,60} (?:because|in favou?r of|over)\b"
)
_CONVENTION = re.compile(
    r"(?i)^\W*(?:convention|rule)\s*:|\b(?:our|the|by) (?:convention|rule|house style)\b"
    r"|\bwe (?:always|never)\b"
    r"|\b(?:from now on|in this (?:project|repo|repository|codebase)),? (?:we|all|every|always|never|use)\b"
    r"|^\W*(?:please )?(?:always|never) (?!mind\b)[a-z]+"
)
_TODO = re.compile(
    r"(?i)^\W*(?:todo|fixme|follow-?up|next step|open point|left to do|still open|still missing)\b\s*[:\-–—(]"
    r"|\b(?:we|i|you|somebody|someone) (?:still )?(?:need|needs|have|has) to\b.*"
    r"\b(?:later|tomorrow|next|afterwards|another time)\b"
    r"|\b(?:we|i) still (?:need|have) to\b|\bremains to be done\b|\b(?:don't|do not) forget to\b"
    r"|\b(?:still|yet) (?:has|have|needs?) to be [a-z]+\b"
)
_QUOTED = re.compile(r"^\s*(?:>|```|~~~|\||[$%#] |[\"“«])")
_HEARSAY = re.compile(
    r"(?i)\b(?:they|he|she|the (?:docs?|page|article|readme|log|issue|blog|book)) (?:says?|said|claims?)\b"
)


def statements(text: str) -> Iterator[Statement]:
    """Yield what a text decides, agrees on or leaves to do, sentence by sentence.

    >>> [(one.what.value, one.text) for one in statements("Looks fine. We decided to keep SQLite. TODO: add retries.")]
    [('decision', 'We decided to keep SQLite.'), ('todo', 'TODO: add retries.')]
    >>> list(statements("Should we go with Redis? We have not decided on it."))
    []
    """
    for start, end in sentences(text):
        sentence = " ".join(text[start:end].split())
        if len(sentence) > SENTENCE_CHARS_LIMIT or len(sentence.split()) < _WORDS_LEAST - 1:
            continue
        if sentence.endswith(("?", "？")) or _QUOTED.match(sentence):
            continue
        if _DOUBT.search(sentence) or _HEARSAY.search(sentence):
            continue
        for what, rule in (
            (Commitment.DECISION, _DECISION),
            (Commitment.CONVENTION, _CONVENTION),
            (Commitment.TODO, _TODO),
        ):
            if rule.search(sentence):
                yield Statement(what, sentence)
                break
