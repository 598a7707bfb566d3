"""Contexts of a store in which some layers are a test's own."""

from __future__ import annotations

from collections.abc import Mapping

from hexad import Hexad, MemoryLayer
from hexad.database.store_context import StoreContext
from hexad.layers.context.api import Contexts, Source
from hexad.text.tokens import CharacterCounter


def contexts_with(
    hx: Hexad, layers: Mapping[MemoryLayer, Source], context: StoreContext | None = None
) -> Contexts:
    """Return what routes questions in the store, or in `context`, with these layers in place of the store's own."""
    services = hx._services
    return Contexts(
        services.context if context is None else context,
        services.stores,
        {**services.contexts()._sources(), **layers},
        counter=CharacterCounter(),
        handouts=services.handouts,
        generator_for=services.program.models.generator_for,
        factors=services.feedback().factors,
    )
