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
        # Several hits may be of one memory: a hit is known by itself.
        scores = {id(hit): value for (_, hit), value in zip(asked, values, strict=True) if value is not None}
        missing = len(asked) - len(scores)
        note = f"{self._reranker.name} scored {len(scores)} of {len(asked)} hits; the others follow in their own order."
        ordered = _ordered(best, asked, scores, current)
        of_memories: dict[int, float] = {}
        for no, hit in asked:
            if (value := scores.get(id(hit))) is not None:
                of_memories[no] = max(value, of_memories.get(no, value))
        return Reordered(hits=[*ordered, *rest], scores=of_memories, notes=(note,) if missing else ())


def _ordered(
    best: Sequence[Numbered],
    asked: Sequence[Numbered],
    scores: Mapping[int, float],
    current: Mapping[int, int],
) -> list[Numbered]:
    place = {id(hit): at for at, (_, hit) in enumerate(best)}
    ordered = sorted(
        asked, key=lambda numbered: (-scores.get(id(numbered[1]), float("-inf")), place[id(numbered[1])])
    )
    for at, numbered in enumerate(best):
        if numbered[1].parts.get("standing"):
            ordered.insert(at, numbered)
    ordered, _ = put_current_first(
        ordered,
        name=lambda numbered: numbered[0],
        successor=lambda numbered: current.get(numbered[0]),
        leads=lambda older, newer: place[id(newer[1])] < place[id(older[1])],
        keeps_old=True,
    )
    return [(no, _told(hit, place[id(hit)] + 1, scores.get(id(hit)))) for no, hit in ordered]


def _told(hit: Hit, place: int, score: float | None) -> Hit:
    if score is None:
        return hit
    return replace(hit, why=(*hit.why, f"rerank score {score:.3g}, place {place} without it"))
