"""Nodes and edges of `hx.honeycomb`: added, connected, looked at, put to rest, taken away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from hexad.core.arguments import parse_choice
from hexad.database.codec import from_micros
from hexad.errors import InvalidInput
from hexad.honeycomb.api__honeycomb_parts import HoneycombParts
from hexad.honeycomb.arguments import (
    given_node,
    given_pairs,
    given_share,
    given_text,
    given_vector,
)
from hexad.honeycomb.scoring import combined_relevance, temporal_decay
from hexad.honeycomb.tables.edges import NewEdge
from hexad.honeycomb.values import (
    RELATION_DEFAULT,
    EmbeddingFormat,
    HoneycombEdge,
    HoneycombNode,
    check_relation,
)
from hexad.honeycomb.walk.walker import edge_of
from hexad.search.vectors.quantization import cosine_of

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

_MASKED: Final = 64
"""A text that is so many times too long is not looked through for secrets that might make it shorter."""
_AT_ONCE: Final = 256
"""Pairs whose nodes and embeddings are read together."""


class NodeCalls(HoneycombParts):
    """The part of `hx.honeycomb` that is about nodes and edges."""

    # Nodes ------------------------------------------------------------------------------------------------------

    def add_node(
        self, text: str, embedding: Iterable[float] | None = None, *, format: str = EmbeddingFormat.FLOAT32
    ) -> int:
        """Store a text of at most 8 KiB with its embedding and return its id; secrets are taken out first.

        Without `embedding` the store's embedder makes one; a store without an embedder keeps none, and walks reach
        the node over edges alone. `format` is float32, float16 or int8. Raises `InvalidInput` for a value that cannot
        be used, `LimitExceeded` for a text that is too long and at capacity, where nothing is evicted.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     rust, python = hx.honeycomb.add_node("Rust", [1, 0]), hx.honeycomb.add_node("Python", [0.6, 0.8])
        ...     round(hx.honeycomb.insert(rust, python).relevance_score, 2)
        0.72
        """
        return self.add_nodes([(text, embedding)], format=format)[0]

    def add_nodes(
        self,
        nodes: Iterable[tuple[str, Iterable[float] | None]],
        *,
        format: str = EmbeddingFormat.FLOAT32,
    ) -> list[int]:
        """Store many texts with their embeddings in one transaction, all or none; returns their ids in order.

        Raises what `add_node` does.
        """
        given = given_pairs(nodes, "nodes", of="a text, and a vector or None")
        kind = parse_choice(EmbeddingFormat, format, "format")
        names = [("text", "embedding")]
        if len(given) > 1:
            names = [(f"nodes[{place}].text", f"nodes[{place}].embedding") for place in range(len(given))]
        vectors = [
            None if vector is None else given_vector(cast("Iterable[float]", vector), name)
            for (_, vector), (_, name) in zip(given, names, strict=False)
        ]
        limit = self.rules.max_data_bytes
        texts = [
            given_text(
                self._needs.mask(given_text(text, name, limit=limit, times=_MASKED)), name, limit=limit
            )
            for (text, _), (name, _) in zip(given, names, strict=False)
        ]  # all of them before any is embedded, and paid for
        missing = [place for place, vector in enumerate(vectors) if vector is None]
        if missing and self._needs.embed is not None:
            rows = self._needs.embed([texts[place] for place in missing])
            for place, row in zip(missing, rows, strict=True):
                vectors[place] = row.tolist()
        new = [
            given_node(text, vector, kind, name)
            for text, vector, (_, name) in zip(texts, vectors, names, strict=False)
        ]
        with self._stores.db.transaction():
            return self._nodes.add(new, at=self._now(), limit=self.rules.max_nodes)

    def get(self, node: int | str, *, session: str | None = None) -> HoneycombNode:
        """Return a node with its rings and with what `session` did with it; a memory is named by its id, too.

        Raises `NotFound` for a node that is not there.
        """
        session = self._session(session)
        with self._stores.db.read():
            node_id = self._node(node)
            row = self._nodes.of([node_id])[node_id]
            said = self._nodes.texts([node_id])[node_id]
            content = self._nodes.contents([node_id]).get(node_id)
            vector = self._vectors({node_id: row}).get(node_id)
            main = self._nodes.main([node_id]).get(node_id, [])
            overflow = self._nodes.overflow([node_id]).get(node_id, [])
        access = self._needs.breaker.of(node_id, session)
        return HoneycombNode(
            id=node_id,
            data=said.text,
            vector_embedding=() if vector is None else tuple(vector.tolist()),
            embedding_format=EmbeddingFormat.FLOAT16 if content is None else EmbeddingFormat(content.format),
            neighbors=self._seen(main),
            fractal_layer=_by_ring(self._seen(overflow)),
            created_at=from_micros(row.created_at),
            is_active=bool(row.active),
            memory_id=said.memory_id,
            access_count_session=0 if access is None else access.looks,
            access_time_first=None if access is None else from_micros(access.first_at),
            last_accessed_timestamp=None if access is None else from_micros(access.last_at),
        )

    def remove(self, node: int) -> None:
        """Remove a node of `add_node` with its edges; the strongest overflow edges take the seats that come free.

        Raises `NotFound`, `InvalidInput` for a memory, which `hx.forget` takes out, and `AccessDenied` for an actor
        with a role: it is for good, and the node belongs to no space whose policy might allow it.
        """
        with self._stores.db.transaction():
            node_id = self._node(node)
            if self._nodes.of([node_id])[node_id].is_memory:
                raise InvalidInput(
                    f"Node {node_id} is a memory: `hx.forget` takes it out of recall and walks."
                )
            self._needs.check_for_good(f"removing node {node_id}")
            self._nodes.remove([node_id])

    def deactivate(self, node: int | str) -> None:
        """Keep walks out of a node; it stays with all its edges. Raises `NotFound`."""
        self._set_active(node, active=False)

    def activate(self, node: int | str) -> None:
        """Let walks enter a node again. Raises `NotFound`."""
        self._set_active(node, active=True)

    # Edges ------------------------------------------------------------------------------------------------------

    def insert(
        self, focus: int | str, node: int | str, *, relation: str | None = None, score: float | None = None
    ) -> HoneycombEdge:
        """Connect `focus` to `node` and return the edge as it stands then.

        The score is `calculate_relevance` of the two, now, unless given. With six stronger edges at `focus` the new
        one goes to overflow; with a weaker one among them that one does. The same pair is the same edge: a higher
        score strengthens it, which may bring it back into the main ring. `relation` None is `related`, or stays. A
        link that was derived is the caller's from then on, with this score.

        Raises `NotFound` for a node that is not there, `InvalidInput` for a node connected with itself, embeddings
        that cannot be compared where no score is given, and other values.
        """
        return self.insert_many([(focus, node)], relation=relation, score=score)[0]

    def insert_many(
        self,
        pairs: Iterable[tuple[int | str, int | str]],
        *,
        relation: str | None = None,
        score: float | None = None,
    ) -> list[HoneycombEdge]:
        """Connect many pairs in order, in one transaction, all or none. Raises what `insert` does."""
        given = given_pairs(pairs, "pairs", of="the node to begin at, and the one to connect it with")
        name = None if relation is None else self._public_name(check_relation(relation), "relation")
        fixed = None if score is None else given_share(score, "score")
        with self._stores.db.transaction():
            edges = self._new_edges(cast("list[tuple[int, int]]", given), name, fixed)
            made = self._nodes.edges.insert(edges, at=self._now())
            return [edge_of(row) for row in self._nodes.placed(made)]

    def neighbors(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of a node's main ring, the strongest first. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._seen(self._nodes.main([node_id]).get(node_id, [])))

    def overflow(self, node: int | str) -> list[HoneycombEdge]:
        """Return the edges of all overflow rings of a node, ring by ring. Raises `NotFound`."""
        with self._stores.db.read():
            node_id = self._node(node)
            return list(self._seen(self._nodes.overflow([node_id]).get(node_id, [])))

    # Inside ---------------------------------------------------------------------------------------------------

    def _set_active(self, node: int | str, *, active: bool) -> None:
        with self._stores.db.transaction():
            self._nodes.set_active(self._node(node), active=active)

    def _new_edges(
        self, pairs: Sequence[tuple[int | str, int | str]], relation: str | None, score: float | None
    ) -> list[NewEdge]:
        now, made = self._needs.clock.now(), []
        for first in range(0, len(pairs), _AT_ONCE):
            some = pairs[first : first + _AT_ONCE]
            ids = [self._named(node) for pair in some for node in pair]
            rows = self._nodes.of({node_id for node_id in ids if node_id is not None})
            vectors = self._vectors(rows) if score is None else {}
            for at, pair in enumerate(some):
                focus, node = (self._there(ids[2 * at + end], pair[end], rows) for end in (0, 1))
                if focus == node:
                    raise InvalidInput(f"Node {focus} cannot be connected with itself; give another one.")
                created = from_micros(rows[node].created_at)
                made.append(
                    NewEdge(
                        from_id=focus,
                        to_id=node,
                        score=self._relevance(focus, node, vectors, created, now) if score is None else score,
                        relation=relation,
                        default_relation=RELATION_DEFAULT,
                    )
                )
        return made

    def _relevance(
        self, focus: int, node: int, rows: Mapping[int, NDArray[np.float32]], created: datetime, now: datetime
    ) -> float:
        for one in (focus, node):
            if one not in rows:
                raise InvalidInput(f"Node {one} has no embedding to compare; give score=… from 0 to 1.")
        if len(rows[focus]) != len(rows[node]):
            raise InvalidInput(
                f"Node {focus} has {len(rows[focus])} dimensions and node {node} {len(rows[node])}; only embeddings "
                "of one length can be compared. Give score=… from 0 to 1."
            )
        rules = self.rules
        return combined_relevance(
            cosine_of(rows[focus], rows[node]),
            temporal_decay(created, now, half_life=rules.half_life),
            cosine_weight=rules.cosine_weight,
            decay_weight=rules.decay_weight,
        )


def _by_ring(edges: Sequence[HoneycombEdge]) -> tuple[tuple[HoneycombEdge, ...], ...]:
    rings: dict[int, list[HoneycombEdge]] = {}
    for edge in edges:
        rings.setdefault(edge.ring, []).append(edge)
    return tuple(tuple(rings[ring]) for ring in sorted(rings))
