"""A change of a store's keys, carried out with the store alone: what `encrypt`, `decrypt` and `rekey` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from hexad.config import DATABASE, Settings, load_settings
from hexad.core.arguments import parse_path
from hexad.core.clock import Clock
from hexad.core.retry import retry
from hexad.database.component import Treatment, Unprepared
from hexad.database.encryption.file_swap import FOLDER, end_interrupted, recover
from hexad.database.encryption.inventory import Inventory, inventory_of
from hexad.database.encryption.key_providers import PASSPHRASE, PROGRAM, KeyGiven, fetch, forget, key_file_of
from hexad.database.encryption.record import (
    RECORD,
    EncryptionProgress,
    EncryptionRecord,
    EncryptionReport,
    Unlocked,
    read_record,
    unlock,
)
from hexad.database.files import atomic_write
from hexad.database.leases import OpenLock
from hexad.database.sqlite_setup import refuse_lost_store, require_own_files
from hexad.errors import Conflict, NotFound, StoreLocked
from hexad.layers.user.database import UserInventory, open_user_store, unlock_user
from hexad.layers.user.presence import DATABASE as USER_DATABASE
from hexad.layers.user.presence import default_user_dir, is_there
from hexad.lifecycle.opening import open
from hexad.lifecycle.reencryption import Conversion
from hexad.services import components

if TYPE_CHECKING:
    from hexad.database.encryption.cipher import StoreKeys

Key = bytes | str | Path | None
_ATTEMPTS: Final = 3


def require_unchanged(directory: Path, record: EncryptionRecord | None) -> None:
    """Raise `Conflict` where the store has another record than the one that was read: its keys may be others."""
    if read_record(directory) != record:
        raise changed(directory)


def changed(directory: Path) -> Conflict:
    """Return the error for a store whose encryption is not as it was read."""
    return Conflict(f"The encryption of {directory} was changed meanwhile; look again. Nothing was done.")


def require_kept(made: Unlocked, key_source: KeyGiven) -> None:
    """Raise `AccessDenied` where a provider does not give back what it gave: the store could never be opened."""
    if made.record.place.provider not in (PASSPHRASE, PROGRAM):
        made.record.keys(fetch(made.record.place, key_source))


@contextmanager
def exclusively(directory: Path, doing: str, clock: Clock) -> Iterator[OpenLock]:
    """Hold a store alone, with what was interrupted before undone or ended."""
    lock = OpenLock(directory, clock=clock, purpose=f"hexad, to {doing}")
    try:
        with lock.exclusively(f"{doing} at {directory}"):
            end_interrupted(directory)
            yield lock
    finally:
        lock.close()


class KeyChange:
    """One change of one store's encryption."""

    database: ClassVar[str] = DATABASE

    def __init__(
        self,
        directory: Path,
        what: str,
        *,
        progress: Callable[[EncryptionProgress], object] | None,
        clock: Clock,
    ) -> None:
        self.directory, self._what, self._clock = directory, what, clock
        self._progress = progress or (lambda _progress: None)
        require_own_files(directory)
        if not (directory / self.database).exists():
            raise NotFound(f"There is no store at {directory}.")
        if (directory / FOLDER).exists():
            lock = OpenLock(directory, clock=clock, purpose=f"hexad {what}")
            try:
                recover(directory, lock)
            finally:
                lock.close()
        refuse_lost_store(directory / self.database)

    @cached_property
    def inventory(self) -> Inventory:
        """What its files are."""
        return inventory_of(components())

    @property
    def protected(self) -> Path:
        """Where no key file may lie: it would go wherever what it opens goes."""
        return self.directory

    @property
    def settings(self) -> Settings:
        """What the store's settings and the environment say."""
        return load_settings(self.directory)

    def key_source(self, key: Key) -> KeyGiven:
        """Return what there is to open it with."""
        return KeyGiven.of(key, **self.settings.key_sources(key))

    def unlock(self, given: KeyGiven) -> StoreKeys | None:
        """Return its keys, None where it is plain; raises as a store that is opened."""
        return unlock(self.directory, given)

    def plan(self, *, provider: str | None, record_alone: bool = False) -> EncryptionReport:
        """Return what would be done; with `record_alone` nothing but the record is written."""
        if record_alone:
            where = str(self.directory)
            return EncryptionReport(path=where, what=self._what, provider=provider, dry_run=True)
        return self._report(self._conversion(None, None), provider=provider, dry_run=True)

    def run(
        self, old: Unlocked | None, make: Callable[[], Unlocked] | None, given: KeyGiven, *, key: Key = None
    ) -> EncryptionReport:
        """Carry the change out, with the store alone. `make` makes the new key when all is ready for it."""
        record = None if old is None else old.record
        with exclusively(self.directory, self._what, self._clock):
            require_unchanged(self.directory, record)
            self._conversion(old, None).require_space()

        def attempt() -> EncryptionReport:
            self._prepare(key)
            with exclusively(self.directory, self._what, self._clock):
                return self._convert(old, make, given)

        try:
            return retry(attempt, times=_ATTEMPTS, on=Unprepared)
        except Unprepared as error:
            raise StoreLocked(f"Cannot {self._what} {self.directory}: {error}") from error

    def _conversion(self, old: Unlocked | None, new: Unlocked | None) -> Conversion:
        keys = [None if unlocked is None else unlocked.keys for unlocked in (old, new)]
        return Conversion(self.directory, self.inventory, what=self._what, old=keys[0], new=keys[1])

    def _convert(
        self, old: Unlocked | None, make: Callable[[], Unlocked] | None, key_source: KeyGiven
    ) -> EncryptionReport:
        encryption_record = None if old is None else old.record
        require_unchanged(self.directory, encryption_record)
        made = None if make is None else make()
        try:
            if made is not None:
                require_kept(made, key_source)
            conversion = self._conversion(old, made)
            conversion.require_space()
            total, done = conversion.size_bytes, 0

            def step(size: int, name: str) -> None:
                nonlocal done
                done += size
                self._progress(EncryptionProgress(done=done, total=max(total, done), current=name))

            conversion.run(None if made is None else made.record, step=step)
        except BaseException:
            record = read_record(self.directory)
            if made is not None and not (self.directory / FOLDER).exists() and record == encryption_record:
                forget(made.record.place)
            raise
        return self._report(conversion, record=None if made is None else made.record)

    def rewrap(self, old: Unlocked, make: Callable[[], Unlocked], given: KeyGiven) -> EncryptionReport:
        """Change the master key alone, with the store alone: the data key in the record has to be that of the files."""
        with exclusively(self.directory, self._what, self._clock):
            require_unchanged(self.directory, old.record)
            made = make()
            try:
                require_kept(made, given)
                atomic_write(self.directory / RECORD, made.record.encoded())
            except BaseException:
                if read_record(self.directory) == old.record:
                    forget(made.record.place)
                raise
        place = made.record.place
        return EncryptionReport(
            path=str(self.directory),
            what=self._what,
            provider=place.provider,
            key_id=place.id,
            key_file=key_file_of(place),
        )

    def _prepare(self, key: Key) -> None:
        """Let the systems that have to bring into their files what is not in them."""
        hooks = [hook for hook in self.inventory.hooks if (self.directory / hook.folder).is_dir()]
        if not hooks:
            return
        with open(
            self.directory, embedder=None, generator=None, clock=self._clock, background=False, key=key
        ) as hx:
            for hook in hooks:
                hook.prepare(hx)

    def _report(
        self,
        conversion: Conversion,
        *,
        record: EncryptionRecord | None = None,
        provider: str | None = None,
        dry_run: bool = False,
    ) -> EncryptionReport:
        written = conversion.of(Treatment.FILE, Treatment.DATABASE)
        return EncryptionReport(
            path=str(self.directory),
            what=self._what,
            provider=provider if record is None else record.place.provider,
            key_id=None if record is None else record.place.id,
            key_file=None if record is None else key_file_of(record.place),
            files=len(written),
            bytes=sum(part.bytes for part in written),
            needed_bytes=conversion.needed_bytes,
            left=tuple(part.name for part in conversion.of(Treatment.UNKNOWN)),
            dry_run=dry_run,
        )


