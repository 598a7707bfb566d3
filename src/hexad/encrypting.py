"""`hexad.init`, `encrypt`, `decrypt` and `rekey`: what makes a store, and what changes how it is encrypted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hexad.clock import Clock, SystemClock
from hexad.config import CONFIG_FILE, DATABASE, STORE_DIRECTORY, Settings, load_settings
from hexad.config_template import TEMPLATE
from hexad.errors import Conflict, InvalidInput, NotFound, StoreLocked
from hexad.model.checked import flags_checked
from hexad.model.encryption import EncryptionProgress, EncryptionReport, EncryptionState
from hexad.opening import directory_of, not_a_file, open
from hexad.storage.conversion import Conversion, UnsealedLogs
from hexad.storage.encryption import (
    RECORD,
    EncryptionRecord,
    Unlocked,
    establish,
    opens_with_same,
    read_record,
    unlock,
)
from hexad.storage.files import atomic_write, ensure_dir
from hexad.storage.key_sources import (
    COMMAND,
    KEY_FILE,
    KEYRING,
    PASSPHRASE,
    PROGRAM,
    PROVIDERS,
    KeyGiven,
    fetch,
    forget,
    key_file_of,
    keyring_is_usable,
)
from hexad.storage.leases import OpenLock
from hexad.storage.store_parts import Form, state_of
from hexad.storage.switching import FOLDER, end_interrupted, recover

Key = bytes | str | Path | None
_ATTEMPTS: Final = 3


def init(
    path: str | Path | None = None,
    *,
    encrypt: bool = False,
    provider: str | None = None,
    key: Key = None,
    clock: Clock | None = None,
) -> Path:
    """Create a store in `path` (None: the current folder) with a commented `hexad.toml`; returns its folder.

    With `encrypt`, or a `key` or a `provider`, it is encrypted from its first byte: `encrypt` says whose key it is. A
    store without a `hexad.toml` gets one, and stays as it is otherwise. Raises `Conflict` for a store with one, or one
    that is to be encrypted, `NotFound` when the folder is not there.
    """
    folder = Path.cwd() if path is None else Path(path)
    if not folder.is_dir():
        raise NotFound(f"There is no folder {str(folder)!r}; create it first.")
    directory = not_a_file(folder.resolve() / STORE_DIRECTORY)
    config = directory / CONFIG_FILE
    encrypt = encrypt or provider is not None or key is not None
    if (directory / DATABASE).exists():
        if encrypt:
            way = "rekey` gives it another key" if read_record(directory) else "encrypt` encrypts it"
            raise Conflict(f"There is a store at {directory} already; `hexad {way}.")
        if config.exists():
            raise Conflict(f"There is a store at {directory} already; it was left as it was.")
        atomic_write(config, TEMPLATE.encode())
        return directory
    clock = clock or SystemClock()
    ensure_dir(directory)
    if encrypt:
        _begin(directory, provider, key, clock=clock)
    with open(directory, embedder=None, generator=None, clock=clock, background=False, key=key):
        if not config.exists():
            atomic_write(config, TEMPLATE.encode())
    return directory


@flags_checked
def encrypt(
    path: str | Path | None = None,
    *,
    provider: str | None = None,
    key: Key = None,
    dry_run: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Encrypt a plain store, every part of it, and return what was done.

    `provider` keeps the key: `"keyring"`, `"key_file"`, `"passphrase"`, `"command"`, or `"program"` (`key` with 32
    bytes). Without it, it is what `key` stands for, what `hexad.toml` or the environment names, else the system's
    keyring, or a key file where there is none. `dry_run` only says how much would be written.

    Raises `StoreLocked`, naming the processes that have the store open, `Conflict` for one that is encrypted,
    `LimitExceeded` where the disk has no room for it twice. Killed before the end, the next open undoes or ends it.
    """
    task = _Task(directory_of(path), "encrypt", progress=progress, clock=clock or SystemClock())
    if read_record(task.directory) is not None:
        raise Conflict(f"{task.directory} is encrypted already; `hexad rekey` gives it another key.")
    unlock(task.directory, KeyGiven())  # which says so where the record of an encrypted one is gone
    given = _given(task.directory, key)
    chosen = choose(provider, given, load_settings(task.directory))
    if dry_run:
        return task.plan(provider=chosen)
    return task.run(None, lambda: establish(task.directory, given, provider=chosen), given)


