"""Rings as roles see them: made of the edges to what they may see, so that nothing tells that there are others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from hexad.honeycomb.tables.edges import EdgeRow, HoneycombEdges
from hexad.honeycomb.tables.schema import SEATS


class SeenRings:
    """The edges of one store to what is `visible`, each in the ring of its rank: the strongest six in the main ring.

    Which overflow ring an edge was moved to is left out: it depends on what is hidden.
    """

    def __init__(self, edges: HoneycombEdges, visible: Callable[[Collection[int]], set[int]]) -> None:
        self._edges = edges
        self._visible = visible

    def main(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the main rings of these nodes, the strongest edge first; nodes without edges are left out."""
        return {node: edges[:SEATS] for node, edges in self._ranked(ids, whole=False).items()}

    def overflow(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the edges in all overflow rings of these nodes, ring by ring, the strongest first."""
        ranked = self._ranked(ids, whole=True)
        return {node: edges[SEATS:] for node, edges in ranked.items() if len(edges) > SEATS}

    def placed(self, edges: Sequence[EdgeRow]) -> list[EdgeRow]:
        """Return edges to what is visible where they stand."""
        ranked = self._ranked({edge.from_id for edge in edges}, whole=True)
        places = {(row.from_id, row.to_id): (row.ring, row.seat) for ring in ranked.values() for row in ring}
        found = []
        for edge in edges:
            ring, seat = places[edge.from_id, edge.to_id]
            found.append(edge._replace(ring=ring, seat=seat))
        return found

    def _ranked(self, ids: Collection[int], *, whole: bool) -> dict[int, list[EdgeRow]]:
        """Return the visible edges of these nodes by rank: all with `whole`, else at least those of the main ring."""
        main = self._edges.main(ids)
        visible = self._visible({edge.to_id for edges in main.values() for edge in edges})
        open_ended = [
            node for node, edges in main.items() if whole or any(edge.to_id not in visible for edge in edges)
        ]
        below = self._edges.overflow(open_ended) if open_ended else {}
        visible |= self._visible({edge.to_id for edges in below.values() for edge in edges})
        found: dict[int, list[EdgeRow]] = {}
        for node, edges in main.items():
            seen = [edge for edge in (*edges, *below.get(node, ())) if edge.to_id in visible]
            seen.sort(key=lambda edge: (-edge.score, edge.to_id))
            if seen:
                found[node] = [
                    edge._replace(ring=place // SEATS, seat=place % SEATS) for place, edge in enumerate(seen)
                ]
        return found
