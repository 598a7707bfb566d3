"""Every file operation that is not SQLite's: write, sync, rename, unlink.

One place, so that the order of irreversible steps can be read here and a fault can be placed before any of
them (`set_hook`). An `OSError` is translated once, into `StorageFailure` with the path and a remedy.

The order is always the same: data is synced before the name that makes it reachable, and the directory is
synced before anybody is told. `fdatasync` is enough for content, because a changed length counts as content.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from hexad.errors import IntegrityError, StorageFailure, failure

PRIVATE_FILE_MODE = 0o600
PRIVATE_DIR_MODE = 0o700
_COPY_CHUNK_BYTES = 1 << 20
_TOKEN_BYTES = 6
_NAME_BYTES = 200

Hook = Callable[[str, Path], None]
_hook: Hook | None = None


def set_hook(hook: Hook | None) -> Hook | None:
    """Call `hook(operation, path)` before every operation of this module; return the previous hook.

    The hook may raise `OSError`: the operation is then not carried out and fails as if the system had said
    so. Operations: `open`, `write`, `fsync`, `fdatasync`, `rename`, `unlink`, `mkdir`, `fsync_dir`, `lock`.
    """
    global _hook
    previous, _hook = _hook, hook
    return previous


@contextlib.contextmanager
def operation(name: str, path: Path, doing: str) -> Iterator[None]:
    """Run the hook, then the block; an `OSError` of either leaves as `StorageFailure`."""
    try:
        if _hook is not None:
            _hook(name, path)
        yield
    except OSError as error:
        raise failure(doing, path, error) from error


def named_below(folder: Path, name: str) -> Path:
    """Return the file below `folder` that a store's own database names.

    Raises `IntegrityError` for a name that leads elsewhere: who made the database, not who opens it, would choose what
    is written or removed there.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise IntegrityError(
            f"The store names {name!r} as a file below {folder}, which it is not: the store is damaged, or was made to "
            "reach other files. Nothing was done there. Put a backup in its place."
        )
    return folder / path


def ensure_dir(path: Path, *, mode: int = PRIVATE_DIR_MODE, for_data: bool = False) -> None:
    """Create the directory and its missing parents with `mode`; each new entry is synced.

    With `for_data`, for what is acknowledged in it, so is that of a directory that somebody else has just made, it or
    the one that it is made in: as long as nothing is in it, its maker may not have come to that.
    """
    missing = [] if path.is_dir() else [path]
    while missing and not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    if for_data:
        there = missing[-1].parent if missing else path
        with operation("open", there, "look into"), os.scandir(there) as entries:
            is_new = next(entries, None) is None
        if is_new:
            sync_dir(there.parent)
    for directory in reversed(missing):
        with operation("mkdir", directory, "create the directory"):
            directory.mkdir(mode=mode, exist_ok=True)
        try:
            sync_dir(directory.parent)
        except StorageFailure:
            # Or the next call would find it, and nobody would sync its name any more.
            with contextlib.suppress(OSError):
                directory.rmdir()
            raise


def sync_dir(path: Path) -> None:
    """Make the names in the directory durable."""
    with operation("fsync_dir", path, "sync the directory"):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def fdatasync(fd: int, path: Path) -> None:
    """Make the content behind `fd` durable; `path` is for the message only.

    After a failure the kernel may call the lost pages clean, so a second, successful call proves nothing: the
    caller must treat what was written as lost.
    """
    with operation("fdatasync", path, "sync"):
        _fdatasync(fd)


def _fdatasync(fd: int) -> None:
    # macOS has no fdatasync; its fsync does not reach the platter either, but F_FULLFSYNC does.
    native = getattr(os, "fdatasync", None)
    if native is not None:
        native(fd)
        return
    import fcntl

    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(fd, full)
    else:
        os.fsync(fd)


