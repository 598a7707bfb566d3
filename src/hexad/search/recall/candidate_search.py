"""What full text, literals and vectors find for a question: the candidates of its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.core.lazy import ByteCache
from hexad.core.tracing import log
from hexad.errors import ProviderError
from hexad.memory.fact import STACK
from hexad.memory.query import Filters
from hexad.memory.store import Stores
from hexad.memory.tables.ranking_columns import MemoryState, StandingText
from hexad.search.first_vectors import FirstVectors, with_first
from hexad.search.fulltext import FullText, IndexPart, TextMatch, any_word
from hexad.search.postings import bm25_weight
from hexad.search.recall.candidate_vectors import CandidateVectors, candidates_of, of_candidates
from hexad.search.recall.fusion import rarity
from hexad.search.recall.query_terms import POSTINGS_MOST, RecallOptions, Terms, searched_terms
from hexad.search.recall.relevance import Evidence, matched_share
from hexad.search.recall.results import Candidates, DefinedAt
from hexad.search.vectors.index import VectorAnswer, VectorIndex
from hexad.text.key_names import keys_near, known_topic, spellings, topics_in
from hexad.text.literals import STATED, match_phrases
from hexad.text.requests import asks_for_work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.search.recall.standing import FindFitting

LEXICAL_POOL: Final = 200
LISTED_MOST: Final = 2 * POSTINGS_MOST
"""Where words stand in more chunks, SQLite puts these in order: it is faster where nothing is kept yet."""
VECTOR_POOL: Final = 300
"""Nearest memories among which it is measured how crowded it is."""
FILTERED_ENOUGH: Final = 100
HEARD: Final = 5
"""Of each arm, so many of the best say which conversation a request belongs to."""
FREQUENT: Final = 400
"""A name that so many chunks have, or more, says nothing of any."""
FILTERS_BYTES: Final = 16 << 20
"""Filters whose passing memories are remembered."""

IndexSource = Callable[[], VectorIndex | None]
FindUses = Callable[[Collection[int]], tuple[Collection[int], Collection[tuple[int, int]]]]
"""Of memories: which are files whose code is known, and which of these imports, calls or mentions which."""


class _ByWords(NamedTuple):
    """What full text found: the words asked, their best chunks, how many chunks hold each, and how many there are."""

    searched: Sequence[str]
    matches: list[TextMatch]
    frequencies: Mapping[str, int]
    rows: int


class CandidateSearch:
    """Finds the candidates of one store."""

    def __init__(
        self,
        stores: Stores,
        fulltext: FullText,
        index: IndexSource,
        *,
        fitting: FindFitting,
        calibrated: bool = True,
        on_the_spot: CandidateVectors | None = None,
        first: FirstVectors | None = None,
    ) -> None:
        """`fitting` finds what holds for an answer; `on_the_spot` and `first` are as `Recaller` takes them."""
        self._stores, self._fulltext, self._index = stores, fulltext, index
        self._fitting, self._calibrated = fitting, calibrated
        self.on_the_spot, self.first = on_the_spot, first
        self.uses: FindUses | None = None
        self._passing = ByteCache[Filters, tuple[MemoryState, "NDArray[np.bool_]"]](FILTERS_BYTES)
        stores.db.caches.add("filters", self._passing)

    def has_vectors(self) -> bool:
        """Return whether the store has vectors that can be searched."""
        return self._index() is not None and bool(self._stores.places.present().vectors)

    def computes_vectors(self) -> bool:
        """Return whether vectors that candidates lack may be computed within a question."""
        return self.on_the_spot is not None and self.on_the_spot.possible()

    def first_share(self) -> float:
        """Return for which share of the memories without a vector there is a first one."""
        return 0.0 if self.first is None else self.first.share()

    def search(self, terms: Terms, vector: NDArray[np.float32] | None, options: RecallOptions) -> Candidates:
        """Return the candidates of a question, whose `vector` is None where full text answers alone."""
        searched, by_words, frequencies, rows = self._by_words(terms, options.filters)
        lexical: dict[int, TextMatch] = {}
        for text_match in by_words:  # best first: a memory counts with its best chunk
            lexical.setdefault(text_match.memory_no, text_match)
        literals, required, numbers = self._literals(terms, options.filters, rows=rows)
        keyed = self._keyed(terms, options.filters, known=lexical)
        for matches in (*numbers.values(), *keyed.values()):
            for text_match in matches:
                known = lexical.get(text_match.memory_no)
                lexical[text_match.memory_no] = (
                    text_match if known is None else known._replace(bm25=known.bm25 + text_match.bm25)
                )
        if numbers or keyed:
            lexical = dict(sorted(lexical.items(), key=lambda item: -item[1].bm25))
        added = {term: len(found) for term, found in (*numbers.items(), *keyed.items())}
        frequencies = {**frequencies, **{term: max(frequencies.get(term, 0), n) for term, n in added.items()}}
        defined = self._definitions(terms, options.filters, frequencies, rows=rows)
        real = first = None
        if vector is not None:
            scored, allowed = (*lexical, *literals, *defined), self._allowed(options)
            if (index := self._index()) is not None:
                real = index.search(vector, limit=VECTOR_POOL, allowed=allowed, also=scored)
            if self.first is not None:
                first = self.first.search(vector, limit=VECTOR_POOL, allowed=allowed, also=scored)
        stored = 0 if real is None else real.vectors
        # Of a part of the vectors: what they say alone makes no answer empty.
        partial = real is None or not lexical.keys() <= real.best.keys()
        real = of_candidates(real, lexical, first=() if first is None else first.best)
        if vector is not None and self.on_the_spot is not None and (partial or first is not None):
            real = self.on_the_spot.extend(real, vector, candidates_of(lexical, first))
        best = next(iter(lexical.values()), None)
        nearest = max(real.best.values())[0] if real and real.best else None
        asked = (*terms.wanted, *terms.numbers)
        share = matched_share(best.bm25 if best else 0.0, frequencies, asked, rows=rows)
        if options.filters.roles is not None:
            rows, share = self._visible(asked, best, options)
        evidence = Evidence(
            share=share,
            best_cosine=nearest,
            best_z=0.0 if real is None else ((nearest or 0.0) - real.mean) / max(real.deviation, 1e-6),
            calibrated=self._calibrated,
            rows=rows,
            matched=best is not None,
        )
        if partial and not evidence.speaks(unasked=options.unasked):
            evidence = replace(evidence, best_cosine=None)
        answer = with_first(real, first, vectors=stored, limit=VECTOR_POOL)
        return Candidates(
            terms=terms,
            searched=searched,
            lexical=lexical,
            matches=by_words,
            answer=answer,
            evidence=evidence,
            literals=literals,
            defined=defined,
            vector=vector,
            required=None if options.near else required,  # what is about a task need not hold its quotations
            standing=()
            if vector is None or answer is None
            else self._standing(terms.question, vector, [*lexical][:HEARD], answer, options),
        )

    def headings_of(self, memories: Collection[int]) -> list[tuple[int, int, str]]:
        """Return the chunks of some memories: number, memory's row number, heading."""
        return self._stores.memories.headings_of(memories)

    def passages_of(self, chunks: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Return the heading and the text of chunks, by their numbers."""
        return self._stores.memories.passages_of(chunks)

    def cosines_of(self, vector: NDArray[np.float32] | None, memories: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of all chunks of some memories, as far as they have vectors."""
        index = None if vector is None else self._index()
        return {} if vector is None or index is None else index.cosines_of(vector, memories)

    def occurrences(self, name: str, filters: Filters) -> int:
        """Return how many chunks have a name, of those that are searched; 0 for one that is too frequent to tell."""
        count = self._fulltext.occurrences(name, self._part(filters), most=FREQUENT)
        return count if count < FREQUENT else 0

    def _standing(
        self,
        question: str,
        vector: NDArray[np.float32],
        matches: Sequence[int],
        answer: VectorAnswer,
        options: RecallOptions,
    ) -> Sequence[StandingText]:
        """Return the turns in which somebody said what holds for the answer to a request, best first."""
        asked = not (options.near or options.unasked) and asks_for_work(question)
        if not asked or self.on_the_spot is None or not self.on_the_spot.is_free:
            return ()
        if not self._stores.places.present().standing:
            return ()
        texts = self._stores.places.standing_beside([*matches, *list(answer.crowding)[:HEARD]])
        if texts and not options.filters.empty:
            passing = self._stores.places.passing([text.no for text in texts], options.filters)
            texts = [text for text in texts if text.no in passing]
        if not texts:
            return ()
        try:
            return self._fitting(texts, vector, self.on_the_spot.embed)
        except ProviderError as error:
            log.warning("What holds for an answer was not compared with the question: %s", error)
            return ()

    def _visible(
        self, asked: Sequence[str], best: TextMatch | None, options: RecallOptions
    ) -> tuple[int, float]:
        """Return how many memories an actor may see, and how much of the question's weight the best match has.

        Whether an answer is silent must not tell what is hidden: the counts of the whole index would.
        """
        seen = self._allowed(options)
        rows = int(seen.sum()) if seen is not None else 0
        counts = {term: self._fulltext.matching(term, options.filters) for term in asked}
        found = 0.0
        if best is not None:
            held_terms = [term for term in asked if self._fulltext.matches_in(best.chunk_no, term)]
            found = sum(bm25_weight(counts[term], rows) for term in held_terms)
        return rows, matched_share(found, counts, asked, rows=rows)

    def _literals(
        self, terms: Terms, filters: Filters, *, rows: int
    ) -> tuple[dict[int, dict[str, float]], frozenset[int] | None, dict[str, list[TextMatch]]]:
        """Return which memories hold what the question names literally, which hold all its phrases, which its numbers.

        The second is None for a question without phrases, and for one whose phrases nothing holds together.
        """
        literals: dict[int, dict[str, float]] = {}
        required: frozenset[int] | None = None
        numbers: dict[str, list[TextMatch]] = {}
        for literal in (*terms.phrases, *terms.tokens):
            matches = self._fulltext.holding(literal, limit=LEXICAL_POOL, filters=filters)
            holders = frozenset(match.memory_no for match in matches)
            weight = rarity(len(matches), rows)
            for no in holders:
                literals.setdefault(no, {})[literal] = weight
            if literal in terms.phrases:
                required = holders if required is None else required & holders
            elif literal in terms.numbers:
                numbers[literal] = self._as_seen(matches, [literal], filters)
        return literals, required or None, numbers

    def _keyed(self, terms: Terms, filters: Filters, *, known: Collection[int]) -> dict[str, list[TextMatch]]:
        """Return, by words of the question, the facts under other names of what it asks: of `db` for `database`."""
        keyed: dict[str, list[TextMatch]] = {}
        for topic, words in topics_in(terms.wanted).items():
            asked = {" ".join(words), "_".join(words)}
            held = self._fulltext.document_frequencies([*{*spellings(keys_near(topic))} - asked])
            if not held:
                continue
            expression = match_phrases(sorted(held))
            matches = self._fulltext.search(expression, limit=LEXICAL_POOL, filters=filters)
            if len(matches) == LEXICAL_POOL and STACK in (filters.kinds or (STACK,)):
                of_stack = replace(filters, kinds=(STACK,))
                matches += self._fulltext.search(expression, limit=LEXICAL_POOL, filters=of_stack)
            matches = self._as_seen(matches, sorted(held), filters)
            facts = self._stores.memories.by_no({match.memory_no for match in matches})
            topics = {no: known_topic(fact.attribute) for no, fact in facts.items() if fact.attribute}
            of_topic = {
                match.memory_no: match
                for match in matches
                if topics.get(match.memory_no) == topic and match.memory_no not in known
            }
            if of_topic:
                keyed[words[-1]] = [*of_topic.values()]
        return keyed

    def _definitions(
        self, terms: Terms, filters: Filters, frequencies: Mapping[str, int], *, rows: int
    ) -> dict[int, DefinedAt]:
        """Return which memories define what the question names, and where. What is frequent is no name of code."""
        rare = list(terms.names)
        # How often a word is used must not tell what is hidden.
        if filters.roles is None and len(terms.words) > 1:
            asked = [
                # Words that are frequent each may be rare in a row: `requires-python`.
                self._fulltext.occurrences(name, None, most=LEXICAL_POOL + 1)
                if "-" in name
                else frequencies.get(name.lower(), rows)
                for name in rare
            ]
            rare = [name for name, count in zip(rare, asked, strict=True) if 0 < count <= LEXICAL_POOL]
        found: dict[int, DefinedAt] = {}
        for name in (*terms.tokens, *rare):
            if name.isdigit():
                continue
            defining = self._fulltext.defining(name, limit=LEXICAL_POOL, filters=filters)
            most = max((degree for _, degree in defining.values()), default=0.0)
            if most <= STATED and name.istitle() and name in rare:
                continue  # "Ines: ..." begins a line as well
            telling = {
                no: chunk for no, (chunk, degree) in defining.items() if degree > STATED or degree == most
            }
            weight = rarity(len(telling), rows)
            for no, chunk in telling.items():
                if no not in found or found[no].weight < weight:
                    found[no] = DefinedAt(chunk_no=chunk, name=name, weight=weight)
        return found

    def _by_words(self, terms: Terms, filters: Filters) -> _ByWords:
        rows = self._fulltext.count()
        part = self._part(filters)
        if part is not None and filters.roles is not None:
            frequencies: Mapping[str, int] = self._fulltext.counts_in(terms.wanted, part)
            rows = part.count
        else:
            frequencies = self._fulltext.document_frequencies(terms.wanted)
        searched = searched_terms(terms.wanted, frequencies)
        if part is None:
            matches = self._matches(searched, filters, frequencies) if searched else []
            return _ByWords(searched, matches, frequencies, rows)
        chunks, counts = self._fulltext.search_part(searched, part)
        # What was too common to be searched for is taken to be as common here as everywhere.
        frequencies = {
            term: counts.get(term, 0) if term in searched else count * part.count // max(rows, 1)
            for term, count in frequencies.items()
        }
        return _ByWords(searched, self._passing_matches(chunks, filters), frequencies, part.count)

    def _part(self, filters: Filters) -> IndexPart | None:
        """Return the chunks of the spaces that are asked, where there are others: each space answers as if alone.

        So does what an actor with roles may see: how often a word stands in what is hidden moves none of its answers.
        """
        # Also where nothing is hidden now: the way of counting must not tell.
        if filters.roles is not None:
            return self._fulltext.part(Filters(spaces=filters.spaces, roles=filters.roles))
        if filters.spaces is None:
            return None
        part = self._fulltext.part(Filters(spaces=filters.spaces))
        return part if part.count < self._fulltext.count() else None

    def _as_seen(self, matches: list[TextMatch], terms: Sequence[str], filters: Filters) -> list[TextMatch]:
        """Return matches of any of the terms as they weigh among what an actor with roles may see."""
        part = self._part(filters) if filters.roles is not None else None
        if part is None:
            return matches
        weights = dict(self._fulltext.search_part(terms, part)[0])
        return [match._replace(bm25=weights.get(match.chunk_no, match.bm25)) for match in matches]

    def _passing_matches(self, chunks: Sequence[tuple[int, float]], filters: Filters) -> list[TextMatch]:
        if replace(filters, spaces=None, roles=None).empty:
            return self._fulltext.locate(chunks[:LEXICAL_POOL])
        matches = self._fulltext.locate(chunks)
        passing = self._stores.places.passing({match.memory_no for match in matches}, filters)
        return [match for match in matches if match.memory_no in passing][:LEXICAL_POOL]

    def _matches(
        self, words: Sequence[str], filters: Filters, frequencies: Mapping[str, int]
    ) -> list[TextMatch]:
        """Return the best matches that pass the filters.

        Joining every match with its memory costs four times the match itself, so the best are taken first and
        looked at after; only when few of a full pool pass is the question asked with the filters in it.
        """
        if sum(frequencies[word] for word in words) <= LISTED_MOST:
            matches = self._fulltext.search_words(words, limit=LEXICAL_POOL)
        else:
            matches = self._fulltext.search(any_word(words), limit=LEXICAL_POOL)
        if filters.empty:
            return matches
        passing = self._stores.places.passing({text_match.memory_no for text_match in matches}, filters)
        left_text_matches = [text_match for text_match in matches if text_match.memory_no in passing]
        if len(matches) < LEXICAL_POOL or len(left_text_matches) >= FILTERED_ENOUGH:
            return left_text_matches
        return self._fulltext.search(any_word(words), limit=LEXICAL_POOL, filters=filters)

    def _allowed(self, options: RecallOptions) -> NDArray[np.bool_] | None:
        """Return which memories pass the filters, by row number; worked out once for each state of the store."""
        filters = options.filters
        if filters.empty:
            return None
        import numpy as np

        with self._stores.db.read() as con:
            now, known = self._stores.places.changes.now(), self._passing.get(filters)
            if known is not None and known[0] == now:
                return known[1]
            changed = None if known is None else self._stores.places.changes.between(known[0], now)
            if known is None or changed is None:
                listed = self._stores.places.listed(filters)
                numbers = np.fromstring(listed, np.int64, sep=",") if listed else np.zeros(0, np.int64)
                allowed = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.bool_)
            else:
                numbers = np.array([*self._stores.places.passing(changed, filters)], np.int64)
                allowed = np.zeros(max(len(known[1]), int(numbers.max(initial=0)) + 1), dtype=np.bool_)
                allowed[: len(known[1])] = known[1]
                allowed[[no for no in changed if no < len(allowed)]] = False
            allowed[numbers] = True
            if not con.writing:
                self._passing.put(filters, (now, allowed))
            return allowed
