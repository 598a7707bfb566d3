"""From timesteps in full detail to REPLY records, one for each event (document 2, sections 4.1 and 4.2)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.ids import IdSource
from hexad.core.retry import TryAgain, retry
from hexad.core.tick_ranges import Ranges, count, difference, intersection, union
from hexad.database.connection import Database
from hexad.errors import Conflict
from hexad.experience.events.grouping import StreamEvent, stream_events
from hexad.experience.query.reader import StreamReader
from hexad.experience.query.totals import tick_at
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.tables.cold_ranges import ColdRanges
from hexad.experience.tables.cold_records import ColdRecords, ColdTags
from hexad.experience.tables.sessions import Sessions
from hexad.experience.tables.tags import Tags
from hexad.experience.tables.windows import Windows
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.records import StepQuery
from hexad.experience.values.tags import TagType, Target
from hexad.experience.values.tiers import TOP_K, CompressedRecord, TickIds
from hexad.redaction.masking import Masking
from hexad.text.summary.summarize import summaries

WHOLE_CHARS: Final = 300
"""A text as short as this is its own summary."""
CHUNK_TIMESTEPS: Final = 200_000
"""So many timesteps are read at once; an event that is longer becomes several records."""
_ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What is to become of some timesteps: the records that stand for them, and their ticks."""

    session_id: str
    session_no: int
    ticks: Ranges
    records: Sequence[CompressedRecord]
    tagged_through: int = 0
    """The newest use of a tag that the records may carry."""

    @property
    def timesteps(self) -> int:
        """How many timesteps the records stand for."""
        return count(self.ticks)

    @property
    def token_count(self) -> int:
        """How many tokens those had."""
        return sum(record.token_count for record in self.records)


