"""What somebody sees of the rings is a matter of the edges to what they see, in whatever order all others came."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES
from hexad import Hexad
from hexad.honeycomb.tables.edges import EdgeRow, HoneycombEdges
from hexad.honeycomb.tables.nodes import SeenRings

ENDS = 16
# Few scores, so that equals are common; some edges come twice, and resurface.
inserted = st.lists(st.tuples(st.integers(1, ENDS), st.integers(0, 12).map(lambda at: at / 12)), max_size=40)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hexad]:
    with hexad.open(tmp_path_factory.mktemp("comb"), embedder=None, background=False) as hx:
        yield hx
        assert [] == hx.check()


def grown(hx: Hexad, edges: list[tuple[int, float]]) -> list[int]:
    """Return a new hub and the ends that these edges lead to from it."""
    nodes = hx.honeycomb.add_nodes([(f"n{at}", None) for at in range(ENDS + 1)])
    for at, score in edges:
        hx.honeycomb.insert(nodes[0], nodes[at], score=score)
    return nodes


def told(rows: list[EdgeRow], nodes: list[int]) -> list[tuple[int, float, int, int]]:
    return [(nodes.index(row.to_id), row.score, row.ring, row.seat) for row in rows]


@settings(suppress_health_check=SHARED_FIXTURES)
@given(edges=inserted, hidden=st.sets(st.integers(1, ENDS)))
def test_rings_are_the_same_whether_what_is_hidden_was_ever_there(store, edges, hidden):
    rings = HoneycombEdges(store._services.db)
    shown = [edge for edge in edges if edge[0] not in hidden]
    seen = []
    for given_edges, unseen in ((edges, hidden), (shown, set())):
        nodes = grown(store, given_edges)
        out_of_sight = {nodes[at] for at in unseen}

        def visible(ids: Collection[int], gone: set[int] = out_of_sight) -> set[int]:
            return set(ids) - gone

        view, hub = SeenRings(rings, visible), nodes[0]
        main, overflow = view.main([hub]).get(hub, []), view.overflow([hub]).get(hub, [])
        placed = view.placed([*main, *overflow][::-1])
        seen.append([told(rows, nodes) for rows in (main, overflow, placed)])
        if not unseen:  # the strongest six are those of the owner, too
            stored = rings.main([hub]).get(hub, [])
            assert [row.to_id for row in stored] == [row.to_id for row in main]

    assert seen[1] == seen[0]
    main, overflow, _ = seen[0]
    best = {at: max(score for to, score in shown if to == at) for at, _ in shown}
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    assert [(*item, place // 6, place % 6) for place, item in enumerate(ranked)] == [*main, *overflow]
