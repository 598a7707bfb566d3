"""What a walk reads: nodes, edges and texts, of several nodes at once, as it is about to come to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from hexad.honeycomb.adjacency import ACTIVE, MEMORY, OVERFLOW, Adjacency
from hexad.honeycomb.tables.edges import EdgeRow
from hexad.honeycomb.tables.nodes import NodeText, nodes_of
from hexad.honeycomb.values import RELATION_BACK
from hexad.memory.store import Stores

AT_ONCE_MOST: Final = 32
"""Nodes whose texts are read together. The first reading is of one, the second of half as many."""
OWN, MEMORIES = "nodes", "memories"
"""The two kinds of nodes, each with its own threshold."""


class NodeGate(NamedTuple):
    """What a walk goes by at a node."""

    is_memory: bool
    active: bool
    overflow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is seen at all: kinds of nodes, of memories those of a space, and types of edges; None for any."""

    scope: frozenset[str] = frozenset((OWN, MEMORIES))
    space_no: int | None = None
    relations: frozenset[str] | None = None


_OWN_STOPS: Final = {
    flags: NodeGate(is_memory=False, active=bool(flags & ACTIVE), overflow=bool(flags & OVERFLOW))
    for flags in range(16)
}


class Prefetch:
    """What one walk has read. Begin, and stay, inside one `read()` of the store.

    With `edges` main rings are read with the texts, and with `overflow` what is below them, too.
    """

    def __init__(
        self, stores: Stores, layout: Adjacency, bounds: Bounds, *, edges: bool, overflow: bool
    ) -> None:
        self._stores = stores
        self._layout = layout
        self._bounds = bounds
        self._with_edges = edges
        self._overflow = overflow
        self._edges: dict[int, list[EdgeRow]] = {}
        self._texts: dict[int, NodeText] = {}
        self._read: set[int] = set()
        self.stops: dict[int, NodeGate | None] = {}
        """What was looked up: entries, and where the edges lead of nodes that were read. None is out of bounds."""
        self.at_once = 1
        layout.follow()

    def load(self, ids: Iterable[int]) -> None:
        """Look up nodes."""
        missing = {node for node in ids if node not in self.stops}
        if missing:
            self.stops.update(gates_of(self._stores, self._layout, missing, self._bounds))

    def load_to_come(self, ids: Collection[int]) -> None:
        """Look up those memories that are no nodes yet: just written, they have no edge, and a question finds them."""
        if MEMORIES not in self._bounds.scope:
            return
        for node, row in nodes_of(self._stores).to_come(ids).items():
            if self._bounds.space_no in (None, row.space_no):
                self.stops[node] = NodeGate(is_memory=True, active=True, overflow=False)

    def read(self, ids: Sequence[int]) -> None:
        """Read the texts of nodes that are in bounds."""
        new = [node for node in dict.fromkeys(ids) if node not in self._read]
        self._read.update(new)
        self.at_once = AT_ONCE_MOST if self.at_once > 1 else AT_ONCE_MOST // 2
        self._texts.update(self._node_texts(new))
        if self._with_edges:
            self.read_edges(new)

    def read_edges(self, ids: Sequence[int]) -> None:
        """Read edges of nodes that are in bounds, and look up where they lead."""
        self._edges.update(self._bounded(ids, self._layout.edges_of(ids)))
        if self._overflow:
            deep = [node for node in ids if (stop := self.stops[node]) is not None and stop.overflow]
            for node, below in self.overflow(deep).items():
                self._edges[node] = [*self._edges.get(node, ()), *below]
        self.load(edge.to_id for node in ids for edge in self._edges.get(node, ()))

    def has_read(self, node: int) -> bool:
        """Return whether the text of a node was read."""
        return node in self._read

    def edges(self, node: int) -> list[EdgeRow]:
        """Return the edges of a node whose edges were read."""
        return self._edges.get(node, [])

    def text(self, node: int) -> NodeText | None:
        """Return what a node says that was read; None for one that is gone."""
        return self._texts.get(node)

    def overflow(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the edges in overflow of some nodes, and look up where they lead."""
        rows = self._bounded(ids, nodes_of(self._stores).overflow(ids)) if ids else {}
        self.load(edge.to_id for edges in rows.values() for edge in edges)
        return rows

    def _bounded(self, ids: Collection[int], rings: dict[int, list[EdgeRow]]) -> dict[int, list[EdgeRow]]:
        """Return the edges that are of a type in bounds, either way.

        Two memories may be linked in several ways, of which an edge shows one.
        """
        relations = self._bounds.relations
        if relations is None:
            return rings
        linked = nodes_of(self._stores).linked_as(relations, ids)
        return {
            node: [
                edge
                for edge in edges
                if edge.relation.removesuffix(RELATION_BACK) in relations or (node, edge.to_id) in linked
            ]
            for node, edges in rings.items()
        }

    def _node_texts(self, ids: Sequence[int]) -> dict[int, NodeText]:
        nodes = nodes_of(self._stores)
        own = [node for node in ids if (stop := self.stops[node]) is not None and not stop.is_memory]
        others = [node for node in ids if (stop := self.stops[node]) is not None and stop.is_memory]
        texts = {node: NodeText(node, None, data) for node, data in nodes.data_of(own)} if own else {}
        return {**texts, **nodes.texts(others)} if others else texts


def gates_of(
    stores: Stores, layout: Adjacency, ids: Iterable[int], bounds: Bounds
) -> dict[int, NodeGate | None]:
    """Return each of these nodes as of the layout's latest `follow`, None for one that may not be seen.

    Only memories are asked for: whether they are active, and who may see them, is not in the graph.
    """
    gates: dict[int, NodeGate | None] = dict.fromkeys(ids)
    own = OWN in bounds.scope
    memories = []
    for node, flags in layout.flags_of(list(gates)).items():
        if flags & MEMORY:
            memories.append(node)
        elif flags and own:
            gates[node] = _OWN_STOPS[flags]
    if memories and MEMORIES in bounds.scope:
        for node, row in nodes_of(stores).of(memories).items():
            if bounds.space_no in (None, row.space_no):
                gates[node] = NodeGate(is_memory=True, active=bool(row.active), overflow=row.overflow > 0)
    return gates
