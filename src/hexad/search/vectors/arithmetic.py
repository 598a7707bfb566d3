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
_NEAREST: Final = 10
_READ_AT_ONCE: Final = 8_192
_WIDENED: Final = 256
"""So many vectors are widened at once: few enough for a processor's cache."""
_BLOCK: Final = 1 << 16
"""Of so many vectors the sign bits are compared at once."""
_WORDS_PER_BYTE: Final = 3
"""So many words of 64 bits differ in fewer bits than a byte counts."""
_FARTHEST: Final = 0xFFFF
_MANY: Final = 200_000
"""To partition the distances of more takes longer than to look at all those that are equally far."""
_SAMPLED_DISTANCES: Final = 16_384
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
    Shortlist(pool=32_000, rescored=8_000),
    Shortlist(pool=64_000, rescored=16_000),
)
"""What is tried until the measured recall is good enough, the cheapest first."""
_CHEAP: Final = 5
"""So many of them are tried before the others are looked at."""
Best = dict[int, tuple[float, int]]
"""Memory's row number to its best cosine and that chunk's number, or 0."""
Scored = tuple[VectorSegment, "NDArray[np.int64]", "NDArray[np.float32]"]
"""Rows of a segment with their cosines."""
_Columns = tuple["NDArray[np.float32]", "NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int64]"]
"""Cosines with memories, chunks and rows."""


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
    halves, gathered = matrix.view(np.int16), np.empty(room.shape, dtype=np.int16)
    larger = query * np.float32(2.0**112)
    for start in range(0, count, _WIDENED):
        end = min(start + _WIDENED, count)
        bits = room[: end - start]
        if rows is None:
            bits[:] = halves[start:end]
        else:  # twice as fast as by an index; with "raise" it would take room for a copy
            bits[:] = halves.take(rows[start:end], axis=0, out=gathered[: end - start], mode="clip")
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


