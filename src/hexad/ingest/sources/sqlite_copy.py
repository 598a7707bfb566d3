"""Other programs' SQLite files: looked at, and never changed.

A file that nobody writes is read where it stands, as one that cannot change: no lock is taken, no file made beside it.
One with a write-ahead log is copied with it to a private folder and read there, since reading it in place would take
locks, make a `-shm` file and might clear the log.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from hexad.core.retry import TryAgain, retry
from hexad.errors import Conflict, InvalidInput

Value = None | int | float | str | bytes
Rows = Iterator[Mapping[str, Value]]

_HEAD: Final = b"SQLite format 3\0"
_ATTEMPTS: Final = 3
_WRITTEN: Final = "is being written; close the program that has it open, and call again"


class ForeignDatabase:
    """An open SQLite file of another program."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def tables(self) -> Mapping[str, Sequence[str]]:
        """Return the file's tables with the names of their columns; views and virtual tables are none."""
        with self._failing():
            names = [
                row[0]
                for row in self._connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
                )
            ]
            return {
                name: [
                    row[0]
                    for row in self._connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
                ]
                for name in names
            }

    def rows(self, table: str, columns: Sequence[str], *, order: Sequence[str]) -> Rows:
        """Give a table's rows, of the columns those that it has; raises `InvalidInput` where the file is damaged."""
        held = self.tables().get(table, ())
        chosen = [name for name in columns if name in held]
        by = [name for name in order if name in held]
        if not chosen:
            return
        ordered = f" ORDER BY {', '.join(map(_quoted, by))}" if by else ""
        with self._failing():
            for row in self._connection.execute(
                f"SELECT {', '.join(map(_quoted, chosen))} FROM {_quoted(table)}{ordered}"
            ):
                yield dict(zip(chosen, row, strict=True))

    def count(self, table: str) -> int:
        """Return how many rows a table has; 0 for one that is not there."""
        if table not in self.tables():
            return 0
        with self._failing():
            row = self._connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()
        return row[0] if row else 0

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise InvalidInput(
                f"{str(self._path)!r} cannot be read as SQLite: {error}. Let the program that wrote it repair it, or "
                "take a copy from a backup."
            ) from error


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite's files do; raises `InvalidInput` for one that cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be opened: {error.strerror}. Check its permissions."
        ) from error


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignDatabase]:
    """Open another program's SQLite file for reading.

    Raises `InvalidInput` for a file that is none, or was left in the middle of a transaction, and `Conflict` for one
    that somebody changes meanwhile.
    """
    if not is_sqlite(path):
        raise InvalidInput(
            f"{str(path)!r} is no SQLite database; name the program's database file, or its export."
        )
    path = path.resolve()  # the log lies beside the file itself, not beside a link to it
    journal = path.with_name(path.name + "-journal")
    if journal.exists() and journal.stat().st_size > 0:
        raise InvalidInput(
            f"{str(path)!r} is being changed, or was left in the middle of a change ({journal.name} lies beside it). "
            "Wait until the program that writes it is done, or start it and end it again, which repairs the file; then "
            "call again."
        )
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        with tempfile.TemporaryDirectory(prefix="hexad-") as folder:
            copy = retry(
                lambda: _copied(path, log, Path(folder)),
                times=_ATTEMPTS,
                failure=lambda: Conflict(f"{str(path)!r} {_WRITTEN}."),
            )
            with _opened(copy, path, immutable=False) as database:
                yield database
        return
    _refuse_cut(path)
    before = _mark(path)
    with _opened(path, path, immutable=True) as database:
        yield database
    if _mark(path) != before or (log.exists() and log.stat().st_size > 0):
        raise Conflict(f"{str(path)!r} {_WRITTEN}.")


def _refuse_cut(path: Path) -> None:
    """Raise `InvalidInput` for a file that is shorter than it says: SQLite would read what is gone as empty."""
    with path.open("rb") as file:
        head = file.read(100)
        size = file.seek(0, 2)
    if len(head) < 100 or head[24:28] != head[92:96]:
        return  # the number of pages is not to be relied on, or SQLite itself will refuse it
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big") * (1 << 16 if page == 1 else page)
    if size < pages:
        raise InvalidInput(
            f"{str(path)!r} is cut off: it has {size:,} of {pages:,} bytes. Copy it again, or take it from a backup."
        )


def _copied(path: Path, log: Path, folder: Path) -> Path:
    """Return a copy of a file and its log as they were at one moment; raises `TryAgain` where they change."""
    copy = folder / "copy.db"
    before = (_mark(path), _mark(log))
    try:
        shutil.copyfile(path, copy)
        shutil.copyfile(log, folder / "copy.db-wal")
    except FileNotFoundError:
        raise TryAgain from None  # the log was cleared: what it held is in the file now
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be copied to read it: {error.strerror}.") from error
    if (_mark(path), _mark(log)) != before:
        raise TryAgain
    return copy


def _mark(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_size, stat.st_mtime_ns


@contextmanager
def _opened(path: Path, named: Path, *, immutable: bool) -> Iterator[ForeignDatabase]:
    flags = apsw.SQLITE_OPEN_URI
    flags |= apsw.SQLITE_OPEN_READONLY if immutable else apsw.SQLITE_OPEN_READWRITE
    uri = f"file:{quote(str(path.absolute()))}?{'immutable=1' if immutable else 'mode=rw'}"
    try:
        connection = apsw.Connection(uri, flags=flags)
    except apsw.Error as error:
        raise InvalidInput(f"{str(named)!r} cannot be opened as SQLite: {error}.") from error
    try:
        # Nothing that the file says of itself is run: no function in a view, a trigger or an index on an expression.
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        yield ForeignDatabase(connection, named)
    finally:
        connection.close()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
