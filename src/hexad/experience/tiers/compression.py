"""One batch of COLD records to the next coarser level, each coarser record in one transaction."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from hexad.core.arguments import parse_whole, quoted, value_list
from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.errors import InvalidInput
from hexad.experience.query.usage import ColdBytes, CompactionRow
from hexad.experience.summaries import (
    LOCAL,
    Gist,
    Names,
    Summarizer,
    SummaryOrder,
    narrate,
    plain_name,
    span_name,
)
from hexad.experience.tables.cold_ranges import erased_ticks
from hexad.experience.tables.cold_records import ColdRecords, StoredRecord
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import Tags
from hexad.experience.tags.visibility import ConceptVisibility
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.tiers import TOP_K, CompressedRecord
from hexad.text.dates import unit_span
from hexad.text.tokens import CHARACTERS_PER_TOKEN

Summarize = Callable[[Sequence[str]], str]
"""From the records' summaries to one summary of them all."""

_ID_DIGITS: Final = 12
_UNITS: Final[Mapping[CompressionLevel, str]] = {
    CompressionLevel.DAY: "day",
    CompressionLevel.WEEK: "week",
    CompressionLevel.MONTH: "month",
    CompressionLevel.QUARTER: "quarter",
    CompressionLevel.YEAR: "year",
}


def compress_records(
    records: Sequence[CompressedRecord],
    target_level: CompressionLevel | str,
    k: int = TOP_K,
    *,
    summarize: Summarize | None = None,
) -> CompressedRecord:
    """Return one record at a coarser level that stands for `records`, none of which may be coarser than it.

    Activations are added up and the `k` largest kept, of equals the first by concept id; tags are the `k` that most
    records have, of equals the one seen first. Tokens and timesteps are added up, ticks are lost, and the lineage is
    the ids of `records`. The same records give the same record, its id too. `summarize` makes one summary out of
    theirs; without it their most telling sentences are taken, for a day or more behind a line that says when it was
    and on what.

    Raises `InvalidInput` for no records, a level that they cannot become, or a `k` that is no whole number from 1.

    >>> from datetime import UTC, datetime
    >>> noon = datetime(2025, 7, 3, 12, tzinfo=UTC)
    >>> replies = [
    ...     CompressedRecord(
    ...         id=f"compressed-REPLY-{at}", level=CompressionLevel.REPLY, start_time=noon, end_time=noon,
    ...         summary=text, top_k_activations=scores, token_count=7, record_count=7, timesteps=7,
    ...     )
    ...     for at, (text, scores) in enumerate([("It rained.", {"a": 1.0, "b": 2.0}), ("It hailed.", {"a": 2.5})])
    ... ]
    >>> session = compress_records(replies, CompressionLevel.SESSION)
    >>> session.top_k_activations, session.token_count, session.record_count
    ({'a': 3.5, 'b': 2.0}, 14, 2)
    >>> session.source_record_ids
    ('compressed-REPLY-0', 'compressed-REPLY-1')
    """  # fmt: skip
    target = _level(target_level)
    parse_whole(k, "k", least=1)
    strange = [
        record
        for record in value_list(records, "records", of="records")
        if not isinstance(record, CompressedRecord)
    ]
    if strange:
        raise InvalidInput(
            f"records hold {quoted(strange[0])}, which is no CompressedRecord; give a list of those.",
            argument="records",
        )
    if not records:
        raise InvalidInput("There is no record to compress; give at least one.")
    coarser = [record for record in records if record.level > target]
    if coarser:
        raise InvalidInput(
            f"Record {coarser[0].id!r} is at {coarser[0].level.name}, coarser than {target.name}; give a level that "
            "none of the records is past."
        )
    gist = gist_of(records, target, k)
    texts = [record.summary for record in records]
    sources = tuple(record.id for record in records)
    sessions = {record.session_id for record in records}
    return CompressedRecord(
        id=f"compressed-{target.name}-{_digits(target, sources)}",
        level=target,
        start_time=gist.start_time,
        end_time=gist.end_time,
        start_tick=None,
        end_tick=None,
        summary=narrate(gist) if summarize is None else summarize(texts),
        top_k_activations=gist.concepts,
        significant_tags=tuple(gist.tags),
        source_record_ids=sources,
        token_count=sum(record.token_count for record in records),
        record_count=len(records),
        timesteps=sum(record.timesteps for record in records),
        peaks=_peaks(records, gist.concepts),
        session_id=sessions.pop() if target == CompressionLevel.SESSION and len(sessions) == 1 else None,
    )


