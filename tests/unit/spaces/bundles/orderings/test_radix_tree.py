"""The tree of paths: compressed, changed piece by piece, and asked without a scan."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.spaces.bundles.orderings.radix_tree import RadixTree

parts = st.lists(st.sampled_from(["a", "b", "ab", "c d", "é"]), min_size=1, max_size=5).map(tuple)
steps = st.lists(st.tuples(st.sampled_from(["put", "take", "ask"]), st.integers(0, 12), parts), max_size=60)


def under(tree: RadixTree, *prefix: str) -> list[int]:
    return sorted(tree.under(prefix).tolist())


@pytest.mark.row("L104", "L118")
def test_whole_parts_lead_to_what_is_at_and_under_them():
    tree = RadixTree()
    tree.insert(("lexon", "runtime", "release"), 0)
    tree.insert(("lexon", "runtime", "parser", "cache"), 1)
    tree.insert(("lexon", "runtime"), 2)
    tree.insert(("lexon", "run"), 3)

    assert [0, 1, 2, 3] == under(tree)
    assert [0, 1, 2] == under(tree, "lexon", "runtime")
    assert [1] == under(tree, "lexon", "runtime", "parser")
    assert [] == under(tree, "lexon", "runt")
    assert [] == under(tree, "lexon", "runtime", "parser", "other")


@pytest.mark.row("L104")
def test_parts_without_a_fork_share_one_edge():
    tree = RadixTree()
    tree.insert(("a", "b", "c", "d"), 0)
    assert 1 == tree.edges()

    tree.insert(("a", "b", "x"), 1)
    assert 3 == tree.edges()

    tree.remove(("a", "b", "x"), 1)
    assert 1 == tree.edges()
    assert [0] == under(tree, "a", "b", "c")


def test_what_is_not_in_the_tree_cannot_be_removed():
    tree = RadixTree()
    tree.insert(("a", "b"), 0)

    with pytest.raises(KeyError):
        tree.remove(("a",), 0)
    assert 1 == len(tree)


@pytest.mark.row("L104", "L118")
@settings(max_examples=300, derandomize=True)
@given(first=st.lists(parts, max_size=12), steps=steps, asks=st.booleans())
def test_any_changes_leave_the_tree_that_would_be_built_anew(first, steps, asks) -> None:
    """Also when it began with many at once, of which those that nobody asked for have no place yet."""
    model = dict(enumerate(first))
    tree = RadixTree((path, slot) for slot, path in model.items())
    for what, slot, path in steps:
        if what == "put" and slot not in model:
            tree.insert(path, slot)
            model[slot] = path
        elif what == "take" and slot in model:
            tree.remove(model.pop(slot), slot)
        for length in range(len(path) + 1) if asks or what == "ask" else ():
            expected = sorted(slot for slot, held in model.items() if held[:length] == path[:length])
            assert expected == under(tree, *path[:length])
    anew = RadixTree()
    for slot, path in model.items():
        anew.insert(path, slot)
    assert sorted(model) == under(tree)
    assert anew.edges() == tree.edges()
    assert len(model) == len(tree)


@pytest.mark.row("L104", "L117")
def test_many_slots_at_one_path_are_taken_away_in_time_that_does_not_grow_with_their_number() -> None:
    tree = RadixTree()
    for slot in range(100_000):
        tree.insert(("a", "b"), slot)
    began = time.process_time()

    for slot in reversed(range(1, 100_000)):
        tree.remove(("a", "b"), slot)

    assert [0] == tree.under(("a",)).tolist()
    assert time.process_time() - began < 10  # it took minutes when all slots of a path were looked through
