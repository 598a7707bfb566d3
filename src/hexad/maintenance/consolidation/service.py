"""Consolidation of an open store: the call, what the background does when it is due, and what a task leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.config import ConsolidationSettings, parse_consolidation
from hexad.core.arguments import parse_choice, quoted
from hexad.core.json_types import JSONValue
from hexad.core.tracing import log
from hexad.database.meta import MaintenanceLog
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError, InvalidInput
from hexad.layers.session.working_set import TaskEnd
from hexad.layers.user.presence import DATABASE, is_there
from hexad.layers.user.publishing import PUBLISHED_KINDS
from hexad.layers.user.values import LearnedChange
from hexad.maintenance.consolidation.project import ProjectConsolidation
from hexad.maintenance.consolidation.run import (
    LAYER_OF_USER,
    Consolidation,
    UserSide,
)
from hexad.maintenance.consolidation.sessions import SessionPromotion, UserRules
from hexad.maintenance.consolidation.values import ConsolidationReport, ConsolidationScope, LayerSize
from hexad.memory.draft import MemoryWriter
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer
from hexad.search.recall.recall_log import RecallLog
from hexad.spaces.access import require_owner

if TYPE_CHECKING:
    from hexad.layers.user.api import UserFacade

LOOK_EVERY_S: Final = 60.0


class ConsolidationService:
    """Puts an open store in order."""

    def __init__(
        self,
        context: StoreContext,
        everything: Stores,
        fulltext: FullText,
        *,
        handouts: RecallLog,
        writer: Callable[[], MemoryWriter],
        user: Callable[[], UserFacade],
    ) -> None:
        """`everything` hides nothing; `writer` and `user` are loaded when something is promoted, or looked at there."""
        self._context, self._everything, self._handouts, self._user = context, everything, handouts, user
        self._look_again_s = float("-inf")
        audit = MaintenanceLog(everything.meta, actor=context.actor.describe())
        self.promotion = SessionPromotion(
            context,
            everything,
            indexer=Indexer(everything, fulltext),
            writer=writer,
            audit=audit,
            rules=self._user_rules(),
        )
        self.consolidation = Consolidation(
            context,
            everything,
            project=ProjectConsolidation(everything, fulltext, audit),
            sessions=self.promotion,
            user=self._user_side(),
        )

    def run(
        self,
        scope: str | None,
        *,
        dry_run: bool,
        archive_months: float | None,
        stop: Callable[[], bool],
        flush: Callable[[], object],
    ) -> ConsolidationReport:
        """Do what `Hexad.consolidate` says; `flush` writes first what the program has in hand."""
        context = self._context
        require_owner(context.actor, self._everything, doing="a consolidation")
        scopes = (
            tuple(ConsolidationScope)
            if scope is None
            else (parse_choice(ConsolidationScope, scope, "scope"),)
        )
        settings = _settings(context.settings.consolidation, archive_months)
        if not callable(stop):
            raise InvalidInput(
                f"stop = {quoted(stop)} cannot be asked; give a function that says when to end.",
                argument="stop",
            )
        if not context.db.readonly:
            self._handouts.flush()  # what was read counts
            flush()
        report = self.consolidation.run(scopes, settings, dry_run=dry_run, stop=stop)
        if not dry_run:
            context.wake()
        return report

    def run_when_due(
        self, *, stop: Callable[[], bool] = lambda: False, look: bool = False
    ) -> ConsolidationReport | None:
        """Consolidate what is due, looked at once a minute, or now with `look`; None where nothing is."""
        now_s = self._context.clock.monotonic()
        if now_s < self._look_again_s and not look:
            return None
        self._look_again_s = now_s + LOOK_EVERY_S
        self._handouts.flush()  # what was read counts
        return self.consolidation.run_due(stop=stop)

    def promote(self, end: TaskEnd) -> None:
        """Let a task that ended here leave to the project what it came to; what stands in the way is tried again
        by night.
        """  # fmt: skip
        try:
            self.promotion.promote(end.ended.id)
        except HexadError as error:
            log.warning("What session %s left was not promoted: %s", end.ended.id, error)
        self._context.wake()

    def state(self) -> dict[str, JSONValue]:
        """Return when consolidation ran last, what is due and what is over its quota."""
        return self.consolidation.state()

    def _user_rules(self) -> UserRules | None:
        if not self._context.may_see_user or not self._context.settings.user.learning:
            return None
        return UserRules(
            texts=lambda: [rule.text for rule in self._user().rules()],
            add=lambda text: self._user().add_rule(text),
        )

    def _user_side(self) -> UserSide | None:
        if not self._context.may_see_user:
            return None
        folder = self._user().path

        def learn(dry_run: bool) -> Sequence[LearnedChange]:
            published = self._everything.memories.count_where(Filters(kinds=tuple(PUBLISHED_KINDS)))
            if not published and not is_there(folder):
                return ()  # nothing to publish: no layer is made for it
            return tuple(self._user().learn(dry_run=dry_run).changes)

        def size() -> LayerSize:
            counts = self._user().counts()
            count = counts.get("preferences", 0) + counts.get("patterns", 0)
            return LayerSize(layer=LAYER_OF_USER, count=count, bytes=_bytes(folder / DATABASE))

        return UserSide(
            folder=folder,
            there=lambda: is_there(folder),
            learn=learn,
            rescore=lambda dry_run: self._user().rescore(dry_run=dry_run),
            rescored_at=lambda: self._user().rescored_at,
            size=size,
        )


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _settings(settings: ConsolidationSettings, archive_months: float | None) -> ConsolidationSettings:
    if archive_months is None:
        return settings
    parsed = parse_consolidation({"archive_months": archive_months}, "this call")
    return replace(settings, archive_months=parsed.archive_months)
