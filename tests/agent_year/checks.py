"""What a store must still be right about, whatever it has forgotten: counts, evidence, limits, levels."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from agent_year.books import Books, Kept, checksum_of_record, digest
from hexad.core.event_types import EventType
from hexad.engine import Hexad
from hexad.experience.api import Xdb
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.pressure import CompressionReport, Stopped
from hexad.experience.values.records import TimestepRecord
from hexad.experience.values.tags import TagSource

PAGE: Final = 100_000
SETTLED_DAYS: Final = 9
"""After a week without a word a session leaves its context, at night."""
_FULL: Final = frozenset({Fidelity.HOT, Fidelity.WARM, Fidelity.SUBMITTED})


def everything(xdb: Xdb) -> Iterator[TimestepRecord]:
    """Yield all that a store answers: each timestep in full, or the record that stands for it."""
    found = 0
    while page := xdb.recall(session_id="*", limit=PAGE, offset=found):
        yield from page
        found += len(page)


def problems(hx: Hexad, books: Books, *, now: datetime) -> list[str]:
    """Return what is wrong in a store, held against what really happened; an empty list when nothing is."""
    records = list(everything(hx.xdb))
    found = [
        *accounting(records, books),
        *levels(hx.xdb, records, books),
        *evidence(hx.xdb, books, now=now),
        *vividness(records, books, now=now),
        *otherwise(hx.xdb, records, books),
        *compactions(hx.xdb, books),
        *folksonomy(hx.xdb, books),
        *hx.check(),
    ]
    if books.nights:
        found += pressure(books.nights[-1].pressure)
    return found


# Counts ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Of:
    """What is there of one session by itself."""

    timesteps: int = 0
    tokens: int = 0


def accounting(records: Sequence[TimestepRecord], books: Books) -> Iterator[str]:
    """Yield timesteps that are missing, there twice, or not what was recorded."""
    timesteps = sum(record.timesteps for record in records)
    tokens = sum(record.token_count for record in records)
    if (timesteps, tokens) != (books.timesteps, books.tokens):
        yield (
            f"{books.timesteps:,} timesteps with {books.tokens:,} tokens were recorded; {timesteps:,} with {tokens:,} "
            "are accounted for."
        )
    found: defaultdict[str, _Of] = defaultdict(_Of)
    seen: set[tuple[str, int]] = set()
    coarse = any(record.compression_level > CompressionLevel.SESSION for record in records)
    for record in records:
        if not record.session_id:
            continue
        found[record.session_id].timesteps += record.timesteps
        found[record.session_id].tokens += record.token_count
        if record.compression_level is CompressionLevel.TOKEN:
            if (record.session_id, record.tick) in seen:
                yield f"{record.id} is there twice."
            seen.add((record.session_id, record.tick))
            yield from _same(record, books)
    for session, book in books.sessions.items():
        there = found[session].timesteps, found[session].tokens
        whole = len(book.ticks), book.token_count
        if there != whole and (not coarse or there[0] > whole[0] or there[1] > whole[1]):
            yield f"Session {session} has {whole} timesteps and tokens; {there} are there."


def _same(record: TimestepRecord, books: Books) -> Iterator[str]:
    book = books.sessions.get(record.session_id)
    if book is None:
        yield f"{record.id} is of a session that was never recorded to."
        return
    at = bisect_left(book.ticks, record.tick)
    if at == len(book.ticks) or book.ticks[at] != record.tick:
        yield f"{record.id} was never recorded."
    elif book.checksums[at] != checksum_of_record(record):
        yield f"{record.id} is not what was recorded: {record.content!r}."


def levels(xdb: Xdb, records: Sequence[TimestepRecord], books: Books) -> Iterator[str]:
    """Yield levels and fidelities whose totals, as `usage` gives them, are not those of their records."""
    usage = xdb.usage()
    by_level = {level: (some.records, some.timesteps, some.tokens) for level, some in usage.by_level.items()}
    counted: defaultdict[CompressionLevel, list[int]] = defaultdict(lambda: [0, 0, 0])
    full: Counter[Fidelity] = Counter()
    for record in records:
        if record.fidelity in _FULL:
            full[record.fidelity] += 1
            continue
        for at, amount in enumerate((1, record.timesteps, record.token_count)):
            counted[record.compression_level][at] += amount
    for level, amounts in by_level.items():
        if amounts != tuple(counted[level]):
            yield f"{level.name}: usage says {amounts} records, timesteps and tokens; recall {counted[level]}."
    for fidelity in _FULL:
        if usage.by_fidelity[fidelity].timesteps != full[fidelity]:
            yield (
                f"{fidelity.name}: usage says {usage.by_fidelity[fidelity].timesteps:,} timesteps; recall "
                f"{full[fidelity]:,}."
            )
    total = sum(some.tokens for some in usage.by_fidelity.values())
    if total != books.tokens:
        yield f"usage accounts for {total:,} tokens of {books.tokens:,}."


def otherwise(xdb: Xdb, records: Sequence[TimestepRecord], books: Books) -> Iterator[str]:
    """Yield what other questions answer otherwise: whole events, and activity by month."""
    single = [record for record in records if record.compression_level <= CompressionLevel.REPLY]
    events = xdb.recall_events(session_id="*", limit=PAGE)
    counted = sum(event.timesteps for event in events), sum(event.token_count for event in events)
    real = sum(record.timesteps for record in single), sum(record.token_count for record in single)
    if counted != real:
        yield f"{real} timesteps and tokens are there one by one or by event; events have {counted}."
    texts: defaultdict[tuple[str, str | None], str] = defaultdict(str)
    for record in single:
        if record.event_type is EventType.OUTPUT:
            texts[record.session_id, record.event_id] += record.content
    for event in events:
        wanted = texts.get((event.session_id, event.event_id), event.content)
        if event.compression_level is CompressionLevel.TOKEN and event.content not in wanted:
            yield f"Event {event.id} says {event.content!r}; its tokens {wanted!r}."
    months = xdb.activity(by="month", session_id="*")
    told = sum(month.timesteps for month in months), sum(month.tokens for month in months)
    if told != (books.timesteps, books.tokens):
        yield f"{(books.timesteps, books.tokens)} timesteps and tokens were recorded; months have {told}."


def compactions(xdb: Xdb, books: Books) -> Iterator[str]:
    """Yield compactions that took more or less out of a context than they say, or one part of it twice."""
    for session, book in books.sessions.items():
        through = 0
        for compaction in xdb.compactions(session_id=session, limit=PAGE):
            places = book.between(compaction.range_start, compaction.range_end)
            said = compaction.timesteps_compacted, compaction.tokens_before
            real = len(book.ticks[places]), sum(book.tokens[places])
            if compaction.range_start <= through:
                yield f"Compactions of {session} share tick {compaction.range_start}."
            if compaction.timesteps_compacted != real[0]:
                yield f"Compaction {compaction.id} of {session} says {said} timesteps and tokens; there were {real}."
            if compaction.tokens_after >= compaction.tokens_before:
                yield (
                    f"Compaction {compaction.id} of {session} made "
                    f"{compaction.tokens_before} tokens {compaction.tokens_after}."
                )
            through = compaction.range_end


# What must stay -------------------------------------------------------------------------------------------------


def evidence(xdb: Xdb, books: Books, *, now: datetime) -> Iterator[str]:
    """Yield windows that are pinned, in grace or handed in, and have lost a letter of what was recorded."""
    for kept in books.kept.values():
        if kept.protected(now):
            yield from _intact(xdb, kept)
    for bud in books.buds:
        for submission in bud.submissions:
            yield from (f"Export of {submission}: {problem}" for problem in xdb.verify_export(submission))


def _intact(xdb: Xdb, kept: Kept) -> Iterator[str]:
    ticks = kept.first, kept.last
    found = xdb.recall(session_id=kept.session_id, tick_range=ticks, limit=PAGE)
    full = [record for record in found if record.compression_level is CompressionLevel.TOKEN]
    name = f"Window {kept.window_id}, ticks {ticks[0]} to {ticks[1]} of {kept.session_id} ({kept.reason})"
    if kept.digest != digest((record.tick, checksum_of_record(record)) for record in full):
        yield f"{name}: {len(full)} timesteps are there, and not as they were recorded."
    if len(full) != len(found):
        yield f"{name}: {len(found) - len(full)} records stand beside the timesteps."
    wanted = Fidelity.SUBMITTED if kept.submissions else Fidelity.WARM
    wrong = {record.fidelity for record in full} - {
        wanted,
        Fidelity.SUBMITTED,
    }  # another window may hold more
    if wrong or (kept.submissions and any(record.fidelity is not Fidelity.SUBMITTED for record in full)):
        yield f"{name} should be {wanted.name}, and is {sorted(fidelity.name for fidelity in wrong)}."


def folksonomy(xdb: Xdb, books: Books) -> Iterator[str]:
    """Yield tags of which a use was lost, and concepts that did not tag what they were active at."""
    for name, uses in books.tagged.items():
        found = len(xdb.tag_applications(name, limit=PAGE))
        if found != uses:
            yield f"Tag {name!r} was used {uses} times; {found} are there."
    for concept, timesteps in books.active.items():
        covered = sum(
            use.target.range_end - use.target.range_start + 1
            for use in xdb.tag_applications(concept, limit=PAGE)
            if use.source is TagSource.AUTO and use.target.range_start and use.target.range_end
        )
        if covered != timesteps:
            yield f"{concept} was active enough at {timesteps:,} timesteps; {covered:,} are tagged."


# What must go ---------------------------------------------------------------------------------------------------


def pressure(report: CompressionReport) -> Iterator[str]:
    """Yield why COLD records take more than they may, unless the report says so itself."""
    bound = report.limit_bytes * report.compression_threshold
    if report.bytes_after > bound and report.stopped is not Stopped.NOTHING_LEFT:
        yield (
            f"COLD records take {report.bytes_after:,} bytes of {bound:,.0f}, and compression stopped: "
            f"{report.stopped.value}."
        )


def vividness(records: Sequence[TimestepRecord], books: Books, *, now: datetime) -> Iterator[str]:
    """Yield what is told in more detail than what is newer, and full detail that nothing keeps."""
    settled = now - timedelta(days=SETTLED_DAYS)
    last = {session: book.last_at for session, book in books.sessions.items()}
    for record in records:
        at = last.get(record.session_id)
        if record.fidelity is Fidelity.HOT and at is not None and at < settled:
            yield f"{record.id} of {record.timestamp:%d %B} is HOT still."
            break
    cold = sorted(
        (
            record
            for record in records
            if record.fidelity is Fidelity.COLD and not _let_go(record, books, now=now)
        ),
        key=lambda record: record.timestamp,
    )
    coarsest, later = None, len(cold)
    for record in reversed(cold):
        # What a long session's context could not hold goes before the whole of an earlier, shorter one.
        while later and cold[later - 1].timestamp > record.timestamp + timedelta(days=SETTLED_DAYS):
            later -= 1
            if coarsest is None or cold[later].compression_level > coarsest.compression_level:
                coarsest = cold[later]
        if coarsest is not None and record.compression_level < coarsest.compression_level:
            yield (
                f"{record.timestamp:%d %B} is told by {record.compression_level.name}; {coarsest.timestamp:%d %B}, "
                f"which is later, by {coarsest.compression_level.name}."
            )


def _let_go(record: TimestepRecord, books: Books, *, now: datetime) -> bool:
    """Whether a record may be of a window that was let go, and is finer than its neighbours for a while."""
    spans = [books.sessions[kept.session_id] for kept in books.kept.values() if not kept.protected(now)]
    return any(
        span.first_at <= record.timestamp <= span.last_at
        for span in spans
        if span.first_at is not None and span.last_at is not None
    )


# Again ----------------------------------------------------------------------------------------------------------


def fingerprint(xdb: Xdb, books: Books) -> str:
    """Return a hash of all that a store answers but ids: the same seed gives the same."""
    found = hashlib.sha256()

    def take(*values: object) -> None:
        found.update(f"{values!r}\n".encode("utf-8", "surrogatepass"))

    for timestep_record in everything(xdb):
        take(
            timestep_record.session_id,
            timestep_record.tick,
            timestep_record.end_tick,
            timestep_record.timestamp,
            timestep_record.event_type.value,
            timestep_record.content,
            timestep_record.role,
        )
        take(
            sorted(timestep_record.concept_activations.items()),
            timestep_record.event_id,
            timestep_record.token_id,
            timestep_record.token_count,
            timestep_record.timesteps,
        )
        take(timestep_record.fidelity.value, timestep_record.compression_level.name)
    for record in xdb.compressed_records(session_id="*", limit=PAGE):
        names = sorted(
            tag.name for tag in map(xdb.tag_index.get_tag, record.significant_tags) if tag is not None
        )
        take(
            record.level.name,
            record.summary,
            list(record.top_k_activations.items()),
            names,
            record.record_count,
        )
    for compaction in xdb.compactions(session_id="*", limit=PAGE):
        take(compaction.session_id, compaction.range_start, compaction.range_end, compaction.trigger.value)
        take(compaction.tokens_before, compaction.tokens_after, compaction.summary)
    for window in xdb.windows():
        take(
            window.session_id, window.start_tick, window.end_tick, window.fidelity.value, window.pinned_reason
        )
        take(window.submission_ids, window.token_count)
    for name in sorted(books.tagged):
        for use in xdb.tag_applications(name, limit=PAGE):
            take(name, use.target.session_id, use.target.range_start, use.target.range_end, use.note)
    for bud in xdb.get_buds():
        take(bud.name, bud.bud_status)
    return found.hexdigest()
