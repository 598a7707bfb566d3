"""`hx.honeycomb`: nodes of a caller's own, rings of six, overflow, walks and the loop breaker, in real stores."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest

import hexad
from hexad import Hexad, InvalidInput, LimitExceeded, NotFound, ProviderError
from hexad.honeycomb.api import HoneycombFacade

DAY = timedelta(days=1)


@pytest.fixture
def comb(hx: Hexad) -> HoneycombFacade:
    return hx.honeycomb


def star(comb: HoneycombFacade, scores: list[float]) -> tuple[int, list[int]]:
    """A node that was connected with one node for each score, in this order."""
    focus, *others = comb.add_nodes([(f"node {at}", [1.0, 0.0]) for at in range(len(scores) + 1)])
    for node, score in zip(others, scores, strict=True):
        comb.insert(focus, node, score=score)
    return focus, others


def scores(edges) -> list[float]:
    return [edge.relevance_score for edge in edges]


# Nodes --------------------------------------------------------------------------------------------------------------


@pytest.mark.row("O006", "O007", "O008", "O009", "O010", "O011", "O016")
def test_a_node_is_what_was_added(comb, clock):
    node = comb.add_node("User asked about Python", [0.5, 0.25, 0.0])

    found = comb.get(node)

    assert isinstance(node, int)
    assert (node, "User asked about Python") == (found.id, found.data)
    assert ((0.5, 0.25, 0.0), 3, "float32") == (
        found.vector_embedding, found.embedding_dim, found.embedding_format,
    )  # fmt: skip
    assert ((), (), True, None) == (found.neighbors, found.fractal_layer, found.is_active, found.memory_id)
    assert clock.now() == found.created_at


@pytest.mark.row("O007")
def test_ids_are_never_those_of_memories(hx, comb):
    before = comb.add_node("a", [1.0])
    memory = hx.remember("Deploys happen on Tuesday.")
    after = comb.add_node("b", [1.0])
    hx.embed_pending()

    number = comb.get(memory.id).id

    assert before < number < after
    assert memory.id == comb.get(number).memory_id


@pytest.mark.row("O008", "O055", "O061")
@pytest.mark.parametrize(("form", "close"), [("float32", 1e-7), ("float16", 1e-3), ("int8", 5e-3)])
def test_embeddings_of_any_length_are_kept_in_each_format(comb, form, close):
    vector = np.random.default_rng(3).uniform(-1, 1, 1_536).tolist()
    node = comb.add_node("long", vector, format=form)

    assert vector == pytest.approx(list(comb.get(node).vector_embedding), abs=close)
    assert node == comb.find_most_relevant(vector)[0][0]
    assert {"float32": 6_144, "float16": 3_072, "int8": 1_536}[form] == comb.stats().embedding_bytes


@pytest.mark.row("O009", "O060")
def test_a_text_is_measured_in_bytes(comb):
    comb.add_node("é" * 4_096, [1.0])

    with pytest.raises(LimitExceeded, match=r"has 8,193 bytes; a node holds 8,192"):
        comb.add_node("é" * 4_096 + "x", [1.0])
    assert 1 == comb.stats().nodes


@pytest.mark.row("O059", "O001")
def test_a_full_graph_says_so_and_evicts_nothing(comb):
    comb.configure(max_nodes=3)
    comb.add_nodes([("a", [1.0]), ("b", [1.0])])

    with pytest.raises(LimitExceeded, match=r"has 2 nodes of its own and holds 3; 2 more do not fit"):
        comb.add_nodes([("c", [1.0]), ("d", [1.0])])
    last = comb.add_node("c", [1.0])
    with pytest.raises(LimitExceeded, match="nothing is evicted"):
        comb.add_node("d", [1.0])
    comb.remove(last)
    comb.add_node("d", [1.0])
    assert 3 == comb.stats().nodes


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda comb: comb.add_node("", [1.0]), "says nothing"),
        (lambda comb: comb.add_node(3, [1.0]), "says nothing"),
        (lambda comb: comb.add_node("half \ud800", [1.0]), "lone surrogate"),
        (lambda comb: comb.add_node("x", []), "has no numbers"),
        (lambda comb: comb.add_node("x", [math.nan]), r"embedding\[0\] is nan"),
        (lambda comb: comb.add_node("x", "abc"), "is no vector"),
        (lambda comb: comb.add_node("x", [1e39]), "float32 cannot"),
        (lambda comb: comb.add_node("x", [70_000], format="float16"), "float16 cannot"),
        (lambda comb: comb.add_node("x", [1.0], format="int4"), "int4"),
        (lambda comb: comb.add_nodes([("x",)]), "is no pair"),
        (lambda comb: comb.configure(max_nodes=0), "max_nodes = 0"),
        (lambda comb: comb.configure(cosine_weight=0.9), "add up to 1.2"),
        (lambda comb: comb.configure(wings=2), "'wings' is no rule"),
        (lambda comb: comb.jit_context(), "nowhere to begin"),
        (lambda comb: comb.jit_context([1.0], 0), "max_tokens = 0"),
        (lambda comb: comb.jit_context([1.0], threshold=1.5), r"threshold = 1\.5"),
        (lambda comb: comb.jit_context([1.0], scope="mars"), "scope = 'mars'"),
        (lambda comb: comb.jit_context("  "), "question is empty"),
        (lambda comb: comb.jit_context("  ", walk="breadth"), "says nothing"),
        (lambda comb: comb.jit_context([1.0], walk="best"), "query is a vector; give a text"),
        (lambda comb: comb.jit_context([1.0], walk="random"), "walk = 'random'"),
        (lambda comb: comb.access(True), "is no node"),
        (lambda comb: comb.check_safety(1, session=""), "session = ''"),
    ],
)
def test_what_cannot_be_used_is_refused_and_changes_nothing(comb, call, words):
    with pytest.raises(InvalidInput, match=words):
        call(comb)
    assert 0 == comb.stats().nodes


def test_one_bad_node_of_many_keeps_all_out(comb):
    with pytest.raises(InvalidInput):
        comb.add_nodes([("good", [1.0]), ("bad", [math.inf])])
    assert 0 == comb.stats().nodes


def test_secrets_do_not_enter_a_node(comb):
    node = comb.add_node("password: " + "Tr0ub4dor&3", [1.0])

    assert "password: [REDACTED:password]" == comb.get(node).data


def test_an_embedder_embeds_what_comes_without_a_vector(hx, comb):
    node = comb.add_node("Deploys happen on Tuesday.")

    assert 256 == comb.get(node).embedding_dim
    assert node == comb.find_most_relevant("Tuesday deploys")[0][0]


def test_without_an_embedder_a_node_has_no_vector_and_walks_reach_it(opened):
    hx = opened(embedder=None)
    start, plain = hx.honeycomb.add_nodes([("start", [1.0]), ("plain", None)])
    hx.honeycomb.insert(start, plain, score=0.9)

    assert "start plain" == hx.honeycomb.jit_context([1.0]).text
    with pytest.raises(InvalidInput, match="has no embedding to compare; give score"):
        hx.honeycomb.insert(plain, start)
    with pytest.raises(ProviderError, match="no embedder is open"):
        hx.honeycomb.jit_context("start")


def test_a_node_that_is_not_there_is_not_found(comb):
    for call in (comb.get, comb.neighbors, comb.overflow, comb.remove, comb.deactivate):
        with pytest.raises(NotFound, match="Node 99 is not in the honeycomb"):
            call(99)
    with pytest.raises(NotFound, match="'mem_x'"):
        comb.get("mem_x")
    with pytest.raises(NotFound):
        comb.get(1 << 80)


# Edges --------------------------------------------------------------------------------------------------------------


@pytest.mark.row("O017", "O018", "O019", "O020", "O026")
def test_with_room_an_edge_is_added_with_the_relevance_of_the_two(comb, clock):
    old = comb.add_node("old", [0.6, 0.8])
    clock.advance(days=1)
    focus = comb.add_node("focus", [1.0, 0.0])

    edge = comb.insert(focus, old, relation="response_to")

    assert (focus, old, 0, "response_to") == (
        edge.from_id, edge.target_id, edge.ring, edge.relationship_type,
    )  # fmt: skip
    assert 0.7 * 0.6 + 0.3 * 0.5 == pytest.approx(edge.relevance_score)
    assert clock.now() == edge.timestamp_created
    assert [edge] == comb.neighbors(focus)
    assert [] == comb.neighbors(old)


@pytest.mark.row("O003", "O018", "O020")
def test_of_two_that_are_equally_alike_the_older_falls_behind_and_a_score_stays_as_it_was_made(comb, clock):
    old = comb.add_node("old", [0.6, 0.8])
    clock.advance(days=30)
    new, focus = comb.add_nodes([("new", [0.6, 0.8]), ("focus", [1.0, 0.0])])

    comb.insert_many([(focus, old), (focus, new)])
    edges = comb.neighbors(focus)
    clock.advance(days=60)

    assert [new, old] == [edge.target_id for edge in edges]
    assert 0.7 * 0.6 + 0.3 * 1.0 == pytest.approx(edges[0].relevance_score)
    assert 0.7 * 0.6 < edges[1].relevance_score < edges[0].relevance_score - 0.2
    assert edges == comb.neighbors(focus)
    # Against an old one, a far weaker likeness is enough to come first.
    other = comb.add_node("other", [0.5, 0.75**0.5])
    assert comb.insert(focus, other).relevance_score > edges[1].relevance_score
    assert {clock.now(), clock.now() - timedelta(days=60)} == {
        edge.timestamp_created for edge in comb.neighbors(focus)
    }


@pytest.mark.row("O002", "O027", "O031", "O069", "O070")
def test_a_stronger_edge_takes_the_seat_of_the_weakest_which_is_kept_in_overflow(comb):
    focus, others = star(comb, [0.5, 0.3, 0.6, 0.7, 0.8, 0.9])

    stronger = comb.add_node("stronger", [1.0, 0.0])
    comb.insert(focus, stronger, score=0.4)

    assert [0.9, 0.8, 0.7, 0.6, 0.5, 0.4] == scores(comb.neighbors(focus))
    [displaced] = comb.overflow(focus)
    assert (others[1], 0.3, 1) == (displaced.target_id, displaced.relevance_score, displaced.ring)


@pytest.mark.row("O028", "O031", "O070", "O010")
def test_a_weaker_edge_goes_to_overflow_itself(comb):
    focus, others = star(comb, [0.5, 0.3, 0.6, 0.7, 0.8, 0.9, 0.2])

    assert [0.9, 0.8, 0.7, 0.6, 0.5, 0.3] == scores(comb.get(focus).neighbors)
    assert [0.9, 0.8, 0.7, 0.6, 0.5, 0.3] == scores(comb.neighbors(focus))
    assert [(others[6], 0.2)] == [(edge.target_id, edge.relevance_score) for edge in comb.overflow(focus)]


@pytest.mark.row("O011", "O029", "O030")
def test_overflow_fills_ring_after_ring(comb):
    focus, others = star(comb, [round(0.01 * at, 2) for at in range(1, 33)])

    found = comb.get(focus)

    assert [6, 6, 6, 6, 2] == [len(ring) for ring in found.fractal_layer]
    reached = {edge.target_id for edge in found.neighbors} | {
        edge.target_id for ring in found.fractal_layer for edge in ring
    }
    assert set(others) == reached
    assert [0.32, 0.31, 0.3, 0.29, 0.28, 0.27] == scores(found.neighbors)
    assert {5: 1} == comb.stats().overflow_rings


@pytest.mark.row("O080")
@pytest.mark.parametrize("again", [0.91, 0.9, 0.4, None])
def test_what_is_repeated_ages_from_then_on(comb, clock, again):
    first, left, repeated = comb.add_nodes([(name, [1.0]) for name in ("one", "left", "repeated")])
    comb.insert_many([(first, left), (first, repeated)], score=0.9)
    comb.configure(ring_half_lives=(DAY,))
    clock.advance(hours=12)
    comb.insert(first, repeated, score=again)
    clock.advance(hours=1)

    assert ["one", "repeated"] == [piece.text for piece in comb.jit_context(start=first).pieces]
    assert sorted([max(again or 0, 0.9), 0.9], reverse=True) == pytest.approx(
        scores(comb.neighbors(first)), abs=0.02
    )


@pytest.mark.row("O057", "O018", "O020")
def test_a_strengthened_edge_resurfaces(comb, clock):
    focus, others = star(comb, [0.5, 0.3, 0.6, 0.7, 0.8, 0.9, 0.2])
    clock.advance(hours=1)

    edge = comb.insert(focus, others[6], score=0.85)

    assert (0, 0.85, clock.now()) == (edge.ring, edge.relevance_score, edge.renewed_at)
    assert clock.now() - timedelta(hours=1) == edge.timestamp_created
    assert [0.9, 0.85, 0.8, 0.7, 0.6, 0.5] == scores(comb.neighbors(focus))
    assert [(others[1], 0.3)] == [(edge.target_id, edge.relevance_score) for edge in comb.overflow(focus)]


@pytest.mark.row("O018", "O019")
def test_the_same_pair_is_the_same_edge(comb):
    first, other = comb.add_nodes([("a", [1.0]), ("b", [1.0])])
    comb.insert(first, other, score=0.5, relation="cites")

    weaker = comb.insert(first, other, score=0.4)
    stronger = comb.insert(first, other, score=0.6)
    renamed = comb.insert(first, other, score=0.1, relation="quotes")

    assert [(0.5, "cites"), (0.6, "cites"), (0.6, "quotes")] == [
        (edge.relevance_score, edge.relationship_type) for edge in (weaker, stronger, renamed)
    ]
    assert 1 == comb.stats().edges


@pytest.mark.row("O018")
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"score": 1.1}, r"score = 1\.1"),
        ({"score": math.nan}, "score = nan"),
        ({"score": "much"}, "score = 'much'"),
        ({"relation": "two words"}, "relation = 'two words'"),
        ({"relation": ""}, "relation = ''"),
    ],
)
def test_an_edge_that_cannot_be_is_refused(comb, values, words):
    first, other = comb.add_nodes([("a", [1.0]), ("b", [1.0])])

    with pytest.raises(InvalidInput, match=words):
        comb.insert(first, other, **values)
    assert 0 == comb.stats().edges


def test_a_node_is_not_its_own_neighbour_and_lengths_must_agree(comb):
    first, other = comb.add_nodes([("a", [1.0]), ("b", [1.0, 0.0])])

    with pytest.raises(InvalidInput, match="cannot be connected with itself"):
        comb.insert(first, first, score=1.0)
    with pytest.raises(InvalidInput, match=f"Node {first} has 1 dimensions and node {other} 2"):
        comb.insert(first, other)
    with pytest.raises(NotFound):
        comb.insert(first, 99, score=0.5)
    assert 0.5 == comb.insert(first, other, score=0.5).relevance_score


def test_many_edges_are_made_in_order_or_none_is(comb):
    focus, *others = comb.add_nodes([(str(at), [1.0]) for at in range(9)])

    comb.insert_many([(focus, other) for other in others], score=0.5)
    with pytest.raises(NotFound):
        comb.insert_many([(others[0], focus), (others[0], 99)], score=0.5)

    assert 6 == len(comb.neighbors(focus))
    assert others[6:] == [edge.target_id for edge in comb.overflow(focus)]
    assert [] == comb.neighbors(others[0])


def test_what_a_removed_node_leaves_is_filled_by_the_strongest_overflow_edge(comb):
    focus, others = star(comb, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.1, 0.3, 0.2])

    comb.remove(others[0])

    assert [0.8, 0.7, 0.6, 0.5, 0.4, 0.3] == scores(comb.neighbors(focus))
    assert [0.2, 0.1] == sorted(scores(comb.overflow(focus)), reverse=True)
    assert [(1, 2)] == [(ring[0].ring, len(ring)) for ring in comb.get(focus).fractal_layer]
    with pytest.raises(NotFound):
        comb.get(others[0])


# Context ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def python(comb: HoneycombFacade) -> list[int]:
    """Document 3's flow example: node 5 leads to 3, not to 7; node 3 leads to 8."""
    nodes = comb.add_nodes(
        [
            ("User asked about Python", [1.0, 0.0]),
            ("I showed Python examples", [0.8, 0.6]),
            ("The weather was fine", [0.0, 1.0]),
            ("Lists are mutable", [0.6, 0.8]),
        ]
    )
    five, three, seven, eight = nodes
    comb.insert(five, three, score=0.88)
    comb.insert(five, seven, score=0.52)
    comb.insert(three, eight, score=0.85)
    comb.insert(three, five, score=0.95)
    return nodes


