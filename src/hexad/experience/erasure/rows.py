"""The rows that stand for experience and that an erasure takes: sessions, COLD records, compactions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.core.erasure import masked_item
from hexad.core.tick_ranges import Ranges, intersection, union
from hexad.database.codec import dump, parse, to_micros
from hexad.database.connection import Database, Row, SQLValue
from hexad.experience.values.records import CompressionLevel

_REPLY: Final = int(CompressionLevel.REPLY)
_MADE_BY: Final = "caller:experience"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdRow:
    """A COLD record without its texts. `sessions` are those that it covers; `ticks` are known of a reply only."""

    no: int
    id: str
    level: CompressionLevel
    times: tuple[int, int]
    ticks: Ranges
    tags: frozenset[str]
    timesteps: int
    tokens: int
    sessions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRange:
    """A compaction of a session, by the ticks that it summarises."""

    no: int
    id: str
    ticks: tuple[int, int]
    summary: str


class StreamErasureRows:
    """Looks for rows that tell of ticks, and takes them away in the caller's transaction."""

    def __init__(self, db: Database, *, key: Callable[[], bytes]) -> None:
        self._db, self._key = db, key

    # Sessions ---------------------------------------------------------------------------------------------------

    def sessions(self, *, session_id: str | None, subject: str | None) -> dict[int, str]:
        """Return the sessions of an id and a subject, or all: ids by number.

        Those that were erased are among them: a program that had one open may have recorded to it since.
        """
        masked = self._masked(session_id, subject) if self.erased_sessions() else (None, None)
        rows = self._db.query(
            "SELECT no, id FROM sessions WHERE (?1 IS NULL OR id = ?1 OR no IN"
            " (SELECT session_no FROM session_subjects WHERE subject = ?3)) AND (?2 IS NULL OR no IN"
            " (SELECT session_no FROM session_subjects WHERE subject IN (?2, ?4))) ORDER BY no",
            (session_id, subject, *masked),
        )
        return dict(rows)

    def erased_sessions(self) -> set[int]:
        """Return the numbers of the sessions that were erased as a whole."""
        return {row[0] for row in self._db.query("SELECT session_no FROM erased_sessions")}

    def _masked(self, session_id: str | None, subject: str | None) -> tuple[str | None, str | None]:
        """Return what stands for the names of an erased session; nobody without the key can tell which they were."""
        key = self._key()
        return (
            None if session_id is None else masked_item(key, f"session {session_id}"),
            None if subject is None else masked_item(key, f"subject {subject}"),
        )

    def next_ticks(self, sessions: Collection[int]) -> dict[int, int]:
        """Return the first tick that nobody has reserved, by session."""
        rows = self._db.query(
            "SELECT no, next_tick FROM sessions WHERE no IN (SELECT value FROM json_each(?))",
            (dump(sorted(sessions)),),
        )
        return dict(rows)

    def empty_session(self, session: int, *, erasure: str, at: datetime) -> None:
        """Leave nothing of a session but its number, how many ticks it had, and keyed hashes of its names.

        By those it is found where a program that had it open goes on recording to it.
        """
        with self._db.joined() as con:
            rows = con.execute(
                "SELECT id, (SELECT json_group_array(subject) FROM session_subjects WHERE session_no = no)"
                " FROM sessions WHERE no = ? AND no NOT IN (SELECT session_no FROM erased_sessions)",
                (session,),
            ).fetchall()
            for name, subjects in rows:
                con.execute("DELETE FROM session_subjects WHERE session_no = ?", (session,))
                masked = [self._masked(None, str(subject))[1] for subject in parse(subjects)]
                masked.append(self._masked(name, None)[0])
                con.executemany(
                    "INSERT INTO session_subjects VALUES(?, ?)", [(session, subject) for subject in masked]
                )
            con.execute(
                "UPDATE sessions SET id = ?1, created_at = ?2, ended_at = ?2, auto_compact = 0,"
                " context_summary = '', context_summary_tokens = 0 WHERE no = ?3",
                (f"erased-{session}-{erasure}", to_micros(at), session),
            )
            con.execute("INSERT OR IGNORE INTO erased_sessions VALUES(?, ?)", (session, erasure))

    def context(self, session: int) -> tuple[int, str, int]:
        """Return up to which tick a session was compacted, the summary in its window, and how many tokens that has."""
        row = self._db.query_one(
            "SELECT compacted_through, context_summary, context_summary_tokens FROM sessions WHERE no = ?",
            (session,),
        )
        assert row is not None
        return row

    def put_context(self, session: int, summary: str, tokens: int) -> None:
        """Give a session's window another summary."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE sessions SET context_summary = ?, context_summary_tokens = ? WHERE no = ?",
                (summary, tokens, session),
            )

    # COLD records -----------------------------------------------------------------------------------------------

    def replies(self, session: int) -> list[ColdRow]:
        """Return the replies of a session, by tick."""
        return self._cold(f"r.level = {_REPLY} AND r.session_no = ? ORDER BY r.first_tick, r.no", (session,))

    def coarse(self, sessions: Collection[int]) -> list[ColdRow]:
        """Return the records of a session or more that cover any of these sessions, the oldest first."""
        return self._cold(
            f"r.level > {_REPLY} AND (r.session_no IN (SELECT value FROM json_each(?1)) OR r.no IN"
            " (SELECT record_no FROM compressed_record_sessions WHERE session_no IN (SELECT value FROM json_each(?1))))"
            " ORDER BY r.start_at, r.no",
            (dump(sorted(sessions)),),
        )

    def other_coarse(self, without: Collection[int]) -> list[ColdRow]:
        """Return all records of a session or more but these, the largest first."""
        return self._cold(
            f"r.level > {_REPLY} AND r.no NOT IN (SELECT value FROM json_each(?)) ORDER BY r.timesteps DESC, r.no",
            (dump(sorted(without)),),
        )

    def _cold(self, where: str, params: tuple[SQLValue, ...]) -> list[ColdRow]:
        rows = self._db.query(
            "SELECT r.no, r.id, r.level, r.start_at, r.end_at, r.sources, r.significant_tags, r.timesteps,"
            " r.token_count, r.session_no, (SELECT json_group_array(x.session_no) FROM compressed_record_sessions x"
            f" WHERE x.record_no = r.no) FROM compressed_records r WHERE {where}",
            params,
        )
        return [_cold_row(row) for row in rows]

    def tagged_records(self, tag_ids: Collection[str]) -> list[int]:
        """Return the sessions that COLD records with any of these tags cover."""
        rows = self._db.query(
            "SELECT DISTINCT coalesce(x.session_no, r.session_no) FROM compressed_records r"
            " LEFT JOIN compressed_record_sessions x ON x.record_no = r.no WHERE EXISTS (SELECT 1 FROM"
            " json_each(r.significant_tags) t WHERE t.value IN (SELECT value FROM json_each(?)))",
            (dump(sorted(tag_ids)),),
        )
        return [row[0] for row in rows if row[0] is not None]

    def recount(self, record: int, *, timesteps: int, tokens: int) -> None:
        """Let a record stand for another number of timesteps and tokens."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE compressed_records SET timesteps = ?, token_count = ? WHERE no = ?",
                (timesteps, tokens, record),
            )

    # Compactions ------------------------------------------------------------------------------------------------

    def compactions(self, session: int) -> list[CompactionRange]:
        """Return the compactions of a session, by tick."""
        rows = self._db.query(
            "SELECT no, id, range_start, range_end, summary FROM compaction_records WHERE session_no = ?"
            " ORDER BY range_start, no",
            (session,),
        )
        return [
            CompactionRange(
                no=no,
                id=name,
                ticks=(first, last),
                summary=summary,
            )
            for no, name, first, last, summary in rows
        ]

    def remove_compactions(self, numbers: Collection[int]) -> int:
        """Remove compactions; returns how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM compaction_records WHERE no IN (SELECT value FROM json_each(?))",
                (dump(sorted(numbers)),),
            )
            return con.changes

    def remake_compaction(self, number: int, *, id: str, summary: str, tokens: int) -> None:
        """Put a compaction with another id and summary, and without concepts, in the place of one."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO compaction_records(id, session_no, at, range_start, range_end, timesteps, tokens_before,"
                " tokens_after, summary, concept_tags, top_k_activations, trigger, result_level, generated_by)"
                " SELECT ?1, session_no, at, range_start, range_end, timesteps, tokens_before, ?2, ?3, '[]', '{}',"
                " trigger, result_level, 'local' FROM compaction_records WHERE no = ?4",
                (id, tokens, summary, number),
            )
            con.execute("DELETE FROM compaction_records WHERE no = ?", (number,))

    def summaries_of(self, records: Collection[int]) -> list[str]:
        """Return the summaries of COLD records, by tick and time."""
        rows = self._db.query(
            "SELECT summary FROM compressed_records WHERE no IN (SELECT value FROM json_each(?))"
            " ORDER BY first_tick, start_at, no",
            (dump(sorted(records)),),
        )
        return [row[0] for row in rows]

    def remembered(self, session_id: str, ticks: Ranges | None) -> list[str]:
        """Return the source ids of memories that tell of a session's ticks, or of all of it: compactions' and records'.

        Of a record that is no more nobody knows of which ticks it told.
        """
        rows = self._db.query(
            "SELECT m.source_id, m.metadata ->> '$.range_start', m.metadata ->> '$.range_end',"
            " EXISTS (SELECT 1 FROM compressed_records r WHERE r.id = m.source_id) FROM memories m"
            " WHERE m.source_no IN (SELECT no FROM sources WHERE uri = ?) AND m.metadata ->> '$.session' = ?",
            (_MADE_BY, session_id),
        )
        return [
            name
            for name, first, last, there in rows
            if ticks is None
            or (first is not None and intersection(ticks, [(int(first), int(last or first))]))
            or (first is None and not there)
        ]

    # Whether it is as it was ------------------------------------------------------------------------------------

    def state(self, sessions: Collection[int], left: Callable[[int], Ranges]) -> object:
        """Return what changes when a compaction, a compression or a window came in between; `left` says which ticks
        of a session left the stream.
        """  # fmt: skip
        listed = (dump(sorted(sessions)),)
        with self._db.read():
            return (
                [(session, left(session)) for session in sorted(sessions)],
                [(row.no, row.timesteps) for row in self.coarse(sessions)],
                self._db.query(
                    "SELECT no FROM compressed_records WHERE session_no IN (SELECT value FROM json_each(?))"
                    " ORDER BY no",
                    listed,
                ),
                self._db.query(
                    "SELECT no, compacted_through, context_summary FROM sessions WHERE no IN"
                    " (SELECT value FROM json_each(?)) ORDER BY no",
                    listed,
                ),
                self._db.query(
                    "SELECT no, first_tick, last_tick FROM time_windows WHERE session_no IN"
                    " (SELECT value FROM json_each(?)) ORDER BY no",
                    listed,
                ),
            )


