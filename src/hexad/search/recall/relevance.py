"""How likely an answer is right: two logistic models, so that 0.8 means eight in ten in every store.

The first says how likely the store knows the answer at all, the second how likely a hit is it. Both were fitted by
least log-loss on development questions of kinds that count alike (the first: short facts, conversations in spaces of
their own and all in one, code; the second: chats of two people and with an assistant, code, documents, short facts, and
all of them in one space), with questions of other subjects as counterexamples; `benchmarks/RESULTS.md` has the
reliability on questions that took no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from hexad.search.postings import bm25_weight
from hexad.search.vectors.index import VectorAnswer

SILENT_BELOW: Final = -2.0
"""Log-odds below which a recall stays silent unless it is told what relevance it wants."""
LEXICAL_SILENT_BELOW: Final = -2.8
SMALL_STORE_ROWS: Final = 30
"""Below this bm25 knows no rare words: where there are no vectors, any word that matches is an answer."""
LEAST_RELEVANCE: Final = 0.02
"""What is not one of fifty such answers has nothing to do with what is asked."""
TASK_RELEVANCE: Final = 0.1
"""What is open, usual or chosen in a project belongs to a task that it answers as likely as one in ten: the loss of
one that belongs costs more than one too many. Chosen by that, not fitted to data."""
NEAR_RELEVANCE: Final = 0.25
"""What answers a question as likely as one in four is near it, whatever its words and its cosine. With
0.15 the only memory of a store answers one of thirteen questions of other subjects."""
DEVIATIONS_PER_COSINE: Final = 8.0
"""For embedders whose cosines are not known: so many deviations over the mean stand for a cosine of 1."""
NEAR_DEVIATIONS: Final = 1.0
"""A memory without any word of the question is near it where its cosine is this far over the mean."""
SMALL_NEAR: Final = 0.2
"""The cosine that is near a question in a small store: of few values none is far from the mean, z is at most
(n - 1) / sqrt(n). Chosen on half of the short facts: as in larger stores, few lines too many cost less than a fact."""
SMALL_NEAR_UNSURE: Final = 0.35
"""The same for what goes before a step that asked nothing, and for embedders whose cosines are not known."""
_MOST: Final = 6.0
"""Log-odds and leads beyond this count as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for an answer at all. `share` is the best bm25 as a share of the question's own weight.

    `best_cosine` is None where there are no vectors; `best_z` is how many deviations it stands over the store's mean.
    """

    share: float
    best_cosine: float | None
    best_z: float
    calibrated: bool
    rows: int
    matched: bool

    @property
    def log_odds(self) -> float:
        """The log-odds that the store knows an answer."""
        if self.best_cosine is None:
            return self._by_words
        cosine = self.best_cosine
        if not self.calibrated and self.rows >= SMALL_STORE_ROWS:  # of few values none is far from the mean
            # Other embedders spread their cosines differently: there one far over the mean counts too, so that an
            # empty answer is rarer rather than a real one lost.
            cosine = max(cosine, self.best_z / DEVIATIONS_PER_COSINE)
        return 21.33 * cosine + 4.64 * self.share - 0.84 * log(max(self.rows, 1)) - 3.18

    @property
    def _by_words(self) -> float:
        return 14.0 * self.share - 7.0

    def speaks(self, *, unasked: bool) -> bool:
        """Whether there is an answer: to a question, or `unasked`, for what goes before a step that asked nothing."""
        return self.is_known if unasked else self.is_relevant

    @property
    def is_relevant(self) -> bool:
        """Whether the store most likely knows something of what is asked."""
        if self.best_cosine is None:
            return self.log_odds >= LEXICAL_SILENT_BELOW or (self.rows < SMALL_STORE_ROWS and self.matched)
        return self.log_odds >= SILENT_BELOW

    @property
    def is_known(self) -> bool:
        """Whether the store more likely than not knows of it: for what goes before a step that asked nothing.

        Where there are no vectors, words that match are all there is to know.
        """
        if not self.is_relevant or self.best_cosine is None:
            return self.is_relevant
        # Cosines of an embedder that is not known speak against nothing that has the words.
        return self.log_odds >= 0 or (not self.calibrated and self._by_words >= 0)

    def relevance(self, *, lead: float, rank: int, share: float = 0.0) -> float:
        """Return how likely a hit is right, from 0 to 1.

        `lead` is how far its score stands above the next one's where it is the first (`rank` 0), else above the
        first one's, and so below 0. `share` is its own bm25 as a share of the best one's.
        """
        ahead, sure = _bounded(lead), _bounded(self.log_odds)
        if self.best_cosine is None:
            return _logistic(0.53 * ahead - 0.37 * log(1 + rank) + 0.31 * sure - 2.45)
        near = 0.15 * ahead if rank else 0.49 * ahead
        return _logistic(near - 0.98 * log(1 + rank) + 0.27 * sure + 0.84 * self.share * share - 3.01)


def _bounded(value: float) -> float:
    return _MOST if value > _MOST else -_MOST if value < -_MOST else value


def leads(scores: Sequence[float], texts: Iterable[str]) -> Iterator[float]:
    """Give the lead of each of `scores`, which fall; the first one's over the first other text's.

    `texts` tells texts apart: what says the same word for word takes nothing from the best one's lead. Alone, the
    best has the lead that a clear answer has.
    """
    if not scores:
        return
    best, told = scores[0], iter(texts)
    first = next(told)
    second = next((score for score, text in zip(scores[1:], told, strict=True) if text != first), best - 3.0)
    yield best - second
    yield from (score - best for score in scores[1:])


def near_floor(answer: VectorAnswer | None, *, sure: bool) -> float:
    """Return the cosine from which a memory is near by its meaning alone.

    `sure` is said of a question, and of cosines that are known.
    """
    if answer is None:
        return 0.0
    if answer.vectors < SMALL_STORE_ROWS:
        return SMALL_NEAR if sure else SMALL_NEAR_UNSURE
    return answer.mean + NEAR_DEVIATIONS * answer.deviation


def matched_share(
    best_bm25: float, frequencies: Mapping[str, int], terms: Sequence[str], *, rows: int
) -> float:
    """Return the best bm25 as a share, at most 1, of the summed weight of all terms, absent ones included.

    To bm25 a common word weighs less than to us, and one of half of the rows nothing, though the best match surely
    holds it: what is missing is added, so that a question of such words alone is answered.
    """
    counts = [frequencies.get(term, 0) for term in terms]
    mass = sum(_weight(count, rows) for count in counts)
    common = sum(
        _weight(count, rows) - bm25_weight(count, rows) for count in counts if _COMMON * count > rows
    )
    return min(1.0, (best_bm25 + common) / mass) if mass > 0 else float(best_bm25 > 0)


_COMMON: Final = 4
"""A word of more than one in so many rows is common."""


def _weight(count: int, rows: int) -> float:
    return log(1 + max(rows - count + 0.5, 0.5) / (count + 0.5))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))