@pytest.mark.row("O004", "O015", "O032", "O033", "O036")
def test_a_walk_joins_what_strong_edges_lead_to(comb, python):
    five, three, _, eight = python

    context = comb.jit_context([1.0, 0.1], max_tokens=1_000)

    assert (
        "User asked about Python I showed Python examples Lists are mutable" == context.text == str(context)
    )
    assert [(five, 0), (three, 1), (eight, 2)] == [(piece.id, piece.depth) for piece in context.pieces]
    assert [None, (five, 0.88), (three, 0.85)] == [
        piece.via and (piece.via.from_id, piece.via.relevance_score) for piece in context.pieces
    ]
    assert (0.995, 0.856) == tuple(round(piece.relevance_to_focus, 3) for piece in context.pieces[:2])
    assert ({"memories", "nodes"}, 0.8) == (set(context.thresholds), context.thresholds["nodes"])
    assert {"below the threshold": 1} == context.left_out


@pytest.mark.row("O033")
def test_the_threshold_is_settable_and_must_be_passed(comb, python):
    everything = comb.jit_context([1.0, 0.0], threshold=0.5)

    assert "User asked about Python" == comb.jit_context([1.0, 0.0], threshold=0.88).text
    assert 4 == len(everything.pieces)
    assert python[2] == everything.pieces[2].id  # level by level, the strongest first


