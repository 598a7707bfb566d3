"""Writing an assistant's files and taking the changes back: all of them or none, with what was there kept.

Of each file the record of an installation keeps the bytes that were there before, and the hash of what was written.
Where that is what stands there now, uninstalling puts the earlier bytes back; where somebody changed the file since,
only what is ours is taken out of it.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hexad.core.clock import SystemClock
from hexad.core.json_types import JSONValue
from hexad.database import files
from hexad.database.leases import Lease
from hexad.errors import Conflict, HexadError, InvalidInput, StorageFailure, StoreLocked, failure
from hexad.interfaces.assistants.clients import Client, Installation
from hexad.interfaces.assistants.edits import FileEdit

_FILE_BYTES_LIMIT: Final = 32 << 20
_LOCK_WAIT_S: Final = 10.0
_RECORD: Final = "record.json"
_NEW_FILE_MODE, _NEW_FOLDER_MODE = 0o644, 0o755
_KEY_HASH_CHARS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file: what stands there, what is to stand there (None: no file), and what was there before Hexad."""

    path: Path
    """As the assistant names it; a link is followed."""
    what: str
    before: bytes | None
    after: bytes | None
    original: bytes | None
    note: str = ""

    @property
    def action(self) -> str:
        """What happens to the file, in a word."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    def diff(self) -> Iterator[str]:
        """Yield the change as a unified diff."""
        old, new = (
            [] if data is None else data.decode("utf-8", "replace").splitlines()
            for data in (self.before, self.after)
        )
        before, after = (
            str(self.path) if data is not None else os.devnull for data in (self.before, self.after)
        )
        yield from difflib.unified_diff(old, new, before, after, lineterm="")

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the change as JSON."""
        return {"path": str(self.path), "what": self.what, "action": self.action, "note": self.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """What the record of an installation says of a file."""

    path: str
    original: bytes | None
    written: str
    """SHA-256 of what was written."""

    def is_as_written(self, now: bytes | None) -> bool:
        """Return whether the file stands as it was written."""
        return now is not None and _hash(now) == self.written


@dataclass(slots=True)
class InstallRecord:
    """What an installation wrote, and the folders that it made for that."""

    folder: Path
    recorded: dict[str, RecordedFile] = field(default_factory=dict)
    made_folders: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path) -> InstallRecord:
        """Return the record in a folder, an empty one where there is none. Raises `InvalidInput` for a damaged one."""
        path = folder / _RECORD
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            recorded = {
                entry["path"]: RecordedFile(
                    path=entry["path"],
                    original=None if entry["backup"] is None else (folder / entry["backup"]).read_bytes(),
                    written=entry["written"],
                )
                for entry in content["files"]
            }
            return cls(folder, recorded, list(content["folders"]))
        except FileNotFoundError as error:
            if path.exists():
                raise InvalidInput(
                    f"{error.filename} is gone, which {path} names; remove {folder}."
                ) from error
            return cls(folder)
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path} is damaged ({type(error).__name__}); remove {folder}.") from error

    def save(self) -> None:
        """Write it, the backups first; durable on return."""
        files.ensure_dir(self.folder)
        entries = []
        for number, file in enumerate(self.recorded.values()):
            backup = (
                None
                if file.original is None
                else f"{number}-{_hash(file.original)[:8]}-{Path(file.path).name}"
            )
            if backup is not None and file.original is not None:
                files.atomic_write(self.folder / backup, file.original)
            entries.append({"path": file.path, "backup": backup, "written": file.written})
        content = json.dumps({"files": entries, "folders": self.made_folders}, indent=2)
        files.atomic_write(self.folder / _RECORD, content.encode("utf-8"))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _original(edit: FileEdit, recorded: RecordedFile | None, now: bytes | None) -> bytes | None:
    """Return what stands there but for what is ours: the recorded bytes where nobody changed the file since."""
    if now is None:
        return None
    if recorded is not None and recorded.is_as_written(now):
        return recorded.original
    before = None if recorded is None else recorded.original
    without = edit.take_out(_text(now), None if recorded is None else _text(before)).encode("utf-8")
    was_blank = before is not None and not before.strip()
    # Where nothing is left, it held nothing but what is ours; an empty file stays only where one was.
    return without if without or was_blank or not now.strip() else None


