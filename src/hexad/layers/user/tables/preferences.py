"""The preferences of a person: what they use, how sure that is, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database, Row
from hexad.layers.user.values import Preference, Source
from hexad.text.normalize import nfkc

PREFIX: Final = "preference"
_COLUMNS: Final = (
    "id, user_id, key, value, confidence, source, evidence_count, projects, support, accepted, rejected, first_seen,"
    " last_seen, base, drifted, origin"
)
MINED, FILE, SAID = "mined", "file", ""
"""Where a preference is from: projects alone, the user's own file, or a call."""


def look(value: str) -> str:
    """Return a value as it is compared: without case and repeated white space.

    >>> look("  Post GreSQL ") == look("post gresql")
    True
    """
    return " ".join(nfkc(value).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A preference with what learning keeps beside it: see the columns of `user_preferences`."""

    preference: Preference
    base: float | None = None
    drifted: int = 0
    origin: str = SAID


class Preferences:
    """Rows of `user_preferences` of one person. The caller holds the transaction that a change belongs to."""

    def __init__(self, db: Database, user_id: str) -> None:
        self._db = db
        self._user_id = user_id

    def all(self, key: str | None = None) -> list[Held]:
        """Return preferences, the surest first; then what was said, what has more evidence, the latest."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM user_preferences WHERE user_id = ? AND (? IS NULL OR key = ?)"
            " ORDER BY confidence DESC, source, evidence_count DESC, last_seen DESC, key, look",
            (self._user_id, key, key),
        )
        return [_held(row) for row in rows]

    def get(self, key: str, value: str) -> Held | None:
        """Return what is held of a value, however it is written."""
        row = self._db.query_one(
            f"SELECT {_COLUMNS} FROM user_preferences WHERE user_id = ? AND key = ? AND look = ?",
            (self._user_id, key, look(value)),
        )
        return None if row is None else _held(row)

    def put(self, held: Held) -> Preference:
        """Store a preference, new or in the place of the one of the same key and value; return it with its id."""
        preference = held.preference
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_preferences(user_id, key, value, look, confidence, source, evidence_count, projects,"
                " support, accepted, rejected, first_seen, last_seen, base, drifted, origin)"
                " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(user_id, key, look) DO UPDATE SET"
                " value = excluded.value, confidence = excluded.confidence, source = excluded.source,"
                " evidence_count = excluded.evidence_count, projects = excluded.projects, support = excluded.support,"
                " accepted = excluded.accepted, rejected = excluded.rejected, last_seen = excluded.last_seen,"
                " base = excluded.base, drifted = excluded.drifted, origin = excluded.origin",
                (
                    self._user_id,
                    preference.key,
                    preference.value,
                    look(preference.value),
                    preference.confidence,
                    preference.source.value,
                    preference.evidence_count,
                    preference.projects,
                    preference.support,
                    preference.accepted,
                    preference.rejected,
                    to_micros(preference.first_seen),
                    to_micros(preference.last_seen),
                    held.base,
                    held.drifted,
                    held.origin,
                ),
            )
        found = self.get(preference.key, preference.value)
        assert found is not None
        return found.preference

    def remove(self, key: str, value: str) -> bool:
        """Remove a preference; return whether there was one."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM user_preferences WHERE user_id = ? AND key = ? AND look = ?",
                (self._user_id, key, look(value)),
            )
            return con.changes > 0

    def new(self, key: str, value: str, *, confidence: float, source: Source, at: datetime) -> Preference:
        """Return a preference that is not stored yet."""
        return Preference(
            id="",
            user_id=self._user_id,
            key=key,
            value=value,
            confidence=confidence,
            source=source,
            evidence_count=0,
            projects=0,
            support=None,
            accepted=0,
            rejected=0,
            first_seen=at,
            last_seen=at,
        )


def _held(row: Row | Sequence[object]) -> Held:
    values = tuple(row[:13])
    base, drifted, origin = tuple(row[13:])
    preference = Preference(
        id=f"{PREFIX}-{values[0]}",
        user_id=values[1],
        key=values[2],
        value=values[3],
        confidence=values[4],
        source=Source(values[5]),
        evidence_count=values[6],
        projects=values[7],
        support=values[8],
        accepted=values[9],
        rejected=values[10],
        first_seen=from_micros(values[11]),
        last_seen=from_micros(values[12]),
    )
    return Held(preference=preference, base=base, drifted=drifted, origin=origin)
