"""Recall of named layers, or as of a time: the layers' own sources and the recaller, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hexad.errors import InvalidInput
from hexad.layers.context.api import parse_layers
from hexad.layers.context.layered_recall import OF_MEMORIES, Then, hit_of, merged
from hexad.layers.contract import LayerSource, MemoryLayer, MemoryQuery
from hexad.layers.router.classify import classify
from hexad.memory.link import Linked
from hexad.memory.query import Dropped, Hit, Hits
from hexad.search.recall.linked import follow, more_linked
from hexad.search.recall.options import LIMIT_MOST, RecallOptions, check_query
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from hexad.services import Parts

_LOOKED_AT: Final = 4
"""So many times as many hits are looked at where a time leaves some of them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrower:
    """Which layers a recall asks, and as of when; None is all that are made of memories, and now."""

    layers: Iterable[str] | None = None
    as_of: datetime | None = None


def recall_layered(parts: Parts, query: str, options: RecallOptions, narrower: Narrower) -> Hits:
    """Return the best hits of some layers, as of a time. Raises `InvalidInput` for a layer that the store has not."""
    layers = parse_layers(narrower.layers) or OF_MEMORIES
    if MemoryLayer.GRAPH in layers:
        raise InvalidInput(
            "layers: there is no code graph to recall from; name other layers, or none for all."
        )
    now = parts.clock.now()
    origins = tuple(layer.value for layer in layers if layer in OF_MEMORIES)
    filters = options.filters
    if len(origins) < len(OF_MEMORIES):
        filters = replace(filters, origins=origins)
    found = Hits()
    hits: list[Hit] = []
    if origins:
        wide = options.limit if narrower.as_of is None else min(LIMIT_MOST, _LOOKED_AT * options.limit)
        asked = replace(options, filters=filters, limit=wide, max_tokens=None, follow_links=False)
        found = parts.recaller.recall(query, asked)
        hits = list(found)
        if narrower.as_of is not None:
            with parts.stores.db.read():
                hits = Then(parts.stores, narrower.as_of).hits(found, query, filters, now=now)
    else:
        check_query(query)
    hits += _of_others(parts, query, options, layers, MemoryQuery(text=query, now=now, as_of=narrower.as_of))
    kept, dropped = _within(merged(hits, limit=options.limit), options.max_tokens)
    linked: tuple[Linked, ...] = ()
    beyond = 0
    if options.follow_links:
        with parts.stores.db.read():
            numbers = [
                one.no
                for hit in kept
                if (one := parts.stores.memories.identify(memory_id=hit.id)) is not None
            ]
            linked, beyond = follow(parts.stores, numbers)
    return replace(
        found,
        items=tuple(kept),
        mode=found.mode if origins else "lexical",
        dropped=(*found.dropped, *dropped),
        notes=(*found.notes, *more_linked(beyond)),
        linked=linked,
    )


def _of_others(
    parts: Parts,
    query: str,
    options: RecallOptions,
    layers: Iterable[MemoryLayer],
    asked: MemoryQuery,
) -> list[Hit]:
    """Return what the session and the user layer have to say, where they are asked."""
    sources: dict[MemoryLayer, Callable[[], LayerSource]] = {
        MemoryLayer.SESSION: lambda: parts.session_layer,
        MemoryLayer.USER: lambda: parts.user_layer,
    }
    wanted = [layer for layer in layers if layer in sources]
    if not wanted:
        return []
    sorted_as = classify(query)
    asked = replace(
        asked,
        filters=options.filters,
        task_type=sorted_as.task_type,
        query_class=sorted_as.query_class,
        asks_why=sorted_as.asks_why,
    )
    return [hit_of(item) for layer in wanted for item in sources[layer]().items(asked, limit=options.limit)]


def _within(hits: list[Hit], max_tokens: int | None) -> tuple[list[Hit], list[Dropped]]:
    if max_tokens is None:
        return hits, []
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    spent = 0
    for hit in hits:
        cost = estimate_tokens(hit.text)
        if spent + cost > max_tokens:
            reason = f"{cost} tokens do not fit into the {max_tokens - spent} left of max_tokens"
            dropped.append(Dropped(memory_id=hit.id, reason=reason, score=hit.score))
        else:
            spent += cost
            kept.append(hit)
    return kept, dropped
