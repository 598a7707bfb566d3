"""Makes one call to the system fail: Python's own calls on behalf of Hexad, and those of SQLite below it."""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import apsw

CALLS = (
    (os, "open"), (os, "read"), (os, "write"), (os, "pread"), (os, "pwrite"), (os, "fsync"), (os, "fdatasync"),
    (os, "replace"), (os, "rename"), (os, "unlink"), (os, "remove"), (os, "rmdir"), (os, "mkdir"), (os, "link"),
    (os, "listdir"), (os, "scandir"), (os, "stat"), (os, "fstat"), (os, "chmod"), (os, "fchmod"), (os, "ftruncate"),
    (os, "utime"), (os, "sendfile"), (os, "posix_fallocate"), (fcntl, "flock"), (fcntl, "lockf"), (fcntl, "fcntl"),
    (io, "open"), (builtins, "open"),
)  # fmt: skip
_PASSED_OVER = (
    "pathlib",
    "os",
    "shutil",
    "tempfile",
    "contextlib",
    "genericpath",
    "posixpath",
    "glob",
    "stress_calls",
)
_SQLITE_ERRORS = {
    errno.EIO: apsw.IOError,
    errno.ENOSPC: apsw.FullError,
    errno.EACCES: apsw.PermissionsError,
    errno.EMFILE: apsw.CantOpenError,
}


class FailingCalls:
    """Counts the calls that Hexad makes inside `armed()`, and fails number `at` of them (from 0) with `code`."""

    def __init__(self, code: int, *, at: int | None = None) -> None:
        self.code, self.at = code, at
        self.count = 0
        self.failed: str | None = None
        self._armed = False
        self._lock = threading.Lock()

    @contextmanager
    def armed(self) -> Iterator[FailingCalls]:
        """Count, and fail, until the block ends; what was opened inside stays watched and does not fail any more."""
        with ExitStack() as stack:
            for module, name in CALLS:
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, self._failing(module, name)))
            self._armed = True
            try:
                yield self
            finally:
                self._armed = False

    def reached(self, what: str) -> bool:
        """Count a call; whether it is the one to fail."""
        if not self._armed:
            return False
        with self._lock:
            self.count += 1
            if self.count - 1 != self.at:
                return False
            self.failed = what
            return True

    def fail_sqlite(self, operation: str, name: str) -> None:
        """Fail the call whose turn it is, as SQLite's own file system would."""
        if self.reached(f"SQLite's {operation} of {name}"):
            raise _SQLITE_ERRORS[self.code]("injected")

    def _failing(self, module: Any, name: str) -> Callable[..., Any]:
        call = getattr(module, name)

        def failing(*args: Any, **kwargs: Any) -> Any:
            if self._armed and (place := _caller()) and self.reached(f"{name} in {place}"):
                raise OSError(
                    self.code, os.strerror(self.code), *[each for each in args[:1] if isinstance(each, str)]
                )
            return call(*args, **kwargs)

        # Where a traceback ends tells whose error it is: this one is the system's.
        return types.FunctionType(
            failing.__code__, {**globals(), "__name__": module.__name__}, closure=failing.__closure__
        )


def _caller() -> str | None:
    """Return where in Hexad a call is made; None for what Python does of its own accord."""
    frame = sys._getframe(2)  # the one that called the patched function
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("hexad."):
            return f"{name}:{frame.f_lineno}"
        if name.partition(".")[0] not in _PASSED_OVER:
            return None
        frame = frame.f_back  # type: ignore[assignment]
    return None


class FailingFile(apsw.VFSFile):
    """A file of SQLite's own kind whose calls are counted, and one of which fails."""

    def __init__(
        self, base: str, name: str | apsw.URIFilename | None, flags: list[int], calls: FailingCalls
    ) -> None:
        self._name = os.path.basename(
            name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary"
        )
        self._calls = calls
        super().__init__(base, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._calls.fail_sqlite("read", self._name)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._calls.fail_sqlite("write", self._name)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._calls.fail_sqlite("truncate", self._name)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._calls.fail_sqlite("sync", self._name)
        super().xSync(flags)

    def xFileSize(self) -> int:
        self._calls.fail_sqlite("size", self._name)
        return super().xFileSize()


class FailingSqlite(apsw.VFS):
    """The file system under every database that is opened inside `installed()`."""

    def __init__(self, calls: FailingCalls) -> None:
        self._calls, self._base = calls, apsw.vfs_names()[0]
        super().__init__(f"failing-{id(self)}", self._base, makedefault=True)

    def excepthook(self, *_: object) -> None:
        """Injected faults that SQLite cannot report further are expected."""

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> FailingFile:
        self._calls.fail_sqlite("open", "a database")
        return FailingFile(self._base, name, flags, self._calls)

    def xDelete(self, name: str, sync_dir: bool) -> None:
        self._calls.fail_sqlite("delete", os.path.basename(name))
        super().xDelete(name, sync_dir)

    @contextmanager
    def installed(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.unregister()
