"""A disk whose power can go: what was not synced is then there, gone, torn, or there without what was written before.

The files are real ones below `root`, where SQLite, DuckDB and Python find them. Every call that changes one is noted
here on its way, with what was synced since, so that at any moment there is an answer to what the disk could hold if
power went now (`image`). Between processes nothing is lost: only the power takes what was not synced.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import apsw

from hexad.database.wakeup import ProcessWakeup
from simulation.scheduler import Scheduler

SECTOR_BYTES = 512
_VFSFile = apsw.VFSFile
_SQLITE_ERRORS = {errno.EIO: apsw.IOError, errno.ENOSPC: apsw.FullError}
_COUNTERS = "-commit"  # mapped into memory and never synced: anything may be in it


@dataclass
class Node:
    """A file as the disk may have it: what is certain, and what was changed since, in order."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Where bytes were written; None where the file was cut."""
    certain: int = 0
    """How many changes were made certain."""

    def write(self, offset: int, data: bytes) -> None:
        self.pending.append((offset, bytes(data)))

    def cut(self, size: int) -> None:
        self.pending.append((size, None))

    @property
    def changes(self) -> int:
        """How many changes there were."""
        return self.certain + len(self.pending)

    def sync(self, through: int) -> None:
        """Make certain what was changed by the time there were `through` changes."""
        count = through - self.certain
        if count > 0:
            for change in self.pending[:count]:
                _apply(self.durable, change)
            del self.pending[:count]
            self.certain = through


DIRECTORY = Node()
"""Stands for every directory."""


def _apply(content: bytearray, change: tuple[int, bytes | None]) -> None:
    offset, data = change
    if data is None:
        if len(content) > offset:
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


Names = dict[str, Node | None]
"""What became of names in one step: what they name, or None where a name went."""


