"""Summaries of past experience as memories, so that recall finds the past at whatever fidelity is left of it.

They go the one way in, as everything else does: redacted and judged. It happens outside of the transaction that they
tell of, with the summary's own id as source id: done twice, it is done once. What could not be written waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue
from hexad.core.tracing import log
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.database.meta import Meta
from hexad.errors import AccessDenied, HexadError, InvalidInput, LimitExceeded
from hexad.experience.summaries import span_name
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tags.visibility import ConceptVisibility
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.records import KIND_CODES
from hexad.experience.values.tiers import CompactionRecord, CompressedRecord
from hexad.memory.draft import Draft, MemoryWriter
from hexad.memory.memory import Status, Trust, least_trust
from hexad.text.normalize import slug

_COMPACTIONS: Final = "compactions_remembered"
_RECORDS: Final = "cold_records_remembered"
"""Up to which of them all are memories, or were: what was forgotten on purpose is not written again."""


class MemoryProgress:
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
        return [row[0] for row in rows]

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
        return least_trust(Trust(row[0]) for row in rows) if rows else None

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
        return [(row[0], row[1], Trust(row[2])) for row in rows]


SPACE: Final = "experience"
KIND: Final = "log"
_BATCH: Final = 50
_OUTLIVED: Final = 1_000


class SummaryMemories:
    """Keeps the memories of past experience in step with what is left of it. `writer` gives the way in, None for none.

    A memory names the concepts that `visibility` lets be seen when it is written, and keeps them.
    Nothing is raised for a writer that fails: what it did not take is tried again with the next call.
    """

    def __init__(
        self, db: Database, writer: Callable[[], MemoryWriter] | None, *, visibility: ConceptVisibility
    ) -> None:
        self._db, self._writer, self._visibility = db, writer, visibility
        self._remembered = MemoryProgress(db, space=SPACE)
        self._compactions, self._compressed = Compactions(db), ColdRecords(db)

    def catch_up(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Write compactions and COLD records that are no memories yet, by whomever they were made, and archive the
        memories of those that were compressed further. Returns how many were written or archived.
        """  # fmt: skip
        return self.compactions(stop=stop) + self._records(stop) + self._archive(stop)

    def compactions(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Write the compactions that are no memories yet; returns how many."""
        done = 0
        while self._writer is not None and not stop():
            compactions = self._compactions.after(self._remembered.last_compaction(), limit=_BATCH)
            for number, record in compactions:
                if not self._is_done(self._draft_of_compaction(self._visibility.compaction(record))):
                    return done
                if not self._was_noted(self._remembered.note_compaction, number):
                    return done
                done += 1
            if not compactions:
                break
        return done

    def _records(self, stop: Callable[[], bool]) -> int:
        done = 0
        while self._writer is not None and not stop():
            numbers = self._remembered.new_records(limit=_BATCH)
            records = self._compressed.by_numbers(numbers)
            for number in numbers:
                if number in records and not self._is_done(
                    self._draft_of_record(self._visibility.compressed(records[number]))
                ):
                    return done
                if not self._was_noted(self._remembered.note_record, number):
                    return done
                done += 1
            if not numbers:
                break
        return done

    def _archive(self, stop: Callable[[], bool]) -> int:
        if self._writer is None:
            return 0
        done = 0
        for source_id, text, trust in self._remembered.outlived(limit=_OUTLIVED):
            draft = Draft(text=text, space=SPACE, source_id=source_id, status=Status.ARCHIVED, trust=trust)
            if stop() or not self._is_done(draft):
                break
            done += 1
        return done

    @staticmethod
    def _was_noted(note: Callable[[int], None], number: int) -> bool:
        try:
            note(number)
        except HexadError as error:
            log.warning("Summaries of experience will be written as memories once more: %s", error)
            return False
        return True

    def _is_done(self, draft: Draft) -> bool:
        """Return whether a draft is done with: written, or such as can never be."""
        if not draft.text.strip():
            return True
        if self._writer is None:
            return False
        try:
            self._writer().write([draft])
        except (InvalidInput, LimitExceeded) as error:
            log.warning("%s is no memory: %s", draft.source_id, error)
        except HexadError as error:
            quiet = isinstance(error, AccessDenied)  # who may not write to the space leaves it to who may
            (log.debug if quiet else log.warning)("%s is no memory yet: %s", draft.source_id, error)
            return False
        return True

    def _draft_of_compaction(self, record: CompactionRecord) -> Draft:
        return _draft(
            record.id,
            record.summary,
            path=f"{SPACE}/{slug(record.session_id) or 'session'}/compactions",
            title=f"Session {record.session_id}, ticks {record.range_start} to {record.range_end}",
            since=self._compactions.began_at(record) or record.timestamp,
            made=record.timestamp,
            trust=self._trust_of_ticks(record.session_id, record.range_start, record.range_end),
            metadata={
                "session": record.session_id,
                "compaction": record.id,
                "range_start": record.range_start,
                "range_end": record.range_end,
                "timesteps": record.timesteps_compacted,
                "concepts": list(record.summary_concept_tags),
            },
        )

    def _draft_of_record(self, record: CompressedRecord) -> Draft:
        level = record.level.name.lower()
        named = record.session_id or span_name(record.level, record.start_time)
        return _draft(
            record.id,
            record.summary,
            path=f"{SPACE}/{slug(record.session_id or level) or level}/{level}s",
            title=f"Session {named}" if record.session_id else named,
            since=record.start_time,
            made=None,
            trust=self._remembered.least_trust(record.start_time, record.end_time) or Trust.TOOL,
            metadata={
                "session": record.session_id,
                "record": record.id,
                "level": record.level.name,
                "start_time": record.start_time.isoformat(),
                "end_time": record.end_time.isoformat(),
                "timesteps": record.timesteps,
                "concepts": list(record.top_k_activations),
            },
        )

    def _trust_of_ticks(self, session_id: str, first: int, last: int) -> Trust:
        """An agent's summary of what users and agents said is an agent's; of what tools answered, a tool's."""
        return Trust.TOOL if self._remembered.tells_of_tools(session_id, first, last) else Trust.AGENT


def _draft(
    source_id: str,
    text: str,
    *,
    path: str,
    title: str,
    since: datetime,
    made: datetime | None,
    trust: Trust,
    metadata: Mapping[str, JSONValue],
) -> Draft:
    return Draft(
        text=text,
        space=SPACE,
        kind=KIND,
        path=path,
        title=title,
        source_id=source_id,
        tags=(SPACE,),
        trust=trust,
        valid_from=since,
        now=made,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
