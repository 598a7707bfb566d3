"""The experience database of a store, built when it is first asked for: most stores' commands do without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hexad.config import Settings
from hexad.core.actor import Actor
from hexad.core.ids import IdSource
from hexad.database.encryption.cipher import DOCUMENTS, EXPORTS
from hexad.database.encryption.store_files import own_files
from hexad.experience.api import Xdb
from hexad.experience.context.compactor import Compactor, CompactorNeeds, Drafter
from hexad.experience.context.context_window import ContextWindows
from hexad.experience.documents import DocumentNeeds, DocumentRepository
from hexad.experience.erasure.eraser import StreamEraser, StreamEraserNeeds
from hexad.experience.stream_database import Experience, ExperienceNeeds
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
from hexad.text.tokens import CharacterCounter

_DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactingNeeds:
    """What compaction takes from outside the experience database. `background` is whether a worker thread runs."""

    writer: Callable[[], MemoryWriter]
    generator_for: Callable[[str | None], MeteredGenerator | None]
    background: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting:
    """What compacts, summarises, and remembers what it did."""

    windows: ContextWindows
    compactor: Compactor
    summarizer: Summarizer
    remembrance: SummaryMemories


def build_compacting(
    needs: ExperienceNeeds,
    compacting_needs: CompactingNeeds,
    experience: Experience,
    replies: ReplyMaker,
    *,
    settings: Settings,
    ids: IdSource,
) -> Compacting:
    """Return what compacts the windows of one store."""
    summarizer = Summarizer(
        mask=experience.masking.text,
        counter=CharacterCounter(),
        configured=lambda: _configured(compacting_needs, settings.compaction_model),
    )
    remembrance = SummaryMemories(needs.db, compacting_needs.writer, visibility=experience.visibility)
    drafter = Drafter(
        needs.db,
        experience.reader,
        masking=experience.masking,
        summarizer=summarizer,
        visible=experience.visibility.activations,
        flush=experience.flush,
    )

    def remember() -> None:
        if remembrance.compactions():
            needs.wake()  # their vectors are still missing

    compactor = Compactor(
        CompactorNeeds(
            db=needs.db,
            clock=needs.clock,
            ids=ids,
            reader=experience.reader,
            accounts=experience.accounts,
            drafter=drafter,
            replies=replies,
            skip=experience.skip,
            remember=remember,
            wake=needs.wake if compacting_needs.background else None,
            compact_after=timedelta(hours=settings.compact_after_hours),
        )
    )
    windows = ContextWindows(
        compactions=experience.compactions,
        compactor=compactor,
        drafter=drafter,
        summarizer=summarizer,
        accounts=experience.accounts,
        visibility=experience.visibility,
    )
    return Compacting(windows=windows, compactor=compactor, summarizer=summarizer, remembrance=remembrance)


def _configured(needs: CompactingNeeds, model: str | None) -> tuple[MeteredGenerator, str | None] | None:
    """Return the generator that the settings name for compaction, and the model to ask for; None for none."""
    if not model:
        return None
    named = None if model == _DEFAULT else model
    generator = needs.generator_for(named)
    return None if generator is None else (generator, named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiencing:
    """What records experience and finds it again."""

    experience: Experience
    replies: ReplyMaker
    storage: StorageManager
    tiers: PinnedWindows
    compacting: Compacting
    eraser: StreamEraser
    xdb: Xdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Which Hexad has the store open, and what of it writes summaries and memories."""

    version: str
    compacting: CompactingNeeds


