"""The nodes of the honeycomb: memories, and texts of their own, in one space of ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hexad.database.change_counters import bump
from hexad.database.connection import Connection, Database
from hexad.database.task_queue import LINK
from hexad.errors import LimitExceeded
from hexad.honeycomb.tables.edges import FAMILY, EdgeRow, HoneycombEdges, NewEdge
from hexad.honeycomb.tables.schema import EDGE_RELATION, EDGE_RENEWED, SEATS
from hexad.honeycomb.values import RELATION_BACK
from hexad.memory.memory import Status
from hexad.memory.store import Stores
from hexad.memory.tables.rows import seen_sql
from hexad.memory.tables.updates import OF_KIND
from hexad.search.vectors.quantization import EmbeddingFormat


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
        placed_edges = []
        for edge in edges:
            ring, seat = places[edge.from_id, edge.to_id]
            placed_edges.append(edge._replace(ring=ring, seat=seat))
        return placed_edges

    def _ranked(self, ids: Collection[int], *, whole: bool) -> dict[int, list[EdgeRow]]:
        """Return the visible edges of these nodes by rank: all with `whole`, else at least those of the main ring."""
        main = self._edges.main(ids)
        visible = self._visible({edge.to_id for edges in main.values() for edge in edges})
        open_ended = [
            node for node, edges in main.items() if whole or any(edge.to_id not in visible for edge in edges)
        ]
        below = self._edges.overflow(open_ended) if open_ended else {}
        visible |= self._visible({edge.to_id for edges in below.values() for edge in edges})
        rows: dict[int, list[EdgeRow]] = {}
        for node, edges in main.items():
            seen_edges = [edge for edge in (*edges, *below.get(node, ())) if edge.to_id in visible]
            seen_edges.sort(key=lambda edge: (-edge.score, edge.to_id))
            if seen_edges:
                rows[node] = [
                    edge._replace(ring=place // SEATS, seat=place % SEATS)
                    for place, edge in enumerate(seen_edges)
                ]
        return rows


_OWN = "own_nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """A text with its embedding, as bytes; `dimensions` 0 is none."""

    data: str
    dimensions: int
    format: EmbeddingFormat
    scale: float
    embedding: bytes


class NodeRow(NamedTuple):
    """A node as stored; `active` says whether walks enter it."""

    id: int
    is_memory: int
    active: int
    main: int
    overflow: int
    created_at: int
    rev: int
    space_no: int = 0  # of a memory


class Content(NamedTuple):
    """What a node holds that is no memory."""

    node_id: int
    data: str
    dimensions: int
    format: str
    scale: float
    embedding: bytes


class NodeText(NamedTuple):
    """What a node says, and a memory's id."""

    node_id: int
    memory_id: str | None
    text: str


