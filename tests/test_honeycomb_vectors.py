"""The published vectors: inputs and results that any implementation of the honeycomb can replay.

`tests/data/honeycomb-vectors.json` was written with `reference_honeycomb.py`, which shares no code with Hexad.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock
from reference_honeycomb import Node, ReferenceHoneycomb

VECTORS = json.loads((Path(__file__).parent / "data" / "honeycomb-vectors.json").read_text(encoding="utf-8"))
START = datetime(2026, 1, 1, tzinfo=UTC)
CLOSE = 1e-6


@pytest.mark.row("O046", "O048", "O049", "O050", "O072", "O021", "O023", "O024")
@pytest.mark.parametrize("name", sorted(VECTORS["functions"]))
def test_the_functions_give_what_was_published(name):
    for case in VECTORS["functions"][name]:
        given = {key: value for key, value in case.items() if key != "expected"}

        assert case["expected"] == pytest.approx(getattr(hexad, name)(**given), abs=CLOSE), given


@pytest.fixture
def replayed(opened, clock):
    """The published steps, done in a real store: it, and the ids of the labels."""
    comb = opened(embedder=None).honeycomb
    ids: dict[str, int] = {}
    for step in VECTORS["graph"]["steps"]:
        clock.advance(seconds=(START + timedelta(seconds=step["at"]) - clock.now()).total_seconds())
        if step["op"] == "add_node":
            ids[step["node"]] = comb.add_node(step["data"], step["embedding"])
        elif step["op"] == "insert":
            comb.insert(
                ids[step["focus"]], ids[step["node"]], score=step.get("score"), relation=step.get("relation")
            )
        else:
            getattr(comb, step["op"])(ids[step["node"]])
    return comb, ids


@pytest.mark.row("O046", "O048", "O049", "O050", "O072")
def test_the_graph_becomes_what_was_published(replayed):
    comb, ids = replayed
    labels = {node: name for name, node in ids.items()}
    for name, rings in VECTORS["graph"]["rings"].items():
        node = comb.get(ids[name])
        found = [
            sorted([labels[edge.target_id], pytest.approx(edge.relevance_score, abs=CLOSE)] for edge in ring)
            for ring in (node.neighbors, *node.fractal_layer)
            if ring
        ]
        assert rings == found, name


@pytest.mark.row("O046", "O048", "O049", "O050", "O072", "O004")
def test_walks_bring_back_what_was_published(replayed):
    comb, ids = replayed
    labels = {node: name for name, node in ids.items()}
    comb.configure(ring_half_lives=(None,))
    for case in VECTORS["graph"]["walks"]:
        context = comb.jit_context(
            case["query"], case["max_tokens"], threshold=case["threshold"], overflow=case["overflow"]
        )
        assert case["entry"] == labels[comb.find_most_relevant(case["query"])[0][0]]
        assert case["expected"] == [labels[piece.id] for piece in context.pieces]
        assert case["text"] == context.text


@pytest.mark.row("O046", "O048", "O049", "O050", "O072", "O037", "O038")
@pytest.mark.parametrize("case", VECTORS["safety"], ids=str)
def test_the_loop_breaker_says_what_was_published(opened, case):
    clock = FrozenClock(START)
    comb = opened(embedder=None, clock=clock).honeycomb
    node = comb.add_node("five", [1.0])
    for at in case["accesses"]:
        clock.advance(seconds=(START + timedelta(seconds=at) - clock.now()).total_seconds())
        comb.access(node, session="s")
    clock.advance(seconds=case["check_at"] - case["accesses"][-1])

    assert case["expected"] == comb.check_safety(node, session="s")


def test_the_plain_implementation_still_gives_what_was_published():
    plain = ReferenceHoneycomb()
    ids: dict[str, int] = {}
    for step in VECTORS["graph"]["steps"]:
        if step["op"] == "add_node":
            ids[step["node"]] = len(ids) + 1
            plain.nodes[len(ids)] = Node(step["data"], step["embedding"], step["at"])
        elif step["op"] == "insert":
            plain.insert(
                ids[step["focus"]],
                ids[step["node"]],
                step["at"],
                score=step.get("score"),
                relation=step.get("relation"),
            )
        elif step["op"] == "remove":
            plain.remove(ids[step["node"]])
    labels = {node: name for name, node in ids.items()}
    for name, rings in VECTORS["graph"]["rings"].items():
        found = [
            sorted([labels[target], pytest.approx(score, abs=CLOSE)] for target, score in ring)
            for ring in plain.rings(ids[name])
        ]
        assert rings == found
    assert math.isclose(0.5, hexad.temporal_decay(0, 86_400))
