"""What is known of the project, built when `hx.project`, `hx.governance` or `hx.facts` is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hexad.ingest.service import Writing
    from hexad.layers.governance.api import GovernanceFacade
    from hexad.layers.project.api import ProjectFacade
    from hexad.layers.project.facts_api import FactsFacade
    from hexad.layers.session.api import SessionFacade
    from hexad.layers.user.api import UserFacade
    from hexad.search.indexer import Catalog
    from hexad.search.recall.recaller import Recaller
    from hexad.services import Base, Parts


class ProjectKnowledge:
    """The part of `Parts` that has to do with facts and decisions."""

    base: Base
    catalog: Catalog
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


class KnowledgeCalls:
    """The part of `Hexad` that is about layers of their own: facts, decisions, project, session, user."""

    _parts: Parts

    @property
    def facts(self) -> FactsFacade:
        """Facts over time: what holds, what held at a time, what was learned since."""
        return self._parts.facts

    @property
    def governance(self) -> GovernanceFacade:
        """Decisions with their reasons: append-only, told as prior context with their age."""
        return self._parts.governance

    @property
    def project(self) -> ProjectFacade:
        """What is true of the project: patterns, conventions, todos, tech stack, components, decisions."""
        return self._parts.project

    @property
    def session(self) -> SessionFacade:
        """What is being worked on right now, and what was when somebody left: task, files, edits, conversation."""
        return self._parts.session

    @property
    def user(self) -> UserFacade:
        """What is known of a person across projects: preferences, patterns, expertise; opened by the first call."""
        return self._parts.user