def alive_rows(segments: Sequence[VectorSegment]) -> VectorRows:
    """Return the rows of all segments that are alive, in order, copied block by block: they may fill the memory."""
    import numpy as np

    alive = [np.flatnonzero(segment.alive) for segment in segments]
    matrix = np.empty((sum(map(len, alive)), segments[0].matrix.shape[1]), dtype=np.float16)
    at = 0
    for segment, rows in zip(segments, alive, strict=True):
        for start in range(0, len(rows), _READ_AT_ONCE):
            block = rows[start : start + _READ_AT_ONCE]
            matrix[at : at + len(block)] = segment.matrix[block]
            at += len(block)
    parts = list(zip(segments, alive, strict=True))
    return VectorRows(
        no=np.concatenate([segment.no[rows] for segment, rows in parts]),
        memory_no=np.concatenate([segment.memory_no[rows] for segment, rows in parts]),
        chunk_no=np.concatenate([segment.chunk_no[rows] for segment, rows in parts]),
        matrix=matrix,
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
    for start in range(0, rows, _READ_AT_ONCE):
        block = matrix[start : start + _READ_AT_ONCE].astype(np.float32) > mean
        packed[start : start + _READ_AT_ONCE, : -(-dimensions // 8)] = np.packbits(block, axis=1)
    return np.ascontiguousarray(packed.view(np.uint64).T)


def nearest_by_bits(
    segment: VectorSegment, query: NDArray[np.float32], alive: NDArray[np.bool_], wanted: int
) -> NDArray[np.int64]:
    """Return the `wanted` rows whose sign bits differ least from the question's, in order."""
    assert segment.bits is not None
    assert segment.centre is not None
    distances = _differing_bits(segment.bits, _sign_code(query, segment.centre))
    distances[~alive] = _FARTHEST
    return _pool(distances, wanted)


def _sign_code(vector: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the sign bits of one vector, a word for each 64 dimensions."""
    import numpy as np

    packed = np.zeros(-(-len(vector) // 64) * 8, dtype=np.uint8)
    sign = np.packbits(vector > mean)
    packed[: len(sign)] = sign
    return packed.view(np.uint64)


def _differing_bits(bits: NDArray[np.uint64], code: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return how many sign bits of each row differ from the question's.

    Block by block, so that what lies between stays in the processor's cache; bytes are added where they suffice.
    """
    import numpy as np

    words, count = bits.shape
    distances = np.zeros(count, dtype=np.uint16)
    differing = np.empty(min(_BLOCK, count), dtype=np.uint64)
    counted, summed = (np.empty(len(differing), dtype=np.uint8) for _ in range(2))
    for start in range(0, count, _BLOCK):
        end = min(start + _BLOCK, count)
        size = end - start
        for first in range(0, words, _WORDS_PER_BYTE):
            summed[:size] = 0
            for word in range(first, min(first + _WORDS_PER_BYTE, words)):
                np.bitwise_xor(bits[word, start:end], code[word], out=differing[:size])
                np.bitwise_count(differing[:size], out=counted[:size])
                np.add(summed[:size], counted[:size], out=summed[:size])
            np.add(distances[start:end], summed[:size], out=distances[start:end])
    return distances


def _pool(distances: NDArray[np.uint16], wanted: int) -> NDArray[np.int64]:
    """Return, in order, the rows of the `wanted` smallest distances; of many rows all that equal the last of these."""
    import numpy as np

    if len(distances) > _MANY:
        rows = _least(distances, wanted)
    elif len(distances) > wanted:
        rows = np.sort(np.argpartition(distances, wanted)[:wanted])
    else:
        rows = np.arange(len(distances))
    return rows[distances[rows] < _FARTHEST]


def _least(distances: NDArray[np.uint16], wanted: int) -> NDArray[np.int64]:
    """Return, in order, the rows of the `wanted` smallest distances, and all that equal the last of these.

    Every n-th tells how far to look, so that few are partitioned.
    """
    import numpy as np

    within = min(wanted, len(distances))
    sample = distances[:: max(1, len(distances) // _SAMPLED_DISTANCES)]
    rows = np.arange(len(distances))
    for margin in (1.25, 2.0):
        seat = int(within / len(distances) * margin * len(sample)) + 16
        if seat < len(sample):
            near = np.flatnonzero(distances <= np.partition(sample, seat)[seat])
            if len(near) >= within:
                rows = near
                break
    least = distances[rows]
    return np.asarray(rows[least <= np.partition(least, within - 1)[within - 1]])


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
    assert segment.bits is not None
    rows = nearest_by_bits(segment, query, alive, shortlist.pool)
    return _most_alike(segment.bits, rows, query, shortlist)


def _most_alike(
    bits: NDArray[np.uint64], rows: NDArray[np.int64], query: NDArray[np.float32], shortlist: Shortlist
) -> NDArray[np.int64]:
    """Return the rows of a pool that are rescored, in order."""
    import numpy as np

    if shortlist.pool <= shortlist.rescored or len(rows) <= shortlist.rescored:
        return rows
    products = products_of_signs(bits, rows, query)
    return np.sort(rows[np.argpartition(-products, shortlist.rescored)[: shortlist.rescored]])


def shortlist_needed(
    rows: VectorRows, bits: NDArray[np.uint64], mean: NDArray[np.float32]
) -> Shortlist | None:
    """Return what must be looked at again for recall@10 ≥ the floor; None when signs never reach it.

    A question is less near to what answers it than the store's vectors are to each other, and so harder to serve: it
    is tried with what lies halfway between two vectors of the store.
    """
    import numpy as np

    some = rows.matrix[:: max(1, len(rows.no) // _PROBES)][:_PROBES].astype(np.float32)
    probes = some + np.roll(some, len(some) // 2, axis=0)
    truth = _nearest_ten(rows.matrix, probes)
    for shortlists in (SHORTLISTS[:_CHEAP], SHORTLISTS[_CHEAP:]):
        shares = [
            _shares_found(bits, mean, probe, ten, shortlists)
            for probe, ten in zip(probes, truth, strict=True)
        ]
        for shortlist, share in zip(shortlists, np.mean(shares, axis=0).tolist(), strict=True):
            if share >= RECALL_FLOOR:
                return shortlist
    return None


def _nearest_ten(matrix: NDArray[np.float16], probes: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the rows with the ten highest products with each probe, one line a probe."""
    import numpy as np

    best = np.full((len(probes), 0), -np.inf, dtype=np.float32)
    rows = np.zeros((len(probes), 0), dtype=np.int64)
    for start in range(0, len(matrix), _READ_AT_ONCE):
        block = probes @ matrix[start : start + _READ_AT_ONCE].astype(np.float32).T
        best = np.concatenate([best, block], axis=1)
        numbers = np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)
        rows = np.concatenate([rows, numbers], axis=1)
        if best.shape[1] > _NEAREST:
            top = np.argpartition(-best, _NEAREST, axis=1)[:, :_NEAREST]
            best, rows = np.take_along_axis(best, top, axis=1), np.take_along_axis(rows, top, axis=1)
    return rows


def _shares_found(
    bits: NDArray[np.uint64],
    mean: NDArray[np.float32],
    probe: NDArray[np.float32],
    nearest: NDArray[np.int64],
    shortlists: Sequence[Shortlist],
) -> list[float]:
    """Return which share of the nearest each of the shortlists has, from one look at the sign bits."""
    import numpy as np

    distances = _differing_bits(bits, _sign_code(probe, mean))
    chosen = (_most_alike(bits, _pool(distances, each.pool), probe, each) for each in shortlists)
    return [float(np.isin(nearest, rows).mean()) for rows in chosen]


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

    columns = _nearest(scored, 2 * limit)
    first = _first_of_each(columns, limit)
    if len(first) < limit and 2 * limit < sum(len(rows) for _, rows, _ in scored):  # of many vectors each
        columns = _nearest(scored, 4 * limit * len(scored))
        first = _first_of_each(columns, limit)
    cosines, _, chunks, rows = (np.concatenate(column) for column in zip(*columns, strict=True))
    parts = np.repeat(np.arange(len(columns)), [len(each[0]) for each in columns])
    seats = list(first.values())
    best = dict(zip(first, zip(cosines[seats].tolist(), chunks[seats].tolist(), strict=True), strict=True))
    room = room or Room()
    vectors = _gathered([segment for segment, _, _ in scored], parts[seats], rows[seats], room)
    return best, dict(zip(first, _crowding(vectors, room), strict=True))


def _nearest(scored: Sequence[Scored], count: int) -> list[_Columns]:
    """Return the vectors with the `count` highest cosines, and all whose cosine equals the last of these."""
    import numpy as np

    together = np.concatenate([cosines for _, _, cosines in scored])
    if count < len(together):
        # Numbers alone are partitioned several times as fast as their places.
        least = np.partition(together, len(together) - count)[len(together) - count]
        near = [np.flatnonzero(cosines >= least) for _, _, cosines in scored]
        scored = [
            (segment, rows[at], cosines[at])
            for (segment, rows, cosines), at in zip(scored, near, strict=True)
        ]
    return [
        (cosines, segment.memory_no[rows], segment.chunk_no[rows], rows) for segment, rows, cosines in scored
    ]


def _first_of_each(columns: Sequence[_Columns], limit: int) -> dict[int, int]:
    """Return the `limit` best memories, best first, each with the seat of its best vector in all columns together."""
    import numpy as np

    cosines, memories, chunks = (np.concatenate(column) for column in list(zip(*columns, strict=True))[:3])
    falling = np.lexsort((chunks, memories, -cosines))
    first: dict[int, int] = {}
    for seat, memory in zip(falling.tolist(), memories[falling].tolist(), strict=True):
        first.setdefault(memory, seat)
        if len(first) == limit:
            break
    return first


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
