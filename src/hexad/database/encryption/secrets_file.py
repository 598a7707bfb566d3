"""The store's own secrets: a private file, made once, read by every process of the same user."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hexad.core.arguments import read_regular
from hexad.database import files
from hexad.database.encryption.cipher import SECRETS, StoreKeys, is_sealed
from hexad.errors import AccessDenied, IntegrityError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SECRET_BYTES = 32
_VERSION = 1
_BYTES_LIMIT = 1 << 20
_STORE_FIELDS = ("redaction_salt", "signing_seed")


_BELONGING = (
    "Restore it from a backup: without it nothing tells what was purged when it comes back, and neither fingerprints "
    "of redacted values nor signatures of exports made so far can be checked."
)
_DAMAGE = (
    "Restore it from a backup; without it, fingerprints of redacted values and signatures of exports made so far "
    "cannot be checked. To go on with new keys, move it away and run `hexad check --accept-losses`."
)
_GO_ON = "To go on with new keys, run `hexad check --accept-losses`."
_KEY_FILE_BYTES = 4_096
_KEY_FILE = re.compile(rb'"(?:signing_seed|wrapping_key|redaction_salt)"\s*:\s*"[0-9a-fA-F]{64}"')


def holds_keys(data: bytes) -> bool:
    """Whether a file that begins so is a key file, of any store: what reads files for memories leaves it alone.

    It is told by what it holds and not by its name, so that a copy or a link of it is no way to it either.
    """
    return _KEY_FILE.search(data, 0, _KEY_FILE_BYTES) is not None and data.lstrip()[:1] == b"{"


def _identity(keys: Mapping[str, bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16, person=b"hexad/key-file")
    for name in sorted(keys):
        digest.update(keys[name])
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """What a health check shows of the key file; never a secret."""

    path: Path
    exists: bool
    mode: str | None
    problem: str | None

    def __str__(self) -> str:
        if not self.exists and self.problem is None:
            return f"no key file yet ({self.path.name}); it is made when it is needed"
        return self.problem or f"{self.path.name}, mode {self.mode}"


class KeyStore:
    """The secrets in one key file; made at the first use of any of them. With `crypt` the file is sealed.

    Of several processes that need it at the same moment exactly one makes it, and all read the same.
    """

    def __init__(
        self,
        path: Path,
        *,
        fields: Sequence[str] = _STORE_FIELDS,
        crypt: StoreKeys | None = None,
        known: Callable[[], str | None] = lambda: None,
        in_use: Callable[[], bool] = lambda: False,
        belonging: str | None = None,
    ) -> None:
        """`known` returns the identity of the file that was here before, None where none is known of.

        `in_use` tells whether there is something that only the file that was here opens: then none is made anew.
        `belonging` says what is lost with it.
        """
        self.path = path
        self._known, self._in_use = known, in_use
        self._belonging = belonging or _BELONGING
        self._damage = belonging or _DAMAGE
        self._fields = tuple(fields)
        self._cipher = None if crypt is None else crypt.cipher(SECRETS)

    def secret(self, name: str) -> bytes:
        """Return one of the file's secrets, 32 bytes; raises as `redaction_salt` does."""
        return self._secrets[name]

    @property
    def redaction_salt(self) -> bytes:
        """32 secret bytes that keep the fingerprints of redacted values from being guessed.

        Raises `AccessDenied` when others may read the key file, `IntegrityError` when it is damaged.
        """
        return self._secrets["redaction_salt"]

    def signing_key(self) -> Ed25519PrivateKey:
        """Return the Ed25519 key that signs exports; raises as `redaction_salt` does."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secrets["signing_seed"])

    def signs_as(self, public_key: str) -> bool:
        """Whether what `public_key` signed is by this file's key; False without a file, or one that cannot be read."""
        state = self.state()
        if not state.exists or state.problem is not None:
            return False
        return self.signing_key().public_key().public_bytes_raw().hex() == public_key

    def state(self) -> KeyState:
        """Return what can be said about the file without making it."""
        try:
            mode = stat.S_IMODE(self.path.stat().st_mode)
        except FileNotFoundError:
            problem = None if self._known() is None else self._lost()
            return KeyState(path=self.path, exists=False, mode=None, problem=problem)
        try:
            self._require_known(self._read())
            problem = None
        except (AccessDenied, IntegrityError) as error:
            problem = str(error)
        return KeyState(path=self.path, exists=True, mode=f"{mode:04o}", problem=problem)

    @cached_property
    def _secrets(self) -> dict[str, bytes]:
        if not self.path.exists():
            if self._known() is not None or self._in_use():
                raise IntegrityError(self._lost())
            files.ensure_dir(self.path.parent)
            fresh = {name: secrets.token_hex(SECRET_BYTES) for name in self._fields}
            data = json.dumps({"version": _VERSION, **fresh}).encode("ascii")
            if self._cipher is not None:
                data = b"".join(self._cipher.sealed([data]))
            files.create_exclusive(self.path, data)
        elif self._known() is None:
            self.sync_name()
        keys = self._read()
        self._require_known(keys)
        return keys

    def sync_name(self) -> None:
        """Sync the name of the file, to which whoever made it may not have come: before anything hangs on it."""
        files.sync_dir(self.path.parent)

    def identity(self) -> str | None:
        """Return what tells this key file from any other, and nothing of what it holds; None where it is not there.

        Raises as `redaction_salt` does.
        """
        return _identity(self._read()) if self.path.exists() else None

    def require(self) -> None:
        """Raise `IntegrityError` where the file that was here is gone, damaged, or another one is in its place.

        Raises `AccessDenied` as `redaction_salt` does; makes none.
        """
        if self.path.exists():
            self._require_known(self._read())
        elif self._known() is not None:
            raise IntegrityError(self._lost())

    def are_lost(self) -> bool:
        """Whether the file that was here is gone, or another one is in its place; one that is damaged is neither."""
        known = self._known()
        try:
            return known not in (None, self.identity())
        except (AccessDenied, IntegrityError):
            return False

    def _require_known(self, keys: Mapping[str, bytes]) -> None:
        if self._known() not in (None, _identity(keys)):
            raise IntegrityError(
                f"{self.path} is the key file of another store, or was made anew. {self._belonging} {_GO_ON}"
            )

    def _lost(self) -> str:
        return f"{self.path} is gone. {self._belonging} {_GO_ON}"

    def _read(self) -> dict[str, bytes]:
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if mode & 0o077:
            raise AccessDenied(
                f"The key file {self.path} has mode {mode:04o}: other users may read or change it. "
                f"Run `chmod 600 {self.path}`, and make new keys if somebody may have read it."
            )
        with files.operation("read", self.path, "read"):
            data = read_regular(self.path, limit=_BYTES_LIMIT)
        if self._cipher is not None:
            data = self._cipher.unsealed(data, name=str(self.path))
        elif is_sealed(data):
            raise IntegrityError(self._damaged("it is encrypted, and its store is not"))
        try:
            record = json.loads(data)
            keys = {name: bytes.fromhex(record[name]) for name in self._fields}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise IntegrityError(self._damaged(type(error).__name__)) from error
        if any(len(value) != SECRET_BYTES for value in keys.values()) or record.get("version") != _VERSION:
            raise IntegrityError(self._damaged("a value has the wrong length or the version is unknown"))
        return keys

    def _damaged(self, reason: str) -> str:
        return f"The key file {self.path} is damaged ({reason}). {self._damage}"
