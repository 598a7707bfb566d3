"""Sealed files that are read in parts and written piece by piece, as DuckDB does with those of the stream.

Only the blocks in which something is asked for are read. DuckDB reads and writes them through an fsspec filesystem
of its own connection (`filesystem`); nothing plain is written anywhere on the way.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from hexad.database import files
from hexad.database.encryption.cipher import (
    BLOCK_BYTES,
    HEADER_BYTES,
    FileCipher,
    block_place,
    plain_size,
    sealed_block_bytes,
)
from hexad.errors import HexadError, InvalidInput, failure

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

SCHEME: Final = "hx"
EXPORTS_SCHEME: Final = "hxe"
"""Under this one stand the files of exports, whose key is another one than the stream's."""
_CACHED_BLOCKS: Final = 64
_FAILURES_LIMIT: Final = 100
_MARK: Final = "hexad-failure-"


@contextmanager
def _read(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure("read", path, error) from error


class BlockCache:
    """The last blocks of which a part was asked for, decrypted: 4 MiB, for any thread."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[tuple[bytes, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def limit_bytes(self) -> int:
        """How much is kept at most."""
        return _CACHED_BLOCKS * BLOCK_BYTES

    def nbytes(self) -> int:
        """Return how much is kept."""
        with self._lock:
            return sum(map(len, self._blocks.values()))

    def get(self, file: bytes, number: int) -> bytes | None:
        """Return a block of the file that begins so, None when it is not there any more."""
        with self._lock:
            block = self._blocks.get((file, number))
            if block is not None:
                self._blocks.move_to_end((file, number))
            return block

    def put(self, file: bytes, number: int, block: bytes) -> None:
        """Keep a block for a while."""
        with self._lock:
            self._blocks[file, number] = block
            if len(self._blocks) > _CACHED_BLOCKS:
                self._blocks.popitem(last=False)


class SealedReader:
    """A sealed file, open to be read from any place; each thread has a place of its own in it."""

    def __init__(self, path: Path, cipher: FileCipher, cache: BlockCache | None = None) -> None:
        self._path, self._cache = path, cache or BlockCache()
        self._fd = -1
        try:
            with _read(path):
                self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                size = os.fstat(self._fd).st_size
                self._header = os.pread(self._fd, HEADER_BYTES, 0)
            self._blocks = cipher.blocks(self._header, name=str(path))
            self.size = plain_size(size, name=str(path))
        except BaseException:
            self.close()
            raise
        self._last = max(0, -(-self.size // BLOCK_BYTES) - 1)
        self._places = threading.local()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the plain content, and return it."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.size}[whence]
        self._places.at = max(0, begin + offset)
        return self.tell()

    def tell(self) -> int:
        """Return the place in the plain content."""
        return getattr(self._places, "at", 0)

    def read(self, length: int = -1) -> bytes:
        """Return what stands next; raises `IntegrityError` where it was changed."""
        begin = self.tell()
        end = self.size if length < 0 else min(begin + length, self.size)
        part = self.part(begin, end)
        self._places.at = begin + len(part)
        return part

    def part(self, begin: int, end: int) -> bytes:
        """Return the plain content from `begin` to before `end`; raises `IntegrityError` where it was changed."""
        if begin >= end:
            return b""
        first, last = begin // BLOCK_BYTES, (end - 1) // BLOCK_BYTES
        pieces = list(self._some(first, last))
        pieces[-1] = pieces[-1][: end - last * BLOCK_BYTES]
        pieces[0] = pieces[0][begin - first * BLOCK_BYTES :]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _some(self, first: int, last: int) -> Iterator[bytes]:
        cached = {}
        for number in {first, last}:  # of those in between all is asked for: hardly anybody comes back
            block = self._cache.get(self._header, number)
            if block is not None:
                cached[number] = block
        wanted_numbers = [number for number in range(first, last + 1) if number not in cached]
        sealed = memoryview(self._sealed(wanted_numbers[0], wanted_numbers[-1]) if wanted_numbers else b"")
        step = sealed_block_bytes()
        for number in range(first, last + 1):
            if number in cached:
                yield cached[number]
                continue
            at = (number - wanted_numbers[0]) * step
            block = self._blocks.open(number, sealed[at : at + step], last=number == self._last)
            if number in (first, last):
                self._cache.put(self._header, number, block)
            yield block

    def _sealed(self, first: int, last: int) -> bytes:
        begin, end = block_place(first), block_place(last + 1)
        pieces = []
        with _read(self._path):
            while begin < end and (piece := os.pread(self._fd, end - begin, begin)):
                pieces.append(piece)
                begin += len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()  # DuckDB lets go of what it read without closing it

    def __enter__(self) -> SealedReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SealedWriter:
    """A sealed file in the making, from its beginning to its end; it is whole when it was closed."""

    def __init__(self, path: Path, cipher: FileCipher) -> None:
        self._path, self._fd = path, -1
        self._fd = files.open_for_locks(path)
        if os.fstat(self._fd).st_size:
            files.truncate(self._fd, 0, path)
        self._sealing = cipher.sealing()
        self._size = self._at = 0

    def write(self, data: bytes | memoryview) -> int:
        """Append to the content; returns how much that was."""
        self._append(self._sealing.add(data))
        self._size += len(data)
        return len(data)

    def _append(self, sealed: bytes) -> None:
        if sealed:
            files.write_at(self._fd, sealed, self._at, self._path)
            self._at += len(sealed)

    def tell(self) -> int:
        """Return how long the content is by now."""
        return self._size

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def close(self) -> None:
        """Write the end, and let go of the file. Idempotent."""
        fd = self._fd
        if fd < 0:
            return
        try:
            self._append(self._sealing.end())
        finally:
            self._fd = -1
            os.close(fd)


class Failures:
    """What failed below DuckDB: it hands on no exception but the words of one, so these say which one it was."""

    def __init__(self) -> None:
        self._errors: OrderedDict[str, HexadError] = OrderedDict()
        self._numbers = count(1)
        self._lock = threading.Lock()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note an error of the block before it goes through DuckDB."""
        try:
            yield
        except HexadError as error:
            with self._lock:
                mark = f"{_MARK}{next(self._numbers)};"
                self._errors[mark] = error
                if len(self._errors) > _FAILURES_LIMIT:
                    self._errors.popitem(last=False)
            raise OSError(mark) from error

    def behind(self, message: str) -> HexadError | None:
        """Return the error that DuckDB speaks of, None when it is another one."""
        with self._lock:
            return next((error for mark, error in self._errors.items() if mark in message), None)


def require_fsspec() -> None:
    """Raise `InvalidInput` when the package is missing without which DuckDB cannot read encrypted files."""
    _filesystem_class()


def name_of(path: str | Path, scheme: str = SCHEME) -> str:
    """Return what stands for a file in a statement of a connection that has the `filesystem` of that scheme."""
    return f"{scheme}://{path}"


def path_of(name: str) -> Path:
    """Return the path for which `name_of` gives this."""
    return Path(name.partition("://")[2])


def filesystem(cipher: FileCipher, scheme: str, failures: Failures, cache: BlockCache) -> AbstractFileSystem:
    """Return the filesystem of one connection; raises `InvalidInput` when fsspec is not there."""
    file_system: AbstractFileSystem = _filesystem_class()(cipher, scheme, failures, cache)
    return file_system


@cache
def _filesystem_class() -> Any:
    try:
        from fsspec import AbstractFileSystem
    except ImportError as error:
        raise InvalidInput(
            "An encrypted store keeps its stream of experience with the package fsspec, which is not installed: "
            "pip install 'hexad[encryption]'."
        ) from error

    class SealedFileSystem(AbstractFileSystem):  # type: ignore[misc]
        """The sealed files of one store."""

        cachable = False  # fsspec would keep it, and the key with it

        def __init__(self, cipher: FileCipher, scheme: str, failures: Failures, cache: BlockCache) -> None:
            super().__init__()
            self.protocol = scheme
            self._cipher, self._failures, self._cache = cipher, failures, cache

        def info(self, path: str, **_options: object) -> dict[str, object]:
            with self._failures.noted():
                size = plain_size(self._stat(path).st_size, name=str(path_of(path)))
            return {"name": path, "size": size, "type": "file"}

        def exists(self, path: str, **_options: object) -> bool:
            return path_of(path).is_file()

        isfile = exists

        def isdir(self, path: str) -> bool:
            return path_of(path).is_dir()

        def glob(self, path: str, **_options: object) -> list[str]:
            return [path]  # a store may lie in a folder with any signs in its name

        def modified(self, path: str) -> datetime:
            with self._failures.noted():
                return datetime.fromtimestamp(self._stat(path).st_mtime, UTC)

        created = modified

        def mv(self, old: str, new: str, **_options: object) -> None:
            # DuckDB writes under another name where one is there already.
            with self._failures.noted():
                files.publish(path_of(old), path_of(new))

        def rm_file(self, path: str) -> None:
            with self._failures.noted():
                files.unlink(path_of(path))

        def _stat(self, path: str) -> os.stat_result:
            with _read(path_of(path)):
                return path_of(path).stat()

        def open(self, path: str, mode: str = "rb", **_options: object) -> _Handle:
            with self._failures.noted():
                if mode == "rb":
                    return _Handle(SealedReader(path_of(path), self._cipher, self._cache), self._failures)
                return _Handle(SealedWriter(path_of(path), self._cipher), self._failures)

    return SealedFileSystem


class _Handle:
    """An open file as DuckDB uses it."""

    def __init__(self, file: SealedReader | SealedWriter, failures: Failures) -> None:
        self._file, self._failures = file, failures

    def read(self, length: int = -1) -> bytes:
        with self._failures.noted():
            return self._reader.read(length)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._reader.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: bytes | memoryview) -> int:
        with self._failures.noted():
            return self._writer.write(data)

    def flush(self) -> None:
        """Do nothing: an unfinished block cannot be written. Who publishes the file syncs it."""

    def close(self) -> None:
        with self._failures.noted():
            self._file.close()

    @property
    def _reader(self) -> SealedReader:
        if not isinstance(self._file, SealedReader):
            raise OSError("the file is open for writing")
        return self._file

    @property
    def _writer(self) -> SealedWriter:
        if not isinstance(self._file, SealedWriter):
            raise OSError("the file is open for reading")
        return self._file
