"""What was said of sessions beside their events, by words: COLD records, summaries of compactions, comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.database.codec import dump, from_micros
from hexad.database.connection import Database, Row
from hexad.experience.values.levels import CompressionLevel

LOOKED_AT: Final = 2_000
"""So many of the last compactions and comments are looked through: they have no index of words."""
_WORDS_MOST: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionText:
    """A text about a session, and what it is: `cold`, `compaction` or `comment`; `level` is a COLD record's."""

    id: str
    kind: str
    text: str
    at: datetime
    session_id: str | None
    level: str | None = None


class SessionTexts:
    """Finds texts in which any of some words occurs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def cold(self, words: Sequence[str], *, limit: int) -> list[SessionText]:
        """Return COLD records of every level, the best match first."""
        query = " OR ".join('"' + word.replace('"', '""') + '"' for word in words[:_WORDS_MOST])
        if not query:
            return []
        rows = self._db.query(
            "SELECT r.id, r.summary, r.end_at, s.id, r.level FROM compressed_fts f"
            " JOIN compressed_records r ON r.no = f.rowid LEFT JOIN sessions s ON s.no = r.session_no"
            " WHERE compressed_fts MATCH ? ORDER BY f.rank, r.no DESC LIMIT ?",
            (query, limit),
        )
        return [_session_text(row, "cold", level=CompressionLevel(row[4]).name) for row in rows]

    def compactions(self, words: Sequence[str], *, limit: int) -> list[SessionText]:
        """Return summaries of compactions, the newest first."""
        rows = self._db.query(
            "SELECT id, text, at, session_id FROM"
            " (SELECT c.id, c.summary AS text, c.at, s.id AS session_id, c.no FROM compaction_records c"
            f"  JOIN sessions s ON s.no = c.session_no ORDER BY c.no DESC LIMIT {LOOKED_AT})"
            f" WHERE {_ANY} ORDER BY no DESC LIMIT :limit",
            {"words": _needles(words), "limit": limit},
        )
        return [_session_text(row, "compaction") for row in rows]

    def comments(self, words: Sequence[str], *, limit: int) -> list[SessionText]:
        """Return comments, the newest first."""
        rows = self._db.query(
            "SELECT id, text, at, session_id FROM"
            " (SELECT id, content AS text, coalesce(updated_at, created_at) AS at, session_id, no FROM comments"
            f"  ORDER BY no DESC LIMIT {LOOKED_AT}) WHERE {_ANY} ORDER BY no DESC LIMIT :limit",
            {"words": _needles(words), "limit": limit},
        )
        return [_session_text(row, "comment") for row in rows]

    def of(self, text_id: str) -> list[SessionText]:
        """Return the text of an id, whichever of the three it is; nothing where it is none of them."""
        for row in self._db.query(
            "SELECT r.id, r.summary, r.end_at, s.id, r.level FROM compressed_records r"
            " LEFT JOIN sessions s ON s.no = r.session_no WHERE r.id = ?",
            (text_id,),
        ):
            return [_session_text(row, "cold", level=CompressionLevel(row[4]).name)]
        for row in self._db.query(
            "SELECT c.id, c.summary, c.at, s.id FROM compaction_records c JOIN sessions s ON s.no = c.session_no"
            " WHERE c.id = ?",
            (text_id,),
        ):
            return [_session_text(row, "compaction")]
        for row in self._db.query(
            "SELECT id, content, coalesce(updated_at, created_at), session_id FROM comments WHERE id = ?",
            (text_id,),
        ):
            return [_session_text(row, "comment")]
        return []


_ANY: Final = "EXISTS (SELECT 1 FROM json_each(:words) w WHERE instr(lower(text), w.value))"


def _needles(words: Sequence[str]) -> str:
    return dump(list(words[:_WORDS_MOST]))


def _session_text(row: Row, kind: str, *, level: str | None = None) -> SessionText:
    return SessionText(
        id=row[0],
        kind=kind,
        text=row[1],
        at=from_micros(row[2]),
        session_id=row[3],
        level=level,
    )