@pytest.mark.row("O034")
def test_a_budget_bounds_the_joined_text_and_what_does_not_fit_is_stepped_over(comb):
    first, long, short = comb.add_nodes([("a" * 40, [1.0, 0]), ("b" * 400, [0, 1.0]), ("c" * 20, [0, 1.0])])
    comb.insert(first, long, score=0.95)
    comb.insert(first, short, score=0.9)

    context = comb.jit_context([1.0, 0], max_tokens=16)

    assert "a" * 40 + " " + "c" * 20 == context.text
    assert (16, 16, {"too long": 1}) == (context.tokens, context.max_tokens, context.left_out)
    assert 16 == sum(piece.tokens for piece in context.pieces)


@pytest.mark.row("O016", "O035")
def test_inactive_nodes_are_passed_by_and_keep_their_edges(comb, python):
    comb.deactivate(python[1])

    assert "User asked about Python" == comb.jit_context([1.0, 0.0]).text
    assert python[3] == comb.find_most_relevant([0.8, 0.6])[0][0]
    assert not comb.get(python[1]).is_active
    comb.activate(python[1])
    assert 3 == len(comb.jit_context([1.0, 0.0]).pieces)


@pytest.mark.row("O030")
def test_a_walk_descends_into_overflow_while_there_is_room(comb):
    focus, others = star(comb, [0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93])
    beyond = comb.add_node("beyond", [0.0, 1.0])
    comb.insert(others[6], beyond, score=0.9)

    deep, shallow = comb.jit_context(start=focus), comb.jit_context(start=focus, overflow=False)

    assert [others[6], beyond] == [piece.id for piece in deep.pieces[7:]]
    assert (1, 1) == (deep.pieces[7].via.ring, deep.pieces[7].depth)
    assert others[:6] == [piece.id for piece in shallow.pieces[1:]]


