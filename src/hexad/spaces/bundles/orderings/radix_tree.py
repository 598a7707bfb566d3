"""A radix tree over the parts of paths: what is at or under a prefix, without looking at anything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Parts = tuple[str, ...]
_LISTED_MOST: Final = 32


class _Node:
    """One compressed edge and what hangs below it.

    `waiting` are slots below that nobody went past yet, with their paths, of which the first `depth` parts lead to
    this node: they take their places when somebody goes past. `kept` are the slots below, once somebody asked for
    them; what came and went since stands beside it, so that a large subtree is not gathered anew for each change.
    """

    __slots__ = ("came", "children", "depth", "kept", "label", "slots", "waiting", "went")

    def __init__(self, label: Parts, depth: int) -> None:
        self.label = label
        self.depth = depth  # parts from the root to the end of the label
        self.children: dict[str, _Node] = {}
        self.slots: list[int] | set[int] = []  # a set once there are many, of which any may go
        self.waiting: list[tuple[Parts, int]] = []
        self.kept: NDArray[np.int64] | None = None
        self.came: set[int] | None = None
        self.went: set[int] | None = None

    def grow(self) -> None:
        """Give what waits its place: at this node, or at a child, where it may wait again."""
        if not self.waiting:
            return
        depth = self.depth
        groups: dict[str, list[tuple[Parts, int]]] = {}
        for entry in self.waiting:
            if len(entry[0]) > depth:
                groups.setdefault(entry[0][depth], []).append(entry)
            else:
                self.put(entry[1])
        self.waiting = []
        for first, group in groups.items():
            label = group[0][0][depth:]
            for parts, _ in group:
                if parts[depth : depth + len(label)] != label:
                    label = label[: _shared(label, parts[depth:])]
                if len(label) == 1:
                    break
            child = self.children[first] = _Node(label, depth + len(label))
            if len(group) == 1:
                child.put(group[0][1])
            else:
                child.waiting = group

    def put(self, slot: int) -> None:
        """Put a slot at this very path."""
        if isinstance(self.slots, set):
            self.slots.add(slot)
            return
        self.slots.append(slot)
        if len(self.slots) > _LISTED_MOST:
            self.slots = set(self.slots)

    def note(self, slot: int, *, came: bool) -> None:
        """Remember for `kept` that a slot came or went."""
        if self.kept is None:
            return
        assert self.came is not None
        assert self.went is not None
        gone, new = (self.went, self.came) if came else (self.came, self.went)
        if slot in gone:
            gone.remove(slot)
        else:
            new.add(slot)

    def below(self) -> NDArray[np.int64]:
        """Return the slots at this node and under it."""
        import numpy as np

        if self.kept is None:
            numbers: list[int] = []
            waiting = [self]
            while waiting:
                node = waiting.pop()
                numbers.extend(node.slots)
                numbers.extend(slot for _, slot in node.waiting)
                waiting.extend(node.children.values())
            self.kept = np.array(numbers, dtype=np.int64)
        else:
            if self.went:
                self.kept = self.kept[~np.isin(self.kept, list(self.went))]
            if self.came:
                self.kept = np.concatenate([self.kept, np.array(list(self.came), dtype=np.int64)])
        self.came, self.went = set(), set()
        return self.kept


class RadixTree:
    """Slots by the parts of their paths. A slot has one path."""

    def __init__(self, slots: Iterable[tuple[Parts, int]] = ()) -> None:
        self._root = _Node((), 0)
        self._root.waiting = list(slots)
        self._size = len(self._root.waiting)

    def __len__(self) -> int:
        return self._size

    def insert(self, parts: Parts, slot: int) -> None:
        """Put a slot at a path."""
        node, rest = self._root, parts
        while True:
            node.note(slot, came=True)
            if not rest:
                break
            node.grow()
            child = node.children.get(rest[0])
            if child is None:
                child = node.children[rest[0]] = _Node(rest, len(parts))
                node, rest = child, ()
                continue
            shared = _shared(child.label, rest)
            if shared < len(child.label):
                child = node.children[rest[0]] = _split(child, shared)
            node, rest = child, rest[shared:]
        node.put(slot)
        self._size += 1

    def remove(self, parts: Parts, slot: int) -> None:
        """Take a slot away from its path; edges that nothing hangs on go too. Raises KeyError for an unknown one."""
        trail = list(self._trail(parts))
        node = trail[-1] if trail else self._root
        if sum(len(each.label) for each in trail) != len(parts):
            raise KeyError(parts)
        node.grow()
        node.slots.remove(slot)
        self._size -= 1
        for each in (self._root, *trail):
            each.note(slot, came=False)
        for at in range(len(trail) - 1, -1, -1):
            below, above = trail[at], trail[at - 1] if at else self._root
            if below.slots or len(below.children) > 1:
                break
            if below.children:
                (only,) = below.children.values()
                only.label = below.label + only.label
                above.children[only.label[0]] = only
                break
            del above.children[below.label[0]]

    def under(self, prefix: Sequence[str]) -> NDArray[np.int64]:
        """Return the slots at a prefix of whole parts or under it, in no order."""
        import numpy as np

        node, rest = self._root, tuple(prefix)
        while rest:
            node.grow()
            child = node.children.get(rest[0])
            if child is None:
                return np.empty(0, dtype=np.int64)
            shared = _shared(child.label, rest)
            if shared < min(len(child.label), len(rest)):
                return np.empty(0, dtype=np.int64)
            node, rest = child, rest[shared:]
        return node.below()

    def edges(self) -> int:
        """Return how many compressed edges there are."""
        waiting, count = [self._root], 0
        while waiting:
            node = waiting.pop()
            node.grow()
            count += len(node.children)
            waiting.extend(node.children.values())
        return count

    def _trail(self, parts: Parts) -> Iterator[_Node]:
        node, rest = self._root, parts
        while rest:
            node.grow()
            child = node.children.get(rest[0])
            if child is None or child.label != rest[: len(child.label)]:
                return
            yield child
            node, rest = child, rest[len(child.label) :]


def _shared(path: Parts, other: Parts) -> int:
    if other[: len(path)] == path:
        return len(path)
    at = 0
    for left, right in zip(path, other, strict=False):
        if left != right:
            break
        at += 1
    return at


def _split(node: _Node, at: int) -> _Node:
    """Cut an edge in two; returns the upper half, which holds nothing of its own yet."""
    upper = _Node(node.label[:at], node.depth - len(node.label) + at)
    node.label = node.label[at:]
    upper.children[node.label[0]] = node
    return upper
