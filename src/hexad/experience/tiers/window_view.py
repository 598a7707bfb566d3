"""Windows as they are shown: where they stand now, and what stands for those that are COLD."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexad.core.tick_ranges import difference, intersection, union
from hexad.database.connection import Database
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import Compressed
from hexad.experience.tables.compactions import Compactions
from hexad.experience.tables.submissions import Submissions
from hexad.experience.tables.windows import WindowRow
from hexad.experience.tags.visibility import Sight
from hexad.experience.tiers.compression import compress_records
from hexad.experience.values.records import CompressionLevel, Fidelity, StepQuery
from hexad.experience.values.tiers import CompressedRecord, TickIds, TimeWindow


class WindowValues:
    """Makes `TimeWindow`s out of rows."""

    def __init__(self, db: Database, sight: Sight) -> None:
        self._db, self._sight = db, sight
        self._submissions, self._compactions = Submissions(db), Compactions(db)
        self._compressed, self._gone = Compressed(db), ColdRanges(db)

    def of(self, rows: Sequence[WindowRow]) -> list[TimeWindow]:
        """Return the windows of rows, in their order, with what may be seen of them."""
        with self._db.read():
            named = self._submissions.unresolved([row.no for row in rows])
            cold = self._cold(rows)
            remains = {
                session: _Remains(
                    self._compressed, self._gone, [row for row in cold.values() if row.session_no == session]
                )
                for session in {row.session_no for row in cold.values()}
            }
            windows = [
                _cold_window(_window(row, ()), remains[row.session_no].of(row))
                if row.no in cold
                else _window(row, named.get(row.no, ()))
                for row in rows
            ]
        return [self._sight.window(window) for window in windows]

    def _cold(self, rows: Sequence[WindowRow]) -> Mapping[int, WindowRow]:
        """Return those that are COLD, by number: compaction moves on without a word to windows that protect nothing."""
        through = {
            session: self._compactions.state(session).compacted_through
            for session in {row.session_no for row in rows if row.fidelity is Fidelity.HOT}
        }
        return {
            row.no: row
            for row in rows
            if row.fidelity is Fidelity.COLD
            or (row.fidelity is Fidelity.HOT and row.ticks[1] <= through[row.session_no])
        }


class _Remains:
    """What stands for the ticks of some windows of one session: replies, or what those were compressed to."""

    def __init__(self, compressed: Compressed, gone: ColdRanges, rows: Sequence[WindowRow]) -> None:
        self._compressed, self._rows = compressed, rows
        hull = (min(row.ticks[0] for row in rows), max(row.ticks[1] for row in rows))
        self._gone = gone.cold(rows[0].session_no, hull)
        self._places: list[tuple[int, int, str]] = []
        self._replies: dict[str, CompressedRecord] = {}
        for reply in self._records(StepQuery(session_id=rows[0].session_id, ticks=hull)):
            if isinstance(reply.source_record_ids, TickIds):
                self._replies[reply.id] = reply
                self._places += [(first, last, reply.id) for first, last in reply.source_record_ids.ranges]
        # A tick is in one record, so these are apart.
        self._places.sort()
        self._lasts = [last for _, last, _ in self._places]
        self._coarse: list[CompressedRecord] | None = None

    def _records(self, question: StepQuery) -> list[CompressedRecord]:
        numbers = [match.no for match in self._compressed.matches(question, self._rows[0].session_no)]
        return list(self._compressed.by_numbers(numbers).values())

    def of(self, row: WindowRow) -> list[CompressedRecord]:
        """Return the records that stand for a window, in order; none while another window protects all of it."""
        found: dict[str, CompressedRecord] = {}
        told: list[tuple[int, int]] = []
        for first, last, reply in self._places[bisect_left(self._lasts, row.ticks[0]) :]:
            if first > row.ticks[1]:
                break
            found[reply] = self._replies[reply]
            told.append((first, last))
        if found and not difference(intersection(self._gone, [row.ticks]), union(told)):
            return list(found.values())
        if self._coarse is None:
            question = StepQuery(session_id=row.session_id)
            self._coarse = sorted(
                (record for record in self._records(question) if record.level > CompressionLevel.REPLY),
                key=lambda record: (record.start_time, record.id),
            )
        coarse = (
            record
            for record in self._coarse
            if record.start_time <= row.end_time and record.end_time >= row.start_time
        )
        return [*coarse, *found.values()]


def _window(row: WindowRow, submission_ids: Sequence[str]) -> TimeWindow:
    return TimeWindow(
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


def _cold_window(window: TimeWindow, records: Sequence[CompressedRecord]) -> TimeWindow:
    level = max((record.level for record in records), default=CompressionLevel.REPLY)
    window = replace(window, fidelity=Fidelity.COLD, compression_level=level)
    if not records:
        return window
    gist = records[0]
    if len(records) > 1:
        gist = compress_records(records, max(level, CompressionLevel.SESSION))
    return replace(
        window,
        summary=gist.summary,
        top_k_activations=gist.top_k_activations,
        significant_tags=tuple(gist.significant_tags),
        source_record_ids=tuple(record.id for record in records),
    )
