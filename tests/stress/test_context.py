"""Several programs record to one session and compact its window: killed at any moment, or all at once."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from pathlib import Path

import pytest

import hexad
from hexad import Fidelity
from hexad.text.tokens import estimate_tokens
from programs import Program

TARGET = Path(__file__).with_name("context_target.py")
SHORT_KILLS, LONG_KILLS = 2, 100
ENDLESS = 10**9


def start(what: str, project: Path, name: str = "-", count: int = ENDLESS) -> Program:
    return Program(TARGET, what, project, name, count)


def finish(process: Program) -> str:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output


def ticks_of(hx: hexad.Hexad, timestep_record: hexad.TimestepRecord) -> list[int]:
    if timestep_record.fidelity is not Fidelity.COLD:
        return [timestep_record.tick]
    record = hx.xdb.get_compressed_record(timestep_record.id)
    assert record is not None
    return [int(name.rpartition("-")[2]) for name in record.source_record_ids]


def whole(hx: hexad.Hexad, acknowledged: dict[str, int]) -> None:
    """No timestep is lost and none is there twice, in the stream or in a reply; no range was compacted twice."""
    found = hx.xdb.recall(session_id="shared", limit=100_000)
    ticks = [tick for record in found for tick in ticks_of(hx, record)]
    assert len(ticks) == len(set(ticks))
    said: dict[str, list[int]] = {}
    for record in found:
        for word in record.content.replace("…", "").split():
            name, _, at = word.rpartition(".")
            said.setdefault(name, []).append(int(at))
    for name, count in acknowledged.items():
        assert sorted(said.get(name, [])) == list(range(len(said.get(name, [])))), name
        assert len(said.get(name, [])) >= count, name
    assert len(ticks) == sum(record.token_count for record in found) == sum(map(len, said.values()))
    made = hx.xdb.compactions("shared", limit=10_000)
    assert all(before.range_end < after.range_end for before, after in pairwise(made))
    state, (info,) = hx.xdb.get_context_state("shared"), hx.xdb.sessions()
    live = sum(
        record.token_count
        for record in found
        if record.fidelity is Fidelity.HOT and record.tick > info.compacted_through
    )
    assert live + estimate_tokens(hx.xdb.context("shared").summary) == state["current_tokens"]
    assert (made[-1].range_end if made else 0) == info.compacted_through
    assert [] == hx.check()


def kill_cycles(project: Path, cycles: int) -> int:
    chance = random.Random(cycles)
    acknowledged: dict[str, int] = {}
    for cycle in range(cycles):
        names = [f"w{cycle}x{at}" for at in range(2)]
        writers = [start("record", project, name) for name in names]
        compactor = start("compact", project)
        assert writers[0].stdout is not None
        acknowledged[names[0]] = int(writers[0].stdout.readline())  # so that there is something to lose
        time.sleep(0.5 + chance.random())
        for process in chance.sample([*writers, compactor], 3):
            process.kill()
        compactor.communicate()
        for name, writer in zip(names, writers, strict=True):
            output, errors = writer.communicate()
            assert "Error" not in errors, errors
            lines = output.splitlines(keepends=True)
            acknowledged[name] = max(
                [acknowledged.get(name, 0), *(int(line) for line in lines if line.endswith("\n"))]
            )
        with hexad.open(project, embedder=None, background=False) as hx:
            whole(hx, acknowledged)
            if cycle % 2:
                hx.maintain()
                whole(hx, acknowledged)
    return sum(acknowledged.values())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", 400)
    return folder


def test_programs_that_are_killed_while_they_compact_lose_nothing(project):
    assert kill_cycles(project, SHORT_KILLS) > 0


@pytest.mark.long
def test_many_cycles_of_killing_lose_nothing_of_a_window(tmp_path):
    done = 0
    for store in range(LONG_KILLS // 10):
        folder = tmp_path / str(store)
        folder.mkdir()
        with hexad.open(folder, embedder=None, background=False) as hx:
            hx.xdb.start_session("shared", 400)
        done += kill_cycles(folder, 10)
    assert done > 0


def test_three_programs_record_to_one_small_window_and_a_fourth_compacts_it(project):
    writers = [start("record", project, f"w{at}", 1_001) for at in range(3)]
    compactor = start("compact", project, count=25)
    for process in [*writers, compactor]:
        finish(process)

    with hexad.open(project, embedder=None, background=False) as hx:
        whole(hx, {f"w{at}": 1_001 for at in range(3)})
        assert hx.xdb.compactions("shared")
        hx.xdb.seal()
        hx.maintain()
        whole(hx, {f"w{at}": 1_001 for at in range(3)})


@pytest.mark.parametrize("before", range(1, 12))
def test_a_compaction_that_is_killed_at_a_file_operation_is_made_whole_or_not_at_all(project, before):
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("shared", 10_000)
        for at in range(140):
            hx.xdb.record("output", f" w.{at}", event_id=f"w.{at // 7}")

    process = start("compact_and_die", project, count=before)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == -9 or "done" in output, errors

    with hexad.open(project, embedder=None, background=False) as hx:
        whole(hx, {"w": 140})
        made = hx.xdb.compactions("shared")
        assert len(made) <= 1
        cold = [
            record
            for record in hx.xdb.recall(session_id="shared", limit=1_000)
            if record.fidelity is Fidelity.COLD
        ]
        assert (10 if made else 0) == len(cold)
        if not made:
            assert hx.xdb.request_compaction("shared") is not None
            whole(hx, {"w": 140})
