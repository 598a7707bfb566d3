"""`check`: rows, full text, vectors, files and hashes, and in words what is wrong."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from hexad.index.catalog import EMBED
from hexad.index.fulltext import FullText
from hexad.storage.check import check_rows
from hexad.storage.stores import Stores

_LISTED: Final = 20
_EXPECTED: Final = frozenset(
    {
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
        "memory.db-commit",
        "memory.db-sync",
        "hexad.toml",
        "keys.json",
        "open.lock",
        "maintain.lock",
        "openers",
        "cache",
        "spaces",
        "exports",
        "stream",
        "audit",
        "documents",
    }
)


def check(stores: Stores, fulltext: FullText, *, directory: Path | None, dimensions: int | None) -> list[str]:
    """Return in words what is wrong with a store; an empty list when all is well."""
    found = list(check_rows(stores.db))
    if not found:
        found += fulltext.check()
        found += _vectors(stores, dimensions)
    if directory is not None:
        found += _files(directory)
    return found


def _vectors(stores: Stores, dimensions: int | None) -> Iterator[str]:
    db = stores.db
    if dimensions is not None:
        wrong = db.query(
            "SELECT m.id, length(v.vector) FROM vectors v JOIN memories m ON m.no = v.memory_no"
            f" WHERE length(v.vector) <> ? LIMIT {_LISTED}",
            (2 * dimensions,),
        )
        for memory_id, size in cast("list[tuple[str, int]]", wrong):
            yield (
                f"A vector of memory {memory_id!r} has {size} bytes instead of {2 * dimensions}. "
                "`hexad reindex --vectors` computes it anew."
            )
    stale = db.query(
        "SELECT m.id FROM vectors v JOIN memories m ON m.no = v.memory_no"
        f" WHERE m.status <> 'active' OR (v.chunk_no IS NOT NULL AND NOT EXISTS"
        f" (SELECT 1 FROM chunks c WHERE c.no = v.chunk_no AND c.memory_no = m.no)) LIMIT {_LISTED}"
    )
    for (memory_id,) in cast("list[tuple[str]]", stale):
        yield f"A vector of memory {memory_id!r} belongs to no active chunk. `hexad reindex --vectors` mends it."
    if dimensions is not None and stores.vectors.count():
        yield from _missing(stores)
    yield from _not_finite(stores)


def _missing(stores: Stores) -> Iterator[str]:
    rows = stores.db.query(
        "SELECT m.id FROM memories m WHERE m.status = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory_no = m.no)"
        f" AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.memory_no = m.no AND t.kind = ?) LIMIT {_LISTED}",
        (EMBED,),
    )
    for (memory_id,) in cast("list[tuple[str]]", rows):
        yield f"Memory {memory_id!r} has no vector and none is on its way. `hexad reindex --vectors` mends it."


def _not_finite(stores: Stores) -> Iterator[str]:
    import numpy as np

    last = 0
    while True:
        rows = stores.db.query(
            "SELECT v.no, m.id, v.vector FROM vectors v JOIN memories m ON m.no = v.memory_no"
            " WHERE v.no > ? ORDER BY v.no LIMIT 5000",
            (last,),
        )
        if not rows:
            return
        last = cast("int", rows[-1][0])
        for _, memory_id, blob in rows:
            data = cast("bytes", blob)
            vector = np.frombuffer(data[: len(data) // 2 * 2], dtype="<f2").astype(np.float32)
            length = float(vector @ vector)
            if not np.isfinite(length) or not (length == 0 or 0.98 < length < 1.02):
                yield (
                    f"A vector of memory {memory_id!r} is damaged (its squared length is {length:.3g}). "
                    "`hexad reindex --vectors` computes it anew."
                )


def _files(directory: Path) -> Iterator[str]:
    for path in sorted(directory.iterdir()):
        if path.name not in _EXPECTED and not path.name.endswith((".tmp", ".lock")):
            yield f"{path} is not part of a store; nothing reads it. Move it away if it is yours."
    for name in ("memory.db", "keys.json"):
        path = directory / name
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            mode = stat.S_IMODE(path.stat().st_mode)
            yield f"{path} can be read by others (mode {mode:04o}). Run `chmod 600 {path}`."