@pytest.mark.row("O058", "O003")
def test_main_and_overflow_edges_age_differently(comb, clock):
    focus, others = star(comb, [0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93])
    comb.configure(ring_half_lives=(timedelta(days=365), timedelta(days=7)))

    clock.advance(days=14)

    aged = {piece.id: piece.strength for piece in comb.jit_context(start=focus, threshold=0.2).pieces[1:]}
    assert 0.99 * 0.5 ** (14 / 365) == pytest.approx(aged[others[0]])
    assert 0.93 * 0.25 == pytest.approx(aged[others[6]])
    assert 7 == len(comb.jit_context(start=focus).pieces)  # at 0.8 the old overflow edge is not walked,
    assert [0.93] == scores(comb.overflow(focus))  # and is there with the score that it was given


def test_a_walk_is_the_same_each_time_and_after_opening_again(opened):
    hx = opened()
    rows = np.random.default_rng(5).normal(size=(60, 8))
    ids = hx.honeycomb.add_nodes([(f"n{at}", row.tolist()) for at, row in enumerate(rows)])
    hx.honeycomb.insert_many(
        [
            (ids[at], ids[(at * step) % 60])
            for at in range(60)
            for step in (2, 3, 5, 7, 11, 13, 17)
            if at != (at * step) % 60
        ],
        score=0.9,
    )
    query = rows[7].tolist()

    told = hx.honeycomb.jit_context(query, max_tokens=60).to_dict()

    assert told == hx.honeycomb.jit_context(query, max_tokens=60).to_dict()
    hx.close()
    assert told == opened().honeycomb.jit_context(query, max_tokens=60).to_dict()


