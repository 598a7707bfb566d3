"""Vector search: exact in float32, from about 30,000 vectors by sign bits with rescoring (design section 4).

The blobs in `memory.db` are the truth. A cache file holds them as one memory-mapped matrix with their sign
bits; vectors that came later are kept in memory beside it, and removed ones are masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.index.vector_cache import CachedVectors, load_cache, write_cache
from hexad.storage.changes import ChangeReader
from hexad.storage.vectors import VectorRows, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_LIMIT: Final = 30_000
"""Up to this many vectors every cosine is computed."""
RESCORED: Final = 1_000
"""Candidates by sign bits whose cosines are computed; raised until the measured recall is good enough."""
RECALL_FLOOR: Final = 0.99
_TAIL_LIMIT: Final = 4_000
_PROBES: Final = 48
CROWD: Final = 20
"""How many nearest others tell how crowded it is around a vector."""


@dataclass(slots=True)
class _Segment:
    """Vectors that are searched together; `alive` masks what was removed since."""

    no: NDArray[np.int64]
    memory_no: NDArray[np.int64]
    chunk_no: NDArray[np.int64]
    matrix: NDArray[np.float32] | NDArray[np.float16]
    alive: NDArray[np.bool_]
    bits: NDArray[np.uint64] | None = None
    centre: NDArray[np.float32] | None = None

    def cosines(self, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        return self.matrix[rows].astype(np.float32, copy=False) @ query


_Best = dict[int, tuple[float, int, _Segment, int]]
"""Memory's row number to cosine, chunk's number, and where the vector stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorAnswer:
    """The best memories by cosine, best first, and how the cosines of all vectors are spread.

    `best` maps a memory's row number to `(cosine, chunk's number or 0)` for every memory that was scored.
    `crowding` says of the nearest memories how close each is to its own nearest others among them, against
    their mean: vectors that are near everything are near the question by accident.
    """

    best: dict[int, tuple[float, int]]
    crowding: dict[int, float]
    mean: float
    deviation: float
    vectors: int


@dataclass(slots=True)
class _Loaded:
    change: int = -1
    last_no: int = 0
    last_removal: int = 0
    base: _Segment | None = None
    tail: list[VectorRows] = field(default_factory=list)
    segments: list[_Segment] = field(default_factory=list)
    mean: NDArray[np.float32] | None = None
    covariance: NDArray[np.float32] | None = None
    rescored: int = RESCORED
    exact: bool = True


