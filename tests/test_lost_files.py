"""Files of a store that are emptied or gone: said with a remedy, and what is left of them is left alone."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import hexad
from hexad import FrozenClock, Hexad
from hexad.audit import AuditLog, AuditLogWriter
from hexad.database import files
from hexad.database.connection import Database
from hexad.database.meta import KEY_FILE, Meta
from hexad.experience.stream.frames import FrameWriter
from hexad.interfaces.cli.app.main import main
from hexad.lifecycle.session_capture import open_session
from hexad.maintenance.check import check
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


@pytest.mark.parametrize(
    ("way", "left"),
    # SQLite takes a file of one byte for an empty one.
    [*((way, b"") for way in WAYS), ("writing", b"S"), ("reading", b"S")],
)
def test_an_emptied_database_is_refused_and_its_log_is_kept(killed: Path, way: str, left: bytes) -> None:
    whole = (killed / "memory.db").read_bytes()
    (killed / "memory.db").write_bytes(left)
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
from hexad import FrozenClock, Hexad
from hexad.database import files
from hexad.database.connection import Database
from hexad.database.meta import Meta
from hexad.experience.stream.frames import FrameWriter
from hexad.interfaces.cli.app.main import main
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


def lines_of(problems: list[str], name: str) -> list[str]:
    return [problem for problem in problems if name in problem]


@pytest.fixture
def with_keys(project: Path) -> Path:
    """The key file of a store with a memory."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("The first text.")
    return project / ".hexad" / "keys.json"


@pytest.mark.parametrize("lost", ["gone", "another store's", "garbled", "empty"])
def test_a_key_file_is_not_made_anew_where_the_store_had_one(
    with_keys: Path, tmp_path: Path, lost: str
) -> None:
    project, whole = with_keys.parent.parent, with_keys.read_bytes()
    with_keys.unlink()
    if lost in ("garbled", "empty"):
        with_keys.touch(mode=0o600)
        with_keys.write_bytes(b"" if lost == "empty" else whole[::-1])
    elif lost != "gone":
        (tmp_path / "other").mkdir()
        with hexad.open(tmp_path / "other", embedder=None, background=False) as other:
            other.remember("Another store's text.")
        shutil.copy(tmp_path / "other" / ".hexad" / "keys.json", with_keys)
    before = contents(with_keys.parent).get("keys.json")

    with opened_with_losses(project, readonly=True) as hx:
        assert hx.recall("text")  # reading needs no key
    with opened_with_losses(project) as hx:
        with pytest.raises(hexad.IntegrityError, match=r"keys\.json is .* Restore it from a backup"):
            hx.remember("A second text.")
        assert 1 == len(lines_of(hx.check(), "keys.json"))
        assert 1 == hx.count()
    assert before == contents(with_keys.parent).get("keys.json")

    if lost == "gone":
        with_keys.touch(mode=0o600)
    with_keys.write_bytes(whole)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A second text.")
        assert [] == hx.check()


def test_a_hook_makes_no_keys_where_the_store_had_some(with_keys: Path) -> None:
    with_keys.unlink()
    clock = FrozenClock()

    def capture() -> None:
        folder = with_keys.parent
        with open_session(folder, folder.parent, clock=clock, ids=hexad.TimeSortedIds(clock)) as session:
            session.record_edits(["src/token_16C7e42F292c6912E771.py"])

    with pytest.raises(hexad.IntegrityError, match=r"keys\.json is gone"):
        capture()

    assert not with_keys.exists()


def test_a_loss_is_accepted_once_and_noted(with_keys: Path) -> None:
    project = with_keys.parent.parent
    with_keys.unlink()

    told = command("check", cwd=project)
    accepted = command("check", "--accept-losses", cwd=project)
    after = command("check", cwd=project)

    assert (5, 0, 0) == (told.returncode, accepted.returncode, after.returncode)
    assert "keys.json is gone" in told.stdout
    assert "Accepted as lost: " in accepted.stderr
    assert "keys.json is gone" in accepted.stderr.partition("Accepted as lost: ")[2]
    assert "" == after.stderr
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text under new keys.")
        assert with_keys.exists()
        assert [] == hx.check()
        assert [{"by": "owner", "files": ["keys.json"]}] == [
            {"by": detail["by"], "files": detail["files"]}
            for _, what, detail in hx._services.stores.meta.logged(limit=9)
            if what == "accept_losses"
        ]


