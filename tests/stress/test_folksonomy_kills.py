"""A program that tags and updates documents is killed: what it was told is there, and copies can be mended."""

from __future__ import annotations

import signal

import pytest

import hexad
from hexad import CopyState, FrozenClock
from programs import Program

_WORK = """
import sys, hexad
with hexad.open(sys.argv[1], embedder=None, background=False) as hx:
    hx.xdb.start_session("s")
    step = hx.xdb.record("output", "x")
    hx.xdb.flush()
    document = hx.xdb.documents.add_document("x.md", "text 0", "reference")
    print("ready", document.id, step, flush=True)
    for number in range(1, 100_000):
        hx.xdb.documents.update_document(document.id, f"text {number}")
        hx.xdb.tag(f"tag {number}", timestep_id=step)
        print(number, flush=True)
"""


@pytest.mark.parametrize("kill_after", [1, 7, 20])
def test_what_was_acknowledged_before_a_kill_is_there(tmp_path, kill_after):
    running = Program(_WORK, tmp_path)
    assert running.stdout is not None
    _, document_id, step = running.stdout.readline().split()
    for _ in range(kill_after):
        running.stdout.readline()
    running.send_signal(signal.SIGKILL)
    rest, _ = running.communicate(timeout=30)
    acknowledged = kill_after + len([line for line in rest.splitlines() if line.isdigit()])

    with hexad.open(tmp_path, embedder=None, background=False, clock=FrozenClock()) as hx:
        said = [version.content for version in hx.xdb.documents.versions(document_id)]
        assert [f"text {number}" for number in range(len(said))] == said
        assert len(said) - 1 >= acknowledged
        names = {tag.name for tag in hx.xdb.get_tags_for_timestep(step)}
        assert {f"tag {number}" for number in range(1, acknowledged + 1)} <= names
        [copy] = hx.xdb.documents.copies()
        assert copy.state in (CopyState.SAME, CopyState.OUTDATED)
        hx.xdb.documents.write_copies()
        assert [] == hx.check()
