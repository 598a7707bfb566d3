"""The tags that COLD records are significant for, kept in step with what is tagged after the detail has gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.core.tick_ranges import Ranges, difference, intersection, union
from hexad.database.codec import dump, parse
from hexad.database.connection import Database, Row
from hexad.experience.tables.tag_applications import TagApplications
from hexad.experience.values.records import CompressionLevel
from hexad.experience.values.tags import TagApplication, Target, TickRange
from hexad.experience.values.tiers import TOP_K

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
        for row in self._reached(application.target):
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
        rows = [row for row in self._reached(target) if tag in _tags(row)]
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
        if target.range_start is None or not self._left(target):
            return
        left = self._db.query(
            "SELECT c.first_tick, c.last_tick FROM sessions s CROSS JOIN stream_cold c ON c.session_no = s.no"
            " WHERE s.id = :session AND c.first_tick <= :last AND c.last_tick >= :first",
            {"session": target.session_id, "first": target.range_start, "last": target.range_end},
        )
        gone = intersection(union((first, last) for first, last in left), [_range(target)])
        if not difference(gone, union(tick for row in self._reached(target) for tick in _ticks(row))):
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

    def _reached(self, target: Target) -> list[Row]:
        if target.event_id is not None:
            return self._db.query(
                f"{_REACHED}r.event_id = :event", {"session": target.session_id, "event": target.event_id}
            )
        if not self._left(target):  # as most that is tagged: then no record need be looked at
            return []
        rows = self._db.query(
            f"{_REACHED}r.first_tick <= :last AND r.last_tick >= :first",
            {"session": target.session_id, "first": target.range_start, "last": target.range_end},
        )
        return [row for row in rows if intersection(_ticks(row), [_range(target)])]

    def _left(self, target: Target) -> bool:
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
