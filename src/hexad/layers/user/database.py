"""Where the user layer is: a folder of its own with `user.db`, and who has it open.

Other things of the user may lie in the same folder (key files do): only what is named here belongs to the layer.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hexad.core.clock import Clock
from hexad.database import migrations
from hexad.database.component import FileGroup, StoreFile, Treatment
from hexad.database.connection import Database
from hexad.database.encryption.cipher import USER_DB, StoreKeys
from hexad.database.encryption.file_swap import FOLDER, recover
from hexad.database.encryption.inventory import Inventory
from hexad.database.encryption.record import RECORD, KeyGiven, unlock_or_create
from hexad.database.leases import OpenLock, ReadShare
from hexad.errors import AccessDenied, InvalidInput
from hexad.layers.user.presence import DATABASE
from hexad.layers.user.tables.holdings import UserHoldings
from hexad.layers.user.tables.preferences import Patterns, Preferences
from hexad.layers.user.tables.projects import Projects
from hexad.layers.user.tables.schema import MIGRATIONS

_FILES: Final = (
    FileGroup(
        pattern=DATABASE,
        form=Treatment.DATABASE,
        purpose=USER_DB,
        label="preferences, patterns, what projects published (user.db)",
    ),
    *(FileGroup(pattern=f"{DATABASE}{end}", form=Treatment.DROPPED) for end in ("-wal", "-shm", "-journal")),
    FileGroup(pattern=RECORD, form=Treatment.KEPT),
)


class UserInventory(Inventory):
    """What the files of the user layer are; whatever else is in the folder is not looked at."""

    def __init__(self) -> None:
        super().__init__(_FILES)

    def files(self, directory: Path) -> Iterator[StoreFile]:
        """Yield the files that there are."""
        for group in _FILES:
            path = directory / group.pattern
            if path.exists():
                yield StoreFile(
                    name=group.pattern, form=group.form, purpose=group.purpose, bytes=path.stat().st_size
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStore:
    """An open user layer, as one person sees it; `lock` keeps its encryption from being changed meanwhile."""

    folder: Path
    db: Database
    preferences: Preferences
    patterns: Patterns
    projects: Projects
    holdings: UserHoldings
    lock: OpenLock | ReadShare
    encrypted: bool

    def identity(self) -> str:
        """Return what tells this layer from another one in its place: when it was begun, to the microsecond, hashed."""
        return hashlib.blake2b(self.holdings.begun().encode(), digest_size=16).hexdigest()

    def close(self) -> None:
        """Let go of the database and of the folder. Idempotent."""
        self.db.close()
        self.lock.close()


def open_user_store(
    folder: Path, *, user_id: str, clock: Clock, key_source: KeyGiven, readonly: bool, purpose: str
) -> UserStore:
    """Open the user layer in `folder`, made with mode 0600 where it is not there, unless `readonly`.

    Raises `AccessDenied` for an encrypted one without its key, and for a file that others may read; what else a
    store that is opened raises.
    """
    lock = ReadShare(folder, clock=clock) if readonly else OpenLock(folder, clock=clock, purpose=purpose)
    db: Database | None = None
    try:
        if (folder / FOLDER).exists():
            recover(folder, lock if isinstance(lock, OpenLock) else None)
        keys = unlock_user(folder, key_source, lock if isinstance(lock, OpenLock) else None)
        _require_private(folder / DATABASE)
        key = None if keys is None else keys.derive(USER_DB)
        db = Database.open(folder / DATABASE, clock=clock, readonly=readonly, key=key)
        if not readonly:
            migrations.apply(db, MIGRATIONS, clock)
        return UserStore(
            folder=folder,
            db=db,
            preferences=Preferences(db, user_id),
            patterns=Patterns(db, user_id),
            projects=Projects(db, user_id),
            holdings=UserHoldings(db, user_id),
            lock=lock,
            encrypted=keys is not None,
        )
    except BaseException:
        if db is not None:
            db.close()
        lock.close()
        raise


def unlock_user(folder: Path, key_source: KeyGiven, lock: OpenLock | None = None) -> StoreKeys | None:
    """Return the keys of the user layer, None for a plain one; with a `lock`, one that begins with a key is encrypted.

    Raises as `unlock` does, in the layer's own words.
    """
    try:
        return unlock_or_create(folder, key_source, lock, database=DATABASE)
    except (AccessDenied, InvalidInput) as error:
        raise type(error)(
            f"The user layer in {folder}: {_of_the_layer(error.reason)}", remedy=_of_the_layer(error.remedy)
        ) from error


def _of_the_layer(text: str) -> str:
    """Return words on a store's key as those on the layer's, which has variables and a parameter of its own."""
    text = text.replace("HEXAD_", "HEXAD_USER_").replace("key=", "user_key=")
    return text.replace("`hexad encrypt`", "`hexad encrypt --user`")


def _require_private(path: Path) -> None:
    """Raise `AccessDenied` where other users may read the file: it was made for its owner alone."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return
    if mode & 0o077:
        raise AccessDenied(
            f"{path} has mode {mode:04o}: other users may read what is known of you. Run `chmod 600 {path}`."
        )
