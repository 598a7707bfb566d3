"""The main rings of all nodes as arrays: what walks step over. Derived, in memory only, and followed by changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hexad.database.change_counters import ChangeReader
from hexad.honeycomb.tables.edges import FAMILY, EdgeRow
from hexad.honeycomb.tables.nodes import HoneycombNodes, NodeRow
from hexad.honeycomb.tables.schema import SEATS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_AT_ONCE: Final = 4_096
"""Nodes whose rings are read together: rows take many times the room of the arrays that are made of them."""
NO_TARGET: Final = 0
"""No node has the id 0."""
_ROOM: Final = 16
"""Full arrays grow by a sixteenth, and shrink when as many of their nodes are gone: one node more or less must not copy
those of all others."""


class Rings(NamedTuple):
    """Main rings as parallel columns: one row a node, one column a seat; an empty seat has the target 0."""

    ids: Ints
    targets: Ints
    scores: Floats
    renewed: Ints
    relations: NDArray[np.int32]
    auto: NDArray[np.bool_]
    created: Ints
    flags: NDArray[np.uint8]  # 0 for a node that was removed


THERE, MEMORY, ACTIVE, OVERFLOW = 1, 2, 4, 8
"""What a node's flags say: that it is there, is a memory, may be entered (of a memory besides its own status), and has
overflow rings."""


class Adjacency:
    """The main rings of one store. Follows writes of any process; safe to share between threads."""

    def __init__(self, nodes: HoneycombNodes, changes: ChangeReader) -> None:
        self._nodes = nodes
        self._changes = changes
        self._lock = RLock()
        self._change = -1
        self._rev = 0
        self._removal = 0
        self._kept: Rings | None = None  # with room at the end
        self._used = _empty(0)  # the same without
        self._names: list[str] = []
        self._codes: dict[str, int] = {}

    def follow(self) -> None:
        """Take over what any process has committed until now."""
        with self._lock:
            self._current()

    def flags_of(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the flags of nodes, as of the latest `follow`; one that is not there has none, or 0."""
        with self._lock:
            rings = self._followed()
            places = _places(rings, ids)
            target_ids, flags = rings.ids[places].tolist(), rings.flags[places].tolist()
        return dict(zip(target_ids, flags, strict=True))

    def edges_of(self, ids: Sequence[int]) -> dict[int, list[EdgeRow]]:
        """Return the main rings of these nodes, the strongest edge first, as of the latest `follow`.

        Nodes without edges are left out. A role's rings are made of what it may see, and are read from storage.
        """
        import numpy as np

        if not self._nodes.sees_all:
            return self._nodes.main(ids)
        with self._lock:
            rings = self._followed()
            places = _places(rings, ids)
            row, seat = np.nonzero(rings.targets[places])
            at = places[row] * SEATS + seat  # as if the columns were one long row
            to, score = rings.targets.ravel()[at], rings.scores.ravel()[at]
            order = np.lexsort((to, -score, row))
            row, seat, at = row[order], seat[order], at[order]
            edge_columns = (
                rings.ids[places[row]].tolist(),
                [0] * len(row),
                seat.tolist(),
                to[order].tolist(),
                score[order].tolist(),
                [self._names[code] for code in rings.relations.ravel()[at].tolist()],
                rings.auto.ravel()[at].view(np.uint8).tolist(),
                rings.created.ravel()[at].tolist(),
                rings.renewed.ravel()[at].tolist(),
            )
        edges = list(map(EdgeRow._make, zip(*edge_columns, strict=True)))
        cuts = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(edges)] if edges else []
        return {edges[first].from_id: edges[first:last] for first, last in pairwise(cuts)}

    def rings(self) -> Rings:
        """Return copies of all main rings, as they are now."""
        with self._lock:
            rings = self._current()
            return Rings._make(column[rings.flags > 0] for column in rings)

    @property
    def limit_bytes(self) -> None:
        """Walks read these alone, so that they are as large as the graph: some 240 bytes a node."""

    def nbytes(self) -> int:
        """Return how much memory the arrays take, as of the last look."""
        with self._lock:
            return sum(column.nbytes for column in self._kept or ())

    # Following --------------------------------------------------------------------------------------------------

    def _followed(self) -> Rings:
        return self._current() if self._kept is None else self._used

    def _keep(self, rings: Rings, count: int) -> None:
        self._kept, self._used = rings, Rings._make(column[:count] for column in rings)

    def _current(self) -> Rings:
        change = self._changes.current(FAMILY)
        if self._kept is None:
            self._kept = _empty(0)
        elif (
            change <= self._change
        ):  # lower: this thread reads an older moment; what is gone by then, others leave out
            return self._used
        removed = self._nodes.removed_after(self._removal)
        self._forget([node for _, node in removed])
        rev = self._rev
        for changed in self._changed():
            self._make_room([node.id for node in changed])
            for first in range(0, len(changed), _AT_ONCE):
                self._fill(self._used, changed[first : first + _AT_ONCE])
            rev = max([rev, *(node.rev for node in changed)])
        self._removal = removed[-1][0] if removed else self._removal
        self._rev, self._change = rev, change
        return self._used

    def _changed(self) -> Iterator[list[NodeRow]]:
        """Give the nodes that changed since; all of them in blocks, when none was read before."""
        if self._rev:
            yield self._nodes.changed_after(self._rev)
            return
        last = 0
        while block := self._nodes.after(last, limit=_AT_ONCE):
            yield block
            last = block[-1].id

    def _forget(self, removed_ids: Sequence[int]) -> None:
        import numpy as np

        if not removed_ids:
            return
        rings = self._used
        places = _places(rings, removed_ids)
        rings.flags[places] = 0
        rings.targets[places] = NO_TARGET
        there = rings.flags > 0
        left = int(there.sum())
        if len(there) - left > len(there) // _ROOM:
            kept_rings = Rings._make(column[there] for column in rings)
            self._keep(_scattered(kept_rings, np.arange(left), left), left)

    def _make_room(self, ids: Sequence[int]) -> None:
        """Give the ids that have none an empty row."""
        import numpy as np

        assert self._kept is not None
        rings, wanted_ids = self._used, np.asarray(ids, dtype=np.int64)
        new = wanted_ids[~np.isin(wanted_ids, rings.ids[_places(rings, ids)])]
        if not len(new):
            return
        kept_rings, before = self._kept, len(rings.ids)
        count = before + len(new)
        if before and new[0] < rings.ids[-1]:  # a memory that was linked after later ones
            merged = np.union1d(rings.ids, new)
            kept_rings = _scattered(rings, np.searchsorted(merged, rings.ids), count)
            kept_rings.ids[:count] = merged
        else:
            if count > len(kept_rings.ids):
                kept_rings = _scattered(rings, np.arange(before), count)
            kept_rings.ids[before:count] = new
        self._keep(kept_rings, count)

    def _fill(self, rings: Rings, changed: Sequence[NodeRow]) -> None:
        import numpy as np

        place = np.searchsorted(rings.ids, np.asarray([node.id for node in changed], dtype=np.int64))
        rings.flags[place] = [
            THERE | (node.is_memory and MEMORY) | (node.active and ACTIVE) | (node.overflow and OVERFLOW)
            for node in changed
        ]
        rings.targets[place] = NO_TARGET
        edges = self._nodes.main_of([node.id for node in changed])
        if not edges:
            return
        start, seat, to, score, relation, auto, created, renewed = zip(*edges, strict=True)
        at = (np.searchsorted(rings.ids, np.asarray(start, dtype=np.int64)), np.asarray(seat, dtype=np.int64))
        rings.targets[at] = to
        rings.scores[at] = score
        rings.relations[at] = [self._code(name) for name in relation]
        rings.auto[at] = auto
        rings.created[at] = created
        rings.renewed[at] = renewed

    def _code(self, relation: str) -> int:
        code = self._codes.get(relation)
        if code is None:
            code = self._codes[relation] = len(self._names)
            self._names.append(relation)
        return code


def _places(rings: Rings, ids: Sequence[int]) -> Ints:
    """Return the rows of those of these nodes that have one, in order and each once."""
    import numpy as np

    wanted_ids = np.asarray(sorted(set(ids)), dtype=np.int64)
    places = np.searchsorted(rings.ids, wanted_ids)
    known = places < len(rings.ids)
    known[known] = rings.ids[places[known]] == wanted_ids[known]
    return places[known]


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
        flags=np.zeros(count, dtype=np.uint8),
    )


def _scattered(rings: Rings, places: Ints, count: int) -> Rings:
    """Return the rows at these places of larger arrays, with room for some more at the end."""
    new_rings = _empty(count + count // _ROOM)
    columns: Sequence[NDArray[Any]] = new_rings
    for column, ring in zip(columns, rings, strict=True):
        column[places] = ring
    return new_rings