@pytest.mark.row("O032")
def test_the_entry_is_the_nearest_of_the_same_length(comb):
    comb.add_nodes([("two", [1.0, 0.0]), ("zero", [0.0, 0.0, 0.0]), ("three", [0.0, 0.0, 1.0])])

    assert "three" == comb.jit_context([0.1, 0.1, 0.9]).text
    assert "" == comb.jit_context([1.0] * 5).text
    assert "three" == comb.jit_context([1e300, 1e300, 1e301]).text
    assert "" == comb.jit_context([0.0, 0.0, 0.0]).text
    assert [] == comb.find_most_relevant([1.0] * 5)


@pytest.mark.row("O063")
def test_many_nodes_are_searched_by_bits_and_the_nearest_are_still_found(hx, comb):
    from hexad.database.change_counters import ChangeReader
    from hexad.honeycomb.entry_points import EntryIndex

    rows = np.random.default_rng(11).normal(size=(6_000, 64)).astype(np.float32)
    ids = comb.add_nodes([("x", row.tolist()) for row in rows])
    nodes, changes = hx._services.nodes(), ChangeReader(hx._services.db)
    approximate, exact = EntryIndex(nodes, changes, exact_numbers=64_000), EntryIndex(nodes, changes)
    queries = rows[::300] + np.random.default_rng(12).normal(scale=0.5, size=(20, 64))

    found = [approximate.nearest(query.tolist(), limit=10) for query in queries]
    true = [exact.nearest(query.tolist(), limit=10) for query in queries]

    assert approximate.approximate(64)
    assert not exact.approximate(64)
    assert [row[0] for row in true] == [row[0] for row in found]
    # Vectors without any structure are the hardest there are.
    assert sum(len({*item} & {*other}) for item, other in zip(found, true, strict=True)) >= 190
    comb.remove(ids[0])
    assert ids[0] not in {node for node, _ in approximate.nearest(rows[0].tolist(), limit=10)}


