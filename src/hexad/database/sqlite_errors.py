"""SQLite's errors in Hexad's words; translated once, where SQL is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from hexad.errors import (
    Conflict,
    HexadError,
    IntegrityError,
    InvalidInput,
    StorageFailure,
    StoreLocked,
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


def extended_code(error: apsw.Error) -> int:
    """Return SQLite's extended result code; 0 for an error that has none."""
    return int(getattr(error, "extendedresult", 0))


# A text that is not UTF-8 is damage: everything stored was encoded by the driver. One that cannot be encoded is the
# caller's: half of a surrogate pair, as a terminal makes of bytes that are no UTF-8.
FOREIGN = (apsw.Error, UnicodeDecodeError, UnicodeEncodeError)


def translated_error(error: apsw.Error | UnicodeError, path: Path) -> HexadError:
    """Return the `HexadError` that says what `error` means for the store at `path`."""
    match error:
        case UnicodeDecodeError():
            return IntegrityError(f"The store {path} is damaged: a text in it is not valid UTF-8. {_RESTORE}")
        case UnicodeEncodeError():
            return InvalidInput(
                f"{error.object[:80]!r} holds {error.object[error.start]!r}, half of a character; write it in UTF-8."
            )
        case apsw.ConstraintError():
            return Conflict(f"The store {path} holds something that contradicts the change: {error}.")
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
            return StorageFailure(
                f"Cannot read or write {path}: {error} ({_extended_name(error)}). "
                "Check the disk, then try again."
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StorageFailure(
                f"Cannot write to {path}: {error}. "
                "Check the permissions of the file, its directory and the file system."
            )
        case apsw.CantOpenError():
            return StorageFailure(
                f"Cannot open {path}: {error}. Check that its directory exists and that this user may use it."
            )
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


def _extended_name(error: apsw.Error) -> str:
    code = extended_code(error)
    return str(apsw.mapping_extended_result_codes.get(code) or code)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Run the block; an SQLite error leaves it as a `HexadError` about `path`."""
    try:
        yield
    except FOREIGN as error:
        raise translated_error(error, path) from error