class Installer:
    """Installs one client, for one project or for the user."""

    def __init__(self, client: Client, to: Installation) -> None:
        self._client, self._to = client, to
        self._records = to.folders.records
        scope = "user" if to.user else hashlib.sha256(os.fsencode(to.project)).hexdigest()[:_KEY_HASH_CHARS]
        self.folder = self._records / f"{client.name}-{scope}"
        """Where the record and the backups are."""

    def plan(self) -> list[FileChange]:
        """Return what an installation would change. Raises what it would raise."""
        record = InstallRecord.load(self.folder)
        return [self._put(path, edit, record) for path, edit in self._client.targets(self._to)]

    def plan_removal(self) -> list[FileChange]:
        """Return what taking it out would change."""
        record, others = InstallRecord.load(self.folder), self._used_by_others()
        return [self._take_out(path, edit, record, others) for path, edit in self._client.targets(self._to)]

    def install(self) -> list[FileChange]:
        """Write what is missing; returns what was changed. Nothing is, where any of it cannot be."""
        with self._locked():
            changes = self.plan()
            record = InstallRecord.load(self.folder)
            new = InstallRecord(self.folder, {}, list(record.made_folders))
            for change in changes:
                assert change.after is not None
                key = str(change.path)
                new.recorded[key] = RecordedFile(
                    path=key, original=change.original, written=_hash(change.after)
                )
                new.made_folders += [
                    str(folder)
                    for folder in _missing_folders(change.path)
                    if str(folder) not in new.made_folders
                ]
            if new != record:
                new.save()
            for change in changes:
                if change.note and change.before is not None:
                    kept = self._kept(change.path, change.before)
                    files.ensure_dir(kept.parent)
                    files.atomic_write(kept, change.before)
            self._write(changes)
            return changes

    def uninstall(self) -> list[FileChange]:
        """Take everything out that was written; returns what was changed."""
        with self._locked():
            changes = self.plan_removal()
            record = InstallRecord.load(self.folder)
            self._write(changes)
            for folder in sorted(record.made_folders, key=len, reverse=True):
                with contextlib.suppress(OSError):  # something else lies in it by now
                    os.rmdir(folder)
            files.remove_tree(self.folder)
            return changes

    # What is to stand there -----------------------------------------------------------------------------------------

    def _put(self, path: Path, edit: FileEdit, record: InstallRecord) -> FileChange:
        now = _content(path)
        recorded = self._recorded(path, record, now)
        is_changed = now is not None and recorded is not None and not recorded.is_as_written(now)
        with _naming(path):
            if is_changed:
                edit.refuse_foreign(_text(now))
            # Without a record, whatever stands there is what was there before.
            original = now if recorded is None else _original(edit, recorded, now)
            after = edit.put(_text(original), None if recorded is None else _text(recorded.original))
        data = after.encode("utf-8")
        if now is not None and data != now:
            _require_writable(path)
        note = ""
        if is_changed and now is not None and data != now:
            note = (
                f"it was changed since it was installed; what stood there is kept in {self._kept(path, now)}"
            )
        return FileChange(path=path, what=edit.what, before=now, after=data, original=original, note=note)

    def _kept(self, path: Path, data: bytes) -> Path:
        """Return where a file is kept as somebody changed it, before it is written anew."""
        return self._records / "changed" / f"{_hash(data)[:_KEY_HASH_CHARS]}-{path.name}"

    def _recorded(self, path: Path, record: InstallRecord, now: bytes | None) -> RecordedFile | None:
        """Return what is recorded of a file, for this client or another; best, of how it stands there now."""
        known = [
            each.recorded[str(path)]
            for each in (record, *self._other_records())
            if str(path) in each.recorded
        ]
        return next((file for file in known if file.is_as_written(now)), known[0] if known else None)

    def _take_out(self, path: Path, edit: FileEdit, record: InstallRecord, others: set[str]) -> FileChange:
        now = _content(path)
        if str(path) in others:
            return FileChange(
                path=path, what=edit.what, before=now, after=now, original=now, note="used by another client"
            )
        with _naming(path):
            after = _original(edit, record.recorded.get(str(path)), now)
        note = ""
        if (
            now is not None
            and after == now
            and str(path) in record.recorded
            and record.recorded[str(path)].written != _hash(now)
        ):
            note = "kept: it was changed since, and nothing of ours is in it"
        if now is not None and after != now:
            _require_writable(path)
        return FileChange(path=path, what=edit.what, before=now, after=after, original=None, note=note)

    def _other_records(self) -> Iterator[InstallRecord]:
        if self._records.is_dir():
            for folder in sorted(self._records.iterdir()):
                if folder != self.folder and (folder / _RECORD).exists():
                    with contextlib.suppress(InvalidInput):  # it is said when that client is installed
                        yield InstallRecord.load(folder)

    def _used_by_others(self) -> set[str]:
        return {path for record in self._other_records() for path in record.recorded}

    # Writing --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        files.ensure_dir(self._records)
        lease = Lease(self._records / "lock", clock=SystemClock(), purpose="install")
        with lease.held_for(wait_s=_LOCK_WAIT_S) as acquired:
            if not acquired:
                raise StoreLocked("Another `hexad install` is running; wait until it is done and try again.")
            yield

    def _write(self, changes: Sequence[FileChange]) -> None:
        """Write what changes; where a file cannot be written, those before it get their bytes back."""
        done: list[FileChange] = []
        try:
            for change in changes:
                if change.before != change.after:
                    if _content(change.path) != change.before:
                        raise Conflict(f"{change.path} was changed meanwhile; run it again.")
                    done.append(change)
                    _replace(change.path, change.after)
        except HexadError:
            for change in reversed(done):
                with contextlib.suppress(HexadError):
                    _replace(change.path, change.before)
            raise


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with it."""
    try:
        yield
    except Conflict as error:
        raise Conflict(
            f"{path} was left as it is: {error}, then install again. Nothing was changed."
        ) from error
    except (InvalidInput, ValueError) as error:
        words = str(error).rstrip(".")
        raise InvalidInput(
            f"{path} cannot be used: {words}. Mend it, then run this again. Nothing was changed."
        ) from error


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise InvalidInput(f"{path} is a link that leads nowhere: {error}.") from error


def _content(path: Path) -> bytes | None:
    real = _real(path)
    try:
        mode = real.stat().st_mode
        if not stat.S_ISREG(mode):
            raise InvalidInput(f"{path} is no file; move it away. Nothing was changed.")
        if real.stat().st_size > _FILE_BYTES_LIMIT:
            raise InvalidInput(f"{path} has more than {_FILE_BYTES_LIMIT >> 20} MiB. Nothing was changed.")
        return real.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise failure("read", path, error) from error


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8")


def _require_writable(path: Path) -> None:
    # Renaming over it would work, and whoever made it read-only did not mean that.
    if not stat.S_IMODE(_real(path).stat().st_mode) & 0o222:
        raise StorageFailure(
            f"{path} is read-only; `chmod u+w` it, then run this again. Nothing was changed."
        )


def _missing_folders(path: Path) -> list[Path]:
    return [folder for folder in path.parents if not folder.exists()]


def _replace(path: Path, data: bytes | None) -> None:
    real = _real(path)
    if data is None:
        files.unlink(real)
        return
    files.ensure_dir(real.parent, mode=_NEW_FOLDER_MODE)
    mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else _NEW_FILE_MODE
    files.atomic_write(real, data, mode=mode)
