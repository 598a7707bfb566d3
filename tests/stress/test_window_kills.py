"""Windows and submissions of several processes, killed at any moment: no evidence is lost, no quota is passed."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

import hexad
from hexad import Fidelity, FrozenClock, Hexad
from programs import Program

TARGET = Path(__file__).with_name("windows_target.py")
SHORT_KILLS, SHORT_CYCLES, LONG_CYCLES = 4, 1, 60
STEPS = 40


def start(what: str, project: Path, name: str = "-", number: int = 0) -> Program:
    return Program(TARGET, what, project, name, number)


def opened(project: Path) -> Hexad:
    return hexad.open(project, embedder=None, background=False, clock=FrozenClock())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Forty tokens, of which the bud is on 9 to 12 and on 35; the first thirty are sealed."""
    folder = tmp_path / "project"
    folder.mkdir()
    with hexad.open(folder, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday", compaction=False)
        for number in range(1, STEPS + 1):
            hx.xdb.record("output", f"w{number} ", {"a": 0.5})
            if number == 30:
                hx.xdb.seal()
        hx.xdb.create_bud_tag("Curiosity", "Asking on.")
        hx.xdb.tag("Curiosity", tick_range=(9, 12))
        hx.xdb.tag("Curiosity", timestep_id="ts-monday-35")
    return folder


def full_detail(hx: Hexad, count: int) -> dict[int, Fidelity]:
    """The fidelity of every tick that is in full detail; each of `count` is there once, so or in one record."""
    shown = hx.xdb.recall(session_id="monday", limit=10_000)
    full = {
        timestep_record.tick: timestep_record.fidelity
        for timestep_record in shown
        if timestep_record.fidelity is not Fidelity.COLD
    }
    ticks = Counter[int](
        timestep_record.tick for timestep_record in shown if timestep_record.fidelity is not Fidelity.COLD
    )
    for timestep_record in shown:
        if timestep_record.fidelity is Fidelity.COLD:
            record = hx.xdb.get_compressed_record(timestep_record.id)
            assert record is not None
            ticks.update(int(step.rpartition("-")[2]) for step in record.source_record_ids)
    assert dict.fromkeys(range(1, count + 1), 1) == ticks
    assert all(
        timestep_record.content == f"w{timestep_record.tick} "
        for timestep_record in shown
        if timestep_record.tick in full
    )
    return full


def check_after_a_kill(project: Path) -> None:
    evidence = [9, 10, 11, 12, 35]
    with opened(project) as hx:
        full = full_detail(hx, STEPS)
        submissions = hx.xdb.submissions()
        if submissions and not submissions[0].resolved_at:
            assert {Fidelity.SUBMITTED} == {full.get(tick) for tick in evidence}
        if (hx.path / "exports" / "graft-1").exists():
            assert [] == hx.xdb.verify_export("graft-1")
        hx.maintain()  # what was begun is finished
        full = full_detail(hx, STEPS)
        if submissions and submissions[0].resolved_at:
            assert not full.keys() & set(evidence)
            assert {Fidelity.COLD} == {window.fidelity for window in hx.xdb.windows()}
        else:
            hx.xdb.submit_graft("Curiosity", "graft-1")
            assert hx.xdb.verify_export(hx.xdb.export_submission("graft-1")) == []
            hx.xdb.resolve_submission("graft-1", True)
            assert not full_detail(hx, STEPS).keys() & set(evidence)
        assert ["graft-1"] == [path.name for path in (hx.path / "exports").glob("graft*")]
        assert [] == hx.check()


def die_at(project: Path, folder: Path, number: int) -> None:
    shutil.copytree(project, folder)
    process = start("die", folder, number=number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, errors
    check_after_a_kill(folder)
    shutil.rmtree(folder)


def moments(project: Path, tmp_path: Path) -> int:
    """How many moments there are to be killed at."""
    shutil.copytree(project, tmp_path / "whole")
    output, errors = start("die", tmp_path / "whole").communicate(timeout=120)
    assert output, errors
    check_after_a_kill(tmp_path / "whole")
    return int(output)


@pytest.mark.row("H073", "H088", "H177")
def test_a_kill_between_submission_and_answer_loses_no_evidence(project, tmp_path):
    count = moments(project, tmp_path)
    chance = random.Random(1)

    for number in sorted(chance.sample(range(1, count), SHORT_KILLS)):
        die_at(project, tmp_path / "killed", number)


@pytest.mark.long
def test_a_kill_at_every_moment_between_submission_and_answer_loses_no_evidence(project, tmp_path):
    for number in range(1, moments(project, tmp_path)):
        die_at(project, tmp_path / "killed", number)


@pytest.mark.row("H072", "H183")
def test_processes_that_pin_at_once_do_not_pass_the_quota_together(tmp_path):
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        for name in ("a", "b", "c"):
            hx.xdb.start_session(name, compaction=False)
            hx.xdb.record_many([{"event_type": "input", "content": "x", "token_count": 9_000}] * 8)
    racers = [start("pin", tmp_path, name, 8) for name in ("a", "b", "c")]
    for racer in racers:
        assert racer.stdout is not None
        assert "ready\n" == racer.stdout.readline()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    done = [racer.communicate(timeout=120) for racer in racers]

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert 11 == sum(int(output) for output, _ in done), done
        assert 11 == len(hx.xdb.windows(fidelity="warm"))
        assert 99_000 == hx.xdb.warm_tokens()


def test_processes_that_export_at_once_leave_one_whole_package(project):
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.submit_graft("Curiosity", "graft-1")
    running = [start("export", project, name, 6) for name in ("a", "b", "c")]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert "done\n" == output, errors

    with opened(project) as hx:
        assert ["graft-1"] == [path.name for path in (hx.path / "exports").iterdir()]
        assert [] == hx.xdb.verify_export("graft-1")
        told = json.loads((hx.xdb.export_submission("graft-1") / "tags.json").read_text())
        assert 18 == len(told["comments"])


def churn(project: Path, cycles: int, seconds: float) -> None:
    chance = random.Random(cycles)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.xdb.start_session("monday", compaction=False)
        for number in range(STEPS + 1, 201):
            hx.xdb.record("output", f"w{number} ")
    for cycle in range(cycles):
        names = [f"p{cycle}.{at}" for at in range(3)]
        running = [start("churn", project, name, cycle * 3 + at) for at, name in enumerate(names)]
        for process in running:
            assert process.stdout is not None
            assert "ready\n" == process.stdout.readline()
        time.sleep(seconds * (0.5 + chance.random()))
        for process in running:
            process.kill()
        for process in running:
            _, errors = process.communicate()
            assert "Traceback" not in errors, errors
        with hexad.open(project, embedder=None, background=False) as hx:
            full = full_detail(hx, 200)
            for submission in hx.xdb.submissions("open"):
                for window in hx.xdb.get_windows_for_submission(submission.id):
                    ticks = range(window.start_tick, window.end_tick + 1)
                    assert {Fidelity.SUBMITTED} == {full.get(tick) for tick in ticks}
            for window in hx.xdb.windows(fidelity="warm"):
                ticks = range(window.start_tick, window.end_tick + 1)
                assert {full.get(tick) for tick in ticks} <= {Fidelity.WARM, Fidelity.SUBMITTED}
            assert [] == hx.check()


@pytest.mark.row("H073", "H090")
def test_processes_that_change_windows_and_are_killed_lose_nothing(project):
    churn(project, SHORT_CYCLES, 2.0)


@pytest.mark.long
def test_processes_that_change_windows_and_are_killed_many_times_lose_nothing(project):
    churn(project, LONG_CYCLES, 4.0)
