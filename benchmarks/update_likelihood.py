"""Fits the weights of `hexad.text.claims.likelihood`: `python -m benchmarks.update_likelihood` prints them.

What is learned: the updates of the development half and its independent pairs, and the half of the validation set that
may be looked at. Of an update's texts every one is compared with every later one; only the old and the current one
are an update. What answers a short fact's question is not updated by the facts that resemble it. Nothing of the other half of the validation set is read here.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.halves import DEVELOPMENT, VALIDATION, records
from benchmarks.short_facts import ShortFacts
from hexad.text.claims.likelihood import Wording, question_signs, signs_of

_PENALTY: Final = 60.0
"""On squared weights of standardised signs: the most that costs the folds of the development half nothing."""
_STEPS: Final = 40
_BESIDE: Final = 4
"""So many neighbours of what answers a short fact's question count as no updates of it."""
_DIGITS: Final = 3


def samples(half: str) -> tuple[list[list[float]], list[bool], list[list[float]], list[bool]]:
    """Return signs of all pairs with whether they are updates, then those with the signs of a question."""
    pairs: list[list[float]] = []
    are: list[bool] = []
    asked: list[list[float]] = []
    for update in records("plain_updates", half):
        if not update.get("look", True):
            continue
        question = Wording(update["question"])
        texts = [(text["role"], Wording(text["text"])) for text in update["texts"]]
        for (role, older), (later, newer) in combinations(texts, 2):
            signs = signs_of(older, newer)
            pairs.append(signs)
            asked.append([*signs, *question_signs(question, older, newer)])
            are.append((role, later) == ("old", "current"))
    answers = list(are)
    for pair in records("independent_pairs", half):
        if pair.get("look", True):
            pairs.append(signs_of(Wording(pair["older"]), Wording(pair["newer"])))
            are.append(False)
    return pairs, are, asked, answers


def neighbours() -> list[list[float]]:
    """Return the signs of what answers a short fact's question beside the facts that share most words with it."""
    data = ShortFacts.load(DEVELOPMENT)
    found: list[list[float]] = []
    stores: dict[object, list[tuple[str, Wording]]] = {}
    for fact in data.facts:
        stores.setdefault(fact.store, []).append((fact.id, Wording(fact.text)))
    for question in data.questions:
        facts = stores[question.store]
        asked = Wording(question.text)
        for right in [wording for name, wording in facts if name in question.right]:
            others = [wording for name, wording in facts if name not in question.right]
            others.sort(key=lambda wording: -len(wording.keys & (right.keys | asked.keys)))
            found += [
                [*signs_of(right, other), *question_signs(asked, right, other)] for other in others[:_BESIDE]
            ]
    return found


def fit(rows: list[list[float]], are: list[bool], *, penalty: float) -> NDArray[np.float64]:
    """Return the constant and the weights of a logistic model, by Newton's method."""
    signs, right = np.array(rows), np.array(are, dtype=float)
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    table = np.c_[np.ones(len(signs)), (signs - mean) / deviation]
    weights = np.zeros(table.shape[1])
    ridge = np.eye(len(weights)) * penalty
    ridge[0, 0] = 0.0
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (likely - right) + ridge @ weights
        weights -= np.linalg.solve((table * (likely * (1 - likely))[:, None]).T @ table + ridge, slope)
    raw = weights[1:] / deviation
    return np.r_[weights[0] - raw @ mean, raw]


def main() -> int:
    """Print the weights of both models."""
    halves = [
        samples(half) for half in ((DEVELOPMENT,) if "development" in sys.argv else (DEVELOPMENT, VALIDATION))
    ]
    for name, at in (("PAIR_WEIGHTS", 0), ("ANSWER_WEIGHTS", 2)):
        rows = [row for half in halves for row in half[at]]
        are = [sign for half in halves for sign in half[at + 1]]
        if at:
            rows += (beside := neighbours())
            are += [False] * len(beside)
        weights = fit(rows, are, penalty=_PENALTY)
        print(f"{name}: Final = (")
        print("   ", ", ".join(f"{weight:.{_DIGITS}f}" for weight in weights) + ",")
        print(")  # fmt: skip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
