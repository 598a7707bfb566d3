"""What a recall found, and how it is told: reasons, explanations, drops."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from heapq import nlargest
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.errors import BudgetExceeded, ProviderError
from hexad.memory.link import Linked
from hexad.memory.memory import CheckedCitation, Memory
from hexad.memory.query import Dropped, Explanation, Filters, Hit, Hits, HitSequence
from hexad.memory.store import Stores
from hexad.memory.tables.ranking_columns import RankingRow, StandingText
from hexad.memory.tables.updates import UpdateLink
from hexad.search.fulltext import TextMatch
from hexad.search.recall.fusion import Fusion
from hexad.search.recall.query_terms import SEQUENCE_MOST, RecallOptions, Terms
from hexad.search.recall.relevance import Evidence, leads
from hexad.search.recall.successors import last_links
from hexad.search.vectors.index import VectorAnswer
from hexad.text.requests import SequenceForm
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.search.recall.mentions import ScoredPassage
    from hexad.search.recall.overdue_facts import OverdueFact


class Boost(NamedTuple):
    """What verdicts say of one memory: from -1 to 1, and how many said what of questions like this one."""

    strength: float
    helpful: int
    wrong: int


EXPLAINED: Final = 50
"""Candidates that an explanation lists."""


class DefinedAt(NamedTuple):
    """Where a memory defines what a question names: the chunk, the name, and how telling that is, 0 to 1."""

    chunk_no: int
    name: str
    weight: float


@dataclass
class Candidates:
    """What the arms found for one question. `matches` are chunks that full text found, `lexical` the best of each."""

    terms: Terms
    searched: Sequence[str]
    lexical: dict[int, TextMatch]
    matches: Sequence[TextMatch]
    answer: VectorAnswer | None
    evidence: Evidence
    speakers: tuple[str, ...] = ()
    neighbours: frozenset[int] = frozenset()
    updates: Sequence[UpdateLink] = ()
    boosts: Mapping[int, Boost] = field(default_factory=dict)
    overdue: Mapping[int, OverdueFact] = field(default_factory=dict)
    literals: Mapping[int, Mapping[str, float]] = field(
        default_factory=dict
    )  # by memory: what it holds, how rare
    defined: Mapping[int, DefinedAt] = field(default_factory=dict)  # by memory
    required: frozenset[int] | None = None
    standing: Sequence[StandingText] = ()
    vector: NDArray[np.float32] | None = None  # of the question
    citations: Mapping[int, tuple[CheckedCitation, ...]] = field(default_factory=dict)  # by memory
    branches: list[str] = field(default_factory=list)  # of what was left out since it is of them
    passages: Mapping[int, Sequence[ScoredPassage]] = field(
        default_factory=dict
    )  # by memory, where it is code

    @cached_property
    def brought(self) -> frozenset[int]:
        """What takes the place of others, whatever the question's words."""
        return frozenset(link.new for link in self.updates)

    def text_rank(self, no: int) -> int:
        """Return a matching memory's rank by full text, from 1; equals share one: no rank tells who came first."""
        return 1 + bisect_left(self._falling_bm25, -self.lexical[no].bm25)

    def vector_rank(self, no: int) -> int:
        """Return a scored memory's rank by cosine, as `text_rank` does."""
        return 1 + bisect_left(self._falling_cosines, -self.best[no][0])

    @property
    def best(self) -> Mapping[int, tuple[float, int]]:
        """The cosine and the chunk of each memory that was scored."""
        return {} if self.answer is None else self.answer.best

    @cached_property
    def _falling_bm25(self) -> Sequence[float]:
        return sorted([-match.bm25 for match in self.lexical.values()])

    @cached_property
    def _falling_cosines(self) -> Sequence[float]:
        return sorted([-cosine for cosine, _ in self.best.values()])