def _write_all(fd: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def atomic_write(path: Path, data: bytes, *, mode: int = PRIVATE_FILE_MODE) -> None:
    """Replace `path` by `data`: after any crash the file holds all of the old content or all of the new.

    Durable on return. On `StorageFailure` the old content is still there and no temporary file is left.
    """
    _replace(path, [data], mode=mode, durable=True)


def stream_write(
    path: Path,
    pieces: Iterable[bytes],
    *,
    mode: int = PRIVATE_FILE_MODE,
    may_replace: Callable[[], object] | None = None,
) -> None:
    """Replace `path` as `atomic_write` does by what `pieces` yield, without holding all of it in memory.

    Whatever `pieces` raise leaves the old content in place; so does what `may_replace` raises, which is asked last.
    What a write of the same file left half done when its process was killed is removed.
    """
    remove_abandoned(path)
    _replace(path, _gathered(pieces), mode=mode, durable=True, may_replace=may_replace)


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        if len(buffer) >= _COPY_CHUNK_BYTES:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


def write_cache(path: Path, data: bytes | memoryview) -> None:
    """Replace a rebuildable file by temp and rename, without syncing.

    A reader never sees half of it while the system runs; after lost power it may be damaged, so cache
    formats carry their own check.
    """
    ensure_dir(path.parent)
    _replace(path, [data], mode=PRIVATE_FILE_MODE, durable=False)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{_mark(path)}.{secrets.token_hex(_TOKEN_BYTES)}.tmp")


def _mark(path: Path) -> str:
    """Return what the temporary names of a file have in common; a long name would leave no room for the rest."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= _NAME_BYTES else hashlib.blake2b(name, digest_size=16).hexdigest()


def remove_abandoned(path: Path) -> None:
    """Remove what killed processes left of writing `path`; what somebody still writes is locked, and stays.

    Nobody misses it: a failure to remove it is the next writer's to mend.
    """
    ours = re.compile(rf"\.{re.escape(_mark(path))}\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}\.tmp")
    with contextlib.suppress(OSError):
        with os.scandir(path.parent) as entries:
            paths = [path.parent / entry.name for entry in entries if ours.fullmatch(entry.name)]
        for temporary in paths:
            with contextlib.suppress(OSError):
                fd = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    temporary.unlink()
                finally:
                    os.close(fd)


def _created(path: Path, mode: int) -> tuple[int, Path]:
    """Create a temporary file for `path`, locked for as long as it is open; returns its descriptor and its path."""
    while True:
        temporary = _temporary(path)
        with operation("open", temporary, "create"):
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            with contextlib.suppress(OSError):  # a file system without locks has no others who look for them
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), os.stat(temporary, follow_symlinks=False)):
                return fd, temporary
        os.close(fd)  # taken for abandoned before it was locked


def _replace(
    path: Path,
    pieces: Iterable[bytes | memoryview],
    *,
    mode: int,
    durable: bool,
    may_replace: Callable[[], object] | None = None,
) -> None:
    fd, temporary = _created(path, mode)
    try:
        try:
            for at, data in enumerate(pieces):
                with operation("write", temporary, "write"):
                    if at == 0:
                        os.fchmod(fd, mode)
                    _write_all(fd, data)
            if durable:
                fdatasync(fd, temporary)
            if may_replace is not None:
                may_replace()
            with operation("rename", path, "replace"):
                os.replace(temporary, path)
        finally:
            os.close(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        sync_dir(path.parent)


def create_exclusive(path: Path, data: bytes, *, mode: int = PRIVATE_FILE_MODE) -> bool:
    """Create `path` with `data` unless it exists; return whether this call created it.

    Of several callers exactly one wins, and nobody ever sees an empty or half-written file: the content is
    synced under a temporary name and then linked, which fails when the name is taken.
    """
    temporary = _temporary(path)
    try:
        with operation("open", temporary, "create"):
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with operation("write", temporary, "write"):
                os.fchmod(fd, mode)
                _write_all(fd, data)
            fdatasync(fd, temporary)
        finally:
            os.close(fd)
        with operation("rename", path, "create"):
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    sync_dir(path.parent)
    return True


def unlink(path: Path, *, missing_ok: bool = True) -> None:
    """Remove the file and make its absence durable."""
    with operation("unlink", path, "remove"):
        path.unlink(missing_ok=missing_ok)
    sync_dir(path.parent)


def open_for_locks(path: Path) -> int:
    """Return a read-write descriptor of `path`, created private when missing; closed on exec. No link is followed."""
    with operation("open", path, "open"):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE_MODE)


def write_at(fd: int, data: bytes, offset: int, path: Path) -> None:
    """Write all of `data` at `offset`, without syncing."""
    with operation("write", path, "write"):
        view = memoryview(data)
        while view:
            count = os.pwrite(fd, view, offset)
            view, offset = view[count:], offset + count


def _read_at(fd: int, offset: int, path: Path) -> bytes:
    with operation("read", path, "read"):
        return os.pread(fd, _COPY_CHUNK_BYTES, offset)


def create_locked(path: Path, data: bytes, *, lock: Callable[[int], None]) -> int:
    """Create `path` with `data`, locked by `lock`, and return its descriptor; durable on return.

    The lock is taken before the file has its name, so nobody can take it for what an ended process left.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with operation("open", temporary, "create"):
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE_MODE)
    try:
        with operation("lock", temporary, "lock"):
            lock(fd)
        write_at(fd, data, 0, temporary)
        fdatasync(fd, temporary)
        with operation("rename", path, "create"):
            os.rename(temporary, path)
        sync_dir(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        os.close(fd)
        raise
    return fd


def truncate(fd: int, size: int, path: Path) -> None:
    """Cut the file to `size` bytes, without syncing."""
    with operation("write", path, "cut"):
        os.ftruncate(fd, size)


def publish(temporary: Path, path: Path) -> None:
    """Make a file that another library wrote durable, and give it its name; durable on return."""
    with operation("open", temporary, "open"):
        fd = os.open(temporary, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fchmod(fd, PRIVATE_FILE_MODE)
        fdatasync(fd, temporary)
    finally:
        os.close(fd)
    with operation("rename", path, "create"):
        os.replace(temporary, path)
    sync_dir(path.parent)


def publish_dir(temporary: Path, path: Path) -> bool:
    """Give a directory of durable files its name; durable on return. False when something is there already."""
    sync_dir(temporary)
    with operation("rename", path, "create"):
        try:
            os.rename(temporary, path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            return False
    sync_dir(path.parent)
    return True


def remove_tree(path: Path) -> None:
    """Remove a directory with everything in it, where it is there."""
    import shutil

    with operation("unlink", path, "remove"), contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)


def rewrite_in_place(fd: int, path: Path) -> None:
    """Write every byte of the file again and sync it.

    After a failed sync the kernel may hold pages that it calls clean but never wrote; only a new write makes
    it try again. The caller makes sure that nobody else writes meanwhile.
    """
    offset = 0
    while chunk := _read_at(fd, offset, path):
        write_at(fd, chunk, offset, path)
        offset += len(chunk)
    fdatasync(fd, path)
