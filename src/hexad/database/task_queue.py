"""Background work as rows: nothing acknowledged depends on it, and a kill loses none of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Final

from hexad.database.connection import Connection, Database

LINK: Final = "link"
"""Kind of the tasks that connect a memory which has its vectors with others, in the honeycomb."""


class Tasks:
    """Work that may wait: rows claimed by a process's identity and reclaimed when that process is gone."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, kind: str, memory_no: int) -> None:
        """Queue work on a memory in the caller's transaction; queued twice is queued once."""
        self.put_all(kind, [memory_no])

    def put_all(self, kind: str, numbers: Collection[int]) -> None:
        """Queue work on memories, each as `put` does."""
        with self._db.joined() as con:
            con.executemany(
                "INSERT INTO tasks(kind, memory_no) VALUES(?,?) ON CONFLICT(kind, memory_no) DO UPDATE SET"
                " owner = NULL, attempts = 0, error = NULL",
                [(kind, no) for no in numbers],
            )

    def claim(
        self,
        kind: str,
        *,
        owner: str,
        alive: frozenset[str],
        limit: int,
        without_spaces: Sequence[str] = (),
        only: Sequence[int] | None = None,
    ) -> list[int]:
        """Take up to `limit` memories that none of `alive` works on; returns their row numbers.

        Memories of `without_spaces` are left where they are. `only` names those that may be taken.
        """
        # The few that are named are looked up; SQLite would go through all that wait.
        waiting = "tasks" if only is None else "json_each(?5) j CROSS JOIN tasks ON memory_no = j.value"
        named = [] if only is None else [json.dumps(list(only))]
        with self._db.joined() as con:
            rows = con.execute(
                f"SELECT memory_no FROM {waiting} WHERE kind = ?1 AND error IS NULL AND"
                " (owner IS NULL OR owner NOT IN (SELECT value FROM json_each(?2))) AND NOT EXISTS"
                " (SELECT 1 FROM json_each(?3) e JOIN spaces s ON s.name = e.value"
                " JOIN memories m ON m.space_no = s.no WHERE m.no = memory_no) ORDER BY memory_no LIMIT ?4",
                (kind, json.dumps(sorted(alive)), json.dumps(list(without_spaces)), limit, *named),
            ).fetchall()
            numbers = [row[0] for row in rows]
            con.executemany(
                "UPDATE tasks SET owner = ?, attempts = attempts + 1 WHERE kind = ? AND memory_no = ?",
                [(owner, kind, no) for no in numbers],
            )
        return numbers

    def short_first(self, kind: str, *, chunks: int) -> list[int]:
        """Return what waits in the order in which answers need it: the newest first, and after all others what has
        more than so many chunks.
        """
        rows = self._db.query(
            "SELECT memory_no FROM tasks t WHERE kind = ? AND error IS NULL ORDER BY"
            " (SELECT count(*) FROM chunks c WHERE c.memory_no = t.memory_no) > ?, memory_no DESC",
            (kind, chunks),
        )
        return [row[0] for row in rows]

    def newest(self, kind: str, *, after: int, limit: int) -> list[int]:
        """Return up to `limit` memories behind a number that wait, the last first."""
        rows = self._db.query(
            "SELECT memory_no FROM tasks WHERE kind = ? AND error IS NULL AND memory_no > ?"
            " ORDER BY memory_no DESC LIMIT ?",
            (kind, after, limit),
        )
        return [row[0] for row in rows]

    def ahead_of(self, kind: str, other_kind: str, *, limit: int) -> list[int]:
        """Return up to `limit` memories that wait before the first one that waits for the other kind of work."""
        rows = self._db.query(
            "SELECT memory_no FROM tasks WHERE kind = ?1 AND error IS NULL AND memory_no < coalesce("
            "(SELECT min(memory_no) FROM tasks WHERE kind = ?2 AND error IS NULL), memory_no + 1)"
            " ORDER BY memory_no LIMIT ?3",
            (kind, other_kind, limit),
        )
        return [row[0] for row in rows]

    def finish_first(self, kind: str, numbers: Sequence[int], *, owner: str) -> set[int]:
        """Take tasks off the list up to the first that was queued anew meanwhile; returns which."""
        with self._db.joined() as con:
            held = self._held_by(owner, kind, numbers)
            finished = list(takewhile(held.__contains__, numbers))
            self._delete(con, kind, finished)
        return set(finished)

    def finish_all(self, kind: str, numbers: Sequence[int], *, owner: str) -> set[int]:
        """Take tasks off the list, but for those that were queued anew meanwhile; returns which."""
        with self._db.joined() as con:
            held = self._held_by(owner, kind, numbers)
            self._delete(con, kind, sorted(held))
        return held

    @staticmethod
    def _delete(con: Connection, kind: str, numbers: Sequence[int]) -> None:
        con.execute(
            "DELETE FROM tasks WHERE kind = ? AND memory_no IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(numbers)),
        )

    def _held_by(self, owner: str, kind: str, numbers: Sequence[int]) -> set[int]:
        rows = self._db.query(
            "SELECT memory_no FROM json_each(?) j CROSS JOIN tasks ON memory_no = j.value"
            " WHERE kind = ? AND owner = ?",
            (json.dumps(list(numbers)), kind, owner),
        )
        return {row[0] for row in rows}

    def release(self, kind: str, numbers: Sequence[int], *, owner: str) -> None:
        """Give back those of these tasks that this owner still holds."""
        if not self._held_by(owner, kind, numbers):
            return
        with self._db.joined() as con:
            con.executemany(
                "UPDATE tasks SET owner = NULL WHERE kind = ? AND memory_no = ? AND owner = ?",
                [(kind, no, owner) for no in numbers],
            )

    def release_or_fail(self, kind: str, memory_no: int, *, owner: str, attempts: int, error: str) -> None:
        """Give a claimed task back; after `attempts` tries keep it with the error that stopped it."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE tasks SET owner = NULL, error = CASE WHEN attempts >= ? THEN ? END"
                " WHERE kind = ? AND memory_no = ? AND owner = ?",
                (attempts, error, kind, memory_no, owner),
            )

    def postpone(self, kind: str, numbers: Sequence[int], *, owner: str) -> None:
        """Give back what was claimed but may not be done yet: it does not count as an attempt."""
        with self._db.joined() as con:
            con.executemany(
                "UPDATE tasks SET owner = NULL, attempts = max(attempts - 1, 0)"
                " WHERE kind = ? AND memory_no = ? AND owner = ?",
                [(kind, no, owner) for no in numbers],
            )

    def spaces(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the spaces of memories by row number."""
        rows = self._db.query(
            "SELECT m.no, s.name FROM json_each(?) j JOIN memories m ON m.no = j.value"
            " JOIN spaces s ON s.no = m.space_no",
            (json.dumps(list(numbers)),),
        )
        return dict(rows)

    def held(self, kind: str, *, alive: frozenset[str]) -> dict[str, set[int]]:
        """Return the memories that each of `alive` works on; who works on none is left out."""
        rows = self._db.query(
            "SELECT owner, memory_no FROM tasks WHERE kind = ? AND error IS NULL"
            " AND owner IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(sorted(alive))),
        )
        held: dict[str, set[int]] = {}
        for owner, memory_no in rows:
            held.setdefault(owner, set()).add(memory_no)
        return held

    def waiting(self, kind: str, numbers: Collection[int]) -> set[int]:
        """Return which of these memories still wait, or failed."""
        rows = self._db.query(
            "SELECT memory_no FROM tasks WHERE kind = ? AND memory_no IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(list(numbers))),
        )
        return {row[0] for row in rows}

    def drop(self, memory_no: int) -> None:
        """Forget all work on a memory."""
        with self._db.joined() as con:
            con.execute("DELETE FROM tasks WHERE memory_no = ?", (memory_no,))

    def counts(self, kind: str) -> tuple[int, int]:
        """Return how many tasks of a kind wait and how many failed."""
        row = self._db.query_one(
            "SELECT count(*) FILTER (WHERE error IS NULL), count(error) FROM tasks WHERE kind = ?", (kind,)
        )
        return row if row else (0, 0)

    def retry_failed(self, kind: str) -> None:
        """Let failed tasks be tried again: once, after which they are failed as before."""
        with self._db.joined() as con:
            con.execute("UPDATE tasks SET error = NULL WHERE kind = ? AND error IS NOT NULL", (kind,))

    def retry_one_failed(self, kind: str, *, after: int) -> int | None:
        """Let the next failed task behind a memory be tried again, the first one behind the last; return its memory."""
        with self._db.joined() as con:
            rows = con.execute(
                "UPDATE tasks SET error = NULL WHERE kind = ?1 AND memory_no = (SELECT memory_no FROM tasks"
                " WHERE kind = ?1 AND error IS NOT NULL ORDER BY memory_no <= ?2, memory_no LIMIT 1)"
                " RETURNING memory_no",
                (kind, after),
            ).fetchall()
        return next((int(no) for (no,) in rows), None)
