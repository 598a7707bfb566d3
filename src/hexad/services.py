"""The parts of an open store, built in one place and handed to each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hexad import __version__
from hexad.config import Settings
from hexad.core.actor import Actor
from hexad.core.clock import Clock
from hexad.core.durability import StreamDurability
from hexad.core.ids import IdSource
from hexad.core.json_types import JSONValue
from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.database.encryption.cipher import CACHE, cipher_of
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.leases import OpenLock, ReadShare
from hexad.database.meta import STORE_ID
from hexad.experience.values.lenses import parse_lenses
from hexad.maintenance.jobs import Upkeep
from hexad.maintenance.worker import Worker
from hexad.memory.store import Stores
from hexad.providers.budgets.metered_models import MeteredModels, query_embedder
from hexad.providers.budgets.metering import MeteredGenerator
from hexad.providers.embedders.base import Embedder, resolve
from hexad.providers.embedders.minilm import MiniLmEmbedder
from hexad.search.embedding_job import BATCH_MEMORIES, EmbeddingJob
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer
from hexad.search.recall.recall_log import RecallLog
from hexad.search.recall.recaller import Recaller
from hexad.search.vectors.index import VectorIndex
from hexad.spaces.bundles.orderings.external import NamedOrdering
from hexad.text.tokens import CharacterCounter

if TYPE_CHECKING:
    from hexad.database.encryption.cipher import StoreKeys
    from hexad.experience.service import Experiencing
    from hexad.honeycomb.service import Honeycombing
    from hexad.ingest.service import Writing
    from hexad.maintenance.status import StoreStatus
    from hexad.privacy.erasure import Erasing
    from hexad.redaction.redact import RedactionRules
    from hexad.spaces.bundles.builder import Bundles
    from hexad.spaces.bundles.orderings.all import Orderings
    from hexad.spaces.bundles.project_context import ProjectContexts
    from hexad.spaces.service import Governing


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a store is, and who has it open. `temporary` removes it at close; `lock` is None when read-only, `share`
    when not, `crypt` when nothing is encrypted.
    """  # fmt: skip

    directory: Path
    lock: OpenLock | None
    keys: KeyStore
    temporary: TemporaryDirectory[str] | None = None
    crypt: StoreKeys | None = None
    share: ReadShare | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What does not depend on the embedder."""

    place: Place
    settings: Settings
    clock: Clock
    ids: IdSource
    db: Database
    stores: Stores
    fulltext: FullText
    background: bool
    project: str
    actor: Actor
    models: MeteredModels
    orderings: Mapping[str, NamedOrdering]  # that the program brought along
    user_dir: Path | None = None
    user_key: bytes | str | Path | None = None


class Parts(Upkeep):
    """Everything that `Hexad` delegates to."""

    def __init__(self, base: Base, embedder: Embedder | None) -> None:
        self.base = base
        self.place, self.clock, self.stores, self.fulltext = (
            base.place,
            base.clock,
            base.stores,
            base.fulltext,
        )
        self.background = base.background and not base.db.readonly
        self.embedder = embedder
        self._owner = base.place.lock.identity if base.place.lock is not None else "readonly"
        self._alive: Callable[[], Collection[str]] = (
            base.place.lock.alive if base.place.lock is not None else tuple
        )
        # Upkeep must not leave out what whoever opened the store may not see.
        self.everything = base.stores if base.stores.roles is None else Stores(base.db)
        self.handouts = RecallLog(base.stores)
        self.catalog = Indexer(base.stores, base.fulltext)
        self.embedding = (
            EmbeddingJob(self.everything, embedder, owner=self._owner, alive=self._alive)
            if embedder is not None
            else None
        )
        self.recaller = Recaller(
            base.stores,
            base.fulltext,
            self._vector_index,
            embed_query=None if embedder is None else query_embedder(embedder),
            handouts=None if base.db.readonly else self.handouts,
            changes=ChangeReader(base.db),
            clock=base.clock,
            calibrated=embedder is not None and embedder.name == MiniLmEmbedder.name,
            feedback=base.settings.router.get("feedback") is not False,
        )
        self._index: VectorIndex | None = None
        self._worker = Worker(self._step) if self.background else None
        self._successor: Parts | None = None  # the same store with another embedder
        self._closed = False
        if self._worker is not None and base.stores.meta.has_erasures_to_finish():
            self._worker.wake()

    @property
    def generator(self) -> MeteredGenerator | None:
        """What writes texts, within the budgets; None where none is set."""
        return self.base.models.generator

    @cached_property
    def rules(self) -> RedactionRules:
        """What is taken out of every text of the project; loaded now, because only what writes asks for it."""
        from hexad.redaction.redact import project_rules

        settings = self.base.settings
        return project_rules(settings.pii, env_allow=settings.env_allow)

    @cached_property
    def writing(self) -> Writing:
        """The write path; loaded now, because most of what there is to load belongs to it."""
        from hexad.ingest.service import WritingNeeds, build_writing

        base = self.base
        return build_writing(
            WritingNeeds(
                stores=base.stores,
                catalog=self.catalog,
                clock=base.clock,
                ids=base.ids,
                project=base.project,
                author=base.actor.describe(),
                rules=self.rules,
                salt=lambda: base.place.keys.redaction_salt,
                owner=self._owner,
                alive=self._alive,
                wake=self.wake,
                generator_for=base.models.generator_for,
            )
        )

    @cached_property
    def governing(self) -> Governing:
        """Spaces, retention and purging; loaded now, because a recall does without them."""
        from hexad.spaces.service import GoverningNeeds, build_governing

        base = self.base
        return build_governing(
            GoverningNeeds(
                stores=base.stores,
                everything=self.everything,
                fulltext=base.fulltext,
                catalog=self.catalog,
                clock=base.clock,
                directory=base.place.directory,
                keys=base.place.keys,
                actor=base.actor,
                spent=base.models.budgets.report,
                check_policy=_check_policy,
                importer=lambda: self.writing.importer,
                wake=self.wake,
                crypt=base.place.crypt,
            )
        )

    @cached_property
    def erasing(self) -> Erasing:
        """Erasure over the whole store; loaded now, because only who forgets for good needs it."""
        from hexad.privacy.erasure import build_erasing

        return build_erasing(self)

    @cached_property
    def honeycombing(self) -> Honeycombing:
        """The association graph; loaded now, because a recall does without it."""
        return self._honeycombing(None)

    def _honeycombing(self, before: Honeycombing | None) -> Honeycombing:
        from hexad.honeycomb.service import HoneycombingNeeds, build_honeycombing

        shared = HoneycombingNeeds(parts=self, vectors=self._vector_index, owner=self._owner, before=before)
        return build_honeycombing(shared)

    @cached_property
    def experiencing(self) -> Experiencing:
        """The experience database; loaded now, because nothing else needs it."""
        from hexad.experience.service import CompactingNeeds, Program, build_experiencing
        from hexad.experience.stream_database import ExperienceNeeds

        base = self.base
        needs = ExperienceNeeds(
            db=base.db,
            directory=base.place.directory,
            clock=base.clock,
            durability=StreamDurability(base.settings.stream_durability),
            salt=lambda: base.place.keys.redaction_salt,
            rules=self.rules,
            wake=self.wake,
            ids=base.ids,
            lenses=None if base.settings.lenses is None else parse_lenses(base.settings.lenses),
            auto_tag_threshold=base.settings.auto_tag_threshold,
            crypt=base.place.crypt,
        )
        compacting = CompactingNeeds(
            writer=lambda: self.writing.writer,
            generator_for=base.models.generator_for,
            background=self._worker is not None,
        )
        program = Program(version=__version__, compacting=compacting)
        found = build_experiencing(
            needs, settings=base.settings, actor=base.actor, ids=base.ids, program=program
        )
        self.__dict__["experiencing"] = found  # the background may ask for it at once
        if self._worker is not None and found.compacting.windows.compactions.pending():
            self.wake()  # another program may have left windows full
        return found

    @cached_property
    def orderings(self) -> Orderings:
        """The orderings of context bundles; loaded now, because a recall does without them."""
        from hexad.spaces.bundles.orderings.all import Orderings

        return Orderings(self.stores, ChangeReader(self.base.db))

    @cached_property
    def bundles(self) -> Bundles:
        """Document 1's recalls; loaded now, as the orderings are."""
        from hexad.spaces.bundles.builder import BundleNeeds, Bundles

        base = self.base
        return Bundles(
            BundleNeeds(
                stores=base.stores,
                orderings=self.orderings,
                clock=base.clock,
                counter=CharacterCounter(),
                handouts=None if base.db.readonly else self.handouts,
                default_backend=base.settings.memory_backend,
                external=base.orderings,
                writer=self.generator,
            )
        )

    @cached_property
    def contexts(self) -> ProjectContexts:
        """What stands before an agent's step; loaded now, as the bundles are."""
        from hexad.spaces.bundles.project_context import ProjectContexts

        base = self.base
        return ProjectContexts(base.stores, self.bundles, clock=base.clock, counter=CharacterCounter())

    def with_embedder(self, spec: str | Embedder | Callable[[Sequence[str]], object]) -> Parts:
        """Return the same store with another embedder; what depended on the old one is stopped."""
        embedder = resolve(
            spec,
            api_key=self.base.settings.embedder_api_key,
            openai_key=self.base.settings.provider_keys.get("openai"),
        )  # before anything ends: one that cannot be had changes nothing
        if self._worker is not None:
            self._worker.stop()
        self._finish_contexts()
        self.handouts.flush()
        parts = Parts(self.base, self.base.models.embedder(embedder))
        self.hand_on(parts)
        if "honeycombing" in self.__dict__:
            parts.honeycombing = parts._honeycombing(self.honeycombing)  # rules in force go on
        self._successor = parts
        return parts

    def wake(self) -> None:
        """Let the background look for work."""
        if self._successor is not None:
            self._successor.wake()
        elif self._worker is not None and not self._closed:
            self._worker.wake()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until the background has nothing left to do."""
        return self._worker is None or self._worker.wait_idle(timeout_s)

    def store_dimensions(self) -> int | None:
        """Return the length of the store's vectors, None before there are any."""
        recorded = self.stores.meta.recorded_embedder()
        return recorded[1] if recorded is not None else None

    def close(self) -> None:
        """Stop the background, note what was recalled, release the store."""
        if self._closed:
            return
        self._closed = True
        if self._worker is not None:
            self._worker.stop()
        self._finish_contexts()
        try:
            self.close_experience()
            if not self.base.db.readonly:
                self.handouts.flush()
                if "honeycombing" in self.__dict__:
                    self.honeycombing.breaker.flush()
                if "governing" in self.__dict__:
                    self.move_to_ledger()
        finally:
            self.base.db.close()
            if self.place.lock is not None:
                self.place.lock.close()
            if self.place.share is not None:
                self.place.share.close()
            if self.place.temporary is not None:
                self.place.temporary.cleanup()

    def status(self) -> StoreStatus:
        """Return what `hexad doctor` prints."""
        from hexad.maintenance.status import describe

        return describe(self)

    def _vector_index(self) -> VectorIndex | None:
        """The index, made when the first vector search needs it; None while no vector is from our embedder.

        Asked each time: another process may have re-embedded the store, and vectors of two embedders cannot be
        compared.
        """
        recorded = self.stores.meta.recorded_embedder()
        if recorded is None or self.embedder is None or recorded[0] != self.embedder.name:
            return None
        if self._index is None:
            name, dimensions = recorded
            self._index = VectorIndex(
                self.stores.vectors,
                ChangeReader(self.base.db),
                dimensions=dimensions,
                cache=None if self.base.db.readonly else self.place.directory / "cache",
                identity=f"{self.stores.meta.get(STORE_ID)} {name}",
                cipher=cipher_of(self.place.crypt, CACHE),
            )
        return self._index

    def _step(self, stop: Callable[[], bool]) -> bool:
        self.handouts.flush()
        if "honeycombing" in self.__dict__:
            self.honeycombing.breaker.flush()
        if self.stores.queue.counts()[0]:
            self.writing.queue.run(stop=stop)
        self.finish_erasures()
        self.governing.sweeper.sweep_when_due(stop=stop)
        self.seal_when_due(stop=stop)
        self.compact_when_due(stop=stop)
        self.let_go_when_due()
        self.compress_when_due(stop=stop)
        self.tidy(stop=stop, when_due=True)
        self.learn_when_due()
        self.consolidate_when_due(stop=stop)
        if self.embedding is None:
            return False
        embedded = self.embedding.run(limit=BATCH_MEMORIES, stop=stop)
        linked = self.link_pending(limit=BATCH_MEMORIES, stop=stop)
        return embedded > 0 or linked > 0


def _check_policy(policy: Mapping[str, JSONValue]) -> None:
    """Raise `InvalidSpace` for a policy whose redaction rules cannot be used."""
    from hexad.ingest.service import check_policy

    check_policy(policy)
