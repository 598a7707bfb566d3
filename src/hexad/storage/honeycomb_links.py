"""What links of memories are derived from: their places in conversations and documents, relations, shared words."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, cast

from hexad.model.memory import Status
from hexad.storage.codec import load_object, load_strings
from hexad.storage.connection import Database
from hexad.storage.honeycomb_edges import HoneycombEdges
from hexad.storage.views import strings_of

_WRITTEN_BY_US: Final = frozenset({"hash", "source", "project", "space", "pii_flags", "title"})
"""Metadata that Hexad adds itself, or that say what the text says."""
_PART: Final = "#part-"


class Fact(NamedTuple):
    """What is known of a memory that is to be linked."""

    no: int
    space_no: int
    happened_at: int
    path: str
    tags: tuple[str, ...]
    values: tuple[str, ...]
    linked: bool
    source_id: str | None


class Relation(NamedTuple):
    """A row of `relations`, as it was drawn."""

    from_no: int
    to_no: int
    kind: str
    score: float


class HoneycombLinks:
    """Reads what links come from, and keeps which memories have theirs."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._edges = HoneycombEdges(db)

    # Reading ----------------------------------------------------------------------------------------------------

    def facts(self, numbers: Collection[int]) -> list[Fact]:
        """Return what is known of those of these memories that are active, by number."""
        rows = self._db.query(
            "SELECT m.no, m.space_no, m.happened_at, m.path, m.tags, m.metadata, coalesce(n.linked, 0),"
            " iif(m.source_no IS NULL, NULL, m.source_id)"
            " FROM json_each(?) j JOIN memories m ON m.no = j.value LEFT JOIN honeycomb_nodes n ON n.id = m.no"
            " WHERE m.status = ? ORDER BY m.no",
            (json.dumps(sorted(numbers)), Status.ACTIVE.value),
        )
        return [
            Fact(
                no=cast("int", row[0]),
                space_no=cast("int", row[1]),
                happened_at=cast("int", row[2]),
                path=cast("str", row[3]),
                tags=load_strings(row[4]),
                values=tuple(
                    strings_of(
                        {
                            name: value
                            for name, value in load_object(row[5]).items()
                            if name not in _WRITTEN_BY_US
                        }
                    )
                ),
                linked=bool(row[6]),
                source_id=cast("str | None", row[7]),
            )
            for row in rows
        ]

    def linked_of_space(self, space_no: int) -> str:
        """Return the numbers of the linked, active memories of a space, with commas and in no order."""
        row = self._db.query_one(
            "SELECT group_concat(n.id) FROM memories m JOIN honeycomb_nodes n ON n.id = m.no"
            " WHERE m.space_no = ? AND m.status = ? AND n.linked",
            (space_no, Status.ACTIVE.value),
        )
        return cast("str | None", row[0]) or "" if row else ""

    def times(self, numbers: Collection[int]) -> dict[int, int]:
        """Return when these memories happened."""
        rows = self._db.query(
            "SELECT no, happened_at FROM memories WHERE no IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)),),
        )
        return dict(cast("list[tuple[int, int]]", rows))

    def turns_beside(self, numbers: Collection[int]) -> list[tuple[int, int]]:
        """Return pairs `(earlier, later)` of turns that follow each other, of which one is among these."""
        rows = self._db.query(
            "SELECT t.memory_no, o.memory_no, o.position > t.position FROM json_each(?) j"
            " JOIN turns t ON t.memory_no = j.value JOIN turns o ON o.session_no = t.session_no"
            " AND o.position IN (t.position - 1, t.position + 1)",
            (json.dumps(sorted(numbers)),),
        )
        return [_ordered(*row) for row in cast("list[tuple[int, int, int]]", rows)]

    def parts_beside(self, facts: Iterable[Fact]) -> list[tuple[int, int]]:
        """Return pairs `(earlier, later)` of parts of one document that follow each other."""
        wanted = [
            (fact.no, beside, after)
            for fact in facts
            if fact.source_id is not None
            for beside, after in _beside(fact.source_id)
        ]
        if not wanted:
            return []
        rows = self._db.query(
            "SELECT m.no, o.no, j.value ->> 2 FROM json_each(?) j JOIN memories m ON m.no = j.value ->> 0"
            " JOIN memories o ON o.source_no = m.source_no AND o.source_id = j.value ->> 1",
            (json.dumps(wanted),),
        )
        return [_ordered(*row) for row in cast("list[tuple[int, int, int]]", rows)]

    def relations(self, numbers: Collection[int]) -> list[Relation]:
        """Return the relations that begin or end at these memories, by their ends and kinds."""
        listed = json.dumps(sorted(numbers))
        rows = self._db.query(
            "SELECT from_no, to_no, kind, score FROM relations WHERE from_no IN (SELECT value FROM json_each(?1))"
            " UNION SELECT from_no, to_no, kind, score FROM relations WHERE to_no IN (SELECT value FROM json_each(?1))"
            " ORDER BY 1, 2, 3",
            (listed,),
        )
        return [Relation._make(row) for row in cast("list[tuple[int, int, str, float]]", rows)]

    def sharing(self, space_no: int, token: str, *, most: int) -> list[int]:
        """Return up to `most` memories of a space that a word names, by number."""
        rows = self._db.query(
            "SELECT node_id FROM honeycomb_entities WHERE space_no = ? AND token = ? ORDER BY node_id LIMIT ?",
            (space_no, token, most),
        )
        return [cast("int", row[0]) for row in rows]

    # Writing ----------------------------------------------------------------------------------------------------

    def begin(self, facts: Sequence[Fact]) -> None:
        """Take away what was derived before for memories that are to be linked again."""
        with self._db.joined() as con:
            again = [fact.no for fact in facts if fact.linked]
            if again:
                self._edges.drop_of(again, auto_only=True)
                con.execute(
                    "DELETE FROM honeycomb_entities WHERE node_id IN (SELECT value FROM json_each(?))",
                    (json.dumps(again),),
                )

    def put_entities(self, rows: Iterable[tuple[int, str, int]]) -> None:
        """Note words that name what memories are about: space, word, memory."""
        with self._db.joined() as con:
            con.executemany(
                "INSERT OR IGNORE INTO honeycomb_entities(space_no, token, node_id) VALUES(?,?,?)", rows
            )

    def finish(self, numbers: Collection[int]) -> None:
        """Note that these memories have their links."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE honeycomb_nodes SET linked = 1 WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(numbers)),),
            )

    def forget_all(self) -> int:
        """Remove all that was derived, before it is derived anew; returns how many edges."""
        with self._db.joined() as con:
            gone = self._edges.drop_derived()
            con.execute("DELETE FROM honeycomb_entities")
            con.execute("UPDATE honeycomb_nodes SET linked = 0 WHERE linked")
        return gone

    def queue_all(self, kind: str) -> int:
        """Queue the linking of every memory that has a vector; returns how many."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO tasks(kind, memory_no) SELECT DISTINCT ?, v.memory_no FROM vectors v"
                " WHERE true ON CONFLICT(kind, memory_no) DO UPDATE SET owner = NULL, attempts = 0, error = NULL",
                (kind,),
            )
            return con.changes


def _ordered(one: int, other: int, after: int) -> tuple[int, int]:
    return (one, other) if after else (other, one)


def _beside(source_id: str) -> list[tuple[str, bool]]:
    """Return the ids of the parts before and after one of a document; the first part has the document's own."""
    base, mark, number = source_id.rpartition(_PART)
    if not mark or not number.isdecimal():
        return [(f"{source_id}{_PART}2", True)]
    at = int(number)
    return [(base if at == 2 else f"{base}{_PART}{at - 1}", False), (f"{base}{_PART}{at + 1}", True)]
