"""Merkle trees as RFC 6962 defines them: hashes of a list that prove what is in it and that it only ever grew.

A tree's hash commits to every leaf and their order. An inclusion proof shows one leaf to whoever holds the hash, a
consistency proof shows that a tree is the beginning of a larger one; both have at most about log2(n) hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
_LEAF, _NODE = b"\x00", b"\x01"
EMPTY_ROOT: Final = sha256(b"").digest()
TILE_LEVEL: Final = 8
"""Hashes of whole subtrees are kept from this level on, every eighth: the rest is hashed when it is asked for."""

Node = Callable[[int, int], bytes]
"""Returns the hash of a whole subtree by its level (0: a leaf's hash) and its place among those of that level."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf (RFC 6962, section 2.1)."""
    return sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees (RFC 6962, section 2.1)."""
    return sha256(_NODE + left + right).digest()


class Frontier:
    """The right edge of a growing tree: the hashes of its whole subtrees, one for each bit that its size has.

    Appending a leaf finishes the subtrees that it completes; `finished` is told each, by level and place.
    """

    def __init__(self, size: int = 0, subtrees: Iterable[bytes] = ()) -> None:
        self.size = size
        self._subtrees = list(subtrees)  # the largest first
        if len(self._subtrees) != size.bit_count():
            raise ValueError(
                f"A tree of {size} leaves has {size.bit_count()} subtrees, not {len(self._subtrees)}."
            )

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf's hash; return the subtrees that are now whole, as (level, place, hash), the leaf first."""
        finished = [(0, self.size, leaf)]
        level, place, top = 0, self.size, leaf
        while place & 1:
            top = node_hash(self._subtrees.pop(), top)
            level, place = level + 1, place >> 1
            finished.append((level, place, top))
        self._subtrees.append(top)
        self.size += 1
        return finished

    def extend(self, leaves: Sequence[bytes]) -> list[tuple[int, int, bytes]]:
        """Add the hashes of leaves; return the subtrees of the levels that are kept that are now whole."""
        finished = list[tuple[int, int, bytes]]()
        width, at = 1 << TILE_LEVEL, 0
        while at < len(leaves):
            if self.size % width or len(leaves) - at < width:
                room = min(len(leaves) - at, width - self.size % width)
                for leaf in leaves[at : at + room]:
                    finished += self.add(0, leaf)
                at += room
            else:
                finished += self.add(TILE_LEVEL, _whole(leaves[at : at + width]))
                at += width
        return finished

    def add(self, level: int, top: bytes) -> list[tuple[int, int, bytes]]:
        """Add a whole subtree, which begins where one of its level can; return those of the levels that are kept."""
        place, self.size = self.size >> level, self.size + (1 << level)
        finished = [(level, place, top)] if level and not level % TILE_LEVEL else []
        while place & 1:
            top = sha256(_NODE + self._subtrees.pop() + top).digest()
            level, place = level + 1, place >> 1
            if not level % TILE_LEVEL:
                finished.append((level, place, top))
        self._subtrees.append(top)
        return finished

    def root(self) -> bytes:
        """Return the tree's hash."""
        return fold(self._subtrees)

    @property
    def subtrees(self) -> tuple[bytes, ...]:
        """The hashes of the whole subtrees, the largest first."""
        return tuple(self._subtrees)


def _whole(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of a whole subtree, level by level: 256 leaves cost half of what they do one by one."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(_NODE + pair + right).digest() for pair, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


def fold(subtrees: Sequence[bytes]) -> bytes:
    """Return the hash of a tree from those of its whole subtrees, the largest first."""
    if not subtrees:
        return EMPTY_ROOT
    top = subtrees[-1]
    for subtree in reversed(subtrees[:-1]):
        top = node_hash(subtree, top)
    return top


def root(leaves: Iterable[bytes]) -> bytes:
    """Return the hash of the tree over these leaves' hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def root_of(size: int, node: Node) -> bytes:
    """Return the hash of the tree of the first `size` leaves, of which `node` knows the whole subtrees."""
    return _range(0, size, node) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """Return the audit path of leaf `index` in the tree of the first `size` leaves (RFC 6962, section 2.1.1)."""
    if not 0 <= index < size:
        raise ValueError(f"Leaf {index} is not in a tree of {size} leaves.")
    proof: list[bytes] = []
    first, end = 0, size
    while end - first > 1:
        middle = first + _split(end - first)
        if index < middle:
            proof.append(_range(middle, end, node))
            end = middle
        else:
            proof.append(_range(first, middle, node))
            first = middle
    return proof[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether `proof` shows that the leaf with this hash stands at `index` of the tree with the hash `expected`."""
    if not 0 <= index < size:
        return False
    place, last, top = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            top = node_hash(sibling, top)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            top = node_hash(top, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and top == expected


def consistency_proof(old: int, new: int, node: Node) -> list[bytes]:
    """Return what shows that the tree of `old` leaves begins that of `new` (RFC 6962, section 2.1.2)."""
    if not 0 <= old <= new:
        raise ValueError(f"A tree of {old} leaves does not begin one of {new}.")
    if old in (0, new):
        return []
    proof: list[bytes] = []
    first, end, at_edge = 0, new, True
    while old != end:
        middle = first + _split(end - first)
        if old <= middle:
            proof.append(_range(middle, end, node))
            end = middle
        else:
            proof.append(_range(first, middle, node))
            first, at_edge = middle, False
    if not at_edge:
        proof.append(_range(first, end, node))
    return proof[::-1]


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree with `old_root` is the beginning of the one with `new_root`."""
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == EMPTY_ROOT
    if not 0 < old < new or not proof:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    rest = list(proof)
    # A tree that is one whole subtree is its own first hash: the proof does without.
    before = after = rest.pop(0) if place else old_root
    for sibling in rest:
        if last == 0:
            return False
        if place & 1 or place == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root


def cover(first: int, end: int, *, highest: int = 62) -> Iterator[tuple[int, int]]:
    """Yield the whole subtrees, by level and place, that leaves from `first` to before `end` are made of, in order."""
    while first < end:
        level = min((end - first).bit_length() - 1, highest)
        if first:
            level = min(level, (first & -first).bit_length() - 1)
        yield level, first >> level
        first += 1 << level


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def _range(first: int, end: int, node: Node) -> bytes:
    """Return the hash over the leaves from `first` to before `end`, which begin at a subtree's border."""
    subtrees = []
    while first < end:
        level = (end - first).bit_length() - 1
        subtrees.append(node(level, first >> level))
        first += 1 << level
    return fold(subtrees)
