"""Several programs connect nodes with the same few hubs at once, and are killed: what was acknowledged is there,
each ring has at most six edges, and the main ring holds the strongest."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock
from programs import Program

TARGET = Path(__file__).with_name("honeycomb_target.py")


def start(folder: Path, seed: int, count: int, hubs: list[int]) -> Program:
    running = Program(TARGET, folder, seed, count, *hubs)
    assert running.stdout is not None
    assert "ready\n" == running.stdout.readline()
    return running


def acknowledged(lines: str) -> set[tuple[int, int, float]]:
    made = set()
    for line in lines.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[0] == "made":
            made.add((int(parts[1]), int(parts[2]), float(parts[3])))
    return made


def kept(folder: Path, hubs: list[int]) -> set[tuple[int, int, float]]:
    """Return every edge of the hubs, having looked at the promises of their rings."""
    with hexad.open(folder, embedder=None, background=False, clock=FrozenClock()) as hx:
        assert [] == hx.check()
        found = set()
        for hub in hubs:
            node = hx.honeycomb.get(hub)
            rings = [node.neighbors, *node.fractal_layer]
            assert all(len(ring) <= 6 for ring in rings)
            weakest = min((edge.relevance_score for edge in rings[0]), default=0.0)
            assert all(edge.relevance_score <= weakest for ring in rings[1:] for edge in ring)
            found |= {(hub, edge.target_id, edge.relevance_score) for ring in rings for edge in ring}
        return found


@pytest.mark.row("O005", "O044", "O045", "O073", "O076", "O079")
def test_programs_and_threads_that_connect_the_same_nodes_lose_nothing(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hubs = hx.honeycomb.add_nodes([(f"hub {at}", [1.0, 0.0]) for at in range(2)])
    running = [start(tmp_path, seed, 40, hubs) for seed in range(3)]
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        own = hx.honeycomb.add_nodes([(f"own {at}", [1.0, 0.0]) for at in range(40)])

        def connect(at: int) -> tuple[int, int, float]:
            edge = hx.honeycomb.insert(hubs[at % 2], own[at], score=at / 40)
            hx.honeycomb.jit_context(start=hubs[at % 2], session="s")
            return edge.from_id, edge.target_id, edge.relevance_score

        with ThreadPoolExecutor(4) as pool:
            made = set(pool.map(connect, range(40)))
    for process in running:
        out, err = process.communicate(timeout=120)
        assert 0 == process.returncode, err
        made |= acknowledged(out)

    assert 160 == len(made)
    assert made == kept(tmp_path, hubs)


@pytest.mark.row("O001", "O065", "O079")
@pytest.mark.parametrize("kill_after", [1, 9, 30])
def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path, kill_after):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hubs = hx.honeycomb.add_nodes([("hub", [1.0, 0.0])])
    running = [start(tmp_path, seed, 100_000, hubs) for seed in range(2)]
    said = "".join(process.stdout.readline() for _ in range(kill_after) for process in running)
    for process in running:
        process.send_signal(signal.SIGKILL)
    for process in running:
        said += process.communicate(timeout=30)[0]

    made = acknowledged(said)
    assert len(made) >= 2 * kill_after
    assert made <= kept(tmp_path, hubs)
