"""The router of a store and the layers that it asks, built when a context is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from hexad.layers.context.api import ContextNeeds, Contexts, Source
from hexad.layers.contract import LayerSource
from hexad.layers.feedback.api import FeedbackNeeds, FeedbackService
from hexad.layers.governance.layer import GovernanceLayer
from hexad.layers.project.layer import ProjectLayer
from hexad.layers.router.plan import parse_settings
from hexad.layers.vector_layer import QuestionCache, RecalledLayer, SharedRecall
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.redaction.redact import redact
from hexad.text.tokens import CharacterCounter

if TYPE_CHECKING:
    from hexad.services import Parts


def build_contexts(parts: Parts) -> Contexts:
    """Return the router of one store."""
    base = parts.base
    return Contexts(
        ContextNeeds(
            sources=_sources(parts),
            stores=base.stores,
            clock=base.clock,
            counter=CharacterCounter(),
            handouts=None if base.db.readonly else parts.handouts,
            settings=parse_settings(base.settings.router),
            generator_for=base.models.generator_for,
            factors=parts.opinions.factors,
        )
    )


def build_feedback(parts: Parts) -> FeedbackService:
    """Return what takes verdicts on the answers of one store."""
    base = parts.base

    def salt() -> bytes:
        return base.place.keys.redaction_salt

    return FeedbackService(
        FeedbackNeeds(
            stores=base.stores,
            clock=base.clock,
            ids=base.ids,
            actor=base.actor.describe(),
            salt=salt,
            mask=lambda text, space: (
                redact(text, rules=parts.writing.writer.rules_of(space), salt=salt()).text
            ),
            item_of=lambda item_id: parts.router.expand(item_id),  # noqa: PLW0108 - the router is built when it is needed
        )
    )


def _sources(parts: Parts) -> Mapping[MemoryLayer, Source]:
    """Return what gives each layer that there is; the code graph has none yet."""
    base, shared = parts.base, SharedRecall(parts.recaller.beside(QuestionCache))

    def recalled(name: MemoryLayer) -> LayerSource:
        return RecalledLayer(name, shared, parts.stores.memories)

    return {
        MemoryLayer.SESSION: lambda: parts.session_layer,
        MemoryLayer.PROJECT: lambda: ProjectLayer(
            recalled(MemoryLayer.PROJECT), Facts(base.db, roles=base.stores.roles), base.stores.spaces
        ),
        MemoryLayer.USER: lambda: parts.user_layer,
        MemoryLayer.GOVERNANCE: lambda: GovernanceLayer(
            recalled(MemoryLayer.GOVERNANCE), Decisions(base.db, roles=base.stores.roles)
        ),
        MemoryLayer.VECTOR: partial(recalled, MemoryLayer.VECTOR),
    }
