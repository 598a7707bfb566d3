"""Which memories of a space carry a tag: the clusters that `raptor` scores by, kept while memories change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TagClusters:
    """Slots by tag. Putting the same tags again changes nothing, so that an update may arrive more than once."""

    def __init__(self) -> None:
        self._members: dict[str, set[int]] = {}
        self._arrays: dict[str, NDArray[np.int64]] = {}
        self._tags: dict[int, tuple[str, ...]] = {}

    def put(self, slots: Sequence[int], tags: tuple[str, ...]) -> None:
        """Set the tags of slots, the same for all of them."""
        for slot in slots:
            if slot in self._tags:
                self.drop(slot)
        for tag in tags:
            self._members.setdefault(tag, set()).update(slots)
            self._arrays.pop(tag, None)
        self._tags.update(dict.fromkeys(slots, tags))

    def drop(self, slot: int) -> None:
        """Forget a slot."""
        for tag in self._tags.pop(slot, ()):
            self._leave(slot, tag)

    def of(self, slot: int) -> tuple[str, ...]:
        """Return the tags of a slot."""
        return self._tags.get(slot, ())

    def slots(self, tag: str) -> NDArray[np.int64]:
        """Return the slots that carry a tag."""
        import numpy as np

        if tag not in self._arrays:
            members = self._members.get(tag, ())
            array = np.fromiter(members, dtype=np.int64, count=len(members))
            if not members:
                return array  # not kept: anybody may ask for any word
            self._arrays[tag] = array
        return self._arrays[tag]

    def count(self, tags: Iterable[str], size: int) -> NDArray[np.int64]:
        """Return for each of `size` slots how many of these different tags it carries."""
        import numpy as np

        counts = np.zeros(size, dtype=np.int64)
        for tag in tags:
            counts[self.slots(tag)] += 1
        return counts

    def tags(self) -> dict[str, frozenset[int]]:
        """Return all clusters that have a member."""
        return {tag: frozenset(members) for tag, members in self._members.items()}

    def _leave(self, slot: int, tag: str) -> None:
        members = self._members[tag]
        members.discard(slot)
        self._arrays.pop(tag, None)
        if not members:
            del self._members[tag]