def gist_of(records: Sequence[CompressedRecord], target: CompressionLevel, k: int) -> Gist:
    """Return what the summary of the compressed records is made of."""
    scores: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for record in records:
        for concept, score in record.top_k_activations.items():
            scores[concept] += score  # type: ignore[assignment]  # a `Counter` of floats, as document 2 has it
        tags.update(record.significant_tags)
    strongest = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    return Gist(
        level=target,
        start_time=min(record.start_time for record in records),
        end_time=max(record.end_time for record in records),
        concepts=dict(strongest),
        tags=[tag for tag, _ in tags.most_common(k)],  # of equals the one seen first
        texts=[record.summary for record in records],
    )


def bucket(level: CompressionLevel, start: datetime) -> tuple[datetime, datetime]:
    """Return the span in UTC of a day, an ISO week, a month, a quarter or a year that a record belongs to by its start.

    >>> from datetime import UTC
    >>> first, end = bucket(CompressionLevel.WEEK, datetime(2025, 1, 1, tzinfo=UTC))
    >>> f"{first:%Y-%m-%d} {end:%Y-%m-%d}"
    '2024-12-30 2025-01-06'
    """
    try:
        return unit_span(start, _UNITS[level])
    except (ValueError, OverflowError):  # the calendar ends before the span does
        return start.replace(
            month=12, day=1, hour=0, minute=0, second=0, microsecond=0
        ), datetime.max.replace(tzinfo=UTC)


def _peaks(records: Sequence[CompressedRecord], highest: Mapping[str, float]) -> dict[str, float]:
    peaks: dict[str, float] = {}
    for record in records:
        for concept, peak in record.peaks.items():
            if concept in highest:
                peaks[concept] = max(peak, peaks.get(concept, peak))
    return peaks


def _digits(level: CompressionLevel, sources: Sequence[str]) -> str:
    # Records are compressed once and then gone, so what they were tells their successor from every other.
    data = "\n".join([level.name, *sources]).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_ID_DIGITS]


def _level(value: CompressionLevel | str) -> CompressionLevel:
    try:
        level = CompressionLevel[value.upper()] if isinstance(value, str) else CompressionLevel(value)
    except (KeyError, ValueError) as error:
        words = ", ".join(compression_level.name for compression_level in CompressionLevel)
        raise InvalidInput(f"The level {quoted(value)} is none of {words}.") from error
    if level < CompressionLevel.SESSION:
        raise InvalidInput(f"Records cannot be compressed to {level.name}; give SESSION or coarser.")
    return level


OPERATION: Final = "compression"
_PURPOSE: Final = (
    "The texts below say what the agent did {span}. Yours takes their place for good: whatever you leave out is"
    " forgotten. Write as the agent, in the first person, and say first what it mainly worked on."
)
_SESSION: Final = "in one session"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """What a pass did; `records` 0 where others were faster."""

    source: CompressionLevel
    target: CompressionLevel
    batch: int
    records: int = 0
    into: int = 0
    bytes_freed: int = 0
    written_by: Mapping[str, int] = field(default_factory=dict)  # summaries: a generator's name, or `local`


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordBucket:
    """What a coarser record is of: a session, or a span of the calendar in microseconds."""

    level: CompressionLevel
    session: int = 0
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """What becomes one record: the bucket's `existing` one, `finer` ones, and compactions that go with them."""

    bucket: _RecordBucket
    existing: Sequence[StoredRecord]
    finer: Sequence[StoredRecord]
    compactions: Sequence[CompactionRow] = ()

    @property
    def stored(self) -> list[StoredRecord]:
        """All records, the coarser first."""
        return [*self.existing, *self.finer]


