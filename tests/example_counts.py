"""How Hypothesis tries examples: few in an ordinary run, many in `make stress`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck

_TIMES = int(os.environ.get("TEST_EXAMPLES_TIMES", "1"))

# A test that passes these says that its examples share what its fixtures made, and may.
SHARED_FIXTURES = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


def examples(ordinary: int) -> int:
    """Return the number of examples of a test that takes long: `ordinary`, or a multiple that the environment names."""
    return ordinary * _TIMES
