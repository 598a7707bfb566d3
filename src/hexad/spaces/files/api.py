"""The part of `hx.spaces` that deals in files: portable space files, signed exports, other programs' folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.core.actor import Actor
from hexad.core.arguments import parse_choice, parse_time
from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.encryption.store_files import OwnFiles
from hexad.database.files import unlink
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.memory.memory import Trust
from hexad.memory.policy import parse_stored
from hexad.memory.source import Skip
from hexad.memory.store import Stores
from hexad.memory.tables.spaces import Space
from hexad.spaces.access import require_whole
from hexad.spaces.files.document import Step, space_document, space_file, write_space_file
from hexad.spaces.files.reader import ParsedSpace, load_json, parse_space, without_a_say
from hexad.spaces.files.report import ExportReport, FolderReport, ReadReport, RestoreReport, Verified
from hexad.spaces.files.signed_export import FORMAT, verify_export, write_export
from hexad.text.paths import space_file_name, validate_space

if TYPE_CHECKING:
    from hexad.spaces.files.importer import SpaceImporter

LEXON_FOLDER: Final = ".lexon"
LEXON_SPACES: Final = "structured_memory"
_FORMATS: Final = ("lexon",)
_PLACEHOLDER: Final = "<space>"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesNeeds:
    """What the files of spaces need; `directory` is the store's folder, `importer` is loaded when first asked for."""

    stores: Stores
    clock: Clock
    directory: Path
    actor: Actor
    audit: AuditSink
    keys: KeyStore
    importer: Callable[[], SpaceImporter]
    wake: Callable[[], None]
    own: OwnFiles


