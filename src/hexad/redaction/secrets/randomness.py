"""How likely a run of letters and digits was drawn by a machine: a small model, not a list of words.

Pairs of neighbouring characters of names and words come in very unequal shares, those of drawn ones in equal shares.
The model is a table of how much more often than by chance each pair stands in ordinary names, and a logistic regression
over the mean of that, how often characters change their class, and the shares of digits and of different characters.
`benchmarks/fit_randomness.py` makes the data from files of others and strings that it draws.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_DATA: Final = Path(__file__).parent / "data" / "randomness.txt"
SYMBOLS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
JUDGED_CHARS: Final = 40
"""How much of a run is looked at."""
STEP: Final = 0.25
"""What one step of the table is worth, in bits; `FIRST` is a table's character for zero steps."""
FIRST: Final = "P"
_CLASS_OF: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ" + SYMBOLS, "U" * 26 + "l" * 26 + "d" * 10)


class Model(NamedTuple):
    """The steps of every pair of symbols, and the weights of the features with the constant last."""

    steps: dict[str, int]
    weights: tuple[float, ...]


@cache
def _model() -> Model:
    weights, table = _DATA.read_text(encoding="ascii").split("\n")[-3:-1]
    pairs = (first + second for first in SYMBOLS for second in SYMBOLS)
    steps = {pair: ord(char) - ord(FIRST) for pair, char in zip(pairs, table, strict=True)}
    return Model(steps, tuple(map(float, weights.split())))


def features(run: str, steps: dict[str, int]) -> tuple[float, ...]:
    """Return the features of a run of ASCII letters and digits, of which `JUDGED_CHARS` are looked at."""
    run = run[:JUDGED_CHARS]
    lowered, classes, size = run.lower(), run.translate(_CLASS_OF), len(run)
    common = STEP * sum(steps[lowered[at : at + 2]] for at in range(size - 1)) / (size - 1)
    # A capital that begins a word is no change.
    changes = sum(classes[at] != classes[at - 1] for at in range(1, size)) - classes.count("lUl")
    return (common, changes / size, classes.count("d") / size, len(set(run)) / min(size, 36))


def random_score(run: str) -> float:
    """Return by how many units of log-odds a run of letters and digits is rather drawn than a name; above 0, drawn."""
    model = _model()
    values = features(run, model.steps)
    return math.fsum(weight * value for weight, value in zip(model.weights, (*values, 1.0), strict=True))
