"""A change of a memory's tags and of the words under which its chunks are also found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hexad.core.json_types import JSONValue
from hexad.database.change_counters import bump
from hexad.database.codec import dump, to_micros
from hexad.database.connection import Database


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
                (dump(list(tags)), dump(dict(metadata)), to_micros(at), bump(con, "memories"), no),
            )
            con.execute("DELETE FROM memory_tags WHERE memory_no = ?", (no,))
            con.executemany(
                "INSERT INTO memory_tags(tag, memory_no) VALUES(?, ?)", [(tag, no) for tag in tags]
            )
            con.executemany(
                "UPDATE chunks SET context = ? WHERE no = ?",
                [(context, chunk_no) for chunk_no, context in contexts.items()],
            )
