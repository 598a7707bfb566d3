"""The nearest memories of memories, to the last tie: what links of likeness are derived from.

Products in float32 say which may be nearest, and products summed up in float64, alike wherever a row lies, which are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.core.blas_threads import one_thread
from hexad.search.vectors.arithmetic import VectorSegment, allowed_rows, in_order
from hexad.search.vectors.index import EXACT_LIMIT, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_BLUR: Final = 1e-5
"""By how much products in float32 may be off; vectors have length 1 at most."""
_MORE: Final = 4
_ROWS: Final = 4  # that a search looks at, for each memory that is asked for
_WANTED_MOST: Final = EXACT_LIMIT // _ROWS
_TOP: Final = 8  # rows of a block that are looked at, for each memory that is asked for
_BLOCK: Final = 8_192


class NearestMemories(NamedTuple):
    """The nearest memories, the nearest first, and the product with the last one; None where there were too few."""

    numbers: list[int]
    reach: float | None


_NONE: Final = NearestMemories([], None)


def nearest_memories(
    index: VectorIndex, row: NDArray[np.float32], *, count: int, allowed: NDArray[np.bool_]
) -> NearestMemories:
    """Return the `count` memories among the allowed that are nearest to a vector; of equals the lower numbers."""
    query = _unit(row)
    if query is None or not allowed.any():
        return _NONE
    limit = 2 * count
    while True:
        answer = index.search(query, limit=limit, allowed=allowed)
        cosines = sorted((nearest[0] for nearest in answer.best.values()), reverse=True)
        if len(cosines) > count and cosines[-1] < cosines[count - 1] - 2 * _BLUR:
            break
        if answer.vectors <= _ROWS * limit or limit > _WANTED_MOST:
            break
        limit *= _MORE  # so many are alike that some are left out that are as near as the last
    last = cosines[:count][-1] if cosines else 0.0
    close = [number for number, nearest in answer.best.items() if nearest[0] >= last - 2 * _BLUR]
    products = _products(index.segments(), {0: row}, {0: close})[0]
    return _nearest(products, count)


def nearest_earlier(
    index: VectorIndex, rows: Mapping[int, NDArray[np.float32]], *, count: int, allowed: NDArray[np.bool_]
) -> dict[int, NearestMemories]:
    """Return `nearest_memories` of each of these memories among the allowed of lower numbers; `rows` are theirs."""
    units = {no: unit for no in sorted(rows) if (unit := _unit(rows[no])) is not None}
    found = dict.fromkeys(rows, _NONE)
    close = _close(index, units, count, allowed) if units and index.is_exact else {}
    products = _products(index.segments(), rows, close)
    for no in units:
        found[no] = (
            _nearest(products[no], count)
            if no in close
            else nearest_memories(index, rows[no], count=count, allowed=allowed[:no])
        )
    return found


def _close(
    index: VectorIndex, units: Mapping[int, NDArray[np.float32]], count: int, allowed: NDArray[np.bool_]
) -> dict[int, list[int]]:
    """Return the allowed earlier memories that may be among the nearest; without those of which too many are alike."""
    import numpy as np

    values, memories, left_out = _best_rows(index, units, count, allowed[: max(units)])
    order = np.argsort(-values, axis=1)
    ranked = zip(
        np.take_along_axis(values, order, 1).tolist(),
        np.take_along_axis(memories, order, 1).tolist(),
        strict=True,
    )
    close: dict[int, list[int]] = {}
    for no, most_left_out, (cosines, owners) in zip(units, left_out.tolist(), ranked, strict=True):
        best: dict[int, float] = {}
        floor = -np.inf
        for cosine, owner in zip(cosines, owners, strict=True):
            if cosine < floor or cosine == -np.inf:
                break
            if owner not in best:
                best[owner] = cosine
                if len(best) == count:
                    floor = cosine - 2 * _BLUR
        if most_left_out < floor or most_left_out == -np.inf:
            close[no] = list(best)
    return close


def _best_rows(
    index: VectorIndex, units: Mapping[int, NDArray[np.float32]], count: int, allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Return for each memory cosines and owners of the best rows of each block, and what no other row is above.

    Minus infinity stands for none.
    """
    import numpy as np

    queries, numbers = np.stack(list(units.values())), np.array(list(units), dtype=np.int64)[:, None]
    values = [np.full((len(queries), 1), -np.inf, dtype=np.float32)]
    memories = [np.zeros((len(queries), 1), dtype=np.int64)]
    left_out = np.full(len(queries), -np.inf, dtype=np.float32)
    top = _TOP * count
    with one_thread():
        for segment in index.segments():
            for rows in _blocks(np.flatnonzero(allowed_rows(segment, allowed))):
                block = _block_of(rows)
                cosines = queries @ segment.matrix[block].astype(np.float32, copy=False).T
                owners = segment.memory_no[block]
                later = np.flatnonzero(owners >= numbers[0])
                cosines[:, later] = np.where(owners[later] < numbers, cosines[:, later], -np.inf)
                if len(rows) > top:
                    places = np.argpartition(cosines, len(rows) - top, axis=1)[:, -top:]
                    cosines, owners = np.take_along_axis(cosines, places, 1), owners[places]
                    left_out = np.maximum(left_out, cosines.min(axis=1))
                values.append(cosines)
                memories.append(np.broadcast_to(owners, cosines.shape))
    return np.concatenate(values, axis=1), np.concatenate(memories, axis=1), left_out


