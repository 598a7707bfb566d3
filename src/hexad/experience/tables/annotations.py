"""Uses of tags on timesteps, events and ranges of ticks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.database.codec import dump, from_micros, optional_time, to_micros
from hexad.database.connection import Database, Row, Rows, SQLValue
from hexad.errors import NotFound
from hexad.experience.values.tags import (
    TICK_LIMIT,
    Comment,
    TagApplication,
    TagSource,
    Target,
    TargetType,
    TickRange,
)

TARGET_COLUMNS: Final = "session_id, target_type, event_id, range_start, range_end"
NEW_TARGET_COLUMNS: Final = f"{TARGET_COLUMNS}, span"
NEW_TARGET_MARKS: Final = "?,?,?,?,?,?"

_SPANS: Final = "[" + ",".join(map(str, range(63))) + "]"

# A range of span s is at most 2^s - 1 ticks longer than one tick, so it begins that close before what it reaches.
TOUCHING: Final = (
    "json_each(:spans) s CROSS JOIN {table} a ON a.span = s.value AND a.session_id = :session"
    " AND a.range_start BETWEEN :first - ((1 << s.value) - 1) AND :last AND a.range_end >= :first"
)


def target_values(target: Target) -> tuple[SQLValue, ...]:
    """Return the values of `NEW_TARGET_COLUMNS`."""
    first, last = target.range_start, target.range_end
    span = None if first is None or last is None else (last - first).bit_length()
    return (target.session_id, target.target_type.value, target.event_id, first, last, span)


def target_of(row: Row) -> Target:
    """Return what the values of `TARGET_COLUMNS` say."""
    return Target(
        session_id=row[0],
        target_type=TargetType(row[1]),
        event_id=row[2],
        range_start=row[3],
        range_end=row[4],
    )


def touching(session_id: str, ticks: TickRange) -> dict[str, SQLValue]:
    """Return the parameters of `TOUCHING` for what shares a tick with `ticks`."""
    return {"spans": _SPANS, "session": session_id, "first": ticks[0], "last": ticks[1]}


_TARGET: Final = ", ".join(f"a.{column}" for column in TARGET_COLUMNS.split(", "))
_COLUMNS: Final = f"a.id, t.id, a.confidence, a.source, a.created_at, a.note, {_TARGET}"
_INSERT: Final = (
    f"INSERT INTO tag_applications(id, tag_no, {NEW_TARGET_COLUMNS}, confidence, source, created_at, note)"
    f" VALUES(?,?,{NEW_TARGET_MARKS},?,?,?,?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPlacement:
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
    ) -> dict[str, TagPlacement]:
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
            for session, first, last, event in _tag_rows(rows):
                if event is not None:
                    events[session].append((event, None if first is None or last is None else (first, last)))
                elif first is not None and last is not None:
                    ranges[session].append((first, last))
        return {
            session: TagPlacement(ranges=ranges.get(session, ()), events=events.get(session, ()))
            for session in {**ranges, **events}
        }

    def count(self, tag_id: str | None = None) -> int:
        """Return how often a tag was applied, or how many applications there are."""
        sql = "SELECT count(*) FROM tag_applications"
        where = "" if tag_id is None else " WHERE tag_no = (SELECT no FROM tags WHERE id = ?)"
        row = self._db.query_one(sql + where, () if tag_id is None else (tag_id,))
        return row[0] if row else 0


def _tag_rows(rows: Rows) -> Iterator[tuple[str, int | None, int | None, str | None]]:
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


_COMMENT_COLUMNS: Final = f"id, content, created_at, updated_at, {TARGET_COLUMNS}"


class Comments:
    """The comments of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def has(self, comment_id: str) -> bool:
        """Whether there is a comment with this id."""
        return self._db.query_one("SELECT 1 FROM comments WHERE id = ?", (comment_id,)) is not None

    def add(self, comment: Comment) -> None:
        """Store a comment in the caller's transaction."""
        with self._db.joined() as con:
            con.execute(
                f"INSERT INTO comments(id, {NEW_TARGET_COLUMNS}, content, created_at)"
                f" VALUES(?,{NEW_TARGET_MARKS},?,?)",
                (comment.id, *target_values(comment.target), comment.content, to_micros(comment.created_at)),
            )

    def get(self, comment_id: str) -> Comment:
        """Return one comment; raises `NotFound`."""
        row = self._db.query_one(f"SELECT {_COMMENT_COLUMNS} FROM comments WHERE id = ?", (comment_id,))
        if row is None:
            raise NotFound(
                f"Comment {comment_id!r} is not there;",
                remedy="`{get_comments_for_range}` lists what there is.",
            )
        return _comment(row)

    def edit(self, comment_id: str, content: str, *, at: datetime) -> Comment:
        """Change what a comment says, in the caller's transaction; the older text is kept. Raises `NotFound`."""
        with self._db.joined() as con:
            before = self.get(comment_id)
            if before.content == content:
                return before
            con.execute(
                "INSERT INTO comment_versions(comment_no, replaced_at, version, content)"
                " SELECT no, ?, 1 + (SELECT count(*) FROM comment_versions v WHERE v.comment_no = no), content"
                " FROM comments WHERE id = ?",
                (to_micros(at), comment_id),
            )
            con.execute(
                "UPDATE comments SET content = ?, updated_at = ? WHERE id = ?",
                (content, to_micros(at), comment_id),
            )
            return self.get(comment_id)

    def history(self, comment_id: str) -> list[tuple[datetime, str]]:
        """Return `(replaced at, text)` of what a comment said before, oldest first."""
        rows = self._db.query(
            "SELECT v.replaced_at, v.content FROM comments c JOIN comment_versions v ON v.comment_no = c.no"
            " WHERE c.id = ? ORDER BY v.version",
            (comment_id,),
        )
        return [(from_micros(at), text) for at, text in rows]

    def touching(self, session_id: str, ticks: TickRange, *, event_ids: Sequence[str] = ()) -> list[Comment]:
        """Return the comments on ticks of `ticks`, on ranges that share one, and on `event_ids`, the oldest first."""
        columns = ", ".join(f"c.{name}" for name in _COMMENT_COLUMNS.split(", "))
        rows = self._db.query(
            f"SELECT {columns} FROM (SELECT a.no AS no FROM {TOUCHING.format(table='comments')}"
            " UNION SELECT e.no FROM json_each(:events) j CROSS JOIN comments e"
            " ON e.session_id = :session AND e.event_id = j.value) f CROSS JOIN comments c ON c.no = f.no"
            " ORDER BY c.created_at, c.no",
            {**touching(session_id, ticks), "events": dump(list(event_ids))},
        )
        return [_comment(row) for row in rows]

    def open_events(self, session_id: str) -> list[str]:
        """Return the events of a session that carry comments but no ticks: the stream knows where they are."""
        rows = self._db.query(
            "SELECT DISTINCT event_id FROM comments WHERE session_id = ? AND event_id IS NOT NULL AND span IS NULL",
            (session_id,),
        )
        return [row[0] for row in rows]

    def remove(self, comment_id: str) -> None:
        """Take a comment away, and what it said before; raises `NotFound`."""
        with self._db.joined() as con:
            self.get(comment_id)
            con.execute(
                "DELETE FROM comment_versions WHERE comment_no = (SELECT no FROM comments WHERE id = ?)",
                (comment_id,),
            )
            con.execute("DELETE FROM comments WHERE id = ?", (comment_id,))


def _comment(row: Row) -> Comment:
    return Comment(
        id=row[0],
        content=row[1],
        created_at=from_micros(row[2]),
        updated_at=optional_time(row[3]),
        target=target_of(row[4:]),
    )
