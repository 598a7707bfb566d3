"""`check`: rows, full text, vectors, files and hashes, and in words what is wrong."""

from __future__ import annotations

import json
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hexad.core.ids import content_hash
from hexad.database.component import Component, Promise
from hexad.database.connection import Database
from hexad.database.encryption.file_swap import FOLDER as CONVERSION
from hexad.database.encryption.inventory import exposed, inventory_of
from hexad.database.store_context import StoreContext
from hexad.errors import IntegrityError
from hexad.memory.policy import audience, parse_stored
from hexad.memory.store import Stores
from hexad.search.fulltext import FullText
from hexad.search.indexer import EMBED

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


def check(
    context: StoreContext,
    stores: Stores,
    fulltext: FullText,
    components: Sequence[Component],
    *,
    dimensions: int | None,
) -> list[str]:
    """Return in words what is wrong with a store; an empty list when all is well."""
    promises = [promise for component in components for promise in component.promises]
    problems = list(check_rows(context.db, promises))
    if not problems:
        problems += fulltext.check()
        problems += check_vectors(context.db, dimensions=dimensions, awaited=EMBED)
        problems += _audiences(stores)
        for component in components:
            for look in component.checks:
                problems += look(context)
        for component in components:
            for look in component.file_checks:
                problems += look(context)
    inventory = inventory_of(components)
    problems += _files(context.directory, inventory.expected_names)
    problems += exposed(context.directory, inventory, encrypted=context.crypt is not None)
    problem = context.keys.state().problem
    if problem is not None and problem not in problems:
        problems.append(problem)
    return problems


def _audiences(stores: Stores) -> Iterator[str]:
    """Yield whom a space's policy hides from somebody who may see it, and the other way round."""
    for space in stores.spaces.list():
        policies = parse_stored(space.policies)
        for row, roles in stores.audiences.of_space(space.no):
            admitted = audience(policies, row)
            # A folder's summary may be closed to more people until the next ingest writes it anew.
            narrower = (
                row.kind == "overview" and roles is not None and (admitted is None or roles <= admitted)
            )
            if roles != admitted and not narrower:
                yield (
                    f"A memory of space {space.name!r} ({row.path!r}) is open to {_roles(roles)} instead of "
                    f"{_roles(admitted)}. Set the space's policy again: `hexad spaces policy`."
                )
                break


def _roles(roles: frozenset[str] | None) -> str:
    return "everybody" if roles is None else ", ".join(sorted(roles)) or "the owner alone"


def _files(directory: Path, expected: Collection[str]) -> Iterator[str]:
    for path in sorted(directory.iterdir()):
        if path.name == CONVERSION:
            yield (
                f"{path} is what an interrupted change of the encryption left, and its files may be plain. Open the "
                "store once for writing, which removes it."
            )
        elif path.name not in expected and not path.name.startswith("."):
            yield f"{path} is not part of a store; nothing reads it. Move it away if it is yours."
    for name in ("memory.db",):  # the key file is looked at with what it holds
        path = directory / name
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            mode = stat.S_IMODE(path.stat().st_mode)
            yield f"{path} can be read by others (mode {mode:04o}). Run `chmod 600 {path}`."
