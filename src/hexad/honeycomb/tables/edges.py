"""Edges in rings of six: where a new one belongs, what it displaces, and how a gap is closed.

A node's first six edges are its main ring. A stronger edge takes the seat of the weakest, which moves to the end of
the overflow rings; a weaker one goes there itself. Nothing is looked at but the six and the pair, so that an
insertion costs the same however many rings there are. A ring's edges point at nodes, rings are numbered, and no ring
holds another: there is nothing that could be a cycle.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from hexad.database.change_counters import bump
from hexad.database.connection import Connection, Database, Row
from hexad.honeycomb.tables.schema import EDGE_COLUMNS, EDGE_RELATION, SEATS
from hexad.honeycomb.values import LIKENESS, RELATION_BACK

FAMILY: Final = "honeycomb"
_SELECT: Final = f"SELECT {EDGE_COLUMNS} FROM honeycomb_edges e"
_PAIR: Final = f"{_SELECT} WHERE from_id = ? AND to_id = ?"
_PUT: Final = (
    "INSERT INTO honeycomb_edges(from_id, place, to_id, score, created_at, more) VALUES(?1, 6 * ?2 + ?3, ?4, ?5, ?8,"
    " iif(?6 = 'similar' AND ?7 AND ?8 = ?9, NULL, json_array(nullif(?6, 'similar'), ?7, nullif(?9, ?8))))"
)
_TAKE: Final = "DELETE FROM honeycomb_edges WHERE from_id = ?1 AND place = 6 * ?2 + ?3"
_SET_COUNTS: Final = "UPDATE honeycomb_nodes SET main = ?, overflow = ?, rev = ? WHERE id = ?"
_FOUND: Final = (
    f"SELECT n.main, n.overflow, {EDGE_COLUMNS} FROM honeycomb_nodes n"
    " LEFT JOIN honeycomb_edges e ON e.from_id = n.id AND e.to_id = ?2 WHERE n.id = ?1"
)


class EdgeRow(NamedTuple):
    """An edge as stored; times are microseconds."""

    from_id: int
    ring: int
    seat: int
    to_id: int
    score: float
    relation: str
    is_auto: int
    created_at: int
    renewed_at: int

    @property
    def is_drawn(self) -> bool:
        """Whether it is of a link that somebody drew between two memories."""
        return bool(self.is_auto) and self.relation.removesuffix(RELATION_BACK) not in LIKENESS


class NewEdge(NamedTuple):
    """An edge to insert; `relation` None keeps that of the same edge, else takes `default_relation`."""

    from_id: int
    to_id: int
    score: float
    relation: str | None
    default_relation: str = "related"
    is_auto: bool = False
    at: int | None = None
    """When it counts as made, where that is not the time of the insertion."""


class HoneycombEdges:
    """The edges of one store. Both ends of an edge must be nodes."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Reading ----------------------------------------------------------------------------------------------------

    def main(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the main rings of these nodes, the strongest edge first; nodes without edges are left out."""
        rows = self._db.query(
            f"{_SELECT} WHERE place < 6 AND from_id IN (SELECT value FROM json_each(?))"
            " ORDER BY from_id, score DESC, to_id",
            (json.dumps(sorted(ids)),),
        )
        return _by_node(rows)

    def overflow(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the edges in all overflow rings of these nodes, by ring, the strongest first in each."""
        rows = self._db.query(
            f"{_SELECT} WHERE place >= 6 AND from_id IN (SELECT value FROM json_each(?))"
            " ORDER BY from_id, ring, score DESC, to_id",
            (json.dumps(sorted(ids)),),
        )
        return _by_node(rows)

    def overflow_ends(self) -> list[tuple[int, int]]:
        """Return the ends of all edges in overflow."""
        rows = self._db.query("SELECT from_id, to_id FROM honeycomb_edges WHERE place >= 6")
        return rows

    def pair(self, from_id: int, to_id: int) -> EdgeRow | None:
        """Return the edge between two nodes, None without one."""
        row = self._db.query_one(_PAIR, (from_id, to_id))
        return None if row is None else _row(row)

    def derived_with_earlier(self, ids: Collection[int]) -> dict[tuple[int, int], EdgeRow]:
        """Return the derived edges between these nodes and those of lower ids, in both directions, by their ends.

        In the order of their seats: whoever drops them decides by it which others move up.
        """
        rows = self._db.query(
            f"SELECT {EDGE_COLUMNS} FROM ("
            "SELECT * FROM honeycomb_edges WHERE from_id IN (SELECT value FROM json_each(?1))"
            " AND to_id < from_id AND is_auto UNION ALL SELECT * FROM honeycomb_edges"
            " WHERE to_id IN (SELECT value FROM json_each(?1)) AND from_id < to_id AND is_auto) e"
            " ORDER BY from_id < to_id, from_id, place",
            (json.dumps(sorted(ids)),),
        )
        return {(edge.from_id, edge.to_id): edge for edge in map(_row, rows)}

    def incoming(self, node_id: int, *, limit: int) -> list[EdgeRow]:
        """Return edges that end at a node, the strongest first."""
        rows = self._db.query(
            f"{_SELECT} WHERE to_id = ? ORDER BY score DESC, from_id LIMIT ?",
            (node_id, limit),
        )
        return [_row(row) for row in rows]

    def totals(self) -> tuple[int, int, int]:
        """Return how many edges there are, how many in overflow, and how many that somebody inserted."""
        row = self._db.query_one(
            "SELECT count(*), count(*) FILTER (WHERE place >= 6), count(*) FILTER (WHERE NOT is_auto)"
            " FROM honeycomb_edges"
        )
        return row if row else (0, 0, 0)

    def relations(self) -> dict[str, int]:
        """Return how many edges there are of each type."""
        rows = self._db.query(
            f"SELECT {EDGE_RELATION}, count(*) FROM honeycomb_edges e GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        return dict(rows)

    # Inserting --------------------------------------------------------------------------------------------------

    def insert(self, edges: Iterable[NewEdge], *, at: int) -> list[EdgeRow]:
        """Insert edges in order and return each as it stands then.

        The same pair is the same edge: a higher score strengthens it, and it moves into the main ring where it is
        stronger than that ring's weakest. What somebody inserts takes a derived edge over, with its score whether
        higher or lower, and stays theirs: a derived one changes nothing of it. Raises what SQLite does where an end
        is no node; callers have looked.
        """
        new_edges, made = list(edges), []
        with self._db.joined() as con:
            rev = bump(con, FAMILY)
            rings = _rings_for(con, new_edges) if len(new_edges) >= _MANY else {}
            for edge in new_edges:
                time = at if edge.at is None else edge.at
                ring = rings.get(edge.from_id)
                made.append(_insert(con, edge, at=time, rev=rev) if ring is None else ring.add(edge, at=time))
            _write_rings(con, rings, rev=rev)
        return made

    # Removing ---------------------------------------------------------------------------------------------------

    def drop_of(self, ids: Collection[int], *, auto_only: bool = False) -> int:
        """Remove all edges that begin or end at these nodes, or the derived ones; returns how many.

        The strongest overflow edge comes up where a main ring lost one.
        """
        ids_json = json.dumps(sorted(ids))
        only = " AND is_auto" if auto_only else ""
        with self._db.joined() as con:
            rows = con.execute(
                f"{_SELECT} WHERE from_id IN (SELECT value FROM json_each(?1)){only}"
                f" UNION {_SELECT} WHERE to_id IN (SELECT value FROM json_each(?1)){only}"
                " ORDER BY from_id, to_id",
                (ids_json,),
            ).fetchall()
            self._drop(con, [_row(row) for row in rows])
        return len(rows)

    def drop(self, edges: Collection[EdgeRow]) -> None:
        """Remove these edges, which there are."""
        with self._db.joined() as con:
            self._drop(con, edges)

    def drop_pair(self, first: int, other: int, *, auto_only: bool) -> int:
        """Remove the edges between two nodes, in both directions; returns how many there were."""
        with self._db.joined() as con:
            rows = [_pair(con, first, other), _pair(con, other, first)]
            gone_rows = [edge for edge in rows if edge is not None and (edge.is_auto or not auto_only)]
            self._drop(con, gone_rows)
        return len(gone_rows)

    def drop_derived(self) -> int:
        """Remove every derived edge, before they are derived anew; what somebody inserted closes ranks."""
        with self._db.joined() as con:
            rev = bump(con, FAMILY)
            kept_rows = con.execute(
                f"{_SELECT} WHERE from_id IN"
                " (SELECT from_id FROM honeycomb_edges WHERE is_auto) AND NOT is_auto"
                " ORDER BY from_id, place"
            ).fetchall()
            con.execute(
                "UPDATE honeycomb_nodes SET main = 0, overflow = 0, rev = ? WHERE id IN"
                " (SELECT from_id FROM honeycomb_edges WHERE is_auto)",
                (rev,),
            )
            con.execute("DELETE FROM honeycomb_edges WHERE is_auto")
            changes = con.changes
            by_node = _by_node(kept_rows)
            for node, edges in by_node.items():
                con.execute("DELETE FROM honeycomb_edges WHERE from_id = ?", (node,))
                ranked = sorted(edges, key=lambda edge: (-edge.score, edge.to_id))
                for place, edge in enumerate(ranked):
                    ring, seat = divmod(place, SEATS)
                    _put(con, edge._replace(ring=ring, seat=seat))
                con.execute(
                    "UPDATE honeycomb_nodes SET main = ?, overflow = ? WHERE id = ?",
                    (min(len(ranked), SEATS), max(len(ranked) - SEATS, 0), node),
                )
        return changes

    @staticmethod
    def _drop(con: Connection, edges: Collection[EdgeRow]) -> None:
        if not edges:
            return
        rev = bump(con, FAMILY)
        for edge in edges:
            # Where it sits now: an earlier removal may have moved it.
            now = _pair(con, edge.from_id, edge.to_id)
            assert now is not None
            _remove(con, now, rev=rev)


# The rings ----------------------------------------------------------------------------------------------------------


_MANY: Final = 12
"""Fewer edges take fewer statements one by one."""
_INTEGER_MOST: Final = 2**63 - 1


class _Ring:
    """The main ring of a node in memory, to which edges are added that are not there yet."""

    __slots__ = ("_ranks", "moved", "overflow", "put", "taken")

    def __init__(self, ranks: Sequence[tuple[float, int]], overflow: int) -> None:
        """`ranks` are those of its edges by seat; of a ring that will not be full their number alone counts."""
        self._ranks, self.overflow = list(ranks), overflow
        self.taken: dict[int, EdgeRow] = {}  # by seat
        self.put: list[EdgeRow] = []  # in overflow
        self.moved: list[tuple[int, int, int]] = []  # seats of the table whose edges go to a ring and a seat

    @property
    def main(self) -> int:
        """How many edges the main ring has."""
        return len(self._ranks)

    def add(self, new: NewEdge, *, at: int) -> EdgeRow:
        """Put an edge where `_insert` would, and return it."""
        rank, seat = (new.score, -new.to_id), len(self._ranks)
        if seat < SEATS:
            self._ranks.append(rank)
            edge = self.taken[seat] = _new_row(new, seat=seat, at=at)
            return edge
        ring, place = _overflow_place(self.overflow)
        self.overflow += 1
        weakest = min(self._ranks)
        if rank <= weakest:
            edge = _new_row(new, ring=ring, seat=place, at=at)
            self.put.append(edge)
            return edge
        seat = self._ranks.index(weakest)
        displaced = self.taken.get(seat)
        if displaced is None:
            self.moved.append((ring, place, seat))
        else:
            self.put.append(displaced._replace(ring=ring, seat=place))
        self._ranks[seat] = rank
        edge = self.taken[seat] = _new_row(new, seat=seat, at=at)
        return edge


def _rings_for(con: Connection, new_edges: Sequence[NewEdge]) -> dict[int, _Ring]:
    """Return the main rings of the nodes that get new edges alone; those of an edge that is there are left out."""
    pairs = Counter((edge.from_id, edge.to_id) for edge in new_edges)
    base = 1 + max(edge.to_id for edge in new_edges)
    if max(from_id * base + to_id for from_id, to_id in pairs) > _INTEGER_MOST:
        return {}
    rows = con.execute(
        "SELECT id, main, overflow FROM honeycomb_nodes WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted({node for node, _ in pairs})),),
    ).fetchall()
    bare = {node for node, main, overflow in rows if not main and not overflow}
    coded = [from_id * base + to_id for from_id, to_id in pairs if from_id not in bare]
    there = con.execute(
        "SELECT e.from_id FROM json_each(?1) j CROSS JOIN honeycomb_edges e ON e.to_id = j.value % ?2"
        " AND e.from_id = j.value / ?2",
        (json.dumps(coded), base),
    ).fetchall()
    known = {node for (node,) in there} | {node for (node, _), count in pairs.items() if count > 1}
    added = Counter(node for node, _ in pairs if node not in known)
    counts = {node: (main, overflow) for node, main, overflow in rows if node not in known}
    ranks: dict[int, list[tuple[float, int]]] = {}
    full = [node for node, (main, _) in counts.items() if main + added[node] > SEATS]
    for node, score, to_id in con.execute(
        "SELECT from_id, score, to_id FROM honeycomb_edges WHERE place < 6"
        " AND from_id IN (SELECT value FROM json_each(?)) ORDER BY from_id, place",
        (json.dumps(sorted(full)),),
    ):
        ranks.setdefault(node, []).append((score, -to_id))
    return {
        node: _Ring(ranks.get(node, [(0.0, 0)] * main), overflow) for node, (main, overflow) in counts.items()
    }


def _write_rings(con: Connection, rings: Mapping[int, _Ring], *, rev: int) -> None:
    con.executemany(
        "UPDATE honeycomb_edges SET place = 6 * ?1 + ?2 WHERE from_id = ?3 AND place = ?4",
        [(ring, place, node, seat) for node, of in rings.items() for ring, place, seat in of.moved],
    )
    con.executemany(_PUT, [edge for of in rings.values() for edge in (*of.taken.values(), *of.put)])
    con.executemany(_SET_COUNTS, [(of.main, of.overflow, rev, node) for node, of in rings.items()])


def _new_row(new: NewEdge, *, seat: int, at: int, ring: int = 0) -> EdgeRow:
    return EdgeRow(
        from_id=new.from_id,
        ring=ring,
        seat=seat,
        to_id=new.to_id,
        score=new.score,
        relation=new.relation or new.default_relation,
        is_auto=int(new.is_auto),
        created_at=at,
        renewed_at=at,
    )


def _insert(con: Connection, new: NewEdge, *, at: int, rev: int) -> EdgeRow:
    main, overflow, there = _counts_and_edge(con, new.from_id, new.to_id)
    if there is not None:
        return _renew(con, there, new, at=at, rev=rev)
    edge = _new_row(new, seat=main, at=at)
    if main < SEATS:
        _put(con, edge)
        _set_counts(con, new.from_id, main + 1, overflow, rev=rev)
        return edge
    ring, seat = _overflow_place(overflow)
    weakest = _weakest(con, new.from_id)
    if _rank(edge) > _rank(weakest):
        _take(con, weakest)
        _put(con, weakest._replace(ring=ring, seat=seat))
        edge = edge._replace(seat=weakest.seat)
    else:
        edge = edge._replace(ring=ring, seat=seat)
    _put(con, edge)
    _set_counts(con, new.from_id, main, overflow + 1, rev=rev)
    return edge


def _renew(con: Connection, there: EdgeRow, new: NewEdge, *, at: int, rev: int) -> EdgeRow:
    """Strengthen an edge that is there, or take over a derived one. It gets the seat of its score.

    What somebody says again is renewed, however strong: it ages from then on. What is derived again is as it was.
    """
    if new.is_auto and not there.is_auto:
        return there
    taken_over = bool(there.is_auto) and not new.is_auto
    stronger = new.score > there.score
    # A derived type gives way to a stronger derived one, and to whatever somebody says.
    relation = new.relation if new.relation is not None and (stronger or not new.is_auto) else there.relation
    edge = there._replace(
        relation=relation,
        is_auto=int(new.is_auto),
        score=new.score if taken_over or stronger else there.score,
        renewed_at=at if stronger or not new.is_auto else there.renewed_at,
    )
    if edge == there:
        return there
    _take(con, there)
    other = _to_change_with(con, edge, was=there.score)
    if other is not None:
        _take(con, other)
        _put(con, other._replace(ring=edge.ring, seat=edge.seat))
        edge = edge._replace(ring=other.ring, seat=other.seat)
    _put(con, edge)
    con.execute("UPDATE honeycomb_nodes SET rev = ? WHERE id = ?", (rev, there.from_id))
    return edge


def _to_change_with(con: Connection, edge: EdgeRow, *, was: float) -> EdgeRow | None:
    """Return the edge to change seats with after a change of score; `edge` is out of the table."""
    if edge.ring and edge.score > was:
        weakest = _weakest(con, edge.from_id)
        return weakest if _rank(edge) > _rank(weakest) else None
    if not edge.ring and edge.score < was:
        strongest = _strongest_below(con, edge.from_id)
        return strongest if strongest is not None and _rank(strongest) > _rank(edge) else None
    return None


def _remove(con: Connection, edge: EdgeRow, *, rev: int) -> None:
    """Take an edge out; the strongest overflow edge takes a main seat, the last one any gap that is left."""
    main, overflow = _counts(con, edge.from_id)
    _take(con, edge)
    gap_ring, gap_seat = edge.ring, edge.seat
    if edge.ring == 0 and not overflow:
        last = _at(con, edge.from_id, 0, main - 1)
        if last is not None:
            _take(con, last)
            _put(con, last._replace(seat=edge.seat))
        _set_counts(con, edge.from_id, main - 1, 0, rev=rev)
        return
    if edge.ring == 0:
        risen = _strongest_below(con, edge.from_id)
        assert risen is not None
        _take(con, risen)
        _put(con, risen._replace(ring=0, seat=edge.seat))
        gap_ring, gap_seat = risen.ring, risen.seat
    last_ring, last_seat = _overflow_place(overflow - 1)
    last = _at(con, edge.from_id, last_ring, last_seat)
    if last is not None:  # else the gap is at the end
        _take(con, last)
        _put(con, last._replace(ring=gap_ring, seat=gap_seat))
    _set_counts(con, edge.from_id, main, overflow - 1, rev=rev)


def _counts_and_edge(con: Connection, from_id: int, to_id: int) -> tuple[int, int, EdgeRow | None]:
    """Return how many edges a node has in the main ring and in overflow, and the one to another."""
    row = con.execute(_FOUND, (from_id, to_id)).fetchone()
    assert row is not None, from_id
    main, overflow, *edge = row
    return main, overflow, None if edge[0] is None else EdgeRow._make(edge)


def _pair(con: Connection, from_id: int, to_id: int) -> EdgeRow | None:
    row = con.execute(_PAIR, (from_id, to_id)).fetchone()
    return None if row is None else _row(row)


def _row(row: Row | None) -> EdgeRow:
    assert row is not None
    return EdgeRow._make(row)


def _by_node(rows: Iterable[Row]) -> dict[int, list[EdgeRow]]:
    found_rows: dict[int, list[EdgeRow]] = {}
    for row in rows:
        edge = _row(row)
        found_rows.setdefault(edge.from_id, []).append(edge)
    return found_rows


def _overflow_place(count: int) -> tuple[int, int]:
    """Return ring and seat after so many overflow edges: all rings but the last are full."""
    return 1 + count // SEATS, count % SEATS


def _rank(edge: EdgeRow) -> tuple[float, int]:
    """Return what edges are compared by: of equal scores the one to the higher id is the weaker."""
    return edge.score, -edge.to_id


def _weakest(con: Connection, node: int) -> EdgeRow:
    """Return the weakest edge of a main ring."""
    rows = con.execute(f"{_SELECT} WHERE from_id = ? AND place < 6", (node,))
    return min(map(_row, rows.fetchall()), key=_rank)


def _strongest_below(con: Connection, node: int) -> EdgeRow | None:
    """Return the strongest edge in overflow, None without one."""
    row = con.execute(
        f"{_SELECT} WHERE from_id = ? AND place >= 6 ORDER BY score DESC, to_id LIMIT 1",
        (node,),
    ).fetchone()
    return None if row is None else _row(row)


def _counts(con: Connection, node: int) -> tuple[int, int]:
    row = con.execute("SELECT main, overflow FROM honeycomb_nodes WHERE id = ?", (node,)).fetchone()
    assert row is not None, node
    return row


def _set_counts(con: Connection, node: int, main: int, overflow: int, *, rev: int) -> None:
    con.execute(_SET_COUNTS, (main, overflow, rev, node))


def _at(con: Connection, node: int, ring: int, seat: int) -> EdgeRow | None:
    row = con.execute(
        f"{_SELECT} WHERE from_id = ?1 AND place = 6 * ?2 + ?3",
        (node, ring, seat),
    ).fetchone()
    return None if row is None else _row(row)


def _put(con: Connection, edge: EdgeRow) -> None:
    con.execute(_PUT, edge)


def _take(con: Connection, edge: EdgeRow) -> None:
    con.execute(_TAKE, (edge.from_id, edge.ring, edge.seat))
