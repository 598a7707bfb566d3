"""The record of an encrypted store, `encryption.json`: which key opens it, and how that is checked.

The record holds no secret: a random data key, from which all others are derived (`crypto`), stands in it wrapped by
the master key of a provider (`key_sources`). A wrong key is told from a damaged record by a check value and a sum.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from hexad.core.arguments import read_regular
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.encryption.cipher import KEY_BYTES, StoreKeys
from hexad.database.encryption.key_providers import (
    COMMAND,
    KEY_FILE,
    PASSPHRASE,
    PROVIDERS,
    KeyGiven,
    KeyPlace,
    Scrypt,
    create,
    fetch,
    key_file_of,
    wrong_key,
)
from hexad.database.encryption.sealed_files import require_fsspec
from hexad.database.sqlite_setup import is_plain
from hexad.errors import AccessDenied, IntegrityError, InvalidInput, StoreLocked

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from hexad.database.leases import OpenLock


__all__ = ["RECORD", "EncryptionRecord", "KeyGiven", "Unlocked", "establish", "read_record", "unlock"]

RECORD: Final = "encryption.json"
DATABASE: Final = "memory.db"
_VERSION: Final = 1
_BYTES_LIMIT: Final = 1 << 20
_SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_WAIT_S: Final = 5.0
_SCRYPT_MOST: Final = Scrypt(n=1 << 20, r=16, p=4)
"""More than this is a record that wants to take the machine's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionRecord:
    """What `encryption.json` says: where the master key comes from, and the data key wrapped by it."""

    place: KeyPlace
    wrapped: bytes
    check: bytes

    def keys(self, master: bytes, *, key_file: Path | None = None) -> StoreKeys:
        """Return the store's keys. Raises `AccessDenied` for another store's master key, naming the file it is from."""
        from cryptography.exceptions import InvalidTag

        if not hmac.compare_digest(_check(master, self.place), self.check):
            raise wrong_key(self.place, key_file=key_file)
        try:
            nonce, wrapped = self.wrapped[:_NONCE_BYTES], self.wrapped[_NONCE_BYTES:]
            return StoreKeys(
                _wrapping(master, self.place).decrypt(nonce, wrapped, _associated_data(self.place))
            )
        except (InvalidTag, ValueError) as error:
            raise _damaged(RECORD, "the data key in it does not open") from error

    def encoded(self) -> bytes:
        """Return the file's content."""
        document = {**_fields(self.place), "wrapped": self.wrapped.hex(), "check": self.check.hex()}
        return json.dumps({**document, "sum": _sum(document)}, indent=1).encode("utf-8") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlocked:
    """A store's keys, with the record that they are from."""

    record: EncryptionRecord
    keys: StoreKeys


def read_record(directory: Path) -> EncryptionRecord | None:
    """Return the record of a store, None for a plain one. Raises `IntegrityError` for one that is damaged."""
    path = directory / RECORD
    try:
        with files.operation("read", path, "read"):
            if not path.exists():
                return None
            data = read_regular(path, limit=_BYTES_LIMIT)
    except FileNotFoundError:
        return None
    return parse_record(data, name=str(path))


