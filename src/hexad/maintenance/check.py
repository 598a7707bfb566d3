"""`check`: rows, full text, vectors, files and hashes, and in words what is wrong."""

from __future__ import annotations

import json
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hexad.core.ids import content_hash
from hexad.database.component import Check, Component, Promise
from hexad.database.connection import Database
from hexad.database.encryption.file_swap import FOLDER as CONVERSION
from hexad.database.encryption.inventory import exposed, inventory_of
from hexad.database.store_context import StoreContext
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
                yield (
                    f"The text of memory {memory_id!r} does not match its hash {expected}: it was changed or damaged. "
                    "Put a backup in its place, or remember it again."
                )
            for name, text in zip(_JSON_COLUMNS, columns, strict=True):
                try:
                    json.loads(text)
                except (ValueError, TypeError):
                    yield f"Memory {memory_id!r} has {name} that are not JSON: {str(text)[:80]!r}."


def check(context: StoreContext, components: Sequence[Component]) -> list[str]:
    """Return in words what is wrong with a store; an empty list when all is well."""
    promises = [promise for component in components for promise in component.promises]
    problems = list(check_rows(context.db, promises))
    if not problems:
        for component in components:
            for look in component.checks:
                problems += _told(look, context)
        for component in components:
            for look in component.file_checks:
                problems += _told(look, context)
    inventory = inventory_of(components)
    problems += _files(context.directory, inventory.expected_names)
    problems += exposed(context.directory, inventory, encrypted=context.crypt is not None)
    problems += context.lost_files()
    problem = context.keys.state().problem
    if problem is not None and problem not in problems:
        problems.append(problem)
    return problems


def _told(look: Check, context: StoreContext) -> Iterator[str]:
    """Yield what a look finds; damage that ends it is one of these."""
    try:
        yield from look(context)
    except IntegrityError as error:
        yield str(error)


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
