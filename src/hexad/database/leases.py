"""Who has the store open, and who may do what only one process may do at a time.

Everything rests on `flock`, which the kernel frees when a process ends in any way, `kill -9` included. Each
open store is a locked file in `openers/`: whether its process is gone is decided by that lock, not by a
process number, which another program may have been given since and which means nothing in another container.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.database import files
from hexad.database.sqlite_setup import require_own_files
from hexad.errors import HexadError, StorageFailure, StoreLocked

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

_POLL_S = 0.02
_REMOVALS: Final = 8
"""So often a store may be removed by who made it while another program opens it; here a loop costs no import."""
_BEGINNINGS: Final = ("keys.json", "memory.db-sync", "memory.db-commit", "memory.db", ".gitignore")
"""The files of a store in which nothing is stored yet: of what a kill leaves of them, removed in this order, the next
opening makes a new store."""
_MAX_HOLDER_BYTES = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that holds a lock: its number, when it took the lock, and what for."""

    pid: int
    since: datetime
    purpose: str
    identity: str
    """Unique per process and opening, also after the number was given to another process."""

    def __str__(self) -> str:
        return f"process {self.pid} ({self.purpose}, since {self.since:%Y-%m-%d %H:%M:%S})"


def process_started(pid: int) -> str | None:
    """Return a mark of when the process started, None when it is gone; the same pid later has another mark.

    The source is field 22 of `/proc/<pid>/stat`. Where there is no `/proc` the mark of a living process is
    empty.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError, NotADirectoryError):
        return "" if not Path("/proc/self/stat").exists() and _answers(pid) else None
    # The second field is the program's name in parentheses and may hold spaces and parentheses itself.
    return stat.rpartition(b")")[2].split()[19].decode("ascii")


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _encode(holder: Holder) -> bytes:
    record = {
        "pid": holder.pid,
        "since": holder.since.isoformat(),
        "purpose": holder.purpose,
        "identity": holder.identity,
    }
    return json.dumps(record).encode("utf-8")


def _decode(data: bytes) -> Holder | None:
    """Return the holder, or None for a file that is empty or was being written."""
    try:
        record = json.loads(data)
        return Holder(
            pid=int(record["pid"]),
            since=datetime.fromisoformat(record["since"]),
            purpose=str(record["purpose"]),
            identity=str(record["identity"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


_IDENTITY: Final = re.compile(r"\d+-\d+-[0-9a-f]{8}")


@lru_cache(maxsize=1)
def _started(own_pid: int) -> str | None:
    return process_started(own_pid)  # what a lease is asked for every few milliseconds of background work


def _this_process(clock: Clock, purpose: str) -> Holder:
    pid = os.getpid()
    identity = f"{pid}-{_started(pid) or 0}-{secrets.token_hex(4)}"
    return Holder(pid=pid, since=clock.now(), purpose=purpose, identity=identity)


def _locked_by_other(fd: int, operation: int) -> bool:
    """Take the lock if it is free; return True when somebody else has it."""
    try:
        fcntl.flock(fd, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def poll(take: Callable[[], bool], *, wait_s: float, clock: Clock) -> bool:
    """Call `take` until it returns True; False when it did not for `wait_s` seconds."""
    deadline = clock.monotonic() + wait_s
    pause, waited_s = threading.Event(), 0.0
    while not take():
        # Counted as well as read: a clock that stands still must not make this endless.
        if clock.monotonic() >= deadline or waited_s >= wait_s:
            return False
        pause.wait(_POLL_S)
        waited_s += _POLL_S
    return True


class Lease:
    """The right to do one kind of work, held by at most one process; the file names the holder."""

    def __init__(self, path: Path, *, clock: Clock, purpose: str = "maintenance") -> None:
        self.path = path
        self._clock = clock
        self._purpose = purpose
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lease."""
        return self._fd >= 0

    def try_acquire(self) -> bool:
        """Return whether the lease is held now; never waits."""
        if self.is_held:
            return True
        fd = files.open_for_locks(self.path)
        try:
            with files.operation("lock", self.path, "lock"):
                is_mine = not _locked_by_other(fd, fcntl.LOCK_EX)
            if is_mine:
                files.truncate(fd, 0, self.path)
                files.write_at(fd, _encode(_this_process(self._clock, self._purpose)), 0, self.path)
        except BaseException:
            os.close(fd)  # and with it the lock: nobody else would get it as long as this process lasts
            raise
        if not is_mine:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def holder(self) -> Holder | None:
        """Return who holds the lease, None when nobody does."""
        try:
            holder = _decode(self.path.read_bytes())
        except FileNotFoundError:
            return None
        if holder is None:
            return None
        started = process_started(holder.pid)
        same = started is not None and holder.identity.startswith(f"{holder.pid}-{started or 0}-")
        return holder if same else None

    def release(self) -> None:
        """Give the lease back, if it is held."""
        if self.is_held:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1

    @contextmanager
    def held_for(self, *, wait_s: float = 0.0) -> Iterator[bool]:
        """Run the block with the lease; the value says whether it was free, or became so within `wait_s`."""
        acquired = poll(self.try_acquire, wait_s=wait_s, clock=self._clock)
        try:
            yield acquired
        finally:
            if acquired:
                self.release()


