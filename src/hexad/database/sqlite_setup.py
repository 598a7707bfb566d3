"""What a connection and a file must be like: checked and set when a store is opened."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import apsw

from hexad.database import files
from hexad.database.commit_queue import Durability
from hexad.database.statements import Connection
from hexad.errors import IntegrityError, InvalidInput, StorageFailure, failure

APPLICATION_ID = 0x48455844  # "HEXD"
PAGE_BYTES = 4096
CACHE_KIB = 16_384
MAX_VALUE_BYTES = 256 << 20
"""Far above what is stored; keeps a damaged length from asking for a gigabyte of memory."""
CIPHER = "aegis"
"""AEGIS-256, of SQLite3 Multiple Ciphers: measured 3 % on inserts, where others cost a multiple."""
_PLAIN_HEAD = b"SQLite format 3\0"
_FIRST_SAFE_SQLITE = (3, 51, 3)
_SIGNS_OF_A_STORE: Final = (
    "keys.json", "audit/audit.db", "stream/log/*.log", "stream/segments/*.parquet",
)  # fmt: skip
"""What a store makes once its database has its tables, and not before."""


def sqlite_library_is_safe(version: tuple[int, int, int]) -> bool:
    """Return False for libraries without WAL or whose WAL reset loses committed rows (3.7.0 to 3.51.2)."""
    return version >= _FIRST_SAFE_SQLITE


def require_safe_library() -> None:
    """Raise `StorageFailure` when the SQLite library in this process must not be used with a shared file."""
    major, minor, patch = (int(part) for part in apsw.sqlite_lib_version().split(".")[:3])
    if not sqlite_library_is_safe((major, minor, patch)):
        raise StorageFailure(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed rows when processes share a file; "
            "install apsw-sqlite3mc 3.54 or newer."
        )


def make_private(path: Path) -> None:
    """Create an empty database where none is, private from its first moment, and the folder that it lies in."""
    files.ensure_dir(path.parent)
    with files.operation("open", path, "open"):
        # Closing a descriptor of an existing database would drop this process's locks on it, so it is opened only
        # when it is not there.
        if not path.exists():
            files.sync_dir(path.parent.parent)  # who has just made the folder may not have come to that
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE_MODE))


def require_not_emptied(path: Path, *, beside: str | None = None) -> None:
    """Raise `IntegrityError` for a database that is empty or gone, and was written to before.

    SQLite would begin a new one, and delete its log. `beside` is a file that is made only once there are tables. What
    there is beside it is looked at first: whoever makes a database has its first page on the disk before any of that.
    """
    trace = _trace_of(path, beside)
    if trace is not None and not _size(path):
        raise _lost(path, trace)


def has_log(path: Path) -> bool:
    """Whether there is a log beside a database, with what may not be in it yet."""
    return _size(path.with_name(f"{path.name}-wal")) > 0


def _trace_of(path: Path, beside: str | None = None) -> str | None:
    """Return in words what is left beside a database of commits to it, None where nothing is."""
    if _size(path):
        return None  # most are there: nothing else is looked at
    if has_log(path):
        return f"{path.name}-wal, the log of what was written last, is there"
    if beside is not None and _size(path.with_name(beside)):
        return f"{beside} beside it is there"
    return None


def require_own_files(folder: Path) -> None:
    """Raise `InvalidInput` where a file or a folder of a store is a link, a pipe or a device.

    A clone or an archive brought it: what is written, or removed, would reach whatever a link leads to, and a pipe is
    waited for. Of what people put there themselves (documents, space files, exports) a single file may be a link to a
    file: it is replaced when it is written, and not followed.
    """
    folders = _folders_in(folder, (*_OWN_FILES, *OWN_FOLDERS))
    _require_no_folder(folder, folders, _NO_FOLDERS)
    for name in OWN_FOLDERS:
        if name in folders:
            below = _require_own_below(folder / name, may_have_links=name in _MAY_HAVE_LINKS)
            _require_no_folder(folder / name, below, _NO_FOLDERS_BELOW.get(name, ()))
        elif (folder / name).is_file():
            raise InvalidInput(f"{folder / name} is a file, where a store has a folder. Move it away.")


def _require_own_below(folder: Path, *, may_have_links: bool) -> list[str]:
    """Return the folders in a folder, once all below is looked at."""
    folders = _folders_in(folder, (), may_have_links=may_have_links)
    for name in folders:
        _require_own_below(folder / name, may_have_links=may_have_links)
    return folders


def _require_no_folder(folder: Path, folders: Collection[str], names: Collection[str]) -> None:
    for name in folders:
        if name in names:
            raise InvalidInput(f"{folder / name} is a folder, where a store has a file. Move it away.")


def _folders_in(folder: Path, names: Collection[str], *, may_have_links: bool = False) -> list[str]:
    """Return the folders in a folder under one of `names`, or all; raises where something is no folder and no file."""
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if not entry.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise failure("read", folder, error) from error
    if names:
        entries = [entry for entry in entries if any(fnmatchcase(entry.name, name) for name in names)]
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    others = {entry.name for entry in entries}.difference(folders)
    for path in (folder / name for name in sorted(others)):
        kind = _kind_of(path)
        if kind is None or (may_have_links and kind == _LINK and _leads_to_no_other(path)):
            continue
        raise InvalidInput(
            f"{path} is {kind}, and a store's own files and folders are none. Nothing was opened. Remove it, or put "
            "what it leads to in its place."
        )
    return folders


def _kind_of(path: Path) -> str | None:
    """Return in words what stands at a place that is neither file nor folder; None where nothing does any more."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    return _LINK if stat.S_ISLNK(mode) else "a pipe, a socket or a device"


