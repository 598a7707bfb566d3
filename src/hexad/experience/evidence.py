"""Evidence packages: what a submission rests on, as files that anybody can read and check (document 2, section 11.3).

A package is a folder with `timesteps.parquet`, `tags.json`, `windows.json` and `manifest.json`, which has the size and
the SHA-256 of the others, and that of itself. It is made beside its place and then given its name, so that it is whole
or not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from hexad.core.arguments import json_fault
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.core.version import __version__
from hexad.database import files
from hexad.database.encryption.cipher import EXPORTS
from hexad.database.encryption.store_files import StoreFiles, own_files
from hexad.database.file_locks import TimedFlock
from hexad.database.store_context import StoreContext
from hexad.errors import (
    Conflict,
    HexadError,
    IntegrityError,
    InvalidInput,
    NotFound,
    StorageFailure,
    StoreLocked,
)
from hexad.experience.query.reader import StepSelection, StreamReader
from hexad.experience.stream.duckdb_engine import quoted
from hexad.experience.stream.frames import ENDS, STARTS
from hexad.experience.stream.rows import OUTPUT
from hexad.experience.submissions import Submissions, check_submission_id
from hexad.experience.tables.annotations import Comments, TagApplications
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.visibility import ConceptVisibility
from hexad.experience.values.records import KINDS, StepQuery
from hexad.experience.values.tags import Comment, TagApplication, TagSource
from hexad.experience.values.tiers import Submission, TimeWindow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Mask = Callable[[list[list[str]]], Iterable[tuple[int, list[str]]]]
"""From answers, as tokens, to those of them that may not be shown as they are: which it is, and its new tokens."""

_PROVISIONAL: Final = 3_000_000_000
_MASK_MARGIN_TICKS: Final = 4_096
"""A secret that a range cuts in two is found with so much of what stands around it."""
_ROWS: Final = (
    "SELECT 'ts-' || n.id || '-' || s.tick AS id, n.id AS session_id, s.tick AS tick,"
    ' make_timestamp(s.ts) AS "timestamp", k.word AS event_type, coalesce(m.content, s.content) AS content,'
    " map_from_entries(list_filter(list_zip(list_transform(s.concepts, lambda one: getvariable('concepts')["
    "CASE WHEN one >= {provisional} THEN one - {provisional} + {known} ELSE one END + 1]), s.scores),"
    " lambda one: one[1] IS NOT NULL)) AS concept_activations, s.event AS event_id,"
    " s.flags & {starts} <> 0 AS event_start, s.flags & {ends} <> 0 AS event_end, s.token AS token_id, s.role AS role,"
    " s.tokens AS token_count FROM (SELECT * {steps}) s JOIN names n ON n.no = s.session JOIN kinds k ON k.no = s.kind"
    " LEFT JOIN masked m ON m.session = s.session AND m.tick = s.tick ORDER BY n.id, s.tick"
)
_PARQUET: Final = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 122880"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRows:
    """What a file of timesteps holds."""

    timesteps: int
    tokens: int
    events: Mapping[str, Sequence[str]]  # by session: the events that have a timestep in it


class EvidenceWriter:
    """Writes timesteps of the stream into files of their own."""

    def __init__(
        self,
        reader: StreamReader,
        sessions: Sessions,
        *,
        mask: Mask,
        visible: Callable[[str], bool],
        own: StoreFiles,
    ) -> None:
        self._reader, self._sessions, self._mask, self._visible = reader, sessions, mask, visible
        self._own = own

    def write(self, path: Path, ranges: Mapping[str, Ranges]) -> EvidenceRows:
        """Write the timesteps of ranges of ticks by session, in that order, without secrets and without
        concepts that are not visible; durable on return.

        `path` must not be there yet; whether it is sealed its place says. Returns what was in full detail.
        """
        masked = self._masked_texts(ranges)
        temporary = path.with_name(f"{path.name}.tmp")
        sealed = self._own.cipher_at(path) is not None
        to = quoted(self._reader.engine.export_name(temporary, sealed=sealed))

        def copy(selection: StepSelection) -> EvidenceRows:
            if selection.steps is None:
                raise StorageFailure(f"Nothing of it is in the stream any more; {path} was not written.")
            sql = self._statement(selection, ranges, masked)
            with files.operation("write", temporary, "write"):
                selection.cursor.execute(f"COPY ({sql}) TO '{to}' ({_PARQUET})", list(selection.params))
            return _row_counts(selection)

        rows = self._reader.ask(StepQuery(tagged=ranges), copy)
        files.publish(temporary, path)
        return rows

    def count(self, path: Path) -> tuple[int, int]:
        """Return how many timesteps and tokens a file of timesteps holds; raises `IntegrityError` for what is none."""
        try:
            name = self._reader.engine.export_name(path, sealed=self._own.opens(path) is not None)
            with self._reader.engine.cursor(path) as cursor:
                row = cursor.execute(
                    "SELECT count(*), coalesce(sum(token_count), 0) FROM read_parquet(?, hive_partitioning = false)",
                    [name],
                ).fetchone()
        except StorageFailure as error:
            raise IntegrityError(str(error)) from error
        assert row is not None
        return int(row[0]), int(row[1])

    def _statement(
        self, selection: StepSelection, ranges: Mapping[str, Ranges], masked: Mapping[tuple[int, int], str]
    ) -> str:
        """Give the cursor the words that numbers stand for, and return the statement."""
        import numpy as np

        used = selection.cursor.execute(
            f"SELECT DISTINCT unnest(concepts) FROM (SELECT concepts {selection.steps})",
            list(selection.params),
        ).fetchall()
        numbers = sorted(int(row[0]) for row in used)
        known = max((number for number in numbers if number < _PROVISIONAL), default=-1) + 1
        unknown = max((number - _PROVISIONAL for number in numbers if number >= _PROVISIONAL), default=-1) + 1
        words: list[str | None] = [None] * (known + unknown)
        for number in numbers:
            concept = selection.concepts.id(number)
            if self._visible(concept):
                words[number - _PROVISIONAL + known if number >= _PROVISIONAL else number] = concept
        selection.cursor.execute("SET VARIABLE concepts = CAST(? AS VARCHAR[])", [words])
        sessions = {self._sessions.number(session): session for session in ranges}
        selection.cursor.register(
            "names", _words("id", {no: session for no, session in sessions.items() if no is not None})
        )
        selection.cursor.register(
            "kinds", _words("word", {code: kind.value for code, kind in enumerate(KINDS)})
        )
        selection.cursor.register(
            "masked",
            {
                "session": np.array([session for session, _ in masked], np.uint32),
                "tick": np.array([tick for _, tick in masked], np.int64),
                "content": _texts(masked.values()),
            },
        )
        return _ROWS.format(
            provisional=_PROVISIONAL, known=known, starts=STARTS, ends=ENDS, steps=selection.steps
        )

    def _masked_texts(self, ranges: Mapping[str, Ranges]) -> dict[tuple[int, int], str]:
        """Return, by session and tick, the texts that may not be shown as they are, and what is shown."""
        return dict(
            replacement for session, some in ranges.items() for replacement in self._masked_in(session, some)
        )

    def _masked_in(self, session: str, ranges: Ranges) -> Iterator[tuple[tuple[int, int], str]]:
        around = union((first - _MASK_MARGIN_TICKS, last + _MASK_MARGIN_TICKS) for first, last in ranges)
        question = StepQuery(
            session_id=session,
            ticks=(around[0][0], around[-1][1]),
            tagged={session: around},
        )
        rows = self._reader.ask(question, _answers)
        for which, tokens in self._mask([row[3] for row in rows]):
            number, _, places, before = rows[which]
            for tick, token, was in zip(places, tokens, before, strict=True):
                if token != was:
                    yield (int(number), int(tick)), token


def _row_counts(selection: StepSelection) -> EvidenceRows:
    totals = selection.cursor.execute(
        f"SELECT count(*), coalesce(sum(tokens), 0) FROM (SELECT tokens {selection.steps})",
        list(selection.params),
    ).fetchone()
    named = selection.cursor.execute(
        f"SELECT DISTINCT n.id, s.event FROM (SELECT session, event {selection.steps}) s"
        " JOIN names n ON n.no = s.session WHERE s.event IS NOT NULL ORDER BY ALL",
        list(selection.params),
    ).fetchall()
    assert totals is not None
    events: dict[str, list[str]] = {}
    for session, event in named:
        events.setdefault(session, []).append(event)
    return EvidenceRows(timesteps=int(totals[0]), tokens=int(totals[1]), events=events)


def _answers(selection: StepSelection) -> list[tuple[Any, ...]]:
    """Return what secrets may be spread over, in order: answers, and events of several timesteps, by session, event
    and type.
    """  # fmt: skip
    if selection.steps is None:
        return []
    return selection.cursor.execute(
        "SELECT session, event, list(tick ORDER BY tick), list(content ORDER BY tick)"
        f" FROM (SELECT session, event, kind, tick, content {selection.steps})"
        f" WHERE kind = {OUTPUT} OR event IS NOT NULL"
        f" GROUP BY session, event, kind HAVING kind = {OUTPUT} OR count(*) > 1",
        list(selection.params),
    ).fetchall()


def _words(key: str, words: Mapping[int, str]) -> dict[str, NDArray[Any]]:
    import numpy as np

    return {"no": np.array(list(words), np.int64), key: _texts(words.values())}


def _texts(texts: Iterable[str]) -> NDArray[np.object_]:
    import numpy as np

    values = list(texts)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


FORMAT: Final = "hexad.evidence"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
_SHA256: Final = "sha256"
_CHANGING: Final = ("created_at", "hexad_version", _SHA256)
_JSON_BYTES_LIMIT: Final = 1 << 30


def write_json(path: Path, value: Mapping[str, JSONValue], own: StoreFiles) -> None:
    """Write an object as a file, durably; what `own` says of its place, it is sealed or not."""
    own.write(path, json_bytes(value))


def json_bytes(value: Mapping[str, JSONValue]) -> bytes:
    """Return the bytes that an object is written as."""
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "surrogatepass")


def sealed(manifest: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a manifest with the SHA-256 of its text as it would be without it."""
    document = {key: value for key, value in manifest.items() if key != _SHA256}
    return {**document, _SHA256: hashlib.sha256(json_bytes(document)).hexdigest()}


