"""`hx.feedback`: what was said of answers; later ones take account of it."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.core.arguments import parse_choice, parse_text, parse_whole, quoted
from hexad.core.tracing import log
from hexad.database.store_context import StoreContext
from hexad.errors import IntegrityError, InvalidInput, NotFound
from hexad.layers.contract import EvidenceBlock, MemoryItem, ScoredItem
from hexad.layers.feedback.stats import feedback_stats
from hexad.layers.feedback.table import Feedbacks, NewFeedback, VerdictCount
from hexad.layers.router.classify import classify
from hexad.memory.feedback import Feedback, FeedbackStats, Verdict
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.memory import Memory
from hexad.memory.query import Hit
from hexad.memory.store import Stores
from hexad.search.recall.feedback_boost import freshness
from hexad.search.recall.query_terms import check_query, understand
from hexad.search.recall.results import layer_of

FACTOR_MOST: Final = 1.25
"""What verdicts may make of a layer's authority at most; at least it is 1 / 1.25 = 0.8."""
DOUBT: Final = 4.0
"""Verdicts that every layer is taken to have for and against it: a few change little."""
QUERY_KEPT: Final = 2_000
NOTE_MOST: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _FeedbackSubject:
    """What a verdict is about."""

    item_id: str
    layer: MemoryLayer
    memory_no: int | None = None
    space: str | None = None


