"""Checkpoints: a ledger's size and tree hash, signed, in the form that other people's tools can check.

The text is a C2SP `tlog-checkpoint`: the log's origin, its size in decimal, its tree hash in Base64, each on a line.
Around it is a C2SP `signed-note`: the text, an empty line, and for each signature a line with an em dash, the key's
name, and Base64 of four bytes that name the key and the signature. Keys are Ed25519 (algorithm 0x01).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hexad.audit.merkle import HASH_BYTES
from hexad.errors import IntegrityError, InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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
    def parse(cls, given: str) -> Verifier:
        """Return the key of its text form, `name+id+Base64`; raises `InvalidInput`."""
        name, plus, rest = given.strip().partition("+")
        key_id, second, encoded = rest.partition("+")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise _no_key(given) from error
        if not (plus and second and name) or key[:1] != _ED25519 or len(key) != 1 + _KEY_BYTES:
            raise _no_key(given)
        verifier = cls(name=check_key_name(name), public_key=key[1:])
        if verifier.key_id.hex() != key_id:
            raise InvalidInput(f"The key {given!r} has the id {verifier.key_id.hex()}, not {key_id}.")
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
    except binascii.Error as error:
        raise IntegrityError(f"The signature of {name} is no Base64.") from error
    if name != verifier.name or signature[:_ID_BYTES] != verifier.key_id:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(verifier.public_key).verify(signature[_ID_BYTES:], text.encode())
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
    except binascii.Error as error:
        raise IntegrityError(f"{lines[1][:80]!r} is no tree hash.") from error
    if len(root) != HASH_BYTES:
        raise IntegrityError(f"{lines[1][:80]!r} is no tree hash of {HASH_BYTES} bytes.")
    return Checkpoint(origin=origin, size=int(lines[0]), root=root, extensions=tuple(lines[2:]))


def _no_key(given: str) -> InvalidInput:
    return InvalidInput(f"{given[:120]!r} is no public key of a checkpoint; it looks like NAME+ID+BASE64.")
