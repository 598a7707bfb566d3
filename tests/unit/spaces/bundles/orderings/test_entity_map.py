"""The entity map: what many changes at once cost, and that they leave the map that would be built anew."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.spaces.bundles.orderings.entity_map import EntityMap, Named, entity_tokens, split_tokens


def rows(count: int, *, word: str) -> list[tuple[int, list[str], list[str], bool]]:
    """Return memories that are all pinned, each with tokens of its own and tokens that it shares."""
    return [
        (
            slot,
            [f"{word}-{slot}", f"file-{slot}", f"group-{slot % 500}", *(f"all-{n}" for n in range(6))],
            ["ours"],
            True,
        )
        for slot in range(count)
    ]


@pytest.mark.row("L122", "L138")
def test_many_pinned_memories_that_change_before_anybody_asks_are_counted_once() -> None:
    size, changed = 40_000, 4_000
    entities = EntityMap()
    entities.fill(rows(size, word="old"))
    assert 7 == int(entities.overlap(size)[0])
    began = time.process_time()

    for slot, words, ours, pinned in rows(changed, word="new"):
        entities.put(slot, words, ours=ours, pinned=pinned and slot % 2 == 0)
    overlap = entities.overlap(size)

    assert time.process_time() - began < 5  # it took 20 seconds when each change looked through all tokens
    anew = EntityMap()
    anew.fill([(slot, words, ours, slot % 2 == 0) for slot, words, ours, _ in rows(changed, word="new")])
    anew.fill(rows(size, word="old")[changed:])
    assert anew.overlap(size).tolist() == overlap.tolist()


words = st.lists(st.sampled_from(["a", "B-c", "é_É", "Σ", "ΑΣ", "\0", "a \0", "x/y", "時間", ""]), max_size=4)


@pytest.mark.row("L108", "L122")
@settings(derandomize=True)
@given(
    first=st.lists(st.tuples(words, words, words, st.booleans()), min_size=1, max_size=8),
    later=words,
    block=st.integers(1, 4),
)
def test_a_map_of_many_is_that_of_each(
    first: list[tuple[list[str], list[str], list[str], bool]], later: list[str], block: int
) -> None:
    named = [
        Named(
            range(at, min(at + block, len(first))),
            [" ".join(["p/Q", *values]) for values, *_ in first[at : at + block]],
            [tuple(tags) for _, tags, *_ in first[at : at + block]],
            [" ".join(ours) for _, _, ours, _ in first[at : at + block]],
        )
        for at in range(0, len(first), block)
    ]
    many = EntityMap.of(named, np.array([pinned for *_, pinned in first]))
    each = EntityMap()
    for slot, (values, tags, ours, pinned) in enumerate(first):
        each.put(slot, entity_tokens("p/Q", tags, values), ours=split_tokens(" ".join(ours)), pinned=pinned)
        each.overlap(len(first))  # so that what changes later is mended, not counted anew

    for entity_map in (many, each):
        entity_map.put(len(first), entity_tokens("p/z", later, later), pinned=True)
        entity_map.drop(0)
    size = len(first) + 1
    assert each.counts() == many.counts()
    assert each.overlap(size).tolist() == many.overlap(size).tolist()
    everyone = np.ones(size, dtype=bool)
    assert each.rarity(everyone).tolist() == many.rarity(everyone).tolist()
    for token in each.counts():
        assert sorted(each.slots(token).tolist()) == sorted(many.slots(token).tolist())
