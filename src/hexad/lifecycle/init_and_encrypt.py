"""`hexad.init`, `encrypt`, `decrypt` and `rekey`: what makes a store, and what changes how it is encrypted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hexad.config import CONFIG_FILE, DATABASE, STORE_DIRECTORY, Settings, load_settings
from hexad.config_template import TEMPLATE
from hexad.core.arguments import flags_checked
from hexad.core.clock import Clock, SystemClock
from hexad.database.encryption.inventory import inventory_of, state_of
from hexad.database.encryption.key_providers import (
    COMMAND,
    KEY_FILE,
    KEYRING,
    PASSPHRASE,
    PROGRAM,
    PROVIDERS,
    KeyGiven,
    fetch,
    keyring_is_usable,
)
from hexad.database.encryption.record import (
    RECORD,
    EncryptionProgress,
    EncryptionRecord,
    EncryptionReport,
    EncryptionState,
    Unlocked,
    establish,
    opens_with_same,
    read_record,
)
from hexad.database.files import atomic_write, ensure_dir
from hexad.database.sqlite_errors import failures_translated
from hexad.database.sqlite_setup import refuse_lost_store
from hexad.engine import Hexad
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.layers.project.upkeep import is_project, was_looked_at
from hexad.layers.project.values import Detected
from hexad.layers.user.database import UserInventory
from hexad.layers.user.presence import is_there
from hexad.lifecycle.key_change import (
    Key,
    KeyChange,
    UserKeyChange,
    changed,
    exclusively,
    make_user_layer,
    require_unchanged,
    user_folder,
)
from hexad.lifecycle.opening import directory_of, not_a_file, open
from hexad.services import components


@failures_translated
def init(
    path: str | Path | None = None,
    *,
    encrypt: bool = False,
    provider: str | None = None,
    key: Key = None,
    detect: bool = False,
    on_detected: Callable[[Detected], object] | None = None,
    clock: Clock | None = None,
) -> Path:
    """Create a store in `path` (None: the current folder) with a commented `hexad.toml`; returns its folder.

    With `encrypt`, or a `key` or a `provider`, it is encrypted from its first byte: `encrypt` says whose key it is.
    With `detect` what the repository gives away is noted (`hx.project.detect`), where the folder is the root of one,
    and `on_detected` is given the report. A store without a `hexad.toml`, as `ingest` makes it, gets one, is looked at
    in this way if nobody did so before, and stays as it is otherwise. Raises `Conflict` for a store with one, or one
    that is to be encrypted, `NotFound` when the folder is not there.
    """
    folder = Path.cwd() if path is None else Path(path)
    if not folder.is_dir():
        raise NotFound(f"There is no folder {str(folder)!r}; create it first.")
    directory = not_a_file(folder.resolve() / STORE_DIRECTORY)
    config = directory / CONFIG_FILE
    encrypt = encrypt or provider is not None or key is not None
    refuse_lost_store(directory / DATABASE)
    if (directory / DATABASE).exists():
        if encrypt:
            way = "rekey` gives it another key" if read_record(directory) else "encrypt` encrypts it"
            raise Conflict(f"There is a store at {directory} already; `hexad {way}.")
        if config.exists():
            raise Conflict(f"There is a store at {directory} already; it was left as it was.")
        if detect and read_record(directory) is None and is_project(directory.parent):
            with open(directory, embedder=None, generator=None, clock=clock, background=False) as hx:
                if not was_looked_at(hx._services.stores.meta):
                    _detect(hx, on_detected)
        atomic_write(config, TEMPLATE.encode())
        return directory
    clock = clock or SystemClock()
    ensure_dir(directory)
    if encrypt:
        _begin(directory, provider, key, clock=clock)
    with open(directory, embedder=None, generator=None, clock=clock, background=False, key=key) as hx:
        if not config.exists():
            atomic_write(config, TEMPLATE.encode())
        if detect and is_project(directory.parent):
            _detect(hx, on_detected)
    return directory


def _detect(hx: Hexad, on_detected: Callable[[Detected], object] | None) -> None:
    report = hx.project.detect()
    if on_detected is not None:
        on_detected(report)


@failures_translated
@flags_checked
def encrypt(
    path: str | Path | None = None,
    *,
    provider: str | None = None,
    key: Key = None,
    dry_run: bool = False,
    user: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Encrypt a plain store, every part of it, and return what was done.

    `provider` keeps the key: `"keyring"`, `"key_file"`, `"passphrase"`, `"command"`, or `"program"` (`key` with 32
    bytes). Without it, it is what `key` stands for, what `hexad.toml` or the environment names, else the system's
    keyring, or a key file where there is none. `dry_run` only says how much would be written. With `user` it is the
    user layer, made where there is none; `path` is then its folder, and the environment names its key in variables of
    its own (HEXAD_USER_PASSPHRASE, HEXAD_USER_KEY_FILE, HEXAD_USER_KEY_COMMAND).

    Raises `StoreLocked`, naming the processes that have the store open, `Conflict` for one that is encrypted,
    `LimitExceeded` where the disk has no room for it twice. Killed before the end, the next open undoes or ends it.
    """
    task = _task(path, "encrypt", user=user, make=not dry_run, progress=progress, clock=clock)
    if read_record(task.directory) is not None:
        raise Conflict(f"{task.directory} is encrypted already; `hexad rekey` gives it another key.")
    task.unlock(KeyGiven())  # which says so where the record of an encrypted one is gone
    key_source = task.key_source(key)
    chosen = choose(provider, key_source, task.settings)
    if dry_run:
        return task.plan(provider=chosen)
    return task.run(None, lambda: establish(task.protected, key_source, provider=chosen), key_source)


