"""The types of awaited calls are those of the open store's: the stub is written from them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]


def test_the_stub_is_what_the_calls_give():
    done = subprocess.run(
        [sys.executable, REPOSITORY / "docs" / "awaited_stub.py", "--check"],
        capture_output=True, text=True, cwd=REPOSITORY, check=False,
    )  # fmt: skip

    assert (0, "") == (done.returncode, done.stderr)
