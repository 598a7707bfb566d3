"""The router's calls: a plan, a context of all layers, their items as a list, and the whole of one of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from threading import Event, Lock
from typing import Final

from hexad.core.arguments import is_whole, parse_choice, parse_text, parse_time, quoted, word_list
from hexad.database.store_context import StoreContext
from hexad.errors import HexadError, InvalidInput, NotFound
from hexad.layers.context.pack import LayerAnswers, fuse, pack
from hexad.layers.contract import (
    EvidenceBlock,
    FusedContext,
    LayerSource,
    MemoryItem,
    MemoryQuery,
    Plan,
    ScoredItem,
    notes_of,
)
from hexad.layers.recalled_layers import SHARING, item_of
from hexad.layers.router.natural_language_filters import in_query_language, parse_sentence
from hexad.layers.router.parallel import FetchedAnswers, LayerPool, LayerQuestion, attempt, in_turn
from hexad.layers.router.plan import RouteModel, RouteRequest, parse_settings, plan
from hexad.layers.router.query_language import QueryText, moment, parse_query_text
from hexad.memory.decision import DECISION, DECISION_PREFIX
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.query import Filters, Hit
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.redaction.injection.detector import instructions_in
from hexad.search.recall.current_first import successors_of
from hexad.search.recall.query_terms import check_query
from hexad.search.recall.recall_log import RecallLog
from hexad.text.normalize import slug, slugs
from hexad.text.tokens import TokenCounter

NAMES: Final = ("layer", "kind", "tag", "path", "space", "since", "until", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFilters:
    """What else may be asked of a context: filters as `recall` takes them, and how it answers.

    `plain` lets a plain sentence carry filters of its own.
    """

    space: str | Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    since: datetime | str | None = None
    until: datetime | str | None = None
    as_of: datetime | str | None = None
    plain: bool = True


def filters_of(typed: QueryText, narrowed: ContextFilters, *, now: datetime, stores: Stores) -> Filters:
    """Return the filters of both. Raises `InvalidInput` for times between which there is nothing, `NotFound` for a
    space that was never created.
    """
    named_spaces = narrowed.space
    spaces = (
        (named_spaces,)
        if isinstance(named_spaces, str)
        else None
        if named_spaces is None
        else word_list(named_spaces, "space")
    )
    if typed.space is not None:
        spaces = (*(spaces or ()), typed.space)
    for name in spaces or ():
        stores.spaces.get(name)
    kinds = (*word_list(() if narrowed.kinds is None else narrowed.kinds, "kinds"), *typed.kinds)
    since, until = parse_time(narrowed.since, "since"), parse_time(narrowed.until, "until")
    since = since if typed.since is None else moment(typed.since, "since", now=now)
    until = until if typed.until is None else moment(typed.until, "until", now=now)
    if since is not None and until is not None and since >= until:
        raise InvalidInput(
            f"since ({since:%Y-%m-%d %H:%M}) is not before until ({until:%Y-%m-%d %H:%M}): nothing is between them.",
            argument="since",
        )
    return Filters(
        spaces=spaces,
        kinds=tuple(map(slug, kinds)) or None,
        tags=slugs(typed.tags) or None,
        path=typed.path,
        since=since,
        until=until,
        pinned=typed.pinned,
        text=typed.phrases or None,
        roles=stores.roles,
    )


def asks_decisions(typed: QueryText, narrowed: ContextFilters, layers: Sequence[MemoryLayer] | None) -> bool:
    """Whether decisions are asked for by their kind: those of the project are in a layer of their own."""
    kinds = {
        slug(kind)
        for kind in (*word_list(() if narrowed.kinds is None else narrowed.kinds, "kinds"), *typed.kinds)
    }
    return DECISION in kinds and (layers is None or MemoryLayer.PROJECT in layers)


def passes(item: MemoryItem, query: MemoryQuery) -> bool:
    """Whether an item passes the filters, whatever its layer made of them."""
    filters = query.filters
    if item.memory_id is None and (filters.tags or filters.path is not None or filters.spaces is not None):
        return False
    low = item.text.casefold()
    return (
        (filters.spaces is None or item.space in filters.spaces)
        and (filters.kinds is None or slug(item.kind) in filters.kinds)
        and (filters.since is None or item.at >= filters.since)
        and (filters.until is None or item.at < filters.until)
        and (query.as_of is None or item.at <= query.as_of)
        and (filters.pinned is None or item.pinned == filters.pinned)
        and (item.memory_id is not None or all(word.casefold() in low for word in filters.text or ()))
    )


def with_instruction_marks(item: MemoryItem) -> MemoryItem:
    """Return an item with what of its text reads as instructions; memories know it since they were written."""
    if item.instruction_like or item.memory_id is not None or item.layer is MemoryLayer.SESSION:
        return item
    instructions = instructions_in(item.text)
    return replace(item, instruction_like=instructions) if instructions else item


def carried_filters(
    sentence: str,
    narrowed: ContextFilters,
    layers: tuple[MemoryLayer, ...] | None,
    *,
    now: datetime,
    stores: Stores,
) -> QueryText | None:
    """Return the filters that a sentence carries and the call leaves open, with the words left; None without any.

    What the call says goes before what the sentence seems to say.
    """
    query = parse_sentence(sentence, now=now, known_space=lambda name: stores.spaces.find(name) is not None)
    if query is None:
        return None
    if layers is not None:
        query = replace(query, layers=())
    if narrowed.kinds is not None:
        query = replace(query, kinds=())
    if narrowed.space is not None:
        query = replace(query, space=None)
    if narrowed.since is not None or narrowed.until is not None or narrowed.as_of is not None:
        query = replace(query, since=None, until=None)
    return query if query.narrows else None


def weaker_readings(query: QueryText) -> Iterator[tuple[QueryText | None, str]]:
    """Yield weaker readings of a sentence whose filters leave nothing, each with the note that says what was given up.

    First its times go, then its tags, path, space and pins too, then all its filters: None is the sentence as it is.
    """
    words, lost = understood_as(query)[:-1], ""
    times = QueryText(since=query.since, until=query.until)
    placed = QueryText(tags=query.tags, path=query.path, space=query.space, pinned=query.pinned)
    for reading in (times, placed):
        if not reading.narrows:
            continue
        lost = f"{lost} {in_query_language(reading)}".strip()
        query = replace(query, since=None, until=None)
        if reading is placed:
            query = replace(query, tags=(), path=None, space=None, pinned=None)
        if query.narrows:
            yield query, f"{words}; nothing known passes it, so it was answered without {lost}."
    yield None, f"{words}; nothing known passes it, so it was answered without filters."


def understood_as(query: QueryText) -> str:
    """Return the note that says how a sentence was understood, in the query language."""
    return f"Understood as: {in_query_language(query)}."


LIMIT_MOST: Final = 1_000
FIRST_MS, PATIENCE_MS = 3_000.0, 1_000.0
"""So long a first answer may take, which may load a model, and the late are waited for where nobody had anything."""

VECTOR_PART: Final = 2 / 3
"""So much of the time of the recall that layers share a question's vector may take."""

