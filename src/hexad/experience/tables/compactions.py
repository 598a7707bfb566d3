"""Context windows: where each session's begins, the summary that stands before it, and every compaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from hexad.database.codec import dump, from_micros, load_object, load_strings, optional_time, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.errors import NotFound
from hexad.experience.values.levels import CompressionLevel
from hexad.experience.values.tiers import CompactionRecord, CompactionTrigger

_STATE: Final = (
    "no, id, max_context_tokens, auto_compact, compacted_through, context_summary, context_summary_tokens,"
    " ended_at, next_tick"
)
_COLUMNS: Final = (
    "c.id, s.id, c.at, c.range_start, c.range_end, c.timesteps, c.tokens_before, c.tokens_after, c.summary,"
    " c.concept_tags, c.top_k_activations, c.trigger, c.result_level, c.generated_by, c.no"
)
_FROM: Final = "FROM compaction_records c JOIN sessions s ON s.no = c.session_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """What a session's row says of its context window: the ticks after `compacted_through`, behind a summary."""

    number: int
    session_id: str
    max_tokens: int
    auto_compact: bool
    compacted_through: int
    summary: str
    summary_tokens: int
    ended_at: datetime | None
    next_tick: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewContext:
    """What a session's window becomes with a compaction."""

    compacted_through: int
    summary: str
    summary_tokens: int


class Compactions:
    """The rows of `compaction_records`, and what they made of `sessions`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def state(self, number: int) -> WindowState:
        """Return where a session's window stands; raises `NotFound`."""
        return self._state("no = ?", number)

    def state_of(self, session_id: str) -> WindowState:
        """Return where the window of the session with this id stands; raises `NotFound`."""
        return self._state("id = ?", session_id)

    def states_of(self, session_ids: Sequence[str]) -> list[WindowState]:
        """Return where the windows of several sessions stand, in their order; raises `NotFound`."""
        rows = self._db.query(
            f"SELECT {_STATE} FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
            (dump(list(session_ids)),),
        )
        window_states = {state.session_id: state for state in map(_window_state, rows)}
        missing = [session_id for session_id in session_ids if session_id not in window_states]
        if missing:
            raise _unknown(missing[0])
        return [window_states[session_id] for session_id in session_ids]

    def _state(self, where: str, value: SQLValue) -> WindowState:
        row = self._db.query_one(f"SELECT {_STATE} FROM sessions WHERE {where}", (value,))
        if row is None:
            raise _unknown(value)
        return _window_state(row)

    def add(self, number: int, record: CompactionRecord, context: NewContext) -> int:
        """Store a compaction and what the window became with it, in the caller's transaction; return its number."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO compaction_records(id, session_no, at, range_start, range_end, timesteps, tokens_before,"
                " tokens_after, summary, concept_tags, top_k_activations, trigger, result_level, generated_by)"
                " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    record.id,
                    number,
                    to_micros(record.timestamp),
                    record.range_start,
                    record.range_end,
                    record.timesteps_compacted,
                    record.tokens_before,
                    record.tokens_after,
                    record.summary,
                    dump(list(record.summary_concept_tags)),
                    dump(dict(record.top_k_activations)),
                    record.trigger.value,
                    int(record.result_level),
                    record.generated_by,
                ),
            )
            row_number = con.last_insert_rowid
            con.execute(
                "UPDATE sessions SET compacted_through = ?, context_summary = ?, context_summary_tokens = ?"
                " WHERE no = ?",
                (context.compacted_through, context.summary, context.summary_tokens, number),
            )
        return row_number

    def find(
        self, *, session_id: str | None = None, limit: int = -1, offset: int = 0
    ) -> list[CompactionRecord]:
        """Return compactions in the order in which they were made, of one session or of all."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} {_FROM} WHERE (:session IS NULL OR s.id = :session)"
            " ORDER BY c.no LIMIT :limit OFFSET :offset",
            {"session": session_id, "limit": limit, "offset": offset},
        )
        return [_record(row) for row in rows]

    def after(self, number: int, *, limit: int) -> list[tuple[int, CompactionRecord]]:
        """Return the compactions that were stored after the one of this number, with theirs, in their order."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} {_FROM} WHERE c.no > ? ORDER BY c.no LIMIT ?", (number, limit)
        )
        return [(row[14], _record(row)) for row in rows]

    def last_start(self, number: int) -> int:
        """Return with which tick a session's last compaction began, 1 where there was none."""
        row = self._db.query_one(
            "SELECT range_start FROM compaction_records WHERE session_no = ? ORDER BY no DESC LIMIT 1",
            (number,),
        )
        return 1 if row is None else row[0]

    def idle(self, before: datetime) -> list[int]:
        """Return the sessions that compact by themselves and have sealed rows in their window, the last of them
        from before a time. What logs hold is not looked at: it is sealed within the hour.
        """  # fmt: skip
        rows = self._db.query(
            "SELECT s.no FROM sessions s JOIN stream_segment_sessions r ON r.session_no = s.no"
            " WHERE s.auto_compact = 1 GROUP BY s.no"
            " HAVING max(r.last_tick) > s.compacted_through AND max(r.last_at) < ? ORDER BY s.no",
            (to_micros(before),),
        )
        return [row[0] for row in rows]

    def pending(self) -> list[str]:
        """Return the sessions that compact by themselves and may have something in their window."""
        rows = self._db.query(
            "SELECT id FROM sessions WHERE auto_compact = 1 AND next_tick > compacted_through + 1 ORDER BY no"
        )
        return [row[0] for row in rows]

    def began_at(self, record: CompactionRecord) -> datetime | None:
        """Return when what was compacted began, as far as replies of it are still there."""
        row = self._db.query_one(
            "SELECT min(r.start_at) FROM compressed_records r JOIN sessions s ON s.no = r.session_no"
            " WHERE s.id = ? AND r.level = ? AND r.first_tick BETWEEN ? AND ?",
            (record.session_id, int(CompressionLevel.REPLY), record.range_start, record.range_end),
        )
        return None if row is None else optional_time(row[0])


def _record(row: Row) -> CompactionRecord:
    top = {concept: cast("float", score) for concept, score in load_object(row[10]).items()}
    return CompactionRecord(
        id=row[0],
        session_id=row[1],
        timestamp=from_micros(row[2]),
        range_start=row[3],
        range_end=row[4],
        timesteps_compacted=row[5],
        tokens_before=row[6],
        tokens_after=row[7],
        summary=row[8],
        summary_concept_tags=load_strings(row[9]),
        top_k_activations=dict(sorted(top.items(), key=lambda item: (-item[1], item[0]))),
        trigger=CompactionTrigger(row[11]),
        result_level=CompressionLevel(row[12]),
        generated_by=row[13],
    )


def _unknown(session: SQLValue) -> NotFound:
    return NotFound(f"There is no session {session!r};", remedy="`{start_session}` creates it.")


def _window_state(row: Row) -> WindowState:
    return WindowState(
        number=row[0],
        session_id=row[1],
        max_tokens=row[2],
        auto_compact=bool(row[3]),
        compacted_through=row[4],
        summary=row[5],
        summary_tokens=row[6],
        ended_at=optional_time(row[7]),
        next_tick=row[8],
    )
