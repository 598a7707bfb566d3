"""COLD records: what stands for experience whose detail is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from hexad.core.tick_ranges import Ranges, difference, intersection, union
from hexad.database.codec import dump, from_micros, load_object, parse, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import IntegrityError
from hexad.experience.tables.annotations import TagApplications
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.records import KIND_CODES, KINDS, StepQuery
from hexad.experience.values.tags import TagApplication, Target, TickRange
from hexad.experience.values.tiers import TOP_K, CompressedRecord, TickIds

_COLUMNS: Final = (
    "r.no, r.id, r.level, r.start_at, r.end_at, s.id, r.first_tick, r.last_tick, r.event_id, r.kind, r.role, r.summary,"
    " r.top_k_activations, r.significant_tags, r.sources, r.token_count, r.record_count, r.timesteps"
)
_FROM: Final = "compressed_records r LEFT JOIN sessions s ON s.no = r.session_no"
_ROW_BYTES: Final = 160
"""What a record takes besides its texts: numbers, keys of five indexes."""
_CONCEPT_BYTES: Final = 40
_COVERED_BYTES: Final = 24
"""What each session takes that a record of a day or more covers."""
_PARTS: Final = ("compressed_concepts", "compressed_tags", "compressed_record_sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record, its number, and the numbers of the sessions that it covers."""

    no: int
    record: CompressedRecord
    sessions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTotals:
    """What is there of one level."""

    records: int = 0
    timesteps: int = 0
    tokens: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class ColdMatch:
    """A record that answers a question, with what orders it; `session` 0 for one of a day or more."""

    no: int
    session: int
    tick: int
    at: int
    score: float


