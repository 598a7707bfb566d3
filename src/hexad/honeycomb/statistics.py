"""What is measured of the graph: degrees, components, hubs, and from which score on an edge says something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.database.change_counters import ChangeReader
from hexad.honeycomb.adjacency import NO_TARGET, Rings
from hexad.honeycomb.tables.edges import FAMILY
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.tables.schema import SEATS
from hexad.honeycomb.values import HoneycombRules
from hexad.search.vectors.table import Vectors

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


SAMPLED: Final = 200
"""Memories whose pairs are compared; evenly taken, so that the same store always gives the same value."""
QUANTILE: Final = 0.9
FEW: Final = 8
MICROS_OF_SECOND: Final = 1_000_000
THRESHOLD_OF_FEW: Final = 0.5


class Calibration:
    """The threshold of the memories of one store: nine of ten pairs of those that may be seen are less related."""

    def __init__(self, nodes: HoneycombNodes, vectors: Vectors, changes: ChangeReader) -> None:
        self._nodes = nodes
        self._vectors = vectors
        self._changes = changes
        self._lock = Lock()
        self._change = (-1, -1)
        self._known: tuple[tuple[int, ...], HoneycombRules, float] | None = None

    def threshold(self, rules: HoneycombRules) -> float:
        """Return the relevance that `QUANTILE` of the pairs stay below; a fixed value for very few memories."""
        with self._lock:
            # What a role may see changes with the memories.
            seen = 0 if self._nodes.sees_all else self._changes.current("memories")
            change = (self._changes.current(FAMILY), seen)
            if self._known is not None and self._change == change and self._known[1] == rules:
                return self._known[2]
            # Edges and nodes of callers' own change nothing of it.
            about = (*map(self._changes.current, ("memories", "vectors")), *self._nodes.linked())
            if self._known is None or self._known[:2] != (about, rules):
                self._known = (about, rules, self._measured(rules))
            self._change = change
            return self._known[2]

    def _measured(self, rules: HoneycombRules) -> float:
        import numpy as np

        sample = self._nodes.sample(SAMPLED)
        rows = self._vectors.of_memories([fact[0] for fact in sample])
        sample_rows = [(no, space_no, at) for no, space_no, at in sample if no in rows]
        if len(sample_rows) < FEW:
            return THRESHOLD_OF_FEW
        matrix = np.stack([rows[no] for no, _, _ in sample_rows]).astype(np.float64)
        lengths = np.linalg.norm(matrix, axis=1)
        matrix /= np.where(lengths, lengths, 1.0)[:, None]
        cosines = np.clip(matrix @ matrix.T, 0.0, 1.0)
        # What `temporal_decay` and `combined_relevance` give, of all pairs at once.
        happened = np.asarray([at for _, _, at in sample_rows], dtype=np.int64)
        ages_s = np.abs(happened[:, None] - happened) / MICROS_OF_SECOND
        decays = 0.5 ** (ages_s / rules.half_life.total_seconds())
        scores = np.clip(cosines * rules.cosine_weight + decays * rules.decay_weight, 0.0, 1.0)
        spaces = np.asarray([space_no for _, space_no, _ in sample_rows])
        pairs = scores[np.tril(spaces[:, None] == spaces, k=-1)]
        if len(pairs) < FEW:
            return THRESHOLD_OF_FEW
        return round(float(np.sort(pairs)[int(QUANTILE * (len(pairs) - 1))]), 4)
