"""Fit the model that tells drawn strings from names: `src/hexad/redaction/secrets/data/randomness.txt`.

    python -m benchmarks.fit_randomness --files DIR [--files DIR …] [--most 60000]

Names are the runs of 12 to 64 letters and digits in ordinary files of others, hexadecimal left out, each once and those
of four files of five; for each a string of the same length is drawn in one of the alphabets of tokens. What is told at the end is about
names of the fifth file and strings drawn for them, which took no part.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import string
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.published_secrets import ordinary_files
from hexad.redaction.secrets.randomness import FIRST, STEP, SYMBOLS, features

SEED = 7
ROUNDS = 3
OUT = Path(__file__).parents[1] / "src/hexad/redaction/secrets/data/randomness.txt"
ALPHABETS = (
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits,
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    string.ascii_letters,
)
_RUN = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9]{12,64}(?![A-Za-z0-9+/=])")
_HEX = re.compile(r"[0-9a-fA-F]+")


def names_in(folders: list[Path], most: int) -> tuple[list[str], list[str]]:
    """Return the names for fitting and those for judging."""
    found: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for number, text in enumerate(ordinary_files(folders, count=most)):
        for run in _RUN.findall(text.text):
            if not _HEX.fullmatch(run):
                found[number % 5 == 0].setdefault(run)
    fitted, judged = list(found[0]), [name for name in found[1] if name not in found[0]]
    random.Random(SEED).shuffle(fitted)
    return fitted[:most], judged[:most]


def drawn(names: list[str], seed: int) -> list[str]:
    """Return a string of the length of each name, drawn in one of the alphabets."""
    random_ = random.Random(seed)
    return [
        "".join(random_.choices(alphabet, k=len(name)))
        for name in names
        for alphabet in [random_.choice(ALPHABETS)]
    ]


def table(names: list[str]) -> str:
    """Return for each pair of symbols how much more often than by chance it is in names, as a character for the steps."""
    pairs = Counter(name[at : at + 2] for name in map(str.lower, names) for at in range(len(name) - 1))
    chars = []
    for first in SYMBOLS:
        total = sum(pairs[first + second] for second in SYMBOLS) + len(SYMBOLS)
        for second in SYMBOLS:
            bits = math.log2((pairs[first + second] + 1) / total * len(SYMBOLS))
            chars.append(chr(ord(FIRST) + round(max(-7.0, min(7.0, bits)) / STEP)))
    return "".join(chars)


def fit(names: list[str]) -> tuple[str, dict[str, int], list[float]]:
    """Return the table, its steps and the weights that tell `names` from strings that are drawn for them."""
    cells = table(names)
    pairs = (first + second for first in SYMBOLS for second in SYMBOLS)
    steps = {pair: ord(char) - ord(FIRST) for pair, char in zip(pairs, cells, strict=True)}
    x = np.array([(*features(name, steps), 1.0) for name in (*names, *drawn(names, 1))])
    y = np.repeat([0.0, 1.0], len(names))
    weights = np.zeros(x.shape[1])
    for _ in range(30):  # Newton's steps
        p = 1 / (1 + np.exp(-(x @ weights)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(weights))
        weights += np.linalg.solve(hessian, x.T @ (y - p) - 1e-3 * weights)
    return cells, steps, weights.tolist()


def score(name: str, steps: dict[str, int], weights: list[float]) -> float:
    """Return the log-odds that a name was drawn."""
    return sum(weight * value for weight, value in zip(weights, (*features(name, steps), 1.0), strict=True))


def main() -> int:
    """Fit, judge and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=Path, action="append", required=True)
    parser.add_argument("--most", type=int, default=60_000, help="files that are read, names that are fitted")
    args = parser.parse_args()
    fitted, judged = names_in(args.files, args.most)
    for _ in range(
        ROUNDS
    ):  # files hold drawn strings too: what a model takes for one is no name in the next round
        cells, steps, weights = fit(fitted)
        fitted = [name for name in fitted if score(name, steps, weights) <= 0]
    OUT.write_text(
        "# Made by benchmarks/fit_randomness.py: weights of the features, steps of the pairs of symbols.\n"
        f"{' '.join(f'{weight:.4f}' for weight in weights)}\n{cells}\n",
        encoding="ascii",
    )
    for least in (12, 20, 32):
        names = [name for name in judged if len(name) >= least]
        wrong = sum(score(name, steps, weights) > 0 for name in names) / len(names)
        missed = sum(score(name, steps, weights) <= 0 for name in drawn(names, 2)) / len(names)
        print(
            f"{least} characters and more: {wrong:.2%} of {len(names)} names taken for drawn, {missed:.2%} of drawn for names"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
