"""Vectors for a question's best full-text candidates that have none yet, as many as fit into a moment.

And the sentences of the best candidates, which the search by vectors leaves out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.core.tracing import log
from hexad.errors import ProviderError
from hexad.memory.memory import Memory
from hexad.memory.store import Stores
from hexad.memory.tables.memories import StoredChunk
from hexad.providers.budgets.metering import MeteredEmbedder, passage_embedder
from hexad.providers.embedders.base import Embedder
from hexad.search.embedding_job import BEGINNING_TOKENS, Passage, mean_of, passages
from hexad.search.fulltext import TextMatch
from hexad.search.indexer import EMBED
from hexad.search.vectors.index import VectorAnswer
from hexad.search.vectors.table import Vectors
from hexad.search.wanted_vectors import WantedVectors
from hexad.text.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUDGET_MS: Final = 120
"""How long a question computes vectors of its candidates at most, but for what was begun."""
CANDIDATES: Final = 100
COMPARED_BY_SENTENCE: Final = 100
"""So many of the best candidates are compared with a question sentence by sentence."""
_READ_AT_ONCE: Final = 8
"""Candidates that are read and embedded together; among these the shortest first."""
_FIRST_TEXTS: Final = 4
"""Texts by which the speed is measured; afterwards as many as fit are computed together."""
_SPREAD_FLOOR: Final = 0.1
"""The deviation of cosines where there are too few vectors to tell: about that of the default embedder's stores."""
_SPREAD_FROM: Final = 30


class CandidateVectors:
    """Computes and keeps what a question lacks. Only for embedders that run here: a paid one has its budget."""

    def __init__(
        self,
        everything: Stores,
        embedder: Embedder,
        wanted: WantedVectors,
        *,
        clock: Clock,
        budget_ms: float = BUDGET_MS,
    ) -> None:
        """`everything` hides nothing: a turn's vector hears the turn before it, whoever may see that."""
        self._stores, self._embedder, self._wanted = everything, embedder, wanted
        self._embed = passage_embedder(embedder)
        self._clock, self._budget_s = clock, budget_ms / 1000

    def possible(self) -> bool:
        """Return whether memories wait for vectors that may be computed within a question."""
        return self.is_free and self._stores.tasks.counts(EMBED)[0] > 0

    @property
    def is_free(self) -> bool:
        """Whether vectors may be computed within a question at all."""
        return not isinstance(self._embedder, MeteredEmbedder)

    def embed(self, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        """Return the vectors of a few short texts, which are kept in memory."""
        return self._wanted.embed(texts, self._embed)

    def extend(
        self,
        answer: VectorAnswer | None,
        question: NDArray[np.float32],
        chunks: Mapping[int, int],
    ) -> VectorAnswer | None:
        """Return `answer` with the cosines of the best candidates that it lacks, as far as time allows.

        `chunks` are the candidates, best first, each with the number of its chunk that came nearest.
        """
        known = {} if answer is None else answer.best
        missing = [no for no in list(chunks)[:CANDIDATES] if no not in known]
        if not missing or not self.possible():
            return answer
        self._wanted.want(missing)
        cosines: dict[int, tuple[float, int]] = {}
        try:
            self._embedder.embed([" "])  # loads the model, which the moment is not meant for
            for passage, vector in self._vectors(missing, chunks):
                chunk_no = passage.chunk_no or 0
                cosines[passage.memory_no] = (float(vector @ question), chunk_no)
        except ProviderError as error:
            log.warning("The candidates of a question were not embedded: %s", error)
        return _with(answer, cosines)

    def _vectors(
        self, missing: Sequence[int], nearest: Mapping[int, int]
    ) -> Iterator[tuple[Passage, NDArray[np.float32]]]:
        """Yield the passage that matched best of each memory with its vector, until the time is over."""
        budget = _Budget(self._clock, self._budget_s)
        for start in range(0, len(missing), _READ_AT_ONCE):
            numbers = missing[start : start + _READ_AT_ONCE]
            memories, chunks = self._stores.memories.by_no(numbers), self._stores.memories.chunks_of(numbers)
            turns = [no for no in numbers if no in memories and memories[no].turn is not None]
            before = self._stores.places.previous(turns)
            groups: list[list[Passage]] = []
            for no in numbers:
                if no in memories and (stored := chunks.get(no)):
                    groups.append(_matching(no, memories[no], stored, nearest[no], before.get(no)))
            groups.sort(key=lambda group: sum(len(passage.text) for passage in group))
            while groups:
                room = budget.texts([_read(passage) for group in groups for passage in group])
                if not room:
                    return
                count = _whole_groups(groups, room)
                batch, groups = groups[:count], groups[count:]
                texts = [passage.text for group in batch for passage in group]
                with budget.spending(sum(_read(passage) for group in batch for passage in group)):
                    rows = iter(self._wanted.embed(texts, self._embed))
                for group in batch:
                    yield group[0], mean_of([next(rows) for _ in group])
                self._wanted.complete(
                    group[0].memory_no for group in batch if len(chunks[group[0].memory_no]) == 1
                )


def _read(passage: Passage) -> int:
    """Return how many characters of a passage an embedder reads, about."""
    return min(len(passage.text), BEGINNING_TOKENS * CHARACTERS_PER_TOKEN)


def of_candidates(
    answer: VectorAnswer | None, matches: Mapping[int, TextMatch], *, first: Collection[int] = ()
) -> VectorAnswer | None:
    """Return the answer, or what it says of the candidates where most of them have no vector yet, nor a first one.

    The nearest of a tenth of the store are not the nearest: they stood before what has the question's words.
    """
    candidates = list(matches)[:CANDIDATES]
    if answer is None:
        return None
    known = {no: answer.best[no] for no in candidates if no in answer.best}
    vectors = len(known.keys() | (set(candidates) & set(first)))
    return answer if 2 * vectors >= len(candidates) else _with(None, known)


def candidates_of(matches: Mapping[int, TextMatch], first: VectorAnswer | None) -> dict[int, int]:
    """Return the candidates by words and by first vectors in turn, each with its chunk that came nearest."""
    by_words = [(no, match.chunk_no) for no, match in matches.items()]
    by_first = [] if first is None else [(no, first.best[no][1]) for no in first.crowding]
    chunks: dict[int, int] = {}
    for pair in zip_longest(by_words, by_first):
        for candidate in pair:
            if candidate is not None:
                chunks.setdefault(*candidate)
    return chunks


def of_sentences(
    stores: Stores, question: NDArray[np.float32] | None, seats: Mapping[int, int], scores: Sequence[float]
) -> dict[int, float]:
    """Return the cosines of the nearest sentences of the turns in `seats`, by their seats: of those among the best."""
    if question is None:
        return {}
    best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:COMPARED_BY_SENTENCE]
    compared = set(best).intersection(seats.values())
    turns = [no for no, seat in seats.items() if seat in compared]
    owners, rows = Vectors(stores.db).of_sentences(turns, dimensions=len(question))
    nearest: dict[int, float] = {}
    for no, cosine in zip(owners, (rows @ question).tolist(), strict=True):
        nearest[seats[no]] = max(cosine, nearest.get(seats[no], cosine))
    return nearest


