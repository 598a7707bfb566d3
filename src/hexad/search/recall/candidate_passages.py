"""The passages of candidates, as far as they are looked at beyond the one that answers best."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from hexad.memory.query import Filters
from hexad.search.recall.candidate_search import CandidateSearch
from hexad.search.recall.fusion import Fusion
from hexad.search.recall.mentions import CandidateSpan
from hexad.search.recall.results import Candidates, best_chunk


class CandidatePassages:
    """Gives passages of the candidates in `order`, which are known by their places in it."""

    def __init__(
        self,
        search: CandidateSearch,
        candidates: Candidates,
        order: Sequence[int],
        fusion: Fusion,
        *,
        filters: Filters,
    ) -> None:
        self._search, self._filters = search, filters
        self._candidates, self._order, self._fusion = candidates, order, fusion

    def best(self, seats: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return the heading and the text of the passage of each that answers best."""
        chunks = {
            seat: best_chunk(self._candidates, self._order[seat], self._fusion.parts(seat)) for seat in seats
        }
        known = self.texts(set(chunks.values()))
        return {seat: known[no] for seat, no in chunks.items() if no in known}

    def spans(self, seats: Sequence[int]) -> Sequence[CandidateSpan]:
        """Return all passages of these candidates, each with what its own words and meaning say for it."""
        by_number = {self._order[seat]: seat for seat in seats}
        words = {match.chunk_no: match.bm25 for match in self._candidates.matches}
        answer = self._candidates.answer
        near = {} if answer is None else dict(answer.best[no][::-1] for no in by_number if no in answer.best)
        near |= self._search.cosines_of(self._candidates.vector, list(by_number))
        rows = [(no, by_number[owner], heading) for no, owner, heading in self._search.headings_of(by_number)]
        scores = self._fusion.passage_scores((seat, words.get(no, 0.0), near.get(no)) for no, seat, _ in rows)
        return [CandidateSpan(*row, score) for row, score in zip(rows, scores, strict=True)]

    def may_mean(self, seats: Collection[int]) -> Callable[[int, int], bool]:
        """Return whether a name in the first of two candidates may mean what the second defines.

        Not where both are code, and the first is known to use nothing of the second: two functions are called alike.
        """
        numbers = {seat: self._order[seat] for seat in seats}
        uses = self._search.uses
        known, pairs = ((), ()) if uses is None else uses(numbers.values())

        def may_mean(seat: int, other: int) -> bool:
            start, end = numbers[seat], numbers[other]
            return start == end or start not in known or end not in known or (start, end) in pairs

        return may_mean

    def texts(self, chunks: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Return the heading and the text of chunks, by their numbers."""
        return self._search.passages_of(chunks)

    def occurrences(self, name: str) -> int:
        """Return how many passages have a name, of those that are searched; 0 for too many."""
        return self._search.occurrences(name, self._filters)