# Safety -------------------------------------------------------------------------------------------------------------


@pytest.mark.row("O012", "O013", "O014", "O037", "O039", "O040", "O071")
def test_the_documents_timeline_is_a_loop_at_the_fourth_access(comb, clock):
    node = comb.add_node("five", [1.0])
    said = []
    for _ in range(4):
        said.append(comb.access(node, session="s").value)
        clock.advance(seconds=1)

    assert ["OK", "OK", "OK", "LOOP_DETECTED"] == said
    found = comb.get(node, session="s")
    assert (4, timedelta(seconds=3)) == (
        found.access_count_session,
        found.last_accessed_timestamp - found.access_time_first,
    )
    assert "OK" == comb.check_safety(node, session="another")


@pytest.mark.row("O037", "O041", "O071")
@pytest.mark.parametrize(("gap_s", "code"), [(3.3, "LOOP_DETECTED"), (10 / 3 + 0.001, "OK")])
def test_only_a_quick_circle_is_a_loop(comb, clock, gap_s, code):
    node = comb.add_node("five", [1.0])
    comb.access(node)
    for _ in range(3):
        clock.advance(seconds=gap_s)
        comb.access(node)

    assert code == comb.check_safety(node)


def test_a_slow_start_does_not_hide_a_quick_circle_and_waiting_ends_it(comb, clock):
    node = comb.add_node("five", [1.0])
    comb.access(node)
    clock.advance(minutes=5)
    for _ in range(4):
        comb.access(node)

    assert "LOOP_DETECTED" == comb.check_safety(node)
    clock.advance(seconds=10)
    assert "OK" == comb.check_safety(node)
    assert "OK" == comb.access(node)


@pytest.mark.row("O038", "O042")
def test_a_session_expires_after_an_hour_until_it_is_begun_anew(comb, clock):
    node = comb.add_node("five", [1.0])
    comb.start_session("s")
    clock.advance(seconds=3600)
    assert "OK" == comb.access(node, session="s")
    clock.advance(seconds=1)

    assert "SESSION_EXPIRED" == comb.check_safety(node, session="s")
    comb.start_session("s")
    assert "OK" == comb.check_safety(node, session="s")
    assert 0 == comb.get(node, session="s").access_count_session


@pytest.mark.row("O040", "O041", "O042")
def test_the_limits_are_settable(comb, clock):
    comb.configure(loop_access_limit=1, loop_detection_window=DAY, max_session_time=3 * DAY)
    node = comb.add_node("five", [1.0])
    comb.access(node)
    clock.advance(hours=23)

    assert "LOOP_DETECTED" == comb.access(node)
    clock.advance(days=2)
    assert "OK" == comb.check_safety(node)
    clock.advance(days=1)
    assert "SESSION_EXPIRED" == comb.check_safety(node)


def test_a_node_that_is_not_there_is_a_code_and_not_counted(comb):
    assert ("INVALID_NODE", "INVALID_NODE") == (comb.access(99), comb.check_safety("mem_none"))


@pytest.mark.row("O037")
def test_walks_count_for_their_entry_alone_and_never_block(comb):
    focus, others = star(comb, [0.99, 0.98])

    codes = [comb.jit_context(start=focus).safety.value for _ in range(4)]

    assert ["OK", "OK", "OK", "LOOP_DETECTED"] == codes
    assert 3 == len(comb.jit_context(start=focus).pieces)
    assert (0, "OK") == (comb.get(others[0]).access_count_session, comb.check_safety(others[0]))