def build_experiencing(
    needs: ExperienceNeeds, *, settings: Settings, actor: Actor, ids: IdSource, program: Program
) -> Experiencing:
    """Return the experience database of one store."""
    experience = Experience(needs)
    replies = ReplyMaker(
        needs.db, experience.reader, masking=experience.masking, ids=ids, flush=experience.flush
    )
    tagging = Tagging(
        needs.db,
        experience,
        ids=ids,
        mask=experience.masking.text,
        created_by=actor.agent or actor.describe(),
    )
    documents = _documents(needs, experience, actor=actor, ids=ids)
    compacting = build_compacting(needs, program.compacting, experience, replies, settings=settings, ids=ids)
    contracts = Contracts(needs.db, clock=needs.clock, actor=actor, mask=experience.masking.text)
    experience.contract = contracts.current
    tiers = PinnedWindows(
        PinnedWindowsNeeds(
            db=needs.db,
            reader=experience.reader,
            replies=replies,
            ids=ids,
            flush=experience.flush,
            warm_quota=lambda: contracts.current().warm_quota_tokens,
            mask=experience.masking.text,
            visibility=experience.visibility,
            grace=timedelta(days=settings.xdb_submission_grace_days),
        )
    )
    storage = _storage(needs, experience, contracts, compacting, tiers, settings=settings)
    submissions = _submissions(needs, experience, tagging, tiers)
    evidence = _evidence(needs, experience, submissions, program)
    xdb = Xdb(
        experience,
        tagging,
        documents,
        context=compacting.windows,
        storage=storage,
        contracts=contracts,
        tiers=tiers,
        submissions=submissions,
        evidence=evidence,
        actor=actor,
    )
    eraser = StreamEraser(
        StreamEraserNeeds(
            db=needs.db,
            ids=ids,
            experience=experience,
            evidence=evidence,
            documents=documents,
            shortened=compacting.summarizer.shortened,
            key=needs.salt,
        )
    )
    return Experiencing(
        experience=experience,
        replies=replies,
        storage=storage,
        tiers=tiers,
        compacting=compacting,
        eraser=eraser,
        xdb=xdb,
    )


def _storage(
    needs: ExperienceNeeds,
    experience: Experience,
    contracts: Contracts,
    compacting: Compacting,
    tiers: PinnedWindows,
    *,
    settings: Settings,
) -> StorageManager:
    return StorageManager(
        PressureNeeds(
            db=needs.db,
            directory=needs.directory,
            clock=needs.clock,
            reader=experience.reader,
            flush=experience.flush,
            contracts=contracts,
            summarizer=compacting.summarizer,
            visibility=experience.visibility,
            warm_tokens=tiers.warm_tokens,
            reclaim=lambda: (experience.seal(all=True), experience.tidy()),
            expire=lambda session: compacting.compactor.expire(session, CompactionTrigger.STORAGE_PRESSURE),
        ),
        _pressure_settings(settings),
    )


def _documents(
    needs: ExperienceNeeds, experience: Experience, *, actor: Actor, ids: IdSource
) -> DocumentRepository:
    return DocumentRepository(
        DocumentNeeds(
            db=needs.db,
            directory=needs.directory / "documents",
            ids=ids,
            mask=experience.masking.text,
            secret_in=experience.masking.secret_in,
            source=actor.agent or actor.describe(),
            key=needs.salt,
            own=own_files(needs.directory, needs.crypt, DOCUMENTS),
        )
    )


def _pressure_settings(settings: Settings) -> PressureSettings:
    return PressureSettings(
        total_limit_bytes=settings.xdb_max_storage_bytes,
        compression_threshold=settings.xdb_compression_threshold,
        top_k_activations=settings.xdb_top_k_activations,
    )


def _submissions(
    needs: ExperienceNeeds, experience: Experience, tagging: Tagging, tiers: PinnedWindows
) -> Submissions:
    return Submissions(
        SubmissionNeeds(
            db=needs.db,
            tiers=tiers,
            resolve_tag=tagging.index.resolve,
            tagged=lambda tag_id: tagging.tagged(None, [tag_id]),
            secret_in=experience.masking.secret_in,
        )
    )


def _evidence(
    needs: ExperienceNeeds, experience: Experience, submissions: Submissions, program: Program
) -> EvidencePackages:
    return EvidencePackages(
        EvidenceNeeds(
            db=needs.db,
            directory=needs.directory / "exports",
            reader=experience.reader,
            submissions=submissions,
            mask=experience.masking.answers,
            visibility=experience.visibility,
            version=program.version,
            own=own_files(needs.directory, needs.crypt, EXPORTS),
        )
    )
