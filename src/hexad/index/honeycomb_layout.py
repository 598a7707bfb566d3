"""The main rings of all nodes as arrays: what walks step over. Derived, in memory only, and followed by changes."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.storage.changes import ChangeReader
from hexad.storage.honeycomb import HoneycombNodes, NodeRow
from hexad.storage.honeycomb_edges import FAMILY, EdgeRow
from hexad.storage.honeycomb_schema import SEATS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

NO_TARGET: Final = 0
"""No node has the id 0."""


class Rings(NamedTuple):
    """Main rings as parallel columns: one row a node, one column a seat; an empty seat has the target 0."""

    ids: Ints
    targets: Ints
    scores: Floats
    renewed: Ints
    relations: NDArray[np.int32]
    auto: NDArray[np.bool_]
    created: Ints


class Layout:
    """The main rings of one store. Follows writes of any process; safe to share between threads."""

    def __init__(self, nodes: HoneycombNodes, changes: ChangeReader) -> None:
        self._nodes = nodes
        self._changes = changes
        self._lock = RLock()
        self._change = -1
        self._rev = 0
        self._removal = 0
        self._rings: Rings | None = None
        self._names: list[str] = []
        self._codes: dict[str, int] = {}

    def edges_of(self, ids: Sequence[int]) -> dict[int, list[EdgeRow]]:
        """Return the main rings of these nodes, the strongest edge first; nodes without edges are left out.

        A role's rings are made of what it may see, and are read from storage.
        """
        import numpy as np

        if not self._nodes.sees_all:
            return self._nodes.main(ids)
        with self._lock:
            rings = self._current()
            wanted = np.asarray(sorted(set(ids)), dtype=np.int64)
            places = np.searchsorted(rings.ids, wanted)
            known = places < len(rings.ids)
            known[known] = rings.ids[places[known]] == wanted[known]
            found: dict[int, list[EdgeRow]] = {}
            for place in places[known].tolist():
                edges = self._edges_at(rings, place)
                if edges:
                    found[int(rings.ids[place])] = edges
        return found

    def rings(self) -> Rings:
        """Return copies of all main rings, as they are now."""
        with self._lock:
            return Rings._make(column.copy() for column in self._current())

    def nbytes(self) -> int:
        """Return how much memory the arrays take."""
        with self._lock:
            return sum(column.nbytes for column in self._current())

    def _edges_at(self, rings: Rings, place: int) -> list[EdgeRow]:
        node = int(rings.ids[place])
        edges = [
            EdgeRow(
                from_id=node,
                ring=0,
                seat=seat,
                to_id=target,
                score=float(rings.scores[place, seat]),
                relation=self._names[int(rings.relations[place, seat])],
                is_auto=int(rings.auto[place, seat]),
                created_at=int(rings.created[place, seat]),
                renewed_at=int(rings.renewed[place, seat]),
            )
            for seat, target in enumerate(rings.targets[place].tolist())
            if target != NO_TARGET
        ]
        edges.sort(key=lambda edge: (-edge.score, edge.to_id))
        return edges

    # Following --------------------------------------------------------------------------------------------------

    def _current(self) -> Rings:
        change = self._changes.current(FAMILY)
        if self._rings is None:
            self._rings = _empty(0)
        elif (
            change <= self._change
        ):  # lower: this thread reads an older moment; what is gone by then, others leave out
            return self._rings
        removed = self._nodes.removed_after(self._removal)
        if removed:
            self._removal = removed[-1][0]
        changed = self._nodes.changed_after(self._rev)
        edges = self._nodes.main_changed_after(self._rev)
        rings = _without(self._rings, [node for _, node in removed])
        rings = _with(rings, [node.id for node in changed])
        self._fill(rings, changed, edges)
        self._rev = max([self._rev, *(node.rev for node in changed)])
        self._rings, self._change = rings, change
        return rings

    def _fill(self, rings: Rings, changed: Sequence[NodeRow], edges: Sequence[EdgeRow]) -> None:
        import numpy as np

        if not changed:
            return
        ids = np.fromiter((node.id for node in changed), dtype=np.int64, count=len(changed))
        rings.targets[np.searchsorted(rings.ids, ids)] = NO_TARGET
        if not edges:
            return
        starts = np.fromiter((edge.from_id for edge in edges), dtype=np.int64, count=len(edges))
        place = np.searchsorted(rings.ids, starts)
        seat = np.fromiter((edge.seat for edge in edges), dtype=np.int64, count=len(edges))
        rings.targets[place, seat] = [edge.to_id for edge in edges]
        rings.scores[place, seat] = [edge.score for edge in edges]
        rings.renewed[place, seat] = [edge.renewed_at for edge in edges]
        rings.created[place, seat] = [edge.created_at for edge in edges]
        rings.auto[place, seat] = [bool(edge.is_auto) for edge in edges]
        rings.relations[place, seat] = [self._code(edge.relation) for edge in edges]

    def _code(self, relation: str) -> int:
        code = self._codes.get(relation)
        if code is None:
            code = self._codes[relation] = len(self._names)
            self._names.append(relation)
        return code


def _empty(count: int) -> Rings:
    import numpy as np

    return Rings(
        ids=np.zeros(count, dtype=np.int64),
        targets=np.zeros((count, SEATS), dtype=np.int64),
        scores=np.zeros((count, SEATS)),
        renewed=np.zeros((count, SEATS), dtype=np.int64),
        relations=np.zeros((count, SEATS), dtype=np.int32),
        auto=np.zeros((count, SEATS), dtype=np.bool_),
        created=np.zeros((count, SEATS), dtype=np.int64),
    )


def _without(rings: Rings, gone: Sequence[int]) -> Rings:
    import numpy as np

    if not gone:
        return rings
    keep = ~np.isin(rings.ids, np.asarray(gone, dtype=np.int64))
    return Rings._make(column[keep] for column in rings)


def _with(rings: Rings, ids: Sequence[int]) -> Rings:
    """Return the rings with empty rows for the ids that have none."""
    import numpy as np

    new = np.setdiff1d(np.asarray(ids, dtype=np.int64), rings.ids)
    if not len(new):
        return rings
    merged = np.union1d(rings.ids, new)
    places = np.searchsorted(merged, rings.ids)
    grown = Rings._make(_scattered(column, places, len(merged)) for column in rings)
    grown.ids[:] = merged
    return grown


def _scattered(column: NDArray[np.generic], places: Ints, count: int) -> NDArray[np.generic]:
    import numpy as np

    made = np.zeros((count, *column.shape[1:]), dtype=column.dtype)
    made[places] = column
    return made
