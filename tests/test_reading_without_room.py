"""Reading where nothing can be written: a full disk, and a folder that may only be read."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad.database.sqlite_setup import PrivateCopy

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
Shell = Callable[..., subprocess.CompletedProcess[str]]


def _in_a_world_of_its_own(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HEXAD_EMBEDDER": "none", **variables},
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

    def call(command: str, state: str, temporary: Path | None = None) -> subprocess.CompletedProcess[str]:
        script = ON_A_DISK.format(
            disk=disk,
            project=project,
            state=STATES[state].format(disk=disk),
            hexad=f"{sys.executable} -m hexad",
            command=command,
        )
        return _in_a_world_of_its_own(script, **({"TMPDIR": str(temporary)} if temporary else {}))

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


@pytest.fixture
def killed(shell: Shell, project: Path) -> Shell:
    """Run a command in a store whose last commit is in a log that a killed program left."""
    program = (
        "import hexad, os, signal, sys; hx = hexad.open(sys.argv[1], embedder=None, background=False);"
        "hx.remember('Only in the log.', id='late'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(project)], check=False, timeout=60)
    (project / ".hexad" / "memory.db-shm").unlink()
    assert (project / ".hexad" / "memory.db-wal").stat().st_size
    return shell


@pytest.mark.parametrize("state", ["read-only", "full"])
def test_a_log_of_a_killed_program_is_read_in_a_copy(killed: Shell, tmp_path: Path, state: str) -> None:
    room = tmp_path / "room"
    room.mkdir()

    ended = killed(f"memory show late; ls {room}", state, room)

    assert "Only in the log." in ended.stdout, ended.stderr
    assert "│ Only in the log." == ended.stdout.splitlines()[-1].strip()  # the copy is gone
    assert "The store was opened for reading alone." in ended.stderr


def test_a_log_that_cannot_be_copied_is_said_and_not_left_out(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.db").write_bytes(b"a page")
    (tmp_path / "memory.db-wal").write_bytes(b"a commit")
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))

    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(hexad.StorageFailure, match=r"left a log there .* 14 bytes .* No space .* Set TMPDIR"):
        PrivateCopy(tmp_path / "memory.db")

    assert [] == list(copies.iterdir())


def test_a_database_that_changes_while_it_is_copied_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, copies = tmp_path / "memory.db", tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    for name in ("memory.db", "memory.db-wal"):
        (tmp_path / name).write_bytes(b"a page")
    copyfile = shutil.copyfile

    def written_meanwhile(source: Path, target: Path) -> None:
        copyfile(source, target)
        database.write_bytes(database.read_bytes() + b"more")

    monkeypatch.setattr(shutil, "copyfile", written_meanwhile)
    with pytest.raises(hexad.StorageFailure, match="is being written by another program"):
        PrivateCopy(database)
    assert [] == list(copies.iterdir())

    monkeypatch.undo()
    copy = PrivateCopy(database)
    assert database.read_bytes() == copy.path.read_bytes()
    assert 0o700 == copy.path.parent.stat().st_mode & 0o777
    copy.close()
    assert not copy.path.parent.exists()
