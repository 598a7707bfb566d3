"""The parts of the write path, built when a store is first written to.

Kept apart from `wiring` because it costs most of what there is to load: readers, redaction rules, summaries. A
command that only recalls starts without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from hexad.core.clock import Clock
from hexad.core.ids import IdSource
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput, InvalidSpace
from hexad.ingest.queue import QueueRunner
from hexad.ingest.runner import Ingestor
from hexad.ingest.structured_calls import StructuredIntake
from hexad.ingest.watch import Watcher
from hexad.ingest.write.extraction.extractor import Extractor, SpaceGenerator
from hexad.ingest.write.pipeline import Pipeline
from hexad.ingest.write.redaction import Redactor
from hexad.ingest.write.retag import Retagger
from hexad.memory.store import Stores
from hexad.redaction.redact import RedactionRules, rules_from_policy
from hexad.search.indexer import Indexer
from hexad.spaces.files.importer import SpaceImporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What writes to a store."""

    writer: Pipeline
    intake: StructuredIntake
    retagger: Retagger
    ingestor: Ingestor
    queue: QueueRunner
    watcher: Watcher
    importer: SpaceImporter
    redactor: Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingNeeds:
    """What the write path is handed; `salt` is asked for when the first text is redacted."""

    stores: Stores
    catalog: Indexer
    clock: Clock
    ids: IdSource
    project: str
    author: str
    rules: RedactionRules
    salt: Callable[[], bytes]
    owner: str
    alive: Callable[[], Collection[str]]
    wake: Callable[[], None]
    generator_for: Callable[[str | None], SpaceGenerator | None]


def build_writing(needs: WritingNeeds) -> Writing:
    """Return the write path of one store."""
    redactor = Redactor(salt=needs.salt, rules=needs.rules)
    writer = Pipeline(
        needs.stores,
        needs.catalog,
        redactor,
        Extractor(needs.generator_for, redactor),
        ids=needs.ids,
        clock=needs.clock,
        project=needs.project,
        author=needs.author,
    )
    ingestor = Ingestor(
        needs.stores,
        writer,
        needs.catalog,
        clock=needs.clock,
        redactor=redactor,
        salt=needs.salt,
        rules=needs.rules,
    )

    def ingestor_for(roles: tuple[str, ...] | None) -> Ingestor:
        if roles == needs.stores.roles:
            return ingestor
        stores = Stores(needs.stores.db, roles=roles)
        return build_writing(replace(needs, stores=stores, catalog=needs.catalog.over(stores))).ingestor

    queue = QueueRunner(
        needs.stores,
        ingestor,
        ingestor_for=ingestor_for,
        clock=needs.clock,
        owner=needs.owner,
        alive=needs.alive,
        wake=needs.wake,
    )
    retagger = Retagger(needs.stores, needs.catalog, redactor, rules=writer.rules_of)
    return Writing(
        writer=writer,
        intake=StructuredIntake(writer),
        retagger=retagger,
        ingestor=ingestor,
        queue=queue,
        watcher=Watcher(queue),
        importer=SpaceImporter(needs.stores, writer, redactor, clock=needs.clock),
        redactor=redactor,
    )


def check_policy(policy: Mapping[str, JSONValue]) -> None:
    """Raise `InvalidSpace` for a policy whose redaction rules cannot be used."""
    try:
        rules_from_policy(policy)
    except InvalidInput as error:
        raise InvalidSpace(f"Invalid space policy: {error}") from error
