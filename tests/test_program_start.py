"""The beginning of the program: what the caller closed, and who ends it before there is a command."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEEDS_STDIN = [
    (["mcp"], 0, ""),
    (["context", "-"], 0, ""),
    (["remember", "-"], 2, "The text is empty"),
    (["ingest", "-"], 2, "The text is empty"),
    (["session", "note", "-"], 2, "TEXT '' says nothing"),
    (["memory", "browse"], 2, "The browser needs a terminal"),
]


def run(folder, command, closed):
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m hexad "$@" {closed}', sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def project(tmp_path):
    assert 0 == run(tmp_path, ["init", "--no-detect"], "").returncode
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code", "reason"), NEEDS_STDIN, ids=[" ".join(row[0]) for row in NEEDS_STDIN]
)
def test_a_closed_stdin_is_an_empty_one(project, command, code, reason):
    if command == ["mcp"]:
        pytest.importorskip("mcp")

    done = run(project, command, "<&-")

    assert (code, True) == (done.returncode, reason in done.stderr)
    assert "AttributeError" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_what_is_stored_is_stored_whoever_reads_of_it(project, closed):
    """The store's files must not become stdout."""
    assert 0 == run(project, ["remember", "Deploys are on Tuesday."], closed).returncode

    assert "Deploys are on Tuesday." in run(project, ["recall", "deploys", "--lexical"], "").stdout
    assert 0 == run(project, ["check"], "").returncode


def test_an_interruption_while_the_program_loads_is_no_traceback(tmp_path):
    program = """
import sys
import hexad.__main__ as program

def interrupted(name):
    raise KeyboardInterrupt

program.import_module = interrupted
sys.exit(program.main(["recall", "deploys"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (130, "", "Error: Interrupted; nothing was done.\n") == (done.returncode, done.stdout, done.stderr)
