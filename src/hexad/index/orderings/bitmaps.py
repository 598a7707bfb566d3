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
        room = max(_ROOM, count + count // 8)
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

    def __init__(self) -> None:
        self._classes: dict[int, _Class] = {}
        self._places: dict[int, tuple[int, int]] = {}  # slot -> size of its signature, column

    def fill(self, slots: Sequence[int], signatures: Sequence[bytes]) -> None:
        """Put many signatures of slots that have none."""
        import numpy as np

        by_size: dict[int, list[int]] = {}
        for at, signature in enumerate(signatures):
            by_size.setdefault(len(signature), []).append(at)
        for size, places in by_size.items():
            held = self._classes.setdefault(size, _Class(size))
            start, held_slots = held.count, [slots[at] for at in places]
            held.reserve(start + len(places))
            block = np.frombuffer(b"".join(signatures[at] for at in places), dtype=np.uint8)
            held.rows[:, start : start + len(places)] = block.reshape(len(places), size).T
            held.slots[start : start + len(places)] = held_slots
            held.count += len(places)
            self._places.update((slot, (size, start + n)) for n, slot in enumerate(held_slots))

    def put(self, slot: int, signature: bytes) -> None:
        """Set the signature of a slot."""
        self.drop(slot)
        self.fill([slot], [signature])

    def drop(self, slot: int) -> None:
        """Forget the signature of a slot."""
        place = self._places.pop(slot, None)
        if place is None:
            return
        size, column = place
        held = self._classes[size]
        last = held.count - 1
        if column != last:
            held.rows[:, column] = held.rows[:, last]
            held.slots[column] = held.slots[last]
            self._places[int(held.slots[last])] = (size, column)
        held.count = last

    def mark(self, places: Sequence[int], into: NDArray[np.bool_]) -> None:
        """Set `into` at every slot whose text may hold what has these places; slots without one are left alone."""
        for held in self._classes.values():
            if held.count:
                into[held.holding(places)] = True

    def bytes_used(self) -> int:
        """Return the bytes of all columns, room for more included."""
        return sum(held.rows.nbytes + held.slots.nbytes for held in self._classes.values())
