"""What links of memories are derived from: their places in conversations and documents, relations, shared words; and
which memories are looked at again when that changes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from hexad.core.clock import Clock
from hexad.database.change_counters import bump
from hexad.database.codec import load_object, load_strings
from hexad.database.connection import Connection, Database
from hexad.database.leases import Lease
from hexad.database.task_queue import LINK
from hexad.honeycomb.tables.edges import FAMILY, HoneycombEdges
from hexad.memory.memory import Status
from hexad.memory.tables.space_columns import strings_of
from hexad.memory.tables.updates import OF_KIND

_WRITTEN_BY_US: Final = frozenset({"hash", "source", "project", "space", "pii_flags", "title"})
"""Metadata that Hexad adds itself, or that say what the text says."""
_PART: Final = "#part-"
SHARING_MOST: Final = 32
"""A word that names so many earlier memories of a space connects none of them."""


class LinkEvidence(NamedTuple):
    """What is known of a memory that is to be linked."""

    no: int
    space_no: int
    happened_at: int
    created_at: int
    path: str
    tags: tuple[str, ...]
    values: tuple[str, ...]
    source: tuple[int, str] | None
    turn: tuple[int, int] | None
    vector_no: int  # of its newest
    mark: int  # of what its links were derived from before; 0 when they never were

    def mark_now(self, tokens: Collection[str]) -> int:
        """Return a number that stands for all of this, and the words that name the memory."""
        state = (self.vector_no, self.space_no, self.happened_at, self.source, self.turn, sorted(tokens))
        digest = blake2b(repr(state).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True) or 1


class Relation(NamedTuple):
    """A row of `relations`, as it was drawn."""

    from_no: int
    to_no: int
    kind: str
    score: float
    created_at: int


class LinkState(NamedTuple):
    """What is kept of a memory whose links are derived."""

    no: int
    mark: int
    reach: float | None
    space_no: int
    tokens: Collection[str]


class HoneycombLinks:
    """Reads what links come from, and keeps which memories have theirs."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._edges = HoneycombEdges(db)

    # Reading ----------------------------------------------------------------------------------------------------

    def facts(self, numbers: Collection[int]) -> list[LinkEvidence]:
        """Return what is known of those of these memories that are active and have vectors, by number."""
        rows = self._db.query(
            "SELECT m.no, m.space_no, m.happened_at, m.created_at, m.path, m.tags, m.metadata, m.source_no,"
            " m.source_id, t.session_no, t.position, coalesce(n.mark, 0),"
            " (SELECT max(v.no) FROM vectors v WHERE v.memory_no = m.no) AS vector_no"
            " FROM json_each(?) j JOIN memories m ON m.no = j.value LEFT JOIN honeycomb_nodes n ON n.id = m.no"
            " LEFT JOIN turns t ON t.memory_no = m.no WHERE m.status = ? AND vector_no IS NOT NULL ORDER BY m.no",
            (json.dumps(sorted(numbers)), Status.ACTIVE.value),
        )
        return [
            LinkEvidence(
                no=row[0],
                space_no=row[1],
                happened_at=row[2],
                created_at=row[3],
                path=row[4],
                tags=load_strings(row[5]),
                values=_values(row[6]),
                source=None if row[7] is None or row[8] is None else row[7:9],
                turn=None if row[9] is None else row[9:11],
                mark=row[11],
                vector_no=row[12],
            )
            for row in rows
        ]

    def inactive(self, numbers: Collection[int]) -> list[int]:
        """Return those of these memories that are there and not active, by number."""
        rows = self._db.query(
            "SELECT no FROM memories WHERE no IN (SELECT value FROM json_each(?)) AND status <> ? ORDER BY no",
            (json.dumps(sorted(numbers)), Status.ACTIVE.value),
        )
        return [row[0] for row in rows]

    def active_of_space(self, space_no: int) -> str:
        """Return the numbers of the active memories of a space, with commas and in no order."""
        row = self._db.query_one(
            "SELECT group_concat(no) FROM memories WHERE space_no = ? AND status = ?",
            (space_no, Status.ACTIVE.value),
        )
        return row[0] or "" if row else ""

    def times(self, numbers: Collection[int]) -> dict[int, tuple[int, int]]:
        """Return when those of these memories that are active happened, and were stored."""
        rows = self._db.query(
            "SELECT no, happened_at, created_at FROM memories WHERE no IN (SELECT value FROM json_each(?))"
            " AND +status = ?",
            (json.dumps(sorted(numbers)), Status.ACTIVE.value),
        )
        return {no: (happened, made) for no, happened, made in rows}

    def neighbours_of(self, facts: Iterable[LinkEvidence]) -> list[tuple[int, int, int]]:
        """Return `(memory, neighbour, whether that comes after it)` of turns, and of parts of one document."""
        known = list(facts)
        return [*self._neighbouring_turns([fact.no for fact in known]), *self._neighbouring_parts(known)]

    def _neighbouring_turns(self, numbers: Collection[int]) -> list[tuple[int, int, int]]:
        rows = self._db.query(
            "SELECT t.memory_no, o.memory_no, o.position > t.position FROM json_each(?) j"
            " JOIN turns t ON t.memory_no = j.value JOIN turns o ON o.session_no = t.session_no"
            " AND o.position IN (t.position - 1, t.position + 1)",
            (json.dumps(sorted(numbers)),),
        )
        return rows

    def _neighbouring_parts(self, facts: Iterable[LinkEvidence]) -> list[tuple[int, int, int]]:
        neighbours = [
            (fact.no, neighbour, after)
            for fact in facts
            if fact.source is not None
            for neighbour, after in _neighbour_ids(fact.source[1])
        ]
        if not neighbours:
            return []
        rows = self._db.query(
            "SELECT m.no, o.no, j.value ->> 2 FROM json_each(?) j JOIN memories m ON m.no = j.value ->> 0"
            " JOIN memories o ON o.source_no = m.source_no AND o.source_id = j.value ->> 1",
            (json.dumps(neighbours),),
        )
        return rows

    def relations(self, numbers: Collection[int]) -> list[Relation]:
        """Return the relations that begin or end at these memories, by their ends and kinds.

        But those of texts that one took the place of another: what is read from words is no association that was drawn.
        """
        listed = json.dumps(sorted(numbers))
        drawn = f"SELECT from_no, to_no, kind, score, created_at FROM relations r WHERE NOT ({OF_KIND})"
        rows = self._db.query(
            f"{drawn} AND from_no IN (SELECT value FROM json_each(?1))"
            f" UNION {drawn} AND to_no IN (SELECT value FROM json_each(?1)) ORDER BY 1, 2, 3",
            (listed,),
        )
        return [Relation._make(row) for row in rows]

    def sharing(
        self, words: Collection[tuple[int, str]], *, before: int, most: int
    ) -> dict[tuple[int, str], list[int]]:
        """Return for each `(space, word)` up to `most` memories of lower numbers that it names there, by number."""
        listed = list(words)
        rows = self._db.query(
            "SELECT j.key, (SELECT json_group_array(node_id) FROM (SELECT node_id FROM honeycomb_entities"
            " WHERE space_no = j.value ->> 0 AND token = j.value ->> 1 AND node_id < ?2 ORDER BY node_id LIMIT ?3))"
            " FROM json_each(?1) j",
            (json.dumps(listed), before, most),
        )
        return {listed[place]: json.loads(numbers) for place, numbers in rows}

    def reaches_after(self, no: int) -> list[tuple[int, int, float | None]]:
        """Return number, space and reach of linked memories of higher numbers, by number."""
        rows = self._db.query(
            "SELECT n.id, m.space_no, n.reach FROM honeycomb_nodes n JOIN memories m ON m.no = n.id"
            " WHERE n.id > ? AND n.linked ORDER BY n.id",
            (no,),
        )
        return rows

    # Who is to be looked at again -------------------------------------------------------------------------------

    def later_with(self, facts: Collection[LinkEvidence], words: Mapping[int, Collection[str]]) -> set[int]:
        """Return the later memories whose links have to do with these, which changed, but for who is near to them.

        `words` are those that name them now; those that named them before count as well.
        """
        numbers = self._later(fact.no for fact in facts)
        for fact in facts:
            numbers |= {other for _, other, _ in self.neighbours_of([fact]) if other > fact.no}
            numbers |= self._naming_later(fact.no, {(fact.space_no, word) for word in words[fact.no]})
        return numbers

    def _later(self, numbers: Iterable[int]) -> set[int]:
        """Return the memories of higher numbers that have an edge or a relation with one of these."""
        listed = json.dumps(sorted(numbers))
        rows = self._db.query(
            "WITH one(no) AS (SELECT value FROM json_each(?))"
            " SELECT from_id FROM one JOIN honeycomb_edges ON to_id = no WHERE from_id > no"
            " UNION SELECT to_id FROM one JOIN honeycomb_edges ON from_id = no WHERE to_id > no"
            " UNION SELECT from_no FROM one JOIN relations ON to_no = no WHERE from_no > no"
            " UNION SELECT to_no FROM one JOIN relations ON from_no = no WHERE to_no > no",
            (listed,),
        )
        return {row[0] for row in rows}

    def _naming_later(self, no: int, words: Collection[tuple[int, str]] = ()) -> set[int]:
        """Return the later memories for which it makes a difference that words name this one, or do no more."""
        rows = self._db.query("SELECT space_no, token FROM honeycomb_entities WHERE node_id = ?", (no,))
        numbers: set[int] = set()
        before = self.sharing({*words, *rows}, before=no, most=SHARING_MOST)
        for (space_no, token), earlier in before.items():
            if len(earlier) < SHARING_MOST:
                later = self._db.query(
                    "SELECT node_id FROM honeycomb_entities WHERE space_no = ? AND token = ? AND node_id > ?"
                    " ORDER BY node_id LIMIT ?",
                    (space_no, token, no, SHARING_MOST + 1),
                )
                numbers |= {row[0] for row in later}
        return numbers

    def queue_again(self, numbers: Collection[int]) -> None:
        """Have those of these memories that are linked looked at again."""
        if not numbers:
            return
        with self._db.joined() as con:
            _queue(con, numbers)

    def release(self, numbers: Collection[int]) -> None:
        """Have those looked at again that chose these memories, in the transaction that purges them."""
        removed = set(numbers)
        with self._db.joined() as con:
            later_numbers = self._later(removed)
            for no in removed:
                later_numbers |= self._naming_later(no)
            _queue(con, later_numbers - removed)
            # Whoever derives links at this moment has seen what goes: it does so again.
            con.execute("UPDATE tasks SET owner = NULL WHERE kind = ? AND owner IS NOT NULL", (LINK,))

    # Writing ----------------------------------------------------------------------------------------------------

    def leave(self, numbers: Collection[int]) -> None:
        """Take away what was derived of memories that are not active; who chose them is looked at again."""
        if not numbers:
            return
        listed = json.dumps(sorted(numbers))
        with self._db.joined() as con:
            later_numbers = self._later(numbers)
            for no in numbers:
                later_numbers |= self._naming_later(no)
            self._edges.drop_of(numbers, auto_only=True)
            con.execute(
                "DELETE FROM honeycomb_entities WHERE node_id IN (SELECT value FROM json_each(?))", (listed,)
            )
            con.execute(
                "UPDATE honeycomb_nodes SET linked = 0, mark = 0, reach = NULL, rev = ?"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (bump(con, FAMILY), listed),
            )
            _queue(con, later_numbers - set(numbers))

    def keep(self, linked: Sequence[LinkState]) -> None:
        """Note that these memories have their links, and what they were derived from."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM honeycomb_entities WHERE node_id IN (SELECT value FROM json_each(?))",
                (json.dumps([node.no for node in linked]),),
            )
            con.executemany(
                "INSERT INTO honeycomb_entities(space_no, token, node_id) VALUES(?,?,?)",
                [(node.space_no, token, node.no) for node in linked for token in sorted(node.tokens)],
            )
            con.executemany(
                "UPDATE honeycomb_nodes SET linked = 1, mark = ?, reach = ? WHERE id = ?",
                [(node.mark, node.reach, node.no) for node in linked],
            )

    def forget_all(self) -> int:
        """Remove all that was derived, before it is derived anew; returns how many edges."""
        with self._db.joined() as con:
            count = self._edges.drop_derived()
            con.execute("DELETE FROM honeycomb_entities")
            con.execute("UPDATE honeycomb_nodes SET linked = 0, mark = 0, reach = NULL WHERE linked")
        return count

    def queue_all(self) -> int:
        """Queue the linking of every memory that has a vector; returns how many."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO tasks(kind, memory_no) SELECT DISTINCT ?, v.memory_no FROM vectors v"
                " WHERE true ON CONFLICT(kind, memory_no) DO UPDATE SET owner = NULL, attempts = 0, error = NULL",
                (LINK,),
            )
            return con.changes


