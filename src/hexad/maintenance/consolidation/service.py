"""Consolidation of an open store: the call, what the background does when it is due, and what a task leaves.

Loaded when it is first asked for: a recall from a cold start does without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from hexad.core.tracing import log
from hexad.database.meta import MaintenanceLog
from hexad.errors import AccessDenied, HexadError
from hexad.memory.query import Filters
from hexad.search.indexer import Indexer

if TYPE_CHECKING:
    from pathlib import Path

    from hexad.core.json_types import JSONValue
    from hexad.ingest.service import Writing
    from hexad.layers.session.working_set import TaskEnd
    from hexad.layers.user.api import UserFacade
    from hexad.layers.user.values import LearnedChange, LearningReport
    from hexad.maintenance.consolidation.run import Consolidation, UserSide
    from hexad.maintenance.consolidation.sessions import SessionPromotion
    from hexad.maintenance.consolidation.values import ConsolidationReport
    from hexad.memory.store import Stores
    from hexad.search.recall.recall_log import RecallLog
    from hexad.services import Base

LOOK_EVERY_S: Final = 60.0


class ConsolidationUpkeep:
    """The part of `Parts` that consolidates."""

    base: Base
    everything: Stores
    handouts: RecallLog
    _consolidate_again_s = float("-inf")
    if TYPE_CHECKING:
        wake: Callable[[], None]

        @cached_property
        def writing(self) -> Writing:
            """The write path."""

        @cached_property
        def user(self) -> UserFacade:
            """The layer of whoever opened the store."""

    @property
    def may_consolidate(self) -> bool:
        """Whether this program may by itself: nothing is hidden from it, and the store is not read-only."""
        return self.base.stores.roles is None and not self.base.db.readonly

    @cached_property
    def promotion(self) -> SessionPromotion:
        """What makes memories of what ended sessions left."""
        from hexad.maintenance.consolidation.sessions import PromotionNeeds, SessionPromotion

        base = self.base
        return SessionPromotion(
            PromotionNeeds(
                everything=self.everything,
                catalog=Indexer(self.everything, base.fulltext),
                writer=lambda: self.writing.writer,
                key=lambda: base.place.keys.redaction_salt,
                clock=base.clock,
                project=base.project,
                audit=MaintenanceLog(self.everything.meta, actor=base.actor.describe()),
            )
        )

    @cached_property
    def consolidation(self) -> Consolidation:
        """What consolidates the store."""
        from hexad.maintenance.consolidation.run import Consolidation, ConsolidationNeeds

        base = self.base
        return Consolidation(
            ConsolidationNeeds(
                everything=self.everything,
                fulltext=base.fulltext,
                sessions=self.promotion,
                user=self._user_side(),
                settings=base.settings.consolidation,
                directory=base.place.directory,
                clock=base.clock,
                audit=MaintenanceLog(self.everything.meta, actor=base.actor.describe()),
            )
        )

    def _user_side(self) -> UserSide | None:
        from hexad.layers.user.database import DATABASE, is_there
        from hexad.maintenance.consolidation.run import LAYER_OF_USER, UserSide
        from hexad.maintenance.consolidation.values import LayerSize

        if not (self.base.actor.is_owner or self.base.actor.role is None):
            return None
        folder = self.user.path

        def learn(dry_run: bool) -> Sequence[LearnedChange]:
            from hexad.layers.user.publishing import PUBLISHED_KINDS

            published = self.everything.memories.count_where(_kinds(PUBLISHED_KINDS))
            if not published and not is_there(folder):
                return ()  # nothing to publish: no layer is made for it
            return tuple(self.user.learn(dry_run=dry_run).changes)

        def size() -> LayerSize:
            counts = self.user.counts()
            count = counts.get("preferences", 0) + counts.get("patterns", 0)
            return LayerSize(layer=LAYER_OF_USER, count=count, bytes=_bytes(folder / DATABASE))

        return UserSide(
            folder=folder,
            there=lambda: is_there(folder),
            learn=learn,
            rescore=lambda dry_run: self.user.rescore(dry_run=dry_run),
            rescored_at=lambda: self.user.rescored_at,
            size=size,
        )

    def consolidate_when_due(
        self, *, stop: Callable[[], bool] = lambda: False, look: bool = False
    ) -> ConsolidationReport | None:
        """Consolidate what is due, looked at once a minute, or now with `look`; None where nothing is."""
        now_s = self.base.clock.monotonic()
        if not self.may_consolidate or (now_s < self._consolidate_again_s and not look):
            return None
        self._consolidate_again_s = now_s + LOOK_EVERY_S
        self.handouts.flush()  # what was read counts
        return self.consolidation.run_due(stop=stop)

    def task_ended(self, end: TaskEnd) -> None:
        """Let a task that ended here leave to the project what it came to; what stands in the way is tried again
        by night.
        """  # fmt: skip
        if not (self.may_consolidate and self.base.settings.consolidation.sessions):
            return
        try:
            self.promotion.promote(end.ended.id)
        except HexadError as error:
            log.warning("What session %s left was not promoted: %s", end.ended.id, error)
        self.wake()

    def consolidation_state(self) -> dict[str, JSONValue] | None:
        """Return when consolidation ran last, what is due and what is over its quota; None for a role."""
        return self.consolidation.state() if self.base.stores.roles is None else None

    def user_layer_state(self, learned: LearningReport | None = None) -> str:
        """Return in words where what is known across projects stands; `learned` is what was just learned."""
        from hexad.layers.user.database import is_there

        if not (self.base.actor.is_owner or self.base.actor.role is None):
            return ""
        if not self.base.settings.user.learning:
            return "this project takes no part"
        if not is_there(self.user.path):
            return ""
        if learned is not None:
            return (
                f"{learned.published} values of {learned.projects} projects, {len(learned.changes)} changes"
            )
        try:
            at = self.user.rescored_at
        except HexadError as error:
            return f"cannot be read: {error}"
        return "there" if at is None else f"there, weighed anew at {at:%Y-%m-%d %H:%M}"

    def check_user(self) -> list[str]:
        """Return what is wrong with the user layer; nothing where there is none, or its key is not at hand."""
        from hexad.database.encryption.record import RECORD
        from hexad.layers.user.database import is_there

        may_see = self.base.actor.is_owner or self.base.actor.role is None
        if not may_see or not is_there(self.user.path):
            return []
        try:
            return [f"The user layer: {problem}" for problem in self.user.check()]
        except AccessDenied as error:
            return [] if (self.user.path / RECORD).exists() else [str(error)]
        except HexadError as error:
            return [f"The user layer: {error}"]


def _kinds(kinds: Sequence[str]) -> Filters:
    return Filters(kinds=tuple(kinds))


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
