"""Who may ask a server: tokens with a role and spaces, of which a store keeps the hashes.

A token has 256 random bits, so that a plain SHA-256 tells nothing of it. The first one is made when a server first
starts, and stands in a file that only its owner may read; others are shown once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from hexad.core.actor import OWNER, check_role
from hexad.core.arguments import parse_text, parse_time, quoted, read_regular, word_list
from hexad.core.as_json import as_json
from hexad.core.clock import Clock, SystemClock
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.file_locks import TimedFlock
from hexad.errors import Conflict, IntegrityError, InvalidInput, NotFound, StoreLocked
from hexad.text.paths import validate_space

FOLDER: Final = "server"
FILE: Final = "tokens.json"
FIRST: Final = "token"
"""The file of the first token, as it is sent."""
_PREFIX: Final = "hexad_"
_VERSION: Final = 1
_BYTES_LIMIT: Final = 1 << 24
_LOCK_TIMEOUT_S: Final = 10.0
_NAME_CHARS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What a token is for: whoever sends it acts in `role`, and within `spaces`, where they are not None."""

    name: str
    role: str
    spaces: tuple[str, ...] | None = None
    created_at: datetime
    expires_at: datetime | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


def check_spaces(spaces: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a token's spaces, each once; raises `InvalidSpace` for one that no space can have."""
    return tuple(dict.fromkeys(map(validate_space, word_list(spaces, "spaces"))))


class TokenFile:
    """The tokens of one store; several processes may change them."""

    def __init__(self, store: Path, *, clock: Clock | None = None) -> None:
        self.folder = store / FOLDER
        self._clock = clock or SystemClock()
        self._stamp: tuple[int, int, int] | None = None
        self._logins: dict[str, Login] = {}

    @property
    def first_token(self) -> Path:
        """Where the first token stands."""
        return self.folder / FIRST

    def ensure_first(self) -> bool:
        """Make the first token, for the store's owner, where there is none; return whether this call made it."""
        with self._changing() as logins:
            if logins:
                return False
            token = _new_token()
            login = Login(name=OWNER, role=OWNER, created_at=self._clock.now())
            files.atomic_write(self.first_token, f"{token}\n".encode("ascii"))
            self._write({_hash(token): login})
        return True

    def add(
        self,
        *,
        role: str,
        spaces: Sequence[str] | None = None,
        name: str | None = None,
        expires_at: datetime | str | None = None,
    ) -> tuple[Login, str]:
        """Make a token and return its login and its text, which nothing keeps.

        Raises `InvalidInput` for a role, a space, a name or a time that cannot be used, `Conflict` for a name that
        is taken.
        """
        check_role(role)
        limits = check_spaces(spaces) if spaces else None
        expires = parse_time(expires_at, "expires_at")
        chosen = None if name is None else _checked_name(name)
        self.ensure_first()  # whoever serves later has one, too
        with self._changing() as logins:
            names = {login.name for login in logins.values()}
            chosen = chosen or _free_name(role, names)
            if chosen in names:
                raise Conflict(f"There is a token {chosen!r}; give another name, or revoke that one first.")
            token = _new_token()
            login = Login(
                name=chosen, role=role, spaces=limits, created_at=self._clock.now(), expires_at=expires
            )
            self._write({**logins, _hash(token): login})
        return login, token

    def revoke(self, name: str) -> Login:
        """End a token; a server that runs refuses it from its next request on. Raises `NotFound`."""
        with self._changing() as logins:
            token_hash = next((key for key, login in logins.items() if login.name == name), None)
            if token_hash is None:
                raise NotFound(
                    f"There is no token {quoted(name)}; `hexad serve token list` shows those there are."
                )
            login = logins[token_hash]
            if self._is_first(token_hash):
                files.unlink(self.first_token)
            self._write({key: other for key, other in logins.items() if key != token_hash})
        return login

    def list(self) -> list[Login]:
        """Return what there are tokens for, in the order of their making."""
        return sorted(self._read().values(), key=lambda login: (login.created_at, login.name))

    def login(self, token: str) -> Login | None:
        """Return what a token is for; None for one that there is not, or that is over."""
        login = self._read().get(_hash(token))
        if login is None or (login.expires_at is not None and login.expires_at <= self._clock.now()):
            return None
        return login

    # Inside -------------------------------------------------------------------------------------------------------

    def _is_first(self, token_hash: str) -> bool:
        try:
            return (
                _hash(read_regular(self.first_token, limit=_BYTES_LIMIT).decode("ascii").strip())
                == token_hash
            )
        except (OSError, UnicodeDecodeError, InvalidInput):
            return False

    def _read(self) -> dict[str, Login]:
        """Return the logins by the hashes of their tokens; read anew when the file is another one."""
        path = self.folder / FILE
        try:
            stat = path.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._logins, self._stamp = _parsed(read_regular(path, limit=_BYTES_LIMIT), path), stamp
        except FileNotFoundError:
            self._logins, self._stamp = {}, None
        return self._logins

    def _write(self, logins: dict[str, Login]) -> None:
        tokens = [{"sha256": key, **login.to_dict()} for key, login in logins.items()]
        content = json.dumps({"version": _VERSION, "tokens": tokens}, indent=2)
        files.atomic_write(self.folder / FILE, f"{content}\n".encode())

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Login]]:
        files.ensure_dir(self.folder)
        lock = TimedFlock(self.folder / "tokens.lock", clock=self._clock)
        try:
            if not lock.acquire(_LOCK_TIMEOUT_S):
                raise StoreLocked("Another process is changing the tokens; try again.")
            self._stamp = None
            yield self._read()
        finally:
            lock.close()


def _parsed(data: bytes, path: Path) -> dict[str, Login]:
    try:
        return {token["sha256"]: _login(token) for token in json.loads(data)["tokens"]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput) as error:
        raise IntegrityError(
            f"{path} is damaged ({type(error).__name__}); remove it: a new first token is made at the next start."
        ) from error


def _login(token: dict[str, Any]) -> Login:
    created_at = parse_time(token["created_at"], "created_at")
    if created_at is None:
        raise KeyError("created_at")
    return Login(
        name=token["name"],
        role=check_role(token["role"]),
        spaces=None if token["spaces"] is None else tuple(token["spaces"]),
        created_at=created_at,
        expires_at=parse_time(token["expires_at"], "expires_at"),
    )


def _new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _checked_name(name: str) -> str:
    text = parse_text(name, "name") or ""
    if not text.strip() or not text.isprintable() or len(text) > _NAME_CHARS:
        raise InvalidInput(
            f"name = {quoted(name)} cannot be used; give up to {_NAME_CHARS} characters.", argument="name"
        )
    return text.strip()


def _free_name(role: str, names: set[str]) -> str:
    number = next(number for number in range(1, len(names) + 2) if f"{role}-{number}" not in names)
    return f"{role}-{number}"
