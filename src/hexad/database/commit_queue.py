"""The commit protocol: how many processes write to one SQLite file, fairly, durably, and share their syncs.

A write goes through these steps, in this order:

1. queue     take the queue lock (`flock` on `<db>-commit`): who does not get it is woken by who releases it,
             instead of polling SQLite's own lock, and who waits for long is next, so nobody starves;
2. commit    `BEGIN IMMEDIATE` … `COMMIT` under `synchronous=NORMAL`: frames are in the WAL, not on the disk;
3. number    still in line, take the next commit number: `written = max(written, synced) + 1`;
4. release   let the next writer in;
5. sync      until `synced >= number`: take the sync lock (`flock` on `<db>-sync`), read `written`,
             `fdatasync` the WAL, set `synced` to the value read, and wake all who wait: most of them find
             their number covered and are done, one of the others leads the next sync.

Why an acknowledged commit is on the disk: `synced` only ever becomes a value of `written` that was read
before an `fdatasync` that returned without error, and a commit takes its number after its frames were
written. The two counters live in a small memory-mapped file that is never synced. What it holds after lost
power does not matter: step 3 makes the new number larger than both, whatever they are, so that no stale value
can cover it.

Checkpoints: under NORMAL, SQLite syncs the WAL before it copies pages and the database before it lets the WAL
start over, and writes and syncs a new header before the first frame over old ones. So at any moment either
the WAL or the database holds a commit that was synced, and a commit whose WAL was reset before step 5 is
already in the synced database. The WAL cannot be deleted or replaced between steps 2 and 5, because SQLite
deletes it only when the last connection closes and ours is open.

A failed `fdatasync` is final for the commits it covered: the kernel may call the lost pages clean, so a
second call would succeed and prove nothing. They are reported as `CommitInDoubt`, nobody acknowledges
anything on this WAL, and the next writer first rewrites it in place and syncs that.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from enum import Enum
from pathlib import Path

from hexad.core.clock import Clock
from hexad.database import files
from hexad.database.file_locks import AGING_BYTES, LockAging, TimedFlock
from hexad.database.wakeup import ProcessWakeup
from hexad.errors import StorageFailure, StoreLocked

_COUNTERS_BYTES = 64
_SHARED_BYTES = _COUNTERS_BYTES + AGING_BYTES
_SYNCED, _WRITTEN, _POISONED, _HOLDER, _CHECKPOINTED = range(5)
_TURN_BELL_OFFSET, _SYNC_BELL_OFFSET = 56, 60
_IMPLAUSIBLE = 1 << 62
# A leader that was stopped in the middle must not stop the others: after this long each syncs for itself.
_SYNC_PATIENCE_S = 1.0
_RECHECK_S = 0.02


class Durability(Enum):
    """How a commit gets to the disk before it is acknowledged."""

    GROUP = "group"
    """One `fdatasync` of the WAL for all writers that wait; `<db>-wal` must be a real file."""
    FULL = "full"
    """SQLite syncs inside every commit; for other virtual file systems."""


class CommitInDoubt(StorageFailure):
    """The commit was written, but syncing it failed: it may or may not survive lost power.

    Other readers see it already. Look before repeating the call.
    """


class _Counters:
    """Numbers shared by every process that has the store open; see the module's text for their meaning."""

    def __init__(self, fd: int, path: Path) -> None:
        size = os.fstat(fd).st_size
        if size < _SHARED_BYTES:
            # Written, not only lengthened: a hole could not be filled on a full disk, and a memory-mapped
            # write into it would end the process. What is there stays: an older version may have it mapped.
            files.write_at(fd, bytes(_SHARED_BYTES - size), size, path)
        with files.operation("lock", path, "map"):
            self._map = mmap.mmap(fd, _SHARED_BYTES)
        # Native 8-byte items are stored and loaded whole; `struct` with a byte order would copy byte by byte.
        self._items = memoryview(self._map)[:_COUNTERS_BYTES].cast("Q")
        self.aging = LockAging(self._map, _COUNTERS_BYTES)
        self.turn_bell = ProcessWakeup(self._map, _TURN_BELL_OFFSET)
        self.sync_bell = ProcessWakeup(self._map, _SYNC_BELL_OFFSET)
        if max(self._items[_SYNCED], self._items[_WRITTEN]) > _IMPLAUSIBLE:
            self._items[_SYNCED] = self._items[_WRITTEN] = 0

    def __getitem__(self, field: int) -> int:
        return self._items[field]

    def __setitem__(self, field: int, value: int) -> None:
        self._items[field] = value

    def close(self) -> None:
        self.aging.close()
        self.turn_bell.close()
        self.sync_bell.close()
        self._items.release()
        self._map.close()


