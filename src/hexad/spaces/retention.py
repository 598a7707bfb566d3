"""gc: memories past their lifetime are archived, and what was archived long enough ago is purged.

scan in pages (no lock) ─ candidates ─ batches, each one transaction: judge again ─ archive or purge ─ record
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from hexad.core.audit_notes import AuditEvent, AuditSink
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.core.tracing import span
from hexad.database.component import MemoryTable
from hexad.database.leases import Lease
from hexad.database.meta import Meta
from hexad.errors import AccessDenied, NotFound
from hexad.memory.memory import Status
from hexad.memory.policy import Policies, lifetime, parse_stored
from hexad.memory.space import GcReport
from hexad.memory.store import Stores
from hexad.memory.tables.purge import AgedRow, RetentionRows
from hexad.memory.tables.spaces import Space
from hexad.search.fulltext import FullText

PURGE_BATCH: Final = 500
"""Memories that one transaction purges where a caller cuts its work into batches; others write in between."""


class Purger:
    """Removes memories with everything that belongs to them; outside the promise that nothing is lost."""

    def __init__(
        self,
        stores: Stores,
        fulltext: FullText,
        *,
        key: Callable[[], bytes],
        disconnect: Callable[[Sequence[int]], None],
        tables: Callable[[], Sequence[MemoryTable]],
    ) -> None:
        """`disconnect` takes memories out of the graph, in the caller's transaction; `tables` are all whose rows
        belong to memories.
        """  # fmt: skip
        self._stores = stores
        self._fulltext = fulltext
        self._key, self._disconnect, self._tables = key, disconnect, tables

    def purge(
        self, numbers: Collection[int], *, reason: str, at: datetime, receipt: str | None = None
    ) -> int:
        """Remove these memories, leaving tombstones with `reason`; returns how many there were.

        `receipt` is the id of the erasure that it is part of. Joins the transaction around it. Their ids can be given
        again. What a source brought is not brought again by an ingest as long as it is unchanged.
        """
        if not numbers:
            return 0
        with self._stores.db.joined():
            listed = sorted(set(numbers))
            self._fulltext.remove_memories(listed)
            return self._stores.purges.purge(
                listed,
                reason=reason,
                at=at,
                key=self._key,
                disconnect=self._disconnect,
                tables=self._tables(),
                receipt=receipt,
            )

    def scrub(self) -> None:
        """Take out of the full-text index the words that purged memories left in it; not inside a transaction.

        Once after all purges of one call: it writes the index anew, in short transactions.
        """
        self._fulltext.scrub()


IDS_LISTED: Final = 100
"""Ids that a report names."""
_PAGE: Final = 5_000
_FIRST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class GcOptions:
    """How a gc is run. `ttl` takes the place of the space's `ttl_days` this once; retention rules stay.

    With `dry_run` the same judge decides and nothing is done. It is no trial: a gc is many transactions, so that others
    write in between, and in one it would hold them up as long as all of it takes.
    """

    ttl: timedelta | None = None
    dry_run: bool = False
    purge: bool = False
    quiet: bool = False  # leave no record when there was nothing to do
    stop: Callable[[], bool] = lambda: False
    progress: Callable[[int], None] | None = None


@dataclass(slots=True)
class _Tally:
    archived: int = 0
    purged: int = 0
    kept_pinned: int = 0
    kept_young: int = 0
    ids: list[str] = field(default_factory=list)

    def note(self, archived: Sequence[AgedRow], purged: Sequence[AgedRow]) -> None:
        self.archived += len(archived)
        self.purged += len(purged)
        self.ids += [row.id for row in (*archived, *purged)][: IDS_LISTED - len(self.ids)]


class RetentionService:
    """Runs gc over one space. Any number of processes may do so at once, and be killed at any point."""

    def __init__(self, stores: Stores, fulltext: FullText, purger: Purger, audit: AuditSink) -> None:
        self._stores = stores
        self._rows = RetentionRows(stores.db)
        self._fulltext = fulltext
        self._purger = purger
        self._audit = audit

    def allowed(self) -> list[str]:
        """Return the spaces whose policy gives memories a lifetime and allows deletion: those upkeep looks after."""
        return [
            space.name for space in self._stores.spaces.list() if _problem(_policies(space, None)) is None
        ]

    def gc(self, name: str, options: GcOptions, *, at: datetime) -> GcReport:
        """Archive what is past its lifetime in a space, and purge what was archived for long enough.

        Raises `NotFound` for a space that is not there, `AccessDenied` when its policy allows no gc.
        """
        with span("gc", dry_run=options.dry_run) as told:
            space = self._stores.spaces.get(name)
            told["space"] = name
            policies = _policies(space, options.ttl)
            if not options.dry_run:
                _require(name, policies)
            judge = _Judge(policies, at=at, purge=options.purge)
            tally = _Tally()
            for batch in self._batches(space, judge, tally):
                if options.stop():
                    break
                if options.dry_run:
                    tally.note(*judge.split(batch))
                else:
                    self._run(name, [row.no for row in batch], options, tally, at=at)
                if options.progress is not None:
                    options.progress(tally.archived + tally.purged)
        if tally.purged and not options.dry_run:
            self._purger.scrub()
        if not (options.dry_run or options.quiet or tally.archived or tally.purged):
            self._record(name, judge, 0, 0, at=at)  # that somebody asked is worth a line, too
        return GcReport(
            space=name,
            dry_run=options.dry_run,
            cutoff=judge.cutoff,
            archived=tally.archived,
            purged=tally.purged,
            kept_pinned=tally.kept_pinned,
            kept_young=tally.kept_young,
            ids=tuple(tally.ids),
            rules=len(policies.retention),
        )

    def _batches(self, space: Space, judge: _Judge, tally: _Tally) -> Iterator[list[AgedRow]]:
        waiting: list[AgedRow] = []
        for page in self._rows.pages(space.no, size=_PAGE):
            for row in page:
                is_due = judge.is_due(row)
                if is_due and row.pinned:
                    tally.kept_pinned += 1
                elif is_due and judge.has_work(row):
                    waiting.append(row)
                elif row.status is Status.ACTIVE:
                    tally.kept_young += 1
            while len(waiting) >= PURGE_BATCH:
                yield waiting[:PURGE_BATCH]
                del waiting[:PURGE_BATCH]
        if waiting:
            yield waiting

    def _run(
        self, name: str, numbers: Sequence[int], options: GcOptions, tally: _Tally, *, at: datetime
    ) -> None:
        """Do one batch; what changed since it was looked at, the policy among it, is judged anew."""
        with self._stores.db.transaction():
            space = self._stores.spaces.get(name)
            policies = _policies(space, options.ttl)
            _require(name, policies)
            judge = _Judge(policies, at=at, purge=options.purge)
            rows = [
                row
                for row in self._rows.rows(space.no, numbers)
                if judge.is_due(row) and not row.pinned and judge.has_work(row)
            ]
            archived, purged = judge.split(rows)
            if archived:
                self._fulltext.remove_memories([row.no for row in archived])
                self._rows.archive([row.no for row in archived], at=at)
            self._purger.purge([row.no for row in purged], reason="gc", at=at)
            if rows:
                self._record(name, judge, len(archived), len(purged), at=at)
        tally.note(archived, purged)

    def _record(self, name: str, judge: _Judge, archived: int, purged: int, *, at: datetime) -> None:
        cutoff = judge.cutoff.isoformat() if judge.cutoff else None
        detail: dict[str, JSONValue] = {
            "space": name,
            "archived": archived,
            "purged": purged,
            "cutoff": cutoff,
        }
        self._audit.record(AuditEvent(what="gc", at=at, detail=detail))


class _Judge:
    """Decides about single memories under one space's policies at one moment."""

    def __init__(self, policies: Policies, *, at: datetime, purge: bool) -> None:
        self._policies = policies
        self._at = at
        self._wait = timedelta(0) if purge else policies.purge_after

    @property
    def cutoff(self) -> datetime | None:
        """The latest last change that is old enough where no rule says otherwise; None when no time is."""
        ttl = self._policies.ttl
        # Ages are compared, never ends of lifetimes: those may lie past the last year that there is.
        if ttl is None or self._at - _FIRST < ttl:
            return None
        return self._at - ttl

    def is_due(self, row: AgedRow) -> bool:
        """Whether a memory is past its lifetime; archiving by hand counts as a change."""
        kept_lifetime = lifetime(self._policies, row)
        return kept_lifetime is not None and self._at - row.updated_at >= kept_lifetime

    def has_work(self, row: AgedRow) -> bool:
        """Whether anything is to be done with a memory that is due."""
        return row.status is not Status.ARCHIVED or self._is_to_be_purged(row)

    def split(self, rows: Sequence[AgedRow]) -> tuple[list[AgedRow], list[AgedRow]]:
        """Return which are archived and which are purged."""
        purged = [row for row in rows if self._is_to_be_purged(row)]
        gone_row_nos = {row.no for row in purged}
        return [row for row in rows if row.no not in gone_row_nos], purged

    def _is_to_be_purged(self, row: AgedRow) -> bool:
        if self._wait is None:
            return False
        since = row.archived_at if row.status is Status.ARCHIVED else self._at
        return self._at - since >= self._wait


