"""What every system of an open store is handed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from hexad.config import Settings
from hexad.core.actor import Actor
from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.database.connection import Database
from hexad.database.encryption.cipher import StoreKeys
from hexad.database.encryption.secrets_file import SECRET_BYTES, KeyStore
from hexad.database.meta import KEY_FILE, Meta
from hexad.errors import AccessDenied, HexadError, IntegrityError


def _without_background() -> None:
    """Nobody looks for work by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """One open store. `directory` is its folder, `project` what its project is called, `actor` who opened it.

    `crypt` is None when nothing is encrypted. `wake` lets the background look for work, where there is one
    (`background`). `owner` names this opening among those of other processes, `alive` gives the names of all of them.
    """

    directory: Path
    settings: Settings
    db: Database
    clock: Clock
    ids: IdSource
    actor: Actor
    keys: KeyStore
    crypt: StoreKeys | None
    project: str
    background: bool
    owner: str
    alive: Callable[[], Collection[str]]
    wake: Callable[[], None] = _without_background

    def salt(self) -> bytes:
        """Return the key of hashes that nobody without it can test a guess of.

        What a trial hashes is undone: a store that has no key file yet gets none by it.
        """
        if self.db.in_trial and not self.keys.path.exists():
            return bytes(SECRET_BYTES)
        return self.keys.redaction_salt

    def note_keys(self) -> None:
        """Note which key file is this store's, where there is one and none is known: from then on it is missed."""
        meta = Meta(self.db)
        if self.db.readonly or meta.get(KEY_FILE) is not None:
            return
        with contextlib.suppress(AccessDenied, IntegrityError):  # who needs the keys is told
            if (identity := self.keys.identity()) is not None:
                self.keys.sync_name()
                meta.put(KEY_FILE, identity)

    def lost_files(self) -> list[str]:
        """Return in words which files are not as they were noted, or what a key file is that has no keys."""
        lost = list(Meta(self.db).lost_files(self.directory).values())
        try:
            self.keys.require()
        except IntegrityError as error:
            lost.append(str(error))
        except HexadError:
            pass  # it cannot be read just now, or others may read it: who needs it is told, and `check` says it
        return lost

    def accept_losses(self, *, user_layer: str | None) -> None:
        """Expect no longer what is lost, the user layer of a place among it where one is named."""
        self.db.require_writable()
        keys, at = self.keys.are_lost(), self.clock.now()
        Meta(self.db).accept_losses(
            self.directory, keys=keys, user_layer=user_layer, by=self.actor.describe(), at=at
        )
        self.note_keys()

    @property
    def may_see_user(self) -> bool:
        """Whether the layer of the person may be read by who opened the store."""
        return self.actor.is_owner or self.actor.role is None
