"""Document 3's honeycomb in plain lists, with what Hexad decided where the document is silent. Slow and obvious.

It shares no code with Hexad: what both say alike is what another implementation has to say, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

SEATS = 6


def cosine(first: list[float], second: list[float]) -> float:
    lengths = math.sqrt(sum(a * a for a in first)) * math.sqrt(sum(b * b for b in second))
    if not lengths:
        return 0.0
    return min(max(sum(a * b for a, b in zip(first, second, strict=True)) / lengths, 0.0), 1.0)


def decay(age_s: float, half_life_s: float = 86_400.0) -> float:
    return 1.0 if age_s <= 0 else 0.5 ** (age_s / half_life_s)


def relevance(first: list[float], second: list[float], age_s: float) -> float:
    return 0.7 * cosine(first, second) + 0.3 * decay(age_s)


@dataclass
class Edge:
    target: int
    score: float
    relation: str
    renewed_s: float


@dataclass
class Node:
    data: str
    vector: list[float]
    created_s: float
    active: bool = True
    edges: list[Edge] = field(default_factory=list)
    """Seats 0 to 5 are the main ring, the next six overflow ring 1, and so on."""


class ReferenceHoneycomb:
    """The graph; ids are whatever the caller says."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}

    def insert(
        self,
        focus: int,
        target: int,
        now_s: float,
        *,
        score: float | None = None,
        relation: str | None = None,
    ) -> None:
        here, there = self.nodes[focus], self.nodes[target]
        if score is None:
            score = relevance(here.vector, there.vector, now_s - there.created_s)
        for edge in here.edges:
            if edge.target == target:
                edge.relation, edge.renewed_s = relation or edge.relation, now_s
                if score > edge.score:
                    edge.score = score
                    self._resurface(here, here.edges.index(edge))
                return
        here.edges.append(Edge(target, score, relation or "related", now_s))
        self._resurface(here, len(here.edges) - 1)

    @staticmethod
    def _resurface(here: Node, place: int) -> None:
        """Exchange an overflow edge with the main ring's weakest where it is stronger than that."""
        if place < SEATS:
            return

        def strength(at: int) -> tuple[float, int]:
            """Of equals, the edge to the higher id is the weaker."""
            return here.edges[at].score, -here.edges[at].target

        weakest = min(range(SEATS), key=strength)
        if strength(place) > strength(weakest):
            here.edges[place], here.edges[weakest] = here.edges[weakest], here.edges[place]

    def remove(self, gone: int) -> None:
        del self.nodes[gone]
        for node in self.nodes.values():
            for place, edge in enumerate(node.edges):
                if edge.target == gone:
                    self._fill(node, place)
                    break

    @staticmethod
    def _fill(node: Node, place: int) -> None:
        """Close a gap: in the main ring with the strongest overflow edge, anywhere else with the last one."""
        if place < SEATS and len(node.edges) > SEATS:
            strongest = min(
                range(SEATS, len(node.edges)), key=lambda at: (-node.edges[at].score, node.edges[at].target)
            )
            node.edges[place] = node.edges[strongest]
            place = strongest
        last = node.edges.pop()
        if place < len(node.edges):
            node.edges[place] = last

    def rings(self, node: int) -> list[list[tuple[int, float]]]:
        """Return each ring as sorted `(target, score)`."""
        edges = self.nodes[node].edges
        return [
            sorted((edge.target, edge.score) for edge in edges[at : at + SEATS])
            for at in range(0, len(edges), SEATS)
        ]

    def entry(self, query: list[float]) -> int | None:
        able = [
            (-cosine(query, node.vector), node_id)
            for node_id, node in self.nodes.items()
            if node.active and len(node.vector) == len(query)
        ]
        return min(able)[1] if able else None

    def walk(self, start: int, *, threshold: float, overflow: bool) -> list[int]:
        """Return the nodes of a walk without a budget, and without ageing: level by level, the strongest first."""
        order: list[int] = []
        done: set[int] = set()
        depth = {start: 0}
        reached = [(0, -1.0, start)]

        def step(edges: list[Edge], level: int) -> None:
            for edge in edges:
                if edge.score > threshold and edge.target not in done:
                    reached.append((level, -edge.score, edge.target))

        def run() -> None:
            while reached:
                reached.sort()
                level, _, node = reached.pop(0)
                if node in done:
                    continue
                done.add(node)
                if not self.nodes[node].active:
                    continue
                order.append(node)
                depth[node] = level
                step(self.nodes[node].edges[:SEATS], level + 1)

        run()
        place = 0
        while overflow and place < len(order):
            generation, place = order[place:], len(order)
            for node in generation:
                step(self.nodes[node].edges[SEATS:], depth[node] + 1)
            run()
        return order
