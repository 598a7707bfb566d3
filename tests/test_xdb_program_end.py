"""A program that ends without closing its store, in real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hexad

_PROGRAM = """
import sys, time
import hexad

hx = hexad.open(sys.argv[1], embedder=None)
hx.xdb.start_session("s", max_context_tokens=500)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    hx.xdb.record("output", " word", event_id=f"e{time.monotonic():.1f}")
    time.sleep(0.0005)
"""

_ASKING = """
import threading, time
from pathlib import Path
from hexad.errors import StorageFailure
from hexad.experience.stream.duckdb_engine import DuckDbEngine

engine = DuckDbEngine()
asked = threading.Event()

def ask():
    while True:
        try:
            with engine.cursor(Path("stream")) as cursor:
                cursor.execute("SELECT sum(range) FROM range(300000)").fetchone()
        except StorageFailure:
            return
        asked.set()

threading.Thread(target=ask, daemon=True).start()
asked.wait()
time.sleep(0.01)
"""


def run(program: str, folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", program, str(folder), str(seconds)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_program_that_ends_while_the_background_compacts_ends_well(tmp_path: Path) -> None:
    for turn in range(3):
        ended = run(_PROGRAM, tmp_path / str(turn % 2), 0.7 + 0.25 * turn)
        assert (ended.returncode, ended.stderr) == (0, ""), turn


def test_nothing_recorded_is_lost_when_a_program_ends_without_closing(tmp_path: Path) -> None:
    ended = run(
        "import sys, hexad\nx = hexad.open(sys.argv[1], embedder=None).xdb\nx.start_session('s')\n"
        "for i in range(50): x.record('output', f' w{i}')\n",
        tmp_path / "a",
        0,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    with hexad.open(tmp_path / "a", embedder=None) as hx:
        assert 50 == len(hx.xdb.recall(limit=100))


def test_a_program_that_ends_while_a_thread_asks_duckdb_ends_well(tmp_path: Path) -> None:
    for turn in range(6):
        ended = run(_ASKING, tmp_path, 0)
        assert (ended.returncode, ended.stderr) == (0, ""), turn