def parse_record(data: bytes, *, name: str) -> EncryptionRecord:
    """Return what the content of a record says; raises `IntegrityError`."""
    try:
        document: dict[str, Any] = json.loads(data)
        checksum = document.pop("sum")
        if not hmac.compare_digest(str(checksum), _sum(document)):
            raise _damaged(name, "its sum is not that of its content")
        if document["version"] != _VERSION:
            raise IntegrityError(
                f"{name} is of version {document['version']!r}, this program reads {_VERSION}: use a newer one."
            )
        numbers = document["scrypt"]
        scrypt = Scrypt(n=int(numbers["n"]), r=int(numbers["r"]), p=int(numbers["p"]))
        if scrypt.n > _SCRYPT_MOST.n or scrypt.r > _SCRYPT_MOST.r or scrypt.p > _SCRYPT_MOST.p:
            raise _damaged(name, "its passphrase would need too much memory")
        if document["provider"] not in PROVIDERS:
            raise _damaged(name, f"it names a provider {document['provider']!r}")
        if PurePath(str(document["id"])).name != document["id"]:  # names a file among the user's keys
            raise _damaged(name, f"its id {document['id']!r} is none")
        place = KeyPlace(
            id=str(document["id"]),
            provider=str(document["provider"]),
            salt=bytes.fromhex(document["salt"]),
            scrypt=scrypt,
            key_file=None if document["key_file"] is None else Path(document["key_file"]),
        )
        return EncryptionRecord(
            place=place, wrapped=bytes.fromhex(document["wrapped"]), check=bytes.fromhex(document["check"])
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(name, type(error).__name__) from error


def unlock(directory: Path, key_source: KeyGiven, *, database: str = DATABASE) -> StoreKeys | None:
    """Return the keys of the store in `directory`, None for a plain one. `database` is its file.

    Raises `AccessDenied` for a key that is missing or wrong, `InvalidInput` for a key that was given for a plain
    store, `IntegrityError` for a record that is damaged or gone, or a database that is not encrypted as it says.
    Nothing is written.
    """
    record = read_record(directory)
    plain = is_plain(directory / database)
    if record is None:
        if plain is False:
            raise IntegrityError(
                f"{directory / database} is encrypted or damaged, and {RECORD} is not there. Put it back from a "
                "backup: without it no key opens the store."
            )
        if key_source.explicit and plain:
            raise InvalidInput(
                f"The store {directory} is not encrypted, and a key was given. Leave it out, or run `hexad encrypt`."
            )
        return None
    if plain:
        raise IntegrityError(
            f"{directory / database} is not encrypted, though {RECORD} says that its store is: somebody put another "
            "file in its place. Put a backup there."
        )
    return _opened(record, key_source)


def _opened(record: EncryptionRecord, key_source: KeyGiven) -> StoreKeys:
    place, named = record.place, key_source.key_file
    if place.provider != KEY_FILE or key_source.key is not None or (key_source.explicit and named is None):
        return record.keys(fetch(place, key_source))
    if named is None:
        return record.keys(fetch(place, key_source), key_file=Path(str(key_file_of(place))))
    try:
        return record.keys(fetch(place, key_source), key_file=named)
    except AccessDenied as error:
        if key_source.explicit or key_source.variable is not None:
            # Whoever names a file means that one: another that opens the store is not taken in its place.
            raise _not_the_named(error, place, key_source) from error
        try:
            # After a rekey a setting still names the old file; the record knows where the new one is.
            return record.keys(fetch(place, replace(key_source, key_file=None)))
        except AccessDenied:
            pass
        raise


def _not_the_named(error: AccessDenied, place: KeyPlace, key_source: KeyGiven) -> AccessDenied:
    """Return the error for a key file that was named, with the place that the record names."""
    there = key_file_of(place)
    if there == str(key_source.key_file):
        return error
    by, without = (
        (f"{key_source.variable} names", "the variable") if key_source.variable else ("key= is", "it")
    )
    return AccessDenied(
        f"{error.reason} {by} this file, and {RECORD} names {there}: leave {without} out to use that one.",
        remedy=error.remedy,
    )


def unlock_or_create(
    directory: Path, key_source: KeyGiven, lock: OpenLock | None, *, database: str = DATABASE
) -> StoreKeys | None:
    """Return the keys of a store; with a key that was given, one that is not there yet begins encrypted."""
    keys = unlock(directory, key_source, database=database)
    if keys is not None or not key_source.explicit or lock is None:
        return keys
    try:
        with lock.exclusively("begin an encrypted store", wait_s=_WAIT_S):
            if (directory / RECORD).exists() or is_plain(directory / database) is not None:
                return unlock(directory, key_source, database=database)
            made = establish(directory, key_source, provider=key_source.provider or KEY_FILE)
            files.atomic_write(directory / RECORD, made.record.encoded())
            return made.keys
    except StoreLocked:
        # Another one begins it at this moment; both must mean the same.
        if (directory / RECORD).exists():
            return unlock(directory, key_source, database=database)
        raise


def establish(
    directory: Path, key_source: KeyGiven, *, provider: str, keys: StoreKeys | None = None
) -> Unlocked:
    """Make a master key with `provider` and a record of it, not written yet, for new keys or those given.

    Raises `InvalidInput`, `AccessDenied` and `Conflict` as the provider does, and `InvalidInput` where the package is
    not there without which the store could keep no stream.
    """
    require_fsspec()
    if provider not in PROVIDERS:
        raise InvalidInput(
            f"provider = {provider!r} is not one of {', '.join(PROVIDERS)}.", argument="provider"
        )
    if provider == COMMAND and not key_source.command:
        raise InvalidInput("The provider 'command' needs one: set HEXAD_KEY_COMMAND.")
    place = KeyPlace(
        id=f"store-{secrets.token_hex(8)}", provider=provider, salt=secrets.token_bytes(_SALT_BYTES)
    )
    if provider == KEY_FILE and key_source.key_file is not None:
        place = replace(place, key_file=key_source.key_file.expanduser().absolute())
    if provider != PASSPHRASE and key_source.passphrase is not None and key_source.explicit:
        raise InvalidInput(f"A passphrase was given for the provider {provider!r}.")
    master = create(place, key_source, store=directory)
    return wrap(place, master, keys or StoreKeys(secrets.token_bytes(KEY_BYTES)))


def wrap(place: KeyPlace, master: bytes, keys: StoreKeys) -> Unlocked:
    """Return the record that opens `keys` with `master`."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    wrapped = nonce + keys.wrapped_by(_wrapping(master, place), nonce, _associated_data(place))
    record = EncryptionRecord(place=place, wrapped=wrapped, check=_check(master, place))
    return Unlocked(record=record, keys=keys)


def opens_with_same(record: EncryptionRecord, master: bytes) -> bool:
    """Whether `master` is the key of that record."""
    return hmac.compare_digest(_check(master, record.place), record.check)


def _fields(place: KeyPlace) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "id": place.id,
        "provider": place.provider,
        "key_file": None if place.key_file is None else str(place.key_file),
        "salt": place.salt.hex(),
        "scrypt": {"n": place.scrypt.n, "r": place.scrypt.r, "p": place.scrypt.p},
    }


def _associated_data(place: KeyPlace) -> bytes:
    return json.dumps(_fields(place), sort_keys=True, separators=(",", ":")).encode("utf-8")


def _sum(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _check(master: bytes, place: KeyPlace) -> bytes:
    return _derived(master, place, b"hexad/check")


def _wrapping(master: bytes, place: KeyPlace) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(_derived(master, place, b"hexad/wrap"))


def _derived(master: bytes, place: KeyPlace, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=place.salt, info=purpose).derive(master)


def _damaged(name: str, reason: str) -> IntegrityError:
    return IntegrityError(
        f"{name} is damaged ({reason}). Put it back from a backup: without it no key opens the store. Nothing was "
        "touched."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionState:
    """How a store is encrypted: where its key comes from, and the cipher of each part."""

    provider: str
    key_id: str
    key_file: str | None
    parts: Mapping[str, str]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the state as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionReport:
    """What `encrypt`, `decrypt` or `rekey` did, or would do. `left` are files that are no part of a store."""

    path: str
    what: str
    provider: str | None  # None: the store is plain now
    key_id: str | None = None
    key_file: str | None = None
    files: int = 0
    bytes: int = 0
    needed_bytes: int = 0
    left: tuple[str, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionProgress:
    """How far a change of a store's encryption is, in bytes."""

    done: int
    total: int
    current: str
