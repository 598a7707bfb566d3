"""Measurements: each figure beside an independent baseline in the same run. See `benchmarks/README.md`."""

import sys
from pathlib import Path

# The year of an agent's life that `benchmarks.year` measures is played by the tests' own player.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
