"""Who looked at which node, by session: what the loop breaker goes by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from hexad.core.erasure import ErasureBook, Selection
from hexad.database.codec import dump
from hexad.database.connection import Connection, Database, Row

_ALL: Final = ""
"""The row of all sessions together."""
SESSIONS: Final = "sessions of the honeycomb"
"""The place of named sessions in the counts of an erasure."""


class NodeVisits(NamedTuple):
    """How often a node was looked at, and when; `recent` are the latest times, in microseconds, newest last."""

    looks: int
    first_at: int
    last_at: int
    recent: tuple[int, ...]

    def again(self, at: int, *, keep: int) -> NodeVisits:
        """Return the same with one more look."""
        return NodeVisits(self.looks + 1, self.first_at, at, (*self.recent, at)[-keep:])

    def with_those_of(self, other: NodeVisits) -> NodeVisits:
        """Return the looks of both, in the order of their times."""
        return NodeVisits(
            self.looks + other.looks,
            min(self.first_at, other.first_at),
            max(self.last_at, other.last_at),
            tuple(sorted(self.recent + other.recent)),
        )


class HoneycombVisits:
    """The accesses of named sessions, and the totals of all."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(self, session: str, *, at: int) -> None:
        """Begin a session, anew if it is there: its accesses are forgotten."""
        with self._db.joined() as con:
            con.execute("DELETE FROM honeycomb_accesses WHERE session = ?", (session,))
            con.execute(
                "INSERT INTO honeycomb_sessions(session, started_at) VALUES(?, ?)"
                " ON CONFLICT(session) DO UPDATE SET started_at = excluded.started_at",
                (session, at),
            )

    def started_at(self, session: str) -> int | None:
        """Return when a session began, None for one that nobody started."""
        row = self._db.query_one("SELECT started_at FROM honeycomb_sessions WHERE session = ?", (session,))
        return row[0] if row else None

    def of(self, session: str, node_id: int) -> NodeVisits | None:
        """Return the accesses to a node in a session."""
        return _read(
            self._db.query_one(
                "SELECT count, first_at, last_at, recent FROM honeycomb_accesses WHERE session = ? AND node_id = ?",
                (session, node_id),
            )
        )

    def total(self, node_id: int) -> NodeVisits | None:
        """Return the accesses to a node in all sessions."""
        return self.of(_ALL, node_id)

    def note(self, session: str, node_id: int, *, at: int, keep: int) -> NodeVisits:
        """Count a look at a node in a session, which begins with it, and return what is known of it then."""
        with self._db.joined() as con:
            con.execute(
                "INSERT OR IGNORE INTO honeycomb_sessions(session, started_at) VALUES(?, ?)", (session, at)
            )
            access = _counted(con, session, node_id, at=at, keep=keep)
            _counted(con, _ALL, node_id, at=at, keep=1)
        return access

    # Erasing ----------------------------------------------------------------------------------------------------

    def erase(self, selection: Selection, book: ErasureBook) -> None:
        """Remove the sessions that a selection names, with their accesses; the totals hold numbers alone."""
        with self._db.joined() as con:
            names = self._selected(selection)
            if names:
                for table in ("honeycomb_accesses", "honeycomb_sessions"):
                    con.execute(
                        f"DELETE FROM {table} WHERE session IN (SELECT value FROM json_each(?))",
                        (dump(names),),
                    )
                book.erased(SESSIONS, len(names))

    def _selected(self, selection: Selection) -> list[str]:
        """Return the sessions of that name, or of the name of a recorded one about that person; of a project, all.

        They know no other condition.
        """
        if not (selection.project or set(selection.to_dict()) <= {"session", "subject"}):
            return []
        rows = self._db.query(
            "SELECT session FROM honeycomb_sessions WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR session IN"
            " (SELECT s.id FROM session_subjects u JOIN sessions s ON s.no = u.session_no WHERE u.subject = ?2))",
            (selection.session, selection.subject),
        )
        return [row[0] for row in rows]

    # Totals -----------------------------------------------------------------------------------------------------

    def add_totals(self, looks: Mapping[int, NodeVisits]) -> None:
        """Add looks of sessions without a name; nodes that are gone are left out."""
        with self._db.joined() as con:
            for node_id, look in sorted(looks.items()):
                con.execute(
                    "INSERT INTO honeycomb_accesses(session, node_id, count, first_at, last_at, recent)"
                    " SELECT ?, id, ?, ?, ?, ? FROM honeycomb_nodes WHERE id = ?"
                    " ON CONFLICT(session, node_id) DO UPDATE SET count = count + excluded.count,"
                    " last_at = max(last_at, excluded.last_at), recent = excluded.recent",
                    (_ALL, look.looks, look.first_at, look.last_at, json.dumps([look.last_at]), node_id),
                )


def _counted(con: Connection, session: str, node_id: int, *, at: int, keep: int) -> NodeVisits:
    visits = _read(
        con.execute(
            "SELECT count, first_at, last_at, recent FROM honeycomb_accesses WHERE session = ? AND node_id = ?",
            (session, node_id),
        ).fetchone()
    )
    access = NodeVisits(1, at, at, (at,)) if visits is None else visits.again(at, keep=keep)
    con.execute(
        "INSERT OR REPLACE INTO honeycomb_accesses(session, node_id, count, first_at, last_at, recent)"
        " VALUES(?,?,?,?,?,?)",
        (session, node_id, access.looks, access.first_at, access.last_at, json.dumps(access.recent)),
    )
    return access


def _read(row: Row | None) -> NodeVisits | None:
    if row is None:
        return None
    looks, first_at, last_at, recent = row
    times = tuple(json.loads(recent))
    return NodeVisits(looks, first_at, last_at, times)
