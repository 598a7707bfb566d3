"""Links of memories in the honeycomb: derived after a memory has its vector, in the background.

A pair of memories is derived with the later of the two, the one of the higher number: each is connected, both ways,
with those of the earlier ones that are nearest to it, that stand beside it in a conversation or a document, that
relations name, and that share rare words of paths, tags and metadata with it. All but relations stay inside a space.
So the links follow from the memories and their numbers alone: not from when, in which order or by how many programs
they are derived. Where a memory changes, its own pairs are derived anew, and those later memories are queued for
which that makes a difference. One program at a time derives: a memory that changes meanwhile is queued again, and
finds what was derived without knowing of it.

Vectors are computed for the newest first. Of many memories the links wait until all have them and are then made in
the order of the numbers, so that each is derived once: what an earlier one changes is derived again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import nextafter
from typing import TYPE_CHECKING, Final

from hexad.core.clock import Clock
from hexad.database.codec import to_micros
from hexad.database.leases import Lease
from hexad.database.task_queue import LINK
from hexad.honeycomb.nearest import NearestMemories, nearest_earlier, reached_by
from hexad.honeycomb.scoring import combined_relevance, decay_after
from hexad.honeycomb.tables.edges import EdgeRow, NewEdge
from hexad.honeycomb.tables.link_evidence import (
    SHARING_MOST,
    HoneycombLinks,
    LinkEvidence,
    LinkState,
    Relation,
)
from hexad.honeycomb.tables.nodes import nodes_of
from hexad.honeycomb.values import BY_WORD, NEXT, PREVIOUS, RELATION_BACK, SIMILAR, HoneycombRules
from hexad.memory.store import Stores
from hexad.search.indexer import EMBED
from hexad.search.vectors.index import VectorIndex
from hexad.search.vectors.quantization import MeasuredVector
from hexad.search.vectors.table import Vectors
from hexad.spaces.bundles.orderings.entity_map import entity_tokens
from hexad.text.search_terms import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BATCH_MEMORIES: Final = 64
NEAREST: Final = 6
"""How many of the nearest a memory is connected with; their own rings hold the six strongest."""
BY_WORDS: Final = 4
BY_WORDS_LEAST: Final = 0.1
WORD_CHARS_LEAST: Final = 3
ORDER_GAIN: Final = 0.5
"""What standing beside each other adds: this share of what is missing to 1."""
WORDS_GAIN: Final = 0.4
LIKENESS_MOST: Final = nextafter(1.0, 0.0)
"""What no connection reaches that nobody drew: a link, which counts 1, takes the seat of any of them."""
PATIENCE_S: Final = 30.0
"""How long a caller waits for another program that derives links and does not get on."""
_POLL_S: Final = 0.02
_LINK_PREFIX: Final = "link:"
_MICROS_PER_S: Final = 1_000_000


@dataclass(slots=True)
class _Bond:
    """What speaks for a connection of two memories: the evidence beside their likeness."""

    order: int = 0  # 1: the other comes next; -1: it came before
    words: float = 0.0
    relations: Sequence[Relation] = ()


_Bonds = Mapping[int, dict[int, _Bond]]
"""By memory and other memory."""


@dataclass(slots=True)
class _Batch:
    """What is known of the memories that are linked together, and what is to be written of them."""

    numbers: Sequence[int]
    inactive: Sequence[int]
    facts: Mapping[int, LinkEvidence]
    rows: dict[int, NDArray[np.float32]]
    tokens: Mapping[int, Collection[str]]
    allowed: dict[int, NDArray[np.bool_]] = field(default_factory=dict)  # by space: who may be a neighbour
    edges: dict[int, list[NewEdge]] = field(default_factory=dict)  # by the later of the two
    linked: dict[int, LinkState] = field(default_factory=dict)
    later: dict[int, set[int]] = field(default_factory=dict)  # by memory: who is to be looked at again

    def may_connect(self, no: int, other: int) -> bool:
        """Whether another memory comes before one of the batch, and is active in the same space."""
        allowed = self.allowed[self.facts[no].space_no]
        return other < min(no, len(allowed)) and bool(allowed[other])


class LinkJob:
    """Derives the links that tasks ask for, while no other program does."""

    def __init__(
        self,
        stores: Stores,
        index: Callable[[], VectorIndex | None],
        *,
        rules: Callable[[], HoneycombRules],
        owner: str,
        lease: Callable[[], Lease],
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._links = HoneycombLinks(stores.db)
        self._index = index
        self._rules = rules
        self._owner = owner
        self._lease = lease
        self._clock = clock
        self._many_until = 0  # the last of those that are linked in order; what comes later singly goes first

    def pending(self) -> int:
        """Return how many memories wait for their links."""
        return self._stores.tasks.counts(LINK)[0]

    def queue_all(self) -> int:
        """Drop every derived link and queue all memories that have vectors; returns how many."""
        with self._stores.db.transaction():
            self._links.forget_all()
            return self._links.queue_all()

    def run(
        self,
        *,
        limit: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        more_vectors: bool = False,
    ) -> int:
        """Link up to `limit` memories, or all that wait; returns how many. Without an embedder nothing is done.

        With a limit it leaves the work to another program that is at it; without, it takes turns with that one.
        While `more_vectors` are computed, of many, only those are linked that come before all of these, and what was
        written singly since: the rest would be derived again.
        """
        left: int | None = None
        done, waited_s, pause = 0, 0.0, threading.Event()
        while not stop() and (limit is None or done < limit):
            index = self._index()
            if index is None:
                break
            with self._lease().held_for() as ours:
                room = BATCH_MEMORIES if limit is None else min(BATCH_MEMORIES, limit - done)
                count = self._work(index, limit=room, more_vectors=more_vectors) if ours else 0
            if count is None:
                break
            done += count
            if ours:
                waited_s = 0.0
                continue
            before, left = left, self.pending()
            if before is not None and left < before:
                waited_s = 0.0  # the other one gets on
            if limit is not None or not left or waited_s >= PATIENCE_S:
                break
            pause.wait(_POLL_S)
            waited_s += _POLL_S
        return done

    def _work(self, index: VectorIndex, *, limit: int, more_vectors: bool) -> int | None:
        """Link some memories; returns how many, None when none is to be linked now."""
        numbers = self._claim(limit, more_vectors=more_vectors)
        if not numbers:
            return None
        try:
            return self._link(numbers, index)
        finally:
            self._stores.tasks.release(LINK, numbers, owner=self._owner)

    def _claim(self, limit: int, *, more_vectors: bool) -> list[int]:
        """Take those of the lowest numbers; of more than are taken at once first the few that came last, singly."""
        tasks, only = self._stores.tasks, None
        newest = tasks.newest(LINK, after=self._many_until, limit=BATCH_MEMORIES)
        self._many_until = max(newest, default=self._many_until)
        many_wait = more_vectors or len(tasks.newest(LINK, after=0, limit=limit + 1)) > limit
        if many_wait and 0 < len(newest) < BATCH_MEMORIES:
            only = newest
        elif more_vectors:
            only = tasks.ahead_of(LINK, EMBED, limit=limit)
        # Nobody else is at it: a task that somebody claimed is from one that was stopped.
        return tasks.claim(LINK, owner=self._owner, alive=frozenset(), limit=limit, only=only)

    def _link(self, numbers: Sequence[int], index: VectorIndex) -> int:
        facts = {fact.no: fact for fact in self._links.facts(numbers)}
        batch = _Batch(
            numbers=numbers,
            inactive=self._links.inactive(numbers),
            facts=facts,
            rows=Vectors(self._stores.db).of_memories(facts),
            tokens={no: _words(fact) for no, fact in facts.items()},
        )
        self._derive(batch, index)
        self._look_ahead(batch, index)
        return self._write(batch)

    def _write(self, batch: _Batch) -> int:
        """Store what was derived, up to the first memory that changed meanwhile: later ones may rest on it."""
        at, tasks, nodes = to_micros(self._clock.now()), self._stores.tasks, nodes_of(self._stores)
        with self._stores.db.transaction():
            done = tasks.finish_first(LINK, batch.numbers, owner=self._owner)
            self._links.leave([no for no in batch.inactive if no in done])
            ready = [no for no in batch.linked if no in done]
            edges = {(edge.from_id, edge.to_id): edge for no in ready for edge in batch.edges.get(no, ())}
            nodes.add_memories({*ready, *(end for ends in edges for end in ends)}, at=at)
            there = nodes.edges.derived_with_earlier(ready)
            same = {ends for ends, edge in edges.items() if ends in there and _is(there[ends], edge)}
            nodes.edges.drop([edge for ends, edge in there.items() if ends not in same])
            nodes.edges.insert([edge for ends, edge in edges.items() if ends not in same], at=at)
            self._links.keep([batch.linked[no] for no in ready])
            again = {other for no in ready for other in batch.later.get(no, ())}
            self._links.queue_again(again - done)
        return len(ready)

    # What connects memories with earlier ones --------------------------------------------------------------------

    def _derive(self, batch: _Batch, index: VectorIndex) -> None:
        """Add the links of the memories with earlier ones to the batch."""
        nearest = self._nearest(batch, index)
        bonds = {no: {other: _Bond() for other in nearest[no].numbers} for no in batch.facts}
        self._bond_neighbours(batch, bonds)
        self._bond_relations(batch, bonds)
        self._bond_shared_words(batch, bonds)
        self._connect(batch, bonds)
        for no, fact in batch.facts.items():
            tokens = batch.tokens[no]
            batch.linked[no] = LinkState(
                no=no,
                mark=fact.mark_now(tokens),
                reach=nearest[no].reach,
                space_no=fact.space_no,
                tokens=tokens,
            )

    def _nearest(self, batch: _Batch, index: VectorIndex) -> dict[int, NearestMemories]:
        rows_by_space: dict[int, dict[int, NDArray[np.float32]]] = {}
        for no, fact in batch.facts.items():
            rows_by_space.setdefault(fact.space_no, {})[no] = batch.rows[no]
        nearest: dict[int, NearestMemories] = {}
        for space_no, rows in rows_by_space.items():
            batch.allowed[space_no] = allowed = self._allowed(space_no)
            nearest |= nearest_earlier(index, rows, count=NEAREST, allowed=allowed)
        return nearest

    def _allowed(self, space_no: int) -> NDArray[np.bool_]:
        import numpy as np

        listed = self._links.active_of_space(space_no)
        numbers = np.fromstring(listed or "0", dtype=np.int64, sep=",")  # no memory has the number 0
        allowed = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
        allowed[numbers] = True
        allowed[0] = False
        return allowed

    def _bond_neighbours(self, batch: _Batch, bonds: _Bonds) -> None:
        for no, other, comes_after in self._links.neighbours_of(batch.facts.values()):
            if batch.may_connect(no, other):
                bonds[no].setdefault(other, _Bond()).order = 1 if comes_after else -1

    def _bond_relations(self, batch: _Batch, bonds: _Bonds) -> None:
        for relation in self._links.relations(batch.facts):
            earlier, later = sorted((relation.from_no, relation.to_no))
            if later in bonds:
                bond = bonds[later].setdefault(earlier, _Bond())
                bond.relations = (*bond.relations, relation)

    def _bond_shared_words(self, batch: _Batch, bonds: _Bonds) -> None:
        in_batch: dict[tuple[int, str], list[int]] = {}
        for no, fact in batch.facts.items():
            for token in batch.tokens[no]:
                in_batch.setdefault((fact.space_no, token), []).append(no)
        # What is written of those of the batch is what was true before.
        most = SHARING_MOST + len(batch.numbers)
        known = self._links.sharing(in_batch, before=max(batch.facts, default=0), most=most)
        before = {word: set(numbers).difference(batch.numbers) for word, numbers in known.items()}
        for no, fact in batch.facts.items():
            shares: dict[int, float] = {}
            for token in sorted(batch.tokens[no]):
                word = fact.space_no, token
                named = {other for other in (*before[word], *in_batch[word]) if other < no}
                if len(named) >= SHARING_MOST:
                    continue
                for other in named:
                    if batch.may_connect(no, other):
                        shares[other] = shares.get(other, 0.0) + 1 / (len(named) + 1)
            strongest = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:BY_WORDS]
            for other, share in strongest:
                if share >= BY_WORDS_LEAST:
                    bonds[no].setdefault(other, _Bond()).words = min(share, 1.0)

    def _connect(self, batch: _Batch, bonds: _Bonds) -> None:
        others = {other for bonds_of_memory in bonds.values() for other in bonds_of_memory}
        batch.rows.update(Vectors(self._stores.db).of_memories(others.difference(batch.rows)))
        times = self._links.times(others)
        strength = _Strength.by(self._rules())
        measured = {no: MeasuredVector.of(row) for no, row in batch.rows.items()}
        for no, bonds_of_memory in bonds.items():
            fact, own, edges = batch.facts[no], measured[no], list[NewEdge]()
            for other in sorted(bonds_of_memory):
                if other not in measured or other not in times:
                    continue  # it is not active, or has no vector yet: it is looked at again when it has
                bond, cosine, (happened_at, at) = (
                    bonds_of_memory[other],
                    own.cosine(measured[other]),
                    times[other],
                )
                score = strength.of(cosine, abs(fact.happened_at - happened_at) / _MICROS_PER_S, bond)
                at = max(at, fact.created_at)
                if bond.relations:
                    at = max([at, *(relation.created_at for relation in bond.relations)])
                there, back = (
                    _relation(bond, end, way, cosine=cosine) for end, way in ((no, 1), (other, -1))
                )
                edges.append(NewEdge(no, other, score, there, is_auto=True, at=at))
                edges.append(NewEdge(other, no, score, back, is_auto=True, at=at))
            batch.edges[no] = edges

    # Which later ones it makes a difference to ------------------------------------------------------------------

    def _look_ahead(self, batch: _Batch, index: VectorIndex) -> None:
        """Find the later memories whose links change with those of the batch that changed, or are new."""
        import numpy as np

        changed = [no for no, node in batch.linked.items() if node.mark != batch.facts[no].mark]
        reaches = self._links.reaches_after(changed[0]) if changed else []
        if not reaches:
            return  # nearly always: memories are linked in the order of their numbers
        numbers = np.array([entry[0] for entry in reaches], dtype=np.int64)
        spaces = np.array([entry[1] for entry in reaches], dtype=np.int64)
        floors = np.array([-np.inf if entry[2] is None else entry[2] for entry in reaches], dtype=np.float32)
        for no in changed:
            batch.later[no] = self._links.later_with([batch.facts[no]], batch.tokens)
        for space_no in {batch.facts[no].space_no for no in changed}:
            inside = spaces == space_no
            own = [no for no in changed if batch.facts[no].space_no == space_no]
            for no, reached in reached_by(index, own, numbers[inside], floors[inside]).items():
                batch.later[no] |= reached


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strength:
    """How strong a connection is by the rules: likeness and nearness in time, and what else speaks for it.

    The decay is of the time between the two, not until now: the score must not depend on when it is made.
    """

    half_life_s: float
    cosine_weight: float
    decay_weight: float

    @classmethod
    def by(cls, rules: HoneycombRules) -> _Strength:
        return cls(
            half_life_s=rules.half_life.total_seconds(),
            cosine_weight=rules.cosine_weight,
            decay_weight=rules.decay_weight,
        )

    def of(self, cosine: float, gap_s: float, bond: _Bond) -> float:
        score = combined_relevance(
            cosine,
            decay_after(gap_s, half_life_s=self.half_life_s),
            cosine_weight=self.cosine_weight,
            decay_weight=self.decay_weight,
        )
        if bond.words:
            score += (1 - score) * WORDS_GAIN * bond.words
        if bond.order:
            score += (1 - score) * ORDER_GAIN
        if not bond.relations:
            return min(score, LIKENESS_MOST)
        if any(relation.kind.startswith(_LINK_PREFIX) for relation in bond.relations):
            return 1.0
        return min(max([score, *(relation.score for relation in bond.relations)]), LIKENESS_MOST)


def _is(edge: EdgeRow, new_edge: NewEdge) -> bool:
    edge_values = edge.score, edge.relation, edge.created_at, edge.renewed_at
    return edge_values == (new_edge.score, new_edge.relation, new_edge.at, new_edge.at)


def _words(fact: LinkEvidence) -> set[str]:
    """Return the words that name what a memory is about, as far as they can be rare."""
    return {
        token
        for token in entity_tokens(fact.path, fact.tags, fact.values)
        if len(token) >= WORD_CHARS_LEAST and not token.isdecimal() and token not in STOP_WORDS
    }


def _relation(bond: _Bond, from_no: int, way: int, *, cosine: float) -> str:
    """Return the type of an edge: what speaks for it most."""
    if bond.relations:
        strongest = min(
            bond.relations,
            key=lambda relation: (
                not relation.kind.startswith(_LINK_PREFIX),
                -relation.score,
                relation.from_no != from_no,
                relation.kind,
            ),
        )
        kind = strongest.kind.removeprefix(_LINK_PREFIX)
        return kind if strongest.from_no == from_no else kind + RELATION_BACK
    if bond.order:
        return NEXT if bond.order * way > 0 else PREVIOUS
    return BY_WORD if bond.words > cosine else SIMILAR
