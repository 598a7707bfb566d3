"""`hx.honeycomb`: the association graph (document 3). Thin: it checks what is given and asks the parts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

from hexad.core.arguments import (
    all_flags_checked,
    finite_numbers,
    join_pairs,
    parse_choice,
    parse_count,
    parse_pairs,
    parse_share,
    python_number,
    quoted,
    require_encodable,
    whole_number,
    word_list,
)
from hexad.database.codec import from_micros, to_micros
from hexad.database.sqlite_errors import all_failures_translated
from hexad.database.store_context import StoreContext
from hexad.errors import InvalidInput, LimitExceeded, NotFound, ProviderError
from hexad.honeycomb.adjacency import Adjacency
from hexad.honeycomb.circuit_breaker import CircuitBreaker
from hexad.honeycomb.prefetch import MEMORIES, OWN, Bounds
from hexad.honeycomb.scoring import combined_relevance, temporal_decay
from hexad.honeycomb.statistics import graph_numbers
from hexad.honeycomb.tables.edges import EdgeRow, NewEdge
from hexad.honeycomb.tables.nodes import NewNode, NodeRow, nodes_of
from hexad.honeycomb.values import (
    DIMENSIONS_LIMIT,
    RELATION_DEFAULT,
    RELEVANCE_THRESHOLD,
    SESSION_LIMIT,
    HoneycombEdge,
    HoneycombNode,
    HoneycombRules,
    HoneycombStats,
    JitContext,
    JitPiece,
    Safety,
    check_relation,
)
from hexad.honeycomb.walker import Entry, NodeSearch, WalkOptions, WalkStart, edge_of
from hexad.memory.store import Stores
from hexad.redaction.masking import Masking
from hexad.search.recall.query_terms import check_query
from hexad.search.recall.recall_log import RecallLog
from hexad.search.vectors.quantization import EmbeddingFormat, cosine_of, decode, encode, largest, smallest
from hexad.search.vectors.table import Vectors
from hexad.spaces.access import require_owner, require_owner_for_good

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray


MAX_TOKENS: Final = 2_000
WALKS: Final = ("breadth", "best")
HUBS_SHOWN: Final = 10
_MASKED: Final = 64
"""A text that is so many times too long is not looked through for secrets that might make it shorter."""
_AT_ONCE: Final = 256
"""Pairs whose nodes and embeddings are read together."""
SCOPES = {"all": frozenset((OWN, MEMORIES)), OWN: frozenset((OWN,)), MEMORIES: frozenset((MEMORIES,))}


def parse_vector(vector: Iterable[float], name: str) -> list[float]:
    """Return the numbers of a vector; raises `InvalidInput` for anything else, `LimitExceeded` for too many."""
    numbers = finite_numbers(vector, name, most=DIMENSIONS_LIMIT)
    if not numbers:
        raise InvalidInput(f"{name} has no numbers; give at least one, or None for no embedding.")
    return numbers


def parse_node_text(text: object, name: str, *, limit: int, times: int = 1) -> str:
    """Return a text of at most `limit` bytes, or so many times as many; raises `InvalidInput` for none,
    `LimitExceeded` for a longer one.
    """  # fmt: skip
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(f"{name} = {quoted(text)} says nothing; give a text.", argument=name)
    text = join_pairs(text)
    require_encodable(text, name)
    size = len(text.encode())
    if size > limit * times:
        raise LimitExceeded(
            f"{name} has {size:,} bytes; a node holds {limit:,}. Cut it, or remember it as a memory, which becomes a "
            "node too."
        )
    return text


def encode_node(text: str, vector: Sequence[float] | None, form: EmbeddingFormat, name: str) -> NewNode:
    """Return a text with its embedding as they are stored; raises `InvalidInput` for what the format cannot hold."""
    if vector is None:
        return NewNode(data=text, dimensions=0, format=form, scale=1.0, embedding=b"")
    most = max(map(abs, vector))
    if most > largest(form):
        other = ", or choose float32" if most <= largest(EmbeddingFormat.FLOAT32) else ""
        raise InvalidInput(
            f"{name} holds {most:g}, which {form.value} cannot; the largest is {largest(form):g}. Divide all of its "
            f"numbers alike: its direction is what counts{other}.",
            argument=name,
        )
    if 0 < most < smallest(form):
        raise InvalidInput(
            f"{name} holds nothing above {most:g}, and {form.value} loses what is below {smallest(form):g}. "
            "Multiply all of its numbers alike: its direction is what counts.",
            argument=name,
        )
    data, scale = encode(vector, form)
    return NewNode(data=text, dimensions=len(vector), format=form, scale=scale, embedding=data)


def parse_session(session: str | None) -> str | None:
    """Return the name of a session, None for the one without; raises `InvalidInput`."""
    if session is None:
        return None
    if not isinstance(session, str) or not session.strip() or len(session) > SESSION_LIMIT:
        raise InvalidInput(
            f"session = {quoted(session)} cannot be used; give a name of 1 to {SESSION_LIMIT} characters.",
            argument="session",
        )
    try:
        session.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"session = {quoted(session)} holds half a character.", argument="session"
        ) from error
    return session


def parse_scope(scope: str) -> frozenset[str]:
    """Return which kinds of nodes a walk may enter; raises `InvalidInput`."""
    if not isinstance(scope, str) or scope not in SCOPES:
        raise InvalidInput(
            f"scope = {quoted(scope)} is not known; choose one of {', '.join(SCOPES)}.", argument="scope"
        )
    return SCOPES[scope]


def parse_relations(relations: Sequence[str] | None) -> frozenset[str] | None:
    """Return the types of edges that a walk may take, None for all; raises `InvalidInput`."""
    if relations is None:
        return None
    names = word_list(relations, "relations")
    if not names:
        raise InvalidInput(
            "relations = [] lets a walk take no edge; name types of edges, or leave it out for all.",
            argument="relations",
        )
    return frozenset(check_relation(name, "relations") for name in names)


@dataclass(slots=True, kw_only=True)
class RulesInForce:
    """The rules of an open store: from its settings, until `configure` replaces them."""

    current: HoneycombRules


def _hindrance(query: object, start: object) -> str:
    """Say what keeps a walk from being the best first, and the way out."""
    if start is not None:
        return f"start = {quoted(start)} begins elsewhere; leave it out and give a text as query"
    if query is None:
        return "there is no query; give a text"
    if not isinstance(query, str):
        return "query is a vector; give a text"
    return "scope = 'nodes' leaves them out; choose 'all' or 'memories'"


def _near_nothing(vector: Sequence[float]) -> tuple[str, ...]:
    """Say why no node is near a vector."""
    if not any(vector):
        return ("The query is a vector of zeros, which is near nothing.",)
    return (f"No active node in scope has an embedding of {len(vector):,} numbers.",)


def _by_ring(edges: Sequence[HoneycombEdge]) -> tuple[tuple[HoneycombEdge, ...], ...]:
    rings: dict[int, list[HoneycombEdge]] = {}
    for edge in edges:
        rings.setdefault(edge.ring, []).append(edge)
    return tuple(tuple(rings[ring]) for ring in sorted(rings))


@all_failures_translated
@all_flags_checked
class HoneycombFacade:
    """A graph in which a node has at most six edges in each ring, and no edge is lost."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        *,
        rules: RulesInForce,
        layout: Adjacency,
        breaker: CircuitBreaker,
        masking: Masking,
        handouts: RecallLog,
        search: Callable[[], NodeSearch],
    ) -> None:
        """`search` is that of the embedder in force: who holds the facade goes on with another one."""
        self._context, self._stores, self._everything = context, stores, everything
        self._nodes, self._rules, self._layout = nodes_of(stores), rules, layout
        self._breaker, self._masking, self._search = breaker, masking, search
        self._handouts = None if context.db.readonly else handouts

    @property
    def rules(self) -> HoneycombRules:
        """Weights, half-lives and limits, as they are in force for this open store."""
        return self._rules.current

    def configure(self, **changes: float | timedelta | tuple[timedelta | None, ...]) -> HoneycombRules:
        """Change rules for this open store and return them; the settings of `hexad.toml` hold for all.

        Raises `InvalidInput` for a rule that is not known or a value that cannot be used.
        """
        unknown = sorted(set(changes) - set(HoneycombRules.__slots__))
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} is no rule of the honeycomb; there are {', '.join(HoneycombRules.__slots__)}."
            )
        values = {name: python_number(value) for name, value in changes.items()}
        self._rules.current = replace(self.rules, **values)  # type: ignore[arg-type]  # checked by the values
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
        items = parse_pairs(nodes, "nodes", of="a text, and a vector or None")
        kind = parse_choice(EmbeddingFormat, format, "format")
        names = [("text", "embedding")]
        if len(items) > 1:
            names = [(f"nodes[{place}].text", f"nodes[{place}].embedding") for place in range(len(items))]
        vectors = [
            None if vector is None else parse_vector(cast("Iterable[float]", vector), name)
            for (_, vector), (_, name) in zip(items, names, strict=False)
        ]
        limit = self.rules.max_data_bytes
        texts = [
            parse_node_text(
                self._masking.text(parse_node_text(text, name, limit=limit, times=_MASKED)), name, limit=limit
            )
            for (text, _), (name, _) in zip(items, names, strict=False)
        ]  # all of them before any is embedded, and paid for
        missing = [place for place, vector in enumerate(vectors) if vector is None]
        rows = self._search().embed([texts[place] for place in missing]) if missing else None
        if rows is not None:
            for place, row in zip(missing, rows, strict=True):
                vectors[place] = row.tolist()
        new = [
            encode_node(text, vector, kind, name)
            for text, vector, (_, name) in zip(texts, vectors, names, strict=False)
        ]
        with self._stores.db.transaction():
            return self._nodes.add(new, at=self._now(), limit=self.rules.max_nodes)

    def get(self, node: int | str, *, session: str | None = None) -> HoneycombNode:
        """Return a node with its rings and with what `session` did with it; a memory is named by its id, too.

        Raises `NotFound` for a node that is not there.
        """
        session = self._session(session)
        with self._stores.db.read():
            node_id = self._node(node)
            row = self._nodes.of([node_id])[node_id]
            text = self._nodes.texts([node_id])[node_id]
            content = self._nodes.contents([node_id]).get(node_id)
            vector = self._vectors({node_id: row}).get(node_id)
            main = self._nodes.main([node_id]).get(node_id, [])
            overflow = self._nodes.overflow([node_id]).get(node_id, [])
        access = self._breaker.of(node_id, session)
        return HoneycombNode(
            id=node_id,
            data=text.text,
            vector_embedding=() if vector is None else tuple(vector.tolist()),
            embedding_format=EmbeddingFormat.FLOAT16 if content is None else EmbeddingFormat(content.format),
            neighbors=self._visible_edges(main),
            fractal_layer=_by_ring(self._visible_edges(overflow)),
            created_at=from_micros(row.created_at),
            is_active=bool(row.active),
            memory_id=text.memory_id,
            access_count_session=0 if access is None else access.looks,
            access_time_first=None if access is None else from_micros(access.first_at),
            last_accessed_timestamp=None if access is None else from_micros(access.last_at),
        )

    def remove(self, node: int) -> None:
        """Remove a node of `add_node` with its edges; the strongest overflow edges take the seats that come free.

        Raises `NotFound`, `InvalidInput` for a memory, which `hx.forget` takes out, and `AccessDenied` for an actor
        with a role: it is for good, and the node belongs to no space whose policy might allow it.
        """
        with self._stores.db.transaction():
            node_id = self._node(node)
            if self._nodes.of([node_id])[node_id].is_memory:
                raise InvalidInput(
                    f"Node {node_id} is a memory: `hx.forget` takes it out of recall and walks."
                )
            require_owner_for_good(self._context.actor, doing=f"removing node {node_id}")
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
        score strengthens it, which may bring it back into the main ring. `relation` None is `related`, or stays. A
        link that was derived is the caller's from then on, with this score.

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
        items = parse_pairs(pairs, "pairs", of="the node to begin at, and the one to connect it with")
        name = None if relation is None else self._public_name(check_relation(relation), "relation")
        fixed = None if score is None else parse_share(score, "score")
        with self._stores.db.transaction():
            edges = self._new_edges(cast("list[tuple[int, int]]", items), name, fixed)
            rows = self._nodes.edges.insert(edges, at=self._now())
            return [edge_of(row) for row in self._nodes.placed(rows)]

    def neighbors(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of a node's main ring, the strongest first. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._visible_edges(self._nodes.main([node_id]).get(node_id, [])))

    def overflow(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of all overflow rings of a node, ring by ring. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._visible_edges(self._nodes.overflow([node_id]).get(node_id, [])))

    # Context ----------------------------------------------------------------------------------------------------

    def find_most_relevant(
        self, query: str | Iterable[float], *, limit: int = 1, scope: str = "all"
    ) -> list[tuple[int, float]]:
        """Return the active nodes nearest to a text or a vector with their cosines, the nearest first.

        Raises what `jit_context` does.
        """
        most = parse_count(limit, "limit")
        return self._search().walker.nearest(self._query(query), limit=most, scope=parse_scope(scope))

    def jit_context(
        self,
        query: str | Iterable[float] | None = None,
        max_tokens: int = MAX_TOKENS,
        *,
        start: int | str | None = None,
        entries: int = 1,
        threshold: float | None = None,
        relations: Sequence[str] | None = None,
        overflow: bool = True,
        walk: str | None = None,
        scope: str = "all",
        space: str | None = None,
        session: str | None = None,
    ) -> JitContext:
        """Return the texts that a walk from where `query` points brings together, joined with spaces.

        `walk="breadth"` begins at the `entries` nodes nearest to the query, or at `start`, and goes level by level, the
        strongest edges first; pieces are compared with the query either way. `"best"` begins at what `recall` finds and
        takes what is found and well connected before what is merely connected. None is `"best"` for a text asked of
        memories alone, else `"breadth"`.

        Only edges whose score, aged by their ring's half-life, is above `threshold` are walked: 0.8 from nodes of
        `add_node`; from memories it is taken from how alike the store's own memories are, and `thresholds` of the
        answer says what was used. `relations` limits the walk to these types of edges, either way: kinds of links that
        somebody drew, types of `insert`, or derived ones.

        Each node counts once, inactive ones are passed by, and texts are taken while
        `max_tokens` has room for them. A memory that does not fit comes in part: the chunk that answers, else the
        longest of its summaries that fits; `form` of the piece says which, and `left_out` how many. `overflow` lets the
        walk into overflow rings. `scope` is `all`, `nodes` (of `add_node`) or `memories`, `space` bounds the memories.

        The walk is an `access` of the node that it begins at in `session`, and `safety` says what the loop breaker
        makes of it; the context is there all the same.

        Raises `InvalidInput` for a value that cannot be used, `ProviderError` for a text as query without an embedder,
        `NotFound` for a start or a space that is not there.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     comb = hx.honeycomb
        ...     first, second = comb.add_nodes([("Rust is fast.", [1, 0]), ("Cargo builds it.", [0.9, 0.1])])
        ...     _ = comb.insert(first, second)
        ...     comb.jit_context([1, 0], max_tokens=100).text
        'Rust is fast. Cargo builds it.'
        """
        max_tokens, entries = parse_count(max_tokens, "max_tokens"), parse_count(entries, "entries")
        kinds, types, session = parse_scope(scope), parse_relations(relations), self._session(session)
        space_no = None if space is None else self._stores.spaces.get(space).no
        best = self._is_best(walk, query, start, kinds)
        if best:
            begin, notes, vector = self._search().seeds(cast("str", query), space)
        elif start is not None:
            begin, notes, vector = self._begin_at(start, query, scope, kinds, space, space_no)
        else:
            begin, notes, vector = self._begin_near(query, entries, kinds, space_no)
        options = WalkOptions(
            max_tokens=max_tokens,
            thresholds=self._thresholds(threshold, kinds),
            descend=overflow,
            best_first=best,
            bounds=Bounds(scope=kinds, space_no=space_no, relations=types),
        )
        # All that recall finds are no starting points of the caller's choice: the first one stands for them. One that
        # is no node yet is no place to walk in circles at.
        counted = begin[:1] if best else begin
        codes = [self._breaker.access(entry.node, session) for entry in counted]
        worst = next((code for code in codes if code not in (Safety.OK, Safety.INVALID_NODE)), Safety.OK)
        context = self._search().walker.walk(begin, options, query=vector, safety=worst, notes=notes)
        self._note(context.pieces)
        return context

    # Safety -----------------------------------------------------------------------------------------------------

    def start_session(self, session: str | None = None) -> None:
        """Begin a session, or begin it anew: its time and its accesses count from now."""
        self._breaker.start(self._session(session))

    def access(self, node: int | str, *, session: str | None = None) -> Safety:
        """Note that a node was looked at in a session, and return what the loop breaker says then."""
        node_id = self._node_id(node)
        return (
            Safety.INVALID_NODE if node_id is None else self._breaker.access(node_id, self._session(session))
        )

    def check_safety(self, node: int | str, *, session: str | None = None) -> Safety:
        """Return OK, LOOP_DETECTED (looked at more than 3 times in 10 s), SESSION_EXPIRED (after 3600 s) or
        INVALID_NODE. Nothing is counted and nothing is blocked.
        """  # fmt: skip
        node_id = self._node_id(node)
        return (
            Safety.INVALID_NODE if node_id is None else self._breaker.check(node_id, self._session(session))
        )

    # Numbers ----------------------------------------------------------------------------------------------------

    def stats(self) -> HoneycombStats:
        """Return the graph in numbers: degrees, overflow, components, hubs.

        Raises `AccessDenied` for an actor from whom memories are hidden: the numbers are about all of them.
        """
        require_owner(self._context.actor, self._everything, doing="the honeycomb's numbers")
        self._breaker.flush()
        with self._stores.db.read():
            nodes, memories, inactive, size = self._nodes.totals()
            edges, overflow, explicit = self._nodes.edges.totals()
            relations = self._nodes.edges.relations()
            depths = self._nodes.overflow_rings()
            numbers = graph_numbers(self._layout.rings(), self._nodes.edges.overflow_ends(), hubs=HUBS_SHOWN)
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

    # Inside -----------------------------------------------------------------------------------------------------------

    def _note(self, pieces: Sequence[JitPiece]) -> None:
        """Remember which memories were handed out, as recall does."""
        if self._handouts is not None:
            texts = [(piece.id, piece.text, piece.text) for piece in pieces if piece.memory_id is not None]
            self._handouts.note_texts(texts, at=self._context.clock.now())

    def _now(self) -> int:
        return to_micros(self._context.clock.now())

    def _session(self, session: str | None) -> str | None:
        """Return the name of a session, None for the one without; raises `InvalidInput`."""
        name = parse_session(session)
        return None if name is None else self._public_name(name, "session")

    def _public_name(self, name: str, what: str) -> str:
        """Return a name that is kept as it is; raises `InvalidInput` for one that holds a secret."""
        rule = self._masking.secret_in(name)
        if rule is not None:
            raise InvalidInput(
                f"{what} holds what looks like a secret ({rule}); give another name.", argument=what
            )
        return name

    def _node_id(self, node: int | str) -> int | None:
        """Return the id that a caller means, None where nothing has it that may be seen."""
        if isinstance(node, str):
            try:
                return self._stores.memories.resolve(node, space=None)
            except NotFound:
                return None
        number = whole_number(node)
        if number is None:
            raise InvalidInput(
                f"node = {quoted(node)} is no node; give its id, or the id of a memory.", argument="node"
            )
        return number if -(1 << 63) <= number < 1 << 63 else None

    def _node(self, node: int | str) -> int:
        """Return the id of a node that is there; raises `NotFound`."""
        node_id = self._node_id(node)
        return self._present(node_id, node, () if node_id is None else self._nodes.visible([node_id]))

    @staticmethod
    def _present(node_id: int | None, named: int | str, visible: Container[int]) -> int:
        """Return an id that is among the visible ones; raises `NotFound`."""
        if node_id is None or node_id not in visible:
            raise NotFound(
                f"Node {quoted(named)} is not in the honeycomb; `add_node` makes one, and a memory becomes one when it "
                "has its vector (`hexad maintain`)."
            )
        return node_id

    def _vectors(self, rows: Mapping[int, NodeRow]) -> dict[int, NDArray[np.float32]]:
        """Return the embeddings of those of these nodes that have one."""
        own = [node for node, row in rows.items() if not row.is_memory]
        memories = [node for node, row in rows.items() if row.is_memory]
        vectors = Vectors(self._stores.db).of_memories(memories) if memories else {}
        for embedding in self._nodes.embeddings_of(own) if own else ():
            if embedding.dimensions:
                vectors[embedding.node_id] = decode(embedding.embedding, embedding.format, embedding.scale)
        return vectors

    def _visible_edges(self, rows: Sequence[EdgeRow]) -> tuple[HoneycombEdge, ...]:
        """Return edges whose other end may be seen."""
        visible = self._nodes.visible([row.to_id for row in rows])
        return tuple(edge_of(row) for row in rows if row.to_id in visible)

    def _set_active(self, node: int | str, *, active: bool) -> None:
        with self._stores.db.transaction():
            self._nodes.set_active(self._node(node), active=active)

    def _new_edges(
        self, pairs: Sequence[tuple[int | str, int | str]], relation: str | None, score: float | None
    ) -> list[NewEdge]:
        now, edges = self._context.clock.now(), []
        for first in range(0, len(pairs), _AT_ONCE):
            some = pairs[first : first + _AT_ONCE]
            ids = [self._node_id(node) for pair in some for node in pair]
            rows = self._nodes.of({node_id for node_id in ids if node_id is not None})
            vectors = self._vectors(rows) if score is None else {}
            for at, pair in enumerate(some):
                focus, node = (self._present(ids[2 * at + end], pair[end], rows) for end in (0, 1))
                if focus == node:
                    raise InvalidInput(f"Node {focus} cannot be connected with itself; give another one.")
                created = from_micros(rows[node].created_at)
                edges.append(
                    NewEdge(
                        from_id=focus,
                        to_id=node,
                        score=self._relevance(focus, node, vectors, created, now) if score is None else score,
                        relation=relation,
                        default_relation=RELATION_DEFAULT,
                    )
                )
        return edges

    def _relevance(
        self, focus: int, node: int, rows: Mapping[int, NDArray[np.float32]], created: datetime, now: datetime
    ) -> float:
        for node_id in (focus, node):
            if node_id not in rows:
                raise InvalidInput(f"Node {node_id} has no embedding to compare; give score=… from 0 to 1.")
        if len(rows[focus]) != len(rows[node]):
            raise InvalidInput(
                f"Node {focus} has {len(rows[focus])} dimensions and node {node} {len(rows[node])}; only embeddings "
                "of one length can be compared. Give score=… from 0 to 1."
            )
        rules = self.rules
        return combined_relevance(
            cosine_of(rows[focus], rows[node]),
            temporal_decay(created, now, half_life=rules.half_life),
            cosine_weight=rules.cosine_weight,
            decay_weight=rules.decay_weight,
        )

    def _begin_at(
        self,
        start: int | str,
        query: str | Iterable[float] | None,
        scope: str,
        kinds: frozenset[str],
        space: str | None,
        space_no: int | None,
    ) -> WalkStart:
        vector = None if query is None else self._query(query)
        with self._stores.db.read():
            node = self._node(start)
            notes = self._out_of_bounds_notes(node, scope, kinds, space, space_no)
        return WalkStart([Entry(node, 1.0)], notes, vector)

    def _begin_near(
        self, query: str | Iterable[float] | None, count: int, kinds: frozenset[str], space_no: int | None
    ) -> WalkStart:
        if query is None:
            raise InvalidInput("There is nowhere to begin; give a query, or start=…")
        vector = self._query(query)
        nearest = self._search().walker.nearest(vector, limit=count, scope=kinds, space_no=space_no)
        notes = () if nearest or isinstance(query, str) else _near_nothing(vector)
        return WalkStart([Entry(node, cosine) for node, cosine in nearest], notes, vector)

    def _is_best(self, walk: str | None, query: object, start: object, kinds: frozenset[str]) -> bool:
        if walk is not None and (not isinstance(walk, str) or walk not in WALKS):
            raise InvalidInput(
                f"walk = {quoted(walk)} is not known; choose 'breadth' or 'best'.", argument="walk"
            )
        able = isinstance(query, str) and start is None and MEMORIES in kinds
        if walk == "best" and not able:
            raise InvalidInput(
                f"walk = 'best' goes by what recall finds among memories, and {_hindrance(query, start)}, or walk = "
                "'breadth'.",
                argument="walk",
            )
        if walk is not None or not able:
            return walk == "best"
        return OWN not in kinds or not self._nodes.has_own()

    def _query(self, query: str | Iterable[float]) -> list[float]:
        if not isinstance(query, str):
            return parse_vector(query, "query")
        if not query.strip():
            raise InvalidInput("The query says nothing; give a text or a vector.")
        check_query(query)
        vector = self._search().query_vector(query)
        if vector is None:
            raise ProviderError(
                "A text was given as query, and no embedder is open to compare it by. Give a vector, or open the store "
                "with an embedder."
            )
        return vector

    def _out_of_bounds_notes(
        self, node: int, scope: str, kinds: frozenset[str], space: str | None, space_no: int | None
    ) -> tuple[str, ...]:
        """Say why a walk may not even enter the node at which it begins."""
        row = self._nodes.of([node]).get(node)
        if row is None:
            return ()  # a memory that is no node yet
        if (MEMORIES if row.is_memory else OWN) not in kinds:
            return (f"Node {node} is outside of scope = {quoted(scope)}.",)
        if row.is_memory and space_no not in (None, row.space_no):
            return (f"Node {node} is outside of space = {quoted(space)}.",)
        return ()

    def _thresholds(self, value: float | None, kinds: frozenset[str]) -> Mapping[str, float]:
        if value is not None:
            fixed = parse_share(value, "threshold")
            return dict.fromkeys(sorted(kinds), fixed)
        thresholds: dict[str, float] = {}
        if MEMORIES in kinds:
            thresholds[MEMORIES] = self._search().memory_threshold()
        if OWN in kinds:
            thresholds[OWN] = RELEVANCE_THRESHOLD
        return thresholds
