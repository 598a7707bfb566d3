"""Where a walk begins: the nodes nearest to a question, exact while they are few, by sign bits when they are many.

     question ─ bits of all, counted ─ bits of a thousand, weighed ─ rows of some dozens, exact ─ the nearest

Beyond `EXACT_NUMBERS` only one bit of each dimension is kept in memory, and two numbers for each node. The most
promising by bits are read from storage and compared exactly. What is returned is ordered by exact cosines either way,
and what is compared depends on the nodes alone, not on the order in which this process came to know them; but for the
centre, which stays that of the first nodes when some of them are removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from hexad.core.blas_threads import one_thread
from hexad.database.change_counters import ChangeReader
from hexad.honeycomb.tables.edges import FAMILY
from hexad.honeycomb.tables.nodes import Content, HoneycombNodes
from hexad.search.vectors.quantization import cosines_of, decode_rows, direction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Ints = NDArray[np.int64]

EXACT_NUMBERS: Final = 4_000_000
"""Up to so many numbers in all embeddings of one length every cosine is computed: 5,208 nodes of 768."""
WEIGHED: Final = 1_024
"""So many of the nearest by the number of unlike bits are weighed, bit by bit, with the question's numbers."""
COMPARED_NUMBERS: Final = 49_152
COMPARED_LEAST: Final = 64
"""So many are compared exactly then, each at least: fewer where more bits tell them apart."""
_CENTRED: Final = 4_096
"""So many of the first nodes tell where the centre is, from which bits are taken."""
_READ_AT_ONCE: Final = 4_096
_MORE: Final = 16
"""So many more than asked for are compared exactly: the last bits of float32 must not decide who is among them."""
_BLUR: Final = 2e-6
"""Cosines in float32 that are nearer than this may be equal."""
_ROOM: Final = 16
"""Full arrays grow by a sixteenth."""
_KEPT_LONGER: Final = 1.25
"""Rows are let go only beyond so many times the limit: one node more or less must not read all of them anew."""


