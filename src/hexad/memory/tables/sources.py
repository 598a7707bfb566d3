"""Sources that were ingested, the state of their items, and the queue of those that wait."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from hexad.core.json_types import JSONValue
from hexad.database.codec import dump, from_micros, optional_time, parse, to_micros
from hexad.database.connection import Database
from hexad.memory.memory import CONSOLIDATED
from hexad.memory.tables.rows import seen_sql

CALLER_KIND: Final = "caller"
"""Kind of the sources that stand for source ids given to `remember`."""

REWRITTEN: Final = "rewritten"
"""What the note of a commit says that left the history of its repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source that was ingested."""

    no: int
    uri: str
    kind: str
    space: str
    last_run_at: datetime | None
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemState:
    """What is remembered of a source's item, to tell whether it changed.

    `memory_no` is None when its memory was purged: then only a changed item is a memory again. `expired` says that
    gc archived the memory: a change brings it back. `hidden` ones are not open to whoever runs the ingest.
    """

    fingerprint: str
    content_hash: str
    memory_no: int | None
    expired: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedSource:
    """A source that waits to be ingested."""

    no: int
    source: str
    options: Mapping[str, JSONValue]
    attempts: int


class Sources:
    """The sources of one store."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles

    def ensure(self, uri: str, *, kind: str, space_no: int) -> int:
        """Return the row number of a source, registering it when it is new."""
        row = self._db.query_one("SELECT no FROM sources WHERE uri = ? AND space_no = ?", (uri, space_no))
        if row is None:
            with self._db.joined() as con:
                con.execute(
                    "INSERT OR IGNORE INTO sources(uri, kind, space_no) VALUES(?,?,?)", (uri, kind, space_no)
                )
            row = self._db.query_one("SELECT no FROM sources WHERE uri = ? AND space_no = ?", (uri, space_no))
        assert row is not None, uri
        return cast("int", row[0])

    def list(self) -> Sequence[SourceRow]:
        """Return the ingested sources by uri."""
        rows = self._db.query(
            "SELECT src.no, src.uri, src.kind, s.name, src.last_run_at,"
            " (SELECT count(*) FROM source_items i WHERE i.source_no = src.no)"
            " FROM sources src JOIN spaces s ON s.no = src.space_no WHERE src.kind <> ? ORDER BY src.uri",
            (CALLER_KIND,),
        )
        return [
            SourceRow(
                no=no,
                uri=uri,
                kind=kind,
                space=space,
                last_run_at=optional_time(last),
                items=items,
            )
            for no, uri, kind, space, last, items in rows
        ]

    def find(self, uri: str, *, space: str) -> int | None:
        """Return the row number of a source of a space, or None."""
        row = self._db.query_one(
            "SELECT src.no FROM sources src JOIN spaces s ON s.no = src.space_no WHERE src.uri = ? AND s.name = ?",
            (uri, space),
        )
        return row[0] if row else None

    def holding(self, item: str) -> set[str]:
        """Return the uris of sources with a memory of this item, or of one below where it ends in `/`; "" for none."""
        seen, roles = seen_sql("m", self._roles)
        past = item[:-1] + "0" if item.endswith("/") else item  # what follows all that begin with it
        rows = self._db.query(
            "SELECT DISTINCT coalesce(src.uri, '') FROM memories m LEFT JOIN sources src ON src.no = m.source_no"
            f" WHERE (m.source_id = ?1 OR (m.source_id >= ?1 AND m.source_id < ?2)){seen}",
            (item, past, *roles),
        )
        return {row[0] for row in rows}

    def next_run(self, source_no: int) -> int:
        """Return a number for this run that is higher than every earlier one's."""
        row = self._db.query_one(
            "SELECT coalesce(max(run), 0) + 1 FROM source_items WHERE source_no = ?", (source_no,)
        )
        return row[0] if row else 1

    def items(self, source_no: int) -> dict[str, ItemState]:
        """Return the state of all items of a source, by source id."""
        seen, roles = seen_sql("m", self._roles)
        hidden = f"m.no IS NOT NULL AND NOT (1{seen})" if seen else "0"
        rows = self._db.query(
            "SELECT i.source_id, i.fingerprint, i.content_hash, i.memory_no,"
            f" coalesce(m.status = 'archived' AND m.archived_at > m.updated_at, 0), {hidden}"
            " FROM source_items i LEFT JOIN memories m ON m.no = i.memory_no WHERE i.source_no = ?",
            (*roles, source_no),
        )
        return {
            source_id: ItemState(
                fingerprint=fingerprint,
                content_hash=content_hash,
                memory_no=memory_no,
                expired=bool(expired),
                hidden=bool(unseen),
            )
            for source_id, fingerprint, content_hash, memory_no, expired, unseen in rows
        }

    def put_items(self, source_no: int, items: Iterable[tuple[str, ItemState]], *, run: int) -> None:
        """Remember what items looked like in this run, each under its source id."""
        with self._db.joined() as con:
            con.executemany(
                # The memory may have been purged since its number was read.
                "INSERT INTO source_items(source_no, source_id, fingerprint, content_hash, memory_no, run)"
                " VALUES(?,?,?,?,(SELECT no FROM memories WHERE no = ?),?)"
                " ON CONFLICT(source_no, source_id) DO UPDATE SET"
                " fingerprint = excluded.fingerprint, content_hash = excluded.content_hash,"
                " memory_no = coalesce(excluded.memory_no, memory_no), run = excluded.run",
                [
                    (source_no, source_id, state.fingerprint, state.content_hash, state.memory_no, run)
                    for source_id, state in items
                ],
            )

    def vanished(self, source_no: int, *, run: int) -> Sequence[tuple[str, int | None]]:
        """Return `(source id, memory's row number)` of the items that this run did not meet; None if purged.

        Items of hidden memories are left out: who may not see them cannot archive them.
        """
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT i.source_id, i.memory_no FROM source_items i LEFT JOIN memories m ON m.no = i.memory_no"
            f" WHERE i.source_no = ? AND i.run < ?{seen} ORDER BY i.source_id",
            (source_no, run, *roles),
        )
        return [(source_id, no) for source_id, no in rows]

    def rewritten(self, source_no: int) -> dict[str, int]:
        """Return the archived commits of a repository that nothing reached any more, by their ids."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.source_id, m.no FROM memories m WHERE m.source_no = ? AND m.status = 'archived'"
            f" AND m.metadata ->> '$.{CONSOLIDATED}.action' = '{REWRITTEN}'{seen}",
            (source_no, *roles),
        )
        return dict(rows)

    def successor(self, no: int) -> str | None:
        """Return the id of the active commit that clearly is commit `no` written anew; None where that is not clear.

        It has the same author and the same time of writing, which a rewritten commit keeps, or else the same text:
        message, files and counts of lines. Of several, the one with the same subject.
        """
        seen, roles = seen_sql("n", self._roles)
        rows = self._db.query(
            "SELECT n.id, n.happened_at = m.happened_at AND n.metadata ->> '$.author' = m.metadata ->> '$.author',"
            " n.metadata ->> '$.title' = m.metadata ->> '$.title'"
            " FROM memories m JOIN memories n ON n.source_no = m.source_no AND n.kind = m.kind AND n.no <> m.no"
            " WHERE m.no = ? AND n.status = 'active' AND ((n.happened_at = m.happened_at"
            " AND n.metadata ->> '$.author' = m.metadata ->> '$.author') OR n.content_hash = m.content_hash)"
            f"{seen}",
            (no, *roles),
        )
        at_once = [row for row in rows if row[1]] or rows
        if len(at_once) > 1:
            at_once = [row for row in at_once if row[2]]
        return at_once[0][0] if len(at_once) == 1 else None

    def forget_item(self, source_no: int, source_id: str) -> None:
        """Drop the state of an item, so that it is read anew when it comes back."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM source_items WHERE source_no = ? AND source_id = ?", (source_no, source_id)
            )

    def finish_run(self, source_no: int, *, at: datetime) -> None:
        """Note that a run over the whole source came to its end."""
        with self._db.joined() as con:
            con.execute("UPDATE sources SET last_run_at = ? WHERE no = ?", (to_micros(at), source_no))


