"""Checkpoints: a ledger's size and tree hash, signed, in the form that other people's tools can check.

The text is a C2SP `tlog-checkpoint`: the log's origin, its size in decimal, its tree hash in Base64, each on a line.
Around it is a C2SP `signed-note`: the text, an empty line, and for each signature a line with an em dash, the key's
name, and Base64 of four bytes that name the key and the signature. Keys are Ed25519 (algorithm 0x01).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from hexad.errors import IntegrityError, InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


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


_ED25519: Final = b"\x01"
_KEY_BYTES, _SIGNATURE_BYTES, _ID_BYTES = 32, 64, 4
_SIGNATURE_LINE: Final = re.compile(r"\u2014 (\S+) ([A-Za-z0-9+/=]+)")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
NOTE_BYTES_LIMIT: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a ledger was at a moment: `size` records with the tree hash `root`; `extensions` are lines of their own."""

    origin: str
    size: int
    root: bytes
    extensions: Sequence[str] = ()

    def text(self) -> str:
        """Return the text that is signed."""
        lines = [self.origin, str(self.size), base64.b64encode(self.root).decode(), *self.extensions]
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """The public half of a key that signs checkpoints, and its name."""

    name: str
    public_key: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes by which a signature names its key."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public_key).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        key = base64.b64encode(_ED25519 + self.public_key).decode()
        return f"{self.name}+{self.key_id.hex()}+{key}"

    @classmethod
    def parse(cls, text: str) -> Verifier:
        """Return the key of its text form, `name+id+Base64`; raises `InvalidInput`."""
        name, plus, rest = text.strip().partition("+")
        key_id, second, encoded = rest.partition("+")
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError as error:  # binascii's own among them
            raise _no_key(text) from error
        if not (plus and second and name) or key[:1] != _ED25519 or len(key) != 1 + _KEY_BYTES:
            raise _no_key(text)
        verifier = cls(name=check_key_name(name), public_key=key[1:])
        if verifier.key_id.hex() != key_id:
            raise InvalidInput(f"The key {text!r} has the id {verifier.key_id.hex()}, not {key_id}.")
        return verifier


def check_key_name(name: str) -> str:
    """Return a key's name; raises `InvalidInput` for one that a signature's line cannot carry."""
    if (
        not name
        or "+" in name
        or any(character.isspace() or not character.isprintable() for character in name)
    ):
        raise InvalidInput(f"The key's name {name!r} is empty or has a plus sign or white space in it.")
    return name


def sign(checkpoint: Checkpoint, *, name: str, key: Ed25519PrivateKey) -> str:
    """Return the checkpoint as a signed note; raises `InvalidInput` for an origin or a name that none can carry."""
    for line in (checkpoint.origin, *checkpoint.extensions):
        if not line or any(ord(character) < 32 for character in line):
            raise InvalidInput(
                f"{line!r} cannot be a line of a checkpoint: it is empty or has control characters."
            )
    text = checkpoint.text()
    verifier = verifier_of(key, name=name)
    signature = base64.b64encode(verifier.key_id + key.sign(text.encode())).decode()
    return f"{text}\n\u2014 {verifier.name} {signature}\n"


def verifier_of(key: Ed25519PrivateKey, *, name: str) -> Verifier:
    """Return the public half of a key."""
    return Verifier(name=check_key_name(name), public_key=key.public_key().public_bytes_raw())


def read_signed(note: str, verifiers: Sequence[Verifier]) -> Checkpoint:
    """Return the checkpoint of a note that one of these keys signed.

    Raises `IntegrityError` for a note that none of them signed or that is no checkpoint. Signatures of other keys are
    left aside, as the form asks for; one that names a known key and is false makes the note worthless.
    """
    if len(note.encode("utf-8", "replace")) > NOTE_BYTES_LIMIT:
        raise IntegrityError(f"A signed note of more than {NOTE_BYTES_LIMIT:,} bytes is no checkpoint.")
    text, gap, signatures = note.rpartition("\n\n")
    if not gap or not signatures.endswith("\n"):
        raise IntegrityError("This is no signed note: after its text come an empty line and signatures.")
    text += "\n"
    signed_by = 0
    for line in signatures.removesuffix("\n").split("\n"):
        match = _SIGNATURE_LINE.fullmatch(line)
        if match is None:
            raise IntegrityError(f"{line[:80]!r} is no signature of a signed note.")
        for verifier in verifiers:
            signed_by += _signed(text, match[1], match[2], verifier)
    if not signed_by:
        names = ", ".join(verifier.name for verifier in verifiers) or "no key"
        raise IntegrityError(f"The note is not signed by {names}.")
    return _checkpoint(text)


def _signed(text: str, name: str, encoded: str, verifier: Verifier) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signature = base64.b64decode(encoded, validate=True)
        signed = text.encode()
    except ValueError as error:
        raise IntegrityError(f"The signature of {name} is no Base64, or what it signs is no text.") from error
    if name != verifier.name or signature[:_ID_BYTES] != verifier.key_id:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(signature[_ID_BYTES:], signed)
    except InvalidSignature as error:
        raise IntegrityError(
            f"The signature of {name} is false: the note was changed, or the key is another."
        ) from error
    return True


def _checkpoint(text: str) -> Checkpoint:
    origin, *lines = text.removesuffix("\n").split("\n")
    if len(lines) < 2 or not origin or not _SIZE.fullmatch(lines[0]):
        raise IntegrityError(
            "The note is no checkpoint: origin, size and tree hash stand on its first three lines."
        )
    try:
        root = base64.b64decode(lines[1], validate=True)
    except ValueError as error:
        raise IntegrityError(f"{lines[1][:80]!r} is no tree hash.") from error
    if len(root) != HASH_BYTES:
        raise IntegrityError(f"{lines[1][:80]!r} is no tree hash of {HASH_BYTES} bytes.")
    return Checkpoint(origin=origin, size=int(lines[0]), root=root, extensions=tuple(lines[2:]))


def _no_key(value: str) -> InvalidInput:
    return InvalidInput(f"{value[:120]!r} is no public key of a checkpoint; it looks like NAME+ID+BASE64.")
