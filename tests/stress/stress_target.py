"""What the stress suites do to a store: a small interface, and the kernel's own table behind it.

Another layer is stressed by writing the same four functions for it. They must be importable by name, because
worker processes start fresh.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from hexad.core.clock import SystemClock
from hexad.database.connection import Connection, Database

ROWS_PER_WRITE = 3
"""Rows of one transaction: all of them or none may be found afterwards."""

Write = tuple[int, int]
"""A worker's number and the number of its write."""


def open_store(path: Path, **options: object) -> Database:
    database = Database.open(path, clock=SystemClock(), **options)  # type: ignore[arg-type]
    with database.read() as con:
        ready = con.execute("SELECT 1 FROM sqlite_schema WHERE name = 'total'").fetchone()
    if not ready:
        with database.transaction() as con:
            con.execute(
                "CREATE TABLE IF NOT EXISTS entry(worker INTEGER, n INTEGER, part INTEGER, body TEXT, crc INTEGER,"
                " PRIMARY KEY(worker, n, part))"
            )
            con.execute("CREATE TABLE IF NOT EXISTS total(one INTEGER PRIMARY KEY, writes INTEGER)")
            con.execute("INSERT OR IGNORE INTO total VALUES(1, 0)")
    return database


def body_of(worker: int, n: int, part: int) -> str:
    return f"worker {worker} write {n} part {part} " + "abcdefgh" * (1 + (worker * 31 + n * 7 + part) % 40)


def write(database: Database, worker: int, n: int) -> None:
    """Make one durable change: some rows, and a counter that must agree with them."""
    with database.transaction() as con:
        for part in range(ROWS_PER_WRITE):
            body = body_of(worker, n, part)
            con.execute(
                "INSERT INTO entry VALUES(?, ?, ?, ?, ?)", (worker, n, part, body, zlib.crc32(body.encode()))
            )
        con.execute("UPDATE total SET writes = writes + 1 WHERE one = 1")


def read(database: Database) -> tuple[list[tuple[int, int, int, str, int]], int]:
    """Return every row and the counter, as of one moment."""
    with database.read() as con:
        rows = con.execute("SELECT worker, n, part, body, crc FROM entry").fetchall()
        total = con.execute("SELECT writes FROM total").fetchone()
    return rows, int(total[0]) if total else 0  # type: ignore[return-value, arg-type]


def written(database: Database) -> set[Write]:
    return {(worker, n) for worker, n, *_ in read(database)[0]}


def problems(database: Database) -> list[str]:
    """Return what is wrong inside the store: half a transaction, a wrong body, SQLite's own complaints."""
    found: list[str] = []
    with database.read() as con:
        found += [str(row[0]) for row in con.execute("PRAGMA integrity_check") if row[0] != "ok"]
        rows, total = read(database)
    parts: dict[Write, set[int]] = {}
    for worker, n, part, body, crc in rows:
        if not all(isinstance(value, int) for value in (worker, n, part)):
            found.append(f"a row has the key {(worker, n, part)}")
            continue
        parts.setdefault((worker, n), set()).add(part)
        if body != body_of(worker, n, part) or crc != zlib.crc32(body.encode()):
            found.append(f"write {worker}/{n} part {part} has a wrong body")
    whole = set(range(ROWS_PER_WRITE))
    found += [
        f"write {key} is half there: parts {sorted(some)}" for key, some in parts.items() if some != whole
    ]
    if total != len(parts):
        found.append(f"the counter says {total}, there are {len(parts)} writes")
    return found


def missing(database: Database, acknowledged: Iterable[Write]) -> list[Write]:
    return sorted(set(acknowledged) - written(database))


__all__ = ["Connection", "Database", "Write", "missing", "open_store", "problems", "read", "write", "written"]
