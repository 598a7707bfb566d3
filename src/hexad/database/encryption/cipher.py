"""Encryption at rest: one data key for each store, and everything that is derived from it.

A key for each purpose comes from the data key by HKDF-SHA256 (RFC 5869), so that what one part holds opens nothing of
another. Small values are sealed whole, files in blocks: both with AES-256-GCM, and neither can be moved to another
place, cut or put together anew without being noticed. SQLite's files have a cipher of their own (`connection`).

A sealed file is a header of 32 bytes (magic, version, size of a block, 16 random bytes), then blocks of 64 KiB, each
followed by its tag of 16 bytes. Its key is derived from those random bytes, so a block's number is a nonce that never
repeats; the last block says in its nonce that it is the last.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.database import files
from hexad.errors import IntegrityError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES: Final = 32
BLOCK_BYTES: Final = 1 << 16
TAG_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_FILE_ID_BYTES: Final = 16
_MAGIC: Final = b"HXSEALED"
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sHHI16s")
HEADER_BYTES: Final = _HEADER.size
_STEP: Final = BLOCK_BYTES + TAG_BYTES
_NONCE: Final = struct.Struct(">QI")

MEMORY_DB, AUDIT_DB, STREAM, CACHE, DOCUMENTS, EXPORTS, SECRETS, USER_DB = (
    "memory.db", "audit.db", "stream", "cache", "documents", "exports", "secrets", "user.db",
)  # fmt: skip
"""What a key is for. `SECRETS` are the key files of the store and of its ledger; `USER_DB` has the user's own keys."""


class StoreKeys:
    """The data key of an open store; never shown, never written."""

    __slots__ = ("_ciphers", "_data_key")

    def __init__(self, data_key: bytes) -> None:
        if len(data_key) != KEY_BYTES:
            raise ValueError(f"a data key has {KEY_BYTES} bytes, not {len(data_key)}")
        self._data_key = data_key
        self._ciphers: dict[str, FileCipher] = {}

    def __repr__(self) -> str:
        return "StoreKeys(…)"

    def __reduce__(self) -> str:
        raise TypeError("keys are not pickled")

    def derive(self, purpose: str) -> bytes:
        """Return the key for a purpose, 32 bytes; the same each time."""
        return _derived(self._data_key, b"hexad/" + purpose.encode("utf-8"))

    def wrapped_by(self, wrapping: AESGCM, nonce: bytes, context: bytes) -> bytes:
        """Return the data key, encrypted: what the record of a store holds."""
        return wrapping.encrypt(nonce, self._data_key, context)

    def cipher(self, purpose: str) -> FileCipher:
        """Return what seals and opens files and values for a purpose."""
        cipher = self._ciphers.get(purpose)
        if cipher is None:
            cipher = self._ciphers[purpose] = FileCipher(self.derive(purpose))
        return cipher


def cipher_of(keys: StoreKeys | None, purpose: str) -> FileCipher | None:
    """Return what seals the files of a purpose; None in a plain store, which has no keys."""
    return None if keys is None else keys.cipher(purpose)


