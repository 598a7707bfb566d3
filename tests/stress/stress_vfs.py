"""Virtual file systems that remember what was synced, or fail at a chosen call."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from hexad.database import files

SECTOR_BYTES = 512
Before = Callable[[str, str], None]


class HookedFile(apsw.VFSFile):
    """Passes everything on, and tells its file system before and after each call."""

    def __init__(self, vfs: HookedVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._vfs = vfs
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else (name or "temporary")
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._vfs.before("read", self._name)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._vfs.before("write", self._name)
        super().xWrite(data, offset)
        self._vfs.event(Write(self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self._vfs.before("truncate", self._name)
        super().xTruncate(size)
        self._vfs.event(Truncate(self._name, size))

    def xSync(self, flags: int) -> None:
        self._vfs.before("sync", self._name)
        super().xSync(flags)
        self._vfs.event(Sync(self._name))
        # SQLite's own file system also syncs the directory at the first sync of a file that it created.
        self._vfs.event(SyncName(self._name))

    def xFileSize(self) -> int:
        self._vfs.before("size", self._name)
        return super().xFileSize()


class HookedVFS(apsw.VFS):
    """The default file system with hooks; use it inside `with`, which also catches Hexad's own syncs."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        self.name = f"stress-{next(self._numbers)}"
        super().__init__(self.name, "")

    def excepthook(self, *_: object) -> None:
        """Injected faults that SQLite cannot report further are expected."""

    def before(self, operation: str, name: str) -> None:
        """Called before each call; may raise."""

    def event(self, event: Event) -> None:
        """Called after each call that changed something."""

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> HookedFile:
        plain = name.filename() if isinstance(name, apsw.URIFilename) else (name or "temporary")
        self.before("open", plain)
        existed = Path(plain).exists()
        opened = HookedFile(self, name, flags)
        if not existed:
            self.event(Create(plain))
        return opened

    def xDelete(self, name: str, sync_dir: bool) -> None:
        self.before("delete", name)
        super().xDelete(name, sync_dir)
        self.event(Delete(name))
        if sync_dir:
            self.event(SyncDir(str(Path(name).parent)))

    def file_operation(self, operation: str, path: Path) -> None:
        """The hook of `hexad.database.files`."""
        self.before(operation, str(path))

    @contextmanager
    def installed(self) -> Iterator[None]:
        previous = files.set_hook(self.file_operation)
        try:
            yield
        finally:
            files.set_hook(previous)
            self.unregister()


@dataclass(frozen=True, slots=True)
class Event:
    name: str


@dataclass(frozen=True, slots=True)
class Write(Event):
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate(Event):
    size: int


@dataclass(frozen=True, slots=True)
class Sync(Event):
    pass


@dataclass(frozen=True, slots=True)
class SyncDir(Event):
    pass


@dataclass(frozen=True, slots=True)
class SyncName(Event):
    pass


@dataclass(frozen=True, slots=True)
class Create(Event):
    pass


@dataclass(frozen=True, slots=True)
class Delete(Event):
    pass


@dataclass(frozen=True, slots=True)
class Acknowledged(Event):
    write: tuple[int, int]


class RecordingVFS(HookedVFS):
    """Remembers every change and every sync, in order, with the moments at which writes were acknowledged."""

    def __init__(self, *, count_shared_syncs: bool = True) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._count_shared_syncs = count_shared_syncs
        self._lock = threading.Lock()

    def event(self, event: Event) -> None:
        with self._lock:
            self.events.append(event)

    def acknowledge(self, write: tuple[int, int]) -> None:
        self.event(Acknowledged("", write))

    def file_operation(self, operation: str, path: Path) -> None:
        # Noted before the system is asked: what is written while it syncs may or may not be covered.
        if operation == "fdatasync" and self._count_shared_syncs:
            self.event(Sync(str(path)))
        elif operation == "fsync_dir":
            self.event(SyncDir(str(path)))


