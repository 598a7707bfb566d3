"""The honeycomb's values, under document 3's names: nodes, edges, and what a walk brings back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from hexad.core.arguments import is_whole, quoted
from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput
from hexad.honeycomb.scoring import COSINE_WEIGHT, DECAY_WEIGHT, HALF_LIFE, check_weights
from hexad.memory.tables.duplicates import NEAR_DUPLICATE
from hexad.search.vectors.quantization import EmbeddingFormat

DATA_BYTES_LIMIT: Final = 8 << 10
NODES_LIMIT: Final = 100_000
DIMENSIONS_LIMIT: Final = 65_536
RELEVANCE_THRESHOLD: Final = 0.8
LOOP_ACCESS_LIMIT: Final = 3
LOOP_ACCESS_MOST: Final = 1_000
"""So many times of looks can be asked for, at each node and session."""
LOOP_DETECTION_WINDOW: Final = timedelta(seconds=10)
MAX_SESSION_TIME: Final = timedelta(seconds=3600)
OVERFLOW_HALF_LIFE: Final = timedelta(days=30)
RELATION_DEFAULT: Final = "related"
RELATION_LIMIT: Final = 64
SESSION_LIMIT: Final = 200
RELATION_BACK: Final = ":back"
"""What the type of the edge against a relation's direction ends with."""
SIMILAR, BY_WORD, NEXT, PREVIOUS = "similar", "shared-words", "next", "previous"
LIKENESS: Final = frozenset((SIMILAR, BY_WORD, NEXT, PREVIOUS, NEAR_DUPLICATE, "derived-from"))
"""The types of edges between memories that weigh as likeness: nobody drew them, or they lead to what says the same."""


class PieceForm(StrEnum):
    """What a piece of a context shows of its node: the whole, one chunk of a memory, or a summary."""

    WHOLE = "whole"
    CHUNK = "chunk"
    LONG = "summary_long"
    SHORT = "summary_short"
    MICRO = "summary_micro"


