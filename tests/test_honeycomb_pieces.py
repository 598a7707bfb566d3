"""What a context takes of a memory: the whole where it fits, else the most that does, and it says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.testing import HashEmbedder
from programs import command

TOPICS = (
    "anchors",
    "buoys",
    "cranes",
    "docks",
    "engines",
    "ferries",
    "gangways",
    "hulls",
    "islands",
    "jetties",
)
GUIDE = "# Harbour guide\n\n" + "\n\n".join(
    f"## About {topic}\n\n" + " ".join(f"Rule {at} of the {topic} tells who looks after {topic} number {at}." for at in range(40))
    for topic in TOPICS
)  # fmt: skip


@pytest.fixture
def guide(hx: Hexad) -> hexad.Memory:
    """A memory of several chunks, some 6,000 tokens long."""
    memory = hx.remember(GUIDE, path="guide", kind="guide")
    hx.embed_pending()
    assert len(memory.chunks) >= 10
    return hx.get(memory.id)


def tokens(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.row("O034", "O064")
def test_a_memory_of_several_chunks_comes_whole_where_it_fits(hx, guide):
    need = tokens(guide.raw)

    for budget in (need, need + 1, 4 * need):
        context = hx.honeycomb.jit_context(start=guide.id, max_tokens=budget)
        assert [(guide.raw, "whole", need)] == [
            (piece.text, piece.form, piece.tokens) for piece in context.pieces
        ]
        assert {} == context.left_out
    for walk in ("best", "breadth"):
        asked = hx.honeycomb.jit_context("who looks after ferries", need, walk=walk)
        assert [(guide.raw, "whole")] == [(piece.text, piece.form) for piece in asked.pieces]


@pytest.mark.row("O064")
def test_where_the_whole_does_not_fit_the_longest_summary_that_does_is_taken_and_says_so(hx, guide):
    long, short, micro = guide.summary_long, guide.summary_short, guide.summary_micro
    assert len(guide.raw) > len(long) > len(short) > len(micro) > 0

    for budget, text, form in (
        (tokens(guide.raw) - 1, long, "summary_long"),
        (tokens(long), long, "summary_long"),
        (tokens(long) - 1, short, "summary_short"),
        (tokens(short), short, "summary_short"),
        (tokens(short) - 1, micro, "summary_micro"),
        (tokens(micro), micro, "summary_micro"),
    ):
        context = hx.honeycomb.jit_context(start=guide.id, max_tokens=budget)
        assert [(text, form, tokens(text))] == [
            (piece.text, piece.form, piece.tokens) for piece in context.pieces
        ]
        assert ({"in part": 1}, form) == (context.left_out, context.to_dict()["pieces"][0]["form"])
    nothing = hx.honeycomb.jit_context(start=guide.id, max_tokens=tokens(micro) - 1)
    assert ((), {"too long": 1}) == (nothing.pieces, nothing.left_out)


@pytest.mark.row("O064")
@pytest.mark.parametrize("walk", ["best", "breadth"])
def test_a_question_gets_the_chunk_that_answers_where_the_whole_does_not_fit(hx, guide, walk):
    spans = {guide.chunk_text(chunk) for chunk in guide.chunks}

    for topic in ("ferries", "islands"):
        asked = hx.honeycomb.jit_context(f"About {topic}: who looks after {topic}?", 1_200, walk=walk)
        piece = asked.pieces[0]
        assert (True, "chunk", {"in part": 1}) == (piece.text in spans, piece.form, asked.left_out)
        assert topic in piece.text
    narrow = hx.honeycomb.jit_context("who looks after ferries", 40, walk=walk).pieces
    assert [("summary_micro", guide.summary_micro)] == [(piece.form, piece.text) for piece in narrow]


@pytest.mark.row("O064")
def test_a_memory_that_is_reached_over_an_edge_gives_the_chunk_nearest_to_the_question(hx, guide):
    note = hx.honeycomb.add_node("What the harbour master asked")
    hx.honeycomb.insert(note, guide.id, score=0.95)

    context = hx.honeycomb.jit_context("who looks after ferries", 1_200, start=note, threshold=0.5)

    assert ["whole", "chunk"] == [piece.form for piece in context.pieces]
    assert "ferries" in context.pieces[1].text
    assert {"in part": 1} == context.left_out
    silent = hx.honeycomb.jit_context(start=note, max_tokens=1_200, threshold=0.5)
    assert ["whole", "summary_long"] == [piece.form for piece in silent.pieces]


@pytest.mark.row("O034", "O064")
def test_what_is_left_of_the_budget_decides_not_its_size(hx, guide):
    note = hx.honeycomb.add_node("n" * 400)
    hx.honeycomb.insert(note, guide.id, score=0.95)
    whole = tokens(f"{'n' * 400} {guide.raw}")

    fits = hx.honeycomb.jit_context(start=note, max_tokens=whole, threshold=0.5)
    lacks = hx.honeycomb.jit_context(start=note, max_tokens=whole - 1, threshold=0.5)

    assert (["whole", "whole"], {}, whole) == (
        [piece.form for piece in fits.pieces],
        fits.left_out,
        fits.tokens,
    )
    assert (["whole", "summary_long"], {"in part": 1}) == (
        [piece.form for piece in lacks.pieces],
        lacks.left_out,
    )


def test_what_is_no_shorter_than_the_whole_does_not_stand_for_it(hx):
    text = "The ferry leaves at nine. " * 4
    longer = "A longer word than all of the text. " * 5
    memory = hx.remember_structured(
        "s",
        {"raw": text, "path": "one", "summary_long": longer, "summary_short": text, "summary_micro": "Nine."},
    )
    hx.embed_pending()
    fits, lacks = (
        hx.honeycomb.jit_context(start=memory.id, max_tokens=tokens(memory.raw) - less) for less in (0, 10)
    )

    assert [(memory.raw, "whole")] == [(piece.text, piece.form) for piece in fits.pieces]
    assert [("Nine.", "summary_micro")] == [(piece.text, piece.form) for piece in lacks.pieces]


def test_a_role_that_may_not_see_a_memory_gets_no_part_of_it_either(opened):
    hx = opened()
    hx.spaces.create("team")
    hidden = hx.remember(GUIDE, space="team", kind="decision", path="guide")
    hx.spaces.set_policy("team", {"visibility": [{"kinds": ["decision"], "roles": ["lead"]}]})
    note = hx.honeycomb.add_node("What the harbour master asked")
    hx.embed_pending()
    hx.honeycomb.insert(note, hidden.id, score=0.95)

    for role, forms in (("lead", ["whole", "chunk"]), ("reader", ["whole"])):
        comb = opened(role=role).honeycomb
        context = comb.jit_context("who looks after ferries", 1_200, start=note, threshold=0.5)
        assert forms == [piece.form for piece in context.pieces]


def test_the_trace_says_which_part_of_a_memory_is_shown(tmp_path: Path):
    with hexad.open(tmp_path, embedder=HashEmbedder(), background=False) as hx:
        memory = hx.remember(GUIDE, path="guide")
        hx.embed_pending()

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        done = command("honeycomb", "context", "--start", memory.id, *args, cwd=tmp_path)
        assert 0 == done.returncode, done.stderr
        return done

    traced = run("--trace", "--max-tokens", "200")
    whole = run("--trace", "--max-tokens", "20000")
    told = json.loads(run("--json", "--max-tokens", "200").stdout)

    assert "its short summary in place of the whole" in traced.stdout
    assert "left out: 1 in part" in traced.stderr
    assert "in place of" not in whole.stdout
    assert "left out" not in whole.stderr
    assert (["summary_short"], {"in part": 1}) == (
        [piece["form"] for piece in told["pieces"]],
        told["left_out"],
    )


@pytest.mark.row("O033")
def test_what_a_weak_edge_led_to_and_the_walk_reached_otherwise_or_twice_is_not_left_out_again(hx):
    comb = hx.honeycomb
    begin, middle, weak, both = comb.add_nodes(
        [(name, [1.0]) for name in ("begin", "middle", "weak", "both")]
    )
    comb.insert(begin, middle, score=0.9)
    for item in (begin, middle):
        comb.insert(item, weak, score=0.2)
    comb.insert(begin, both, score=0.1)
    comb.insert(middle, both, score=0.9)

    context = comb.jit_context(start=begin)

    assert [begin, middle, both] == [piece.id for piece in context.pieces]
    assert {"below the threshold": 1} == context.left_out
    little = comb.jit_context(start=begin, max_tokens=4)
    assert ([begin, middle], 2) == ([piece.id for piece in little.pieces], sum(little.left_out.values()))
