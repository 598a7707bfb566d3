"""Which sentences stand for a text: LexRank with a prior for position, and variety."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hexad.text.normalize import fold
from hexad.text.search_terms import STOP_WORDS

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

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PLACES: Final = 6

# Plain Python rather than NumPy: the graph is sparse and small, importing NumPy would cost a command that
# stores one note more than all of this, and sums in a fixed order are the same on every machine.


@dataclass(frozen=True, slots=True)
class _Read:
    """What counts of one sentence: its terms, and how much of a sentence it is, 0 to 1."""

    terms: Counter[str]
    fullness: float


def most_central(sentences: Sequence[str], *, title: str = "") -> list[int]:
    """Return the positions of the sentences that say most, best first, at most 24.

    Each is chosen for its rank in the graph of TF-IDF cosines, for coming early, for words of `title` and for
    differing from those before it. Ties go to the earlier one. The cost is bounded for 200 sentences.
    """
    read = [_read(sentence) for sentence in sentences]
    likeness = _cosines(_weigh([sentence.terms for sentence in read]))
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
    terms = Counter(
        word[:-1] if word[-1] == "s" and len(word) > 3 and word[-2] != "s" else word for word in telling
    )
    signs = len(folded) - sum(map(len, words)) - folded.count(" ")
    prose = min((1 - signs / max(len(folded), 1)) / PROSE_SHARE, 1.0) ** 4
    asks = 0.6 if sentence.endswith("?") else 1.0
    # Five words without an article or a preposition are a list or a call, seldom a sentence.
    bare = 0.7 if len(telling) == len(words) >= FULL_WORDS - 1 else 1.0
    return _Read(
        terms, min(len(words) / FULL_WORDS, LONG_WORDS / max(len(words), 1), 1.0) * prose * asks * bare
    )


def _weigh(bags: Sequence[Counter[str]]) -> list[dict[str, float]]:
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
