"""When nothing is relevant: an empty answer is better than the least bad one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from hexad.search.vectors.index import VectorAnswer

EVIDENCE: Final = 0.5
"""Best cosine and half the matched share of the question together below this: neither arm has found anything."""
EVIDENCE_LEXICAL: Final = 0.2
"""The matched share alone, where there are no vectors."""
SMALL_STORE_ROWS: Final = 30
"""Below this bm25 knows no rare words: one that matches at all is evidence."""
EVIDENCE_SMALL: Final = 0.35
"""The best cosine that is evidence alone in a small store, where no words match."""
DEVIATIONS_PER_COSINE: Final = 8.0
"""For embedders whose cosines are not known: so many deviations over the mean stand for a cosine of 1."""
NEAR_DEVIATIONS: Final = 1.0
"""A memory without any word of the question is left out unless its cosine is this far over the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer at all. `share` is the best bm25 as a share of the question's own weight."""

    share: float
    best_cosine: float | None
    best_z: float
    calibrated: bool
    rows: int
    matched: bool

    @property
    def found(self) -> bool:
        """Whether anything in the store is relevant to the question."""
        if self.rows < SMALL_STORE_ROWS and self.matched:
            return True
        if self.best_cosine is None:
            return self.share >= EVIDENCE_LEXICAL
        # The thresholds were measured with the default embedder. Others spread their cosines differently: for them
        # a cosine far over the mean counts too, so that an empty answer is rarer rather than a real one lost.
        nearness = self.best_cosine
        if not self.calibrated:
            nearness = max(nearness, self.best_z / DEVIATIONS_PER_COSINE)
        if self.rows < SMALL_STORE_ROWS:
            return self.best_cosine >= EVIDENCE_SMALL
        return nearness + 0.5 * self.share >= EVIDENCE


def matched_share(
    best_bm25: float, frequencies: Mapping[str, int], terms: Sequence[str], *, rows: int
) -> float:
    """Return the best bm25 as a share, at most 1, of the summed weight of all terms, absent ones included.

    To bm25 a word of more than half of the rows weighs nothing, though the best match surely holds it: it counts
    with its own small weight, so that a question of such words alone is answered.
    """
    counts = [frequencies.get(term, 0) for term in terms]
    mass = sum(_weight(count, rows) for count in counts)
    common = sum(_weight(count, rows) for count in counts if 2 * count > rows)
    return min(1.0, (best_bm25 + common) / mass) if mass > 0 else float(best_bm25 > 0)


def _weight(count: int, rows: int) -> float:
    return log(1 + max(rows - count + 0.5, 0.5) / (count + 0.5))


def near_floor(answer: VectorAnswer | None) -> float:
    """Return the cosine from which meaning alone lets a memory into the answer."""
    if answer is None:
        return 0.0
    if answer.vectors < SMALL_STORE_ROWS:
        return EVIDENCE_SMALL  # of few values none is far from the mean: the greatest z of n is (n - 1) / sqrt(n)
    return answer.mean + NEAR_DEVIATIONS * answer.deviation