class SpaceFileCalls:
    """Writes, reads, exports and restores spaces as files."""

    def __init__(self, files: FilesNeeds) -> None:
        self._files = files

    def write_file(self, name: str, *, progress: Step | None = None) -> Path:
        """Write the space as `spaces/<name>.json` in the store's folder and return the path.

        The same state gives the same bytes. `progress` is told how many objects are written. A reader of the file
        sees all of the old one or all of the new. In an encrypted store it is sealed: `hexad cat` shows it. Raises
        `NotFound`, and `AccessDenied` for an actor who may not see the whole space.

        >>> import hexad, json
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", space="docs", id="d1")
        ...     [one["id"] for one in json.loads(hx.spaces.write_file("docs").read_text())["objects"]]
        ['d1']
        """
        files = self._files
        files.stores.db.require_writable()
        with files.stores.db.read():
            space = self._whole(name, "its file")
            path = space_file(files.directory / "spaces", name)
            write_space_file(path, space_document(files.stores, space), own=files.own, step=progress)
        if files.stores.spaces.find(name) is None:  # deleted meanwhile, with the file that was there then
            unlink(path)
            files.stores.spaces.get(name)
        return path

    def read_file(
        self,
        file: str | Path,
        *,
        name: str | None = None,
        dry_run: bool = False,
        trust: Trust | str | None = None,
        progress: Step | None = None,
    ) -> ReadReport:
        """Merge a space's file, Hexad's or Lexon's, into its space, or into the space `name`; by id.

        A newer object changes its memory, an older one does not, and one that differs though it was changed at the
        same time is a conflict: the store's stays, and the report names it. What Hexad does not know is kept and
        written back. Policies and metadata are set in a space that has none of either and no memory. What the file
        brings is trusted as it says, and no more than `trust`. `progress` is told how many objects are ready to be
        stored.

        Raises `InvalidSpace` for a file that is damaged or holds what cannot be stored, with line and column or
        object and field, `Conflict` for an id that another space has, `NotFound` for a file that is not there;
        then nothing was stored.
        """
        path = Path(file)
        document = load_json(path, self._files.own)
        if isinstance(document, Mapping) and document.get("format") == FORMAT:
            raise InvalidInput(f"{path} is a signed export; `restore` verifies it and brings its space back.")
        parsed = parse_space(document, file=path, renamed=name is not None)
        return self._read(replace(parsed, trust=_most(trust)), name, dry_run=dry_run, progress=progress)

    def read_folder(
        self, folder: str | Path, *, format: str = "lexon", trust: Trust | str | None = None
    ) -> FolderReport:
        """Read every space file of another program's folder: `.lexon`, or the project that it lies in.

        Each file goes into the space that it names. One that cannot be read is in the report and stops no other;
        so is what else lies in the folder. A second run changes nothing. `trust` is as for `read_file`. Raises
        `NotFound` for a folder without space files.
        """
        if format not in _FORMATS:
            raise InvalidInput(f"Format {format!r} is not known; there is {' and '.join(_FORMATS)}.")
        most, root = _most(trust), _lexon_folder(Path(folder))
        reports: list[ReadReport] = []
        failed: list[Skip] = []
        for path in sorted((root / LEXON_SPACES).iterdir()):
            if path.suffix != ".json" or not path.is_file():
                continue
            try:
                report = self.read_file(path, trust=most)
            except HexadError as error:
                failed.append(Skip(source_id=path.name, reason=str(error)))
                continue
            if path.stem != space_file_name(report.space):
                report.notes.append(f"The file is called {path.name}, and names the space {report.space!r}.")
            reports.append(report)
        return FolderReport(
            folder=root, files=tuple(reports), failed=tuple(failed), not_read=tuple(_not_read(root))
        )

    def export(
        self,
        name: str,
        out: str | Path | None = None,
        *,
        include_archived: bool = True,
        force: bool = False,
        freeze_clock: datetime | str | None = None,
        progress: Step | None = None,
    ) -> ExportReport:
        """Write the space as a signed bundle to `out`, else to its policy's `export_path`, else to `exports/`.

        The bundle holds the space's document, its hash, and a signature with the store's key; `hexad.verify_export`
        checks it anywhere. A file that is there is replaced only when it is an export of the same space, or with
        `force`. In the folder of an encrypted store it is sealed; elsewhere it is plain, as it is handed over.
        Raises `NotFound`, `Conflict`, and `AccessDenied` for an actor who may not see the whole space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", space="docs")
        ...     hexad.verify_export(hx.spaces.export("docs").path).space
        'docs'
        """
        files = self._files
        at = parse_time(freeze_clock, "freeze_clock") or files.clock.now()
        files.stores.db.require_writable()
        with files.stores.db.read():
            space = self._whole(name, "an export")
            path = self._given_path(out) if out is not None else self._default_path(space)
            report = write_export(
                path,
                space_document(files.stores, space, include_archived=include_archived, alone=True),
                space=name,
                key=files.keys.signing_key(),
                exported_at=at,
                own=files.own,
                force=force,
                step=progress,
            )
        self._record("export", {"space": name, "objects": report.objects, "hash": report.content_hash})
        return report

    def verify(self, file: str | Path, *, trusted_key: str | None = None) -> Verified:
        """Do what `hexad.verify_export` does, also for an export that lies encrypted in this store; raises as it does.

        Raises `AccessDenied` for an actor from whom a space of that name hides something.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None, key=bytes(32)) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", space="docs")
        ...     hx.spaces.verify(hx.spaces.export("docs").path).objects
        1
        """
        verified = verify_export(file, trusted_key=trusted_key, own=self._files.own)
        self._files.stores.spaces.admit(verified.space)
        space = self._files.stores.spaces.find(verified.space)
        if space is not None:
            require_whole(
                self._files.actor, parse_stored(space.policies), space=space.name, doing="an export of it"
            )
        return verified

    def restore(
        self,
        file: str | Path,
        *,
        name: str | None = None,
        trusted_key: str | None = None,
        dry_run: bool = False,
        merge: bool = False,
        trust: Trust | str | None = None,
        progress: Step | None = None,
    ) -> RestoreReport:
        """Verify a signed export, then bring its space back: ids, times, pins, what is archived, policies.

        The space, or `name`, must not be there or must hold no memory; `merge` reads the export into one that does,
        as `read_file` reads a file. `trusted_key`, a public key or its fingerprint, must then be the export's. Without
        `trust` its memories are trusted as it says, whoever signed it; with it no more than that.

        Raises `IntegrityError` for an export that does not verify, `Conflict` for a space that is in use, and what
        `read_file` raises; then nothing was stored.
        """
        verified = self.verify(file, trusted_key=trusted_key)
        parsed = parse_space(
            verified.document, file=verified.file, said=verified.space, renamed=name is not None
        )
        parsed = replace(parsed, trust=_most(trust))
        target = parsed.name if name is None else name
        detail: Mapping[str, JSONValue] = {"hash": verified.content_hash, "key": verified.key_fingerprint}
        report = self._read(
            parsed,
            name,
            dry_run=dry_run,
            progress=progress,
            what="restore",
            detail=detail,
            whole=not merge,
        )
        return RestoreReport(verified=verified, space=target, dry_run=dry_run, read=report)

    # Steps --------------------------------------------------------------------------------------------------------

    def _read(
        self,
        parsed: ParsedSpace,
        name: str | None,
        *,
        dry_run: bool,
        progress: Step | None,
        what: str = "read_file",
        detail: Mapping[str, JSONValue] | None = None,
        whole: bool = False,
    ) -> ReadReport:
        files = self._files
        if not dry_run:
            files.stores.db.require_writable()
        if name is not None and validate_space(name) != parsed.name:
            parsed = _renamed(parsed, name)
        files.stores.spaces.admit(parsed.name)
        parsed, notes = without_a_say(parsed)

        def may(policies: Mapping[str, JSONValue]) -> None:
            require_whole(files.actor, parse_stored(policies), space=parsed.name, doing="a file of it")

        def within(report: ReadReport) -> None:
            counts = {"created": report.created, "updated": report.updated, "unchanged": report.unchanged}
            self._record(what, {"space": parsed.name, **counts, **(detail or {})})

        report = files.importer().read(
            parsed, dry_run=dry_run, whole=whole, may=may, within=within, progress=progress
        )
        report.notes.extend(notes)
        files.wake()
        return report

    def _record(self, what: str, detail: Mapping[str, JSONValue]) -> None:
        self._files.audit.record(AuditEvent(what=what, at=self._files.clock.now(), detail=detail))

    def _whole(self, name: str, doing: str) -> Space:
        space = self._files.stores.spaces.get(name)
        require_whole(self._files.actor, parse_stored(space.policies), space=name, doing=doing)
        return space

    def _given_path(self, out: str | Path) -> Path:
        """Return where a caller wants an export: a file anywhere but among the store's own, `force` or not."""
        path = _resolved(Path(out))
        if str(out).endswith(("/", os.sep)) or path.is_dir():
            raise InvalidInput(f"Cannot export to {str(out)!r}: it names a folder. Name a file in it.")
        if self._is_the_stores(path):
            raise InvalidInput(
                f"Cannot export to {path}: it is among the store's own files. Name a file outside of "
                f"{self._files.directory}, or one in its folder exports/."
            )
        return path

    def _is_the_stores(self, path: Path) -> bool:
        directory = self._files.directory.resolve()
        return path.is_relative_to(directory) and not path.is_relative_to(directory / "exports")

    def _default_path(self, space: Space) -> Path:
        """Return where the policy, or the default, has the export; never outside the project's folder."""
        directory = self._files.directory
        exports = directory / "exports"
        export_path = parse_stored(space.policies).export_path
        if export_path is None:
            path, inside = space_file(exports, space.name), exports
        else:
            named = export_path.replace(_PLACEHOLDER, space_file_name(space.name))
            path = directory.parent / named
            path, inside = (
                (space_file(path, space.name) if export_path.endswith("/") else path),
                directory.parent,
            )
        path = _resolved(path)
        outside = not path.is_relative_to(
            inside.resolve() if export_path is not None else directory.resolve()
        )
        if outside or self._is_the_stores(path):
            where = "outside the project's folder" if outside else "among the store's own files"
            raise InvalidInput(
                f"The export path {str(export_path or path)!r} of space {space.name!r} leads to {path}, {where}. "
                "Set another export_path, or name the file to export to."
            )
        return path


