"""Uses of tags on timesteps, events and ranges of ticks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.database.codec import dump, from_micros, to_micros
from hexad.database.connection import Database, Row, Rows
from hexad.errors import NotFound
from hexad.experience.tables.targets import (
    NEW_TARGET_COLUMNS,
    NEW_TARGET_MARKS,
    TARGET_COLUMNS,
    TOUCHING,
    target_of,
    target_values,
    touching,
)
from hexad.experience.values.tags import TICK_LIMIT, TagApplication, TagSource, TickRange

_TARGET: Final = ", ".join(f"a.{column}" for column in TARGET_COLUMNS.split(", "))
_COLUMNS: Final = f"a.id, t.id, a.confidence, a.source, a.created_at, a.note, {_TARGET}"
_INSERT: Final = (
    f"INSERT INTO tag_applications(id, tag_no, {NEW_TARGET_COLUMNS}, confidence, source, created_at, note)"
    f" VALUES(?,?,{NEW_TARGET_MARKS},?,?,?,?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a tag is in one session: ranges of ticks as they were stored, and events with the ticks that are known."""

    ranges: Sequence[TickRange]
    events: Sequence[tuple[str, TickRange | None]]


class TagApplications:
    """The applications of the tags of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, applications: Sequence[TagApplication]) -> None:
        """Store applications in the caller's transaction; raises `NotFound` for a tag that is not there."""
        with self._db.joined() as con:
            numbers: dict[str, int] = {}
            for tag_id in {application.tag_id for application in applications}:
                row = con.execute("SELECT no FROM tags WHERE id = ?", (tag_id,)).fetchone()
                if row is None:
                    raise NotFound(f"Tag {tag_id!r} is not there; nothing was tagged.")
                numbers[tag_id] = row[0]
            con.executemany(
                _INSERT,
                (
                    (
                        a.id,
                        numbers[a.tag_id],
                        *target_values(a.target),
                        a.confidence,
                        a.source,
                        to_micros(a.created_at),
                        a.note,
                    )
                    for a in applications
                ),
            )

    def has(self, application_id: str) -> bool:
        """Whether there is an application with this id."""
        return (
            self._db.query_one("SELECT 1 FROM tag_applications WHERE id = ?", (application_id,)) is not None
        )

    def last(self) -> int:
        """Return the number of the newest application; 0 where there is none."""
        row = self._db.query_one("SELECT max(no) FROM tag_applications")
        return (row[0] or 0) if row else 0

    def after(self, session_id: str, number: int) -> list[tuple[TagApplication, bool]]:
        """Return what was applied in a session after the application of this number, and whether it is a concept."""
        rows = self._db.query(
            f"SELECT {_COLUMNS}, t.tag_type = 'concept' FROM tag_applications a CROSS JOIN tags t ON t.no = a.tag_no"
            " WHERE a.no > ? AND +a.session_id = ? ORDER BY a.no",
            (number, session_id),
        )
        return [(_application(row[:-1]), bool(row[-1])) for row in rows]

    def any_event(self, session_id: str) -> bool:
        """Whether any event of a session is tagged."""
        row = self._db.query_one(
            "SELECT 1 FROM tag_applications WHERE session_id = ? AND event_id IS NOT NULL LIMIT 1",
            (session_id,),
        )
        return row is not None

    def change(self, application: TagApplication) -> None:
        """Give the application with this id another target and confidence, in the caller's transaction."""
        assignments = ", ".join(f"{column} = ?" for column in NEW_TARGET_COLUMNS.split(", "))
        with self._db.joined() as con:
            con.execute(
                f"UPDATE tag_applications SET {assignments}, confidence = ? WHERE id = ?",
                (*target_values(application.target), application.confidence, application.id),
            )

    def remove(self, application_id: str) -> None:
        """Take one application away; raises `NotFound`."""
        with self._db.joined() as con:
            con.execute("DELETE FROM tag_applications WHERE id = ?", (application_id,))
            if not con.changes:
                raise NotFound(f"Tag application {application_id!r} is not there; was it removed before?")

    def remove_of_tag(self, tag_id: str) -> int:
        """Take every application of a tag away; return how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM tag_applications WHERE tag_no = (SELECT no FROM tags WHERE id = ?)", (tag_id,)
            )
            return con.changes

    def get(self, application_id: str) -> TagApplication:
        """Return one application; raises `NotFound`."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM tag_applications a JOIN tags t ON t.no = a.tag_no WHERE a.id = ?",
            (application_id,),
        )
        if not rows:
            raise NotFound(f"Tag application {application_id!r} is not there; was it removed before?")
        return _application(rows[0])

    def of_tags(
        self,
        tag_ids: Sequence[str],
        *,
        session_id: str | None = None,
        by_rule: bool = True,
        limit: int = -1,
        offset: int = 0,
    ) -> list[TagApplication]:
        """Return the applications of these tags, by session, first tick and id; events of unknown ticks first.

        `by_rule=False` leaves out those that a rule made.
        """
        in_session = "" if session_id is None else " AND a.session_id = :session"
        in_session += "" if by_rule else " AND a.source <> 'auto'"
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM tags t JOIN tag_applications a ON a.tag_no = t.no"
            f" WHERE t.id IN (SELECT value FROM json_each(:tags)){in_session}"
            " ORDER BY a.session_id, a.range_start, a.range_end, a.id LIMIT :limit OFFSET :offset",
            {"tags": dump(list(tag_ids)), "session": session_id, "limit": limit, "offset": offset},
        )
        return [_application(row) for row in rows]

    def touching(
        self, session_id: str, ticks: TickRange, *, event_ids: Sequence[str] = ()
    ) -> list[TagApplication]:
        """Return what is applied to a tick of `ticks`: to it, to a range that shares it, or to one of `event_ids`.

        In the order in which they were made. An event that is named counts once, whatever ticks it was given.
        """
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM (SELECT a.no AS no FROM {TOUCHING.format(table='tag_applications')}"
            " UNION SELECT e.no FROM json_each(:events) j CROSS JOIN tag_applications e"
            " ON e.session_id = :session AND e.event_id = j.value) f"
            " CROSS JOIN tag_applications a ON a.no = f.no CROSS JOIN tags t ON t.no = a.tag_no ORDER BY a.no",
            {**touching(session_id, ticks), "events": dump(list(event_ids))},
        )
        return [_application(row) for row in rows]

    def placed(
        self,
        tag_ids: Sequence[str],
        *,
        session_id: str | None = None,
        ticks: TickRange | None = None,
        not_by_rule: Sequence[str] = (),
    ) -> dict[str, Placed]:
        """Return where any of these tags is, by session; with `ticks`, what may share a tick with them.

        Those in `not_by_rule` are where somebody put them, not where a rule did.
        """
        ranges: dict[str, list[TickRange]] = defaultdict(list)
        events: dict[str, list[tuple[str, TickRange | None]]] = defaultdict(list)
        first_tick, last_tick = ticks or (0, TICK_LIMIT)
        with self._db.read() as con:
            in_session = "" if session_id is None else " AND session_id = :session"
            of_people = (
                " AND (source <> 'auto' OR tag_no NOT IN"
                " (SELECT no FROM tags WHERE id IN (SELECT value FROM json_each(:people))))"
                if not_by_rule
                else ""
            )
            rows = con.execute(
                "SELECT session_id, range_start, range_end, event_id FROM tag_applications"
                " WHERE tag_no IN (SELECT no FROM tags WHERE id IN (SELECT value FROM json_each(:tags)))"
                f"{in_session}{of_people} AND (event_id IS NOT NULL OR (range_start <= :last AND range_end >= :first))",
                {
                    "tags": dump(list(tag_ids)),
                    "session": session_id,
                    "first": first_tick,
                    "last": last_tick,
                    "people": dump(list(not_by_rule)),
                },
            )
            for session, first, last, event in _typed(rows):
                if event is not None:
                    events[session].append((event, None if first is None or last is None else (first, last)))
                elif first is not None and last is not None:
                    ranges[session].append((first, last))
        return {
            session: Placed(ranges=ranges.get(session, ()), events=events.get(session, ()))
            for session in {**ranges, **events}
        }

    def count(self, tag_id: str | None = None) -> int:
        """Return how often a tag was applied, or how many applications there are."""
        sql = "SELECT count(*) FROM tag_applications"
        where = "" if tag_id is None else " WHERE tag_no = (SELECT no FROM tags WHERE id = ?)"
        row = self._db.query_one(sql + where, () if tag_id is None else (tag_id,))
        return row[0] if row else 0


def _typed(rows: Rows) -> Iterator[tuple[str, int | None, int | None, str | None]]:
    return iter(rows)


def _application(row: Row) -> TagApplication:
    return TagApplication(
        id=row[0],
        tag_id=row[1],
        confidence=row[2],
        source=TagSource(row[3]),
        created_at=from_micros(row[4]),
        note=row[5],
        target=target_of(row[6:]),
    )
