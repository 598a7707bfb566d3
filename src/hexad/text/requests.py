"""Whether a question wants something made, explained or advised, or something remembered: by its form, in English."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

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
    rf"|(?!{_RECALLING}|list\b|name\b|count\b|(?:{FUNCTION_WORDS}|when|in|on|at|for|from|if)\b)[a-z]+ "
    r"(?:me|us|an?|the|this|some|my|our|all|up|down|out)\b"
    r")"
)


@cache
def _rules() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Compiled when a question is first asked where it matters: it takes as long as many answers.
    return re.compile(_WORK), re.compile(_PAST)


def asks_for_work(question: str) -> bool:
    """Whether a question wants something made, explained or advised, rather than something remembered.

    >>> asks_for_work("Could you write a parser for me?"), asks_for_work("What is my deadline?")
    (True, False)
    """
    work, past = _rules()
    return work.search(question) is not None and past.search(question) is None
