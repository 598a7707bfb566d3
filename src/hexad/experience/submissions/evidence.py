"""Evidence packages: what a submission rests on, as files that anybody can read and check (document 2, section 11.3).

A package is a folder with `timesteps.parquet`, `tags.json`, `windows.json` and `manifest.json`, which has the size and
the SHA-256 of the others, and that of itself. It is made beside its place and then given its name, so that it is whole
or not there.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database import files
from hexad.database.connection import Database
from hexad.database.encryption.store_files import OwnFiles
from hexad.database.file_locks import TimedFlock
from hexad.errors import (
    Conflict,
    HexadError,
    IntegrityError,
    InvalidInput,
    NotFound,
    StorageFailure,
    StoreLocked,
)
from hexad.experience.query.reader import StreamReader
from hexad.experience.submissions.evidence_files import (
    FORMAT,
    MANIFEST,
    VERSION,
    entry_of,
    file_problems,
    manifest_problems,
    read_json,
    read_manifest,
    says_the_same,
    sealed,
    write_json,
)
from hexad.experience.submissions.evidence_rows import EvidenceRows, EvidenceWriter, Mask
from hexad.experience.submissions.submissions import Graftings, check_submission_id
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.comments import Comments
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tag_applications import TagApplications
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.visibility import Sight
from hexad.experience.values.tags import Comment, TagApplication, TagSource
from hexad.experience.values.tiers import Submission, TimeWindow

TIMESTEPS, TAGS, WINDOWS = "timesteps.parquet", "tags.json", "windows.json"
_FILES: Final = (TIMESTEPS, TAGS, WINDOWS)
_LOCK: Final = ".exports.lock"
_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceNeeds:
    """What packages are made of. `mask` takes secrets out of generated tokens, `sight` hides concepts, `version` is
    Hexad's, `own` says which packages are sealed.
    """

    db: Database
    directory: Path
    reader: StreamReader
    graftings: Graftings
    mask: Mask
    sight: Sight
    version: str
    own: OwnFiles


class EvidencePackages:
    """Writes and checks the packages of one store's submissions."""

    def __init__(self, needs: EvidenceNeeds) -> None:
        self._needs, self._db, self._own = needs, needs.db, needs.own
        self._sessions, self._gone = Sessions(needs.db), ColdRanges(needs.db)
        self._tags, self._applications, self._comments = (
            Tags(needs.db),
            TagApplications(needs.db),
            Comments(needs.db),
        )
        self._writer = EvidenceWriter(
            needs.reader,
            self._sessions,
            mask=needs.mask,
            visible=lambda concept: needs.sight.sees_all([concept]),
            own=needs.own,
        )

    # Writing ----------------------------------------------------------------------------------------------------

    def export(self, submission_id: str, out: Path | str | None = None) -> Path:
        """Write the package of a submission and return its folder; one that says the same already stays as it is.

        Its files are sealed in the folder of an encrypted store, and plain in a place that the caller names outside.
        Raises `NotFound`, `Conflict` when the evidence is COLD, or `out` is something else than its package.
        """
        submission = self._needs.graftings.get(submission_id)
        path = self._default(submission.id) if out is None else _place(out)
        if out is None:
            self._db.require_writable()
        self._check_place(path, submission)
        files.ensure_dir(path.parent)
        with self._alone():
            self._finish(path)
            self._check_place(path, submission)
            self._check_there(submission, path)
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
            try:
                files.ensure_dir(temporary)
                self._write(temporary, submission)
                self._check_there(submission, path)
                self._place(temporary, path)
            finally:
                files.remove_tree(temporary)
        return path

    def has(self, submission_id: str) -> bool:
        """Whether the store's own folder has a package of a submission, or what is left of making one."""
        path = self._default(submission_id)
        return path.is_dir() or _aside(path).is_dir()

    def erase(self, submission_id: str) -> int | None:
        """Remove a submission's package from the store's own folder, and make it again of what is left of the
        evidence, where all of that is in full detail. Returns how many bytes were removed, None without a package.
        """  # fmt: skip
        path = self._default(submission_id)
        if not path.parent.is_dir():
            return None
        with self._alone():
            self._finish(path)
            if not path.is_dir():
                return None
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            files.remove_tree(path)
        # What cannot be made again is gone: the submission itself, or its evidence is COLD by now.
        with contextlib.suppress(Conflict, NotFound):
            self.export(submission_id)
        return size

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one export at a time change packages of this store."""
        lock = TimedFlock(self._needs.directory.with_name(_LOCK), clock=self._db.clock)
        try:
            if not lock.acquire(_WAIT_S):
                raise StoreLocked(f"Another export has been at work for {_WAIT_S:g} seconds; try again.")
            try:
                yield
            finally:
                lock.release()
        finally:
            lock.close()

    def _default(self, submission_id: str) -> Path:
        return self._needs.directory / submission_id

    def _check_place(self, path: Path, submission: Submission) -> None:
        """Raise `Conflict` for a place that holds anything but a package of this submission."""
        with files.operation("open", path, "look at"):
            there = path.exists()
        if not there or (path.is_dir() and not any(path.iterdir())):
            return
        try:
            known = read_manifest(path, self._own).get("submission")
        except IntegrityError:
            # Of our own folder we know what it was, damaged as it may be.
            known = {"id": submission.id} if path == self._default(submission.id) and path.is_dir() else None
        if not isinstance(known, dict) or known.get("id") != submission.id:
            raise Conflict(
                f"{path} is there and no package of submission {submission.id!r}; give another place."
            )

    def _check_there(self, submission: Submission, path: Path) -> None:
        """Raise `Conflict` unless all of the evidence is in full detail."""
        for window in self._needs.graftings.windows_of(submission.id):
            number = self._sessions.number(window.session_id)
            ticks = (window.start_tick, window.end_tick)
            if number is None or intersection(self._gone.cold(number, ticks), [ticks]):
                kept = f" The package at {path} is as it was." if (path / MANIFEST).exists() else ""
                raise Conflict(
                    f"The evidence of submission {submission.id!r}, which was {submission.status.value}, is not in full"
                    f" detail any more: window {window.id!r} is COLD. Export before it is resolved.{kept}"
                )

    def _write(self, folder: Path, submission: Submission) -> None:
        windows = self._needs.graftings.windows_of(submission.id)
        ranges = _by_session(windows)
        rows = self._writer.write(folder / TIMESTEPS, ranges)
        with self._db.read():
            applications = self._applied(ranges, rows)
            comments = self._said(ranges, rows)
            ids = {application.tag_id for application in applications} | {submission.bud_tag_id}
            tags = self._tags.by_ids(ids)
        write_json(
            folder / TAGS,
            {
                "tags": [tags[tag].to_dict() for tag in sorted(tags)],
                "applications": [application.to_dict() for application in applications],
                "comments": [comment.to_dict() for comment in comments],
            },
            self._own,
        )
        write_json(folder / WINDOWS, {"windows": [_shown(window) for window in windows]}, self._own)
        bud = tags.get(submission.bud_tag_id)
        manifest: dict[str, JSONValue] = {
            "format": FORMAT,
            "version": VERSION,
            "hexad_version": self._needs.version,
            "created_at": format_time(self._db.clock.now()),
            "submission": submission.to_dict(),
            "bud": None if bud is None else bud.to_dict(),
            "windows": [window.id for window in windows],
            "counts": {
                "sessions": len(ranges),
                "windows": len(windows),
                "timesteps": rows.timesteps,
                "tokens": rows.tokens,
                "tag_applications": len(applications),
                "comments": len(comments),
            },
            "files": {name: entry_of(folder / name, self._own) for name in _FILES},
        }
        write_json(folder / MANIFEST, sealed(manifest), self._own)

    def _applied(self, ranges: Mapping[str, Ranges], rows: EvidenceRows) -> list[TagApplication]:
        found = {
            application.id: application
            for session, ticks, events in _places(ranges, rows)
            for application in self._applications.touching(session, ticks, event_ids=events)
        }
        hidden = self._needs.sight.hidden({application.tag_id for application in found.values()})
        shown = (
            application
            for application in found.values()
            if application.tag_id not in hidden or application.source is TagSource.MANUAL
        )
        return sorted(shown, key=lambda application: (application.created_at, application.id))

    def _said(self, ranges: Mapping[str, Ranges], rows: EvidenceRows) -> list[Comment]:
        found = {
            comment.id: comment
            for session, ticks, events in _places(ranges, rows)
            for comment in self._comments.touching(session, ticks, event_ids=events)
        }
        return sorted(found.values(), key=lambda comment: (comment.created_at, comment.id))

    def _place(self, temporary: Path, path: Path) -> None:
        """Give a package its name, unless one that says the same has it; another one goes."""
        if files.publish_dir(temporary, path) or (
            says_the_same(temporary, path, self._own) and not self._problems(path)
        ):
            return
        # A program that is killed before the new one has the name leaves the old one aside: `_finish` puts it back.
        if not (files.publish_dir(path, _aside(path)) and files.publish_dir(temporary, path)):
            raise StorageFailure(f"Something else writes to {path} at the same time; give another place.")
        files.remove_tree(_aside(path))

    @staticmethod
    def _finish(path: Path) -> None:
        """Put back what a program that was killed had moved aside, and remove what it left half done."""
        aside = _aside(path)
        if aside.is_dir() and (path.exists() or not files.publish_dir(aside, path)):
            files.remove_tree(aside)
        half = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.tmp")
        for entry in path.parent.iterdir():
            if half.fullmatch(entry.name):
                files.remove_tree(entry)

    # Checking ---------------------------------------------------------------------------------------------------

    def verify(self, submission_id_or_path: str | Path) -> list[str]:
        """Return what is wrong with a package: missing, changed and extra files, wrong counts; empty when all is well.

        Raises `NotFound` when there is none.
        """
        path = self._found(submission_id_or_path)
        return self._problems(path)

    def _found(self, given: str | Path) -> Path:
        places = [_place(given)]
        if isinstance(given, str):
            with contextlib.suppress(InvalidInput):  # no id, so it is a path
                places.insert(0, self._default(check_submission_id(given)))
        for path in places:
            with files.operation("open", path, "look at"):
                there = path.is_dir()
            if not there and path.name and _aside(path).is_dir() and not self._db.readonly:
                with self._alone():
                    self._finish(path)
            if path.is_dir():
                return path
        if _place(given).is_file():
            raise NotFound(
                f"{str(given)!r} is a file; a package is the folder with all of its files. Give that."
            )
        raise NotFound(f"There is no package {str(given)!r}; `export_submission` makes one.")

    def _problems(self, path: Path) -> list[str]:
        try:
            manifest = read_manifest(path, self._own)
        except IntegrityError as error:
            return [str(error)]
        problems = manifest_problems(path, manifest, self._own)
        known = manifest.get("files")
        entries = known if isinstance(known, dict) else {}
        for name in _FILES:
            problems += file_problems(path / name, entries.get(name), self._own)
        here = {entry.name for entry in path.iterdir()}
        extra = sorted(here - {*_FILES, MANIFEST})
        problems += [f"{name} does not belong to the package." for name in extra]
        if not problems:
            problems = self._count_problems(path, manifest)
        return problems

    def _count_problems(self, path: Path, manifest: Mapping[str, JSONValue]) -> list[str]:
        try:
            timesteps, tokens = self._writer.count(path / TIMESTEPS)
            tags, windows = (read_json(path / name, self._own) for name in (TAGS, WINDOWS))
        except HexadError as error:
            return [str(error)]
        shown = cast("Sequence[Mapping[str, JSONValue]]", windows.get("windows", ()))
        found = {
            "sessions": len({record["session_id"] for record in shown}),
            "windows": len(shown),
            "timesteps": timesteps,
            "tokens": tokens,
            "tag_applications": len(cast("Sequence[object]", tags.get("applications", ()))),
            "comments": len(cast("Sequence[object]", tags.get("comments", ()))),
        }
        told = manifest.get("counts")
        counts = told if isinstance(told, dict) else {}
        return [
            f"{MANIFEST} says {counts.get(name)!r} {name}, there are {number}."
            for name, number in found.items()
            if counts.get(name) != number
        ]


def _place(given: Path | str) -> Path:
    if not isinstance(given, str | Path) or not str(given) or "\0" in str(given):
        raise InvalidInput(f"{given!r} is no path of a folder.")
    return Path(given).absolute()


def _by_session(windows: Sequence[TimeWindow]) -> dict[str, Ranges]:
    ranges: dict[str, list[tuple[int, int]]] = {}
    for window in windows:
        ranges.setdefault(window.session_id, []).append((window.start_tick, window.end_tick))
    return {session: union(ranges[session]) for session in sorted(ranges)}


def _places(
    ranges: Mapping[str, Ranges], rows: EvidenceRows
) -> Iterator[tuple[str, tuple[int, int], Sequence[str]]]:
    """Yield session and ticks of each range; with the first of a session its events, which are looked for once."""
    for session, some in ranges.items():
        for at, ticks in enumerate(some):
            yield session, ticks, () if at else rows.events.get(session, ())


def _shown(window: TimeWindow) -> dict[str, JSONValue]:
    """Return a window without what changes after it was submitted."""
    keys = ("id", "session_id", "start_tick", "end_tick", "start_time", "end_time", "token_count")
    told = window.to_dict()
    return {key: told[key] for key in keys}


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before.tmp")
