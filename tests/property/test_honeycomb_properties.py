"""Whatever is added, connected, strengthened, put to rest and removed, in whatever order: no ring has more than six
edges, the main ring holds the strongest, and no edge is lost. Beside a plain implementation that shares no code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import FrozenClock, Hexad, HoneycombEdge
from hexad.honeycomb.tables.edges import NewEdge
from reference_honeycomb import Node, ReferenceHoneycomb

NODES = 24
# Few scores, so that equals are common.
some_scores = st.integers(1, 12).map(lambda at: at / 12)
some = st.integers(0, NODES - 1)
steps = st.one_of(
    st.tuples(st.just("insert"), st.integers(0, 3), some, some_scores),  # few hubs, so that they overflow
    st.tuples(st.just("insert"), some, some, some_scores),
    st.tuples(st.just("relate"), some, some, st.sampled_from(["cites", "response_to"])),
    st.tuples(st.just("remove"), some),
    st.tuples(st.just("rest"), some, st.booleans()),
    st.tuples(st.just("wait"), st.integers(1, 48)),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hexad, FrozenClock]]:
    clock = FrozenClock()
    with hexad.open(tmp_path_factory.mktemp("comb"), embedder=None, background=False, clock=clock) as hx:
        hx.honeycomb.configure(ring_half_lives=(None,))
        yield hx, clock
        assert [] == hx.check()


def strength(edge: HoneycombEdge) -> tuple[float, int]:
    """What edges are compared by: of equals, the edge to the higher id is the weaker."""
    return edge.relevance_score, -edge.target_id


class Life:
    """A graph of its own in a store that is shared, and the same in the plain implementation."""

    def __init__(self, hx: Hexad, clock: FrozenClock) -> None:
        self.hx, self.comb, self.clock = hx, hx.honeycomb, clock
        self.plain = ReferenceHoneycomb()
        vectors = [[float((at * step) % 7 - 2) for step in (1, 2, 3)] for at in range(NODES)]
        self.ids = self.comb.add_nodes([(f"n{at}", vector) for at, vector in enumerate(vectors)])
        for node, vector in zip(self.ids, vectors, strict=True):
            self.plain.nodes[node] = Node("", vector, self.now())
        self.gone: set[int] = set()
        self.made: set[tuple[int, int]] = set()

    def now(self) -> float:
        return self.clock.now().timestamp()

    def do(self, step: tuple) -> None:
        name, *rest = step
        if name == "wait":
            self.clock.advance(hours=rest[0])
            return
        nodes = [self.ids[rest[0]], *([self.ids[rest[1]]] if name in ("insert", "relate") else [])]
        if self.gone & set(nodes) or len(set(nodes)) < len(nodes):
            return
        if name == "insert":
            self.comb.insert(*nodes, score=rest[2])
            self.plain.insert(*nodes, self.now(), score=rest[2])
            self.made.add((nodes[0], nodes[1]))
        elif name == "relate":
            self.comb.insert(*nodes, relation=rest[2])
            self.plain.insert(*nodes, self.now(), relation=rest[2])
            self.made.add((nodes[0], nodes[1]))
        elif name == "remove":
            self.comb.remove(nodes[0])
            self.plain.remove(nodes[0])
            self.gone.add(nodes[0])
            self.made = {pair for pair in self.made if nodes[0] not in pair}
        elif name == "rest":
            (self.comb.activate if rest[1] else self.comb.deactivate)(nodes[0])
            self.plain.nodes[nodes[0]].active = rest[1]

    def check(self) -> None:
        kept = set()
        for node, plain in self.plain.nodes.items():
            found = self.comb.get(node)
            rings = [list(found.neighbors), *map(list, found.fractal_layer)]
            # Degree, and compact rings: ring r + 1 exists only where ring r is full, so none leads back to another.
            assert all(1 <= len(ring) <= 6 for ring in rings[1:])
            assert len(rings[0]) <= 6
            assert all(len(ring) == 6 for ring in rings[:-1])
            assert all({at} == {edge.ring for edge in ring} for at, ring in enumerate(rings) if ring)
            every = [edge for ring in rings for edge in ring]
            assert all(0.0 <= edge.relevance_score <= 1.0 for edge in every)
            weakest = min(map(strength, rings[0]), default=(0.0, 0))
            assert all(strength(edge) < weakest for ring in rings[1:] for edge in ring)
            kept |= {(node, edge.target_id) for edge in every}
            assert self.plain.rings(node) == [
                sorted((edge.target_id, pytest.approx(edge.relevance_score, abs=1e-6)) for edge in ring)
                for ring in rings
                if ring
            ]
            assert {edge.target: edge.relation for edge in plain.edges} == {
                edge.target_id: edge.relationship_type for edge in every
            }
        assert self.made == kept

    def walks(self, threshold: float) -> None:
        for start in [node for node in self.ids[:4] if node not in self.gone]:
            for overflow in (False, True):
                expected = self.plain.walk(start, threshold=threshold, overflow=overflow)
                context = self.comb.jit_context(
                    start=start, max_tokens=10_000, threshold=threshold, overflow=overflow
                )
                assert expected == [piece.id for piece in context.pieces]


@pytest.mark.row("O002", "O031", "O076", "O077", "O078", "O079")
@settings(max_examples=examples(30), suppress_health_check=SHARED_FIXTURES)
@given(
    full=st.lists(some_scores, max_size=NODES - 1),
    life=st.lists(steps, max_size=40),
    threshold=st.integers(0, 11).map(lambda at: at / 12),
)
def test_no_edge_is_lost_and_rings_stay_whole(store, full, life, threshold):
    graph = Life(*store)
    for target, score in enumerate(full, start=1):  # a node with overflow from the first step on
        graph.do(("insert", 0, target, score))
    for step in life:
        graph.do(step)
    graph.check()
    graph.walks(threshold)


@pytest.mark.row("O030", "O079")
@settings(max_examples=examples(10), suppress_health_check=SHARED_FIXTURES)
@given(pairs=st.lists(st.tuples(st.integers(0, 2), some, some_scores), min_size=20, max_size=80))
def test_every_node_that_was_connected_is_reached_by_walk_and_overflow(store, pairs):
    graph = Life(*store)
    for focus, target, score in pairs:
        graph.do(("insert", focus, target, score))
    for focus in range(3):
        node = graph.ids[focus]
        reached = {
            piece.id for piece in graph.comb.jit_context(start=node, max_tokens=10_000, threshold=0.0).pieces
        }
        assert {target for start, target in graph.made if start == node} <= reached


class Said(NamedTuple):
    """An edge of the hub as one side wants it: derived by the store, or inserted by somebody."""

    target: int
    score: float
    auto: bool


said = st.builds(Said, st.integers(1, 17), some_scores, st.booleans())


@pytest.mark.row("O031", "O078", "O079")
@settings(max_examples=examples(30), suppress_health_check=SHARED_FIXTURES)
@given(first=st.lists(said, max_size=40), data=st.data())
def test_what_is_in_the_main_ring_depends_on_what_was_said_and_not_on_when(store, first, data):
    orders = [first, data.draw(st.permutations(first))]
    hx, _ = store
    edges, at = hx._services.nodes().edges, 0
    found = []
    for order in orders:
        hub, *others = hx.honeycomb.add_nodes([(f"n{place}", None) for place in range(18)])
        for item in order:
            edges.insert(
                [
                    NewEdge(
                        from_id=hub,
                        to_id=others[item.target - 1],
                        score=item.score,
                        relation=None,
                        is_auto=item.auto,
                    )
                ],
                at=at,
            )
        node = hx.honeycomb.get(hub)
        rings = [list(node.neighbors), [edge for ring in node.fractal_layer for edge in ring]]
        found.append(
            [
                sorted((edge.target_id - hub, edge.relevance_score, edge.auto) for edge in ring)
                for ring in rings
            ]
        )
    # Somebody's word goes before what is derived, whichever came first; of each side the strongest counts.
    best: dict[int, tuple[float, bool]] = {}
    for item in sorted(first, key=lambda item: (not item.auto, item.score)):
        best[item.target] = (item.score, item.auto)
    ranked = sorted(((target, *rest) for target, rest in best.items()), key=lambda row: (-row[1], row[0]))

    assert [sorted(ranked[:6]), sorted(ranked[6:])] == found[0] == found[1]
    assert [] == hx.check()


new_edge = st.tuples(
    st.integers(0, 5),
    some,
    some_scores,
    st.sampled_from([None, "cites", "similar"]),
    st.booleans(),
    st.sampled_from([None, 7]),
).filter(lambda edge: edge[0] != edge[1])
new_edges = st.one_of(
    st.lists(new_edge, min_size=12, max_size=60, unique_by=lambda edge: edge[:2]),
    st.lists(new_edge, min_size=12, max_size=40),
)


@settings(max_examples=examples(40), suppress_health_check=SHARED_FIXTURES, deadline=None)
@given(before=st.lists(new_edge, max_size=12), calls=st.lists(new_edges, min_size=1, max_size=2))
def test_edges_that_are_inserted_together_stand_where_they_do_one_by_one(store, before, calls):
    hx, _ = store
    services = hx._services
    edges, db = services.nodes().edges, services.db

    def lived(*, together: bool) -> tuple[list, list, list]:
        ids = hx.honeycomb.add_nodes([(f"n{at}", [1.0, at]) for at in range(NODES)])
        first = ids[0]
        made = []
        for at, call in enumerate([before, *calls]):
            given_edges = [
                NewEdge(
                    from_id=ids[start], to_id=ids[end], score=score, relation=kind, is_auto=auto, at=made_at
                )
                for start, end, score, kind, auto, made_at in call
            ]
            groups = [given_edges] if together and at else [[edge] for edge in given_edges]
            for group in groups:
                made.extend(edges.insert(group, at=9 + at))
        rows = db.query(
            "SELECT from_id - ?1, ring, seat, to_id - ?1, score, relation, is_auto, created_at, renewed_at"
            " FROM honeycomb_edges WHERE from_id >= ?1 ORDER BY 1, 2, 3",
            (first,),
        )
        counts = db.query(
            "SELECT id - ?1, main, overflow FROM honeycomb_nodes WHERE id >= ?1 ORDER BY 1", (first,)
        )
        for node in ids:
            hx.honeycomb.remove(node)
        return (
            [edge._replace(from_id=edge.from_id - first, to_id=edge.to_id - first) for edge in made],
            rows,
            counts,
        )

    assert lived(together=False) == lived(together=True)
