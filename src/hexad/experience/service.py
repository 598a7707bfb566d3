"""The experience database of a store, built when it is first asked for: most stores' commands do without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from hexad.core.version import __version__
from hexad.database.encryption.cipher import DOCUMENTS, EXPORTS
from hexad.database.encryption.store_files import own_files
from hexad.database.store_context import StoreContext
from hexad.experience.api import Xdb
from hexad.experience.context.compactor import Compactor, CompactorNeeds, Drafter
from hexad.experience.context.context_window import ContextWindows
from hexad.experience.documents import DocumentNeeds, DocumentRepository
from hexad.experience.erasure.eraser import StreamEraser, StreamEraserNeeds
from hexad.experience.stream_database import Experience
from hexad.experience.submissions.evidence import EvidenceNeeds, EvidencePackages
from hexad.experience.submissions.submissions import SubmissionNeeds, Submissions
from hexad.experience.summaries import Summarizer
from hexad.experience.tagging import Tagging
from hexad.experience.tiers.contract import Contracts
from hexad.experience.tiers.pinning import PinnedWindows, PinnedWindowsNeeds
from hexad.experience.tiers.remembered_summaries import SummaryMemories
from hexad.experience.tiers.replies import ReplyMaker
from hexad.experience.tiers.storage_manager import PressureNeeds, PressureSettings, StorageManager
from hexad.experience.values.tiers import CompactionTrigger
from hexad.memory.draft import MemoryWriter
from hexad.providers.budgets.metering import MeteredGenerator
from hexad.redaction.redact import RedactionRules
from hexad.text.tokens import CharacterCounter

_DEFAULT: Final = "default"


class ExperienceService:
    """What records experience, finds it again, compacts, compresses and erases it."""

    def __init__(
        self,
        context: StoreContext,
        *,
        rules: RedactionRules,
        writer: Callable[[], MemoryWriter],
        generator_for: Callable[[str | None], MeteredGenerator | None],
        remembered: Callable[[Sequence[str], Sequence[str] | None], Sequence[int]],
    ) -> None:
        """`writer` is the write path of memories, loaded when a summary is remembered; `remembered` says which
        memories tell of records.
        """  # fmt: skip
        self._context, self._generator_for = context, generator_for
        self.experience = Experience(context, rules=rules)
        experience, actor = self.experience, context.actor
        self.replies = ReplyMaker(
            context.db,
            experience.reader,
            masking=experience.masking,
            ids=context.ids,
            flush=experience.flush,
        )
        tagging = Tagging(
            context.db,
            experience,
            ids=context.ids,
            mask=experience.masking.text,
            created_by=actor.agent or actor.describe(),
        )
        documents = self._documents()
        mask = experience.masking.text
        self.summarizer = Summarizer(mask=mask, counter=CharacterCounter(), configured=self._configured)
        self.remembrance = SummaryMemories(context.db, writer, visibility=experience.visibility)
        drafter = Drafter(
            context.db,
            experience.reader,
            masking=experience.masking,
            summarizer=self.summarizer,
            visible=experience.visibility.activations,
            flush=experience.flush,
        )
        self.compactor = self._compactor(drafter)
        self.windows = ContextWindows(
            compactions=experience.compactions,
            compactor=self.compactor,
            drafter=drafter,
            summarizer=self.summarizer,
            accounts=experience.accounts,
            visibility=experience.visibility,
        )
        self.contracts = Contracts(context.db, clock=context.clock, actor=actor, mask=experience.masking.text)
        experience.contract = self.contracts.current
        self.tiers = self._tiers()
        self.storage = self._storage()
        evidence = self._evidence(submissions := self._submissions(tagging))
        self.xdb = Xdb(
            experience,
            tagging,
            documents,
            context=self.windows,
            storage=self.storage,
            contracts=self.contracts,
            tiers=self.tiers,
            submissions=submissions,
            evidence=evidence,
            actor=actor,
        )
        self.eraser = self._eraser(documents, evidence, remembered)

    def compact_all(self, *, stop: Callable[[], bool]) -> int:
        """Compact the windows that were left full, and those of sessions in which nothing was recorded for long;
        return how many compactions.
        """  # fmt: skip
        return self.compactor.relieve(stop=stop) + self.compactor.expire_idle(stop=stop)

    def compress(self) -> int:
        """Compress experience that is over its limits; return how many records became part of coarser ones."""
        records = self.storage.check_and_compress().records
        self.remembrance.catch_up()
        return records

    def compress_when_due(self, *, stop: Callable[[], bool]) -> None:
        """Compress experience that is over its limits, once it is time to look."""
        if self.storage.compress_when_due(stop=stop):
            self.remembrance.catch_up(stop=stop)

    def _configured(self) -> tuple[MeteredGenerator, str | None] | None:
        """Return the generator that the settings name for compaction, and the model to ask for; None for none."""
        model = self._context.settings.compaction_model
        if not model:
            return None
        named = None if model == _DEFAULT else model
        generator = self._generator_for(named)
        return None if generator is None else (generator, named)

    def _remember(self) -> None:
        if self.remembrance.compactions():
            self._context.wake()  # their vectors are still missing

    def _compactor(self, drafter: Drafter) -> Compactor:
        context, experience = self._context, self.experience
        return Compactor(
            CompactorNeeds(
                db=context.db,
                clock=context.clock,
                ids=context.ids,
                reader=experience.reader,
                accounts=experience.accounts,
                drafter=drafter,
                replies=self.replies,
                skip=experience.skip,
                remember=self._remember,
                wake=context.wake if context.background else None,
                compact_after=timedelta(hours=context.settings.compact_after_hours),
            )
        )

    def _tiers(self) -> PinnedWindows:
        context, experience = self._context, self.experience
        return PinnedWindows(
            PinnedWindowsNeeds(
                db=context.db,
                reader=experience.reader,
                replies=self.replies,
                ids=context.ids,
                flush=experience.flush,
                warm_quota=lambda: self.contracts.current().warm_quota_tokens,
                mask=experience.masking.text,
                visibility=experience.visibility,
                grace=timedelta(days=context.settings.xdb_submission_grace_days),
            )
        )

    def _eraser(
        self,
        documents: DocumentRepository,
        evidence: EvidencePackages,
        remembered: Callable[[Sequence[str], Sequence[str] | None], Sequence[int]],
    ) -> StreamEraser:
        context = self._context
        return StreamEraser(
            StreamEraserNeeds(
                db=context.db,
                ids=context.ids,
                experience=self.experience,
                evidence=evidence,
                documents=documents,
                shortened=self.summarizer.shortened,
                remembered=remembered,
                key=context.salt,
            )
        )

    def _storage(self) -> StorageManager:
        context, experience, settings = self._context, self.experience, self._context.settings
        return StorageManager(
            PressureNeeds(
                db=context.db,
                directory=context.directory,
                clock=context.clock,
                reader=experience.reader,
                flush=experience.flush,
                contracts=self.contracts,
                summarizer=self.summarizer,
                visibility=experience.visibility,
                warm_tokens=self.tiers.warm_tokens,
                reclaim=lambda: (experience.seal(all=True), experience.tidy()),
                expire=lambda session: self.compactor.expire(session, CompactionTrigger.STORAGE_PRESSURE),
            ),
            PressureSettings(
                total_limit_bytes=settings.xdb_max_storage_bytes,
                compression_threshold=settings.xdb_compression_threshold,
                top_k_activations=settings.xdb_top_k_activations,
            ),
        )

    def _documents(self) -> DocumentRepository:
        context, masking = self._context, self.experience.masking
        return DocumentRepository(
            DocumentNeeds(
                db=context.db,
                directory=context.directory / "documents",
                ids=context.ids,
                mask=masking.text,
                secret_in=masking.secret_in,
                source=context.actor.agent or context.actor.describe(),
                key=context.salt,
                own=own_files(context.directory, context.crypt, DOCUMENTS),
            )
        )

    def _submissions(self, tagging: Tagging) -> Submissions:
        return Submissions(
            SubmissionNeeds(
                db=self._context.db,
                tiers=self.tiers,
                resolve_tag=tagging.index.resolve,
                tagged=lambda tag_id: tagging.tagged(None, [tag_id]),
                secret_in=self.experience.masking.secret_in,
            )
        )

    def _evidence(self, submissions: Submissions) -> EvidencePackages:
        context, experience = self._context, self.experience
        return EvidencePackages(
            EvidenceNeeds(
                db=context.db,
                directory=context.directory / "exports",
                reader=experience.reader,
                submissions=submissions,
                mask=experience.masking.answers,
                visibility=experience.visibility,
                version=__version__,
                own=own_files(context.directory, context.crypt, EXPORTS),
            )
        )
