"""What changing a store's encryption does to files: old content overwritten, new files moved to their places.

The counterpart of `files`, with its rules: each step passes `files.operation`, where a test may place a fault.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hexad.database import files
from hexad.errors import StorageFailure

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
    with files.operation("read", path, "look at"):
        return shutil.disk_usage(path).free


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder by path, and links, which lead elsewhere."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path
