"""Summaries by extraction: the sentences that stand for the rest, in their order."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.graphemes import cut
from hexad.text.normalize import clean, fold
from hexad.text.search_terms import STOP_WORDS
from hexad.text.summary.code_outline import outline
from hexad.text.summary.sentences import iter_sentences

DAMPING: Final = 0.85
ITERATIONS: Final = 6
"""Enough, since the walk begins where it would end without damping."""
EDGE_FLOOR: Final = 0.1
"""Two sentences less alike than this are not joined."""
VARIETY: Final = 0.4
"""How much of a sentence's score likeness to a chosen one can cost."""
REPEATED: Final = 0.9
"""A sentence as like a chosen one as this comes last."""
POSITION_WEIGHT: Final = 1.0
POSITION_HALF: Final = 4
"""The prior of the fifth sentence is half that of the first."""
ASIDE: Final = 0.4
"""The part of the prior that a sentence has which is like no other."""
TITLE_WEIGHT: Final = 0.3
CHOSEN_LIMIT: Final = 24
"""Sentences put in order at most: no summary holds more."""
TERMS_LIMIT: Final = 30
"""Terms of one sentence that count, the rarest first."""
SPREAD_LIMIT: Final = 40
"""A term in more sentences than this joins none: it would cost most and tell least."""
FULL_WORDS: Final = 6
"""A sentence with fewer words than this says less."""
LONG_WORDS: Final = 32
"""A sentence with more words than this takes the room of others."""
PROSE_SHARE: Final = 0.9
"""Share of letters, digits and spaces in prose at least; code and data have more signs."""

_WORD = lazy_pattern(r"[^\W_]+")
_UNSPACED = lazy_pattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PLACES: Final = 6

# Plain Python rather than NumPy: the graph is sparse and small, importing NumPy would cost a command that
# stores one note more than all of this, and sums in a fixed order are the same on every machine.


@dataclass(frozen=True, slots=True)
class _Read:
    """What counts of one sentence: its terms, and how much of a sentence it is, 0 to 1."""

    terms: Mapping[str, int]
    fullness: float


def most_central(sentences: Sequence[str], *, title: str = "") -> list[int]:
    """Return the positions of the sentences that say most, best first, at most 24.

    Each is chosen for its rank in the graph of TF-IDF cosines, for coming early, for words of `title` and for
    differing from those before it. Ties go to the earlier one. The cost is bounded for 200 sentences.
    """
    read = [_read(sentence) for sentence in sentences]
    bags = [sentence.terms for sentence in read]
    # Short sentences seldom share a term; those that share none are not alike, whatever each term weighs.
    if len(set[str]().union(*bags)) == sum(map(len, bags)):
        likeness: list[dict[int, float]] = [{} for _ in bags]
    else:
        likeness = _cosines(_weigh(bags))
    titled = _read(title).terms.keys()
    scores = []
    for at, (rank, sentence) in enumerate(zip(_walk(likeness), read, strict=True)):
        prior = POSITION_WEIGHT * POSITION_HALF / (POSITION_HALF + at)
        named = TITLE_WEIGHT * len(titled & sentence.terms.keys()) / len(titled) if titled else 0.0
        # A sentence that nothing takes up again has little of its early place: it is an aside. But the first.
        weight = 1.0 if at == 0 else ASIDE + (1 - ASIDE) * rank
        score = rank + prior * weight + named
        scores.append(round(score * sentence.fullness, _PLACES))
    return _varied(scores, likeness)


