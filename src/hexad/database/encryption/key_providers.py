"""Where the key of an encrypted store comes from: the system's keyring, a file, a passphrase, or a command.

Each gives a master key of 32 bytes. What a person or a program says in words instead becomes one by scrypt, once for
each time that a store is opened. Nothing here writes a key to a log, to an error or to a command's arguments.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import select
import shlex
import stat
import subprocess
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from hexad.core.arguments import require_key
from hexad.core.clock import SystemClock
from hexad.database import files
from hexad.database.encryption.cipher import KEY_BYTES
from hexad.errors import AccessDenied, Conflict, InvalidInput

_CLOCK: Final = SystemClock()


def output_of(command: Sequence[str], *, remedy: str, most_bytes: int, timeout_s: float) -> bytes:
    """Return what a command printed; one that prints more, or takes longer, is ended.

    Raises `AccessDenied`, which shows nothing of its output.
    """
    what = f"The command {command[0]!r} that gives the store's key"
    try:
        # Its errors are for a person, and go where ours go; nothing of its output is kept or shown.
        running = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
    except OSError as error:
        raise AccessDenied(f"{what} cannot be run: {error.strerror}. {remedy}") from error
    deadline = _CLOCK.monotonic() + timeout_s
    assert running.stdout is not None
    try:
        with running.stdout as pipe:
            printed = _read(pipe, most_bytes, deadline)
        if printed is not None and len(printed) > most_bytes:
            raise AccessDenied(f"{what} printed no key, but more than {most_bytes:,} bytes. {remedy}")
        code = None if printed is None else _ended(running, deadline)
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
    if printed is None or code is None:
        raise AccessDenied(f"{what} did not end in {timeout_s:.0f} s.")
    if code:
        raise AccessDenied(f"{what} ended with {code}. {remedy}")
    return printed


def _read(pipe: IO[bytes], most_bytes: int, deadline: float) -> bytes | None:
    """Return what comes out of a pipe to its end, or a little more than `most_bytes`; None where it does not end."""
    data = b""
    while len(data) <= most_bytes:
        left_s = deadline - _CLOCK.monotonic()
        if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
            return None
        piece = pipe.read(most_bytes)
        if not piece:
            break
        data += piece
    return data


def _ended(running: subprocess.Popen[bytes], deadline: float) -> int | None:
    try:
        return running.wait(max(0.0, deadline - _CLOCK.monotonic()))
    except subprocess.TimeoutExpired:
        return None


KEYRING, KEY_FILE, PASSPHRASE, COMMAND, PROGRAM = "keyring", "key_file", "passphrase", "command", "program"
PROVIDERS: Final = (KEYRING, KEY_FILE, PASSPHRASE, COMMAND, PROGRAM)
COMMAND_TIMEOUT_S: Final = 30.0
_SERVICE: Final = "hexad"
_PASSPHRASE_LEAST: Final = 8
_OUTPUT_BYTES: Final = 4_096
_ALTERNATIVES: Final = (
    "Use another provider: `--provider key_file`, `--provider passphrase` (HEXAD_PASSPHRASE) or "
    "`--provider command` (HEXAD_KEY_COMMAND)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrypt:
    """How a passphrase becomes a key. The defaults are those that OWASP advises: 128 MiB, about 0.3 s."""

    n: int = 1 << 17
    r: int = 8
    p: int = 1

    def key(self, passphrase: str, salt: bytes) -> bytes:
        """Return the key of a passphrase; the same text typed on another system gives the same key."""
        text = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
        most = 128 * self.r * (self.n + self.p + 2) + (1 << 20)
        return hashlib.scrypt(text, salt=salt, n=self.n, r=self.r, p=self.p, dklen=KEY_BYTES, maxmem=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyGiven:
    """What there is to open a store with: what a caller gave (`explicit`), or what its settings name.

    `variable` is that of the environment which names `key_file`, None where a file of settings or a caller does.
    """

    key: bytes | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)
    key_file: Path | None = None
    command: tuple[str, ...] | None = None
    explicit: bool = False
    variable: str | None = None

    @classmethod
    def of(
        cls,
        key: bytes | bytearray | str | Path | None,
        *,
        passphrase: str | None = None,
        key_file: Path | None = None,
        variable: str | None = None,
        command: str | None = None,
    ) -> KeyGiven:
        """Return what a caller gave as `key`: 32 bytes, a passphrase, or the path of a key file; else the rest."""
        require_key(key, "key")
        if key is None:
            words = None if command is None else command_of(command)
            return cls(passphrase=passphrase, key_file=key_file, variable=variable, command=words)
        if isinstance(key, bytes | bytearray):
            return cls(key=bytes(key), explicit=True)
        if isinstance(key, Path):
            return cls(key_file=key, explicit=True)
        return cls(passphrase=key, explicit=True)

    @property
    def provider(self) -> str | None:
        """Return the provider that this stands for, None where nothing is given."""
        for name, value in (
            (PROGRAM, self.key),
            (PASSPHRASE, self.passphrase),
            (COMMAND, self.command),
            (KEY_FILE, self.key_file),
        ):
            if value is not None:
                return name
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPlace:
    """Which key of which provider: its name, its salt, and the file where that is not the default one."""

    id: str
    provider: str
    salt: bytes
    scrypt: Scrypt = Scrypt()
    key_file: Path | None = None


def fetch(place: KeyPlace, key_source: KeyGiven) -> bytes:
    """Return the master key of a store. Raises `AccessDenied`, naming the provider and what to do."""
    if key_source.key is not None:
        return key_source.key
    if key_source.explicit and key_source.provider != place.provider:
        raise AccessDenied(
            f"The store's key comes from its provider {place.provider!r}, and a {key_source.provider} was given. "
            f"{_ways(place)}"
        )
    if place.provider == PASSPHRASE:
        if not key_source.passphrase:
            raise AccessDenied(
                "The store is encrypted, and its passphrase is not given.", remedy=_ways(place)
            )
        return place.scrypt.key(key_source.passphrase, place.salt)
    if place.provider == COMMAND:
        if not key_source.command:
            raise AccessDenied(
                f"The store is encrypted, and the command that gives its key is not set. {_ways(place)}"
            )
        return _of_command(key_source.command, place)
    if place.provider == KEY_FILE:
        return read_key_file(key_source.key_file or place.key_file or default_key_file(place.id))
    if place.provider == KEYRING:
        return _of_keyring(place)
    raise AccessDenied("The store is encrypted, and its key is held by a program.", remedy=_ways(place))


def create(place: KeyPlace, key_source: KeyGiven, *, store: Path) -> bytes:
    """Return the master key for a store that is to be encrypted with `place`, made where its provider makes it.

    Raises `InvalidInput` for what cannot protect anything, `Conflict` for a place that is taken.
    """
    if place.provider == PROGRAM and key_source.key is None:
        raise InvalidInput("The provider 'program' needs the key itself: key= with 32 bytes.")
    if place.provider == PASSPHRASE:
        require_passphrase(key_source.passphrase)
    if place.provider == KEY_FILE:
        path = (key_source.key_file or place.key_file or default_key_file(place.id)).expanduser()
        if path.resolve().is_relative_to(store.resolve()):
            raise InvalidInput(
                f"The key file {path} would lie in the store that it opens; give another place."
            )
        if path.exists():
            return read_key_file(path)
        return _create_key_file(path)
    if place.provider == KEYRING:
        return _create_in_keyring(place)
    return fetch(place, key_source)


def require_passphrase(passphrase: str | None) -> None:
    """Raise `InvalidInput` for a passphrase that is not there or protects nothing."""
    if not passphrase:
        raise InvalidInput(
            "The provider 'passphrase' needs one:", remedy="HEXAD_PASSPHRASE{, or key= as text}."
        )
    if len(passphrase) < _PASSPHRASE_LEAST:
        raise InvalidInput(f"A passphrase has at least {_PASSPHRASE_LEAST} characters; better are six words.")


def forget(place: KeyPlace) -> None:
    """Remove a key that was made for a store and opens nothing: what was begun with it was given up."""
    if place.provider == KEYRING:
        import keyring
        import keyring.errors

        try:
            keyring.delete_password(_SERVICE, place.id)
        except keyring.errors.KeyringError:
            return
    if place.provider == KEY_FILE and place.key_file is None:
        files.unlink(default_key_file(place.id))


def default_key_file(key_id: str) -> Path:
    """Return where a key file lies that was given no place: with the user's data, not with the project."""
    import platformdirs

    return Path(platformdirs.user_data_dir("hexad", appauthor=False)) / "keys" / f"{key_id}.key"


