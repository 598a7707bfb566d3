"""From which score on an edge between memories says something: what embedders make of unrelated texts differs."""

from __future__ import annotations

from threading import Lock
from typing import Final

from hexad.database.change_counters import ChangeReader
from hexad.honeycomb.tables.edges import FAMILY
from hexad.honeycomb.tables.nodes import HoneycombNodes
from hexad.honeycomb.values import HoneycombRules
from hexad.search.vectors.table import Vectors

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
        told = [(no, space_no, at) for no, space_no, at in sample if no in rows]
        if len(told) < FEW:
            return THRESHOLD_OF_FEW
        matrix = np.stack([rows[no] for no, _, _ in told]).astype(np.float64)
        lengths = np.linalg.norm(matrix, axis=1)
        matrix /= np.where(lengths, lengths, 1.0)[:, None]
        cosines = np.clip(matrix @ matrix.T, 0.0, 1.0)
        # What `temporal_decay` and `combined_relevance` give, of all pairs at once.
        happened = np.asarray([at for _, _, at in told], dtype=np.int64)
        ages_s = np.abs(happened[:, None] - happened) / MICROS_OF_SECOND
        decays = 0.5 ** (ages_s / rules.half_life.total_seconds())
        scores = np.clip(cosines * rules.cosine_weight + decays * rules.decay_weight, 0.0, 1.0)
        spaces = np.asarray([space_no for _, space_no, _ in told])
        pairs = scores[np.tril(spaces[:, None] == spaces, k=-1)]
        if len(pairs) < FEW:
            return THRESHOLD_OF_FEW
        return round(float(np.sort(pairs)[int(QUANTILE * (len(pairs) - 1))]), 4)
