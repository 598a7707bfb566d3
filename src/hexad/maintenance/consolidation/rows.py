"""What consolidation reads and writes: memories as they are judged, near-duplicates, sizes, what was promoted."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from hexad.database.change_counters import ChangeCache, bump
from hexad.database.codec import from_micros, optional_time, to_micros
from hexad.database.connection import Database, Row
from hexad.database.meta import Meta
from hexad.errors import IntegrityError
from hexad.maintenance.consolidation.values import DECAYED, PROMOTED, LayerSize
from hexad.memory.memory import CONSOLIDATED, Relevance, Trust
from hexad.memory.tables.duplicates import NEAR_DUPLICATE
from hexad.memory.tables.updates import STANDING, SURE

EXPERIENCE: Final = "experience"
"""The space of what was made of recorded experience: that grows old by rules of its own."""
_RESTS: Final = "('link:depends-on', 'link:depends_on', 'link:based-on', 'link:based_on', 'link:cites')"
_LAYER: Final = (
    "CASE WHEN m.kind = 'decision' THEN 'governance' WHEN m.source_no IS NULL THEN 'project'"
    " ELSE 'vector' END"
)
SESSION: Final = "conversation_session"
"""Name in a memory's metadata: the session that it is from. Erasing that session takes it along."""


def _number(name: str) -> str:
    """Return what a draft's note of its age says, where that is a number; anybody may write metadata."""
    key = f"m.metadata, '$.{DECAYED}.{name}'"
    return f"iif(json_type({key}) IN ('real', 'integer'), json_extract({key}), NULL)"


_COLUMNS: Final = (
    "m.no, m.id, m.space_no, s.name, coalesce(m.audience_no, 0), m.kind, m.pinned, m.importance, m.confidence,"
    " m.trust, m.created_at, max(m.updated_at, m.created_at, coalesce(u.last_used_at, 0)), u.last_used_at,"
    " m.happened_at, m.fact_look, m.value, coalesce(m.source_no, 0), coalesce(src.kind, ''),"
    " EXISTS (SELECT 1 FROM turns t WHERE t.memory_no = m.no), octet_length(m.raw), m.citations <> '[]',"
    " m.tags, m.data_subjects, coalesce(m.metadata ->> '$.project', ''),"
    " coalesce(m.metadata ->> '$.draft', 0) = 1,"
    f" coalesce(m.metadata ->> '$.{CONSOLIDATED}.action', ''),"
    f" {_number('base')}, {_number('to')},"
    " (SELECT json_group_array(no) FROM (SELECT d.no FROM relations r JOIN memories d ON d.no = r.from_no"
    f"  WHERE r.to_no = m.no AND r.kind IN {_RESTS} AND d.status = 'active'"
    " UNION SELECT d.no FROM derivations v JOIN memories d ON d.no = v.memory_no"
    "  WHERE v.source_id = m.id AND d.status = 'active')),"
    f" {_LAYER},"
    " m.path, m.valid_to, coalesce(m.source_id, '') || json_remove(m.metadata, '$.hash', '$.pii_flags', '$.project',"
    f"  '$.space', '$.draft', '$.source', '$.{CONSOLIDATED}', '$.{DECAYED}', '$.{PROMOTED}',"
    f"  '$.{SESSION}'),"
    f" coalesce(m.metadata ->> '$.{SESSION}', '') || coalesce((SELECT group_concat(source_id) FROM"
    "  (SELECT source_id FROM derivations WHERE memory_no = m.no ORDER BY 1)), ''),"
    f" coalesce(m.subject, ''), coalesce(m.attribute, ''), {_number('at')}, m.relevance,"
    " coalesce(m.metadata ->> '$.needs_review', 0) = 1"
    f" OR EXISTS (SELECT 1 FROM relations r WHERE r.from_no = m.no AND r.kind IN {_RESTS}),"
    " EXISTS (SELECT 1 FROM relations r WHERE r.from_no = m.no AND r.to_no <> m.no"
    f"  AND {STANDING} AND r.score >= {SURE}),"
    " EXISTS (SELECT 1 FROM relations r JOIN memories d ON d.no = r.from_no WHERE r.to_no = m.no"
    f"  AND r.from_no <> m.no AND {STANDING} AND r.score >= {SURE} AND d.status = 'active')"
)
_FROM: Final = (
    "FROM memories m JOIN spaces s ON s.no = m.space_no LEFT JOIN usage u ON u.memory_no = m.no"
    " LEFT JOIN sources src ON src.no = m.source_no"
    f" WHERE m.status = 'active' AND s.name <> '{EXPERIENCE}'"
)