def read_json(path: Path, own: StoreFiles) -> dict[str, JSONValue]:
    """Return the object in a file; raises `IntegrityError` for a file that holds none."""
    if not path.exists():
        raise IntegrityError(f"{path.name} is missing.")
    try:
        if own.size(path) > _JSON_BYTES_LIMIT:
            raise IntegrityError(f"{path.name} has {own.size(path):,} bytes; no package's has so many.")
        document = json.loads(own.read(path))
    except (OSError, StorageFailure, ValueError, RecursionError) as error:
        raise IntegrityError(f"{path.name} cannot be read: {json_fault(error)}.") from error
    if not isinstance(document, dict):
        raise IntegrityError(f"{path.name} holds no object.")
    return document


def read_manifest(path: Path, own: StoreFiles) -> dict[str, JSONValue]:
    """Return the manifest in a folder; raises `IntegrityError` where there is none of this version."""
    manifest = read_json(path / MANIFEST, own)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise IntegrityError(f"{MANIFEST} is of no evidence package that this version can read.")
    return manifest


def manifest_problems(path: Path, manifest: Mapping[str, JSONValue], own: StoreFiles) -> list[str]:
    """Return what is wrong with the text of a manifest, every byte of it; empty when nothing is."""
    if own.read(path / MANIFEST) == json_bytes(sealed(manifest)):
        return []
    return [f"{MANIFEST} was changed: its SHA-256 is not that of what it says."]


