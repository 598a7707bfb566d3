"""The logs of the stream: one append-only file for each process that records, in `stream/log/`.

A log is locked (`flock`) as long as its process writes to it. Who gets that lock knows that nobody appends any more.
A write that fails leaves the file as it was before: cut to its last acknowledged byte, and given up for a new one: so
no place in a sealed log is ever written twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hexad.database import files
from hexad.database.encryption.cipher import FileCipher
from hexad.errors import IntegrityError, StorageFailure, failure
from hexad.experience.stream.frames import (
    SEALED_HEADER_BYTES,
    Batch,
    End,
    Frames,
    FrameWriter,
    StepFields,
    frames_before,
    read_frames,
    read_header,
)

SUFFIX: Final = ".log"
LOG_ROWS: Final = 1_000_000
LOG_BYTES: Final = 128 << 20
"""About as much as `LOG_ROWS` tokens are; a log is read as a whole, so larger texts must not make it larger."""


class RowsInDoubt(StorageFailure):
    """The records were written, but neither syncing nor removing them worked: they may or may not be there."""


class LogWriter:
    """One log that this process appends to; one thread at a time. With a `cipher` it is sealed."""

    def __init__(
        self, directory: Path, *, begun_at: int, sync: bool, cipher: FileCipher | None = None
    ) -> None:
        files.ensure_dir(directory, for_data=True)
        self.path = directory / f"{os.getpid()}-{secrets.token_hex(6)}{SUFFIX}"
        self.begun_at = begun_at
        self.rows = 0
        self._sync = sync
        self._frames = FrameWriter(begun_at, cipher)
        self._fd = files.create_locked(self.path, self._frames.header, lock=_lock)
        self._size = len(self._frames.header)
        self.is_cut_in_doubt = False
        """Whether something that failed was taken back, and syncing that failed."""

    @property
    def full(self) -> bool:
        """Whether the log is as large as a segment should be made of: whoever writes to it begins another one."""
        return self.rows >= LOG_ROWS or self._size >= LOG_BYTES

    @property
    def size(self) -> int:
        """How many bytes of it hold what was acknowledged."""
        return self._size

    def sync(self) -> None:
        """Make what was acknowledged durable, also where the policy does without."""
        files.fdatasync(self._fd, self.path)

    def append(self, steps: Sequence[StepFields]) -> None:
        """Append the records as one frame, synced unless the policy does without.

        Raises `StorageFailure` when the disk refuses; the log is then of no more use, and none of the records is in
        it, or `RowsInDoubt` where that could not be made sure. The same holds when it is interrupted.
        """
        self._append(lambda at: self._frames.frame(steps, at=at), len(steps))

    def append_batch(self, batch: Batch, *, session: int, ticks: Sequence[int], now: int) -> None:
        """Append a batch as one frame, as `append` does; `now` is the time of what has none of its own."""
        self._append(
            lambda at: self._frames.frame_of(batch, session=session, ticks=ticks, now=now, at=at), len(batch)
        )

    def _append(self, encode: Callable[[int], bytes], rows: int) -> None:
        try:
            frame = encode(self._size)
            files.write_at(self._fd, frame, self._size, self.path)
            if self._sync:
                files.fdatasync(self._fd, self.path)
        except BaseException as error:
            self._cut(error)
            raise
        self._size += len(frame)
        self.rows += rows

    def _cut(self, error: BaseException) -> None:
        try:
            files.truncate(self._fd, self._size, self.path)
        except StorageFailure as second:
            self.close(clean=False)
            raise RowsInDoubt(f"{error} What was written could not be taken back: {second}") from error
        self.is_cut_in_doubt = self._sync
        with contextlib.suppress(StorageFailure):
            self.settle()

    def settle(self) -> None:
        """Make sure that what was taken back does not come again with lost power, and give the log away. Idempotent.

        Only then may the same records be written to another log. Raises `StorageFailure`, and may be called again.
        """
        if self.is_cut_in_doubt:
            files.fdatasync(self._fd, self.path)
            self.is_cut_in_doubt = False
        self.close(clean=False)

    def close(self, *, clean: bool = True) -> None:
        """Give the log away: whoever seals next may take it. Idempotent."""
        if self._fd < 0:
            return
        try:
            if clean:
                # Only a help to whoever reads it; without it the log is as good.
                with contextlib.suppress(StorageFailure):
                    files.write_at(self._fd, self._frames.end(at=self._size), self._size, self.path)
        finally:
            os.close(self._fd)
            self._fd = -1


def _lock(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def list_logs(directory: Path) -> list[Path]:
    """Return the logs that are there, by name."""
    try:
        with _reading(directory):
            names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return []
    return [directory / name for name in names if name.endswith(SUFFIX) and not name.startswith(".")]


def log_sizes(directory: Path, *, without: Path | None) -> tuple[tuple[str, int], ...]:
    """Return the logs that are there, but for one, with their sizes: as long as they are the same, nobody recorded."""
    sizes = []
    for path in list_logs(directory):
        if path != without:
            with contextlib.suppress(FileNotFoundError), _reading(path):
                sizes.append((path.name, path.stat().st_size))
    return tuple(sizes)


def log_states(directory: Path) -> tuple[tuple[str, int, int], ...]:
    """Return the logs that are there, with their sizes and when they were written last."""
    states = []
    for path in list_logs(directory):
        with contextlib.suppress(FileNotFoundError), _reading(path):
            about = path.stat()
            states.append((path.name, about.st_size, about.st_mtime_ns))
    return tuple(states)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Run the block; what the system refuses leaves it as `StorageFailure`, but for a file that is not there."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise failure("read", path, error) from error


def lock_if_left(path: Path) -> int | None:
    """Return a descriptor with the log's lock when no process writes to it and it is still there, else None."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        _lock(fd)
    except BlockingIOError:
        os.close(fd)
        return None
    if os.fstat(fd).st_nlink == 0:
        os.close(fd)
        return None
    return fd


def sync(path: Path) -> int:
    """Make a log durable that nobody writes to any more; returns how many bytes it has."""
    with _reading(path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        files.fdatasync(fd, path)
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def begun_at(path: Path) -> int:
    """Return when the log was begun, in microseconds; 0 for one whose beginning cannot be read."""
    with _reading(path), path.open("rb") as file:
        head = file.read(SEALED_HEADER_BYTES)
    try:
        header = read_header(head, str(path))
    except IntegrityError:
        return 0  # whoever reads all of it says what is wrong
    return 0 if header is None else header.begun_at


def read_log(path: Path, frames: Frames | None = None, *, cipher: FileCipher | None = None) -> Frames | None:
    """Return what the log holds, None when it is gone. `frames` is what was read before: only the rest is read.

    Raises `IntegrityError` for damage that is not a torn end, and for a plain log where there is a `cipher`.
    """
    try:
        with _reading(path):
            return _read_log(path, frames, cipher)
    except FileNotFoundError:
        return None


def _read_log(path: Path, frames: Frames | None, cipher: FileCipher | None) -> Frames:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if frames is not None and os.fstat(fd).st_size < frames.offset:
            frames = None  # cut after a failed write
        if frames is None:
            frames = frames_before(
                read_header(os.pread(fd, SEALED_HEADER_BYTES, 0), str(path)), cipher, str(path)
            )
            if not frames.offset:
                return frames
        if frames.end is End.CLOSED:
            return frames
        frames.end = End.OPEN
        return read_frames(_rest(fd, frames.offset), frames, str(path))
    finally:
        os.close(fd)


def _rest(fd: int, offset: int) -> bytes:
    pieces = []
    while piece := os.pread(fd, 1 << 24, offset):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)
