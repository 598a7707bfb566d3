"""What each file of a store is: which are sealed for what purpose, which are made anew, which hold nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.database.component import Component, FileGroup, KeyChangeHooks, StoreFile, Treatment
from hexad.database.encryption.cipher import SECRETS, is_sealed
from hexad.database.encryption.file_swap import FOLDER
from hexad.database.encryption.key_providers import key_file_of
from hexad.database.encryption.record import RECORD, EncryptionRecord, EncryptionState
from hexad.database.secure_delete import files_below
from hexad.database.sqlite_setup import is_plain

_HEAD_BYTES: Final = 16
_OPENERS: Final = "openers"
_CIPHERS: Final = {Treatment.DATABASE: "AEGIS-256"}
_FILE_CIPHER: Final = "AES-256-GCM"
_LOG_ENDS: Final = ("-wal", "-shm", "-journal")
_DATABASE_ENDS: Final = ("", "-wal", "-shm", "-commit", "-sync")
_DROPPED, _KEPT, _UNKNOWN = (
    FileGroup(pattern="", form=form) for form in (Treatment.DROPPED, Treatment.KEPT, Treatment.UNKNOWN)
)
_SHARED: Final = (
    FileGroup(
        pattern="keys.json",
        form=Treatment.FILE,
        purpose=SECRETS,
        label="keys of the store and of its ledger",
        place=6,
        hidden=True,
    ),
    *(
        FileGroup(pattern=name, form=Treatment.KEPT)
        for name in ("hexad.toml", ".gitignore", "open.lock", RECORD, "server/*")
    ),
)
"""Files of no system alone; those that are kept hold nothing of what is remembered."""


class Inventory:
    """What each file of a store is, by the groups that its systems name, and what those do when keys change."""

    def __init__(self, groups: Iterable[FileGroup], hooks: Iterable[KeyChangeHooks] = ()) -> None:
        self._groups, self.hooks = tuple(groups), tuple(hooks)
        self._named = {group.pattern: group for group in self._groups if "*" not in group.pattern}
        self._patterns = [group for group in self._groups if "*" in group.pattern]
        self.databases = [name for name, group in self._named.items() if group.form is Treatment.DATABASE]
        self._folders = {PurePosixPath(group.pattern).parts[0] for group in self._patterns}

    @property
    def expected_names(self) -> set[str]:
        """What may lie directly in the store's folder."""
        databases = {f"{name}{end}" for name in self.databases for end in _DATABASE_ENDS if "/" not in name}
        return {PurePosixPath(name).parts[0] for name in self._named} | databases | self._folders | {_OPENERS}

    def purposes(self, *, hidden: bool) -> list[str]:
        """Return what the keys of sealed files are for: of those that are shown to nobody, or of the others."""
        groups = [group for group in self._groups if group.purpose and group.form is not Treatment.DATABASE]
        return list(dict.fromkeys(group.purpose for group in groups if group.hidden is hidden))

    @property
    def ciphers(self) -> dict[str, str]:
        """With what each part of an encrypted store is encrypted."""
        labelled = sorted((group for group in self._groups if group.label), key=lambda group: group.place)
        return {group.label: _CIPHERS.get(group.form, _FILE_CIPHER) for group in labelled}

    def files(self, directory: Path) -> Iterator[StoreFile]:
        """Yield every file of a store with what it is, by path; links are no part of a store, wherever they are."""
        for path in files_below(directory):
            name = path.relative_to(directory).as_posix()
            if PurePosixPath(name).parts[0] in (FOLDER, _OPENERS):
                continue
            group = _UNKNOWN if path.is_symlink() else self._group_of(name)
            yield StoreFile(name=name, form=group.form, purpose=group.purpose, bytes=path.lstat().st_size)

    def _group_of(self, name: str) -> FileGroup:
        if (group := self._named.get(name)) is not None:
            return group
        if any(name.startswith(f"{database}-") for database in self.databases):
            return _DROPPED if name.endswith(_LOG_ENDS) else _KEPT
        last = PurePosixPath(name).name
        if last.endswith(".lock"):
            return _KEPT
        groups = [group for group in self._patterns if fnmatchcase(name, group.pattern)]
        if last.startswith(".") and last.endswith(".tmp"):
            groups.append(_DROPPED)
        groups.sort(key=lambda group: group.form is not Treatment.DROPPED)
        return groups[0] if groups else _UNKNOWN


def inventory_of(components: Iterable[Component]) -> Inventory:
    """Return what the files of a store with these systems are."""
    components = tuple(components)
    groups = [group for component in components for group in component.files]
    return Inventory(
        (*_SHARED, *groups), [hooks for component in components for hooks in component.key_changes]
    )


def exposed(directory: Path, inventory: Inventory, *, encrypted: bool) -> Iterator[str]:
    """Yield in words which files of an encrypted store are readable, or which of a plain one are sealed."""
    for part in inventory.files(directory):
        if part.form not in (Treatment.DATABASE, Treatment.FILE) and not part.purpose:
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


def state_of(record: EncryptionRecord, inventory: Inventory) -> EncryptionState:
    """Return what may be said of how a store, or the user layer, is encrypted."""
    place = record.place
    return EncryptionState(
        provider=place.provider, key_id=place.id, key_file=key_file_of(place), parts=inventory.ciphers
    )
