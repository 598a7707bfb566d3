"""Recall that names layers or a time: memories by where they came from, items of other layers beside them, the past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import log
from typing import Final

from hexad.core.clock import Clock
from hexad.errors import InvalidInput
from hexad.layers.context.api import parse_layers
from hexad.layers.contract import LayerSource, MemoryItem, MemoryQuery, notes_of
from hexad.layers.router.classify import classify
from hexad.layers.scoring import SCALE, relevance_of_share
from hexad.memory.fact import LINE, TOLD, Fact, FactRow, fact_of, family_of
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.link import Linked
from hexad.memory.memory import INSTRUCTION_LIKE, Memory, Status
from hexad.memory.query import Filters, Hit, Hits
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts
from hexad.search.recall.query_terms import LIMIT_MOST, RecallOptions, check_query, understand
from hexad.search.recall.recaller import Recaller
from hexad.search.recall.results import follow, layer_of, more_linked, within
from hexad.text.search_terms import search_terms
from hexad.text.similarity.lookalikes import look_of_fact

OF_MEMORIES: Final = (MemoryLayer.PROJECT, MemoryLayer.GOVERNANCE, MemoryLayer.VECTOR)
"""Layers whose items are memories, told apart by where they came from."""
ENDED_READ: Final = 2_000
"""Of memories that others took the place of, so many of the last changed are looked through."""
_SHORT: Final = 200
_LAST_MOMENT: Final = datetime.max.replace(tzinfo=UTC) - timedelta(microseconds=1)


def fused(relevance: float) -> float:
    """Return the score that has this relevance: the other way round than `relevance_of`.

    >>> from hexad.layers.scoring import relevance_of
    >>> round(fused(relevance_of(4.2)), 6)
    4.2
    """
    inside = min(max(relevance, 1e-9), 1 - 1e-9)
    return SCALE * log(inside / (1 - inside))


def hit_of(item: MemoryItem) -> Hit:
    """Return an item that is no memory as a hit: its record has the item's id, which `expand` takes and `get` does not.

    Its score is the one that stands for its relevance, so that hits of all layers can be compared.
    """
    short = item.summary or (item.text if len(item.text) <= _SHORT else item.text[: _SHORT - 1] + "…")
    score = fused(item.relevance)
    return Hit(
        memory=Memory(
            id=item.id,
            space=item.space or item.layer.value,
            path=item.location or item.layer.value,
            kind=item.kind,
            raw=item.text,
            summary_micro=short,
            summary_short=short,
            summary_long=item.text,
            metadata={INSTRUCTION_LIKE: list(item.instruction_like)} if item.instruction_like else {},
            importance=0.5 if item.importance is None else item.importance,
            confidence=1.0 if item.confidence is None else item.confidence,
            pinned=item.pinned,
            created_at=item.at,
            updated_at=item.at,
            trust=item.trust,
            citations=item.citations,
            attribute=item.key,
            value=item.value,
            evidence=item.evidence_count or 1,
        ),
        chunk=None,
        score=score,
        relevance=item.relevance,
        parts={"layer": score},
        layer=item.layer.value,
        why=item.notes,
    )


def merged(hits: Iterable[Hit], *, limit: int) -> list[Hit]:
    """Return hits of all layers, the best first; equals in the order of authority, then by id."""
    ranks = {layer.value: layer.rank for layer in MemoryLayer}
    ordered = sorted(hits, key=lambda hit: (-hit.score, ranks.get(hit.layer, len(ranks)), hit.id))
    own = {(hit.id, None if hit.chunk is None else hit.chunk.start): hit for hit in reversed(ordered)}
    return list(own.values())[::-1][:limit]


class Then:
    """What hits were at an earlier time.

    A fact is told as it held then; a memory that was not yet, or was over, is left out. What others have taken the
    place of since is looked for by its words, for recall's indexes hold what stands now.
    """

    def __init__(self, stores: Stores, when: datetime) -> None:
        self._stores, self._when = stores, when
        self._facts = Facts(stores.db, roles=stores.roles)

    def hits(self, candidates: Iterable[Hit], question: str, filters: Filters, *, now: datetime) -> list[Hit]:
        """Return what held then, of what was found and of what has ended since."""
        hits: dict[str, Hit] = {}
        for hit in candidates:
            then = self._as_it_was(hit)
            if then is not None:
                hits.setdefault(then.id, then)
        for hit in self._ended(question, filters, now):
            hits.setdefault(hit.id, hit)
        return list(hits.values())

    def _as_it_was(self, hit: Hit) -> Hit | None:
        memory = hit.memory
        if memory.subject is None and memory.attribute is None:
            return hit if _stood(memory, self._when, None) else None
        fact = self._fact_then(memory)
        if fact is None:
            return None
        if fact.id == memory.id:
            return replace(hit, replaced=None, why=(*hit.why, _since(fact)))
        old = self._stores.memories.by_no([no := self._stores.memories.number(fact.id)])[no]
        return replace(
            hit, memory=old, chunk=None, layer=layer_of(old), replaced=None, why=(*hit.why, _since(fact))
        )

    def _fact_then(self, memory: Memory) -> Fact | None:
        """Return the fact of a memory's key that held then: the memory's own, else the last of the line."""
        line = self._line(memory)
        own = next((row for row in line if row.id == memory.id), None)
        if own is None:
            return None
        rivals: Sequence[FactRow] = () if self._facts.holds_many(memory.attribute) else line
        fact = fact_of(own, rivals)
        if fact.holds_at(self._when) or not rivals:
            return fact if fact.holds_at(self._when) else None
        facts = [
            then for row in line if row.status in TOLD and (then := fact_of(row, line)).holds_at(self._when)
        ]
        return facts[-1] if facts else None

    def _line(self, memory: Memory) -> list[FactRow]:
        look = look_of_fact(memory.subject, memory.attribute)
        space = self._stores.spaces.find(memory.space)
        if look is None or space is None:
            return []
        family = family_of(memory.kind)
        rows = self._facts.line(look, space_no=space.no, statuses=LINE)
        return [row for row in rows if family_of(row.kind) == family]

    def _ended(self, question: str, filters: Filters, now: datetime) -> list[Hit]:
        """Return what was superseded since and held then, where it has words of the question."""
        words = [search_terms(word) for word in understand(question, now=now).wanted]
        until = min(self._when, _LAST_MOMENT) + timedelta(microseconds=1)
        if filters.until is not None:
            until = min(until, filters.until)
        memories = self._stores.memories
        numbers = memories.numbers(
            replace(filters, until=until), status=Status.SUPERSEDED, order="updated", limit=ENDED_READ
        )
        ended = self._stores.places.ended(numbers)
        hits = []
        for no, memory in memories.by_no(numbers).items():
            share = sum(word.match(memory.raw) for word in words) / len(words) if words else 0.0
            if not share:
                continue
            if memory.subject is None and memory.attribute is None:
                holds, why = _stood(memory, self._when, ended.get(no)), "another one took its place since"
            else:
                fact = self._fact_then(memory)
                holds = fact is not None and fact.id == memory.id
                why = "" if fact is None else _since(fact)
            if holds:
                score = fused(relevance_of_share(share))
                hits.append(
                    Hit(
                        memory=memory,
                        chunk=None,
                        score=score,
                        relevance=relevance_of_share(share),
                        parts={"words": score},
                        layer=layer_of(memory),
                        why=(why,),
                    )
                )
        return hits


def _stood(memory: Memory, when: datetime, ended: datetime | None) -> bool:
    """Whether something that is no fact was there at a time. Without a successor a superseded memory says nothing."""
    if memory.status is Status.SUPERSEDED and ended is None:
        return False
    begun = memory.valid_from or memory.created_at
    return begun <= when and all(end is None or when < end for end in (memory.valid_to, ended))


def _since(fact: Fact) -> str:
    until = "" if fact.valid_to is None else f" until {fact.valid_to:%Y-%m-%d}"
    return f"it held from {fact.valid_from:%Y-%m-%d}{until}"


_LOOKED_AT: Final = 4
"""So many times as many hits are looked at where a time leaves some of them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrower:
    """Which layers a recall asks, and as of when; None is all that are made of memories, and now."""

    layers: Iterable[str] | None = None
    as_of: datetime | None = None


