"""Upkeep: what the background does, and `maintain`, of experience, ledger, erasures and graph.

What a store does not have is not loaded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hexad.database.task_queue import LINK
from hexad.honeycomb.link_job import link_lease
from hexad.layers.session.service import SessionUpkeep
from hexad.layers.user.service import UserUpkeep
from hexad.maintenance.consolidation.service import ConsolidationUpkeep
from hexad.search.indexer import Indexer
from hexad.search.recall.recaller import Recaller

if TYPE_CHECKING:
    from hexad.core.clock import Clock
    from hexad.experience.service import Experiencing
    from hexad.honeycomb.service import Honeycombing
    from hexad.ingest.service import Writing
    from hexad.layers.context.api import Contexts
    from hexad.layers.feedback.api import FeedbackService
    from hexad.layers.governance.api import GovernanceFacade
    from hexad.layers.project.api import ProjectFacade
    from hexad.layers.project.facts_api import FactsFacade
    from hexad.memory.store import Stores
    from hexad.privacy.erasure import Erasing
    from hexad.providers.embedders.base import Embedder
    from hexad.services import Base, Place
    from hexad.spaces.bundles.project_context import ProjectContexts


class ProjectKnowledge:
    """The part of `Parts` that has to do with facts and decisions."""

    base: Base
    catalog: Indexer
    recaller: Recaller
    if TYPE_CHECKING:
        wake: Callable[[], None]

        @cached_property
        def writing(self) -> Writing:
            """The write path."""

        def _mask(self, text: str) -> str:
            """Return a text without secrets."""

    def settle_fact(self, no: int) -> None:
        """Let a memory that is back in recall stand among the facts of its key, in the caller's transaction."""
        memory = self.base.stores.memories.by_no([no])[no]
        if memory.subject is not None or memory.attribute is not None:
            self.writing.writer.settle(memory, now=self.base.clock.now())

    def settle_due_facts(self) -> None:
        """Let facts that were to come take the place of those before, where their time has come."""
        from hexad.memory.tables.facts import Facts

        if self.base.db.readonly:
            return
        keys = Facts(self.base.db).contested(space=None)
        if keys:
            self.writing.writer.settle_due(keys, now=self.base.clock.now())

    @cached_property
    def facts(self) -> FactsFacade:
        """Facts over time."""
        from hexad.layers.project.facts_api import FactsFacade, FactsNeeds

        return FactsFacade(FactsNeeds(stores=self.base.stores, clock=self.base.clock, mask=self._mask))

    @cached_property
    def governance(self) -> GovernanceFacade:
        """Decisions and why they were made."""
        from hexad.layers.governance.api import GovernanceFacade, GovernanceNeeds

        base = self.base
        return GovernanceFacade(
            GovernanceNeeds(
                stores=base.stores,
                catalog=self.catalog,
                recaller=self.recaller,
                writer=lambda: self.writing.writer,
                clock=base.clock,
                root=base.place.directory.parent,
                wake=self.wake,
            )
        )

    @cached_property
    def project(self) -> ProjectFacade:
        """Facts about the project."""
        from hexad.layers.project.api import ProjectFacade, ProjectNeeds

        base = self.base
        return ProjectFacade(
            ProjectNeeds(
                stores=base.stores,
                catalog=self.catalog,
                writer=lambda: self.writing.writer,
                governance=self.governance,
                clock=base.clock,
                root=base.place.directory.parent,
                name=base.project,
                wake=self.wake,
            )
        )


class RouterUpkeep:
    """The part of `Parts` that has to do with contexts."""

    if TYPE_CHECKING:

        @cached_property
        def contexts(self) -> ProjectContexts:
            """What stands before an agent's step."""

    @cached_property
    def router(self) -> Contexts:
        """What asks all layers; loaded now, because a recall does without."""
        from hexad.layers.context.service import build_contexts

        return build_contexts(self)  # type: ignore[arg-type]  # `Parts` is the only one that has this part

    @cached_property
    def opinions(self) -> FeedbackService:
        """What was said of answers; loaded now, because a recall does without."""
        from hexad.layers.context.service import build_feedback

        return build_feedback(self)  # type: ignore[arg-type]  # as above

    def _finish_contexts(self) -> None:
        if "contexts" in self.__dict__:
            self.contexts.close()
        if "router" in self.__dict__:
            self.router.close()