class Safety(StrEnum):
    """What the circuit breaker says of a node and a session (document 3, algorithm 6)."""

    OK = "OK"
    LOOP_DETECTED = "LOOP_DETECTED"
    SESSION_EXPIRED = "SESSION_EXPIRED"
    INVALID_NODE = "INVALID_NODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombEdge:
    """A directed connection. `ring` 0 is the main ring, 1 and up are overflow; `auto` edges come from memories.

    `relevance_score` is fixed when the edge is made; a stronger insertion of the same pair renews it.
    """

    from_id: int
    target_id: int
    relevance_score: float
    relationship_type: str
    timestamp_created: datetime
    renewed_at: datetime
    ring: int
    auto: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the edge as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombNode:
    """A node with its edges and who looked at it. `memory_id` is set where the node is a memory.

    `fractal_layer` are the overflow rings, at most six edges each. The access fields are of one session.
    """

    id: int
    data: str
    vector_embedding: tuple[float, ...] = field(repr=False)
    embedding_format: EmbeddingFormat
    neighbors: tuple[HoneycombEdge, ...]
    fractal_layer: tuple[tuple[HoneycombEdge, ...], ...]
    created_at: datetime
    is_active: bool
    memory_id: str | None = None
    access_count_session: int = 0
    access_time_first: datetime | None = None
    last_accessed_timestamp: datetime | None = None

    @property
    def embedding_dim(self) -> int:
        """How many numbers the embedding has; 0 without one."""
        return len(self.vector_embedding)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the node as JSON, without the numbers of its embedding."""
        return as_json(
            self, "id", "memory_id", "data", "embedding_dim", "embedding_format", "is_active", "created_at",
            "neighbors", "fractal_layer", "access_count_session", "access_time_first", "last_accessed_timestamp",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombRules:
    """What may be set: weights and half-life of a score, how rings age in walks, limits, the loop breaker.

    `ring_half_lives` are those of ring 0, 1, 2, …; the last also stands for all deeper rings, and None does not age.
    """

    cosine_weight: float = COSINE_WEIGHT
    decay_weight: float = DECAY_WEIGHT
    half_life: timedelta = HALF_LIFE
    ring_half_lives: tuple[timedelta | None, ...] = (None, OVERFLOW_HALF_LIFE)
    max_nodes: int = NODES_LIMIT
    max_data_bytes: int = DATA_BYTES_LIMIT
    loop_access_limit: int = LOOP_ACCESS_LIMIT
    loop_detection_window: timedelta = LOOP_DETECTION_WINDOW
    max_session_time: timedelta = MAX_SESSION_TIME

    def __post_init__(self) -> None:
        check_weights(self.cosine_weight, self.decay_weight)
        for name in ("max_nodes", "max_data_bytes", "loop_access_limit"):
            value = getattr(self, name)
            if not is_whole(value, 1):
                raise InvalidInput(
                    f"{name} = {quoted(value)} is not a whole number of at least 1.", argument=name
                )
        if self.loop_access_limit > LOOP_ACCESS_MOST:
            raise InvalidInput(
                f"loop_access_limit = {quoted(self.loop_access_limit)} is more than {LOOP_ACCESS_MOST:,}. Loops block "
                "nothing: who wants none to be told ignores the answer.",
                argument="loop_access_limit",
            )
        for name in ("half_life", "loop_detection_window", "max_session_time"):
            _check_time(getattr(self, name), name)
        lives = self.ring_half_lives
        if not isinstance(lives, tuple) or not lives:
            raise InvalidInput(
                f"ring_half_lives = {quoted(lives)} cannot be used; give a tuple, the main ring's first.",
                argument="ring_half_lives",
            )
        for life in lives:
            if life is not None:
                _check_time(life, "ring_half_lives")

    def ring_half_life(self, ring: int) -> timedelta | None:
        """Return the half-life of the edges of a ring in walks; None where they do not age."""
        return self.ring_half_lives[min(ring, len(self.ring_half_lives) - 1)]

    def aged(self, score: float, *, ring: int, age: timedelta) -> float:
        """Return what a score is worth in a walk, `age` after its edge was made or strengthened."""
        life = self.ring_half_life(ring)
        if life is None or age <= timedelta(0):
            return score
        return float(score * 0.5 ** (age / life))


def _check_time(value: object, name: str) -> None:
    if not isinstance(value, timedelta) or value <= timedelta(0):
        raise InvalidInput(
            f"{name} = {quoted(value)} cannot be used; give a positive timedelta.", argument=name
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JitPiece:
    """One text of a context, and why it is there: over which edge it was reached, and how near it is to the query.

    `form` says whether `text` is the whole: a memory that does not fit comes in part. `depth` 0 is an entry.
    `relevance_to_focus` is the cosine with the query, None where they cannot be compared.
    """

    id: int
    memory_id: str | None
    text: str
    form: PieceForm
    tokens: int
    depth: int
    strength: float
    relevance_to_focus: float | None
    via: HoneycombEdge | None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the piece as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JitContext:
    """What a walk brought back: `text` is the pieces joined with spaces. `safety` says what the loop breaker saw.

    `thresholds` are the scores that edges had to pass; `left_out` counts, by reason, what the walk met and did not
    take, and under `in part` the pieces that are not the whole.
    """

    text: str
    pieces: tuple[JitPiece, ...]
    tokens: int
    max_tokens: int
    visited: int
    safety: Safety
    thresholds: Mapping[str, float]
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the context as JSON."""
        return as_json(
            self, "text", "tokens", "max_tokens", "visited", "safety", "thresholds", "left_out", "notes", "pieces",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombStats:
    """The graph in numbers. `out_degrees[k]` nodes have k edges in the main ring; `overflow_rings[r]` have r rings.

    `hubs` are `(id, centrality)` of the nodes that walks pass most: PageRank over the main ring.
    """

    nodes: int
    memory_nodes: int
    inactive: int
    max_nodes: int
    edges: int
    overflow_edges: int
    explicit_edges: int
    relations: Mapping[str, int]
    out_degrees: Sequence[int]
    overflow_rings: Mapping[int, int]
    deepest_ring: int
    components: int
    largest_component: int
    isolated: int
    hubs: Sequence[tuple[int, float]]
    embedding_bytes: int

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the numbers as JSON."""
        hubs: list[JSONValue] = [{"id": node, "centrality": centrality} for node, centrality in self.hubs]
        return {**as_json(self), "hubs": hubs}


def check_relation(relation: str, argument: str = "relation") -> str:
    """Return a relation type; raises `InvalidInput` for what cannot be one."""
    words = relation.replace("-", "").replace("_", "") if isinstance(relation, str) else ""
    if not words.isalnum() or len(relation) > RELATION_LIMIT:
        raise InvalidInput(
            f"{argument} = {quoted(relation)} cannot be used; give 1 to {RELATION_LIMIT} letters, digits, "
            "'-' and '_', such as 'response_to'.",
            argument=argument,
        )
    return relation
