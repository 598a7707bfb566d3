"""What callers may give to `hx.honeycomb`, and what comes of it: of every call and parameter, in real stores."""

from __future__ import annotations

import pytest

from hexad import Hexad, LimitExceeded
from hexad.facade.honeycomb import HoneycombFacade


@pytest.fixture
def comb(hx: Hexad) -> HoneycombFacade:
    return hx.honeycomb


# Limits -------------------------------------------------------------------------------------------------------------


def test_a_full_graph_names_the_setting_that_raises_its_limit(hx, comb, opened, project):
    comb.configure(max_nodes=1)
    comb.add_node("a", [1.0])

    with pytest.raises(
        LimitExceeded, match=r"`max_nodes`, in the table \[honeycomb\] of hexad.toml or by"
    ) as told:
        comb.add_node("b", [1.0])
    assert "configure(max_nodes=…)" in str(told.value)
    comb.configure(max_nodes=2)
    comb.add_node("b", [1.0])
    (project / ".hexad" / "hexad.toml").write_text("[honeycomb]\nmax_nodes = 3\n", encoding="utf-8")
    assert 3 == opened().honeycomb.rules.max_nodes


# Edges --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order", [(8, 7, 6, 5, 4, 3, 2, 1), (1, 2, 3, 4, 5, 6, 7, 8), (5, 1, 8, 3, 2, 7, 6, 4)]
)
def test_of_equal_edges_those_to_the_highest_ids_are_in_overflow_in_whatever_order_they_came(comb, order):
    ids = comb.add_nodes([(f"n{at}", [1.0]) for at in range(9)])
    for at in order:
        comb.insert(ids[0], ids[at], score=0.5)

    assert ids[1:7] == [edge.target_id for edge in comb.neighbors(ids[0])]
    assert set(ids[7:]) == {edge.target_id for edge in comb.overflow(ids[0])}


def test_an_edge_strengthened_to_an_equal_score_rises_past_one_to_a_higher_id(comb):
    ids = comb.add_nodes([(f"n{at}", [1.0]) for at in range(9)])
    for at in (8, 7, 6, 5, 4, 3):
        comb.insert(ids[0], ids[at], score=0.5)
    comb.insert(ids[0], ids[1], score=0.1)

    comb.insert(ids[0], ids[1], score=0.5)

    assert [ids[1], *ids[3:8]] == [edge.target_id for edge in comb.neighbors(ids[0])]
    assert [ids[8]] == [edge.target_id for edge in comb.overflow(ids[0])]


def linked(hx: Hexad) -> list[int]:
    """Memories that are all linked with each other: the first one's ring is full, and one edge is in overflow."""
    memories = [hx.remember(f"The cat number {at} sits on the mat.", path=f"cats/{at}") for at in range(8)]
    hx.embed_pending()
    return [hx.honeycomb.get(memory.id).id for memory in memories]


def test_what_somebody_inserts_takes_a_derived_edge_over_with_its_own_score(hx, comb):
    first, *_ = linked(hx)
    strongest = comb.neighbors(first)[0]
    assert strongest.auto
    assert comb.overflow(first)

    weaker = comb.insert(first, strongest.target_id, score=0.1)

    assert (0.1, "similar", False) == (weaker.relevance_score, weaker.relationship_type, weaker.auto)
    assert weaker.renewed_at >= weaker.timestamp_created == strongest.timestamp_created
    # It is the weakest now, and the others move up.
    assert weaker.ring == 1
    assert 6 == len(comb.neighbors(first))
    assert all(edge.auto for edge in comb.neighbors(first))
    assert [] == hx.check()


def test_it_makes_no_difference_whether_somebody_inserts_before_or_after_links_are_derived(hx, comb):
    first, second, *_ = linked(hx)
    comb.insert(first, second, score=0.25, relation="cites")

    def told() -> list[tuple[int, float, str, bool]]:
        edges = (*comb.neighbors(first), *comb.overflow(first))
        return sorted((one.target_id, one.relevance_score, one.relationship_type, one.auto) for one in edges)

    after = told()
    hx.reindex()
    hx.embed_pending()

    assert (second, 0.25, "cites", False) in after
    assert after == told()
    # From now on it is somebody's: only a stronger insertion raises it.
    assert 0.25 == comb.insert(first, second, score=0.2).relevance_score
    assert 0.3 == comb.insert(first, second, score=0.3).relevance_score