@failures_translated
@flags_checked
def decrypt(
    path: str | Path | None = None,
    *,
    key: Key = None,
    dry_run: bool = False,
    user: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Make an encrypted store a plain one, and return what was done. `key` is as for `open`, `user` as for `encrypt`.

    Raises as `encrypt` does, `Conflict` for a plain store, `AccessDenied` without its key.
    """
    task = _task(path, "decrypt", user=user, make=not dry_run, progress=progress, clock=clock)
    key_source = task.key_source(key)
    old = _opened(task, key_source)
    if dry_run:
        return task.plan(provider=None)
    return task.run(old, None, key_source, key=key)


@failures_translated
@flags_checked
def rekey(
    path: str | Path | None = None,
    *,
    key: Key = None,
    new_key: Key = None,
    provider: str | None = None,
    wrap_only: bool = False,
    dry_run: bool = False,
    user: bool = False,
    progress: Callable[[EncryptionProgress], object] | None = None,
    clock: Clock | None = None,
) -> EncryptionReport:
    """Give an encrypted store new keys, and return what was done: the old ones open nothing of it any more.

    `key` opens it as it is, `new_key` and `provider` say where the new key is; without them the provider stays, and
    HEXAD_NEW_PASSPHRASE or HEXAD_NEW_KEY_COMMAND may say it. `user` is as for `encrypt`. With
    `wrap_only` only the master key changes: nothing is written anew, and who kept the old record and the old key can
    still read the store.

    Raises as `encrypt` does, with `wrap_only` too, `Conflict` for a plain store and for one whose key was changed
    meanwhile, `InvalidInput` for a new key that is the old one.
    """
    task = _task(path, "rekey", user=user, make=not dry_run, progress=progress, clock=clock)
    key_source = task.key_source(key)
    old = _opened(task, key_source)
    settings = task.settings
    new = KeyGiven.of(new_key, passphrase=settings.new_passphrase, command=settings.new_key_command)
    if provider is None and not new.explicit:
        provider = old.record.place.provider
    if provider == COMMAND and new.command is None and not new.explicit:
        new = KeyGiven(command=key_source.command)
    chosen = choose(provider, new, Settings())
    if dry_run:
        return task.plan(provider=chosen, record_alone=wrap_only)

    def made() -> Unlocked:
        unlocked = establish(task.protected, new, provider=chosen, keys=old.keys if wrap_only else None)
        if _same_secret(old.record, unlocked.record, new):
            raise InvalidInput("The new key is the old one; give another.")
        return unlocked

    if wrap_only:
        return task.rewrap(old, made, new)
    return task.run(old, made, new, key=key)


@failures_translated
def encryption_state(path: str | Path | None = None, *, user: bool = False) -> EncryptionState | None:
    """Return how the store for a path is encrypted, None for a plain one; no key is needed. Raises `NotFound`. `user`
    asks about the user layer, which `path` is then the folder of.

    >>> import hexad, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hexad.init(folder, key="a few words that nobody else knows")
    ...     hexad.encryption_state(folder).provider
    'passphrase'
    """
    record = read_record(user_folder(path) if user else directory_of(path))
    return (
        None if record is None else state_of(record, UserInventory() if user else inventory_of(components()))
    )


def choose(provider: str | None, key_source: KeyGiven, settings: Settings) -> str:
    """Return the provider of a new key. Raises `InvalidInput` for one that is not known or contradicts the key."""
    if provider is not None and provider not in PROVIDERS:
        raise InvalidInput(
            f"provider = {provider!r} is not one of {', '.join(PROVIDERS)}.", argument="provider"
        )
    if key_source.explicit:
        if provider not in (None, key_source.provider):
            raise InvalidInput(
                f"The key that was given is a {key_source.provider}, the provider is {provider!r}."
            )
        return key_source.provider or PROGRAM
    if provider is not None:
        return provider
    if (named := settings.encryption.get("provider")) is not None:
        settings.require_trust("encryption.provider")
        return choose(str(named), key_source, settings)
    return key_source.provider or (KEYRING if keyring_is_usable() else KEY_FILE)


def _same_secret(record: EncryptionRecord, encryption_record: EncryptionRecord, new: KeyGiven) -> bool:
    """Whether the new key opens the store as it is; a passphrase gives another key with each record's salt."""
    if (
        encryption_record.place.provider in (PASSPHRASE, COMMAND)
        and record.place.provider == encryption_record.place.provider
    ):
        return opens_with_same(record, fetch(record.place, new))
    return encryption_record.place.provider != PASSPHRASE and opens_with_same(
        record, fetch(encryption_record.place, new)
    )


def _key_source(directory: Path, key: Key) -> KeyGiven:
    return KeyGiven.of(key, **load_settings(directory).key_sources(key))


def _task(
    path: str | Path | None,
    what: str,
    *,
    user: bool,
    make: bool,
    progress: Callable[[EncryptionProgress], object] | None,
    clock: Clock | None,
) -> KeyChange:
    clock = clock or SystemClock()
    if not user:
        return KeyChange(directory_of(path), what, progress=progress, clock=clock)
    folder = user_folder(path)
    if not is_there(folder) and not (make and what == "encrypt"):
        raise NotFound(f"There is no user layer in {folder}; `hexad prefs set` makes one.")
    make_user_layer(folder, clock)
    return UserKeyChange(folder, what, progress=progress, clock=clock)


def _opened(task: KeyChange, key_source: KeyGiven) -> Unlocked:
    """Return the keys of an encrypted store, with the record that they are from."""
    directory = task.directory
    record = read_record(directory)
    if record is None:
        raise Conflict(f"{directory} is not encrypted; `hexad encrypt` encrypts it.")
    keys = task.unlock(key_source)
    if keys is None:
        raise changed(directory)
    require_unchanged(directory, record)
    return Unlocked(record=record, keys=keys)


def _begin(directory: Path, provider: str | None, key: Key, *, clock: Clock) -> None:
    """Write the record of a store that is not there yet."""
    key_source = _key_source(directory, key)
    chosen = choose(provider, key_source, load_settings(directory))
    with exclusively(directory, "create an encrypted store", clock):
        if (directory / DATABASE).exists():
            raise Conflict(f"There is a store at {directory} already; it was left as it was.")
        if read_record(directory) is not None:
            return  # killed before there was a database: its key opens what is made now
        atomic_write(directory / RECORD, establish(directory, key_source, provider=chosen).record.encoded())