def reached_by(
    index: VectorIndex,
    changed: Sequence[int],
    numbers: NDArray[np.int64],
    floors: NDArray[np.float32],
) -> dict[int, set[int]]:
    """Return for each changed memory the later ones of `numbers` whose vector has a product with one of its vectors
    that reaches their floor. `numbers` are in order; those within a rounding error of it are returned.
    """  # fmt: skip
    import numpy as np

    segments = index.segments()
    queries = {no: _vectors_of(segments, no) for no in changed}
    reached: dict[int, set[int]] = {no: set() for no in changed}
    with one_thread():
        for segment in segments:
            for rows in _blocks(segment.rows_of(numbers)):
                matrix, owners = segment.matrix[rows].astype(np.float32, copy=False), segment.memory_no[rows]
                least = floors[np.searchsorted(numbers, owners)] - _BLUR
                for no, own in queries.items():
                    if len(own):
                        near = rows[((matrix @ own.T).max(axis=1) >= least) & (owners > no)]
                        reached[no] |= _by_their_own(segment, near)
    return reached


def _vectors_of(segments: Sequence[VectorSegment], no: int) -> NDArray[np.float32]:
    import numpy as np

    number = np.array([no], dtype=np.int64)
    own = [segment.matrix[rows] for segment, rows in _rows(segments, number)]
    return np.concatenate(own).astype(np.float32) if own else np.zeros((0, 0), dtype=np.float32)


def _by_their_own(segment: VectorSegment, rows: NDArray[np.int64]) -> set[int]:
    """Return the memories of those rows that are a memory's own vector: of its beginning, or of its only chunk."""
    import numpy as np

    if not len(rows):
        return set()
    every = segment.rows_of(np.unique(segment.memory_no[rows]))
    order = every[np.lexsort((segment.chunk_no[every], segment.memory_no[every]))]
    _, first = np.unique(segment.memory_no[order], return_index=True)
    own = np.intersect1d(order[first], rows)
    return set(segment.memory_no[own].tolist())


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32] | None:
    import numpy as np

    length = float(np.linalg.norm(row))
    return (row / length).astype(np.float32) if length else None


def _nearest(products: Mapping[int, float], count: int) -> NearestMemories:
    ranked = sorted(products, key=lambda number: (-products[number], number))[:count]
    return NearestMemories(ranked, products[ranked[-1]] if len(ranked) == count else None)


def _products(
    segments: Sequence[VectorSegment],
    rows: Mapping[int, NDArray[np.float32]],
    others: Mapping[int, Sequence[int]],
) -> dict[int, dict[int, float]]:
    """Return the largest product of each vector with each of its others, summed up alike wherever their rows are."""
    import numpy as np

    products: dict[int, dict[int, float]] = {no: {} for no in others}
    named = in_order([other for numbers in others.values() for other in numbers])
    for segment, found in _rows(segments, named):
        places: dict[int, list[int]] = {}
        for place, owner in enumerate(segment.memory_no[found].tolist()):
            places.setdefault(owner, []).append(place)
        matrix = segment.matrix[found].astype(np.float64)
        for no, numbers in others.items():
            own = [(place, other) for other in numbers for place in places.get(other, ())]
            sums = (matrix[[place for place, _ in own]] * rows[no].astype(np.float64)).sum(axis=1).tolist()
            best = products[no]
            for (_, other), product in zip(own, sums, strict=True):
                best[other] = max(best.get(other, product), product)
    return products


def _blocks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Give some rows in order, so many at once as are compared in little memory."""
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]


def _block_of(rows: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return what names the same rows; where none between them is left out, they need not be copied."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _rows(
    segments: Sequence[VectorSegment], numbers: NDArray[np.int64]
) -> list[tuple[VectorSegment, NDArray[np.int64]]]:
    return [(segment, rows) for segment in segments if len(rows := segment.rows_of(numbers))]
