"""What a process keeps of the honeycomb in memory: it says what the store says, whoever wrote there, and is small."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from hexad.database.change_counters import ChangeReader
from hexad.honeycomb.adjacency import ACTIVE, MEMORY, OVERFLOW, Adjacency
from hexad.honeycomb.entry_points import EntryIndex

CENTRES = np.random.default_rng(1).normal(size=(40, 64))


def points(count: int, seed: int) -> np.ndarray:
    """Points around centres, all of whose numbers lean to one side, as those of real embedders do."""
    source = np.random.default_rng(seed)
    return CENTRES[np.arange(count) % 40] + 0.6 * source.normal(size=(count, 64)) + 0.5


def entries_of(hx, exact_numbers: int) -> EntryIndex:
    return EntryIndex(hx._services.nodes(), ChangeReader(hx._services.db), exact_numbers=exact_numbers)


@pytest.mark.row("O063", "O042")
def test_where_a_walk_begins_depends_on_the_nodes_and_not_on_how_a_process_came_to_know_them(opened):
    reader, writer = opened(), opened()
    kept = entries_of(reader, 64 * 2_000)
    queries = [row.tolist() for row in points(60, seed=2)]
    ids: list[int] = []
    steps = []

    def compare() -> None:
        fresh = entries_of(reader, 64 * 2_000)
        assert [fresh.nearest(query, limit=3) for query in queries] == [
            kept.nearest(query, limit=3) for query in queries
        ]
        steps.append((len(ids), kept.approximate(64)))

    rows = points(3_600, seed=3)
    for first, last in pairwise((0, 1_500, 1_999, 2_003, 3_600)):
        ids += writer.honeycomb.add_nodes([("x", row) for row in rows[first:last]])
        compare()
    for least in (3_000, 2_100, 1_990):
        gone = ids[200 : 200 + len(ids) - least]
        writer._services.nodes().remove(gone)
        ids = [node for node in ids if node not in gone]
        compare()

    assert [
        (1_500, False), (1_999, False), (2_003, True), (3_600, True), (3_000, True), (2_100, True), (1_990, False),
    ] == steps  # fmt: skip


@pytest.mark.row("O063")
@pytest.mark.parametrize("exact_numbers", [64 * 5_000, 64 * 1_000])
def test_of_equal_nodes_those_with_the_lowest_ids_are_found(hx, exact_numbers):
    row = points(1, seed=4)[0]
    others = hx.honeycomb.add_nodes([("other", point) for point in points(1_000, seed=5)])
    same = hx.honeycomb.add_nodes([("same", row)] * 1_500)
    entries = entries_of(hx, exact_numbers)

    found = entries.nearest(row.tolist(), limit=5)

    assert (exact_numbers == 64 * 1_000) == entries.approximate(64)
    assert same[:5] == [node for node, _ in found]
    hx.honeycomb.remove(same[1])
    assert [same[0], *same[2:6]] == [node for node, _ in entries.nearest(row.tolist(), limit=5)]
    assert others[0] in {node for node, _ in entries.nearest(points(1, seed=5)[0].tolist(), limit=3)}


@pytest.mark.row("O053", "O063", "O066")
def test_every_cosine_is_computed_up_to_four_million_numbers_of_one_length(hx):
    index = EntryIndex(hx._services.nodes(), ChangeReader(hx._services.db))
    rows = np.random.default_rng(4).normal(size=(62, 65_536))

    hx.honeycomb.add_nodes([("x", row) for row in rows[:61]], format="int8")
    hx.honeycomb.add_nodes([("x", row[:64]) for row in rows], format="int8")
    assert 61 * 65_536 <= 4_000_000
    assert not index.approximate(65_536)
    hx.honeycomb.add_node("x", rows[61], format="int8")

    assert 62 * 65_536 > 4_000_000
    assert (True, False) == (index.approximate(65_536), index.approximate(64))


@pytest.mark.row("O063")
def test_the_nearest_by_bits_is_nearly_always_the_nearest(hx):
    rows = points(6_000, seed=6)
    hx.honeycomb.add_nodes([("x", row) for row in rows])
    by_bits, exact = entries_of(hx, 64_000), entries_of(hx, 64 * 6_000)
    queries = rows[::30] + 0.4 * np.random.default_rng(7).normal(size=(200, 64))

    found = [by_bits.nearest(query.tolist(), limit=1) for query in queries]

    assert (True, False) == (by_bits.approximate(64), exact.approximate(64))
    assert (
        sum(
            item == exact.nearest(query.tolist(), limit=1) for item, query in zip(found, queries, strict=True)
        )
        >= 198
    )


@pytest.mark.row("O036")
def test_the_rings_in_memory_are_those_of_the_store(opened):
    reader, writer = opened(), opened()
    comb, source = writer.honeycomb, random.Random(3)
    layout = Adjacency(reader._services.nodes(), ChangeReader(reader._services.db))
    nodes = reader._services.nodes()
    memory = writer.remember("Deploys happen on Tuesday.")  # becomes a node after those with higher numbers
    ids = comb.add_nodes([(str(at), [1.0]) for at in range(60)])
    asleep: set[int] = set()
    memories: set[int] = set()
    for step in range(30):
        focuses = source.sample(ids, 12)
        comb.insert_many(
            [(focus, other) for focus in focuses for other in source.sample(ids, 9) if focus != other],
            score=round(source.random(), 2),
        )
        if step == 20:
            writer.embed_pending()
            memories.add(comb.get(memory.id).id)
        if step % 3 == 0:
            for gone in source.sample(ids, 6):
                ids.remove(gone)
                comb.remove(gone)
            ids += comb.add_nodes([("late", [1.0]) for _ in range(4)])
        sleeper = source.choice(ids)
        comb.deactivate(sleeper)
        asleep.add(sleeper)

        layout.follow()
        everyone = range(1, max(ids) + 2)

        assert nodes.edges.main(list(everyone)) == layout.edges_of(list(everyone))
        flags = {node: flag for node, flag in layout.flags_of(list(everyone)).items() if flag}
        assert sorted([*ids, *memories]) == sorted(flags)
        assert {node for node, flag in flags.items() if not flag & ACTIVE} == asleep & set(ids)
        deep = {node for node, flag in flags.items() if flag & OVERFLOW}
        assert deep == set(nodes.edges.overflow(ids))
        assert memories == {node for node, flag in flags.items() if flag & MEMORY}
        assert sorted([*ids, *memories]) == layout.rings().ids.tolist()


@pytest.mark.row("O036")
def test_a_large_graph_is_read_whole(hx):
    ids = hx.honeycomb.add_nodes([("x", [1.0])] * 9_000)
    hx.honeycomb.insert_many(
        [(item, other) for item, other in zip(ids, ids[::-1], strict=True) if item % 3], score=0.9
    )
    nodes = hx._services.nodes()
    layout = Adjacency(nodes, ChangeReader(hx._services.db))

    assert nodes.edges.main(ids) == layout.edges_of(ids)
    assert ids == layout.rings().ids.tolist()


@pytest.mark.row("O053")
def test_a_walk_reads_several_nodes_at_once(hx):
    comb, db = hx.honeycomb, hx._services.db
    ids = comb.add_nodes([(f"Node {at}.", [1.0, at / 100]) for at in range(100)])
    comb.insert_many(
        [(item, other) for at, item in enumerate(ids) for other in ids[at + 1 : at + 7]], score=0.9
    )
    comb.jit_context([1.0, 0.0], 10)
    statements: list[str] = []
    db.tracer = lambda sql, _: statements.append(sql)
    try:
        context = comb.jit_context([1.0, 0.0], 10_000)
    finally:
        db.tracer = None

    assert 100 == len(context.pieces)
    assert len(statements) < 40


@pytest.mark.row("O053", "O051")
def test_what_one_change_costs_the_next_walk_does_not_grow_with_the_graph(hx):
    nodes, db = hx._services.nodes(), hx._services.db
    hx.honeycomb.add_node("x", [1.0])
    statements: list[str] = []
    db.tracer = lambda sql, _: statements.append(sql)
    try:
        nodes.changed_after(0)
        nodes.linked()
    finally:
        db.tracer = None

    plans = [db.query(f"EXPLAIN QUERY PLAN {sql}", (0,) * sql.count("?")) for sql in statements]

    assert 2 == len(plans)
    for plan, index in zip(plans, ("honeycomb_nodes_by_rev", "honeycomb_nodes_linked"), strict=True):
        assert index in str(plan[0][3]), plan


@pytest.mark.row("O036")
def test_edges_that_callers_insert_do_not_measure_the_memories_anew(hx):
    memories = [hx.remember(f"Note {at} is about the weather in {at} towns.") for at in range(12)]
    hx.embed_pending()
    before = hx.honeycomb.jit_context("weather", 100).thresholds["memories"]
    db, statements = hx._services.db, []
    hx.honeycomb.insert(memories[0].id, memories[5].id, score=1.0)
    db.tracer = lambda sql, _: statements.append(sql)
    try:
        after = hx.honeycomb.jit_context("weather", 100).thresholds["memories"]
        calm = [sql for sql in statements if "row_number" in sql]
        hx.remember("Another note about the weather in many towns.")
        hx.embed_pending()
        hx.honeycomb.jit_context("weather", 100)
    finally:
        db.tracer = None

    assert before == after
    assert [] == calm
    assert any("row_number" in sql for sql in statements)
