"""Links of memories in the honeycomb: derived after a memory has its vector, in the background.

Each memory is connected, both ways, with those linked before it that are nearest to it, that stand beside it in a
conversation or a document, that relations name, and that share rare words of paths, tags and metadata with it. What
is derived depends on the memories and on their order alone, never on the time of day, so that a rebuild gives the
same. All but relations stay inside a space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hexad.clock import Clock
from hexad.index.catalog import LINK
from hexad.index.orderings.entities import entity_tokens
from hexad.index.vectors import VectorIndex
from hexad.model.association import combined_relevance, temporal_decay
from hexad.model.honeycomb import RELATION_BACK, HoneycombRules
from hexad.storage.codec import to_micros
from hexad.storage.embeddings import cosine_of
from hexad.storage.honeycomb_edges import NewEdge
from hexad.storage.honeycomb_links import Fact, HoneycombLinks, Relation
from hexad.storage.stores import Stores
from hexad.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.float32]

BATCH_MEMORIES: Final = 64
NEAREST: Final = 6
"""How many of the nearest a memory is connected with; their own rings hold the six strongest."""
SHARING_MOST: Final = 32
"""A word that names more memories of a space than this connects none of them."""
BY_WORDS: Final = 4
BY_WORDS_LEAST: Final = 0.1
WORD_CHARS_LEAST: Final = 3
ORDER_GAIN: Final = 0.5
"""What standing beside each other adds: this share of what is missing to 1."""
WORDS_GAIN: Final = 0.4
SIMILAR, BY_WORD, NEXT, PREVIOUS = "similar", "shared-words", "next", "previous"
_LINK_PREFIX: Final = "link:"


@dataclass(slots=True)
class _Bond:
    """What speaks for a connection of two memories: the evidence beside their likeness."""

    order: int = 0  # 1: the other comes next; -1: it came before
    words: float = 0.0
    relations: list[Relation] = field(default_factory=list)


@dataclass(slots=True)
class _Batch:
    """What is known of the memories that are linked together."""

    facts: Mapping[int, Fact]
    rows: dict[int, Row]
    allowed: dict[int, NDArray[np.bool_]] = field(default_factory=dict)  # by space: who may be a neighbour
    edges: list[NewEdge] = field(default_factory=list)
    words: dict[tuple[int, str], list[int]] = field(default_factory=dict)


class LinkJob:
    """Derives the links that tasks ask for. Several processes may run one on the same store."""

    def __init__(
        self,
        stores: Stores,
        index: Callable[[], VectorIndex | None],
        *,
        rules: Callable[[], HoneycombRules],
        owner: str,
        alive: Callable[[], Collection[str]],
        clock: Clock,
    ) -> None:
        self._stores = stores
        self._links = HoneycombLinks(stores.db)
        self._index = index
        self._rules = rules
        self._owner = owner
        self._alive = alive
        self._clock = clock

    def pending(self) -> int:
        """Return how many memories wait for their links."""
        return self._stores.tasks.counts(LINK)[0]

    def queue_all(self) -> int:
        """Drop every derived link and queue all memories that have vectors; returns how many."""
        with self._stores.db.transaction():
            self._links.forget_all()
            return self._links.queue_all(LINK)

    def run(self, *, limit: int | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Link up to `limit` memories, or all that wait; returns how many. Without an embedder nothing is done."""
        done = 0
        index = self._index()
        while index is not None and not stop() and (limit is None or done < limit):
            room = BATCH_MEMORIES if limit is None else min(BATCH_MEMORIES, limit - done)
            numbers = self._stores.tasks.claim(
                LINK, owner=self._owner, alive=frozenset(self._alive()), limit=room
            )
            if not numbers:
                break
            try:
                self._link(numbers, index)
            finally:
                self._stores.tasks.release(LINK, numbers, owner=self._owner)
            done += len(numbers)
        return done

    def _link(self, numbers: Sequence[int], index: VectorIndex) -> None:
        facts = {fact.no: fact for fact in self._links.facts(numbers)}
        batch = _Batch(facts=facts, rows=self._stores.vectors.of_memories(facts))
        linked = [no for no in facts if no in batch.rows]
        for no in linked:
            self._derive(batch, no, index)
        at = to_micros(self._clock.now())
        with self._stores.db.transaction():
            done = {no for no in numbers if self._stores.tasks.finish(LINK, no, owner=self._owner)}
            # What was archived, purged or changed meanwhile is left out; a changed one has a new task.
            ready = [fact.no for fact in self._links.facts(linked) if fact.no in done]
            self._links.begin([facts[no] for no in ready])
            self._stores.honeycomb.add_memories(ready, at=at)
            ends = set(self._stores.honeycomb.of({edge.to_id for edge in batch.edges}))
            ends -= set(linked) - set(ready)
            self._stores.honeycomb.edges.insert(
                [edge for edge in batch.edges if edge.from_id in ends and edge.to_id in ends], at=at
            )
            self._links.put_entities(
                (*key, no) for key, named in batch.words.items() for no in named if no in ready
            )
            self._links.finish(ready)

    def _derive(self, batch: _Batch, no: int, index: VectorIndex) -> None:
        """Add the links of one memory to the batch, and let those after it see it."""
        import numpy as np

        fact = batch.facts[no]
        allowed = self._allowed(batch, fact.space_no)
        if no < len(allowed):
            allowed[no] = False
        bonds: dict[int, _Bond] = {}
        row = batch.rows[no]
        length = float(np.linalg.norm(row))
        if length and allowed.any():
            answer = index.search((row / length).astype(np.float32), limit=NEAREST, allowed=allowed)
            for other in answer.best:
                bonds.setdefault(other, _Bond())
        self._beside(fact, bonds, allowed)
        self._related(batch, fact, bonds)
        self._named_alike(batch, fact, bonds, allowed)
        self._connect(batch, fact, bonds)
        batch.allowed[fact.space_no] = _with(allowed, no)

    def _allowed(self, batch: _Batch, space_no: int) -> NDArray[np.bool_]:
        import numpy as np

        allowed = batch.allowed.get(space_no)
        if allowed is None:
            listed = self._links.linked_of_space(space_no)
            numbers = np.fromstring(listed or "0", dtype=np.int64, sep=",")  # no memory has the number 0
            allowed = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
            allowed[numbers] = True
            allowed[0] = False
            batch.allowed[space_no] = allowed
        return allowed

    def _beside(self, fact: Fact, bonds: dict[int, _Bond], allowed: NDArray[np.bool_]) -> None:
        for earlier, later in (*self._links.turns_beside([fact.no]), *self._links.parts_beside([fact])):
            other = later if earlier == fact.no else earlier
            if other < len(allowed) and allowed[other]:
                bonds.setdefault(other, _Bond()).order = 1 if earlier == fact.no else -1

    def _related(self, batch: _Batch, fact: Fact, bonds: dict[int, _Bond]) -> None:
        relations = self._links.relations([fact.no])
        others = {one.to_no if one.from_no == fact.no else one.from_no for one in relations}
        linked = {one.no for one in self._links.facts(others) if one.linked}
        for one in relations:
            other = one.to_no if one.from_no == fact.no else one.from_no
            space_no = batch.facts[other].space_no if other in batch.facts else None
            before = space_no is not None and _is_in(batch.allowed.get(space_no), other)
            if other != fact.no and (other in linked or before):
                bonds.setdefault(other, _Bond()).relations.append(one)

    def _named_alike(
        self, batch: _Batch, fact: Fact, bonds: dict[int, _Bond], allowed: NDArray[np.bool_]
    ) -> None:
        shares: dict[int, float] = {}
        tokens = sorted(set(entity_tokens(fact.path, fact.tags, fact.values)))
        for token in tokens:
            if len(token) < WORD_CHARS_LEAST or token.isdecimal() or token in STOP_WORDS:
                continue
            key = (fact.space_no, token)
            here = batch.words.setdefault(key, [])
            named = [
                other
                for other in {*self._links.sharing(*key, most=SHARING_MOST + 1), *here}
                if other != fact.no
            ]
            here.append(fact.no)
            if len(named) >= SHARING_MOST:
                continue
            for other in named:
                if other < len(allowed) and allowed[other]:
                    shares[other] = shares.get(other, 0.0) + 1 / (len(named) + 1)
        strongest = sorted(shares.items(), key=lambda one: (-one[1], one[0]))[:BY_WORDS]
        for other, share in strongest:
            if share >= BY_WORDS_LEAST:
                bonds.setdefault(other, _Bond()).words = min(share, 1.0)

    def _connect(self, batch: _Batch, fact: Fact, bonds: Mapping[int, _Bond]) -> None:
        batch.rows.update(self._stores.vectors.of_memories([no for no in bonds if no not in batch.rows]))
        times = self._links.times(bonds)
        for other in sorted(bonds):
            if other not in batch.rows or other not in times:
                continue  # gone meanwhile
            bond = bonds[other]
            cosine = cosine_of(batch.rows[fact.no], batch.rows[other])
            gap = timedelta(microseconds=abs(fact.happened_at - times[other]))
            score = self._score(cosine, gap, bond)
            for ends, way in (((fact.no, other), 1), ((other, fact.no), -1)):
                batch.edges.append(
                    NewEdge(
                        from_id=ends[0],
                        to_id=ends[1],
                        score=score,
                        relation=_relation(bond, ends[0], way, cosine=cosine),
                        is_auto=True,
                    )
                )

    def _score(self, cosine: float, gap: timedelta, bond: _Bond) -> float:
        """Return how strong a connection is: likeness and nearness in time, and what else speaks for it.

        The decay is of the time between the two, not until now: the score must not depend on when it is made.
        """
        rules = self._rules()
        decay = temporal_decay(0.0, gap.total_seconds(), half_life=rules.half_life)
        score = combined_relevance(
            cosine, decay, cosine_weight=rules.cosine_weight, decay_weight=rules.decay_weight
        )
        score += (1 - score) * WORDS_GAIN * bond.words
        if bond.order:
            score += (1 - score) * ORDER_GAIN
        return min(max([score, *(one.score for one in bond.relations)]), 1.0)


def _relation(bond: _Bond, from_no: int, way: int, *, cosine: float) -> str:
    """Return the type of an edge: what speaks for it most."""
    if bond.relations:
        strongest = min(bond.relations, key=lambda one: (-one.score, one.from_no != from_no, one.kind))
        kind = strongest.kind.removeprefix(_LINK_PREFIX)
        return kind if strongest.from_no == from_no else kind + RELATION_BACK
    if bond.order:
        return NEXT if bond.order * way > 0 else PREVIOUS
    return BY_WORD if bond.words > cosine else SIMILAR


def _with(allowed: NDArray[np.bool_], no: int) -> NDArray[np.bool_]:
    import numpy as np

    if no >= len(allowed):
        allowed = np.concatenate([allowed, np.zeros(no + 1024 - len(allowed), dtype=np.bool_)])
    allowed[no] = True
    return allowed


def _is_in(allowed: NDArray[np.bool_] | None, no: int) -> bool:
    return allowed is not None and no < len(allowed) and bool(allowed[no])
