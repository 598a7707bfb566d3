"""The files of a store once more under other keys, or under none: made beside it, checked, and then switched to.

Nothing is decrypted to a file on the way: from one key to another every block is in memory only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from hexad.config import DATABASE
from hexad.database import files
from hexad.database.component import HeldStore, StoreFile, Treatment
from hexad.database.encryption.cipher import MEMORY_DB, FileCipher, StoreKeys, is_sealed
from hexad.database.encryption.file_swap import Switch, give_up, new_folder, switch
from hexad.database.encryption.inventory import Inventory
from hexad.database.encryption.record import RECORD, EncryptionRecord
from hexad.database.encryption.sealed_files import SealedReader
from hexad.database.secure_delete import free_bytes
from hexad.database.sqlite_setup import APPLICATION_ID, CIPHER, require_not_emptied, unlock
from hexad.errors import (
    IntegrityError,
    InvalidInput,
    LimitExceeded,
    StorageFailure,
    StoreLocked,
)

Step = Callable[[int, str], object]
"""Told how many bytes were written since the last time, and of which file."""
_PIECE_BYTES: Final = 1 << 20
_SPARE_BYTES: Final = 16 << 20
_BUSY_MS: Final = 2_000


class Conversion:
    """One change of a store's keys, from `old` to `new`; None is a plain store. The caller has the store alone."""

    def __init__(
        self,
        directory: Path,
        inventory: Inventory,
        *,
        what: str,
        old: StoreKeys | None,
        new: StoreKeys | None,
    ) -> None:
        """Look at what there is; raises `InvalidInput` where a link stands in the place of a part of the store."""
        self.directory, self._inventory = directory, inventory
        self._what, self._old, self._new = what, old, new
        self.parts: Sequence[StoreFile] = list(inventory.files(directory))
        links = [part.name for part in self.parts if part.purpose and (directory / part.name).is_symlink()]
        if links:
            raise InvalidInput(
                f"Cannot {what} {directory}: {', '.join(links)} would be left as it is, behind a link. Put what is "
                "there in the link's place, or all of the store's folder behind one link; nothing was changed."
            )
        self._written: dict[str, tuple[int, str]] = {}

    def of(self, *forms: Treatment) -> list[StoreFile]:
        """Return the files of these forms."""
        return [part for part in self.parts if part.form in forms]

    @property
    def size_bytes(self) -> int:
        """How much is written anew, about."""
        return sum(part.bytes for part in self.of(Treatment.DATABASE, Treatment.FILE)) + sum(
            part.bytes for part in self.parts if part.name.endswith("-wal")
        )

    @property
    def needed_bytes(self) -> int:
        """How much has to be free on the disk for it."""
        return self.size_bytes + self.size_bytes // 20 + _SPARE_BYTES

    def require_space(self) -> None:
        """Raise `LimitExceeded` where the disk has no room for the new files beside the old ones."""
        free = free_bytes(self.directory)
        if free < self.needed_bytes:
            raise LimitExceeded(
                f"Cannot {self._what} {self.directory}: it needs {self.needed_bytes:,} bytes of free space beside the "
                f"store, and {free:,} are free. Free some; nothing was changed."
            )

    def run(self, record: EncryptionRecord | None, *, step: Step = lambda _bytes, _name: None) -> None:
        """Make the new files, check them and switch to them; durable on return. `record` is the new one.

        Whatever is raised before the switch leaves the store as it was. Raises `Unprepared` where a system has to
        bring something into its files first, `StoreLocked` where a program has a database open, `IntegrityError` for
        a file that is damaged, `StorageFailure` for a disk that refuses.
        """
        with self._exclusive_databases():
            self._require()
            try:
                folder = new_folder(self.directory)
                for part in self.of(Treatment.FILE):
                    self._rewrite(part, folder / part.name)
                    step(part.bytes, part.name)
                for part in self.of(Treatment.DATABASE):
                    self._copy(part, folder / part.name)
                    step(part.bytes, part.name)
                if record is not None:
                    files.atomic_write(folder / RECORD, record.encoded())
            except BaseException:
                give_up(self.directory)
                raise
            switch(self.directory, self._plan(record))

    def _plan(self, record: EncryptionRecord | None) -> Switch:
        moves = [part.name for part in self.of(Treatment.FILE, Treatment.DATABASE)]
        removes = [
            part.name for part in self._inventory.files(self.directory) if part.form is Treatment.DROPPED
        ]
        if record is not None:
            moves.append(RECORD)
        elif (self.directory / RECORD).exists():
            removes.append(RECORD)
        return Switch(what=self._what, moves=moves, removes=removes, overwrite=self._new is not None)

    def _require(self) -> None:
        """Raise what a system has against a change at this moment."""
        for hook in self._inventory.hooks:
            hook.require(
                HeldStore(
                    directory=self.directory,
                    files=self.parts,
                    encrypted=self._old is not None,
                    execute=self._sources[DATABASE].execute,
                )
            )

    # Files ------------------------------------------------------------------------------------------------------

    def _rewrite(self, part: StoreFile, target: Path) -> None:
        files.ensure_dir(target.parent)
        digest, size = hashlib.sha256(), 0

        def noted(pieces: Iterator[bytes]) -> Iterator[bytes]:
            nonlocal size
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                yield piece

        plain = self._plain(self.directory / part.name, part.purpose)
        new = self._new
        files.stream_write(target, noted(plain if new is None else new.cipher(part.purpose).sealed(plain)))
        self._written[part.name] = (size, digest.hexdigest())

    def _plain(self, path: Path, purpose: str) -> Iterator[bytes]:
        with files.operation("read", path, "read"), path.open("rb") as file:
            head = file.read(_PIECE_BYTES)
            if not is_sealed(head):
                # A file that somebody laid into an encrypted store: from now on it is sealed too.
                while head:
                    yield head
                    head = file.read(_PIECE_BYTES)
                return
        if self._old is None:
            raise IntegrityError(
                f"{path} is encrypted, though its store is not. Move it away; nothing was changed."
            )
        yield from _opened(path, self._old.cipher(purpose))

    # Databases --------------------------------------------------------------------------------------------------

    @contextmanager
    def _exclusive_databases(self) -> Iterator[None]:
        """Hold every database, so that nobody reads or writes it, with all that was committed in its file."""
        self._sources: dict[str, apsw.Connection] = {}
        try:
            for part in self.of(Treatment.DATABASE):
                self._sources[part.name] = self._hold(part)
            yield
        finally:
            for con in self._sources.values():
                con.close(True)

    def _hold(self, part: StoreFile) -> apsw.Connection:
        path = self.directory / part.name
        require_not_emptied(path)
        con = _connected(path, self._old, part.purpose)
        try:
            con.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            con.execute("BEGIN IMMEDIATE")
            con.execute("COMMIT")
            ((busy, in_log, done),) = con.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
            if busy or in_log != done:
                raise apsw.BusyError("the log could not be brought into the database")
        except (apsw.BusyError, apsw.LockedError) as error:
            con.close(True)
            raise StoreLocked(
                f"Cannot {self._what}: a program has {path} open. Close it there and try again."
            ) from error
        except apsw.Error as error:
            con.close(True)
            raise _unreadable(path) from error
        return con

    def _copy(self, part: StoreFile, target: Path) -> None:
        files.ensure_dir(target.parent)
        source = self._sources[part.name]
        key = None if self._new is None else self._new.derive(part.purpose)
        options = "key=" if key is None else f"cipher={CIPHER}&hexkey={key.hex()}"
        with files.operation("write", target, "write"):
            reason = _vacuumed(source, f"file:{quote(str(target))}?{options}")
        if reason is not None:
            raise StorageFailure(
                f"Cannot write {target}: SQLite says {reason}. Check the disk and its free space; nothing was changed."
            )
        copy = _connected(target, self._new, part.purpose)
        try:
            copy.execute("PRAGMA journal_mode = MEMORY").fetchall()
            if part.purpose == MEMORY_DB:
                self._note(copy)
            _require_same(source, copy, target)
        finally:
            copy.close(True)

    def _note(self, copy: apsw.Connection) -> None:
        """Let the systems write into the copy what it says of their files."""
        copy.execute("BEGIN")
        for hook in self._inventory.hooks:
            hook.note(copy.execute, self._written)
        copy.execute("COMMIT")


