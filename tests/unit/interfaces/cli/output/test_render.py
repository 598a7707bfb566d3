"""Text for people: excerpts, columns, tables."""

from __future__ import annotations

import doctest

import click
import pytest

import hexad
from hexad.interfaces.cli.output import progress, render
from hexad.interfaces.cli.output.render import (
    clean,
    clean_lines,
    clip,
    columns,
    excerpt,
    hanging,
    memory_table,
    table,
)


@pytest.mark.parametrize("module", [render, progress])
def test_the_examples_in_the_docstrings_hold(module):
    results = doctest.testmod(module)

    assert 0 == results.failed
    assert results.attempted > 0


def test_control_characters_of_a_memory_never_reach_the_terminal():
    assert "a�[2Jb\nc\td" == clean_lines("a\x1b[2Jb\nc\td")
    assert "a�[2Jb c\td" == clean("a\x1b[2Jb\nc\td")
    assert "��" == clean("\x9b\ud800")


def test_a_clipped_line_fits_also_with_wide_characters():
    assert 10 >= columns(clip("記憶の容れ物はここにある", 10))
    assert clip("記憶の容れ物はここにある", 10).endswith("…")
    assert "short" == clip("short", 10)


def test_an_excerpt_shows_the_lines_that_the_question_names():
    text = "\n".join(["filler line"] * 20 + ["the harbour closes at noon"] + ["filler line"] * 20)

    lines = excerpt(text, query="when does the harbour close", room=60, verbatim=True, limit=3)

    assert 3 == len(lines)
    assert any("harbour" in line for line in lines)
    assert lines[0].startswith("… ")
    assert lines[-1].endswith(" …")


def test_an_excerpt_of_prose_is_wrapped_and_one_of_code_keeps_its_lines():
    code = "    def f(x):\n        return x\n"
    prose = "one two three four five six seven eight nine ten"

    assert ["def f(x):", "    return x"] == excerpt(code, query="", room=40, verbatim=True)
    assert ["one two three four", "five six seven", "eight nine ten"] == excerpt(
        prose, query="", room=18, verbatim=False
    )


def test_a_short_text_is_shown_whole_without_marks():
    assert ["a", "b"] == excerpt("\n\na\nb\n\n", query="x", room=40, verbatim=True)


def test_a_table_is_aligned_and_no_line_is_wider_than_the_room():
    rows = [("mem_1", "記憶", "x" * 200), ("mem_2222222222", "b", "short")]

    lines = [
        click.unstyle(line) for line in table(rows, heads=("id", "kind", "summary"), room=40, whole=("id",))
    ]

    starts = [
        columns(line[: line.index(word)]) for line, word in zip(lines, ("summary", "x", "short"), strict=True)
    ]
    assert 1 == len(set(starts))
    assert all(columns(line) <= 40 for line in lines)
    assert "mem_2222222222" in lines[2]


def test_a_table_in_a_pipe_is_not_clipped():
    assert "x" * 200 in table([("mem_1", "x" * 200)], heads=("id", "summary"), room=None)[1]


def test_a_long_cell_in_a_pipe_widens_no_column():
    lines = table([["a", "short"], ["x" * 9_000, "other"]], heads=["name", "text"], room=None)

    assert ["name  text", "a     short", f"{'x' * 9_000}  other"] == [click.unstyle(line) for line in lines]


def test_a_list_of_memories_fits_a_narrow_and_a_wide_terminal():
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        hx.remember(
            "The harbour office closes at noon. " * 5, path="shop/harbour/" + "hours" * 20, pinned=True
        )
        memories = hx.memories()

    for room in (80, 120):
        lines = [click.unstyle(line) for line in memory_table(memories, room=room)]
        assert all(columns(line) <= room for line in lines)
        assert memories[0].id in lines[1]
        assert "shop/harbour" in "".join(lines)


def test_a_hanging_text_stays_inside_the_room():
    lines = hanging("word " * 40, indent=4, room=50)

    assert all(len(line) <= 50 for line in lines)
    assert lines[0].startswith("    word")
    assert lines[1].startswith("      word")


def test_paragraphs_flow_together_and_lists_and_headings_stay_apart():
    text = "# Locks\n\nA lock has\ntwo gates.\n\n- upper\n- lower\n"

    assert ["# Locks", "A lock has two gates.", "- upper", "- lower"] == excerpt(
        text, query="", room=40, verbatim=False
    )
