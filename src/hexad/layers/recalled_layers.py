"""The layers whose items are memories: one recall for all of them, each then with what it knows besides.

Of the vector layer is what was ingested from sources; facts of the project are told with what they replaced, or as they
stood at a time; decisions are framed as prior context, with their age and their reasons.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from threading import Lock, local
from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.background_loop import SideCalls
from hexad.core.lazy import ByteCache, CacheBook, Lazy
from hexad.errors import ProviderError
from hexad.layers.contract import LayerSource, MemoryItem, MemoryQuery
from hexad.layers.project.technologies import keys_asked, named_key
from hexad.layers.project.values import value_text
from hexad.layers.router.plan import LIMIT_BESIDE
from hexad.layers.router.task_topic import BUILDING, object_of
from hexad.layers.scoring import relevance_of, relevance_of_share
from hexad.memory.decision import DECISION, ago, said_of
from hexad.memory.fact import KINDS_APART, LINE, TOLD, Fact, FactRow, fact_of, family_of
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.query import Filters, Hit, Hits
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.spaces import Spaces
from hexad.providers.embedders.base import QueryEmbedder
from hexad.redaction.injection.detector import instructions_in, safe_line
from hexad.search.recall.current_first import mark_of, successors_of
from hexad.search.recall.query_terms import RecallOptions, understand
from hexad.search.recall.recaller import Recaller
from hexad.search.recall.relevance import TASK_RELEVANCE
from hexad.text.graphemes import beginning, cut
from hexad.text.key_names import topic_key
from hexad.text.requests import asks_for_all
from hexad.text.similarity.lookalikes import look_of_fact
from hexad.text.summary.sentences import sentences
from hexad.text.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SUMMARY_CHARACTERS: Final = 80 * CHARACTERS_PER_TOKEN
"""A longer text is handed out as its telling sentences first. Of 60, 80 and 120 tokens, on half of the questions: with
60 four times as many turns are cut, with 120 fewer functions fit."""
QUESTIONS_BYTES: Final = 1 << 20
QUERIES_KEPT: Final = 8
_EMBEDDED_AT_ONCE: Final = 8
"""So many questions an embedder has at once, those included whose answers went out without their vectors."""
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
DECISIONS_READ: Final = 200
"""So many of the latest decisions are looked through for what a question names by its key."""
_SECONDS_A_DAY: Final = 86_400.0


class SharedRecall:
    """One recall for all layers that are asked the same question: each then takes what is its own.

    A query is known by being the same object, so that the next question, in the same words, sees what was written
    since.
    """

    def __init__(self, recaller: Recaller, caches: CacheBook) -> None:
        self._vectors: QuestionCache | None = None
        self._caches = caches
        self.recaller = recaller.with_query_embedder(self._remembering)
        self.warm = Lazy(self._load)
        self._lock = Lock()
        self._asked: OrderedDict[int, _SharedQuestion] = OrderedDict()
        caches.on_release(self.release_answers)

    def _remembering(self, embed: QueryEmbedder) -> QueryEmbedder:
        self._vectors = QuestionCache(embed)
        self._caches.add("vectors of questions", self._vectors.kept)
        return self._vectors

    def _load(self) -> None:
        self.recaller.recall("warm", RecallOptions(limit=1))

    def close(self) -> None:
        """Wait for vectors that came too late for their questions: what they cost is noted in the store."""
        if self._vectors is not None:
            self._vectors.calls.wait()

    def release_answers(self) -> None:
        """Let go of answers; a question whose layers still wait for theirs stays."""
        with self._lock:
            for number in [number for number, question in self._asked.items() if question.hits is not None]:
                del self._asked[number]

    def hits(self, query: MemoryQuery) -> Sequence[Hit]:
        """Return the best `SHARED` hits of a query, whatever their layer. Raises what a recall raises."""
        with self._lock:
            question = self._asked.setdefault(id(query), _SharedQuestion(query))
            while len(self._asked) > QUERIES_KEPT:
                self._asked.popitem(last=False)
        with question.lock:
            if question.hits is None:
                # Of repeats the layers decide which one stays, not the rank.
                question.hits = self.recall(query, query.filters, limit=SHARED, folds=False)
            return question.hits

    def notes(self, query: MemoryQuery) -> tuple[str, ...]:
        """Return what the recall of a query says of itself; nothing where no layer asked for it, or none has it yet."""
        with self._lock:
            question = self._asked.get(id(query))
        return () if question is None or question.hits is None else question.hits.notes

    def recall(self, query: MemoryQuery, filters: Filters, *, limit: int, folds: bool) -> Hits:
        """Return what is near a query. An order asks nothing: it gets what the store likely knows of its object."""
        text = object_of(query)
        options = RecallOptions(
            near=True,
            definitions=True,
            unasked=query.task_type in BUILDING,
            filters=filters,
            limit=limit,
            folds=folds,
            feedback=not query.deterministic,
            as_of=query.as_of,
            asked=query.asked or (None if text == query.text else query.text),
            semantic=False if self._is_late(query) else None,
        )
        if self._vectors is None:
            return self.recaller.recall(text, options)
        with self._vectors.waiting(query.vector_ms):
            return self.recaller.recall(text, options)

    def _is_late(self, query: MemoryQuery) -> bool:
        """Whether the question's vector was waited for before, and did not come."""
        with self._lock:
            question = self._asked.get(id(query))
        return question is not None and question.hits is not None and bool(question.hits.late)


