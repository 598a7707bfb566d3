"""Recall: from a question to ranked hits.

question ─ terms ─┬─ full text ─┐
                  └─ vectors ───┴─ candidates (and neighbouring turns) ─ fuse ─ relevant? ─ fold ─ pack ─ hits
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from hexad.core.clock import Clock
from hexad.database.codec import from_micros
from hexad.errors import BudgetExceeded, ProviderError
from hexad.memory.link import Linked
from hexad.memory.memory import CheckedCitation, Citation, Memory
from hexad.memory.query import Dropped, Filters, Hit, Hits
from hexad.memory.store import Stores
from hexad.memory.tables.ranking_columns import RankingRow, StandingText
from hexad.memory.tables.updates import SURE, PlainText, UpdateLink
from hexad.providers.embedders.base import QueryEmbedder
from hexad.search.coverage import coverage_note
from hexad.search.recall.candidate_search import CandidateSearch
from hexad.search.recall.candidate_vectors import of_sentences
from hexad.search.recall.fusion import DEFAULT_WEIGHTS, MENTION_WEIGHTS, Candidate, CosineSpread, Fusion
from hexad.search.recall.query_terms import (
    SEQUENCE_MOST,
    RecallOptions,
    Terms,
    check_query,
    in_first_person,
    is_user,
    names_speaker,
    understand,
    without_names,
)
from hexad.search.recall.recall_log import RecallLog
from hexad.search.recall.relevance import NEAR_RELEVANCE, near_floor
from hexad.search.recall.results import (
    EXPLAINED,
    Candidates,
    RankedHit,
    Ranking,
    Reordered,
    Seed,
    Seeds,
    as_sequence,
    best_chunk,
    branch_of,
    by_time,
    changed_texts,
    cut,
    dropped_for,
    explain,
    follow,
    heard,
    is_near,
    layer_of,
    missing_literals,
    more_linked,
    names_nothing,
    parts_of,
    why_none_passes,
    why_of,
    with_definitions,
)
from hexad.search.recall.successors import last_links, lifts, successors
from hexad.text.requests import SequenceForm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.search.recall.mentions import ScoredPassage
    from hexad.search.recall.overdue_facts import OverdueFact
    from hexad.search.recall.reranking import Reranking
    from hexad.search.recall.standing import FindFitting


VECTOR_RANKED: Final = 200
"""How many of the nearest are candidates."""
NEIGHBOURS_OF: Final = 100
"""How many of the best matches bring their neighbouring turns along."""
TEXT_ALONE: Final = "By full text alone; semantic=True also compares by meaning."
AHEAD: Final = 2
"""So many of the best hits stand before what somebody wants of answers."""
STANDING: Final = 3
"""So many of the things that somebody wants of answers are placed there."""
COMPARED: Final = 8
"""So many of the best candidates are compared with each other: which of them says otherwise what another one said."""
COMPARED_CHARACTERS: Final = 400
"""Longer texts, and longer questions, are not compared."""

SEQUENCE_SHARE: Final = 0.3
"""What a question for several memories gets has at least so much of the best one's score."""

CHECKED: Final = 30
"""So many of the best candidates have what they cite held against the working tree."""
CODE: Final = "code"
OUTGROWN: Final = 0.25
"""So much of the best score a memory loses of whose citations none stands as it was."""

_TOO_LITTLE: Final = (
    "nothing in the store seems to answer the question; min_relevance=0 shows what is nearest"
)


class Edge(Protocol):
    """An edge of the honeycomb: to which memory, and how strong."""

    @property
    def to_id(self) -> int:
        """The row number of the memory that it leads to."""

    @property
    def score(self) -> float:
        """Its strength."""


Rings = Callable[[Sequence[int]], Mapping[int, Sequence[Edge]]]
"""From the row numbers of memories to the edges of their main rings."""


class ApplyBoost(Protocol):
    """Lets verdicts on earlier answers count for the candidates in `order`."""

    def __call__(
        self,
        judged: Iterable[tuple[int, str, str, int]],
        candidates: Candidates,
        fusion: Fusion,
        order: Sequence[int],
        *,
        asked: str | None,
        now: datetime,
    ) -> None:
        """Move the candidates, by what was `judged` of them as answers to a question like this one."""


