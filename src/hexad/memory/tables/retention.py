"""What gc reads and writes of memories: in pages, without their texts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hexad.database.change_counters import bump
from hexad.database.codec import from_micros, load_strings, to_micros
from hexad.database.connection import Database, Row
from hexad.memory.memory import Relevance, Status

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
