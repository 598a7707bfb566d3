"""The experience database of a store, built when it is first asked for: most stores' commands do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hexad.database.store_context import StoreContext
from hexad.experience.api import Xdb
from hexad.experience.context.compactor import Compactor, Drafter
from hexad.experience.context.context_window import ContextWindows
from hexad.experience.documents import DocumentRepository
from hexad.experience.erasure.eraser import StreamEraser
from hexad.experience.evidence import EvidencePackages
from hexad.experience.lost_segments import LostSegments
from hexad.experience.stream_database import Experience
from hexad.experience.submissions import Submissions
from hexad.experience.summaries import Summarizer
from hexad.experience.tagging import Tagging
from hexad.experience.tiers.compression import CompressionPass
from hexad.experience.tiers.contract import Contracts
from hexad.experience.tiers.pinning import PinnedWindows
from hexad.experience.tiers.remembered_summaries import SummaryMemories
from hexad.experience.tiers.replies import ReplyMaker
from hexad.experience.tiers.storage_manager import SessionExpiry, StorageManager
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
        after_loss: Callable[[], object],
    ) -> None:
        """`writer` is the write path of memories, loaded when a summary is remembered; `after_loss` finishes what
        waited for a segment that was given up.
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
        tagging = Tagging(context, experience)
        documents = DocumentRepository(context, masking=experience.masking)
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
            reader=experience.reader,
            visibility=experience.visibility,
        )
        self.contracts = Contracts(context.db, clock=context.clock, actor=actor, mask=experience.masking.text)
        experience.contract = self.contracts.current
        self.tiers = self._tiers()
        self.storage = self._storage()
        submissions = self._submissions(tagging)
        evidence = self._evidence(submissions)
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
            losses=LostSegments(context, experience.sealer, settle=after_loss),
            actor=actor,
        )
        self.eraser = StreamEraser(
            context,
            experience=experience,
            evidence=evidence,
            documents=documents,
            shortened=self.summarizer.shortened,
        )

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
        experience = self.experience
        return Compactor(
            self._context,
            reader=experience.reader,
            accounts=experience.accounts,
            drafter=drafter,
            replies=self.replies,
            skip=experience.skip,
            remember=self._remember,
        )

    def _tiers(self) -> PinnedWindows:
        experience = self.experience
        return PinnedWindows(
            self._context,
            reader=experience.reader,
            replies=self.replies,
            flush=experience.flush,
            warm_quota=lambda: self.contracts.current().warm_quota_tokens,
            mask=experience.masking.text,
            visibility=experience.visibility,
        )

    def _storage(self) -> StorageManager:
        context, experience = self._context, self.experience
        return StorageManager(
            context,
            reader=experience.reader,
            flush=experience.flush,
            contracts=self.contracts,
            passes=CompressionPass(context.db, summarizer=self.summarizer, visibility=experience.visibility),
            warm_tokens=self.tiers.warm_tokens,
            expiry=SessionExpiry(
                expire=lambda session: self.compactor.expire(session, CompactionTrigger.STORAGE_PRESSURE),
                reclaim=lambda: (experience.seal(all=True), experience.tidy()),
            ),
        )

    def _submissions(self, tagging: Tagging) -> Submissions:
        return Submissions(
            self._context.db,
            tiers=self.tiers,
            resolve_tag=tagging.index.resolve,
            tagged=lambda tag_id: tagging.tagged(None, [tag_id]),
            secret_in=self.experience.masking.secret_in,
        )

    def _evidence(self, submissions: Submissions) -> EvidencePackages:
        experience = self.experience
        return EvidencePackages(
            self._context,
            reader=experience.reader,
            submissions=submissions,
            mask=experience.masking.answers,
            visibility=experience.visibility,
        )
