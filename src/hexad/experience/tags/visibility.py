"""What an agent gets to see of records: none of the concepts whose lens it may not see (document 2, section 5.2).

Recording leaves those out already; what was recorded before the settings were tightened is left out here. Upkeep reads
the stream itself and keeps what it finds, so that nothing is lost for a time in which more may be seen again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hexad.database.change_counters import ChangeReader
from hexad.database.connection import Database
from hexad.experience.summaries import Gist, plain_name, retold
from hexad.experience.tables.cold_records import ColdRecords
from hexad.experience.tables.concepts import Concepts
from hexad.experience.tables.tags import TAGS, Tags
from hexad.experience.values.lenses import LensRules
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.records import StepQuery, TimestepRecord
from hexad.experience.values.tiers import CompactionRecord, CompressedRecord, EventRecord, TimeWindow

_VERDICTS_REMEMBERED: Final = 200_000


class _Verdicts(dict[str, bool]):
    """Verdicts by concept; one that is not known yet is decided. Looking one up costs no call into Python."""

    def __init__(self, decide: Callable[[str], bool]) -> None:
        super().__init__()
        self._decide = decide

    def __missing__(self, concept: str) -> bool:
        return self._decide(concept)


class Lenses:
    """Says of a concept whether its lens may be seen. Safe to share between threads.

    `permits` is for what is asked millions of times: it knows the hierarchy as of the last `refresh`.
    """

    def __init__(self, db: Database, rules: LensRules) -> None:
        self._rules = rules
        self._concepts = Concepts(db)
        self._changes = ChangeReader(db)
        self._lock = threading.Lock()
        self._seen = -1
        self._packs: tuple[str, ...] = ()
        self._below: frozenset[str] = frozenset()
        self._verdicts = _Verdicts(self._verdict)
        self.permits: Callable[[str], bool] = self._verdicts.__getitem__

    def refresh(self) -> Callable[[str], bool]:
        """Look whether packs were loaded since, and return `permits`."""
        if self._rules.below:
            change = self._changes.current(TAGS)
            if change != self._seen:
                self._read(change)
        return self.permits

    def visible(self, activations: Mapping[str, float]) -> dict[str, float]:
        """Return those of the activations that may be seen, in their order."""
        permits = self.refresh()
        return {concept: score for concept, score in activations.items() if permits(concept)}

    def _read(self, change: int) -> None:
        packs = self._concepts.fingerprints()
        # Tags are made all the time, and nothing of the hierarchy changes with them.
        if self._seen == -1 or packs != self._packs:
            below = frozenset(self._concepts.with_descendants(self._rules.below))
            with self._lock:
                self._below = below
                self._verdicts.clear()
        self._packs, self._seen = packs, change

    def _verdict(self, concept: str) -> bool:
        rules = self._rules
        with self._lock:
            verdict = (
                concept in rules.concepts or concept in self._below or concept.startswith(rules.beginnings)
            )
            if len(self._verdicts) >= _VERDICTS_REMEMBERED:
                self._verdicts.clear()
            self._verdicts[concept] = verdict
        return verdict


class ConceptVisibility:
    """Takes hidden concepts out of what is handed out; without `lenses` everything may be seen."""

    def __init__(self, db: Database, lenses: Lenses | None) -> None:
        self._tags, self._compressed = Tags(db), ColdRecords(db)
        self._lenses = lenses

    def may_ask(self, question: StepQuery) -> bool:
        """Whether none of the concepts that a question names is hidden; else it is as if they had never occurred."""
        named = [*question.activations, *([] if question.strongest is None else [question.strongest])]
        return self.sees_all(named)

    def sees_all(self, concepts: Iterable[str]) -> bool:
        """Whether every one of these concepts may be seen."""
        if self._lenses is None:
            return True
        return all(map(self._lenses.refresh(), concepts))

    def hidden(self, tag_ids: Iterable[str]) -> frozenset[str]:
        """Return those of the tags that are concepts and may not be seen."""
        if self._lenses is None:
            return frozenset()
        permits = self._lenses.refresh()
        doubtful = [tag_id for tag_id in tag_ids if not permits(tag_id)]
        known_tags = self._tags.by_ids(doubtful) if doubtful else {}
        return frozenset(tag.id for tag in known_tags.values() if tag.concept_id is not None)

    def activations(self, activations: Mapping[str, float]) -> Mapping[str, float]:
        """Return the activations that may be seen."""
        return activations if self._lenses is None else self._lenses.visible(activations)

    def timesteps(self, records: list[TimestepRecord]) -> list[TimestepRecord]:
        """Return timesteps with what may be seen of their activations."""
        if self._lenses is None:
            return records
        return [
            replace(
                record,
                concept_activations=self.activations(record.concept_activations),
                content=self._content(record),
            )
            for record in records
        ]

    def holding(
        self, question: StepQuery, ask: Callable[[StepQuery], list[TimestepRecord]]
    ) -> list[TimestepRecord]:
        """Return what `ask` finds of a text, as it may be seen: not by a concept's name that may not."""
        if self._lenses is None or question.text is None:
            return self.timesteps(ask(question))
        coarse = sum(
            totals.records
            for level, totals in self._compressed.totals().items()
            if level > CompressionLevel.REPLY
        )
        end = question.offset + question.limit
        text = question.text.casefold()
        records = self.timesteps(ask(replace(question, limit=end + coarse, offset=0)))
        kept_records = [
            record
            for record in records
            if record.compression_level <= CompressionLevel.REPLY or text in record.content.casefold()
        ]
        return kept_records[question.offset : end]

    def _content(self, timestep_record: TimestepRecord) -> str:
        if timestep_record.compression_level <= CompressionLevel.REPLY:
            return timestep_record.content
        record = self._compressed.get(timestep_record.id)
        return timestep_record.content if record is None else self.summary_of(record)

    def summary_of(self, record: CompressedRecord) -> str:
        """Return a COLD record's summary without the names of concepts that were hidden since it was written."""
        if self._lenses is None or record.level <= CompressionLevel.REPLY:
            return record.summary
        concepts, tags = (
            self.activations(record.top_k_activations),
            self._visible_tags(record.significant_tags),
        )
        if len(concepts) == len(record.top_k_activations) and len(tags) == len(record.significant_tags):
            return record.summary
        gist = Gist(
            level=record.level,
            start_time=record.start_time,
            end_time=record.end_time,
            concepts=concepts,
            tags=tags,
            texts=(),
        )
        known_tags = self._tags.by_ids([*concepts, *tags])
        return retold(
            record.summary, gist, names=lambda id: known_tags[id].name if id in known_tags else plain_name(id)
        )

    def events(self, records: list[EventRecord]) -> list[EventRecord]:
        """Return events with what may be seen of their activations."""
        if self._lenses is None:
            return records
        return [
            replace(record, concept_activations=self.activations(record.concept_activations))
            for record in records
        ]

    def compressed(self, record: CompressedRecord) -> CompressedRecord:
        """Return a COLD record with what may be seen of its activations and tags."""
        if self._lenses is None:
            return record
        return replace(
            record,
            summary=self.summary_of(record),
            top_k_activations=self.activations(record.top_k_activations),
            peaks=self.activations(record.peaks),
            significant_tags=self._visible_tags(record.significant_tags),
        )

    def compaction(self, record: CompactionRecord) -> CompactionRecord:
        """Return what a compaction did with what may be seen of its concepts."""
        if self._lenses is None:
            return record
        return replace(
            record,
            top_k_activations=self.activations(record.top_k_activations),
            summary_concept_tags=tuple(filter(self._lenses.refresh(), record.summary_concept_tags)),
        )

    def window(self, window: TimeWindow) -> TimeWindow:
        """Return a window with what may be seen of its activations and tags."""
        if self._lenses is None:
            return window
        scores = window.top_k_activations
        return replace(
            window,
            top_k_activations=None if scores is None else self.activations(scores),
            significant_tags=self._visible_tags(window.significant_tags),
        )

    def _visible_tags(self, tag_ids: Sequence[str]) -> Sequence[str]:
        hidden = self.hidden(tag_ids)
        return tuple(tag_id for tag_id in tag_ids if tag_id not in hidden)