class Seed(NamedTuple):
    """A memory that a question points at: its number and score, the chunk that answers best, how likely it is right.

    `share` is its bm25 as a share of the best one's.
    """

    no: int
    score: float
    chunk_no: int
    relevance: float
    share: float


class Seeds(NamedTuple):
    """What a question points at, the best first; what recall notes about it; the question's vector; the evidence."""

    seeds: list[Seed]
    notes: tuple[str, ...]
    vector: NDArray[np.float32] | None
    evidence: Evidence


class RankedHit(NamedTuple):
    """One candidate with its score and how likely it is right; `seat` is its place in the fusion.

    `chunk_no` is that of a further definition in it, which is `below` the score of the candidate; `moved` is by how
    much what speaks for its passage alone moved it.
    """

    no: int
    score: float
    seat: int
    relevance: float = 0.0
    chunk_no: int | None = None
    below: float = 0.0
    moved: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """All candidates of one question: `hits`, best first, and what stands for which of them now, which is `current`."""

    places: Mapping[int, RankingRow]
    hits: Sequence[RankedHit]
    fusion: Fusion
    current: Mapping[int, int]
    evidence: Evidence
    bm25: Sequence[float]

    def ranked(self) -> Iterator[RankedHit]:
        """Give the hits with how likely each is right, as far as they are asked for."""
        # A memory takes nothing from what surely took its place: that was put right before it.
        texts = (self.places[self.current.get(hit.no, hit.no)].content_hash for hit in self.hits)
        ahead = leads([hit.score for hit in self.hits], texts)
        words = max(self.bm25, default=0.0) or 1.0
        for rank, (hit, lead) in enumerate(zip(self.hits, ahead, strict=True)):
            relevance = self.evidence.relevance(lead=lead, rank=rank, share=self.bm25[hit.seat] / words)
            yield hit._replace(relevance=relevance)


Numbered = tuple[int, Hit]
"""A hit with the row number of its memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """Hits as a reranker has them, its scores by row number; or in their own order, with why it has none."""

    hits: list[Numbered]
    scores: Mapping[int, float] = field(default_factory=dict)
    failure: ProviderError | BudgetExceeded | None = None
    notes: tuple[str, ...] = ()


def layer_of(memory: Memory) -> str:
    """Return the layer of a hit by its origin."""
    if memory.kind == "decision":
        return "governance"
    return "vector" if memory.source is not None else "project"


def best_chunk(candidates: Candidates, no: int, parts: Mapping[str, float]) -> int:
    """Return the number of the chunk that answers best: of the arm that counted more."""
    if no in candidates.defined:
        return candidates.defined[no].chunk_no
    if no in candidates.passages:
        return best_passage(candidates.passages[no]).chunk_no
    match = candidates.lexical.get(no)
    near = candidates.answer.best.get(no) if candidates.answer is not None else None
    by_text = parts.get("lexical", 0.0) >= parts.get("vector", 0.0)
    if match is not None and (by_text or near is None or near[1] == 0):
        return match.chunk_no
    return near[1] if near is not None else 0


FURTHER: Final = 0.5
"""A definition that answers less than half as well as the best one of its file is no hit of its own."""


def best_passage(passages: Sequence[ScoredPassage]) -> ScoredPassage:
    """Return the passage that answers best; of equals the first in the file."""
    return max(passages, key=lambda passage: (passage.score, -passage.chunk_no))


def with_definitions(
    ranked: Sequence[RankedHit], candidates: Candidates, fusion: Fusion, *, limit: int
) -> Sequence[RankedHit]:
    """Return the hits with further definitions of files of code among them, each at the place of its own score.

    A file has the score of its best passage, and a further definition as much less as its own best passage has. What
    would come after `limit` files anyway is not looked at. The places that code has so are given to the definitions
    in the order of what speaks for each by itself.
    """
    least = ranked[limit - 1].score if len(ranked) >= limit else None
    definitions: dict[int, list[RankedHit]] = {}
    for hit in ranked:
        if least is not None and hit.score <= least:
            break
        if passages := candidates.passages.get(hit.no):
            definitions[hit.no] = _further(hit, passages, best_chunk(candidates, hit.no, {}))
    further = [
        definition
        for of_file in definitions.values()
        for definition in of_file
        if least is None or definition.score > least
    ]
    hits = sorted([*ranked, *further], key=lambda hit: -hit.score) if further else ranked
    return _in_own_order(hits, candidates, fusion, definitions)


_OF_PASSAGES: Final = ("lexical", "vector", "mentioned", "definition")
"""Parts of a file's score that are of some of its passages, and not of all."""


