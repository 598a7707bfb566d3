"""Remarks on experience, and what they said before they were edited."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hexad.database.codec import dump, from_micros, optional_time, to_micros
from hexad.database.connection import Database, Row
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
from hexad.experience.values.tags import Comment, TickRange

_COLUMNS: Final = f"id, content, created_at, updated_at, {TARGET_COLUMNS}"


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
        row = self._db.query_one(f"SELECT {_COLUMNS} FROM comments WHERE id = ?", (comment_id,))
        if row is None:
            raise NotFound(
                f"Comment {comment_id!r} is not there; `get_comments_for_range` lists what there is."
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
        columns = ", ".join(f"c.{name}" for name in _COLUMNS.split(", "))
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
