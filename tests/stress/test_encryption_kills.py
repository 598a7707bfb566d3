"""Programs that encrypt, decrypt and rekey, killed at every step: the next open has one store or the other, whole."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from encryption_target import NEW, OLD

import hexad
from canaries import Canaries, Key, opened, plant, plant_ledger, told
from hexad import AccessDenied, HexadError, InvalidInput
from hexad.database import files
from hexad.database.encryption.record import read_record
from programs import Program

TARGET = Path(__file__).with_name("encryption_target.py")
SHORT_STEPS, RANDOM_KILLS = 5, 2
KEYS = {"encrypt": (None, NEW), "decrypt": (OLD, None), "rekey": (OLD, NEW)}


class Target:
    """Runs changes of encryption in children that can be killed."""

    def __init__(self) -> None:
        self._process = Program(TARGET)

    def __call__(self, what: str, number: int, project: Path) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what} {number} {project}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    made = Target()
    yield made
    made.close()


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """A small store with something behind every door, plain and encrypted, and what it says."""
    found = {}
    for name, key in (("plain", None), ("sealed", OLD)):
        project = tmp_path_factory.mktemp(name) / "project"
        project.mkdir()
        with opened(project, key) as hx:
            plant(hx, project, Canaries(), per_door=2)
            hx.xdb.seal()
            said = told(hx)
        plant_ledger(project / ".hexad", Canaries(), per_door=2, key=key)
        found[name] = (project, said)
    return found


def copied(world: tuple[Path, str], folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(world[0], folder)
    return folder


def whole(project: Path, keys: tuple[Key, Key], said: str) -> Key:
    """Open a store that was left in the middle of something, and return with which key; the other opens nothing."""
    states = []
    for key in keys:
        try:
            with opened(project, key) as hx:
                assert [] == hx.check()
                assert said == told(hx)
            states.append(key)
        except (AccessDenied, InvalidInput):
            pass
    assert len(states) == 1, "one key opens it, and only one"
    assert (read_record(project / ".hexad") is None) == (states[0] is None)
    assert not (project / ".hexad" / "convert").exists()
    return states[0]


def _world(worlds: dict[str, tuple[Path, str]], what: str) -> tuple[Path, str]:
    return worlds["plain" if what == "encrypt" else "sealed"]


@pytest.mark.row("A131")
@pytest.mark.parametrize("what", list(KEYS))
@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=[pytest.mark.long, pytest.mark.timeout(3_600)])]
)
def test_killed_at_any_step_a_store_is_as_before_or_as_asked_for(
    tmp_path, target, worlds, what, every, record_property
):
    world = _world(worlds, what)
    project = tmp_path / "p" / "project"
    project.parent.mkdir()
    assert 0 == target(what, 0, copied(world, project))
    steps = int((project / "steps").read_text())
    assert KEYS[what][1] == whole(project, KEYS[what], world[1])

    found = set()
    kills = (
        range(1, steps + 1) if every else sorted({1 + steps * n // SHORT_STEPS for n in range(SHORT_STEPS)})
    )
    for number in kills:
        assert -signal.SIGKILL == target(what, number, copied(world, project))
        found.add(whole(project, KEYS[what], world[1]))
    assert set(KEYS[what]) == found, "some were killed before the switch, and some after it"
    record_property("killed changes of encryption", len(kills))


@pytest.mark.row("A131")
@pytest.mark.parametrize("what", list(KEYS))
def test_killed_again_while_what_was_interrupted_is_ended_it_is_ended_by_the_next(
    tmp_path, target, worlds, what
):
    world = _world(worlds, what)
    project = tmp_path / "p" / "project"
    project.parent.mkdir()
    target(what, 0, copied(world, project))
    steps = int((project / "steps").read_text())
    number = steps * 9 // 10
    for again in range(1, 40, 13):
        assert -signal.SIGKILL == target(what, number, copied(world, project))
        if not (project / ".hexad" / "convert" / "journal.json").exists():
            number += 1
            continue
        target("old" if KEYS[what][1] is None else "new", again, project)
        assert KEYS[what][1] == whole(project, KEYS[what], world[1])


@pytest.mark.parametrize("what", list(KEYS))
def test_killed_at_any_moment_it_is_the_same(tmp_path, worlds, what):
    world = _world(worlds, what)
    project = tmp_path / "p" / "project"
    project.parent.mkdir()
    for number in range(RANDOM_KILLS):
        copied(world, project)
        with subprocess.Popen(
            [sys.executable, str(TARGET)],
            stdin=subprocess.PIPE,
            text=True,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            process.stdin.write(f"{what} 0 {project}\n")
            process.stdin.flush()
            deadline = time.monotonic() + 60
            while (
                not (project / ".hexad" / "convert").exists()
                and process.poll() is None
                and time.monotonic() < deadline
            ):
                if (project / "steps").exists():
                    break
                time.sleep(0.002)
            time.sleep(0.05 * number)
            os.killpg(process.pid, signal.SIGKILL)
        whole(project, KEYS[what], world[1])


@pytest.mark.parametrize("what", list(KEYS))
def test_an_error_of_the_disk_leaves_one_or_the_other_too(tmp_path, worlds, what):
    world = _world(worlds, what)
    project = tmp_path / "p" / "project"
    project.parent.mkdir()
    old, new = KEYS[what]
    change = {
        "encrypt": lambda: hexad.encrypt(project, key=new),
        "decrypt": lambda: hexad.decrypt(project, key=old),
        "rekey": lambda: hexad.rekey(project, key=old, new_key=new),
    }[what]
    for operation in ("write", "fdatasync", "rename", "unlink"):
        for at in (1, 30):
            copied(world, project)
            _failing(operation, at, change)
            whole(project, KEYS[what], world[1])


def _failing(operation: str, at: int, change) -> None:
    seen = 0

    def fail(name: str, path: Path) -> None:
        nonlocal seen
        if name == operation and ".hexad" in path.parts and "openers" not in path.parts:
            seen += 1
            if seen == at:
                raise OSError(5, "Input/output error")

    previous = files.set_hook(fail)
    try:
        change()
    except HexadError:
        pass
    finally:
        files.set_hook(previous)