class FileCipher:
    """Seals and opens the files and values of one purpose."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "FileCipher(…)"

    def __reduce__(self) -> str:
        raise TypeError("keys are not pickled")

    # Values -----------------------------------------------------------------------------------------------------

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """Return `data` sealed, 28 bytes longer; it opens with the same `context` only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._values.encrypt(nonce, data, context)

    def open(self, sealed: bytes, *, context: bytes, name: str) -> bytes:
        """Return what was sealed with `context`; raises `IntegrityError`, naming `name`, for anything else."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._values.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context)
        except (InvalidTag, ValueError) as error:
            raise _damaged(name) from error

    @cached_property
    def _values(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(_derived(self._key, b"values"))

    # Files ------------------------------------------------------------------------------------------------------

    def sealed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield a sealed file piece by piece; no more than a block is held."""
        sealing = self.sealing()
        for piece in pieces:
            yield sealing.add(piece)
        yield sealing.end()

    def sealing(self) -> Sealing:
        """Return a new sealed file, for whoever is handed its content piece by piece."""
        file_id = secrets.token_bytes(_FILE_ID_BYTES)
        header = _HEADER.pack(_MAGIC, _VERSION, 0, BLOCK_BYTES, file_id)
        return Sealing(Blocks(self.of_file(file_id), header), header)

    def of_file(self, file_id: bytes) -> AESGCM:
        """Return the cipher of the file with these random bytes."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(_derived(self._key, b"file" + file_id))

    def blocks(self, header: bytes, *, name: str) -> Blocks:
        """Return what opens the blocks of the file that begins so. Raises `IntegrityError` for another file."""
        if len(header) < HEADER_BYTES or not header.startswith(_MAGIC):
            raise IntegrityError(
                f"{name} is not encrypted, or damaged, though its store is encrypted. {_REMEDY}"
            )
        _, version, _, size, file_id = _HEADER.unpack_from(header)
        if version != _VERSION or size != BLOCK_BYTES:
            raise IntegrityError(f"{name} is encrypted in version {version}, this program reads {_VERSION}.")
        return Blocks(self.of_file(file_id), header[:HEADER_BYTES], name=name)

    def unsealed(self, data: bytes, *, name: str) -> bytes:
        """Return the plain content of a sealed file. Raises `IntegrityError` for one that was changed or cut."""
        blocks = self.blocks(data, name=name)
        view = memoryview(data)
        plain_size(len(data), name=name)
        parts = []
        for number, at in enumerate(range(HEADER_BYTES, len(data), _STEP)):
            block = view[at : at + _STEP]
            parts.append(blocks.open(number, block, last=at + len(block) == len(data)))
        return b"".join(parts)

    def read(self, path: Path) -> bytes:
        """Return the plain content of the sealed file at `path`; raises `StorageFailure` and `IntegrityError`."""
        with files.operation("read", path, "read"):
            data = path.read_bytes()
        return self.unsealed(data, name=str(path))


class Blocks:
    """The blocks of one sealed file, in any order."""

    __slots__ = ("_cipher", "_header", "_name")

    def __init__(self, cipher: AESGCM, header: bytes, *, name: str = "") -> None:
        self._cipher = cipher
        self._header = header
        self._name = name

    def seal(self, number: int, plain: bytes, *, last: bool) -> bytes:
        """Return a block sealed. Each number of a file is sealed once."""
        return self._cipher.encrypt(_NONCE.pack(number, last), plain, self._header)

    def open(self, number: int, sealed: bytes | memoryview, *, last: bool) -> bytes:
        """Return the plain block; raises `IntegrityError` for one that was changed or stood elsewhere."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(_NONCE.pack(number, last), bytes(sealed), self._header)
        except InvalidTag as error:
            raise _damaged(self._name) from error


class Sealing:
    """A sealed file in the making: pieces go in, what is to be written comes out."""

    __slots__ = ("_blocks", "_held", "_number", "_out")

    def __init__(self, blocks: Blocks, header: bytes) -> None:
        self._blocks = blocks
        self._held = bytearray()
        self._number = 0
        self._out = [header]

    def add(self, piece: bytes | memoryview) -> bytes:
        """Take the next piece, and return what can be written by now: it may be nothing."""
        self._held += piece
        at = 0
        while len(self._held) - at > BLOCK_BYTES:
            block = bytes(memoryview(self._held)[at : at + BLOCK_BYTES])
            self._out.append(self._blocks.seal(self._number, block, last=False))
            self._number += 1
            at += BLOCK_BYTES
        del self._held[:at]
        return self._taken() if at else b""  # the header goes with the first block

    def end(self) -> bytes:
        """Return the end of the file; nothing can be added any more."""
        self._out.append(self._blocks.seal(self._number, bytes(self._held), last=True))
        return self._taken()

    def _taken(self) -> bytes:
        out, self._out = b"".join(self._out), []
        return out


def is_sealed(data: bytes) -> bool:
    """Whether a file that begins so is sealed."""
    return data.startswith(_MAGIC)


def plain_size(sealed_size: int, *, name: str) -> int:
    """Return how many bytes a sealed file of that size holds. Raises `IntegrityError` for a size no such file has."""
    rest = sealed_size - HEADER_BYTES
    blocks = -(-rest // _STEP)
    if rest < TAG_BYTES or (rest % _STEP and rest % _STEP < TAG_BYTES):
        raise _damaged(name)
    return rest - blocks * TAG_BYTES


def block_place(number: int) -> int:
    """Return where a block of a sealed file begins."""
    return HEADER_BYTES + number * _STEP


def sealed_block_bytes() -> int:
    """Return how long a full block is when sealed."""
    return _STEP


_REMEDY: Final = "Put a backup in its place, or move the file away."


def _damaged(name: str) -> IntegrityError:
    return IntegrityError(
        f"{name} cannot be decrypted: it was changed, cut or is from another store. {_REMEDY}"
    )


def _derived(key: bytes, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key)
