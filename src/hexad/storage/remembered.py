"""Which summaries of experience are memories, and which memories have outlived what they tell of."""

from __future__ import annotations

from typing import Final, cast

from hexad.model.experience import CompressionLevel
from hexad.storage.connection import Database
from hexad.storage.meta import Meta

_COMPACTIONS: Final = "compactions_remembered"
_RECORDS: Final = "cold_records_remembered"
"""Up to which of them all are memories, or were: what was forgotten on purpose is not written again."""


class Remembered:
    """How far memories of experience have come, in one space."""

    def __init__(self, db: Database, *, space: str) -> None:
        self._db, self._meta, self._space = db, Meta(db), space

    def last_compaction(self) -> int:
        """Return the number of the last compaction that became a memory."""
        return int(self._meta.get(_COMPACTIONS) or 0)

    def last_record(self) -> int:
        """Return the number of the last COLD record that became a memory."""
        return int(self._meta.get(_RECORDS) or 0)

    def note_compaction(self, number: int) -> None:
        """Note that all compactions up to this one are memories; another program may have come further."""
        self._note(_COMPACTIONS, number)

    def note_record(self, number: int) -> None:
        """Note that all COLD records up to this one are memories."""
        self._note(_RECORDS, number)

    def _note(self, key: str, number: int) -> None:
        with self._db.transaction():
            if number > int(self._meta.get(key) or 0):
                self._meta.put(key, str(number))

    def new_records(self, *, limit: int) -> list[int]:
        """Return the numbers of COLD records of a session or more that are no memories yet, in their order."""
        rows = self._db.query(
            "SELECT no FROM compressed_records WHERE no > ? AND level > ? ORDER BY no LIMIT ?",
            (self.last_record(), int(CompressionLevel.REPLY), limit),
        )
        return [cast("int", row[0]) for row in rows]

    def outlived(self, *, limit: int) -> list[tuple[str, str]]:
        """Return source id and text of memories whose compaction or record became part of something coarser."""
        rows = self._db.query(
            "SELECT m.source_id, m.raw FROM sources src JOIN spaces s ON s.no = src.space_no"
            " JOIN memories m ON m.source_no = src.no WHERE src.uri = ? AND s.name = ? AND m.status = 'active'"
            " AND (m.source_id LIKE 'compaction\\_%' ESCAPE '\\' OR m.source_id LIKE 'compressed-%')"
            " AND NOT EXISTS (SELECT 1 FROM compaction_records c WHERE c.id = m.source_id)"
            " AND NOT EXISTS (SELECT 1 FROM compressed_records r WHERE r.id = m.source_id) ORDER BY m.no LIMIT ?",
            (f"caller:{self._space}", self._space, limit),
        )
        return [(cast("str", row[0]), cast("str", row[1])) for row in rows]
