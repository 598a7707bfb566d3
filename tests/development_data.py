"""Where the data for development are: not part of the repository, and not needed to pass the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[2] / "shared" / "data"


def development_data(name: str) -> Path:
    """Return a file of the development data; skips the test where it is not there."""
    path = Path(os.environ.get("DEVELOPMENT_DATA") or _BESIDE) / name
    if not path.exists():
        pytest.skip(f"the development data have no {name} here; set DEVELOPMENT_DATA to their folder")
    return path
