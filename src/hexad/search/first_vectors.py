"""First vectors: estimates for the memories whose real vectors are still to come, in memory alone.

Nothing of them is stored: each process computes its own, what questions touch and the newest first, and drops those of
what got its real vector, was changed, or is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.core.blas_threads import one_thread
from hexad.core.clock import Clock
from hexad.core.tracing import log
from hexad.database.change_counters import ChangeReader
from hexad.errors import ProviderError
from hexad.memory.store import Stores
from hexad.providers.embedders.first_vectors import DIMENSIONS, FirstVectorModel
from hexad.search.embedding_job import LONG_CHUNKS, mean_of, passages_of
from hexad.search.indexer import EMBED
from hexad.search.vectors.arithmetic import (
    Scored,
    VectorSegment,
    all_cosines,
    allowed_rows,
    in_order,
    nearest_memories,
    score_named,
)
from hexad.search.vectors.index import EXACT_LIMIT, VectorAnswer
from hexad.search.vectors.table import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUDGET_MS: Final = 150
"""How long a question computes first vectors at most, but for what was begun."""
MOST: Final = EXACT_LIMIT
"""First vectors kept, 46 MB; what was remembered longest ago goes without."""
_AT_ONCE: Final = 64
"""Chunks that are read and computed together, but for a memory of more."""
_BACKGROUND_S: Final = 0.05
"""How long the background computes before a question gets its turn."""
_FAMILIES: Final = ("memories", "fulltext", "vectors")
_State = tuple[str, int, int]
"""Which text a memory has: its hash, its last chunk, and how many there are."""
SPREAD_FROM: Final = 30
"""So many real vectors tell how a question's cosines are spread; below, the first vectors' spread does."""

# What first cosines say of real ones. Of the five nearest by first vectors, the real cosines stood 1.28 times as far
# over the mean in conversations, 1.07 times in code, 0.95 to 1.05 in three stores of short facts; their deviation was
# 0.085 to 0.12, and their mean as these say, within 0.03.
_STRETCH: Final = 1.1
_MEAN, _MEAN_OFFSET, _DEVIATION = 0.75, 0.03, 0.09


class FirstVectors:
    """The first vectors of one store, ready to search. Follows writes of any process."""

    def __init__(
        self,
        everything: Stores,
        model: FirstVectorModel,
        changes: ChangeReader,
        *,
        clock: Clock,
        budget_ms: float = BUDGET_MS,
    ) -> None:
        """`everything` hides nothing: who may see what is said by each search."""
        self._stores, self._model, self._changes = everything, model, changes
        self._clock, self._budget_s = clock, budget_ms / 1000
        self._lock = Lock()
        self._change: tuple[int, ...] = ()
        self._waiting: dict[int, _State] = {}  # by row number in the order of need: the state of its text
        self._known: dict[int, _State] = {}
        self._segments: list[VectorSegment] = []
        self._asked = self._failed = False
        everything.db.caches.add("first vectors", self)

    @property
    def limit_bytes(self) -> int:
        """How much they take at most."""
        return MOST * (4 * DIMENSIONS + 32)

    def nbytes(self) -> int:
        """Return how much they take."""
        return sum(segment.matrix.nbytes + 32 * len(segment.no) for segment in list(self._segments))

    def share(self) -> float:
        """Return which share of what waits for real vectors has first ones."""
        with self._lock:
            return len(self._known) / len(self._waiting) if self._waiting else 1.0

    def search(
        self,
        query: NDArray[np.float32],
        *,
        limit: int,
        allowed: NDArray[np.bool_] | None,
        also: Sequence[int],
    ) -> VectorAnswer | None:
        """Return the `limit` nearest by first vectors, and the cosines of those in `also`; None without any.

        Computes what is missing as far as the moment allows, `also` first.
        """
        with self._lock:
            self._asked = True
            self._follow()
            until = self._clock.monotonic() + self._budget_s
            self._compute(also, until=until, stop=lambda: False)
            segments = list(self._segments)
        with one_thread():
            return _answer(segments, query, limit=limit, allowed=allowed, also=also)

    def fill(self, stop: Callable[[], bool]) -> None:
        """Compute what is missing, once somebody has searched; others search meanwhile."""
        while self._asked and not stop():
            with self._lock:
                self._follow()
                until = self._clock.monotonic() + _BACKGROUND_S
                if not self._compute((), until=until, stop=stop):
                    return

    def _follow(self) -> None:
        """Learn what waits, and drop the vectors of what waits no longer or has another text."""
        import numpy as np

        change = tuple(self._changes.current(family) for family in _FAMILIES)
        if change == self._change:
            return
        self._waiting = Vectors(self._stores.db).awaited(EMBED, long_chunks=LONG_CHUNKS)
        stale = [no for no, state in self._known.items() if self._waiting.get(no) != state]
        for no in stale:
            del self._known[no]
        if stale:  # anew, since somebody may be searching the segments
            self._segments = [
                replace(segment, alive=alive)
                for segment in self._segments
                if (alive := segment.alive & ~np.isin(segment.memory_no, stale)).any()
            ]
        self._change = change

    def _compute(self, wanted: Iterable[int], *, until: float, stop: Callable[[], bool]) -> bool:
        """Compute at least a few of what is missing, then until the time is over; return whether any was."""
        if self._failed or len(self._known) == len(self._waiting):
            return False
        wanted = [no for no in wanted if no in self._waiting]
        missing = [no for no in dict.fromkeys([*wanted, *self._waiting]) if no not in self._known]
        done = False
        for group in self._groups(missing):
            if stop() or sum(int(segment.alive.sum()) for segment in self._segments) >= MOST:
                break
            try:
                self._add(group)
            except ProviderError as error:
                log.warning("First vectors were not computed: %s", error)
                self._failed = True
                break
            done = True
            if self._clock.monotonic() >= until:
                break
        return done

    def _groups(self, numbers: Iterable[int]) -> Iterator[list[int]]:
        group: list[int] = []
        size = 0
        for no in numbers:
            count = self._waiting[no][-1]
            if group and size + count > _AT_ONCE:
                yield group
                group, size = [], 0
            group.append(no)
            size += count
        if group:
            yield group

    def _add(self, numbers: Sequence[int]) -> None:
        import numpy as np

        _, texts = passages_of(self._stores, numbers)
        rows = self._model.embed([passage.text for passage in texts])
        places: dict[tuple[int, int], list[int]] = {}
        for place, passage in enumerate(texts):
            places.setdefault((passage.memory_no, passage.chunk_no or 0), []).append(place)
        self._known.update((no, self._waiting[no]) for no in numbers)
        if not places:
            return
        matrix = np.stack([mean_of(list(rows[parts])) for parts in places.values()])
        self._append(np.array(list(places), dtype=np.int64), matrix)

    def _append(self, keys: NDArray[np.int64], matrix: NDArray[np.float32]) -> None:
        """Put rows behind those that there are, in segments of which each is smaller than the one before."""
        import numpy as np

        self._segments.append(
            VectorSegment(
                no=keys[:, 0],
                memory_no=keys[:, 0],
                chunk_no=keys[:, 1],
                matrix=matrix,
                alive=np.ones(len(keys), dtype=np.bool_),
            )
        )
        while len(self._segments) > 1 and len(self._segments[-1].no) >= len(self._segments[-2].no):
            self._segments[-2:] = [_joined(*self._segments[-2:])]


def _joined(before: VectorSegment, after: VectorSegment) -> VectorSegment:
    """Return two segments as one, without the rows that are gone."""
    import numpy as np

    parts = (before, after)
    memory_no = np.concatenate([part.memory_no[part.alive] for part in parts])
    return VectorSegment(
        no=memory_no,
        memory_no=memory_no,
        chunk_no=np.concatenate([part.chunk_no[part.alive] for part in parts]),
        matrix=np.concatenate([part.matrix[part.alive] for part in parts]),
        alive=np.ones(len(memory_no), dtype=np.bool_),
    )


def _answer(
    segments: Sequence[VectorSegment],
    query: NDArray[np.float32],
    *,
    limit: int,
    allowed: NDArray[np.bool_] | None,
    also: Sequence[int],
) -> VectorAnswer | None:
    """Return the nearest memories of all segments, and how their cosines are spread."""
    import numpy as np

    scored: list[Scored] = []
    for segment in segments:
        rows = np.flatnonzero(allowed_rows(segment, allowed))
        scored.append((segment, rows, all_cosines(segment, query)[rows]))
    cosines = np.concatenate([found for _, _, found in scored]) if scored else np.zeros(0)
    if not len(cosines):
        return None
    best, crowding = nearest_memories(scored, limit=limit)
    if also:
        named = in_order(also)
        for segment in segments:
            score_named(best, segment, named, query)
    return VectorAnswer(
        best=best,
        crowding=crowding,
        mean=float(cosines.mean()),
        deviation=float(cosines.std()),
        vectors=len(cosines),
    )


def with_first(
    answer: VectorAnswer | None, first: VectorAnswer | None, *, vectors: int, limit: int
) -> VectorAnswer | None:
    """Return what real vectors and first ones say together, the latter as real ones would most likely say it.

    `vectors` is how many real ones the store has; a few do not tell how a question's cosines are spread.
    """
    if first is None:
        return answer
    if answer is not None and vectors >= SPREAD_FROM:
        mean, deviation = answer.mean, answer.deviation
    else:
        mean, deviation = _MEAN * first.mean + _MEAN_OFFSET, _DEVIATION
    best = {
        no: (mean + _STRETCH * (cosine - first.mean), chunk_no)
        for no, (cosine, chunk_no) in first.best.items()
    }
    crowding = {no: _STRETCH * crowd for no, crowd in first.crowding.items()}
    estimated = frozenset(best) - frozenset(answer.best if answer is not None else ())
    if answer is not None:
        best.update(answer.best)
        crowding.update(answer.crowding)
    nearest = sorted(crowding, key=lambda no: (-best[no][0], no))[:limit]
    return VectorAnswer(
        best=best,
        crowding={no: crowding[no] for no in nearest},
        mean=mean,
        deviation=deviation,
        vectors=first.vectors + vectors,
        estimated=estimated,
    )
