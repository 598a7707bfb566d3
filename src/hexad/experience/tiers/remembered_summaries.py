"""Summaries of past experience as memories, so that recall finds the past at whatever fidelity is left of it.

They go the one way in, as everything else does: redacted and judged. It happens outside of the transaction that they
tell of, with the summary's own id as source id: done twice, it is done once. What could not be written waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from hexad.core.tracing import log
from hexad.database.connection import Database
from hexad.errors import AccessDenied, HexadError, InvalidInput, LimitExceeded
from hexad.experience.summaries.cold_summary import span_name
from hexad.experience.tables.cold_records import Compressed
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tags.visibility import Sight
from hexad.experience.tiers.remembered_summaries__remembered import Remembered
from hexad.experience.values.tiers import CompactionRecord, CompressedRecord
from hexad.memory.draft import Draft, MemoryWriter
from hexad.memory.memory import JSONValue, Status, Trust
from hexad.text.normalize import slug

SPACE: Final = "experience"
KIND: Final = "log"
_BATCH: Final = 50
_OUTLIVED: Final = 1_000


class Remembrance:
    """Keeps the memories of past experience in step with what is left of it. `writer` gives the way in, None for none.

    A memory names the concepts that `sight` lets be seen when it is written, and keeps them.
    Nothing is raised for a writer that fails: what it did not take is tried again with the next call.
    """

    def __init__(self, db: Database, writer: Callable[[], MemoryWriter] | None, *, sight: Sight) -> None:
        self._db, self._writer, self._sight = db, writer, sight
        self._remembered = Remembered(db, space=SPACE)
        self._compactions, self._compressed = Compactions(db), Compressed(db)

    def catch_up(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Write compactions and COLD records that are no memories yet, by whomever they were made, and archive the
        memories of those that were compressed further. Returns how many were written or archived.
        """  # fmt: skip
        return self.compactions(stop=stop) + self._records(stop) + self._archive(stop)

    def compactions(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Write the compactions that are no memories yet; returns how many."""
        done = 0
        while self._writer is not None and not stop():
            found = self._compactions.after(self._remembered.last_compaction(), limit=_BATCH)
            for number, record in found:
                if not self._written(self._draft_of_compaction(self._sight.compaction(record))):
                    return done
                if not self._noted(self._remembered.note_compaction, number):
                    return done
                done += 1
            if not found:
                break
        return done

    def _records(self, stop: Callable[[], bool]) -> int:
        done = 0
        while self._writer is not None and not stop():
            numbers = self._remembered.new_records(limit=_BATCH)
            found = self._compressed.by_numbers(numbers)
            for number in numbers:
                if number in found and not self._written(
                    self._draft_of_record(self._sight.compressed(found[number]))
                ):
                    return done
                if not self._noted(self._remembered.note_record, number):
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
            if stop() or not self._written(draft):
                break
            done += 1
        return done

    @staticmethod
    def _noted(note: Callable[[int], None], number: int) -> bool:
        try:
            note(number)
        except HexadError as error:
            log.warning("Summaries of experience will be written as memories once more: %s", error)
            return False
        return True

    def _written(self, draft: Draft) -> bool:
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
