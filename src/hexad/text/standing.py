"""Standing instructions and preferences: what somebody wants of answers from now on.

The rules know English. They read the form of a sentence (an order with "always" or "never", a condition under which one
asks, a liking), not what it is about: whether it fits a request is judged by meaning when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.commitments import SENTENCE_CHARS_LIMIT, Commitment, commitment_of
from hexad.text.requests import FUNCTION_WORDS
from hexad.text.summary.sentences import sentences

_LEAST_WORDS: Final = 3
_READ_CHARACTERS: Final = 20_000
"""What is longer was pasted, and not said."""
ASKING: Final = frozenset({"user", "human"})
"""Who speaks for themselves in a conversation with an assistant: what the assistant says binds nobody."""
_COMMITTING: Final = frozenset({Commitment.CONVENTION, Commitment.PREFERENCE})
_ANSWERING: Final = (
    "talk|speak|discuss|tell|show|explain|write|draft|answer|reply|respond|give|suggest|recommend|propose|list"
    "|describe|help|summari[sz]e|review|provide|present|share|name|compare"
)
_CONDITION: Final = (
    r"(?:when(?:ever)?|if|once|any ?time|(?:each|every) time(?: that)?|in case) "
    rf"(?:(?:i|we)(?:'m| am|'re| are)? (?:\w+ )?(?:ask(?:ing)?|mention|request|want|need|say|bring|{_ANSWERING})"
    rf"|you (?:\w+ )?(?:{_ANSWERING}))"
)
_ORDER: Final = lazy_pattern(
    r"(?i)^\W*(?:and |but |so |also,? |oh,? )?(?:"
    rf"{_CONDITION}\b[^,;:]{{0,160}}[,;:] ?(?:please |then )?(?!(?:{FUNCTION_WORDS})\b)[a-z]+"
    rf"|(?:please )?(?!(?:{FUNCTION_WORDS}|when|if|once)\b)[a-z]+ [^?]{{0,200}}\b{_CONDITION}\b"
    r"|(?:from now on|going forward|in (?:the )?future)\b"
    r"|(?:please )?(?:don't|do not) ever\b"
    r"|(?:i (?:want|expect|need|would like|'?d like) you to|you (?:should|must|have to|need to)) (?:always|never)\b"
    rf"|you (?:should|must|have to|need to) [^?]{{0,200}}\b(?:{_CONDITION}|whenever|each time|every time)\b"
    r")"
)
_LIKING: Final = lazy_pattern(
    r"(?i)\b(?:suits?|works? (?:best|better)|(?:is|are) (?:important|easier|easiest|best|better)|matters?|confuses?"
    r"|annoys?|bothers?|tires?|bores?) (?:for |to )?me\b|\bgiven the choice,? i\b|\bi(?:'m| am) (?:not )?(?:an? )?"
    r"(?:\w+ )?(?:person|learner|believer|minimalist|purist)\b"
    r"|\bi (?:tend|try) (?:not )?to (?:avoid|choose|pick|go for|use)\b"
    r"|\bi(?:'d| would)? rather\b|\bmy (?:\w+ )?(?:taste|preference)s? (?:is|are)\b"
)


def standing_sentences(text: str) -> Iterator[str]:
    """Yield the sentences that say what holds for answers to come.

    >>> list(standing_sentences("Thanks! When I ask about prices, use euros. Is it raining? I prefer short answers."))
    ['When I ask about prices, use euros.', 'I prefer short answers.']
    >>> list(standing_sentences("When I ran it, nothing happened. Should I always use it?"))
    []
    """
    if len(text) > _READ_CHARACTERS:
        return
    for start, end in sentences(text):
        if end - start > SENTENCE_CHARS_LIMIT:
            continue
        sentence = " ".join(text[start:end].replace("’", "'").split())
        if len(sentence.split()) < _LEAST_WORDS or sentence.endswith("?"):
            continue
        if commitment_of(sentence) in _COMMITTING or _ORDER.search(sentence) or _LIKING.search(sentence):
            yield sentence
