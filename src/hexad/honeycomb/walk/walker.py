"""Just-in-time context: a walk over the honeycomb from where a question points, under a token budget.

question ─ nearest nodes ─ entries ─┬─ main rings, edges above the threshold ─┬─ texts that fit, joined with spaces
                                    └─ overflow rings, while there is room ───┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush, nsmallest
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.database.codec import from_micros
from hexad.honeycomb.graph.adjacency import Layout
from hexad.honeycomb.graph.entry_points import EntryIndex
from hexad.honeycomb.tables.edges import EdgeRow
from hexad.honeycomb.tables.nodes import NodeText
from hexad.honeycomb.values import HoneycombEdge, HoneycombRules, JitContext, JitPiece, PieceForm, Safety
from hexad.honeycomb.walk.prefetch import MEMORIES, OWN, Ahead, Bounds, Stop, stops_of
from hexad.honeycomb.walk.state import Aging, Entry, Reached, Taken, Walk, WalkOptions, Way, forms_of
from hexad.memory.store import Stores
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.quantization import cosines_of, decode_rows, direction
from hexad.text.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VISITS_MOST: Final = 20_000
"""Nodes that one walk looks at; what it met beyond is counted, not lost."""
MISSES_MOST: Final = 32
"""A walk ends after so many texts in a row that do not fit: else it looks through the whole graph for a short one."""
_ENTRIES_LOOKED_AT, _MEMORIES_LOOKED_AT = 8, 64
GAIN: Final = 0.3
"""What a best-first walk passes on over an edge. On conversations 0.2 to 0.4 found more than no walk did."""

INACTIVE, BELOW, TOO_LONG, UNREAD = "inactive", "below the threshold", "too long", "no room left"
IN_PART = "in part"


class JitWalker:
    """Assembles contexts from one store."""

    def __init__(
        self,
        stores: Stores,
        layout: Layout,
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
                found, more = self._found(query, looked_at, scope)
                stops = stops_of(self._stores, self._layout, [node for node, _ in found], bounds)
                active = [(node, cosine) for node, cosine in found if _enters(stops[node])]
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
        aging = Aging(self._rules(), self._clock.now())
        with self._stores.db.read():
            ahead = Ahead(
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
                self._reach(walk, entry.node, entry.strength, Way(0, None))
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

    def _found(
        self, query: Sequence[float], limit: int, scope: frozenset[str]
    ) -> tuple[list[tuple[int, float]], bool]:
        found: list[tuple[int, float]] = []
        more = False
        if OWN in scope:
            own = self._entries.nearest(query, limit=limit)
            more = len(own) == limit
            found += own
        index = self._vectors() if MEMORIES in scope else None
        if index is not None and index.dimensions == len(query):
            wanted = max(limit, _MEMORIES_LOOKED_AT)
            near = self._nearest_memories(index, query, wanted)
            more = more or len(near) >= wanted
            found += near
        return sorted(found, key=lambda pair: (-pair[1], pair[0])), more

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

    def _visit(self, walk: Walk, reached: Reached) -> None:
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
        said = self._read(walk, node)
        if said is None:
            return
        way = walk.ways[reached.push]
        walk.order.append(node)
        walk.depths[node] = way.depth
        walk.strengths[node] = -reached.weakness
        self._take(walk, said, way)
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
                strength = own + GAIN * walk.strengths[node] * strength
            self._reach(walk, to, strength, Way(depth, edge))

    def _reach(self, walk: Walk, node: int, strength: float, way: Way) -> None:
        level = 0 if walk.options.best_first else way.depth
        heappush(walk.heap, Reached(level, -strength, node, len(walk.ways)))
        walk.ways.append(way)

    def _take(self, walk: Walk, said: NodeText, way: Way) -> None:
        """Add a node's text, or the most of it that fits."""
        entry = walk.own.get(said.node_id)
        chunk_no = 0 if entry is None else entry.chunk_no
        for form, text in forms_of(self._stores, said, chunk_no=chunk_no, focus=walk.focus):
            joined = f"{walk.text} {text}" if walk.text else text
            tokens = self._counter.count(joined)
            if tokens > walk.options.max_tokens:
                continue
            before = self._counter.count(walk.text) if walk.text else 0
            walk.taken.append(Taken(said, form, text, tokens - before, way))
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
        told = {} if walk.focus is None else self._cosines(walk.taken, walk.focus)
        return tuple(
            JitPiece(
                id=said.node_id,
                memory_id=said.memory_id,
                text=text,
                form=form,
                tokens=tokens,
                depth=way.depth,
                strength=walk.strengths[said.node_id],
                relevance_to_focus=told.get(said.node_id),
                via=None if way.edge is None else edge_of(way.edge),
            )
            for said, form, text, tokens, way in walk.taken
        )

    def _cosines(self, taken: Sequence[Taken], focus: NDArray[np.float64]) -> dict[int, float]:
        import numpy as np

        own = [piece.said.node_id for piece in taken if piece.said.memory_id is None]
        memories = [piece.said.node_id for piece in taken if piece.said.memory_id is not None]
        told: dict[int, float] = {}
        found = self._stores.honeycomb.embeddings_of(own) if own else []
        rows = [
            (content.node_id, content.embedding, content.format, content.scale)
            for content in found
            if content.dimensions == len(focus)
        ]
        if rows:
            told.update(
                zip(
                    (row[0] for row in rows),
                    cosines_of(focus, decode_rows([row[1:] for row in rows])),
                    strict=True,
                )
            )
        vectors = self._stores.vectors.of_memories(memories) if memories else {}
        like = [node for node, vector in vectors.items() if len(vector) == len(focus)]
        if like:
            told.update(zip(like, cosines_of(focus, np.stack([vectors[node] for node in like])), strict=True))
        return told


def _enters(stop: Stop | None) -> bool:
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