@dataclass
class _File:
    """One file as the disk may have it: what is certain, and what is under way."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)


def _apply(content: bytearray, event: Event) -> None:
    if isinstance(event, Write):
        end = event.offset + len(event.data)
        if len(content) < end:
            content.extend(bytes(end - len(content)))
        content[event.offset : end] = event.data
    elif isinstance(event, Truncate):
        del content[event.size :]


def _torn(write: Write, chance: random.Random) -> Iterator[Write]:
    """Yield the sectors of the write that reached the disk, each on its own."""
    end = write.offset + len(write.data)
    start = write.offset
    while start < end:
        stop = min(end, (start // SECTOR_BYTES + 1) * SECTOR_BYTES)
        if chance.random() < 0.5:
            yield Write(write.name, start, write.data[start - write.offset : stop - write.offset])
        start = stop


class Disk:
    """Follows recorded events and says what could be on the disk if the power went off now.

    A file's content is certain up to its last sync. What was written since is there, gone, or torn by sectors,
    each write for itself, so also in another order. A name that was made or removed since its directory's last
    sync may be there or not, even when the file's content was synced.
    """

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._removed: dict[str, _File] = {}
        self._uncertain_names: set[str] = set()
        self.acknowledged: set[tuple[int, int]] = set()

    def follow(self, event: Event) -> None:
        match event:
            case Acknowledged():
                self.acknowledged.add(event.write)
            case Create():
                self._files[event.name] = _File()
                self._uncertain_names.add(event.name)
            case Delete():
                self._removed[event.name] = self._files.pop(event.name, _File())
            case SyncDir():
                self._uncertain_names = {
                    name for name in self._uncertain_names if not self._inside(event, name)
                }
                self._removed = {
                    name: f for name, f in self._removed.items() if not self._inside(event, name)
                }
            case SyncName():
                self._uncertain_names.discard(event.name)
            case Sync():
                file = self._files.setdefault(event.name, _File())
                for change in file.pending:
                    _apply(file.durable, change)
                file.pending.clear()
            case Write() | Truncate():
                self._files.setdefault(event.name, _File()).pending.append(event)

    @staticmethod
    def _inside(event: SyncDir, name: str) -> bool:
        return str(Path(name).parent) == event.name

    def image(self, directory: Path, chance: random.Random) -> None:
        """Write one possible state of every file into `directory`."""
        keep = chance.choice((0.0, 0.5, 0.9, 1.0))
        torn = chance.random() < 0.5
        for name, file in self._files.items():
            if name in self._uncertain_names and chance.random() < 0.3:
                continue
            (directory / Path(name).name).write_bytes(self._content(file, chance, keep=keep, torn=torn))
        for name, file in self._removed.items():
            path = directory / Path(name).name
            if not path.exists() and chance.random() < 0.5:
                path.write_bytes(self._content(file, chance, keep=keep, torn=torn))

    @staticmethod
    def _content(file: _File, chance: random.Random, *, keep: float, torn: bool) -> bytes:
        content = bytearray(file.durable)
        for change in file.pending:
            if chance.random() < keep:
                _apply(content, change)
            elif torn and isinstance(change, Write):
                for sector in _torn(change, chance):
                    _apply(content, sector)
        return bytes(content)


class FailingVFS(HookedVFS):
    """Fails the k-th call, and from then on every call or none."""

    def __init__(self, error: type[apsw.Error], os_error: int, *, at: int, lasting: bool) -> None:
        super().__init__()
        self._error = error
        self._os_error = os_error
        self._at = at
        self._lasting = lasting
        self.calls = 0
        self.failed = False
        self.healed = False

    def _due(self, operation: str) -> bool:
        self.calls += 1
        due = self.calls == self._at or (self._lasting and self.failed)
        # A full or read-only disk can still be read.
        if self.healed or (self._error is not apsw.IOError and operation in {"read", "size"}):
            return False
        self.failed = self.failed or due
        return due

    def before(self, operation: str, name: str) -> None:
        if self._due(operation):
            raise self._error(f"injected fault in {operation} of {name}")

    def file_operation(self, operation: str, path: Path) -> None:
        if self._due(operation):
            raise OSError(self._os_error, "injected fault", str(path))
