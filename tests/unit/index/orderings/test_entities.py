"""The entity map: what many changes at once cost, and that they leave the map that would be built anew."""

from __future__ import annotations

import time

import pytest

from hexad.index.orderings.entities import EntityMap


def rows(count: int, *, word: str) -> list[tuple[int, list[str], bool]]:
    """Return memories that are all pinned, each with tokens of its own and tokens that it shares."""
    return [
        (
            slot,
            [f"{word}-{slot}", f"file-{slot}", f"group-{slot % 500}", *(f"all-{n}" for n in range(6))],
            True,
        )
        for slot in range(count)
    ]


@pytest.mark.row("L122", "L138")
def test_many_pinned_memories_that_change_before_anybody_asks_are_counted_once() -> None:
    size, changed = 100_000, 5_000
    entities = EntityMap()
    entities.fill(rows(size, word="old"))
    assert 7 == int(entities.overlap(size)[0])
    began = time.process_time()

    for slot, words, pinned in rows(changed, word="new"):
        entities.put(slot, words, pinned=pinned and slot % 2 == 0)
    overlap = entities.overlap(size)

    assert time.process_time() - began < 5  # it took a minute when each change looked through all tokens
    anew = EntityMap()
    anew.fill([(slot, words, slot % 2 == 0) for slot, words, _ in rows(changed, word="new")])
    anew.fill(rows(size, word="old")[changed:])
    assert anew.overlap(size).tolist() == overlap.tolist()
