"""The shape of the graph: degrees, components, and the nodes that walks pass most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hexad.honeycomb.graph.adjacency import NO_TARGET, Rings
from hexad.honeycomb.tables.schema import SEATS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DAMPING: Final = 0.85
_ROUNDS: Final = 60
_CLOSE: Final = 1e-10
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNumbers:
    """The shape of a graph."""

    out_degrees: Sequence[int]
    components: int
    largest: int
    isolated: int
    hubs: Sequence[tuple[int, float]]


def graph_numbers(rings: Rings, overflow: Sequence[tuple[int, int]], *, hubs: int) -> GraphNumbers:
    """Return the graph's shape: how many nodes have 0 to 6 edges in the main ring, what hangs together, and hubs.

    `overflow` are the ends of the edges beyond the main rings: they hold together, too.
    """
    import numpy as np

    count = len(rings.ids)
    there = rings.targets != NO_TARGET
    degrees = np.bincount(there.sum(axis=1), minlength=SEATS + 1) if count else np.zeros(SEATS + 1, int)
    sources = np.repeat(np.arange(count), there.sum(axis=1))
    targets = np.searchsorted(rings.ids, rings.targets[there])
    ends = np.asarray(overflow, dtype=np.int64).reshape(-1, 2)
    ends = np.searchsorted(rings.ids, ends[np.isin(ends, rings.ids).all(axis=1)])
    labels = _components(count, np.concatenate([sources, ends[:, 0]]), np.concatenate([targets, ends[:, 1]]))
    sizes = np.bincount(labels, minlength=count)[np.unique(labels)] if count else np.zeros(0, int)
    ranks = _centrality(count, sources, targets, rings.scores[there])
    best = np.lexsort((rings.ids, -np.round(ranks, _DIGITS)))[:hubs]
    return GraphNumbers(
        out_degrees=tuple(degrees.tolist()),
        components=len(sizes),
        largest=int(sizes.max(initial=0)),
        isolated=int((sizes == 1).sum()),
        hubs=tuple((int(rings.ids[place]), round(float(ranks[place]), _DIGITS)) for place in best),
    )


def _components(count: int, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a label for each node: the smallest place of those that it hangs together with, whatever direction."""
    import numpy as np

    labels = np.arange(count)
    while True:
        before = labels.copy()
        low = np.minimum(labels[sources], labels[targets])
        np.minimum.at(labels, sources, low)
        np.minimum.at(labels, targets, low)
        labels = labels[labels]  # jump ahead: a chain of n nodes takes log n rounds
        if np.array_equal(labels, before):
            return labels


def _centrality(
    count: int, sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return PageRank, edges weighted by their scores; it adds up to 1."""
    import numpy as np

    if not count:
        return np.zeros(0)
    out = np.bincount(sources, weights=weights, minlength=count)
    share = np.divide(weights, out[sources], out=np.zeros_like(weights), where=out[sources] > 0)
    ranks = np.full(count, 1 / count)
    for _ in range(_ROUNDS):
        passed = np.bincount(targets, weights=ranks[sources] * share, minlength=count)
        left = 1.0 - float(passed.sum())
        fresh = np.asarray(_DAMPING * (passed + left / count) + (1 - _DAMPING) / count, dtype=np.float64)
        if float(np.abs(fresh - ranks).sum()) < _CLOSE:
            return fresh
        ranks = fresh
    return ranks
