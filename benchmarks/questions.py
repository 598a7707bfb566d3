"""`questions`: what the rules for questions find, beside a linear model that is trained on lists of questions.

The model is multinomial logistic regression on hashed words, pairs of words, their shapes and four letters in a row; the
second model also gets what the rules' own lists of words say. Weights are rounded to a byte each, and what a lookup in
plain Python takes is measured, since that is how it would run. It is trained on the lists that the rules were made on and on
`routing_paraphrases.tsv`; these are judged by a fifth at a time, on which it was not trained. The rules were not made on the
paraphrases. `routing_reworded.tsv` was written before any model was trained, to be worded unlike any rule.
"""

from __future__ import annotations

import itertools
import re
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.report import Cell, Options, Report, Table
from hexad.layers.router import question_words
from hexad.layers.router.classify import classify

DATA: Final = Path(__file__).resolve().parent.parent / "tests" / "data"
MADE_ON: Final = ("routing", "routing_tenses")
TRAINED_ON: Final = (*MADE_ON, "routing_paraphrases")
JUDGED_ON: Final = ("routing_held_out", "routing_held_out_2", "routing_reworded")
BUCKETS: Final = 8_192
STEPS: Final = 200
SCALE, DECAY, RATE = 6.0, 3e-4, 0.05
_TOKEN: Final = re.compile(r"[\w'/#+-]+(?:[._][\w/]+)*(?:\(\))?|[?!.,;:]")
_SMALL: Final = frozenset(
    """
    i me my mine myself you your we us our they them their he she it its the a an this that these those is are am was were
    be been being do does did has have had can could should shall will would may might must what which who whom whose when
    where why how in at on for to by from since of with as into than or and not if so then there here any some all no every
    each let please ? . , ; : !
    """.split()
)
_ENDINGS: Final = ("ing", "ed", "tion", "ly", "ment", "er", "or", "s")

Row = tuple[str, str, str]
Features = Callable[[str], set[str]]


def run(options: Options) -> Report:
    """Hold the rules against both models, on questions that neither has seen and on what each was made on."""
    lists = {name: _rows(name) for name in (*TRAINED_ON, *JUDGED_ON)}
    steps = 20 if options.quick else STEPS
    answers = {"rules": {name: _by_rules(rows) for name, rows in lists.items()}}
    costs: list[tuple[str, float, int]] = [("rules", _microseconds(classify, lists["routing"]), 0)]
    calibration: list[tuple[str, str, int, float, float]] = []
    for title, features in (("model", _features), ("model with the rules' words", _features_with_words)):
        weights, shares = _judge(lists, features, steps)
        answers[title] = {name: _by_share(found) for name, found in shares.items()}
        calibration += _calibration(title, shares, lists)
        packed = zlib.compress(np.rint(weights / np.abs(weights).max() * 127).astype(np.int8).tobytes(), 9)
        costs.append((title, _microseconds(_lookup(weights, features), lists["routing"]), len(packed)))
    report = Report(name="Questions")
    rows: list[tuple[Cell, ...]] = [
        (name, len(lists[name]), *(_right(found[name], lists[name]) for found in answers.values()))
        for name in lists
    ]
    title = "Class / task type / both right; the models on the first three lists: a fifth at a time, trained on the rest"
    report.tables.append(Table(title=title, columns=("list", "questions", *answers), rows=rows))
    title = "How sure the models are of the class, and how often it is right, on the last three lists"
    report.tables.append(
        Table(title=title, columns=("", "share", "questions", "said", "right"), rows=calibration)
    )
    report.tables.append(Table(title="Cost", columns=("", "µs a question", "bytes of weights"), rows=costs))
    return report


def _judge(
    lists: dict[str, list[Row]], features: Features, steps: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the weights of a model of all that it may see, and for each list the shares of every label."""
    rows = [row for name in TRAINED_ON for row in lists[name]]
    matrix = _matrix(rows, features)
    labels = np.array([_LABELS.index((kind, task)) for kind, task, _ in rows])
    fifth = np.random.default_rng(1).permutation(len(rows)) % 5
    apart = np.zeros((len(rows), len(_LABELS)), np.float32)
    for part in range(5):
        weights = _fit(matrix[fifth != part], labels[fifth != part], steps)
        apart[fifth == part] = _softmax(matrix[fifth == part] @ weights)
    weights = _fit(matrix, labels, steps)
    ends = np.cumsum([len(lists[name]) for name in TRAINED_ON])[:-1]
    shares = dict(zip(TRAINED_ON, np.split(apart, ends), strict=True))
    shares |= {name: _softmax(_matrix(lists[name], features) @ weights) for name in JUDGED_ON}
    return weights, shares


def _by_rules(rows: Sequence[Row]) -> list[tuple[str, str]]:
    found = [classify(question) for _, _, question in rows]
    return [(each.query_class.value, each.task_type.value) for each in found]


def _by_share(shares: np.ndarray) -> list[tuple[str, str]]:
    kinds, tasks = ([label[at] for label in _LABELS] for at in (0, 1))
    return list(zip(_best(shares, kinds)[0], _best(shares, tasks)[0], strict=True))


def _best(shares: np.ndarray, names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return for each row the likeliest name, and its share; several labels have one name."""
    known = sorted(set(names))
    sums = np.stack([shares[:, [name == each for name in names]].sum(axis=1) for each in known], axis=1)
    return [known[at] for at in sums.argmax(axis=1)], sums.max(axis=1)


def _right(found: Sequence[tuple[str, str]], rows: Sequence[Row]) -> str:
    kinds = sum(kind == row[0] for (kind, _), row in zip(found, rows, strict=True))
    tasks = sum(task == row[1] for (_, task), row in zip(found, rows, strict=True))
    both = sum(each == row[:2] for each, row in zip(found, rows, strict=True))
    return f"{kinds} / {tasks} / {both}"


def _calibration(
    title: str, shares: dict[str, np.ndarray], lists: dict[str, list[Row]]
) -> list[tuple[str, str, int, float, float]]:
    names, sure = _best(np.concatenate([shares[name] for name in JUDGED_ON]), [kind for kind, _ in _LABELS])
    wanted = [row[0] for name in JUDGED_ON for row in lists[name]]
    right = np.array([name == kind for name, kind in zip(names, wanted, strict=True)])
    bands = [
        (low, high, (sure >= low) & (sure < high))
        for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 2))
    ]
    return [
        (title, f"{low} to {min(high, 1)}", int(at.sum()), float(sure[at].mean()), float(right[at].mean()))
        for low, high, at in bands
    ]


