"""Experience counted by time: the stream by DuckDB, and what left it by the COLD records that stand for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hexad.core.retry import retry
from hexad.database.codec import dump, from_micros, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import StorageFailure
from hexad.experience.query.reader import ATTEMPTS, StepSelection, StreamReader
from hexad.experience.tables.sessions import Sessions
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.records import ActivityBucket, ActivityUnit, ConceptActivity, StepQuery

_SECOND: Final = 1_000_000
_MONDAY: Final = 4 * 86_400 * _SECOND
"""1970-01-05, the first Monday, in microseconds since 1970."""
_LENGTHS: Final[Mapping[ActivityUnit, int]] = {
    ActivityUnit.MINUTE: 60 * _SECOND,
    ActivityUnit.HOUR: 3_600 * _SECOND,
    ActivityUnit.DAY: 86_400 * _SECOND,
    ActivityUnit.WEEK: 7 * 86_400 * _SECOND,
}
STRONGEST: Final = 10


@dataclass(slots=True)
class _ConceptTotals:
    """What a concept did in one bucket; `weight` is over how many timesteps `total` is to be spread."""

    count: int = 0
    weight: int = 0
    total: float = 0.0
    peak: float = float("-inf")


@dataclass(slots=True)
class _BucketTotals:
    timesteps: int = 0
    tokens: int = 0
    compressed: int = 0
    coarsest: int = 0
    concepts: dict[str, _ConceptTotals] = field(default_factory=dict)

    def concept(self, name: str) -> _ConceptTotals:
        return self.concepts.setdefault(name, _ConceptTotals())


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityQuestion:
    """What to count. Of `concepts` None the ten strongest over all, of those that are `permitted`."""

    unit: ActivityUnit
    session_id: str | None = None
    times: tuple[datetime, datetime] | None = None
    concepts: Sequence[str] | None = None
    permitted: Callable[[str], bool] | None = None
    limit: int

    def seen_by(self, permitted: Callable[[str], bool]) -> ActivityQuestion:
        """Return the question of whoever may see these concepts only: others are as if they had never occurred."""
        concepts = self.concepts
        seen_concepts = None if concepts is None else [concept for concept in concepts if permitted(concept)]
        return replace(self, concepts=seen_concepts, permitted=permitted)


def activity(db: Database, reader: StreamReader, question: ActivityQuestion) -> list[ActivityBucket]:
    """Return the latest buckets that hold anything, the oldest of them first.

    Raises `NotFound` for a session that was never started, `IntegrityError` for a damaged log or segment.
    """
    # A segment may be replaced by another before it can be read.
    return retry(lambda: _Counting(db, question).count(reader), times=ATTEMPTS, on=StorageFailure)


class _Counting:
    def __init__(self, db: Database, question: ActivityQuestion) -> None:
        self._db, self._question = db, question
        self._buckets: dict[int, _BucketTotals] = {}

    def count(self, reader: StreamReader) -> list[ActivityBucket]:
        question = self._question
        steps = StepQuery(session_id=question.session_id, times=question.times)
        with ExitStack() as stack:
            # What is in the stream and what left it as of one moment; the counting itself holds up nobody.
            with self._db.read():
                selection = stack.enter_context(reader.select(steps))
                self._count_cold()
                cold = self._cold_concepts()
            first = self._count_stream(selection)
            self._add_cold_concepts(cold)
            if selection.steps is not None and question.concepts != []:
                self._add_stream_concepts(selection, first)
        return self._result()

    # The stream ---------------------------------------------------------------------------------------------------

    def _count_stream(self, selection: StepSelection) -> int:
        """Count the stream; return where the first bucket that is wanted begins, and let go of those before it."""
        if selection.steps is not None:
            rows = selection.cursor.execute(
                "SELECT began, count(*), sum(tokens) FROM"
                f" (SELECT {self._floored('ts')} AS began, tokens {selection.steps}) GROUP BY began",
                list(selection.params),
            ).fetchall()
            for at, timesteps, tokens in rows:
                bucket = self._buckets.setdefault(self._floor(at), _BucketTotals())
                bucket.timesteps += timesteps
                bucket.tokens += int(tokens)
        buckets = sorted(self._buckets)[-self._question.limit :]
        self._buckets = {at: self._buckets[at] for at in buckets}
        return buckets[0] if buckets else 0

    def _add_stream_concepts(self, selection: StepSelection, first: int) -> None:
        concepts = self._question.concepts
        params: list[Any] = [*selection.params, first]
        which = ""
        if concepts is not None:
            which = "WHERE list_contains(?, concept)"
            params.append(selection.concepts.numbers(list(concepts)))
        selection.cursor.execute(
            "CREATE OR REPLACE TEMP TABLE active AS SELECT began, concept, count(*) AS count, sum(score) AS total,"
            " max(score) AS peak FROM (SELECT began, unnest(concepts) AS concept, unnest(scores) AS score FROM"
            f" (SELECT {self._floored('ts')} AS began, ts, concepts, scores {selection.steps}) WHERE ts >= ?) {which}"
            " GROUP BY began, concept",
            params,
        )
        chosen = self._strongest_concepts(selection) if concepts is None else dict.fromkeys(concepts, 0.0)
        numbers = selection.concepts.numbers(list(chosen))
        rows = selection.cursor.execute(
            "SELECT * FROM active WHERE list_contains(?, concept)", [numbers]
        ).fetchall()
        for at, number, count, total, peak in rows:
            concept = self._buckets[self._floor(at)].concept(selection.concepts.id(number))
            concept.count += count
            concept.weight += count
            concept.total += total
            concept.peak = max(concept.peak, peak)

    def _strongest_concepts(self, selection: StepSelection) -> dict[str, float]:
        """Return the strongest concepts of stream and COLD records together, by the sum of their scores."""
        totals: dict[str, float] = {}
        for bucket in self._buckets.values():
            for name, concept in bucket.concepts.items():
                totals[name] = totals.get(name, 0.0) + concept.total
        for number, total in selection.cursor.execute(
            "SELECT concept, sum(total) FROM active GROUP BY concept"
        ).fetchall():
            name = selection.concepts.id(number)
            totals[name] = totals.get(name, 0.0) + total
        return self._strongest(totals)

    def _strongest(self, totals: Mapping[str, float]) -> dict[str, float]:
        permitted = self._question.permitted
        seen_items = [item for item in totals.items() if permitted is None or permitted(item[0])]
        return dict(sorted(seen_items, key=lambda item: (-item[1], item[0]))[:STRONGEST])

    # COLD records -------------------------------------------------------------------------------------------------

    def _cold_where(self) -> tuple[str, dict[str, SQLValue]]:
        question = self._question
        conditions, params = ["true"], dict[str, SQLValue]()
        if question.session_id is not None:
            conditions.append(
                "(r.session_no = :session OR r.no IN"
                " (SELECT record_no FROM compressed_record_sessions WHERE session_no = :session))"
            )
            params["session"] = Sessions(self._db).number(question.session_id)
        if question.times is not None:
            conditions.append("r.start_at >= :since AND r.start_at < :until")
            params |= {"since": to_micros(question.times[0]), "until": to_micros(question.times[1])}
        return " AND ".join(conditions), params

    def _count_cold(self) -> None:
        where, params = self._cold_where()
        for at, level, timesteps, tokens in self._db.query(
            f"SELECT {self._floored('r.start_at')}, max(r.level), sum(r.timesteps), sum(r.token_count)"
            f" FROM compressed_records r WHERE {where} GROUP BY 1",
            params,
        ):
            bucket = self._buckets.setdefault(self._floor(at), _BucketTotals())
            bucket.timesteps += timesteps
            bucket.compressed += timesteps
            bucket.tokens += tokens
            bucket.coarsest = max(bucket.coarsest, level)

    def _cold_concepts(self) -> list[Row]:
        where, params = self._cold_where()
        if self._question.concepts is not None:
            where += " AND k.id IN (SELECT value FROM json_each(:concepts))"
            params["concepts"] = dump(list(self._question.concepts))
        return self._db.query(
            f"SELECT {self._floored('r.start_at')}, k.id, count(*), sum(r.timesteps), sum(j.value), max(c.peak)"
            " FROM compressed_records r CROSS JOIN json_each(r.top_k_activations) j"
            " CROSS JOIN stream_concepts k ON k.id = j.key"
            " CROSS JOIN compressed_concepts c ON c.record_no = r.no AND c.concept_no = k.no"
            f" WHERE {where} GROUP BY 1, 2",
            params,
        )

    def _add_cold_concepts(self, rows: Sequence[Row]) -> None:
        for at, name, count, timesteps, total, peak in rows:
            bucket = self._buckets.get(self._floor(at))
            if bucket is not None:
                concept = bucket.concept(name)
                concept.count += count
                concept.weight += timesteps
                concept.total += total
                concept.peak = max(concept.peak, peak)

    def _floored(self, column: str) -> str:
        """Return where the bucket begins, for SQLite and DuckDB alike; of a month its days, which `_floor` joins."""
        unit = ActivityUnit.DAY if self._question.unit is ActivityUnit.MONTH else self._question.unit
        length, offset = _LENGTHS[unit], _MONDAY if unit is ActivityUnit.WEEK else 0
        # The remainder of what lies before 1970 is negative.
        return f"{column} - ((({column} - {offset}) % {length} + {length}) % {length})"

    def _floor(self, at: int) -> int:
        unit = self._question.unit
        if unit is ActivityUnit.MONTH:
            time = from_micros(at)
            return to_micros(datetime(time.year, time.month, 1, tzinfo=UTC))
        offset = _MONDAY if unit is ActivityUnit.WEEK else 0
        return at - (at - offset) % _LENGTHS[unit]

    # Together -----------------------------------------------------------------------------------------------------

    def _result(self) -> list[ActivityBucket]:
        totals: dict[str, float] = {}
        for bucket in self._buckets.values():
            for name, concept in bucket.concepts.items():
                totals[name] = totals.get(name, 0.0) + concept.total
        concepts = self._question.concepts
        order = [*(self._strongest(totals) if concepts is None else concepts)]
        return [
            ActivityBucket(
                start=from_micros(at),
                end=self._end(at),
                timesteps=bucket.timesteps,
                tokens=bucket.tokens,
                compressed=bucket.compressed,
                coarsest=CompressionLevel(bucket.coarsest),
                concepts={
                    name: _concept_activity(bucket.concepts[name])
                    for name in order
                    if name in bucket.concepts
                },
            )
            for at, bucket in sorted(self._buckets.items())
        ]

    def _end(self, at: int) -> datetime:
        start = from_micros(at)
        try:
            if self._question.unit is not ActivityUnit.MONTH:
                return start + timedelta(microseconds=_LENGTHS[self._question.unit])
            return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        except (OverflowError, ValueError):  # the last that there is ends after the last moment
            return datetime.max.replace(tzinfo=UTC)


def _concept_activity(concept: _ConceptTotals) -> ConceptActivity:
    return ConceptActivity(
        count=concept.count, mean=_single(concept.total / concept.weight), peak=_single(concept.peak)
    )


def _single(score: float) -> float:
    """Return a score as the shortest number that single precision, in which scores are kept, keeps apart."""
    import numpy as np

    return float(str(np.float32(score)))
