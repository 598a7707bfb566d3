"""Memories, their chunks, tags, turns, versions and evidence: the truth that every index derives from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from hexad.errors import NotFound
from hexad.model.memory import Chunk, Memory, Status, Trust, Turn
from hexad.model.query import Filters
from hexad.storage.changes import bump
from hexad.storage.codec import (
    from_micros,
    to_micros,
)
from hexad.storage.connection import Connection, Database, SQLValue
from hexad.storage.memory_rows import COLUMNS, FROM, ORDERS, batches, filter_sql, memory_of, row_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk with its row number and the words under which it is also found."""

    no: int
    memory_no: int
    chunk: Chunk
    context: str
    identifiers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk about to be stored."""

    chunk: Chunk
    context: str
    identifiers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The little that the gate asks of a stored memory."""

    no: int
    id: str
    content_hash: str
    status: Status


class Memories:
    """The memories of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Reading ---------------------------------------------------------------------------------------------

    def by_no(self, numbers: Collection[int]) -> dict[int, Memory]:
        """Return the memories with these row numbers; missing ones are left out."""
        found: dict[int, Memory] = {}
        for batch in batches(sorted(set(numbers))):
            marks = ",".join("?" * len(batch))
            rows = self._db.query(f"SELECT {COLUMNS} {FROM} WHERE m.no IN ({marks})", batch)
            chunks = self._chunks(batch)
            turns = self._turns(batch)
            for row in rows:
                no = cast("int", row[0])
                found[no] = memory_of(row, tuple(c.chunk for c in chunks.get(no, ())), turns.get(no))
        return found

    def get(self, memory_id: str) -> Memory:
        """Return the memory with this id, whatever its status; raises `NotFound`."""
        no = self.number(memory_id)
        return self.by_no([no])[no]

    def number(self, memory_id: str) -> int:
        """Return the row number of an id; raises `NotFound`."""
        row = self._db.query_one("SELECT no FROM memories WHERE id = ?", (memory_id,))
        if row is None:
            raise NotFound(f"Memory {memory_id!r} not found. `hexad memory list` shows what is there.")
        return cast("int", row[0])

    def resolve(self, id_or_path: str, *, space: str | None) -> int:
        """Return the row number of an id or of the only memory at a path; raises `NotFound`."""
        where = f" in space {space!r}" if space is not None else ""
        row = self._db.query_one(
            "SELECT m.no FROM memories m JOIN spaces s ON s.no = m.space_no"
            " WHERE m.id = ?1 AND (?2 IS NULL OR s.name = ?2)",
            (id_or_path, space),
        )
        if row is None:
            row = self._db.query_one(
                "SELECT m.no FROM memories m JOIN spaces s ON s.no = m.space_no"
                " WHERE m.path = ?1 AND (?2 IS NULL OR s.name = ?2)"
                " ORDER BY m.status = 'active' DESC, m.updated_at DESC, m.id LIMIT 1",
                (id_or_path, space),
            )
        if row is None:
            raise NotFound(f"Memory '{id_or_path}' not found{where}")
        return cast("int", row[0])

    def identify(self, *, memory_id: str) -> Identity | None:
        """Return the identity of an id."""
        return self._identity("id = ?", (memory_id,))

    def identify_by_source(self, source_no: int, source_id: str) -> Identity | None:
        """Return the identity of a source's item."""
        return self._identity("source_no = ? AND source_id = ?", (source_no, source_id))

    def identify_by_hash(
        self, space_no: int, content_hash: str, *, fact: tuple[str | None, str | None, str | None] | None
    ) -> Identity | None:
        """Return the oldest active memory of a space with this content that no source names.

        `fact` is subject, attribute and value as JSON: the same words about somebody else are another fact.
        """
        where = "content_hash = ? AND space_no = ? AND source_no IS NULL AND status = 'active'"
        if fact is None:
            return self._identity(f"{where} ORDER BY no LIMIT 1", (content_hash, space_no))
        return self._identity(
            f"{where} AND subject IS ? AND attribute IS ? AND value IS ? ORDER BY no LIMIT 1",
            (content_hash, space_no, *fact),
        )

    def identify_by_place(self, space_no: int, content_hash: str, *, path: str, kind: str) -> Identity | None:
        """Return the identity of this content at a path of a space: an active memory first, then the oldest."""
        return self._identity(
            "content_hash = ? AND space_no = ? AND path = ? AND kind = ? ORDER BY status = 'active' DESC, no LIMIT 1",
            (content_hash, space_no, path, kind),
        )

    def identify_no(self, no: int) -> Identity | None:
        """Return the identity of a row number."""
        return self._identity("no = ?", (no,))

    def _identity(self, where: str, params: Sequence[SQLValue]) -> Identity | None:
        row = self._db.query_one(f"SELECT no, id, content_hash, status FROM memories WHERE {where}", params)
        if row is None:
            return None
        no, memory_id, content_hash, status = cast("tuple[int, str, str, str]", row)
        return Identity(no=no, id=memory_id, content_hash=content_hash, status=Status(status))

    def numbers(
        self,
        filters: Filters,
        *,
        status: Status | None = Status.ACTIVE,
        order: str = "no",
        limit: int = -1,
        offset: int = 0,
    ) -> list[int]:
        """Return the row numbers that pass `filters`, by number or in one of `ORDERS`."""
        where, params = filter_sql(filters)
        if status is not None:
            where.append("m.status = ?")
            params.append(status.value)
        by = "m.no" if order == "no" else ORDERS[order]
        sql = (
            "SELECT m.no FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join(where) or '1'} ORDER BY {by} LIMIT ? OFFSET ?"
        )
        return [cast("int", row[0]) for row in self._db.query(sql, (*params, limit, offset))]

    def numbers_of_all(self, *, status: Status) -> list[int]:
        """Return the row numbers of all memories with `status`."""
        rows = self._db.query("SELECT no FROM memories WHERE status = ? ORDER BY no", (status.value,))
        return [cast("int", row[0]) for row in rows]

    def count(self, *, status: Status | None = Status.ACTIVE) -> int:
        """Return how many memories have `status`, or how many there are."""
        row = self._db.query_one("SELECT count(*) FROM memories WHERE ?1 IS NULL OR status = ?1", (status,))
        return cast("int", row[0]) if row else 0

    def count_where(self, filters: Filters, *, status: Status | None = Status.ACTIVE) -> int:
        """Return how many memories pass `filters`."""
        where, params = filter_sql(filters)
        if status is not None:
            where.append("m.status = ?")
            params.append(status.value)
        row = self._db.query_one(
            "SELECT count(*) FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join(where) or '1'}",
            params,
        )
        return cast("int", row[0]) if row else 0

    def chunks_of(self, numbers: Collection[int]) -> dict[int, list[StoredChunk]]:
        """Return the stored chunks of these memories, by row number, in order."""
        found: dict[int, list[StoredChunk]] = {}
        for batch in batches(sorted(set(numbers))):
            found.update(self._chunks(batch))
        return found

    def outline(self, source_no: int) -> list[tuple[str, str, str, str]]:
        """Return `(source id, kind, language, short summary)` of a source's active memories, by source id."""
        rows = self._db.query(
            "SELECT source_id, kind, coalesce(metadata ->> '$.language', ''), coalesce(summary_short, raw)"
            " FROM memories WHERE source_no = ? AND status = 'active' ORDER BY source_id",
            (source_no,),
        )
        return cast("list[tuple[str, str, str, str]]", rows)

    def chunk_counts(self, numbers: Collection[int]) -> dict[int, int]:
        """Return how many chunks each of these memories has."""
        rows = self._db.query(
            "SELECT c.memory_no, count(*) FROM json_each(?) j JOIN chunks c ON c.memory_no = j.value GROUP BY 1",
            (json.dumps(sorted(numbers)),),
        )
        return {cast("int", no): cast("int", count) for no, count in rows}

    def history(self, no: int) -> list[tuple[int, datetime, str]]:
        """Return `(version, replaced at, text)` of what this memory said before, oldest first."""
        rows = self._db.query(
            "SELECT version, replaced_at, raw FROM memory_versions WHERE memory_no = ? ORDER BY version",
            (no,),
        )
        return [(cast("int", v), from_micros(cast("int", at)), cast("str", raw)) for v, at, raw in rows]

    def _chunks(self, numbers: Sequence[int]) -> dict[int, list[StoredChunk]]:
        marks = ",".join("?" * len(numbers))
        rows = self._db.query(
            "SELECT c.no, c.memory_no, c.seq, c.start, c.end, c.first_line, c.last_line, c.heading, c.context,"
            " c.identifiers, m.id FROM chunks c JOIN memories m ON m.no = c.memory_no"
            f" WHERE c.memory_no IN ({marks}) ORDER BY c.memory_no, c.seq",
            numbers,
        )
        found: dict[int, list[StoredChunk]] = {}
        for row in rows:
            no, memory_no, seq, start, end, first, last = cast("tuple[int, ...]", row[:7])
            heading, context, identifiers, memory_id = cast("tuple[str, ...]", row[7:])
            chunk = Chunk(
                chunk_id=f"{memory_id}#{seq}",
                start=start,
                end=end,
                first_line=first,
                last_line=last,
                heading=heading,
            )
            stored = StoredChunk(
                no=no, memory_no=memory_no, chunk=chunk, context=context, identifiers=identifiers
            )
            found.setdefault(memory_no, []).append(stored)
        return found

    def _turns(self, numbers: Sequence[int]) -> dict[int, Turn]:
        marks = ",".join("?" * len(numbers))
        rows = self._db.query(
            "SELECT t.memory_no, cs.conversation, cs.session, t.position, sp.name FROM turns t"
            " JOIN conversation_sessions cs ON cs.no = t.session_no JOIN speakers sp ON sp.no = t.speaker_no"
            f" WHERE t.memory_no IN ({marks})",
            numbers,
        )
        return {
            cast("int", row[0]): Turn(
                conversation=cast("str", row[1]),
                session=cast("str", row[2]),
                position=cast("int", row[3]),
                speaker=cast("str", row[4]),
            )
            for row in rows
        }

    # Writing: always inside the caller's transaction --------------------------------------------------------

    def insert(self, memory: Memory, *, space_no: int, source_no: int | None) -> int:
        """Store a new memory without its chunks; returns its row number."""
        with self._db.joined() as con:
            columns = row_of(memory, space_no=space_no, source_no=source_no)
            names, marks = ",".join(columns), ",".join("?" * len(columns))
            con.execute(f"INSERT INTO memories({names}) VALUES({marks})", tuple(columns.values()))
            no = con.last_insert_rowid
            self._put_tags(no, memory.tags)
            if memory.turn is not None:
                self._put_turn(no, space_no, memory.turn)
            self._mark_changed(con, no)
        return no

    def replace(self, no: int, memory: Memory, *, space_no: int, source_no: int | None) -> None:
        """Store a changed memory over row `no`; the text that it replaces becomes a version."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO memory_versions(memory_no, version, replaced_at, content_hash, metadata, raw)"
                " SELECT no, 1 + (SELECT count(*) FROM memory_versions v WHERE v.memory_no = no), ?,"
                " content_hash, metadata, raw FROM memories WHERE no = ? AND content_hash <> ?",
                (to_micros(memory.updated_at), no, memory.content_hash),
            )
            columns = row_of(memory, space_no=space_no, source_no=source_no)
            # A change that names no source leaves the memory with the one that it is from.
            kept = {"source_no", "source_id"}
            assignments = ",".join(
                f"{name} = coalesce(?, {name})" if name in kept else f"{name} = ?" for name in columns
            )
            con.execute(f"UPDATE memories SET {assignments} WHERE no = ?", (*columns.values(), no))
            con.execute("DELETE FROM memory_tags WHERE memory_no = ?", (no,))
            self._put_tags(no, memory.tags)
            if memory.turn is not None:
                self._put_turn(no, space_no, memory.turn)
            self._mark_changed(con, no)

    def put_chunks(self, no: int, chunks: Sequence[NewChunk]) -> list[int]:
        """Store the chunks of memory `no`, which has none; returns their row numbers."""
        numbers: list[int] = []
        with self._db.joined() as con:
            for seq, new in enumerate(chunks):
                chunk = new.chunk
                con.execute(
                    "INSERT INTO chunks(memory_no, seq, start, end, first_line, last_line, heading, context,"
                    " identifiers) VALUES(?,?,?,?,?,?,?,?,?)",
                    (
                        no,
                        seq,
                        chunk.start,
                        chunk.end,
                        chunk.first_line,
                        chunk.last_line,
                        chunk.heading,
                        new.context,
                        new.identifiers,
                    ),
                )
                numbers.append(con.last_insert_rowid)
        return numbers

    def drop_chunks(self, no: int) -> None:
        """Remove the chunks of memory `no`."""
        with self._db.joined() as con:
            con.execute("DELETE FROM chunks WHERE memory_no = ?", (no,))

    def set_status(self, no: int, status: Status, *, at: datetime) -> None:
        """Change where memory `no` stands."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET status = ?1, updated_at = ?2, archived_at = iif(?1 = 'archived', ?2, NULL)"
                " WHERE no = ?3",
                (status.value, to_micros(at), no),
            )
            self._mark_changed(con, no)

    def set_pinned(self, no: int, pinned: bool, *, at: datetime) -> None:
        """Pin or unpin memory `no`."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET pinned = ?, updated_at = ? WHERE no = ?", (pinned, to_micros(at), no)
            )
            self._mark_changed(con, no)

    @staticmethod
    def _mark_changed(con: Connection, no: int) -> None:
        """Number the change, so that whoever caches memories knows which to read again."""
        con.execute("UPDATE memories SET rev = ? WHERE no = ?", (bump(con, "memories"), no))

    def add_evidence(self, no: int, *, at: datetime, trust: Trust, note: str = "") -> None:
        """Count one more time that memory `no` was said."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO evidence(memory_no, seen_at, trust, note) VALUES(?,?,?,?)",
                (no, to_micros(at), trust.value, note),
            )

    def rebuild_tags(self) -> None:
        """Build the index of tags anew from what the memories carry."""
        with self._db.joined() as con:
            con.execute("DELETE FROM memory_tags")
            con.execute(
                "INSERT INTO memory_tags(tag, memory_no)"
                " SELECT DISTINCT j.value, m.no FROM memories m, json_each(m.tags) j"
            )

    def _put_tags(self, no: int, tags: Iterable[str]) -> None:
        with self._db.joined() as con:
            con.executemany(
                "INSERT OR IGNORE INTO memory_tags(tag, memory_no) VALUES(?, ?)", [(tag, no) for tag in tags]
            )

    def _put_turn(self, no: int, space_no: int, turn: Turn) -> None:
        with self._db.joined() as con:
            con.execute(
                "INSERT OR IGNORE INTO conversation_sessions(space_no, conversation, session) VALUES(?,?,?)",
                (space_no, turn.conversation, turn.session),
            )
            con.execute(
                "INSERT OR IGNORE INTO speakers(name, folded) VALUES(?,?)",
                (turn.speaker, turn.speaker.casefold()),
            )
            if con.changes:
                bump(con, "speakers")
            con.execute(
                "INSERT OR REPLACE INTO turns(memory_no, session_no, position, speaker_no) VALUES(?,"
                " (SELECT no FROM conversation_sessions WHERE space_no = ? AND conversation = ? AND session = ?),"
                " ?, (SELECT no FROM speakers WHERE name = ?))",
                (no, space_no, turn.conversation, turn.session, turn.position, turn.speaker),
            )