def _read(sentence: str) -> _Read:
    """Take the words that count, without plural endings; pairs of characters where there are no spaces."""
    folded = fold(sentence)
    if not folded.isascii() and _UNSPACED.search(folded):
        return _Read(Counter(map("".join, pairwise(folded))), 1.0)
    words = _WORD.findall(folded)
    telling = [word for word in words if word not in STOP_WORDS and len(word) > 1]
    terms: dict[str, int] = {}
    for word in telling:
        term = word[:-1] if word[-1] == "s" and len(word) > 3 and word[-2] != "s" else word
        terms[term] = terms.get(term, 0) + 1
    signs = len(folded) - sum(map(len, words)) - folded.count(" ")
    prose = min((1 - signs / max(len(folded), 1)) / PROSE_SHARE, 1.0) ** 4
    asks = 0.6 if sentence.endswith("?") else 1.0
    # Five words without an article or a preposition are a list or a call, seldom a sentence.
    bare = 0.7 if len(telling) == len(words) >= FULL_WORDS - 1 else 1.0
    return _Read(
        terms, min(len(words) / FULL_WORDS, LONG_WORDS / max(len(words), 1), 1.0) * prose * asks * bare
    )


def _weigh(bags: Sequence[Mapping[str, int]]) -> list[dict[str, float]]:
    """Return TF-IDF vectors of length one."""
    spread: Counter[str] = Counter()
    for bag in bags:
        spread.update(bag.keys())
    idf = {term: round(math.log(1 + len(bags) / count), _PLACES) for term, count in spread.items()}
    vectors = []
    for bag in bags:
        # The rarest terms, in an order that depends on the text alone.
        terms = (
            sorted(bag, key=lambda term: (-idf[term], term))[:TERMS_LIMIT] if len(bag) > TERMS_LIMIT else bag
        )
        weights = {term: bag[term] * idf[term] for term in terms}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        vectors.append(
            {term: weight / length for term, weight in weights.items() if spread[term] <= SPREAD_LIMIT}
        )
    return vectors


def _cosines(vectors: Sequence[dict[str, float]]) -> list[dict[int, float]]:
    """Return for each sentence the others that are like it, with their cosine."""
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    likeness: list[dict[int, float]] = []
    for at, vector in enumerate(vectors):
        products: defaultdict[int, float] = defaultdict(float)
        for term, weight in vector.items():
            earlier = postings[term]
            for other, other_weight in earlier:
                products[other] += weight * other_weight
            earlier.append((at, weight))
        similarities = {
            other: round(value, _PLACES) for other, value in products.items() if value >= EDGE_FLOOR
        }
        likeness.append(similarities)
        for other, value in similarities.items():
            likeness[other][at] = value
    return likeness


def _walk(likeness: Sequence[dict[int, float]]) -> list[float]:
    """Return each sentence's share of a random walk's time, the largest as 1.0."""
    count = len(likeness)
    degrees = [sum(edges.values()) for edges in likeness]
    total = sum(degrees)
    ranks = [degree / total for degree in degrees] if total else [1.0 / count] * count
    for _ in range(ITERATIONS if total else 0):
        flows = [rank / degree if degree else 0.0 for rank, degree in zip(ranks, degrees, strict=True)]
        ranks = [
            (1 - DAMPING) / count + DAMPING * sum([value * flows[other] for other, value in edges.items()])
            for edges in likeness
        ]
    highest = max(ranks)
    return [rank / highest for rank in ranks]


def _varied(scores: Sequence[float], likeness: Sequence[dict[int, float]]) -> list[int]:
    """Return positions best first, each lowered by its likeness to those before it (MMR)."""
    highest = max(scores) or 1.0
    values = [(1 - VARIETY) * score / highest for score in scores]
    nearest = [0.0] * len(scores)
    chosen: list[int] = []
    for _ in range(min(len(scores), CHOSEN_LIMIT)):
        best = values.index(max(values))
        chosen.append(best)
        values[best] = -math.inf
        for other, value in likeness[best].items():
            if value > nearest[other]:
                values[other] -= VARIETY * (value - nearest[other])
                nearest[other] = value
                if value >= REPEATED:
                    values[other] = -1.0
    return chosen


MICRO_LIMIT: Final = 160
"""Characters of a micro summary: one or two sentences on one line."""
SHORT_LIMIT: Final = 480
"""Characters of a short summary: a short paragraph or a few list items."""
LONG_LIMIT: Final = 1_600
"""Characters of a long summary: an abstract."""
MICRO_SENTENCES: Final = 2
CONSIDERED_CHARACTERS: Final = 65_536
CONSIDERED_SENTENCES: Final = 200
"""What comes later in a text is not considered, so that the cost has a bound."""
MISSES_LIMIT: Final = 2
"""After so many sentences without room the summary is full: what still fitted would be an aside."""
FEW_SENTENCES: Final = 3
"""So many need no ranking: the first ones are the summary."""

