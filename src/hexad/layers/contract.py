"""The six layers of memory (document 4): what each gives to a context, how a query is planned, what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from hexad.core.arguments import quoted
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.memory import Citation, Trust
from hexad.memory.query import Filters, Successor


class TaskType(StrEnum):
    """What somebody is about to do with the answer (document 4, section 2.3)."""

    EDIT = "edit"
    EXPLAIN = "explain"
    DESIGN = "design"
    REFACTOR = "refactor"
    RESEARCH = "research"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """What a layer is asked.

    `filters` are those of the caller, with the roles that it has: a layer gives nothing that they keep out.
    `now` is the time of the call; `as_of` the time whose state is asked for, None for the present one.
    `asked` is the sentence of which `text` is what its filters left, None where they are one.
    `deterministic` asks for an answer that depends on the stored state alone: no feedback, no clock of its own.
    `vector_ms` is how long the question's vector is waited for; None as long as it takes.
    """

    text: str
    now: datetime
    filters: Filters = field(default_factory=Filters)
    task_type: TaskType = TaskType.EXPLAIN
    query_class: QueryClass = QueryClass.GENERAL
    asks_why: bool = False
    """Whether it asks for a reason or a decision: the only queries that governance answers within its quota."""
    as_of: datetime | None = None
    deterministic: bool = False
    asked: str | None = None
    vector_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """Something that one layer knows about a query (document 4, section 6.2).

    `recency` is its age in days, `relevance` 0 to 1 by the function that all layers share. `confidence` is for what
    was inferred, `importance` for decisions and patterns; None counts as 0. Items of one `key` (an attribute, a
    topic) with different `value` contradict each other. `summary` is handed out first, `text` on demand. `group`
    keeps items apart that share a key and are about different things (a subject, a component).
    """

    id: str
    layer: MemoryLayer
    text: str
    recency: float
    relevance: float
    at: datetime
    kind: str
    summary: str | None = None
    confidence: float | None = None
    importance: float | None = None
    key: str | None = None
    value: JSONValue = None
    group: str | None = None
    evidence_count: int | None = None
    memory_id: str | None = None
    space: str | None = None
    trust: Trust = Trust.USER
    instruction_like: tuple[str, ...] = ()
    pinned: bool = False
    citations: tuple[Citation, ...] = ()
    location: str = ""
    notes: tuple[str, ...] = ()
    """What a reader must know of it: how old a decision is, what a value replaced, why there is an exception."""
    speaker: str = ""
    """Who said it, of a turn of a conversation."""
    superseded_by: Successor | None = None
    """What by its words took the item's place since; `notes` say so too."""

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the item as JSON; `speaker` and `superseded_by` only where there is one."""
        fields = as_json(
            self, "id", "layer", "kind", "text", "summary", "recency", "relevance", "confidence", "importance",
            "at", "key", "value", "group", "evidence_count", "memory_id", "space", "trust", "instruction_like",
            "pinned", "citations", "location", "notes",
        )  # fmt: skip
        return {
            **fields,
            **({"speaker": self.speaker} if self.speaker else {}),
            **({} if self.superseded_by is None else {"superseded_by": self.superseded_by.to_dict()}),
        }


class LayerItems(tuple[MemoryItem, ...]):
    """What a layer knows of a query; `notes` say what is missing, of which the others know nothing."""

    notes: tuple[str, ...]

    def __new__(cls, items: Iterable[MemoryItem] = (), notes: Iterable[str] = ()) -> LayerItems:
        """Return the items with the notes."""
        made = super().__new__(cls, items)
        made.notes = tuple(notes)
        return made


def notes_of(answers: Iterable[Sequence[MemoryItem]]) -> tuple[str, ...]:
    """Return what layers say of their answers, each once."""
    noted = [items for items in answers if isinstance(items, LayerItems)]
    return tuple(dict.fromkeys(note for items in noted for note in items.notes))


class LayerSource(Protocol):
    """One layer as the router sees it. Called in a thread of its own: it opens what it needs and holds nothing."""

    @property
    def name(self) -> MemoryLayer:
        """Which layer it answers for."""

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return at most `limit` items, best first; empty when the layer knows nothing of it.

        `LayerItems` say besides what is missing.
        """

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Return the whole of what `items` gave under an id that is no memory's; None where it is not there."""

    def warm(self) -> None:
        """Load what only a first question would wait for. What goes wrong the question itself will say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each part of a score counts (document 4, section 6.2), as parts of 1.

    `decay` is the formula's lambda, per day; `layer` maps a layer to its authority, 0 to 1.
    """

    relevance: float
    recency: float
    authority: float
    confidence: float
    importance: float
    decay: float
    layer: Mapping[MemoryLayer, float]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the weights as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPlan:
    """What one layer is asked for: at most `limit` items, `share` of the tokens as a cap, within `deadline_ms`."""

    layer: MemoryLayer
    share: float
    tokens: int
    limit: int
    deadline_ms: float | None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the layer's part of a plan as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a query is answered: what it is, which layers are asked, how their items are weighed.

    `decided_by` is `rules`, or the model that was asked; `reasons` says in words what the decision rests on.
    `deadline_ms` None means that every layer is waited for. `feedback` is what verdicts on earlier answers made of the
    authority of layers, as factors from 0.8 to 1.25; a layer of which nothing was said is left out.
    """

    query: str
    task_type: TaskType
    query_class: QueryClass
    asks_why: bool
    layers: tuple[LayerPlan, ...]
    weights: Weights
    max_tokens: int
    deadline_ms: float | None
    decided_by: str = "rules"
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    feedback: Mapping[MemoryLayer, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the plan as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredItem:
    """An item with its score; `parts` maps a part of the formula to what it contributed, and they sum up to it."""

    item: MemoryItem
    score: float
    parts: Mapping[str, float]
    duplicates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the item with its score as JSON."""
        return {
            **self.item.to_dict(),
            **as_json(self, without=("item",)),
            "notes": [*self.item.notes, *self.notes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceBlock:
    """One item as a context shows it: `shown` is `summary` or `text`, `tokens` what it costs there."""

    scored: ScoredItem
    text: str
    shown: str
    tokens: int

    @property
    def item(self) -> MemoryItem:
        """What is shown."""
        return self.scored.item

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the block as JSON."""
        return {**self.scored.to_dict(), "shown": self.shown, "shown_text": self.text, "tokens": self.tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An item that was found and is not in a context: why, and what it would have cost in tokens."""

    id: str
    layer: MemoryLayer
    reason: str
    tokens: int
    score: float | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedContext:
    """What all layers know of a task, within a budget of tokens (document 4, section 9.3).

    `system_context` says where the session, the project and the user stand; `evidence_blocks` what speaks to the
    task, in the order of authority. `late` names layers that did not answer in time, `failed` those that could not
    and why, `absent` those that the store does not have. `rendered` maps `toon`, `json` and `markdown` to the text
    for a model, each of at most `max_tokens`: a form that needs more than `format` for the same items leaves out the
    weakest. The same stored state gives the same bytes.
    """

    task: str
    plan: Plan
    system_context: str
    evidence_blocks: tuple[EvidenceBlock, ...]
    system_items: tuple[EvidenceBlock, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    late: tuple[MemoryLayer, ...] = ()
    failed: Mapping[MemoryLayer, str] = field(default_factory=dict)
    absent: tuple[MemoryLayer, ...] = ()
    notes: tuple[str, ...] = ()
    tokens: int = 0
    max_tokens: int = 0
    format: str = "json"
    rendered: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokens_by_format: Mapping[str, int] = field(default_factory=dict)
    tokens_by_layer: Mapping[MemoryLayer, int] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)

    def render(self, form: str | None = None) -> str:
        """Return the context for a model as `toon`, `json` or `markdown`; None is the form that it was packed for.

        Raises `InvalidInput` for another form.
        """
        if form is None:
            form = self.format
        if not isinstance(form, str) or form not in self.rendered:
            known = ", ".join(self.rendered)
            raise InvalidInput(
                f"form = {quoted(form)} is not known; choose one of {known}, or None.", argument="form"
            )
        return self.rendered[form]

    def __len__(self) -> int:
        """Return how many items it holds; without one it is false, and reads as nothing in every form."""
        return len(self.system_items) + len(self.evidence_blocks)

    def __str__(self) -> str:
        return self.render()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the context with all that led to it as JSON."""
        return {
            "task": self.task,
            "system_context": self.system_context,
            "system_items": [block.to_dict() for block in self.system_items],
            "evidence_blocks": [block.to_dict() for block in self.evidence_blocks],
            "dropped": [left.to_dict() for left in self.dropped],
            "late": [layer.value for layer in self.late],
            "failed": {layer.value: reason for layer, reason in self.failed.items()},
            "absent": [layer.value for layer in self.absent],
            "notes": list(self.notes),
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "format": self.format,
            "text": self.render(),
            "tokens_by_format": dict(self.tokens_by_format),
            "tokens_by_layer": {layer.value: tokens for layer, tokens in self.tokens_by_layer.items()},
            "plan": self.plan.to_dict(),
            "timings_ms": dict(self.timings_ms),
        }
