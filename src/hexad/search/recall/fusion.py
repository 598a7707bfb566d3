"""How full text and vectors are weighed against each other: pure arithmetic on candidates.

Each arm says how sure it is of this question. Full text counts with the square of its gap, how far its best hit
stands above its tenth, or where fewer match by how much of the question the best one has; vectors count with their
peak, how far their best stands above the store's mean. So a weak arm cannot drag a strong one down, with one set of
weights for conversations, documents and code. Turns of a conversation are also heard through their neighbours, the
best turn of their session, and who speaks; beside turns a text that is none counts as a session of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionWeights:
    """The constants of the score; one set for every store."""

    lexical: float = 12.0  # times gap²: how much the best full-text hit may add
    gap_rank: int = 10  # the gap is measured between the best and this rank
    neighbour: float = 0.3  # share of the adjacent turns' bm25
    vector: float = 0.25  # times the peak, times z
    # Among texts of one kind the peak is 4 to 6; where several lie together, most of them far from any question, it is
    # more: that tells kinds apart, and not that the vectors are surer of an answer.
    peak_most: float = 5.0
    sentence: float = 0.5  # as the vector, of this share of the way from a text's cosine to a sentence's
    crowding: float = 0.3  # share of a vector's mean cosine with its nearest others that is taken away
    session: float = 4.0  # times gap: what the best turn of the session adds to its turns
    speaker: float = 3.0
    dated: float = 2.0  # the question names a time, and the memory is from then
    exact: float = 6.0  # it holds what the question names literally: times the rarity of that
    defines: float = 12.0  # it defines what the question names: times the rarity of that
    question: float = (
        1.0  # a text that itself asks is a weaker answer, a long one less: it also says something
    )
    question_words: int = 10
    aside: float = (
        0.4  # of the best score: what tests and changelogs lose to code where a question asks for neither
    )
    short: float = 0.35  # so is a turn of few words: times the logarithm of its share of `short_words`
    short_words: int = 25
    # Below so many rows neither a gap nor a peak means anything.
    small_store_rows: int = 30
    small_peak: float = 3.5
    small_deviation: float = 0.05  # floor


DEFAULT_WEIGHTS: Final = FusionWeights()
MENTION_WEIGHTS: Final = FusionWeights(session=0.0, sentence=1.0)
"""Of a question that counts or lists: what is counted is told in a sentence, and not in all turns of a session."""
_STEP: Final = 1e-6


class Candidate(NamedTuple):
    """One memory that may answer, with what each arm found. `neighbours` are places in the candidates' list."""

    bm25: float = 0.0
    cosine: float | None = None
    crowding: float = 0.0
    neighbours: tuple[int, ...] = ()
    session: int | None = None
    speaker: int = 0  # 1: the question names who speaks here; -1: it asks for what another one said
    dated: bool = False
    asks: bool = False
    words: int = 1
    exact: float = 0.0
    defines: float = 0.0


class CosineSpread(NamedTuple):
    """Mean and deviation of the question's cosines over all vectors."""

    mean: float
    deviation: float


