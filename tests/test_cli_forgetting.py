"""`hexad forget` and `hexad memory wipe`: what is not there, what is told, and who may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hexad
from ran import Run


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Run a command in a folder whose store has a tagged memory of a source, and a session."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "gate.md").write_text("# Gate\n\nThe gate squeaks.\n")
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        hx.remember("The harbour freezes.", id="m1", tags=["red"], space="port")
        hx.ingest(tmp_path / "notes", space="port")
        hx.xdb.start_session("monday")
        hx.xdb.record("output", "Certainly.")

    return run


@pytest.mark.parametrize("selector", [("--tag", "nope"), ("--path", "no/where"), ("--before", "2001-01-01")])
def test_to_archive_nothing_says_so_and_leaves_no_record(run, selector):
    ran = run("forget", *selector)
    assert (0, "") == (ran.code, ran.out)
    assert "Nothing that was asked for is there." in ran.err
    assert "restore" not in ran.err
    assert [] == json.loads(run("forget", "--list", "--json").out)


def test_a_source_that_is_not_there_is_not_found_and_one_that_was_archived_is(run, tmp_path):
    for more in ((), ("--purge", "--yes"), ("--dry-run",)):
        ran = run("forget", "--source", "nope", *more)
        assert (3, "") == (ran.code, ran.out)
        assert "'nope'" in ran.err
    assert [] == json.loads(run("forget", "--list", "--json").out)
    notes = str(tmp_path / "notes")
    assert "memories: 2" in run("forget", "--source", notes).out
    assert 0 == run("forget", "--source", notes).code
    assert 0 == run("forget", "--source", notes, "--purge", "--yes").code
    assert 3 == run("forget", "--source", notes).code


def test_what_was_archived_by_selection_is_found_by_the_command_that_is_named(run):
    ran = run("forget", "--tag", "red")
    assert "hexad memory list --status archived" in ran.err
    assert "m1" in run("memory", "list", "--status", "archived").out


def test_a_purge_of_nothing_is_asked_for_in_plain_words(run):
    ran = run("forget", "--tag", "nothing", "--purge")
    assert 2 == ran.code
    assert "Nothing is selected." in ran.err


def test_a_person_of_whom_nothing_is_there_is_refused_with_the_nearest_names(run):
    run("remember", "Ada asked for a refund.", "--data-subject", "ada@example.org")
    for options in ([], ["--purge", "--yes"], ["--dry-run"]):
        ran = run("forget", "--subject", "ada@example.com", *options)
        assert (3, "") == (ran.code, ran.out)
        assert "'ada@example.org'" in ran.err
    assert [] == json.loads(run("forget", "--list", "--json").out)
    assert 0 == run("forget", "--subject", "ada@example.org", "--purge", "--yes").code
