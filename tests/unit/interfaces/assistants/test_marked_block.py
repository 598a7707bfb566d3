from __future__ import annotations

import pytest

from hexad import InvalidInput
from hexad.interfaces.assistants.marked_block import MARKDOWN_MARKS, TOML_MARKS


@pytest.mark.parametrize("marks", [TOML_MARKS, MARKDOWN_MARKS])
@pytest.mark.parametrize("text", ["", "mine\n", "mine\n\n", "# A\n\ntext\n"])
def test_a_block_is_put_at_the_end_and_taken_out_without_a_trace(marks, text):
    with_block = marks.put(text, "ours")

    assert with_block.startswith(text)
    assert with_block == marks.put(with_block, "ours")
    assert text == marks.take_out(with_block)


def test_a_block_is_renewed_where_it_stands():
    text = MARKDOWN_MARKS.put("before\n", "old") + "after\n"

    new = MARKDOWN_MARKS.put(text, "new")

    assert "old" not in new
    assert "before\nafter\n" == MARKDOWN_MARKS.take_out(new)


@pytest.mark.parametrize(
    "left", ["<!-- hexad begin -->\n", "<!-- hexad begin -->\n<!-- hexad begin -->\n<!-- hexad end -->\n"]
)
def test_half_a_block_is_not_guessed_at(left):
    with pytest.raises(InvalidInput, match="not one pair"):
        MARKDOWN_MARKS.put(left, "ours")