class Fusion:
    """The scores of all candidates of one question, and the parts of any of them.

    `spread` None means that full text answers alone; `rows` is how many chunks the store has, `share` how much of
    the question's weight the best full-text hit has. `gap` and `peak` say how sure the arms were.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        spread: CosineSpread | None,
        *,
        rows: int,
        share: float = 1.0,
        weights: FusionWeights = DEFAULT_WEIGHTS,
    ) -> None:
        small = rows < weights.small_store_rows
        self._candidates = candidates
        self._weights = weights
        bm25 = [candidate.bm25 for candidate in candidates]
        self._lexical = [
            own + weights.neighbour * sum([bm25[place] for place in candidate.neighbours])
            if candidate.neighbours
            else own
            for own, candidate in zip(bm25, candidates, strict=True)
        ]
        best = max(self._lexical, default=0.0) or 1.0
        # Where few match nothing stands at the rank: a word that met by accident would count as a sure hit.
        few = small or len(bm25) - bm25.count(0.0) < weights.gap_rank
        self.gap = share**2 if few else lexical_gap(self._lexical, rank=weights.gap_rank)
        # Alone, full text has nothing to be balanced against.
        sure = self.gap if spread is not None else 1.0
        self._best = best
        self._lexical_weight = weights.lexical * sure**2
        self._session_weight = weights.session * self.gap
        self._sessions = _best_of_sessions(candidates, self._lexical)
        self._spoken: Sequence[float | None] = (
            [self._session_share(index) for index in range(len(candidates))]
            if self._sessions
            else [None] * len(candidates)
        )
        self._z: list[float] | None = None
        self._spread = spread
        self.peak = 0.0
        if spread is not None:
            floor = weights.small_deviation if small else 1e-6
            self._z = _standardised(candidates, spread, floor=floor, crowding=weights.crowding)
            best_z = min(weights.peak_most, max(self._z, default=0.0))
            self.peak = weights.small_peak if small else max(0.0, best_z)
            self._deviation = max(spread.deviation, floor)
        self._sentences: Mapping[int, float] = {}
        self._added: Sequence[float] = ()
        self._moved: dict[str, Mapping[int, float]] = {}
        self.scores = self._scores()

    def weigh_sentences(self, nearest: Mapping[int, float]) -> None:
        """Add to candidates that have a sentence nearer to the question than they are: it stands among others there.

        `nearest` are the cosines of their nearest sentences, by their places.
        """
        weights = self._weights
        self._sentences = {
            index: weights.vector * self.peak * weights.sentence * (cosine - own) / self._deviation
            for index, cosine in nearest.items()
            if (own := self._candidates[index].cosine) is not None and cosine > own
        }
        for index, amount in self._sentences.items():
            self.scores[index] += amount

    def associate(self, neighbours: Sequence[Sequence[tuple[int | None, float]]], *, share: float) -> None:
        """Add to each candidate `share` × the mean of its neighbours' scores, weighed by their edges.

        A neighbour is a place among the candidates, or None for one that is none of them: it counts as the lowest.
        """
        least = min(self.scores, default=0.0)
        added = []
        for edges in neighbours:
            weight = sum(strength for _, strength in edges)
            total = sum(
                strength * (least if place is None else self.scores[place]) for place, strength in edges
            )
            added.append(share * (total / weight if weight else least))
        self._added = added
        self.scores = self._scores()

    def boost(self, strengths: Mapping[int, float], *, share: float) -> None:
        """Move candidates up or down by what was said of them: from -1 to 1, of `share` of the best score.

        So no verdicts lift what is far behind, and none hides what is far ahead.
        """
        room = share * max(0.0, *self.scores) if self.scores else 0.0
        self._moved["feedback"] = {place: strength * room for place, strength in strengths.items()}
        self.scores = self._scores()

    def sink(self, shares: Mapping[int, float], *, most: float) -> None:
        """Move down what the code has outgrown: by `most` of the best score where all that it cites has changed."""
        room = most * max(0.0, *self.scores) if self.scores else 0.0
        self._moved["citations"] = {place: -share * room for place, share in shares.items() if share}
        for place, amount in self._moved["citations"].items():
            self.scores[place] += amount

    def put_aside(self, places: Collection[int]) -> None:
        """Move down what only stands around what is asked for, by a part of the best score."""
        amount = self._weights.aside * max(0.0, *self.scores) if self.scores else 0.0
        self._moved["aside"] = dict.fromkeys(places, -amount)
        for place in places:
            self.scores[place] -= amount

    def put_before(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Bring the first of each pair directly before the second, where it stands behind it."""
        raised: dict[int, float] = {}
        for place, other in pairs:
            need = self.scores[other] + _STEP - self.scores[place]
            if need > 0:
                raised[place] = raised.get(place, 0.0) + need
                self.scores[place] += need
        if raised:
            self._moved["definition"] = raised

    def passage_scores(self, passages: Iterable[tuple[int, float, float | None]]) -> list[float]:
        """Return what words and meaning of passages say for them, in the measure of the scores.

        Each passage is the place of its candidate, its bm25 and its cosine.
        """
        weights, spread = self._weights, self._spread
        lexical = self._lexical_weight / self._best
        if spread is None:
            return [lexical * bm25 for _, bm25, _ in passages]
        vector, mean, crowding = weights.vector * self.peak / self._deviation, spread.mean, weights.crowding
        candidates = self._candidates
        return [
            lexical * bm25
            + (0.0 if cosine is None else vector * (cosine - crowding * candidates[index].crowding - mean))
            for index, bm25, cosine in passages
        ]

    def add_mentions(self, gains: Mapping[int, float]) -> None:
        """Add to code what passages hand on that mention it."""
        self._moved["mentioned"] = gains
        for index, amount in gains.items():
            self.scores[index] += amount

    def lift(self, amounts: Mapping[int, float]) -> None:
        """Add to what takes the place of an older memory as much as brings it before that one."""
        self._moved["successor"] = amounts
        for index, amount in amounts.items():
            self.scores[index] += amount

    def place(self, indexes: Sequence[int], *, below: float) -> None:
        """Bring candidates, in their order, directly below a score; those that are above it stay."""
        wanted = {index: below - _STEP * (rank + 1) for rank, index in enumerate(indexes)}
        self._moved["standing"] = {
            index: score - self.scores[index] for index, score in wanted.items() if score > self.scores[index]
        }
        for index, amount in self._moved["standing"].items():
            self.scores[index] += amount

    def parts(self, index: int) -> dict[str, float]:
        """Return what each signal adds to a candidate's score; the values sum to it."""
        candidate, weights = self._candidates[index], self._weights
        parts = {"lexical": self._lexical_weight * (self._lexical[index] / self._best)}
        if self._z is not None:
            parts["vector"] = weights.vector * self.peak * self._z[index]
        if index in self._sentences:
            parts["sentence"] = self._sentences[index]
        if (spoken := self._spoken[index]) is not None:
            parts["alone" if candidate.session is None else "session"] = self._session_weight * spoken
        if candidate.speaker:
            parts["speaker"] = weights.speaker * candidate.speaker
        if candidate.dated:
            parts["date"] = weights.dated
        if candidate.exact:
            parts["exact"] = weights.exact * candidate.exact
        if candidate.defines:
            parts["defines"] = weights.defines * candidate.defines
        if candidate.asks:
            share = min(1.0, weights.question_words / max(candidate.words, 1))
            parts["question"] = -weights.question * share
        if self._added:
            parts["association"] = self._added[index]
        for name, amounts in self._moved.items():
            if index in amounts:
                parts[name] = amounts[index]
        if candidate.session is not None and candidate.words < weights.short_words:
            parts["short"] = weights.short * log(max(candidate.words, 1) / weights.short_words)
        return parts

    def _session_share(self, index: int) -> float:
        """Return how good the best turn of a candidate's session is, as a share of the best.

        A text that is no turn has nothing that speaks for it: without this, turns of any session that has the words
        stood before it. By itself alone it stays behind sessions of many turns, one of which matches by accident, so
        it stands half way to the best.
        """
        session = self._candidates[index].session
        if session is not None:
            return self._sessions[session] / self._best
        return (1 + self._lexical[index] / self._best) / 2

    def _scores(self) -> list[float]:
        """Return the sums of all candidates' parts; those that hardly any has are looked up where there are any."""
        weights = self._weights
        # As in `parts`, in its order: a sum of floats is that of an order.
        scores = [self._lexical_weight * (lexical / self._best) for lexical in self._lexical]
        if self._z is not None:
            weight = weights.vector * self.peak
            scores = [score + weight * z for score, z in zip(scores, self._z, strict=True)]
        rare = bool(self._sentences or self._added or self._moved)
        for index, candidate in enumerate(self._candidates):
            if rare or candidate.speaker or candidate.dated or candidate.exact or candidate.defines:
                scores[index] = sum(self.parts(index).values())
                continue
            if (spoken := self._spoken[index]) is not None:
                scores[index] += self._session_weight * spoken
            if candidate.asks:
                share = min(1.0, weights.question_words / max(candidate.words, 1))
                scores[index] += -weights.question * share
            if candidate.session is not None and candidate.words < weights.short_words:
                scores[index] += weights.short * log(max(candidate.words, 1) / weights.short_words)
        return scores


