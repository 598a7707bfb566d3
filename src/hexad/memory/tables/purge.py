"""Removing memories for good, with all that belongs to them; what is left of each is a tombstone."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from hexad.database.change_counters import bump, count_purge
from hexad.database.codec import from_micros, load_strings, to_micros
from hexad.database.connection import Connection, Database, Row
from hexad.memory.memory import Relevance, Status

if TYPE_CHECKING:
    from hexad.database.component import MemoryTable


class Purges:
    """Deletes rows in the caller's transaction; full text is taken out before, where the text still is."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def purge(
        self,
        numbers: Sequence[int],
        *,
        reason: str,
        at: datetime,
        key: Callable[[], bytes],
        disconnect: Callable[[Sequence[int]], None],
        tables: Sequence[MemoryTable],
        receipt: str | None = None,
    ) -> int:
        """Remove the memories with these row numbers and leave tombstones; returns how many there were.

        `key` makes the hash of what a memory said, so that nobody without it can test a guess. What the memories
        decided keeps `receipt`, else the reason, in the place of its texts. `disconnect` takes them out of the graph,
        and what the `tables` say of them goes.
        """
        with self._db.joined() as con:
            listed = json.dumps(sorted(set(numbers)))
            count_purge(con)
            self._entomb(con, listed, reason=reason, at=at, key=key)
            self._release(con, listed)
            self._empty_decisions(con, listed, receipt=receipt or reason, at=at)
            sessions = self._sessions(con, listed)
            disconnect(numbers)
            for table in reversed(tables):  # rows of systems above refer to rows of those below
                if not table.stays:
                    con.execute(
                        f"DELETE FROM {table.name} WHERE {table.column} IN (SELECT value FROM json_each(?))",
                        (listed,),
                    )
            con.execute("DELETE FROM memories WHERE no IN (SELECT value FROM json_each(?))", (listed,))
            purged = con.changes
            self._drop_empty(con, sessions)
        return purged

    def links_from_elsewhere(self, space_no: int) -> int:
        """Return how many links callers drew to memories of a space from those of others."""
        row = self._db.query_one(
            "SELECT count(*) FROM relations r JOIN memories t ON t.no = r.to_no JOIN memories f ON f.no = r.from_no"
            " WHERE t.space_no = ?1 AND f.space_no <> ?1 AND substr(r.kind, 1, 5) = 'link:'",
            (space_no,),
        )
        return row[0] if row else 0

    def count_of_space(self, space_no: int) -> int:
        """Return how many memories a space has, whatever their status and whoever may see them."""
        row = self._db.query_one("SELECT count(*) FROM memories WHERE space_no = ?", (space_no,))
        return row[0] if row else 0

    def numbers_of_space(self, space_no: int, *, limit: int) -> list[int]:
        """Return row numbers of a space's memories, whatever their status; in the order of an index, to sort none."""
        rows = self._db.query("SELECT no FROM memories WHERE space_no = ? LIMIT ?", (space_no, limit))
        return [row[0] for row in rows]

    def forget_sources(self, space_no: int) -> None:
        """Remove a space's sources with what is known of their items: the next ingest reads everything."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM source_items WHERE source_no IN (SELECT no FROM sources WHERE space_no = ?)",
                (space_no,),
            )
            con.execute("DELETE FROM sources WHERE space_no = ?", (space_no,))

    def remove_space(self, space_no: int) -> None:
        """Remove a space that has no memory any more."""
        self.forget_sources(space_no)
        with self._db.joined() as con:
            con.execute("DELETE FROM conversation_sessions WHERE space_no = ?", (space_no,))
            con.execute("DELETE FROM spaces WHERE no = ?", (space_no,))
            bump(con, "spaces")

    def _entomb(
        self, con: Connection, listed: str, *, reason: str, at: datetime, key: Callable[[], bytes]
    ) -> None:
        rows = con.execute(
            "SELECT m.no, m.id, s.name, m.space_no, m.content_hash FROM memories m"
            " JOIN spaces s ON s.no = m.space_no WHERE m.no IN (SELECT value FROM json_each(?)) ORDER BY m.no",
            (listed,),
        ).fetchall()
        if not rows:
            return
        secret, rev, when = key(), bump(con, "memories"), to_micros(at)
        con.executemany(
            "INSERT INTO tombstones(memory_no, id, space, space_no, rev, content_mac, purged_at, reason)"
            " VALUES(?,?,?,?,?,?,?,?)",
            [
                (no, memory_id, space, space_no, rev, _mac(secret, content_hash), when, reason)
                for no, memory_id, space, space_no, content_hash in rows
            ],
        )

    @staticmethod
    def _release(con: Connection, listed: str) -> None:
        """Let go of what others keep: vector caches learn of the removal, sources that the item is purged."""
        con.execute(
            "INSERT INTO vector_removals(vector_no) SELECT no FROM vectors WHERE memory_no IN"
            " (SELECT value FROM json_each(?))",
            (listed,),
        )
        if con.changes:
            bump(con, "vectors")
        # The state stays: an item that is as it was does not bring back what was purged, a changed one is new.
        con.execute(
            "UPDATE source_items SET memory_no = NULL WHERE memory_no IN (SELECT value FROM json_each(?))",
            (listed,),
        )

    @staticmethod
    def _empty_decisions(con: Connection, listed: str, *, receipt: str, at: datetime) -> None:
        """Take the texts out of the rows of decisions, which are never removed: id, time and `receipt` stay."""
        con.execute(
            "UPDATE decision_records SET memory_no = NULL, project_id = '', title = '', description = '',"
            " rationale = '', alternatives_json = '[]', links_json = '[]', created_by = '', erased_at = ?, receipt = ?"
            " WHERE memory_no IN (SELECT value FROM json_each(?))",
            (to_micros(at), receipt, listed),
        )

    @staticmethod
    def _sessions(con: Connection, listed: str) -> str:
        rows = con.execute(
            "SELECT DISTINCT session_no FROM turns WHERE memory_no IN (SELECT value FROM json_each(?))",
            (listed,),
        ).fetchall()
        return json.dumps([row[0] for row in rows])

    @staticmethod
    def _drop_empty(con: Connection, sessions: str) -> None:
        """Remove what only purged memories stood in: sessions without turns, names nobody speaks under."""
        if sessions == "[]":
            return
        con.execute(
            "DELETE FROM conversation_sessions WHERE no IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_no = conversation_sessions.no)",
            (sessions,),
        )
        con.execute("DELETE FROM speakers WHERE no NOT IN (SELECT DISTINCT speaker_no FROM turns)")
        if con.changes:
            bump(con, "speakers")


def _mac(key: bytes, content_hash: str) -> str:
    return hmac.new(key, content_hash.encode("ascii"), "sha256").hexdigest()


_COLUMNS: Final = (
    "no, id, status, kind, path, relevance, tags, pinned, updated_at, coalesce(archived_at, updated_at)"
)


class AgedRow(NamedTuple):
    """What decides whether a memory's time has come."""

    no: int
    id: str
    status: Status
    kind: str
    path: str
    relevance: Relevance
    tags: tuple[str, ...]
    pinned: bool
    updated_at: datetime
    archived_at: datetime


