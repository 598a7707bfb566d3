"""Whether the vectors are whole, and belong to what there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.database.connection import Database

_LISTED: Final = 20


def check_vectors(db: Database, *, dimensions: int | None, awaited: str) -> Iterator[str]:
    """Yield in words what is wrong with the vectors; memories with a task of kind `awaited` may have none yet."""
    if dimensions is not None:
        wrong = db.query(
            "SELECT m.id, length(v.vector) FROM vectors v JOIN memories m ON m.no = v.memory_no"
            f" WHERE length(v.vector) <> ? LIMIT {_LISTED}",
            (2 * dimensions,),
        )
        for memory_id, size in wrong:
            yield (
                f"A vector of memory {memory_id!r} has {size} bytes instead of {2 * dimensions}. "
                "`hexad reindex --vectors` computes it anew."
            )
    stale = db.query(
        "SELECT m.id FROM vectors v JOIN memories m ON m.no = v.memory_no"
        f" WHERE m.status <> 'active' OR (v.chunk_no IS NOT NULL AND NOT EXISTS"
        f" (SELECT 1 FROM chunks c WHERE c.no = v.chunk_no AND c.memory_no = m.no)) LIMIT {_LISTED}"
    )
    for (memory_id,) in stale:
        yield f"A vector of memory {memory_id!r} belongs to no active chunk. `hexad reindex --vectors` mends it."
    if dimensions is not None and db.query_one("SELECT 1 FROM vectors LIMIT 1"):
        yield from _missing(db, awaited)
    yield from _not_finite(db)


def _missing(db: Database, awaited: str) -> Iterator[str]:
    rows = db.query(
        "SELECT m.id FROM memories m WHERE m.status = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory_no = m.no)"
        f" AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.memory_no = m.no AND t.kind = ?) LIMIT {_LISTED}",
        (awaited,),
    )
    for (memory_id,) in rows:
        yield f"Memory {memory_id!r} has no vector and none is on its way. `hexad reindex --vectors` mends it."


def _not_finite(db: Database) -> Iterator[str]:
    import numpy as np

    last = 0
    while True:
        rows = db.query(
            "SELECT v.no, m.id, v.vector FROM vectors v JOIN memories m ON m.no = v.memory_no"
            " WHERE v.no > ? ORDER BY v.no LIMIT 5000",
            (last,),
        )
        if not rows:
            return
        last = rows[-1][0]
        for _, memory_id, blob in rows:
            data = blob
            vector = np.frombuffer(data[: len(data) // 2 * 2], dtype="<f2").astype(np.float32)
            length = float(vector @ vector)
            if not np.isfinite(length) or length > 1.02:
                yield (
                    f"A vector of memory {memory_id!r} is damaged (its squared length is {length:.3g}). "
                    "`hexad reindex --vectors` computes it anew."
                )