def _policies(space: Space, ttl: timedelta | None) -> Policies:
    policies = parse_stored(space.policies)
    return policies if ttl is None else replace(policies, ttl=ttl)


def _lifetimes(policies: Policies) -> list[timedelta]:
    return [ttl for ttl in (policies.ttl, *(rule.ttl for rule in policies.retention)) if ttl is not None]


def _problem(policies: Policies) -> str | None:
    if not _lifetimes(policies):
        return "its policy sets neither 'ttl_days' nor 'retention'; set one, or give ttl_days"
    if policies.allow_delete is not True:
        return "its policy does not allow deletion; set 'allow_delete' to true, or look first with dry_run"
    return None


def _require(name: str, policies: Policies) -> None:
    problem = _problem(policies)
    if problem is not None:
        raise AccessDenied(f"gc of space {name!r} is not allowed: {problem}.")


GC_EVERY: Final = timedelta(hours=1)
_LAST: Final = "gc_ran_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What gc did over several spaces."""

    archived: int = 0
    purged: int = 0


class Sweeper:
    """Runs gc for the background and for `maintain`. One process at a time does so unasked."""

    def __init__(
        self, retention: RetentionService, meta: Meta, *, lease: Callable[[], Lease], clock: Clock
    ) -> None:
        self._retention = retention
        self._meta = meta
        self._lease = lease
        self._clock = clock
        self._next_s = float("-inf")

    def sweep(self, *, stop: Callable[[], bool] = lambda: False) -> Swept:
        """Run gc over every space whose policy sets a lifetime and allows deletion."""
        archived = purged = 0
        for name in self._retention.allowed():
            if stop():
                break
            try:
                report = self._retention.gc(name, GcOptions(quiet=True, stop=stop), at=self._clock.now())
            except (NotFound, AccessDenied):
                continue  # deleted, or its policy changed, since the list was made
            archived += report.archived
            purged += report.purged
        return Swept(archived=archived, purged=purged)

    def sweep_when_due(self, *, stop: Callable[[], bool]) -> Swept | None:
        """Run gc unless this store's last one was within the hour or another process is at it; then None."""
        if self._clock.monotonic() < self._next_s:
            return None
        self._next_s = self._clock.monotonic() + GC_EVERY.total_seconds()
        if not self._retention.allowed():
            return None
        with self._lease().held_for() as ours:
            now = self._clock.now()
            last = self._meta.get(_LAST)
            if not ours or (last is not None and abs(now - _time(last)) < GC_EVERY):
                return None
            self._meta.put(_LAST, now.isoformat())
            return self.sweep(stop=stop)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)  # damaged: as if it never ran
