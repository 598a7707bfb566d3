"""What gives room in a context so that a better text can be told whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hexad.layers.context.pack import ContextRows, weaker_blocks
from hexad.layers.contract import EvidenceBlock, MemoryItem, ScoredItem
from hexad.memory.layer_names import MemoryLayer

AT = datetime(2026, 1, 1, tzinfo=UTC)


def blocks(*tokens: int, shown: str = "summary") -> list[EvidenceBlock]:
    """Blocks of so many tokens, the best first."""
    made = []
    for number, price in enumerate(tokens):
        item = MemoryItem(id=f"m{number}", layer=MemoryLayer.PROJECT, text="A text.", recency=0.0, relevance=0.5,
                          at=AT, kind="note")  # fmt: skip
        scored = ScoredItem(item=item, score=1.0 - number / 10, parts={})
        made.append(EvidenceBlock(scored=scored, text="A text.", shown=shown, tokens=price))
    return made


def test_the_weakest_give_room_and_no_more_of_them_than_are_needed() -> None:
    assert [9] == weaker_blocks(blocks(*[50] * 10), 0, 40, without=())
    assert [9, 8] == weaker_blocks(blocks(*[50] * 10), 0, 60, without=())
    assert [8] == weaker_blocks(blocks(*[50] * 10), 0, 40, without={9})
    assert [] == weaker_blocks(blocks(*[50] * 10), 0, 0, without=())


def test_what_is_worth_more_than_the_whole_adds_is_not_given_up() -> None:
    # Told whole the first block is worth 0.3 more; the second, cut, is worth 0.7 / 2, and whole 1 / 2.
    assert weaker_blocks(blocks(50, 50), 0, 40, without=()) is None
    assert weaker_blocks(blocks(50, 50, 50), 0, 40, without=()) == [2]
    assert weaker_blocks(blocks(50, 50, 50, shown="text"), 0, 40, without=()) is None


@pytest.mark.parametrize("need", [101, 1_000])
def test_blocks_that_are_too_short_together_give_none(need: int) -> None:
    assert weaker_blocks(blocks(50, 50, 50), 0, need, without=()) is None


def test_a_summary_as_long_as_its_text_is_another_row() -> None:
    """As rows, and as the whole that is rendered of them: what the best is told whole was shown as its summary."""
    (block,) = blocks(50)
    whole, short = "line one\nline two", "line one line two"
    assert len(whole) == len(short)
    rows = ContextRows()

    shown = [rows.row(block.scored, text, ("text",))["text"] for text in (short, whole)]
    rendered = [
        rows.rendered("toon", [replace(block, text=text)], lambda text=text: text)  # type: ignore[misc]
        for text in (short, whole)
    ]

    assert [short, whole] == shown == rendered
