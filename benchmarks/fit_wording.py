"""Fit the model that tells by its wording whether a text instructs a model, without a vector.

    python -m benchmarks.fit_wording --data DIR

A logistic regression over words, pairs of words, how words begin, and pieces of words in other scripts. Instructions
are those of other people in `DIR/injections/fitted/*.jsonl` (a file for each source, a line of JSON for each text:
`text`, `attack`, `language`, `sort`), texts of our own and sentences put together from phrases of ours; ordinary texts
are those of other people in the same folder, in many languages. Instructions are English: with those of other languages
ordinary texts with a word in common were flagged, and of sources that took no part no more were found. What lies in `DIR/injections/*.jsonl` is of other sources and judges alone
(`python -m benchmarks poisoning`). The threshold is chosen on scores that each source got from a model that was fitted
without it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_instruction_model import COMPOSED, TEXTS, composed
from benchmarks.poisoning_samples import TUNED
from hexad.redaction.injection.wording import PLACES, TABLE_FILE, word_places
from hexad.text.chunking import chunk

Rows = NDArray[np.float64]
Whole = NDArray[np.int64]
RIDGE: Final = 0.3
FOLDS: Final = 6
WEIGHT_OF_COMPOSED: Final = 0.5
MOST_OF_A_SOURCE: Final = 500
"""Ordinary texts of one source; attacks are all taken."""
PIECES_READ: Final = 4
HARD: Final = frozenset({"hard", "security documents", "attack", "own"})
"""Sorts of ordinary texts that look like attacks, and are counted apart."""
FALSE_ALARMS: Final = 0.001
"""Of ordinary texts that took no part: so many are flagged."""
HARD_ALARMS: Final = 0.03
"""Of hard ones: so many at most."""
STEPS, REMEMBERED, SHORTER = 80, 8, 25
STEP_MOST: Final = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Texts with the source of each, whether it instructs, and whether it is a hard one."""

    texts: list[str]
    sources: list[str]
    instructing: Rows
    hard: NDArray[np.bool_]

    @property
    def folds(self) -> Whole:
        """The fold of each text, by its source, in turn in the order of their names' hashes; -1 for composed ones."""
        names = sorted(
            {*self.sources} - {"composed"}, key=lambda name: hashlib.sha256(name.encode()).hexdigest()
        )
        fold = {name: at % FOLDS for at, name in enumerate(names)} | {"composed": -1}
        return np.array([fold[source] for source in self.sources])


class Places:
    """The places of the words of many texts, one after the other: what a matrix with few entries is."""

    def __init__(self, places: Sequence[Sequence[int]]) -> None:
        self._at = np.array([place for of in places for place in of])
        self._ends = np.r_[0, np.cumsum([len(of) for of in places])]
        self._share = np.repeat([len(of) ** -0.5 for of in places], np.diff(self._ends))
        self._row = np.repeat(np.arange(len(places)), np.diff(self._ends))
        self._places = places

    def of(self, rows: Whole) -> Places:
        """Return those of some texts."""
        return Places([self._places[row] for row in rows])

    def times(self, weights: Rows) -> Rows:
        """Return each text's sum."""
        sums: Rows = np.add.reduceat(weights[self._at] * self._share, self._ends[:-1])
        return sums

    def back(self, errors: Rows) -> Rows:
        """Return each place's sum of the errors of texts that have it."""
        return np.bincount(self._at, weights=self._share * errors[self._row], minlength=PLACES)