class LayeredRecall:
    """Recalls from some layers, as of a time. `others` gives the layers whose items are no memories."""

    def __init__(
        self,
        stores: Stores,
        recaller: Recaller,
        others: Mapping[MemoryLayer, Callable[[], LayerSource]],
        *,
        clock: Clock,
    ) -> None:
        self._stores, self._recaller, self._others, self._clock = stores, recaller, others, clock

    def recall(self, query: str, options: RecallOptions, narrower: Narrower) -> Hits:
        """Return the best hits. Raises `InvalidInput` for a layer that the store has not."""
        layers = parse_layers(narrower.layers) or OF_MEMORIES
        if MemoryLayer.GRAPH in layers and MemoryLayer.GRAPH not in self._others:
            raise InvalidInput(
                "layers: there is no code graph to recall from; name other layers, or none for all.",
                argument="layers",
            )
        now = self._clock.now()
        origins = tuple(layer.value for layer in layers if layer in OF_MEMORIES)
        filters = options.filters
        if len(origins) < len(OF_MEMORIES):
            filters = replace(filters, origins=origins)
        if narrower.as_of is not None or len(origins) < len(layers):
            if options.rerank:
                apart = (
                    "session, the user and the graph layer"
                    if MemoryLayer.GRAPH in layers
                    else "session and the user layer"
                )
                raise InvalidInput(
                    f"What held at a time, and what the {apart} say, is not reranked; leave out {{rerank=True}}.",
                    argument="rerank",
                )
        elif self._recaller.reranking_of(options) is not None:
            return self._recaller.recall(query, replace(options, filters=filters))
        found_hits = Hits()
        hits: list[Hit] = []
        if origins:
            wide = options.limit if narrower.as_of is None else min(LIMIT_MOST, _LOOKED_AT * options.limit)
            recall_options = replace(
                options,
                filters=filters,
                limit=wide,
                max_tokens=None,
                follow_links=False,
                rerank=False,
                as_of=narrower.as_of,
            )
            found_hits = self._recaller.recall(query, recall_options)
            hits = list(found_hits)
            if narrower.as_of is not None:
                with self._stores.db.read():
                    hits = Then(self._stores, narrower.as_of).hits(found_hits, query, filters, now=now)
        else:
            check_query(query)
        others = self._of_others(
            query, options, layers, MemoryQuery(text=query, now=now, as_of=narrower.as_of)
        )
        hits += [hit_of(item) for items in others for item in items]
        kept_hits, dropped = within(merged(hits, limit=options.limit), options.max_tokens)
        linked: tuple[Linked, ...] = ()
        beyond = 0
        if options.follow_links:
            with self._stores.db.read():
                numbers = [
                    identity.no
                    for hit in kept_hits
                    if (identity := self._stores.memories.identify(memory_id=hit.id)) is not None
                ]
                linked, beyond = follow(self._stores, numbers)
        return replace(
            found_hits,
            items=tuple(kept_hits),
            mode=found_hits.mode if origins else "lexical",
            dropped=(*found_hits.dropped, *dropped),
            notes=(*found_hits.notes, *notes_of(others), *more_linked(beyond)),
            linked=linked,
        )

    def _of_others(
        self, query: str, options: RecallOptions, layers: Iterable[MemoryLayer], memory_query: MemoryQuery
    ) -> list[Sequence[MemoryItem]]:
        """Return what the session and the user layer have to say, where they are asked."""
        wanted_layers = [layer for layer in layers if layer in self._others]
        if not wanted_layers:
            return []
        sorted_as = classify(query)
        memory_query = replace(
            memory_query,
            filters=options.filters,
            task_type=sorted_as.task_type,
            query_class=sorted_as.query_class,
            asks_why=sorted_as.asks_why,
        )
        return [self._others[layer]().items(memory_query, limit=options.limit) for layer in wanted_layers]