def test_processes_share_named_sessions_and_totals_survive(opened):
    first, second = opened(), opened()
    node = first.honeycomb.add_node("five", [1.0])
    for hx in (first, second, first):
        hx.honeycomb.access(node, session="shared")

    assert "LOOP_DETECTED" == second.honeycomb.access(node, session="shared")
    second.honeycomb.access(node)
    second.close()
    assert 5 == first._services.honeycomb().breaker.total(node).looks


def test_a_store_that_is_read_only_walks_and_breaks_loops(opened):
    writing = opened()
    focus, _ = star(writing.honeycomb, [0.9])
    writing.close()
    comb = opened(readonly=True).honeycomb

    codes = [comb.jit_context(start=focus, session="s").safety.value for _ in range(4)]

    assert "LOOP_DETECTED" == codes[-1]
    with pytest.raises(hexad.StorageFailure, match="read-only"):
        comb.add_node("x", [1.0])


# Keeping ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("O001", "O065", "O079")
def test_everything_is_there_after_opening_again(opened):
    hx = opened()
    focus, _ = star(hx.honeycomb, [round(0.01 * at, 2) for at in range(1, 33)])
    told = hx.honeycomb.get(focus).to_dict()
    hx.close()

    assert told == opened().honeycomb.get(focus).to_dict()


@pytest.mark.row("O005", "O047")
def test_another_open_store_sees_each_change_at_once(opened):
    first, second = opened(), opened()
    focus, others = star(first.honeycomb, [0.9])
    assert 2 == len(second.honeycomb.jit_context(start=focus).pieces)

    added = first.honeycomb.add_node("new", [1.0, 0.0])
    first.honeycomb.insert(focus, added, score=0.95)
    first.honeycomb.remove(others[0])

    assert [focus, added] == [piece.id for piece in second.honeycomb.jit_context(start=focus).pieces]
    assert added in {node for node, _ in second.honeycomb.find_most_relevant([1.0, 0.0], limit=9)}
    assert others[0] not in {node for node, _ in second.honeycomb.find_most_relevant([1.0, 0.0], limit=9)}


@pytest.mark.row("O056")
def test_stats_say_what_hangs_together_and_what_walks_pass_most(comb):
    hub, *spokes = comb.add_nodes([(str(at), [1.0]) for at in range(10)])
    comb.insert_many([(spoke, hub) for spoke in spokes[:8]], score=0.9)
    comb.insert(hub, spokes[0], score=0.9)

    stats = comb.stats()

    assert (10, 9, 0, [1, 9, 0, 0, 0, 0, 0]) == (
        stats.nodes, stats.edges, stats.overflow_edges, list(stats.out_degrees),
    )  # fmt: skip
    assert (2, 9, 1) == (stats.components, stats.largest_component, stats.isolated)
    assert hub == stats.hubs[0][0]
    assert 1.0 == pytest.approx(sum(rank for _, rank in stats.hubs))
    assert {"related": 9} == stats.relations


# Cost ---------------------------------------------------------------------------------------------------------------


def work(hx: Hexad, call) -> tuple[int, int]:
    """How many statements a call runs, and how many rows they change."""
    statements: list[str] = []
    db = hx._services.db
    db.tracer = lambda sql, _: statements.append(sql)
    try:
        with db.transaction() as con:
            before = con.total_changes
            call()
            changed = con.total_changes - before
    finally:
        db.tracer = None
    return len(statements), changed


@pytest.mark.row("O051", "O052", "O075")
def test_an_insertion_costs_the_same_however_much_is_there(hx, comb):
    small, _ = star(comb, [0.5] * 7)
    large, _ = star(comb, [0.5] * 400)
    fresh = comb.add_nodes([(str(at), [1.0, 0.0]) for at in range(4)])

    costs = [
        work(hx, lambda focus=focus, node=node, score=score: comb.insert(focus, node, score=score))
        for focus, node, score in (
            (small, fresh[0], 0.4),
            (large, fresh[1], 0.4),
            (small, fresh[2], 0.9),
            (large, fresh[3], 0.9),
        )
    ]

    assert costs[0] == costs[1]
    assert costs[2] == costs[3]
    assert max(statements for statements, _ in costs) < 30


@pytest.mark.row("O051", "O075")
def test_a_node_is_added_and_found_at_the_same_cost(hx, comb):
    comb.add_node("warm", [1.0, 0.0])
    first = work(hx, lambda: comb.add_node("a", [1.0, 0.0]))
    star(comb, [0.5] * 300)

    assert first == work(hx, lambda: comb.add_node("b", [1.0, 0.0]))


