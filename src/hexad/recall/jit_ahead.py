"""What a walk reads: nodes, edges and texts, of several nodes at once, as it is about to come to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from hexad.index.honeycomb_layout import Layout
from hexad.storage.honeycomb import NodeText
from hexad.storage.honeycomb_edges import EdgeRow
from hexad.storage.stores import Stores

AT_ONCE_MOST: Final = 32
"""Nodes whose edges and texts are read together. The first reading is of one, and each is of four times as many."""


class Stop(NamedTuple):
    """What a walk goes by at a node."""

    is_memory: bool
    active: bool
    overflow: bool
    space_no: int = 0  # of a memory


class Ahead:
    """What one walk has read. Begin, and stay, inside one `read()` of the store."""

    def __init__(self, stores: Stores, layout: Layout, *, overflow: bool) -> None:
        self._stores = stores
        self._layout = layout
        self._overflow = overflow
        self._stops: dict[int, Stop | None] = {}
        self._edges: dict[int, list[EdgeRow]] = {}
        self._texts: dict[int, NodeText] = {}
        self._read: set[int] = set()
        self.at_once = 1
        layout.follow()

    def stop(self, node: int) -> Stop | None:
        """Return a node that may be seen, None for another."""
        if node not in self._stops:
            self.load((node,))
        return self._stops[node]

    def load(self, ids: Iterable[int]) -> None:
        """Look up nodes."""
        missing = {node for node in ids if node not in self._stops}
        if missing:
            self._stops.update(stops_of(self._stores, self._layout, missing))

    def load_to_come(self, ids: Collection[int]) -> None:
        """Look up memories that may be no nodes yet: just written, they have no edge, and a question finds them."""
        for node, row in self._stores.honeycomb.to_come(ids).items():
            self._stops[node] = Stop(is_memory=True, active=True, overflow=False, space_no=row.space_no)

    def read(self, ids: Sequence[int]) -> None:
        """Read edges and texts of nodes that were looked up, and look up where the edges lead."""
        new = [node for node in dict.fromkeys(ids) if node not in self._read]
        self._read.update(new)
        self.at_once = min(4 * self.at_once, AT_ONCE_MOST)
        edges = self._layout.edges_of(new)
        self._edges.update(edges)
        if self._overflow:
            deep = [node for node in new if (stop := self._stops[node]) is not None and stop.overflow]
            for node, below in self.overflow(deep).items():
                self._edges[node] = [*self._edges.get(node, ()), *below]
        self._texts.update(self._said(new))
        self.load(edge.to_id for node in new for edge in self._edges.get(node, ()))

    def has_read(self, node: int) -> bool:
        """Return whether edges and text of a node are there."""
        return node in self._read

    def edges(self, node: int) -> list[EdgeRow]:
        """Return the edges of a node that was read."""
        return self._edges.get(node, [])

    def text(self, node: int) -> NodeText | None:
        """Return what a node says that was read; None for one that is gone."""
        return self._texts.get(node)

    def overflow(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the edges in overflow of some nodes, and look up where they lead."""
        found = self._stores.honeycomb.overflow(ids) if ids else {}
        self.load(edge.to_id for edges in found.values() for edge in edges)
        return found

    def _said(self, ids: Sequence[int]) -> dict[int, NodeText]:
        nodes = self._stores.honeycomb
        own = [node for node in ids if (stop := self._stops[node]) is not None and not stop.is_memory]
        others = [node for node in ids if (stop := self._stops[node]) is not None and stop.is_memory]
        found = (
            {node: NodeText(node, None, data, None, 0) for node, data in nodes.data_of(own)} if own else {}
        )
        return {**found, **nodes.texts(others)} if others else found


def stops_of(stores: Stores, layout: Layout, ids: Iterable[int]) -> dict[int, Stop | None]:
    """Return each of these nodes as of the layout's latest `follow`, None for one that may not be seen.

    Only memories are asked for: whether they are active, and who may see them, is not in the graph.
    """
    wanted = list(ids)
    placed = layout.nodes_of(wanted)
    memories = [node for node, told in placed.items() if told.is_memory]
    rows = stores.honeycomb.of(memories) if memories else {}
    found: dict[int, Stop | None] = dict.fromkeys(wanted)
    for node, told in placed.items():
        if not told.is_memory:
            found[node] = Stop(is_memory=False, active=told.active, overflow=told.overflow)
        elif node in rows:
            row = rows[node]
            found[node] = Stop(
                is_memory=True, active=bool(row.active), overflow=row.overflow > 0, space_no=row.space_no
            )
    return found
