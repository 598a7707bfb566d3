"""Erasing in a ledger of its own: everything goes that was asked, nothing else, and nobody can fake or hide it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import hexad
from hexad import AccessDenied, FrozenClock, InvalidInput
from hexad.audit import AuditLog, AuditLogWriter
from hexad.interfaces.cli.app.main import main

KEY = bytes(range(32))
KEYS = pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])


def fill(writer: AuditLogWriter, session: str, count: int, *, subject: str | None = None) -> None:
    writer.record_many(
        {
            "session_id": session,
            "tick": tick,
            "event_type": "output",
            "raw_content": f"{subject or 'nobody'} said {tick} in {session}",
            "lens_activations": {"p::Hidden": 0.9},
            "steering_applied": [{"directive": "be calm"}],
            "subject": subject,
        }
        for tick in range(count)
    )


def said(log: AuditLog, credential: str, **asked: Any) -> list[str]:
    found = log.query(reviewer_credential=credential, kinds=["timestep"], limit=10_000, **asked)
    return [record.raw_content for record in found if record.raw_content is not None]


def secrets_of(database: Path, who: str) -> list[bytes]:
    """Nonce and ciphertext of each content whose record is meant, and what is kept of its subject."""
    with apsw.Connection(str(database)) as con:
        rows = con.execute(
            "SELECT c.nonce, c.ciphertext, s.key, s.name, s.lookup FROM contents c JOIN entries e USING (seq)"
            f" JOIN subjects s ON s.ref = e.subject WHERE {who}"
        ).fetchall()
    return sorted({item for row in rows for item in row if isinstance(item, bytes)})


def left(folder: Path, words: list[bytes]) -> list[str]:
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [str(path) for path, data in files.items() if any(word in data for word in words)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


# What goes, and what stays ----------------------------------------------------------------------------------


@pytest.mark.row("H102")
@pytest.mark.parametrize(
    ("given", "where"),
    [({"subject": "ada"}, "e.session = 'talk'"), ({"session_id": "monday"}, "e.session = 'monday'")],
    ids=["subject", "session"],
)
def test_nothing_of_what_was_erased_stands_in_the_files_of_the_ledger(
    folder: Path, given: dict[str, Any], where: str
) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        for _ in range(5):  # pages split and fill, and rows of others lie between
            fill(writer, "monday", 40)
            fill(writer, "talk", 40, subject="ada")
            fill(writer, "tuesday", 40, subject="bob")
        going, staying = (
            secrets_of(folder / "audit.db", where),
            secrets_of(folder / "audit.db", "e.session = 'tuesday'"),
        )
        assert left(folder, going)

        done = log.erase(reviewer_credential=rita, **given)

        assert (200, True) == (done.contents, done.cleared)
        assert [] == left(folder, going)
        with apsw.Connection(str(folder / "audit.db")) as con:
            kept = {row[0] for row in con.execute("SELECT nonce FROM contents")}
        assert len(staying) - 3 == 2 * len(kept & set(staying)) == 400
        assert 400 == len(said(log, rita))
        assert log.verify().ok


@KEYS
@pytest.mark.row("H102")
def test_a_ledger_verifies_and_goes_on_after_an_erasure(folder: Path, key: bytes | None) -> None:
    with AuditLogWriter(folder, "be", key=key) as writer:
        fill(writer, "monday", 5, subject="ada")
        with AuditLog(folder, key=key) as log:
            rita = log.reviewers.add("rita")
            before = log.checkpoint()
            done = log.erase(reviewer_credential=rita, subject="ada")
            assert (5, True) == (done.contents, done.cleared)
        fill(writer, "tuesday", 2, subject="ada")  # a person of that name begins anew

    with AuditLog(folder, key=key) as log:
        assert ["ada said 0 in tuesday", "ada said 1 in tuesday"] == said(log, rita)
        found = log.verify(checkpoints=[before], verifiers=[log.public_key])
        assert found.ok, found
        assert 2 == log.erase(reviewer_credential=rita, subject="ada").contents
        assert log.verify().ok


def test_a_person_s_right_goes_before_an_incident_and_the_mark_stays(folder: Path, tmp_path: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 5, subject="ada")
        log.incidents.mark("crash", "Sounded angry.", reviewer_credential=rita, session_id="monday")

        assert 5 == log.erase(reviewer_credential=rita, subject="ada").contents

        (incident,) = log.incidents.list(reviewer_credential=rita)
        assert (5, "Sounded angry.") == (incident.records, incident.marks[0].reason)
        assert 5 == log.incidents.export("crash", tmp_path / "crash.jsonl", reviewer_credential=rita)
        assert "ada said" not in (tmp_path / "crash.jsonl").read_text(encoding="utf-8")
        assert log.verify().ok


@pytest.mark.row("H102")
def test_a_forget_leaves_a_ledger_elsewhere_and_its_own_erasure_takes_the_rest(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with (
        hexad.open(tmp_path / "project", background=False, embedder=None) as hx,
        AuditLogWriter(tmp_path / "elsewhere", "be") as writer,
        AuditLog(tmp_path / "elsewhere") as log,
    ):
        rita = log.reviewers.add("rita")
        hx.remember("About ada.", data_subjects=["ada"])
        fill(writer, "monday", 3, subject="ada")

        hx.forget(subject="ada", purge=True, confirm=True)

        assert 3 == len(said(log, rita))
        assert 3 == log.erase(reviewer_credential=rita, subject="ada").contents
        assert [] == said(log, rita)


def test_files_that_somebody_reads_are_cleared_by_the_next_erasure(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 30, subject="ada")
        going = secrets_of(folder / "audit.db", "e.session = 'monday'")
        with apsw.Connection(str(folder / "audit.db")) as reader:
            reader.execute("SELECT count(*) FROM contents").fetchall()

            assert not log.erase(reviewer_credential=rita, subject="ada").cleared

        assert [] == said(log, rita)
        done = log.erase(reviewer_credential=rita, subject="ada")
        assert (0, True) == (done.contents, done.cleared)
        assert [] == left(folder, going)


# The record of it -------------------------------------------------------------------------------------------


def test_the_record_says_who_and_how_much_and_not_about_whom(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 3, subject="ada.lovelace")

        done = log.erase(reviewer_credential=rita, subject="ada.lovelace")
        planned = log.erase(reviewer_credential=rita, subject="ada.lovelace", dry_run=True)

        (record,) = log.query(reviewer_credential=rita, kinds=["erasure"])
        assert (done.record_id, "rita", 3) == (record.id, record.detail["by"], record.detail["contents"])
        (question,) = log.query(reviewer_credential=rita, kinds=["reviewer.erasure_plan"])
        assert (planned.record_id, {"reviewer": "rita", "contents": 0}) == (question.id, question.detail)
    assert [] == left(folder, [b"ada.lovelace"])


def test_a_dry_run_says_how_much_would_go_and_changes_nothing(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 4)
        fill(writer, "monday", 3, subject="ada")
        for given in (
            {"session_id": "monday"},
            {"session_id": "monday", "tick_range": (0, 1)},
            {"subject": "ada"},
        ):
            planned = log.erase(reviewer_credential=rita, dry_run=True, **given)
            again = log.erase(reviewer_credential=rita, dry_run=True, **given)
            assert (planned.contents, planned.cleared, True) == (again.contents, False, planned.dry_run)
            assert 7 == len(said(log, rita))
        assert planned.contents == log.erase(reviewer_credential=rita, **given).contents == 3
        assert 4 == log.erase(reviewer_credential=rita, session_id="monday").contents


def test_a_name_that_is_not_there_erases_nothing_and_that_is_a_record(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 3, subject="ada")
        for given in (
            {"subject": "Ada"},
            {"session_id": "mon"},
            {"session_id": "monday", "tick_range": (9, 10)},
        ):
            assert 0 == log.erase(reviewer_credential=rita, **given).contents
        assert 3 == len(said(log, rita))
        assert 3 == len(log.query(reviewer_credential=rita, kinds=["erasure"]))
        assert log.verify().ok


def test_who_may_not_read_everything_erases_and_asks_nothing(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita, sam = log.reviewers.add("rita"), log.reviewers.add("sam", sessions=["monday"])
        fill(writer, "monday", 3)
        for credential, dry_run in itertools.product((sam, "rita:guess", ""), (True, False)):
            with pytest.raises(AccessDenied):
                log.erase(reviewer_credential=credential, session_id="monday", dry_run=dry_run)
        assert 3 == len(said(log, rita))
        assert 6 == len(log.query(reviewer_credential=rita, kinds=["reviewer.refused"]))


@pytest.mark.row("H102")
@pytest.mark.parametrize(
    "changed",
    [
        "DELETE FROM contents WHERE seq = (SELECT max(seq) FROM contents)",
        "UPDATE entries SET body = CAST(replace(body, '\"contents\":3', '\"contents\":2') AS BLOB) WHERE kind = 'erasure'",
        "UPDATE entries SET kind = 'gc' WHERE kind = 'erasure'",
        "DELETE FROM entries WHERE kind = 'erasure'",
        "INSERT INTO contents SELECT e.seq, c.nonce, c.ciphertext FROM entries e, contents c WHERE e.seq = 0 LIMIT 1",
    ],
    ids=["more goes", "count", "kind", "record", "others' contents"],
)  # fmt: skip
def test_an_erasure_hides_nothing_that_was_not_erased(folder: Path, changed: str) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 3, subject="ada")
        fill(writer, "tuesday", 3, subject="bob")
        (first,) = log.query(reviewer_credential=rita, kinds=["timestep"], limit=1)
        assert log.erase(reviewer_credential=rita, subject="ada").contents == 3
        assert log.verify().ok
    with apsw.Connection(str(folder / "audit.db")) as con:
        con.execute(changed.replace("e.seq = 0", f"e.seq = {first.seq}"))
        assert con.changes()

    with AuditLog(folder) as log:
        assert not log.verify().ok


# On the command line ----------------------------------------------------------------------------------------


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command beside a ledger of its own with three records of ada and two of nobody."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        fill(writer, "monday", 3, subject="ada")
        fill(writer, "monday", 2)
        monkeypatch.setenv("HEXAD_REVIEWER_CREDENTIAL", log.reviewers.add("rita"))
        monkeypatch.setenv("LIMITED", log.reviewers.add("sam", sessions=["monday"]))

    def call(*args: str) -> tuple[int, str, str]:
        code = main(["audit", "erase", *args])
        return code, *capsys.readouterr()

    return call


def test_a_shell_asks_first_says_what_would_go_and_erases(run: Run, folder: Path) -> None:
    given = ("--subject", "ada", "--ledger", str(folder))

    code, _, err = run(*given)
    assert (2, True) == (code, "--yes" in err and "--dry-run" in err)
    code, out, _ = run(*given, "--dry-run")
    assert (0, True) == (code, out.startswith("Would destroy the contents of 3 records; audit-"))
    code, out, err = run(*given, "--yes")
    assert (0, True, "") == (code, out.startswith("Destroyed the contents of 3 records; audit-"), err)
    code, out, _ = run("--session", "monday", "--ledger", str(folder), "--yes", "--json")
    assert (0, 2, True, False) == (
        code,
        *(json.loads(out)[name] for name in ("contents", "cleared", "dry_run")),
    )
    with AuditLog(folder) as log:
        assert log.verify().ok


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 2),
        (("--subject", "ada", "--session", "monday"), 2),
        (("--subject", "ada", "--ticks", "0-1"), 2),
        (("--subject", "system"), 2),
        (("--subject", "ada", "--credential", "rita:guess"), 1),
    ],
)
def test_a_shell_that_names_nothing_or_nobody_erases_nothing(
    run: Run, folder: Path, given: tuple[str, ...], code: int
) -> None:
    assert code == run(*given, "--yes", "--ledger", str(folder))[0]
    with apsw.Connection(str(folder / "audit.db")) as con:
        assert 5 == len(con.execute("SELECT 1 FROM contents WHERE seq < 5").fetchall())


def test_a_store_s_ledger_is_erased_and_told_of_what_erases_more(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / ".hexad"
    hexad.open(tmp_path, background=False, embedder=None).close()
    with AuditLogWriter(store, "be") as writer, AuditLog(store) as log:
        rita = log.reviewers.add("rita")
        fill(writer, "monday", 3, subject="ada")
    monkeypatch.setenv("HEXAD_REVIEWER_CREDENTIAL", rita)

    code, out, err = run("--subject", "ada", "--yes")

    assert (0, True) == (code, out.startswith("Destroyed the contents of 3 records"))
    assert "hexad forget --purge" in err
    with AuditLog(store) as log:
        assert [] == said(log, rita)
        assert log.verify().ok


# Where a ledger is ------------------------------------------------------------------------------------------


@KEYS
def test_a_project_s_folder_means_the_ledger_of_its_store(tmp_path: Path, key: bytes | None) -> None:
    hexad.init(tmp_path, encrypt=key is not None, key=key)
    before = sorted(path.name for path in tmp_path.iterdir())
    if key is not None:
        with pytest.raises(AccessDenied):
            AuditLogWriter(tmp_path, "be", key=bytes(32))

    with AuditLogWriter(tmp_path, "be", key=key) as writer:
        fill(writer, "monday", 1)

    assert before == sorted(path.name for path in tmp_path.iterdir())
    with AuditLog(tmp_path / ".hexad", key=key) as log, AuditLog(tmp_path, key=key) as same:
        assert tmp_path / ".hexad" == log.store == same.store
        assert 1 == log.size
    # The store's owner reaches it then.
    with hexad.open(tmp_path, background=False, embedder=None, key=key) as hx:
        assert 1 == hx.forget(session="monday", purge=True, confirm=True).count("contents of the ledger")


def test_a_ledger_that_was_begun_in_a_folder_goes_on_when_a_store_comes_there(
    tmp_path: Path, clock: FrozenClock
) -> None:
    with AuditLogWriter(tmp_path, "be", clock=clock) as writer:
        fill(writer, "monday", 2)
    hexad.init(tmp_path)
    with AuditLogWriter(tmp_path, "be", clock=clock) as writer:
        fill(writer, "tuesday", 1)

    with AuditLog(tmp_path) as log:
        assert (3, None) == (log.size, log.store)
    assert not (tmp_path / ".hexad" / "audit").exists()


def test_what_is_wrong_is_refused_before_anybody_is_asked(folder: Path) -> None:
    with AuditLogWriter(folder, "be") as writer, AuditLog(folder) as log:
        fill(writer, "monday", 1)
        for given in (
            {},
            {"subject": ""},
            {"session_id": ""},
            {"session_id": "monday", "tick_range": (3, 1)},
        ):
            with pytest.raises(InvalidInput):
                log.erase(reviewer_credential="rita:guess", **given)
        assert 1 == log.size