@pytest.mark.parametrize("lost", ["gone", "damaged"])
def test_a_command_that_looks_for_losses_says_each_once(with_keys: Path, lost: str) -> None:
    with_keys.unlink() if lost == "gone" else with_keys.write_bytes(b"garbled")

    for arguments in (["check"], ["doctor"]):
        ended = command(*arguments, cwd=with_keys.parent.parent, env={"COLUMNS": "2000"})
        assert 5 == ended.returncode
        assert (1, "") == (ended.stdout.count("keys.json is " + lost), ended.stderr)
    quick = command("doctor", "--quick", cwd=with_keys.parent.parent)
    assert 0 == quick.returncode and f"keys.json is {lost}" in quick.stderr


@pytest.mark.parametrize(("lost", "looks"), [(False, 1), (True, 2)])
def test_accepting_losses_checks_a_second_time_only_where_something_is_wrong(
    with_keys: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lost: bool,
    looks: int,
) -> None:
    counted: list[object] = []

    def counting(*arguments: Any) -> list[str]:
        counted.append(arguments)
        return check(*arguments)

    monkeypatch.setattr("hexad.maintenance.check.check", counting)
    if lost:
        with_keys.unlink()

    assert 0 == main(["--store", str(with_keys.parent), "check", "--accept-losses"])

    assert looks == len(counted)
    assert ("Accepted as lost: " in capsys.readouterr().err) == lost


def test_a_key_file_of_an_older_version_is_known_from_the_next_opening_on(with_keys: Path) -> None:
    project = with_keys.parent.parent
    with hexad.open(project, embedder=None, background=False) as hx, hx._services.db.transaction() as con:
        con.execute("DELETE FROM meta WHERE key = 'key_file'")
    hexad.open(project, embedder=None, background=False).close()
    with_keys.unlink()

    with opened_with_losses(project) as hx:
        assert 1 == len(lines_of(hx.check(), "keys.json is gone"))


def opened_with_losses(project: Path, **options: object) -> Hexad:
    with pytest.warns(UserWarning, match="--accept-losses"):
        return hexad.open(project, embedder=None, background=False, **options)


RECORDED = """
import os, signal, sys, hexad
hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.xdb.start_session("monday")
for n in range(200):
    hx.xdb.record("output", f"word {n}", {}, role="assistant")
hx.xdb.flush()
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
hx.close()
"""


def log_of(project: Path, *, end: str) -> Path:
    run(RECORDED, project, end)
    (log,) = (project / ".hexad" / "stream" / "log").glob("*.log")
    return log


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "emptied": empty,
    "halved": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
}


