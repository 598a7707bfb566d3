"""Just-in-time context: a walk over the honeycomb from where a question points, under a token budget.

question ─ nearest nodes ─ entries ─┬─ main rings, edges above the threshold ─┬─ texts that fit, joined with spaces
                                    └─ overflow rings, while there is room ───┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush, nsmallest
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.core.clock import Clock
from hexad.database.codec import from_micros, to_micros
from hexad.honeycomb.adjacency import Adjacency
from hexad.honeycomb.entry_points import EntryIndex
from hexad.honeycomb.prefetch import MEMORIES, OWN, Bounds, NodeGate, Prefetch, gates_of
from hexad.honeycomb.statistics import Calibration
from hexad.honeycomb.tables.edges import EdgeRow
from hexad.honeycomb.tables.nodes import NodeText, nodes_of
from hexad.honeycomb.values import HoneycombEdge, HoneycombRules, JitContext, JitPiece, PieceForm, Safety
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.providers.budgets.metering import passage_embedder, query_embedder
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.recall.recaller import Recaller
from hexad.search.service import SearchService
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.quantization import cosines_of, decode_rows, direction
from hexad.search.vectors.table import Vectors
from hexad.text.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions:
    """How to walk. `thresholds` are by kind of node; `descend` lets the walk into overflow rings.

    `best_first` takes what the question points at most before what is nearer to the entry: a node's strength is its
    own, and `GAIN` (over a link that somebody drew `LINK_GAIN`) × the strength that it was reached from × the edge.
    """

    max_tokens: int
    thresholds: Mapping[str, float]
    descend: bool = True
    best_first: bool = False
    bounds: Bounds = field(default_factory=Bounds)


class Entry(NamedTuple):
    """Where a walk may begin, from 0 to 1 how strongly the question points there, and the chunk that answers."""

    node: int
    strength: float
    chunk_no: int = 0


class QueuedNode(NamedTuple):
    """A node on the way: in this order walks take them."""

    level: int  # how many edges away from an entry; 0 for all where the best comes first
    weakness: float  # the negated strength: the strongest comes first
    node: int
    push: int  # which of the walk's ways led here


class PathStep(NamedTuple):
    """How a node was reached."""

    depth: int
    edge: EdgeRow | None


class DraftPiece(NamedTuple):
    """A piece, before it is compared with the query."""

    text_row: NodeText
    form: PieceForm
    text: str
    tokens: int
    way: PathStep


class EdgeDecay:
    """What edges are worth at one moment: `HoneycombRules.aged`, a hundred times in a walk."""

    def __init__(self, rules: HoneycombRules, now: datetime) -> None:
        self._now = to_micros(now)
        self._lives = [None if life is None else life // _MICROSECOND for life in rules.ring_half_lives]

    def aged(self, edge: EdgeRow) -> float:
        """Return what an edge counts now; a link that somebody drew does not age."""
        if edge.ring and edge.is_drawn:
            return edge.score
        life = self._lives[min(edge.ring, len(self._lives) - 1)]
        age = self._now - edge.renewed_at
        return edge.score if life is None or age <= 0 else float(edge.score * 0.5 ** (age / life))


@dataclass(slots=True)
class Walk:
    """The state of one walk."""

    options: WalkOptions
    ahead: Prefetch
    aging: EdgeDecay
    focus: NDArray[np.float64] | None = None  # what pieces are compared with
    heap: list[QueuedNode] = field(default_factory=list)
    ways: list[PathStep] = field(default_factory=list)
    own: dict[int, Entry] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    depths: dict[int, int] = field(default_factory=dict)
    strengths: dict[int, float] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    level: int = 0
    unexpanded: list[int] = field(default_factory=list)  # what was visited of this level
    taken: list[DraftPiece] = field(default_factory=list)
    text: str = ""
    misses: int = 0
    weak: set[int] = field(default_factory=set)  # where edges below the threshold lead
    left_out: Counter[str] = field(default_factory=Counter)


_SUMMARIES = (PieceForm.LONG, PieceForm.SHORT, PieceForm.MICRO)


def forms_of(
    stores: Stores, node_text: NodeText, *, chunk_no: int, focus: NDArray[np.float64] | None
) -> Iterator[tuple[PieceForm, str]]:
    """Yield the forms of a node, the best first; those after the whole are read when they are asked for.

    `chunk_no` is the chunk by which a memory was found, 0 for none; `focus` is the question. Nothing that is as long
    as the whole stands for it.
    """
    if node_text.text:
        yield PieceForm.WHOLE, node_text.text
    if node_text.memory_id is None:
        return
    for text in _chunk(stores, node_text.node_id, chunk_no, focus):
        if 0 < len(text) < len(node_text.text):
            yield PieceForm.CHUNK, text
    for form, text in zip(_SUMMARIES, nodes_of(stores).summaries(node_text.node_id), strict=False):
        if 0 < len(text) < len(node_text.text):
            yield form, text


def _chunk(stores: Stores, memory_no: int, chunk_no: int, focus: NDArray[np.float64] | None) -> list[str]:
    """Return the text of a chunk, or of the one whose vector is the nearest; nothing where there is neither."""
    if not chunk_no and focus is not None:
        import numpy as np

        chunks = Vectors(stores.db).of_chunks(memory_no, dimensions=len(focus))
        if len(chunks) > 1:
            cosines = cosines_of(focus, np.stack([vector for _, vector in chunks]))
            chunk_no = chunks[int(np.argmax(cosines))][0]
    return nodes_of(stores).chunk_text(chunk_no) if chunk_no else []


SEEDS_MOST: Final = 100


class WalkStart(NamedTuple):
    """Where to begin, what recall notes about the question, and its vector."""

    entries: list[Entry]
    notes: tuple[str, ...]
    vector: list[float] | None


def seeds_of(
    recaller: Recaller, query: str, space: str | None, *, roles: tuple[str, ...] | None
) -> WalkStart:
    """Return what recall finds, its scores stretched from 0 to 1."""
    filters = Filters(spaces=None if space is None else (space,), roles=roles)
    options = RecallOptions(filters=filters, limit=SEEDS_MOST, near=True)
    seeds, notes, row, _ = recaller.rank(query, options)
    vector: list[float] | None = None if row is None else row.tolist()
    if not seeds:
        return WalkStart([], notes, vector)
    most, least = seeds[0].score, seeds[-1].score
    width = most - least
    entries = [
        Entry(seed.no, (seed.score - least) / width if width else 1.0, seed.chunk_no) for seed in seeds
    ]
    return WalkStart(entries, notes, vector)


VISITS_MOST: Final = 20_000
"""Nodes that one walk looks at; what it met beyond is counted, not lost."""
MISSES_MOST: Final = 32
"""A walk ends after so many texts in a row that do not fit: else it looks through the whole graph for a short one."""
_ENTRIES_LOOKED_AT, _MEMORIES_LOOKED_AT = 8, 64
GAIN: Final = 0.3
"""What a best-first walk passes on over an edge. On conversations 0.2 to 0.4 found more than no walk did."""
LINK_GAIN: Final = 0.9
"""The same over a link that somebody drew."""

INACTIVE, BELOW, TOO_LONG, UNREAD = "inactive", "below the threshold", "too long", "no room left"
IN_PART = "in part"


class JitWalker:
    """Assembles contexts from one store."""

    def __init__(
        self,
        stores: Stores,
        layout: Adjacency,
        entries: EntryIndex,
        vectors: Callable[[], VectorIndex | None],
        *,
        rules: Callable[[], HoneycombRules],
        counter: TokenCounter,
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._layout = layout
        self._entries = entries
        self._vectors = vectors
        self._rules = rules
        self._counter = counter
        self._clock = clock

    def nearest(
        self, query: Sequence[float], *, limit: int, scope: frozenset[str], space_no: int | None = None
    ) -> list[tuple[int, float]]:
        """Return active nodes and their cosines with a query, the nearest first, equals by id.

        `space_no` bounds which memories are among them.
        """
        bounds = Bounds(scope=scope, space_no=space_no)
        looked_at = max(_ENTRIES_LOOKED_AT, 4 * limit)
        with self._stores.db.read():
            self._layout.follow()
            while True:
                nearest, more = self._nearest_nodes(query, looked_at, scope)
                stops = gates_of(self._stores, self._layout, [node for node, _ in nearest], bounds)
                active = [(node, cosine) for node, cosine in nearest if _enters(stops[node])]
                if len(active) >= limit or not more:
                    return active[:limit]
                looked_at *= 8

    def walk(
        self,
        entries: Sequence[Entry],
        options: WalkOptions,
        *,
        query: Sequence[float] | None,
        safety: Safety,
        notes: tuple[str, ...] = (),
    ) -> JitContext:
        """Return what a walk from some nodes brings together, each node once, in an order that never changes."""
        aging = EdgeDecay(self._rules(), self._clock.now())
        with self._stores.db.read():
            ahead = Prefetch(
                self._stores,
                self._layout,
                options.bounds,
                edges=options.best_first,
                overflow=options.best_first and options.descend,
            )
            focus = None if query is None else direction(query)
            walk = Walk(options=options, ahead=ahead, aging=aging, focus=focus)
            ahead.load([entry.node for entry in entries])
            ahead.load_to_come([entry.node for entry in entries if ahead.stops[entry.node] is None])
            for entry in entries:
                walk.own[entry.node] = entry
                self._reach(walk, entry.node, entry.strength, PathStep(0, None))
            self._run(walk)
            if options.descend and not options.best_first:
                self._descend(walk)
            ahead_of_it = {reached.node for reached in walk.heap} - walk.done
            walk.left_out[UNREAD] = len(ahead_of_it)
            walk.left_out[BELOW] = len(walk.weak - walk.done - ahead_of_it)
            pieces = self._pieces(walk)
        return JitContext(
            text=walk.text,
            pieces=pieces,
            tokens=self._counter.count(walk.text),
            max_tokens=options.max_tokens,
            visited=len(walk.order),
            safety=safety,
            thresholds=dict(options.thresholds),
            notes=notes,
            left_out={reason: count for reason, count in sorted(walk.left_out.items()) if count},
        )

    # Entries ----------------------------------------------------------------------------------------------------

    def _nearest_nodes(
        self, query: Sequence[float], limit: int, scope: frozenset[str]
    ) -> tuple[list[tuple[int, float]], bool]:
        nearest: list[tuple[int, float]] = []
        more = False
        if OWN in scope:
            own = self._entries.nearest(query, limit=limit)
            more = len(own) == limit
            nearest += own
        index = self._vectors() if MEMORIES in scope else None
        if index is not None and index.dimensions == len(query):
            wanted_count = max(limit, _MEMORIES_LOOKED_AT)
            near = self._nearest_memories(index, query, wanted_count)
            more = more or len(near) >= wanted_count
            nearest += near
        return sorted(nearest, key=lambda pair: (-pair[1], pair[0])), more

    @staticmethod
    def _nearest_memories(index: VectorIndex, query: Sequence[float], limit: int) -> list[tuple[int, float]]:
        import numpy as np

        exact = direction(query)
        length = float(np.linalg.norm(exact))
        if not length:
            return []
        answer = index.search((exact / length).astype(np.float32), limit=limit)
        return [(no, min(max(cosine, 0.0), 1.0)) for no, (cosine, _) in answer.best.items()]

    # The walk ---------------------------------------------------------------------------------------------------

    def _run(self, walk: Walk) -> None:
        """Take the nodes that are reached, level by level and the strongest first, as long as there is room."""
        while self._goes_on(walk):
            if walk.unexpanded and (not walk.heap or walk.heap[0].level > walk.level):
                self._expand_level(walk)
            elif walk.heap:
                self._visit(walk, heappop(walk.heap))
            else:
                return

    def _visit(self, walk: Walk, reached: QueuedNode) -> None:
        node = reached.node
        if node in walk.done:
            return
        walk.done.add(node)
        stop = walk.ahead.stops[node]
        if stop is None:
            return
        if not stop.active:
            walk.left_out[INACTIVE] += 1
            return
        text = self._read(walk, node)
        if text is None:
            return
        way = walk.ways[reached.push]
        walk.order.append(node)
        walk.depths[node] = way.depth
        walk.strengths[node] = -reached.weakness
        self._take(walk, text, way)
        if walk.options.best_first:
            self._expand(walk, node, walk.ahead.edges(node))
        else:
            walk.level = reached.level
            walk.unexpanded.append(node)

    def _expand_level(self, walk: Walk) -> None:
        """Go on from a whole level at once: a walk whose budget ends within it need not know where it leads."""
        nodes, walk.unexpanded = walk.unexpanded, []
        walk.ahead.read_edges(nodes)
        for node in nodes:
            self._expand(walk, node, walk.ahead.edges(node))

    def _read(self, walk: Walk, node: int) -> NodeText | None:
        """Return what a node says, None where it is gone; reads the next ones with it."""
        if not walk.ahead.has_read(node):
            following = [reached.node for reached in nsmallest(walk.ahead.at_once - 1, walk.heap)]
            walk.ahead.read(
                [
                    node,
                    *(
                        neighbour
                        for neighbour in following
                        if neighbour not in walk.done and _enters(walk.ahead.stops[neighbour])
                    ),
                ]
            )
        return walk.ahead.text(node)

    def _descend(self, walk: Walk) -> None:
        """Go into the overflow rings of what was visited, in the order of the visit, and on from there."""
        place = 0
        while place < len(walk.order) and self._goes_on(walk):
            # A whole generation at once: what it leads to is walked before anybody's next overflow is read.
            generation = walk.order[place:]
            place = len(walk.order)
            overflow = walk.ahead.overflow(generation)
            for node in generation:
                self._expand(walk, node, overflow.get(node, []))
            self._run(walk)

    def _expand(self, walk: Walk, node: int, edges: Sequence[EdgeRow]) -> None:
        stops = walk.ahead.stops
        stop = stops[node]
        assert stop is not None
        threshold = walk.options.thresholds[MEMORIES if stop.is_memory else OWN]
        done, aged, depth = walk.done, walk.aging.aged, walk.depths[node] + 1
        for edge in edges:
            to = edge.to_id
            if to in done or stops[to] is None:
                continue
            strength = aged(edge)
            if strength <= threshold:
                walk.weak.add(to)
                continue
            if walk.options.best_first:
                own = walk.own[to].strength if to in walk.own else 0.0
                gain = LINK_GAIN if edge.is_drawn else GAIN
                strength = own + gain * walk.strengths[node] * strength
            self._reach(walk, to, strength, PathStep(depth, edge))

    def _reach(self, walk: Walk, node: int, strength: float, way: PathStep) -> None:
        level = 0 if walk.options.best_first else way.depth
        heappush(walk.heap, QueuedNode(level, -strength, node, len(walk.ways)))
        walk.ways.append(way)

    def _take(self, walk: Walk, node_text: NodeText, way: PathStep) -> None:
        """Add a node's text, or the most of it that fits."""
        entry = walk.own.get(node_text.node_id)
        chunk_no = 0 if entry is None else entry.chunk_no
        for form, text in forms_of(self._stores, node_text, chunk_no=chunk_no, focus=walk.focus):
            joined = f"{walk.text} {text}" if walk.text else text
            tokens = self._counter.count(joined)
            if tokens > walk.options.max_tokens:
                continue
            before = self._counter.count(walk.text) if walk.text else 0
            walk.taken.append(DraftPiece(node_text, form, text, tokens - before, way))
            walk.text = joined
            walk.misses = 0
            walk.left_out[IN_PART] += form is not PieceForm.WHOLE
            return
        walk.left_out[TOO_LONG] += 1
        walk.misses += 1

    def _goes_on(self, walk: Walk) -> bool:
        room = walk.options.max_tokens - self._counter.count(walk.text)
        return room > 0 and walk.misses < MISSES_MOST and len(walk.order) < VISITS_MOST

    def _pieces(self, walk: Walk) -> tuple[JitPiece, ...]:
        """Return what was taken, with cosines with the query where the lengths of the vectors agree."""
        cosines = {} if walk.focus is None else self._cosines(walk.taken, walk.focus)
        return tuple(
            JitPiece(
                id=node_text.node_id,
                memory_id=node_text.memory_id,
                text=text,
                form=form,
                tokens=tokens,
                depth=way.depth,
                strength=walk.strengths[node_text.node_id],
                relevance_to_focus=cosines.get(node_text.node_id),
                via=None if way.edge is None else edge_of(way.edge),
            )
            for node_text, form, text, tokens, way in walk.taken
        )

    def _cosines(self, taken_pieces: Sequence[DraftPiece], focus: NDArray[np.float64]) -> dict[int, float]:
        import numpy as np

        own = [piece.text_row.node_id for piece in taken_pieces if piece.text_row.memory_id is None]
        memories = [piece.text_row.node_id for piece in taken_pieces if piece.text_row.memory_id is not None]
        cosines: dict[int, float] = {}
        contents = nodes_of(self._stores).embeddings_of(own) if own else []
        rows = [
            (content.node_id, content.embedding, content.format, content.scale)
            for content in contents
            if content.dimensions == len(focus)
        ]
        if rows:
            cosines.update(
                zip(
                    (row[0] for row in rows),
                    cosines_of(focus, decode_rows([row[1:] for row in rows])),
                    strict=True,
                )
            )
        vectors = Vectors(self._stores.db).of_memories(memories) if memories else {}
        like = [node for node, vector in vectors.items() if len(vector) == len(focus)]
        if like:
            cosines.update(
                zip(like, cosines_of(focus, np.stack([vectors[node] for node in like])), strict=True)
            )
        return cosines


