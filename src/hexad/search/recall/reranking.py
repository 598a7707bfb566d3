"""The best hits of a recall in the order of a reranker: asked outside any transaction, left out where it fails.

It orders what was found and says nothing of what is relevant: hits, scores and relevance stay those of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from hexad.errors import BudgetExceeded, ProviderError
from hexad.memory.query import Hit
from hexad.providers.rerankers import TEXT_CHARACTERS
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.recall.results import Numbered, Reordered
from hexad.search.recall.successors import put_current_first

CANDIDATES: Final = 50
"""So many of the best are reordered."""


class SpaceReranker(Protocol):
    """A reranker within its budgets and its time."""

    @property
    def name(self) -> str:
        """`provider:model`."""

    def scores(self, question: str, texts: Sequence[str], *, space: str | None) -> Sequence[float | None]:
        """Return a score for each text, None where it got none; raises `BudgetExceeded`, `ProviderError`."""


class Reranking:
    """Reorders the hits of an open store. `mask` takes out of a question what may not be sent, as of stored texts."""

    def __init__(self, reranker: SpaceReranker, mask: Callable[[str], str]) -> None:
        self._reranker, self._mask = reranker, mask

    @staticmethod
    def widened(options: RecallOptions) -> RecallOptions:
        """Return the options by which enough is found to be reordered."""
        return replace(options, limit=max(options.limit, CANDIDATES), max_tokens=None)

    def reorder(
        self, question: str, hits: Sequence[Numbered], options: RecallOptions, current: Mapping[int, int]
    ) -> Reordered:
        """Return the hits in the order of their scores, then those without one in their own.

        What says what a user wants of answers answers no question: it stays where it was placed. `current` says what
        stands for which memory now; what stood before that goes on standing there. Raises `BudgetExceeded` and
        `ProviderError` where the caller insists (`rerank=True`).
        """
        best, rest = list(hits[:CANDIDATES]), list(hits[CANDIDATES:])
        asked = [numbered for numbered in best if not numbered[1].parts.get("standing")]
        if len(asked) < 2:
            return Reordered(hits=[*best, *rest])
        spaces = options.filters.spaces or ()
        try:
            values = self._reranker.scores(
                self._mask(question)[:TEXT_CHARACTERS],
                [hit.text[:TEXT_CHARACTERS] for _, hit in asked],
                space=spaces[0] if len(spaces) == 1 else None,
            )
        except (BudgetExceeded, ProviderError) as error:
            if options.rerank:
                raise
            return Reordered(hits=[*best, *rest], failure=error)
        scores = {no: value for (no, _), value in zip(asked, values, strict=True) if value is not None}
        missing = len(asked) - len(scores)
        note = f"{self._reranker.name} scored {len(scores)} of {len(asked)} hits; the others follow in their own order."
        ordered = _ordered(best, asked, scores, current)
        return Reordered(hits=[*ordered, *rest], scores=scores, notes=(note,) if missing else ())


def _ordered(
    best: Sequence[Numbered],
    asked: Sequence[Numbered],
    scores: Mapping[int, float],
    current: Mapping[int, int],
) -> list[Numbered]:
    place = {no: at for at, (no, _) in enumerate(best)}
    ordered = sorted(
        asked, key=lambda numbered: (-scores.get(numbered[0], float("-inf")), place[numbered[0]])
    )
    for at, numbered in enumerate(best):
        if numbered[1].parts.get("standing"):
            ordered.insert(at, numbered)
    ordered, _ = put_current_first(
        ordered,
        name=lambda numbered: numbered[0],
        successor=lambda numbered: current.get(numbered[0]),
        leads=lambda older, newer: place[newer[0]] < place[older[0]],
        keeps_old=True,
    )
    return [(no, _told(hit, place[no] + 1, scores.get(no))) for no, hit in ordered]


def _told(hit: Hit, place: int, score: float | None) -> Hit:
    if score is None:
        return hit
    return replace(hit, why=(*hit.why, f"rerank score {score:.3g}, place {place} without it"))
