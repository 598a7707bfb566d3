"""Windows as they are shown: where they stand now, and what stands for those that are COLD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hexad.experience.compression import compress_records
from hexad.model.experience import CompressionLevel, Fidelity, StepQuery
from hexad.model.tiers import CompressedRecord, TimeWindow
from hexad.storage.compactions import Compactions
from hexad.storage.compressed import Compressed
from hexad.storage.connection import Database
from hexad.storage.submissions import Submissions
from hexad.storage.windows import WindowRow


class WindowValues:
    """Makes `TimeWindow`s out of rows."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._submissions, self._compactions = Submissions(db), Compactions(db)
        self._compressed = Compressed(db)

    def of(self, rows: Sequence[WindowRow]) -> list[TimeWindow]:
        """Return the windows of rows, in their order."""
        with self._db.read():
            named = self._submissions.unresolved([row.no for row in rows])
            return [self._window(row, named.get(row.no, ())) for row in rows]

    def _window(self, row: WindowRow, submission_ids: Sequence[str]) -> TimeWindow:
        window = TimeWindow(
            id=row.id,
            session_id=row.session_id,
            start_tick=row.ticks[0],
            end_tick=row.ticks[1],
            start_time=row.start_time,
            end_time=row.end_time,
            fidelity=row.fidelity,
            pinned=row.pinned,
            pinned_reason=row.pinned_reason,
            submission_ids=tuple(submission_ids),
            token_count=row.token_count,
            grace_until=row.grace_until,
        )
        cold = row.fidelity is Fidelity.COLD or (
            # Compaction moves on without a word to windows that protect nothing.
            row.fidelity is Fidelity.HOT
            and row.ticks[1] <= self._compactions.state(row.session_no).compacted_through
        )
        return self._cold(window, row) if cold else window

    def _cold(self, window: TimeWindow, row: WindowRow) -> TimeWindow:
        """Return a window with what stands for it: its replies, or what they were compressed to."""
        records = self._records(row)
        level = max((one.level for one in records), default=CompressionLevel.REPLY)
        window = replace(window, fidelity=Fidelity.COLD, compression_level=level)
        if not records:
            return window  # another window protects all of it still
        gist = records[0]
        if len(records) > 1:
            gist = compress_records(records, max(level, CompressionLevel.SESSION))
        return replace(
            window,
            summary=gist.summary,
            top_k_activations=gist.top_k_activations,
            significant_tags=tuple(gist.significant_tags),
            source_record_ids=tuple(one.id for one in records),
        )

    def _records(self, row: WindowRow) -> list[CompressedRecord]:
        fine = self._by_question(row, StepQuery(session_id=row.session_id, ticks=row.ticks))
        if fine:
            return fine
        whole = self._by_question(row, StepQuery(session_id=row.session_id))
        return [
            one
            for one in whole
            if one.level > CompressionLevel.REPLY
            and one.start_time <= row.end_time
            and one.end_time >= row.start_time
        ]

    def _by_question(self, row: WindowRow, question: StepQuery) -> list[CompressedRecord]:
        numbers = [one.no for one in self._compressed.matches(question, row.session_no)]
        found = self._compressed.by_numbers(numbers)
        return sorted(
            found.values(), key=lambda one: (one.level, one.start_tick or 0, one.start_time, one.id)
        )
