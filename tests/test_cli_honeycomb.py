"""`hexad honeycomb` as people and scripts use it: real processes, a real store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hexad
from hexad.testing import HashEmbedder


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEXAD_")}
    done = subprocess.run(
        [sys.executable, "-m", "hexad", *args],
        cwd=folder, text=True, encoding="utf-8", capture_output=True, timeout=120, check=False,
        env={**kept, "HEXAD_EMBEDDER": "hashing", "PYTHONWARNINGS": "error", "COLUMNS": "100"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> tuple[Path, list[int]]:
    folder = tmp_path_factory.mktemp("comb")
    (folder / ".hexad").mkdir()
    # Four programs may take longer than ten seconds to start.
    (folder / ".hexad" / "hexad.toml").write_text("[honeycomb]\nloop_window_s = 600\n", encoding="utf-8")
    with hexad.open(folder, embedder=HashEmbedder(), background=False) as hx:
        comb = hx.honeycomb
        ids = comb.add_nodes([(f'node "{at}"', [1.0, at / 10]) for at in range(9)])
        for node in ids[1:8]:
            comb.insert(ids[0], node, score=0.9 - node / 1000)
        comb.insert(ids[1], ids[8], score=0.85, relation="leads_to")
        comb.insert(ids[1], ids[2], score=0.84)
        comb.deactivate(ids[3])
        hx.remember("Deploys happen on Tuesday.", id="deploys", space="ops")
        hx.remember("Tuesday is when deploys are done.", id="tuesday", space="ops")
        hx.embed_pending()
    return folder, ids


def test_show_draws_the_neighbourhood_as_a_tree(store):
    folder, ids = store

    lines = run(folder, "honeycomb", "show", str(ids[0])).stdout.splitlines()

    assert f'{ids[0]}  node "0"' == lines[0]
    assert lines[1].startswith("├─ 0.90 related") or lines[1].startswith("├─ 0.9")
    assert any(line.startswith("│  ├─ 0.85 leads_to") and 'node "8"' in line for line in lines)
    assert any("→" in line and 'node "2"' in line for line in lines)
    assert any("(inactive)" in line for line in lines)
    assert "and 1 edge in overflow: --overflow shows them" == lines[-1]
    assert any(
        "ring 1" in line
        for line in run(folder, "honeycomb", "show", str(ids[0]), "--overflow").stdout.splitlines()
    )


def test_show_says_how_much_the_limit_left_out(store):
    folder, ids = store

    shown = run(folder, "honeycomb", "show", str(ids[0]), "--limit", "3")

    assert 2 == len([line for line in shown.stdout.splitlines() if line.startswith(("├─", "└─"))])
    assert "more nodes within 2 steps" in shown.stderr


def test_show_gives_dot_and_json(store):
    folder, ids = store

    dot = run(folder, "honeycomb", "show", str(ids[0]), "--dot", "--overflow").stdout
    told = json.loads(run(folder, "honeycomb", "show", str(ids[0]), "--json", "--depth", "1").stdout)

    assert dot.startswith("digraph honeycomb {")
    assert f'{ids[0]} [label="{ids[0]}: node \\"0\\""]' in dot
    assert f'{ids[1]} -> {ids[8]} [label="0.85 leads_to"]' in dot
    assert (
        1 == dot.count('related", style=dashed') == dot.count("style=dashed];") - 1
    )  # an edge, and a node at rest
    assert (ids[0], 7, 6) == (told["start"], len(told["nodes"]), len(told["edges"]))
    assert 1 == len(told["nodes"][0]["fractal_layer"][0])


def test_a_memory_is_shown_by_its_id(store):
    folder, _ = store

    assert "deploys are done" in run(folder, "honeycomb", "show", "deploys").stdout
    missing = run(folder, "honeycomb", "show", "99999")
    assert (3, True) == (missing.returncode, "Node 99999 is not in the honeycomb" in missing.stderr)


def test_stats_say_the_graph_in_numbers(store):
    folder, _ = store

    told, text = (
        json.loads(run(folder, "honeycomb", "stats", "--json").stdout),
        run(folder, "honeycomb", "stats").stdout,
    )

    assert (11, 2, 1, 1) == (told["nodes"], told["memory_nodes"], told["inactive"], told["overflow_edges"])
    assert (2, 9) == (told["components"], told["largest_component"])
    assert "11 nodes: 2 memories and 9 of 100,000 others, 1 inactive" in text
    assert "overflow rings: 1 with 1" in text
    assert "2 components, the largest of 9 nodes, 0 alone" in text


def test_context_walks_from_a_question_or_a_node(store):
    folder, ids = store

    asked = run(
        folder, "honeycomb", "context", "when", "do", "deploys", "happen", "--scope", "memories", "--trace"
    )
    begun = json.loads(
        run(
            folder,
            "honeycomb",
            "context",
            "--start",
            str(ids[1]),
            "--json",
            "--no-overflow",
            "--max-tokens",
            "40",
        ).stdout
    )

    assert "Deploys happen on Tuesday." in asked.stdout
    assert "entry" in asked.stdout
    assert "thresholds: memories" in asked.stderr
    assert [ids[1], ids[8], ids[2]] == [piece["id"] for piece in begun["pieces"]]
    assert 2 == run(folder, "honeycomb", "context").returncode
    assert 3 == run(folder, "honeycomb", "context", "x", "--space", "nowhere").returncode


def test_context_says_when_a_session_goes_in_circles(store):
    folder, ids = store

    said = [
        run(folder, "honeycomb", "context", "--start", str(ids[0]), "--session", "loop").stderr
        for _ in range(4)
    ]

    assert "LOOP_DETECTED" not in said[2]
    assert "The loop breaker sees a loop (LOOP_DETECTED)." in said[3]


def test_reindex_derives_the_links_anew(store):
    folder, _ = store
    before = json.loads(run(folder, "honeycomb", "show", "deploys", "--json").stdout)["edges"]

    done = json.loads(run(folder, "reindex", "--json").stdout)

    after = json.loads(run(folder, "honeycomb", "show", "deploys", "--json").stdout)["edges"]
    assert 2 == done["links_queued"]
    assert [(edge["target_id"], edge["relevance_score"]) for edge in before] == [
        (edge["target_id"], edge["relevance_score"]) for edge in after
    ]
