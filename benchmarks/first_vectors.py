"""Recall before the vectors are there: none of them, a tenth, all, with so many texts embedded in a question.

The clock moves by what a text is said to take, so that exactly that number fits into a question's moment whatever
the machine does; what a question computed is forgotten before the next, so that each meets the same store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import hexad
from benchmarks.corpora import Question, read_lines
from benchmarks.fit_first_vectors import fitted
from benchmarks.quality import (
    Asked,
    Ranker,
    RememberedVectors,
    _hexad,
    code_store,
    conversation_stores,
    evaluate,
)
from benchmarks.report import Options, Report, Table
from hexad import FrozenClock
from hexad.search.recall.candidate_vectors import BUDGET_MS
from hexad.search.vectors.index import VectorAnswer
from hexad.search.wanted_vectors import WantedVectors

TEXTS = (0, 4, 16)
"""Texts that fit into a question. 0 is what recall did before: a store's vectors alone say what is relevant."""
SHARES = (0.0, 0.1, 1.0)
_METRICS = ("R@1", "R@5", "R@10", "MRR")


class PacedVectors:
    """Remembered vectors that take time of a clock that stands still otherwise."""

    def __init__(self, model: RememberedVectors, clock: FrozenClock) -> None:
        self._model, self._clock = model, clock
        self.name, self.dimensions = model.name, model.dimensions
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of length one for each text, later by what they take."""
        if self.texts:
            self._clock.advance(milliseconds=len(texts) * BUDGET_MS / self.texts)
        return self._model.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the row of one question."""
        return self._model.embed_query(text)


class _NoneOnTheSpot:
    """Computes nothing, and still lets a question without stored vectors be compared by meaning."""

    def possible(self) -> bool:
        """Return that it may be asked."""
        return True

    def extend(
        self, answer: VectorAnswer | None, _question: NDArray[np.float32], _chunks: Mapping[int, int]
    ) -> VectorAnswer | None:
        """Return the answer as it is."""
        return answer


def run(options: Options) -> Report:
    """Measure both collections."""
    report = Report(name="Recall before the vectors are there")
    if options.data is None:
        report.skipped = "the development data is not there (give --data DIR)."
        return report
    model = RememberedVectors(keep=options.reuse_vectors)
    own, *_ = conversation_stores(options, options.data, options.work / "conversations")
    code = code_store(options, options.data)
    functions = read_lines(options.data / "code_questions" / "corpus.jsonl")
    seen = {function["id"] for function in functions if fitted(str(function["text"]))}
    unseen = [question for question in code.questions if not seen & question.evidence]
    for asked in (replace(own, questions=own.questions[::4]), replace(code, questions=unseen[::2])):
        _measure(asked, model, report)
    model.save()
    return report


def _measure(asked: Asked, model: RememberedVectors, report: Report) -> None:
    clock = FrozenClock()
    paced = PacedVectors(model, clock)
    rows: list[tuple[str | float, ...]] = []
    with hexad.open(asked.folder, embedder=paced, clock=clock, background=False) as hx:
        for source in sorted((asked.folder / "source").iterdir()):
            hx.ingest(source, space=source.stem if asked.spaces else "default", embed=False)
        search, total = hx._services.search, hx.status().embeddings_pending
        spot = search.recaller.search.on_the_spot

        def forgetful(rank: Ranker) -> Ranker:
            def ranked(question: Question) -> Sequence[str]:
                search.job._wanted = spot._wanted = WantedVectors()
                return rank(question)

            return ranked

        candidates, first = search.recaller.search, search.first

        def row(label: str, *, semantic: bool | None = None) -> None:
            found = evaluate(asked, forgetful(_hexad(hx, asked, semantic=semantic)))
            rows.append((label, *(found[metric] for metric in _METRICS)))

        row("full text alone", semantic=False)
        for share in SHARES:
            paced.texts = 0
            missing = round(share * total) - (total - hx.status().embeddings_pending)
            if missing > 0:
                search.job._wanted = WantedVectors()
                search.embed(limit=missing)
            for texts in TEXTS if share < 1 else (0,):
                paced.texts = texts
                candidates.on_the_spot = spot if texts else None
                candidates.first = None
                if texts or share:
                    row(f"{share:.0%} of the vectors, {texts} texts in a question")
                if share < 1:
                    candidates.on_the_spot, candidates.first = spot if texts else _NoneOnTheSpot(), first
                    row(f"{share:.0%} of the vectors, {texts} texts in a question, first vectors")
    report.tables.append(
        Table(title=f"{asked.name}: {len(asked.questions)} questions", columns=("", *_METRICS), rows=rows)
    )
    best = {str(label): found for label, _, _, found, _ in rows}
    report.at_least(
        f"{asked.name}: R@10 with no vectors and 16 texts, over full text alone",
        float(best["0% of the vectors, 16 texts in a question"]) - float(best["full text alone"]),
        0.03,
    )
    for texts in TEXTS:
        without = "full text alone" if not texts else f"0% of the vectors, {texts} texts in a question"
        report.at_least(
            f"{asked.name}: R@10 with no vectors and {texts} texts, by first vectors over without them",
            float(best[f"0% of the vectors, {texts} texts in a question, first vectors"])
            - float(best[without]),
            0.05,
        )