class CompressionPass:
    """Compresses the oldest records of a level; HOT, WARM and SUBMITTED are no records, and so never touched."""

    def __init__(self, db: Database, *, summarizer: Summarizer, visibility: ConceptVisibility) -> None:
        self._db, self._summarizer, self._visibility = db, summarizer, visibility
        self._compressed, self._cold, self._tags = ColdRecords(db), ColdBytes(db), Tags(db)
        self._concepts = Concepts(db)

    def run(
        self, source: CompressionLevel, *, batch: int, k: int, stop: Callable[[], bool] = lambda: False
    ) -> PassResult | None:
        """Compress at most `batch` of the oldest records of `source`, which is not YEAR; None where there is none.

        Summaries are made outside of the transactions. What another process compressed meanwhile is left to it.
        """
        target = CompressionLevel(source + 1)
        erased = erased_ticks(self._db)
        groups = self._groups(target, batch)
        if not groups:
            return None
        written_by: Counter[str] = Counter()
        records = into = freed = 0
        for group in groups:
            if stop():  # a model may take long for each summary
                break
            record, author = self._record(group, k)
            departed = self._store(group, record, erased)
            if departed is not None:
                records, into, freed = records + len(group.finer), into + 1, freed + departed
                written_by[author] += 1
        return PassResult(
            source=source,
            target=target,
            batch=batch,
            records=records,
            into=into,
            bytes_freed=freed,
            written_by=dict(written_by),
        )

    # What belongs together --------------------------------------------------------------------------------------

    def _groups(self, target: CompressionLevel, batch: int) -> list[_Group]:
        finer: dict[_RecordBucket, list[StoredRecord]] = {}
        for row in self._compressed.oldest(CompressionLevel(target - 1), limit=batch):
            finer.setdefault(_bucket_of(row, target), []).append(row)
        compactions = self._compactions(finer, batch) if target is CompressionLevel.DAY else {}
        return [
            _Group(
                bucket=place,
                existing=self._existing_records(place),
                finer=finer.get(place, ()),
                compactions=compactions.get(place, ()),
            )
            for place in dict.fromkeys([*finer, *compactions])
        ]

    def _existing_records(self, place: _RecordBucket) -> list[StoredRecord]:
        if place.level is CompressionLevel.SESSION:
            return self._compressed.of_session(place.session, place.level)
        return self._compressed.between(place.level, *place.span)

    def _compactions(
        self, days: Mapping[_RecordBucket, Sequence[StoredRecord]], batch: int
    ) -> dict[_RecordBucket, list[CompactionRow]]:
        """Return the compactions that go when their sessions' records do: those tell what the compactions told.

        One whose session has no such record (all that it summarised is pinned, say) goes by itself in the end.
        """
        place_of = {row.sessions[0]: place for place, some in days.items() for row in some}
        rows = self._cold.compactions_of(place_of) if place_of else self._cold.orphans(batch)
        found_rows: dict[_RecordBucket, list[CompactionRow]] = {}
        for row in rows:
            place = place_of.get(row.session) or _day(row.at)
            found_rows.setdefault(place, []).append(row)
        return found_rows

    # What becomes of it -----------------------------------------------------------------------------------------

    def _record(self, group: _Group, k: int) -> tuple[CompressedRecord, str]:
        """Return what the group becomes, and who wrote its summary."""
        target = group.bucket.level
        # A summary may name concepts that were hidden since: what is made of it may not.
        records = [
            replace(row.record, summary=self._visibility.summary_of(row.record)) for row in group.stored
        ]
        began = min((record.start_time for record in records), default=None)
        records += [
            _compaction_as_record(compaction, began or compaction.at) for compaction in group.compactions
        ]
        gist = gist_of(records, target, k)
        if target is CompressionLevel.SESSION:
            gist = replace(gist, texts=self._session_texts(group))
        summary, author = self._summary(gist)
        return compress_records(records, target, k, summarize=lambda _: summary), author

    def _session_texts(self, group: _Group) -> list[str]:
        """Return what a session's summary is made of: its older one, its compactions, and replies outside of those."""
        replies = [row.record for row in group.finer]
        ticks = [_ticks(record) for record in replies]
        hull = (min(first for first, _ in ticks), max(last for _, last in ticks))
        compactions = self._cold.within(group.bucket.session, hull)
        texts = [(compaction.ticks[0], compaction.summary) for compaction in compactions]
        texts += [
            (first, record.summary)
            for record, (first, last) in zip(replies, ticks, strict=True)
            if not any(
                compaction.ticks[0] <= first and last <= compaction.ticks[1] for compaction in compactions
            )
        ]
        in_order = (text for _, text in sorted(texts, key=lambda pair: pair[0]))
        return [*(self._visibility.summary_of(row.record) for row in group.existing), *in_order]

    def _summary(self, gist: Gist) -> tuple[str, str]:
        # A summary is text, of which nothing can be left out any more when it is shown.
        hidden = self._visibility.hidden(gist.tags)
        gist = replace(
            gist,
            concepts=self._visibility.activations(gist.concepts),
            tags=[tag for tag in gist.tags if tag not in hidden],
        )
        names = self._names(gist)
        span = span_name(gist.level, gist.start_time)
        tokens = gist.limit // CHARACTERS_PER_TOKEN
        order = SummaryOrder(
            most=tokens,
            aim=tokens // 2,
            concepts=[names(concept) for concept in gist.concepts],
            purpose=_PURPOSE.format(
                span=_SESSION if gist.level is CompressionLevel.SESSION else span[0].lower() + span[1:]
            ),
            operation=OPERATION,
        )
        written = self._summarizer.generated(gist.texts, order)
        if written is not None:
            return written.text, written.generated_by
        return narrate(gist, names=names, covered=self._related_concepts(gist)), LOCAL

    def _names(self, gist: Gist) -> Names:
        known_tags = self._tags.by_ids([*gist.concepts, *gist.tags])
        return lambda id: known_tags[id].name if id in known_tags else plain_name(id)

    def _related_concepts(self, gist: Gist) -> set[str]:
        """Return the concepts that a stronger one is above or below in the hierarchy."""
        above = {concept: set(self._concepts.ancestors(concept)) for concept in gist.concepts}
        covered: set[str] = set()
        stronger: set[str] = set()
        for concept, higher in above.items():
            if not higher.isdisjoint(stronger) or any(concept in above[other] for other in stronger):
                covered.add(concept)
            stronger.add(concept)
        return covered

    def _store(self, group: _Group, record: CompressedRecord, erased: int) -> int | None:
        """Put the record in the place of its sources; returns the bytes that this freed.

        None, and nothing is changed, when one of them is gone, its bucket has another record by now, or something was
        erased since there were `erased` ticks of it: the summary may tell of that.
        """
        numbers = [row.no for row in group.stored]
        folded = [compaction.no for compaction in group.compactions]
        sessions = {session for row in group.stored for session in row.sessions}
        with self._db.transaction():
            if erased_ticks(self._db) != erased:
                return None
            sizes = self._cold.sizes(numbers)
            compactions = self._cold.compaction_sizes(folded)
            there = {row.no for row in self._existing_records(group.bucket)}
            complete = len(sizes) == len(numbers) and len(compactions) == len(folded)
            if not complete or there != {row.no for row in group.existing}:
                return None
            self._cold.remove_compactions(folded)
            self._compressed.delete(numbers)
            added = self._compressed.add(
                record, sessions=sessions | {compaction.session for compaction in group.compactions}
            )
            gained = sum(sizes.values()) + sum(compactions.values())
            return gained - self._cold.sizes([added])[added]


def _bucket_of(row: StoredRecord, target: CompressionLevel) -> _RecordBucket:
    if target is CompressionLevel.SESSION:
        return _RecordBucket(level=target, session=row.sessions[0])
    first, end = bucket(target, row.record.start_time)
    return _RecordBucket(level=target, span=(to_micros(first), to_micros(end)))


def _day(at: datetime) -> _RecordBucket:
    first, end = bucket(CompressionLevel.DAY, at)
    return _RecordBucket(level=CompressionLevel.DAY, span=(to_micros(first), to_micros(end)))


def _ticks(reply: CompressedRecord) -> tuple[int, int]:
    first, last = reply.start_tick, reply.end_tick
    assert first is not None  # as every reply has both
    assert last is not None
    return first, last


def _compaction_as_record(compaction: CompactionRow, at: datetime) -> CompressedRecord:
    """Return a compaction as a record to compress: its summary and its id; what it counts, the replies count."""
    return CompressedRecord(
        id=compaction.id,
        level=CompressionLevel.SESSION,
        start_time=at,
        end_time=at,
        summary=compaction.summary,
        session_id=compaction.session_id,
    )