def _in_own_order(
    hits: Sequence[RankedHit],
    candidates: Candidates,
    fusion: Fusion,
    definitions: Mapping[int, Sequence[RankedHit]],
) -> Sequence[RankedHit]:
    """Return the hits with those of code in the order of their passages' own scores, at the places that code has.

    `definitions` are further ones by their file, as far as they are known. The score of a long file has the words of
    one passage and the meaning of another: all that it defines would stand too high. Where a question names something
    literally, it is found where that stands.
    """
    places = [place for place, hit in enumerate(hits) if hit.no in candidates.passages]
    if len(places) < 2 or candidates.defined or candidates.literals:
        return hits
    own: list[tuple[float, RankedHit]] = []
    for hit in (hits[place] for place in places):
        if hit.chunk_no is None:
            passages, parts = candidates.passages[hit.no], fusion.parts(hit.seat)
            best = best_passage(passages)
            most = hit.score - sum(parts.get(name, 0.0) for name in _OF_PASSAGES) + best.score
            further = definitions.get(hit.no)
            if further is None:
                further = _further(hit, passages, best.chunk_no)
            own += [(most - each.below, each) for each in (hit, *further)]
    ordered = list(hits)
    for place, (_, hit) in zip(places, nlargest(len(places), own, key=lambda scored: scored[0]), strict=True):
        score = hits[place].score
        ordered[place] = hit._replace(score=score, moved=score - hit.score)
    return ordered


def _further(hit: RankedHit, passages: Sequence[ScoredPassage], shown: int) -> list[RankedHit]:
    """Return the definitions of a file but that of the passage that is shown, each with its best passage."""
    best = best_passage(passages).score
    further: list[RankedHit] = []
    headings = {"", *(passage.heading for passage in passages if passage.chunk_no == shown)}
    near = [each for each in passages if best > 0 and each.score > FURTHER * best]
    for passage in sorted(near, key=lambda each: (-each.score, each.chunk_no)):
        if passage.heading not in headings:
            headings.add(passage.heading)
            below = best - passage.score
            further.append(RankedHit(hit.no, hit.score - below, hit.seat, 0.0, passage.chunk_no, below))
    return further


_REASONS: Final = {
    "mentioned": "a passage that answers mentions it",
    "definition": "it defines what a text that answers names",
    "passage": "it stands among code by what speaks for this passage alone",
    "aside": "a test or a changelog, which the question does not ask for",
    "standing": "it says what its user wants of answers, and comes near this request",
}


def parts_of(hit: RankedHit, fusion: Fusion) -> dict[str, float]:
    """Return what each signal adds to a hit's score; the values sum to it."""
    parts = fusion.parts(hit.seat)
    if hit.chunk_no is not None:
        parts["further"] = -hit.below
    if hit.moved:
        parts["passage"] = hit.moved
    return parts