class VectorIndex:
    """The vectors of one store, ready to search. Follows writes of any process."""

    def __init__(
        self, vectors: Vectors, changes: ChangeReader, *, dimensions: int, cache: Path | None, identity: str
    ) -> None:
        self._vectors = vectors
        self._changes = changes
        self._dimensions = dimensions
        self._cache = cache
        self._identity = identity
        self._lock = Lock()
        self._state = _Loaded()

    def count(self) -> int:
        """Return how many vectors are searched."""
        with self._lock:
            self._refresh()
            return sum(int(segment.alive.sum()) for segment in self._state.segments)

    def search(
        self,
        query: NDArray[np.float32],
        *,
        limit: int,
        allowed: NDArray[np.bool_] | None = None,
        also: Sequence[int] = (),
    ) -> VectorAnswer:
        """Return the `limit` nearest memories, and the cosines of the memories `also` names.

        `allowed[memory_no]` says which memories may answer; numbers past its end may not. Vectors are
        L2-normalised, so that a dot product is the cosine.
        """
        import numpy as np

        with self._lock:
            self._refresh()
            state = self._state
            segments = list(state.segments)
        best: _Best = {}
        total = np.zeros(3)  # count, sum, sum of squares
        for segment in segments:
            alive = _allowed(segment, allowed)
            approximate = segment.bits is not None and allowed is None and not state.exact
            if approximate:
                rows = _nearest_by_bits(segment, query, alive, state.rescored)
                total += _spread(state, query, int(alive.sum()))
            else:
                rows = np.flatnonzero(alive)
            cosines = segment.cosines(rows, query) if len(rows) < len(alive) else _all(segment, query)
            if not approximate:
                total += (
                    len(cosines),
                    float(cosines.sum(dtype=np.float64)),
                    float((cosines**2).sum(dtype=np.float64)),
                )
            _keep_best(best, segment, rows, cosines, limit)
        nearest = sorted(best, key=lambda memory: (-best[memory][0], memory))[:limit]
        pool = {memory: best[memory] for memory in nearest}
        crowding = _crowding(pool)
        for segment in segments:
            if also:
                alive = _allowed(segment, allowed)
                _score_named(pool, segment, np.asarray(also, dtype=np.int64), alive, query)
        count = int(total[0])
        mean = total[1] / count if count else 0.0
        deviation = float(np.sqrt(max(total[2] / count - mean**2, 0.0))) if count else 0.0
        return VectorAnswer(
            best={memory: (found[0], found[1]) for memory, found in pool.items()},
            crowding=crowding,
            mean=float(mean),
            deviation=deviation,
            vectors=count,
        )

    # The cache ------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        import numpy as np

        change = self._changes.current("vectors")
        state = self._state
        if change == state.change:
            return
        if state.change < 0 and self._cache is not None:
            cached = load_cache(self._cache, identity=self._identity, dimensions=self._dimensions)
            if cached is not None:
                self._adopt(cached)
                state = self._state
        rows = self._vectors.after(state.last_no, dimensions=self._dimensions)
        if len(rows.no):
            state.tail.append(rows)
            state.last_no = int(rows.no[-1])
        removed = self._vectors.removed_after(state.last_removal)
        if removed:
            state.last_removal = removed[-1][0]
        gone = np.array(sorted({no for _, no in removed}), dtype=np.int64)
        self._join(gone)
        state.change = change
        if self._tail_size() > max(_TAIL_LIMIT, len(state.base.no) // 5 if state.base else 0):
            self._rebuild()

    def _tail_size(self) -> int:
        return sum(len(rows.no) for rows in self._state.tail)

    def _adopt(self, cached: CachedVectors) -> None:
        import numpy as np

        state = self._state
        state.base = _Segment(
            no=cached.rows.no,
            memory_no=cached.rows.memory_no,
            chunk_no=cached.rows.chunk_no,
            matrix=cached.rows.matrix,
            alive=np.ones(len(cached.rows.no), dtype=np.bool_),
            bits=cached.bits,
            centre=cached.mean,
        )
        state.exact = len(cached.rows.no) <= EXACT_LIMIT or cached.rescored == 0
        if state.exact:
            state.base.matrix = cached.rows.matrix.astype(np.float32)
        state.rescored = cached.rescored or RESCORED
        state.mean, state.covariance = cached.mean, cached.covariance
        state.last_no, state.last_removal = cached.last_no, cached.last_removal

    def _join(self, gone: NDArray[np.int64]) -> None:
        """Make the tail one segment and mask what is gone; masks of earlier removals are kept."""
        import numpy as np

        state = self._state
        dead = np.concatenate([segment.no[~segment.alive] for segment in state.segments] + [gone])
        state.segments = [state.base] if state.base is not None else []
        if state.tail:
            rows = _concatenate(state.tail)
            state.tail = [rows]
            state.segments.append(
                _Segment(
                    no=rows.no,
                    memory_no=rows.memory_no,
                    chunk_no=rows.chunk_no,
                    matrix=rows.matrix.astype(np.float32),
                    alive=np.ones(len(rows.no), dtype=np.bool_),
                )
            )
        for segment in state.segments:
            segment.alive = ~np.isin(segment.no, dead)

    def _rebuild(self) -> None:
        """Make base and tail one base, measure its sign bits, and write the cache file."""
        import numpy as np

        state = self._state
        parts = [
            VectorRows(
                no=segment.no[segment.alive],
                memory_no=segment.memory_no[segment.alive],
                chunk_no=segment.chunk_no[segment.alive],
                matrix=segment.matrix[segment.alive].astype(np.float16, copy=False),
            )
            for segment in state.segments
        ]
        rows = _concatenate(parts)
        sample = rows.matrix[:: max(1, len(rows.no) // 20_000)].astype(np.float32)
        mean = sample.mean(axis=0)
        centred = sample - mean
        covariance = (centred.T @ centred) / max(len(sample), 1)
        bits = _sign_bits(rows.matrix, mean)
        cached = CachedVectors(
            rows=rows,
            bits=bits,
            mean=mean,
            covariance=covariance,
            rescored=_measure(rows, bits, mean) if len(rows.no) > EXACT_LIMIT else 0,
            last_no=state.last_no,
            last_removal=state.last_removal,
        )
        self._state = _Loaded(change=state.change)
        if self._cache is not None:
            write_cache(self._cache, cached, change=state.change, identity=self._identity)
            cached = load_cache(self._cache, identity=self._identity, dimensions=self._dimensions) or cached
        self._adopt(cached)
        self._join(np.zeros(0, dtype=np.int64))


def _concatenate(parts: Sequence[VectorRows]) -> VectorRows:
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    return VectorRows(
        no=np.concatenate([part.no for part in parts]),
        memory_no=np.concatenate([part.memory_no for part in parts]),
        chunk_no=np.concatenate([part.chunk_no for part in parts]),
        matrix=np.concatenate([part.matrix for part in parts]),
    )


def _allowed(segment: _Segment, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    import numpy as np

    if allowed is None:
        return segment.alive
    inside = segment.memory_no < len(allowed)
    return segment.alive & inside & allowed[np.where(inside, segment.memory_no, 0)]


def _all(segment: _Segment, query: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    return np.asarray(segment.matrix.astype(np.float32, copy=False) @ query)


def _sign_bits(matrix: NDArray[np.float16], mean: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return one bit a dimension, set where the centred value is positive, as rows of 64-bit words."""
    import numpy as np

    rows, dimensions = matrix.shape
    words = -(-dimensions // 64)
    packed = np.zeros((rows, words * 8), dtype=np.uint8)
    for start in range(0, rows, 8_192):
        block = matrix[start : start + 8_192].astype(np.float32) > mean
        packed[start : start + 8_192, : -(-dimensions // 8)] = np.packbits(block, axis=1)
    return packed.view(np.uint64)


def _nearest_by_bits(
    segment: _Segment, query: NDArray[np.float32], alive: NDArray[np.bool_], wanted: int
) -> NDArray[np.int64]:
    import numpy as np

    assert segment.bits is not None
    assert segment.centre is not None
    words = segment.bits.shape[1]
    packed = np.zeros(words * 8, dtype=np.uint8)
    sign = np.packbits(query > segment.centre)
    packed[: len(sign)] = sign
    code = packed.view(np.uint64)
    distance = np.zeros(len(alive), dtype=np.uint16)
    for word in range(words):
        distance += np.bitwise_count(segment.bits[:, word] ^ code[word])
    distance[~alive] = np.iinfo(np.uint16).max
    if len(distance) <= wanted:
        return np.flatnonzero(alive)
    rows = np.argpartition(distance, wanted)[:wanted]
    return np.sort(rows[alive[rows]])


def _measure(rows: VectorRows, bits: NDArray[np.uint64], mean: NDArray[np.float32]) -> int:
    """Return how many candidates must be rescored for recall@10 ≥ the floor; 0 when bits never reach it."""
    import numpy as np

    alive = np.ones(len(rows.no), dtype=np.bool_)
    segment = _Segment(
        no=rows.no,
        memory_no=rows.memory_no,
        chunk_no=rows.chunk_no,
        matrix=rows.matrix,
        alive=alive,
        bits=bits,
        centre=mean,
    )
    probes = rows.matrix[:: max(1, len(rows.no) // _PROBES)][:_PROBES].astype(np.float32)
    truth = np.zeros((len(probes), 10), dtype=np.int64)
    cosines = np.concatenate(
        [rows.matrix[i : i + 8_192].astype(np.float32) @ probes.T for i in range(0, len(rows.no), 8_192)]
    )
    for probe in range(len(probes)):
        truth[probe] = np.argpartition(-cosines[:, probe], 10)[:10]
    for wanted in (RESCORED, 2 * RESCORED, 4 * RESCORED):
        found = [
            np.isin(truth[i], _nearest_by_bits(segment, probes[i], alive, wanted)).mean()
            for i in range(len(probes))
        ]
        if float(np.mean(found)) >= RECALL_FLOOR:
            return wanted
    return 0


def _spread(state: _Loaded, query: NDArray[np.float32], count: int) -> NDArray[np.float64]:
    """Count, sum and sum of squares of all cosines, exact from mean and covariance without computing any."""
    import numpy as np

    assert state.mean is not None
    assert state.covariance is not None
    mean = float(query @ state.mean)
    square = float(query @ state.covariance @ query) + mean**2
    return np.array([count, count * mean, count * square])


def _keep_best(
    best: _Best,
    segment: _Segment,
    rows: NDArray[np.int64],
    cosines: NDArray[np.float32],
    limit: int,
) -> None:
    import numpy as np

    # A memory has several vectors: take enough rows for `limit` different memories.
    wanted = min(len(rows), 4 * limit)
    top = np.argpartition(-cosines, wanted - 1)[:wanted] if 0 < wanted < len(rows) else np.arange(len(rows))
    _note(best, segment, rows[top], cosines[top])


def _score_named(
    best: _Best,
    segment: _Segment,
    named: NDArray[np.int64],
    alive: NDArray[np.bool_],
    query: NDArray[np.float32],
) -> None:
    import numpy as np

    rows = np.flatnonzero(np.isin(segment.memory_no, named) & alive)
    if len(rows):
        _note(best, segment, rows, segment.cosines(rows, query))


def _note(
    best: _Best,
    segment: _Segment,
    rows: NDArray[np.int64],
    cosines: NDArray[np.float32],
) -> None:
    memories = segment.memory_no[rows].tolist()
    chunks = segment.chunk_no[rows].tolist()
    for place, (memory, chunk, cosine) in enumerate(zip(memories, chunks, cosines.tolist(), strict=True)):
        known = best.get(memory)
        if known is None or (cosine, -chunk) > (known[0], -known[1]):
            best[memory] = (cosine, chunk, segment, int(rows[place]))


def _crowding(pool: _Best) -> dict[int, float]:
    """Return each memory's mean cosine with its nearest others in the pool, centred on zero."""
    import numpy as np

    count = min(CROWD, len(pool) - 1)
    if count < 1:
        return dict.fromkeys(pool, 0.0)
    vectors = np.stack([segment.matrix[row] for _, _, segment, row in pool.values()]).astype(np.float32)
    gram = vectors @ vectors.T
    np.fill_diagonal(gram, -np.inf)
    nearest = np.partition(gram, -count, axis=1)[:, -count:].mean(axis=1)
    centred = (nearest - nearest.mean()).tolist()
    return dict(zip(pool, centred, strict=True))
