"""Reading where nothing can be written: a full disk, and a folder that may only be read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad

ON_A_DISK = """
set -e
mount -t tmpfs -o size=8m,mode=700 disk {disk}
cp -a {project} {disk}/project
cd {disk}/project
{state}
set +e
{hexad} {command}
"""
STATES = {
    "read-only": "mount -o remount,ro {disk}",
    "full": "dd if=/dev/zero of={disk}/rest bs=4k 2> /dev/null || true",
    # There is room to open the store, and none to note that it was asked.
    "nearly full": "dd if=/dev/zero of={disk}/rest bs=4k 2> /dev/null || true; truncate -s -40K {disk}/rest",
}
Shell = Callable[[str, str], subprocess.CompletedProcess[str]]


def _in_a_world_of_its_own(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HEXAD_EMBEDDER": "none"},
    )


def _disks_can_be_made() -> bool:
    if shutil.which("unshare") is None:
        return False
    return _in_a_world_of_its_own("mount -t tmpfs -o size=1m disk /mnt").returncode == 0


@pytest.fixture(scope="module")
def disks() -> None:
    if not _disks_can_be_made():
        pytest.skip("this system lets nobody but root mount a disk")


@pytest.fixture
def shell(disks: None, project: Path, tmp_path: Path) -> Shell:
    """Run a command of `hexad` in a copy of a store on a small disk that is in a state."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("The ferry leaves at nine.", id="ferry")
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "Certainly.", {})
    disk = tmp_path / "disk"
    disk.mkdir()

    def call(command: str, state: str) -> subprocess.CompletedProcess[str]:
        script = ON_A_DISK.format(
            disk=disk,
            project=project,
            state=STATES[state].format(disk=disk),
            hexad=f"{sys.executable} -m hexad",
            command=command,
        )
        return _in_a_world_of_its_own(script)

    return call


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("recall ferry", "The ferry leaves at nine."),
        ("memory list", "The ferry leaves at nine."),
        ("context ferry", "The ferry leaves at nine."),
        ("xdb show monday", "Certainly."),
        ("doctor", "safe"),
        ("check", "All is well"),
    ],
)
def test_a_command_that_reads_answers(shell: Shell, state: str, command: str, says: str) -> None:
    ended = shell(command, state)

    assert says in ended.stdout, ended.stderr
    assert 0 == ended.returncode
    if state != "nearly full":
        assert "The store was opened for reading alone." in ended.stderr


@pytest.mark.parametrize("state", ["read-only", "full"])
def test_a_command_that_writes_says_why_it_cannot(shell: Shell, state: str) -> None:
    ended = shell("remember 'The ferry leaves at ten.'", state)

    assert (1, "") == (ended.returncode, ended.stdout)
    assert {"read-only": "Read-only file system", "full": "No space left on device"}[state] in ended.stderr
    assert "it was opened read-only" in ended.stderr


def test_a_log_that_cannot_be_read_is_said_and_not_left_out(shell: Shell, project: Path) -> None:
    program = (
        "import hexad, os, signal, sys; hx = hexad.open(sys.argv[1], embedder=None, background=False);"
        "hx.remember('Only in the log.'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(project)], check=False, timeout=60)
    (project / ".hexad" / "memory.db-shm").unlink()
    assert (project / ".hexad" / "memory.db-wal").stat().st_size

    ended = shell("recall log", "read-only")

    assert 1 == ended.returncode
    assert "Read-only file system" in ended.stderr
    assert "" == ended.stdout