class Disk:
    """The files below `root`, and what of them is certain."""

    def __init__(self, root: Path, scheduler: Scheduler, *, is_lying: bool = False) -> None:
        self.root = root
        self._is_lying = is_lying
        self._prefix = f"{root}/"
        self._scheduler = scheduler
        self._nodes: dict[int, Node] = {}
        """By the number that the system gives a file, and gives again when it is gone."""
        self._names: dict[str, Node] = {}
        """Names that are certain."""
        self._changes: dict[str, list[Names]] = {}
        """By directory: what became of names in it since it was synced."""
        self.calls = 0
        self.on_call: Callable[[str, str], int | None] = lambda _what, _name: None
        """Told of every call; returns the number of the system's error with which the call fails."""
        for folder, folders, names in os.walk(root):
            for name in folders:
                self._names[f"{folder}/{name}"] = DIRECTORY
            for name in names:
                path = Path(folder, name)
                self._names[str(path)] = self._nodes[path.stat().st_ino] = Node(bytearray(path.read_bytes()))

    def covers(self, path: str) -> bool:
        return path.startswith(self._prefix)

    def call(self, what: str, path: str, *, of_sqlite: bool = False) -> None:
        """A call is about to be made: time passes, the power may go, and the call may fail."""
        self.calls += 1
        self._scheduler.pause(what)
        code = self.on_call(what, path.removeprefix(self._prefix))
        if code is not None:
            raise _SQLITE_ERRORS[code]("simulated") if of_sqlite else OSError(code, os.strerror(code), path)

    def node(self, number: int) -> Node:
        return self._nodes.setdefault(number, Node())

    def named(self, changes: Names) -> None:
        """Note what became of names of one directory."""
        self._changes.setdefault(os.path.dirname(next(iter(changes))), []).append(changes)

    def created(self, path: str) -> Node:
        node = self._nodes[os.stat(path).st_ino] = Node()
        self.named({path: node})
        return node

    def node_at(self, path: str) -> Node:
        return self.node(os.stat(path).st_ino)

    def node_of(self, fd: int) -> Node:
        return self.node(os.fstat(fd).st_ino)

    def sync_dir(self, path: str) -> None:
        for changes in self._changes.pop(path, ()):
            _rename(self._names, changes)

    def moved_dir(self, old: str, new: str) -> None:
        """A directory got another name: what is in it goes with it, in one step that is certain."""
        self.sync_dir(os.path.dirname(old))
        for name in [name for name in self._names if name == old or name.startswith(f"{old}/")]:
            self._names[new + name.removeprefix(old)] = self._names.pop(name)
        for name in [name for name in self._changes if name == old or name.startswith(f"{old}/")]:
            self._changes[new + name.removeprefix(old)] = [
                {new + each.removeprefix(old): node for each, node in changes.items()}
                for changes in self._changes.pop(name)
            ]

    def image(self, target: Path, chance: Random) -> None:
        """Write into `target` what the disk holds if power goes now: one of the many possible states."""
        keep, torn = chance.choice((0.0, 0.3, 0.8, 1.0)), chance.random() < 0.5
        in_order = chance.random() < 0.3
        names = dict(self._names)
        for changes in self._changes.values():
            # A journal keeps the order in which names of a directory changed; some file systems have none.
            survive = chance.randint(0, len(changes)) if in_order or chance.random() < 0.5 else None
            for number, each in enumerate(changes):
                if number < survive if survive is not None else chance.random() < 0.5:
                    _rename(names, each)
        target.mkdir()
        for name, node in sorted(names.items()):
            path = target / name.removeprefix(self._prefix)
            if not path.parent.is_dir():
                continue  # nor was its directory there
            if node is DIRECTORY:
                path.mkdir(exist_ok=True)
                continue
            content = self._content(node, chance, keep, torn=torn, in_order=in_order)
            if name.endswith(_COUNTERS) and chance.random() < 0.7:
                content = chance.choice((b"", bytes(64), chance.randbytes(64), chance.randbytes(13)))
            path.write_bytes(content)
            path.chmod(0o600)

    @staticmethod
    def _content(node: Node, chance: Random, keep: float, *, torn: bool, in_order: bool) -> bytes:
        content = bytearray(node.durable)
        last = chance.randint(0, len(node.pending)) if in_order else len(node.pending)
        for number, change in enumerate(node.pending[:last]):
            if (in_order and number < last - 1) or chance.random() < keep:
                _apply(content, change)
            elif torn and change[1] is not None:
                for sector in _sectors(*change, chance):
                    _apply(content, sector)
        return bytes(content)

    # Calls of Python ------------------------------------------------------------------------------------------------

    def _path_of(self, fd: int) -> str:
        return os.readlink(f"/proc/self/fd/{fd}").removesuffix(" (deleted)")

    def _full(self, path: Any, dir_fd: int | None) -> str:
        if isinstance(path, int):
            return self._path_of(path)
        name = os.fspath(path)
        name = os.fsdecode(name) if isinstance(name, bytes) else name
        return f"{self._path_of(dir_fd)}/{name}" if dir_fd is not None else os.path.abspath(name)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Stand below every call to a file until the block ends, with randomness that the seed decides."""
        vfs = SimulatedVFS(self)
        chance = Random(self._scheduler.chance.random())
        with ExitStack() as stack:
            for module, name, call in self._replacements():
                stack.enter_context(mock.patch.object(module, name, call))
            stack.enter_context(mock.patch.object(apsw, "VFSFile", self._file_of_sqlite))
            stack.enter_context(mock.patch.object(ProcessWakeup, "wait", self._wait()))
            stack.enter_context(mock.patch.object(os, "urandom", chance.randbytes))
            stack.enter_context(
                mock.patch.object(secrets, "token_bytes", lambda n=None: chance.randbytes(n or 32))
            )
            apsw.randomness(0)
            try:
                yield
            finally:
                vfs.unregister()

    def _file_of_sqlite(self, base: str, name: Any, flags: list[int]) -> apsw.VFSFile:
        """What Hexad opens by SQLite's own file system, past the one above it."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        if not self.covers(path):
            return _VFSFile(base, name, flags)
        file = SimulatedFile(base, name, flags, self, path)
        file.is_new, file.node = False, self.node_at(path)
        return file

    def _wait(self) -> Callable[..., bool]:
        def call(bell: ProcessWakeup, rung: int, timeout_s: float) -> bool:
            return self._scheduler.wait(lambda: bell.rung != rung, timeout_s)

        return call

    def _replacements(self) -> list[tuple[Any, str, Callable[..., Any]]]:
        names = ("write", "pwrite", "ftruncate", "fsync", "fdatasync", "unlink", "mkdir", "rmdir", "link")
        return [
            (os, "open", self._open(os.open)),
            *((os, name, getattr(self, f"_{name}")(getattr(os, name))) for name in names),
            (os, "remove", self._unlink(os.remove)),
            (os, "rename", self._rename(os.rename)),
            (os, "replace", self._rename(os.replace)),
            (io, "open", self._open_file(io.open)),
            (builtins, "open", self._open_file(builtins.open)),
            (fcntl, "flock", self._flock(fcntl.flock)),
        ]

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            full = self._full(path, dir_fd)
            if not self.covers(full):
                return real(path, flags, mode, dir_fd=dir_fd)
            self.call("open", full)
            is_new = bool(flags & os.O_CREAT) and not os.path.lexists(full)
            fd = real(path, flags, mode, dir_fd=dir_fd)
            if is_new:
                self.created(full)
            elif flags & os.O_TRUNC:
                self.node_of(fd).cut(0)
            return fd

        return call

    def _open_file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
            if isinstance(file, int) or not self.covers(full := self._full(file, None)):
                return real(file, mode, *args, **more)
            assert set(mode) <= set("rbt"), f"{full} is written past the simulated disk"
            self._scheduler.pause("read")
            return real(file, mode, *args, **more)

        return call

    def _write(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(fd: int, data: Any) -> int:
            if not self.covers(path := self._path_of(fd)):
                return real(fd, data)
            self.call("write", path)
            at = os.lseek(fd, 0, os.SEEK_CUR)
            count = real(fd, data)
            self.node_of(fd).write(at, bytes(data)[:count])
            return count

        return call

    def _pwrite(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(fd: int, data: Any, offset: int) -> int:
            if not self.covers(path := self._path_of(fd)):
                return real(fd, data, offset)
            self.call("write", path)
            count = real(fd, data, offset)
            self.node_of(fd).write(offset, bytes(data)[:count])
            return count

        return call

    def _ftruncate(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(fd: int, size: int) -> None:
            if self.covers(path := self._path_of(fd)):
                self.call("cut", path)
                self.node_of(fd).cut(size)
            real(fd, size)

        return call

    def _fsync(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def call(fd: int) -> None:
            if not self.covers(path := self._path_of(fd)):
                real(fd)
                return
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                self.call("sync dir", path)
                self.sync_dir(path)
                return
            node = self.node_of(fd)
            through = node.changes  # what is written while it syncs need not be covered
            self.call("sync", path)
            if not node.changes and not node.durable and _is_readable(fd):
                # Another library wrote it, by calls of its own.
                node.durable = bytearray(os.pread(fd, os.fstat(fd).st_size, 0))
            if not self._is_lying:
                node.sync(through)

        return call

    _fdatasync = _fsync

    def _unlink(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(path: Any, *, dir_fd: int | None = None) -> None:
            full = self._full(path, dir_fd)
            if self.covers(full):
                self.call("unlink", full)
            real(path, dir_fd=dir_fd)
            if self.covers(full):
                self.named({full: None})

        return call

    def _rmdir(self, real: Callable[..., None]) -> Callable[..., None]:
        return self._unlink(real)

    def _mkdir(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
            full = self._full(path, dir_fd)
            if self.covers(full):
                self.call("mkdir", full)
            real(path, mode, dir_fd=dir_fd)
            if self.covers(full):
                self.named({full: DIRECTORY})

        return call

    def _link(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, **more: Any) -> None:
            full = self._full(target, None)
            if self.covers(full):
                self.call("link", full)
            real(source, target, **more)
            if self.covers(full):
                self.named({full: self.node_at(full)})

        return call

    def _rename(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, **more: Any) -> None:
            old, new = self._full(source, None), self._full(target, None)
            if not self.covers(new):
                real(source, target, **more)
                return
            self.call("rename", new)
            real(source, target, **more)
            if os.path.isdir(new):
                self.moved_dir(old, new)
            elif os.path.dirname(old) == os.path.dirname(new):
                self.named({old: None, new: self.node_at(new)})
            else:
                self.named({new: self.node_at(new)})
                self.named({old: None})

        return call

    def _flock(self, real: Callable[..., None]) -> Callable[..., None]:
        def call(fd: int, operation: int) -> None:
            self._scheduler.pause("flock")
            while not operation & (fcntl.LOCK_NB | fcntl.LOCK_UN):
                try:
                    real(fd, operation | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._scheduler.sleep(0.001)
                else:
                    return
            real(fd, operation)

        return call


def _rename(names: dict[str, int], changes: Names) -> None:
    for name, node in changes.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _sectors(offset: int, data: bytes, chance: Random) -> Iterator[tuple[int, bytes]]:
    """Yield the sectors of a write that reached the disk."""
    end, start = offset + len(data), offset
    while start < end:
        stop = min(end, (start // SECTOR_BYTES + 1) * SECTOR_BYTES)
        if chance.random() < 0.5:
            yield start, data[start - offset : stop - offset]
        start = stop


def _is_readable(fd: int) -> bool:
    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY


class SimulatedVFS(apsw.VFS):
    """What SQLite finds below it: its own file system, with every change noted."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._base = apsw.vfs_names()[0]
        self._chance = Random(disk._scheduler.chance.random())
        super().__init__(f"simulated-{id(self)}", self._base, makedefault=True)

    def excepthook(self, *_: object) -> None:
        """Simulated failures that SQLite cannot report further are expected."""

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        if not self.disk.covers(path):
            return _VFSFile(self._base, name, flags)
        self.disk.call("open", path, of_sqlite=True)
        is_new = not os.path.exists(path)
        file = SimulatedFile(self._base, name, flags, self.disk, path)
        if is_new:
            self.disk.created(path)
        file.is_new, file.node = is_new, self.disk.node_at(path)
        return file

    def xDelete(self, name: str, sync_dir: bool) -> None:
        covered = self.disk.covers(name)
        if covered:
            self.disk.call("unlink", name, of_sqlite=True)
        super().xDelete(name, sync_dir)
        if covered:
            self.disk.named({name: None})
            if sync_dir:
                self.disk.sync_dir(os.path.dirname(name))

    def xSleep(self, microseconds: int) -> int:
        scheduler = Scheduler.current
        if scheduler is None or scheduler.task is None:
            return super().xSleep(microseconds)
        scheduler.sleep(microseconds / 1e6)
        return microseconds

    def xRandomness(self, amount: int) -> bytes:
        return self._chance.randbytes(amount)


class SimulatedFile(apsw.VFSFile):
    """A file that SQLite writes."""

    is_new: bool
    node: Node

    def __init__(self, base: str, name: Any, flags: list[int], disk: Disk, path: str) -> None:
        self._disk, self._path = disk, path
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.call("write", self._path, of_sqlite=True)
        super().xWrite(data, offset)
        self.node.write(offset, data)

    def xTruncate(self, size: int) -> None:
        self._disk.call("cut", self._path, of_sqlite=True)
        super().xTruncate(size)
        self.node.cut(size)

    def xSync(self, flags: int) -> None:
        through = self.node.changes
        self._disk.call("sync", self._path, of_sqlite=True)
        self.node.sync(through)
        if self.is_new:  # its directory with the first sync of it
            self.is_new = False
            self._disk.sync_dir(os.path.dirname(self._path))