Source = Callable[[], LayerSource | None]
"""Gives a layer; None where the store has none."""


@dataclass(slots=True, kw_only=True)
class _RoutedQuestion:
    """A question, taken apart and planned; `plain` are the filters that a plain sentence carries."""

    plan: Plan
    query: MemoryQuery
    plain: QueryText | None = None
    timings: dict[str, float] = field(default_factory=dict)


class Contexts:
    """Routes questions to the layers of one store."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        sources: Mapping[MemoryLayer, Source],
        *,
        counter: TokenCounter,
        handouts: RecallLog,
        generator_for: Callable[[str | None], RouteModel | None],
        factors: Callable[[QueryClass], Mapping[MemoryLayer, float]],
        recall_notes: Callable[[MemoryQuery], tuple[str, ...]] = lambda _: (),
    ) -> None:
        """A layer without a source is absent; `recall_notes` gives what the recall of a question says of itself."""
        self._stores, self._clock, self._sources_by_layer = stores, context.clock, sources
        self._counter, self._handouts = counter, None if context.db.readonly else handouts
        self._settings = parse_settings(context.settings.router)
        self._generator_for, self._factors, self._recall_notes = generator_for, factors, recall_notes
        self._pool = LayerPool(context.clock)
        self._lock = Lock()
        self._built: dict[MemoryLayer, LayerSource | None] = {}
        self._warm: set[MemoryLayer] = set()
        self._warming: dict[MemoryLayer, Event] = {}

    def plan(
        self,
        question: str,
        *,
        max_tokens: int = 2_000,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        model: str | None = None,
        narrowed: ContextFilters | None = None,
    ) -> Plan:
        """Return how a question would be answered; nothing is asked of a layer."""
        request = RouteRequest(max_tokens=max_tokens, layers=_layers(layers), deterministic=deterministic)
        return self._routed(question, request, narrowed or ContextFilters(), model, argument="query").plan

    def context(
        self,
        task: str,
        *,
        wanted: RouteRequest,
        narrowed: ContextFilters,
        form: str | None = None,
        details: bool = True,
        model: str | None = None,
        without: Collection[str] = (),
    ) -> FusedContext:
        """Return what all layers know of a task but for the memories `without`, within its tokens."""
        started = self._clock.monotonic()
        routed = self._routed(task, wanted, narrowed, model, argument="task")
        routed.timings["plan"] = self._ms(started)
        routed, answered = self._answered_question(task, routed, wanted, narrowed, model)
        answered, known = answered.without(without)
        before = self._clock.monotonic()
        context = pack(
            task,
            routed.plan,
            answered,
            counter=self._counter,
            form=form,
            details=details,
            notes=(*_failure_notes(answered), *self._recall_notes(routed.query), *known),
        )
        routed.timings["pack"] = self._ms(before)
        routed.timings["total"] = self._ms(started)
        self._note(context)
        return replace(context, timings_ms=routed.timings)

    def query(
        self, text: str, *, wanted: RouteRequest, narrowed: ContextFilters, limit: int
    ) -> tuple[ScoredItem, ...]:
        """Return the items of all layers that answer best, without duplicates and contradictions."""
        if not is_whole(limit, 1, LIMIT_MOST):
            raise InvalidInput(
                f"limit = {quoted(limit)} is not a whole number from 1 to {LIMIT_MOST}.", argument="limit"
            )
        request = replace(wanted, limit=max(limit, 20))
        routed = self._routed(text, request, narrowed, None, argument="text")
        routed, answered = self._answered_question(text, routed, request, narrowed, None)
        return fuse(answered, routed.plan).items[:limit]

    def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem:
        """Return the whole of what a context showed as a summary. Raises `NotFound` for an id that is not there."""
        item = _item(what)
        wanted_id = (
            item.memory_id or item.id if item is not None else what.id if isinstance(what, Hit) else what
        )
        if not isinstance(wanted_id, str):
            raise InvalidInput(
                f"{quoted(wanted_id)} is nothing to expand; give an item of a context, a hit, or an id.",
                argument="what",
            )
        memory_item = (
            self._memory(wanted_id.partition("#")[0]) if item is None or item.memory_id is not None else item
        )
        if memory_item is None and item is None:
            memory_item = self._of_layer(wanted_id)
        if memory_item is None:
            raise NotFound(
                f"There is nothing with the id {quoted(wanted_id)}; give one that a context shows in brackets."
            )
        if item is not None:
            memory_item = replace(memory_item, layer=item.layer)
        if max_tokens is None:
            return replace(memory_item, summary=None)
        if not is_whole(max_tokens, 1):
            raise InvalidInput(
                f"max_tokens = {quoted(max_tokens)} must be a whole number, at least 1.",
                argument="max_tokens",
            )
        cut = self._counter.truncate(memory_item.text, max_tokens)
        notes = (
            memory_item.notes
            if cut == memory_item.text
            else (*memory_item.notes, f"Cut to {max_tokens} tokens.")
        )
        return replace(memory_item, summary=None, text=cut, notes=notes)

    def busy(self) -> int:
        """Return how many questions to layers are worked on, late ones among them."""
        return self._pool.busy()

    def close(self) -> None:
        """End the threads that ask layers; one that is late is waited for: it reads the store."""
        self._pool.close()

    # Asking -----------------------------------------------------------------------------------------------------

    def _routed(
        self,
        question: str,
        request: RouteRequest,
        narrowed: ContextFilters,
        model: str | None,
        *,
        argument: str,
    ) -> _RoutedQuestion:
        question = check_query(question, argument, may_be_empty=argument != "text")
        model = parse_text(model, "model")
        typed = parse_query_text(question, names=NAMES)
        if typed.refused:
            raise InvalidInput(f"{typed.refused[0]}.", argument=argument)
        if typed.narrows:
            routed = self._planned(typed.text, typed, request, narrowed, model)
            notes = tuple(f"{problem}." for problem in typed.problems)
        else:
            plain, now = None, self._clock.now()
            if narrowed.plain and self._settings.plain:
                plain = carried_filters(question, narrowed, request.layers, now=now, stores=self._stores)
            routed = self._planned(question, plain or QueryText(words=(question,)), request, narrowed, model)
            routed.plain, notes = plain, () if plain is None else (understood_as(plain),)
        routed.plan = replace(routed.plan, notes=(*routed.plan.notes, *notes))
        return routed

    def _planned(
        self,
        question: str,
        typed: QueryText,
        request: RouteRequest,
        narrowed: ContextFilters,
        model: str | None,
    ) -> _RoutedQuestion:
        """Return how a question is answered whose filters are known; layers are asked for the words left."""
        now = self._clock.now()
        if typed.layers and request.layers is None:
            request = replace(request, layers=_layers(typed.layers))
        if asks_decisions(typed, narrowed, request.layers):
            request = replace(request, also=(MemoryLayer.GOVERNANCE,))
        generator = None if model is None else self._generator_for(None if model == "default" else model)
        found_plan = plan(question, request, self._settings, model=generator, factors=self._factors)
        query = MemoryQuery(
            text=typed.text,
            now=now,
            filters=filters_of(typed, narrowed, now=now, stores=self._stores),
            task_type=found_plan.task_type,
            query_class=found_plan.query_class,
            asks_why=found_plan.asks_why,
            as_of=parse_time(narrowed.as_of, "as_of"),
            deterministic=request.deterministic,
            asked=None if question == typed.text else question,
            vector_ms=_vector_ms(found_plan),
        )
        return _RoutedQuestion(plan=found_plan, query=query)

    def _answered_question(
        self,
        question: str,
        routed: _RoutedQuestion,
        request: RouteRequest,
        narrowed: ContextFilters,
        model: str | None,
    ) -> tuple[_RoutedQuestion, LayerAnswers]:
        """Return what the layers know; where the filters of a plain sentence leave nothing, without them, and why."""
        answered = self._answers(routed)
        if routed.plain is None or answered.late or any(answered.items.values()):
            return routed, answered
        for typed, note in weaker_readings(routed.plain):
            again = self._planned(question, typed or QueryText(words=(question,)), request, narrowed, model)
            again.timings.update(routed.timings)
            answers = self._answers(again)
            if any(answers.items.values()):
                again.plan = replace(again.plan, notes=(*again.plan.notes, note))
                return again, answers
        return routed, answered

    def _answers(self, question: _RoutedQuestion) -> LayerAnswers:
        planned = {layer.layer: layer for layer in question.plan.layers}
        sources, broken = self._sources(planned)
        first: list[MemoryLayer] = []
        cold: list[MemoryLayer] = []
        if not question.query.deterministic:
            before = self._clock.monotonic()
            first, cold = self._make_warm(sources, waits=question.plan.deadline_ms is None)
            if first or cold:
                question.timings["warm"] = self._ms(before)
        asks: dict[MemoryLayer, LayerQuestion] = {
            layer: _ask(source, question.query, planned[layer].limit)
            for layer, source in sources.items()
            if layer not in cold
        }
        if question.plan.deadline_ms is None:
            fetched = in_turn(asks, clock=self._clock)
        else:
            deadlines = {layer: planned[layer].deadline_ms or question.plan.deadline_ms for layer in asks}
            shared = {layer: deadlines[layer] for layer in asks if layer in SHARING}
            deadlines.update(dict.fromkeys(shared, sum(shared.values())))
            deadlines.update({layer: max(FIRST_MS, deadlines[layer]) for layer in first})
            fetched = self._pool.fetch(
                asks,
                deadlines_ms=deadlines,
                total_ms=max(question.plan.deadline_ms, FIRST_MS if first else 0.0),
                patience_ms=PATIENCE_MS,
            )
        fetched.late.extend(cold)
        question.timings.update(fetched.timings_ms)
        return _answered(question.query, fetched, broken, planned, sources)

    def _sources(
        self, wanted_layers: Iterable[MemoryLayer]
    ) -> tuple[dict[MemoryLayer, LayerSource], dict[MemoryLayer, str]]:
        """Return the layers that are there, built when they are first asked, and those that cannot be."""
        broken: dict[MemoryLayer, str] = {}
        with self._lock:
            for layer in wanted_layers:
                if layer not in self._built and layer in self._sources_by_layer:
                    source, error = attempt(self._sources_by_layer[layer])
                    if error is not None:
                        broken[layer] = error
                    elif source is not None:  # code may be indexed yet
                        self._built[layer] = source
            sources = {
                layer: built for layer in wanted_layers if (built := self._built.get(layer)) is not None
            }
        return sources, broken

    def _make_warm(
        self, sources: Mapping[MemoryLayer, LayerSource], *, waits: bool
    ) -> tuple[list[MemoryLayer], list[MemoryLayer]]:
        """Let layers load what only their first answer has to wait for, before the clock runs.

        Returns those that did, and those that still do so after `FIRST_MS`: they go on by themselves, and are not
        asked before they are done. What another context at the same time has begun is waited for as long. With
        `waits` all are waited for.
        """
        started = self._clock.monotonic()
        with self._lock:
            cold = [layer for layer in sources if layer not in self._warm]
            begun = [layer for layer in cold if layer not in self._warming]
            others = [self._warming[layer] for layer in cold if layer in self._warming]
            self._warming.update({layer: Event() for layer in begun})
        if waits:
            for layer in cold:
                self._warm_up(layer, sources[layer])
            return cold, []
        warming: dict[MemoryLayer, LayerQuestion] = {
            layer: partial(self._warm_up, layer, sources[layer]) for layer in begun
        }
        if warming:
            self._pool.fetch(warming, deadlines_ms=dict.fromkeys(warming, FIRST_MS), total_ms=FIRST_MS)
        for other in others:
            other.wait(max(0.0, FIRST_MS - self._ms(started)) / 1000)
        return [layer for layer in cold if layer in self._warm], [
            layer for layer in cold if layer not in self._warm
        ]

    def _warm_up(self, layer: MemoryLayer, source: LayerSource) -> Sequence[MemoryItem]:
        attempt(source.warm)  # what goes wrong the question itself will say
        with self._lock:
            self._warm.add(layer)
            done = self._warming.pop(layer, None)
        if done is not None:
            done.set()
        return ()

    def _ms(self, started: float) -> float:
        return round((self._clock.monotonic() - started) * 1000, 3)

    # Single items -----------------------------------------------------------------------------------------------

    def _memory(self, memory_id: str) -> MemoryItem | None:
        memories = self._stores.memories
        try:
            with self._stores.db.read():
                if memory_id.startswith(DECISION_PREFIX):
                    memory_id = (
                        Decisions(self._stores.db, roles=self._stores.roles).get(memory_id).memory_id or ""
                    )
                no = memories.resolve(memory_id, space=None)
                memory = memories.by_no([no])[no]
                later = successors_of(self._stores, [no]).get(no)
        except (NotFound, InvalidInput):
            return None
        hit = Hit(memory=memory, chunk=None, score=0.0, parts={}, layer="", superseded_by=later)
        layer = MemoryLayer.VECTOR if memory.source is not None else MemoryLayer.PROJECT
        layer = MemoryLayer.GOVERNANCE if memory.kind == "decision" else layer
        if self._handouts is not None:
            self._handouts.note_texts([(no, memory.raw, memory.raw)], at=self._clock.now())
        return item_of(hit, layer, now=self._clock.now())

    def _of_layer(self, item_id: str) -> MemoryItem | None:
        for source in self._sources(MemoryLayer)[0].values():
            with suppress(HexadError):  # a layer that is closed to the actor, or damaged, has nothing to show
                memory_item = source.item(item_id, now=self._clock.now())
                if memory_item is not None:
                    return memory_item
        return None

    def _note(self, context: FusedContext) -> None:
        """Let `last_used_at` and the echo check know what was shown."""
        if self._handouts is None:
            return
        blocks = [
            block for block in (*context.system_items, *context.evidence_blocks) if block.item.memory_id
        ]
        numbers = self._stores.memories.numbers_of({str(block.item.memory_id) for block in blocks})
        shown = [
            (numbers[str(block.item.memory_id)], block.text, block.item.text)
            for block in blocks
            if block.item.memory_id in numbers
        ]
        self._handouts.note_texts(shown, at=self._clock.now())


def _vector_ms(found_plan: Plan) -> float | None:
    """Return how long the recall that layers share waits for the question's vector: what is left is for full text."""
    if found_plan.deadline_ms is None:
        return None
    shared_ms = sum(layer.deadline_ms or 0.0 for layer in found_plan.layers if layer.layer in SHARING)
    return VECTOR_PART * min(shared_ms, found_plan.deadline_ms)


