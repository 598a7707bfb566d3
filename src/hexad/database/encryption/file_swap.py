"""From one set of a store's files to another at once: what `encrypt`, `decrypt` and `rekey` end with.

The new files are made below `convert/new`, under the paths that they are to have; nothing of the store is changed
meanwhile. Then `convert/journal.json` is written, and from that moment the new files are the store: each is renamed to
its place, what is not needed any more is removed, and the folder goes last. Killed before the journal, the next open
removes the folder; killed after it, the next open goes on, and needs no key for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from hexad.core.arguments import read_regular
from hexad.database import files
from hexad.database.leases import OpenLock
from hexad.database.secure_delete import move, overwrite, sync_tree, wipe_tree
from hexad.errors import IntegrityError, InvalidInput, StorageFailure

FOLDER: Final = "convert"
NEW: Final = "new"
JOURNAL: Final = "journal.json"
_VERSION: Final = 1
_BYTES_LIMIT: Final = 1 << 26
_WAIT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """What takes the place of what. Paths are relative to the store; `overwrite` makes old content unreadable first."""

    what: str
    moves: Sequence[str]
    removes: Sequence[str]
    overwrite: bool

    def encoded(self) -> bytes:
        """Return the journal's content."""
        document = {
            "version": _VERSION,
            "what": self.what,
            "moves": list(self.moves),
            "removes": list(self.removes),
            "overwrite": self.overwrite,
        }
        return json.dumps(document, indent=1).encode("utf-8")


def new_folder(directory: Path) -> Path:
    """Return the empty folder for new files; what an earlier attempt left is removed."""
    wipe_tree(directory / FOLDER)
    files.ensure_dir(directory / FOLDER / NEW)
    return directory / FOLDER / NEW


def give_up(directory: Path) -> None:
    """Remove what was prepared; the store is as it was. Of a decryption that is plain."""
    wipe_tree(directory / FOLDER)


def switch(directory: Path, plan: Switch) -> None:
    """Put the new files in the place of the old ones. The new ones are on the disk, with their folders, before."""
    journal = directory / FOLDER / JOURNAL
    try:
        sync_tree(directory / FOLDER / NEW)
        files.atomic_write(journal, plan.encoded())
    except BaseException:
        if not journal.exists():
            give_up(directory)
        raise
    _finish(directory, plan)


def recover(directory: Path, lock: OpenLock | None) -> str | None:
    """Undo or end a conversion that was interrupted, and return what it was where it was ended.

    Raises `StorageFailure` where that has to be written and may not (`lock` None: a store opened read-only),
    `StoreLocked` while others have the store open, `IntegrityError` for a journal that is damaged.
    """
    if lock is None:
        if (directory / FOLDER / JOURNAL).exists():
            raise StorageFailure(
                f"A change of the encryption of {directory} was interrupted; open it once for writing to end it."
            )
        return None
    ended = None
    while (directory / FOLDER).exists():  # once more where somebody came in between, and was killed
        with lock.exclusively("end an interrupted change of the encryption", wait_s=_WAIT_S):
            ended = end_interrupted(directory) or ended
    return ended


def end_interrupted(directory: Path) -> str | None:
    """Do what `recover` does, for whoever has the store alone: before anything of it is changed."""
    if not (directory / FOLDER).exists():
        return None
    journal = directory / FOLDER / JOURNAL
    if not journal.exists():
        _require_ours(directory / FOLDER)
        give_up(directory)
        return None
    plan = _read(journal)
    _finish(directory, plan)
    return plan.what


def _require_ours(folder: Path) -> None:
    """Raise `InvalidInput` where there is more in a folder than what a change leaves: it would be overwritten."""
    others = sorted(path.name for path in folder.iterdir() if path.name != NEW and JOURNAL not in path.name)
    if others:
        raise InvalidInput(
            f"{folder} holds {others[0]}, which no change of the encryption left. Nothing was changed. Move it away."
        )


def _finish(directory: Path, plan: Switch) -> None:
    """Do what is left of a switch; each step may have been done before."""
    # What is not needed any more goes first: a log of SQLite's must never stand beside a database that it is not of.
    for name in plan.removes:
        old = directory / name
        if plan.overwrite:
            overwrite(old)
        if old.exists():
            files.unlink(old)
    for name in plan.moves:
        new, old = directory / FOLDER / NEW / name, directory / name
        if new.exists():
            if plan.overwrite:
                overwrite(old)
            files.ensure_dir(old.parent)
            move(new, old)
    # The journal last: without it, what is left of the folder is taken for one that was given up.
    files.remove_tree(directory / FOLDER / NEW)
    files.unlink(directory / FOLDER / JOURNAL)
    files.remove_tree(directory / FOLDER)


def _read(path: Path) -> Switch:
    with files.operation("read", path, "read"):
        data = read_regular(path, limit=_BYTES_LIMIT)
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise IntegrityError(
                f"{path} is of version {document['version']!r}, this program reads {_VERSION}: use a newer one."
            )
        plan = Switch(
            what=str(document["what"]),
            moves=[_inside(name) for name in document["moves"]],
            removes=[_inside(name) for name in document["removes"]],
            overwrite=bool(document["overwrite"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IntegrityError(
            f"{path} is damaged ({type(error).__name__}), and a change of the encryption was not ended. Put a backup "
            "of the whole folder in its place."
        ) from error
    return plan


def _inside(name: object) -> str:
    path = PurePosixPath(str(name))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("a path outside of the store")
    return str(path)
