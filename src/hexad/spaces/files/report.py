"""What reading, exporting and restoring a space's file reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.memory.source import Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FileConflict:
    """A memory whose file says something else than the store; the store's is kept."""

    id: str
    reason: str


@dataclass(slots=True, kw_only=True)
class ReadReport:
    """What reading a space's file did.

    `kept` names memories that the store has newer than the file, `conflicts` those that differ though both
    say that they were changed at the same time: of both the store's stands. `redacted` counts what was taken
    out; an object that held it is not written back as it was. `notes` say what the file holds that has no
    effect here, such as a policy that nothing enforces. `quarantined` were stored and wait for a review; a dry run
    does not know them yet.
    """

    file: Path
    space: str
    objects: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    quarantined: int = 0
    kept: list[str] = field(default_factory=list)
    conflicts: list[FileConflict] = field(default_factory=list)
    redacted: int = 0
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What reading another program's folder did: a report for each file that could be read.

    `failed` names the files that could not, with the reason; they changed nothing. `not_read` is what else
    lies in the folder.
    """

    folder: Path
    files: tuple[ReadReport, ...]
    failed: tuple[Skip, ...]
    not_read: tuple[Skip, ...]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return {
            "folder": str(self.folder),
            "files": [file.to_dict() for file in self.files],
            "failed": [{"file": skip.source_id, "reason": skip.reason} for skip in self.failed],
            "not_read": [{"file": skip.source_id, "reason": skip.reason} for skip in self.not_read],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """Where a space was exported to, and under which hash and key."""

    path: Path
    space: str
    objects: int
    exported_at: datetime
    content_hash: str
    key_fingerprint: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a verified export proves: that the holder of the key signed exactly this content for this space.

    Whose key it is, it does not prove: compare `key_fingerprint` with one that came another way, or hand
    `trusted_key` to `verify_export`; `trusted` says whether that was done.
    """

    file: Path
    space: str
    objects: int
    exported_at: datetime
    content_hash: str
    public_key: str
    key_fingerprint: str
    trusted: bool
    document: Mapping[str, JSONValue] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return what was proved as JSON, without the document."""
        return as_json(self, without=("document",))


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What a restore did, or would do when `dry_run`: what the file proved, and what became of its objects."""

    verified: Verified
    space: str
    dry_run: bool
    read: ReadReport

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return {"export": self.verified.to_dict(), **as_json(self, without=("verified",))}
