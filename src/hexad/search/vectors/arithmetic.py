"""The arithmetic of vector search on one segment: cosines, sign bits, and the best of a memory's vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import local
from typing import TYPE_CHECKING, Final

from hexad.search.vectors.table import VectorRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RECALL_FLOOR: Final = 0.985
CROWD: Final = 20
"""How many nearest others tell how crowded it is around a vector."""
_PROBES: Final = 96
_WIDENED: Final = 256
"""So many vectors are widened at once: few enough for a processor's cache."""
SAMPLED: Final = 2_000
"""Vectors whose cosines tell how those of a filtered part of the store are spread."""


@dataclass(slots=True)
class VectorSegment:
    """Vectors that are searched together; `alive` masks what was removed since."""

    no: NDArray[np.int64]
    memory_no: NDArray[np.int64]
    chunk_no: NDArray[np.int64]
    matrix: NDArray[np.float32] | NDArray[np.float16]
    alive: NDArray[np.bool_]
    bits: NDArray[np.uint64] | None = None
    centre: NDArray[np.float32] | None = None
    by_memory: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def rows_of(self, memories: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some memories that are alive; `memories` are in order and without repeats."""
        import numpy as np

        if self.by_memory is None:
            order = np.argsort(self.memory_no, kind="stable")
            self.by_memory = (order, self.memory_no[order])
        order, numbers = self.by_memory
        starts = np.searchsorted(numbers, memories, side="left")
        counts = np.searchsorted(numbers, memories, side="right") - starts
        # The places of each memory's run, one run after the other, without a loop over the memories.
        shifts = np.repeat(starts - np.concatenate(([0], counts.cumsum()[:-1])), counts)
        rows = order[shifts + np.arange(counts.sum())]
        return np.sort(rows[self.alive[rows]])

    def cosines(self, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of some rows with the question."""
        import numpy as np

        if self.matrix.dtype == np.float16:
            return products_of_halves(self.matrix, rows, query)
        return np.asarray(self.matrix[rows] @ query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """How many vectors are looked at again: `pool` by their signs and the question's numbers, `rescored` exactly."""

    pool: int
    rescored: int


SHORTLISTS: Final = (
    Shortlist(pool=500, rescored=500),
    Shortlist(pool=1_000, rescored=1_000),
    Shortlist(pool=2_000, rescored=1_000),
    Shortlist(pool=4_000, rescored=1_000),
    Shortlist(pool=8_000, rescored=2_000),
    Shortlist(pool=16_000, rescored=2_000),
    Shortlist(pool=32_000, rescored=4_000),
)
"""What is tried until the measured recall is good enough, the cheapest first."""
Best = dict[int, tuple[float, int]]
"""Memory's row number to its best cosine and that chunk's number, or 0."""
Scored = tuple[VectorSegment, "NDArray[np.int64]", "NDArray[np.float32]"]
"""Rows of a segment with their cosines."""


class Room(local):
    """Memory for the vectors around each question, kept by each thread.

    Asked for anew, so much comes from the system page by page, and goes back after each question: a tenth of a small
    store's time.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.float32]] = {}

    def of(self, use: str, rows: int, columns: int) -> NDArray[np.float32]:
        """Return an array for one use; what was in it is gone when the same use is asked for again."""
        import numpy as np

        kept = self._kept.get(use)
        if kept is None or kept.size < rows * columns:
            kept = self._kept[use] = np.empty(rows * columns, dtype=np.float32)
        return kept[: rows * columns].reshape(rows, columns)


def products_of_halves(
    matrix: NDArray[np.float16] | NDArray[np.float32],
    rows: NDArray[np.int64] | None,
    query: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the products of some rows of finite halves, or of all, with the question, computed in float32.

    NumPy widens a half in a nanosecond. Its bits, moved to where float32 has them, are the number times 2**-112, which
    the question makes up for: no bit of the products is another one.
    """
    import numpy as np

    count = len(matrix) if rows is None else len(rows)
    products = np.empty(count, dtype=np.float32)
    room = np.empty((min(_WIDENED, count), matrix.shape[1]), dtype=np.int32)
    larger = query * np.float32(2.0**112)
    for start in range(0, count, _WIDENED):
        end = min(start + _WIDENED, count)
        bits = room[: end - start]
        bits[:] = (matrix[start:end] if rows is None else matrix[rows[start:end]]).view(np.int16)
        np.left_shift(bits, 13, out=bits)
        np.bitwise_and(bits, np.int32(-0x70000001), out=bits)  # the sign was in all bits down to the exponent
        np.matmul(bits.view(np.float32), larger, out=products[start:end])
    return products


def concatenate(parts: Sequence[VectorRows]) -> VectorRows:
    """Return the rows of all parts, in order."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    return VectorRows(
        no=np.concatenate([part.no for part in parts]),
        memory_no=np.concatenate([part.memory_no for part in parts]),
        chunk_no=np.concatenate([part.chunk_no for part in parts]),
        matrix=np.concatenate([part.matrix for part in parts]),
    )


def allowed_rows(segment: VectorSegment, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return a mask of the rows that may answer."""
    import numpy as np

    if allowed is None:
        return segment.alive
    inside = segment.memory_no < len(allowed)
    return segment.alive & inside & allowed[np.where(inside, segment.memory_no, 0)]


def all_cosines(segment: VectorSegment, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosines of all rows with the question."""
    import numpy as np

    if segment.matrix.dtype == np.float16:
        return products_of_halves(segment.matrix, None, query)
    return np.asarray(segment.matrix @ query)


def sign_bits(
    matrix: NDArray[np.float16] | NDArray[np.float32], mean: NDArray[np.float32]
) -> NDArray[np.uint64]:
    """Return one bit a dimension, set where the centred value is positive: 64 dimensions a word, one line a word.

    Lines, because a search reads one word of every vector after the other.
    """
    import numpy as np

    rows, dimensions = matrix.shape
    words = -(-dimensions // 64)
    packed = np.zeros((rows, words * 8), dtype=np.uint8)
    for start in range(0, rows, 8_192):
        block = matrix[start : start + 8_192].astype(np.float32) > mean
        packed[start : start + 8_192, : -(-dimensions // 8)] = np.packbits(block, axis=1)
    return np.ascontiguousarray(packed.view(np.uint64).T)


def nearest_by_bits(
    segment: VectorSegment, query: NDArray[np.float32], alive: NDArray[np.bool_], wanted: int
) -> NDArray[np.int64]:
    """Return the `wanted` rows whose sign bits differ least from the question's, in order."""
    import numpy as np

    assert segment.bits is not None
    assert segment.centre is not None
    words = segment.bits.shape[0]
    packed = np.zeros(words * 8, dtype=np.uint8)
    sign = np.packbits(query > segment.centre)
    packed[: len(sign)] = sign
    code = packed.view(np.uint64)
    distance = np.zeros(len(alive), dtype=np.uint16)
    for word in range(words):
        distance += np.bitwise_count(segment.bits[word] ^ code[word])
    distance[~alive] = np.iinfo(np.uint16).max
    if len(distance) <= wanted:
        return np.flatnonzero(alive)
    rows = np.argpartition(distance, wanted)[:wanted]
    return np.sort(rows[alive[rows]])


def products_of_signs(
    bits: NDArray[np.uint64], rows: NDArray[np.int64], query: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the products of the question with the signs (1 or -1) of some rows.

    The question keeps its numbers, so that this tells more than how many signs differ: "asymmetric distance" (Jégou,
    Douze and Schmid, 2011). Each byte of signs is looked up among its 256 products.
    """
    import numpy as np

    numbers = np.zeros(bits.shape[0] * 64, dtype=np.float32)
    numbers[: len(query)] = query
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
    looked_up = numbers.reshape(-1, 8) @ signs.T
    products = np.zeros(len(rows), dtype=np.float32)
    for word, codes in enumerate(bits.take(rows, axis=1)):
        octets = codes.view(np.uint8).reshape(-1, 8)
        for place in range(8):
            products += looked_up[8 * word + place].take(octets[:, place])
    return products


def nearest_by_signs(
    segment: VectorSegment, query: NDArray[np.float32], alive: NDArray[np.bool_], shortlist: Shortlist
) -> NDArray[np.int64]:
    """Return the rows that are likely the nearest, in order, of which the cosines are to be computed."""
    import numpy as np

    assert segment.bits is not None
    rows = nearest_by_bits(segment, query, alive, shortlist.pool)
    if len(rows) <= shortlist.rescored:
        return rows
    products = products_of_signs(segment.bits, rows, query)
    return np.sort(rows[np.argpartition(-products, shortlist.rescored)[: shortlist.rescored]])


def shortlist_needed(
    rows: VectorRows, bits: NDArray[np.uint64], mean: NDArray[np.float32]
) -> Shortlist | None:
    """Return what must be looked at again for recall@10 ≥ the floor; None when signs never reach it.

    A question is less near to what answers it than the store's vectors are to each other, and so harder to serve: it
    is tried with what lies halfway between two vectors of the store.
    """
    import numpy as np

    alive = np.ones(len(rows.no), dtype=np.bool_)
    segment = VectorSegment(
        no=rows.no,
        memory_no=rows.memory_no,
        chunk_no=rows.chunk_no,
        matrix=rows.matrix,
        alive=alive,
        bits=bits,
        centre=mean,
    )
    some = rows.matrix[:: max(1, len(rows.no) // _PROBES)][:_PROBES].astype(np.float32)
    probes = some + np.roll(some, len(some) // 2, axis=0)
    truth = np.zeros((len(probes), 10), dtype=np.int64)
    cosines = np.concatenate(
        [rows.matrix[i : i + 8_192].astype(np.float32) @ probes.T for i in range(0, len(rows.no), 8_192)]
    )
    for probe in range(len(probes)):
        truth[probe] = np.argpartition(-cosines[:, probe], 10)[:10]
    for shortlist in SHORTLISTS:
        shares = [
            np.isin(truth[i], nearest_by_signs(segment, probes[i], alive, shortlist)).mean()
            for i in range(len(probes))
        ]
        if float(np.mean(shares)) >= RECALL_FLOOR:
            return shortlist
    return None


def in_order(memories: Collection[int]) -> NDArray[np.int64]:
    """Return row numbers in order and without repeats; `np.unique` would load `numpy.ma`, a fifth of NumPy's import."""
    import numpy as np

    return np.array(sorted(set(memories)), dtype=np.int64)


def nearest_memories(
    scored: Sequence[Scored], *, limit: int, room: Room | None = None
) -> tuple[Best, dict[int, float]]:
    """Return the `limit` nearest memories, best first, and how crowded it is around each.

    Of equals the memory and the chunk with the lower number comes first.
    """
    import numpy as np

    tops = [_top(segment, rows, cosines, limit) for segment, rows, cosines in scored]
    cosines, memories, chunks, rows = (np.concatenate(column) for column in zip(*tops, strict=True))
    parts = np.repeat(np.arange(len(tops)), [len(top[0]) for top in tops])
    falling = np.lexsort((chunks, memories, -cosines))
    first: dict[int, int] = {}
    for seat, memory in zip(falling.tolist(), memories[falling].tolist(), strict=True):
        first.setdefault(memory, seat)
        if len(first) == limit:
            break
    seats = list(first.values())
    best = dict(zip(first, zip(cosines[seats].tolist(), chunks[seats].tolist(), strict=True), strict=True))
    room = room or Room()
    vectors = _gathered([segment for segment, _, _ in scored], parts[seats], rows[seats], room)
    return best, dict(zip(first, _crowding(vectors, room), strict=True))


def _top(
    segment: VectorSegment, rows: NDArray[np.int64], cosines: NDArray[np.float32], limit: int
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the best cosines with memories, chunks and rows: those of the `limit` nearest memories, and more."""
    import numpy as np

    count = 4 * limit  # a memory has several vectors
    if count < len(rows):
        top = np.argpartition(-cosines, count - 1)[:count]
        rows, cosines = rows[top], cosines[top]
    return cosines, segment.memory_no[rows], segment.chunk_no[rows], rows


def score_named(
    best: Best,
    segment: VectorSegment,
    named: NDArray[np.int64],
    query: NDArray[np.float32],
) -> None:
    """Note the cosines of the memories in `named`, in order and without repeats, however far they are."""
    rows = segment.rows_of(named)
    if not len(rows):
        return
    memories, chunks = segment.memory_no[rows].tolist(), segment.chunk_no[rows].tolist()
    for memory, chunk, cosine in zip(memories, chunks, segment.cosines(rows, query).tolist(), strict=True):
        known = best.get(memory)
        if known is None or cosine > known[0] or (cosine == known[0] and chunk < known[1]):
            best[memory] = (cosine, chunk)


def _gathered(
    segments: Sequence[VectorSegment], parts: NDArray[np.intp], rows: NDArray[np.int64], room: Room
) -> NDArray[np.float32]:
    """Return the vectors of some rows, in order; `parts` says in which of the segments each row is."""
    import numpy as np

    matrix = segments[0].matrix
    vectors = room.of("vectors", len(rows), matrix.shape[1])
    if len(segments) > 1:
        for part, segment in enumerate(segments):
            of_part = parts == part
            vectors[of_part] = segment.matrix[rows[of_part]]
    elif matrix.dtype == np.float32:
        matrix.take(rows, axis=0, out=vectors, mode="clip")  # with "raise" it would take room for a copy
    else:
        vectors[:] = matrix[rows]
    return vectors


def _crowding(vectors: NDArray[np.float32], room: Room) -> list[float]:
    """Return the mean cosine of each vector with its nearest others, centred on zero."""
    import numpy as np

    count = min(CROWD, len(vectors) - 1)
    if count < 1:
        return [0.0] * len(vectors)
    gram = np.matmul(vectors, vectors.T, out=room.of("products", len(vectors), len(vectors)))
    np.fill_diagonal(gram, -np.inf)
    gram.partition(-count, axis=1)
    nearest = gram[:, -count:].mean(axis=1)
    centred: list[float] = (nearest - nearest.mean()).tolist()
    return centred


def sampled_spread(
    segment: VectorSegment, rows: NDArray[np.int64], query: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Count, sum and sum of squares of the cosines of `rows`, from every n-th of them."""
    import numpy as np

    cosines = segment.cosines(rows[:: max(1, len(rows) // SAMPLED)], query).astype(np.float64)
    return np.array([len(rows), len(rows) * cosines.mean(), len(rows) * (cosines**2).mean()])