class ConsolidationCandidate(NamedTuple):
    """A memory as it is judged, without its text; `touched` is when it was written, changed or read last.

    A draft's `base` is how sure it was before it grew old, `to` how sure it was made then, and `lowered_at` when.
    `resting` are the memories that rest on it, `dependent` says that it rests on something itself or did until that
    went, `more` is what somebody noted among its metadata, `origins` what takes it along when it is erased: the session
    that it is from, and what it was derived from. `replaces` says that it surely took the place of another by its
    words, and `replaced` that another took its own.
    """

    no: int
    id: str
    space_no: int
    space: str
    audience: int
    kind: str
    pinned: bool
    importance: float
    confidence: float
    trust: Trust
    created_at: datetime
    touched: datetime
    read_at: datetime | None
    holds_since: datetime
    look: str | None
    value: str | None
    source: int
    source_kind: str
    is_turn: bool
    bytes: int
    cited: bool
    tags: str
    subjects: str
    project: str
    draft: bool
    done_before: str
    base: float | None
    to: float | None
    resting: frozenset[int]
    layer: str
    path: str = ""
    valid_to: datetime | None = None
    more: str = "{}"
    origins: str = ""
    subject: str = ""
    attribute: str = ""
    lowered_at: datetime | None = None
    relevance: str = Relevance.MEDIUM
    dependent: bool = False
    replaces: bool = False
    replaced: bool = False


