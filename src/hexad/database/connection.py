"""The one door to SQLite: a `Database` per file, one connection per thread, transactions that end durable.

Writing is only possible inside `Database.transaction()`, so that nothing bypasses the queue and the shared sync of
`hexad.database.commit_queue`: a connection is `query_only` until its first transaction, and outside of them refuses to
commit from then on. (Switching `query_only` each time has SQLite compile every statement anew: a sixth of the time to
remember a text.) Readers see a commit from the moment it was made, which is some milliseconds before it is durable and
acknowledged.

Threads and forks: a connection belongs to the thread that first used it. A `Database` that was inherited
through `fork()` cannot be used in the child and says so; the child opens the store again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

from hexad.core.clock import Clock
from hexad.core.lazy import CacheBook
from hexad.database.commit_queue import CommitInDoubt, CommitQueue, Durability
from hexad.database.sqlite_errors import FOREIGN, extended_code, translated, translated_error
from hexad.database.sqlite_setup import (
    APPLICATION_ID,
    CACHE_KIB,
    PAGE_BYTES,
    PrivateCopy,
    configure,
    has_log,
    has_room,
    make_private,
    prepare_file,
    require_not_emptied,
    require_our_file,
    require_safe_library,
    sqlite_library_is_safe,
    unlock,
)
from hexad.database.statements import Connection, Row, Rows, SQLValue, Tracer, Tracing
from hexad.errors import InvalidInput, StorageFailure

CHECKPOINT_FRAMES = 2_000
"""Copy after so many new frames (pages of 4 KiB), without stopping readers or writers."""
RESTART_FRAMES = 4_000
"""From this length on also hold writers back for a moment, so that the WAL starts over in its place: syncing
frames that are written over old ones is faster than syncing a file that grows."""
TRUNCATE_FRAMES = 32_000
"""A WAL that a long reader let grow to this length is also cut."""
DRAIN_WAIT_S = 0.25
TURN_WAIT_S = 1.0
ANALYSIS_LIMIT_ROWS = 400
PLANNED_ROWS = 1_000
"""Tables with fewer rows have no statistics: going over all of such a table is cheap by them, and stays so in the plans
of a program that opens the store and fills it. Without any SQLite takes a table for a large one."""
S = TypeVar("S")
R = TypeVar("R")


def checkpoint_when_due(con: Connection, queue: CommitQueue, *, busy_timeout_s: float) -> None:
    """Keep the WAL short, after a commit of `con`.

    Under readers that overlap without a gap SQLite can copy, but never start the WAL over; holding writers
    back lets new readers read from the database alone until the old ones are done. Only a reader that stays
    longer than `DRAIN_WAIT_S` can make the WAL grow on.
    """
    frames, tried = con.wal_frames, queue.checkpointed_at
    if frames < tried:  # the WAL started over since
        tried = queue.checkpointed_at = 0
    # A checkpoint after a failed sync would copy pages whose frames may be lost, and tear the database.
    if frames - tried < CHECKPOINT_FRAMES or queue.poisoned:
        return
    queue.checkpointed_at = frames
    with contextlib.suppress(apsw.Error):
        con.sqlite.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    if frames >= RESTART_FRAMES and queue.acquire_within(TURN_WAIT_S):
        try:
            _start_over(con, queue, cut=frames >= TRUNCATE_FRAMES)
        finally:
            con.sqlite.set_busy_timeout(int(busy_timeout_s * 1000))
            queue.release()


def _start_over(con: Connection, queue: CommitQueue, *, cut: bool) -> None:
    con.sqlite.set_busy_timeout(int(DRAIN_WAIT_S * 1000))
    mode = apsw.SQLITE_CHECKPOINT_TRUNCATE if cut else apsw.SQLITE_CHECKPOINT_RESTART
    with contextlib.suppress(apsw.Error):
        con.sqlite.wal_checkpoint(mode=mode)
        queue.checkpointed_at = 0


def prepare_to_close(con: Connection, queue: CommitQueue, *, wrote: bool) -> None:
    """Refresh the planner's statistics if there is time, and let SQLite empty the WAL if `con` is the last user."""
    if queue.poisoned:
        return
    with contextlib.suppress(apsw.Error):
        if wrote and queue.try_acquire():
            try:
                con.allow_writes()
                con.writing = True
                _refresh_statistics(con.sqlite)
            finally:
                queue.release()
        con.sqlite.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _refresh_statistics(sqlite: apsw.Connection) -> None:
    """Do what `PRAGMA optimize` does, for tables that are not small; earlier versions did it for all."""
    sqlite.execute(f"PRAGMA analysis_limit = {ANALYSIS_LIMIT_ROWS}").fetchall()
    for row in sqlite.execute("PRAGMA optimize(0xffff)").fetchall():  # says what it would do
        analyze = str(row[0])
        table = analyze.removeprefix("ANALYZE ")
        if not _is_small(sqlite, table):
            sqlite.execute(analyze).fetchall()
    small = "SELECT tbl FROM sqlite_stat1 GROUP BY tbl HAVING max(CAST(stat AS INTEGER)) < ?"
    if sqlite.table_exists("main", "sqlite_stat1"):
        for (name,) in sqlite.execute(small, (PLANNED_ROWS,)).fetchall():
            for statistics in ("sqlite_stat1", "sqlite_stat4"):
                if sqlite.table_exists("main", statistics):
                    sqlite.execute(f"DELETE FROM {statistics} WHERE tbl = ?", (name,))