def why_of(candidates: Candidates, no: int, parts: Mapping[str, float]) -> tuple[str, ...]:
    """Return in words what speaks for a memory."""
    why: list[str] = []
    if no in candidates.lexical:
        why.append(f"full text rank {candidates.text_rank(no)} (bm25 {candidates.lexical[no].bm25:.2f})")
    if candidates.answer is not None and no in candidates.answer.best:
        rank, cosine = candidates.vector_rank(no), candidates.best[no][0]
        estimated = no in candidates.answer.estimated
        why.append(f"vector rank {rank} ({'first estimate of the ' if estimated else ''}cosine {cosine:.2f})")
    if no in candidates.literals:
        why.append(f"holds {', '.join(candidates.literals[no])} as written")
    if no in candidates.defined:
        why.append(f"defines {candidates.defined[no].name}")
    if parts.get("sentence"):
        why.append("a sentence of it comes nearer than the whole")
    if parts.get("session"):
        why.append("its session speaks of it")
    if parts.get("speaker", 0.0) > 0:
        why.append("the question names its speaker")
    if parts.get("successor"):
        linked = no in candidates.brought
        why.append(f"it {'takes' if linked else 'seems to take'} the place of an older one that answers")
    why += [reason for part, reason in _REASONS.items() if parts.get(part)]
    if "further" in parts:
        why.append("a further definition of a file that answers")
    if parts.get("date"):
        why.append("it is from the time that the question names")
    if (boost := candidates.boosts.get(no)) is not None and parts.get("feedback"):
        why.append(f"said of answers to questions like this: helpful {boost.helpful}, wrong {boost.wrong}")
    why += map(str, candidates.citations.get(no, ()))
    return tuple(why)


def heard(place: RankingRow, named: Collection[int], askers: Collection[int]) -> int:
    """Return 1 where the question names who speaks, -1 where it is asked in the first person and another one speaks.

    What nobody says in a conversation, such as a note, may be whoever's who asks.
    """
    if place.speaker_no is None or place.speaker_no in askers:
        return 0
    return 1 if place.speaker_no in named else -bool(askers)


def branch_of(citations: Sequence[CheckedCitation]) -> str | None:
    """Return the branch that all cited places are on which can be checked, where that is not checked out nor merged."""
    if not citations or any(each.branch is None for each in citations):
        return None
    return citations[0].branch


def is_near(candidates: Candidates, no: int, floor: float) -> bool:
    """Return whether a memory is near the question: by a word, by its neighbour, by what it replaces, or by meaning."""
    if no in candidates.lexical or no in candidates.neighbours or no in candidates.brought:
        return True
    near = candidates.answer.best.get(no) if candidates.answer is not None else None
    return near is not None and near[0] >= floor


def missing_literals(candidates: Candidates) -> tuple[str, ...]:
    """Return the phrases of a question where nothing holds them all, and its exact tokens that nothing holds.

    A bare number, such as the 3 of "3 days", may stand for nothing in particular.
    """
    terms = candidates.terms
    phrases = terms.phrases if candidates.required is None else ()
    held = frozenset(chain.from_iterable(candidates.literals.values()))
    return (*phrases, *[token for token in terms.tokens if not token.isdigit() and token not in held])


def names_nothing(candidates: Candidates) -> bool:
    """Whether a question is numbers such as `9.9.9` alone and nothing holds them: no other word speaks for a hit."""
    return bool(candidates.terms.numbers) and not candidates.terms.wanted and not candidates.literals


def dropped_for(place: RankingRow, candidate: RankedHit, reason: str) -> Dropped:
    """Return a note of what was left out, and why."""
    return Dropped(memory_id=place.id, reason=reason, score=candidate.score)


def within(hits: list[Hit], max_tokens: int | None) -> tuple[list[Hit], list[Dropped]]:
    """Return the hits whose texts fit into so many tokens together, and what does not."""
    if max_tokens is None:
        return hits, []
    kept_hits: list[Hit] = []
    dropped: list[Dropped] = []
    spent = 0
    for hit in hits:
        cost = estimate_tokens(hit.text)
        if spent + cost > max_tokens:
            reason = f"{cost} tokens do not fit into the {max_tokens - spent} left of max_tokens"
            dropped.append(Dropped(memory_id=hit.id, reason=reason, score=hit.score))
        else:
            spent += cost
            kept_hits.append(hit)
    return kept_hits, dropped


