"""Sessions of several real processes: killed, ended without a close, side by side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hexad

_WORK = """
import sys, time
import hexad

hx = hexad.open(sys.argv[1], embedder=None)
hx.session.start("login feature", steps=["tokens", "tests"], session_id=sys.argv[2])
for count in range(1, 1_000_000):
    hx.session.note(f"note {count} of {sys.argv[2]}")
    hx.session.open_file("src/a.py", line=count)
    if count % 7 == 0:
        hx.session.snapshot()
        print(count, flush=True)
"""

_ENDS = """
import sys
import hexad

hx = hexad.open(sys.argv[1], embedder=None)
hx.session.start("login feature")
hx.session.note("said just before the end")
"""

_LISTS = """
import sys
import hexad

with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    offer = hx.session.resumable()
    print(None if offer is None else offer.question)
    print(hx.session.start("beside it").id if offer is None else hx.session.resume().id)
"""


def begun(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged(process: subprocess.Popen[str], *, lines: int) -> int:
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    if not said[-1]:
        pytest.fail(process.communicate()[1])
    return int(said[-1])


@pytest.mark.row("A085", "A091")
@pytest.mark.parametrize("lines", [1, 5, 23])
def test_after_a_kill_the_last_acknowledged_state_is_there(tmp_path: Path, lines: int) -> None:
    process = begun(_WORK, str(tmp_path), "one")
    count = acknowledged(process, lines=lines)
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    count = max([count, *map(int, rest.split())])

    with hexad.open(tmp_path, embedder=None) as hx:
        offer = hx.session.resumable()
        assert offer is not None  # though nobody closed it: its process is gone
        found = hx.session.resume()
        assert [] == hx.check()

    assert offer.question.startswith("You were working on login feature (0 of 2 steps done;")
    assert found.id == "one"
    (file,) = found.open_files
    assert file.line is not None
    assert file.line >= count
    assert sum(note.notes for note in found.scratchpad) in (file.line, file.line + 1)
    assert f"note {count}" in " ".join(note.text for note in found.scratchpad[-40:])


@pytest.mark.row("A086", "A091")
def test_a_program_that_ends_without_closing_leaves_all_that_it_said(tmp_path: Path) -> None:
    process = begun(_ENDS, str(tmp_path))
    _, err = process.communicate(timeout=60)

    assert (0, "") == (process.returncode, err)
    with hexad.open(tmp_path, embedder=None) as hx:
        found = hx.session.resume()
        assert ["said just before the end"] == [note.text for note in found.scratchpad]


def test_what_a_living_process_works_on_is_offered_to_nobody_else(tmp_path: Path) -> None:
    process = begun(_WORK, str(tmp_path), "one")
    acknowledged(process, lines=1)
    beside = begun(_LISTS, str(tmp_path))
    out, err = beside.communicate(timeout=60)
    process.kill()
    process.communicate(timeout=60)

    assert "" == err
    question, other = out.splitlines()
    assert ("None", True) == (question, other != "one")
    with hexad.open(tmp_path, embedder=None) as hx:
        assert {"one", other} == {working_set.id for working_set in hx.session.list()}
        assert not hx.session.get("one").active


@pytest.mark.row("A091")
def test_processes_that_share_a_session_lose_no_note_of_each_other(tmp_path: Path) -> None:
    program = """
import sys
import hexad

with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.session.resume("shared")
    for count in range(1, 13):
        hx.session.record_edit(f"{sys.argv[2]}.py", line=count)
        hx.session.snapshot()
"""
    with hexad.open(tmp_path, embedder=None) as hx:
        hx.session.start("shared work", session_id="shared")
    processes = [begun(program, str(tmp_path), name) for name in "abcd"]
    for process in processes:
        assert "" == process.communicate(timeout=120)[1]

    with hexad.open(tmp_path, embedder=None) as hx:
        edits = hx.session.get("shared").edits

    assert {name: list(range(1, 13)) for name in "abcd"} == {
        name: [edit.line for edit in edits if edit.path == f"{name}.py"] for name in "abcd"
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_changes_nothing_of_its_parent_s_session(tmp_path: Path) -> None:
    program = """
import os, sys
import hexad

hx = hexad.open(sys.argv[1], embedder=None, background=False)
hx.session.start("login feature", session_id="one")
hx.session.note("of the parent")
child = os.fork()
if child == 0:
    try:
        hx.session.note("of the child")
    except hexad.InvalidInput as error:
        print("refused", "before a fork" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
hx.close()
"""
    out, err = begun(program, str(tmp_path)).communicate(timeout=60)

    assert ("refused True\n", "") == (out, err)
    with hexad.open(tmp_path, embedder=None) as hx:
        assert ["of the parent"] == [note.text for note in hx.session.resume().scratchpad]
