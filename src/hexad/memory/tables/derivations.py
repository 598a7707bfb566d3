"""Which memories were made of others, and how far that lets them be trusted: no more than the least of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.connection import Connection, Database
from hexad.memory.memory import Trust, least_trust

DDL: Final = """
-- What a memory was made of, and how far that was trusted when it was last seen: a purged source still counts. The
-- row without a source is what the memory itself was given.
CREATE TABLE derivations (
  memory_no INTEGER NOT NULL REFERENCES memories(no),
  source_id TEXT NOT NULL,
  trust TEXT NOT NULL,
  PRIMARY KEY (memory_no, source_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX derivations_by_source ON derivations(source_id);
-- A fact is held against what is known under its key each time that one is written.
CREATE INDEX memories_by_fact ON memories(attribute, subject) WHERE subject IS NOT NULL OR attribute IS NOT NULL;
"""


def by_trust(alias: str) -> str:
    """Return the expression by which rows are ordered from the most to the least trusted."""
    return f"instr('{' '.join(Trust)}', {alias}.trust)"


class Derivations:
    """The sources of derived memories. Writing is inside the caller's transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def sources(self, memory_no: int) -> list[str]:
        """Return the ids of what a memory was made of, also of those that are gone."""
        rows = self._db.query(
            "SELECT source_id FROM derivations WHERE memory_no = ? AND source_id <> '' ORDER BY source_id",
            (memory_no,),
        )
        return [row[0] for row in rows]

    def sources_of(self, numbers: Collection[int]) -> dict[int, frozenset[str]]:
        """Return the ids of what these memories were made of, by their row numbers; most are not made of others."""
        rows = self._db.query(
            "SELECT memory_no, source_id FROM derivations WHERE source_id <> ''"
            " AND memory_no IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(numbers)),),
        )
        sources: dict[int, frozenset[str]] = {}
        for no, source_id in rows:
            sources[no] = sources.get(no, frozenset()) | {source_id}
        return sources

    def derived(self, source_ids: Collection[str]) -> list[int]:
        """Return the row numbers of what was made of these memories, directly or over others."""
        rows = self._db.query(
            "WITH RECURSIVE d(no) AS ("
            " SELECT memory_no FROM derivations WHERE source_id IN (SELECT value FROM json_each(?))"
            " UNION SELECT x.memory_no FROM d JOIN memories m ON m.no = d.no JOIN derivations x ON x.source_id = m.id"
            ") SELECT no FROM d ORDER BY no",
            (json.dumps(sorted(source_ids)),),
        )
        return [row[0] for row in rows]

    def least(self, source_ids: Sequence[str]) -> Trust | None:
        """Return the least trust of these memories; None when there is none of them."""
        rows = self._db.query(
            "SELECT trust FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(source_ids)),),
        )
        return least_trust(Trust(row[0]) for row in rows) if rows else None

    def least_of_source(self, source_no: int) -> Trust | None:
        """Return the least trust of the active memories of an ingested source; None when it has none."""
        rows = self._db.query(
            "SELECT DISTINCT trust FROM memories WHERE source_no = ? AND status = 'active'", (source_no,)
        )
        return least_trust(Trust(row[0]) for row in rows) if rows else None

    def put(self, memory_no: int, source_ids: Sequence[str], *, declared: Trust) -> None:
        """Say what a memory was made of, in the place of what was said before."""
        with self._db.joined() as con:
            con.execute("DELETE FROM derivations WHERE memory_no = ?", (memory_no,))
            con.execute(
                "INSERT INTO derivations(memory_no, source_id, trust) VALUES(?, '', ?)",
                (memory_no, declared.value),
            )
            con.execute(
                "INSERT OR IGNORE INTO derivations(memory_no, source_id, trust) SELECT ?, id, trust FROM memories"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (memory_no, json.dumps(list(source_ids))),
            )

    def follow(self, memory_id: str, *, vouched: bool = False) -> int:
        """Bring what was made of a memory to the trust that follows from it now; returns how many that changed.

        A source that was purged counts as it stood last: what it said may still be told. So does one that now says
        something else; only where the same words are `vouched` for anew does trust rise.
        """
        if self._db.query_one("SELECT 1 FROM derivations WHERE source_id = ? LIMIT 1", (memory_id,)) is None:
            return 0
        with self._db.joined() as con:
            waiting, changed, seen = [memory_id], 0, {memory_id}
            while waiting:
                source = waiting.pop()
                con.execute(
                    "UPDATE derivations SET trust = m.trust FROM memories m WHERE m.id = ?1"
                    f" AND derivations.source_id = ?1 AND (?2 OR {by_trust('m')} > {by_trust('derivations')})",
                    (source, vouched or source != memory_id),
                )
                rows = con.execute(
                    "SELECT m.no, m.id, m.trust FROM derivations d JOIN memories m ON m.no = d.memory_no"
                    " WHERE d.source_id = ?",
                    (source,),
                ).fetchall()
                for no, derived_id, trust in rows:
                    least = self._least_of(con, no)
                    if least.value != trust:
                        self._set(con, no, least)
                        changed += 1
                        if derived_id not in seen:
                            seen.add(derived_id)
                            waiting.append(derived_id)
        return changed

    @staticmethod
    def _least_of(con: Connection, no: int) -> Trust:
        rows = con.execute("SELECT trust FROM derivations WHERE memory_no = ?", (no,)).fetchall()
        return least_trust(Trust(row[0]) for row in rows)

    @staticmethod
    def _set(con: Connection, no: int, trust: Trust) -> None:
        con.execute(
            "UPDATE memories SET trust = ?, rev = ? WHERE no = ?", (trust.value, bump(con, "memories"), no)
        )
