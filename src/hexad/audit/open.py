"""Where a ledger is: a folder of its own, for its owner alone, with its database and its keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from hexad.audit.ledger import KEY_FIELDS, Ledger
from hexad.audit.verify import loss_of, noted_head
from hexad.config import DATABASE as STORE
from hexad.config import STORE_DIRECTORY, load_settings
from hexad.core.clock import Clock
from hexad.core.tracing import log
from hexad.database import migrations
from hexad.database.connection import Connection, Database
from hexad.database.encryption.cipher import AUDIT_DB, KEY_BYTES, MEMORY_DB, StoreKeys
from hexad.database.encryption.file_swap import FOLDER as CONVERSION
from hexad.database.encryption.file_swap import recover
from hexad.database.encryption.record import KeyGiven, unlock
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.leases import OpenLock
from hexad.database.meta import LEDGER_KEY, Meta
from hexad.database.migrations import Migration
from hexad.database.sqlite_errors import failures_translated
from hexad.database.sqlite_setup import require_not_emptied
from hexad.errors import AccessDenied, HexadError, IntegrityError, InvalidInput, NotFound

DDL: Final = """
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  body BLOB NOT NULL,                      -- the canonical JSON that is hashed
  hash BLOB NOT NULL,
  at INTEGER NOT NULL,                     -- these repeat what the body says, to be asked by; a check compares
  kind TEXT NOT NULL,
  session TEXT,
  tick INTEGER,
  event_type TEXT,
  subject BLOB NOT NULL
) STRICT;
CREATE INDEX entries_by_session ON entries(session, tick);
CREATE INDEX entries_by_time ON entries(at);
CREATE INDEX entries_by_kind ON entries(kind);
CREATE INDEX entries_by_subject ON entries(subject);
CREATE TABLE contents (
  seq INTEGER PRIMARY KEY REFERENCES entries(seq),
  nonce BLOB NOT NULL,                     -- key and salt come from it and the subject's key
  ciphertext BLOB NOT NULL
) STRICT;
CREATE TABLE subjects (
  ref BLOB PRIMARY KEY,                    -- all that records say of whose data they are
  name BLOB NOT NULL,                      -- encrypted, as is the key
  lookup BLOB NOT NULL UNIQUE,             -- an HMAC of the name
  key BLOB NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE tiles (
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (level, place)
) WITHOUT ROWID, STRICT;
-- Up to which row of another store's outbox records were taken.
CREATE TABLE taken (
  source TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  size INTEGER NOT NULL,
  last BLOB NOT NULL,                      -- the last record's hash, or nothing
  frontier BLOB NOT NULL
) STRICT;
INSERT INTO state VALUES(1, 0, x'', x'');
"""


ARCHIVES: Final = """
-- Runs of records that are in an archive: what the tree and the chain need of them. A record of the kind `archive`
-- names each with a hash of all that; `edges` are the hashes of its subtrees below those that `tiles` has.
CREATE TABLE gaps (
  first INTEGER PRIMARY KEY,
  past INTEGER NOT NULL,
  last BLOB NOT NULL,                      -- the hash of its last record, which the next record follows
  edges BLOB NOT NULL,
  named_by INTEGER NOT NULL                -- the record that says which archive
) STRICT;
-- The contents of archived records: their nonces stay here, so that erasing reaches what is in archives. Erased: NULL.
CREATE TABLE archived (
  seq INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL REFERENCES archived_owners(id),
  tick INTEGER,
  nonce BLOB
) STRICT;
CREATE TABLE archived_owners (
  id INTEGER PRIMARY KEY,
  ref BLOB NOT NULL,                       -- the subject
  session TEXT,
  first INTEGER NOT NULL,                  -- between these records stand all of both that one archive has
  last INTEGER NOT NULL
) STRICT;
CREATE INDEX archived_owners_by_ref ON archived_owners(ref);
CREATE INDEX archived_owners_by_session ON archived_owners(session);
-- Nearly all records are timesteps, and nobody looks for them by that alone.
DROP INDEX entries_by_kind;
CREATE INDEX entries_by_kind ON entries(kind) WHERE kind <> 'timestep';
"""


def _create(con: Connection) -> None:
    con.execute(DDL)


def _add_archives(con: Connection) -> None:
    con.execute(ARCHIVES)


MIGRATIONS: Final = (
    Migration(number=1, name="ledger", apply=_create),
    Migration(number=2, name="archives of the ledger", apply=_add_archives),
)


DATABASE: Final = "audit.db"
KEYS: Final = "audit.key"
_BELONGING: Final = (
    "Restore it from a backup: without it nobody can read what the records of the ledger hold, nor find in it what an "
    "erasure is to take."
)
FOLDER: Final = "audit"
Key = bytes | str | Path | None
Noted = TypeVar("Noted")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLedger:
    """An open ledger with what it is made of; `lock` keeps the store's encryption from being changed meanwhile."""

    path: Path
    db: Database
    keys: KeyStore
    ledger: Ledger
    clock: Clock
    crypt: StoreKeys | None = None
    store: Path | None = None
    lock: OpenLock | None = None

    def close(self) -> None:
        """Let go of the database and of the store. Idempotent."""
        self.db.close()
        if self.lock is not None:
            self.lock.close()


@failures_translated
def open_ledger(
    path: Path,
    *,
    clock: Clock,
    create: bool,
    crypt: StoreKeys | None = None,
    lock: OpenLock | None = None,
    readonly: bool = False,
    known: Callable[[], str | None] = lambda: None,
) -> OpenLedger:
    """Open the ledger in the folder `path`, or in `audit` below a store's, for a caller that has the store open.

    It is made with mode 0700, its files with 0600, where `create` allows; else a ledger that is not there is
    `NotFound`. With `crypt` its files are encrypted. Raises `AccessDenied` for keys that others may read. `lock` is
    closed with it. `known` returns the identity of the key file that the store noted: no other is used, or made.
    """
    folder, store = _places(path)
    require_not_emptied(folder / DATABASE, beside=KEYS)
    if not create and not (folder / DATABASE).exists():
        raise _no_ledger(folder)
    key, is_new = None if crypt is None else crypt.derive(AUDIT_DB), not (folder / DATABASE).exists()
    db = Database.open(folder / DATABASE, clock=clock, key=key, readonly=readonly)
    try:
        if not readonly:
            migrations.apply(db, MIGRATIONS, clock)
        keys = KeyStore(
            folder / KEYS,
            fields=KEY_FIELDS,
            crypt=crypt,
            known=(lambda: None) if is_new else known,  # that it is another ledger shows by its records
            in_use=lambda: db.query_one("SELECT 1 FROM subjects LIMIT 1") is not None,
            belonging=_BELONGING,
        )
        return OpenLedger(
            path=folder,
            db=db,
            keys=keys,
            ledger=Ledger(db, keys),
            clock=clock,
            crypt=crypt,
            store=store,
            lock=lock,
        )
    except BaseException:
        db.close()
        raise


@failures_translated
def open_with_key(path: Path, *, clock: Clock, create: bool, key: Key, purpose: str) -> OpenLedger:
    """Open a ledger by itself: that of a store with the store's key, and a share of the store as long as it is open.

    Raises as `open_ledger` does, and `AccessDenied` and `InvalidInput` as a store that is opened with that key.
    """
    folder, store = _places(path)
    if create and not folder.parent.is_dir():
        raise NotFound(
            f"There is no folder {str(folder.parent)!r} for a ledger; create it, or give another path."
        )
    if store is None:
        return open_ledger(folder, clock=clock, create=create, crypt=_own_keys(key, folder))
    require_not_emptied(folder / DATABASE, beside=KEYS)
    if not create and not (folder / DATABASE).exists():
        raise _no_ledger(folder)
    lock = OpenLock(store, clock=clock, purpose=purpose)
    try:
        if (store / CONVERSION).exists():
            recover(store, lock)
        settings = load_settings(store)
        key_source = KeyGiven.of(key, **settings.key_sources(key))
        crypt = unlock(store, key_source)

        def known() -> str | None:
            return _noted(store, lambda meta: meta.get(LEDGER_KEY), clock=clock, crypt=crypt)

        return open_ledger(folder, clock=clock, create=create, crypt=crypt, lock=lock, known=known)
    except BaseException:
        lock.close()
        raise


def require_whole(opened: OpenLedger) -> None:
    """Raise `IntegrityError` for a ledger that is not the one that its store knows, or not all of it."""
    if opened.store is None:
        return
    noted = _noted(opened.store, noted_head, clock=opened.clock, crypt=opened.crypt)
    if (loss := loss_of(opened.ledger, opened.path / DATABASE, noted)) is not None:
        raise IntegrityError(loss)


def _noted(
    store: Path, read: Callable[[Meta], Noted | None], *, clock: Clock, crypt: StoreKeys | None
) -> Noted | None:
    """Return what a store noted of its ledger; None where nothing was, or it cannot be read."""
    key = None if crypt is None else crypt.derive(MEMORY_DB)
    try:
        db = Database.open(store / STORE, clock=clock, readonly=True, key=key)
        try:
            return read(Meta(db))
        finally:
            db.close()
    except (
        HexadError
    ) as error:  # the store's own readers say so; what is in the ledger can be read without it
        log.warning("What the store noted of its ledger cannot be read: %s", error)
        return None


def note_key(meta: Meta, opened: OpenLedger) -> None:
    """Note which key file is the ledger's, where there is one that opens it and none is known: from then on it is
    missed.
    """  # fmt: skip
    if meta.database.readonly or meta.get(LEDGER_KEY) is not None:
        return
    try:
        opened.ledger.require_key()
        identity = opened.keys.identity()
    except (AccessDenied, IntegrityError):  # who needs it is told
        return
    if identity is not None:
        meta.ensure(LEDGER_KEY, identity)


def _places(path: Path) -> tuple[Path, Path | None]:
    """Return the folder of a ledger, and the folder of the store that it belongs to.

    A project's folder means its store, unless a ledger was begun there before the store was.
    """
    if (path / STORE_DIRECTORY / STORE).exists() and not (path / DATABASE).exists():
        path = path / STORE_DIRECTORY
    if (path / STORE).exists():
        return path / FOLDER, path
    if path.name == FOLDER and (path.parent / STORE).exists():
        return path, path.parent
    return path, None


def _own_keys(key: Key, folder: Path) -> StoreKeys | None:
    if key is None:
        return None
    if not isinstance(key, bytes | bytearray) or len(key) != KEY_BYTES:
        raise InvalidInput(f"The ledger in {folder} is of no store: its key is {KEY_BYTES} bytes.")
    return StoreKeys(bytes(key))


def _no_ledger(folder: Path) -> NotFound:
    return NotFound(
        f"There is no ledger in {folder} yet: the system's `AuditLogWriter`, the first reviewer (`hexad audit reviewer "
        "add`) and the first purge make it."
    )
