"""Which memories are nearest to one, and to which of them one is among the nearest: the same whenever it is asked.

The order in which vectors lie in the index must not show: a product of matrices differs in its last digits with the
place of a row, so that whoever is close to the limit is compared again, in a way that does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.search.vectors.arithmetic import Segment, one_thread
from hexad.search.vectors.index import EXACT_LIMIT, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLUR: Final = 1e-5
"""By how much products in float32 may be off; vectors have length 1 at most."""
_MORE: Final = 4
_ROWS: Final = 4  # that a search looks at, for each memory that is asked for
_WANTED_MOST: Final = EXACT_LIMIT // _ROWS
_BLOCK: Final = 8_192


class Nearest(NamedTuple):
    """The nearest memories, the nearest first, and the product with the last one; None where there were too few."""

    numbers: list[int]
    reach: float | None


def nearest_of(
    index: VectorIndex, row: NDArray[np.float32], *, count: int, allowed: NDArray[np.bool_]
) -> Nearest:
    """Return the `count` memories among the allowed that are nearest to a vector; of equals the lower numbers."""
    import numpy as np

    length = float(np.linalg.norm(row))
    if not length or not allowed.any():
        return Nearest([], None)
    query = (row / length).astype(np.float32)
    wanted = 2 * count
    while True:
        answer = index.search(query, limit=wanted, allowed=allowed)
        cosines = sorted((found[0] for found in answer.best.values()), reverse=True)
        if len(cosines) > count and cosines[-1] < cosines[count - 1] - 2 * _BLUR:
            break
        if answer.vectors <= _ROWS * wanted or wanted > _WANTED_MOST:
            break
        wanted *= _MORE  # so many are alike that some are left out that are as near as the last
    last = cosines[:count][-1] if cosines else 0.0
    close = [number for number, found in answer.best.items() if found[0] >= last - 2 * _BLUR]
    products = _products(index.segments(), np.array(sorted(close), dtype=np.int64), row)
    ranked = sorted(products, key=lambda number: (-products[number], number))[:count]
    return Nearest(ranked, products[ranked[-1]] if len(ranked) == count else None)


def reached_by(index: VectorIndex, no: int, floors: NDArray[np.float32]) -> set[int]:
    """Return the memories whose vector has a product with one of memory `no` that reaches their floor.

    `floors` has one number for each memory; infinity keeps one out. Those within a rounding error of it are returned.
    """
    import numpy as np

    segments = index.segments()
    own = _rows(segments, np.array([no], dtype=np.int64))
    if not own:
        return set()
    queries = np.concatenate([segment.matrix[rows] for segment, rows in own]).astype(np.float32)
    found: set[int] = set()
    with one_thread():
        for segment in segments:
            inside = segment.alive & (segment.memory_no < len(floors))
            asked = np.flatnonzero(inside & (floors[np.where(inside, segment.memory_no, 0)] < np.inf))
            for start in range(0, len(asked), _BLOCK):
                rows = asked[start : start + _BLOCK]
                most = (segment.matrix[rows].astype(np.float32, copy=False) @ queries.T).max(axis=1)
                near = rows[most >= floors[segment.memory_no[rows]] - _BLUR]
                found |= _by_their_own(segment, near)
    return found


def _by_their_own(segment: Segment, rows: NDArray[np.int64]) -> set[int]:
    """Return the memories of those rows that are a memory's own vector: of its beginning, or of its only chunk."""
    import numpy as np

    every = segment.rows_of(np.unique(segment.memory_no[rows]))
    order = every[np.lexsort((segment.chunk_no[every], segment.memory_no[every]))]
    _, first = np.unique(segment.memory_no[order], return_index=True)
    own = np.intersect1d(order[first], rows)
    return set(segment.memory_no[own].tolist())


def _products(
    segments: list[Segment], numbers: NDArray[np.int64], row: NDArray[np.float32]
) -> dict[int, float]:
    """Return each memory's largest product with a vector, summed up alike wherever its row is."""
    import numpy as np

    exact = row.astype(np.float64)
    found: dict[int, float] = {}
    for segment, rows in _rows(segments, numbers):
        sums = (segment.matrix[rows].astype(np.float64) * exact).sum(axis=1)
        for number, product in zip(segment.memory_no[rows].tolist(), sums.tolist(), strict=True):
            found[number] = max(found.get(number, product), product)
    return found


def _rows(segments: list[Segment], numbers: NDArray[np.int64]) -> list[tuple[Segment, NDArray[np.int64]]]:
    return [(segment, rows) for segment in segments if len(rows := segment.rows_of(numbers))]
