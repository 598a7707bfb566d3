"""A store in memory that nobody closes goes with its program, and says nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hexad
hx = hexad.open(":memory:", embedder="hashing")
for number in range(20):
    hx.remember(f"The gateway is asked {number} times.")
REST
"""


@pytest.mark.parametrize("rest", ["", "raise SystemExit(0)", "hx.close()", "spaces = hx.spaces; del hx"])
def test_a_program_that_ends_without_closing_leaves_no_folder_and_no_words(tmp_path: Path, rest: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("REST", rest)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert "" == done.stdout + done.stderr
    assert [] == list(tmp_path.iterdir())
