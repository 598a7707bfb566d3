"""What a store still knows of a quarter: asked as its agent would ask, held against what was really planted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from agent_year.books import Books
from agent_year.checks import PAGE
from agent_year.topics import MAIN_TOPICS, Topic, spoken
from hexad.experience.api import Xdb
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.tiers import CompressedRecord

STRONG: Final = 0.5
"""A topic's own score where it was what was spoken of; what only comes to mind has less."""
_WEEK: Final = timedelta(days=7)
_NARRATIVE = re.compile(r"(?:On|In) .{4,24} I worked mainly on (?P<topics>[^\n]*)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a store said of a quarter. `planted` are the main topics, the most first, by what was recorded.

    `strongest` are the topics whose concepts weigh most in the COLD records; `active` those that concepts find there,
    `named` those that text finds, `told` those that the coarse records say that the work was mainly on.
    """

    quarter: int
    planted: tuple[str, ...]
    worked_on: frozenset[str]  # all that was worked on at all, in the quarter or at its edges
    fidelities: Mapping[str, int]  # fidelity or level to records
    strongest: tuple[str, ...]
    active: tuple[str, ...]
    named: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def strongest_precision(self) -> float:
        """Which part of the strongest topics are the planted ones."""
        return _part(self.strongest, self.planted)

    @property
    def told_precision(self) -> float:
        """Which part of the topics that the records tell of are the planted ones."""
        return _part(self.told, self.planted)

    @property
    def active_precision(self) -> float:
        """Which part of the topics that concepts find were worked on."""
        return _part(self.active, self.worked_on)

    @property
    def recall(self) -> float:
        """Which part of the planted topics are found by concept, by text, and told of: the least of the three."""
        return min(_part(self.planted, some) for some in (self.active, self.named, self.told))


def _part(of: Sequence[str], those: Sequence[str] | frozenset[str]) -> float:
    return sum(item in those for item in of) / len(of) if of else 0.0


def span(year: int, quarter: int) -> tuple[datetime, datetime]:
    """Return when a quarter begins and ends."""
    begins = datetime(year, 3 * quarter - 2, 1, tzinfo=UTC)
    ends = datetime(year + (quarter == 4), 3 * quarter % 12 + 1, 1, tzinfo=UTC)
    return begins, ends


def ask(xdb: Xdb, books: Books, *, year: int, quarter: int) -> Answer:
    """Ask what was worked on in a quarter."""
    time_range = span(year, quarter)
    found = xdb.recall(session_id="*", time_range=time_range, limit=PAGE)
    fidelities = Counter(
        record.compression_level.name if record.fidelity is Fidelity.COLD else record.fidelity.value
        for record in found
    )
    return Answer(
        quarter=quarter,
        planted=tuple(topic.word for topic in books.main_topics(quarter, MAIN_TOPICS)),
        worked_on=frozenset(topic.word for topic in books.topics if _worked_on(books, topic, time_range)),
        fidelities=dict(fidelities),
        strongest=_strongest(xdb, books, time_range),
        active=tuple(
            topic.word
            for topic in books.topics
            if _cold(xdb, time_range, concepts={topic.concept: (STRONG, 1.0)})
        ),
        named=tuple(topic.word for topic in books.topics if _cold(xdb, time_range, text_search=topic.word)),
        told=_told(xdb, books, time_range),
    )


def _cold(
    xdb: Xdb,
    time_range: tuple[datetime, datetime],
    *,
    concepts: Mapping[str, tuple[float, float]] | None = None,
    text_search: str | None = None,
) -> bool:
    """Whether COLD records alone answer a question."""
    found = xdb.recall(
        session_id="*", time_range=time_range, concepts=concepts, text_search=text_search, limit=PAGE
    )
    return any(record.fidelity is Fidelity.COLD for record in found)


def _worked_on(books: Books, topic: Topic, time_range: tuple[datetime, datetime]) -> bool:
    """Whether a topic was worked on within a quarter, or in the weeks that it shares with its neighbours."""
    return any(
        topic.concept in planted
        for day, planted in books.days.items()
        if time_range[0].date() - _WEEK <= day <= time_range[1].date() + _WEEK
    )


def _strongest(xdb: Xdb, books: Books, time_range: tuple[datetime, datetime]) -> tuple[str, ...]:
    words = {topic.concept: topic.word for topic in books.topics}
    scores: Counter[str] = Counter()
    for record in xdb.compressed_records(time_range=time_range, limit=PAGE):
        share = _share_in(record, time_range)
        for concept, score in record.top_k_activations.items():
            if concept in words:
                scores[words[concept]] += score * share  # type: ignore[assignment]
    return tuple(word for word, _ in scores.most_common(MAIN_TOPICS))


def _told(xdb: Xdb, books: Books, time_range: tuple[datetime, datetime]) -> tuple[str, ...]:
    """Return the topics that records of a day or more begin with, by how much those records stand for."""
    known = {topic.word for topic in books.topics}
    weights: Counter[str] = Counter()
    for record in xdb.compressed_records(time_range=time_range, limit=PAGE):
        if record.level < CompressionLevel.DAY:
            continue
        for line in _NARRATIVE.finditer(record.summary):
            for name in re.split(r", | and ", line["topics"]):
                if spoken(name) in known:
                    weights[spoken(name)] += record.token_count * _share_in(record, time_range)  # type: ignore[assignment]
    return tuple(word for word, _ in weights.most_common(MAIN_TOPICS))


def _share_in(record: CompressedRecord, time_range: tuple[datetime, datetime]) -> float:
    """Return which part of a record's time is in a quarter: a week or a month may begin in the one before."""
    lasts = (record.end_time - record.start_time).total_seconds()
    within = min(record.end_time, time_range[1]) - max(record.start_time, time_range[0])
    return within.total_seconds() / lasts if lasts else 1.0
