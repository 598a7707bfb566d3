"""Whether the truth is whole: SQLite's own checks, and what rows promise about each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from hexad.core.ids import content_hash
from hexad.database.component import Promise
from hexad.database.connection import Database
from hexad.errors import IntegrityError

_LISTED: Final = 20
_JSON_COLUMNS: Final = ("tags", "citations", "data_subjects", "metadata")


def check_rows(db: Database, promises: Iterable[Promise]) -> Iterator[str]:
    """Yield in words what is wrong with the rows of `memory.db`, and which `promises` they break; nothing when all is
    well.
    """  # fmt: skip
    broken = list(_sqlite(db))
    yield from broken
    if broken:
        return  # rows of a damaged file prove nothing
    for table, rowid, parent, _ in db.query("PRAGMA foreign_key_check"):
        yield (
            f"Row {rowid} of {table!r} refers to a row of {parent!r} that is not there. "
            "Ingest the source again, or put a backup in its place."
        )
    yield from _contents(db)
    for sql, words in promises:
        for row in db.query(f"{sql} LIMIT {_LISTED}"):
            yield words.format(*row)


def _sqlite(db: Database) -> Iterator[str]:
    try:
        for (line,) in db.query(f"PRAGMA integrity_check({_LISTED})"):
            if line != "ok":
                yield (
                    f"memory.db is damaged: {line}. Put a backup in its place, or save what can be read "
                    "with `sqlite3 memory.db .recover`."
                )
    except IntegrityError as error:
        yield f"memory.db cannot be read: {error}"


def _contents(db: Database) -> Iterator[str]:
    last = 0
    while True:
        rows = db.query(
            "SELECT no, id, content_hash, raw, tags, citations, data_subjects, metadata FROM memories"
            " WHERE no > ? ORDER BY no LIMIT 1000",
            (last,),
        )
        if not rows:
            return
        for row in rows:
            last, raw, columns = row[0], row[3], row[4:]
            memory_id, expected = row[1:3]
            if not isinstance(raw, str) or content_hash(raw) != expected:
                yield f"The text of memory {memory_id!r} does not match its hash {expected}: it was changed or damaged."
            for name, text in zip(_JSON_COLUMNS, columns, strict=True):
                try:
                    json.loads(text)
                except (ValueError, TypeError):
                    yield f"Memory {memory_id!r} has {name} that are not JSON: {str(text)[:80]!r}."


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
