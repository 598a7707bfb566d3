"""The contents of one record: encrypted and hashed under secrets made of its subject's key and its nonce."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from hexad.audit.canonical_json import SALTED_END, canonical, sealed
from hexad.core.json_types import JSONValue

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_REF_BYTES: Final = 16
_IPAD, _OPAD = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
ONE_USE: Final = bytes(12)  # a key encrypts one contents, so its nonce may stand still


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data a record is: how records name it, and its key."""

    ref: bytes
    key: bytes

    def keyed(self) -> Callable[[bytes], bytes]:
        """Return HMAC-SHA-512 (RFC 2104) under the key, begun once for many: half of what each costs by itself."""
        key = self.key.ljust(128, b"\0")
        inner, outer = hashlib.sha512(key.translate(_IPAD)), hashlib.sha512(key.translate(_OPAD))

        def digest(message: bytes) -> bytes:
            inner_hash, other = inner.copy(), outer.copy()
            inner_hash.update(message)
            other.update(inner_hash.digest())
            return other.digest()

        return digest


def seal(
    payload: Mapping[str, JSONValue], keyed: Callable[[bytes], bytes], seq: int, nonce: bytes
) -> tuple[str, bytes]:
    """Return how contents stand in the record's bytes, and their ciphertext."""
    plain = canonical(payload)
    both = keyed(nonce + seq.to_bytes(8, "big"))
    salt = both[:32]
    ciphertext = _aesgcm()(both[32:]).encrypt(ONE_USE, plain, None)
    salted = hashlib.sha256(salt + plain).hexdigest()
    return f"{sealed(nonce, ciphertext)}{salted}{SALTED_END}", ciphertext


def ref_of(key: bytes) -> bytes:
    """Return how records name the subject of a key: made of it, so that no other key can take its place."""
    return hashlib.sha256(b"hexad subject\0" + key).digest()[:_REF_BYTES]


def secrets_of(subject_key: bytes, nonce: bytes, seq: int) -> tuple[bytes, AESGCM]:
    """Return the salt and the cipher of one record's contents; without the nonce nobody can."""
    both = hmac.digest(subject_key, nonce + seq.to_bytes(8, "big"), "sha512")
    return both[:32], _aesgcm()(both[32:])


@cache
def _aesgcm() -> type[AESGCM]:
    # Once, not for each record: even an import of what is there takes a microsecond.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM
