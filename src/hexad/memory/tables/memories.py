"""Memories, their chunks, tags, turns, versions and evidence: the truth that every index derives from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Final, Literal, NamedTuple

from hexad.core.json_types import JSONObject, JSONValue
from hexad.database.change_counters import bump
from hexad.database.codec import (
    dump,
    from_micros,
    to_micros,
)
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.memory.memory import Chunk, Citation, Memory, Status, Trust, Turn
from hexad.memory.query import Filters
from hexad.memory.tables.resolver import MemoryNames
from hexad.memory.tables.rows import (
    COLUMNS,
    FROM,
    ORDERS,
    batches,
    dump_metadata,
    filter_sql,
    load_citations,
    memory_of,
    row_of,
    seen_sql,
)

_TURN: Final = "cs.conversation, cs.session, t.position, sp.name"
_OF_TURN: Final = (
    "LEFT JOIN turns t ON t.memory_no = m.no LEFT JOIN conversation_sessions cs ON cs.no = t.session_no"
    " LEFT JOIN speakers sp ON sp.no = t.speaker_no"
)


class StoredTurn(NamedTuple):
    """What tells a turn of a conversation from others: its text by its hash, who spoke, when, and to which agent."""

    no: int
    content_hash: str
    speaker: str
    time: datetime | None
    agent: str | None
    """Whose list it stood in, of agents that share a session."""


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


class Memories(MemoryNames):
    """The memories of one store, as far as `roles` may see them; None sees all.

    What takes row numbers shows what they name: the numbers come from a call that asked who may see them.
    """

    # Reading ---------------------------------------------------------------------------------------------

    def by_no(self, numbers: Collection[int]) -> dict[int, Memory]:
        """Return the memories with these row numbers, in their order; missing ones are left out."""
        return self.with_stored_chunks(numbers)[0]

    def with_chunks(self, numbers: Collection[int]) -> tuple[dict[int, Memory], dict[int, Chunk]]:
        """Return the memories as `by_no` does, and their chunks by the numbers of these."""
        memories, chunks = self.with_stored_chunks(numbers)
        return memories, {each.no: each.chunk for no in memories for each in chunks.get(no, ())}

    def with_stored_chunks(
        self, numbers: Collection[int]
    ) -> tuple[dict[int, Memory], dict[int, list[StoredChunk]]]:
        """Return the memories as `by_no` does, and their chunks as `chunks_of` does."""
        memories: dict[int, Memory] = {}
        all_chunks: dict[int, list[StoredChunk]] = {}
        for batch in batches(sorted(set(numbers))):
            marks = ",".join("?" * len(batch))
            rows = self._db.query(
                f"SELECT {COLUMNS}, {_TURN} {FROM} {_OF_TURN} WHERE m.no IN ({marks}) ORDER BY m.no", batch
            )
            chunks = self._chunks(batch)
            all_chunks.update(chunks)
            for row in rows:
                no, stored = row[0], chunks.get(row[0], ())
                memories[no] = memory_of(row, tuple([each.chunk for each in stored]), _turn_of(row[-4:]))
        return memories, all_chunks

    def citing(self, numbers: Sequence[int]) -> dict[int, tuple[Citation, ...]]:
        """Return what those of a few memories cite whose citations can be checked."""
        rows = self._db.query(
            "SELECT no, citations FROM memories WHERE no IN (SELECT value FROM json_each(?))"
            """ AND citations LIKE '%"marks":%'""",
            (json.dumps(list(numbers)),),
        )
        return {no: load_citations(text) for no, text in rows}

    def of_source_ids(self, source_ids: Sequence[str], *, kind: str, space: str | None) -> dict[str, Memory]:
        """Return the active memories of a kind that sources gave these ids, by them."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no FROM memories m JOIN spaces s ON s.no = m.space_no WHERE m.kind = ? AND m.status = 'active'"
            f" AND (? IS NULL OR s.name = ?) AND m.source_id IN (SELECT value FROM json_each(?)){seen}",
            (kind, space, space, json.dumps(list(source_ids)), *roles),
        )
        return {str(memory.source_id): memory for memory in self.by_no([row[0] for row in rows]).values()}

    def turns_of(self, conversation: str, *, space_no: int) -> dict[int, StoredTurn]:
        """Return the turns of a conversation of a space by their positions, whatever their status."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT t.position, m.no, m.content_hash, sp.name, m.valid_from, m.metadata ->> '$.agent'"
            " FROM conversation_sessions cs"
            " JOIN turns t ON t.session_no = cs.no JOIN memories m ON m.no = t.memory_no"
            " JOIN speakers sp ON sp.no = t.speaker_no"
            f" WHERE cs.space_no = ? AND cs.conversation = ? AND cs.session = ?{seen}",
            (space_no, conversation, conversation, *roles),
        )
        return {
            row[0]: StoredTurn(
                row[1], row[2], row[3], None if row[4] is None else from_micros(row[4]), row[5]
            )
            for row in rows
        }

    def get(self, memory_id: str) -> Memory:
        """Return the memory with this id, whatever its status; raises `NotFound`."""
        no = self.number(memory_id)
        return self.by_no([no])[no]

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
        where, params = self._conditions(filters, status)
        by = "m.no" if order == "no" else ORDERS[order]
        # The last ones are at an end of this index, which no other question gains from.
        newest = order == "updated" and limit > 0 and filters.spaces is None
        sql = (
            f"SELECT m.no FROM memories m {'INDEXED BY memories_by_change' if newest else ''}"
            " JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join(where) or '1'} ORDER BY {by} LIMIT ? OFFSET ?"
        )
        return [row[0] for row in self._db.query(sql, (*params, limit, offset))]

    def _conditions(self, filters: Filters, status: Status | None) -> tuple[list[str], list[SQLValue]]:
        if self._roles is not None:
            filters = replace(filters, roles=self._roles)
        where, params = filter_sql(filters)
        if status is not None:
            where.append("m.status = ?")
            params.append(status.value)
        return where, params

    def numbers_of_all(self, *, status: Status) -> list[int]:
        """Return the row numbers of all memories with `status`."""
        rows = self._db.query("SELECT no FROM memories WHERE status = ? ORDER BY no", (status.value,))
        return [row[0] for row in rows]

    def count(self, *, status: Status | None = Status.ACTIVE) -> int:
        """Return how many memories have `status`, or how many there are."""
        seen, params = seen_sql("m", self._roles)
        row = self._db.query_one(
            f"SELECT count(*) FROM memories m WHERE (? IS NULL OR m.status = ?){seen}",
            (status, status, *params),
        )
        return row[0] if row else 0

    def count_where(self, filters: Filters, *, status: Status | None = Status.ACTIVE) -> int:
        """Return how many memories pass `filters`."""
        where, params = self._conditions(filters, status)
        row = self._db.query_one(
            "SELECT count(*) FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join(where) or '1'}",
            params,
        )
        return row[0] if row else 0

    def kinds(self) -> list[str]:
        """Return the kinds of active memories, the most frequent first."""
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            f"SELECT m.kind FROM memories m WHERE m.status = 'active'{seen} GROUP BY 1 ORDER BY count(*) DESC, 1",
            params,
        )
        return [row[0] for row in rows]

    def tags(self) -> list[str]:
        """Return the tags of active memories."""
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT DISTINCT t.tag FROM memory_tags t JOIN memories m ON m.no = t.memory_no"
            f" WHERE m.status = 'active'{seen} ORDER BY 1",
            params,
        )
        return [row[0] for row in rows]

    def count_of(self, table: Literal["chunks", "vectors"]) -> int:
        """Return how many chunks or vectors the active memories have that may be seen."""
        seen, params = seen_sql("m", self._roles)
        row = self._db.query_one(
            f"SELECT count(*) FROM {table} t JOIN memories m ON m.no = t.memory_no WHERE m.status = 'active'{seen}",
            params,
        )
        return row[0] if row else 0

    def awaited(
        self, kind: str, *, characters_most: int, spaces: Sequence[str] | None = None
    ) -> tuple[int, int, int]:
        """Return how many active memories may be seen, how many of them a task of this kind waits for, and how many
        characters the chunks of these have, each at most `characters_most`; of these `spaces`, or of all.
        """
        seen, params = seen_sql("m", self._roles)
        if spaces is not None:
            seen += (
                " AND m.space_no IN (SELECT no FROM spaces WHERE name IN (SELECT value FROM json_each(?)))"
            )
            params = (*params, json.dumps(list(spaces)))
        waits = self._db.query_one(
            "SELECT count(DISTINCT m.no), coalesce(sum(min(c.end - c.start, ?)), 0) FROM tasks t JOIN memories m"
            " ON m.no = t.memory_no LEFT JOIN chunks c ON c.memory_no = m.no"
            f" WHERE t.kind = ? AND m.status = 'active'{seen}",
            (characters_most, kind, *params),
        )
        if waits is None or not waits[0]:
            return 0, 0, 0
        total = self._db.query_one(f"SELECT count(*) FROM memories m WHERE m.status = 'active'{seen}", params)
        return (total[0] if total else 0), waits[0], waits[1]

    def passages_of(self, chunk_numbers: Collection[int]) -> dict[int, tuple[str, str]]:
        """Return the heading and the text of chunks of active memories, by their numbers."""
        rows = self._db.query(
            "SELECT c.no, c.heading, t.body FROM chunk_texts t JOIN chunks c ON c.no = t.no"
            " WHERE c.no IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(chunk_numbers)),),
        )
        return {no: (heading, body) for no, heading, body in rows}

    def headings_of(self, numbers: Collection[int]) -> list[tuple[int, int, str]]:
        """Return the chunks of these memories: number, memory's row number, heading; in order."""
        return self._db.query(
            "SELECT no, memory_no, heading FROM chunks WHERE memory_no IN (SELECT value FROM json_each(?))"
            " ORDER BY no",
            (json.dumps(sorted(numbers)),),
        )

    def chunks_of(self, numbers: Collection[int]) -> dict[int, list[StoredChunk]]:
        """Return the stored chunks of these memories, by row number, in order."""
        chunks: dict[int, list[StoredChunk]] = {}
        for batch in batches(sorted(set(numbers))):
            chunks.update(self._chunks(batch))
        return chunks

    def outline(self, source_no: int, *, roles: Collection[str] | None) -> list[tuple[str, str, str, str]]:
        """Return `(source id, kind, language, short summary)` of a source's active memories, by source id.

        Only of those that are open to all `roles` of the space, so that a summary of them can be, too.
        """
        open_to_all = None if roles is None else json.dumps(sorted(roles))
        rows = self._db.query(
            "SELECT source_id, kind, coalesce(metadata ->> '$.language', ''), coalesce(summary_short, raw)"
            " FROM memories WHERE source_no = ?1 AND status = 'active' AND audience_no IS"
            " (SELECT no FROM audiences WHERE roles = ?2) ORDER BY source_id",
            (source_no, open_to_all),
        )
        return rows

    def chunk_counts(self, numbers: Collection[int]) -> dict[int, int]:
        """Return how many chunks each of these memories has."""
        rows = self._db.query(
            "SELECT c.memory_no, count(*) FROM json_each(?) j JOIN chunks c ON c.memory_no = j.value GROUP BY 1",
            (json.dumps(sorted(numbers)),),
        )
        return dict(rows)

    def history(self, no: int) -> list[tuple[int, datetime, str]]:
        """Return `(version, replaced at, text)` of what this memory said before, oldest first."""
        rows = self._db.query(
            "SELECT version, replaced_at, raw FROM memory_versions WHERE memory_no = ? ORDER BY version",
            (no,),
        )
        return [(v, from_micros(at), raw) for v, at, raw in rows]

    def _chunks(self, numbers: Sequence[int]) -> dict[int, list[StoredChunk]]:
        marks = ",".join("?" * len(numbers))
        rows = self._db.query(
            "SELECT c.no, c.memory_no, c.seq, c.start, c.end, c.first_line, c.last_line, c.heading, c.context,"
            " c.identifiers, m.id FROM chunks c JOIN memories m ON m.no = c.memory_no"
            f" WHERE c.memory_no IN ({marks}) ORDER BY c.memory_no, c.seq",
            numbers,
        )
        chunks: dict[int, list[StoredChunk]] = {}
        for row in rows:
            no, memory_no, seq, start, end, first, last = row[:7]
            heading, context, identifiers, memory_id = row[7:]
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
            chunks.setdefault(memory_no, []).append(stored)
        return chunks

    # Writing: always inside the caller's transaction --------------------------------------------------------

    def insert(self, memory: Memory, *, space_no: int, source_no: int | None) -> int:
        """Store a new memory without its chunks; returns its row number."""
        (no,) = self.insert_all([(memory, space_no, source_no)])
        return no

    def insert_all(self, memories: Sequence[tuple[Memory, int, int | None]]) -> range:
        """Store new memories, each with the numbers of its space and source, without chunks; returns their numbers."""
        count = len(memories)
        if not count:
            return range(0)
        with self._db.joined() as con:
            first_rev = bump(con, "memories", times=count) - count + 1
            rows = [
                row_of(memory, space_no=space_no, source_no=source_no, rev=rev)
                for rev, (memory, space_no, source_no) in enumerate(memories, start=first_rev)
            ]
            con.executemany(_insert_sql(tuple(rows[0])), [tuple(row.values()) for row in rows])
            numbers = _latest(con, count)
            self._put_tags(
                [
                    (tag, no)
                    for no, (memory, _, _) in zip(numbers, memories, strict=True)
                    for tag in memory.tags
                ]
            )
            for no, (memory, space_no, _) in zip(numbers, memories, strict=True):
                if memory.turn is not None:
                    self._put_turn(no, space_no, memory.turn)
        return numbers

    def replace(self, no: int, memory: Memory, *, space_no: int, source_no: int | None) -> None:
        """Store a changed memory over row `no`; the text that it replaces becomes a version."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO memory_versions(memory_no, version, replaced_at, content_hash, metadata, raw)"
                " SELECT no, 1 + (SELECT count(*) FROM memory_versions v WHERE v.memory_no = no), ?,"
                " content_hash, metadata, raw FROM memories WHERE no = ? AND content_hash <> ?",
                (to_micros(memory.updated_at), no, memory.content_hash),
            )
            rev = bump(con, "memories")
            columns = row_of(memory, space_no=space_no, source_no=source_no, rev=rev)
            # A change that names no source leaves the memory with the one that it is from.
            kept_columns = {"source_no", "source_id"}
            assignments = ",".join(
                f"{name} = coalesce(?, {name})" if name in kept_columns else f"{name} = ?" for name in columns
            )
            con.execute(f"UPDATE memories SET {assignments} WHERE no = ?", (*columns.values(), no))
            con.execute("DELETE FROM memory_tags WHERE memory_no = ?", (no,))
            self._put_tags([(tag, no) for tag in memory.tags])
            if memory.turn is not None:
                self._put_turn(no, space_no, memory.turn)

    def put_chunks(self, chunks: Iterable[tuple[int, Sequence[NewChunk]]]) -> range:
        """Store the chunks of memories, by the numbers of these, which have none; returns the chunks' row numbers."""
        rows = [
            (
                no,
                seq,
                new.chunk.start,
                new.chunk.end,
                new.chunk.first_line,
                new.chunk.last_line,
                new.chunk.heading,
                new.context,
                new.identifiers,
            )
            for no, its_chunks in chunks
            for seq, new in enumerate(its_chunks)
        ]
        if not rows:
            return range(0)
        with self._db.joined() as con:
            con.executemany(
                "INSERT INTO chunks(memory_no, seq, start, end, first_line, last_line, heading, context,"
                " identifiers) VALUES(?,?,?,?,?,?,?,?,?)",
                rows,
            )
            return _latest(con, len(rows))

    def drop_chunks(self, no: int) -> None:
        """Remove the chunks of memory `no`."""
        with self._db.joined() as con:
            con.execute("DELETE FROM chunks WHERE memory_no = ?", (no,))

    def set_status(self, no: int, status: Status, *, at: datetime) -> None:
        """Change where memory `no` stands."""
        with self._db.joined() as con:
            con.execute(
                # A memory whose own time is still to come (a frozen clock) is not changed before it was made.
                "UPDATE memories SET status = ?1, updated_at = max(?2, created_at),"
                " archived_at = iif(?1 = 'archived', max(?2, created_at), NULL)"
                " WHERE no = ?3",
                (status.value, to_micros(at), no),
            )
            self._mark_changed(con, no)

    def set_metadata(self, no: int, metadata: JSONObject) -> None:
        """Put other metadata in the place of those of memory `no`."""
        with self._db.joined() as con:
            con.execute("UPDATE memories SET metadata = ? WHERE no = ?", (dump_metadata(metadata), no))
            self._mark_changed(con, no)

    def set_pinned(self, no: int, pinned: bool, *, at: datetime) -> None:
        """Pin or unpin memory `no`."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET pinned = ?, updated_at = max(?, created_at) WHERE no = ?",
                (pinned, to_micros(at), no),
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

    def _put_tags(self, tags: Sequence[tuple[str, int]]) -> None:
        if not tags:
            return
        with self._db.joined() as con:
            con.executemany("INSERT OR IGNORE INTO memory_tags(tag, memory_no) VALUES(?, ?)", tags)

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


def _latest(con: Connection, count: int) -> range:
    """Return the row numbers of the rows that were just inserted: each is the one after that before it."""
    last = con.last_insert_rowid
    return range(last - count + 1, last + 1)


def _turn_of(columns: Row) -> Turn | None:
    """Return the turn of a memory's columns `_TURN`, None where it is none."""
    conversation, session, position, speaker = columns
    if conversation is None or speaker is None:
        return None
    return Turn(conversation=conversation, session=session, position=position, speaker=speaker)


@cache
def _insert_sql(columns: tuple[str, ...]) -> str:
    return f"INSERT INTO memories({','.join(columns)}) VALUES({','.join('?' * len(columns))})"


class MemoryTags:
    """The tags of the memories of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def replace(
        self,
        no: int,
        tags: Sequence[str],
        contexts: Mapping[int, str],
        *,
        metadata: Mapping[str, JSONValue],
        at: datetime,
    ) -> None:
        """Give memory `no` these tags and metadata, and its chunks, by row number, these words of context.

        Everything else of the memory stays; in the caller's transaction.
        """
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET tags = ?, metadata = ?, updated_at = max(?, created_at), rev = ? WHERE no = ?",
                (dump(list(tags)), dump_metadata(metadata), to_micros(at), bump(con, "memories"), no),
            )
            con.execute("DELETE FROM memory_tags WHERE memory_no = ?", (no,))
            con.executemany(
                "INSERT INTO memory_tags(tag, memory_no) VALUES(?, ?)", [(tag, no) for tag in tags]
            )
            con.executemany(
                "UPDATE chunks SET context = ? WHERE no = ?",
                [(context, chunk_no) for chunk_no, context in contexts.items()],
            )
