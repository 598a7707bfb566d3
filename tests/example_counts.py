"""How many examples Hypothesis tries: few in an ordinary run, many in `make stress`."""

from __future__ import annotations

import os

_TIMES = int(os.environ.get("TEST_EXAMPLES_TIMES", "1"))


def examples(ordinary: int) -> int:
    """Return the number of examples of a test that takes long: `ordinary`, or a multiple that the environment names."""
    return ordinary * _TIMES