class ColdRecords:
    """The rows of `compressed_records` and what belongs to them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Writing ----------------------------------------------------------------------------------------------------

    def add(self, record: CompressedRecord, *, sessions: Iterable[int]) -> int:
        """Store a record in the caller's transaction and return its number.

        `sessions` are the numbers of those that it covers. Lineage given as `TickIds` is kept as ranges.
        """
        covered = sorted(set(sessions))
        sources = record.source_record_ids
        lineage = [list(span) for span in sources.ranges] if isinstance(sources, TickIds) else list(sources)
        texts = (
            record.summary,
            dump(dict(record.top_k_activations)),
            dump(list(record.significant_tags)),
            dump(cast("list[object]", lineage)),  # type: ignore[arg-type]
        )
        size = _ROW_BYTES + _CONCEPT_BYTES * len(record.peaks) + len(record.id)
        size += 0 if record.session_id is not None else _COVERED_BYTES * len(covered)
        size += sum(len(text.encode()) for text in texts) + len(record.summary.encode())  # once more as words
        with self._db.joined() as con:
            row = con.execute(
                "INSERT INTO compressed_records(id, level, start_at, end_at, session_no, first_tick, last_tick,"
                " event_id, kind, role, summary, top_k_activations, significant_tags, sources, token_count,"
                " record_count, timesteps, bytes) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING no",
                (
                    record.id,
                    int(record.level),
                    to_micros(record.start_time),
                    to_micros(record.end_time),
                    covered[0] if record.session_id is not None else None,
                    record.start_tick,
                    record.end_tick,
                    record.event_id,
                    None if record.event_type is None else KIND_CODES[record.event_type],
                    record.role,
                    *texts,
                    record.token_count,
                    record.record_count,
                    record.timesteps,
                    size,
                ),
            ).fetchone()
            assert row is not None
            no = int(row[0])
            con.executemany(
                "INSERT OR IGNORE INTO stream_concepts(id) VALUES(?)", [(peak,) for peak in record.peaks]
            )
            con.executemany(
                "INSERT INTO compressed_concepts SELECT ?, no, ? FROM stream_concepts WHERE id = ?",
                [(no, peak, concept) for concept, peak in record.peaks.items()],
            )
            if record.level > CompressionLevel.REPLY:
                con.executemany(
                    "INSERT OR IGNORE INTO compressed_tags VALUES(?, ?)",
                    [(tag, no) for tag in record.significant_tags],
                )
            if record.session_id is None:
                con.executemany(
                    "INSERT INTO compressed_record_sessions VALUES(?, ?)",
                    [(session, no) for session in covered],
                )
        return no

    def delete(self, numbers: Collection[int]) -> int:
        """Remove records in the caller's transaction; returns how many were there."""
        with self._db.joined() as con:
            rows = [(number,) for number in numbers]
            for table in _PARTS:
                con.executemany(f"DELETE FROM {table} WHERE record_no = ?", rows)
            departed = 0
            for row in rows:
                con.execute("DELETE FROM compressed_records WHERE no = ?", row)
                departed += con.changes
            return departed

    # Reading ----------------------------------------------------------------------------------------------------

    def get(self, record_id: str) -> CompressedRecord | None:
        """Return the record with this id, None when there is none: it may have been compressed further."""
        rows = self._db.query(f"SELECT {_COLUMNS} FROM {_FROM} WHERE r.id = ?", (record_id,))
        return self._records(rows)[0].record if rows else None

    def by_numbers(self, numbers: Collection[int]) -> dict[int, CompressedRecord]:
        """Return records by their numbers."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM json_each(?) j CROSS JOIN compressed_records r ON r.no = j.value"
            " LEFT JOIN sessions s ON s.no = r.session_no",
            (dump(sorted(numbers)),),
        )
        return {record.no: record.record for record in self._records(rows)}

    def oldest(self, level: CompressionLevel, *, limit: int) -> list[StoredRecord]:
        """Return records of a level, the oldest first."""
        return self._records_where("r.level = ? ORDER BY r.start_at, r.no LIMIT ?", (int(level), limit))

    def between(self, level: CompressionLevel, since: int, until: int) -> list[StoredRecord]:
        """Return records of a level that begin at microseconds from `since` to before `until`, the oldest first."""
        return self._records_where(
            "r.level = ? AND r.start_at >= ? AND r.start_at < ? ORDER BY r.start_at, r.no",
            (int(level), since, until),
        )

    def of_session(self, session: int, level: CompressionLevel) -> list[StoredRecord]:
        """Return the records of a session at a level, by tick and time."""
        return self._records_where(
            "r.session_no = ? AND r.level = ? ORDER BY r.first_tick, r.start_at, r.no", (session, int(level))
        )

    def find(
        self,
        session: int | None,
        *,
        level: CompressionLevel | None,
        times: tuple[datetime, datetime] | None,
        limit: int,
        offset: int,
    ) -> list[CompressedRecord]:
        """Return records of a session or of all, of a level or of all, of any time in `times`, the oldest first."""
        conditions, params = _conditions(StepQuery(times=times), session)
        if level is not None:
            conditions.append("r.level = :level")
            params["level"] = int(level)
        order = "ORDER BY r.start_at, r.no LIMIT :limit OFFSET :offset"
        params |= {"limit": limit, "offset": offset}
        return [row.record for row in self._records_where(f"{' AND '.join(conditions)} {order}", params)]

    def totals(self) -> dict[CompressionLevel, LevelTotals]:
        """Return what is there of each level; levels without a record are left out."""
        rows = self._db.query(
            "SELECT level, count(*), sum(timesteps), sum(token_count), sum(bytes) FROM compressed_records"
            " GROUP BY level ORDER BY level"
        )
        return {
            CompressionLevel(level): LevelTotals(
                records=records,
                timesteps=timesteps,
                tokens=tokens,
                bytes=size,
            )
            for level, records, timesteps, tokens, size in rows
        }

    def ticks_of_events(self, session: int, event_ids: Collection[str]) -> dict[str, Ranges]:
        """Return the ticks of events that REPLY records stand for; an event that has none is left out."""
        ranges: dict[str, list[tuple[int, int]]] = {}
        for event, sources in self._db.query(
            "SELECT event_id, sources FROM compressed_records WHERE session_no = ?"
            " AND event_id IN (SELECT value FROM json_each(?))",
            (session, dump(list(event_ids))),
        ):
            ranges.setdefault(event, []).extend(parse(sources))
        return {event: union(ranges) for event, ranges in ranges.items()}

    def covering(self, session: int, tick: int) -> CompressedRecord | None:
        """Return the REPLY record that stands for a tick, None when there is none."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM {_FROM} WHERE r.session_no = ? AND r.level = 1"
            " AND r.first_tick <= ? AND r.last_tick >= ?",
            (session, tick, tick),
        )
        for record in self._records(rows):
            sources = record.record.source_record_ids
            if isinstance(sources, TickIds) and intersection(sources.ranges, [(tick, tick)]):
                return record.record
        return None

    # Questions --------------------------------------------------------------------------------------------------

    def matches(self, question: StepQuery, session: int | None) -> list[ColdMatch]:
        """Return the records for which everything given holds; ticks, types and events ask replies only.

        A score holds where the highest that a concept reached does.
        """
        conditions, params = _conditions(question, session)
        for at, (concept, (low, high)) in enumerate(question.activations.items()):
            conditions.append(
                "EXISTS (SELECT 1 FROM compressed_concepts c WHERE c.record_no = r.no AND c.concept_no ="
                f" (SELECT no FROM stream_concepts WHERE id = :concept{at}) AND c.peak BETWEEN :low{at} AND :high{at})"
            )
            params |= {f"concept{at}": concept, f"low{at}": low, f"high{at}": high}
        score = "0.0"
        if question.strongest is not None:
            score = (
                "(SELECT peak FROM compressed_concepts WHERE record_no = r.no AND concept_no ="
                " (SELECT no FROM stream_concepts WHERE id = :strongest))"
            )
            params["strongest"] = question.strongest
        rows = self._db.query(
            f"SELECT r.no, r.session_no, r.first_tick, r.start_at, {score}, r.summary, r.sources, r.level, s.id,"
            f" r.significant_tags FROM {_FROM} WHERE {' AND '.join(conditions)} ORDER BY r.no",
            params,
        )
        return [
            ColdMatch(
                row[0],
                (row[1] or 0),
                (row[2] or 0),
                row[3],
                (row[4] or 0.0),
            )
            for row in rows
            if _holds(row, question)
        ]

    def _records_where(
        self, where: str, params: tuple[SQLValue, ...] | dict[str, SQLValue]
    ) -> list[StoredRecord]:
        with self._db.read():
            return self._records(self._db.query(f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where}", params))

    def _records(self, rows: Sequence[Row]) -> list[StoredRecord]:
        numbers = dump([row[0] for row in rows])
        peaks: dict[int, dict[str, float]] = {}
        for no, concept, peak in self._db.query(
            "SELECT c.record_no, k.id, c.peak FROM json_each(?) j"
            " CROSS JOIN compressed_concepts c ON c.record_no = j.value"
            " CROSS JOIN stream_concepts k ON k.no = c.concept_no ORDER BY c.record_no, c.peak DESC, k.id",
            (numbers,),
        ):
            peaks.setdefault(no, {})[concept] = peak
        covered: dict[int, list[int]] = {}
        for no, session in self._db.query(
            "SELECT r.no, coalesce(x.session_no, r.session_no) FROM json_each(?) j CROSS JOIN compressed_records r"
            " ON r.no = j.value LEFT JOIN compressed_record_sessions x ON x.record_no = r.no ORDER BY 1, 2",
            (numbers,),
        ):
            if session is not None:
                covered.setdefault(no, []).append(session)
        return [
            StoredRecord(
                no=row[0],
                record=_record(row, peaks.get(row[0], {})),
                sessions=tuple(covered.get(row[0], ())),
            )
            for row in rows
        ]


def _conditions(question: StepQuery, session: int | None) -> tuple[list[str], dict[str, SQLValue]]:
    conditions, params = ["true"], dict[str, SQLValue]()
    if session is not None:
        conditions.append(
            "(r.session_no = :session OR r.no IN"
            " (SELECT record_no FROM compressed_record_sessions WHERE session_no = :session))"
        )
        params["session"] = session
    if question.ticks is not None:
        conditions.append("r.first_tick <= :last AND r.last_tick >= :first")
        params |= {"first": question.ticks[0], "last": question.ticks[1]}
    if question.times is not None:
        conditions.append("r.end_at >= :since AND r.start_at < :until")
        params |= {"since": to_micros(question.times[0]), "until": to_micros(question.times[1])}
    if question.event_types is not None:
        conditions.append("r.kind IN (SELECT value FROM json_each(:kinds))")
        params["kinds"] = dump([KIND_CODES[event_type] for event_type in question.event_types])
    if question.event_id is not None:
        conditions.append("r.event_id = :event")
        params["event"] = question.event_id
    if question.events is not None:
        conditions.append("r.event_id IN (SELECT value FROM json_each(:events))")
        params["events"] = dump(list(question.events))
    if question.text is not None and question.text.isascii():
        # Only ASCII is folded here; what else there is in the summary does not matter to such a text.
        conditions.append("instr(lower(r.summary), lower(:text)) > 0")
        params["text"] = question.text
    if question.tagged is not None:
        parameters = [f"tags{at}" for at in range(len(question.tag_sets))]
        sets = [
            "r.no IN (SELECT record_no FROM compressed_tags WHERE tag_id IN"
            f" (SELECT value FROM json_each(:{parameter})))"
            for parameter in parameters
        ]
        for parameter, tags in zip(parameters, question.tag_sets, strict=True):
            params[parameter] = dump(sorted(tags))
        coarse = (" OR " if question.any_tag else " AND ").join(sets) or "false"
        conditions.append(f"(r.level = 1 OR ({coarse}))")
    return conditions, params


def _holds(row: Row, question: StepQuery) -> bool:
    """Whether what no statement asked holds too: exact ticks, and texts that are more than ASCII."""
    text = question.text
    if text is not None and not text.isascii() and text.casefold() not in row[5].casefold():
        return False
    if row[7] != CompressionLevel.REPLY or (question.tagged is None and question.ticks is None):
        return True
    ranges = union((first, last) for first, last in parse(row[6]))
    if question.ticks is not None:
        ranges = intersection(ranges, [question.ticks])
    if question.tagged is not None:
        # Its own tags too: an event's tag stays on it when nobody can say any more which ticks it had.
        own = set(parse(row[9]))
        carried = [not own.isdisjoint(tags) for tags in question.tag_sets]
        if carried and (any(carried) if question.any_tag else all(carried)):
            return bool(ranges)
        ranges = intersection(ranges, question.tagged.get(row[8], ()))
    return bool(ranges)


def _record(row: Row, peaks: dict[str, float]) -> CompressedRecord:
    level = CompressionLevel(row[2])
    session_id = row[5]
    sources = parse(row[14])
    if level is CompressionLevel.REPLY and session_id is None:
        raise IntegrityError(f"The COLD record {row[1]!r} names no session. Run `hexad check`.")
    lineage = (
        TickIds(str(session_id), tuple((first, last) for first, last in sources))
        if level is CompressionLevel.REPLY
        else tuple(sources)
    )
    scores = cast("dict[str, float]", load_object(row[12]))
    return CompressedRecord(
        id=row[1],
        level=level,
        start_time=from_micros(row[3]),
        end_time=from_micros(row[4]),
        start_tick=row[6],
        end_tick=row[7],
        summary=row[11],
        top_k_activations=dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))),
        significant_tags=tuple(parse(row[13])),
        source_record_ids=lineage,
        token_count=row[15],
        record_count=row[16],
        timesteps=row[17],
        peaks=peaks,
        session_id=session_id,
        event_id=row[8],
        event_type=None if row[9] is None else KINDS[row[9]],
        role=row[10],
    )


