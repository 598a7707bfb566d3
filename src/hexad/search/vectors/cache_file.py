"""The vector index's cache file: derived, safe to delete, mapped into memory; of an encrypted store sealed, and read.

Layout: eight magic bytes, the header's length as 8 bytes, a JSON header padded to 64 bytes, then the arrays one
after the other, each beginning at a multiple of 64 bytes. A file that does not check is ignored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

from hexad.core.tracing import log
from hexad.database.encryption.cipher import FileCipher
from hexad.database.files import ensure_dir, stream_write, unlink
from hexad.errors import IntegrityError, StorageFailure
from hexad.search.vectors.table import VectorRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC: Final = b"HEXVEC03"
_ALIGN: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedVectors:
    """All vectors up to a change: rows, sign bits, and how they are spread."""

    rows: VectorRows
    bits: NDArray[np.uint64]
    mean: NDArray[np.float32]
    covariance: NDArray[np.float32]
    rescored: int
    last_no: int
    last_removal: int


def write_cache(
    directory: Path, cached: CachedVectors, *, change: int, identity: str, cipher: FileCipher | None
) -> None:
    """Write the cache of `change` and remove all others; a disk that refuses costs only speed."""
    arrays: dict[str, NDArray[np.generic]] = {
        "no": cached.rows.no,
        "memory_no": cached.rows.memory_no,
        "chunk_no": cached.rows.chunk_no,
        "matrix": cached.rows.matrix,
        "bits": cached.bits,
        "mean": cached.mean,
        "covariance": cached.covariance,
    }
    places: dict[str, object] = {}
    body = bytearray()
    for name, array in arrays.items():
        body.extend(b"\0" * (-len(body) % _ALIGN))
        data = array.tobytes()
        places[name] = [len(body), list(array.shape), array.dtype.str, crc32(data)]
        body.extend(data)
    header = json.dumps(
        {
            "identity": identity,
            "rescored": cached.rescored,
            "last_no": cached.last_no,
            "last_removal": cached.last_removal,
            "arrays": places,
        }
    ).encode()
    header += b" " * (-(16 + len(header)) % _ALIGN)
    target = directory / f"vectors-{change:012d}"
    try:
        ensure_dir(directory)
        pieces = [_MAGIC + len(header).to_bytes(8, "little") + header, bytes(body)]
        stream_write(target, pieces if cipher is None else cipher.sealed(pieces))
        for old in directory.glob("vectors-*"):
            if old.name != target.name:  # a higher number may be from before a backup was restored
                unlink(old)
    except StorageFailure as error:
        log.warning("The vector cache could not be written: %s", error)


def load_cache(
    directory: Path, *, identity: str, dimensions: int, cipher: FileCipher | None
) -> CachedVectors | None:
    """Return the newest cache that checks, mapped into memory, or decrypted into it; None when there is none."""
    for path in sorted(directory.glob("vectors-*"), reverse=True):
        cached = _load(path, cipher, identity=identity, dimensions=dimensions)
        if cached is not None:
            return cached
    return None


def _load(path: Path, cipher: FileCipher | None, *, identity: str, dimensions: int) -> CachedVectors | None:
    import numpy as np

    try:
        mapped = (
            np.memmap(path, dtype=np.uint8, mode="r")
            if cipher is None
            else np.frombuffer(cipher.read(path), np.uint8)
        )
        if bytes(mapped[:8]) != _MAGIC:
            return None
        length = int.from_bytes(bytes(mapped[8:16]), "little")
        header = json.loads(bytes(mapped[16 : 16 + length]))
        if header["identity"] != identity:
            return None
        arrays = {}
        for name, (offset, shape, dtype, checksum) in header["arrays"].items():
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            data = mapped[16 + length + offset : 16 + length + offset + size]
            if len(data) != size or crc32(data.tobytes()) != checksum:
                return None
            arrays[name] = data.view(np.ndarray).view(dtype).reshape(shape)
    except (OSError, StorageFailure, IntegrityError, ValueError, KeyError, TypeError):
        return None  # damaged, foreign, or removed by a newer one's writer: derived data, built anew
    if arrays["matrix"].shape[1] != dimensions:
        return None
    return CachedVectors(
        rows=VectorRows(
            no=arrays["no"],
            memory_no=arrays["memory_no"],
            chunk_no=arrays["chunk_no"],
            matrix=arrays["matrix"],
        ),
        bits=arrays["bits"],
        mean=arrays["mean"],
        covariance=arrays["covariance"],
        rescored=header["rescored"],
        last_no=header["last_no"],
        last_removal=header["last_removal"],
    )
