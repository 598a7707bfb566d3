"""How full text and vectors are weighed against each other: pure arithmetic on candidates.

Each arm says how sure it is of this question. Full text counts with the square of its gap, how far its best hit
stands above its tenth; vectors count with their peak, how far their best stands above the store's mean. So a
weak arm cannot drag a strong one down, with one set of weights for conversations, documents and code. Turns of a
conversation are also heard through their neighbours, the best turn of their session, and who speaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The constants of the score; one set for every store."""

    lexical: float = 12.0  # times gap²: how much the best full-text hit may add
    gap_rank: int = 10  # the gap is measured between the best and this rank
    neighbour: float = 0.3  # share of the adjacent turns' bm25
    vector: float = 0.25  # times the peak, times z
    crowding: float = 0.3  # share of a vector's mean cosine with its nearest others that is taken away
    session: float = 4.0  # times gap: what the best turn of the session adds to its turns
    speaker: float = 3.0
    question: float = 0.75  # a text that itself asks is a weaker answer
    short: float = 0.7  # so is one of few words: times the logarithm of its share of `short_words`
    short_words: int = 25


DEFAULT_WEIGHTS: Final = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One memory that may answer, with what each arm found. `neighbours` are places in the candidates' list."""

    bm25: float = 0.0
    cosine: float | None = None
    crowding: float = 0.0
    neighbours: tuple[int, ...] = ()
    session: int | None = None
    speaker_named: bool = False
    asks: bool = False
    words: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and deviation of the question's cosines over all vectors."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The parts of each candidate's score, and how sure each arm was."""

    parts: tuple[Mapping[str, float], ...]
    gap: float
    peak: float


def fuse(
    candidates: Sequence[Candidate], spread: Spread | None, *, weights: Weights = DEFAULT_WEIGHTS
) -> Scored:
    """Return the parts of every candidate's score; their sum orders the candidates.

    `spread` None means that full text answers alone.
    """
    lexical = [
        c.bm25 + weights.neighbour * sum(candidates[place].bm25 for place in c.neighbours) for c in candidates
    ]
    best = max(lexical, default=0.0) or 1.0
    gap = lexical_gap(lexical, rank=weights.gap_rank)
    share = gap if spread is not None else 1.0  # alone, there is nothing to balance against
    sessions = _best_of_sessions(candidates, lexical)
    zs = _standardised(candidates, spread, weights) if spread is not None else None
    peak = max(0.0, max(zs, default=0.0)) if zs is not None else 0.0
    parts: list[Mapping[str, float]] = []
    for index, candidate in enumerate(candidates):
        part = {"lexical": weights.lexical * share**2 * lexical[index] / best}
        if zs is not None:
            part["vector"] = weights.vector * peak * zs[index]
        if candidate.session is not None:
            part["session"] = weights.session * gap * sessions[candidate.session] / best
        if candidate.speaker_named:
            part["speaker"] = weights.speaker
        if candidate.asks:
            part["question"] = -weights.question
        shortness = log(max(candidate.words, 1) / weights.short_words)
        if shortness < 0:
            part["short"] = weights.short * shortness
        parts.append(part)
    return Scored(parts=tuple(parts), gap=gap, peak=peak)


def lexical_gap(scores: Sequence[float], *, rank: int) -> float:
    """Return how far the best stands above `rank`, from 0 to 1; 1 when fewer match."""
    top = sorted((score for score in scores if score > 0), reverse=True)[:rank]
    if not top:
        return 0.0
    return 1.0 if len(top) < rank else 1.0 - top[-1] / top[0]


def _standardised(candidates: Sequence[Candidate], spread: Spread, weights: Weights) -> list[float]:
    # A candidate without a vector yet stands at the mean: its vector is on its way, and says nothing so far.
    deviation = max(spread.deviation, 1e-6)
    return [
        0.0 if c.cosine is None else (c.cosine - weights.crowding * c.crowding - spread.mean) / deviation
        for c in candidates
    ]


def _best_of_sessions(candidates: Sequence[Candidate], lexical: Sequence[float]) -> dict[int, float]:
    best: dict[int, float] = {}
    for candidate, score in zip(candidates, lexical, strict=True):
        if candidate.session is not None:
            best[candidate.session] = max(best.get(candidate.session, 0.0), score)
    return best
