"""What is left of deleted rows in a database's files: in its log, and in pages from before they were cleared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from hexad.storage.connection import Connection, Database
from hexad.storage.meta import Meta
from hexad.storage.sqlite_errors import translated

CLEANED: Final = "cleaned_free_pages"
_WAIT_S: Final = 2.0
_DRAIN_MS: Final = 500


def empty_log(db: Database) -> bool:
    """Copy the write-ahead log into the database and cut it to nothing, where nobody reads from it.

    False when somebody does, or writes for longer: then it holds what was there before.
    """
    if not _wal_bytes(db):
        return True
    with _turn(db) as con:
        if con is None:
            return False
        try:
            con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
    return not _wal_bytes(db)


def clean_free_pages(db: Database) -> bool:
    """Write the database anew without what was deleted before deleted rows were cleared; False when it is busy.

    Once in the life of a store: what is deleted later is cleared at once.
    """
    meta = Meta(db)
    if meta.get(CLEANED) is not None:
        return True
    with db.transaction() as con:
        for index in ("chunk_fts", "document_fts", "compressed_fts"):
            con.execute(f"INSERT INTO {index}({index}) VALUES('optimize')")
    with _turn(db) as held:
        if held is None:
            return False
        with translated(db.path):
            try:
                held.sqlite.execute("PRAGMA query_only = OFF").fetchall()
                held.sqlite.execute("VACUUM").fetchall()
            except apsw.BusyError:
                return False
            finally:
                held.sqlite.execute("PRAGMA query_only = ON").fetchall()
    meta.put(CLEANED, "vacuum")
    return True


def needs_cleaning(db: Database) -> bool:
    """Whether the store is from before deleted rows were cleared, and was not written anew since."""
    return Meta(db).get(CLEANED) is None


@contextmanager
def _turn(db: Database) -> Iterator[Connection | None]:
    """Hold the turn to write without a transaction; None when it does not come, or a sync of the log failed."""
    con, queue = db._connection(), db._queue
    if con.depth or queue is None or not queue.acquire_within(_WAIT_S):
        yield None
        return
    try:
        con.sqlite.set_busy_timeout(_DRAIN_MS)
        # After a failed sync a checkpoint would copy pages whose frames may be lost.
        yield None if queue.poisoned else con
        queue.checkpointed_at = 0
    finally:
        con.sqlite.set_busy_timeout(int(db._lock_timeout_s * 1000))
        queue.release()


def _wal_bytes(db: Database) -> int:
    try:
        return db.path.with_name(f"{db.path.name}-wal").stat().st_size
    except FileNotFoundError:
        return 0
