"""`hx.honeycomb`: the association graph (document 3). Thin: it checks what is given and asks the parts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from hexad.core.arguments__checked import all_flags_checked
from hexad.errors import InvalidInput
from hexad.honeycomb.api__honeycomb_context import ContextCalls
from hexad.honeycomb.api__honeycomb_nodes import NodeCalls
from hexad.honeycomb.arguments import given_rule
from hexad.honeycomb.graph.statistics import graph_numbers
from hexad.honeycomb.values import HoneycombRules, HoneycombStats

HUBS_SHOWN: Final = 10


@all_flags_checked
class HoneycombFacade(NodeCalls, ContextCalls):
    """A graph in which a node has at most six edges in each ring, and no edge is lost."""

    def configure(self, **changes: float | timedelta | tuple[timedelta | None, ...]) -> HoneycombRules:
        """Change rules for this open store and return them; the settings of `hexad.toml` hold for all.

        Raises `InvalidInput` for a rule that is not known or a value that cannot be used.
        """
        unknown = sorted(set(changes) - set(HoneycombRules.__slots__))
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} is no rule of the honeycomb; there are {', '.join(HoneycombRules.__slots__)}."
            )
        given = {name: given_rule(value) for name, value in changes.items()}
        self._needs.rules.current = replace(self.rules, **given)  # type: ignore[arg-type]  # checked by the values
        return self.rules

    # Numbers ----------------------------------------------------------------------------------------------------

    def stats(self) -> HoneycombStats:
        """Return the graph in numbers: degrees, overflow, components, hubs.

        Raises `AccessDenied` for an actor from whom memories are hidden: the numbers are about all of them.
        """
        self._needs.check_owner("the honeycomb's numbers")
        self._needs.breaker.flush()
        with self._stores.db.read():
            nodes, memories, inactive, size = self._nodes.totals()
            edges, overflow, explicit = self._nodes.edges.totals()
            relations = self._nodes.edges.relations()
            depths = self._nodes.overflow_rings()
            numbers = graph_numbers(
                self._needs.layout.rings(), self._nodes.edges.overflow_ends(), hubs=HUBS_SHOWN
            )
        return HoneycombStats(
            nodes=nodes,
            memory_nodes=memories,
            inactive=inactive,
            max_nodes=self.rules.max_nodes,
            edges=edges,
            overflow_edges=overflow,
            explicit_edges=explicit,
            relations=relations,
            out_degrees=numbers.out_degrees,
            overflow_rings=depths,
            deepest_ring=max(depths, default=0),
            components=numbers.components,
            largest_component=numbers.largest,
            isolated=numbers.isolated,
            hubs=numbers.hubs,
            embedding_bytes=size,
        )
