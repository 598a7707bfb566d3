"""Which summaries of experience are memories, and which memories have outlived what they tell of."""

from __future__ import annotations

from datetime import datetime
from typing import Final, cast

from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.database.meta import Meta
from hexad.experience.stream.frames import KIND_CODES
from hexad.experience.values.records import CompressionLevel, EventType
from hexad.memory.memory import Trust, least_trust

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

    def tells_of_tools(self, session_id: str, first: int, last: int) -> bool:
        """Whether what tools answered is among the events of a session between two ticks."""
        row = self._db.query_one(
            "SELECT EXISTS (SELECT 1 FROM compressed_records r JOIN sessions s ON s.no = r.session_no WHERE s.id = ?"
            " AND r.kind = ? AND r.first_tick <= ? AND r.last_tick >= ?)",
            (session_id, KIND_CODES[EventType.TOOL_RESPONSE], last, first),
        )
        return row is not None and bool(row[0])

    def least_trust(self, since: datetime, until: datetime) -> Trust | None:
        """Return the least trust of the memories of experience of a time; None when there are none."""
        rows = self._db.query(
            "SELECT DISTINCT m.trust FROM memories m JOIN spaces s ON s.no = m.space_no WHERE s.name = ?"
            " AND m.happened_at BETWEEN ? AND ?",
            (self._space, to_micros(since), to_micros(until)),
        )
        return least_trust(Trust(cast("str", row[0])) for row in rows) if rows else None

    def outlived(self, *, limit: int) -> list[tuple[str, str, Trust]]:
        """Return source id, text and trust of memories whose compaction or record became part of something coarser."""
        rows = self._db.query(
            "SELECT m.source_id, m.raw, m.trust FROM sources src JOIN spaces s ON s.no = src.space_no"
            " JOIN memories m ON m.source_no = src.no WHERE src.uri = ? AND s.name = ? AND m.status = 'active'"
            " AND (m.source_id LIKE 'compaction\\_%' ESCAPE '\\' OR m.source_id LIKE 'compressed-%')"
            " AND NOT EXISTS (SELECT 1 FROM compaction_records c WHERE c.id = m.source_id)"
            " AND NOT EXISTS (SELECT 1 FROM compressed_records r WHERE r.id = m.source_id) ORDER BY m.no LIMIT ?",
            (f"caller:{self._space}", self._space, limit),
        )
        return [(cast("str", row[0]), cast("str", row[1]), Trust(cast("str", row[2]))) for row in rows]