def _queue(con: Connection, numbers: Collection[int]) -> None:
    con.execute(
        "INSERT INTO tasks(kind, memory_no) SELECT ?, n.id FROM json_each(?) j JOIN honeycomb_nodes n"
        " ON n.id = j.value AND n.is_memory AND n.linked"
        " WHERE true ON CONFLICT(kind, memory_no) DO UPDATE SET owner = NULL, attempts = 0, error = NULL",
        (LINK, json.dumps(sorted(numbers))),
    )


def _values(metadata: object) -> tuple[str, ...]:
    values = load_object(metadata)
    return tuple(strings_of({name: value for name, value in values.items() if name not in _WRITTEN_BY_US}))


def _neighbour_ids(source_id: str) -> list[tuple[str, bool]]:
    """Return the ids of the parts before and after one of a document; the first part has the document's own."""
    base, mark, number = source_id.rpartition(_PART)
    if not mark or not number.isdecimal():
        return [(f"{source_id}{_PART}2", True)]
    at = int(number)
    return [(base if at == 2 else f"{base}{_PART}{at - 1}", False), (f"{base}{_PART}{at + 1}", True)]


def link_lease(directory: Path, *, clock: Clock) -> Lease:
    """Return the right to make links in a store, which at most one process has."""
    return Lease(directory / "link.lock", clock=clock, purpose="linking")