def _cold_row(row: Row) -> ColdRow:
    level = CompressionLevel(row[2])
    sources = parse(row[5])
    covered: Sequence[int] = [row[9]] if row[9] is not None else parse(row[10])
    ticks = (
        union((int(first), int(last)) for first, last in sources) if level is CompressionLevel.REPLY else ()
    )
    return ColdRow(
        no=row[0],
        id=row[1],
        level=level,
        times=(row[3], row[4]),
        ticks=ticks,
        tags=frozenset(str(tag) for tag in parse(row[6])),
        timesteps=row[7],
        tokens=row[8],
        sessions=tuple(covered),
    )


STREAM_ERASURE_DDL: Final = """
-- Ticks that were there and were erased for good: disjoint ranges, both ends included, none of them in `stream_cold`.
CREATE TABLE stream_erased (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  PRIMARY KEY (session_no, first_tick)
) WITHOUT ROWID, STRICT;

-- Those of them that a log or a segment may still hold: no answer has them, and they go when no file does.
CREATE TABLE stream_erasing (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  first_tick INTEGER NOT NULL,
  last_tick INTEGER NOT NULL,
  PRIMARY KEY (session_no, first_tick)
) WITHOUT ROWID, STRICT;

-- Sessions of which nothing is left but the number: it is not given again, nor are their ticks.
CREATE TABLE erased_sessions (
  session_no INTEGER PRIMARY KEY REFERENCES sessions(no),
  erasure TEXT NOT NULL
) STRICT;

-- The people whose data it is.
CREATE TABLE session_subjects (
  session_no INTEGER NOT NULL REFERENCES sessions(no),
  subject TEXT NOT NULL,
  PRIMARY KEY (session_no, subject)
) WITHOUT ROWID, STRICT;
CREATE INDEX session_subjects_back ON session_subjects(subject);
CREATE TABLE document_subjects (
  document_id TEXT NOT NULL,               -- also of one that was removed and may be brought back
  subject TEXT NOT NULL,
  PRIMARY KEY (document_id, subject)
) WITHOUT ROWID, STRICT;
CREATE INDEX document_subjects_back ON document_subjects(subject);
"""