class Upkeep(SessionUpkeep, UserUpkeep, RouterUpkeep, ProjectKnowledge, ConsolidationUpkeep):
    """The part of `Parts` that looks after a store; each step does nothing where there is nothing for it."""

    base: Base
    place: Place
    clock: Clock
    stores: Stores
    embedder: Embedder | None
    if TYPE_CHECKING:

        @property
        def erasing(self) -> Erasing:
            """Erasure over the whole store."""

        @property
        def honeycombing(self) -> Honeycombing:
            """The association graph."""

        @cached_property
        def experiencing(self) -> Experiencing:
            """The experience database."""

    def seal_when_due(self, *, stop: Callable[[], bool] = lambda: False) -> tuple[int, Sequence[str]]:
        """Seal what was recorded, by whomever, where it is large or old; return how many timesteps, and what is wrong
        with logs that stay for that.
        """  # fmt: skip
        if "experiencing" not in self.__dict__:
            from hexad.experience.stream.log import list_logs

            if not list_logs(self.place.directory / "stream" / "log"):
                return 0, ()
        report = self.experiencing.experience.seal(stop=stop)
        return report.rows, report.problems

    def compact_idle(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Compact the windows that were left full, and those of sessions in which nothing was recorded for long;
        return how many compactions.
        """  # fmt: skip
        if not (self.place.directory / "stream").is_dir():
            return 0
        compactor = self.experiencing.compacting.compactor
        return compactor.relieve(stop=stop) + compactor.expire_idle(stop=stop)

    def compact_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compact the windows that this process found full, and each hour those that were left, full or idle."""
        if "experiencing" in self.__dict__:
            self.experiencing.compacting.compactor.work(stop=stop)

    def compress(self) -> int:
        """Compress experience that is over its limits; return how many records became part of coarser ones."""
        limited = self.base.settings.xdb_max_storage_bytes is not None
        if "experiencing" not in self.__dict__ and not limited and not self.stores.meta.has_cold():
            return 0
        records = self.experiencing.storage.check_and_compress().records
        self.experiencing.compacting.remembrance.catch_up()
        return records

    def compress_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compress experience that is over its limits, once this process has to do with experience."""
        if "experiencing" in self.__dict__ and self.experiencing.storage.compress_when_due(stop=stop):
            self.experiencing.compacting.remembrance.catch_up(stop=stop)

    def let_go_when_due(self) -> int:
        """Let go of windows whose grace is over; return how many."""
        if "experiencing" not in self.__dict__ and not self.stores.meta.has_windows_to_settle(
            self.clock.now()
        ):
            return 0
        return self.experiencing.tiers.release_when_due()

    def tidy(self, *, stop: Callable[[], bool] = lambda: False, when_due: bool = False) -> int:
        """Remove from the stream's files what left for COLD records; return how many bytes came free."""
        there = (self.place.directory / "stream" / "segments").is_dir()
        if not there or (when_due and "experiencing" not in self.__dict__):
            return 0
        return self.experiencing.experience.tidy(stop=stop, when_due=when_due).freed_bytes

    def close_experience(self) -> None:
        """Write what waits of sessions and of experience, and release both, and the user layer."""
        try:
            self.close_user()
            self.close_sessions()
        finally:
            if "experiencing" in self.__dict__:
                self.experiencing.experience.close()

    def hand_on(self, successor: Upkeep) -> None:
        """Let the same store with another embedder go on with sessions: nothing of them depends on an embedder."""
        self.hand_sessions(successor)
        if "user" in self.__dict__:
            successor.__dict__["user"] = self.user
        if "experiencing" in self.__dict__:
            successor.experiencing = self.experiencing

    def link_pending(self, *, limit: int | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Derive links of memories that have their vectors; returns of how many."""
        if self.embedder is None or not self.links_pending():
            return 0
        return self.honeycombing.linking.run(limit=limit, stop=stop)

    def links_pending(self) -> int:
        """Return how many memories that have vectors wait for their links."""
        return self.stores.tasks.counts(LINK)[0]

    def links_made_by(self) -> str | None:
        """Return which process has the right to make links, None when nobody does."""
        holder = link_lease(self.place.directory, clock=self.clock).holder()
        return None if holder is None else str(holder)

    def finish_erasures(self) -> int:
        """Finish what a killed process began to erase, and what waited for others; returns how much."""
        return self.erasing.resume() if self.stores.meta.has_erasures_to_finish() else 0

    def move_to_ledger(self) -> int:
        """Let the ledger take what upkeep noted; returns how many notes."""
        from hexad.privacy.ledger_sync import move_to_ledger

        return move_to_ledger(
            self.stores.meta, self.place.directory, clock=self.clock, crypt=self.place.crypt
        )

    def retain_ledger(self) -> int:
        """Apply the ledger's own retention; returns how many records went to archives."""
        from hexad.privacy.ledger_sync import apply_retention

        return apply_retention(self.place.directory, clock=self.clock, crypt=self.place.crypt)
