"""Which memories an erasure takes, which rest on them, and the rows beside them that it takes too."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from hexad.core.erasure import Selection, masked_item
from hexad.database.change_counters import bump
from hexad.database.codec import to_micros
from hexad.database.component import MemoryTable
from hexad.database.connection import Connection, Database, SQLValue
from hexad.memory.tables.rows import seen_sql
from hexad.text.normalize import slug

EXPERIENCE: Final = "experience"
_AMONG: Final = "IN (SELECT value FROM json_each(?))"
_DERIVED: Final = "link:derived-from"
_DEPENDS: Final = ("link:depends-on", "link:depends_on", "link:based-on", "link:based_on")
_NAMING: Final = ("$.quarantine.of", "$.beside", "$.consolidated.remains")
"""Where the notes of a memory name another one."""


class ErasedMemories:
    """Looks for what an erasure takes, as far as `roles` may see it; None sees all."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db, self._roles = db, roles

    # What is taken ----------------------------------------------------------------------------------------------

    def selected(
        self, selection: Selection, *, last: int | None = None, active_only: bool = False
    ) -> list[int]:
        """Return the row numbers of what a selection names, whatever its status, up to row `last`."""
        where, params = self._conditions(selection)
        if last is not None:
            where.append("m.no <= ?")
            params.append(last)
        if active_only:
            where.append("m.status = 'active'")
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no FROM memories m JOIN spaces s ON s.no = m.space_no"
            f" WHERE {' AND '.join(where)}{seen} ORDER BY m.no",
            (*params, *roles),
        )
        return [row[0] for row in rows]

    def subjects(self) -> set[str]:
        """Return the people whose data memories are."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT DISTINCT d.value FROM memories m, json_each(m.data_subjects) d"
            f" WHERE m.data_subjects <> '[]'{seen}",
            roles,
        )
        return {row[0] for row in rows}

    def texts_beside(
        self, subject: str, like: str, *, space: str | None
    ) -> Iterator[tuple[int, str, str, str, str]]:
        """Yield row, id, path, text and space of memories that are not about a person and name them, it seems.

        These are `like` a pattern, as SQL has it, or in a space that is called as the person. Whatever their status;
        of one space, where it is given.
        """
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no, m.id, m.path, m.raw, s.name FROM memories m JOIN spaces s ON s.no = m.space_no"
            " WHERE (m.raw LIKE ?1 OR m.path LIKE ?1 OR s.name = ?2) AND (?3 IS NULL OR s.name = ?3)"
            " AND NOT EXISTS (SELECT 1 FROM json_each(m.data_subjects) WHERE value = ?2)"
            f"{seen} ORDER BY m.no",
            (like, subject, space, *roles),
        )
        yield from rows

    def _conditions(self, selection: Selection) -> tuple[list[str], list[SQLValue]]:
        where, params = ["1"], list[SQLValue]()
        if selection.id is not None:
            where.append("m.id = ?")
            params.append(selection.id)
        if selection.space is not None:
            where.append("m.space_no IN (SELECT no FROM spaces WHERE name = ?)")
            params.append(selection.space)
        if selection.source is not None:
            where.append(
                "(m.source_no IN (SELECT no FROM sources WHERE uri = ? AND kind <> 'caller') OR m.source_id = ?"
                " OR (m.source_id >= ? AND m.source_id < ?))"
            )
            prefix = selection.source if selection.source.endswith("/") else "\0"
            params += [selection.source, selection.source, prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)]
        if selection.tag is not None:
            where.append("m.no IN (SELECT memory_no FROM memory_tags WHERE tag = ?)")
            params.append(slug(selection.tag))
        if selection.path is not None:
            prefix = selection.path.rstrip("/")
            where.append("(m.path = ? OR (m.path >= ? AND m.path < ?))")
            params += [prefix, prefix + "/", prefix + "0"]
        if selection.session is not None:
            where.append(
                "(m.metadata ->> '$.conversation_session' = ? OR m.no IN (SELECT t.memory_no FROM turns t"
                " JOIN conversation_sessions c ON c.no = t.session_no WHERE c.session = ?)"
                f" OR (s.name = '{EXPERIENCE}' AND m.metadata ->> '$.session' = ?))"
            )
            params += [selection.session] * 3
        if selection.subject is not None:
            where.append(
                "m.data_subjects <> '[]' AND EXISTS (SELECT 1 FROM json_each(m.data_subjects) WHERE value = ?)"
            )
            params.append(selection.subject)
        if selection.before is not None:
            where.append("m.happened_at < ?")
            params.append(to_micros(selection.before))
        return where, params

    def spaces_of(self, numbers: Collection[int]) -> list[str]:
        """Return the names of the spaces that these memories are in."""
        rows = self._db.query(
            f"SELECT DISTINCT s.name FROM memories m JOIN spaces s ON s.no = m.space_no WHERE m.no {_AMONG} ORDER BY 1",
            (json.dumps(list(numbers)),),
        )
        return [row[0] for row in rows]

    def ids_of(self, numbers: Collection[int]) -> list[str]:
        """Return the ids of these memories."""
        rows = self._db.query(f"SELECT id FROM memories WHERE no {_AMONG}", (json.dumps(list(numbers)),))
        return [row[0] for row in rows]

    def remembered(self, records: Sequence[str], between: Sequence[str] | None) -> list[int]:
        """Return the memories of these compactions and COLD records, whatever their status.

        With `between` also those that are archived because their record is no more, and that tell of a moment in it.
        """
        first, last = between or ("1", "0")
        rows = self._db.query(
            "SELECT m.no FROM spaces s JOIN memories m ON m.space_no = s.no WHERE s.name = ?1 AND"
            " (m.source_id IN (SELECT value FROM json_each(?2)) OR (m.status <> 'active'"
            " AND m.metadata ->> '$.record' IS NOT NULL AND julianday(m.metadata ->> '$.start_time') <= julianday(?4)"
            " AND julianday(m.metadata ->> '$.end_time') >= julianday(?3)"
            " AND NOT EXISTS (SELECT 1 FROM compressed_records r WHERE r.id = m.source_id))) ORDER BY m.no",
            (EXPERIENCE, json.dumps(list(records)), first, last),
        )
        return [row[0] for row in rows]

    # What rests on it -------------------------------------------------------------------------------------------

    def dependants(
        self, numbers: Collection[int], summaries: str, *, without: Collection[int] = ()
    ) -> tuple[list[int], list[int]]:
        """Return which other memories go with these, and which only rest on them.

        With them go those that are derived from nothing else that is left, and the summaries of their sources, whose
        items are called `summaries`. Derived is what was written as such, or what a link `derived-from` leads from;
        `depends-on` and `based-on` say that something rests on something. What is `without` counts as gone before.
        """
        excluded, resting = {*numbers, *without}, set[int]()
        numbers_found, fresh = set[int](), set(numbers)
        while fresh:
            whole, some = self._derived(fresh, excluded)
            resting |= some | self._linked(fresh, _DEPENDS)
            fresh = whole - excluded
            excluded |= fresh
            numbers_found |= fresh
        numbers_found |= self._summaries(excluded, summaries) - excluded
        return sorted(numbers_found), sorted(resting - excluded - numbers_found)

    def _derived(self, fresh: Collection[int], excluded: Collection[int]) -> tuple[set[int], set[int]]:
        """Return what is derived from any of these: from nothing else that is left, and the rest."""
        wholly, partly = set[int](), set[int]()
        for no, on in self._derivations(fresh).items():
            (wholly if on <= set(excluded) else partly).add(no)
        return wholly, partly

    def _derivations(self, fresh: Collection[int]) -> dict[int, set[int]]:
        """Return of what that is left each memory is derived that is derived from any of these."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT DISTINCT m.no FROM memories f JOIN derivations d ON d.source_id = f.id"
            f" JOIN memories m ON m.no = d.memory_no WHERE f.no {_AMONG}{seen}",
            (json.dumps(list(fresh)), *roles),
        )
        derivations: dict[int, set[int]] = {}
        for no in {row[0] for row in rows} | self._linked(fresh, (_DERIVED,)):
            on = self._db.query(
                "SELECT m.no FROM derivations d JOIN memories m ON m.id = d.source_id WHERE d.memory_no = ?1"
                " UNION SELECT to_no FROM relations WHERE from_no = ?1 AND kind = ?2",
                (no, _DERIVED),
            )
            derivations[no] = {row[0] for row in on}
        return derivations

    def _linked(self, numbers: Collection[int], kinds: Sequence[str]) -> set[int]:
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT r.from_no FROM json_each(?) j JOIN relations r ON r.to_no = j.value"
            f" JOIN memories m ON m.no = r.from_no WHERE r.kind {_AMONG}{seen}",
            (json.dumps(list(numbers)), json.dumps(list(kinds)), *roles),
        )
        return {row[0] for row in rows}

    def _summaries(self, numbers: Collection[int], source_id: str) -> set[int]:
        rows = self._db.query(
            f"SELECT o.no FROM (SELECT DISTINCT source_no FROM memories WHERE no {_AMONG} AND source_no IS NOT NULL) g"
            " JOIN memories o ON o.source_no = g.source_no AND o.source_id = ?",
            (json.dumps(list(numbers)), source_id),
        )
        return {row[0] for row in rows}

    def flag(self, numbers: Collection[int]) -> list[str]:
        """Mark memories as in need of review, and return their ids."""
        listed = json.dumps(list(numbers))
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET metadata = json_set(metadata, '$.needs_review', json('true')), rev = ?"
                f" WHERE no {_AMONG}",
                (bump(con, "memories"), listed),
            )
        return self.ids_of(numbers)

    # What goes with it ------------------------------------------------------------------------------------------

    def counts(
        self, numbers: Collection[int], tables: Iterable[MemoryTable], *, without: Collection[int] = ()
    ) -> dict[str, int]:
        """Return how much of what goes these memories have, by place: memories, links, rows of `tables`.

        Links of what is `without` count as gone before.
        """
        listed = json.dumps(list(numbers))
        counts: dict[str, int] = {}
        for table in tables:
            if table.counted_as is None:
                continue
            counts[table.counted_as] = self._count(
                f"SELECT count(*) FROM {table.name} WHERE {table.column} {_AMONG}", listed
            )
        counts["links"] = self._count(
            f"SELECT count(*) FROM (SELECT from_no, kind, to_no FROM relations WHERE from_no {_AMONG}"
            f" UNION SELECT from_no, kind, to_no FROM relations WHERE to_no {_AMONG})"
            f" WHERE NOT from_no {_AMONG} AND NOT to_no {_AMONG}",
            listed,
            listed,
            gone := json.dumps(list(without)),
            gone,
        )
        return {"memories": self._count(f"SELECT count(*) FROM memories WHERE no {_AMONG}", listed), **counts}

    def text_bytes(self, numbers: Collection[int]) -> int:
        """Return how long the texts of these memories are together, in UTF-8."""
        return self._count(
            f"SELECT coalesce(sum(octet_length(raw)), 0) FROM memories WHERE no {_AMONG}",
            json.dumps(list(numbers)),
        )

    def still_active(self, numbers: Collection[int]) -> list[int]:
        """Return which of these memories are active."""
        rows = self._db.query(
            f"SELECT no FROM memories WHERE no {_AMONG} AND status = 'active'", (json.dumps(list(numbers)),)
        )
        return [row[0] for row in rows]

    def mark_archived(self, numbers: Collection[int], *, at: datetime) -> None:
        """Say of archived memories that somebody archived them, and not their age."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET updated_at = max(?1, created_at), archived_at = max(?1, created_at)"
                " WHERE no IN (SELECT value FROM json_each(?2))",
                (to_micros(at), json.dumps(list(numbers))),
            )

    def _count(self, sql: str, *params: SQLValue) -> int:
        row = self._db.query_one(sql, params)
        return row[0] if row else 0

    def let_go(self, numbers: Collection[int], summaries: str, key: Callable[[], bytes]) -> None:
        """Take what names these memories elsewhere, in the caller's transaction and before they go."""
        listed = json.dumps(list(numbers))
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET supersedes = NULL WHERE supersedes IS NOT NULL AND supersedes IN"
                f" (SELECT id FROM memories WHERE no {_AMONG})",
                (listed,),
            )
            self._mask_sources(con, listed, key)
            con.execute(
                f"DELETE FROM source_items WHERE memory_no {_AMONG} AND source_id = ?", (listed, summaries)
            )
            rows = con.execute(
                f"SELECT source_no, source_id FROM source_items WHERE memory_no {_AMONG}", (listed,)
            ).fetchall()
            if rows:
                secret = key()
                con.executemany(
                    "UPDATE OR REPLACE source_items SET source_id = ?, fingerprint = '', memory_no = NULL"
                    " WHERE source_no = ? AND source_id = ?",
                    [(masked_item(secret, source_id), no, source_id) for no, source_id in rows],
                )

    def unname(self, ids: Sequence[str]) -> None:
        """Take these ids out of the notes of other memories: beside which they stand, which they would have changed."""
        listed = json.dumps(ids)
        with self._db.joined() as con:
            for path in _NAMING:
                names = f"metadata ->> '{path}' IS NOT NULL AND metadata ->> '{path}' {_AMONG}"
                con.execute(
                    f"UPDATE memory_versions SET metadata = json_remove(metadata, '{path}') WHERE {names}",
                    (listed,),
                )
                row = con.execute(
                    f"SELECT EXISTS (SELECT 1 FROM memories WHERE {names})", (listed,)
                ).fetchone()
                if row is not None and row[0]:
                    con.execute(
                        f"UPDATE memories SET metadata = json_remove(metadata, '{path}'), rev = ? WHERE {names}",
                        (bump(con, "memories"), listed),
                    )

    @staticmethod
    def _mask_sources(con: Connection, listed: str, key: Callable[[], bytes]) -> None:
        """What was made of these memories stays as little trusted as they were, and does not name them."""
        rows = con.execute(
            "SELECT DISTINCT d.source_id FROM memories m JOIN derivations d ON d.source_id = m.id"
            f" WHERE m.no {_AMONG}",
            (listed,),
        ).fetchall()
        if rows:
            secret = key()
            con.executemany(
                "UPDATE OR REPLACE derivations SET source_id = ? WHERE source_id = ?",
                [(masked_item(secret, source), source) for (source,) in rows],
            )

    def mask_tombstones(self, first: int, key: Callable[[], bytes]) -> None:
        """Take the ids out of the tombstones from row `first` on: callers may choose ids, and those may name people."""
        with self._db.joined() as con:
            rows = con.execute("SELECT no, id FROM tombstones WHERE no >= ?", (first,)).fetchall()
            if rows:
                secret = key()
                con.executemany(
                    "UPDATE tombstones SET id = ? WHERE no = ?",
                    [(masked_item(secret, name), no) for no, name in rows],
                )

    def next_tombstone(self) -> int:
        """Return the number that the next tombstone has, or a lower one."""
        return self._count("SELECT coalesce(max(no), 0) + 1 FROM tombstones")

    def let_go_of_space(self, name: str) -> int:
        """Forget what a space's file said besides its objects, and sources of it that wait; returns how many wait."""
        with self._db.joined() as con:
            con.execute("UPDATE spaces SET origin = NULL WHERE name = ?", (name,))
            con.execute("DELETE FROM ingest_queue WHERE options ->> '$.space' = ?", (name,))
            return con.changes

    def let_go_of_source(self, source: str) -> int:
        """Take a source off the queue; returns how often it waited."""
        with self._db.joined() as con:
            con.execute("DELETE FROM ingest_queue WHERE source = ?", (source,))
            return con.changes

    def batches(self, numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
        """Yield numbers, some at a time."""
        for start in range(0, len(numbers), size):
            yield numbers[start : start + size]


_INDEXES: Final = ("chunk_fts", "compressed_fts", "document_fts")


def clear_borders(db: Database) -> int:
    """Put words that are left in the place of those that nothing says; returns how many borders that changed."""
    return sum(_clear(db, index) for index in _INDEXES)


def _clear(db: Database, index: str) -> int:
    changed = 0
    with db.transaction() as con:
        con.execute(f"CREATE VIRTUAL TABLE temp.words_left USING fts5vocab(main, {index}, instance)")
        rows = con.execute(f"SELECT segid, term FROM {index}_idx ORDER BY segid, term").fetchall()
        borders = rows
        ends = [*borders[1:], (-1, b"")]
        for (segment, border), (of_next, end) in zip(borders, ends, strict=False):
            if len(border) < 2:
                continue
            # The first byte says of which index of prefixes the word is; there is one index, of whole words.
            row = con.execute(
                "SELECT CAST(term AS BLOB) FROM temp.words_left WHERE term >= CAST(? AS TEXT) LIMIT 1",
                (border[1:],),
            ).fetchone()
            left = border[:1] + row[0] if row is not None else None
            if left is not None and left.startswith(border):
                continue  # something says it, or a word that begins like it
            if left is None or (of_next == segment and left >= end):
                con.execute("DROP TABLE temp.words_left")
                con.execute(f"INSERT INTO {index}({index}) VALUES('rebuild')")
                return changed + 1
            con.execute(
                f"UPDATE {index}_idx SET term = ? WHERE segid = ? AND term = ?", (left, segment, border)
            )
            changed += 1
        con.execute("DROP TABLE temp.words_left")
    return changed