def cut(
    hits: Sequence[Numbered], options: RecallOptions, dropped: Sequence[Dropped]
) -> tuple[list[Numbered], list[Dropped]]:
    """Return what fits into the caller's limit and tokens, and what was left out."""
    beyond = hits[options.limit :] if options.explain else ()
    reason = f"after the limit of {options.limit}"
    late = [Dropped(memory_id=hit.id, reason=reason, score=hit.score) for _, hit in beyond]
    kept_hits, over = within([hit for _, hit in hits[: options.limit]], options.max_tokens)
    kept_ids = {id(hit) for hit in kept_hits}  # of a memory there may be several
    return [numbered for numbered in hits[: options.limit] if id(numbered[1]) in kept_ids], [
        *late,
        *dropped,
        *over,
    ]


def explain(
    candidates: Candidates,
    ranking: Ranking,
    timings: Mapping[str, float],
    rerank_scores: Mapping[int, float],
) -> Explanation:
    """Return what was considered and how sure the arms were."""
    dates, fusion = candidates.terms.dates, ranking.fusion
    considered: list[Mapping[str, JSONValue]] = []
    last = last_links(candidates.updates)
    for candidate in islice(ranking.ranked(), EXPLAINED):
        parts = parts_of(candidate, fusion)
        considered.append(
            {
                "id": ranking.places[candidate.no].id,
                "score": candidate.score,
                "relevance": candidate.relevance,
                "parts": dict(parts),
                "why": list(why_of(candidates, candidate.no, parts)),
                **_superseded(last.get(candidate.no), ranking),
                **({"rerank_score": rerank_scores[candidate.no]} if candidate.no in rerank_scores else {}),
            }
        )
    return Explanation(
        terms=tuple(term for term in candidates.terms.wanted if term in candidates.searched),
        ignored_terms=(
            *candidates.terms.ignored,
            *(term for term in candidates.terms.wanted if term not in candidates.searched),
        ),
        speakers=candidates.speakers,
        since=dates.start if dates is not None else None,
        until=dates.end if dates is not None else None,
        arms={
            "lexical": len(candidates.lexical),
            "vector": len(candidates.answer.crowding) if candidates.answer is not None else 0,
            "candidates": len(ranking.places),
        },
        confidence={"lexical gap": fusion.gap, "vector peak": fusion.peak},
        timings_ms=timings,
        considered=tuple(considered),
    )


def _superseded(link: UpdateLink | None, ranking: Ranking) -> Mapping[str, JSONValue]:
    if link is None or link.new not in ranking.places:
        return {}
    return {
        "superseded_by": {
            "id": ranking.places[link.new].id,
            "reason": link.reason,
            "confidence": link.confidence,
        }
    }


_WANTED: Final = {
    SequenceForm.ORDER: "the order of events",
    SequenceForm.COUNT: "all that is to be counted",
    SequenceForm.LIST: "a whole list",
    SequenceForm.SUMMARY: "the course of events",
}


def by_time(hits: Sequence[Numbered], places: Mapping[int, RankingRow]) -> list[Numbered]:
    """Return hits in the order in which they came about, turns of one moment as they were said."""

    def moment(numbered: Numbered) -> tuple[int, int, int, int]:
        place = places[numbered[0]]
        return place.happened_at, place.session_no or 0, place.position or 0, place.no

    return sorted(hits, key=moment)


def as_sequence(hits: Hits, form: SequenceForm) -> Hits:
    """Return an answer whose hits stand in the order of time as what it is, with a note that says so."""
    count = len(hits)
    memories = "1 memory" if count == 1 else f"{count} memories"
    least = "at least " if count == SEQUENCE_MOST else ""
    note = (
        f"Understood as a question for {_WANTED[form]}: {least}{memories}, the earliest first. With a limit the best "
        "come first."
    )
    return HitSequence(
        form=form,
        **{each.name: getattr(hits, each.name) for each in fields(hits) if each.name != "notes"},
        notes=(note, *hits.notes) if hits else hits.notes,
    )


