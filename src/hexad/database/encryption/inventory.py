"""What each file of a store is: which are sealed for what purpose, which are made anew, which hold nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.database.encryption.cipher import (
    AUDIT_DB,
    DOCUMENTS,
    EXPORTS,
    MEMORY_DB,
    SECRETS,
    STREAM,
    is_sealed,
)
from hexad.database.encryption.file_swap import FOLDER
from hexad.database.encryption.key_providers import key_file_of
from hexad.database.encryption.record import RECORD, EncryptionRecord, EncryptionState
from hexad.database.secure_delete import files_below
from hexad.database.sqlite_setup import is_plain

_HEAD_BYTES: Final = 16
_FOLDERS: Final = {
    "stream": STREAM,
    "documents": DOCUMENTS,
    "exports": EXPORTS,
    "spaces": EXPORTS,
    "audit": AUDIT_DB,
}
_DATABASES: Final = {"memory.db": MEMORY_DB, "audit/audit.db": AUDIT_DB}
_SECRETS: Final = frozenset({"keys.json", "audit/audit.key"})
_PLAIN: Final = frozenset(
    {"hexad.toml", ".gitignore", "open.lock", "maintain.lock", "erase.lock", "link.lock", RECORD}
)
"""Files that hold nothing of what is remembered."""
_AEGIS, _AES = "AEGIS-256", "AES-256-GCM"
CIPHERS: Final = {
    "memories, full text, vectors, tags (memory.db)": _AEGIS,
    "ledger (audit.db)": _AEGIS,
    "experience (stream)": _AES,
    "caches": _AES,
    "working copies (documents)": _AES,
    "exports, evidence, space files": _AES,
    "keys of the store and of its ledger": _AES,
}
"""With what each part of an encrypted store is encrypted."""
USER_CIPHERS: Final = {"preferences, patterns, what projects published (user.db)": _AEGIS}
LOGS: Final = "stream/log"
SEGMENTS: Final = "stream/segments"


class Treatment(Enum):
    """What is done with a file when a store's encryption changes."""

    DATABASE = "database"
    FILE = "file"
    DROPPED = "dropped"  # derived, or of a process that has ended
    KEPT = "kept"  # readable in every store
    UNKNOWN = "unknown"  # no part of a store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFile:
    """A file of a store, by its path below it."""

    name: str
    form: Treatment
    purpose: str = ""
    bytes: int = 0


def parts_of(directory: Path) -> Iterator[StoreFile]:
    """Yield every file of a store with what it is, by path; links are no part of a store, wherever they are."""
    for path in files_below(directory):
        name = path.relative_to(directory).as_posix()
        top = PurePosixPath(name).parts[0]
        if top in (FOLDER, "openers"):
            continue
        form, purpose = (Treatment.UNKNOWN, "") if path.is_symlink() else _kind(name, top)
        yield StoreFile(name=name, form=form, purpose=purpose, bytes=path.lstat().st_size)


def _kind(name: str, top: str) -> tuple[Treatment, str]:
    last = PurePosixPath(name).name
    if name in _DATABASES:
        return Treatment.DATABASE, _DATABASES[name]
    if name in _SECRETS:
        return Treatment.FILE, SECRETS
    for database in _DATABASES:
        if name.startswith(f"{database}-"):
            return (Treatment.DROPPED if name.endswith(("-wal", "-shm", "-journal")) else Treatment.KEPT), ""
    if name in _PLAIN or last.endswith(".lock"):
        return Treatment.KEPT, ""
    if top == "cache" or (last.startswith(".") and last.endswith(".tmp")):
        return Treatment.DROPPED, ""
    if name.startswith(f"{LOGS}/") or (top == "stream" and last.endswith(".tmp")):
        return Treatment.DROPPED, ""
    if top in _FOLDERS and "/" in name:
        return Treatment.FILE, _FOLDERS[top]
    return Treatment.UNKNOWN, ""


def links_in_the_way(directory: Path) -> list[str]:
    """Return the links that stand where a store has a file or a folder of its own, by path below it.

    What is behind them is the store's and would be left under the old key. A link among the files of documents,
    exports and spaces leads to a file of somebody else's.
    """
    paths = [path for path in files_below(directory) if path.is_symlink()]
    return [str(path.relative_to(directory)) for path in paths if _is_in_the_way(path, directory)]


def _is_in_the_way(link: Path, directory: Path) -> bool:
    name = link.relative_to(directory).as_posix()
    top = PurePosixPath(name).parts[0]
    form, purpose = _kind(name, top)
    if top in _FOLDERS and (name == top or link.is_dir()):
        return True
    return form in (Treatment.DATABASE, Treatment.DROPPED) or purpose in (SECRETS, STREAM, AUDIT_DB)


def exposed(directory: Path, *, encrypted: bool) -> Iterator[str]:
    """Yield in words which files of an encrypted store are readable, or which of a plain one are sealed."""
    for part in parts_of(directory):
        if part.form not in (Treatment.DATABASE, Treatment.FILE) and not part.name.startswith("cache/"):
            continue  # of logs `check_stream` says it
        path = directory / part.name
        if encrypted and _is_readable(part, path):
            yield f"{path} is not encrypted, though its store is. Move it away, or seal it with `hexad rekey`."
        if not encrypted and part.form is not Treatment.DATABASE and is_sealed(_head(path)):
            yield f"{path} is encrypted, though its store is not: nothing here can read it. Move it away."


def _is_readable(part: StoreFile, path: Path) -> bool:
    if part.form is Treatment.DATABASE:
        return is_plain(path) is True
    head = _head(path)
    return bool(head) and not is_sealed(head)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return b""  # it went just now


def state_of(record: EncryptionRecord, *, user: bool = False) -> EncryptionState:
    """Return what may be said of how a store, or the `user` layer, is encrypted."""
    place = record.place
    return EncryptionState(
        provider=place.provider,
        key_id=place.id,
        key_file=key_file_of(place),
        parts=dict(USER_CIPHERS if user else CIPHERS),
    )
