"""Sessions of the stream, and the ticks that processes reserve in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from hexad.database.codec import from_micros, load_strings, optional_time, to_micros
from hexad.database.connection import Database
from hexad.errors import Conflict, LimitExceeded, NotFound
from hexad.experience.values.records import CONTEXT_TOKENS, TICK_LIMIT, SessionInfo


class Sessions:
    """The rows of `sessions`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(
        self,
        session_id: str,
        *,
        max_context_tokens: int | None,
        default_tokens: int = CONTEXT_TOKENS,
        most_tokens: int | None = None,
        auto_compact: bool | None = None,
        data_subjects: Sequence[str] | None = None,
        at: datetime,
    ) -> int:
        """Return the session's number; an ended one goes on, a new one is created.

        `data_subjects` are the people whose data it is. What is None stays as it is, but for a window of more than
        `most_tokens`; a new session has a window of `default_tokens` and compacts by itself.
        """
        with self._db.transaction() as con:
            row = con.execute(
                "INSERT INTO sessions(id, created_at, max_context_tokens, auto_compact, next_tick)"
                " VALUES(:id, :at, coalesce(:tokens, :default), coalesce(:auto, 1), 1)"
                " ON CONFLICT(id) DO UPDATE SET ended_at = NULL,"
                " max_context_tokens = coalesce(:tokens, min(max_context_tokens, coalesce(:most, max_context_tokens))),"
                " auto_compact = coalesce(:auto, auto_compact) RETURNING no",
                {
                    "id": session_id,
                    "at": to_micros(at),
                    "tokens": max_context_tokens,
                    "default": default_tokens,
                    "most": most_tokens,
                    "auto": auto_compact,
                },
            ).fetchone()
            assert row is not None
            if data_subjects is not None:
                con.execute("DELETE FROM session_subjects WHERE session_no = ?", row)
                con.executemany(
                    "INSERT INTO session_subjects VALUES(?, ?)",
                    [(row[0], data_subject) for data_subject in data_subjects],
                )
        return int(row[0])

    def end(self, number: int, *, at: datetime) -> None:
        """Note when the session ended."""
        with self._db.transaction() as con:
            con.execute("UPDATE sessions SET ended_at = ? WHERE no = ?", (to_micros(at), number))

    def reserve(self, number: int, count: int) -> int:
        """Reserve `count` ticks durably and return the first: nobody else is given any of them."""
        with self._db.transaction() as con:
            row = con.execute(
                "UPDATE sessions SET next_tick = next_tick + ? WHERE no = ? AND next_tick < ?"
                " AND no NOT IN (SELECT session_no FROM erased_sessions) RETURNING next_tick",
                (count, number, TICK_LIMIT),
            ).fetchone()
            erased = con.execute("SELECT 1 FROM erased_sessions WHERE session_no = ?", (number,)).fetchone()
        if erased is not None:
            raise Conflict("The session was erased;", remedy="`{start_session}` begins it anew.")
        if row is None:
            raise LimitExceeded("The session has used up its ticks; start another one.")
        return int(row[0]) - count

    def claim(self, number: int, first: int, count: int) -> None:
        """Reserve `count` ticks from `first` on; raises `Conflict` when one of them may have been used."""
        with self._db.transaction() as con:
            row = con.execute("SELECT next_tick, id FROM sessions WHERE no = ?", (number,)).fetchone()
            free, session_id = row or (TICK_LIMIT, "")
            if first < free:
                raise Conflict(
                    f"Tick {first} of session {session_id!r} may have been used; give one from {free} on, or 0 for the "
                    "next."
                )
            if first + count > TICK_LIMIT:
                raise LimitExceeded(f"Tick {first} is beyond the last that a session may have, {TICK_LIMIT}.")
            con.execute("UPDATE sessions SET next_tick = ? WHERE no = ?", (first + count, number))

    def give_back(self, unused: Iterable[tuple[int, int, int]]) -> None:
        """Return ticks that were reserved and not used, where nobody has reserved any after them.

        Each is (session's number, first unused tick, end of the block).
        """
        with self._db.transaction() as con:
            for number, first, end in unused:
                con.execute(
                    "UPDATE sessions SET next_tick = ? WHERE no = ? AND next_tick = ?", (first, number, end)
                )

    def number(self, session_id: str) -> int | None:
        """Return the session's number, None when there is no such session."""
        row = self._db.query_one("SELECT no FROM sessions WHERE id = ?", (session_id,))
        return None if row is None else row[0]

    def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the ids of sessions by their numbers."""
        names = {}
        for number in set(numbers):
            row = self._db.query_one("SELECT id FROM sessions WHERE no = ?", (number,))
            if row is not None:
                names[number] = row[0]
        return names

    def get(self, session_id: str) -> SessionInfo:
        """Return one session; raises `NotFound`."""
        for info in self._read("WHERE id = ?", (session_id,)):
            return info
        raise NotFound(f"There is no session {session_id!r};", remedy="`{start_session}` creates it.")

    def _read(self, where: str, params: tuple[str, ...]) -> list[SessionInfo]:
        rows = self._db.query(
            "SELECT id, created_at, ended_at, max_context_tokens, next_tick, auto_compact, compacted_through,"
            " (SELECT json_group_array(subject ORDER BY subject) FROM session_subjects WHERE session_no = no"
            " AND no NOT IN (SELECT session_no FROM erased_sessions))"
            f" FROM sessions {where} ORDER BY no",
            params,
        )
        return [
            SessionInfo(
                id=row[0],
                created_at=from_micros(row[1]),
                ended_at=optional_time(row[2]),
                max_context_tokens=row[3],
                last_tick=row[4] - 1,
                auto_compact=bool(row[5]),
                compacted_through=row[6],
                data_subjects=load_strings(row[7]),
            )
            for row in rows
        ]

    def list(self) -> list[SessionInfo]:
        """Return every session in the order of their creation, those that were erased only if something of them came
        to a segment since.
        """  # fmt: skip
        return self._read(
            "WHERE no NOT IN (SELECT session_no FROM erased_sessions)"
            " OR EXISTS (SELECT 1 FROM stream_segment_sessions r WHERE r.session_no = no)",
            (),
        )