class EntryIndex:
    """The embeddings of the nodes that are no memories, ready to search; one part for each length of vectors."""

    def __init__(
        self, nodes: HoneycombNodes, changes: ChangeReader, *, exact_numbers: int = EXACT_NUMBERS
    ) -> None:
        self._nodes = nodes
        self._changes = changes
        self._exact_numbers = exact_numbers
        self._lock = Lock()
        self._parts: dict[int, _Part] = {}

    def nearest(self, query: Sequence[float], *, limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` nodes and their cosines, the nearest first, equals by id; inactive ones too."""
        vector = direction(query)
        unit = _units(vector[None])[0]
        if not unit.any():
            return []
        with self._lock:
            candidates = self._refreshed(len(vector)).candidates(unit, limit + _MORE)
        contents = self._nodes.embeddings_of(candidates)
        if not contents:
            return []
        cosines = cosines_of(vector, _rows(contents))
        exact = zip((content.node_id for content in contents), cosines, strict=True)
        return sorted(exact, key=lambda pair: (-pair[1], pair[0]))[:limit]

    @property
    def limit_bytes(self) -> None:
        """Entry points are found in these alone: one bit a number of each node, besides `EXACT_NUMBERS` numbers."""

    def nbytes(self) -> int:
        """Return how much memory the embeddings and bits take."""
        with self._lock:
            return sum(part.nbytes() for part in self._parts.values())

    def approximate(self, dimensions: int) -> bool:
        """Return whether nodes of this length are searched by bits."""
        with self._lock:
            return self._refreshed(dimensions).by_bits

    def _refreshed(self, dimensions: int) -> _Part:
        part = self._parts.setdefault(dimensions, _Part(dimensions, self._exact_numbers))
        change = self._changes.current(FAMILY)
        if change <= part.change:  # lower: this thread reads an older moment
            return part
        removed = self._nodes.removed_after(part.removal)
        if not part.forget([node for _, node in removed]):
            part = self._parts[dimensions] = _Part(dimensions, self._exact_numbers)
            removed = self._nodes.removed_after(0)
        part.removal = removed[-1][0] if removed else part.removal
        while block := self._nodes.embeddings(dimensions=dimensions, after=part.last_id, limit=_READ_AT_ONCE):
            part.add(block)
        part.change = change
        return part


class _Part:
    """The embeddings of one length, by id: as rows of length one, beyond the limit as bits."""

    def __init__(self, dimensions: int, exact_numbers: int) -> None:
        import numpy as np

        self.change = -1
        self.last_id = 0
        self.removal = 0
        self._dimensions = dimensions
        self._exact = exact_numbers // dimensions
        self._count = 0
        self._ids = np.zeros(0, dtype=np.int64)
        self._rows: Rows | None = np.zeros((0, dimensions), dtype=np.float32)
        self._bits: _Bits | None = None

    @property
    def by_bits(self) -> bool:
        """Whether there are too many to compute every cosine."""
        return self._count > self._exact

    def nbytes(self) -> int:
        """Return how much memory they take."""
        rows = 0 if self._rows is None else self._rows.nbytes
        return int(self._ids.nbytes + rows + (0 if self._bits is None else self._bits.nbytes()))

    def candidates(self, query: Rows, limit: int) -> list[int]:
        """Return those that may be among the `limit` nearest."""
        if not self._count:
            return []
        if self.by_bits:
            assert self._bits is not None
            least = max(COMPARED_NUMBERS // self._dimensions, COMPARED_LEAST)
            places = self._bits.nearest(query, self._count, compared=max(least, 2 * limit))
        else:
            assert self._rows is not None
            with one_thread():
                places = _largest(self._rows[: self._count] @ query, limit)
        return list(self._ids[places].tolist())

    def add(self, block: Sequence[Content]) -> None:
        """Take nodes with higher ids."""
        rows = _units(_rows(block))
        count = self._count + len(block)
        self._ids = _roomy(self._ids, self._count, count)
        self._ids[self._count : count] = [content.node_id for content in block]
        if self._rows is not None:
            self._rows = _roomy(self._rows, self._count, count)
            self._rows[self._count : count] = rows
        if self._bits is not None:
            self._bits.add(rows, self._count)
        elif count > self._exact:
            assert self._rows is not None
            self._bits = _Bits(self._rows[: min(count, _CENTRED)])
            self._bits.add(self._rows[:count], 0)
        if count > self._exact * _KEPT_LONGER:
            self._rows = None
        self._count = count
        self.last_id = block[-1].node_id

    def forget(self, removed: Sequence[int]) -> bool:
        """Take nodes out; returns False when what is left has to be read anew."""
        import numpy as np

        ids = self._ids[: self._count]
        removed_ids = np.unique(np.asarray(removed, dtype=np.int64))
        places = np.searchsorted(ids, removed_ids)
        known = places < len(ids)
        known[known] = ids[places[known]] == removed_ids[known]
        places = places[known]
        if not len(places):
            return True
        left = self._count - len(places)
        if left <= self._exact and self._rows is None:
            return False
        first = int(places[0])  # those before it stay where they are
        keep = np.ones(self._count - first, dtype=np.bool_)
        keep[places - first] = False
        self._ids[first:left] = self._ids[first : self._count][keep]
        if self._rows is not None:
            self._rows[first:left] = self._rows[first : self._count][keep]
        if self._bits is not None:
            self._bits.keep(first, keep)
        self._count = left
        return True


class _Bits:
    """One bit of each dimension: whether the number is above the centre's. With them estimates of cosines.

    A row is centre + y, and y is about as long as `gain` × its signs is in the direction of any question: gain =
    |y|² / Σ|y|. What the centre adds to a cosine is the same for all but for centre · y, which is kept, too.
    """

    def __init__(self, sample: Rows) -> None:
        import numpy as np

        self._centre: Rows = sample.mean(axis=0, dtype=np.float64).astype(np.float32)
        words = -(-sample.shape[1] // 64)
        self._codes = np.zeros(
            (words, 0), dtype=np.uint64
        )  # lines: a search takes one word of all after the other
        self._gains = np.zeros((0, 2), dtype=np.float32)

    def nbytes(self) -> int:
        """Return how much memory they take."""
        return int(self._codes.nbytes + self._gains.nbytes)

    def add(self, rows: Rows, count: int) -> None:
        """Take rows that come after the first `count`."""
        import numpy as np

        self._codes = _roomy(self._codes, count, count + len(rows), axis=1)
        self._gains = _roomy(self._gains, count, count + len(rows))
        for start in range(0, len(rows), _READ_AT_ONCE):
            apart = rows[start : start + _READ_AT_ONCE] - self._centre
            places = slice(count + start, count + start + len(apart))
            self._codes[:, places] = self._packed(apart)
            size = np.abs(apart).sum(axis=1)
            square = np.einsum("ij,ij->i", apart, apart)
            self._gains[places, 0] = np.divide(square, size, out=np.zeros_like(size), where=size > 0)
            self._gains[places, 1] = apart @ self._centre

    def keep(self, first: int, keep: NDArray[np.bool_]) -> None:
        """Keep all before `first`, and of those from there on some."""
        left, last = first + int(keep.sum()), first + len(keep)
        self._codes[:, first:left] = self._codes[:, first:last][:, keep]
        self._gains[first:left] = self._gains[first:last][keep]

    def nearest(self, query: Rows, count: int, *, compared: int) -> Ints:
        """Return the places of about `compared` of the first `count` that are the most promising."""
        import numpy as np

        apart = query - self._centre
        code = self._packed(apart[None])[:, 0]
        alike: NDArray[Any] = np.zeros(count, dtype=np.int16 if len(query) < 1 << 15 else np.int32)
        for line, word in zip(self._codes, code, strict=True):
            alike -= np.bitwise_count(line[:count] ^ word)
        places = _largest(alike, max(WEIGHED, 4 * compared))
        codes = np.ascontiguousarray(self._codes[:, places].T)
        signs = np.unpackbits(codes.view(np.uint8), axis=1, count=len(query)).astype(np.float32)
        with one_thread():
            products = 2 * (signs @ apart) - apart.sum()
        return places[_largest(self._gains[places, 0] * products + self._gains[places, 1], compared)]

    def _packed(self, apart: Rows) -> NDArray[np.uint64]:
        import numpy as np

        packed = np.zeros((len(apart), len(self._codes) * 8), dtype=np.uint8)
        packed[:, : -(-apart.shape[1] // 8)] = np.packbits(apart > 0, axis=1)
        return packed.view(np.uint64).T


def _roomy(array: NDArray[Any], used: int, wanted: int, *, axis: int = 0) -> NDArray[Any]:
    """Return an array that begins with the same `used` places along an axis and has `wanted` at least."""
    import numpy as np

    if array.shape[axis] >= wanted:
        return array
    shape = list(array.shape)
    shape[axis] = wanted + wanted // _ROOM
    made = np.zeros(shape, dtype=array.dtype)
    taken = (slice(None),) * axis + (slice(used),)
    made[taken] = array[taken]
    return made


def _rows(contents: Sequence[Content]) -> Rows:
    return decode_rows([(content.embedding, content.format, content.scale) for content in contents])


def _units(rows: NDArray[np.floating]) -> Rows:
    """Return rows of length one that point where these do; a row of zeros stays."""
    import numpy as np

    exact = rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, None]
    units: Rows = np.divide(exact, lengths, out=exact, where=lengths > 0).astype(np.float32)
    return units


def _largest(values: NDArray[Any], wanted: int) -> Ints:
    """Return the places of the `wanted` largest, in order; of those as large as the last, the first as many again."""
    import numpy as np

    if len(values) <= wanted:
        return np.arange(len(values))
    last = np.partition(values, len(values) - wanted)[len(values) - wanted]
    blur = _BLUR if values.dtype.kind == "f" else 0
    above = np.flatnonzero(values > last + blur)
    equal = np.flatnonzero((values <= last + blur) & (values >= last - blur))
    return np.sort(np.concatenate([above, equal[:wanted]]))