class ConsolidationRows:
    """The rows of one store; nothing is hidden from upkeep."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._sizes = ChangeCache[list[Row]](db, "memories")

    # Reading ----------------------------------------------------------------------------------------------------

    def candidates(self, numbers: Collection[int] | None = None) -> list[ConsolidationCandidate]:
        """Return active memories by row number: all, or those of these that still are."""
        if numbers is None:
            rows = self._db.query(f"SELECT {_COLUMNS} {_FROM} ORDER BY m.no")
        else:
            rows = self._db.query(
                f"SELECT {_COLUMNS} {_FROM} AND m.no IN (SELECT value FROM json_each(?)) ORDER BY m.no",
                (json.dumps(sorted(numbers)),),
            )
        return [_candidate(row) for row in rows]

    def near(self) -> list[tuple[int, int]]:
        """Return pairs of active memories of one space that say almost the same, the one that came later first."""
        rows = self._db.query(
            "SELECT r.from_no, r.to_no FROM relations r JOIN memories a ON a.no = r.from_no"
            " JOIN memories b ON b.no = r.to_no WHERE r.kind = ? AND a.status = 'active' AND b.status = 'active'"
            " AND a.space_no = b.space_no ORDER BY 1, 2",
            (NEAR_DUPLICATE,),
        )
        return [(first, other) for first, other in rows]

    def texts(self, numbers: Collection[int]) -> dict[int, str]:
        """Return what these memories say, by row number."""
        rows = self._db.query(
            "SELECT no, raw FROM memories WHERE no IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)),),
        )
        return dict(rows)

    def evidence(self, numbers: Collection[int]) -> dict[int, tuple[int, datetime]]:
        """Return how often these memories were said again, and when last; those that never were are left out."""
        rows = self._db.query(
            "SELECT memory_no, count(*), max(seen_at) FROM evidence"
            " WHERE memory_no IN (SELECT value FROM json_each(?)) GROUP BY 1",
            (json.dumps(sorted(numbers)),),
        )
        return {no: (count, from_micros(at)) for no, count, at in rows}

    def sizes(self) -> dict[str, LayerSize]:
        """Return how large the layers of the store are: what is recalled, and the bytes of its texts.

        What was made of recorded experience is not counted: it has limits of its own, and no quota takes it.
        """
        memories = self._sizes.get(
            None,
            lambda: self._db.query(f"SELECT {_LAYER}, count(*), sum(octet_length(m.raw)) {_FROM} GROUP BY 1"),
        )
        rows = self._db.query(
            "SELECT 'session', count(*), coalesce(sum(octet_length(state)), 0) FROM working_sets"
            " UNION ALL SELECT 'graph', count(*),"
            "  coalesce(sum(octet_length(data)), 0) FROM honeycomb_contents"
        )
        return {
            layer: LayerSize(layer=layer, count=count, bytes=size or 0)
            for layer, count, size in (*memories, *rows)
        }

    def arrivals(self, *, now: datetime) -> list[tuple[int, datetime]]:
        """Return from which row on memories came no earlier than when, by row number.

        A row that was written as the store's own tells it, whatever became of it since; what else came is noted.
        """
        arrivals = Meta(self._db).arrivals()
        made_at = self.made_at()
        latest = to_micros(made_at) if made_at is not None else None
        for no, at in self._db.query("SELECT no, created_at FROM memories ORDER BY no"):
            if not isinstance(at, int):
                raise IntegrityError(
                    f"The store is damaged: memory number {no} was made at {at!r}, which is no time. "
                    "Run `hexad check`, and put a backup in its place."
                )
            if at <= to_micros(now) and (latest is None or at > latest):
                latest = at
                arrivals.append((no, from_micros(at)))
        return sorted([*arrivals, *([] if made_at is None else [(0, made_at)])])

    def made_at(self) -> datetime | None:
        """Return when the store was made."""
        row = self._db.query_one("SELECT applied_at FROM schema_migrations ORDER BY number LIMIT 1")
        return None if row is None else datetime.fromisoformat(row[0])

    # Writing: always in the caller's transaction ------------------------------------------------------------------

    def note(self, no: int, name: str, value: Mapping[str, object]) -> None:
        """Keep a note of ours among a memory's metadata, in the place of an older one."""
        with self._db.joined() as con:
            con.execute(
                f"UPDATE memories SET metadata = json_set(metadata, '$.{name}', json(?)), rev = ? WHERE no = ?",
                (json.dumps(value, ensure_ascii=False, sort_keys=True), bump(con, "memories"), no),
            )

    def set_confidence(self, no: int, confidence: float) -> None:
        """Say how sure a memory is; when it was changed stays."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET confidence = ?, rev = ? WHERE no = ?",
                (confidence, bump(con, "memories"), no),
            )

    def has_evidence(self, no: int, note: str) -> bool:
        """Whether a memory has evidence with this note."""
        row = self._db.query_one(
            "SELECT 1 FROM evidence WHERE memory_no = ? AND note = ? LIMIT 1", (no, note)
        )
        return row is not None

    # What was promoted ---------------------------------------------------------------------------------------------

    def ended_sessions(self) -> list[tuple[str, int]]:
        """Return the ids of working sets that have ended, with their snapshots' numbers, the first that ended first."""
        rows = self._db.query(
            "SELECT id, rev FROM working_sets WHERE ended_at IS NOT NULL ORDER BY ended_at, no"
        )
        return [(name, rev) for name, rev in rows]

    def promoted(self) -> dict[tuple[str, str], int]:
        """Return of which tasks of which sessions what they left was promoted, and at which snapshot."""
        rows = self._db.query("SELECT session, task, rev FROM consolidated_tasks")
        return {(session, task): rev for session, task, rev in rows}

    def note_promoted(self, session: str, task: str, *, rev: int, at: datetime) -> None:
        """Keep that what a task left was promoted, as it stood at this snapshot."""
        with self._db.joined() as con:
            con.execute(
                "INSERT INTO consolidated_tasks(session, task, rev, at) VALUES(?,?,?,?)"
                " ON CONFLICT DO UPDATE SET rev = excluded.rev, at = excluded.at",
                (session, task, rev, to_micros(at)),
            )

    def remove_sessions(self, names: Iterable[str], *, before: datetime) -> list[str]:
        """Remove working sets that ended before a time and whose task was promoted as they stand; returns which."""
        with self._db.joined() as con:
            gone_names = [
                name
                for (name,) in con.execute(
                    "DELETE FROM working_sets WHERE id IN (SELECT value FROM json_each(?)) AND ended_at < ?"
                    " AND EXISTS (SELECT 1 FROM consolidated_tasks c WHERE c.session = working_sets.id"
                    "  AND c.rev = working_sets.rev) RETURNING id",
                    (json.dumps(sorted(names)), to_micros(before)),
                ).fetchall()
            ]
            con.execute(
                "DELETE FROM consolidated_tasks WHERE session IN (SELECT value FROM json_each(?))",
                (json.dumps(gone_names),),
            )
        return gone_names


def _candidate(row: Row) -> ConsolidationCandidate:
    values: list[Any] = list(row)
    for at in (6, 18, 20, 24, 38, 39, 40):
        values[at] = bool(values[at])
    values[9] = Trust(values[9])
    values[28] = frozenset(json.loads(values[28]))
    for at in (10, 11, 13):
        values[at] = from_micros(values[at])
    for at in (12, 31, 36):
        values[at] = optional_time(values[at])
    return ConsolidationCandidate(*values)


CONSOLIDATION_DDL: Final = """
-- Of which tasks of which working sets what they left was promoted; as the working set stood at that snapshot.
CREATE TABLE consolidated_tasks (
  session TEXT NOT NULL,
  task TEXT NOT NULL,                      -- a keyed hash: what it was, the working set says
  rev INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, task)
) WITHOUT ROWID, STRICT;
-- Memories whose notes name what remains of them.
CREATE INDEX memories_consolidated ON memories(metadata ->> '$.consolidated.remains')
  WHERE metadata ->> '$.consolidated.remains' IS NOT NULL;
CREATE INDEX memory_versions_consolidated ON memory_versions(metadata ->> '$.consolidated.remains')
  WHERE metadata ->> '$.consolidated.remains' IS NOT NULL;
"""