class ReplyMaker:
    """Turns timesteps that no window protects into REPLY records."""

    def __init__(
        self,
        db: Database,
        reader: StreamReader,
        *,
        masking: Masking,
        ids: IdSource,
        flush: Callable[[], None],
    ) -> None:
        self._db, self._reader, self._masking, self._ids, self._flush = db, reader, masking, ids, flush
        self._sessions, self._windows = Sessions(db), Windows(db)
        self._departed, self._compressed = ColdRanges(db), ColdRecords(db)
        self._applications, self._tags = TagApplications(db), Tags(db)
        self._cold_tags = ColdTags(db)

    def prepare(self, session_id: str, ranges: Iterable[tuple[int, int]]) -> Replies:
        """Return the records of the timesteps in `ranges` (ticks, both ends included) that are in the stream and in
        no protecting window. Nothing is written. Raises `NotFound` for a session that was never started.
        """  # fmt: skip
        self._flush()
        self._sessions.get(session_id)
        number = self._sessions.number(session_id)
        assert number is not None
        records: list[CompressedRecord] = []
        ticks: list[tuple[int, int]] = []
        tagged_through = self._applications.last()
        free = self._free(number, union(ranges))
        while free:
            end = self._end(session_id, free)
            some = intersection(free, [(free[0][0], end)])
            events = stream_events(
                self._reader,
                StepQuery(session_id=session_id, ticks=(some[0][0], some[-1][1]), tagged={session_id: some}),
            )
            free = difference(free, some)
            if free:
                # What may go on is read once more with what comes after it, unless that is all.
                border = max((event.ticks[-1][1], event.ticks[0][0]) for event in events)[1] if events else 0
                whole = [event for event in events if event.ticks[-1][1] < border]
                if whole:
                    since = min(event.ticks[0][0] for event in events if event.ticks[-1][1] >= border)
                    taken = union(tick for event in whole for tick in event.ticks)
                    free = difference(union([*free, *intersection(some, [(since, end)])]), taken)
                    events = whole
            if events:
                records += self._records(session_id, events)
                ticks += [tick for event in events for tick in event.ticks]
        return Replies(
            session_id=session_id,
            session_no=number,
            ticks=union(ticks),
            records=records,
            tagged_through=tagged_through,
        )

    def store(self, replies: Replies) -> bool:
        """Write the records and take their ticks out of the stream, in the caller's transaction.

        False, and nothing is written, when some of the ticks have left or were protected since `prepare`.
        """
        if not replies.ticks:
            return True
        number = replies.session_no
        with self._db.joined():
            hull = (replies.ticks[0][0], replies.ticks[-1][1])
            taken = union([*self._departed.ranges(number, hull), *self._protected_ticks(number, hull)])
            if intersection(replies.ticks, taken):
                return False
            for record in replies.records:
                self._compressed.add(record, sessions=[number])
            self._departed.add(number, replies.ticks)
            self._cold_tags.added_since(replies.session_id, replies.tagged_through)
        return True

    def release(self, session_id: str, ranges: Iterable[tuple[int, int]]) -> Replies:
        """Turn what is in `ranges` and unprotected into records, and return what was stored."""
        wanted_ranges = union(ranges)

        def changing() -> Conflict:
            return Conflict(
                f"The windows of session {session_id!r} change faster than it can be compressed; try again."
            )

        def attempt() -> Replies:
            replies = self.prepare(session_id, wanted_ranges)
            with self._db.transaction():
                if self.store(replies):
                    return replies
            raise TryAgain

        return retry(attempt, times=_ATTEMPTS, failure=changing)

    def _protected_ticks(self, session: int, ticks: tuple[int, int]) -> Ranges:
        protected_ranges = self._windows.protected(session, ticks)
        return union(span for ranges in protected_ranges.values() for span in ranges)

    def _free(self, session: int, ranges: Ranges) -> Ranges:
        if not ranges:
            return ()
        return difference(ranges, self._protected_ticks(session, (ranges[0][0], ranges[-1][1])))

    def _end(self, session_id: str, ranges: Ranges) -> int:
        """Return the tick up to which ranges are read at once."""
        last = ranges[-1][1]
        if count(ranges) <= CHUNK_TIMESTEPS:
            return last
        tick = tick_at(self._reader, session_id, ranges, CHUNK_TIMESTEPS - 1)
        return last if tick is None else tick

    def _records(self, session_id: str, events: Sequence[StreamEvent]) -> list[CompressedRecord]:
        texts = self._masking.events(events)
        tags = self._significant(session_id, events)
        return [
            self._record(session_id, event, text, tags[at])
            for at, (event, text) in enumerate(zip(events, texts, strict=True))
        ]

    def _record(
        self, session_id: str, event: StreamEvent, text: str, tags: Sequence[str]
    ) -> CompressedRecord:
        strongest = sorted(event.activations, key=lambda activation: (-activation[1], activation[0]))[:TOP_K]
        return CompressedRecord(
            id=self._ids.new(f"compressed-{CompressionLevel.REPLY.name}"),
            level=CompressionLevel.REPLY,
            start_time=event.start_time,
            end_time=event.end_time,
            start_tick=event.ticks[0][0],
            end_tick=event.ticks[-1][1],
            summary=text if len(text) <= WHOLE_CHARS else summaries(text).short,
            top_k_activations={concept: total for concept, total, _ in strongest},
            significant_tags=tags,
            source_record_ids=TickIds(session_id, event.ticks),
            token_count=event.tokens,
            record_count=event.timesteps,
            timesteps=event.timesteps,
            peaks={concept: peak for concept, _, peak in strongest},
            session_id=session_id,
            event_id=event.event_id,
            event_type=event.event_type,
            role=event.role,
        )

    def _significant(self, session_id: str, events: Sequence[StreamEvent]) -> list[list[str]]:
        """Return each event's tags: all that people made, then the concepts' that are most frequent, ten together."""
        named = [event.event_id for event in events if event.event_id is not None]
        hull = (min(event.ticks[0][0] for event in events), max(event.ticks[-1][1] for event in events))
        applications = self._applications.touching(session_id, hull, event_ids=named)
        known_tags = self._tags.by_ids({application.tag_id for application in applications})
        counts = [(Counter[str](), Counter[str]()) for _ in events]
        places = _Places(events)
        for application in applications:
            is_concept = known_tags[application.tag_id].tag_type is TagType.CONCEPT
            for at, ticks in places.of(application.target):
                counts[at][is_concept][application.tag_id] += ticks
        return [
            [*own, *(tag for tag, _ in concepts.most_common(max(TOP_K - len(own), 0)))]
            for own, concepts in counts
        ]


class _Places:
    """Which events a target reaches: a tick belongs to one event, so their ranges are apart."""

    def __init__(self, events: Sequence[StreamEvent]) -> None:
        self._ranges = sorted(
            (first, last, at) for at, event in enumerate(events) for first, last in event.ticks
        )
        self._firsts = [first for first, _, _ in self._ranges]
        self._named: dict[str, list[tuple[int, int]]] = {}
        for at, event in enumerate(events):
            if event.event_id is not None:
                self._named.setdefault(event.event_id, []).append((at, event.timesteps))

    def of(self, target: Target) -> Iterable[tuple[int, int]]:
        """Yield the events by their places, with how many of their ticks are reached."""
        if target.event_id is not None:
            yield from self._named.get(target.event_id, ())
            return
        start, end = target.range_start, target.range_end
        if start is None or end is None:
            return
        at = max(bisect_right(self._firsts, start) - 1, 0)
        for first, last, event in self._ranges[at : bisect_right(self._firsts, end)]:
            ticks = min(last, end) - max(first, start) + 1
            if ticks > 0:
                yield event, ticks