LikelyLinks = Callable[[str, Sequence[PlainText], Sequence[int], Sequence[UpdateLink]], Sequence[UpdateLink]]
"""Of a question and plain texts, with the numbers of all candidates in order: which text seems to replace which."""


class FindOverdue(Protocol):
    """Finds facts that are over, where maintenance has not been since."""

    def __call__(
        self, stores: Stores, keys: Iterable[tuple[str, int]], *, now: datetime
    ) -> Mapping[int, OverdueFact]:
        """Return them by row number, of the looks of facts with their spaces' numbers."""


class PutCodeFirst(Protocol):
    """Brings code before what speaks of it."""

    def __call__(
        self,
        search: CandidateSearch,
        candidates: Candidates,
        order: Sequence[int],
        places: Mapping[int, RankingRow],
        fusion: Fusion,
        *,
        filters: Filters,
    ) -> Mapping[int, Sequence[ScoredPassage]]:
        """Move the candidates in `order`, of which some are code; return the passages of each."""


class Successions(NamedTuple):
    """How a recall finds what came in the place of a candidate, what holds for the answer, which code comes first.

    `assertion` tells of a text what it says that does not say what is.
    """

    overdue: FindOverdue
    likely: LikelyLinks
    fitting: FindFitting
    code_first: PutCodeFirst
    assertion: Callable[[str], str | None]


class CheckCitations(Protocol):
    """Says what became of cited places in the working tree."""

    def check(self, citations: Sequence[Citation]) -> tuple[CheckedCitation, ...]:
        """Return what became of those that can be checked."""


Unembedded = ProviderError | BudgetExceeded
"""Why a question has no vector."""


def _beside(row: RankingRow, seats: Mapping[tuple[int, int | None], int]) -> tuple[int, ...]:
    """Return the seats of the turns directly before and after a turn."""
    session, position = row.session_no, row.position
    if session is None or position is None:
        return ()
    before, after = seats.get((session, position - 1)), seats.get((session, position + 1))
    return tuple([seat for seat in (before, after) if seat is not None])


