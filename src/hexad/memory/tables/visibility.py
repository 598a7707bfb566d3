"""Which roles may see a memory. A memory without an audience is for everybody; an empty one is for the owner."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

from hexad.database.change_counters import bump
from hexad.database.codec import load_strings
from hexad.database.connection import Connection, Database
from hexad.memory.memory import Relevance

_BATCH: Final = 10_000


class JudgedRow(NamedTuple):
    """What rules look at, read without the memory's text."""

    no: int
    kind: str
    path: str
    relevance: Relevance
    tags: tuple[str, ...]


class Audiences:
    """The audiences of one store; changing one numbers the memory anew, so that cached views follow."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def assign(self, no: int, roles: Collection[str] | None) -> None:
        """Say who may see memory `no`, in the caller's transaction: these roles, or everybody for None."""
        with self._db.joined() as con:
            self._put(con, [no], roles, rev=None)

    def of(self, no: int) -> frozenset[str] | None:
        """Return the roles that may see memory `no`; None for everybody."""
        row = self._db.query_one(
            "SELECT a.roles FROM memories m JOIN audiences a ON a.no = m.audience_no WHERE m.no = ?", (no,)
        )
        return frozenset(load_strings(row[0])) if row else None

    def of_space(self, space_no: int) -> Iterator[tuple[JudgedRow, frozenset[str] | None]]:
        """Yield a space's memories with the roles that may see them; None for everybody."""
        known = {
            no: frozenset(load_strings(roles))
            for no, roles in self._db.query("SELECT no, roles FROM audiences")
        }
        for rows in self._judged(space_no):
            yield from (
                (row, None if audience_no is None else known[audience_no]) for row, audience_no in rows
            )

    def assign_space(
        self, space_no: int, audience: Callable[[JudgedRow], frozenset[str] | None], *, same: bool
    ) -> int:
        """Say for all memories of a space who may see them; returns for how many that changed.

        `same` promises that `audience` says the same of every memory, which then need not be read.
        """
        changed = 0
        with self._db.joined() as con:
            rev = bump(con, "memories")
            if same:
                anyone = JudgedRow(0, "", "", Relevance.MEDIUM, ())
                return self._put_space(con, space_no, audience(anyone), rev=rev)
            for rows in self._judged(space_no):
                groups: dict[frozenset[str] | None, list[int]] = {}
                for row, _ in rows:
                    groups.setdefault(audience(row), []).append(row.no)
                for roles, numbers in groups.items():
                    changed += self._put(con, numbers, roles, rev=rev)
        return changed

    def narrow_summaries(self, space_no: int, source_id: str) -> None:
        """Let only those see a source's summary who may see all that it sums up.

        `source_id` names the summaries. The next ingest writes them anew, from what everybody may see.
        """
        rows = self._db.query(
            "SELECT no, source_no FROM memories WHERE space_no = ? AND source_id = ? AND source_no IS NOT NULL",
            (space_no, source_id),
        )
        for no, source_no in rows:
            listed = self._db.query(
                "SELECT DISTINCT a.roles FROM memories m JOIN audiences a ON a.no = m.audience_no"
                " WHERE m.source_no = ? AND m.status = 'active'",
                (source_no,),
            )
            if listed:
                self.assign(no, frozenset.intersection(*(frozenset(load_strings(row[0])) for row in listed)))

    def forget_unused(self) -> None:
        """Remove the audiences that no memory has."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM audiences WHERE no NOT IN (SELECT DISTINCT audience_no FROM memories"
                " WHERE audience_no IS NOT NULL)"
            )

    def _judged(self, space_no: int) -> Iterator[list[tuple[JudgedRow, int | None]]]:
        # The numbers first, from an index alone: paging through the rows would sort the whole space for each page.
        numbers = sorted(
            row[0] for row in self._db.query("SELECT no FROM memories WHERE space_no = ?", (space_no,))
        )
        tags_of = lru_cache(maxsize=_BATCH)(load_strings)  # many memories have the same
        for start in range(0, len(numbers), _BATCH):
            rows = self._db.query(
                "SELECT no, kind, path, relevance, tags, audience_no FROM memories"
                " WHERE no IN (SELECT value FROM json_each(?)) AND +space_no = ?",
                (json.dumps(numbers[start : start + _BATCH]), space_no),
            )
            yield [
                (
                    JudgedRow(
                        no,
                        kind,
                        path,
                        Relevance(relevance),
                        tags_of(tags),
                    ),
                    audience_no,
                )
                for no, kind, path, relevance, tags, audience_no in rows
            ]

    def _put(
        self, con: Connection, numbers: Sequence[int], roles: Collection[str] | None, *, rev: int | None
    ) -> int:
        audience_no = self._number(con, roles)
        listed = json.dumps(list(numbers))
        if rev is None:
            stale = con.execute(
                "SELECT 1 FROM memories WHERE no IN (SELECT value FROM json_each(?)) AND audience_no IS NOT ?",
                (listed, audience_no),
            ).fetchone()
            if stale is None:
                return 0
            rev = bump(con, "memories")
        con.execute(
            "UPDATE memories SET audience_no = ?1, rev = ?2 WHERE no IN (SELECT value FROM json_each(?3))"
            " AND audience_no IS NOT ?1",
            (audience_no, rev, listed),
        )
        return con.changes

    def _put_space(self, con: Connection, space_no: int, roles: Collection[str] | None, *, rev: int) -> int:
        con.execute(
            "UPDATE memories SET audience_no = ?1, rev = ?2 WHERE space_no = ?3 AND audience_no IS NOT ?1",
            (self._number(con, roles), rev, space_no),
        )
        return con.changes

    def _number(self, con: Connection, roles: Collection[str] | None) -> int | None:
        if roles is None:
            return None
        text = json.dumps(sorted(roles))
        con.execute("INSERT OR IGNORE INTO audiences(roles) VALUES(?)", (text,))
        row = con.execute("SELECT no FROM audiences WHERE roles = ?", (text,)).fetchone()
        assert row is not None, text
        return cast("int", row[0])
