"""What somebody looks for in a text: words at word beginnings, in any order and with simple endings, and phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_PHRASE = re.compile(r'"([^"]+)"')
_WORD = re.compile(r"[^\W_]+")
_BEFORE, _AFTER = r"(?<![^\W_])", r"(?![^\W_])"
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_STEM_CHARS: Final = 3
_ENDED_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """Parts of a text that must all be there: `needles` are in every text that matches, in lower case."""

    needles: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]

    def match(self, text: str) -> bool:
        """Whether all of it is in the text."""
        return self.match_folded(folded(text))

    def match_folded(self, low: str) -> bool:
        """Whether all of it is in a text that is `folded` already."""
        return all(needle in low for needle in self.needles) and all(
            pattern.search(low) for pattern in self.patterns
        )


def folded(text: str) -> str:
    """Return a text as it is compared: in lower case, with one letter where a language writes two at a word's end.

    >>> folded("ΟΔΥΣΣΕΥΣ") == folded("Οδυσσευς")
    True
    """
    return text.lower().replace("ς", "σ")


def search_terms(query: str) -> SearchTerms:
    """Return what a query asks for: what stands in quotes literally, of the rest each word.

    A word is found at the beginning of words, and where only a simple ending differs. Capitals never matter.

    >>> terms = search_terms('deploys planned "on Tuesday"')
    >>> terms.match("We plan to deploy on Tuesday."), terms.match("We plan to deploy on a Tuesday.")
    (True, False)
    """
    phrases = [folded(phrase) for phrase in _PHRASE.findall(query)]
    words = list(dict.fromkeys(_WORD.findall(folded(_PHRASE.sub(" ", query)))))
    if not phrases and not words and query.strip():
        phrases = [folded(query.strip())]
    patterns, needles = [], phrases
    for word in words:
        forms, continued = sorted(set(_forms(word))), list(_continued(word))
        needles = [*needles, _common([*forms, *continued])]
        whole = "|".join([*map(re.escape, forms), *(re.escape(form) + _AFTER for form in continued)])
        patterns.append(re.compile(f"{_BEFORE}(?:{whole})"))
    return SearchTerms(tuple(needle for needle in needles if needle), tuple(patterns))


def _common(words: Sequence[str]) -> str:
    """Return the beginning that all words share."""
    least, greatest = min(words), max(words)
    same = (at for at, (letter, other) in enumerate(zip(least, greatest, strict=False)) if letter != other)
    return least[: next(same, min(len(least), len(greatest)))]


def _forms(word: str) -> Iterator[str]:
    """Yield beginnings that say the same as the word: itself, and itself without a simple ending."""
    yield word
    if len(word) < _ENDED_CHARS or not word.isascii():
        return
    if word.endswith("ies"):
        yield word[:-3] + "y"
    elif word.endswith(("ses", "xes", "zes", "ches", "shes")):
        yield word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _STEM_CHARS and _VOWEL.search(base):
            yield base
            if _DOUBLED.search(base):
                yield base[:-1]
            if ending == "ed" and base.endswith("i"):
                yield base[:-1] + "y"


def _continued(word: str) -> Iterator[str]:
    """Yield the words that a simple ending makes of a word whose last letter it takes away."""
    if len(word) < _ENDED_CHARS or not word.isascii():
        return
    if word.endswith("e"):
        yield from (word[:-1] + "ing", word + "d")
    elif word.endswith("y"):
        yield from (word[:-1] + "ies", word[:-1] + "ied")


QUESTION_WORDS: Final = frozenset(
    """
    what when where which who whom whose why how whatever whenever wherever whichever whoever
    """.split()
)
"""Words that ask; they tell what kind of answer is wanted and not where to find it."""

STOP_WORDS: Final = frozenset(
    """
    a an the this that these those there here it its itself
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself they them their theirs themselves one ones oneself
    someone somebody something somewhere anyone anybody anything anywhere everyone everybody everything
    everywhere
    no none nobody nothing nowhere not never nor neither either both each every all any some such same other
    others another much many more most few fewer less least several enough own
    be am is are was were been being do does did done doing have has had having
    can could may might must shall should will would ought need let lets
    get gets got gotten getting go goes went gone going make makes made making take takes took taken taking
    put puts give gives gave given come comes came coming say says said saying tell tells told
    know knows knew known think thinks thought want wants wanted like likes liked see sees saw seen look looks
    use uses used using seem seems become becomes keep keeps kept try tries tried
    and or but if then else than because as while until unless although though since so yet
    of at by for with about against between among into onto through during before after above below under
    over to from up down in out on off upon within without across along around behind beside besides beyond
    near per via toward towards despite except instead
    again further once twice ever always often sometimes usually already still just only also too very quite
    rather almost even well maybe perhaps really actually basically simply now soon later today tonight
    however therefore thus hence moreover meanwhile otherwise anyway indeed
    yes yeah yep ok okay oh hey hi hello wow thanks thank please sure right great good nice cool lot lots bit
    thing things stuff way ways kind sort etc eg ie vs
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn
    ll ve re im ive id youre youve theyre thats whats dont doesnt didnt cant wont isnt arent wasnt
    s t d m
    """.split()
).union(QUESTION_WORDS)
"""Words without a subject of their own, the question words and the rests of contractions among them."""
