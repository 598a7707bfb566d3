"""Context windows that a program left over four fifths full, because it ended before they were compacted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hexad

_WRITER = """
import os, sys
import hexad

hx = hexad.open(sys.argv[1], embedder=None)
x = hx.xdb
x.start_session("kept", max_context_tokens=500, compaction=False)
x.start_session("s", max_context_tokens=500)
hx._services._worker.stop()  # as if it had never come to it
for session in ("s", "kept"):
    x.record_many([{"event_type": "output", "content": f" w{i}", "event_id": f"e{i // 20}"} for i in range(600)],
                  session_id=session)
x.flush()
os._exit(0)
"""


@pytest.fixture
def left(tmp_path: Path) -> Path:
    subprocess.run(
        [sys.executable, "-c", _WRITER, str(tmp_path)], check=True, env=dict(os.environ), timeout=60
    )
    return tmp_path


def test_maintain_compacts_a_window_that_was_left_full(left: Path) -> None:
    with hexad.open(left, embedder=None, background=False) as hx:
        assert hx.xdb.get_context_state("s")["current_tokens"] == 600

        report = hx.maintain()

        assert report.compacted >= 1
        assert hx.xdb.get_context_state("s")["utilization"] < 0.8  # type: ignore[operator]
        assert hx.xdb.get_context_state("kept")["current_tokens"] == 600
        assert {"context_full"} == {compaction.trigger.value for compaction in hx.xdb.compactions()}
        assert hx.maintain().compacted == 0


def test_the_background_compacts_a_window_that_was_left_full(left: Path) -> None:
    with hexad.open(left, embedder=None) as hx:
        hx.xdb.sessions()
        assert hx.wait_for_background(60)

        assert hx.xdb.get_context_state("s")["utilization"] < 0.8  # type: ignore[operator]
        assert hx.xdb.get_context_state("kept")["current_tokens"] == 600
