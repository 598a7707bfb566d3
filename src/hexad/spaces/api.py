"""`hx.spaces`: named containers of memories, what their owners decided about them, and how they end."""

from __future__ import annotations

import contextlib
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from hexad.core.actor import Actor
from hexad.core.arguments import all_flags_checked, parse_time
from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.files import remove_abandoned, unlink
from hexad.errors import AccessDenied, Conflict, InvalidInput, InvalidSpace, NotFound
from hexad.memory.memory import Relevance
from hexad.memory.policy import Policies, audience, check_names, parse_policies, parse_stored
from hexad.memory.space import DeleteReport, GcReport, SpaceInfo
from hexad.memory.store import Stores
from hexad.memory.tables.spaces import Space, SpaceSummaries, SpaceSummary
from hexad.memory.tables.visibility import JudgedRow
from hexad.providers.budgets.spending import BudgetLine
from hexad.spaces.access import require_whole
from hexad.spaces.files.api import FilesNeeds, SpaceFileCalls
from hexad.spaces.files.document import space_file
from hexad.spaces.files.reader import depth, read_json
from hexad.spaces.retention import PURGE_BATCH, GcOptions, Purger, RetentionService
from hexad.text.paths import validate_space

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
                f"Invalid space {what}: {error}; give an object, such as {example}."
            ) from error
    if not isinstance(value_object, Mapping):
        raise InvalidSpace(
            f"Invalid space {what} {str(value_object)[:80]!r}: give an object, such as {example}."
        )
    try:
        text = json.dumps(dict(value_object), allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSpace(f"Invalid space {what}: {error}; give what JSON can hold.") from error
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


class SpaceMetadataCalls(SpaceFileCalls):
    """Sets what a space that is there says of itself."""

    @abstractmethod
    def get(self, name: str) -> SpaceInfo:
        """Return one space."""

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
        files = self._files
        at = files.clock.now()
        with files.stores.db.transaction():
            space = files.stores.spaces.get(name)
            require_whole(files.actor, parse_stored(space.policies), space=name, doing="its metadata")
            if merge:
                fields = {
                    key: value for key, value in {**space.metadata, **fields}.items() if value is not None
                }
                fields = given_object(fields, "metadata")
            masked = files.importer().masked(fields, space.policies)
            files.stores.spaces.set_metadata(name, masked, at=at)
            files.audit.record(
                AuditEvent(what="set_metadata", at=at, detail={"space": name, "names": sorted(masked)})
            )
        return self.get(name)


_TRIES: Final = 3
"""How often a space is made or emptied anew because somebody else made or deleted it at the same moment."""
_SUMMARIES: Final = "./"
"""Source id under which an ingest keeps its summary of a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacesNeeds:
    """What `hx.spaces` is handed; `directory` is the store's folder."""

    stores: Stores
    clock: Clock
    directory: Path
    actor: Actor
    audit: AuditSink
    purger: Purger
    retention: RetentionService
    check_policy: Callable[[Mapping[str, JSONValue]], None]
    spent: Callable[[str | None], Sequence[BudgetLine]]


@all_flags_checked
class SpacesFacade(SpaceMetadataCalls):
    """Creates, lists, describes, governs, empties and deletes spaces."""

    def __init__(self, needs: SpacesNeeds, files: FilesNeeds) -> None:
        super().__init__(files)
        self._needs = needs
        self._stores = needs.stores
        self._clock = needs.clock
        self._audit = needs.audit
        self._summaries = SpaceSummaries(needs.stores.db, roles=needs.stores.roles)

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
            raise InvalidSpace(f"Invalid space metadata: 'reset' is {asked!r}; give true or false.")
        at = parse_time(freeze_clock, "freeze_clock") or self._clock.now()
        validate_space(name)
        self._stores.spaces.admit(name)
        for _ in range(_TRIES):
            there = self._stores.spaces.find(name)
            if there is None:
                self._files.importer().refuse_secret_name(name)
                if self._made(name, fields, at=at):
                    break
            elif not (reset or asked):
                raise Conflict(
                    f"Space {name!r} is there already; choose another name, use it as it is, change what is said of it "
                    "(set_metadata), or empty it (reset=True)."
                )
            else:
                with contextlib.suppress(NotFound):  # somebody deletes it
                    self._reset(there, fields, at=at)
                    break
        return self.get(name)

    def _made(self, name: str, metadata: Mapping[str, JSONValue] | None, *, at: datetime) -> bool:
        """Make a space; False when somebody else was first."""
        with self._stores.db.transaction():
            if self._stores.spaces.find(name) is not None:
                return False
            self._stores.spaces.ensure(name, at=at)
            if metadata:
                self._stores.spaces.set_metadata(name, self._files.importer().masked(metadata, {}), at=at)
        return True

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
            require_whole(self._needs.actor, policies, space=name, doing="its budget")
        return self._needs.spent(name)

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
        at = self._clock.now()
        with self._stores.db.transaction():
            space = self._stores.spaces.get(name)
            check_names(key for key in fields if key not in space.policies)
            written = {**space.policies, **fields} if merge else fields
            written = {key: value for key, value in written.items() if value is not None}
            old, new = parse_stored(space.policies), parse_policies(written)
            self._needs.check_policy(written)
            for policies in (old, new):
                require_whole(self._needs.actor, policies, space=name, doing="its policy")
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
        >>> with hexad.open(":memory:", embedder=None, clock=hexad.FrozenClock()) as hx:
        ...     _ = hx.remember("Standup moved to ten.", space="news", id="n1")
        ...     _ = hx.spaces.set_policy("news", {"ttl_days": 30, "allow_delete": True})
        ...     hx.clock.advance(days=31)
        ...     hx.spaces.gc("news").archived, hx.get("n1").status.value
        (1, 'archived')
        """
        ttl = None if ttl_days is None else parse_policies({"ttl_days": ttl_days}).ttl
        space = self._stores.spaces.get(name)
        require_whole(self._needs.actor, parse_stored(space.policies), space=name, doing="gc")
        if not dry_run:
            self._stores.db.require_writable()
        options = GcOptions(ttl=ttl, dry_run=dry_run, purge=purge, progress=progress)
        return self._needs.retention.gc(name, options, at=self._clock.now())

    def delete(self, name: str, *, dry_run: bool = False) -> DeleteReport:
        """Purge a space: its memories of every status with their history, its sources, conversations and policies.

        What models cost it stays in the books, and exports stay where they are; the report names those found.
        `dry_run` only says what would go. Raises `AccessDenied` unless the policy says `allow_delete: true`, and
        `NotFound`.
        """
        space = self._stores.spaces.get(name)
        require_whole(self._needs.actor, parse_stored(space.policies), space=name, doing="delete")
        file = space_file(self._needs.directory / "spaces", name)
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
        self._empty(space, "delete", at=self._clock.now(), may=self._refuse_delete, finish=self._remove)
        if self._stores.spaces.find(name) is None:  # somebody may have written the file meanwhile
            self._remove_file(file)
        remove_abandoned(space_file(self._needs.directory / "exports", name))
        return report

    def _info(self, space: Space, summary: SpaceSummary | None) -> SpaceInfo:
        summary = summary or SpaceSummary()
        # Whom rules admit, and to what, would name what is hidden.
        unsaid = set() if self._needs.actor.is_owner else {"roles", "visibility"}
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
                masked = self._files.importer().masked(metadata, found_space.policies)
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
                purged = self._needs.purger.purge(numbers, reason=what, at=at)
                done = len(numbers) < PURGE_BATCH
                if done:
                    finish(found_space)
                detail: dict[str, JSONValue] = {"space": space.name, "purged": purged, "finished": done}
                self._audit.record(AuditEvent(what=what, at=at, detail=detail))
        self._needs.purger.scrub()

    def _refuse_reset(self, space: Space) -> None:
        policies = parse_stored(space.policies)
        require_whole(self._needs.actor, policies, space=space.name, doing="a reset")
        if policies.allow_delete is False:
            raise AccessDenied(
                f"Space {space.name!r} cannot be reset: its policy says allow_delete: false. "
                "Set it to true, or take it out of the policy, first."
            )
        if policies.allow_delete is not True and not self._needs.actor.is_owner:
            raise AccessDenied(
                f"Space {space.name!r} cannot be reset by {self._needs.actor.describe()}: its policy does not allow "
                "deletion. Its owner can set allow_delete to true, or reset it."
            )

    def _refuse_delete(self, space: Space) -> None:
        policies = parse_stored(space.policies)
        require_whole(self._needs.actor, policies, space=space.name, doing="delete")
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
        paths = [space_file(self._needs.directory / "exports", space.name)]
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