_ELLIPSIS: Final = "…"
_ITEM = lazy_pattern(r"[ \t]*(?:[-*+\u2022\u2023\u25e6\u00b7] |[0-9]{1,3}[.)] )(?:\[[ xX]\] )?")
_HEADING = lazy_pattern(r"[ \t]*#{1,6} ")
_DRESS = lazy_pattern(r"(?m)^[ \t]*>[ \t]?|\*\*|__|`")
_MARKUP = lazy_pattern(r"[ \t]*(?:```|~~~|\||={3}|-{3}|\*{3})")
# Where a text longer than its limit may be cut; a script without spaces is cut anywhere.
_LAST_SPACE_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """Document 1's three summaries: 1-2 sentences, a short paragraph or list, a long-form abstract."""

    micro: str
    short: str
    long: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence as it is shown, and whether it is an item of a list."""

    text: str
    is_item: bool


def summaries(text: str, *, title: str | None = None) -> Summaries:
    """Return three summaries made of the text's own sentences, the same on every machine.

    At most 160, 480 and 1,600 characters, never cut inside a character; a cut sentence ends in "…". What is
    short enough is its own summary. Sentences that have words in common with many others, that come early and
    that share words with `title` win. Code is summarised by what its author says of it and by the names it
    defines. The empty text gives the title, or nothing.
    """
    if len(text) > CONSIDERED_CHARACTERS:
        text = cut(text, CONSIDERED_CHARACTERS)
    whole = text.strip()
    if not whole:
        name = _fit(" ".join((title or "").split()), MICRO_LIMIT)
        return Summaries(micro=name, short=name, long=name)
    described = outline(whole, title=title) if "\n" in whole or "(" in whole else None
    units = [_Unit(part, False) for part in described] if described else _units(whole)
    if not units:  # nothing but headings, tables and rules
        units = [_Unit(" ".join(whole.split()), False)]
    order: Iterable[int] = range(len(units))
    if len(units) > FEW_SENTENCES and not described:
        order = most_central([unit.text for unit in units], title=title or "")
    order = tuple(order)
    return Summaries(
        micro=_micro(units, order),
        short=whole if len(whole) <= SHORT_LIMIT else _gather(units, order, SHORT_LIMIT),
        long=whole if len(whole) <= LONG_LIMIT else _gather(units, order, LONG_LIMIT),
    )


def extract(text: str, limit: int) -> str:
    """Return the sentences of `text` that say most, in their order, in at most `limit` characters.

    What is short enough is returned as it is. Only so much of a long text is considered as for `summaries`.
    """
    whole = text.strip()
    if len(whole) <= limit:
        return whole
    units = _units(cut(whole, CONSIDERED_CHARACTERS))
    if not units:
        return _fit(" ".join(whole.split()), limit)
    order = range(len(units)) if len(units) <= FEW_SENTENCES else most_central([unit.text for unit in units])
    return _gather(units, order, limit)


def _units(text: str) -> list[_Unit]:
    """Return the first sentences of a text without markup; headings only where there is nothing else."""
    units: list[_Unit] = []
    headings: list[_Unit] = []
    for start, end in islice(iter_sentences(text), CONSIDERED_SENTENCES):
        piece = text[start:end]
        if _MARKUP.match(piece):
            continue
        if heading := _HEADING.match(piece):
            headings.append(_Unit(_plain(piece[heading.end() :]), False))
            continue
        item = _ITEM.match(piece)
        shown = _plain(piece[item.end() :] if item else piece)
        if shown:
            units.append(_Unit(shown, item is not None))
    return units or [heading for heading in headings if heading.text]


def _plain(piece: str) -> str:
    if "*" in piece or "_" in piece or "`" in piece or ">" in piece:
        piece = _DRESS.sub("", piece)
    return " ".join(piece.split())


def _micro(units: Sequence[_Unit], order: Sequence[int]) -> str:
    """Return the best sentence, and the next best when both fit on the line."""
    # The beginning of the best sentence says more than a lesser one that would fit whole.
    chosen = order[:MICRO_SENTENCES]
    if sum(len(units[at].text) + 1 for at in chosen) > MICRO_LIMIT + 1:
        chosen = order[:1]
    return _fit(" ".join(units[at].text for at in sorted(chosen)), MICRO_LIMIT)


def _gather(units: Sequence[_Unit], order: Sequence[int], limit: int) -> str:
    """Return the best sentences that fit into `limit` characters, in the order of the text."""
    chosen: list[int] = []
    room = limit
    missed = 0
    for at in order:
        needed = len(units[at].text) + 3  # an item's mark and a line's end, at most
        if needed <= room:
            chosen.append(at)
            room -= needed
        elif chosen and (missed := missed + 1) == MISSES_LIMIT:
            break
    if not chosen:
        return _fit(units[order[0]].text, limit)
    return _render([units[at] for at in sorted(chosen)])


def _render(units: Sequence[_Unit]) -> str:
    """Join sentences by spaces; items of a list stand on lines of their own."""
    shown = ""
    previous: _Unit | None = None
    for unit in units:
        if previous is not None:
            shown += "\n" if unit.is_item or previous.is_item else " "
        shown += f"- {unit.text}" if unit.is_item else unit.text
        previous = unit
    return shown


def clamp(text: str, limit: int) -> str:
    """Return `text`, or its first whole sentences in at most `limit` characters; half a sentence ends in "…".

    >>> clamp("Ship it. Then rest a while.", 12)
    'Ship it.'
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    end = 0
    for _, sentence_end in iter_sentences(text):
        if sentence_end > limit:
            break
        end = sentence_end
    return text[:end] if end else _fit(" ".join(text.split()), limit)