def _most(trust: Trust | str | None) -> Trust | None:
    return None if trust is None else parse_choice(Trust, trust, "trust")


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"Cannot export to {str(path)!r}: {error}. Choose another file.") from error


def _renamed(parsed: ParsedSpace, name: str) -> ParsedSpace:
    """Return the file as if it had been written for the space `name`: that is what is written back."""
    return replace(
        parsed,
        name=name,
        head={**parsed.head, "name": name},
        objects=[
            replace(parsed_object, object=_said_of(parsed_object.object, name))
            for parsed_object in parsed.objects
        ],
    )


def _said_of(fields: Mapping[str, JSONValue], name: str) -> Mapping[str, JSONValue]:
    renamed = dict(fields)
    metadata = renamed.get("metadata")
    if isinstance(metadata, Mapping) and "space" in metadata:
        renamed["metadata"] = {**metadata, "space": name}
    if "space" in renamed:
        renamed["space"] = name
    return renamed


def _lexon_folder(folder: Path) -> Path:
    """Return the `.lexon` folder that is meant: the folder itself, or the one inside it."""
    for root in (folder, folder / LEXON_FOLDER):
        if (root / LEXON_SPACES).is_dir():
            return root
    raise NotFound(
        f"There is no {LEXON_SPACES}/ in {str(folder)!r} and no {LEXON_FOLDER}/ that has one; name the folder that "
        "Lexon wrote."
    )


def _not_read(root: Path) -> list[Skip]:
    """List what lies in the folder besides space files, each with what would bring it here."""
    skips = [
        Skip(source_id=f"{LEXON_SPACES}/{path.name}", reason="no space file: its name does not end in .json")
        for path in sorted((root / LEXON_SPACES).iterdir())
        if path.suffix != ".json" or not path.is_file()
    ]
    for path in sorted(root.iterdir()):
        if path.name == "exports":
            skips.append(
                Skip(
                    source_id="exports/",
                    reason="copies of spaces; `hx.spaces.read_file` reads one whose space is gone",
                )
            )
        elif path.name != LEXON_SPACES:
            skips.append(Skip(source_id=path.name + "/" * path.is_dir(), reason="no memory of a space"))
    return skips