class _Budget:
    """The moment that a question has: how many of the next texts fit into what is left of it."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._until = clock, clock.monotonic() + seconds
        self._spent_s, self._characters = 0.0, 0

    def texts(self, lengths: Sequence[int]) -> int:
        """Return how many texts of these lengths fit; a few to begin with, by which the speed is known."""
        left = self._until - self._clock.monotonic()
        if left <= 0:
            return 0
        if not self._characters:
            return min(_FIRST_TEXTS, len(lengths))
        for count, total in enumerate(accumulate(lengths)):
            if total * self._spent_s / self._characters > left:
                return count
        return len(lengths)

    @contextmanager
    def spending(self, characters: int) -> Iterator[None]:
        """Measure how long so many characters take."""
        started = self._clock.monotonic()
        yield
        self._spent_s += self._clock.monotonic() - started
        self._characters += characters


def _matching(
    no: int, memory: Memory, stored: Sequence[StoredChunk], chunk_no: int, before: tuple[str, str] | None
) -> list[Passage]:
    """Return what makes the vector of the chunk that matched: a turn has two passages for its one vector."""
    found = passages(no, memory, stored, before=before)
    return [passage for passage in found if (passage.chunk_no or 0) == chunk_no] or found[:1]


def _whole_groups(groups: Sequence[Sequence[Passage]], room: int) -> int:
    """Return how many groups have at most `room` passages together; at least one."""
    totals = accumulate(len(group) for group in groups)
    return max(1, sum(total <= room for total in totals))


def _with(answer: VectorAnswer | None, cosines: Mapping[int, tuple[float, int]]) -> VectorAnswer | None:
    """Return the answer with more cosines; where there are too few vectors to say how they spread, these say it."""
    import numpy as np

    if not cosines:
        return answer
    if answer is not None and answer.vectors >= _SPREAD_FROM:
        return replace(answer, best={**answer.best, **cosines})
    best = {**({} if answer is None else answer.best), **cosines}
    values = np.array([cosine for cosine, _ in best.values()])
    return VectorAnswer(
        best=best,
        crowding={} if answer is None else answer.crowding,
        mean=float(values.mean()),
        deviation=max(float(values.std()), _SPREAD_FLOOR),
        vectors=len(best),
    )
