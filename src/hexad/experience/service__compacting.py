"""Context windows of a store and what compacts them, built with its experience database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hexad.config import Settings
from hexad.core.ids import IdSource
from hexad.experience.context.compaction_draft import Drafter
from hexad.experience.context.compactor import Compactor, CompactorNeeds
from hexad.experience.context.context_window import ContextWindows
from hexad.experience.stream_database import Experience, ExperienceNeeds
from hexad.experience.summaries.summarizer import Summarizer
from hexad.experience.tiers.remembered_summaries import Remembrance
from hexad.experience.tiers.replies import ReplyMaker
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
    remembrance: Remembrance


def build_compacting(
    needs: ExperienceNeeds,
    given: CompactingNeeds,
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
        configured=lambda: _configured(given, settings.compaction_model),
    )
    remembrance = Remembrance(needs.db, given.writer, sight=experience.sight)
    drafter = Drafter(
        needs.db,
        experience.reader,
        masking=experience.masking,
        summarizer=summarizer,
        visible=experience.sight.activations,
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
            wake=needs.wake if given.background else None,
            compact_after=timedelta(hours=settings.compact_after_hours),
        )
    )
    windows = ContextWindows(
        compactions=experience.compactions,
        compactor=compactor,
        drafter=drafter,
        summarizer=summarizer,
        accounts=experience.accounts,
        sight=experience.sight,
    )
    return Compacting(windows=windows, compactor=compactor, summarizer=summarizer, remembrance=remembrance)


def _configured(given: CompactingNeeds, model: str | None) -> tuple[MeteredGenerator, str | None] | None:
    """Return the generator that the settings name for compaction, and the model to ask for; None for none."""
    if not model:
        return None
    named = None if model == _DEFAULT else model
    generator = given.generator_for(named)
    return None if generator is None else (generator, named)