def _leads_to_no_other(link: Path) -> bool:
    """Whether a link leads to a file, or nowhere."""
    try:
        return stat.S_ISREG(link.stat().st_mode)
    except OSError:
        return True


_LINK: Final = "a link"
_OWN_FILES: Final = ("memory.db*", "keys.json", "encryption*", "*.lock", ".gitignore")
_NO_FOLDERS: Final = (
    "memory.db", "memory.db-wal", "memory.db-shm", "memory.db-commit", "memory.db-sync", "keys.json",
    "encryption.json", "open.lock", "maintain.lock",
)  # fmt: skip
_NO_FOLDERS_BELOW: Final = {
    "audit": ("audit.db", "audit.db-wal", "audit.db-shm", "audit.key"),
    "stream": ("seal.lock", "compress.lock"),
}
OWN_FOLDERS: Final = (
    "audit", "cache", "convert", "documents", "exports", "openers", "server", "spaces", "stream",
)  # fmt: skip
_MAY_HAVE_LINKS: Final = ("documents", "exports", "spaces")


def refuse_lost_store(database: Path, *, is_lost: Callable[[], bool] | None = None) -> None:
    """Raise `IntegrityError` where a store's database is gone or empty, and something of the store is still there.

    `is_lost` says so of a database that is open. It is asked again after something was found: none of it is made before
    the database has its tables, so that a store which another program makes meanwhile is not taken for a lost one.
    """
    if is_lost is None:
        try:
            require_not_emptied(database)
        except IntegrityError:
            require_own_files(database.parent)  # a link or a pipe in its place is named as that
            raise
    is_lost = is_lost or (lambda: not _size(database))
    if not is_lost():
        return
    folder = database.parent
    signs = (path for pattern in _SIGNS_OF_A_STORE for path in sorted(folder.glob(pattern)) if _size(path))
    sign = next(signs, None)
    if sign is not None and is_lost():
        require_own_files(folder)
        raise _lost(database, f"{sign.relative_to(folder)} of its store is there")


def _lost(path: Path, sign: str) -> IntegrityError:
    return IntegrityError(
        f"{path} is {'empty' if path.exists() else 'gone'}, but {sign}. Nothing was changed. Put a backup in its "
        f"place, or move {path.parent} away to begin anew."
    )


def _size(path: Path) -> int:
    """Return how many bytes SQLite sees in a file: it takes one of a single byte for an empty one."""
    try:
        size = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
    return 0 if size == 1 else size


def unlock(sqlite: apsw.Connection, key: bytes) -> None:
    """Give a connection its key, before anything else is asked of it; a raw key costs nothing to open.

    Whether it is the right one shows when the first page is read.
    """
    sqlite.execute(f"PRAGMA cipher = '{CIPHER}'").fetchall()
    sqlite.execute(f"PRAGMA hexkey = '{key.hex()}'").fetchall()


def is_plain(path: Path) -> bool | None:
    """Whether a database can be read without a key; None for one that is not there or empty.

    SQLite reads it: closing a descriptor of our own would drop this process's locks on a store that it has open.
    """
    try:
        if not path.stat().st_size:
            return None
        sqlite = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    except FileNotFoundError:
        return None
    except (OSError, apsw.Error) as error:
        raise StorageFailure(f"Cannot read {path}: {error}. Check its owner and its mode.") from error
    try:
        _all, head = sqlite.read("main", 0, 0, len(_PLAIN_HEAD))
    finally:
        sqlite.close(True)
    return bytes(head) == _PLAIN_HEAD


