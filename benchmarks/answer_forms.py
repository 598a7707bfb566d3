"""Fits the weights of `hexad.text.claims.answer_form`: `python -m benchmarks.answer_forms` prints them, and what they do.

What is learned: which of the best candidates answers the questions of the development halves of `plain-updates` and
`short-facts`, and of the half of the validation set that may be looked at. Old and current texts count alike: which of them
is current is no matter of form. "In ten parts" is each tenth of the questions judged by weights from the others.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

import hexad
from benchmarks.halves import DEVELOPMENT, VALIDATION, records
from benchmarks.plain_updates import CURRENT, OLD, load_updates
from benchmarks.quality import RememberedVectors
from benchmarks.short_facts import ShortFacts
from hexad import Hexad, Hits
from hexad.search.recall.candidate_comparison import FORM_MOST, form_room
from hexad.search.recall.recaller import COMPARED
from hexad.text.claims.answer_form import SIGNS, QuestionForm, form_signs, word_key
from hexad.text.claims.reader import tokens_of

_PENALTY: Final = 10.0
"""On squared weights of standardised signs."""
_STEPS: Final = 25
_PARTS: Final = 10
_BEHIND: Final = 8.0
_OWN_PARTS: Final = ("successor", "form")
"""What is added after the candidates were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A question with its best candidates: how far behind the first they are, their signs, and which are right."""

    kind: str
    rows: NDArray[np.float64]
    right: NDArray[np.bool_]
    compared: NDArray[np.bool_]

    @property
    def teaches(self) -> bool:
        """Whether the compared ones are some of them right and some of them wrong."""
        right = self.right[self.compared]
        return bool(right.any() and not right.all())


def samples(embedder: RememberedVectors) -> Iterator[Sample]:
    """Return the questions of both sets."""
    for half in (DEVELOPMENT, VALIDATION):
        seen = {each["id"] for each in records("plain_updates", half) if each.get("look", True)}
        with tempfile.TemporaryDirectory(prefix="hexad-forms-") as folder, _open(folder, embedder) as hx:
            for update in load_updates(half):
                if update.id not in seen:
                    continue
                roles = {hx.remember(text.text, space=update.id).id: text.role for text in update.texts}
                hx.embed_pending()
                hits = hx.recall(update.question, space=update.id, limit=COMPARED, min_relevance=0)
                yield _sample(
                    half, update.question, hits, lambda name, roles=roles: roles[name] in (OLD, CURRENT)
                )
    data = ShortFacts.load(DEVELOPMENT)
    for store in dict.fromkeys(fact.store for fact in data.facts):
        with tempfile.TemporaryDirectory(prefix="hexad-forms-") as folder, _open(folder, embedder) as hx:
            ids = {hx.remember(fact.text).id: fact.id for fact in data.facts if fact.store == store}
            hx.embed_pending()
            for question in data.questions:
                if question.store == store and question.right:
                    hits = hx.recall(question.text, limit=COMPARED, min_relevance=0)
                    right = question.right
                    yield _sample(
                        f"short facts, {question.kind}",
                        question.text,
                        hits,
                        lambda name, right=right, ids=ids: ids[name] in right,
                    )


def _open(folder: str, embedder: RememberedVectors) -> Hexad:
    return hexad.open(folder, embedder=embedder, background=False, user_dir=Path(folder) / "user")


def _sample(kind: str, question: str, hits: Hits, is_right: Callable[[str], bool]) -> Sample:
    found = [(hit.score - sum(hit.parts.get(part, 0.0) for part in _OWN_PARTS), hit) for hit in hits]
    found.sort(key=lambda each: -each[0])
    form = QuestionForm(question)
    first = found[0][0]
    held = [
        len(form.keys & {word_key(token) for token in tokens_of(hit.memory.raw) if token.content})
        for _, hit in found
    ]
    rows = [
        [max((score - first) / form_room(first), -_BEHIND), *form_signs(form, hit.memory.raw)]
        for score, hit in found
    ]
    return Sample(
        kind=kind,
        rows=np.array(rows),
        right=np.array([is_right(hit.id) for _, hit in found]),
        compared=np.array([bool(form.asks) and count >= held[0] > 0 for count in held]),
    )


def fit(learned: Sequence[Sample]) -> NDArray[np.float64]:
    """Return the worth of each sign in rooms, by a conditional logistic model and Newton's method."""
    tables = [(each.rows[each.compared], each.right[each.compared]) for each in learned if each.teaches]
    deviation = np.vstack([rows for rows, _ in tables]).std(axis=0) + 1e-6
    weights = np.zeros(len(deviation))
    ridge = np.eye(len(weights)) * _PENALTY
    for _ in range(_STEPS):
        slope, bend = -ridge @ weights, ridge.copy()
        for rows, right in tables:
            signs = rows / deviation
            likely = np.exp(signs @ weights - (signs @ weights).max())
            likely /= likely.sum()
            answers = likely * right / (likely * right).sum()
            slope += signs.T @ (answers - likely)
            mean = signs.T @ likely
            bend += (signs * likely[:, None]).T @ signs - np.outer(mean, mean)
        weights += 0.7 * np.linalg.solve(bend, slope)
    raw = weights / deviation
    return np.asarray(raw[1:] / raw[0])


def is_first(sample: Sample, weights: NDArray[np.float64]) -> bool:
    """Whether a right candidate comes first, with what its form is worth."""
    scores = sample.rows[:, 0].copy()
    if sample.compared[0]:
        worth = sample.rows[:, 1:] @ weights
        scores[sample.compared] += np.clip(worth - worth[0], 0.0, FORM_MOST)[sample.compared]
    return bool(sample.right[int(np.argmax(scores))])


def _shares(found: Sequence[Sample], right: Sequence[bool]) -> Mapping[str, float]:
    kinds = dict.fromkeys(each.kind for each in found)
    return {
        kind: float(np.mean([yes for each, yes in zip(found, right, strict=True) if each.kind == kind]))
        for kind in kinds
    }


def main() -> int:
    """Print the weights, and the share of questions whose answer comes first: as it was, in ten parts, and learned."""
    found = list(samples(RememberedVectors(keep=True)))
    weights = fit(found)
    parts = np.random.default_rng(0).permutation(len(found)) % _PARTS
    by_part = [
        fit([each for each, at in zip(found, parts, strict=True) if at != part]) for part in range(_PARTS)
    ]
    for name, right in (
        ("as it was", [is_first(each, np.zeros(len(SIGNS))) for each in found]),
        ("in ten parts", [is_first(each, by_part[at]) for each, at in zip(found, parts, strict=True)]),
        ("learned", [is_first(each, weights) for each in found]),
    ):
        print(name, {kind: round(share, 3) for kind, share in _shares(found, right).items()})
    for name, weight in zip(SIGNS, weights, strict=True):
        print(f"    {weight:.2f},  # {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
