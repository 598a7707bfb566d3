"""Consolidation as a whole: sessions to the project, the project by itself, the project to the user; when it is due.

One process at a time does it, by a lease in the store, and for the user layer by one in that layer's folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.config import ConsolidationSettings
from hexad.core.arguments import parse_time
from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.leases import Lease
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError, InvalidInput, NotFound, StoreLocked
from hexad.layers.session.table import WorkingSets
from hexad.layers.user.values import LearnedChange
from hexad.maintenance.consolidation.project import ProjectConsolidation, coming_row
from hexad.maintenance.consolidation.rows import ConsolidationRows
from hexad.maintenance.consolidation.rules import left_alone, size_after
from hexad.maintenance.consolidation.sessions import SessionPromotion
from hexad.maintenance.consolidation.values import (
    ConsolidationAction,
    ConsolidationChange,
    ConsolidationReport,
    ConsolidationScope,
    LayerSize,
)
from hexad.memory.draft import Draft
from hexad.memory.store import Stores

if TYPE_CHECKING:
    from collections.abc import Iterator

CONSOLIDATED_AT: Final = "consolidated_at"
LOCK: Final = "maintain.lock"
RESCORE_EVERY: Final = timedelta(days=1)
LAYER_OF_USER: Final = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSide:
    """What consolidation may do with the user layer; `folder` is where it is. `learn` and `rescore` take `dry_run`."""

    folder: Path
    there: Callable[[], bool]
    learn: Callable[[bool], Sequence[LearnedChange]]
    rescore: Callable[[bool], Sequence[LearnedChange]]
    rescored_at: Callable[[], datetime | None]
    size: Callable[[], LayerSize]


@dataclass(slots=True)
class _ConsolidationRun:
    """What one run has come to so far."""

    now: datetime
    dry: bool
    stop: Callable[[], bool]
    changes: list[ConsolidationChange] = field(default_factory=list)
    alone: dict[str, list[str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    coming: list[Draft] = field(default_factory=list)
    promoted: set[str] = field(default_factory=set)
    interrupted: bool = False

    def leave(self, reasons: Mapping[str, Iterable[str]]) -> None:
        for reason, ids in reasons.items():
            self.alone.setdefault(reason, []).extend(ids)


class Consolidation:
    """Consolidates one store, and the user layer from it."""

    def __init__(
        self,
        context: StoreContext,
        everything: Stores,
        *,
        project: ProjectConsolidation,
        sessions: SessionPromotion,
        user: UserSide | None,
    ) -> None:
        """`everything` hides nothing, and `user` is None for whoever may not see that layer."""
        self._context, self._everything, self._settings = context, everything, context.settings.consolidation
        self._project, self._promotion, self._user_side = project, sessions, user
        self._rows = ConsolidationRows(everything.db)
        self._lock = threading.Lock()

    # Running ----------------------------------------------------------------------------------------------------

    def run(
        self,
        scopes: Sequence[ConsolidationScope],
        settings: ConsolidationSettings,
        *,
        dry_run: bool,
        stop: Callable[[], bool],
    ) -> ConsolidationReport:
        """Consolidate, or say what would be; raises `StoreLocked` while another program does.

        A dry run shares the rules that decide. It is no trial: a run is many transactions, each judged again.
        """
        if dry_run:
            return self._run(scopes, settings, dry_run=True, stop=stop)
        self._everything.db.require_writable()
        with self._lock, self._leases(scopes) as busy:
            if busy is not None:
                holder = busy.holder()
                who = "Another program" if holder is None else str(holder)
                raise StoreLocked(f"{who} looks after {busy.path.parent}; try again when it is done.")
            return self._run(scopes, settings, dry_run=False, stop=stop)

    def run_due(self, *, stop: Callable[[], bool]) -> ConsolidationReport | None:
        """Consolidate what is due; None where nothing is, or another program is at it."""
        if not self.due():
            return None
        with self._lock:
            scopes = self.due()
            with self._leases(scopes) as busy:
                scopes = [] if busy is not None else self.due()  # another program may have done it just now
                if not scopes:
                    return None
                return self._run(scopes, self._settings, dry_run=False, stop=stop)

    def _run(
        self,
        scopes: Sequence[ConsolidationScope],
        settings: ConsolidationSettings,
        *,
        dry_run: bool,
        stop: Callable[[], bool],
    ) -> ConsolidationReport:
        run = _ConsolidationRun(now=self._context.clock.now(), dry=dry_run, stop=stop)
        before = self.sizes(settings)
        after = dict(before)
        if ConsolidationScope.SESSION in scopes:
            after = self._sessions(run, settings, after)
        if ConsolidationScope.PROJECT in scopes and not run.interrupted:
            after = self._memories(run, settings, after)
        if ConsolidationScope.USER in scopes and not run.interrupted:
            self._user(run)
        if not dry_run:
            after = self.sizes(settings)
            if ConsolidationScope.PROJECT in scopes and not run.interrupted:
                self._everything.meta.put(CONSOLIDATED_AT, run.now.isoformat())
        return ConsolidationReport(
            scopes=tuple(scopes),
            at=run.now,
            dry_run=dry_run,
            changes=tuple(run.changes),
            skipped=left_alone(run.alone),
            before=before,
            after=after,
            warnings=(*run.warnings, *map(_overrun_note, (size for size in after.values() if size.is_over))),
            interrupted=run.interrupted,
        )

    @contextmanager
    def _leases(self, scopes: Sequence[ConsolidationScope]) -> Iterator[Lease | None]:
        """Hold the right to consolidate in the block; the value is what somebody else holds, None where it is ours."""
        clock, user = self._context.clock, self._user_side
        wanted_leases = [Lease(self._context.directory / LOCK, clock=clock, purpose="consolidation")]
        if user is not None and ConsolidationScope.USER in scopes and user.there():
            wanted_leases.append(Lease(user.folder / LOCK, clock=clock, purpose="consolidation"))
        leases: list[Lease] = []
        try:
            busy = None
            for lease in wanted_leases:
                if not lease.try_acquire():
                    busy = lease
                    break
                leases.append(lease)
            yield busy
        finally:
            for lease in leases:
                lease.release()

    # Sessions ---------------------------------------------------------------------------------------------------

    def _sessions(
        self, run: _ConsolidationRun, settings: ConsolidationSettings, sizes: dict[str, LayerSize]
    ) -> dict[str, LayerSize]:
        waiting = self._promotion.waiting() if settings.sessions else []
        for session in waiting:
            if run.stop():
                run.interrupted = True
                return sizes
            try:
                promotion, changes = (
                    self._promotion.look(session) if run.dry else self._promotion.promote(session)
                )
            except NotFound:
                continue  # it was erased just now
            except HexadError as error:
                run.leave({f"refused: {error}": [session]})
                continue
            run.promoted.add(session)
            run.changes += changes
            run.leave(promotion.alone)
            run.coming += promotion.drafts
        for draft in run.coming:
            layer = "governance" if draft.kind == "decision" else "project"
            size = sizes.get(layer, LayerSize(layer=layer))
            sizes[layer] = replace(size, count=size.count + 1, bytes=size.bytes + len(draft.text.encode()))
        return self._old_sessions(run, settings, sizes)

    def _old_sessions(
        self, run: _ConsolidationRun, settings: ConsolidationSettings, sizes: dict[str, LayerSize]
    ) -> dict[str, LayerSize]:
        """Remove working sets that ended long ago, and of too many those that ended first; what they left stays."""
        sessions = WorkingSets(self._everything.db)
        promoted = {(session, rev) for (session, _), rev in self._rows.promoted().items()}
        ready = [
            sessions.get(name)
            for name, rev in self._rows.ended_sessions()
            if name in run.promoted or (name, rev) in promoted
        ]
        size = sizes.get("session", LayerSize(layer="session"))
        most, after = settings.quotas.get("session"), settings.session_after
        surplus = 0 if most is None else max(size.count - most, 0)
        for at, working_set in enumerate(ready):
            assert working_set.ended_at is not None
            old = after is not None and run.now - working_set.ended_at >= after
            if not old and at >= surplus:
                continue
            if not run.dry:
                before = run.now + timedelta(microseconds=1)
                if not self._rows.remove_sessions([working_set.id], before=before):
                    continue
            reason = (
                f"it ended more than {settings.session_days:g} days ago, and what it left is in the project"
                if old
                else f"the layer is over its quota of {most:,}; it ended first, and what it left is in the project"
            )
            run.changes.append(
                ConsolidationChange(
                    action=ConsolidationAction.REMOVED, layer="session", ids=(working_set.id,), reason=reason
                )
            )
            size = replace(size, count=size.count - 1)
        return {**sizes, "session": size}

    # Memories ---------------------------------------------------------------------------------------------------

    def _memories(
        self, run: _ConsolidationRun, settings: ConsolidationSettings, sizes: dict[str, LayerSize]
    ) -> dict[str, LayerSize]:
        coming = (
            [coming_row(draft, -at, run.now) for at, draft in enumerate(run.coming, start=1)]
            if run.dry
            else []
        )
        plan = self._project.plan(
            settings, now=run.now, sizes=sizes if run.dry else self.sizes(settings), coming=coming
        )
        if run.dry:
            run.changes += [step.change for step in plan.steps]
            run.leave(plan.alone)
            return size_after(sizes, plan.steps)
        done = self._project.run(plan, now=run.now, stop=run.stop)
        run.changes += done.changes
        run.leave(done.alone)
        run.interrupted = done.interrupted
        return sizes

    # The user ---------------------------------------------------------------------------------------------------

    def _user(self, run: _ConsolidationRun) -> None:
        user = self._user_side
        if user is None:
            return
        found_changes: list[LearnedChange] = []
        try:
            last = user.rescored_at() if user.there() else None
            if user.there() and (last is None or run.now - last >= RESCORE_EVERY):
                found_changes += user.rescore(run.dry)
            found_changes += user.learn(run.dry)
        except HexadError as error:
            run.warnings.append(f"The user layer was left as it is: {error}")
        changes = [_learned(change) for change in found_changes]
        run.changes += changes
        if not run.dry:
            self._project.record(changes, scope="user", at=run.now)

    # When -------------------------------------------------------------------------------------------------------

    def due(self) -> list[ConsolidationScope]:
        """Return what is to be done by now."""
        now, settings, scopes = self._context.clock.now(), self._settings, list[ConsolidationScope]()
        if settings.every is not None:
            last = self.last_run() or self._rows.made_at()
            if last is None or abs(now - last) >= settings.every:
                scopes += [ConsolidationScope.SESSION, ConsolidationScope.PROJECT]
        user = self._user_side
        if settings.user_every is not None and user is not None and user.there():
            try:
                at = user.rescored_at()
            except HexadError:
                return scopes  # it cannot be opened now; who asks for it by hand is told why
            if at is None or abs(now - at) >= settings.user_every:
                scopes.append(ConsolidationScope.USER)
        return scopes

    def last_run(self) -> datetime | None:
        """Return when the project was consolidated last."""
        text = self._everything.meta.get(CONSOLIDATED_AT)
        try:
            return parse_time(text, CONSOLIDATED_AT)
        except InvalidInput:
            return datetime.min.replace(tzinfo=UTC)  # damaged: as if it were long ago

    def sizes(self, settings: ConsolidationSettings) -> dict[str, LayerSize]:
        """Return how large each layer is, and how large it may be."""
        sizes = self._rows.sizes()
        user = self._user_side
        if user is not None and user.there():
            try:
                sizes[LAYER_OF_USER] = user.size()
            except HexadError:
                sizes.pop(LAYER_OF_USER, None)
        return {
            layer: replace(
                size, quota=settings.quotas.get(layer), quota_bytes=settings.quota_bytes.get(layer)
            )
            for layer, size in sorted(sizes.items())
        }

    def state(self) -> dict[str, JSONValue]:
        """Return when it ran last, what is due, and which layers are over their quotas, as JSON."""
        settings, last = self._settings, self.last_run()
        sizes = self.sizes(settings)
        return {
            "nightly": settings.nightly,
            "last_run": None if last is None else format_time(last),
            "due": [scope.value for scope in self.due()],
            "layers": {name: size.to_dict() for name, size in sizes.items()},
            "over_quota": [name for name, size in sizes.items() if size.is_over],
        }


def _overrun_note(size: LayerSize) -> str:
    parts = []
    if size.quota is not None and size.count > size.quota:
        parts.append(f"{size.count:,} of {size.quota:,} items")
    if size.quota_bytes is not None and size.bytes > size.quota_bytes:
        parts.append(f"{size.bytes:,} of {size.quota_bytes:,} bytes")
    return (
        f"The layer {size.layer} is over its quota: {' and '.join(parts)}. What is left may not be archived by itself; "
        "forget what is not needed, or raise [consolidation] quotas in hexad.toml."
    )


def _learned(change: LearnedChange) -> ConsolidationChange:
    action = (
        ConsolidationAction.REMOVED
        if change.after is None
        else ConsolidationAction.LEARNED
        if change.before is None
        else ConsolidationAction.RESCORED
    )
    return ConsolidationChange(
        action=action,
        layer=LAYER_OF_USER,
        ids=(f"{change.key}: {change.value}",),
        reason=change.reason,
        before=change.before,
        after=change.after,
    )