def configure(con: Connection, *, durability: Durability, busy_timeout_s: float) -> None:
    """Set what SQLite keeps per connection."""
    sqlite = con.sqlite
    sqlite.set_busy_timeout(int(busy_timeout_s * 1000))
    # Only `close` may checkpoint and delete the WAL; a connection that is dropped (by a forked child, by a
    # forgotten handle, after a failed sync) must not.
    sqlite.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    sqlite.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    sqlite.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    # Without it SQLite plans a statement again each time a parameter is bound that a partial index is compared with:
    # all that asks for memories, of which planning took four times as long as looking. No plan may hang on a value.
    sqlite.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    sqlite.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    for pragma in (
        f"synchronous = {'NORMAL' if durability is Durability.GROUP else 'FULL'}",
        "wal_autocheckpoint = 0",
        "cell_size_check = ON",
        "recursive_triggers = ON",
        # A truncated or failing file would end the process with SIGBUS where a read returns an error.
        "mmap_size = 0",
        f"cache_size = -{CACHE_KIB}",
        "temp_store = MEMORY",
        # What is deleted is written over with zeros: measured, within the noise of inserts, updates and deletes.
        "secure_delete = ON",
        "query_only = ON",
    ):
        sqlite.execute(f"PRAGMA {pragma}").fetchall()
    # After `wal_autocheckpoint`, which would replace it.
    sqlite.set_wal_hook(con.note_frames)


def require_our_file(con: Connection, *, may_be_empty: bool) -> None:
    """Raise `IntegrityError` when the file is not a database, or another program's."""
    application_id, pages = _pragma(con, "application_id"), _pragma(con, "page_count")
    if application_id != APPLICATION_ID and (pages or not may_be_empty):
        raise IntegrityError(
            f"{con.path} is not a Hexad store but an SQLite file of another program "
            f"(application id {application_id!r}); it was left unchanged. Choose another path for the store."
        )


def prepare_file(con: Connection) -> bool:
    """Make the file a store that many processes can share; return whether anything had to be done.

    Called in line, because processes that change the journal mode at once get in each other's way. A
    connection whose file was prepared must be configured again.
    """
    empty = not _pragma(con, "page_count")
    if not empty and _pragma(con, "journal_mode") == "wal":
        return False
    con.execute("PRAGMA query_only = OFF")
    con.execute("PRAGMA synchronous = FULL")
    if empty:
        con.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        con.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    # To its end, where it commits: a statement that is dropped earlier could not report a failure.
    ((mode,),) = con.execute("PRAGMA journal_mode = WAL").fetchall()
    if mode != "wal":
        raise StorageFailure(
            f"{con.path} cannot be shared: its file system does not support SQLite's WAL "
            f"(journal mode {mode!r}). Move the store to a local disk."
        )
    con.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # makes the WAL file
    files.sync_dir(con.path.parent)
    return True


def _pragma(con: Connection, name: str) -> object:
    row = con.execute(f"PRAGMA {name}").fetchone()
    return row[0] if row else None


# Reading where no files can be made beside a database -----------------------------------------------------------

_ROOM_BYTES: Final = 32_768
"""What SQLite's shared memory takes at least."""
_NO_ROOM: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})
_ATTEMPTS: Final = 3


def has_room(folder: Path) -> bool:
    """Return whether SQLite can make the file beside a database in which its readers share the log's index."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
    except OSError as error:
        return error.errno not in _NO_ROOM
    return True


class PrivateCopy:
    """A database with its log, of one moment, in a temporary folder for its owner alone; `close` removes it.

    Raises `StorageFailure` where there is no room for it, or somebody goes on writing meanwhile.
    """

    def __init__(self, database: Path) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        originals = [database, database.with_name(f"{database.name}-wal")]
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="hexad-")
            self.path = Path(self._folder.name) / database.name
            for _ in range(_ATTEMPTS):
                before = list(map(_state, originals))
                for original in originals:
                    shutil.copyfile(original, self.path.with_name(original.name))
                if before == list(map(_state, originals)):
                    return
        except OSError as error:
            self.close()
            raise StorageFailure(
                f"{database.parent} cannot be written, and a program that was killed left a log there with what was "
                f"committed last. To read both, {sum(map(_size, originals)):,} bytes are copied to "
                f"{tempfile.gettempdir()}, which failed: {error.strerror or error}. Set TMPDIR to a folder with room, "
                "or open the store once where it can be written."
            ) from error
        self.close()
        raise StorageFailure(
            f"{database} is being written by another program, and {database.parent} cannot be written by this one. "
            "Try again, or open the store where it can be written."
        )

    def close(self) -> None:
        """Remove the copy. Idempotent."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _state(file: Path) -> tuple[int, int, int]:
    stat = os.stat(file)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