class FeedbackService:
    """Takes verdicts, tells them, takes them back."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        *,
        mask: Callable[[str, str], str],
        item_of: Callable[[str], MemoryItem],
    ) -> None:
        """`mask` redacts a text by the rules of a space; `item_of` finds what is no memory."""
        self._context, self._stores, self._mask, self._item_of = context, stores, mask, item_of
        self._actor = context.actor.describe()
        self._stored = Feedbacks(stores.db, roles=stores.roles, actor=self._actor)

    def give(self, what: object, verdict: str, *, query: str | None, note: str | None) -> Feedback:
        """Store a verdict and return it; the same one again changes nothing, another one takes its place."""
        chosen = parse_choice(Verdict, verdict, "verdict")
        question = None if query is None else check_query(query)
        note_text = parse_text(note, "note") or ""
        if len(note_text) > NOTE_MOST:
            raise InvalidInput(
                f"The note has {len(note_text):,} characters; give at most {NOTE_MOST:,}.", argument="note"
            )
        judged = self._subject_of(what)
        space, now = judged.space, self._context.clock.now()
        masked_question = (
            "" if question is None or space is None else self._mask(question[:QUERY_KEPT], space)
        )
        named = (
            self._actor,
            judged.item_id,
            " ".join((masked_question or question or "").split()).casefold(),
        )
        mark = hmac.new(self._context.salt(), json.dumps(named).encode(), "sha256").hexdigest()
        new = NewFeedback(
            id=self._context.ids.new("fb"),
            mark=mark,
            memory_no=judged.memory_no,
            layer=judged.layer,
            verdict=chosen,
            query=masked_question,
            terms=understand(masked_question, now=now).wanted
            or tuple(masked_question.casefold().split()),  # one of stop words has its own
            query_class=None if question is None else classify(question).query_class,
            note=self._mask(note_text, space) if note_text and space is not None else "",
            given_by=self._actor,
            at=now,
        )
        with self._stores.db.transaction():
            feedback = self._stored.marked(mark)
            if feedback is not None and feedback.verdict is chosen and new.note in ("", feedback.note):
                return feedback
            if feedback is not None:
                self._stored.remove(feedback.id)
            self._stored.put(new)
            return self._stored_feedback(new.id)

    def verdicts(self, what: object | None, *, limit: int | None) -> list[Feedback]:
        """Return what was said, the last first: of one memory, or of all."""
        parse_whole(1 if limit is None else limit, "limit", least=1)
        no = None
        if what is not None:
            no = self._subject_of(what).memory_no
            if no is None:
                raise InvalidInput(
                    f"{quoted(what)} is no memory; feedback is listed by memories, or all of it."
                )
        return self._stored.verdicts(memory_no=no, limit=limit)

    def stats(self, *, limit: int | None) -> FeedbackStats:
        """Return what was said in numbers, with the `limit` most frequent mistakes."""
        parse_whole(1 if limit is None else limit, "limit", least=1)
        return feedback_stats(self._stored.verdicts(), now=self._context.clock.now(), limit=limit)

    def retract(self, feedback_id: str) -> Feedback:
        """Take a verdict back, with what it did, and return it."""
        with self._stores.db.transaction():
            feedback = self._stored_feedback(feedback_id)
            self._stored.remove(feedback.id)
        return feedback

    def factors(self, query_class: QueryClass) -> Mapping[MemoryLayer, float]:
        """Return what was said so far makes of the layers' authority for questions of a class."""
        try:
            counted = self._stored.counted(query_class)
        except IntegrityError as error:  # a plan without it is better than none
            log.warning("What was said of answers cannot be read, and is left out: %s", error)
            return {}
        return layer_factors(counted, now=self._context.clock.now())

    def _stored_feedback(self, feedback_id: str) -> Feedback:
        feedback = self._stored.find(feedback_id) if isinstance(feedback_id, str) else None
        if feedback is None:
            raise NotFound(
                f"There is no feedback {quoted(feedback_id)}; `hx.feedbacks()` lists what there is."
            )
        return feedback

    def _subject_of(self, what: object) -> _FeedbackSubject:
        item = what.item if isinstance(what, EvidenceBlock | ScoredItem) else what
        if isinstance(item, MemoryItem):
            if item.memory_id is None:
                return _FeedbackSubject(item_id=item.id, layer=item.layer)
            return self._memory_subject(item.memory_id, layer=item.layer)
        if isinstance(item, Hit):
            layer = MemoryLayer(item.layer) if item.layer else None
            if layer in (MemoryLayer.SESSION, MemoryLayer.USER):
                return _FeedbackSubject(item_id=item.id, layer=layer)
            return self._memory_subject(item.id, layer=layer)
        item_id = item.id if isinstance(item, Memory) else item
        if not isinstance(item_id, str) or not item_id.strip():
            raise InvalidInput(
                f"{quoted(what)} is nothing to say something of; give a hit, an item of a context, or an id."
            )
        try:
            return self._memory_subject(item_id.partition("#")[0], layer=None)
        except NotFound:
            memory_item = self._item_of(item_id)  # raises `NotFound` for what no layer has
            return _FeedbackSubject(item_id=memory_item.id, layer=memory_item.layer)

    def _memory_subject(self, memory_id: str, *, layer: MemoryLayer | None) -> _FeedbackSubject:
        memories = self._stores.memories
        with self._stores.db.read():
            no = memories.resolve_one(memory_id, spaces=False)
            memory = memories.by_no([no])[no]
        return _FeedbackSubject(
            item_id=memory.id,
            layer=layer or MemoryLayer(layer_of(memory)),
            memory_no=no,
            space=memory.space,
        )


def layer_factors(counted: Iterable[VerdictCount], *, now: datetime) -> Mapping[MemoryLayer, float]:
    """Return what verdicts make of each layer's authority, 0.8 to 1.25; a layer of which nothing was said is left out.

    It is 1.25 to the power of (helpful - wrong) / (helpful + wrong + 4), each verdict counted with what is left of it.
    """
    good: dict[str, float] = {}
    bad: dict[str, float] = {}
    for layer, verdict, at in counted:
        side = good if verdict == Verdict.HELPFUL else bad
        side[layer] = side.get(layer, 0.0) + freshness(at, now)
    factors = {}
    for layer in MemoryLayer:
        helpful, wrong = good.get(layer.value, 0.0), bad.get(layer.value, 0.0)
        if helpful or wrong:
            factors[layer] = FACTOR_MOST ** ((helpful - wrong) / (helpful + wrong + DOUBT))
    return factors
