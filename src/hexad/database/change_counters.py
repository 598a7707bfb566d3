"""Change counters per family of tables, by which derived caches notice that they are out of date."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from hexad.database.connection import Connection, Database

T = TypeVar("T")

DDL = """
CREATE TABLE changes (
  family TEXT PRIMARY KEY,
  n INTEGER NOT NULL
) WITHOUT ROWID, STRICT
"""


def bump(con: Connection, family: str) -> int:
    """Count one change of `family`, as part of the writing transaction that made it; returns its number.

    The first change of a transaction is written to the table, and the last one before it ends.
    """
    if (number := con.counts.get(family)) is not None:
        con.counts[family] = number + 1
        con.unwritten.add(family)
        return number + 1
    # One statement with RETURNING, which makes a journal for itself, takes five times as long as these two.
    row = con.execute("SELECT n FROM changes WHERE family = ?", (family,)).fetchone()
    if row is None:
        number = 1
        con.execute("INSERT INTO changes(family, n) VALUES(?, 1)", (family,))
    else:
        number = int(row[0]) + 1
        con.execute("UPDATE changes SET n = ? WHERE family = ?", (number, family))
    if con.writing:  # who else runs SQL does not say when a transaction ends
        con.counts[family] = number
    return number


class _Seen(threading.local):
    """What one thread's connection saw last: SQLite's version numbers mean nothing to another connection."""

    stamp: tuple[int, int] | None = None
    view: int = 0
    numbers: dict[str, int]


class ChangeReader:
    """Reads the counters; as long as nothing was committed, without asking the table."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = _Seen()

    def current(self, family: str) -> int:
        """Return how often `family` was changed; 0 when never."""
        return self.all().get(family, 0)

    def all(self) -> Mapping[str, int]:
        """Return how often each family was changed."""
        with self._database.read() as con:
            reads_on = con.depth > 1 and not con.writing  # in a view that was begun before, nothing changes
            if reads_on and con.view == self._seen.view and self._seen.stamp is not None:
                return self._seen.numbers
            self._seen.view = con.view if reads_on else 0
            # `data_version` is deaf to this connection's own changes, which `total_changes` counts.
            stamp = (self._database.data_version(), con.total_changes)
            if stamp != self._seen.stamp:
                con.write_counts()
                rows = con.execute("SELECT family, n FROM changes").fetchall()
                self._seen.numbers = {str(name): n for name, n in rows if isinstance(n, int)}
                # What an open write transaction counted may be rolled back, and nothing would tell.
                self._seen.stamp = None if con.writing else stamp
            return self._seen.numbers


class ChangeCache(Generic[T]):
    """Keeps results until something of a family of tables was changed, by whichever process. What is kept is not to be
    changed by who gets it."""

    def __init__(self, database: Database, family: str) -> None:
        self._database, self._family = database, family
        self._reader = ChangeReader(database)
        self._kept: tuple[int, dict[Hashable, T]] = (-1, {})

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what is kept for `key`, or what `compute` reads in the same view of the store."""
        with self._database.read() as con:
            if con.writing:
                return compute()  # what was counted here may be rolled back, and nothing would tell
            number = self._reader.current(self._family)
            before, kept = self._kept
            if before != number:
                kept = {}
                self._kept = (number, kept)
            if key not in kept:
                kept[key] = compute()
            return kept[key]