def _is_small(sqlite: apsw.Connection, table: str) -> bool:
    """Whether a table, named as SQL, has fewer rows than are planned by statistics."""
    with contextlib.suppress(apsw.SQLError):  # a table without row numbers
        rows = sqlite.execute(f"SELECT coalesce(max(rowid), 0) < ? FROM {table}", (PLANNED_ROWS,)).fetchall()
        if rows[0][0]:
            return True
    return sqlite.execute(f"SELECT 1 FROM {table} LIMIT 1 OFFSET {PLANNED_ROWS - 1}").fetchone() is None


__all__ = [
    "APPLICATION_ID",
    "PAGE_BYTES",
    "Connection",
    "Database",
    "Durability",
    "Row",
    "Rows",
    "SQLValue",
    "Tracer",
    "sqlite_library_is_safe",
]


class _Undone(Exception):
    """Ends a trial: what it changed is rolled back."""


class _Pages:
    """The pages that the connections of one database keep."""

    def __init__(self, connections: Callable[[], Sequence[Connection]]) -> None:
        self._connections = connections

    @property
    def limit_bytes(self) -> int:
        """How much all connections keep at most: one for each thread that asks."""
        return CACHE_KIB * 1_024 * len(self._connections())

    def nbytes(self) -> int:
        """Return how much they keep; of one that is busy in another thread nothing is known."""
        used = 0
        for con in self._connections():
            with contextlib.suppress(apsw.ThreadingViolationError, apsw.ConnectionClosedError):
                used += con.sqlite.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]
        return used


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
        key: bytes | None,
    ) -> None:
        self.path = path
        self.clock = clock
        self.readonly = readonly
        self.durability = durability
        self._tracing = Tracing(clock)
        self._lock_timeout_s = lock_timeout_s
        self._vfs = vfs
        self._key = key
        self._closed = False
        self._forked = False
        self._local = threading.local()
        self._all_lock = threading.Lock()
        self._all: list[tuple[weakref.ref[threading.Thread], Connection]] = []
        self._queue: CommitQueue | None = None
        self._wrote = False
        self._private: PrivateCopy | None = (
            None  # what is read where no files can be made beside the database
        )
        self._unchanging = False  # whether it is read as a file that nobody can write to
        self._guard: Callable[[Connection], object] | None = None
        self.caches = CacheBook()
        # As their counter was when the caches were last found to hold nothing that was erased.
        self.purges = 0
        self._pages = _Pages(lambda: [con for _, con in list(self._all)])
        self.caches.add("sqlite pages", self._pages)

    def guard_writes(self, guard: Callable[[Connection], object] | None) -> None:
        """Have `guard` look in each writing transaction, before anything is changed; what it raises ends it.

        None is for whoever migrates.
        """
        self._guard = guard

    @property
    def tracer(self) -> Tracer | None:
        """Called with every statement and the seconds that it took to start; settable, None for silence."""
        return self._tracing.tracer

    @tracer.setter
    def tracer(self, tracer: Tracer | None) -> None:
        self._tracing.tracer = tracer

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
        key: bytes | None = None,
    ) -> Database:
        """Open the store at `path`, created private when missing (unless `readonly`). With `key`, 32 bytes, the file
        and its log are encrypted.

        Raises `StorageFailure` when the place cannot be used, `IntegrityError` when the file is not a Hexad
        store, is damaged or does not open with the key, and `StoreLocked` when another program keeps it locked for
        `lock_timeout_s` seconds.
        """
        require_safe_library()
        if key is not None and vfs is not None:
            # It would stand before the cipher, and see (and write) the log in plain text.
            raise InvalidInput(
                f"{path} is encrypted: it cannot be opened through the file system layer {vfs!r}."
            )
        path = Path(os.path.realpath(path))  # SQLite puts the WAL beside the real file
        database = cls(
            path,
            clock=clock,
            readonly=readonly,
            durability=durability,
            lock_timeout_s=lock_timeout_s,
            vfs=vfs,
            key=key,
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
        require_not_emptied(self.path)
        if not self.path.exists():
            raise StorageFailure(
                f"There is no store at {self.path}; check the path, or open it for writing to create it."
            )
        try:
            require_our_file(self._connection(), may_be_empty=False)
        except StorageFailure:
            # A store that nobody has open is read by files that SQLite makes beside it: on a full disk or in a folder
            # that may not be written there is no room for them. Without a log nothing is in them; a log that a killed
            # program left is read with the database in a copy of both.
            copies = has_log(self.path)
            if copies and has_room(self.path.parent):
                raise
            self._close_all()
            if copies:
                self._private = PrivateCopy(self.path)
            self._unchanging = not copies
            require_our_file(self._connection(), may_be_empty=False)

    def _open_writable(self) -> None:
        require_not_emptied(self.path)
        make_private(self.path)
        self._queue = CommitQueue(self.path, clock=self.clock, lock_timeout_s=self._lock_timeout_s)
        self._queue.acquire()
        try:
            con = self._connection()
            require_our_file(con, may_be_empty=True)
            if prepare_file(con):
                self._configure(con)
        finally:
            self._queue.release()
        self._queue.attach_wal(required=self.durability is Durability.GROUP)

    def require_open(self) -> None:
        """Raise `InvalidInput` once it is closed."""
        if self._closed:
            raise InvalidInput(f"The store {self.path} is closed; open it again.")

    def _connection(self) -> Connection:
        """Return this thread's connection, opened on its first use."""
        if self._forked:  # noted once in the child: to ask for the number of the process at each call is dear
            raise InvalidInput(
                f"The store {self.path} was opened before a fork; open it again in the child process to use it."
            )
        if self._closed:
            self.require_open()
        con: Connection | None = getattr(self._local, "con", None)
        if con is None:
            con = self._local.con = self._connect()
        return con

    def _connect(self) -> Connection:
        flags = apsw.SQLITE_OPEN_READONLY if self.readonly else apsw.SQLITE_OPEN_READWRITE
        with translated(self.path):
            name = str(self.path if self._private is None else self._private.path)
            if self._unchanging:
                name, flags = f"file:{quote(name)}?immutable=1", flags | apsw.SQLITE_OPEN_URI
            sqlite = apsw.Connection(name, flags=flags, vfs=self._vfs)
            if not self.readonly and sqlite.readonly("main"):
                # SQLite tries again read-only, whatever the reason was: too many open files pass, and this stays.
                sqlite.close(True)
                raise StorageFailure(
                    f"{self.path} could be opened for reading only: it may not be written, or too many files are open. "
                    "Check its owner and mode, and the limit (`ulimit -n`), then try again."
                )
            if self._key is not None:
                unlock(sqlite, self._key)
        con = Connection(sqlite, self.path, self._tracing)
        with self._all_lock:
            self._close_those_of_ended_threads()
            self._all.append((weakref.ref(threading.current_thread()), con))
        self._configure(con)
        return con

    def _configure(self, con: Connection) -> None:
        with translated(self.path, con.sqlite):
            configure(con, durability=self.durability, busy_timeout_s=self._lock_timeout_s)

    def _close_those_of_ended_threads(self) -> None:
        for entry in self._all[1:]:
            thread = entry[0]()
            if thread is None or not thread.is_alive():
                self._all.remove(entry)
                with contextlib.suppress(apsw.Error):
                    entry[1].sqlite.close(True)

    @property
    def _keeper(self) -> Connection | None:
        """The first connection: open until `close`, so that the WAL stays the same file."""
        return self._all[0][1] if self._all else None

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
        con.view += 1
        try:
            yield con
            wrote = con.sqlite.txn_state("main") == apsw.SQLITE_TXN_WRITE
        finally:
            con.depth = 0
            self._roll_back(con)
        if wrote:
            raise StorageFailure(
                f"{self.path} is readonly in a read: what was written was undone; open a transaction for it."
            )

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[Connection]:
        """Run the block as one change: all of it is kept, durable when the outermost block ends, or nothing.

        With `durable=False` the outermost block does not wait for the disk: a crash of the program takes nothing, lost
        power what no durable change has followed. Changes are lost in their order, so whatever is on the disk has all
        that came before it.

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
        self.require_writable()
        assert self._queue is not None
        number = yield from self._write(con, self._queue)
        if con.purged:
            self.caches.release()
        if durable and self.durability is Durability.GROUP:
            self._queue.wait_durable(number)
        checkpoint_when_due(con, self._queue, busy_timeout_s=self._lock_timeout_s)

    def joined(self) -> AbstractContextManager[Connection]:
        """Run the block as part of the transaction around it, or as one of its own where there is none.

        For a step that its caller does not carry on without: an exception undoes the level around it, and no
        savepoint is paid for (one text was sixteen of them, a tenth of the time to store it).
        """
        con = self._connection()
        return con if con.depth and con.writing else self.transaction()

    def prepare_and_act(
        self,
        *,
        prepare: Callable[[S | None], S],
        is_current: Callable[[S], bool],
        act: Callable[[S], R],
        attempts: int = 8,
    ) -> R:
        """Act in one transaction on what `prepare` found before it, and prepare anew where that is not current by then.

        Nobody can write while it is prepared inside of the transaction: that is for after the last attempt only.
        `prepare` is shown what it found before, None at first.
        """
        state: S | None = None
        for _ in range(attempts):
            state = prepare(state)
            with self.transaction():
                if is_current(state):
                    return act(state)
        with self.transaction():
            return act(prepare(state))

    @contextmanager
    def trial(self) -> Iterator[Connection]:
        """Run the block as a change that is undone at its end: what it would do can be read, and nobody else sees it.

        It takes the turn to write, so that slow work stands before it. Of a store that was opened read-only it changes
        a copy in memory. Nests, in a transaction too. What is in files and in memory is not undone: leave it alone.
        """
        con = self._connection()
        if self.readonly and not con.depth:
            with self._copy(con) as copy:
                yield copy
            return
        with contextlib.suppress(_Undone), self.transaction() as con:
            con.trials += 1
            try:
                yield con
            finally:
                con.trials -= 1
            raise _Undone

    @property
    def in_transaction(self) -> bool:
        """Whether this thread sees one moment of the store, as it was when that began."""
        return self._connection().depth > 0

    @property
    def in_trial(self) -> bool:
        """Whether what this thread changes now will be undone."""
        return self._connection().trials > 0

    @contextmanager
    def _copy(self, con: Connection) -> Iterator[Connection]:
        """Let this thread work on a copy in memory, inside a transaction that never ends well."""
        with translated(self.path):
            image = bytearray(con.sqlite.serialize("main"))
            image[18:20] = (
                b"\1\1"  # a database in memory has no write-ahead log, and one that says so is refused
            )
            sqlite = apsw.Connection(":memory:")
            sqlite.deserialize("main", bytes(image))
        copy = self._local.con = Connection(sqlite, self.path, self._tracing)
        try:
            self._configure(copy)
            copy.execute("PRAGMA query_only = OFF")
            copy.execute("BEGIN IMMEDIATE")
            copy.depth, copy.writing, copy.trials = 1, True, 1
            yield copy
        finally:
            self._local.con = con
            sqlite.close(True)

    def require_writable(self) -> None:
        """Raise `StorageFailure` when the store was opened read-only."""
        if self.readonly:
            raise StorageFailure(
                f"Cannot write to {self.path}: it was opened read-only. Open it for writing."
            )

    def _write(self, con: Connection, queue: CommitQueue) -> Generator[Connection, None, int]:
        queue.acquire()
        try:
            con.allow_writes()
            con.execute("BEGIN IMMEDIATE")
            con.depth, con.writing = 1, True
            con.begin_counts()
            con.purged = False
            frames_before = con.wal_frames
            con.wal_frames = 0
            try:
                if queue.poisoned:
                    queue.repair()
                if self._guard is not None:
                    self._guard(con)
                yield con
                self._commit(con)
            except BaseException:
                con.wal_frames = frames_before
                self._roll_back(con)
                raise
            finally:
                con.depth, con.writing = 0, False
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
        con.write_counts()
        try:
            con.sqlite.execute("COMMIT")
        except apsw.IOError as error:
            if extended_code(error) == apsw.SQLITE_IOERR_FSYNC:
                raise CommitInDoubt(
                    f"The change was written to {self.path} but syncing it failed ({error}). "
                    "Check the disk, then look whether the change is there before repeating it."
                ) from error
            raise translated_error(error, self.path, con.sqlite) from error
        except FOREIGN as error:
            raise translated_error(error, self.path, con.sqlite) from error

    @contextmanager
    def _savepoint(self, con: Connection) -> Iterator[None]:
        con.depth += 1
        name = f"level_{con.depth}"
        try:
            con.write_counts()
            con.execute(f"SAVEPOINT {name}")
            try:
                yield
            except BaseException:
                con.begin_counts()
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
        con.begin_counts()  # what was counted is undone: a later read is not to write it
        if con.in_transaction:
            # An error here adds nothing: the transaction ends with the connection at the latest.
            with contextlib.suppress(apsw.Error):
                con.sqlite.execute("ROLLBACK")

    def query(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> list[Row]:
        """Return all rows of one statement."""
        return self._connection().execute(sql, params).fetchall()

    def query_one(self, sql: str, params: Sequence[SQLValue] | dict[str, SQLValue] = ()) -> Row | None:
        """Return the first row of one statement, or None."""
        return self._connection().execute(sql, params).fetchone()

    def own_connection(self) -> Connection:
        """Return this thread's connection, in no block of reading: for what asks SQLite about itself."""
        return self._connection()

    def close(self) -> None:
        """Close every thread's connection; no other thread may be using the store. Idempotent.

        The last user of the file also empties and removes the WAL.
        """
        if self._closed:
            return
        self._closed = True
        if self._forked:
            return
        _open_databases.discard(self)
        try:
            if self._queue is not None and self._keeper is not None:
                prepare_to_close(self._keeper, self._queue, wrote=self._wrote)
        finally:
            self._discard()

    def _discard(self) -> None:
        self._closed = True
        self._close_all()
        if self._queue is not None:
            self._queue.close()
            self._queue = None

    def _close_all(self) -> None:
        with self._all_lock:
            for _thread, con in reversed(self._all):
                # The last checkpoint is owed to nobody: if it fails, the next one to open the store does it.
                with contextlib.suppress(apsw.Error):
                    con.sqlite.close(True)
            self._all = []
        self._local = threading.local()
        if self._private is not None:
            self._private.close()

    def _abandon_in_child(self) -> None:
        self._forked = True
        if self._queue is not None:
            self._queue.abandon()


_open_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _abandon_all_in_child() -> None:
    for database in tuple(_open_databases):
        database._abandon_in_child()


os.register_at_fork(after_in_child=_abandon_all_in_child)
