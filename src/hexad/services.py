"""The systems of an open store: each built when it is first asked for, from what it is handed, in this one place.

Everything else imports at the top of its file; here, what a store does not use is not loaded for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from hexad.core.json_types import JSONValue
from hexad.core.lazy import Lazy, LentParts
from hexad.core.tracing import log
from hexad.database.change_counters import ChangeReader
from hexad.database.leases import OpenLock, StoreHold
from hexad.database.meta import LEDGER_KEY, is_unused
from hexad.database.migrations import newest
from hexad.database.store_context import StoreContext
from hexad.database.task_queue import LINK
from hexad.errors import HexadError, StorageFailure
from hexad.maintenance.worker import Worker
from hexad.memory.store import Stores
from hexad.providers.budgets.metering import DEFAULT, MeteredGenerator, MeteredModels
from hexad.providers.embedders.base import Embedder, resolve
from hexad.search.embedding_job import BATCH_MEMORIES
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer
from hexad.search.recall.recall_log import RecallLog
from hexad.search.service import SearchService
from hexad.text.tokens import CharacterCounter

if TYPE_CHECKING:
    from hexad.code_graph.service import CodeGraphService
    from hexad.code_graph.tables.graph import CodeGraphTables
    from hexad.config import Settings
    from hexad.database.component import Component, ExportSection, Job, MemoryTable, Report, Stop
    from hexad.database.encryption.cipher import StoreKeys
    from hexad.experience.service import ExperienceService
    from hexad.honeycomb.service import HoneycombService
    from hexad.honeycomb.tables.nodes import HoneycombNodes
    from hexad.ingest.citations import Citations
    from hexad.ingest.service import IngestService
    from hexad.layers.code_graph import CodeGraphLayer
    from hexad.layers.context.service import ContextService, GraphRecall
    from hexad.layers.feedback.api import FeedbackService
    from hexad.layers.governance import GovernanceFacade
    from hexad.layers.project.api import ProjectFacade
    from hexad.layers.project.facts_api import FactsFacade
    from hexad.layers.session.event_search import EventSearch
    from hexad.layers.session.service import SessionService
    from hexad.layers.session.working_set import TaskEnd
    from hexad.layers.user.service import UserService
    from hexad.maintenance.consolidation.service import ConsolidationService
    from hexad.maintenance.quality import QualityAudit
    from hexad.maintenance.reindex import ReindexReport
    from hexad.maintenance.status import MaintenanceReport, StoreStatus
    from hexad.privacy.erasure import ErasureService
    from hexad.privacy.export import Exporter
    from hexad.privacy.wipe import Wiper
    from hexad.providers.rerankers import Reranker, RerankSpec
    from hexad.redaction.masking import Masking
    from hexad.redaction.redact import RedactionRules
    from hexad.search.recall.recaller import Edge
    from hexad.search.recall.reranking import Reranking
    from hexad.spaces.bundles.builder import Bundles
    from hexad.spaces.bundles.orderings.all import Orderings
    from hexad.spaces.bundles.orderings.external import NamedOrdering
    from hexad.spaces.bundles.project_context import ProjectContexts
    from hexad.spaces.files.importer import SpaceImporter
    from hexad.spaces.retention import Purger
    from hexad.spaces.service import SpacesService


_ENCRYPTION, CONVERSION = "encryption.json", "convert"
"""Where an encrypted store says how it is unlocked, and where a change of that is prepared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the program brought along that opened the store."""

    models: MeteredModels
    orderings: Mapping[str, NamedOrdering]
    user_dir: Path | None = None
    user_key: bytes | str | Path | None = None


class Services:
    """Everything that `Hexad` delegates to."""

    def __init__(
        self, context: StoreContext, hold: StoreHold, program: Program, embedder: Embedder | None
    ) -> None:
        """Every system's `wake` is that of these services, whatever that of `context` does."""
        self.context = context = replace(context, wake=self.wake)
        self.hold, self.program, self.db, self.clock = hold, program, context.db, context.clock
        self.stores = Stores(self.db, roles=context.actor.roles)
        self.changes = ChangeReader(self.db)
        # Upkeep must not leave out what whoever opened the store may not see.
        self.everything = self.stores if self.stores.roles is None else Stores(self.db)
        self.fulltext = FullText(self.db)
        self.catalog = Indexer(self.stores, self.fulltext)
        self.handouts = RecallLog(self.stores)
        self.rules = Lazy(self._make_rules)
        self.masking = Lazy(self._make_masking)
        self.citations: Lazy[Citations] = Lazy(self._make_citations)
        self.ingest = Lazy(self._make_ingest)
        self.nodes = Lazy(self._make_nodes)
        self.importer = Lazy(self._make_importer)
        self.purger = Lazy(self._make_purger)
        self.spaces = Lazy(self._make_spaces)
        self.orderings = Lazy(self._make_orderings)
        self.honeycomb = Lazy(self._make_honeycomb)
        self.code_graph = Lazy(self._make_code_graph)
        self.experience: Lazy[ExperienceService] = Lazy(self._make_experience)
        self.session = Lazy(self._make_session)
        self.user = Lazy(self._make_user)
        self.facts = Lazy(self._make_facts)
        self.feedback = Lazy(self._make_feedback)
        self.erasure = Lazy(self._make_erasure)
        self.exporter = Lazy(self._make_exporter)
        self.wiper = Lazy(self._make_wiper)
        self.quality = Lazy(self._make_quality)
        self.consolidation = Lazy(self._make_consolidation)
        self._use_embedder(embedder)
        self._jobs = Lazy(jobs)
        self._closed = False
        self._last_reviewed = 0  # number of a vector: a program looks at each once
        self.parts = LentParts()
        self._closing = RLock()
        self._worker = self._make_worker()
        if self._worker is not None and self.stores.meta.has_erasures_to_finish():
            self.wake()

    def _use_embedder(self, embedder: Embedder | None) -> None:
        """Make what depends on the embedder; what was made with another one goes on with that for who holds it."""
        self.search = SearchService(
            self.context,
            self.stores,
            self.everything,
            self.fulltext,
            embedder,
            handouts=self.handouts,
            rings=self._rings,
            reranking=self._reranking(),
            citations=self.citations,
            uses=self._code_uses,
        )
        self.governance = Lazy(self._make_governance)
        self.project = Lazy(self._make_project)
        self.bundles = Lazy(self._make_bundles)
        self.project_contexts = Lazy(self._make_project_contexts)
        self.contexts = Lazy(self._make_contexts)

    def _reranking(self) -> Reranking | None:
        models = self.program.models
        if models.reranker is None:
            return None
        from hexad.providers.budgets.metered_reranker import MeteredReranker
        from hexad.search.recall.reranking import Reranking

        timeout_s = self.context.settings.rerank_timeout_s
        metered = MeteredReranker(models.reranker, models.budgets, models.prices, timeout_s=timeout_s)
        return Reranking(metered, self._mask)

    @property
    def generator(self) -> MeteredGenerator | None:
        """What writes texts, within the budgets; None where none is set."""
        return self.program.models.generator

    # The systems --------------------------------------------------------------------------------------------------

    def _make_rules(self) -> RedactionRules:
        from hexad.redaction.redact import project_rules

        settings = self.context.settings
        return project_rules(settings.pii, env_allow=settings.env_allow)

    def _make_masking(self) -> Masking:
        from hexad.redaction.masking import Masking

        return Masking(salt=self.context.salt, rules=self.rules())

    def _mask(self, text: str) -> str:
        return self.masking().text(text)

    def _make_ingest(self) -> IngestService:
        from hexad.ingest.service import IngestService

        return IngestService(
            self.context,
            self.stores,
            self.catalog,
            rules=self.rules(),
            generator_for=self.program.models.generator_for,
            relate=self._relate,
            follow_code=self._follow_code,
        )

    def _make_code_graph(self) -> CodeGraphService:
        from hexad.code_graph.service import CodeGraphService

        return CodeGraphService(self.context, self.stores, self.everything, masking=self.masking)

    def _follow_code(self, source_no: int, base: Path, space: str, empty: Collection[str]) -> None:
        self.code_graph().follow(source_no, base, space, empty)

    def _make_nodes(self) -> HoneycombNodes:
        from hexad.honeycomb.tables.nodes import nodes_of

        return nodes_of(self.stores)

    def _rings(self, numbers: Sequence[int]) -> Mapping[int, Sequence[Edge]]:
        return self.nodes().main(numbers)

    def _code_uses(self, memories: Collection[int]) -> tuple[Collection[int], Collection[tuple[int, int]]]:
        from hexad.code_graph.tables.graph import CodeGraphTables

        return CodeGraphTables(self.context.db).uses_among(memories)

    def _relate(self, source: int, target: int, kind: str, /, *, at: int) -> None:
        self.nodes().relate(source, target, kind, at=at)

    def _disconnect(self, numbers: Sequence[int]) -> None:
        """Take memories out of the honeycomb, one by one: rings close their gaps."""
        from hexad.honeycomb.tables.link_evidence import HoneycombLinks
        from hexad.honeycomb.tables.nodes import HoneycombNodes

        HoneycombLinks(self.db).release(numbers)
        HoneycombNodes(self.db).remove(set(numbers))

    def _make_importer(self) -> SpaceImporter:
        from hexad.spaces.files.importer import SpaceImporter

        ingest = self.ingest()
        return SpaceImporter(self.stores, ingest.writer, ingest.redactor, clock=self.clock)

    def _make_purger(self) -> Purger:
        from hexad.spaces.retention import Purger

        return Purger(
            self.everything,
            self.fulltext,
            key=self.context.salt,
            disconnect=self._disconnect,
            tables=memory_tables,
        )

    def _make_spaces(self) -> SpacesService:
        from hexad.spaces.service import SpacesService

        return SpacesService(
            self.context,
            self.stores,
            self.everything,
            self.fulltext,
            self.catalog,
            purger=self.purger(),
            importer=self.importer,
            check_policy=_check_policy,
            spent=self.program.models.budgets.report,
        )

    def _make_orderings(self) -> Orderings:
        from hexad.spaces.bundles.orderings.all import Orderings

        return Orderings(self.stores, self.changes)

    def _make_bundles(self) -> Bundles:
        from hexad.spaces.bundles.builder import Bundles

        return Bundles(
            self.context,
            self.stores,
            orderings=self.orderings(),
            counter=CharacterCounter(),
            handouts=self.handouts,
            external=self.program.orderings,
            writer=self.generator,
            rank=self.search.steady_recaller().rank,
        )

    def _make_project_contexts(self) -> ProjectContexts:
        from hexad.spaces.bundles.project_context import ProjectContexts

        return ProjectContexts(
            self.stores,
            self.bundles(),
            clock=self.clock,
            counter=CharacterCounter(),
            project=self.context.project,
        )

    def _make_honeycomb(self) -> HoneycombService:
        from hexad.honeycomb.service import HoneycombService

        return HoneycombService(
            self.context,
            self.stores,
            self.everything,
            self.nodes(),
            self.search,
            handouts=self.handouts,
            masking=self.masking(),
        )

    def _make_experience(self) -> ExperienceService:
        from hexad.experience.service import ExperienceService

        service = ExperienceService(
            self.context,
            rules=self.rules(),
            writer=lambda: self.ingest().writer,
            generator_for=self.program.models.generator_for,
            after_loss=self._after_loss,
        )
        self.experience.set(service)  # the background may ask for it at once
        if self.context.background and service.windows.compactions.pending():
            self.wake()  # another program may have left windows full
        return service

    def _make_session(self) -> SessionService:
        from hexad.layers.session.service import SessionService

        return SessionService(
            self.context,
            experience=self.experience,
            stream=self._event_search,
            mask=self._mask,
            on_task_end=self._promote,
        )

    def _event_search(self) -> EventSearch:
        from hexad.layers.session.event_search import EventSearch

        return EventSearch(self.context.db, self.experience().experience)

    def _promote(self, end: TaskEnd) -> None:
        if self.may_consolidate and self.context.settings.consolidation.sessions:
            self.consolidation().promote(end)

    def _make_user(self) -> UserService:
        from hexad.layers.user.service import UserService

        program = self.program
        return UserService(self.context, self.everything, folder=program.user_dir, key=program.user_key)

    def _make_facts(self) -> FactsFacade:
        from hexad.layers.project.facts_api import FactsFacade

        return FactsFacade(self.stores, clock=self.clock, mask=self._mask)

    def _make_governance(self) -> GovernanceFacade:
        from hexad.layers.governance import GovernanceFacade

        return GovernanceFacade(
            self.context,
            self.stores,
            indexer=self.catalog,
            recaller=self.search.recaller,
            writer=lambda: self.ingest().writer,
            file_history=lambda path, *, limit: self.citations().file_history(path, limit=limit),
        )

    def _make_project(self) -> ProjectFacade:
        from hexad.layers.project.api import ProjectFacade

        return ProjectFacade(
            self.context,
            self.stores,
            indexer=self.catalog,
            writer=lambda: self.ingest().writer,
            governance=self.governance,
        )

    def _make_feedback(self) -> FeedbackService:
        from hexad.layers.feedback.api import FeedbackService
        from hexad.redaction.redact import redact

        context = self.context

        def masked(text: str, space: str) -> str:
            return redact(text, rules=self.ingest().writer.rules_of(space), salt=context.salt()).text

        return FeedbackService(
            context, self.stores, mask=masked, item_of=lambda item_id: self.contexts().expand(item_id)
        )

    def _graph_layer(self, tables: CodeGraphTables, found: GraphRecall | None) -> CodeGraphLayer:
        from hexad.layers.code_graph import CodeGraphLayer

        return CodeGraphLayer(tables, self.stores, found=found)

    def _has_user(self) -> bool:
        from hexad.layers.user.presence import is_anything_known

        return self.user.loaded is not None or is_anything_known(self.context, self.program.user_dir)

    def _make_contexts(self) -> ContextService:
        from hexad.layers.context.service import ContextService, OnDemand

        has_sessions = self.stores.meta.has_sessions
        return ContextService(
            self.context,
            self.stores,
            self.search.recaller,
            handouts=self.handouts,
            session=OnDemand(self.session, lambda: self.session.loaded is not None or has_sessions()),
            user=OnDemand(self.user, self._has_user),
            graph=self._graph_layer,
            factors=lambda asked: self.feedback().factors(asked) if self.stores.meta.has_feedback() else {},
            generator_for=self.program.models.generator_for,
        )

    def _make_erasure(self) -> ErasureService:
        from hexad.privacy.erasure import ErasureService

        return ErasureService(
            self.context,
            self.stores,
            self.everything,
            self.fulltext,
            purger=self.purger(),
            components=components(),
            stream=lambda: self.experience().eraser,
        )

    def _make_exporter(self) -> Exporter:
        from hexad.privacy.export import Exporter

        return Exporter(
            self.context,
            self.everything,
            components=components(),
            sections=export_sections(),
            experience=self.experience,
            user=self.user,
        )

    def _make_wiper(self) -> Wiper:
        from hexad.privacy.wipe import Wiper

        return Wiper(
            self.context,
            self.stores,
            components=components(),
            erasure=self.erasure(),
            experience=self.experience,
            user=self.user,
        )

    def _make_citations(self) -> Citations:
        from hexad.ingest.citations import Citations

        citations = Citations(self.context.directory.parent)
        for cache in citations.caches:
            self.db.caches.add("cited files", cache)
        return citations

    def _make_quality(self) -> QualityAudit:
        from hexad.maintenance.quality import QualityAudit

        return QualityAudit(self.stores, clock=self.clock, citations=self.citations)

    def _make_consolidation(self) -> ConsolidationService:
        from hexad.maintenance.consolidation.service import ConsolidationService

        return ConsolidationService(
            self.context,
            self.everything,
            self.fulltext,
            handouts=self.handouts,
            writer=lambda: self.ingest().writer,
            user=lambda: self.user().facade,
        )

    # What is done now and then ------------------------------------------------------------------------------------

    def maintain(self, *, progress: Callable[[int], None] | None) -> MaintenanceReport:
        """Do now what the background would do."""
        from hexad.maintenance.status import MaintenanceReport

        report: Report = {}
        for job in self._jobs():
            if job.maintain is not None:
                job.maintain(self, report)
        # Last: compactions become memories, too.
        report["embedded"], report["linked"] = self.embed_and_link(progress)
        return MaintenanceReport(**report, links_pending=self.links_pending())

    def _step(self, stop: Stop) -> bool:
        for job in self._jobs():
            if job.step is not None:
                job.step(self, stop)
        if self.search.job is None:
            return False
        try:
            embedded = self.search.embed(limit=BATCH_MEMORIES, stop=stop)
        except HexadError:  # what has its vectors need not wait for an embedder that fails
            self.link(limit=self.links_pending(), stop=stop)
            raise
        self.review_meaning(stop)
        linked = self.link(limit=BATCH_MEMORIES, stop=stop, more=self.search.job.goes_on(embedded))
        return embedded > 0 or linked > 0

    def embed_and_link(self, progress: Callable[[int], None] | None) -> tuple[int, int]:
        """Compute the vectors and the links that are missing; return of how many memories each."""
        embedded = self.search.embed(progress=progress)
        self.review_meaning()
        return embedded, self.link()

    def review_meaning(self, stop: Stop = lambda: False) -> int:
        """Mark and hold what instructs a model by its meaning, among what has its vectors since the last look."""
        embedder, last = self.search.embedder, self.search.last_vector()
        if embedder is None or last == self._last_reviewed or self.db.readonly:
            return 0
        marked = self.spaces().meaning_review.run(embedder, stop=stop)
        self._last_reviewed = last
        return marked

    def look_at_project(self) -> tuple[str, ...]:
        """Note what changed in what the repository gives away, and return it."""
        from hexad.layers.project.upkeep import look_again

        if not self.may_consolidate:
            return ()
        look = look_again(self.project(), self.stores.meta, self.context.directory.parent)
        return () if look is None else tuple(fact.text for fact in (*look.new, *look.changed))

    def flush_sessions(self) -> int:
        """Write what waits of working sets, and let those rest on which nobody works; return how many rest now."""
        session = self.session.loaded
        return 0 if session is None else session.manager.flush_idle()

    def settle_fact(self, no: int) -> None:
        """Let a memory that is back in recall stand among the facts of its key, in the caller's transaction."""
        memory = self.stores.memories.by_no([no])[no]
        if memory.subject is not None or memory.attribute is not None:
            self.ingest().writer.settle(memory, now=self.clock.now())

    @property
    def may_consolidate(self) -> bool:
        """Whether this program may by itself: nothing is hidden from it, and the store is not read-only."""
        return self.stores.roles is None and not self.db.readonly

    def link(self, *, limit: int | None = None, stop: Stop = lambda: False, more: bool = False) -> int:
        """Derive links of memories that have their vectors; returns of how many."""
        if self.search.embedder is None or not self.stores.tasks.newest(LINK, after=0, limit=1):
            return 0
        return self.honeycomb().linking.run(limit=limit, stop=stop, more_vectors=more)

    def links_pending(self) -> int:
        """Return how many memories that have vectors wait for their links."""
        return self.stores.tasks.counts(LINK)[0]

    # The store as a whole -----------------------------------------------------------------------------------------

    def check(self, *, accept_losses: bool) -> list[str]:
        """Return in words what is wrong with the store and with the user layer."""
        from hexad.maintenance.check import check
        from hexad.spaces.access import require_owner

        require_owner(self.context.actor, self.everything, doing="a check")
        if accept_losses:
            from hexad.audit.component import accept_lost_key

            self.context.accept_losses(user_layer=self.user().lost_place())
            accept_lost_key(self.context)
        return check(self.context, components()) + self.user().check()

    def status(self) -> StoreStatus:
        """Return what `hexad doctor` prints."""
        from hexad.maintenance.status import describe

        return describe(
            self.context,
            self.search,
            components(),
            schema=newest(self.db),
            generator=self.generator.name if self.generator is not None else None,
            orderings=self.program.orderings,
            consolidation=self.consolidation().state() if self.stores.roles is None else None,
            user_layer=self.user().state(),
            holders=() if self.hold.lock is None else [str(name) for name in self.hold.lock.holders()],
        )

    def reindex(
        self,
        embedder: str | Embedder | Callable[[Sequence[str]], object] | None,
        *,
        vectors: bool,
    ) -> ReindexReport:
        """Build the derived indexes anew, with another embedder where one is given."""
        from hexad.maintenance.reindex import ReindexReport, queue_vectors, rebuild_text
        from hexad.spaces.access import require_owner

        require_owner(self.context.actor, self.everything, doing="a reindex")
        if embedder is not None:
            self._change_embedder(embedder)
        memories = rebuild_text(self.stores, self.fulltext)
        queued, current = 0, self.search.embedder
        if (embedder is not None or vectors) and current is not None:
            queued = queue_vectors(
                self.stores, self.catalog, embedder=current.name, dimensions=current.dimensions
            )
        links = self.honeycomb().linking.queue_all()
        self.wake()
        name = None if current is None else current.name
        return ReindexReport(memories=memories, vectors_queued=queued, links_queued=links, embedder=name)

    def _change_embedder(self, spec: str | Embedder | Callable[[Sequence[str]], object]) -> None:
        """Go on with another embedder; what depended on the old one is stopped."""
        settings = self.context.settings
        embedder = resolve(
            spec, api_key=settings.embedder_api_key, openai_key=settings.provider_keys.get("openai")
        )  # before anything ends: one that cannot be had changes nothing
        if self._worker is not None:
            self._worker.stop()
        self._finish_contexts()
        self.handouts.flush()
        self._use_embedder(self.program.models.embedder(embedder))
        if (honeycomb := self.honeycomb.loaded) is not None:
            honeycomb.use(self.search)
        self._worker = self._make_worker()

    # Its life -----------------------------------------------------------------------------------------------------

    def _make_worker(self) -> Worker | None:
        return Worker(self._step) if self.context.background else None

    def wake(self) -> None:
        """Let the background look for work."""
        if self._worker is not None and not self._closed:
            self._worker.wake()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until the background has nothing left to do."""
        return self._worker is None or self._worker.wait_idle(timeout_s)

    def _finish_contexts(self) -> None:
        if (project_contexts := self.project_contexts.loaded) is not None:
            project_contexts.close()
        if (contexts := self.contexts.loaded) is not None:
            contexts.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self, *, undo: bool = False) -> None:
        """Stop the background, note what was recalled, release the store; who comes second waits until that is done.

        With `undo` a store that this opening made is removed again, where nothing is stored in it.
        """
        with self._closing:
            if not self._closed:
                self._closed = True
                self._close(undo)

    def _close(self, undo: bool) -> None:
        if self._worker is not None:
            self._worker.stop()
        self._finish_contexts()
        try:
            self._close_experience()
            if undo:
                self.hold.undo(lambda: is_unused(self.db))
            if not self.db.readonly and not self.hold.is_undone:
                try:
                    self._note_use()
                except StorageFailure as error:  # nobody was told that any of it is stored
                    log.warning("What the store was used for could not be noted: %s", error)
        finally:
            self.db.close()
            self.hold.release()

    def _note_use(self) -> None:
        """Write what was noted in memory alone, and let the ledger take what upkeep noted."""
        self.handouts.flush()
        self.context.note_keys()
        self._note_ledger_key()
        self.search.store_computed()
        if (honeycomb := self.honeycomb.loaded) is not None:
            honeycomb.breaker.flush()
        if self.spaces.loaded is not None:
            self._feed_ledger()

    def _feed_ledger(self) -> None:
        from hexad.privacy.ledger_sync import move_to_ledger

        move_to_ledger(self.stores.meta, self.context.directory, clock=self.clock, crypt=self.context.crypt)

    def _after_loss(self) -> None:
        """Finish the erasures that waited for a segment that was given up, and let the ledger take the note of it."""
        self.erasure().resume()
        self._feed_ledger()

    def _note_ledger_key(self) -> None:
        directory, meta = self.context.directory, self.stores.meta
        if (directory / "audit" / "audit.key").exists() and meta.get(LEDGER_KEY) is None:
            from hexad.privacy.ledger_sync import note_ledger_key

            note_ledger_key(meta, directory, clock=self.clock, crypt=self.context.crypt)

    def _close_experience(self) -> None:
        """Write what waits of sessions and of experience, and release both, and the user layer."""
        try:
            if (user := self.user.loaded) is not None:
                user.close()
            if (session := self.session.loaded) is not None:
                session.manager.close()
        finally:
            if (experience := self.experience.loaded) is not None:
                experience.experience.close()


def unlock(
    directory: Path, settings: Settings, key: bytes | str | Path | None, *, lock: OpenLock | None
) -> StoreKeys | None:
    """Return the keys of an encrypted store, None for a plain one. An interrupted conversion is undone or ended."""
    if (directory / CONVERSION).exists():
        from hexad.database.encryption.file_swap import recover

        recover(directory, lock)
    if key is None and not (directory / _ENCRYPTION).exists():
        return None
    from hexad.database.encryption.record import KeyGiven, unlock_or_create

    return unlock_or_create(directory, KeyGiven.of(key, **settings.key_sources(key)), lock)


def components() -> tuple[Component, ...]:
    """Return every system that has a part in the store's file, in the order in which they are asked.

    Another system is a folder with a `component.py` and a line here; with tables, the next `SCHEMA_VERSION` too.
    """
    from hexad.agent_state.component import COMPONENT as STATE
    from hexad.audit.component import COMPONENT as AUDIT
    from hexad.code_graph.component import COMPONENT as CODE
    from hexad.experience.component import COMPONENT as EXPERIENCE
    from hexad.honeycomb.component import COMPONENT as HONEYCOMB
    from hexad.ingest.component import COMPONENT as INGEST
    from hexad.layers.component import COMPONENT as LAYERS
    from hexad.maintenance.component import COMPONENT as CONSOLIDATION
    from hexad.memory.component import COMPONENT as MEMORY
    from hexad.privacy.component import COMPONENT as PRIVACY
    from hexad.search.component import COMPONENT as SEARCH
    from hexad.spaces.component import COMPONENT as SPACES

    return (
        MEMORY, SEARCH, SPACES, EXPERIENCE, LAYERS, HONEYCOMB, CONSOLIDATION, INGEST, CODE, STATE, PRIVACY, AUDIT,
    )  # fmt: skip


def jobs() -> Sequence[Job]:
    """Return what `maintain` does, and the background, in their order."""
    return sorted((job for component in components() for job in component.jobs), key=lambda job: job.place)


def memory_tables() -> Sequence[MemoryTable]:
    """Return every table whose rows belong to one memory each: what a purge removes and a receipt counts."""
    return [table for component in components() for table in component.memory_tables]


def export_sections() -> Sequence[ExportSection]:
    """Return every list of an export but memories, links and timesteps, in their order."""
    sections = [section for component in components() for section in component.export]
    return sorted(sections, key=lambda section: section.place)


def check_honeycomb(table: Mapping[str, object]) -> None:
    """Raise `InvalidInput` for a table `[honeycomb]` that cannot be used; the graph is loaded only for one."""
    if table:
        from hexad.honeycomb.service import rules_of

        rules_of(table)


def reranker_of(settings: Settings, spec: RerankSpec) -> Reranker | None:
    """Return what the program or the settings name, None for none; raises `InvalidInput` for what is no reranker."""
    spec = settings.rerank if spec == DEFAULT else spec
    if spec is None:
        return None
    from hexad.providers.generators.endpoints import GeneratorAccess
    from hexad.providers.rerankers import resolve_reranker

    access = GeneratorAccess(key=settings.rerank_api_key, keys=settings.provider_keys)
    return resolve_reranker(spec, access=access)


def _check_policy(policy: Mapping[str, JSONValue]) -> None:
    """Raise `InvalidSpace` for a policy whose redaction rules cannot be used."""
    from hexad.ingest.service import check_policy

    check_policy(policy)
