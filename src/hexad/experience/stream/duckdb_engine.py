"""DuckDB, in memory and on a short leash: the engine that reads and writes the stream's segments.

It never sees `memory.db`: rows go in as NumPy columns. Nothing is spilled to disk and no extension is loaded. Files of
an encrypted store it reads and writes through us, block by block (`sealed_files`).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.database.encryption.cipher import FileCipher
from hexad.database.encryption.sealed_files import (
    EXPORTS_SCHEME,
    SCHEME,
    BlockCache,
    Failures,
    filesystem,
    name_of,
)
from hexad.database.exit_hooks import ENDING_S, ExitPhase, forget, register
from hexad.errors import HexadError, IntegrityError, InvalidInput, LimitExceeded, StorageFailure, failure

if TYPE_CHECKING:
    import duckdb

_MEMORY_GB: Final = 2
CURSORS_MOST: Final = 500
"""DuckDB keeps 0.3 to 40 kB of each cursor, and what it read of files that are gone, until it is closed; so it is
opened anew after so many, in some 20 ms."""
_Config = dict[str, str | int | float | list[str]]
_CONFIG: Final[_Config] = {
    "temp_directory": "",
    "memory_limit": f"{_MEMORY_GB}GB",
    "threads": "2",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_NO_ASYNC_THREADS: Final[_Config] = {"async_threads": "0"}
"""DuckDB 2 starts eight threads for reading remote files, of which a store has none."""
_SEALED_CONFIG: Final[_Config] = {
    "enable_external_file_cache": "false"
}  # it would hold decrypted files, as far as memory goes


class DuckDbEngine:
    """One in-memory DuckDB, opened when it is first asked; a cursor for each block.

    With a `cipher` the files of the store are sealed, with that for `exports` those that are made to be kept.
    """

    def __init__(self, cipher: FileCipher | None = None, *, exports: FileCipher | None = None) -> None:
        self.cipher, self._exports, self._failures = cipher, exports, Failures()
        self._lock = threading.Condition()
        self._con: duckdb.DuckDBPyConnection | None = None
        self.blocks = BlockCache()
        self._used: dict[int, duckdb.DuckDBPyConnection] = {}
        self._given = 0  # cursors since it was opened
        self._ended = False
        self._pid = os.getpid()

    @property
    def limit_bytes(self) -> int:
        """How much memory DuckDB takes at most."""
        return _MEMORY_GB * 1_000_000_000

    def nbytes(self) -> int:
        """Return how much it has; 0 while nothing was asked."""
        con = self._con
        if con is None or self._pid != os.getpid():
            return 0
        with self.cursor(Path("duckdb_memory")) as cursor:
            rows = cursor.table_function("duckdb_memory").sum("memory_usage_bytes").fetchall()
        return sum(int(used or 0) for (used,) in rows)

    def name(self, path: str | Path) -> str:
        """Return what stands for a file of the store in a statement; a string in it needs `quoted` besides."""
        return str(path) if self.cipher is None else name_of(path)

    def export_name(self, path: str | Path, *, sealed: bool) -> str:
        """Return what stands for an export, which may be plain in any store."""
        return name_of(path, EXPORTS_SCHEME) if sealed else str(path)

    @contextmanager
    def cursor(
        self, what: Path, table: Mapping[str, object] | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor that sees `table` (NumPy columns) as `rows`; `what` is named when DuckDB fails.

        Raises `StorageFailure` when a file cannot be read or written, `IntegrityError` for one that is no Parquet.
        """
        import duckdb

        try:
            with self._lent() as cursor:
                if table is not None:
                    cursor.register("rows", table)
                yield cursor
        except duckdb.OutOfMemoryException as error:
            raise StorageFailure(
                f"{what} does not fit into {_CONFIG['memory_limit']} of memory; ask for less of it at a time."
            ) from error
        except (duckdb.InterruptException, _busy()) as error:
            raise StorageFailure(f"{what} was being read or written when the store was closed.") from error
        except duckdb.IOException as error:
            raise self._behind(error) or StorageFailure(
                f"Cannot read or write {what}: {_message_of(error)}"
            ) from error
        except OSError as error:
            raise failure("write", what, error) from error
        except UnicodeDecodeError as error:  # DuckDB hands over the bytes of a text as they stand in a file
            raise IntegrityError(
                f"{what} cannot be read: a text in it is damaged. Run `hexad check`, and put a backup in its place."
            ) from error
        except (
            duckdb.Error
        ) as error:  # whatever else it says of a file: its bytes are not those that were written
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._renew()
            raise self._behind(error) or IntegrityError(
                f"{what} cannot be read: {_message_of(error)}. Run `hexad check`, and put a backup in its place."
            ) from error

    @contextmanager
    def arrow(self, capsule: object) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor that sees an Arrow stream as `stream`; it can be read once.

        Raises `InvalidInput` for what cannot be read or converted, `LimitExceeded` for what is too large.
        """
        import duckdb

        try:
            with self._lent() as cursor:
                cursor.register("stream", capsule)
                yield cursor
        except duckdb.OutOfMemoryException as error:
            raise LimitExceeded(
                f"The rows do not fit into {_CONFIG['memory_limit']} of memory; give a part of them at a time."
            ) from error
        except duckdb.Error as error:
            raise InvalidInput(f"The rows cannot be read as Arrow: {error}") from error

    @contextmanager
    def _lent(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a cursor; what DuckDB makes of Ctrl-C is an interrupt again."""
        cursor = self._cursor()
        try:
            yield cursor
        except RuntimeError as error:
            if str(error) == _CTRL_C:
                raise KeyboardInterrupt from error
            raise
        finally:
            self._leave(cursor)

    def _behind(self, error: Exception) -> HexadError | None:
        """Return what failed in a sealed file, None when DuckDB itself did."""
        return self._failures.behind(str(error))

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._ended and threading.current_thread() is not threading.main_thread():
                raise StorageFailure("The program ends: the stream is not read or written any more.")
            is_worn = self._given >= CURSORS_MOST and not self._used and self._pid == os.getpid()
            if self._con is not None and is_worn:
                self._con.close()
                self._con = None
            if self._con is None:
                # A connection that is alive when the interpreter ends makes DuckDB print pages about leaks.
                register(ExitPhase.ENGINE, self, partial(_end_engine, weakref.ref(self)))
                self._con, self._given = self._connection(), 0
            self._given += 1
            cursor = self._con.cursor()
            self._used[id(cursor)] = cursor
            return cursor

    def _connection(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        newer = int(duckdb.__version__.partition(".")[0]) >= 2
        config: _Config = {**_CONFIG, **(_NO_ASYNC_THREADS if newer else {})}
        if self.cipher is None:
            return duckdb.connect(":memory:", config=config)
        kinds = [(self.cipher, SCHEME), (self._exports, EXPORTS_SCHEME)]
        sealed = [
            filesystem(cipher, scheme, self._failures, self.blocks)
            for cipher, scheme in kinds
            if cipher is not None
        ]
        con = duckdb.connect(":memory:", config={**config, **_SEALED_CONFIG})
        for sealed_files in sealed:
            con.register_filesystem(sealed_files)
        return con

    def _renew(self) -> None:
        """Let the next question open DuckDB anew: after such an error it answers none."""
        with self._lock:
            self._con = None

    def _leave(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with suppress(_busy()):  # it goes with its last reference then
            cursor.close()
        with self._lock:
            del self._used[id(cursor)]
            self._lock.notify_all()

    def close(self) -> None:
        """Free what it holds, after breaking off what other threads ask; a question that goes on all the same is left
        alone. Idempotent.
        """  # fmt: skip
        # In a forked child the threads of DuckDB are not there: to close it would end the child with a crash.
        if self._pid != os.getpid():
            return
        with self._lock:
            for cursor in self._used.values():
                cursor.interrupt()
            # What is closed while it is busy raises, and crashes when the interpreter ends.
            idle = self._lock.wait_for(lambda: not self._used, ENDING_S)
            if idle and self._con is not None:
                self._con.close()
                self._con = None
                forget(ExitPhase.ENGINE, self)

    def end(self) -> None:
        """Close it because the program ends: other threads get nothing from it any more."""
        self._ended = True
        self.close()


_CTRL_C: Final = "Query interrupted"
"""As what DuckDB hands on the interrupt of whoever waits."""


def quoted(name: str) -> str:
    """Return a name as it stands between quotes in a statement."""
    return name.replace("'", "''")


def _busy() -> type[Exception]:
    """Return what a connection raises that DuckDB closes meanwhile, as it does when the program ends."""
    import duckdb

    # DuckDB 2 has it.
    busy: type[Exception] = getattr(duckdb, "ResourceInUseException", duckdb.InterruptException)
    return busy


def _message_of(error: Exception) -> str:
    """Return what DuckDB says, without the statement that it shows below."""
    return str(error).partition("\n")[0].rstrip(".")


def _end_engine(engine: weakref.ref[DuckDbEngine]) -> None:
    open_one = engine()
    if open_one is not None:
        open_one.end()