def key_file_of(place: KeyPlace) -> str | None:
    """Return where the key file of a store is, None where its key comes from elsewhere."""
    if place.provider != KEY_FILE:
        return None
    return str(place.key_file or default_key_file(place.id))


def keyring_is_usable() -> bool:
    """Whether the extra is installed and this machine has a keyring that keeps something."""
    try:
        import keyring
        import keyring.backends.fail
        import keyring.backends.null
    except ImportError:
        return False
    backend = keyring.get_keyring()
    return not isinstance(backend, keyring.backends.fail.Keyring | keyring.backends.null.Keyring)


def command_of(text: str) -> tuple[str, ...]:
    """Return a command's parts; no shell ever sees it. Raises `InvalidInput`."""
    try:
        parts = tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidInput(f"HEXAD_KEY_COMMAND={text!r} cannot be split into words: {error}.") from error
    if not parts:
        raise InvalidInput(f"HEXAD_KEY_COMMAND={text!r} names no command.")
    return parts


def _ways(place: KeyPlace) -> str:
    ways = {
        PASSPHRASE: "Set HEXAD_PASSPHRASE{, or open it with key= and the passphrase as text}.",
        COMMAND: "Set HEXAD_KEY_COMMAND to the command that prints it{, or open it with key= and the 32 bytes}.",
        KEY_FILE: "Set HEXAD_KEY_FILE to the file{, or open it with key= and its Path}.",
        KEYRING: "Open it on the machine and as the user in whose keyring it is{, or with key= and the 32 bytes}.",
        PROGRAM: "Open it with key= and the 32 bytes.",
    }
    return ways[place.provider]


