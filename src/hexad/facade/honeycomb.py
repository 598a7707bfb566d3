"""`hx.honeycomb`: the association graph (document 3). Thin: it checks what is given and asks the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hexad.clock import Clock
from hexad.errors import InvalidInput, NotFound, ProviderError
from hexad.facade.honeycomb_given import (
    given_node,
    given_scope,
    given_session,
    given_share,
    given_vector,
)
from hexad.index.honeycomb_layout import Layout
from hexad.index.honeycomb_stats import graph_numbers
from hexad.model.association import calculate_relevance
from hexad.model.honeycomb import (
    RELATION_DEFAULT,
    RELEVANCE_THRESHOLD,
    EmbeddingFormat,
    HoneycombEdge,
    HoneycombNode,
    HoneycombRules,
    HoneycombStats,
    JitContext,
    Safety,
    check_relation,
)
from hexad.model.parse import parse_whole, quoted
from hexad.recall.jit import MEMORIES, OWN, JitWalker, WalkOptions, edge_of
from hexad.recall.safety import CircuitBreaker
from hexad.storage.codec import from_micros, to_micros
from hexad.storage.embeddings import decode
from hexad.storage.honeycomb_edges import EdgeRow, NewEdge
from hexad.storage.stores import Stores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TOKENS = 2_000
HUBS_SHOWN = 10


@dataclass(slots=True, kw_only=True)
class RulesInForce:
    """The rules of an open store: from its settings, until `configure` replaces them."""

    current: HoneycombRules


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombNeeds:
    """What the facade is handed. `embed` and `embed_query` are None where the store is open without an embedder."""

    stores: Stores
    clock: Clock
    rules: RulesInForce
    layout: Layout
    walker: JitWalker
    breaker: CircuitBreaker
    memory_threshold: Callable[[], float]
    mask: Callable[[str], str]
    check_owner: Callable[[str], None]
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    embed_query: Callable[[str, str | None], NDArray[np.float32]] | None


class HoneycombFacade:
    """A graph in which a node has at most six edges in each ring, and no edge is lost."""

    def __init__(self, needs: HoneycombNeeds) -> None:
        self._needs = needs
        self._stores = needs.stores
        self._nodes = needs.stores.honeycomb

    @property
    def rules(self) -> HoneycombRules:
        """Weights, half-lives and limits, as they are in force for this open store."""
        return self._needs.rules.current

    def configure(self, **changes: float | timedelta | tuple[timedelta | None, ...]) -> HoneycombRules:
        """Change rules for this open store and return them; the settings of `hexad.toml` hold for all.

        Raises `InvalidInput` for a rule that is not known or a value that cannot be used.
        """
        unknown = sorted(set(changes) - set(HoneycombRules.__slots__))
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} is no rule of the honeycomb; there are {', '.join(HoneycombRules.__slots__)}."
            )
        self._needs.rules.current = replace(self.rules, **changes)  # type: ignore[arg-type]  # checked by the values
        return self.rules

    # Nodes ------------------------------------------------------------------------------------------------------

    def add_node(
        self, text: str, embedding: Iterable[float] | None = None, *, format: str = EmbeddingFormat.FLOAT32
    ) -> int:
        """Store a text of at most 8 KiB with its embedding and return its id; secrets are taken out first.

        Without `embedding` the store's embedder makes one; a store without an embedder keeps none, and walks reach
        the node over edges alone. `format` is float32, float16 or int8. Raises `InvalidInput` for a value that cannot
        be used, `LimitExceeded` for a text that is too long and at capacity, where nothing is evicted.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     rust, python = hx.honeycomb.add_node("Rust", [1, 0]), hx.honeycomb.add_node("Python", [0.6, 0.8])
        ...     round(hx.honeycomb.insert(rust, python).relevance_score, 2)
        0.72
        """
        return self.add_nodes([(text, embedding)], format=format)[0]

    def add_nodes(
        self,
        nodes: Iterable[tuple[str, Iterable[float] | None]],
        *,
        format: str = EmbeddingFormat.FLOAT32,
    ) -> list[int]:
        """Store many texts with their embeddings in one transaction, all or none; returns their ids in order.

        Raises what `add_node` does.
        """
        given = [self._given_pair(one) for one in nodes]
        texts = [self._needs.mask(text) if isinstance(text, str) else text for text, _ in given]
        vectors = [None if vector is None else given_vector(vector, "embedding") for _, vector in given]
        limit = self.rules.max_data_bytes
        for text in texts:
            given_node(text, None, format, limit=limit)  # before anything is embedded, and paid for
        missing = [place for place, vector in enumerate(vectors) if vector is None]
        if missing and self._needs.embed is not None:
            rows = self._needs.embed([texts[place] for place in missing])
            for place, row in zip(missing, rows, strict=True):
                vectors[place] = row.tolist()
        new = [
            given_node(text, vector, format, limit=limit) for text, vector in zip(texts, vectors, strict=True)
        ]
        with self._stores.db.transaction():
            return self._nodes.add(new, at=self._now(), limit=self.rules.max_nodes)

    def get(self, node: int | str, *, session: str | None = None) -> HoneycombNode:
        """Return a node with its rings and with what `session` did with it; a memory is named by its id, too.

        Raises `NotFound` for a node that is not there.
        """
        session = given_session(session)
        with self._stores.db.read():
            node_id = self._node(node)
            row = self._nodes.of([node_id])[node_id]
            said = self._nodes.texts([node_id])[node_id]
            content = self._nodes.contents([node_id]).get(node_id)
            vector = self._vectors([node_id]).get(node_id)
            main = self._nodes.edges.main([node_id]).get(node_id, [])
            overflow = self._nodes.edges.overflow([node_id]).get(node_id, [])
        access = self._needs.breaker.of(node_id, session)
        return HoneycombNode(
            id=node_id,
            data=said.text,
            vector_embedding=() if vector is None else tuple(vector.tolist()),
            embedding_format=EmbeddingFormat.FLOAT16 if content is None else EmbeddingFormat(content.format),
            neighbors=self._seen(main),
            fractal_layer=_by_ring(self._seen(overflow)),
            created_at=from_micros(row.created_at),
            is_active=bool(row.active),
            memory_id=said.memory_id,
            access_count_session=0 if access is None else access.count,
            access_time_first=None if access is None else from_micros(access.first_at),
            last_accessed_timestamp=None if access is None else from_micros(access.last_at),
        )

    def remove(self, node: int) -> None:
        """Remove a node of `add_node` with its edges; the strongest overflow edges take the seats that come free.

        Raises `NotFound`, and `InvalidInput` for a memory, which `hx.forget` takes out.
        """
        with self._stores.db.transaction():
            node_id = self._node(node)
            if self._nodes.of([node_id])[node_id].is_memory:
                raise InvalidInput(
                    f"Node {node_id} is a memory: `hx.forget` takes it out of recall and walks."
                )
            self._nodes.remove([node_id])

    def deactivate(self, node: int | str) -> None:
        """Keep walks out of a node; it stays with all its edges. Raises `NotFound`."""
        self._set_active(node, active=False)

    def activate(self, node: int | str) -> None:
        """Let walks enter a node again. Raises `NotFound`."""
        self._set_active(node, active=True)

    # Edges ------------------------------------------------------------------------------------------------------

    def insert(
        self, focus: int | str, node: int | str, *, relation: str | None = None, score: float | None = None
    ) -> HoneycombEdge:
        """Connect `focus` to `node` and return the edge as it stands then.

        The score is `calculate_relevance` of the two, now, unless given. With six stronger edges at `focus` the new
        one goes to overflow; with a weaker one among them that one does. The same pair is the same edge: a higher
        score strengthens it, which may bring it back into the main ring. `relation` None is `related`, or stays.

        Raises `NotFound` for a node that is not there, `InvalidInput` for a node connected with itself, embeddings
        that cannot be compared where no score is given, and other values.
        """
        return self.insert_many([(focus, node)], relation=relation, score=score)[0]

    def insert_many(
        self,
        pairs: Iterable[tuple[int | str, int | str]],
        *,
        relation: str | None = None,
        score: float | None = None,
    ) -> list[HoneycombEdge]:
        """Connect many pairs in order, in one transaction, all or none. Raises what `insert` does."""
        given = [self._given_pair(pair) for pair in pairs]
        name = None if relation is None else check_relation(relation)
        fixed = None if score is None else given_share(score, "score")
        with self._stores.db.transaction():
            edges = [self._new_edge(focus, node, name, fixed) for focus, node in given]
            return [edge_of(row) for row in self._nodes.edges.insert(edges, at=self._now())]

    def neighbors(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of a node's main ring, the strongest first. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._seen(self._nodes.edges.main([node_id]).get(node_id, [])))

    def overflow(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of all overflow rings of a node, ring by ring. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._seen(self._nodes.edges.overflow([node_id]).get(node_id, [])))

    # Context ----------------------------------------------------------------------------------------------------

    def find_most_relevant(
        self, query: str | Iterable[float], *, limit: int = 1, scope: str = "all"
    ) -> list[tuple[int, float]]:
        """Return the active nodes nearest to a text or a vector with their cosines, the nearest first.

        Raises what `jit_context` does.
        """
        parse_whole(limit, "limit", least=1)
        return self._needs.walker.nearest(self._query(query), limit=limit, scope=given_scope(scope))

    def jit_context(
        self,
        query: str | Iterable[float] | None = None,
        max_tokens: int = MAX_TOKENS,
        *,
        start: int | str | None = None,
        entries: int = 1,
        threshold: float | None = None,
        overflow: bool = True,
        scope: str = "all",
        session: str | None = None,
    ) -> JitContext:
        """Return the texts that a walk from the nodes nearest to `query` brings together, joined with spaces.

        The walk goes level by level over edges whose score, aged by their ring's half-life, is above `threshold`, the
        strongest first; each node counts once, inactive ones are passed by. Texts are taken while `max_tokens` has
        room for them. `overflow` lets the walk into overflow rings where room is left. `start` is a node to begin at
        instead. `scope` is `all`, `nodes` (of `add_node`) or `memories`.

        The threshold is 0.8 from nodes of `add_node`; from memories it is taken from how alike the store's own
        memories are. `thresholds` of the answer says what was used. The walk is an `access` of its entries in
        `session`, and `safety` says what the loop breaker makes of it; the context is there all the same.

        Raises `InvalidInput` for a value that cannot be used, `ProviderError` for a text as query without an embedder,
        `NotFound` for a start that is not there.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     comb = hx.honeycomb
        ...     first, second = comb.add_nodes([("Rust is fast.", [1, 0]), ("Cargo builds it.", [0.9, 0.1])])
        ...     _ = comb.insert(first, second)
        ...     comb.jit_context([1, 0], max_tokens=100).text
        'Rust is fast. Cargo builds it.'
        """
        parse_whole(max_tokens, "max_tokens", least=1)
        parse_whole(entries, "entries", least=1)
        kinds, session = given_scope(scope), given_session(session)
        vector = None if query is None else self._query(query)
        if start is not None:
            with self._stores.db.read():
                begin = [(self._node(start), 1.0)]
        elif vector is not None:
            begin = self._needs.walker.nearest(vector, limit=entries, scope=kinds)
        else:
            raise InvalidInput("There is nowhere to begin; give a query, or start=…")
        options = WalkOptions(
            max_tokens=max_tokens,
            thresholds=self._thresholds(threshold, kinds),
            entries=entries,
            descend=overflow,
            scope=kinds,
        )
        codes = [self._needs.breaker.access(node, session) for node, _ in begin]
        worst = next((code for code in codes if code is not Safety.OK), Safety.OK)
        return self._needs.walker.walk(begin, options, query=vector, safety=worst)

    # Safety -----------------------------------------------------------------------------------------------------

    def start_session(self, session: str | None = None) -> None:
        """Begin a session, or begin it anew: its time and its accesses count from now."""
        self._needs.breaker.start(given_session(session))

    def access(self, node: int | str, *, session: str | None = None) -> Safety:
        """Note that a node was looked at in a session, and return what the loop breaker says then."""
        node_id = self._named(node)
        return (
            Safety.INVALID_NODE
            if node_id is None
            else self._needs.breaker.access(node_id, given_session(session))
        )

    def check_safety(self, node: int | str, *, session: str | None = None) -> Safety:
        """Return OK, LOOP_DETECTED (looked at more than 3 times in 10 s), SESSION_EXPIRED (after 3600 s) or
        INVALID_NODE. Nothing is counted and nothing is blocked.
        """  # fmt: skip
        node_id = self._named(node)
        return (
            Safety.INVALID_NODE
            if node_id is None
            else self._needs.breaker.check(node_id, given_session(session))
        )

    # Numbers ----------------------------------------------------------------------------------------------------

    def stats(self) -> HoneycombStats:
        """Return the graph in numbers: degrees, overflow, components, hubs.

        Raises `AccessDenied` for an actor from whom memories are hidden: the numbers are about all of them.
        """
        self._needs.check_owner("the honeycomb's numbers")
        self._needs.breaker.flush()
        with self._stores.db.read():
            nodes, memories, inactive, size = self._nodes.totals()
            edges, overflow, explicit = self._nodes.edges.totals()
            relations = self._nodes.edges.relations()
            depths = self._nodes.overflow_rings()
            numbers = graph_numbers(self._needs.layout.rings(), hubs=HUBS_SHOWN)
        return HoneycombStats(
            nodes=nodes,
            memory_nodes=memories,
            inactive=inactive,
            max_nodes=self.rules.max_nodes,
            edges=edges,
            overflow_edges=overflow,
            explicit_edges=explicit,
            relations=relations,
            out_degrees=numbers.out_degrees,
            overflow_rings=depths,
            deepest_ring=max(depths, default=0),
            components=numbers.components,
            largest_component=numbers.largest,
            isolated=numbers.isolated,
            hubs=numbers.hubs,
            embedding_bytes=size,
        )

    # Inside -----------------------------------------------------------------------------------------------------

    def _now(self) -> int:
        return to_micros(self._needs.clock.now())

    def _named(self, node: int | str) -> int | None:
        """Return the id that a caller means, None where nothing has it that may be seen."""
        if isinstance(node, str):
            try:
                return self._stores.memories.resolve(node, space=None)
            except NotFound:
                return None
        if isinstance(node, bool) or not isinstance(node, int):
            raise InvalidInput(f"node = {quoted(node)} is no node; give its id, or the id of a memory.")
        return node if -(1 << 63) <= node < 1 << 63 else None

    def _node(self, node: int | str) -> int:
        """Return the id of a node that is there; raises `NotFound`."""
        node_id = self._named(node)
        if node_id is None or not self._nodes.visible([node_id]):
            raise NotFound(
                f"Node {quoted(node)} is not in the honeycomb; `add_node` makes one, and a memory becomes one when it "
                "has its vector (`hexad maintain`)."
            )
        return node_id

    def _set_active(self, node: int | str, *, active: bool) -> None:
        with self._stores.db.transaction():
            self._nodes.set_active(self._node(node), active=active)

    def _vectors(self, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        own = {
            one.node_id: decode(one.embedding, one.format, one.scale)
            for one in self._nodes.embeddings_of(ids)
            if one.dimensions
        }
        return {**self._stores.vectors.of_memories(ids), **own}

    def _new_edge(
        self, focus: int | str, node: int | str, relation: str | None, score: float | None
    ) -> NewEdge:
        focus_id, node_id = self._node(focus), self._node(node)
        if focus_id == node_id:
            raise InvalidInput(f"Node {focus_id} cannot be connected with itself; give another one.")
        if score is None:
            score = self._relevance(focus_id, node_id)
        return NewEdge(
            from_id=focus_id,
            to_id=node_id,
            score=score,
            relation=relation,
            default_relation=RELATION_DEFAULT,
        )

    def _relevance(self, focus: int, node: int) -> float:
        rows, rules = self._vectors([focus, node]), self.rules
        for one in (focus, node):
            if one not in rows:
                raise InvalidInput(f"Node {one} has no embedding to compare; give score=… from 0 to 1.")
        if len(rows[focus]) != len(rows[node]):
            raise InvalidInput(
                f"Node {focus} has {len(rows[focus])} dimensions and node {node} {len(rows[node])}; only embeddings "
                "of one length can be compared. Give score=… from 0 to 1."
            )
        created = from_micros(self._nodes.of([node])[node].created_at)
        return calculate_relevance(
            rows[focus].tolist(),
            rows[node].tolist(),
            created,
            self._needs.clock.now(),
            cosine_weight=rules.cosine_weight,
            decay_weight=rules.decay_weight,
            half_life=rules.half_life,
        )

    def _query(self, query: str | Iterable[float]) -> Sequence[float]:
        if not isinstance(query, str):
            return given_vector(query, "query")
        if not query.strip():
            raise InvalidInput("The query says nothing; give a text or a vector.")
        if self._needs.embed_query is None:
            raise ProviderError(
                "A text was given as query, and no embedder is open to compare it by. Give a vector, or open the store "
                "with an embedder."
            )
        row: list[float] = self._needs.embed_query(query, None).tolist()
        return row

    def _thresholds(self, given: float | None, kinds: frozenset[str]) -> Mapping[str, float]:
        if given is not None:
            fixed = given_share(given, "threshold")
            return dict.fromkeys(sorted(kinds), fixed)
        found: dict[str, float] = {}
        if MEMORIES in kinds:
            found[MEMORIES] = self._needs.memory_threshold()
        if OWN in kinds:
            found[OWN] = RELEVANCE_THRESHOLD
        return found

    def _seen(self, rows: Sequence[EdgeRow]) -> tuple[HoneycombEdge, ...]:
        """Return edges whose other end may be seen."""
        visible = self._nodes.visible([row.to_id for row in rows])
        return tuple(edge_of(row) for row in rows if row.to_id in visible)

    @staticmethod
    def _given_pair(pair: object) -> tuple:  # type: ignore[type-arg]  # of whatever the caller put there
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise InvalidInput(f"{quoted(pair)} is no pair; give two values, such as (text, embedding).")
        return tuple(pair)


def _by_ring(edges: Sequence[HoneycombEdge]) -> tuple[tuple[HoneycombEdge, ...], ...]:
    rings: dict[int, list[HoneycombEdge]] = {}
    for edge in edges:
        rings.setdefault(edge.ring, []).append(edge)
    return tuple(tuple(rings[ring]) for ring in sorted(rings))
