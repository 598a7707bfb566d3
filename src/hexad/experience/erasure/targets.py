"""The rows on experience that an erasure takes: windows, submissions, tag applications, comments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from hexad.database.codec import dump
from hexad.database.connection import Database

_TARGETED: Final = ("tag_applications", "comments")


@dataclass(frozen=True, slots=True)
class Targeted:
    """A tag application or a comment on ticks, an event, or both; `said` says whether it has a text of its own."""

    no: int
    event_id: str | None
    ticks: tuple[int, int] | None
    said: bool


class ErasedTargets:
    """Looks for rows that are on ticks, and takes them away in the caller's transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db

    # Windows and submissions ------------------------------------------------------------------------------------

    def windows(self, session: int) -> list[tuple[int, tuple[int, int]]]:
        """Return the windows of a session: numbers and ticks."""
        rows = self._db.query(
            "SELECT no, first_tick, last_tick FROM time_windows WHERE session_no = ? ORDER BY no", (session,)
        )
        return [(no, (first, last)) for no, first, last in rows]

    def submissions_of(self, windows: Collection[int]) -> list[str]:
        """Return the submissions that name any of these windows."""
        rows = self._db.query(
            "SELECT DISTINCT s.id FROM window_submissions ws JOIN submissions s ON s.no = ws.submission_no"
            " WHERE ws.window_no IN (SELECT value FROM json_each(?)) ORDER BY s.no",
            (dump(sorted(windows)),),
        )
        return [row[0] for row in rows]

    def remove_windows(self, windows: Collection[int]) -> tuple[int, list[tuple[str, str]]]:
        """Remove windows, and submissions of which no window is left; returns how many windows there were, and the
        ids of these submissions with those of their buds.
        """  # fmt: skip
        listed = (dump(sorted(windows)),)
        with self._db.joined() as con:
            named = con.execute(
                "SELECT DISTINCT submission_no FROM window_submissions WHERE window_no IN"
                " (SELECT value FROM json_each(?))",
                listed,
            ).fetchall()
            con.execute(
                "DELETE FROM window_submissions WHERE window_no IN (SELECT value FROM json_each(?))", listed
            )
            con.execute("DELETE FROM time_windows WHERE no IN (SELECT value FROM json_each(?))", listed)
            count = con.changes
            gone = con.execute(
                "DELETE FROM submissions WHERE no IN (SELECT value FROM json_each(?)) AND NOT EXISTS"
                " (SELECT 1 FROM window_submissions ws WHERE ws.submission_no = no) RETURNING id, bud_tag_id",
                (dump([row[0] for row in named]),),
            ).fetchall()
        return count, gone

    def narrow_window(self, window: int, ticks: tuple[int, int], *, tokens: int) -> None:
        """Let a window be of fewer ticks; what was said of why it is pinned goes."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE time_windows SET first_tick = ?, last_tick = ?, token_count = ?, pinned_reason = NULL"
                " WHERE no = ?",
                (*ticks, tokens, window),
            )

    # Tags and comments ------------------------------------------------------------------------------------------

    def open_events(self, session_id: str) -> list[str]:
        """Return the events of a session that are tagged or commented on without ticks: the stream knows where they
        are.
        """  # fmt: skip
        rows = self._db.query(
            " UNION ".join(
                f"SELECT event_id FROM {table} WHERE session_id = ?1 AND event_id IS NOT NULL AND span IS NULL"
                for table in _TARGETED
            ),
            (session_id,),
        )
        return [row[0] for row in rows]

    def applications(self, session_id: str, hull: tuple[int, int]) -> list[Targeted]:
        """Return the tag applications of a session that share a tick with `hull`, and those on events without ticks."""
        return self._targeted("tag_applications", "note", session_id, hull)

    def comments(self, session_id: str, hull: tuple[int, int]) -> list[Targeted]:
        """Return what `applications` does, of comments."""
        return self._targeted("comments", "content", session_id, hull)

    def _targeted(self, table: str, text: str, session_id: str, hull: tuple[int, int]) -> list[Targeted]:
        rows = self._db.query(
            f"SELECT no, event_id, range_start, range_end, {text} IS NOT NULL FROM {table} WHERE session_id = ?"
            " AND (span IS NULL OR (range_start <= ? AND range_end >= ?)) ORDER BY no",
            (session_id, hull[1], hull[0]),
        )
        return [
            Targeted(
                no,
                event,
                None if first is None else (first, last),
                bool(said),
            )
            for no, event, first, last, said in rows
        ]

    def remove_applications(self, numbers: Collection[int]) -> int:
        """Remove tag applications; returns how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM tag_applications WHERE no IN (SELECT value FROM json_each(?))",
                (dump(sorted(numbers)),),
            )
            return con.changes

    def narrow_applications(self, narrowed: Mapping[int, tuple[int, int] | None]) -> None:
        """Let tag applications be of fewer ticks, or of those that they have, and without their notes."""
        with self._db.joined() as con:
            con.executemany(
                "UPDATE tag_applications SET note = NULL, range_start = coalesce(?1, range_start),"
                " range_end = coalesce(?2, range_end), span = CASE WHEN ?1 IS NULL THEN span ELSE ?3 END WHERE no = ?4",
                [
                    (None, None, None, no)
                    if ticks is None
                    else (*ticks, (ticks[1] - ticks[0]).bit_length(), no)
                    for no, ticks in narrowed.items()
                ],
            )

    def remove_comments(self, numbers: Collection[int]) -> int:
        """Remove comments with all that they said; returns how many there were."""
        listed = (dump(sorted(numbers)),)
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM comment_versions WHERE comment_no IN (SELECT value FROM json_each(?))", listed
            )
            con.execute("DELETE FROM comments WHERE no IN (SELECT value FROM json_each(?))", listed)
            return con.changes

    def tags_named(self, name: str) -> list[str]:
        """Return the tags of exactly this name, or of this id."""
        rows = self._db.query("SELECT id FROM tags WHERE name = ?1 OR id = ?1 ORDER BY no", (name,))
        return [row[0] for row in rows]

    def of_session(self, session_id: str) -> tuple[list[int], list[int]]:
        """Return all tag applications and all comments of a session, by number."""
        found = [
            [row[0] for row in self._db.query(f"SELECT no FROM {table} WHERE session_id = ?", (session_id,))]
            for table in _TARGETED
        ]
        return found[0], found[1]