class HoneycombNodes:
    """The nodes of one store, as far as `roles` may see the memories among them."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles
        self.edges = HoneycombEdges(db)
        self._seen = SeenRings(self.edges, self.visible)

    @property
    def sees_all(self) -> bool:
        """Whether nothing is hidden from whoever reads this."""
        return self._roles is None

    # Writing ----------------------------------------------------------------------------------------------------

    def add(self, nodes: Sequence[NewNode], *, at: int, limit: int) -> list[int]:
        """Store texts and return their ids, in order; raises `LimitExceeded` where there is no room for all."""
        with self._db.joined() as con:
            count = _count(con)
            if count + len(nodes) > limit:
                raise LimitExceeded(
                    f"The honeycomb has {count:,} nodes of its own and holds {limit:,}; {len(nodes):,} more do not "
                    "fit, and nothing is evicted. Remove some, or raise `max_nodes`, in the table [honeycomb] of "
                    "hexad.toml or by `configure(max_nodes=…)`."
                )
            rev, last = bump(con, FAMILY), _reserve(con, len(nodes))
            ids = list(range(last - len(nodes) + 1, last + 1))
            con.executemany(
                "INSERT INTO honeycomb_nodes(id, is_memory, active, linked, main, overflow, created_at, rev)"
                " VALUES(?, 0, 1, 0, 0, 0, ?, ?)",
                [(node_id, at, rev) for node_id in ids],
            )
            con.executemany(
                "INSERT INTO honeycomb_contents(node_id, data, dimensions, format, scale, embedding)"
                " VALUES(?,?,?,?,?,?)",
                [
                    (node_id, node.data, node.dimensions, node.format.value, node.scale, node.embedding)
                    for node_id, node in zip(ids, nodes, strict=True)
                ],
            )
            _set_count(con, count + len(nodes))
        return ids

    def add_memories(self, numbers: Collection[int], *, at: int) -> None:
        """Make nodes of memories that are none yet."""
        with self._db.joined() as con:
            rev = bump(con, FAMILY)
            con.executemany(
                "INSERT OR IGNORE INTO honeycomb_nodes(id, is_memory, active, linked, main, overflow, created_at, rev)"
                " VALUES(?, 1, 1, 0, 0, 0, ?, ?)",
                [(no, at, rev) for no in sorted(numbers)],
            )

    def relate(self, from_no: int, to_no: int, kind: str, *, at: int) -> None:
        """Connect two memories that a caller linked, both ways, where both are linked nodes, or wait for that alone."""
        with self._db.joined() as con:
            rows = con.execute(
                "SELECT EXISTS (SELECT 1 FROM honeycomb_nodes WHERE id = m.no AND linked) AS linked"
                " FROM memories m WHERE no IN (?, ?) AND (linked OR status = ? AND EXISTS"
                " (SELECT 1 FROM tasks WHERE kind = ? AND memory_no = m.no) AND EXISTS"
                " (SELECT 1 FROM vectors WHERE memory_no = m.no))",
                (from_no, to_no, Status.ACTIVE.value, LINK),
            ).fetchall()
            if len(rows) != 2:
                return  # the link is found when the later of the two is linked
            if not all(linked for (linked,) in rows):
                self.add_memories((from_no, to_no), at=at)
            ends = ((from_no, to_no, kind), (to_no, from_no, kind + RELATION_BACK))
            self.edges.insert(
                [
                    NewEdge(from_id=first, to_id=other, score=1.0, relation=name, is_auto=True)
                    for first, other, name in ends
                ],
                at=at,
            )

    def linked_as(self, kinds: Collection[str], ids: Collection[int]) -> set[tuple[int, int]]:
        """Return the ends, in both orders, of what is linked in one of these ways with one of these memories."""
        named = json.dumps([name for kind in sorted(kinds) for name in (kind, f"link:{kind}")])
        rows = self._db.query(
            f"SELECT from_no, to_no FROM relations r WHERE NOT ({OF_KIND})"
            " AND kind IN (SELECT value FROM json_each(?1)) AND from_no IN (SELECT value FROM json_each(?2))"
            f" UNION SELECT from_no, to_no FROM relations r WHERE NOT ({OF_KIND})"
            " AND kind IN (SELECT value FROM json_each(?1)) AND to_no IN (SELECT value FROM json_each(?2))",
            (named, json.dumps(sorted(ids))),
        )
        return {ends for first, other in rows for ends in ((first, other), (other, first))}

    def set_active(self, node_id: int, *, active: bool) -> None:
        """Let walks enter a node, or not."""
        with self._db.joined() as con:
            rev = bump(con, FAMILY)
            con.execute(
                "UPDATE honeycomb_nodes SET active = ?, rev = ? WHERE id = ? AND active <> ?",
                (int(active), rev, node_id, int(active)),
            )

    def remove(self, ids: Collection[int]) -> int:
        """Remove nodes with their edges, and what is known of who looked at them; returns how many there were."""
        with self._db.joined() as con:
            listed = json.dumps(sorted(ids))
            there = list(
                con.execute(
                    "SELECT id, is_memory FROM honeycomb_nodes WHERE id IN (SELECT value FROM json_each(?))",
                    (listed,),
                ).fetchall()
            )
            if not there:
                return 0
            self.edges.drop_of([node for node, _ in there])
            bump(con, FAMILY)
            listed = json.dumps([node for node, _ in there])
            for table in ("honeycomb_contents", "honeycomb_entities", "honeycomb_accesses"):
                con.execute(
                    f"DELETE FROM {table} WHERE node_id IN (SELECT value FROM json_each(?))", (listed,)
                )
            con.execute("DELETE FROM honeycomb_nodes WHERE id IN (SELECT value FROM json_each(?))", (listed,))
            con.executemany(
                "INSERT INTO honeycomb_removals(node_id) VALUES(?)", [(node,) for node, _ in there]
            )
            _set_count(con, _count(con) - sum(not is_memory for _, is_memory in there))
        return len(there)

    def remove_added(self, *, limit: int) -> int:
        """Remove nodes that are no memories, so many at most; returns how many."""
        with self._db.joined() as con:
            rows = con.execute(
                "SELECT id FROM honeycomb_nodes WHERE NOT is_memory LIMIT ?", (limit,)
            ).fetchall()
            return self.remove([row[0] for row in rows])

    # Reading ----------------------------------------------------------------------------------------------------

    def of(self, ids: Collection[int]) -> dict[int, NodeRow]:
        """Return those of these nodes that may be seen; a memory's is active only while the memory is."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT n.id, n.is_memory, n.active AND (m.no IS NULL OR m.status = ?), n.main, n.overflow,"
            " n.created_at, n.rev, coalesce(m.space_no, 0) FROM json_each(?) j JOIN honeycomb_nodes n ON n.id = j.value"
            f" LEFT JOIN memories m ON n.is_memory AND m.no = n.id WHERE NOT n.is_memory OR (m.no IS NOT NULL{seen})",
            (Status.ACTIVE.value, json.dumps(sorted(ids)), *roles),
        )
        return {node.id: node for node in map(NodeRow._make, rows)}

    def to_come(self, ids: Collection[int]) -> dict[int, NodeRow]:
        """Return those of these active memories that are no nodes yet, as nodes without edges."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no, 1, 1, 0, 0, m.created_at, 0, m.space_no FROM json_each(?) j JOIN memories m ON m.no = j.value"
            f" WHERE m.status = ? AND NOT EXISTS (SELECT 1 FROM honeycomb_nodes n WHERE n.id = m.no){seen}",
            (json.dumps(sorted(ids)), Status.ACTIVE.value, *roles),
        )
        return {node.id: node for node in map(NodeRow._make, rows)}

    def visible(self, ids: Collection[int]) -> set[int]:
        """Return those of these nodes that may be seen."""
        return set(self.of(ids))

    def main(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the main rings of these nodes, the strongest edge first; to roles what is hidden takes no seat."""
        return self.edges.main(ids) if self.sees_all else self._seen.main(ids)

    def overflow(self, ids: Collection[int]) -> dict[int, list[EdgeRow]]:
        """Return the edges in all overflow rings of these nodes, by ring, the strongest first in each; to roles the
        rings are made of the edges that they may see.
        """  # fmt: skip
        return self.edges.overflow(ids) if self.sees_all else self._seen.overflow(ids)

    def placed(self, edges: Sequence[EdgeRow]) -> list[EdgeRow]:
        """Return edges between nodes that may be seen where they stand in the rings that may be seen."""
        return list(edges) if self.sees_all else self._seen.placed(edges)

    def contents(self, ids: Collection[int]) -> dict[int, Content]:
        """Return what those of these nodes hold that are no memories."""
        rows = self._db.query(
            "SELECT node_id, data, dimensions, format, scale, embedding FROM honeycomb_contents"
            " WHERE node_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(ids)),),
        )
        return {row[0]: Content(*row) for row in rows}

    def texts(self, ids: Collection[int]) -> dict[int, NodeText]:
        """Return what those of these nodes, or memories that are none yet, say that may be seen."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT j.value, m.id, coalesce(c.data, m.raw) FROM json_each(?) j"
            " LEFT JOIN honeycomb_contents c ON c.node_id = j.value LEFT JOIN memories m ON m.no = j.value"
            f" WHERE c.node_id IS NOT NULL OR (m.no IS NOT NULL{seen})",
            (json.dumps(sorted(ids)), *roles),
        )
        return {row[0]: NodeText(*row) for row in rows}

    def data_of(self, ids: Collection[int]) -> list[tuple[int, str]]:
        """Return what those of these nodes say that are no memories."""
        rows = self._db.query(
            "SELECT node_id, data FROM honeycomb_contents WHERE node_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(ids)),),
        )
        return rows

    def summaries(self, memory_no: int) -> tuple[str, ...]:
        """Return the long, the short and the micro summary of a memory that may be seen; nothing of another."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT coalesce(m.summary_long, ''), coalesce(m.summary_short, ''), coalesce(m.summary_micro, '')"
            f" FROM memories m WHERE m.no = ?{seen}",
            (memory_no, *roles),
        )
        return rows[0] if rows else ()

    def chunk_text(self, chunk_no: int) -> list[str]:
        """Return the text of a chunk of an active memory; nothing when it is gone."""
        rows = self._db.query("SELECT body FROM chunk_texts WHERE no = ?", (chunk_no,))
        return [row[0] for row in rows]

    def embeddings(self, *, dimensions: int, after: int, limit: int) -> list[Content]:
        """Return embeddings of one length of nodes with higher ids, in order, without their texts."""
        rows = self._db.query(
            "SELECT node_id, '', dimensions, format, scale, embedding FROM honeycomb_contents"
            " WHERE dimensions = ? AND node_id > ? ORDER BY node_id LIMIT ?",
            (dimensions, after, limit),
        )
        return [Content(*row) for row in rows]

    def embeddings_of(self, ids: Collection[int]) -> list[Content]:
        """Return the embeddings of these nodes, in the order of their ids, without their texts."""
        rows = self._db.query(
            "SELECT node_id, '', dimensions, format, scale, embedding FROM honeycomb_contents"
            " WHERE node_id IN (SELECT value FROM json_each(?)) ORDER BY node_id",
            (json.dumps(sorted(ids)),),
        )
        return [Content(*row) for row in rows]

    def changed_after(self, rev: int) -> list[NodeRow]:
        """Return the nodes that later changes touched, by id, whoever may see them."""
        rows = self._db.query(
            # With the plus SQLite goes by `rev`; else it looks at all nodes in the order of their ids.
            "SELECT id, is_memory, active, main, overflow, created_at, rev, 0 FROM honeycomb_nodes WHERE rev > ?"
            " ORDER BY +id",
            (rev,),
        )
        return [NodeRow._make(row) for row in rows]

    def after(self, node_id: int, *, limit: int) -> list[NodeRow]:
        """Return up to `limit` nodes with higher ids, by id, whoever may see them."""
        rows = self._db.query(
            "SELECT id, is_memory, active, main, overflow, created_at, rev, 0 FROM honeycomb_nodes WHERE id > ?"
            " ORDER BY id LIMIT ?",
            (node_id, limit),
        )
        return [NodeRow._make(row) for row in rows]

    def main_of(self, ids: Collection[int]) -> list[tuple[int, int, int, float, str, int, int, int]]:
        """Return the main rings of these nodes, whoever may see them: from, seat, to, score, relation, whether it was
        derived, when it was made, when it was renewed.
        """  # fmt: skip
        rows = self._db.query(
            f"SELECT e.from_id, e.seat, e.to_id, e.score, {EDGE_RELATION}, e.is_auto, e.created_at, {EDGE_RENEWED}"
            " FROM json_each(?) j JOIN honeycomb_edges e ON e.from_id = j.value AND e.place < 6",
            (json.dumps(list(ids)),),
        )
        return rows

    def removed_after(self, removal_no: int) -> list[tuple[int, int]]:
        """Return `(removal's number, node's id)` of later removals."""
        rows = self._db.query(
            "SELECT no, node_id FROM honeycomb_removals WHERE no > ? ORDER BY no", (removal_no,)
        )
        return rows

    def overflow_rings(self) -> dict[int, int]:
        """Return how many nodes have how many overflow rings; those with none are left out."""
        rows = self._db.query(
            "SELECT (overflow + 5) / 6, count(*) FROM honeycomb_nodes WHERE overflow > 0 GROUP BY 1 ORDER BY 1"
        )
        return dict(rows)

    def linked(self) -> tuple[int, int]:
        """Return how many memories are linked, and the sum of their numbers: it is another where others are."""
        row = self._db.query_one("SELECT count(*), coalesce(sum(id), 0) FROM honeycomb_nodes WHERE linked")
        assert row is not None
        return row

    def sample(self, count: int) -> list[tuple[int, int, int]]:
        """Return number, space and time of about `count` linked memories that may be seen, evenly taken by number."""
        seen, roles = seen_sql("m", self._roles)
        joined = f"JOIN memories m ON m.no = n.id WHERE n.linked{seen}" if seen else "WHERE n.linked"
        rows = self._db.query(
            "SELECT m.no, m.space_no, m.happened_at FROM (SELECT n.id, row_number() OVER (ORDER BY n.id) - 1 AS place,"
            f" count(*) OVER () AS n FROM honeycomb_nodes n {joined}) p JOIN memories m ON m.no = p.id"
            " WHERE p.n <= ? OR p.place * ? / p.n > (p.place - 1) * ? / p.n ORDER BY m.no",
            (*roles, count, count, count),
        )
        return rows

    def has_own(self) -> bool:
        """Return whether there are nodes that are no memories."""
        return self._db.query_one("SELECT 1 FROM honeycomb_contents LIMIT 1") is not None

    def totals(self) -> tuple[int, int, int, int]:
        """Return how many nodes there are, how many memories among them, how many inactive ones, and the bytes of
        embeddings.
        """  # fmt: skip
        row = self._db.query_one(
            "SELECT count(*), count(*) FILTER (WHERE n.is_memory),"
            " count(*) FILTER (WHERE NOT n.active OR m.status <> ?) FROM honeycomb_nodes n"
            " LEFT JOIN memories m ON n.is_memory AND m.no = n.id",
            (Status.ACTIVE.value,),
        )
        size = self._db.query_one("SELECT coalesce(sum(length(embedding)), 0) FROM honeycomb_contents")
        assert row is not None
        assert size is not None
        return (*row, *size)


def _reserve(con: Connection, count: int) -> int:
    """Take numbers from the sequence of memories and return the last: no memory will ever have one of them."""
    row = con.execute(
        "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'memories' RETURNING seq", (count,)
    ).fetchone()
    if row is None:
        con.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('memories', ?)", (count,))
        return count
    return int(row[0])


def _count(con: Connection) -> int:
    row = con.execute("SELECT n FROM honeycomb_counts WHERE name = ?", (_OWN,)).fetchone()
    return row[0] if row else 0


def _set_count(con: Connection, count: int) -> None:
    con.execute(
        "INSERT INTO honeycomb_counts(name, n) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET n = excluded.n",
        (_OWN, count),
    )


def nodes_of(stores: Stores) -> HoneycombNodes:
    """Return the nodes of a store, as far as whoever sees these stores may see them."""
    return HoneycombNodes(stores.db, roles=stores.roles)