def _opened(path: Path, cipher: FileCipher) -> Iterator[bytes]:
    with SealedReader(path, cipher) as reader:
        if not reader.size:
            cipher.read(path)  # its one block says that there is nothing, and that nothing was cut
            return
        while piece := reader.read(_PIECE_BYTES):
            yield piece


def _connected(path: Path, keys: StoreKeys | None, purpose: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    try:
        con = apsw.Connection(f"file:{quote(str(path))}", flags=flags)
        if keys is not None:
            unlock(con, keys.derive(purpose))
        con.set_busy_timeout(_BUSY_MS)
        # What is in the log stays there until it is overwritten.
        con.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        con.execute("PRAGMA temp_store = MEMORY").fetchall()
        con.execute("PRAGMA synchronous = FULL").fetchall()
    except apsw.Error as error:
        raise _unreadable(path) from error
    return con


def _vacuumed(source: apsw.Connection, target: str) -> str | None:
    """Copy a database; return the name of SQLite's error: its words would show `target`, and the key in it."""
    try:
        source.execute("VACUUM INTO ?", (target,)).fetchall()
    except apsw.Error as error:
        return type(error).__name__
    return None


def _require_same(source: apsw.Connection, copy: apsw.Connection, path: Path) -> None:
    """Raise `IntegrityError` for a copy that is damaged, or in which a table has not as many rows."""
    rows = copy.execute("PRAGMA integrity_check(1)").fetchall()
    if rows != [("ok",)]:
        raise IntegrityError(f"The copy {path} is damaged: {rows[0][0]}. Nothing was changed.")
    for pragma, right in (("application_id", APPLICATION_ID), ("user_version", None)):
        value = copy.execute(f"PRAGMA {pragma}").fetchall()[0][0]
        if value != (right if right is not None else source.execute(f"PRAGMA {pragma}").fetchall()[0][0]):
            raise IntegrityError(f"The copy {path} has another {pragma}. Nothing was changed.")
    if _counts(source) != _counts(copy):
        raise IntegrityError(f"The copy {path} has not the rows of the store. Nothing was changed.")


def _counts(con: apsw.Connection) -> dict[str, object]:
    names = con.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").fetchall()
    return {str(name): con.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0] for (name,) in names}


def _unreadable(path: Path) -> IntegrityError:
    return IntegrityError(
        f"{path} cannot be read with the store's keys, or is damaged. Put a backup in its place; nothing was changed."
    )
