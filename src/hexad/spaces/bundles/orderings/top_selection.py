"""The first memories by score, exactly, reading as few texts as that takes.

Signatures say which texts may hold what a score asks for, so the score in which all of it holds is an upper bound.
Memories are taken in the order of that bound, their texts are read, and their true scores computed; as soon as
`limit` true scores stand before every bound that is left, the rest cannot change the answer (the threshold algorithm).
Ties are part of the comparison: score, then the last change, then path and id.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from hexad.spaces.bundles.orderings.scorer import Claim, Scorer
from hexad.spaces.bundles.orderings.space_view import SpaceView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_LEAST: Final = 16
_BATCH_MOST: Final = 256
_HEAD_LEAST: Final = 256
_WHOLE_SHARE: Final = 4
"""From this share of all slots on, bounds are computed for all of them."""

Place = tuple[float, int, int, int]
"""Where a memory comes, smaller first: score and time negated, rank of path and id, slot."""


def first(view: SpaceView, scorer: Scorer, pool: NDArray[np.int64], *, limit: int) -> list[tuple[int, float]]:
    """Return `(slot, score)` of the first `limit` of the slots in `pool`, in order."""
    if limit <= 0 or not len(pool):
        return []
    bounds = _bounds(view, scorer, pool)
    best: list[Place] = []
    for batch, next_bound in _in_order_of_bounds(view, pool, bounds, limit=limit):
        slots = pool[batch]
        scores = scorer.scores(slots, _settled(view, scorer, slots)) if scorer.claims else bounds[batch]
        for slot, score in zip(slots.tolist(), scores.tolist(), strict=True):
            insort(best, (-score, -int(view.updated[slot]), int(view.rank[slot]), slot))
        del best[limit:]
        if next_bound is None or (len(best) == limit and best[-1] < next_bound):
            break
    return [(slot, -score) for score, _, _, slot in best]


def _bounds(view: SpaceView, scorer: Scorer, pool: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores in which every claim holds that signatures do not rule out."""
    if _WHOLE_SHARE * len(pool) < view.size:
        return scorer.scores(pool, [claim.maybe[pool] for claim in scorer.claims])
    bounds = scorer.scores(slice(0, view.size), [claim.maybe for claim in scorer.claims])
    return bounds if len(pool) == view.size else bounds[pool]


def _in_order_of_bounds(
    view: SpaceView, pool: NDArray[np.int64], bounds: NDArray[np.float64], *, limit: int
) -> Iterator[tuple[NDArray[np.int64], Place | None]]:
    """Give indexes of the pool in batches, the highest bounds first, with the place of the next one by its bound."""
    import numpy as np

    updated, rank = view.updated[pool], -view.rank[pool]
    left = np.arange(len(pool))
    want, size = max(_HEAD_LEAST, 2 * limit), max(_BATCH_LEAST, limit)
    while len(left):
        # One more than is given: the place of the next one must be known.
        head = _leading(left, (bounds, updated, rank), want + 1)
        given = head if len(head) == len(left) else head[:-1]
        at = 0
        while at < len(given):
            batch = given[at : at + size]
            at += len(batch)
            place = None
            if at < len(head):
                following = head[at]
                place = (-float(bounds[following]), -int(updated[following]), -int(rank[following]), -1)
            yield batch, place
            size = min(2 * size, _BATCH_MOST)
        rest = np.ones(len(pool), dtype=bool)
        rest[given] = False
        left = left[rest[left]]
        want *= 4


def _leading(
    left: NDArray[np.int64], columns: Sequence[NDArray[np.generic]], count: int
) -> NDArray[np.int64]:
    """Return the first `count` of `left`, ordered: the largest by the first column, ties by the next ones."""
    import numpy as np

    chosen: list[NDArray[np.int64]] = []
    rest = left
    for column in columns:
        if len(rest) <= count:
            break
        values = column[rest]
        border = np.partition(values, len(values) - count)[len(values) - count]
        above = rest[values > border]
        chosen.append(above)
        count -= len(above)
        rest = rest[values == border]
    found = np.concatenate([*chosen, rest])
    return found[np.lexsort([-column[found] for column in reversed(columns)])]


def _settled(view: SpaceView, scorer: Scorer, batch: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return what holds of each claim, for a batch of slots, after reading the texts that are needed for it."""
    import numpy as np

    settled = [claim.maybe[batch] for claim in scorer.claims]
    unread = np.zeros(len(batch), dtype=bool)
    waiting: list[tuple[Claim, NDArray[np.bool_], NDArray[np.int64]]] = []
    for claim, held in zip(scorer.claims, settled, strict=True):
        if claim.text == "path":
            for at in np.flatnonzero(held).tolist():
                held[at] = claim.needle in view.lowered[batch[at]]
            continue
        at_open = np.flatnonzero(held & ~view.is_settled(claim.text, claim.needle, batch))
        if len(at_open):
            unread[at_open] = True
            waiting.append((claim, held, at_open))
    fields = sorted({claim.text for claim, _, _ in waiting})
    texts = view.texts(batch[unread].tolist(), fields) if fields else {}
    for claim, held, at_open in waiting:
        place = fields.index(claim.text)
        for at in at_open.tolist():
            held[at] = claim.needle in texts[int(batch[at])][place]
        view.settle(claim.text, claim.needle, batch[at_open], held[at_open])
    return settled