def _fit(text: str, limit: int) -> str:
    """Return `text`, or its beginning up to a word's end with "…" in at most `limit` characters."""
    if len(text) <= limit:
        return text
    head = cut(text, limit - len(_ELLIPSIS))
    space = head.rfind(" ")
    if not text[len(head)].isspace() and space >= _LAST_SPACE_SHARE * len(head):
        head = head[:space]
    return head.rstrip(" ,;:.-\u2013\u2014(") + _ELLIPSIS


_NEWEST: Final = 5
CONVERSATION_CHARS: Final = 1_600
"""Characters of the summary of a conversation."""


def compressed(text: str, *, limit: int = SHORT_LIMIT) -> str:
    """Return what a turn or a note says in at most `limit` characters: its own sentences, in their order."""
    return extract(clean(text), limit)


def folded(summary: str, turns: Iterable[tuple[str, str]], *, limit: int = CONVERSATION_CHARS) -> str:
    """Return a summary of what `summary` stands for and of the turns (who, text) after it: a line for a turn.

    Each turn says what it says in 160 characters; where there are too many, the last five stay, and of the others those
    that have most in common with the rest, in their order.

    >>> folded("", [("user", "Move the login to tokens."), ("agent", "Done, tests pass.")])
    'user: Move the login to tokens.\\nagent: Done, tests pass.'
    """
    folded_turns = (f"{role}: {' '.join(extract(text, MICRO_LIMIT).split())}" for role, text in turns)
    lines = [line for line in (*summary.splitlines(), *folded_turns) if line]
    room = limit
    chosen: list[int] = []
    if sum(map(len, lines)) + len(lines) <= limit:
        return "\n".join(lines)
    for at in dict.fromkeys(
        (*range(len(lines) - 1, max(-1, len(lines) - 1 - _NEWEST), -1), *most_central(lines))
    ):
        if len(lines[at]) + 1 <= room:
            chosen.append(at)
            room -= len(lines[at]) + 1
    return "\n".join(lines[at] for at in sorted(chosen))
