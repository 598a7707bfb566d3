"""What projects mean to a person's preferences: what they use, where they differ, what is not to be suggested there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Database, Row
from hexad.errors import Conflict
from hexad.layers.user.tables.preferences import look
from hexad.layers.user.values import PreferenceVerdict, ProjectException, ProjectValue, Suppression

_EXCEPTION: Final = "id, user_id, project_id, key, value, usual, reason, created_at"
_SUPPRESSION: Final = "id, user_id, value, key, project_id, created_at"
_LEARNED_FROM: Final = ("feedback", "project_places", "project_values")
_STATED_OF: Final = ("user_exceptions", "user_suppressions")
"""Tables whose rows name a project: what was learned from it, and what somebody said of it."""


class Projects:
    """Rows of `project_values`, `user_exceptions`, `user_suppressions` and `feedback` of one person."""

    def __init__(self, db: Database, user_id: str) -> None:
        self._db = db
        self._user_id = user_id

    # What projects use ------------------------------------------------------------------------------------------

    def publish(
        self, project_id: str, values: Sequence[ProjectValue], *, place: str | None
    ) -> tuple[int, int]:
        """Make these the values of a project, and no others; return how many are new and how many went.

        Projects of the same `place` are one: the worktrees of a repository, each with a store of its own.
        """
        values_by_key = {
            (project_value.attribute, look(project_value.value)): project_value for project_value in values
        }
        there = {
            (str(attribute), str(like))
            for attribute, like in self._db.query(
                "SELECT attribute, look FROM project_values WHERE user_id = ? AND project_id = ?",
                (self._user_id, project_id),
            )
        }
        removed_keys = there - values_by_key.keys()
        with self._db.joined() as con:
            if place is None or not values:
                con.execute(
                    "DELETE FROM project_places WHERE user_id = ? AND project_id = ?",
                    (self._user_id, project_id),
                )
            else:
                con.execute(
                    "INSERT INTO project_places(user_id, project_id, place) VALUES(?,?,?)"
                    " ON CONFLICT DO UPDATE SET place = excluded.place WHERE place <> excluded.place",
                    (self._user_id, project_id, place),
                )
            con.executemany(
                "DELETE FROM project_values WHERE user_id = ? AND project_id = ? AND attribute = ? AND look = ?",
                [(self._user_id, project_id, *pair) for pair in sorted(removed_keys)],
            )
            con.executemany(
                "INSERT INTO project_values(user_id, project_id, attribute, look, value, first_seen, last_seen)"
                " VALUES(?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET value = excluded.value,"
                " last_seen = max(last_seen, excluded.last_seen)",
                [
                    (
                        self._user_id,
                        project_id,
                        attribute,
                        like,
                        project_value.value,
                        to_micros(project_value.last_seen),
                        to_micros(project_value.last_seen),
                    )
                    for (attribute, like), project_value in values_by_key.items()
                ],
            )
        return len(values_by_key.keys() - there), len(removed_keys)

    def names(self, project_id: str, *, everything: bool = False) -> bool:
        """Whether there is anything that `retract` would remove."""
        return any(
            self._db.query_one(
                f"SELECT 1 FROM {table} WHERE user_id = ? AND project_id = ? LIMIT 1",
                (self._user_id, project_id),
            )
            for table in _tables(everything)
        )

    def retract(self, project_id: str, *, everything: bool = False) -> int:
        """Remove the values of a project, and what was said of preferences there; return how many values went.

        `everything` removes its exceptions, and what is not to be suggested in it, too.
        """
        with self._db.joined() as con:
            for table in _tables(everything):
                con.execute(
                    f"DELETE FROM {table} WHERE user_id = ? AND project_id = ?", (self._user_id, project_id)
                )
            return con.changes

    def known_as(self, project_id: str, place: str | None) -> str:
        """Return the id under which `values` has a project: the least of those that are of its place."""
        row = self._db.query_one(
            "SELECT min(project_id) FROM project_places WHERE user_id = ? AND place = ?",
            (self._user_id, place),
        )
        least = row[0] if row else None
        return min(project_id, least) if isinstance(least, str) else project_id

    def values(self, *, without: str | None = None) -> list[ProjectValue]:
        """Return what all projects use, the one that was seen first in front; nothing of what `without` published."""
        rows = self._db.query(
            "WITH one AS (SELECT project_id, min(project_id) OVER (PARTITION BY place) AS least FROM project_places"
            "  WHERE user_id = ?1),"
            " v AS (SELECT coalesce(one.least, p.project_id) AS project, p.* FROM project_values p"
            "  LEFT JOIN one ON one.project_id = p.project_id WHERE p.user_id = ?1 AND p.project_id IS NOT ?2)"
            " SELECT project, attribute, value, last_seen, min(first_seen) OVER (PARTITION BY project) AS begun"
            " FROM v ORDER BY begun, project, attribute, look, project_id",
            (self._user_id, without),
        )
        return [
            ProjectValue(
                project_id=project,
                attribute=attribute,
                value=value,
                last_seen=from_micros(seen),
                begun=from_micros(begun),
            )
            for project, attribute, value, seen, begun in rows
        ]

    # Exceptions -------------------------------------------------------------------------------------------------

    def exceptions(self, project_id: str | None = None, key: str | None = None) -> list[ProjectException]:
        """Return exceptions, the newest first."""
        rows = self._db.query(
            f"SELECT {_EXCEPTION} FROM user_exceptions WHERE user_id = ?1 AND (?2 IS NULL OR project_id = ?2)"
            " AND (?3 IS NULL OR key = ?3) ORDER BY created_at DESC, id DESC",
            (self._user_id, project_id, key),
        )
        return [_exception(row) for row in rows]

    def put_exception(self, exception: ProjectException) -> ProjectException:
        """Store an exception, in the place of the one that this project had for the key."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_exceptions(user_id, project_id, key, value, usual, reason, created_at)"
                " VALUES(?,?,?,?,?,?,?) ON CONFLICT(user_id, project_id, key) DO UPDATE SET value = excluded.value,"
                " usual = excluded.usual, reason = excluded.reason, created_at = excluded.created_at",
                (
                    self._user_id,
                    exception.project_id,
                    exception.key,
                    exception.value,
                    exception.usual,
                    exception.reason,
                    to_micros(exception.created_at),
                ),
            )
        return self.exceptions(exception.project_id, exception.key)[0]

    # What is not to be suggested --------------------------------------------------------------------------------

    def suppressions(self) -> list[Suppression]:
        """Return what is not to be suggested, the newest first."""
        rows = self._db.query(
            f"SELECT {_SUPPRESSION} FROM user_suppressions WHERE user_id = ? ORDER BY created_at DESC, id DESC",
            (self._user_id,),
        )
        return [_suppression(row) for row in rows]

    def suppress(self, value: str, *, key: str | None, project_id: str | None, at: datetime) -> Suppression:
        """Store that something is not to be suggested; what is there stays as it is."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO user_suppressions(user_id, value, look, key, project_id, created_at) VALUES(?,?,?,?,?,?)"
                " ON CONFLICT DO NOTHING",
                (self._user_id, value, look(value), key or "", project_id or "", to_micros(at)),
            )
        row = self._db.query_one(
            f"SELECT {_SUPPRESSION} FROM user_suppressions WHERE user_id = ? AND look = ? AND key = ?"
            " AND project_id = ?",
            (self._user_id, look(value), key or "", project_id or ""),
        )
        assert row is not None
        return _suppression(row)

    def allow(self, value: str, *, key: str | None) -> int:
        """Let something be suggested again, everywhere; return how many suppressions went."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM user_suppressions WHERE user_id = ?1 AND look = ?2 AND (?3 IS NULL OR key = ?3)",
                (self._user_id, look(value), key),
            )
            return con.changes

    # What was said of preferences -------------------------------------------------------------------------------

    def note(
        self,
        idempotency_key: str,
        *,
        project_id: str | None,
        key: str,
        value: str,
        verdict: PreferenceVerdict,
        delta: int,
        at: datetime,
    ) -> bool:
        """Note what was said of a preference; False where this idempotency key was counted before. Raises `Conflict`
        where that was for another one.
        """
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO feedback(user_id, idempotency_key, project_id, key, value, verdict, delta, at)"
                " VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                (
                    self._user_id,
                    idempotency_key,
                    project_id,
                    key,
                    value,
                    verdict.value,
                    delta,
                    to_micros(at),
                ),
            )
            if con.changes > 0:
                return True
        row = self._db.query_one(
            "SELECT key, value FROM feedback WHERE user_id = ? AND idempotency_key = ?",
            (self._user_id, idempotency_key),
        )
        if row is not None and (row[0], look(str(row[1]))) != (key, look(value)):
            raise Conflict(
                f"The idempotency key was counted for {row[1]!r} as {row[0]!r}, and this is {value!r} as {key!r}; "
                "give each call a key of its own."
            )
        return False

    # State ------------------------------------------------------------------------------------------------------

    def state(self, name: str) -> str | None:
        """Return a small fact about this person's layer."""
        row = self._db.query_one(
            "SELECT value FROM user_state WHERE user_id = ? AND name = ?", (self._user_id, name)
        )
        return row[0] if row else None

    def put_state(self, values: Mapping[str, str]) -> None:
        """Store small facts."""
        with self._db.joined() as con:
            con.executemany(
                "INSERT INTO user_state(user_id, name, value) VALUES(?,?,?)"
                " ON CONFLICT(user_id, name) DO UPDATE SET value = excluded.value",
                [(self._user_id, name, value) for name, value in values.items()],
            )


def _tables(everything: bool) -> tuple[str, ...]:
    return (*_STATED_OF, *_LEARNED_FROM) if everything else _LEARNED_FROM


def _exception(row: Row) -> ProjectException:
    values = row
    return ProjectException(
        id=f"exception-{values[0]}",
        user_id=values[1],
        project_id=values[2],
        key=values[3],
        value=values[4],
        usual=values[5],
        reason=values[6],
        created_at=from_micros(values[7]),
    )


def _suppression(row: Row) -> Suppression:
    values = row
    return Suppression(
        id=f"suppression-{values[0]}",
        user_id=values[1],
        value=values[2],
        key=values[3] or None,
        project_id=values[4] or None,
        created_at=from_micros(values[5]),
    )