def wrong_key(place: KeyPlace, *, key_file: Path | None = None) -> AccessDenied:
    """Return the error for a key that does not open the store, or for the one in `key_file`."""
    what = "This key" if key_file is None else f"The key in {key_file}"
    return AccessDenied(
        f"{what} does not open the store (provider {place.provider!r}, key {place.id}): it was changed, or is that "
        f"of another store. Nothing was touched.",
        remedy=_ways(place),
    )


# Files ---------------------------------------------------------------------------------------------------------


def read_key_file(path: Path) -> bytes:
    """Return the key in a file: 32 bytes, or those as hexadecimal or base64 text.

    Raises `AccessDenied` for a file that is not there, that others may read, or that holds no key.
    """
    path = path.expanduser()
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise AccessDenied(
            f"The store is encrypted, and its key file {path} cannot be read: {error.strerror}.",
            remedy="Put it there, set HEXAD_KEY_FILE to where it is{, or open the store with key=}.",
        ) from error
    try:
        found_stat = os.fstat(fd)
        if not stat.S_ISREG(found_stat.st_mode):
            raise AccessDenied(f"The key file {path} is no file.")
        mode = stat.S_IMODE(found_stat.st_mode)
        if mode & 0o077:
            raise AccessDenied(
                f"The key file {path} has mode {mode:04o}: other users may read or change it. Run `chmod 600 {path}`, "
                "and `hexad rekey` if somebody may have read it."
            )
        data = os.read(fd, _OUTPUT_BYTES)
    finally:
        os.close(fd)
    key = _parsed(data)
    if key is None:
        raise AccessDenied(
            f"The key file {path} holds no key: it needs 32 bytes, or them as hexadecimal or base64."
        )
    return key


def _create_key_file(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    files.ensure_dir(path.parent)
    if not files.create_exclusive(path, key.hex().encode("ascii") + b"\n"):
        raise Conflict(f"The key file {path} was made by somebody else at this moment; try again.")
    return key


def _parsed(data: bytes) -> bytes | None:
    """Return the key that `data` says: itself, or the first line in hexadecimal or base64; None where it is none."""
    line = data.split(b"\n", 1)[0].strip()
    if len(line) == 2 * KEY_BYTES:
        try:
            return bytes.fromhex(line.decode("ascii"))
        except ValueError:
            return None
    if len(line) in (43, 44):
        try:
            key_bytes = base64.b64decode(
                line.replace(b"-", b"+").replace(b"_", b"/") + b"=" * (44 - len(line)), validate=True
            )
        except (binascii.Error, ValueError):
            key_bytes = b""
        if len(key_bytes) == KEY_BYTES:
            return key_bytes
    typed = data.endswith(b"\n") and data[:-1].isascii() and data[:-1].decode("ascii").isprintable()
    return data if len(data) == KEY_BYTES and not typed else None


# Commands ------------------------------------------------------------------------------------------------------


def _of_command(command: Sequence[str], place: KeyPlace) -> bytes:
    name = command[0]
    printed = output_of(command, remedy=_ways(place), most_bytes=_OUTPUT_BYTES, timeout_s=COMMAND_TIMEOUT_S)
    key = _parsed(printed)
    if key is not None:
        return key
    try:
        line = printed.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        line = ""
    if len(line) < _PASSPHRASE_LEAST:
        raise AccessDenied(
            f"The command {name!r} printed no key: 32 bytes, them as hexadecimal or base64, or a line of at least "
            f"{_PASSPHRASE_LEAST} characters."
        )
    return place.scrypt.key(line, place.salt)


# The system's keyring ------------------------------------------------------------------------------------------


def _of_keyring(place: KeyPlace) -> bytes:
    try:
        import keyring
        import keyring.errors
    except ImportError as error:
        raise _no_keyring("the package is not installed (`pip install 'hexad[keyring]'`)") from error
    try:
        password = keyring.get_password(_SERVICE, place.id)
    except keyring.errors.KeyringError as error:
        raise _no_keyring(f"{type(error).__name__}") from error
    key = None if password is None else _parsed(password.encode("utf-8", "replace"))
    if key is None:
        raise AccessDenied(
            f"The store is encrypted, and this user's keyring has no key {place.id!r} of the service {_SERVICE!r}. "
            f"{_ways(place)}"
        )
    return key


def _create_in_keyring(place: KeyPlace) -> bytes:
    try:
        import keyring
        import keyring.errors
    except ImportError as error:
        raise _no_keyring("the package is not installed (`pip install 'hexad[keyring]'`)") from error
    key = secrets.token_bytes(KEY_BYTES)
    try:
        keyring.set_password(_SERVICE, place.id, key.hex())
        password = keyring.get_password(_SERVICE, place.id)
    except keyring.errors.KeyringError as error:
        raise _no_keyring(f"{type(error).__name__}") from error
    if password != key.hex():
        raise _no_keyring("what was put into it could not be read back")
    return key


def _no_keyring(reason: str) -> AccessDenied:
    return AccessDenied(f"The system's keyring cannot be used: {reason}. {_ALTERNATIVES}")