class IngestQueue:
    """Sources that wait to be ingested; survives the process that queued them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, source: str, options: Mapping[str, JSONValue], *, at: datetime) -> None:
        """Queue a source; one that already waits with the same options is not queued twice."""
        with self._db.joined() as con:
            con.execute(
                "INSERT OR IGNORE INTO ingest_queue(source, options, enqueued_at) VALUES(?,?,?)",
                (source, dump(options), to_micros(at)),
            )

    def claim(self, owner: str, *, alive: frozenset[str]) -> QueuedSource | None:
        """Take the oldest source that nobody alive works on; None when the queue is empty."""
        with self._db.joined() as con:
            row = con.execute(
                "SELECT no, source, options, attempts FROM ingest_queue WHERE error IS NULL"
                " AND (owner IS NULL OR owner NOT IN (SELECT value FROM json_each(?))) ORDER BY no LIMIT 1",
                (json.dumps(sorted(alive)),),
            ).fetchone()
            if row is None:
                return None
            con.execute(
                "UPDATE ingest_queue SET owner = ?, attempts = attempts + 1 WHERE no = ?", (owner, row[0])
            )
        no, source, options, attempts = row
        return QueuedSource(no=no, source=source, options=parse(options), attempts=attempts + 1)

    def finish(self, no: int, *, error: str | None = None) -> None:
        """Take a claimed source off the queue, or keep it with the error that stopped it."""
        with self._db.joined() as con:
            if error is None:
                con.execute("DELETE FROM ingest_queue WHERE no = ?", (no,))
            else:
                con.execute("UPDATE ingest_queue SET owner = NULL, error = ? WHERE no = ?", (error, no))

    def release(self, no: int) -> None:
        """Give a claimed source back."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM ingest_queue WHERE no = ?1 AND EXISTS (SELECT 1 FROM ingest_queue q JOIN"
                " ingest_queue mine ON mine.no = ?1 WHERE q.no <> ?1 AND q.owner IS NULL AND q.error IS NULL"
                " AND q.source = mine.source AND q.options = mine.options)",
                (no,),
            )
            con.execute("UPDATE ingest_queue SET owner = NULL WHERE no = ?", (no,))

    def counts(self) -> tuple[int, int]:
        """Return how many sources wait and how many failed."""
        row = self._db.query_one(
            "SELECT count(*) FILTER (WHERE error IS NULL), count(error) FROM ingest_queue"
        )
        return row if row else (0, 0)

    def waits_since(self) -> datetime | None:
        """Return since when the source waits that waits longest; None where none does."""
        row = self._db.query_one("SELECT min(enqueued_at) FROM ingest_queue WHERE error IS NULL")
        return None if row is None or row[0] is None else from_micros(row[0])
