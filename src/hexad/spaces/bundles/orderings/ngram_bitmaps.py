"""The signatures of one text of all memories of a space, held so that a phrase is looked up in all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SCANNED: Final = 4
"""Places that are looked up in every signature; the rest only where all of these are set, mostly in very few."""
_ROOM: Final = 64


class _Class:
    """All signatures of one size, a row for each byte: one byte of all of them lies together."""

    __slots__ = ("count", "rows", "slots")

    def __init__(self, size: int) -> None:
        import numpy as np

        self.rows = np.empty((size, 0), dtype=np.uint8)
        self.slots = np.empty(0, dtype=np.int64)
        self.count = 0

    def reserve(self, count: int) -> None:
        import numpy as np

        if count <= len(self.slots):
            return
        room = max(_ROOM, count, len(self.slots) + len(self.slots) // 4)
        rows, slots = np.empty((len(self.rows), room), dtype=np.uint8), np.empty(room, dtype=np.int64)
        rows[:, : self.count], slots[: self.count] = self.rows[:, : self.count], self.slots[: self.count]
        self.rows, self.slots = rows, slots

    def holding(self, places: Sequence[int]) -> NDArray[np.int64]:
        """Return the slots whose signature has all these places set."""
        import numpy as np

        mask = 8 * len(self.rows) - 1
        folded = list(dict.fromkeys(place & mask for place in places))
        hit: NDArray[np.uint8] | None = None
        # Places far apart in the list come from unlike n-grams.
        step = max(1, len(folded) // _SCANNED)
        scanned = folded[::step][:_SCANNED]
        for place in scanned:
            bit = (self.rows[place >> 3, : self.count] >> np.uint8(7 - (place & 7))) & np.uint8(1)
            hit = bit if hit is None else hit & bit
        assert hit is not None
        at = np.flatnonzero(hit)
        for place in folded:
            if not len(at):
                break
            if place not in scanned:
                at = at[(self.rows[place >> 3, at] & np.uint8(0x80 >> (place & 7))) != 0]
        return self.slots[at]


class Bitmaps:
    """Signatures by slot. A slot without one may hold anything."""

    def __init__(self, *, expected: int = 0) -> None:
        import numpy as np

        self._expected = expected  # slots to come soon: growing step by step costs more than the copies
        self._classes: dict[int, _Class] = {}
        self._size = np.zeros(_ROOM, dtype=np.int32)  # by slot: bytes of its signature, 0 for none
        self._column = np.zeros(_ROOM, dtype=np.int32)

    def fill(self, slots: NDArray[np.int64], signatures: Sequence[bytes], *, among: int) -> None:
        """Put signatures of slots that have none, of `among` memories that were read together."""
        import numpy as np

        if not len(slots):
            return
        highest = int(slots.max())
        while highest >= len(self._size):
            self._size = np.concatenate([self._size, np.zeros_like(self._size)])
            self._column = np.concatenate([self._column, np.zeros_like(self._column)])
        sizes = np.array(list(map(len, signatures)), dtype=np.int32)
        for size in set(sizes.tolist()):
            at = np.flatnonzero(sizes == size)
            if size not in self._classes:
                self._classes[size] = _Class(size)
                self._classes[size].reserve(len(at) * self._expected // among)
            bitmap_class = self._classes[size]
            new = slice(bitmap_class.count, bitmap_class.count + len(at))
            bitmap_class.reserve(new.stop)
            block = np.frombuffer(b"".join([signatures[place] for place in at.tolist()]), dtype=np.uint8)
            bitmap_class.rows[:, new] = block.reshape(len(at), size).T
            bitmap_class.slots[new] = slots[at]
            self._size[slots[at]] = size
            self._column[slots[at]] = np.arange(new.start, new.stop)
            bitmap_class.count = new.stop

    def nbytes(self) -> int:
        """Return how much memory they take."""
        return (
            self._size.nbytes
            + self._column.nbytes
            + sum(each.rows.nbytes + each.slots.nbytes for each in self._classes.values())
        )

    def drop(self, slot: int) -> None:
        """Forget the signature of a slot."""
        size = int(self._size[slot]) if slot < len(self._size) else 0
        if not size:
            return
        bitmap_class, column = self._classes[size], int(self._column[slot])
        last = bitmap_class.count - 1
        bitmap_class.rows[:, column] = bitmap_class.rows[:, last]
        bitmap_class.slots[column] = bitmap_class.slots[last]
        self._column[bitmap_class.slots[last]] = column
        self._size[slot] = 0
        bitmap_class.count = last

    def mark(self, places: Sequence[int], into: NDArray[np.bool_]) -> None:
        """Set `into` at every slot whose text may hold what has these places; slots without one are left alone."""
        for class_ in self._classes.values():
            if class_.count:
                into[class_.holding(places)] = True