def _lookup(weights: np.ndarray, features: Features) -> Callable[[str], object]:
    table = weights.tolist()

    def scores(question: str) -> list[float]:
        return [
            sum(column) for column in zip(*(table[at] for at in _buckets(question, features)), strict=True)
        ]

    return scores


def _microseconds(ask: Callable[[str], object], rows: Sequence[Row]) -> float:
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        for _, _, question in rows:
            ask(question)
        best = min(best, time.process_time() - started)
    return best / len(rows) * 1e6


def _rows(name: str) -> list[Row]:
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(kind, task, question) for kind, task, question in (line.split("\t") for line in lines)]


_LABELS: Final = sorted({(kind, task) for kind, task, _ in _rows("routing")})


def _shape(word: str) -> str:
    if word in _SMALL:
        return word
    if any(sign in word for sign in "_./#()"):
        return "*id"
    if word[0].isdigit():
        return "*0"
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) > len(end) + 2), "")
    return f"*{ending}"


def _features(question: str) -> set[str]:
    text = question.lower().replace("\u2019", "'")
    for pattern, whole in question_words.CONTRACTIONS:
        text = pattern.sub(whole, text)
    words = _TOKEN.findall(text)[:80]
    shapes = [_shape(word) for word in words]
    letters = f" {' '.join(words)} "
    features = {*words, *(f"{left} {right}" for left, right in itertools.pairwise(words))}
    features |= {f"~{left} {right}" for left, right in itertools.pairwise(shapes)}
    features |= {f"^{' '.join(words[:count])}" for count in (1, 2, 3)}
    features |= {f"~^{' '.join(shapes[:count])}" for count in (2, 3, 4)}
    features |= {f"|{word}" for before, word in itertools.pairwise(words) if before in ".;,:!?"}
    features |= {f"c{letters[at : at + 4]}" for at in range(len(letters) - 3)}
    return features | {f"{' '.join(words[-2:])}$", f"#{min(len(words), 12) // 3}"}


def _features_with_words(question: str) -> set[str]:
    text = " ".join(question.lower().split())
    bare = question_words.POLITE.sub("", text)
    features = _features(bare)
    features |= {
        f"!{name}"
        for name in (
            "DESIGN_ASKED",
            "RESEARCH_ASKED",
            "PLAIN_REFACTOR",
            "WHY",
            "DECISION",
            "QUESTION",
            "WISHED",
        )
        if getattr(question_words, name).search(bare)
    }
    for at, word in enumerate(re.findall(r"[\w']+", bare)):
        tasks = [task for task, verbs in question_words.VERBS.items() if word in verbs]
        features |= {f"!{'head ' if at == 0 else ''}{task}" for task in tasks}
        if at == 0 and word in question_words.NOUNS_TOO:
            features.add("!noun too")
    return features


def _buckets(question: str, features: Features) -> list[int]:
    return [zlib.crc32(feature.encode()) % BUCKETS for feature in features(question)]


def _matrix(rows: Sequence[Row], features: Features) -> np.ndarray:
    matrix = np.zeros((len(rows), BUCKETS), np.float32)
    for at, (_, _, question) in enumerate(rows):
        buckets = _buckets(question, features)
        np.add.at(matrix[at], buckets, SCALE / len(buckets) ** 0.5)
    return matrix


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _fit(matrix: np.ndarray, labels: np.ndarray, steps: int) -> np.ndarray:
    """Return the weights of a multinomial logistic regression, found by Adam on all rows at once."""
    weights = np.zeros((BUCKETS, len(_LABELS)), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    wanted = np.eye(len(_LABELS), dtype=np.float32)[labels]
    for step in range(1, steps + 1):
        gradient = matrix.T @ (_softmax(matrix @ weights) - wanted) / len(matrix) + DECAY * weights
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        moved = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights -= RATE * (1 - step / steps) * moved
    scale = np.abs(weights).max() / 127
    return np.asarray(np.rint(weights / scale) * scale)
