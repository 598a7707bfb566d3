"""Where a walk begins: the nodes nearest to a question, exact while they are few, by sign bits when they are many.

Beyond `EXACT_LIMIT` nodes only one bit of each dimension is kept in memory. The nearest by bits are read from storage
and compared exactly. What is returned is ordered by exact cosines either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.index.segments import one_thread, sign_bits
from hexad.storage.changes import ChangeReader
from hexad.storage.embeddings import cosine_of, decode, direction
from hexad.storage.honeycomb import Content, HoneycombNodes
from hexad.storage.honeycomb_edges import FAMILY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

EXACT_LIMIT: Final = 20_000
"""Up to this many nodes every cosine is computed."""
RESCORED_BITS: Final = 128_000
RESCORED_LEAST, RESCORED_MOST = 256, 1_000
"""How many of the nearest by bits are compared exactly: fewer where there are more bits to tell them apart."""
_TAIL_LIMIT: Final = 4_000
_READ_AT_ONCE: Final = 4_096
_MORE: Final = 16
"""So many more than asked for are compared exactly: the last bits of float32 must not decide who is among them."""


@dataclass(slots=True)
class _Part:
    """The embeddings of one length: `ids[:coded]` as bits, the others as rows of length one."""

    last_id: int = 0
    removal: int = 0
    change: int = -1
    coded: int = 0
    ids: NDArray[np.int64] | None = None
    rows: Rows | None = None
    bits: NDArray[np.uint64] | None = None
    centre: Rows | None = None


class EntryIndex:
    """The embeddings of the nodes that are no memories, ready to search; one part for each length of vectors."""

    def __init__(
        self, nodes: HoneycombNodes, changes: ChangeReader, *, exact_limit: int = EXACT_LIMIT
    ) -> None:
        self._nodes = nodes
        self._changes = changes
        self._exact_limit = exact_limit
        self._lock = Lock()
        self._parts: dict[int, _Part] = {}

    def nearest(self, query: Sequence[float], *, limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` nodes and their cosines, the nearest first, equals by id; inactive ones too."""
        import numpy as np

        vector = direction(query)
        unit = _unit(vector)
        if not unit.any():
            return []
        with self._lock:
            part = self._refreshed(len(vector))
            candidates = self._candidates(part, unit, limit + _MORE)
        rows = {one.node_id: _row(one) for one in self._nodes.embeddings_of(candidates)}
        if len(rows) > limit + _MORE:  # of those by bits
            ids = np.fromiter(rows, dtype=np.int64, count=len(rows))
            best = _best(np.stack([_unit(row) for row in rows.values()]) @ unit, limit + _MORE)
            rows = {node: rows[node] for node in ids[best].tolist()}
        exact = [(node, cosine_of(vector, row)) for node, row in rows.items()]
        return sorted(exact, key=lambda found: (-found[1], found[0]))[:limit]

    def nbytes(self) -> int:
        """Return how much memory the embeddings and bits take."""
        with self._lock:
            arrays = [
                array
                for part in self._parts.values()
                for array in (part.ids, part.rows, part.bits)
                if array is not None
            ]
        return sum(array.nbytes for array in arrays)

    def approximate(self, dimensions: int) -> bool:
        """Return whether nodes of this length are searched by bits."""
        with self._lock:
            return self._refreshed(dimensions).bits is not None

    def _candidates(self, part: _Part, query: Rows, limit: int) -> list[int]:

        if part.ids is None:
            return []
        found: list[int] = []
        if part.bits is not None:
            rescored = min(max(RESCORED_BITS // len(query), RESCORED_LEAST), RESCORED_MOST)
            found += self._by_bits(part, query, max(rescored, limit))
        if part.rows is not None and len(part.rows):
            with one_thread():
                cosines = part.rows @ query
            ids = part.ids[part.coded :]
            found += ids[_best(cosines, limit)].tolist()
        return found

    def _by_bits(self, part: _Part, query: Rows, wanted: int) -> list[int]:
        import numpy as np

        assert part.bits is not None
        assert part.centre is not None
        assert part.ids is not None
        words = part.bits.shape[0]
        packed = np.zeros(words * 8, dtype=np.uint8)
        sign = np.packbits(query > part.centre)
        packed[: len(sign)] = sign
        code = packed.view(np.uint64)
        distance = np.zeros(part.coded, dtype=np.uint16)
        for word in range(words):
            distance += np.bitwise_count(part.bits[word] ^ code[word])
        if part.coded <= wanted:
            return list(part.ids[: part.coded].tolist())
        rows = np.argpartition(distance, wanted)[:wanted]
        return list(part.ids[rows].tolist())

    # Following --------------------------------------------------------------------------------------------------

    def _refreshed(self, dimensions: int) -> _Part:
        import numpy as np

        part = self._parts.setdefault(dimensions, _Part())
        change = self._changes.current(FAMILY)
        if change <= part.change:  # lower: this thread reads an older moment
            return part
        removed = self._nodes.removed_after(part.removal)
        if removed:
            part.removal = removed[-1][0]
            self._forget(part, [node for _, node in removed])
        while block := self._nodes.embeddings(dimensions=dimensions, after=part.last_id, limit=_READ_AT_ONCE):
            part.last_id = block[-1].node_id
            rows = np.stack([_unit(_row(content)) for content in block])
            ids = np.fromiter((content.node_id for content in block), dtype=np.int64, count=len(block))
            part.ids = ids if part.ids is None else np.concatenate([part.ids, ids])
            part.rows = rows if part.rows is None else np.concatenate([part.rows, rows])
            self._code_when_due(part)
        part.change = change
        return part

    def _code_when_due(self, part: _Part) -> None:
        import numpy as np

        if part.rows is None or part.ids is None:
            return
        if part.bits is None and len(part.ids) <= self._exact_limit:
            return
        if part.bits is not None and len(part.rows) <= _TAIL_LIMIT:
            return
        if part.centre is None:
            part.centre = part.rows.mean(axis=0)
        bits = sign_bits(part.rows, part.centre)
        part.bits = (
            bits if part.bits is None else np.ascontiguousarray(np.concatenate([part.bits, bits], axis=1))
        )
        part.coded = len(part.ids)
        part.rows = np.zeros((0, part.rows.shape[1]), dtype=np.float32)

    @staticmethod
    def _forget(part: _Part, gone: Sequence[int]) -> None:
        import numpy as np

        if part.ids is None or part.rows is None:
            return
        keep = ~np.isin(part.ids, np.asarray(gone, dtype=np.int64))
        if keep.all():
            return
        part.rows = part.rows[keep[part.coded :]]
        if part.bits is not None:
            part.bits = np.ascontiguousarray(part.bits[:, keep[: part.coded]])
        part.coded = int(keep[: part.coded].sum())
        part.ids = part.ids[keep]


def _row(content: Content) -> Rows:
    return decode(content.embedding, content.format, content.scale)


def _unit(row: NDArray[np.floating]) -> Rows:
    import numpy as np

    exact = row.astype(np.float64)
    length = float(np.linalg.norm(exact))
    unit: Rows = (exact / length if length else exact).astype(np.float32)
    return unit


def _best(cosines: Rows, wanted: int) -> NDArray[np.int64]:
    import numpy as np

    if len(cosines) <= wanted:
        return np.arange(len(cosines))
    return np.argpartition(-cosines, wanted - 1)[:wanted].astype(np.int64)
