"""The one door to SQLite: a `Database` per file, one connection per thread, transactions that end durable.

Writing is only possible inside `Database.transaction()`: outside it every connection is `query_only`, so that
nothing bypasses the queue and the shared sync of `hexad.storage.commit`.

Threads and forks: a connection belongs to the thread that first used it. A `Database` that was inherited
through `fork()` cannot be used in the child and says so; the child opens the store again. Close it in the
parent.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from hexad.clock import Clock
from hexad.errors import IntegrityError, InvalidInput, StorageFailure
from hexad.storage import files
from hexad.storage.commit import CommitInDoubt, CommitQueue, Durability
from hexad.storage.sqlite_errors import FOREIGN, extended_code, translated, translated_error

APPLICATION_ID = 0x48455844  # "HEXD"
PAGE_BYTES = 4096
CHECKPOINT_FRAMES = 2_000
TRUNCATE_FRAMES = 16_000
TRUNCATE_WAIT_MS = 250
CACHE_KIB = 16_384
ANALYSIS_LIMIT_ROWS = 400
_FIRST_SAFE_SQLITE = (3, 51, 3)

SQLValue = str | int | float | bytes | None
Row = tuple[SQLValue, ...]
Tracer = Callable[[str, float], None]


def sqlite_library_is_safe(version: tuple[int, int, int]) -> bool:
    """Return False for libraries without WAL or whose WAL reset loses committed rows (3.7.0 to 3.51.2)."""
    return version >= _FIRST_SAFE_SQLITE


def _library_version() -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in apsw.sqlite_lib_version().split(".")[:3])
    return major, minor, patch


class Rows:
    """The rows of one statement, read as they are asked for."""

    __slots__ = ("_cursor", "_path")

    def __init__(self, cursor: apsw.Cursor, path: Path) -> None:
        self._cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Row]:
        try:
            yield from self._cursor
        except FOREIGN as error:
            raise translated_error(error, self._path) from error

    def fetchall(self) -> list[Row]:
        """Return the rows that are left."""
        return list(self)

    def fetchone(self) -> Row | None:
        """Return the next row and end the statement; None when there is none."""
        try:
            row: Row | None = self._cursor.fetchone()
            self._cursor.close(True)
        except FOREIGN as error:
            raise translated_error(error, self._path) from error
        return row


class Connection:
    """One thread's way to run SQL; handed out by `Database.read` and `Database.transaction`."""

    __slots__ = ("_database", "_sqlite", "counts_frames", "depth", "path", "wal_frames", "writing")

    def __init__(self, sqlite: apsw.Connection, database: Database) -> None:
        self._sqlite = sqlite
        self._database = database
        self.path = database.path
        self.depth = 0
        self.writing = False
        self.wal_frames = 0
        self.counts_frames = False

    def execute(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> Rows:
        """Run one statement; iterate over the result for its rows, as tuples."""
        tracer = self._database.tracer
        start = self._database.clock.monotonic() if tracer else 0.0
        try:
            cursor = self._sqlite.execute(sql, params)
        except FOREIGN as error:
            raise translated_error(error, self.path) from error
        if tracer:
            tracer(sql, self._database.clock.monotonic() - start)
        return Rows(cursor, self.path)

    def executemany(self, sql: str, rows: Iterable[Sequence[SQLValue]]) -> None:
        """Run one statement once per row."""
        tracer = self._database.tracer
        start = self._database.clock.monotonic() if tracer else 0.0
        try:
            for _ in self._sqlite.executemany(sql, rows):
                pass
        except FOREIGN as error:
            raise translated_error(error, self.path) from error
        if tracer:
            tracer(sql, self._database.clock.monotonic() - start)

    @property
    def last_insert_rowid(self) -> int:
        """The rowid of this connection's latest INSERT."""
        return self._sqlite.last_insert_rowid()

    @property
    def changes(self) -> int:
        """How many rows the latest INSERT, UPDATE or DELETE changed."""
        return self._sqlite.changes()

    @property
    def total_changes(self) -> int:
        """How many rows this connection has changed since it was opened."""
        return self._sqlite.total_changes()

    @property
    def in_transaction(self) -> bool:
        """Whether SQLite has a transaction open; False after it rolled one back by itself."""
        return self._sqlite.in_transaction

    @property
    def sqlite(self) -> apsw.Connection:
        """The driver's connection, for the modules of `storage` that need more than SQL."""
        return self._sqlite


class Database:
    """One SQLite file, shared by threads and processes. Made by `Database.open`."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        readonly: bool,
        durability: Durability,
        lock_timeout_s: float,
        vfs: str | None,
    ) -> None:
        self.path = path
        self.clock = clock
        self.readonly = readonly
        self.durability = durability
        self.tracer: Tracer | None = None
        self._lock_timeout_s = lock_timeout_s
        self._vfs = vfs
        self._pid = os.getpid()
        self._closed = False
        self._local = threading.local()
        self._all_lock = threading.Lock()
        self._all: list[tuple[weakref.ref[threading.Thread], Connection]] = []
        self._queue: CommitQueue | None = None
        self._wrote = False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        readonly: bool = False,
        durability: Durability = Durability.GROUP,
        lock_timeout_s: float = 30.0,
        vfs: str | None = None,
    ) -> Database:
        """Open the store at `path`, created private when missing (unless `readonly`).

        Raises `StorageFailure` when the place cannot be used, `IntegrityError` when the file is not a Hexad
        store or is damaged, and `StoreLocked` when another program keeps it locked for `lock_timeout_s`
        seconds.
        """
        version = _library_version()
        if not sqlite_library_is_safe(version):
            raise StorageFailure(
                f"SQLite {apsw.sqlite_lib_version()} can lose committed rows when processes share a file; "
                "install apsw-sqlite3mc 3.54 or newer."
            )
        path = Path(os.path.realpath(path))  # SQLite puts the WAL beside the real file
        database = cls(
            path,
            clock=clock,
            readonly=readonly,
            durability=durability,
            lock_timeout_s=lock_timeout_s,
            vfs=vfs,
        )
        try:
            if readonly:
                database._open_readonly()
            else:
                database._open_writable()
        except BaseException:
            database._discard()
            raise
        _open_databases.add(database)
        return database

    def _open_readonly(self) -> None:
        if not self.path.exists():
            raise StorageFailure(
                f"There is no store at {self.path}; check the path, or open it for writing to create it."
            )
        self._check_identity(self._connection())

    def _open_writable(self) -> None:
        files.ensure_dir(self.path.parent)
        with files.operation("open", self.path, "open"):
            new = not self.path.exists()
            # Created here so that it is private from its first moment. Closing a descriptor of an existing
            # database would drop this process's locks on it, so it is opened only when it is not there.
            if new:
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE_MODE))
        self._queue = CommitQueue(self.path, clock=self.clock, lock_timeout_s=self._lock_timeout_s)
        # Under the queue lock: several processes that create the store at once would get in each other's way.
        self._queue.acquire()
        try:
            con = self._connection()
            self._check_identity(con)
            self._prepare_file(con)
        finally:
            self._queue.release()
        self._queue.attach_wal(required=self.durability is Durability.GROUP)

    def _check_identity(self, con: Connection) -> None:
        (application_id,) = con.execute("PRAGMA application_id").fetchone() or (0,)
        (pages,) = con.execute("PRAGMA page_count").fetchone() or (0,)
        if application_id != APPLICATION_ID and (pages or self.readonly):
            raise IntegrityError(
                f"{self.path} is an SQLite file of another program (application id {application_id!r}); "
                "it was left unchanged. Choose another path for the store."
            )

    def _prepare_file(self, con: Connection) -> None:
        (pages,) = con.execute("PRAGMA page_count").fetchone() or (0,)
        (mode,) = con.execute("PRAGMA journal_mode").fetchone() or ("",)
        if pages and mode == "wal":
            return
        con.execute("PRAGMA query_only = OFF")
        if not pages:
            con.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            con.execute("PRAGMA synchronous = FULL")
            con.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        # To its end, where it commits: a statement that is dropped earlier could not report a failure.
        ((mode,),) = con.execute("PRAGMA journal_mode = WAL").fetchall()
        if mode != "wal":
            raise StorageFailure(
                f"{self.path} cannot be shared: its file system does not support SQLite's WAL "
                f"(journal mode {mode!r}). Move the store to a local disk."
            )
        con.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # makes the WAL file
        files.sync_dir(self.path.parent)
        self._configure(con)

    def _connection(self) -> Connection:
        """Return this thread's connection, opened on its first use."""
        if os.getpid() != self._pid:
            raise InvalidInput(
                f"The store {self.path} was opened before a fork and cannot be used in the child process; "
                "open it again there."
            )
        if self._closed:
            raise InvalidInput(f"The store {self.path} is closed; open it again.")
        con: Connection | None = getattr(self._local, "con", None)
        if con is None:
            con = self._local.con = self._connect()
        return con

    def _connect(self) -> Connection:
        flags = apsw.SQLITE_OPEN_READONLY if self.readonly else apsw.SQLITE_OPEN_READWRITE
        with translated(self.path):
            sqlite = apsw.Connection(str(self.path), flags=flags, vfs=self._vfs)
        con = Connection(sqlite, self)
        with self._all_lock:
            alive = [
                (thread, other)
                for thread, other in self._all
                if thread() is not None or other is self._keeper
            ]
            for thread, other in self._all:
                if thread() is None and other is not self._keeper:
                    other.sqlite.close()
            self._all = [*alive, (weakref.ref(threading.current_thread()), con)]
        with translated(self.path):
            self._configure(con)
        return con

    @property
    def _keeper(self) -> Connection | None:
        """The first connection: open until `close`, so that the WAL stays the same file."""
        return self._all[0][1] if self._all else None

    @staticmethod
    def _note_frames(con: Connection, frames: int) -> int:
        con.wal_frames, con.counts_frames = frames, True
        return 0

    def _configure(self, con: Connection) -> None:
        sqlite = con.sqlite
        sqlite.set_busy_timeout(int(self._lock_timeout_s * 1000))
        # Only `close` may checkpoint and delete the WAL; a connection that is dropped (by a forked child, by
        # a forgotten handle, after a failed sync) must not.
        sqlite.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        sqlite.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        sqlite.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
        synchronous = "NORMAL" if self.durability is Durability.GROUP else "FULL"
        for pragma in (
            f"synchronous = {synchronous}",
            "wal_autocheckpoint = 0",
            "cell_size_check = ON",
            "recursive_triggers = ON",
            # A truncated or failing file would end the process with SIGBUS where a read returns an error.
            "mmap_size = 0",
            f"cache_size = -{CACHE_KIB}",
            "temp_store = MEMORY",
            "query_only = ON",
        ):
            sqlite.execute(f"PRAGMA {pragma}").fetchall()
        # After `wal_autocheckpoint`, which would replace it.
        sqlite.set_wal_hook(lambda _con, _name, frames: self._note_frames(con, frames))

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a consistent view of the store: every statement in the block sees the same moment.

        Nests, and joins this thread's open transaction. Neither waits for writers nor holds them up; a view
        that is kept open for long keeps the WAL from starting over, so the file grows meanwhile.
        """
        con = self._connection()
        if con.depth:
            con.depth += 1
            try:
                yield con
            finally:
                con.depth -= 1
            return
        con.execute("BEGIN DEFERRED")
        con.depth = 1
        try:
            yield con
        finally:
            con.depth = 0
            self._roll_back(con)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run the block as one change: all of it is kept, durable when the outermost block ends, or nothing.

        Nests: an exception undoes its own level. Raises `StoreLocked` when the turn to write does not come in
        time, `StorageFailure` when the disk refuses (nothing was kept), and `CommitInDoubt` when the change
        was written but syncing it failed.
        """
        con = self._connection()
        if con.depth and con.writing:
            with self._savepoint(con):
                yield con
            return
        if con.depth:
            raise InvalidInput(
                "transaction() inside read() on the same thread: what was read may be out of date by then; "
                "open the transaction first and read inside it."
            )
        if self.readonly or self._queue is None:
            raise StorageFailure(f"Cannot write to {self.path}: it was opened read-only.")
        number = yield from self._write(con, self._queue)
        if self.durability is Durability.GROUP:
            self._queue.wait_durable(number)
        self._checkpoint_when_due(con, self._queue)

    def _write(self, con: Connection, queue: CommitQueue) -> Generator[Connection, None, int]:
        queue.acquire()
        try:
            con.execute("PRAGMA query_only = OFF")
            con.execute("BEGIN IMMEDIATE")
            con.depth, con.writing = 1, True
            frames_before = con.wal_frames
            con.wal_frames = 0
            try:
                if queue.poisoned:
                    queue.repair()
                yield con
                self._commit(con)
            except BaseException:
                con.wal_frames = frames_before
                self._roll_back(con)
                raise
            finally:
                con.depth, con.writing = 0, False
                con.execute("PRAGMA query_only = ON")
            # Until SQLite has reported a commit once, silence does not mean that nothing was written.
            wrote = bool(con.wal_frames) or not con.counts_frames
            con.wal_frames = con.wal_frames or frames_before
            self._wrote = self._wrote or wrote
            return queue.number_commit(wrote=wrote)
        finally:
            queue.release()

    def _commit(self, con: Connection) -> None:
        if not con.in_transaction:
            raise StorageFailure(
                f"SQLite undid the whole transaction on {self.path} after an earlier error in it; "
                "nothing was kept. Let that error end the block instead of continuing after it."
            )
        try:
            con.sqlite.execute("COMMIT")
        except apsw.IOError as error:
            if extended_code(error) == apsw.SQLITE_IOERR_FSYNC:
                raise CommitInDoubt(
                    f"The change was written to {self.path} but syncing it failed ({error}). "
                    "Check the disk, then look whether the change is there before repeating it."
                ) from error
            raise translated_error(error, self.path) from error
        except FOREIGN as error:
            raise translated_error(error, self.path) from error

    @contextmanager
    def _savepoint(self, con: Connection) -> Iterator[None]:
        con.depth += 1
        name = f"level_{con.depth}"
        try:
            con.execute(f"SAVEPOINT {name}")
            try:
                yield
            except BaseException:
                if con.in_transaction:
                    con.execute(f"ROLLBACK TO {name}")
                    con.execute(f"RELEASE {name}")
                raise
            if con.in_transaction:
                con.execute(f"RELEASE {name}")
        finally:
            con.depth -= 1

    @staticmethod
    def _roll_back(con: Connection) -> None:
        if con.in_transaction:
            # An error here adds nothing: the transaction ends with the connection at the latest.
            with contextlib.suppress(apsw.Error):
                con.sqlite.execute("ROLLBACK")

    def _checkpoint_when_due(self, con: Connection, queue: CommitQueue) -> None:
        frames, tried = con.wal_frames, queue.checkpointed_at
        if frames < tried:  # the WAL started over since
            tried = queue.checkpointed_at = 0
        if frames - tried < CHECKPOINT_FRAMES or queue.poisoned:
            return
        queue.checkpointed_at = frames
        # The commit is already durable: a checkpoint that fails is the next one's matter, and a failing disk
        # will show in the next write.
        with contextlib.suppress(apsw.Error):
            con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if frames >= TRUNCATE_FRAMES:
            self._truncate_wal(con, queue)

    def _truncate_wal(self, con: Connection, queue: CommitQueue) -> None:
        """Hold writers back for a moment, so that readers drain and the WAL can start over."""
        queue.acquire()
        try:
            con.sqlite.set_busy_timeout(TRUNCATE_WAIT_MS)
            with contextlib.suppress(apsw.Error):
                con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                queue.checkpointed_at = 0
        finally:
            con.sqlite.set_busy_timeout(int(self._lock_timeout_s * 1000))
            queue.release()

    def query(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> list[Row]:
        """Return all rows of one statement."""
        return self._connection().execute(sql, params).fetchall()

    def query_one(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> Row | None:
        """Return the first row of one statement, or None."""
        return self._connection().execute(sql, params).fetchone()

    def data_version(self) -> int:
        """Return a number that changes when another connection has committed.

        This thread's own changes do not count. Compare it only with numbers got on the same thread.
        """
        row = self.query_one("PRAGMA data_version")
        return int(row[0]) if row and isinstance(row[0], int) else 0

    def close(self) -> None:
        """Close every thread's connection; no other thread may be using the store. Idempotent.

        The last user of the file also empties and removes the WAL.
        """
        if self._closed:
            return
        self._closed = True
        if os.getpid() != self._pid:
            return
        _open_databases.discard(self)
        try:
            if self._queue is not None and not self._queue.poisoned:
                self._finish()
        finally:
            self._discard()

    def _finish(self) -> None:
        keeper = self._keeper
        if keeper is None or self._queue is None:
            return
        sqlite = keeper.sqlite
        # Neither is owed to anybody: what fails here is done by the next user of the store.
        with contextlib.suppress(apsw.Error):
            if self._wrote and self._queue.try_acquire():
                try:
                    sqlite.execute("PRAGMA query_only = OFF")
                    sqlite.execute(f"PRAGMA analysis_limit = {ANALYSIS_LIMIT_ROWS}").fetchall()
                    sqlite.execute("PRAGMA optimize").fetchall()
                finally:
                    self._queue.release()
            sqlite.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)

    def _discard(self) -> None:
        self._closed = True
        with self._all_lock:
            for _thread, con in reversed(self._all):
                # The last checkpoint is owed to nobody: if it fails, the next one to open the store does it.
                with contextlib.suppress(apsw.Error):
                    con.sqlite.close(True)
            self._all = []
        if self._queue is not None:
            self._queue.close()
            self._queue = None

    def _abandon_in_child(self) -> None:
        if self._queue is not None:
            self._queue.abandon()


_open_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _abandon_all_in_child() -> None:
    for database in tuple(_open_databases):
        database._abandon_in_child()


os.register_at_fork(after_in_child=_abandon_all_in_child)