LINKED_LIMIT: Final = 20
"""Linked memories that one recall returns at most."""


def follow(
    stores: Stores, numbers: Sequence[int], *, limit: int = LINKED_LIMIT
) -> tuple[tuple[Linked, ...], int]:
    """Return what the memories `numbers`, in their order, are linked with, and how many more there are.

    A memory that is among `numbers`, or was reached before, is left out: it is in the answer already.
    """
    place = {no: at for at, no in enumerate(numbers)}
    answers = stores.memories.by_no(numbers)
    known_memory_ids = {memory.id for memory in answers.values()}
    links = sorted(stores.links.of(numbers), key=lambda pair: place[pair[0]])
    ends = [
        (no, link, link.target if link.source.id == answers[no].id else link.source) for no, link in links
    ]
    chosen = []
    for no, link, end in ends:
        if end.id not in known_memory_ids:
            known_memory_ids.add(end.id)
            chosen.append((no, link, end.id))
    targets = stores.memories.by_no([stores.memories.number(end) for _, _, end in chosen[:limit]])
    by_id = {memory.id: memory for memory in targets.values()}
    return (
        tuple(Linked(of=answers[no].id, link=link, memory=by_id[end]) for no, link, end in chosen[:limit]),
        max(0, len(chosen) - limit),
    )


def more_linked(beyond: int) -> tuple[str, ...]:
    """Return the note that says how many linked memories were left out, if any were."""
    return (f"{beyond} more linked memories were left out; `links` lists all of a memory.",) if beyond else ()


def changed_texts(hits: Sequence[Numbered], places: Mapping[int, RankingRow]) -> tuple[str, ...]:
    """Return a note that names the hits whose text is not the one that was stored, if any is not."""
    memories = {no: hit.memory for no, hit in hits}
    changed = [
        memory.id for no, memory in memories.items() if content_hash(memory.raw) != places[no].content_hash
    ]
    if not changed:
        return ()
    what = "The text of the memory" if len(changed) == 1 else "The texts of the memories"
    return (
        f"{what} {', '.join(map(repr, changed))} did not come out as stored: changed beneath Hexad, or damaged. "
        "`hexad check` looks at all of them; put a backup in its place.",
    )


# Where no memory passes the filters ---------------------------------------------------------------------------------

_SHOWN: Final = 8


def why_none_passes(stores: Stores, filters: Filters) -> str | None:
    """Return what no memory has of what `filters` ask, with what there is instead; None where some memory passes.

    Times, paths and what several filters ask together are named as they are: there is nothing else to offer.
    """
    chosen = replace(filters, spaces=None, roles=None)
    if chosen.empty or stores.places.any_passes(filters):
        return None
    if filters.kinds is not None:
        known = stores.memories.kinds()
        if not set(filters.kinds) & set(known):
            return f"No memory is of the kind {_listed(filters.kinds)}; {_instead(filters.kinds, known, 'kinds')}"
    if filters.tags is not None:
        known = stores.memories.tags()
        unknown = [tag for tag in filters.tags if tag not in known]
        if unknown:
            return f"No memory has the tag {_listed(unknown)}; {_instead(unknown, known, 'tags')}"
    return "No memory passes these filters; leave one out."


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return " or ".join(map(repr, names))


def _instead(names: tuple[str, ...] | list[str], known: list[str], what: str) -> str:
    from difflib import get_close_matches

    near = [match for name in names for match in get_close_matches(name, known)]
    shown = list(dict.fromkeys(near)) or known[:_SHOWN]
    if not shown:
        return "there is no memory yet." if what == "kinds" else f"there are no {what} yet."
    more = ", …" if not near and len(known) > len(shown) else ""
    return f"{'near it' if near else what + ' there are'}: {', '.join(shown)}{more}."
