"""Summaries of past experience as memories, so that recall finds the past at whatever fidelity is left of it.

They go the one way in, as everything else does: redacted and judged. It happens outside of the transaction that they
tell of, with the summary's own id as source id: done twice, it is done once. What could not be written waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hexad.errors import AccessDenied, HexadError, InvalidInput, LimitExceeded
from hexad.experience.narrative import span_name
from hexad.model.contract import Draft, MemoryWriter
from hexad.model.experience import CompressionLevel
from hexad.model.memory import JSONValue, Status, Trust
from hexad.model.tiers import CompactionRecord, CompressedRecord
from hexad.observe import log
from hexad.storage.compactions import Compactions
from hexad.storage.connection import Database
from hexad.storage.memory_names import MemoryNames
from hexad.storage.meta import Meta
from hexad.storage.sources import Sources
from hexad.text.normalize import slug

SPACE: Final = "experience"
KIND: Final = "log"
_NEXT: Final = "compactions_remembered"
"""Up to which compaction all are memories."""
_BATCH: Final = 50


class Remembrance:
    """Writes what compaction and compression leave as memories. `writer` is asked for when there is one to write."""

    def __init__(self, db: Database, writer: Callable[[], MemoryWriter] | None) -> None:
        self._db, self._writer = db, writer
        self._meta, self._compactions = Meta(db), Compactions(db)

    def compactions(self, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Write the compactions that are no memories yet, by whomever they were made; returns how many.

        Nothing is raised for a writer that fails: what it did not take is tried again with the next one.
        """
        done = 0
        while self._writer is not None and not stop():
            found = self._compactions.after(self._remembered(), limit=_BATCH)
            if not found:
                break
            for number, record in found:
                if not self._written(self._draft_of_compaction(record)):
                    return done
                self._advance(number)
                done += 1
        return done

    def records(self, new: Sequence[CompressedRecord], *, gone: Sequence[CompressedRecord] = ()) -> int:
        """Write records of a session or more, and archive the memories of those that were compressed further.

        Replies are none: `recall` of the stream finds them. Returns how many were written.
        """
        done = sum(self._written(_draft_of_record(one)) for one in new if one.level > CompressionLevel.REPLY)
        for one in gone:
            if self._is_memory(one.id):
                self._written(replace(_draft_of_record(one), status=Status.ARCHIVED))
        return done

    def archive(self, compactions: Sequence[CompactionRecord]) -> None:
        """Archive the memories of compactions that were folded into something coarser."""
        for one in compactions:
            if self._is_memory(one.id):
                self._written(replace(self._draft_of_compaction(one), status=Status.ARCHIVED))

    def _remembered(self) -> int:
        return int(self._meta.get(_NEXT) or 0)

    def _advance(self, number: int) -> None:
        with self._db.transaction():
            if number > self._remembered():  # another program may have come further
                self._meta.put(_NEXT, str(number))

    def _is_memory(self, source_id: str) -> bool:
        source = Sources(self._db).find(f"caller:{SPACE}", space=SPACE)
        return source is not None and MemoryNames(self._db).identify_by_source(source, source_id) is not None

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
            metadata={
                "session": record.session_id,
                "compaction": record.id,
                "range_start": record.range_start,
                "range_end": record.range_end,
                "timesteps": record.timesteps_compacted,
                "concepts": list(record.summary_concept_tags),
            },
        )


def _draft_of_record(record: CompressedRecord) -> Draft:
    level = record.level.name.lower()
    named = record.session_id or span_name(record.level, record.start_time)
    return _draft(
        record.id,
        record.summary,
        path=f"{SPACE}/{slug(record.session_id or level) or level}/{level}s",
        title=f"Session {named}" if record.session_id else named,
        since=record.start_time,
        made=None,
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


def _draft(
    source_id: str,
    text: str,
    *,
    path: str,
    title: str,
    since: datetime,
    made: datetime | None,
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
        trust=Trust.AGENT,
        valid_from=since,
        now=made,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