def _ask(source: LayerSource, query: MemoryQuery, limit: int) -> LayerQuestion:
    return lambda: source.items(query, limit=limit)


def _answered(
    query: MemoryQuery,
    fetched: FetchedAnswers,
    broken: Mapping[MemoryLayer, str],
    planned: Iterable[MemoryLayer],
    sources: Mapping[MemoryLayer, LayerSource],
) -> LayerAnswers:
    items = {
        layer: [with_instruction_marks(item) for item in some if passes(item, query)]
        for layer, some in fetched.items.items()
    }
    return LayerAnswers(
        items=items,
        late=tuple(sorted(fetched.late, key=lambda layer: layer.rank)),
        failed={**broken, **fetched.failed},
        absent=tuple(layer for layer in planned if layer not in sources and layer not in broken),
        notes=notes_of(fetched.items.values()),
    )


def _item(what: object) -> MemoryItem | None:
    if isinstance(what, EvidenceBlock | ScoredItem):
        return what.item
    return what if isinstance(what, MemoryItem) else None


def _layers(names: Iterable[str] | None) -> tuple[MemoryLayer, ...] | None:
    if names is None:
        return None
    chosen = [parse_choice(MemoryLayer, name, "layers") for name in word_list(names, "layers")]
    if not chosen:
        raise InvalidInput(
            f"layers is empty; name some of {', '.join(MemoryLayer)}, or leave it out for all.",
            argument="layers",
        )
    return tuple(sorted(set(chosen), key=lambda layer: layer.rank))


def parse_layers(names: Iterable[str] | None) -> tuple[MemoryLayer, ...] | None:
    """Return the layers of these names in the order of authority, None for None. Raises `InvalidInput`."""
    return _layers(names)


def _failure_notes(answered: LayerAnswers) -> tuple[str, ...]:
    notes = [f"The layer {layer} failed: {reason}" for layer, reason in (answered.failed or {}).items()]
    if answered.late:
        notes.append(f"Did not answer in time: {', '.join(answered.late)}.")
    return (*notes, *answered.notes)