_REACHED: Final = (
    "SELECT r.no, r.event_id, r.sources, r.significant_tags FROM sessions s"
    f" CROSS JOIN compressed_records r ON r.session_no = s.no AND r.level = {int(CompressionLevel.REPLY)}"
    " WHERE s.id = :session AND "
)


class ColdTags:
    """Looks again which REPLY records carry a tag, where it was applied or taken away."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._applications = TagApplications(db)

    def added(self, application: TagApplication, *, always: bool) -> None:
        """Note a new application on the records that it reaches, in the caller's transaction.

        A record that has ten tags takes another one only if it is `always` kept.
        """
        for row in self._reached_rows(application.target):
            tags = _tags(row)
            if application.tag_id not in tags and (always or len(tags) < TOP_K):
                self._put(row, [*tags, application.tag_id])
        if always:
            self._add_to_coarse(application)

    def added_since(self, session_id: str, number: int) -> None:
        """Note what was applied in a session after the application of this number, in the caller's transaction."""
        for application, is_concept in self._applications.after(session_id, number):
            self.added(application, always=not is_concept)

    def removed(self, application: TagApplication) -> None:
        """Take a tag from the records that only the application that was removed put it on, in the caller's
        transaction.
        """  # fmt: skip
        tag, target = application.tag_id, application.target
        rows = [row for row in self._reached_rows(target) if tag in _tags(row)]
        if not rows:
            return
        others = [
            tag_application.target
            for tag_application in self._applications.of_tags([tag], session_id=target.session_id)
        ]
        events = {other.event_id for other in others if other.event_id is not None}
        ranges = union(_range(other) for other in others if other.event_id is None)
        for row in rows:
            if row[1] not in events and not intersection(_ticks(row), ranges):
                self._put(row, [other_tag for other_tag in _tags(row) if other_tag != tag])

    def _add_to_coarse(self, application: TagApplication) -> None:
        """Note a tag on the records of a session or more that its ticks went into.

        They have no ticks of their own any more, so a tag counts for all of such a record; and it stays on it, as the
        tags do that it was made with.
        """
        target = application.target
        if target.range_start is None or not self._has_departed(target):
            return
        left = self._db.query(
            "SELECT c.first_tick, c.last_tick FROM sessions s CROSS JOIN stream_cold c ON c.session_no = s.no"
            " WHERE s.id = :session AND c.first_tick <= :last AND c.last_tick >= :first",
            {"session": target.session_id, "first": target.range_start, "last": target.range_end},
        )
        departed = intersection(union((first, last) for first, last in left), [_range(target)])
        if not difference(
            departed, union(tick for row in self._reached_rows(target) for tick in _ticks(row))
        ):
            return  # replies stand for all of it
        rows = self._db.query(
            "SELECT r.no, NULL, NULL, r.significant_tags FROM sessions s JOIN compressed_records r"
            " ON r.session_no = s.no OR r.no IN"
            " (SELECT x.record_no FROM compressed_record_sessions x WHERE x.session_no = s.no)"
            f" WHERE s.id = ? AND r.level > {int(CompressionLevel.REPLY)}",
            (target.session_id,),
        )
        for row in rows:
            if application.tag_id not in _tags(row):
                self._put(row, [*_tags(row), application.tag_id])
                with self._db.joined() as con:
                    con.execute(
                        "INSERT OR IGNORE INTO compressed_tags VALUES(?, ?)", (application.tag_id, row[0])
                    )

    def _put(self, row: Row, tags: Sequence[str]) -> None:
        with self._db.joined() as con:
            con.execute(
                "UPDATE compressed_records SET significant_tags = ?1,"
                " bytes = bytes + octet_length(?1) - octet_length(significant_tags) WHERE no = ?2",
                (dump(list(tags)), row[0]),
            )

    def _reached_rows(self, target: Target) -> list[Row]:
        if target.event_id is not None:
            return self._db.query(
                f"{_REACHED}r.event_id = :event", {"session": target.session_id, "event": target.event_id}
            )
        if not self._has_departed(target):  # as most that is tagged: then no record need be looked at
            return []
        rows = self._db.query(
            f"{_REACHED}r.first_tick <= :last AND r.last_tick >= :first",
            {"session": target.session_id, "first": target.range_start, "last": target.range_end},
        )
        return [row for row in rows if intersection(_ticks(row), [_range(target)])]

    def _has_departed(self, target: Target) -> bool:
        row = self._db.query_one(
            "SELECT 1 FROM sessions s CROSS JOIN stream_cold c ON c.session_no = s.no"
            " AND c.first_tick <= :last AND c.last_tick >= :first WHERE s.id = :session LIMIT 1",
            {"session": target.session_id, "first": target.range_start, "last": target.range_end},
        )
        return row is not None


def _ticks(row: Row) -> Ranges:
    return tuple((first, last) for first, last in parse(row[2]))


def _tags(row: Row) -> list[str]:
    return list(parse(row[3]))


def _range(target: Target) -> TickRange:
    first, last = target.range_start, target.range_end
    assert first is not None  # only an event may have no ticks
    assert last is not None
    return first, last
