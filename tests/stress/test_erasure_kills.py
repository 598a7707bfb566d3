"""Killed at any moment, an erasure has either not begun or is completed by whoever looks next."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from stress_processes import Recorder

import hexad
from hexad.audit import AuditLog, AuditLogWriter
from programs import Program

TARGET = Path(__file__).with_name("erasure_target.py")
PEOPLE, OTHERS = 60, 60
SHORT_KILLS, LONG_KILLS = 8, 200
WORD = b"Xqcanary"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a person in memories, a space's file, an export, a session and on the ledger."""
    folder = tmp_path_factory.mktemp("erasure") / "project"
    folder.mkdir()
    with hexad.open(folder, embedder="hashing", background=False) as hx:
        for number in range(PEOPLE):
            hx.remember(
                f"Xqcanary{number} likes tea. " * 20,
                path=f"people/Xqcanary{number}",
                tags=[f"Xqcanary{number}"],
                data_subjects=["ada"],
            )
            hx.remember(f"Bob likes coffee {number}. " * 20, id=f"bob-{number}", data_subjects=["bob"])
        hx.embed_pending()
        hx.recall("tea")
        hx.spaces.write_file("default")
        hx.spaces.export("default")
        with AuditLogWriter(hx.path, "be") as writer:
            for tick in range(20):
                writer.record("monday", tick, "output", f"w{tick}", {}, [], subject="ada")
    return folder


def start(project: Path) -> Program:
    return Program(TARGET, project)


def files_with(project: Path) -> list[str]:
    return [
        str(file.relative_to(project))
        for file in project.rglob("*")
        if file.is_file() and WORD.lower() in file.read_bytes().lower()
    ]


def check_after_a_kill(project: Path, *, told: bool) -> bool:
    """Return whether the erasure was done; either way nothing is in between once somebody looked."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.maintain()
        erasures = hx.erasures()
        left = hx.count(path="people", status=None)
        assert OTHERS == hx.count(status=None) - left
        assert [] == hx.check()
        assert (1, 0) == (len(erasures), left) if told or erasures else left == PEOPLE
        assert all(not erasure.pending for erasure in erasures)
        with AuditLog(hx.path) as log:
            assert log.verify().ok
            credential = log.reviewers.add("rita")
            records = log.query(reviewer_credential=credential, kinds=["erasure"])
            steps = log.query(reviewer_credential=credential, kinds=["timestep"], limit=100)
        assert len(erasures) == len(records)
        assert {bool(erasures)} == {step.erased for step in steps}
        if erasures:
            assert PEOPLE == erasures[0].count("memories")
            assert [] == files_with(project)
    return bool(erasures)


def kill(template: Path, tmp_path: Path, kills: int) -> list[bool]:
    chance = random.Random(kills)
    outcomes = list[bool]()
    for number in range(kills):
        project = tmp_path / str(number)
        shutil.copytree(template, project)
        process = start(project)
        assert process.stdin is not None
        assert process.stdout is not None
        assert "ready\n" == process.stdout.readline()
        process.stdin.write("\n")
        process.stdin.flush()
        if number < kills - 1:
            time.sleep(chance.random() * 0.4)
            told = False
        else:  # the last has erased, however slow the machine is
            told = bool(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        told |= bool(process.communicate()[0])
        outcomes.append(check_after_a_kill(project, told=told))
        shutil.rmtree(project)
    return outcomes


@pytest.mark.row("L060")
def test_a_kill_leaves_nothing_erased_or_everything(
    template: Path, tmp_path: Path, record_property: Recorder
) -> None:
    assert True in kill(template, tmp_path, SHORT_KILLS)
    record_property("killed erasures", SHORT_KILLS)


@pytest.mark.long
def test_many_kills_leave_nothing_erased_or_everything(
    template: Path, tmp_path: Path, record_property: Recorder
) -> None:
    assert {True, False} == set(kill(template, tmp_path, LONG_KILLS))
    record_property("killed erasures", LONG_KILLS)
