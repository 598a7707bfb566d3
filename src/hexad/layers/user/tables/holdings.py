"""Everything that the user layer holds of a person: shown, counted, checked, and removed for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.database.codec import from_micros
from hexad.database.connection import Database, SQLValue
from hexad.database.secure_delete import clear_pages, empty_log
from hexad.layers.user.tables.preferences import look
from hexad.layers.user.tables.schema import TABLES

SECTIONS: Final = {
    "preferences": "user_preferences",
    "patterns": "user_patterns",
    "expertise": "user_expertise",
    "rules": "user_rules",
    "exceptions": "user_exceptions",
    "suppressions": "user_suppressions",
    "project_values": "project_values",
    "project_places": "project_places",
    "feedback": "feedback",
    "state": "user_state",
}
"""The lists of an export of the user scope, each with its table."""
_PREFIXES: Final = {
    "preference": "user_preferences",
    "pattern": "user_patterns",
    "expertise": "user_expertise",
    "rule": "user_rules",
    "exception": "user_exceptions",
    "suppression": "user_suppressions",
}
_TIMES: Final = frozenset({"first_seen", "last_seen", "created_at", "at"})
_DERIVED: Final = frozenset({"look"})


class UserHoldings:
    """All rows of one person."""

    def __init__(self, db: Database, user_id: str) -> None:
        self._db = db
        self._user_id = user_id

    def begun(self) -> str:
        """Return when the layer was begun, whoever did it."""
        row = self._db.query_one("SELECT applied_at FROM schema_migrations WHERE number = 1")
        return "" if row is None else str(row[0])

    def counts(self) -> dict[str, int]:
        """Return how many rows each list has; lists without any are left out."""
        counts = {name: self._count(table) for name, table in SECTIONS.items()}
        return {name: number for name, number in counts.items() if number}

    def revision(self) -> int:
        """Return how often anything was changed of which something is said, by whichever process and for whomever."""
        row = self._db.query_one("SELECT n FROM user_changes")
        return row[0] if row else 0

    def _count(self, table: str) -> int:
        row = self._db.query_one(f"SELECT count(*) FROM {table} WHERE user_id = ?", (self._user_id,))
        return row[0] if row else 0

    def rows(self, section: str) -> Iterator[dict[str, JSONValue]]:
        """Yield the rows of a list as JSON, in the order of their keys."""
        with self._db.read() as con:
            table = SECTIONS[section]
            columns = [str(name) for _, name, *_ in con.execute(f"PRAGMA table_info({table})")]
            for row in con.execute(
                f"SELECT {', '.join(columns)} FROM {table} WHERE user_id = ? ORDER BY 1, 2, 3",
                (self._user_id,),
            ).fetchall():
                yield {
                    name: _json(name, value)
                    for name, value in zip(columns, row, strict=True)
                    if name not in _DERIVED
                }

    def remove(self, row_id: str) -> bool:
        """Remove one row by its id, such as `preference-3`; return whether it was there."""
        prefix, _, number = row_id.rpartition("-")
        table = _PREFIXES.get(prefix)
        if table is None or not number.isascii() or not number.isdigit() or len(number) > 18:
            return False
        with self._db.transaction() as con:
            con.execute(f"DELETE FROM {table} WHERE user_id = ? AND id = ?", (self._user_id, int(number)))
            was_there = con.changes > 0
        return was_there

    def wipe(self) -> dict[str, int]:
        """Remove every row of this person, and what was left of them in the file; return how many of each list."""
        counts = self.counts()
        with self._db.transaction() as con:
            for table in TABLES:
                con.execute(f"DELETE FROM {table} WHERE user_id = ?", (self._user_id,))
        self.clear()
        return counts

    def clear(self) -> bool:
        """Take what was deleted out of the file's pages and its log; False while somebody reads from it."""
        return clear_pages(self._db, patient=True) and empty_log(self._db)

    def check(self) -> list[str]:
        """Return in words what is wrong with the file."""
        messages = [str(row[0]) for row in self._db.query("PRAGMA integrity_check(20)")]
        problems = [f"user.db: {message}" for message in messages if message != "ok"]
        for table in ("user_preferences", "project_values", "user_suppressions"):
            rows = self._db.query(f"SELECT value, look FROM {table}")
            wrong = sum(look(str(value)) != like for value, like in rows)
            if wrong:
                problems.append(f"user.db: {wrong} rows of {table} are not filed under what they say")
        return problems


def _json(name: str, value: SQLValue) -> JSONValue:
    if name in _TIMES and isinstance(value, int):
        return format_time(from_micros(value))
    return value