class Recaller:
    """Answers questions from one store."""

    def __init__(
        self,
        stores: Stores,
        search: CandidateSearch,
        *,
        embed_query: QueryEmbedder | None,
        handouts: RecallLog | None,
        clock: Clock,
        rings: Rings,
        successions: Successions,
        boost: ApplyBoost | None = None,
        background: bool = False,
    ) -> None:
        """`boost` lets verdicts on earlier answers count, None never; `rings` are the edges of the honeycomb.

        `background` says that vectors that are missing are on their way.
        """
        self._stores, self.search = stores, search
        self._boost, self._rings, self._successions = boost, rings, successions
        self._background = background
        self.reranking: Reranking | None = None
        self.citations: Callable[[], CheckCitations] | None = None
        self._embed_query = embed_query
        self._handouts = handouts
        self._clock = clock

    def with_query_embedder(self, wrap: Callable[[QueryEmbedder], QueryEmbedder]) -> Recaller:
        """Return a recaller of the same store with its own way to embed a question; it notes no handouts."""
        recaller = Recaller(
            self._stores,
            self.search,
            embed_query=None if self._embed_query is None else wrap(self._embed_query),
            handouts=None,
            clock=self._clock,
            rings=self._rings,
            successions=self._successions,
            boost=self._boost,
            background=self._background,
        )
        recaller.citations = self.citations
        return recaller

    def recall(self, query: str, options: RecallOptions) -> Hits:
        """Return what best answers `query`, best first; empty when nothing is relevant."""
        started = self._clock.monotonic()
        timings: dict[str, float] = {}
        with self._stores.db.read():
            terms = self._understand(query, options)
            compares = self._compares(options)
        in_order = options.whole and terms.form is not None
        if in_order:
            options = replace(options, limit=SEQUENCE_MOST, folds=False)  # who counts means each time
        vector, failure = self._vector(terms, options) if compares else (None, None)
        timings["embed"] = self._ms(started)
        reranking = self.reranking_of(options)
        with self._stores.db.read():
            candidates = self.search.search(terms, vector, options)
            timings["search"] = self._ms(started) - timings["embed"]
            ranking = self._rank(candidates, options)
            best, left_out = self._pack(
                candidates, ranking, options if reranking is None else reranking.widened(options)
            )
            none_passes = None if best else why_none_passes(self._stores, options.filters)
            notes = () if none_passes else self._notes(options, candidates, failure)
        reordered = Reordered(hits=best)
        if reranking is not None:  # no lock is held while somebody else is asked
            local_ms = self._ms(started)
            reordered = reranking.reorder(query, best, options, ranking.current)
            timings["rerank"] = self._ms(started) - local_ms
        hits, dropped = cut(reordered.hits, options, left_out)
        if in_order:
            hits = by_time(hits, ranking.places)
        linked, beyond = self._links(hits) if options.follow_links else ((), 0)
        timings["total"] = self._ms(started)
        if self._handouts is not None:
            self._handouts.note(hits, at=self._clock.now())
        reranked = () if reordered.failure is None else (f"In the store's own order: {reordered.failure}",)
        answer = Hits(
            items=tuple(hit for _, hit in hits),
            mode="hybrid" if candidates.answer is not None else "lexical",
            late=(*(("vector",) if failure is not None else ()), *(("rerank",) if reranked else ())),
            dropped=tuple(dropped),
            explanation=explain(candidates, ranking, timings, reordered.scores) if options.explain else None,
            notes=(none_passes,)
            if none_passes
            else (
                *changed_texts(hits, ranking.places),
                *notes,
                *reranked,
                *reordered.notes,
                *more_linked(beyond),
            ),
            linked=linked,
        )
        return as_sequence(answer, terms.form) if in_order and terms.form is not None else answer

    def reranking_of(self, options: RecallOptions) -> Reranking | None:
        """Return what reorders an answer; raises `ProviderError` where the caller insists and there is nothing."""
        if options.rerank and self.reranking is None:
            raise ProviderError(
                "This store was opened without a reranker.",
                remedy="Set `rerank` in hexad.toml, or recall without {rerank=True}.",
            )
        return None if options.rerank is False else self.reranking

    def _links(self, hits: Sequence[tuple[int, Hit]]) -> tuple[tuple[Linked, ...], int]:
        with self._stores.db.read():
            return follow(self._stores, [no for no, _ in hits])

    def rank(self, query: str, options: RecallOptions) -> Seeds:
        """Return what `recall` would find, without its texts: for walks that go on from there, and for bundles."""
        with self._stores.db.read():
            terms = self._understand(query, options)
            compares = self._compares(options)
        vector, failure = self._vector(terms, options) if compares else (None, None)
        with self._stores.db.read():
            candidates = self.search.search(terms, vector, options)
            ranking = self._rank(candidates, options)
            kept_candidates, _ = self._fold(candidates, ranking, options)
            notes = self._notes(options, candidates, failure)
        best = max((match.bm25 for match in candidates.lexical.values()), default=0.0) or 1.0
        return Seeds(
            [
                Seed(
                    candidate.no,
                    candidate.score,
                    best_chunk(candidates, candidate.no, ranking.fusion.parts(candidate.seat)),
                    candidate.relevance,
                    candidates.lexical[candidate.no].bm25 / best
                    if candidate.no in candidates.lexical
                    else 0.0,
                )
                for candidate in kept_candidates
            ],
            notes,
            vector,
            candidates.evidence,
        )

    def _understand(self, query: str, options: RecallOptions) -> Terms:
        terms = understand(check_query(query), now=self._clock.now())
        places, spaces = self._stores.places, options.filters.spaces
        named = {no: name for no, name in places.speakers().items() if names_speaker(name, terms.words)}
        if named and spaces:
            named = {no: named[no] for no in places.speaking_in(spaces, named)}
        return replace(terms, speakers=named) if named else terms

    def _compares(self, options: RecallOptions) -> bool:
        """Return whether there are vectors to compare a question with; raises `ProviderError` where there must be."""
        if options.semantic is False:
            return False
        if self._embed_query is not None and (
            self.search.has_vectors() or (self.search.computes_vectors() and not options.semantic)
        ):
            return True
        if options.semantic:  # of a few candidates is not enough for who insists on meaning
            raise ProviderError(
                "This store has no vectors of the open embedder, or no embedder is open: it cannot "
                "be searched by meaning.",
                remedy="Run `hexad maintain` to compute them, or recall without {semantic=True}.",
            )
        return False

    def _vector(
        self, terms: Terms, options: RecallOptions
    ) -> tuple[NDArray[np.float32] | None, Unembedded | None]:
        """Return the question's vector, or why it has none."""
        if self._embed_query is None:
            return None, None
        try:
            spaces = options.filters.spaces or ()
            question = terms.question
            if self._stores.roles is None:  # a name that the question holds is not to be confirmed
                question = without_names(question, terms.speakers.values())
            return self._embed_query(question, spaces[0] if len(spaces) == 1 else None), None
        except (ProviderError, BudgetExceeded) as error:
            if options.semantic:
                raise
            return None, error  # full text still knows the answer's words; the result says what was missing

    # Ranking ---------------------------------------------------------------------------------------------------

    def _rank(self, found_candidates: Candidates, options: RecallOptions) -> Ranking:
        filters, association = options.filters, options.association
        nearest = (
            list(found_candidates.answer.crowding)[:VECTOR_RANKED]
            if found_candidates.answer is not None
            else []
        )
        numbers = {
            *found_candidates.lexical,
            *nearest,
            *found_candidates.literals,
            *found_candidates.defined,
            *(text.no for text in found_candidates.standing),
        }
        required = found_candidates.required
        if required is not None:
            numbers &= required
        places = self._stores.places.of(numbers)
        neighbours = self._stores.places.neighbours_of(
            places[no] for no in list(found_candidates.lexical)[:NEIGHBOURS_OF] if no in places
        )
        found_candidates.neighbours = frozenset(neighbours)
        present = self._stores.places.present()
        if present.updates:
            found_candidates.updates = self._stores.updates.of(places, until=options.as_of)
        missing = {*found_candidates.neighbours, *found_candidates.brought} - set(places)
        if required is not None:
            missing &= required
        if not filters.empty:
            missing = self._stores.places.passing(missing, filters)
        places.update(self._stores.places.of(missing))
        order = sorted(places)
        candidates = self._candidates(found_candidates, places, order)
        answer = found_candidates.answer
        spread = CosineSpread(answer.mean, answer.deviation) if answer is not None else None
        evidence = found_candidates.evidence
        counts = not options.near and found_candidates.terms.form in (SequenceForm.COUNT, SequenceForm.LIST)
        fusion = Fusion(
            candidates,
            spread,
            rows=evidence.rows,
            share=evidence.share,
            weights=MENTION_WEIGHTS if counts else DEFAULT_WEIGHTS,
        )
        if seats := {no: seat for seat, no in enumerate(order) if places[no].session_no is not None}:
            nearest_sentences = of_sentences(self._stores, found_candidates.vector, seats, fusion.scores)
            fusion.weigh_sentences(nearest_sentences)
        self._put_code_first(found_candidates, order, places, fusion, filters)
        if association:
            self._associate(order, fusion, share=association)
        if options.feedback and present.verdicts:
            self._heed_verdicts(found_candidates, order, fusion, options)
        self._check_citations(found_candidates, order, places, fusion)
        current = self._put_successors_first(found_candidates, order, places, fusion)
        self._place_standing(found_candidates.standing, order, fusion)
        best = sorted((-fusion.scores[seat], places[no].id, seat) for seat, no in enumerate(order))
        hits: Sequence[RankedHit] = [
            RankedHit._make((order[seat], -score, seat, 0.0, None, 0.0, 0.0)) for score, _, seat in best
        ]
        if options.definitions and found_candidates.passages:
            hits = with_definitions(hits, found_candidates, fusion, limit=options.limit)
        return Ranking(
            places=places,
            hits=hits,
            fusion=fusion,
            current=current,
            evidence=evidence,
            bm25=[candidate.bm25 for candidate in candidates],
        )

    def _associate(self, order: Sequence[int], fusion: Fusion, *, share: float) -> None:
        """Let candidates gain from their neighbours in the honeycomb."""
        seats = {no: seat for seat, no in enumerate(order)}
        rings = self._rings(order)
        edges = [[(seats.get(row.to_id), row.score) for row in rings.get(no, [])] for no in order]
        fusion.associate(edges, share=share)

    def _heed_verdicts(
        self, candidates: Candidates, order: Sequence[int], fusion: Fusion, options: RecallOptions
    ) -> None:
        """Let what was said of earlier answers count."""
        if self._boost is not None and (judged := self._stores.places.judged(order)):
            self._boost(judged, candidates, fusion, order, asked=options.asked, now=self._clock.now())

    def _put_code_first(
        self,
        candidates: Candidates,
        order: Sequence[int],
        places: Mapping[int, RankingRow],
        fusion: Fusion,
        filters: Filters,
    ) -> None:
        """Bring code before the tests, changelogs and guides that speak of it."""
        if CODE in {place.kind for place in places.values()}:
            scored = self._successions.code_first(
                self.search, candidates, order, places, fusion, filters=filters
            )
            candidates.passages = {order[seat]: passages for seat, passages in scored.items()}

    def _check_citations(
        self, candidates: Candidates, order: Sequence[int], places: Mapping[int, RankingRow], fusion: Fusion
    ) -> None:
        """Hold what the best candidates cite against the working tree; what it has outgrown sinks."""
        if self.citations is None or not any(place.is_checked for place in places.values()):
            return
        best = nlargest(CHECKED, range(len(order)), key=fusion.scores.__getitem__)
        citing = self._stores.memories.citing([order[seat] for seat in best])
        if citing:
            check = self.citations().check
            candidates.citations = {no: check(cited) for no, cited in citing.items()}
            stale = {
                seat: sum(each.stale for each in checked) / len(checked)
                for seat in best
                if (checked := candidates.citations.get(order[seat]))
            }
            fusion.sink(stale, most=OUTGROWN)

    def _put_successors_first(
        self, candidates: Candidates, order: Sequence[int], places: Mapping[int, RankingRow], fusion: Fusion
    ) -> dict[int, int]:
        """Lift what takes the place of others before them; return what surely stands for which candidate now."""
        sure = [link for link in candidates.updates if link.confidence >= SURE]
        links = [*sure, *self._likely_links(candidates, order, places, fusion.scores)]
        if not links:
            return {}
        # What holds what the question names literally is asked for, whatever came in its place; a plain number may be
        # the former value of what is asked about.
        literals = {
            no: {literal for literal in held if not literal.isdigit()}
            for no, held in candidates.literals.items()
        }
        lifting = [link for link in links if literals.get(link.old, set()) <= literals.get(link.new, set())]
        seats = {no: seat for seat, no in enumerate(order)}
        fusion.lift(lifts(lifting, seats, fusion.scores))
        return {no: link.new for no, link in last_links(lifting).items() if link.new in seats}

    def _place_standing(self, standing: Sequence[StandingText], order: Sequence[int], fusion: Fusion) -> None:
        """Place what holds for the answer behind the best hits, where one of these is of the same conversation."""
        if not standing:
            return
        best = nlargest(AHEAD, range(len(order)), key=fusion.scores.__getitem__)
        heard = self._stores.places.conversations([order[seat] for seat in best])
        seats = {no: seat for seat, no in enumerate(order)}
        texts = [text for text in standing if text.no in seats and text.conversation in heard][:STANDING]
        placed = [seats[text.no] for text in texts if seats[text.no] not in best]
        if placed:
            fusion.place(placed, below=fusion.scores[best[-1]])

    def _likely_links(
        self,
        candidates: Candidates,
        order: Sequence[int],
        places: Mapping[int, RankingRow],
        scores: Sequence[float],
    ) -> Sequence[UpdateLink]:
        question = candidates.terms.question
        weak = [link for link in candidates.updates if link.confidence < SURE]
        if len(question) > COMPARED_CHARACTERS:
            return weak
        best = [order[seat] for seat in nlargest(COMPARED, range(len(order)), key=scores.__getitem__)]
        plain = [no for no in best if places[no].is_plain]
        texts = self._stores.updates.plain(plain, characters=COMPARED_CHARACTERS) if len(plain) > 1 else []
        links = self._successions.likely(question, texts, best, weak) if len(texts) > 1 else weak
        rejected = self._stores.updates.rejected([link.old for link in links]) if links else set()
        return [link for link in links if (link.old, link.new) not in rejected]

    def _candidates(
        self, found_candidates: Candidates, places: Mapping[int, RankingRow], order: Sequence[int]
    ) -> list[Candidate]:
        rows = [places[no] for no in order]
        seats = {
            (row.session_no, row.position): index
            for index, row in enumerate(rows)
            if row.session_no is not None
        }
        speakers = found_candidates.terms.speakers
        if self._stores.roles is not None:  # a name that the question holds is not to be confirmed
            there = {places[no].speaker_no for no in order}
            speakers = {no: name for no, name in speakers.items() if no in there}
        found_candidates.speakers = tuple(sorted(speakers.values())) if seats else ()
        askers = {no for no, name in speakers.items() if is_user(name)}
        if in_first_person(found_candidates.terms.words):
            askers |= self._stores.places.users_among(order)
        dates = found_candidates.terms.dates
        named_literals = len(found_candidates.terms.phrases) + len(found_candidates.terms.tokens)
        lexical, literals, defined = (
            found_candidates.lexical,
            found_candidates.literals,
            found_candidates.defined,
        )
        best: Mapping[int, tuple[float, int]] = {}
        crowding: Mapping[int, float] = {}
        if (answer := found_candidates.answer) is not None:
            best, crowding = answer.best, answer.crowding
        nobody, nothing = not speakers and not askers, [0.0] * len(rows)
        columns = zip(
            [lexical[no].bm25 if no in lexical else 0.0 for no in order],
            [best[no][0] if no in best else None for no in order],
            [crowding.get(no, 0.0) for no in order],
            [_beside(row, seats) for row in rows] if seats else [()] * len(rows),
            [row.session_no for row in rows],
            [0] * len(rows) if nobody else [heard(row, speakers, askers) for row in rows],
            [False] * len(rows)
            if dates is None
            else [dates.covers(from_micros(row.happened_at)) for row in rows],
            [bool(row.asks) for row in rows],
            [row.words for row in rows],
            [sum(literals[no].values()) / max(named_literals, 1) if no in literals else 0.0 for no in order]
            if literals
            else nothing,
            [defined[no].weight if no in defined else 0.0 for no in order] if defined else nothing,
            strict=True,
        )
        return list(map(Candidate._make, columns))

    # The answer ------------------------------------------------------------------------------------------------

    def _pack(
        self,
        candidates: Candidates,
        ranking: Ranking,
        options: RecallOptions,
    ) -> tuple[list[tuple[int, Hit]], list[Dropped]]:
        kept_candidates, dropped = self._fold(candidates, ranking, options)
        if not options.explain:
            dropped = []
        memories, chunks = self._stores.memories.with_chunks([candidate.no for candidate in kept_candidates])
        replaced = self._stores.memories.replaced(list(memories.values()))
        later = successors(self._stores, candidates.updates, memories) if candidates.updates else {}
        before = {overrun.by: overrun.was for overrun in candidates.overdue.values()}
        parts_of_all = [parts_of(candidate, ranking.fusion) for candidate in kept_candidates]
        shown = [
            candidate.chunk_no or best_chunk(candidates, candidate.no, parts)
            for candidate, parts in zip(kept_candidates, parts_of_all, strict=True)
        ]
        hits: list[tuple[int, Hit]] = []
        for candidate, parts, chunk_no in zip(kept_candidates, parts_of_all, shown, strict=True):
            memory = memories[candidate.no]
            hit = Hit(
                memory=memory,
                chunk=chunks.get(chunk_no, memory.chunks[0]) if memory.chunks else None,
                score=candidate.score,
                relevance=candidate.relevance,
                parts=parts,
                layer=layer_of(memory),
                why=why_of(candidates, candidate.no, parts),
                replaced=replaced.get(memory.id) or before.get(memory.id),
                superseded_by=later.get(candidate.no),
                citations=candidates.citations.get(candidate.no, ()),
                assertion=self._assertion(memory),
            )
            hits.append((candidate.no, hit))
        return hits, dropped

    def _assertion(self, memory: Memory) -> str | None:
        if memory.source is not None or len(memory.raw) > COMPARED_CHARACTERS:
            return None  # what a document says is said in its context
        return self._successions.assertion(memory.raw)

    def _fold(
        self,
        candidates: Candidates,
        ranking: Ranking,
        options: RecallOptions,
    ) -> tuple[list[RankedHit], list[Dropped]]:
        """Leave out what is not relevant and what says word for word the same as a better hit."""
        kept_hits: list[RankedHit] = []
        dropped: list[Dropped] = []
        seen: dict[str, str] = {}
        now = self._clock.now()
        facts = [no for no, place in ranking.places.items() if place.is_fact]
        if facts and (keys := self._stores.places.begun(facts, now=now)):
            candidates.overdue = self._successions.overdue(self._stores, keys, now=now)
        floor = near_floor(candidates.answer, sure=candidates.evidence.calibrated and not options.unasked)
        in_order = options.whole and candidates.terms.form is not None
        least = SEQUENCE_SHARE * max(0.0, ranking.hits[0].score) if in_order and ranking.hits else None
        silent = options.min_relevance is None and (
            not candidates.evidence.speaks(unasked=options.unasked) or names_nothing(candidates)
        )
        told = EXPLAINED if options.explain else 0
        for candidate in ranking.ranked():
            place = ranking.places[candidate.no]
            if silent or candidate.relevance < (options.min_relevance or 0.0):
                reason = _TOO_LITTLE if silent else f"its relevance is below {options.min_relevance}"
            elif len(kept_hits) == options.limit:
                reason = f"after the limit of {options.limit}"
            elif least is not None and candidate.score < least:
                reason = f"its score is below {SEQUENCE_SHARE} of the best one's"
            elif candidate.no in candidates.overdue:
                reason = f"it is over: {candidates.overdue[candidate.no].by} holds by now"
            elif branch := branch_of(candidates.citations.get(candidate.no, ())):
                reason = f"it cites code of the branch {branch}, which is not merged here"
                candidates.branches.append(branch)
            elif (
                options.near
                and (options.unasked or candidate.relevance < NEAR_RELEVANCE)
                and not is_near(candidates, candidate.no, floor)
            ):
                reason = "neither its words nor its meaning come near the question"
            elif options.folds and seen.get(place.content_hash, place.id) != place.id:
                reason = f"repeats {seen[place.content_hash]} word for word"
            else:
                seen[place.content_hash] = place.id
                kept_hits.append(candidate)
                continue
            if len(dropped) >= told and (silent or len(kept_hits) == options.limit):
                break
            dropped.append(dropped_for(place, candidate, reason))
        return kept_hits, dropped

    def _ms(self, started: float) -> float:
        return round((self._clock.monotonic() - started) * 1000, 3)

    def _notes(
        self, options: RecallOptions, candidates: Candidates, failure: Unembedded | None
    ) -> tuple[str, ...]:
        modes = self._mode_notes(options, candidates, failure)
        if candidates.branches:
            count, names = len(candidates.branches), " and ".join(sorted(set(candidates.branches)))
            left = "1 memory cites" if count == 1 else f"{count} memories cite"
            modes = (f"Left out: {left} code of {names}, not merged here.", *modes)
        missing = () if options.near else missing_literals(candidates)
        if not missing:
            return modes
        literals = " and ".join(f"“{literal}”" for literal in missing)
        return (f"No memory holds {literals} as written: answered by words and meaning.", *modes)

    def _mode_notes(
        self, options: RecallOptions, candidates: Candidates, failure: Unembedded | None
    ) -> tuple[str, ...]:
        if failure is not None:
            return (f"Answered from full text alone: {failure}",)
        if options.semantic is False:
            return ()
        if self._embed_query is None:
            return (TEXT_ALONE,) if self._stores.places.present().vectors else ()
        spaces = options.filters.spaces
        share = 0.0 if candidates.answer is None else self.search.first_share()
        waits = coverage_note(self._stores, background=self._background, first=share, spaces=spaces)
        if waits is not None:
            return (waits,)
        if candidates.answer is not None:
            return ()
        return ("No vectors of this embedder yet: answered from full text alone.",)
