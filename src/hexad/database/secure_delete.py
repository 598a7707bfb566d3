"""What is left of deleted rows in a database's files: in its log, and in pages from before they were cleared."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from hexad.database import files
from hexad.database.connection import PAGE_BYTES, Connection, Database
from hexad.database.meta import Meta
from hexad.database.sqlite_errors import translated
from hexad.errors import StorageFailure

_PAGES_AT_ONCE: Final = 1_024
_FILE_HEADER: Final = 100
_HEAD_BYTES: Final = {10: 8, 13: 8, 2: 12, 5: 12}
"""Of the pages of trees by their first byte: leaves, then those above them."""
_ZEROS: Final = bytes(PAGE_BYTES)
_MOST_PAGES: Final = 1 << 24
"""From here on the first byte of a page of another kind, a page's number, may look like that of a tree's page."""


def clear_gaps(con: Connection) -> tuple[int, int]:
    """Write zeros into the gaps of all pages of trees; returns how many pages that changed and how many bytes.

    Call it in a write transaction, while the write-ahead log is empty, and before anything is written in it: nobody can
    then write to the file. The transaction must end in a commit of something, by which other connections notice that
    what they keep of pages is out of date.
    """
    with translated(con.path):
        con.sqlite.execute("PRAGMA shrink_memory").fetchall()  # this connection's own copies of pages
        # By SQLite's own file system layer: it knows of this process's locks, which closing a file would drop.
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        file = apsw.VFSFile("unix", str(con.path), [flags, 0])
        try:
            pages = count = 0
            for first in range(0, file.xFileSize(), _PAGES_AT_ONCE * PAGE_BYTES):
                size = min(_PAGES_AT_ONCE * PAGE_BYTES, file.xFileSize() - first)
                for start, length in _gaps(file.xRead(size, first), first):
                    file.xWrite(bytes(length), start)
                    pages, count = pages + 1, count + length
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        finally:
            file.xClose()
    return pages, count


def can_clear_gaps(con: Connection, *, encrypted: bool) -> bool:
    """Whether a file is of the kind whose gaps can be told: plain, without maps of pages, and not beyond 64 GiB."""
    pages, size, maps = (
        con.execute(f"PRAGMA {name}").fetchall()[0][0] for name in ("page_count", "page_size", "auto_vacuum")
    )
    few = isinstance(pages, int) and pages < _MOST_PAGES
    return not encrypted and not maps and size == PAGE_BYTES and few


def _gaps(data: bytes, offset: int) -> Iterator[tuple[int, int]]:
    """Yield where in the file the gaps begin that are not clear, and how long they are."""
    for page in range(0, len(data), PAGE_BYTES):
        head = page if page or offset else _FILE_HEADER  # the first page begins with the file's own header
        kind = data[head]
        if kind not in _HEAD_BYTES:
            continue
        start = head + _HEAD_BYTES[kind] + 2 * (data[head + 3] << 8 | data[head + 4])
        end = page + (data[head + 5] << 8 | data[head + 6])
        length = end - start
        if 0 < length <= PAGE_BYTES and data[start:end] != _ZEROS[:length]:
            yield offset + start, length


CLEANED: Final = "cleaned_free_pages"
_QUICK_BYTES: Final = 32 << 20
"""A database up to this size is written anew at once, in less than a second."""
_WAIT_S: Final = 2.0
_DRAIN_MS: Final = 500


def empty_log(db: Database) -> bool:
    """Copy the write-ahead log into the database and cut it to nothing, where nobody reads from it.

    False when somebody does, or writes for longer: then it holds what was there before. Raises `StorageFailure` where
    a sync of it failed, and fails again.
    """
    if not _wal_bytes(db):
        return True
    if db._queue is not None and db._queue.poisoned:
        with db.transaction():
            pass  # whoever writes next makes the log durable first; nobody else may come for long
    with _turn(db) as con:
        if con is None:
            return False
        try:
            con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
    return not _wal_bytes(db)


def clear_pages(db: Database, *, patient: bool, meta: Meta | None = None) -> bool:
    """Take out of the database's pages what SQLite left there of rows that are gone; False when it is busy.

    A file whose pages cannot be told from outside, an encrypted one or one from before deleted rows were cleared, is
    written anew: a large one only where the caller is `patient`. `meta` is that of a store's own database.
    """
    if not empty_log(db):
        return False
    with db.read() as con:
        in_place = can_clear_gaps(con, encrypted=db._key is not None)
    if (meta is not None and meta.get(CLEANED) is None) or not in_place:
        if not patient and db.path.stat().st_size > _QUICK_BYTES:
            return False
        return _write_anew(db, meta)
    with db.transaction() as con:
        if _wal_bytes(db):
            return False  # somebody wrote meanwhile
        clear_gaps(con)
        ((version,),) = con.execute("PRAGMA user_version").fetchall()
        con.execute(f"PRAGMA user_version = {(version + 1) & 0x7FFFFFFF}")
    return True


def scrub(db: Database, meta: Meta) -> bool:
    """Take what rows that are gone left in the files of a store's own database out of them; False while it is busy.

    Of an encrypted file the log alone is emptied: what is left in its pages is as unreadable as the rest of it.
    """
    if db._key is not None:
        return empty_log(db)
    return clear_pages(db, patient=False, meta=meta) and empty_log(db)


def _write_anew(db: Database, meta: Meta | None) -> bool:
    with db.transaction() as con:
        rows = con.execute(
            "SELECT name FROM sqlite_schema WHERE substr(name, -4) = '_fts' AND sql LIKE 'CREATE VIRTUAL%'"
        ).fetchall()
        for (index,) in rows:
            con.execute(f"INSERT INTO {index}({index}) VALUES('optimize')")
    with _turn(db) as connection:
        if connection is None:
            return False
        with translated(db.path):
            try:
                connection.allow_writes()
                connection.writing = True
                connection.sqlite.execute("VACUUM").fetchall()
            except apsw.BusyError:
                return False
            finally:
                connection.writing = False
    if meta is not None:
        meta.put(CLEANED, "vacuum")
    return True


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


_CHUNK_BYTES: Final = 1 << 20


def sync_tree(path: Path) -> None:
    """Make every file below a folder, and every name, durable."""
    for folder, _folders, names in os.walk(path, topdown=False):
        here = Path(folder)
        for name in names:
            with files.operation("open", here / name, "open"):
                fd = os.open(here / name, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                os.fchmod(fd, files.PRIVATE_FILE_MODE)
                files.fdatasync(fd, here / name)
            finally:
                os.close(fd)
        files.sync_dir(here)


def overwrite(path: Path) -> None:
    """Write zeros over a file and sync it, so that what is under it is not on the disk where the disk allows that.

    A file with another name somewhere is left: its other name may be somebody's backup. So is anything but a file.
    """
    try:
        found_stat = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found_stat.st_mode) or found_stat.st_nlink > 1:
        return
    with files.operation("open", path, "open"):
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        zeros = bytes(_CHUNK_BYTES)
        for at in range(0, found_stat.st_size, _CHUNK_BYTES):
            files.write_at(fd, zeros[: found_stat.st_size - at], at, path)
        files.fdatasync(fd, path)
    finally:
        os.close(fd)


def move(new: Path, old: Path) -> None:
    """Give a durable file its place, over what is there; durable on return.

    Where that is on another file system (a folder of the store that is a disk of its own), it is copied there. What
    was there goes before, to make room: who calls this has it once more, and calls again after a kill.
    """
    try:
        with files.operation("rename", old, "replace"):
            os.replace(new, old)
    except StorageFailure as error:
        if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.EXDEV:
            raise
        files.unlink(old)
        files.stream_write(old, _pieces(new))
        files.unlink(new)
    files.sync_dir(old.parent)
    files.sync_dir(new.parent)


def _pieces(path: Path) -> Iterator[bytes]:
    with files.operation("read", path, "read"), path.open("rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            yield piece


def wipe_tree(folder: Path) -> None:
    """Remove a folder whose files may be plain, overwritten before as far as the disk takes it."""
    if folder.is_dir():
        for path in files_below(folder):
            with contextlib.suppress(StorageFailure):  # it goes all the same
                overwrite(path)
    files.remove_tree(folder)


def free_bytes(path: Path) -> int:
    """Return how much the file system of a folder has left for this user."""
    import shutil

    with files.operation("read", path, "look at"):
        return shutil.disk_usage(path).free


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder by path, and links, which lead elsewhere."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path
