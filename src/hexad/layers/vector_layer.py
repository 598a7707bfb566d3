"""The vector layer: what was ingested from sources, found by words and by meaning."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Final

from hexad.layers.contract import MemoryItem, MemoryQuery
from hexad.layers.router.plan import LIMIT_BESIDE
from hexad.layers.scoring import relevance_of
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.memory import Memory
from hexad.memory.query import Filters, Hit
from hexad.memory.tables.memories import Memories
from hexad.providers.embedders.base import QueryEmbedder
from hexad.search.recall.query_terms import RecallOptions, understand
from hexad.search.recall.recaller import Recaller
from hexad.text.graphemes import cut
from hexad.text.summary.sentences import sentences
from hexad.text.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SUMMARY_CHARACTERS: Final = 60 * CHARACTERS_PER_TOKEN
"""A longer text is handed out as its telling sentences first."""
QUESTIONS_KEPT: Final = 64
QUERIES_KEPT: Final = 8
SHARED: Final = 60
"""Hits of one recall that all layers share."""
ENOUGH: Final = 3
"""A layer with fewer of them asks for its own."""
_ORIGINS: Final[Mapping[MemoryLayer, tuple[str, ...]]] = {
    MemoryLayer.VECTOR: ("vector",),
    MemoryLayer.PROJECT: ("project",),
    MemoryLayer.GOVERNANCE: ("governance",),
}
SHARING: Final = frozenset(_ORIGINS)
"""They wait for one recall, which may take the deadlines of all whom it is for."""
_SECONDS_A_DAY: Final = 86_400.0


class SharedRecall:
    """One recall for all layers that are asked the same question: each then takes what is its own.

    A query is known by being the same object, so that the next question, in the same words, sees what was written
    since.
    """

    def __init__(self, recaller: Recaller) -> None:
        self.recaller = recaller
        self._lock = Lock()
        self._asked: OrderedDict[int, _SharedQuestion] = OrderedDict()

    def hits(self, query: MemoryQuery) -> Sequence[Hit]:
        """Return the best `SHARED` hits of a query, whatever their layer. Raises what a recall raises."""
        with self._lock:
            asked = self._asked.setdefault(id(query), _SharedQuestion(query))
            while len(self._asked) > QUERIES_KEPT:
                self._asked.popitem(last=False)
        with asked.lock:
            if asked.hits is None:
                # Of repeats the layers decide which one stays, not the rank.
                options = RecallOptions(
                    filters=query.filters,
                    limit=SHARED,
                    folds=False,
                    feedback=not query.deterministic,
                    asked=query.asked,
                )
                asked.hits = self.recaller.recall(query.text, options)
            return asked.hits


class _SharedQuestion:
    """A query in hand; kept, so that no other object can be taken for it."""

    def __init__(self, query: MemoryQuery) -> None:
        self.query = query
        self.lock = Lock()
        self.hits: Sequence[Hit] | None = None


class RecalledLayer:
    """Implements `LayerSource` for memories by where they came from: hybrid recall, narrowed to that origin."""

    def __init__(self, name: MemoryLayer, shared: SharedRecall, memories: Memories) -> None:
        self._name = name
        self._shared = shared
        self._memories = memories

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return self._name

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Nothing: all that it gives are memories."""
        del item_id, now
        return None

    def warm(self) -> None:
        """Load what the first question would wait for: the model and the matrix of vectors."""
        self._shared.recaller.recall("warm", RecallOptions(limit=1))

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return the memories that answer best, each as the span of it that does; without a text the latest."""
        filters = replace(query.filters, origins=_ORIGINS[self._name])
        if not query.text.strip():
            return self._latest(filters, query.now, limit)
        found_hits = self._shared.hits(query)
        hits: Sequence[Hit] = [hit for hit in found_hits if hit.layer == self._name.value][:limit]
        beside = self._name is MemoryLayer.GOVERNANCE and limit <= LIMIT_BESIDE and not query.asks_why
        if (
            not beside and len(hits) < min(limit, ENOUGH) and len(found_hits) == SHARED
        ):  # others fill the answer
            options = RecallOptions(
                filters=filters, limit=limit, feedback=not query.deterministic, asked=query.asked
            )
            hits = self._shared.recaller.recall(query.text, options)
        words = understand(query.text, now=query.now).wanted
        return [item_of(hit, self._name, now=query.now, words=words) for hit in hits]

    def _latest(self, filters: Filters, now: datetime, limit: int) -> list[MemoryItem]:
        """Return the memories that pass, the last changed first: nothing is asked of them."""
        numbers = self._memories.numbers(filters, order="updated", limit=limit)
        memories = self._memories.by_no(numbers)
        hits = [
            Hit(memory=memories[no], chunk=None, score=0.0, parts={}, layer=self._name.value)
            for no in numbers
        ]
        return [item_of(hit, self._name, now=now) for hit in hits]


def item_of(hit: Hit, layer: MemoryLayer, *, now: datetime, words: Sequence[str] = ()) -> MemoryItem:
    """Return a hit of a recall as an item of a layer. What was ingested was not inferred: it has no confidence."""
    memory = hit.memory
    at = memory.valid_from or memory.created_at
    stated = layer is not MemoryLayer.VECTOR
    return MemoryItem(
        id=_item_id(hit),
        layer=layer,
        text=hit.text,
        summary=summary_of(hit.text, words, heading=hit.chunk.heading if hit.chunk else ""),
        recency=max(0.0, (now - at).total_seconds() / _SECONDS_A_DAY),
        relevance=relevance_of(hit.score),
        confidence=memory.confidence if stated else None,
        importance=memory.importance,
        at=at,
        kind=memory.kind,
        key=memory.attribute,
        value=memory.value,
        group=memory.subject,
        evidence_count=memory.evidence,
        memory_id=memory.id,
        space=memory.space,
        trust=memory.trust,
        instruction_like=memory.instruction_like,
        pinned=memory.pinned,
        citations=memory.citations,
        location=hit.location if memory.source is not None or memory.turn is not None else "",
        notes=_notes(memory, layer, now),
    )


def _item_id(hit: Hit) -> str:
    return hit.id if hit.chunk is None or len(hit.memory.chunks) < 2 else hit.chunk.chunk_id


def _notes(memory: Memory, layer: MemoryLayer, now: datetime) -> tuple[str, ...]:
    """Return what is to be known of what rests on something that fell, and of what is over or has not come."""
    fell = memory.metadata.get("needs_review") is True and layer is not MemoryLayer.GOVERNANCE
    notes = (
        ("Something that it rests on has changed since: review it.",) if fell else ()
    )  # decisions say it themselves
    if memory.valid_to is not None and memory.valid_to <= now:
        return (*notes, f"It was so until {memory.valid_to:%Y-%m-%d}.")
    if memory.valid_from is not None and memory.valid_from > now:
        return (*notes, f"It is so from {memory.valid_from:%Y-%m-%d} on.")
    return notes


def summary_of(text: str, words: Sequence[str], *, heading: str = "") -> str | None:
    """Return the sentences of a text that have most of the words, in their order; None for a text that is short.

    >>> summary_of("Short.", ["short"]) is None
    True
    """
    if len(text) <= SUMMARY_CHARACTERS:
        return None
    spans = sentences(text)
    low = text.lower()
    stems = [word[:6] for word in words]
    weight = {span: sum(stem in low[span[0] : span[1]] for stem in stems) for span in spans}
    room = SUMMARY_CHARACTERS - (len(heading) + 2 if heading else 0)
    kept: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (-weight[span], span)):
        length = span[1] - span[0]
        if length + 1 <= room:
            kept.append(span)
            room -= length + 1
        elif not kept:
            kept.append((span[0], span[0] + room))
            break
    parts = [cut(text[start:end], end - start) for start, end in sorted(kept)]
    told = " … ".join(" ".join(part.split()) for part in parts)
    return f"{heading}: {told}" if heading else told


class QuestionCache:
    """Vectors of the last questions, so that several layers that are asked the same one embed it once.

    Kept by hash: nothing of a question stays in the process but its vector.
    """

    def __init__(self, embed: QueryEmbedder) -> None:
        self._embed = embed
        self._lock = Lock()
        self._kept: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._going: dict[bytes, Lock] = {}

    def __call__(self, text: str, space: str | None) -> NDArray[np.float32]:
        """Return the vector of a question. Raises what the embedder raises, and keeps nothing then."""
        mark = blake2b(f"{space or ''}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            known = self._kept.get(mark)
            if known is not None:
                self._kept.move_to_end(mark)
                return known
            own = self._going.setdefault(mark, Lock())
        with own:
            with self._lock:
                known = self._kept.get(mark)
            if known is not None:
                return known
            try:
                vector = self._embed(text, space)
                with self._lock:
                    self._kept[mark] = vector
                    while len(self._kept) > QUESTIONS_KEPT:
                        self._kept.popitem(last=False)
            finally:
                with self._lock:
                    self._going.pop(mark, None)
        return vector
