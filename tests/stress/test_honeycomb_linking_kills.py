"""Several programs link the memories of one store at once, and are killed at any time: the graph becomes the one that a
single program makes in peace."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from hexad import Hexad
from hexad.testing import HashEmbedder
from programs import Program

TARGET = Path(__file__).with_name("honeycomb_linking_target.py")
TURNS = 300


@pytest.fixture
def hx(tmp_path: Path) -> Iterator[Hexad]:
    source, words = random.Random(3), [f"w{at}" for at in range(400)]
    file = tmp_path / "chat.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for at in range(TURNS):
            line = {
                "id": f"c/{at}", "conversation": "c", "session": f"c/{at // 100}", "time": "2026-01-01T10:00:00",
                "speaker": "AB"[at % 2], "text": " ".join(source.choices(words, k=12)),
            }  # fmt: skip
            out.write(json.dumps(line) + "\n")
    with hexad.open(tmp_path, embedder=HashEmbedder(), background=False) as store:
        store.ingest(file)
        yield store
        assert [] == store.check()


def graph_of(hx: Hexad) -> list[tuple]:
    return hx._services.db.query(
        "SELECT from_id, to_id, score, coalesce(relation, 'similar'), is_auto, ring > 0, created_at, renewed_at FROM honeycomb_edges"
        " ORDER BY from_id, to_id"
    )


def waiting(hx: Hexad) -> int:
    return hx._services.stores.tasks.counts("link")[0]


def start(hx: Hexad) -> Program:
    running = Program(TARGET, hx.path.parent)
    assert running.stdout is not None
    assert "ready\n" == running.stdout.readline()
    return running


def go(running: Program) -> None:
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


def linked(running: Program) -> int:
    out, err = running.communicate(timeout=120)
    assert 0 == running.returncode, err
    return int(out.split()[1])


def test_programs_that_link_at_once_make_what_one_makes(hx):
    expected = graph_of(hx)
    assert 2 * (TURNS - 3) == sum(edge[3] in ("next", "previous") for edge in expected)
    hx.reindex()
    running = [start(hx) for _ in range(3)]

    for process in running:
        go(process)
    counts = [linked(process) for process in running]

    assert TURNS <= sum(counts)
    assert 0 == waiting(hx)
    assert expected == graph_of(hx)


@pytest.mark.parametrize("beside", [0, 1])
def test_programs_that_are_killed_while_they_link_hold_up_nobody_and_lose_nothing(hx, beside):
    expected = graph_of(hx)
    hx.reindex()
    source, left = random.Random(beside), [waiting(hx)]

    for _ in range(3):
        doomed, others = start(hx), [start(hx) for _ in range(beside)]
        for process in (doomed, *others):
            go(process)
        while one_left := waiting(hx):  # it is at it
            if one_left < left[-1]:
                break
            time.sleep(0.002)
        time.sleep(source.random() * 0.05)
        for process in (doomed, *others):
            process.kill()
            process.communicate(timeout=30)
        left.append(waiting(hx))
        for memory in source.sample(list(hx.memories(limit=None)), 3):
            hx.tag(memory.id, add=["amber"])  # what is linked already changes, and back
            hx.tag(memory.id, remove=["amber"])

    assert any(0 < count < TURNS for count in left)  # killed in the middle
    hx.maintain()
    assert 0 == waiting(hx)
    assert expected == graph_of(hx)


def test_a_program_that_is_killed_while_others_link_leaves_its_share_to_them(hx):
    expected = graph_of(hx)
    hx.reindex()
    doomed, other = start(hx), start(hx)

    go(doomed)
    while waiting(hx) == TURNS:
        time.sleep(0.002)
    go(other)
    doomed.kill()
    doomed.communicate(timeout=30)

    assert 0 < linked(other)
    assert 0 == waiting(hx)
    assert expected == graph_of(hx)
