"""Files that a store writes beside its databases: below its folder sealed where it is encrypted, elsewhere plain.

What is asked for at a place outside is handed over, so it is as anybody can read it. A plain file below the folder of
an encrypted store is refused: it was not the store that wrote it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.database import files
from hexad.database.encryption.cipher import (
    HEADER_BYTES,
    FileCipher,
    StoreKeys,
    cipher_of,
    is_sealed,
    plain_size,
)
from hexad.database.encryption.sealed_files import SealedReader
from hexad.errors import AccessDenied, IntegrityError

_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Reads and writes the files of one store, and of one purpose; without a `cipher` those of a plain store."""

    folder: Path | None = None
    cipher: FileCipher | None = None

    def cipher_at(self, path: Path) -> FileCipher | None:
        """Return what seals a file at this place, None where it is plain.

        A folder of the store that is a link is the store's wherever it leads; a single file behind a link is not.
        """
        if self.cipher is None or self.folder is None:
            return None
        with files.operation("open", path, "look at"):
            inside = path.resolve().is_relative_to(self.folder.resolve())
            if not inside and not path.is_symlink():
                inside = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(self.folder))
        return self.cipher if inside else None

    # Writing ----------------------------------------------------------------------------------------------------

    def write(self, path: Path, data: bytes) -> None:
        """Replace a file as `files.atomic_write` does."""
        cipher = self.cipher_at(path)
        files.atomic_write(path, data if cipher is None else b"".join(cipher.sealed([data])))

    def stream(
        self,
        path: Path,
        pieces: Iterable[bytes],
        *,
        mode: int = files.PRIVATE_FILE_MODE,
        may_replace: Callable[[], object] | None = None,
    ) -> None:
        """Replace a file as `files.stream_write` does."""
        cipher = self.cipher_at(path)
        sealed = pieces if cipher is None else cipher.sealed(pieces)
        files.stream_write(path, sealed, mode=mode, may_replace=may_replace)

    # Reading ----------------------------------------------------------------------------------------------------

    def opens(self, path: Path) -> FileCipher | None:
        """Return what opens the file at this place, None for a plain one.

        Raises `IntegrityError` for a plain file where the store has its own, and for a sealed one of another store;
        `AccessDenied` for a sealed one where there is no store.
        """
        with files.operation("read", path, "read"), path.open("rb") as file:
            sealed = is_sealed(file.read(HEADER_BYTES))
        if sealed and self.folder is None:
            raise AccessDenied(
                f"{path} is encrypted, and only its own store opens it: `hx.spaces.verify` checks it there, and "
                "`hexad cat` writes its content."
            )
        if sealed and self.cipher is None:
            raise IntegrityError(
                f"{path} is encrypted, by another store than what is open here: name that one (-C). There `hexad cat` "
                "writes its content, too."
            )
        if not sealed and self.cipher_at(path) is not None:
            raise IntegrityError(
                f"{path} is not encrypted, though its store is: somebody else wrote it. Move it out of the store's "
                "folder to read it."
            )
        return self.cipher if sealed else None

    def pieces(self, path: Path) -> Iterator[bytes]:
        """Yield the content of a file; raises what `opens` does, and `IntegrityError` for one that was changed."""
        cipher = self.opens(path)
        if cipher is not None:
            yield from unsealed(path, cipher)
            return
        with files.operation("read", path, "read"), path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield piece

    def read(self, path: Path) -> bytes:
        """Return the content of a file, as `pieces` gives it."""
        return b"".join(self.pieces(path))

    def head(self, path: Path, size: int) -> bytes:
        """Return how the content of a file begins."""
        cipher = self.opens(path)
        if cipher is not None:
            with SealedReader(path, cipher) as reader:
                return reader.read(size)
        with files.operation("read", path, "read"), path.open("rb") as file:
            return file.read(size)

    def size(self, path: Path) -> int:
        """Return how long the content of a file is."""
        cipher = self.opens(path)
        with files.operation("read", path, "read"):
            stored = path.stat().st_size
        return stored if cipher is None else plain_size(stored, name=str(path))

    def sha256(self, path: Path) -> str:
        """Return the SHA-256 of the content of a file."""
        digest = hashlib.sha256()
        for piece in self.pieces(path):
            digest.update(piece)
        return digest.hexdigest()


PLAIN: Final = StoreFiles()
"""For whoever has no store."""


def unsealed(path: Path, cipher: FileCipher) -> Iterator[bytes]:
    """Yield the content of a sealed file, piece by piece; raises `IntegrityError` for one that was changed."""
    with SealedReader(path, cipher) as reader:
        if not reader.size:
            cipher.read(path)  # its one block says that there is nothing, and that nothing was cut
        while piece := reader.read(_PIECE_BYTES):
            yield piece


def own_files(directory: Path, crypt: StoreKeys | None, purpose: str) -> StoreFiles:
    """Return what reads and writes the files below a store's folder; `crypt` are its keys, None in a plain one."""
    return StoreFiles(directory, cipher_of(crypt, purpose))