class _SharedQuestion:
    """A query in hand; kept, so that no other object can be taken for it."""

    def __init__(self, query: MemoryQuery) -> None:
        self.query = query
        self.lock = Lock()
        self.hits: Hits | None = None


class ShowPassages(Protocol):
    """Makes of items, each of a hit, what a context shows of code and documentation; what says nothing is left out."""

    def __call__(
        self, hits: Sequence[Hit], items: Sequence[MemoryItem], query: MemoryQuery
    ) -> list[MemoryItem]:
        """Return the items that are left, in their order."""


class RecalledLayer:
    """Implements `LayerSource` for memories by where they came from: hybrid recall, narrowed to that origin."""

    def __init__(
        self, name: MemoryLayer, shared: SharedRecall, stores: Stores, *, code: ShowPassages | None = None
    ) -> None:
        """`code` puts definitions in the place of spans of code."""
        self._name = name
        self._shared = shared
        self._stores = stores
        self._code = code

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
        self._shared.warm()

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return the memories that answer best, each as the span of it that does; the latest where nothing is named."""
        filters = replace(query.filters, origins=_ORIGINS[self._name])
        if not query.text.strip() or asks_for_all(query.text):
            return self._latest(filters, query, limit)
        found_hits = self._shared.hits(query)
        hits: Sequence[Hit] = [hit for hit in found_hits if hit.layer == self._name.value and _touches(hit)][
            :limit
        ]
        is_beside = self._name is MemoryLayer.GOVERNANCE and limit <= LIMIT_BESIDE and not query.asks_why
        if (
            not is_beside and len(hits) < min(limit, ENOUGH) and len(found_hits) == SHARED
        ):  # others fill the answer
            own = (
                self._shared.recall(query, filters, limit=limit, folds=True)
                if self._stores.places.any_passes(filters)
                else ()
            )
            hits = [hit for hit in own if _touches(hit)]
        words = understand(query.text, now=query.now).wanted
        items = [item_of(hit, self._name, now=query.now, words=words) for hit in hits]
        if self._code is not None:
            items = self._code(hits, items, query)
        if self._name is MemoryLayer.GOVERNANCE and query.as_of is None:
            found_ids = {item.memory_id for item in items}
            named = (item for item in self._naming(words, filters, query) if item.memory_id not in found_ids)
            items = sorted([*items, *named], key=lambda item: -item.relevance)[:limit]
        return items

    def _naming(self, words: Sequence[str], filters: Filters, query: MemoryQuery) -> Iterator[MemoryItem]:
        """Yield decisions without a key that choose what the question names by its key: "Use Prisma" is of the ORM."""
        asked = keys_asked(words)
        if not asked:
            return
        kinds = frozenset({DECISION}).intersection(filters.kinds or {DECISION})
        numbers = self._stores.memories.numbers(
            replace(filters, kinds=tuple(kinds)), order="updated", limit=DECISIONS_READ if kinds else 0
        )
        memories = self._stores.memories.by_no(numbers)
        for no in numbers:
            key = None if memories[no].attribute is not None else named_key(said_of(memories[no]).title)
            if key is None or topic_key(key) not in asked:
                continue
            hit = Hit(memory=memories[no], chunk=None, score=0.0, parts={}, layer=self._name.value)
            share = asked[topic_key(key)] / len(words)
            yield replace(
                item_of(hit, self._name, now=query.now, words=words), relevance=relevance_of_share(share)
            )

    def _latest(self, filters: Filters, query: MemoryQuery, limit: int) -> list[MemoryItem]:
        """Return the memories that pass, the last changed first: nothing is asked of them."""
        numbers = self._stores.memories.numbers(filters, order="updated", limit=limit)
        memories = self._stores.memories.by_no(numbers)
        later = successors_of(self._stores, numbers, until=query.as_of)
        hits = [
            Hit(
                memory=memories[no],
                chunk=None,
                score=0.0,
                parts={},
                layer=self._name.value,
                superseded_by=later.get(no),
            )
            for no in numbers
        ]
        return [item_of(hit, self._name, now=query.now) for hit in hits]


def _touches(hit: Hit) -> bool:
    """Whether a hit may stand in a context: what is open, usual or chosen in a project where the task touches it."""
    if hit.memory.kind not in KINDS_APART:
        return True
    return hit.relevance >= TASK_RELEVANCE or hit.parts.get("lexical", 0.0) > 0


_COMPONENT: Final = "component"
"""A kind whose texts do not say of themselves what they are about, as those of facts do."""


def item_of(hit: Hit, layer: MemoryLayer, *, now: datetime, words: Sequence[str] = ()) -> MemoryItem:
    """Return a hit of a recall as an item of a layer. What was ingested was not inferred: it has no confidence."""
    memory = hit.memory
    at = memory.valid_from or memory.created_at
    stated = layer is not MemoryLayer.VECTOR
    text = f"{memory.subject}: {hit.text}" if memory.kind == _COMPONENT and memory.subject else hit.text
    return MemoryItem(
        id=_item_id(hit),
        layer=layer,
        text=text,
        summary=summary_of(text, words, heading=hit.chunk.heading if hit.chunk else ""),
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
        notes=_notes(hit, layer, now),
        speaker=(memory.turn.speaker or "") if memory.turn is not None else "",
        superseded_by=hit.superseded_by,
    )


def _item_id(hit: Hit) -> str:
    return hit.id if hit.chunk is None or len(hit.memory.chunks) < 2 else hit.chunk.chunk_id


def _notes(hit: Hit, layer: MemoryLayer, now: datetime) -> tuple[str, ...]:
    """Return what is to be known of what rests on something that fell, was superseded, is over, or has not come."""
    memory = hit.memory
    fell = memory.metadata.get("needs_review") is True and layer is not MemoryLayer.GOVERNANCE
    notes = (
        ("Something that it rests on has changed since: review it.",) if fell else ()
    )  # decisions say it themselves
    if hit.superseded_by is not None:
        mark = mark_of(hit.superseded_by.to_dict())
        notes = (*notes, mark[0].upper() + mark[1:])
    notes = (*notes, *(f"The code has outgrown it: it {each}." for each in hit.citations if each.stale))
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
    kept_spans: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (-weight[span], span)):
        length = span[1] - span[0]
        if length + 1 <= room:
            kept_spans.append(span)
            room -= length + 1
        elif not kept_spans:
            kept_spans.append((span[0], span[0] + room))
            break
    parts = [cut(text[start:end], end - start) for start, end in sorted(kept_spans)]
    joined = " … ".join(" ".join(part.split()) for part in parts)
    return f"{heading}: {joined}" if heading else joined


class QuestionCache:
    """Vectors of the last questions, so that several layers that are asked the same one embed it once.

    Kept by hash: nothing of a question stays in the process but its vector.
    """

    def __init__(self, embed: QueryEmbedder) -> None:
        self._embed = embed
        self._lock = Lock()
        self.kept = ByteCache[bytes, "NDArray[np.float32]"](QUESTIONS_BYTES)
        self._going: dict[bytes, Lock] = {}
        self.calls = SideCalls("hexad-question", most=_EMBEDDED_AT_ONCE)
        self._patience = local()

    @contextmanager
    def waiting(self, milliseconds: float | None) -> Iterator[None]:
        """Let this thread's questions wait so long for their vectors; None as long as it takes."""
        self._patience.ms = milliseconds
        try:
            yield
        finally:
            self._patience.ms = None

    def __call__(self, text: str, space: str | None) -> NDArray[np.float32]:
        """Return the vector of a question. Raises what the embedder raises, and keeps nothing then.

        Raises `ProviderError` where it is waited for too long; it is computed nevertheless, for who asks again.
        """
        mark = blake2b(f"{space or ''}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self.kept.get(mark)
        if known is not None:
            return known
        patience_ms: float | None = getattr(self._patience, "ms", None)
        if patience_ms is None:
            return self._computed(mark, text, space)
        try:
            return self.calls.call(lambda: self._computed(mark, text, space), within_s=patience_ms / 1000)
        except TimeoutError:
            raise ProviderError(
                f"the question's vector took longer than {patience_ms:g} ms; wait for it, or raise total_ms and "
                "layer_ms of [router]."
            ) from None

    def _computed(self, mark: bytes, text: str, space: str | None) -> NDArray[np.float32]:
        with self._lock:
            own = self._going.setdefault(mark, Lock())
        with own:
            known = self.kept.get(mark)
            if known is not None:
                return known
            try:
                vector = self.kept.put(mark, self._embed(text, space))
            finally:
                with self._lock:
                    self._going.pop(mark, None)
        return vector


class GovernanceLayer:
    """Implements `LayerSource`: the decisions that `inner` recalls, each with what a reader must know of it.

    A model that is handed an old decision without its age takes it for a rule.
    """

    def __init__(self, inner: LayerSource, decisions: Decisions) -> None:
        self._inner, self._decisions = inner, decisions

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return MemoryLayer.GOVERNANCE

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Nothing: all that it gives are memories."""
        return self._inner.item(item_id, now=now)

    def warm(self) -> None:
        """Load what `inner` would wait for."""
        self._inner.warm()

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what `inner` finds, best first; decided after the time that is asked for, it is left out."""
        items = self._inner.items(query, limit=limit)
        known_decisions = self._decisions.of_memories(
            [item.memory_id for item in items if item.memory_id is not None]
        )
        found_items = []
        for item in items:
            decision = known_decisions.get(item.memory_id or "")
            if decision is None:
                found_items.append(item)
                continue
            if query.as_of is not None and decision.created_at > query.as_of:
                continue
            notes = [*item.notes, decision.framing(query.now)]
            older = self._decisions.before(decision)[:1]
            notes += [
                f"It took the place of {earlier.id} ({ago(earlier.created_at, query.now)})"
                + ("." if earlier.instruction_like else f": {earlier.title}")
                for earlier in older
            ]
            why = f" Why: {decision.rationale}" if decision.rationale else ""
            found_items.append(
                replace(
                    item,
                    kind=DECISION,
                    summary=f"{decision.title}{why}"
                    if len(item.text) > len(decision.title) + len(why)
                    else None,
                    value=None if item.key is None else decision.title,
                    notes=tuple(notes),
                )
            )
        return found_items


EARLIER_MOST: Final = 8
"""So many earlier values are told where a question asks what was; else the last one."""
_SHOWN: Final = 120


class ProjectLayer:
    """Implements `LayerSource`: what `inner` recalls, facts in the light of their history.

    The current value stands in the item; a note says what it replaced, and when; to a question about what was, all
    that was before it. Asked for an earlier time, the value that held then stands in its place; what was not true yet
    is left out.
    """

    def __init__(self, inner: LayerSource, facts: Facts, spaces: Spaces) -> None:
        self._inner, self._facts, self._spaces = inner, facts, spaces

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return MemoryLayer.PROJECT

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Nothing: all that it gives are memories."""
        return self._inner.item(item_id, now=now)

    def warm(self) -> None:
        """Load what `inner` would wait for."""
        self._inner.warm()

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what `inner` finds, best first."""
        found_items = []
        for item in self._inner.items(query, limit=limit):
            memory_item = item if item.key is None else self._as_of_query(item, query)
            if memory_item is not None:
                found_items.append(memory_item)
        return found_items

    def _as_of_query(self, item: MemoryItem, query: MemoryQuery) -> MemoryItem | None:
        if self._facts.holds_many(item.key):
            return replace(item, key=None)  # of several values that hold at once none contradicts another
        if query.as_of is None and item.at > query.now:
            return replace(
                item, key=None
            )  # what is still to come takes no place yet: its own note says from when on
        line = self._line(item)
        own = next((row for row in line if row.id == item.memory_id), None)
        if own is None:
            return item
        fact = fact_of(own, line)
        if query.as_of is not None and not fact.holds_at(query.as_of):
            facts = [
                then
                for row in line
                if row.status in TOLD and (then := fact_of(row, line)).holds_at(query.as_of)
            ]
            return _fact_as_it_was(item, facts[-1], query) if facts else None
        most = EARLIER_MOST if query.query_class is QueryClass.HISTORICAL else 1
        earlier = [f"{_value_shown(row)} ({row.id})" for row in _earlier(fact, line, most=most)]
        if not earlier:
            return item
        note = f"Since {own.valid_from:%Y-%m-%d}; before it was {'; before that '.join(earlier)}."
        return replace(item, notes=(*item.notes, note))

    def _line(self, item: MemoryItem) -> list[FactRow]:
        look = look_of_fact(item.group, item.key)
        space = None if item.space is None else self._spaces.find(item.space)
        if look is None or space is None:
            return []
        family = family_of(item.kind)
        return [
            row
            for row in self._facts.line(look, space_no=space.no, statuses=LINE)
            if family_of(row.kind) == family
        ]


def _earlier(fact: Fact, line: Sequence[FactRow], *, most: int) -> list[FactRow]:
    """Return what a fact took the place of, and what that did, the latest first."""
    found_rows: list[FactRow] = []
    rows = {row.id: row for row in line}
    before = rows.get(fact.replaces or "")
    while before is not None and len(found_rows) < most:
        found_rows.append(before)
        before = rows.get(fact_of(before, line).replaces or "")
    return found_rows


def _fact_as_it_was(item: MemoryItem, fact: Fact, query: MemoryQuery) -> MemoryItem:
    until = "" if fact.valid_to is None else f" until {fact.valid_to:%Y-%m-%d}"
    return replace(
        item,
        id=fact.id,
        memory_id=fact.id,
        text=fact.text,
        summary=None,
        value=fact.value,
        at=fact.valid_from,
        recency=max(0.0, (query.now - fact.valid_from).total_seconds() / _SECONDS_A_DAY),
        confidence=fact.confidence,
        trust=fact.trust,
        citations=(),
        instruction_like=tuple(instructions_in(fact.text)),
        notes=(*item.notes, f"It held from {fact.valid_from:%Y-%m-%d}{until}."),
    )


def _value_shown(row: FactRow) -> str:
    value = fact_of(row, ()).value
    if value is None or instructions_in(row.text):
        return safe_line(row.text, _SHOWN)
    return beginning(value_text(value), _SHOWN)
