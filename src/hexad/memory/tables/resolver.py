"""From what a memory is called by (id, path, source id, content) to its row."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.core.arguments import is_text, parse_text, quoted
from hexad.core.ids import SHORT_ID
from hexad.database.codec import from_micros, parse
from hexad.database.connection import Database, SQLValue
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.memory.memory import Memory, Status, Trust
from hexad.memory.query import Replaced
from hexad.memory.tables.derivations import by_trust
from hexad.memory.tables.rows import seen_sql

_NAMED: Final = 5
"""Spaces that a message names; the others are counted."""
_HASHED: Final = "substr(m.content_hash, 8, 12) = ? AND m.content_hash = ?"
"""Of the hash the index has twelve characters after `sha256:`, which tell texts apart."""
_REMEDY: Final = "`{hx.memories()}` shows what is there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The little that the gate asks of a stored memory; `hidden` from whoever opened the store."""

    no: int
    id: str
    content_hash: str
    status: Status
    hidden: bool = False


class MemoryNames:
    """The part of `Memories` that finds them."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles

    def number(self, memory_id: str) -> int:
        """Return the row number of an id that is known to the caller, hidden or not; raises `NotFound`."""
        row = self._db.query_one("SELECT no FROM memories WHERE id = ?", (memory_id,))
        if row is None:
            raise NotFound(f"Memory {memory_id!r} not found.", remedy=_REMEDY)
        return int(row[0])

    def resolve(self, id_or_path: str, *, space: str | None) -> int:
        """Return the row number of an id, else of the last changed active memory at a path; raises `NotFound`.

        A short id, as contexts show them, is one too; `Conflict` where several end so.
        What the roles may not see is not found.
        """
        if not is_text(id_or_path):
            raise InvalidInput(
                f"The id or path must be a string, not {quoted(id_or_path)}.", argument="id_or_path"
            )
        parse_text(space, "space")
        if not id_or_path.strip():
            raise NotFound(
                f"No memory has the id or path {quoted(id_or_path)}. `hexad memory list` shows what is there.",
                argument="id_or_path",
            )
        where = f" in space {space!r}" if space is not None else ""
        seen, params = seen_sql("m", self._roles)
        # Paths have an index within each space, so the spaces come first; ids have one of their own.
        for within, name, order in (
            ("+m.space_no", "id", ""),
            # A weaker memory at the same path does not take the place of a stronger one, nor one that waits.
            (
                "+m.status <> 'quarantined' AND m.space_no",
                "path",
                f" ORDER BY m.status = 'active' DESC, {by_trust('m')}, m.updated_at DESC, m.id",
            ),
        ):
            row = self._db.query_one(
                f"SELECT m.no FROM memories m WHERE {within} IN (SELECT no FROM spaces WHERE ? IS NULL OR name = ?)"
                f" AND m.{name} = ?{seen}{order} LIMIT 1",
                (space, space, id_or_path, *params),
            )
            if row is not None:
                return int(row[0])
        if (short := SHORT_ID.fullmatch(id_or_path)) is not None:
            return self._resolve_short(id_or_path, short[2], space)
        raise NotFound(f"Memory {id_or_path!r} not found{where}")

    def _resolve_short(self, given: str, end: str, space: str | None) -> int:
        """Return the row number of the id that ends so; all ids are looked through."""
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no, m.id FROM memories m WHERE m.id > 'mem_' AND m.id < 'mem`' AND length(m.id) = 30"
            " AND substr(m.id, -8) = ? AND +m.space_no IN (SELECT no FROM spaces WHERE ? IS NULL OR name = ?)"
            f"{seen} ORDER BY m.id LIMIT {_NAMED}",
            (end, space, space, *params),
        )
        if not rows:
            raise NotFound(
                f"Memory {given!r} not found: no path is called so, and no id ends so.", remedy=_REMEDY
            )
        if len(rows) > 1:
            raise Conflict(
                f"{given!r} is the end of several ids: {', '.join(row[1] for row in rows)}. Give one."
            )
        return int(rows[0][0])

    def resolve_one(
        self, id_or_path: str, *, space: str | None = None, archived: bool = False, spaces: bool = True
    ) -> int:
        """Return what `resolve` does, for a change: raises `Conflict` for a path of active memories of several spaces.

        With `archived`, memories that are not active count too. Within one space the one changed last is meant.
        `spaces` says whether the caller could have named one.
        """
        no = self.resolve(id_or_path, space=space)
        if space is not None or self._db.query_one(
            "SELECT 1 FROM memories WHERE no = ? AND id = ?", (no, id_or_path)
        ):
            return no
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT s.name, m.id, max(m.updated_at) FROM spaces s CROSS JOIN memories m ON m.space_no = s.no"
            f" WHERE m.path = ? AND (? OR m.status = 'active'){seen} GROUP BY s.no ORDER BY s.name",
            (id_or_path, archived, *params),
        )
        if len(rows) < 2:
            return no
        named = ", ".join(f"{name!s}: {memory_id!s}" for name, memory_id, _ in rows[:_NAMED])
        more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
        raise Conflict(
            f"The path {id_or_path!r} is that of memories in {len(rows):,} spaces ({named}{more}); nothing was "
            f"changed. Give an id{', or name the space (--space)' if spaces else ''}."
        )

    def identify(self, *, memory_id: str) -> Identity | None:
        """Return the identity of an id, hidden or not: it is taken either way."""
        return self._identity("m.id = ?", (memory_id,))

    def identify_by_source(self, source_no: int, source_id: str) -> Identity | None:
        """Return the identity of a source's item, hidden or not: it is taken either way."""
        return self._identity("m.source_no = ? AND m.source_id = ?", (source_no, source_id))

    def known_source_ids(self, source_no: int, source_ids: Sequence[str]) -> list[str]:
        """Return which of these items of a source are memories, hidden or not."""
        rows = self._db.query(
            "SELECT m.source_id FROM json_each(?) j CROSS JOIN memories m"
            " ON m.source_no = ? AND m.source_id = j.value",
            (json.dumps(source_ids), source_no),
        )
        return [row[0] for row in rows]

    def identify_by_hash(
        self,
        space_no: int,
        content_hash: str,
        *,
        fact: tuple[str | None, str | None, str | None] | None,
        kept_by: Collection[str] = (),
    ) -> Identity | None:
        """Return the oldest active memory of a space with this content that no source names.

        `fact` is subject, attribute and value as JSON: the same words about somebody else are another fact. Memories
        of sources of the kinds `kept_by` count too: there an item that is gone keeps its memory.
        """
        source = "m.source_no IS NULL"
        if kept_by:
            source += (
                " OR m.source_no IN (SELECT no FROM sources WHERE kind IN (SELECT value FROM json_each(?)))"
            )
        where = f"{_HASHED} AND +m.space_no = ? AND ({source}) AND +m.status = 'active'"
        params: tuple[SQLValue, ...] = (content_hash[7:19], content_hash, space_no)
        if kept_by:
            params += (json.dumps(sorted(kept_by)),)
        if fact is not None:
            where += " AND m.subject IS ? AND m.attribute IS ? AND m.value IS ?"
            params += fact
        return self._identity(where, params, order="m.no", seen_only=True)

    def identify_by_place(self, space_no: int, content_hash: str, *, path: str, kind: str) -> Identity | None:
        """Return the identity of this content at a path of a space: an active memory first, then the oldest."""
        return self._identity(
            f"{_HASHED} AND +m.space_no = ? AND m.path = ? AND m.kind = ?",
            (content_hash[7:19], content_hash, space_no, path, kind),
            order="m.status = 'active' DESC, m.no",
            seen_only=True,
        )

    def numbers_of(self, ids: Collection[str]) -> dict[str, int]:
        """Return the row numbers of ids that are known to the caller, hidden or not; others are left out."""
        rows = self._db.query(
            "SELECT id, no FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return dict(rows)

    def numbers_named(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the row numbers of those of these ids that are memories which may be seen."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            f"SELECT m.id, m.no FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)){seen} ORDER BY m.no",
            (json.dumps(list(ids)), *roles),
        )
        return dict(rows)

    def identify_held(self, space_no: int, content_hash: str) -> Identity | None:
        """Return the memory of this content that waits for a review, or was rejected in one."""
        where = (
            f"{_HASHED} AND +m.space_no = ? AND (m.status = 'quarantined'"
            " OR m.metadata ->> '$.quarantine.verdict' = 'rejected')"
        )
        return self._identity(where, (content_hash[7:19], content_hash, space_no))

    def trust_of(self, memory_id: str) -> Trust | None:
        """Return how far the memory of an id is trusted; None for one that waits, is not there, or not to be seen."""
        seen, params = seen_sql("m", self._roles)
        row = self._db.query_one(
            f"SELECT m.trust FROM memories m WHERE m.id = ? AND m.status <> 'quarantined'{seen}",
            (memory_id, *params),
        )
        return Trust(row[0]) if row else None

    def replaced(self, memories: Sequence[Memory]) -> dict[str, Replaced]:
        """Return what memories took the place of, by their own ids: what is superseded, not forgotten, not hidden."""
        newer = {memory.supersedes: memory for memory in memories if memory.supersedes is not None}
        if not newer:
            return {}
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.id, coalesce(m.summary_micro, m.raw), m.value, m.happened_at FROM memories m"
            f" WHERE m.id IN (SELECT value FROM json_each(?)) AND m.status = 'superseded'{seen}",
            (json.dumps(sorted(newer)), *params),
        )
        return {
            (memory := newer[old]).id: Replaced(
                id=old,
                text=text,
                value=None if value is None else parse(value),
                valid_from=from_micros(since),
                valid_to=memory.valid_from or memory.created_at,
            )
            for old, text, value, since in rows
        }

    def facts_about(self, space_no: int, look: str) -> list[tuple[str, str, str | None, str]]:
        """Return `(id, trust, value as JSON, content hash)` of a space's active facts whose keys look so.

        Hidden ones do not count: whoever tries one value after the other would learn them.
        """
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.id, m.trust, m.value, m.content_hash FROM memories m WHERE m.fact_look = ?"
            f" AND +m.space_no = ? AND +m.status = 'active'{seen} ORDER BY m.no",
            (look, space_no, *params),
        )
        return rows

    def identify_no(self, no: int) -> Identity | None:
        """Return the identity of a row number."""
        return self._identity("m.no = ?", (no,))

    def _identity(
        self, where: str, params: Sequence[SQLValue], *, order: str = "m.no", seen_only: bool = False
    ) -> Identity | None:
        seen, roles = seen_sql("m", self._roles)
        hidden = f"NOT (1{seen})" if seen else "0"
        row = self._db.query_one(
            f"SELECT m.no, m.id, m.content_hash, m.status, {hidden} FROM memories m"
            f" WHERE {where}{seen if seen_only else ''} ORDER BY {order} LIMIT 1",
            (*roles, *params, *(roles if seen_only else ())),
        )
        if row is None:
            return None
        no, memory_id, content_hash, status, hidden_one = row
        return Identity(
            no=no,
            id=memory_id,
            content_hash=content_hash,
            status=Status(status),
            hidden=bool(hidden_one),
        )