class OpenLock:
    """Says that this process has the store in `directory` open, until `close` or the end of the process."""

    def __init__(self, directory: Path, *, clock: Clock, purpose: str, wait_s: float = 5.0) -> None:
        """Take a share of the store; raises `StoreLocked` while another process needs it for itself."""
        self._directory = directory / "openers"
        self._lock_path = directory / "open.lock"
        self._clock = clock
        self._holder = _this_process(clock, purpose)
        require_own_files(directory)  # before anything of it is opened, written or removed
        self._fd = self._file_fd = -1
        for attempt in range(_REMOVALS):
            try:
                if self._open(wait_s):
                    return
            except StorageFailure as error:
                if attempt == _REMOVALS - 1 or not isinstance(error.__cause__, FileNotFoundError):
                    raise
        raise StoreLocked(
            f"Others make and remove {directory} again and again; try again when they are done."
        )

    def _open(self, wait_s: float) -> bool:
        """Take the share; False where who made the store had no use for it, and removed it in between."""
        files.ensure_dir(self._directory)
        try:
            self._fd = files.open_for_locks(self._lock_path)
            self._share(wait_s)
            is_there = os.fstat(self._fd).st_nlink > 0
            if is_there:
                self._announce()
        except BaseException:
            self.close()
            raise
        if not is_there:
            self.close()
        return is_there

    @property
    def identity(self) -> str:
        """The name of this opening: what `alive` lists while it lasts."""
        return self._holder.identity

    def _share(self, wait_s: float) -> None:
        if not poll(lambda: not _locked_by_other(self._fd, fcntl.LOCK_SH), wait_s=wait_s, clock=self._clock):
            raise StoreLocked(f"{self._names()} needs the store alone; wait until it is done and try again.")

    def _announce(self) -> None:
        path = self._directory / self.identity
        temporary = path.with_name(f".{path.name}.tmp")
        self._file_fd = files.open_for_locks(temporary)
        try:
            # Locked before it gets its name, so that nobody can take it for the file of a dead process.
            fcntl.flock(self._file_fd, fcntl.LOCK_EX)
            files.write_at(self._file_fd, _encode(self._holder), 0, temporary)
            with files.operation("rename", path, "create"):
                os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    def holders(self) -> list[Holder]:
        """Return every process that has the store open, this one included, oldest first."""
        holders = [holder for path in self._directory.iterdir() if (holder := self._look(path))]
        return sorted(holders, key=lambda holder: (holder.since, holder.identity))

    def alive(self) -> list[str]:
        """Return the identities of the openings that last; work claimed under any other is free again."""
        return [holder.identity for holder in self.holders()]

    def _look(self, path: Path) -> Holder | None:
        """Return the file's holder; remove the file when its process is gone."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            if _locked_by_other(fd, fcntl.LOCK_SH):
                return _decode(os.read(fd, _MAX_HOLDER_BYTES))
            # A temporary name is locked a moment after it appears: leave it to its owner. No other name is ours.
            if _IDENTITY.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
            return None
        finally:
            os.close(fd)

    def _names(self) -> str:
        holders = [holder for holder in self.holders() if holder.identity != self.identity]
        known = {os.getpid(), *(holder.pid for holder in holders)}
        readers = [f"process {pid} (reading)" for pid in _sharing(self._lock_path) if pid not in known]
        return ", ".join([*map(str, holders), *readers]) or "Another process"

    @contextmanager
    def exclusively(self, purpose: str, *, wait_s: float = 0.0) -> Iterator[None]:
        """Run the block while no other process has the store open, and none can open it.

        Raises `StoreLocked`, naming who has it open, when this process is not the only one for `wait_s` seconds. A
        caller that waits has no share meanwhile, so that of two who want to be alone each gets its turn.
        """
        if not poll(self._take_alone, wait_s=wait_s, clock=self._clock):
            fcntl.flock(self._fd, fcntl.LOCK_SH)
            raise StoreLocked(
                f"Cannot {purpose}: {self._names()} has the store open. Close it there and try again."
            )
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_SH)

    def take_alone(self) -> bool:
        """Take the store for this process alone until `close`; where others have it open it stays shared, and False."""
        if self._take_alone():
            return True
        fcntl.flock(self._fd, fcntl.LOCK_SH)
        return False

    def remove_beginnings(self) -> None:
        """Remove the folder of a store that this process has alone, unless it holds more than each begins with."""
        directory = self._lock_path.parent
        # What cannot be removed is a store without contents, as it was.
        with contextlib.suppress(StorageFailure, OSError):
            if {*os.listdir(directory)}.difference(_BEGINNINGS, (self._directory.name, self._lock_path.name)):
                return
            for name in _BEGINNINGS:
                files.unlink(directory / name)
            for path in self._directory.iterdir():
                path.unlink(missing_ok=True)
            self._directory.rmdir()
            # From here on others make it anew, or wait for a lock that has no name any more, and notice.
            self._lock_path.unlink()
            directory.rmdir()

    def _take_alone(self) -> bool:
        if _locked_by_other(self._fd, fcntl.LOCK_EX):
            # A refused change of the lock loses the share that was held anyway (flock(2), NOTES).
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            return False
        return True

    def close(self) -> None:
        """Give the share back. Idempotent."""
        if self._file_fd >= 0:
            with contextlib.suppress(OSError):
                (self._directory / self.identity).unlink(missing_ok=True)
            os.close(self._file_fd)
            self._file_fd = -1
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class ReadShare:
    """Says that this process reads the store in `directory`; nothing is written for it.

    Where there is no lock file, or the file system has no locks, there is no share, and nobody waits for it.
    """

    def __init__(self, directory: Path, *, clock: Clock, wait_s: float = 5.0) -> None:
        """Take a share of the store; raises `StoreLocked` while another process needs it for itself."""
        self._path = directory / "open.lock"
        self._fd = -1
        require_own_files(directory)
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            self._share(clock, wait_s)
        except OSError:
            self.close()
        except BaseException:
            self.close()
            raise

    def _share(self, clock: Clock, wait_s: float) -> None:
        if not poll(lambda: not _locked_by_other(self._fd, fcntl.LOCK_SH), wait_s=wait_s, clock=clock):
            raise StoreLocked(
                f"Another process needs {self._path.parent} alone; wait until it is done and try again."
            )

    def close(self) -> None:
        """Give the share back. Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _sharing(path: Path) -> list[int]:
    """Return the processes that hold a lock of a file, as far as the system tells (`/proc/locks`)."""
    try:
        stat, lines = path.stat(), Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    mark = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
    parts = [line.split() for line in lines]
    return sorted(
        {int(part[4]) for part in parts if len(part) > 5 and part[1] == "FLOCK" and part[5] == mark}
    )


@dataclass(slots=True, kw_only=True)
class StoreHold:
    """What keeps a store open: its lock, or its share when it is read-only; `temporary` goes at close.

    `is_new` says that this opening made the store's folder.
    """

    lock: OpenLock | None
    share: ReadShare | None = None
    temporary: TemporaryDirectory[str] | None = None
    is_new: bool = False
    is_undone: bool = False

    def undo(self, is_unused: Callable[[], bool]) -> None:
        """Have `release` remove a store that this opening made, where nobody else has it open and it `is_unused`."""
        if self.is_new and self.lock is not None and self.lock.take_alone():
            with contextlib.suppress(HexadError):  # what cannot be read stays
                self.is_undone = is_unused()

    def release(self) -> None:
        """Let others have the store."""
        if self.lock is not None:
            if self.is_undone:
                self.lock.remove_beginnings()
            self.lock.close()
        if self.share is not None:
            self.share.close()
        if self.temporary is not None:
            self.temporary.cleanup()
