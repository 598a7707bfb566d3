"""A thousand canaries through every door of an encrypted store: in no byte of any file, at no time."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hexad
from canaries import MARK, Canaries, opened, plant, plant_ledger, seen, told
from hexad import Hexad
from programs import Program, run

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
PER_DOOR = 65
WATCHER = f"""
import os, sys, threading
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
found, rounds, files = {{}}, 0, set()
while not done.is_set() or not rounds:
    for top in sys.argv[1:]:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    data = open(path, "rb").read()
                except OSError:
                    continue
                files.add(name)
                at = data.find(b"{MARK}")
                if at >= 0:
                    found[path] = data[at : at + 24]
    rounds += 1
print(rounds, len(files), found)
"""


class Watched:
    """What another process sees in some folders while something goes on; this one must not open SQLite's files."""

    def __init__(self, *folders: Path) -> None:
        self._process = Program(WATCHER, *folders)

    def end(self) -> str:
        said, _ = self._process.communicate("", timeout=120)
        return said.strip()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this process puts temporary files, but for the socket that programs are started by."""
    run("")
    folder = tmp_path / "tmp"
    folder.mkdir()
    for name in ("TMPDIR", "SQLITE_TMPDIR", "TEMP"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    tempfile.tempdir = None


def nothing_to_decode(folder: Path) -> list[str]:
    """The files below a folder that some program could read: databases, Parquet, zstd, gzip, JSON with more than keys."""
    heads = (b"SQLite format 3", b"PAR1", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
    return [str(path) for path in folder.rglob("*") if path.is_file() and path.read_bytes().startswith(heads)]


@pytest.mark.row("A131", "A132", "A133")
def test_no_canary_is_in_any_file_while_the_store_is_open_and_afterwards(project, temporary, caplog):
    canary = Canaries()
    folder = project / ".hexad"
    watched = Watched(folder, temporary)
    with caplog.at_level(logging.DEBUG):
        with opened(project, KEY) as hx:
            plant(hx, project, canary, per_door=PER_DOOR)
            while_open = run(WATCHER, folder, temporary).stdout
            said = told(hx)
        plant_ledger(folder, canary, key=KEY, per_door=PER_DOOR)
        with pytest.raises(hexad.HexadError):
            opened(project, OTHER)
    assert len(canary.given) >= 1_000
    assert while_open.strip().endswith("{}")
    rounds, count, _ = watched.end().split(" ", 2)
    assert int(rounds) > 2
    assert int(count) > 20
    assert watched._process.returncode == 0
    assert [] == seen(folder, canary.given)
    assert [] == nothing_to_decode(folder)
    assert MARK not in caplog.text
    with opened(project, KEY) as hx:
        assert said == told(hx)
        assert [] == hx.check()
        assert MARK in said


@pytest.mark.row("A131", "A133")
def test_nothing_that_is_watched_meanwhile_shows_a_canary(project, temporary):
    canary = Canaries()
    watched = Watched(project / ".hexad", temporary)
    with opened(project, KEY) as hx:
        plant(hx, project, canary, per_door=10)
    hexad.rekey(project, key=KEY, new_key=OTHER)
    assert watched.end().endswith(" {}")
    assert [] == seen(temporary, canary.given)


PROGRAM = """
import os, signal, sys
from pathlib import Path
from canaries import Canaries, opened, plant
project = Path(sys.argv[1])
hx = opened(project, bytes(range(32)))
plant(hx, project, Canaries(), per_door=20, seal=False)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.row("A131")
def test_a_killed_program_leaves_nothing_that_can_be_read(project, temporary):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        check=False,
    )
    assert -signal.SIGKILL == done.returncode
    folder = project / ".hexad"
    assert (folder / "memory.db-wal").stat().st_size > 0
    assert list((folder / "stream" / "log").iterdir())
    assert [] == seen(folder, []) + seen(temporary, [])
    assert [] == nothing_to_decode(folder)
    with opened(project, KEY) as hx:
        assert MARK in told(hx)
        assert [] == hx.check()


@pytest.mark.row("A131", "A132")
def test_after_a_plain_store_was_encrypted_nothing_of_it_can_be_read_and_all_of_it_is_there(
    project, temporary
):
    canary = Canaries()
    folder = project / ".hexad"
    with opened(project, None) as hx:
        plant(hx, project, canary)
    plant_ledger(folder, canary)
    before = _said(project, None)
    assert len(seen(folder, canary.given)) > 20
    hexad.encrypt(project, key=KEY)
    assert [] == seen(folder, canary.given) + seen(temporary, canary.given)
    assert [] == nothing_to_decode(folder)
    assert before == _said(project, KEY)
    assert [] == seen(folder, canary.given)
    hexad.rekey(project, key=KEY, new_key=OTHER)
    assert [] == seen(folder, canary.given)
    assert before == _said(project, OTHER)
    with pytest.raises(hexad.AccessDenied):
        opened(project, KEY)
    hexad.decrypt(project, key=OTHER)
    assert before == _said(project, None)
    assert not (folder / "encryption.json").exists()


def _said(project: Path, key: bytes | None) -> str:
    with opened(project, key) as hx:
        assert [] == hx.check()
        _ledger_verifies(hx, key)
        hx.xdb.seal()
        return told(hx)


def _ledger_verifies(hx: Hexad, key: bytes | None) -> None:
    from hexad.audit import AuditLog

    with AuditLog(hx.path, key=key) as log:
        assert log.verify().records >= 20