class CommitQueue:
    """The line of writers in front of one database file, and the syncs that they share."""

    def __init__(self, database: Path, *, clock: Clock, lock_timeout_s: float) -> None:
        self.path = database
        self._timeout_s = lock_timeout_s
        self._wal_path = database.with_name(database.name + "-wal")
        self._wal_fd = -1
        self._counters: _Counters | None = None
        self._queue = TimedFlock(database.with_name(database.name + "-commit"), clock=clock)
        try:
            self._sync = TimedFlock(database.with_name(database.name + "-sync"), clock=clock)
        except BaseException:
            self._queue.close()
            raise
        try:
            self._map_counters()
        except BaseException:
            self.close()
            raise

    def _map_counters(self) -> None:
        # Under the lock, because whoever comes first fills the file.
        if not self._queue.acquire(self._timeout_s):
            raise StoreLocked(
                f"Cannot open {self.path}: its commit queue was held for {self._timeout_s:g} s."
            )
        try:
            self._counters = _Counters(self._queue.fd, self._queue.path)
        finally:
            self._queue.release()
        self._queue.hang(self._counters.turn_bell)
        self._queue.let_age(self._counters.aging)
        self._sync.hang(self._counters.sync_bell)

    @property
    def _shared(self) -> _Counters:
        if self._counters is None:
            raise StorageFailure(f"The commit queue of {self.path} is closed; open the store again.")
        return self._counters

    def acquire(self) -> None:
        """Stand in line; return when it is this thread's turn, or raise `StoreLocked` after the time-out."""
        if not self.acquire_within(self._timeout_s):
            raise StoreLocked(self._locked_message())

    def try_acquire(self) -> bool:
        """Take the turn to write if nobody has it; return whether that worked."""
        return self.acquire_within(0.0)

    def acquire_within(self, timeout_s: float) -> bool:
        """Stand in line for at most `timeout_s` seconds; return whether it is this thread's turn."""
        if not self._queue.acquire(timeout_s):
            return False
        self._shared[_HOLDER] = os.getpid()
        return True

    def release(self) -> None:
        """Let the next writer in."""
        self._shared[_HOLDER] = 0
        self._queue.release()

    def _locked_message(self) -> str:
        holder = self._shared[_HOLDER]
        who = f"process {holder}" if holder else "another process"
        return (
            f"Cannot write to {self.path}: {who} has held its write lock for {self._timeout_s:g} s. "
            "Wait and try again; if that process hangs or is stopped, end it."
        )

    def attach_wal(self, *, required: bool) -> None:
        """Open the WAL for syncing; the caller keeps a connection open, so that it stays the WAL."""
        if not required and not self._wal_path.exists():
            return
        with files.operation("open", self._wal_path, "open"):
            self._wal_fd = os.open(self._wal_path, os.O_RDWR | os.O_CLOEXEC)
        # SQLite syncs the directory of a new WAL together with its header, before the first frame. That holds
        # for its own file system only, so where nothing was written yet the name is made durable here too.
        if os.fstat(self._wal_fd).st_size == 0:
            files.sync_dir(self._wal_path.parent)

    def number_commit(self, *, wrote: bool) -> int:
        """Return the number to wait for; called in line, after COMMIT.

        A transaction that wrote nothing waits for what it may have read: another's commit that is not synced
        yet.
        """
        counters = self._shared
        if not wrote:
            return counters[_WRITTEN]
        number = max(counters[_WRITTEN], counters[_SYNCED]) + 1
        counters[_WRITTEN] = number
        return number

    def wait_durable(self, number: int) -> None:
        """Return when the commit with this number is on the disk; raise `CommitInDoubt` if it may not be."""
        counters = self._shared
        silent_s = 0.0
        while True:
            rung = counters.sync_bell.rung
            if counters[_SYNCED] >= number:
                return
            if counters[_POISONED]:
                raise self._in_doubt("an earlier sync of it failed")
            if self._sync.try_acquire():
                self._lead(number)
            elif silent_s >= _SYNC_PATIENCE_S:
                self._sync_wal()  # whoever leads is stopped or very slow; a sync needs nobody's permission
            elif not counters.sync_bell.wait(rung, _RECHECK_S):
                silent_s += _RECHECK_S

    def _lead(self, number: int) -> None:
        try:
            counters = self._shared
            if counters[_SYNCED] < number and not counters[_POISONED]:
                self._sync_wal()
        finally:
            self._sync.release(wake_everyone=True)

    def _sync_wal(self) -> None:
        counters = self._shared
        covered = counters[_WRITTEN]
        try:
            # Not `fstat`: since Linux 6.13 a look at a file's times makes the next write store a finer one, and
            # the sync then has to write the inode as well (measured: 290 µs a commit instead of 176).
            if not os.access(self._wal_path, os.F_OK):
                raise self._in_doubt("the file was removed while the store was open")
            files.fdatasync(self._wal_fd, self._wal_path)
        except StorageFailure as error:
            counters[_POISONED] = 1
            raise self._in_doubt(str(error)) from error
        counters[_SYNCED] = covered

    def _in_doubt(self, reason: str) -> CommitInDoubt:
        return CommitInDoubt(
            f"The change was written to {self._wal_path} but may not survive lost power: {reason}. "
            "Check the disk, then look whether the change is there before repeating it."
        )

    @property
    def poisoned(self) -> bool:
        """Whether a sync failed since the WAL was last known to be on the disk."""
        return bool(self._shared[_POISONED])

    def repair(self) -> None:
        """Write the WAL again and sync it, after a failed sync; called in line with SQLite's write lock held.

        Raises `StorageFailure` while the disk still refuses.
        """
        covered = self._shared[_WRITTEN]
        files.rewrite_in_place(self._wal_fd, self._wal_path)
        self._shared[_SYNCED] = covered
        self._shared[_POISONED] = 0

    @property
    def checkpointed_at(self) -> int:
        """How many frames the WAL had when a checkpoint was last tried."""
        return self._shared[_CHECKPOINTED]

    @checkpointed_at.setter
    def checkpointed_at(self, frames: int) -> None:
        self._shared[_CHECKPOINTED] = frames

    def abandon(self) -> None:
        """In a forked child: drop the descriptors, so that the parent's locks end with the parent."""
        self._queue.abandon()
        self._sync.abandon()
        self._close_wal()

    def close(self) -> None:
        """Give back every descriptor."""
        self._close_wal()
        self._queue.close()
        self._sync.close()
        if self._counters is not None:
            self._counters.close()
            self._counters = None

    def _close_wal(self) -> None:
        if self._wal_fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._wal_fd)
            self._wal_fd = -1
