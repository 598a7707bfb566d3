"""What commands say of what is not there, of what went and of where a key lies."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hexad
from hexad.audit import AuditLog, AuditLogWriter
from hexad.interfaces.cli.app.main import main
from ran import Ran

KEY = bytes(range(32))


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    return folder


@pytest.fixture
def run(project, capsys):
    def call(*args: str) -> Ran:
        code = main(list(args))
        out, err = capsys.readouterr()
        return Ran(code=code, out=out, err=" ".join(err.split()))

    return call


# Keys -----------------------------------------------------------------------------------------------------------


def test_a_key_file_in_the_project_is_warned_of_and_one_elsewhere_is_not(run, project, tmp_path):
    run("init")

    inside = run("encrypt", "--key-file", "good.key")
    again = run("rekey", "--wrap-only", "--key-file", str(project / "deep.key"))
    outside = run("rekey", "--wrap-only", "--key-file", str(tmp_path / "else.key"))

    assert [0, 0, 0] == [run.code for run in (inside, again, outside)]
    assert [True, True, False] == ["in the project" in run.err for run in (inside, again, outside)]


def test_a_new_store_whose_key_lies_in_the_project_is_warned_of(run):
    assert "in the project" in run("init", "--key-file", "good.key").err


def test_doctor_says_that_a_key_file_is_not_where_the_record_names_it(run, tmp_path, monkeypatch):
    run("init", "--key-file", str(tmp_path / "a.key"))
    assert "not there" not in run("doctor", "--quick").out
    (tmp_path / "a.key").rename(tmp_path / "b.key")
    monkeypatch.setenv("HEXAD_KEY_FILE", str(tmp_path / "b.key"))

    assert "(which is not there)" in " ".join(run("doctor", "--quick").out.split())


# What is not there, or no folder ----------------------------------------------------------------------------------


def test_init_says_that_a_file_is_no_folder_and_takes_no_empty_name(run, project):
    (project / "notes.txt").write_text("Notes.")

    told = run("init", "notes.txt")
    empty = run("init", "")

    assert (2, 2) == (told.code, empty.code)
    assert "is a file" in told.err and "names no folder" in empty.err
    assert not (project / ".hexad").exists()


def test_an_unknown_session_is_told_with_what_lists_them(run):
    run("init")

    told = run("xdb", "end", "s")

    assert 3 == told.code and "`hexad xdb sessions` lists" in told.err


def test_a_package_is_asked_for_as_a_folder(run, project):
    run("init")
    (project / "manifest.json").write_text("{}")

    told = run("xdb", "verify", str(project / "manifest.json"))

    assert 3 == told.code and "a package is the folder" in told.err


def test_past_the_end_of_a_scope_nobody_is_told_that_it_is_empty(run):
    run("remember", "Deploys happen on Tuesday.")

    assert "after the first 5" in run("memory", "list", "--scope", "project", "--offset", "5").err
    assert "No memory" not in run("memory", "list", "--scope", "project").err


def test_a_sealed_archive_away_from_its_store_is_called_sealed(run, project, tmp_path, monkeypatch):
    with hexad.open(project, embedder=None, key=KEY) as hx:
        hx.remember("Deploys happen on Tuesday.")
    sealed = tmp_path / "old.hxa"
    with AuditLogWriter(project / ".hexad" / "audit", "be", key=KEY) as writer:
        writer.record("monday", 0, "input", "Asked.", {}, [])
    with AuditLog(project / ".hexad" / "audit", key=KEY) as log:
        rita = log.reviewers.add("rita")
        log.retention.archive(sealed, before=datetime.now(UTC), reviewer_credential=rita)
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")

    told = run("audit", "inspect", str(sealed))

    assert 3 == told.code and "sealed" in told.err and "-C" in told.err


# What went --------------------------------------------------------------------------------------------------------


def test_a_wiped_space_says_how_much_went(run):
    for at in range(2):
        run("remember", f"Deploys happen on day {at}.", "--space", "docs")

    said = run("memory", "wipe", "docs", "--yes")
    run("remember", "Deploys happen.", "--space", "docs")
    read = json.loads(run("memory", "wipe", "docs", "--yes", "--json").out)

    assert "2 memories" in said.out
    assert ({"memories": 1}, 0, "docs") == (read["removed"], read["memories"], read["name"])


@pytest.mark.parametrize("width", [60, 80, 140])
def test_each_erasure_can_be_told_from_the_others_at_any_width(run, monkeypatch, width):
    for at in range(2):
        run("remember", f"Deploys happen on day {at}.", "--tag", f"t{at}")
        run("forget", "--tag", f"t{at}", "--purge", "--yes")
    with hexad.open(embedder=None) as hx:
        known = hx.erasures()
    monkeypatch.setattr("hexad.interfaces.cli.memory.forget.table_room", lambda: width)

    said = run("forget", "--list").out

    assert 2 == len(known)
    assert all(receipt.id in said and f"{receipt.at:%Y-%m-%d %H:%M:%S}" in said for receipt in known)
    assert max(map(len, said.splitlines())) <= width
