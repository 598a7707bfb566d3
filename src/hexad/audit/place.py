"""Where a ledger is: a folder of its own, for its owner alone, with its database and its keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.audit.ledger import KEY_FIELDS, Ledger
from hexad.audit.schema import MIGRATIONS
from hexad.clock import Clock
from hexad.errors import NotFound
from hexad.storage import migrations
from hexad.storage.connection import Database
from hexad.storage.keys import KeyStore

DATABASE: Final = "audit.db"
KEYS: Final = "audit.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLedger:
    """An open ledger with what it is made of."""

    path: Path
    db: Database
    keys: KeyStore
    ledger: Ledger
    clock: Clock

    def close(self) -> None:
        """Let go of the database. Idempotent."""
        self.db.close()


def open_ledger(path: Path, *, clock: Clock, create: bool) -> OpenLedger:
    """Open the ledger in the folder `path`, or in `audit` below a store's folder.

    It is made with mode 0700, its files with 0600, where `create` allows; else a ledger that is not there is
    `NotFound`. Raises `AccessDenied` for keys that others may read.
    """
    folder = path / "audit" if (path / "memory.db").exists() else path
    if not create and not (folder / DATABASE).exists():
        raise NotFound(f"There is no ledger in {folder}; the system's `AuditLogWriter` makes it.")
    db = Database.open(folder / DATABASE, clock=clock)
    try:
        migrations.apply(db, MIGRATIONS, clock)
        keys = KeyStore(folder / KEYS, fields=KEY_FIELDS)
        return OpenLedger(path=folder, db=db, keys=keys, ledger=Ledger(db, keys), clock=clock)
    except BaseException:
        db.close()
        raise