def main() -> int:
    """Fit the model, tell how it does on sources that took no part, and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit_wording", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    texts = collected(given.data / "injections" / "fitted")
    folds, answers = texts.folds, texts.instructing
    weights = np.where(folds < 0, WEIGHT_OF_COMPOSED, 1.0)
    places = Places([sorted(word_places(text)) or [0] for text in texts.texts])
    unseen, fitted = _in_turn(
        folds, lambda rows: _fitted_words(places.of(rows), answers[rows], weights[rows]), places
    )
    told = folds >= 0
    flagged = _mark(unseen[told], texts, told)
    _tell(texts, unseen >= flagged)
    _write(fitted, flagged)
    return 0


def collected(folder: Path) -> Texts:
    """Return the texts of others, our own and the composed ones, long ones as their first pieces."""
    rows: list[tuple[str, str, bool, bool]] = []
    for file in sorted(folder.glob("*.jsonl")):
        ordinary = 0
        for line in file.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            record = json.loads(line)
            ordinary += not record["attack"]
            if record["language"] == "en" if record["attack"] else ordinary <= MOST_OF_A_SOURCE:
                rows += [
                    (piece, file.stem, record["attack"], record["sort"] in HARD)
                    for piece in _pieces(record["text"])
                ]
    for line in TEXTS.read_text(encoding="utf-8").splitlines()[1:]:
        label, language, text = line.split("\t")
        if label == "instruction" and language != "en":
            continue
        rows.append((text, "own, English" if language == "en" else "own", label == "instruction", True))
    rows += [(sample.text, "own, tuned on", False, True) for sample in TUNED if not sample.attack]
    rows += [(text, "composed", True, True) for text in composed(COMPOSED)]
    return Texts(
        texts=[row[0] for row in rows],
        sources=[row[1] for row in rows],
        instructing=np.array([float(row[2]) for row in rows]),
        hard=np.array([row[3] for row in rows]),
    )


def _pieces(text: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in chunk(text)[:PIECES_READ]]


def _in_turn(folds: Whole, fit: Callable[[Whole], Rows], places: Places) -> tuple[Rows, Rows]:
    """Return the scores of texts by models fitted without their sources, and the weights of one fitted on all."""
    whole = fit(np.arange(len(folds)))
    scores = places.times(whole[:-1]) + whole[-1]
    for fold in range(FOLDS):
        fitted, rest = fit(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        scores[rest] = places.of(rest).times(fitted[:-1]) + fitted[-1]
    return scores, whole


def _fitted_words(places: Places, answers: Rows, weights: Rows) -> Rows:
    return _least(
        lambda given: places.times(given[:-1]) + given[-1],
        lambda errors: np.r_[places.back(errors), errors.sum()],
        np.r_[np.full(PLACES, RIDGE), 1e-3],
        answers,
        weights,
    )


def _least(
    scores: Callable[[Rows], Rows], back: Callable[[Rows], Rows], ridge: Rows, answers: Rows, weights: Rows
) -> Rows:
    """Return the weights with the least logistic loss: by steps along gradients, bent by what earlier steps showed."""

    def loss(given: Rows) -> tuple[float, Rows]:
        score = scores(given)
        lost = weights * np.logaddexp(0, np.where(answers > 0, -score, score))
        errors = weights * (1 / (1 + np.exp(-score)) - answers)
        return float(lost.sum() + 0.5 * (ridge * given * given).sum()), back(errors) + ridge * given

    here = np.zeros(len(ridge))
    value, slope = loss(here)
    seen: list[tuple[Rows, Rows]] = []
    for _ in range(STEPS):
        way = _bent(slope, seen)
        length = 1.0
        for _ in range(SHORTER):
            there = here - length * way
            next_value, next_slope = loss(there)
            if next_value <= value - 1e-4 * length * (slope @ way):
                break
            length /= 2
        else:
            break
        if (there - here) @ (next_slope - slope) > 1e-12:
            seen = [*seen, (there - here, next_slope - slope)][-REMEMBERED:]
        near = abs(value - next_value) < 1e-6 * abs(value)
        here, value, slope = there, next_value, next_slope
        if near:
            break
    return here


def _bent(slope: Rows, seen: Sequence[tuple[Rows, Rows]]) -> Rows:
    """Return the slope times what the steps that were seen tell of the inverse of the second derivatives."""
    way, shares = slope.copy(), []
    for step, change in reversed(seen):
        shares.append((step @ way) / (change @ step))
        way -= shares[-1] * change
    if seen:
        step, change = seen[-1]
        way *= (step @ change) / (change @ change)
    else:
        way /= max(1.0, float(np.linalg.norm(way)))
    for (step, change), share in zip(seen, reversed(shares), strict=True):
        way += step * (share - (change @ way) / (change @ step))
    return way


def _mark(scores: Rows, texts: Texts, told: NDArray[np.bool_]) -> float:
    """Return the score above which as many ordinary and hard texts lie as may."""
    benign, hard = texts.instructing[told] == 0, texts.hard[told]
    return max(
        float(np.quantile(scores[benign & ~hard], 1 - FALSE_ALARMS)),
        float(np.quantile(scores[benign & hard], 1 - HARD_ALARMS)),
    )


def _tell(texts: Texts, found: NDArray[np.bool_]) -> None:
    """Print how many pieces of each source were found, each by a model that was fitted without it."""
    sources = np.array(texts.sources)
    for answer, what in ((1.0, "attacks"), (0.0, "ordinary")):
        for name in dict.fromkeys(texts.sources):
            chosen = (sources == name) & (texts.instructing == answer)
            if chosen.any() and name != "composed":
                print(f"{what}, {name}: {found[chosen].sum()} of {chosen.sum()}")


def _write(weights: Rows, flagged: float) -> None:
    step = float(np.abs(weights[:-1]).max()) / STEP_MOST
    steps = np.rint(weights[:-1] / step).astype(np.int8).tobytes()
    fields = {"step": step, "bias": float(weights[-1]), "flagged": flagged}
    name = hashlib.sha256(steps + json.dumps(fields).encode()).hexdigest()[:12]
    head = json.dumps({"name": f"wording@{name}", **fields}).encode()
    TABLE_FILE.write_bytes(head + b"\n" + zlib.compress(steps, 9))
    print(f"{TABLE_FILE.stat().st_size:,} bytes of words, flagged from {flagged:.2f}")


if __name__ == "__main__":
    sys.exit(main())