class RetentionRows:
    """Pages of a space's memories, and archiving many of them at once."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def pages(self, space_no: int, *, size: int) -> Iterator[list[AgedRow]]:
        """Yield a space's memories that do not wait for a review, by row number; each page sees its own moment."""
        # The numbers first, from an index alone: paging through the rows would sort the whole space for each page.
        numbers = sorted(
            row[0] for row in self._db.query("SELECT no FROM memories WHERE space_no = ?", (space_no,))
        )
        for start in range(0, len(numbers), size):
            yield self.rows(space_no, numbers[start : start + size])

    def rows(self, space_no: int, numbers: Collection[int]) -> list[AgedRow]:
        """Return those of these memories that still are in the space, by row number."""
        return [
            _aged(row)
            for row in self._db.query(
                f"SELECT {_COLUMNS} FROM memories WHERE no IN (SELECT value FROM json_each(?)) AND +space_no = ?"
                " AND +status IN ('active', 'superseded', 'archived') ORDER BY no",
                (json.dumps(list(numbers)), space_no),
            )
        ]

    def archive(self, numbers: Sequence[int], *, at: datetime) -> None:
        """Archive active or superseded memories that full text no longer holds, in the caller's transaction.

        `updated_at` stays: by it one can tell what grew old from what a person archived.
        """
        with self._db.joined() as con:
            listed = json.dumps(list(numbers))
            among = "IN (SELECT value FROM json_each(?))"
            con.execute(
                f"INSERT INTO vector_removals(vector_no) SELECT no FROM vectors WHERE memory_no {among}",
                (listed,),
            )
            if con.changes:
                con.execute(f"DELETE FROM vectors WHERE memory_no {among}", (listed,))
                bump(con, "vectors")
            con.execute(f"DELETE FROM tasks WHERE memory_no {among}", (listed,))
            con.execute(
                f"UPDATE memories SET status = 'archived', archived_at = ?, rev = ? WHERE no {among}",
                (to_micros(at), bump(con, "memories"), listed),
            )


def _aged(row: Row) -> AgedRow:
    return AgedRow(
        no=row[0],
        id=row[1],
        status=Status(row[2]),
        kind=row[3],
        path=row[4],
        relevance=Relevance(row[5]),
        tags=load_strings(row[6]),
        pinned=bool(row[7]),
        updated_at=from_micros(row[8]),
        archived_at=from_micros(row[9]),
    )