@flags_checked
def decrypt(
    path: str | Path | None = None,
    *,
    key: Key = None,
    dry_run: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Make an encrypted store a plain one, and return what was done. `key` is as for `open`.

    Raises as `encrypt` does, `Conflict` for a plain store, `AccessDenied` without its key.
    """
    task = _Task(directory_of(path), "decrypt", progress=progress, clock=clock or SystemClock())
    given = _given(task.directory, key)
    old = _opened(task.directory, given)
    if dry_run:
        return task.plan(provider=None)
    return task.run(old, None, given, key=key)


@flags_checked
def rekey(
    path: str | Path | None = None,
    *,
    key: Key = None,
    new_key: Key = None,
    provider: str | None = None,
    wrap_only: bool = False,
    dry_run: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Give an encrypted store new keys, and return what was done: the old ones open nothing of it any more.

    `key` opens it as it is, `new_key` and `provider` say where the new key is; without them the provider stays, and
    HEXAD_NEW_PASSPHRASE or HEXAD_NEW_KEY_COMMAND may say it. With `wrap_only` only the master key changes: nothing is
    written anew, and who kept the old record and the old key can still read the store.

    Raises as `encrypt` does, with `wrap_only` too, `Conflict` for a plain store and for one whose key was changed
    meanwhile, `InvalidInput` for a new key that is the old one.
    """
    task = _Task(directory_of(path), "rekey", progress=progress, clock=clock or SystemClock())
    given = _given(task.directory, key)
    old = _opened(task.directory, given)
    settings = load_settings(task.directory)
    new = KeyGiven.of(new_key, passphrase=settings.new_passphrase, command=settings.new_key_command)
    if provider is None and not new.explicit:
        provider = old.record.place.provider
    if provider == COMMAND and new.command is None and not new.explicit:
        new = KeyGiven(command=given.command)
    chosen = choose(provider, new, Settings())
    if dry_run:
        return task.plan(provider=chosen, record_alone=wrap_only)

    def made() -> Unlocked:
        found = establish(task.directory, new, provider=chosen, keys=old.keys if wrap_only else None)
        if _same_secret(old.record, found.record, new):
            raise InvalidInput("The new key is the old one; give another.")
        return found

    if wrap_only:
        return task.rewrap(old, made, new)
    return task.run(old, made, new, key=key)


def encryption_state(path: str | Path | None = None) -> EncryptionState | None:
    """Return how the store for a path is encrypted, None for a plain one; no key is needed. Raises `NotFound`.

    >>> import hexad, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hexad.init(folder, key="a few words that nobody else knows")
    ...     hexad.encryption_state(folder).provider
    'passphrase'
    """
    record = read_record(directory_of(path))
    return None if record is None else state_of(record)


def choose(provider: str | None, given: KeyGiven, settings: Settings) -> str:
    """Return the provider of a new key. Raises `InvalidInput` for one that is not known or contradicts the key."""
    if provider is not None and provider not in PROVIDERS:
        raise InvalidInput(f"provider = {provider!r} is not one of {', '.join(PROVIDERS)}.")
    if given.explicit:
        if provider not in (None, given.provider):
            raise InvalidInput(f"The key that was given is a {given.provider}, the provider is {provider!r}.")
        return given.provider or PROGRAM
    if provider is not None:
        return provider
    if (named := settings.encryption.get("provider")) is not None:
        return choose(str(named), given, settings)
    return given.provider or (KEYRING if keyring_is_usable() else KEY_FILE)


def _same_secret(record: EncryptionRecord, made: EncryptionRecord, new: KeyGiven) -> bool:
    """Whether the new key opens the store as it is; a passphrase gives another key with each record's salt."""
    if made.place.provider in (PASSPHRASE, COMMAND) and record.place.provider == made.place.provider:
        return opens_with_same(record, fetch(record.place, new))
    return made.place.provider != PASSPHRASE and opens_with_same(record, fetch(made.place, new))


def _require_kept(made: Unlocked, given: KeyGiven) -> None:
    """Raise `AccessDenied` where a provider does not give back what it gave: the store could never be opened."""
    if made.record.place.provider not in (PASSPHRASE, PROGRAM):
        made.record.keys(fetch(made.record.place, given))


def _given(directory: Path, key: Key) -> KeyGiven:
    return KeyGiven.of(key, **load_settings(directory).key_sources)


def _opened(directory: Path, given: KeyGiven) -> Unlocked:
    """Return the keys of an encrypted store, with the record that they are from."""
    record = read_record(directory)
    if record is None:
        raise Conflict(f"{directory} is not encrypted; `hexad encrypt` encrypts it.")
    keys = unlock(directory, given)
    if keys is None:
        raise _changed(directory)
    _require_unchanged(directory, record)
    return Unlocked(record=record, keys=keys)


def _require_unchanged(directory: Path, record: EncryptionRecord | None) -> None:
    """Raise `Conflict` where the store has another record than the one that was read: its keys may be others."""
    if read_record(directory) != record:
        raise _changed(directory)


def _changed(directory: Path) -> Conflict:
    return Conflict(f"The encryption of {directory} was changed meanwhile; look again. Nothing was done.")


def _begin(directory: Path, provider: str | None, key: Key, *, clock: Clock) -> None:
    """Write the record of a store that is not there yet."""
    given = _given(directory, key)
    chosen = choose(provider, given, load_settings(directory))
    with _alone(directory, "create an encrypted store", clock):
        if (directory / DATABASE).exists():
            raise Conflict(f"There is a store at {directory} already; it was left as it was.")
        if read_record(directory) is not None:
            return  # killed before there was a database: its key opens what is made now
        atomic_write(directory / RECORD, establish(directory, given, provider=chosen).record.encoded())


@contextmanager
def _alone(directory: Path, doing: str, clock: Clock) -> Iterator[OpenLock]:
    lock = OpenLock(directory, clock=clock, purpose=f"hexad, to {doing}")
    try:
        with lock.alone(f"{doing} at {directory}"):
            end_interrupted(directory)
            yield lock
    finally:
        lock.close()


class _Task:
    """One change of one store's encryption."""

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
        if not (directory / DATABASE).exists():
            raise NotFound(f"There is no store at {directory}.")
        if (directory / FOLDER).exists():
            lock = OpenLock(directory, clock=clock, purpose=f"hexad {what}")
            try:
                recover(directory, lock)
            finally:
                lock.close()

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
        found = None if old is None else old.record
        with _alone(self.directory, self._what, self._clock):
            _require_unchanged(self.directory, found)
            self._conversion(old, None).require_space()
        for attempt in range(_ATTEMPTS):
            self._seal_logs(key)
            try:
                with _alone(self.directory, self._what, self._clock):
                    return self._convert(old, make, given)
            except UnsealedLogs as error:
                if attempt == _ATTEMPTS - 1:
                    raise StoreLocked(f"Cannot {self._what} {self.directory}: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def _conversion(self, old: Unlocked | None, new: Unlocked | None) -> Conversion:
        keys = [None if one is None else one.keys for one in (old, new)]
        return Conversion(self.directory, what=self._what, old=keys[0], new=keys[1])

    def _convert(
        self, old: Unlocked | None, make: Callable[[], Unlocked] | None, given: KeyGiven
    ) -> EncryptionReport:
        found = None if old is None else old.record
        _require_unchanged(self.directory, found)
        made = None if make is None else make()
        try:
            if made is not None:
                _require_kept(made, given)
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
            if made is not None and not (self.directory / FOLDER).exists() and record == found:
                forget(made.record.place)
            raise
        return self._report(conversion, record=None if made is None else made.record)

    def rewrap(self, old: Unlocked, make: Callable[[], Unlocked], given: KeyGiven) -> EncryptionReport:
        """Change the master key alone, with the store alone: the data key in the record has to be that of the files."""
        with _alone(self.directory, self._what, self._clock):
            _require_unchanged(self.directory, old.record)
            made = make()
            try:
                _require_kept(made, given)
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

    def _seal_logs(self, key: Key) -> None:
        """Bring what was recorded into segments: logs are of one process, and are not converted."""
        if not (self.directory / "stream").is_dir():
            return
        with open(
            self.directory, embedder=None, generator=None, clock=self._clock, background=False, key=key
        ) as hx:
            hx.xdb.seal()

    def _report(
        self,
        conversion: Conversion,
        *,
        record: EncryptionRecord | None = None,
        provider: str | None = None,
        dry_run: bool = False,
    ) -> EncryptionReport:
        written = conversion.of(Form.FILE, Form.DATABASE)
        return EncryptionReport(
            path=str(self.directory),
            what=self._what,
            provider=provider if record is None else record.place.provider,
            key_id=None if record is None else record.place.id,
            key_file=None if record is None else key_file_of(record.place),
            files=len(written),
            bytes=sum(part.bytes for part in written),
            needed_bytes=conversion.needed_bytes,
            left=tuple(part.name for part in conversion.of(Form.UNKNOWN)),
            dry_run=dry_run,
        )
