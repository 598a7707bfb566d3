"""Files of a store that are emptied or gone: said with a remedy, and what is left of them is left alone."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import hexad
from hexad import FrozenClock
from hexad.audit import AuditLog, AuditLogWriter
from hexad.database.connection import Database
from hexad.lifecycle.session_capture import open_session
from programs import command, run

KILLED = """
import os, signal, sys, hexad
hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.remember("The second text, acknowledged and only in the log.")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(project: Path) -> Path:
    """The folder of a store whose last writer was killed: its last commit is in the log alone."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("The first text.")
    run(KILLED, project)
    assert (project / ".hexad" / "memory.db-wal").stat().st_size
    return project / ".hexad"


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in each file, but for the counters of the line of writers, which hold nothing of a store."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-commit")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def empty(path: Path) -> None:
    path.touch(mode=0o600)
    path.write_bytes(b"")


WAYS: dict[str, Callable[[Path], object]] = {
    "writing": lambda folder: hexad.open(folder, embedder=None),
    "reading": lambda folder: hexad.open(folder, embedder=None, readonly=True),
    "a hook": lambda folder: open_session(
        folder, folder.parent, clock=FrozenClock(), ids=hexad.TimeSortedIds(FrozenClock())
    ).__enter__(),
    "encrypting": lambda folder: hexad.encrypt(folder, key=bytes(32)),
    "beginning": lambda folder: hexad.init(folder.parent, key=bytes(32)),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_emptied_database_is_refused_and_its_log_is_kept(killed: Path, way: str) -> None:
    whole = (killed / "memory.db").read_bytes()
    empty(killed / "memory.db")
    before = contents(killed)

    with pytest.raises(hexad.IntegrityError, match=r"memory\.db is empty, but .* is there\. .* backup"):
        WAYS[way](killed)

    assert before == {name: data for name, data in contents(killed).items() if name in before}
    (killed / "memory.db").write_bytes(whole)  # from a backup: with its log everything is there again
    with hexad.open(killed, embedder=None, background=False) as hx:
        assert [] == hx.check()
        assert 2 == hx.count()


FILES = ("keys.json", "audit/audit.db", "stream/log/1-aa.log")


@pytest.mark.parametrize(
    ("lost", "sign"),
    [
        *itertools.product(("gone", "empty"), (*FILES, "memory.db-wal")),
        # It has a log while it is made.
        *itertools.product(("without tables",), FILES),
    ],
)
def test_a_store_is_not_begun_anew_where_any_of_its_files_is_left(
    project: Path, lost: str, sign: str
) -> None:
    folder = project / ".hexad"
    (folder / sign).parent.mkdir(parents=True)
    if lost != "gone":
        empty(folder / "memory.db")
    if lost == "without tables":
        Database.open(folder / "memory.db", clock=FrozenClock()).close()
    (folder / sign).write_bytes(b"something")
    before = contents(folder)

    with pytest.raises(hexad.IntegrityError, match=rf"memory\.db is .*, but {sign}.* is there"):
        hexad.open(project, embedder=None)

    assert before.items() <= contents(folder).items()


@pytest.mark.parametrize("left", [(), ("memory.db",), ("memory.db", ".gitignore", "hexad.toml")])
def test_a_store_whose_making_was_cut_short_is_made_by_the_next_opener(
    project: Path, left: tuple[str, ...]
) -> None:
    (project / ".hexad").mkdir()
    for name in left:
        empty(project / ".hexad" / name)

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text.")
        assert [] == hx.check()


def test_the_command_line_ends_as_for_a_damaged_store(killed: Path) -> None:
    empty(killed / "memory.db")

    for arguments in (["recall", "text"], ["check"], ["remember", "Another text."], ["memory", "list"]):
        ended = command(*arguments, cwd=killed.parent, env={"HEXAD_EMBEDDER": "none"})
        assert (5, "") == (ended.returncode, ended.stdout)
        assert f"{killed / 'memory.db'} is empty" in ended.stderr
        assert "Put a backup in its place" in ended.stderr


@pytest.mark.parametrize("lost", ["gone", "empty"])
def test_the_log_of_a_ledger_is_kept_where_its_database_is_lost(tmp_path: Path, lost: str) -> None:
    folder, kept = tmp_path / "ledger", tmp_path / "kept"
    with AuditLogWriter(folder, "being-1") as writer:
        writer.record("monday", 1, "output", "Certainly.", {}, [])
        shutil.copytree(folder, kept)
    assert (kept / "audit.db-wal").stat().st_size
    empty(kept / "audit.db")
    if lost == "gone":
        (kept / "audit.db").unlink()
    before = contents(kept)

    with pytest.raises(hexad.IntegrityError, match=rf"audit\.db is {lost}, but audit\.db-wal"):
        AuditLogWriter(kept, "being-1")

    assert before == contents(kept)


KILLED_IN_ITS_FIRST_COMMIT = """
import os, signal, sys
from pathlib import Path
from hexad import FrozenClock
from hexad.database.connection import Database
db = Database.open(Path(sys.argv[1]), clock=FrozenClock())
with db.transaction() as con:
    con.execute("PRAGMA cache_size = 1")
    con.execute("CREATE TABLE filler(bytes)")
    for _ in range(200):
        con.execute("INSERT INTO filler VALUES(zeroblob(4000))")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_store_whose_first_commit_was_cut_short_is_made_by_the_next_opener(project: Path) -> None:
    (project / ".hexad").mkdir()
    run(KILLED_IN_ITS_FIRST_COMMIT, project / ".hexad" / "memory.db")
    assert (project / ".hexad" / "memory.db-wal").stat().st_size

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()


@pytest.mark.parametrize("lost", ["gone", "empty"])
def test_a_ledger_that_lost_its_database_is_not_begun_anew(project: Path, lost: str) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text.")
    with AuditLogWriter(project, "being-1") as writer:
        writer.record("monday", 1, "output", "Certainly.", {}, [])
    database = project / ".hexad" / "audit" / "audit.db"
    whole = database.read_bytes()
    empty(database)
    if lost == "gone":
        database.unlink()

    for open_ledger in (AuditLog, lambda path: AuditLogWriter(path, "being-1")):
        with pytest.raises(hexad.IntegrityError, match=rf"audit\.db is {lost}, but audit\.key .* backup"):
            open_ledger(project)
    assert 5 == command("audit", "verify", cwd=project).returncode
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [True] == [f"audit.db is {lost}" in problem for problem in hx.check()]
        hx.remember("Another text.")
    empty(database)
    database.write_bytes(whole)
    with AuditLog(project) as log:
        assert log.verify().ok