def entry_of(path: Path, own: StoreFiles) -> dict[str, JSONValue]:
    """Return what a manifest says of a file: of its content, whether it is sealed or not."""
    return {"bytes": own.size(path), "sha256": own.sha256(path)}


def file_problems(path: Path, entry: JSONValue, own: StoreFiles) -> list[str]:
    """Return what is wrong with a file, by what a manifest told of it."""
    if not isinstance(entry, dict):
        return [f"{MANIFEST} says nothing of {path.name}."]
    if path.is_symlink() or not path.is_file():
        return [f"{path.name} is missing."]
    try:
        actual = entry_of(path, own)
    except (IntegrityError, StorageFailure) as error:
        return [f"{path.name} cannot be read: {error}"]
    if actual != entry:
        return [f"{path.name} was changed: its SHA-256 or its size is not that of {MANIFEST}."]
    return []


def says_the_same(new: Path, old: Path, own: StoreFiles) -> bool:
    """Whether two packages tell the same, whenever and by whichever version they were written."""
    try:
        mine, theirs = read_manifest(new, own), read_manifest(old, own)
    except IntegrityError:
        return False
    return all(mine.get(key) == theirs.get(key) for key in {*mine, *theirs} - {*_CHANGING})


TIMESTEPS, TAGS, WINDOWS = "timesteps.parquet", "tags.json", "windows.json"
_FILES: Final = (TIMESTEPS, TAGS, WINDOWS)
_LOCK: Final = ".exports.lock"
_WAIT_S: Final = 60.0