def rarity(count: int, rows: int) -> float:
    """Return how telling something is that `count` of `rows` chunks hold: 1 for one, towards 0 for all of them."""
    return 1.0 - log(count) / log(rows + 1) if count else 0.0


def lexical_gap(scores: Sequence[float], *, rank: int) -> float:
    """Return how far the best stands above `rank`, from 0 to 1; 1 when fewer match."""
    top = sorted([score for score in scores if score > 0], reverse=True)[:rank]
    if not top:
        return 0.0
    return 1.0 if len(top) < rank else 1.0 - top[-1] / top[0]


def _standardised(
    candidates: Sequence[Candidate], spread: CosineSpread, *, floor: float, crowding: float
) -> list[float]:
    # A candidate without a vector yet stands at the mean: its vector is on its way, and says nothing so far.
    deviation = max(spread.deviation, floor)
    return [
        0.0 if c.cosine is None else (c.cosine - crowding * c.crowding - spread.mean) / deviation
        for c in candidates
    ]


def _best_of_sessions(candidates: Sequence[Candidate], lexical: Sequence[float]) -> dict[int, float]:
    best: dict[int, float] = {}
    for candidate, score in zip(candidates, lexical, strict=True):
        if candidate.session is not None and score > best.get(candidate.session, -1.0):
            best[candidate.session] = score
    return best
