"""`hx.spaces`: named containers of memories, what their owners decided about them, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import (
    all_flags_checked,
    join_pairs,
    json_fault,
    parse_choice,
    parse_time,
    quoted,
)
from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.json_types import JSONValue
from hexad.core.retry import TryAgain, retry
from hexad.core.tracing import before_span
from hexad.database.encryption.cipher import EXPORTS
from hexad.database.encryption.store_files import own_files
from hexad.database.files import remove_abandoned, unlink
from hexad.database.sqlite_errors import all_failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import AccessDenied, Conflict, HexadError, InvalidInput, InvalidSpace, NotFound
from hexad.memory.memory import Relevance, Trust
from hexad.memory.policy import Policies, audience, check_names, parse_policies, parse_stored
from hexad.memory.source import Skip
from hexad.memory.space import DeleteReport, GcReport, SpaceInfo
from hexad.memory.store import Stores
from hexad.memory.tables.spaces import Space, SpaceSummaries, SpaceSummary
from hexad.memory.tables.visibility import JudgedRow
from hexad.providers.spending import BudgetLine
from hexad.spaces.access import require_whole
from hexad.spaces.files.document import space_document, space_file, write_space_file
from hexad.spaces.files.reader import (
    LEXON_SPACES,
    POLICIES_OF_AN_EXPORT,
    ParsedSpace,
    depth,
    find_lexon_folder,
    list_unread,
    load_json,
    parse_space,
    read_json,
    rename,
    without_a_say,
)
from hexad.spaces.files.report import ExportReport, FolderReport, ReadReport, RestoreReport, Verified
from hexad.spaces.files.signed_export import FORMAT, verify_export, write_export
from hexad.spaces.retention import PURGE_BATCH, GcOptions, Purger, RetentionService
from hexad.text.paths import space_file_name, validate_space

if TYPE_CHECKING:
    from hexad.spaces.files.importer import SpaceImporter

_ATTEMPTS: Final = 3
"""How often a space is made or emptied anew because somebody else made or deleted it at the same moment."""
_SUMMARIES: Final = "./"
"""Source id under which an ingest keeps its summary of a folder."""
_FORMATS: Final = ("lexon",)
_PLACEHOLDER: Final = "<space>"
OBJECT_BYTES_LIMIT: Final = 64 << 10
"""Largest metadata or policy of a space."""
OBJECT_DEPTH_LIMIT: Final = 50
"""How deep lists and objects may stand in each other there; the file of a space, around them, has a few levels more."""


def given_object(value: Mapping[str, JSONValue] | str, what: str) -> dict[str, JSONValue]:
    """Return an object that a caller gave, itself or as JSON; raises `InvalidSpace`."""
    example = '{"owner": "docs"}' if what == "metadata" else '{"ttl_days": 30}'
    value_object: object = value
    if isinstance(value, str):
        try:
            value_object = read_json(value)
        except ValueError as error:
            raise InvalidSpace(
                f"Invalid space {what}: {json_fault(error)}; give an object, such as {example}."
            ) from error
    if not isinstance(value_object, Mapping):
        raise InvalidSpace(f"Invalid space {what} {quoted(value_object)}: give an object, such as {example}.")
    try:
        text = join_pairs(json.dumps(dict(value_object), allow_nan=False, ensure_ascii=False))
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidSpace(
            f"Invalid space {what}: it holds half a character, {error.object[error.start]!r}; give whole characters."
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSpace(f"Invalid space {what}: {json_fault(error)}; give what JSON can hold.") from error
    if size > OBJECT_BYTES_LIMIT:
        raise InvalidSpace(
            f"Invalid space {what}: {size:,} bytes are more than the {OBJECT_BYTES_LIMIT:,} it may have."
        )
    copy: dict[str, JSONValue] = json.loads(text)
    if depth(copy, OBJECT_DEPTH_LIMIT) > OBJECT_DEPTH_LIMIT:
        raise InvalidSpace(
            f"Invalid space {what}: its lists and objects stand in each other more than {OBJECT_DEPTH_LIMIT} deep; "
            "make it flatter."
        )
    return copy


@all_failures_translated
@all_flags_checked
class SpacesFacade:
    """Creates, lists, describes, governs, empties and deletes spaces; writes and reads them as files."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        *,
        audit: AuditSink,
        purger: Purger,
        retention: RetentionService,
        importer: Callable[[], SpaceImporter],
        check_policy: Callable[[Mapping[str, JSONValue]], None],
        spent: Callable[[str | None], Sequence[BudgetLine]],
    ) -> None:
        """`importer` needs the write path and is loaded when first asked for."""
        self._context, self._stores, self._audit = context, stores, audit
        self._purger, self._retention, self._importer = purger, retention, importer
        self._check_policy, self._spent = check_policy, spent
        self._own = own_files(context.directory, context.crypt, EXPORTS)
        self._summaries = SpaceSummaries(stores.db, roles=stores.roles)

    def create(
        self,
        name: str,
        metadata: Mapping[str, JSONValue] | str | None = None,
        *,
        reset: bool = False,
        freeze_clock: datetime | str | None = None,
    ) -> SpaceInfo:
        """Create a space, or with `reset` empty the one that is there, so that it is as if new.

        A reset purges every memory of the space, archived ones and their history too, and what is known of its
        sources: the same calls after it give the same bytes, ids that the caller gives included. Its policies stay,
        its metadata unless others are given. `metadata` is an object or JSON; document 1's `{"reset": true}` in it
        means the option and is not stored. Secrets are taken out of it as of every text.

        Raises `Conflict` when the space is there and no reset is asked for, `InvalidSpace` for a bad name or
        metadata, `AccessDenied` where the policy says `allow_delete: false` or hides memories from the actor, and
        for who is not the store's owner where it does not say `allow_delete: true`.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", space="docs", id="d1")
        ...     hx.spaces.create("docs", {"reset": True}).memories
        0
        """
        fields = None if metadata is None else given_object(metadata, "metadata")
        asked = (fields or {}).pop("reset", False)
        if not isinstance(asked, bool):
            raise InvalidSpace(f"Invalid space metadata: 'reset' is {quoted(asked)}; give true or false.")
        at = parse_time(freeze_clock, "freeze_clock") or self._context.clock.now()
        validate_space(name)
        self._stores.spaces.admit(name)

        def attempt() -> None:
            there = self._stores.spaces.find(name)
            if there is None:
                self._importer().refuse_secret_name(name)
                self._make(name, fields, at=at)
            elif not (reset or asked):
                raise Conflict(
                    f"Space {name!r} is there already; choose another name,",
                    remedy="use it as it is, change what is said of it (`{set_metadata}`), or empty it ({reset=True}).",
                )
            else:
                try:
                    self._reset(there, fields, at=at)
                except NotFound:  # somebody deletes it
                    raise TryAgain from None

        retry(
            attempt, times=_ATTEMPTS, failure=lambda: Conflict(f"Space {name!r} comes and goes; try again.")
        )
        return self.get(name)

    def _make(self, name: str, metadata: Mapping[str, JSONValue] | None, *, at: datetime) -> None:
        """Make a space; raises `TryAgain` when somebody else was first."""
        with self._stores.db.transaction():
            if self._stores.spaces.find(name) is not None:
                raise TryAgain
            self._stores.spaces.ensure(name, at=at)
            if metadata:
                self._stores.spaces.set_metadata(name, self._importer().masked(metadata, {}), at=at)

    def list(self) -> Sequence[SpaceInfo]:
        """Return all spaces that the actor may see, by name, each with a summary of what is in it."""
        with self._stores.db.read():
            summaries = self._summaries.of()
            return [self._info(space, summaries.get(space.no)) for space in self._stores.spaces.list()]

    def get(self, name: str) -> SpaceInfo:
        """Return one space with a summary of what is in it; raises `NotFound`."""
        with self._stores.db.read():
            space = self._stores.spaces.get(name)
            return self._info(space, self._summaries.of(space.no).get(space.no))

    def set_metadata(
        self, name: str, metadata: Mapping[str, JSONValue] | str, *, merge: bool = False
    ) -> SpaceInfo:
        """Set the metadata of a space that is there, and return it; `merge` changes only what is given.

        `metadata` is an object or JSON; with `merge`, null takes a name out. `project` is that of what is written into
        the space from then on, and joins the space to that project's `use_context`. Secrets are taken out as of every
        text. Raises `InvalidSpace` for what cannot be stored, `NotFound`, and `AccessDenied` for an actor who may not
        see the whole space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="docs")
        ...     hx.spaces.set_metadata("docs", {"project": "shop"}).metadata
        {'project': 'shop'}
        """
        fields = given_object(metadata, "metadata")
        if "reset" in fields:
            raise InvalidSpace(
                "Invalid space metadata 'reset': it empties a space where one is created; use another name."
            )
        at = self._context.clock.now()
        with self._stores.db.transaction():
            space = self._stores.spaces.get(name)
            require_whole(self._context.actor, parse_stored(space.policies), space=name, doing="its metadata")
            if merge:
                fields = {
                    key: value for key, value in {**space.metadata, **fields}.items() if value is not None
                }
                fields = given_object(fields, "metadata")
            masked = self._importer().masked(fields, space.policies)
            self._stores.spaces.set_metadata(name, masked, at=at)
            self._audit.record(
                AuditEvent(what="set_metadata", at=at, detail={"space": name, "names": sorted(masked)})
            )
        return self.get(name)

    def budget(self, name: str | None = None) -> Sequence[BudgetLine]:
        """Return what calls to models may cost a space (None: the project), what they have cost, and what is left.

        The first line is about all providers together; one for each provider that has a cap or was used follows.
        Raises `NotFound`, and `AccessDenied` for an actor who may not see the whole space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.spaces.create("docs")
        ...     _ = hx.spaces.set_policy("docs", {"budget": {"usd": 5.0, "period": "month"}})
        ...     [(line.cap_usd, line.left_usd, line.period.value) for line in hx.spaces.budget("docs")]
        [(5.0, 5.0, 'month')]
        """
        if name is not None:
            policies = parse_stored(self._stores.spaces.get(name).policies)
            require_whole(self._context.actor, policies, space=name, doing="its budget")
        return self._spent(name)

    def set_policy(
        self, name: str, policy: Mapping[str, JSONValue] | str, *, merge: bool = False
    ) -> SpaceInfo:
        """Replace a space's policy, or with `merge` only what is given; None takes a setting back.

        `policy` is an object or JSON. Who may see what holds for the memories that are there from the moment this
        returns; redaction and auto-pin rules hold for what is written from then on. `docs/spaces.md` names every
        setting. Raises `InvalidSpace` for a value that cannot be used, with its place, `NotFound`, and
        `AccessDenied` for an actor who may not see the whole space, or would set what others may see.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.spaces.create("docs")
        ...     hx.spaces.set_policy("docs", {"ttl_days": 30, "allow_delete": True}).policies
        {'allow_delete': True, 'ttl_days': 30}
        """
        fields = given_object(policy, "policy")
        at = self._context.clock.now()
        with self._stores.db.transaction():
            space = self._stores.spaces.get(name)
            check_names(key for key in fields if key not in space.policies)
            written = {**space.policies, **fields} if merge else fields
            written = {key: value for key, value in written.items() if value is not None}
            old, new = parse_stored(space.policies), parse_policies(written)
            self._check_policy(written)
            for policies in (old, new):
                require_whole(self._context.actor, policies, space=name, doing="its policy")
            self._stores.spaces.set_policies(name, written, at=at)
            changed = self._show_to_whom_it_concerns(space, old, new)
            self._audit.record(
                AuditEvent(
                    what="set_policy",
                    at=at,
                    detail={"space": name, "settings": sorted(written), "audiences_changed": changed},
                )
            )
        return self.get(name)

    def gc(
        self,
        name: str,
        *,
        ttl_days: float | None = None,
        dry_run: bool = False,
        purge: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> GcReport:
        """Archive the memories of a space whose time is over, and purge what was archived for long enough.

        A memory's age counts from its last change; pinned ones stay. `ttl_days` takes the place of the policy's
        setting of that name this once; `retention` rules stay as they are. What gc archived can be restored until
        `purge_after_days` have passed, or is purged at once with `purge`. `dry_run` only says what would happen.
        `progress` is told how many memories are done.

        Raises `AccessDenied` unless the policy allows deletion and something has a lifetime, and `NotFound`.

        >>> from datetime import timedelta
        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None, clock=hexad.FrozenClock(), background=False) as hx:
        ...     _ = hx.remember("Standup moved to ten.", space="news", id="n1")
        ...     _ = hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
        ...     hx.clock.advance(days=31)
        ...     hx.spaces.gc("news").archived, hx.get("n1").status.value
        (1, 'archived')
        """
        with before_span("gc"):
            ttl = None if ttl_days is None else parse_policies({"ttl_days": ttl_days}).ttl
            space = self._stores.spaces.get(name)
            require_whole(self._context.actor, parse_stored(space.policies), space=name, doing="gc")
            if not dry_run:
                self._stores.db.require_writable()
        options = GcOptions(ttl=ttl, dry_run=dry_run, purge=purge, progress=progress)
        return self._retention.gc(name, options, at=self._context.clock.now())

    def delete(self, name: str, *, dry_run: bool = False) -> DeleteReport:
        """Purge a space: its memories of every status with their history, its sources, conversations and policies.

        What models cost it stays in the books, and exports stay where they are; the report names those found.
        `dry_run` only says what would go. Raises `AccessDenied` unless the policy says `allow_delete: true`, and
        `NotFound`.
        """
        space = self._stores.spaces.get(name)
        require_whole(self._context.actor, parse_stored(space.policies), space=name, doing="delete")
        file = space_file(self._context.directory / "spaces", name)
        report = DeleteReport(
            space=name,
            dry_run=dry_run,
            memories=self._stores.purges.count_of_space(space.no),
            links_lost=self._stores.purges.links_from_elsewhere(space.no),
            file_removed=file.exists(),
            exports_left=tuple(map(str, self._exports(space))),
        )
        if dry_run:
            return report
        self._stores.db.require_writable()
        self._refuse_delete(space)
        # Before the memories: were it the other way round, a crash would leave their texts in a file that no space
        # names. The store is the truth, and the file can be written again.
        self._remove_file(file)
        self._empty(
            space, "delete", at=self._context.clock.now(), may=self._refuse_delete, finish=self._remove
        )
        if self._stores.spaces.find(name) is None:  # somebody may have written the file meanwhile
            self._remove_file(file)
        remove_abandoned(space_file(self._context.directory / "exports", name))
        return report

    # Spaces as files --------------------------------------------------------------------------------------------

    def write_file(self, name: str, *, progress: Callable[[int], None] | None = None) -> Path:
        """Write the space as `spaces/<name>.json` in the store's folder and return the path.

        The same state gives the same bytes. `progress` is told how many objects are written. A reader of the file
        sees all of the old one or all of the new. In an encrypted store it is sealed: `hexad cat` shows it. Raises
        `NotFound`, and `AccessDenied` for an actor who may not see the whole space.

        >>> import hexad, json
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", space="docs", id="d1")
        ...     [memory["id"] for memory in json.loads(hx.spaces.write_file("docs").read_text())["objects"]]
        ['d1']
        """
        self._stores.db.require_writable()
        with self._stores.db.read():
            space = self._whole(name, "its file")
            path = space_file(self._context.directory / "spaces", name)
            write_space_file(path, space_document(self._stores, space), own=self._own, step=progress)
        if self._stores.spaces.find(name) is None:  # deleted meanwhile, with the file that was there then
            unlink(path)
            self._stores.spaces.get(name)
        return path

    def read_file(
        self,
        file: str | Path,
        *,
        name: str | None = None,
        dry_run: bool = False,
        trust: Trust | str | None = None,
        policies: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ReadReport:
        """Merge a space's file, Hexad's or Lexon's, into its space, or into the space `name`; by id.

        A newer object changes its memory, an older one does not, and one that differs though it was changed at the
        same time is a conflict: the store's stays, and the report names it. What Hexad does not know is kept and
        written back. Metadata, who may see what (`roles`, `visibility`), and with `policies` the file's other
        policies are set in a space that has none of these and no memory; without it the report says which were left
        out. What the file brings is trusted as it says, and no more than `trust`. `progress` is told how many objects
        are ready to be stored.

        Raises `InvalidSpace` for a file that is damaged or holds what cannot be stored, with line and column or
        object and field, `Conflict` for an id that another space has, `NotFound` for a file that is not there;
        then nothing was stored.
        """
        path = Path(file)
        document = load_json(path, self._own)
        if isinstance(document, Mapping) and document.get("format") == FORMAT:
            raise InvalidInput(f"{path} is a signed export; `restore` verifies it and brings its space back.")
        parsed = parse_space(document, file=path, renamed=name is not None)
        return self._read(
            replace(parsed, trust=_trust_limit(trust), takes_policies=policies),
            name,
            dry_run=dry_run,
            progress=progress,
        )

    def read_folder(
        self,
        folder: str | Path,
        *,
        format: str = "lexon",
        trust: Trust | str | None = None,
        policies: bool = False,
    ) -> FolderReport:
        """Read every space file of another program's folder: `.lexon`, or the project that it lies in.

        Each file goes into the space that it names. One that cannot be read is in the report and stops no other;
        so is what else lies in the folder. A second run changes nothing. `trust` and `policies` are as for `read_file`.
        Raises `NotFound` for a folder without space files.
        """
        if format not in _FORMATS:
            raise InvalidInput(f"Format {quoted(format)} is not known; there is {' and '.join(_FORMATS)}.")
        limit, root = _trust_limit(trust), find_lexon_folder(Path(folder))
        reports: list[ReadReport] = []
        failed: list[Skip] = []
        for path in sorted((root / LEXON_SPACES).iterdir()):
            if path.suffix != ".json" or not path.is_file():
                continue
            try:
                report = self.read_file(path, trust=limit, policies=policies)
            except HexadError as error:
                failed.append(Skip(source_id=path.name, reason=str(error)))
                continue
            if path.stem != space_file_name(report.space):
                report.notes.append(f"The file is called {path.name}, and names the space {report.space!r}.")
            reports.append(report)
        return FolderReport(
            folder=root, files=tuple(reports), failed=tuple(failed), not_read=tuple(list_unread(root))
        )

    def export(
        self,
        name: str,
        out: str | Path | None = None,
        *,
        include_archived: bool = True,
        force: bool = False,
        freeze_clock: datetime | str | None = None,
        progress: Callable[[int], None] | None = None,
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
        at = parse_time(freeze_clock, "freeze_clock") or self._context.clock.now()
        self._stores.db.require_writable()
        with self._stores.db.read():
            space = self._whole(name, "an export")
            path = self._given_path(out) if out is not None else self._default_path(space)
            report = write_export(
                path,
                space_document(self._stores, space, include_archived=include_archived, alone=True),
                space=name,
                key=self._context.keys.signing_key(),
                exported_at=at,
                own=self._own,
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
        verified = verify_export(file, trusted_key=trusted_key, own=self._own)
        self._stores.spaces.admit(verified.space)
        space = self._stores.spaces.find(verified.space)
        if space is not None:
            require_whole(
                self._context.actor, parse_stored(space.policies), space=space.name, doing="an export of it"
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
        policies: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> RestoreReport:
        """Verify a signed export, then bring its space back: ids, times, pins, what is archived, policies.

        The space, or `name`, must not be there or must hold no memory; `merge` reads the export into one that does,
        as `read_file` reads a file. `trusted_key`, a public key or its fingerprint, must then be the export's. Without
        `trust` its memories are trusted as it says, whoever signed it; with it no more than that. An export signed by
        this store's own key or by `trusted_key` brings its policies; of any other those that hide something come
        (`roles`, `visibility`), and the others with `policies`: the report's notes name what was left out.

        Raises `IntegrityError` for an export that does not verify, `Conflict` for a space that is in use, and what
        `read_file` raises; then nothing was stored.
        """
        verified = self.verify(file, trusted_key=trusted_key)
        parsed = parse_space(
            verified.document, file=verified.file, default_name=verified.space, renamed=name is not None
        )
        parsed = replace(
            parsed,
            trust=_trust_limit(trust),
            takes_policies=policies or verified.trusted or self._context.keys.signs_as(verified.public_key),
            how_to_take_policies=POLICIES_OF_AN_EXPORT,
        )
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

    # Steps ------------------------------------------------------------------------------------------------------

    def _read(
        self,
        parsed: ParsedSpace,
        name: str | None,
        *,
        dry_run: bool,
        progress: Callable[[int], None] | None,
        what: str = "read_file",
        detail: Mapping[str, JSONValue] | None = None,
        whole: bool = False,
    ) -> ReadReport:
        if not dry_run:
            self._stores.db.require_writable()
        if name is not None and validate_space(name) != parsed.name:
            parsed = rename(parsed, name)
        self._stores.spaces.admit(parsed.name)
        parsed, notes = without_a_say(parsed)

        def may(policies: Mapping[str, JSONValue]) -> None:
            require_whole(
                self._context.actor, parse_stored(policies), space=parsed.name, doing="a file of it"
            )

        def within(report: ReadReport) -> None:
            counts = {"created": report.created, "updated": report.updated, "unchanged": report.unchanged}
            self._record(what, {"space": parsed.name, **counts, **(detail or {})})

        report = self._importer().read(
            parsed, dry_run=dry_run, whole=whole, may=may, within=within, progress=progress
        )
        report.notes.extend(notes)
        self._context.wake()
        return report

    def _record(self, what: str, detail: Mapping[str, JSONValue]) -> None:
        self._audit.record(AuditEvent(what=what, at=self._context.clock.now(), detail=detail))

    def _whole(self, name: str, doing: str) -> Space:
        space = self._stores.spaces.get(name)
        require_whole(self._context.actor, parse_stored(space.policies), space=name, doing=doing)
        return space

    def _given_path(self, out: str | Path) -> Path:
        """Return where a caller wants an export: a file anywhere but among the store's own, `force` or not."""
        path = _resolved(Path(out))
        if str(out).endswith(("/", os.sep)) or path.is_dir():
            raise InvalidInput(f"Cannot export to {str(out)!r}: it names a folder. Name a file in it.")
        if self._is_the_stores(path):
            raise InvalidInput(
                f"Cannot export to {path}: it is among the store's own files. Name a file outside of "
                f"{self._context.directory}, or one in its folder exports/."
            )
        return path

    def _is_the_stores(self, path: Path) -> bool:
        directory = self._context.directory.resolve()
        return path.is_relative_to(directory) and not path.is_relative_to(directory / "exports")

    def _default_path(self, space: Space) -> Path:
        """Return where the policy, or the default, has the export; never outside the project's folder."""
        directory = self._context.directory
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

    def _info(self, space: Space, summary: SpaceSummary | None) -> SpaceInfo:
        summary = summary or SpaceSummary()
        # Whom rules admit, and to what, would name what is hidden.
        unsaid = set() if self._context.actor.is_owner else {"roles", "visibility"}
        return SpaceInfo(
            name=space.name,
            memories=summary.active,
            archived=summary.archived,
            pinned=summary.pinned,
            kinds=summary.kinds,
            newest=summary.newest,
            text_bytes=summary.text_bytes,
            metadata=space.metadata,
            policies={key: value for key, value in space.policies.items() if key not in unsaid},
            created_at=space.created_at,
            updated_at=space.updated_at,
        )

    # How a space ends -------------------------------------------------------------------------------------------

    def _reset(self, space: Space, metadata: Mapping[str, JSONValue] | None, *, at: datetime) -> None:
        def finish(found_space: Space) -> None:
            self._stores.purges.forget_sources(found_space.no)
            if metadata:
                masked = self._importer().masked(metadata, found_space.policies)
                self._stores.spaces.set_metadata(found_space.name, masked, at=at)
            self._stores.spaces.restart(found_space.name, at=at)

        self._empty(space, "reset", at=at, may=self._refuse_reset, finish=finish)

    def _empty(
        self,
        space: Space,
        what: str,
        *,
        at: datetime,
        may: Callable[[Space], None],
        finish: Callable[[Space], None],
    ) -> None:
        """Purge a space in batches, others write in between; the last one also does what is left to do.

        A kill leaves a space with fewer memories and its policy; the same call again goes on from there.
        """
        may(space)
        done = False
        while not done:
            with self._stores.db.transaction():
                found_space = self._stores.spaces.get(space.name)
                may(found_space)
                numbers = self._stores.purges.numbers_of_space(found_space.no, limit=PURGE_BATCH)
                purged = self._purger.purge(numbers, reason=what, at=at)
                done = len(numbers) < PURGE_BATCH
                if done:
                    finish(found_space)
                detail: dict[str, JSONValue] = {"space": space.name, "purged": purged, "finished": done}
                self._audit.record(AuditEvent(what=what, at=at, detail=detail))
        self._purger.scrub()

    def _refuse_reset(self, space: Space) -> None:
        policies = parse_stored(space.policies)
        require_whole(self._context.actor, policies, space=space.name, doing="a reset")
        if policies.allow_delete is False:
            raise AccessDenied(
                f"Space {space.name!r} cannot be reset: its policy says allow_delete: false. "
                "Set it to true, or take it out of the policy, first."
            )
        if policies.allow_delete is not True and not self._context.actor.is_owner:
            raise AccessDenied(
                f"Space {space.name!r} cannot be reset by {self._context.actor.describe()}: its policy does not allow "
                "deletion. Its owner can set allow_delete to true, or reset it."
            )

    def _refuse_delete(self, space: Space) -> None:
        policies = parse_stored(space.policies)
        require_whole(self._context.actor, policies, space=space.name, doing="delete")
        if policies.allow_delete is not True:
            raise AccessDenied(
                f"Space {space.name!r} cannot be deleted: its policy does not allow it. "
                "Set allow_delete to true first; a dry run shows what would go."
            )

    @staticmethod
    def _remove_file(file: Path) -> None:
        remove_abandoned(file)
        if file.is_symlink() or file.exists():
            unlink(file)

    def _remove(self, space: Space) -> None:
        self._stores.purges.remove_space(space.no)
        self._stores.audiences.forget_unused()

    def _exports(self, space: Space) -> Sequence[Path]:
        """Return the exports of a space that lie where exports go without being told."""
        paths = [space_file(self._context.directory / "exports", space.name)]
        with contextlib.suppress(InvalidInput):  # nothing was exported to where an export would not go
            paths.append(self._default_path(space))
        return [path for path in dict.fromkeys(paths) if _is_file(path)]

    def _show_to_whom_it_concerns(self, space: Space, old: Policies, new: Policies) -> int:
        """Say of a space's memories who may see them, where that has changed; returns of how many."""
        if (old.roles, old.visibility) == (new.roles, new.visibility):
            return 0
        by_path = any(rule.match.paths for rule in new.visibility)

        @lru_cache(maxsize=10_000)  # many memories are alike to rules that do not look at paths
        def judged(
            kind: str, path: str, relevance: Relevance, tags: tuple[str, ...]
        ) -> frozenset[str] | None:
            return audience(new, JudgedRow(0, kind, path, relevance, tags))

        changed = self._stores.audiences.assign_space(
            space.no,
            lambda row: judged(row.kind, row.path if by_path else "", row.relevance, row.tags),
            same=not new.visibility,
        )
        if new.visibility:
            self._stores.audiences.narrow_summaries(space.no, _SUMMARIES)
        self._stores.audiences.forget_unused()
        return changed


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _trust_limit(trust: Trust | str | None) -> Trust | None:
    return None if trust is None else parse_choice(Trust, trust, "trust")


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"Cannot export to {str(path)!r}: {error}. Choose another file.") from error