class UserKeyChange(KeyChange):
    """One change of the user layer's encryption. It has keys of its own, named by variables of its own."""

    database = USER_DATABASE

    @cached_property
    def inventory(self) -> Inventory:
        """What its files are."""
        return UserInventory()

    @property
    def protected(self) -> Path:
        """The database alone: key files of the user lie in a folder beside it."""
        return self.directory / self.database

    @property
    def settings(self) -> Settings:
        """What the environment says: no project has a say."""
        return load_settings(None)

    def key_source(self, key: Key) -> KeyGiven:
        """Return what there is to open it with."""
        return KeyGiven.of(key, **self.settings.user_keys)

    def unlock(self, given: KeyGiven) -> StoreKeys | None:
        """Return its keys, None where it is plain."""
        return unlock_user(self.directory, given)


def user_folder(path: str | Path | None) -> Path:
    """Return the folder of the user layer: the given one, the one that HEXAD_USER_DIR names, else the default."""
    if path is not None:
        return parse_path(path, "path").expanduser()
    return load_settings(None).user_dir or default_user_dir()


def make_user_layer(folder: Path, clock: Clock) -> None:
    """Make an empty user layer where there is none, so that it can be encrypted before anything is known."""
    if not is_there(folder):
        open_user_store(
            folder, user_id="", clock=clock, key_source=KeyGiven(), readonly=False, purpose="hexad encrypt"
        ).close()