class EvidencePackages:
    """Writes and checks the packages of one store's submissions."""

    def __init__(
        self,
        context: StoreContext,
        *,
        reader: StreamReader,
        submissions: Submissions,
        mask: Mask,
        visibility: ConceptVisibility,
    ) -> None:
        """`mask` takes secrets out of generated tokens, `visibility` hides concepts."""
        self._db, self._directory = context.db, context.directory / "exports"
        self._own = own_files(context.directory, context.crypt, EXPORTS)
        self._submissions, self._visibility = submissions, visibility
        self._sessions, self._departed = Sessions(context.db), ColdRanges(context.db)
        self._tags, self._applications, self._comments = (
            Tags(context.db),
            TagApplications(context.db),
            Comments(context.db),
        )
        self._writer = EvidenceWriter(
            reader,
            self._sessions,
            mask=mask,
            visible=lambda concept: visibility.sees_all([concept]),
            own=self._own,
        )

    # Writing ----------------------------------------------------------------------------------------------------

    def export(self, submission_id: str, out: Path | str | None = None) -> Path:
        """Write the package of a submission and return its folder; one that says the same already stays as it is.

        Its files are sealed in the folder of an encrypted store, and plain in a place that the caller names outside.
        Raises `NotFound`, `Conflict` when the evidence is COLD, or `out` is something else than its package.
        """
        submission = self._submissions.get(submission_id)
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
        lock = TimedFlock(self._directory.with_name(_LOCK), clock=self._db.clock)
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
        return self._directory / submission_id

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
        for window in self._submissions.windows_of(submission.id):
            number = self._sessions.number(window.session_id)
            ticks = (window.start_tick, window.end_tick)
            if number is None or intersection(self._departed.cold(number, ticks), [ticks]):
                note = f" The package at {path} is as it was." if (path / MANIFEST).exists() else ""
                raise Conflict(
                    f"The evidence of submission {submission.id!r}, which was {submission.status.value}, is not in full"
                    f" detail any more: window {window.id!r} is COLD. Export before it is resolved.{note}"
                )

    def _write(self, folder: Path, submission: Submission) -> None:
        windows = self._submissions.windows_of(submission.id)
        ranges = _by_session(windows)
        rows = self._writer.write(folder / TIMESTEPS, ranges)
        with self._db.read():
            applications = self._applications_in(ranges, rows)
            comments = self._comments_in(ranges, rows)
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
        write_json(folder / WINDOWS, {"windows": [_window_json(window) for window in windows]}, self._own)
        bud = tags.get(submission.bud_tag_id)
        manifest: dict[str, JSONValue] = {
            "format": FORMAT,
            "version": VERSION,
            "hexad_version": __version__,
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

    def _applications_in(self, ranges: Mapping[str, Ranges], rows: EvidenceRows) -> list[TagApplication]:
        applications = {
            application.id: application
            for session, ticks, events in _places(ranges, rows)
            for application in self._applications.touching(session, ticks, event_ids=events)
        }
        hidden = self._visibility.hidden({application.tag_id for application in applications.values()})
        shown = (
            application
            for application in applications.values()
            if application.tag_id not in hidden or application.source is TagSource.MANUAL
        )
        return sorted(shown, key=lambda application: (application.created_at, application.id))

    def _comments_in(self, ranges: Mapping[str, Ranges], rows: EvidenceRows) -> list[Comment]:
        comments = {
            comment.id: comment
            for session, ticks, events in _places(ranges, rows)
            for comment in self._comments.touching(session, ticks, event_ids=events)
        }
        return sorted(comments.values(), key=lambda comment: (comment.created_at, comment.id))

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
        path = self._package_path(submission_id_or_path)
        return self._problems(path)

    def _package_path(self, value: str | Path) -> Path:
        places = [_place(value)]
        if isinstance(value, str):
            with contextlib.suppress(InvalidInput):  # no id, so it is a path
                places.insert(0, self._default(check_submission_id(value)))
        for path in places:
            with files.operation("open", path, "look at"):
                there = path.is_dir()
            if not there and path.name and _aside(path).is_dir() and not self._db.readonly:
                with self._alone():
                    self._finish(path)
            if path.is_dir():
                return path
        if _place(value).is_file():
            raise NotFound(
                f"{str(value)!r} is a file; a package is the folder with all of its files. Give that."
            )
        raise NotFound(f"There is no package {str(value)!r};", remedy="`{export_submission}` makes one.")

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
        actual_counts = {
            "sessions": len({record["session_id"] for record in shown}),
            "windows": len(shown),
            "timesteps": timesteps,
            "tokens": tokens,
            "tag_applications": len(cast("Sequence[object]", tags.get("applications", ()))),
            "comments": len(cast("Sequence[object]", tags.get("comments", ()))),
        }
        stated_counts = manifest.get("counts")
        counts = stated_counts if isinstance(stated_counts, dict) else {}
        return [
            f"{MANIFEST} says {counts.get(name)!r} {name}, there are {number}."
            for name, number in actual_counts.items()
            if counts.get(name) != number
        ]


def _place(path: Path | str) -> Path:
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InvalidInput(f"{path!r} is no path of a folder.")
    return Path(path).absolute()


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


def _window_json(window: TimeWindow) -> dict[str, JSONValue]:
    """Return a window without what changes after it was submitted."""
    keys = ("id", "session_id", "start_tick", "end_tick", "start_time", "end_time", "token_count")
    document = window.to_dict()
    return {key: document[key] for key in keys}


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before.tmp")