def _enters(stop: NodeGate | None) -> bool:
    return stop is not None and stop.active


def edge_of(row: EdgeRow) -> HoneycombEdge:
    """Return a stored edge as callers see it."""
    return HoneycombEdge(
        from_id=row.from_id,
        target_id=row.to_id,
        relevance_score=row.score,
        relationship_type=row.relation,
        timestamp_created=from_micros(row.created_at),
        renewed_at=from_micros(row.renewed_at),
        ring=row.ring,
        auto=bool(row.is_auto),
    )


class NodeSearch:
    """Where a question points in the graph, by the vectors of one embedder; a store opened without has none."""

    def __init__(
        self,
        stores: Stores,
        search: SearchService,
        walker: JitWalker,
        calibration: Calibration,
        *,
        rules: Callable[[], HoneycombRules],
    ) -> None:
        self.walker = walker
        self._stores, self._recaller, self._embedder = stores, search.recaller, search.embedder
        self._calibration, self._rules = calibration, rules

    def seeds(self, query: str, space: str | None) -> WalkStart:
        """Return what recall finds, its scores stretched from 0 to 1."""
        return seeds_of(self._recaller, query, space, roles=self._stores.roles)

    def memory_threshold(self) -> float:
        """Return the relevance above which edges of memories are walked."""
        return self._calibration.threshold(self._rules())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the vectors of texts; None without an embedder."""
        return None if self._embedder is None else passage_embedder(self._embedder)(texts)

    def query_vector(self, query: str) -> list[float] | None:
        """Return the vector of a question; None without an embedder."""
        if self._embedder is None:
            return None
        vector: list[float] = query_embedder(self._embedder)(query, None).tolist()
        return vector