@pytest.mark.parametrize("end", ["closed", "killed"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_log_that_is_lost_is_missed(project: Path, damage: str, end: str) -> None:
    log = log_of(project, end=end)
    if end == "killed":  # whoever opens the store next notes how long it is
        with hexad.open(project, embedder=None, background=False) as hx:
            hx.maintain()
    whole = log.read_bytes()
    DAMAGES[damage](log)

    for readonly in (True, False):
        with opened_with_losses(project, readonly=readonly) as hx:
            with pytest.raises(hexad.IntegrityError, match=rf"{log.name} .* backup"):
                hx.xdb.recall(session_id="monday")
            assert 1 == len(lines_of(hx.check(), log.name))
    log.touch(mode=0o600)
    log.write_bytes(whole)
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        assert 200 == len(hx.xdb.recall(session_id="monday", limit=500))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_log_is_not_sealed_as_if_nothing_were_missing(project: Path, damage: str) -> None:
    log = log_of(project, end="closed")
    whole = log.read_bytes()
    DAMAGES[damage](log)
    there = damage != "gone"

    with opened_with_losses(project) as hx:
        report = hx.xdb.seal()
        hx.maintain()
        assert (0, int(there)) == (report.rows, len(lines_of(list(report.problems), log.name)))
        assert 1 == len(lines_of(hx.check(), log.name))
        assert there == log.exists()
    if damage == "halved":  # what is left of it is kept once the rest is given up
        with opened_with_losses(project) as hx:
            hx.check(accept_losses=True)
            assert 0 < hx.xdb.seal().rows < 200
        with hexad.open(project, embedder=None, background=False) as hx:
            assert [] == hx.check()
        return
    log.touch(mode=0o600)
    log.write_bytes(whole)  # from a backup
    with hexad.open(project, embedder=None, background=False) as hx:
        assert 200 == hx.xdb.seal().rows
        assert [] == hx.check()


def test_a_lost_log_is_accepted(project: Path) -> None:
    log = log_of(project, end="closed")
    log.unlink()

    with opened_with_losses(project) as hx:
        assert [] == hx.check(accept_losses=True)
        assert [] == hx.xdb.recall(session_id="monday")
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()


def test_the_end_of_a_log_that_was_never_synced_is_not_missed(project: Path) -> None:
    log = log_of(project, end="closed")
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.maintain()
    end = FrameWriter(0).end(at=0)
    assert log.read_bytes().endswith(end)
    os.truncate(log, log.stat().st_size - len(end))  # lost with the power: it is only a help to readers

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        assert 200 == len(hx.xdb.recall(session_id="monday", limit=500))


def test_the_length_of_a_log_is_noted_once_it_is_on_the_disk(project: Path) -> None:
    log = log_of(project, end="killed")
    calls: list[tuple[str, str]] = []
    previous = files.set_hook(lambda operation, path: calls.append((operation, path.name)))
    try:
        with hexad.open(project, embedder=None, background=False) as hx:
            hx.maintain()
            assert Meta(hx._services.db).is_log_noted(log.name)
    finally:
        files.set_hook(previous)

    assert ("fdatasync", log.name) in calls


def test_a_key_file_is_missed_only_once_its_name_is_on_the_disk(project: Path) -> None:
    calls: list[tuple[str, str]] = []

    def refuse_once(operation: str, path: Path) -> None:
        calls.append((operation, path.name))
        if (
            (operation, path) == ("fsync_dir", hx.path)
            and hx.path.joinpath("keys.json").exists()
            and not refused
        ):
            refused.append(path)
            raise OSError(5, "Input/output error")

    refused: list[Path] = []
    with hexad.open(project, embedder=None, background=False) as hx:
        previous = files.set_hook(refuse_once)
        try:
            with pytest.raises(hexad.StorageFailure):
                hx.remember("The password is " + "hunter2-x9Qr")
            assert refused
            calls.clear()
            hx.maintain()
            assert Meta(hx._services.db).get(KEY_FILE) is None
            hx.remember("The token is " + "hunter3-x9Qr")
            assert ("fsync_dir", ".hexad") in calls
        finally:
            files.set_hook(previous)


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_a_log_that_is_sealed_is_not_missed(project: Path, end: str) -> None:
    log_of(project, end=end)

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.maintain()
        hx.xdb.seal()
        assert [] == hx.check()
        assert 200 == len(hx.xdb.recall(session_id="monday", limit=500))
    with hexad.open(project, embedder=None, background=False, readonly=True) as hx:
        assert [] == hx.check()


def test_a_log_that_goes_on_after_a_kill_of_its_program_is_not_missed(project: Path) -> None:
    log = log_of(project, end="killed")
    with log.open("ab") as file:
        file.write(b"\xf5HXF and half of a frame")

    with hexad.open(project, embedder=None, background=False) as hx:
        hx.maintain()
        assert [] == hx.check()
    run(RECORDED, project, "closed")
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        assert 400 == len(hx.xdb.recall(session_id="monday", limit=500))


def test_nothing_is_missed_after_a_change_of_keys(project: Path) -> None:
    log_of(project, end="closed")
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text.")

    for change in (
        lambda: hexad.encrypt(project, key=bytes(32)),
        lambda: hexad.rekey(project, key=bytes(32), new_key=bytes([1] * 32)),
        lambda: hexad.decrypt(project, key=bytes([1] * 32)),
    ):
        change()
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        hx.remember("A second text.")
        assert 200 == len(hx.xdb.recall(session_id="monday", limit=500))


def test_nothing_is_missed_in_a_backup_of_all_files(project: Path, tmp_path: Path) -> None:
    log_of(project, end="closed")
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text.")
        hx.xdb.start_session("tuesday")
        hx.xdb.record("output", "more", {})
        hx.xdb.flush()
        shutil.copytree(project, tmp_path / "copied while open")
    shutil.copytree(project, tmp_path / "copied when closed")

    for name in ("copied while open", "copied when closed"):
        with hexad.open(tmp_path / name, embedder=None, background=False) as hx:
            assert [] == hx.check()
            assert 201 == len(hx.xdb.recall(session_id="*", limit=500))


@pytest.mark.parametrize("lost", ["gone", "empty"])
def test_a_user_layer_that_a_project_opened_is_missed(project: Path, lost: str) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.user.prefer("testing", "pytest")
        database = hx.user.path / "user.db"
    whole = database.read_bytes()
    empty(database)
    if lost == "gone":
        database.unlink()

    with hexad.open(project, embedder=None, background=False) as hx:
        with pytest.raises(hexad.IntegrityError, match=rf"user\.db is {lost}, and this project"):
            hx.user.prefer("testing", "unittest")
        with pytest.raises(hexad.IntegrityError, match=rf"user\.db is {lost}, and this project"):
            hx.user.preferences()
        assert 1 == len(lines_of(hx.check(), f"user.db is {lost}"))
        hx.remember("A text that has nothing to do with it.")
        assert hx.recall("text")
    empty(database)
    database.write_bytes(whole)
    with hexad.open(project, embedder=None, background=False) as hx:
        assert ["pytest"] == [preference.value for preference in hx.user.preferences()]
        assert [] == hx.check()


def test_a_user_layer_that_another_project_began_anew_is_missed(project: Path, tmp_path: Path) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.user.prefer("testing", "pytest")
        database = hx.user.path / "user.db"
    shutil.copytree(database.parent, tmp_path / "kept")
    shutil.rmtree(database.parent)
    (tmp_path / "other").mkdir()
    with hexad.open(tmp_path / "other", embedder=None, background=False) as other:
        other.user.prefer("testing", "unittest")
        assert [] == other.check()
    begun_anew = database.read_bytes()

    for readonly in (True, False):
        with hexad.open(project, embedder=None, background=False, readonly=readonly) as hx:
            for call in (hx.user.preferences, lambda hx=hx: hx.user.prefer("testing", "nose")):
                with pytest.raises(hexad.HexadError, match=r"user\.db is not the one that this|read-only"):
                    call()
            assert 1 == len(lines_of(hx.check(), "begun anew"))
    assert begun_anew == database.read_bytes()

    shutil.rmtree(database.parent)
    shutil.copytree(tmp_path / "kept", database.parent)
    with hexad.open(project, embedder=None, background=False) as hx:
        assert ["pytest"] == [preference.value for preference in hx.user.preferences()]
        assert [] == hx.check()
    with hexad.open(tmp_path / "other", embedder=None, background=False) as other:
        assert 1 == len(lines_of(other.check(), "begun anew"))
        assert [] == other.check(accept_losses=True)
        assert ["pytest"] == [preference.value for preference in other.user.preferences()]
        assert [] == other.check()


def test_a_user_layer_stays_the_same_through_a_change_of_its_encryption(project: Path) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.user.prefer("testing", "pytest")

    hexad.encrypt(user=True, key=bytes(32))

    with hexad.open(project, embedder=None, background=False, user_key=bytes(32)) as hx:
        assert [] == hx.check()
        assert ["pytest"] == [preference.value for preference in hx.user.preferences()]


def test_a_lost_user_layer_is_accepted(project: Path) -> None:
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.user.prefer("testing", "pytest")
        folder = hx.user.path
    shutil.rmtree(folder)

    with hexad.open(project, embedder=None, background=False) as hx:
        assert 1 == len(lines_of(hx.check(), "user.db is gone"))
        assert [] == hx.check(accept_losses=True)
        assert () == tuple(hx.user.preferences())


def test_another_place_of_the_user_layer_is_none_that_is_lost(project: Path, tmp_path: Path) -> None:
    for name in ("one place", "another place"):
        with hexad.open(project, embedder=None, background=False, user_dir=tmp_path / name) as hx:
            hx.user.prefer("testing", "pytest")
            assert [] == hx.check()


def prune(project: Path) -> None:
    """Do what goes to the ledger."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text that goes.", id="passing")
        hx.forget("passing", purge=True, confirm=True)


@pytest.mark.parametrize("lost", ["gone", "begun anew", "cut back"])
def test_a_ledger_that_lost_records_is_named(project: Path, lost: str) -> None:
    ledger = project / ".hexad" / "audit"
    prune(project)
    shutil.copytree(ledger, project / "kept")
    prune(project)
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
    shutil.rmtree(ledger)
    if lost == "begun anew":
        with AuditLogWriter(project, "being-1") as writer:
            writer.record("monday", 1, "output", "Certainly.", {}, [])
    elif lost == "cut back":
        shutil.copytree(project / "kept", ledger)

    with hexad.open(project, embedder=None, background=False) as hx:
        (problem,) = lines_of(hx.check(), "audit.db")
        assert ("is gone; it had" if lost == "gone" else "cut off, or it was begun anew") in problem
        assert [] == hx.check(accept_losses=True)
        assert [] == hx.check()


def test_a_ledger_with_as_many_other_records_is_refused_by_every_reader(project: Path) -> None:
    ledger = project / ".hexad" / "audit"
    prune(project)
    shutil.copytree(ledger, project / "kept")
    with AuditLog(project) as log:
        records = log.size
    shutil.rmtree(ledger)
    with AuditLogWriter(ledger, "being-1") as writer:
        for tick in range(records + 3):
            writer.record("monday", tick, "output", "Certainly.", {}, [])
    begun_anew = contents(ledger)

    with pytest.raises(hexad.IntegrityError, match=r"other records than before .* begun anew"):
        AuditLog(project)
    told = command("audit", "verify", cwd=project)
    assert (5, True) == (told.returncode, "other records than before" in told.stderr)
    for readonly in (True, False):
        with hexad.open(project, embedder=None, background=False, readonly=readonly) as hx:
            assert 1 == len(lines_of(hx.check(), "begun anew"))
    prune(project)  # what upkeep notes waits in the store: nothing is added to the wrong ledger
    assert begun_anew["audit.key"] == contents(ledger)["audit.key"]
    with hexad.open(project, embedder=None, background=False) as hx:
        assert 1 == len(lines_of(hx.check(), "begun anew"))

    shutil.rmtree(ledger)
    shutil.copytree(project / "kept", ledger)
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        hx.maintain()
    with AuditLog(project) as log:
        assert log.verify().ok
        assert records < log.size


def test_a_ledger_that_goes_on_and_is_archived_is_the_same(project: Path) -> None:
    prune(project)
    with AuditLogWriter(project, "being-1") as writer:
        for tick in range(300):
            writer.record("monday", tick, "output", "Certainly.", {}, [])
    with AuditLog(project) as log:
        credential = log.reviewers.add("rita")
        log.retention.archive(project / "all.hxa", before=datetime.now(UTC), reviewer_credential=credential)
    prune(project)

    with AuditLog(project) as log:
        assert log.verify().ok
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
    hexad.encrypt(project, key=bytes(32))
    with AuditLog(project, key=bytes(32)) as log:
        assert log.verify().ok


# The ledger's key ----------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger_key(project: Path) -> Path:
    """The key file of a ledger that keeps what was said in a session."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("Ada lives in Porto.", id="gone", data_subjects=["ada"])
        hx.forget("gone", purge=True, confirm=True)
        with AuditLogWriter(hx.path, "be") as writer:
            writer.record("monday", 1, "output", "Xq0001Canary", {}, [], subject="ada")
    return project / ".hexad" / "audit" / "audit.key"


@pytest.mark.parametrize("lost", ["gone", "emptied", "garbled", "another's"])
def test_a_ledger_without_its_key_is_named_and_gets_no_new_one(
    ledger_key: Path, tmp_path: Path, lost: str
) -> None:
    project, whole = ledger_key.parent.parent.parent, ledger_key.read_bytes()
    if lost == "gone":
        ledger_key.unlink()
    elif lost == "another's":
        with AuditLogWriter(tmp_path / "other", "be") as writer:
            writer.record("monday", 1, "output", "x", {}, [])
        shutil.copy(tmp_path / "other" / "audit.key", ledger_key)
    else:
        ledger_key.write_bytes(b"" if lost == "emptied" else b"{not json")
    there = ledger_key.read_bytes() if ledger_key.exists() else None

    with hexad.open(project, embedder=None, background=False) as hx:
        assert 1 == len(lines_of(hx.check(), "audit.key"))
        with pytest.raises(
            hexad.IntegrityError, match=r"audit\.key .*(Restore it from a backup|Put the one back)"
        ):
            hx.forget(subject="ada", purge=True, confirm=True)
        hx.remember("A text.")  # which needs no ledger
    assert there == (ledger_key.read_bytes() if ledger_key.exists() else None)

    ledger_key.touch(mode=0o600)
    ledger_key.write_bytes(whole)
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.forget(subject="ada", purge=True, confirm=True)
        assert [] == hx.check()


@pytest.mark.parametrize("lost", ["gone", "emptied", "another's"])
def test_what_a_lost_key_opened_is_destroyed_when_the_loss_is_accepted(
    ledger_key: Path, tmp_path: Path, lost: str
) -> None:
    project = ledger_key.parent.parent.parent
    if lost == "gone":
        ledger_key.unlink()
    elif lost == "emptied":
        os.truncate(ledger_key, 0)
    else:
        with AuditLogWriter(tmp_path / "other", "be") as writer:
            writer.record("monday", 1, "output", "x", {}, [])
        shutil.copy(tmp_path / "other" / "audit.key", ledger_key)

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check(accept_losses=True)
        with pytest.raises(hexad.NotFound, match="No data is about 'ada'"):
            hx.forget(subject="ada", purge=True, confirm=True)
        with AuditLogWriter(hx.path, "be") as writer:
            writer.record("tuesday", 1, "output", "anew", {}, [], subject="ada")

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
        logged = [
            (detail["by"], detail["files"])
            for _, what, detail in hx._services.stores.meta.logged(limit=9)
            if what == "accept_losses"
        ]
        assert [("owner", ["audit/audit.key"])] == logged
    with AuditLog(project / ".hexad") as log:
        assert log.verify().ok
        credential = log.reviewers.add("rita")
        kept = [
            record.raw_content for record in log.query(reviewer_credential=credential) if record.session_id
        ]
        assert ["anew"] == [content for content in kept if content]


@pytest.fixture
def unused_key(project: Path) -> Path:
    """The key file of a ledger that holds nothing that it opens."""
    with hexad.open(project, embedder=None, background=False) as hx:
        hx.remember("A text.", id="text")
        AuditLogWriter(hx.path, "be").close()
    return project / ".hexad" / "audit" / "audit.key"


def another(tmp_path: Path) -> Path:
    AuditLogWriter(tmp_path / "other", "be").close()
    return tmp_path / "other" / "audit.key"


@pytest.mark.parametrize("lost", ["gone", "another's"])
@pytest.mark.parametrize("noted_by", ["the store's close", "an erasure", "an older version"])
def test_the_key_of_a_ledger_that_it_opens_nothing_of_is_missed_too(
    unused_key: Path, tmp_path: Path, lost: str, noted_by: str
) -> None:
    project, whole = unused_key.parent.parent.parent, unused_key.read_bytes()
    if noted_by == "an older version":
        db = Database.open(project / ".hexad" / "memory.db", clock=FrozenClock())
        with db.transaction() as con:
            con.execute("DELETE FROM meta WHERE key = 'ledger_key'")
        db.close()
    if noted_by != "the store's close":
        with hexad.open(project, embedder=None, background=False) as hx:
            if noted_by == "an erasure":
                hx.forget("text", purge=True, confirm=True)
    unused_key.unlink()
    if lost == "another's":
        shutil.copy(another(tmp_path), unused_key)
    there = unused_key.read_bytes() if unused_key.exists() else None

    with hexad.open(project, embedder=None, background=False) as hx:
        assert 1 == len(lines_of(hx.check(), "audit.key"))
    with (
        pytest.raises(hexad.IntegrityError, match=r"audit\.key is (gone|the key file of another store)"),
        AuditLogWriter(project / ".hexad", "be") as writer,
    ):
        writer.record("monday", 1, "output", "x", {}, [])
    assert there == (unused_key.read_bytes() if unused_key.exists() else None)

    unused_key.touch(mode=0o600)
    unused_key.write_bytes(whole)
    with AuditLogWriter(project / ".hexad", "be") as writer:
        writer.record("monday", 1, "output", "x", {}, [])
    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()


@pytest.mark.parametrize("lost", ["the key", "both"])
def test_a_lost_key_that_opened_nothing_is_accepted_and_another_one_noted(
    unused_key: Path, lost: str
) -> None:
    project = unused_key.parent.parent.parent
    with hexad.open(project, embedder=None, background=False):
        pass
    unused_key.unlink()
    if lost == "both":
        for file in unused_key.parent.glob("audit.db*"):
            file.unlink()

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check(accept_losses=True)
        with AuditLogWriter(hx.path, "be") as writer:
            writer.record("monday", 1, "output", "x", {}, [])

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == hx.check()
    unused_key.unlink()
    with hexad.open(project, embedder=None, background=False) as hx:
        assert 1 == len(lines_of(hx.check(), "audit.key"))


def test_a_key_that_opens_its_ledger_is_left_alone(ledger_key: Path) -> None:
    before = ledger_key.read_bytes()

    with hexad.open(ledger_key.parent.parent.parent, embedder=None, background=False) as hx:
        assert [] == hx.check(accept_losses=True)
        assert [] == [
            what for _, what, _ in hx._services.stores.meta.logged(limit=9) if what == "accept_losses"
        ]

    assert before == ledger_key.read_bytes()


def test_a_subject_that_was_changed_is_not_taken_for_another_key(ledger_key: Path) -> None:
    project = ledger_key.parent.parent.parent
    with AuditLogWriter(project / ".hexad", "be") as writer:
        writer.record("monday", 2, "output", "More.", {}, [], subject="bo")
    db = Database.open(ledger_key.with_name("audit.db"), clock=FrozenClock())
    with db.transaction() as con:
        con.execute(
            "UPDATE subjects SET key = zeroblob(60) WHERE ref ="
            " (SELECT e.subject FROM entries e JOIN contents c USING (seq) ORDER BY e.seq LIMIT 1)"
        )
    db.close()

    with hexad.open(project, embedder=None, background=False) as hx:
        assert [] == lines_of(hx.check(accept_losses=True), "audit.key")
        assert [] == [
            what for _, what, _ in hx._services.stores.meta.logged(limit=9) if what == "accept_losses"
        ]
    with AuditLog(project / ".hexad") as log:
        assert not log.verify().ok
