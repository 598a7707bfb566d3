"""The command `python tests/simulation`: lives through many seeds, or through one again with its story."""

from __future__ import annotations

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:] = [
    str(TESTS),
    *(path for path in sys.path if Path(path or ".").resolve() != TESTS / "simulation"),
]

from simulation import scheduler  # noqa: E402

if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets is a part of what happens
        os.execve(
            sys.executable,
            [sys.executable, str(TESTS / "simulation"), *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    if "--worker" in sys.argv or "--seed" in sys.argv:
        scheduler.install()  # before anything is imported that makes locks
    from simulation.run import main

    sys.exit(main(sys.argv[1:]))
