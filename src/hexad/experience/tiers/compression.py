"""Many records become one at a coarser level (document 2, section 4.2). Pure: nothing is read or written."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from hexad.core.arguments import parse_whole, quoted
from hexad.errors import InvalidInput
from hexad.experience.summaries.cold_summary import Gist, narrate
from hexad.experience.values.records import CompressionLevel
from hexad.experience.values.tiers import TOP_K, CompressedRecord
from hexad.text.dates.calendar_spans import unit_span

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


def _peaks(records: Sequence[CompressedRecord], kept: Mapping[str, float]) -> dict[str, float]:
    peaks: dict[str, float] = {}
    for record in records:
        for concept, peak in record.peaks.items():
            if concept in kept:
                peaks[concept] = max(peak, peaks.get(concept, peak))
    return peaks


def _digits(level: CompressionLevel, sources: Sequence[str]) -> str:
    # Records are compressed once and then gone, so what they were tells their successor from every other.
    told = "\n".join([level.name, *sources]).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()[:_ID_DIGITS]


def _level(given: CompressionLevel | str) -> CompressionLevel:
    try:
        level = CompressionLevel[given.upper()] if isinstance(given, str) else CompressionLevel(given)
    except (KeyError, ValueError) as error:
        words = ", ".join(compression_level.name for compression_level in CompressionLevel)
        raise InvalidInput(f"The level {quoted(given)} is none of {words}.") from error
    if level < CompressionLevel.SESSION:
        raise InvalidInput(f"Records cannot be compressed to {level.name}; give SESSION or coarser.")
    return level