@pytest.mark.row("O053")
def test_a_walk_looks_at_each_node_once_and_ends_where_nothing_fits(comb):
    ids = comb.add_nodes([(f"text {at} " * 20, [1.0, at / 100]) for at in range(100)])
    comb.insert_many(
        [(ids[at], ids[(at + step) % 100]) for at in range(100) for step in range(1, 9)], score=0.9
    )

    everything = comb.jit_context(start=ids[0], max_tokens=100_000)
    little = comb.jit_context(start=ids[0], max_tokens=50)

    assert (100, 100) == (everything.visited, len({piece.id for piece in everything.pieces}))
    assert (33, 32) == (little.visited, little.left_out["too long"])


@pytest.mark.row("O054", "O055")
def test_a_large_graph_takes_little_memory(hx, comb):
    from hexad.database.change_counters import ChangeReader
    from hexad.honeycomb.entry_points import EntryIndex

    rows = np.random.default_rng(2).normal(size=(3_000, 768))
    for start in range(0, 3_000, 1_000):
        comb.add_nodes([("x", row) for row in rows[start : start + 1_000]], format="int8")
    entries = EntryIndex(hx._services.nodes(), ChangeReader(hx._services.db), exact_numbers=76_800)
    entries.nearest(rows[0].tolist(), limit=1)
    hx.honeycomb.jit_context(rows[0].tolist(), 10)

    assert entries.approximate(768)
    held = entries.nbytes() + hx._services.honeycomb().layout.nbytes()
    assert held / 3_000 < 80e6 / 100_000
    assert 768 * 3_000 == comb.stats().embedding_bytes


@pytest.mark.row("O074")
def test_opening_and_closing_leaves_nothing_behind(opened):
    import os
    import threading

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    opened().close()
    before = held()
    for _ in range(5):
        hx = opened(background=True)
        focus, _ = star(hx.honeycomb, [0.9] * 8)
        hx.remember("Deploys happen on Tuesday.")
        hx.honeycomb.jit_context(start=focus, session="s")
        hx.close()

    assert before == held()


# Settings -----------------------------------------------------------------------------------------------------------


def test_a_store_sets_its_rules_in_its_file(project, opened):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(
        "[honeycomb]\nmax_nodes = 2\nhalf_life_hours = 1\ncosine_weight = 0.5\ndecay_weight = 0.5\n"
        "ring_half_lives_days = [0, 2, 1.5]\nloop_limit = 1\nsession_s = 60\n",
        encoding="utf-8",
    )
    comb = opened().honeycomb

    rules = comb.rules

    assert (2, 0.5, 1, timedelta(minutes=1)) == (
        rules.max_nodes, rules.cosine_weight, rules.loop_access_limit, rules.max_session_time,
    )  # fmt: skip
    assert (None, timedelta(days=2), timedelta(hours=36)) == rules.ring_half_lives
    assert [None, timedelta(days=2), timedelta(hours=36), timedelta(hours=36)] == [
        rules.ring_half_life(ring) for ring in range(4)
    ]
    comb.add_nodes([("a", [1.0]), ("b", [1.0])])
    with pytest.raises(LimitExceeded):
        comb.add_node("c", [1.0])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("wings = 6", "unknown setting 'wings'; known are max_nodes"),
        ("max_nodes = 0", "max_nodes = 0 is not a whole number"),
        ("half_life_hours = -1", "half_life_hours = -1 cannot be used"),
        ("cosine_weight = 0.9", r"add up to 1\.2"),
        ("ring_half_lives_days = []", "should be a list of days"),
        ('loop_window_s = "ten"', "loop_window_s = 'ten' cannot"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_when_the_store_is_opened(project, line, words):
    (project / ".hexad").mkdir()
    (project / ".hexad" / "hexad.toml").write_text(f"[honeycomb]\n{line}\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match=words):
        hexad.open(project, embedder=None)


def test_a_question_says_when_its_vector_was_missing(opened):
    class Fickle:
        name, dimensions, broken = "fickle", 4, False

        def embed(self, texts):
            return np.tile(np.float32([1, 0, 0, 0]), (len(texts), 1))

        def embed_query(self, text):
            if self.broken:
                raise ProviderError("The model is away.")
            return self.embed([text])[0]

    embedder = Fickle()
    hx = opened(embedder=embedder)
    hx.remember("Deploys happen on Tuesday.")
    hx.embed_pending()
    embedder.broken = True

    context = hx.honeycomb.jit_context("when do deploys happen")

    assert "Deploys happen on Tuesday." == context.text
    assert any("The model is away." in note for note in context.notes)
