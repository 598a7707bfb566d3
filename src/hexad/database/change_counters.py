"""Change counters per family of tables, by which derived caches notice that they are out of date."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar, cast

from hexad.core.lazy import ByteCache
from hexad.database.connection import Connection, Database
from hexad.database.statements import SeenState

T = TypeVar("T")

PURGES: Final = "purges"

DDL = """
CREATE TABLE changes (
  family TEXT PRIMARY KEY,
  n INTEGER NOT NULL
) WITHOUT ROWID, STRICT
"""


def bump(con: Connection, family: str, *, times: int = 1) -> int:
    """Count changes of `family`, as part of the writing transaction that made them; returns the number of the last.

    The first change of a transaction is written to the table, and the last one before it ends.
    """
    if (number := con.counts.get(family)) is not None:
        con.counts[family] = number + times
        con.unwritten.add(family)
        return number + times
    # One statement with RETURNING, which makes a journal for itself, takes five times as long as these two.
    row = con.execute("SELECT n FROM changes WHERE family = ?", (family,)).fetchone()
    if row is None:
        number = times
        con.execute("INSERT INTO changes(family, n) VALUES(?, ?)", (family, number))
    else:
        number = int(row[0]) + times
        con.execute("UPDATE changes SET n = ? WHERE family = ?", (number, family))
    if con.writing:  # who else runs SQL does not say when a transaction ends
        con.counts[family] = number
    return number


def count_purge(con: Connection) -> None:
    """Have caches let go of what the writing transaction removes for good, and of all texts with it.

    Those of this process do so when it is committed, those of others with the next question.
    """
    con.purged = True
    bump(con, PURGES)


def _state(database: Database) -> SeenState:
    """Return what this thread's connection knows of the counters; they are read where something was committed."""
    con = database.own_connection()
    seen, begun = con.seen, con.depth > 0
    if begun and not con.writing and con.view == seen.view and seen.stamp is not None:
        return seen  # in a view that was begun before, nothing changes
    if not begun and con.stamp() == seen.stamp:
        return seen
    with database.read():
        stamp = con.stamp()
        seen.view = con.view if begun and not con.writing else 0
        if stamp != seen.stamp:
            con.write_counts()
            rows = con.execute("SELECT family, n FROM changes").fetchall()
            seen.counters = {str(name): n for name, n in rows if isinstance(n, int)}
            seen.kept = {}
            # What an open write transaction counted may be rolled back, and nothing would tell.
            seen.stamp = None if con.writing else stamp
            if not con.writing:
                _release_erased(database, seen)
    return seen


def _release_erased(database: Database, seen: SeenState) -> None:
    """Empty the caches where something was removed for good since this thread looked last.

    Each thread does so: one that was still in an older view may have kept something since another one did.
    """
    purges = seen.counters.get(PURGES, 0)
    if purges != (database.purges if seen.purges is None else seen.purges):
        database.caches.release()
    seen.purges = database.purges = purges


def while_unchanged(database: Database, key: Hashable, compute: Callable[[], T]) -> T:
    """Return what `compute` reads: once for each thread and `key` until anything is committed, by whichever process.

    For few small values that no counter stands for. Nobody may change what comes back.
    """
    if database.own_connection().writing:
        return compute()
    seen = _state(database)
    if key not in seen.kept:
        with database.read():
            seen = _state(database)  # where no view was open, something may have been committed in between
            seen.kept[key] = compute()
    return cast("T", seen.kept[key])


class ChangeReader:
    """Reads the counters; as long as nothing was committed, without asking the table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self, family: str) -> int:
        """Return how often `family` was changed; 0 when never."""
        return _state(self._database).counters.get(family, 0)

    def all(self) -> Mapping[str, int]:
        """Return how often each family was changed."""
        return _state(self._database).counters


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


class BoundedChangeCache(Generic[T]):
    """Keeps results in so many bytes until something of one of its families was changed, by whichever process: those
    that were used last. What is kept is not to be changed by who gets it."""

    def __init__(
        self, database: Database, families: Sequence[str], *, limit_bytes: int, size: Callable[[T], int]
    ) -> None:
        self._database, self._families = database, families
        self._reader = ChangeReader(database)
        self._change: tuple[int, ...] = ()
        self.kept = ByteCache[Hashable, T](limit_bytes, size)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what is kept for `key`, or what `compute` reads in the same view of the store."""
        with self._database.read() as con:
            if con.writing:
                return compute()  # what was counted here may be rolled back, and nothing would tell
            counters = self._reader.all()
            change = tuple([counters.get(family, 0) for family in self._families])
            if change != self._change:
                self._change = change
                self.kept.clear()
            # With the change: a thread that still reads an older state must not keep anything for a newer one.
            value = self.kept.get((change, key))
            return self.kept.put((change, key), compute()) if value is None else value
