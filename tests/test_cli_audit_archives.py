"""`hexad audit archive`, `retain`, `incident`, `inspect` as a shell uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexad.audit import AuditLog, AuditLogWriter
from ran import Run


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a store whose ledger has 40 old records and 10 of this moment, with a credential."""
    assert 0 == run("init").code
    with AuditLogWriter(tmp_path / ".hexad", "be") as writer:
        for count, timestamp in ((40, "2026-01-05T12:00:00Z"), (10, None)):
            writer.record_many(
                {
                    "session_id": "monday" if timestamp else "today",
                    "tick": at,
                    "event_type": "output",
                    "raw_content": f"word {at}",
                    "lens_activations": {"p::Hidden": 0.9},
                    "timestamp": timestamp,
                }
                for at in range(count)
            )
    made = run("audit", "reviewer", "add", "rita")
    monkeypatch.setenv("HEXAD_REVIEWER_CREDENTIAL", made.out.strip())
    return run


ARCHIVE = ("audit", "archive", "--before", "2026-02-01", "--out", "old.hxa")


@pytest.mark.row("H156", "H093")
def test_old_records_move_to_a_file_that_is_asked_and_checked(run: Run) -> None:
    run("audit", "checkpoint", "--out", "kept.txt")
    key = run("audit", "key").out.strip()

    moved = run(*ARCHIVE)

    assert (0, "Moved 40 records to old.hxa; audit-51 says so\n") == (moved.code, moved.out)
    asked = run("audit", "query", "--archive", "old.hxa", "--ticks", "3-4", "--json").data
    assert ["word 3", "word 4"] == [entry["raw_content"] for entry in asked]
    assert 10 == len(run("audit", "query", "--kind", "timestep", "--json").data)
    checked = run("audit", "inspect", "old.hxa", "--key", key)
    assert (0, "40 records from audit-0 to audit-39, unchanged and in recording order\n") == (
        checked.code,
        checked.out,
    )
    verified = run("audit", "verify", "--checkpoint", "kept.txt", "--archive", "old.hxa")
    assert 0 == verified.code
    assert "40 records in archives, of which 40 were read" in verified.out
    unread = run("audit", "verify", "--checkpoint", "kept.txt")
    assert "Not seen of 40 archived records" in unread.err


def test_a_changed_archive_ends_with_exit_code_5(run: Run, tmp_path: Path) -> None:
    run(*ARCHIVE)
    data = bytearray((tmp_path / "old.hxa").read_bytes())
    data[300] ^= 1
    (tmp_path / "old.hxa").write_bytes(data)

    for args in (
        ("inspect", "old.hxa"),
        ("verify", "--archive", "old.hxa"),
        ("query", "--archive", "old.hxa"),
    ):
        found = run("audit", *args)
        assert 5 == found.code, args
        assert "old.hxa" in found.err


def test_without_a_credential_nothing_is_archived_marked_or_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HEXAD_REVIEWER_CREDENTIAL")
    for args in (
        ARCHIVE,
        ("audit", "retain", "--keep", "3"),
        ("audit", "retain", "--keep-all"),
        ("audit", "incident", "list"),
        ("audit", "incident", "show", "x"),
        ("audit", "incident", "mark", "x", "--reason", "y", "--session", "monday"),
        ("audit", "incident", "export", "x", "--out", "x.jsonl"),
    ):
        assert 2 == run(*args).code, args
        assert 1 == run(*args, "--credential", "rita:guess").code, args
    assert not (tmp_path / "old.hxa").exists()
    with AuditLog(tmp_path / ".hexad") as log:
        assert log.retention.policy is None
        assert 0 == log.verify().archived


def test_nothing_old_is_said_and_what_cannot_be_is_refused(run: Run, tmp_path: Path) -> None:
    none = run("audit", "archive", "--before", "2026-01-01", "--out", "old.hxa")
    assert (0, "Nothing in the ledger is older than 2026-01-01 and may leave it.\n") == (none.code, none.out)
    assert not (tmp_path / "old.hxa").exists()
    for args in (("--keep", "3", "--keep-all"), ("--into", "x"), ("--keep", "0")):
        assert 2 == run("audit", "retain", *args).code


@pytest.mark.row("H156")
def test_a_policy_is_set_applied_and_taken_back(run: Run, tmp_path: Path) -> None:
    assert "All timesteps stay" in run("audit", "retain").out
    first = run("audit", "retain", "--keep", "7", "--into", "away", "--json").data
    again = run("audit", "retain", "--json").data

    assert (7, str(tmp_path / "away")) == (first["policy"]["days"], first["policy"]["folder"])
    assert ([40], []) == ([archive["records"] for archive in first["archives"]], again["archives"])
    assert 1 == len(list((tmp_path / "away").iterdir()))
    assert "All timesteps stay" in run("audit", "retain", "--keep-all").out


@pytest.mark.row("H092", "H093")
def test_an_incident_is_marked_listed_shown_exported_and_checked(run: Run, tmp_path: Path) -> None:
    mark = ("audit", "incident", "mark", "crash", "--reason", "It fell over.", "--session", "monday")
    marked = run(*mark, "--ticks", "5-9")
    listed, shown = run("audit", "incident", "list"), run("audit", "incident", "show", "crash")
    written = run("audit", "incident", "export", "crash", "--out", "crash.jsonl")
    key = run("audit", "key").out.strip()
    checked = run("audit", "inspect", "crash.jsonl", "--key", key)

    assert "Marked crash: session monday, ticks 5-9; audit-51 says so\n" == marked.out
    assert "crash" in listed.out
    assert "It fell over." in listed.out
    assert "crash: 5 records in the ledger" in shown.out
    assert "Wrote 5 records to crash.jsonl\n" == written.out
    assert (0, "5 records of the incident crash, unchanged and in recording order\n") == (
        checked.code,
        checked.out,
    )
    assert "Give --key" in run("audit", "inspect", "crash.jsonl").err
    assert 35 == run(*ARCHIVE, "--json").data["records"]
    assert 5 == run("audit", "incident", "list", "--json").data[0]["records"]


def test_in_a_role_none_of_it_is_there(run: Run) -> None:
    for args in (ARCHIVE, ("audit", "retain"), ("audit", "incident", "list")):
        found = run("--role", "agent", *args)
        assert 1 == found.code, args
        assert "The ledger is not for the role" in found.err
