"""The write path of an open store, built when it is first written to.

It costs most of what there is to load: readers, redaction rules, summaries. What only recalls does without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hexad.core.json_types import JSONValue
from hexad.database.meta import MaintenanceLog
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput, InvalidSpace
from hexad.ingest.imports.read import Relate
from hexad.ingest.messages import MessageIntake
from hexad.ingest.queue import QueueRunner
from hexad.ingest.runner import FollowCode, Ingestor
from hexad.ingest.structured_calls import StructuredIntake
from hexad.ingest.watch import Watcher
from hexad.ingest.write.extraction.extractor import Extractor, SpaceGenerator
from hexad.ingest.write.pipeline import Pipeline
from hexad.ingest.write.redaction import Redactor
from hexad.ingest.write.retag import Retagger
from hexad.ingest.write.updates import UpdateJudge
from hexad.memory.store import Stores
from hexad.redaction.redact import RedactionRules, rules_from_policy
from hexad.search.indexer import Indexer


class IngestService:
    """What writes to a store: single texts, structured records, sources, the queue of sources."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        catalog: Indexer,
        *,
        rules: RedactionRules,
        generator_for: Callable[[str | None], SpaceGenerator | None],
        relate: Relate,
        follow_code: FollowCode,
    ) -> None:
        self._follow_code = follow_code
        self._context, self._stores, self._catalog = context, stores, catalog
        self._rules, self._generator_for, self._relate = rules, generator_for, relate
        self.redactor = Redactor(salt=context.salt, rules=rules)
        self.writer = Pipeline(
            stores,
            catalog,
            self.redactor,
            Extractor(generator_for, self.redactor),
            ids=context.ids,
            clock=context.clock,
            project=context.project,
            author=context.actor,
        )
        self.update_judge = UpdateJudge(
            stores, MaintenanceLog(stores.meta, actor=context.actor.describe()), salt=context.salt
        )
        self.intake = StructuredIntake(self.writer)
        self.messages = MessageIntake(stores, self.writer, generator_for)
        self.retagger = Retagger(stores, catalog, self.redactor, rules=self.writer.rules_of)
        self.ingestor = Ingestor(
            stores,
            self.writer,
            catalog,
            clock=context.clock,
            redactor=self.redactor,
            salt=context.salt,
            rules=rules,
            relate=relate,
            follow_code=follow_code,
        )
        self.queue = QueueRunner(
            stores,
            self.ingestor,
            ingestor_for=self._ingestor_for,
            clock=context.clock,
            owner=context.owner,
            alive=context.alive,
            wake=context.wake,
        )
        self.watcher = Watcher(self.queue)

    def _ingestor_for(self, roles: tuple[str, ...] | None) -> Ingestor:
        """Return what ingests for somebody who sees what these roles may."""
        if roles == self._stores.roles:
            return self.ingestor
        stores = Stores(self._context.db, roles=roles)
        service = IngestService(
            self._context,
            stores,
            self._catalog.with_stores(stores),
            rules=self._rules,
            generator_for=self._generator_for,
            relate=self._relate,
            follow_code=self._follow_code,
        )
        return service.ingestor


def check_policy(policy: Mapping[str, JSONValue]) -> None:
    """Raise `InvalidSpace` for a policy whose redaction rules cannot be used."""
    try:
        rules_from_policy(policy)
    except InvalidInput as error:
        raise InvalidSpace(f"Invalid space policy: {error}") from error
