"""What the calls of `hx.honeycomb` share: its parts, and how callers name nodes."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexad.core.arguments import quoted
from hexad.core.clock import Clock
from hexad.core.numbers import whole_number
from hexad.database.codec import to_micros
from hexad.errors import InvalidInput, NotFound
from hexad.honeycomb.arguments import given_session
from hexad.honeycomb.circuit_breaker import CircuitBreaker
from hexad.honeycomb.graph.adjacency import Layout
from hexad.honeycomb.tables.edges import EdgeRow
from hexad.honeycomb.tables.nodes import NodeRow
from hexad.honeycomb.values import HoneycombEdge, HoneycombRules, JitPiece
from hexad.honeycomb.walk.seeds import Begin
from hexad.honeycomb.walk.walker import JitWalker, edge_of
from hexad.memory.store import Stores
from hexad.search.vectors.quantization import decode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True, kw_only=True)
class RulesInForce:
    """The rules of an open store: from its settings, until `configure` replaces them."""

    current: HoneycombRules


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneycombNeeds:
    """What the facade is handed. `embed` and `embed_query` are None where the store is open without an embedder."""

    stores: Stores
    clock: Clock
    rules: RulesInForce
    layout: Layout
    walker: JitWalker
    breaker: CircuitBreaker
    seeds: Callable[[str, str | None], Begin]
    note: Callable[[Sequence[JitPiece]], None]
    memory_threshold: Callable[[], float]
    mask: Callable[[str], str]
    secret_in: Callable[[str], str | None]
    check_owner: Callable[[str], None]
    check_for_good: Callable[[str], None]
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    embed_query: Callable[[str, str | None], NDArray[np.float32]] | None


@dataclass(slots=True, kw_only=True)
class NeedsInForce:
    """What the facade works on, until the store is given another embedder: who holds the facade goes on with it."""

    current: HoneycombNeeds


class HoneycombParts:
    """What every call works on."""

    def __init__(self, needs: NeedsInForce) -> None:
        self._in_force = needs
        self._stores = needs.current.stores  # they stay
        self._nodes = needs.current.stores.honeycomb

    @property
    def _needs(self) -> HoneycombNeeds:
        return self._in_force.current

    @property
    def rules(self) -> HoneycombRules:
        """Weights, half-lives and limits, as they are in force for this open store."""
        return self._needs.rules.current

    def _now(self) -> int:
        return to_micros(self._needs.clock.now())

    def _session(self, session: str | None) -> str | None:
        """Return the name of a session, None for the one without; raises `InvalidInput`."""
        name = given_session(session)
        return None if name is None else self._public_name(name, "session")

    def _public_name(self, name: str, what: str) -> str:
        """Return a name that is kept as it is; raises `InvalidInput` for one that holds a secret."""
        rule = self._needs.secret_in(name)
        if rule is not None:
            raise InvalidInput(f"{what} holds what looks like a secret ({rule}); give another name.")
        return name

    def _named(self, node: int | str) -> int | None:
        """Return the id that a caller means, None where nothing has it that may be seen."""
        if isinstance(node, str):
            try:
                return self._stores.memories.resolve(node, space=None)
            except NotFound:
                return None
        number = whole_number(node)
        if number is None:
            raise InvalidInput(f"node = {quoted(node)} is no node; give its id, or the id of a memory.")
        return number if -(1 << 63) <= number < 1 << 63 else None

    def _node(self, node: int | str) -> int:
        """Return the id of a node that is there; raises `NotFound`."""
        node_id = self._named(node)
        return self._there(node_id, node, () if node_id is None else self._nodes.visible([node_id]))

    @staticmethod
    def _there(node_id: int | None, named: int | str, visible: Container[int]) -> int:
        """Return an id that is among the visible ones; raises `NotFound`."""
        if node_id is None or node_id not in visible:
            raise NotFound(
                f"Node {quoted(named)} is not in the honeycomb; `add_node` makes one, and a memory becomes one when it "
                "has its vector (`hexad maintain`)."
            )
        return node_id

    def _vectors(self, rows: Mapping[int, NodeRow]) -> dict[int, NDArray[np.float32]]:
        """Return the embeddings of those of these nodes that have one."""
        own = [node for node, row in rows.items() if not row.is_memory]
        memories = [node for node, row in rows.items() if row.is_memory]
        found = self._stores.vectors.of_memories(memories) if memories else {}
        for one in self._nodes.embeddings_of(own) if own else ():
            if one.dimensions:
                found[one.node_id] = decode(one.embedding, one.format, one.scale)
        return found

    def _seen(self, rows: Sequence[EdgeRow]) -> tuple[HoneycombEdge, ...]:
        """Return edges whose other end may be seen."""
        visible = self._nodes.visible([row.to_id for row in rows])
        return tuple(edge_of(row) for row in rows if row.to_id in visible)
