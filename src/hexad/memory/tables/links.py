"""Links that a caller drew between memories: rows of `relations` whose kind begins with `link:`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.codec import from_micros, to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.memory.link import SUPERSEDES, Link, LinkEnd
from hexad.memory.tables.rows import seen_by_sql
from hexad.memory.tables.updates import STANDING, SURE

_PREFIX: Final = "link:"
_RESTS: Final = "('link:depends-on', 'link:depends_on', 'link:based-on', 'link:based_on')"
"""Kinds of links from what rests on something to what it rests on."""
_END: Final = "{0}.id, {0}_space.name, {0}.path, {0}.kind, coalesce({0}.summary_micro, {0}.raw)"


class Links:
    """The links of one store, as far as `roles` may see both of their ends."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None) -> None:
        self._db = db
        self._roles = roles

    def put(self, source_no: int, target_no: int, kind: str, *, at: datetime) -> bool:
        """Store a link; False when it was there already."""
        with self._db.joined() as con:
            con.execute(
                "INSERT OR IGNORE INTO relations(from_no, to_no, kind, score, created_at) VALUES(?,?,?,1.0,?)",
                (source_no, target_no, _PREFIX + kind, to_micros(at)),
            )
            added = bool(con.changes)
            if added and self._fell(source_no, target_no, kind):
                self._mark(con, [source_no])
                self.flag_dependants([source_no])
        return added

    def _fell(self, source_no: int, target_no: int, kind: str) -> bool:
        """Whether what somebody now says to rest on is superseded, forgotten, or waits for a review itself."""
        return (
            self._db.query_one(
                f"SELECT 1 FROM memories p JOIN memories m ON m.no = ? WHERE p.no = ? AND ? IN {_RESTS}"
                " AND (p.status IN ('superseded', 'archived') OR p.metadata ->> '$.needs_review' = 1)"
                " AND m.metadata ->> '$.needs_review' IS NULL",
                (source_no, target_no, _PREFIX + kind),
            )
            is not None
        )

    @staticmethod
    def _mark(con: Connection, numbers: Sequence[int]) -> None:
        con.execute(
            "UPDATE memories SET metadata = json_set(metadata, '$.needs_review', json('true')), rev = ?"
            " WHERE no IN (SELECT value FROM json_each(?))",
            (bump(con, "memories"), json.dumps(list(numbers))),
        )

    def remove(self, source_no: int, target_no: int, kind: str | None) -> int:
        """Remove the link of a kind between two memories, None: of any; returns how many there were."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM relations WHERE from_no = ?1 AND to_no = ?2 AND"
                " iif(?3 IS NULL, substr(kind, 1, 5) = 'link:', kind = 'link:' || ?3)",
                (source_no, target_no, kind),
            )
            return con.changes

    def flag_dependants(self, numbers: Collection[int]) -> int:
        """Mark the memories that rest on these as in need of review, and those that rest on them; returns how many.

        In the caller's transaction: their premise is superseded or forgotten. Hidden ones are marked too.
        """
        listed = json.dumps(sorted(numbers))
        rows = self._db.query(
            "WITH RECURSIVE d(no) AS ("
            f" SELECT from_no FROM relations WHERE to_no IN (SELECT value FROM json_each(?)) AND kind IN {_RESTS}"
            f" UNION SELECT r.from_no FROM d CROSS JOIN relations r ON r.to_no = d.no AND r.kind IN {_RESTS}"
            ") SELECT d.no FROM d CROSS JOIN memories m ON m.no = d.no WHERE m.metadata ->> '$.needs_review' IS NULL",
            (listed,),
        )
        if not rows:
            return 0
        with self._db.joined() as con:
            self._mark(con, [row[0] for row in rows])
        return len(rows)

    def of(
        self,
        numbers: Collection[int],
        *,
        incoming: bool = True,
        active_only: bool = True,
        updates: bool = False,
    ) -> list[tuple[int, Link]]:
        """Return the links of these memories, each with the row number it belongs to.

        With `active_only` those whose other end is active; without `incoming` those that begin here; with `updates`
        also those from a text to what it surely takes the place of.

        Sorted by kind, then by the other end's space, path and id. A link between two of `numbers` comes twice.
        """
        kinds = (
            f"(substr(r.kind, 1, 5) = 'link:'{f' OR ({STANDING} AND r.score >= {SURE})' if updates else ''})"
        )
        links = self._of(numbers, kinds, mine="source", other="target", active_only=active_only)
        if incoming:
            links += self._of(numbers, kinds, mine="target", other="source", active_only=active_only)
        links.sort(key=lambda pair: _order(*pair))
        return links

    def _of(
        self, numbers: Collection[int], kinds: str, *, mine: str, other: str, active_only: bool
    ) -> list[tuple[int, Link]]:
        params: list[SQLValue] = [json.dumps(sorted(numbers))]
        seen = ""
        active = f" AND {other}.status = 'active'" if active_only else ""
        if self._roles is not None:
            seen = f" AND {seen_by_sql(other)} AND {seen_by_sql(mine)}"
            params += [json.dumps(self._roles)] * 2
        rows = self._db.query(
            f"SELECT {mine}.no, r.kind, r.score, r.created_at, {_END.format('source')}, {_END.format('target')}"
            " FROM relations r JOIN memories source ON source.no = r.from_no"
            " JOIN memories target ON target.no = r.to_no"
            " JOIN spaces source_space ON source_space.no = source.space_no"
            " JOIN spaces target_space ON target_space.no = target.space_no"
            f" WHERE {mine}.no IN (SELECT value FROM json_each(?)) AND {kinds}{active}{seen}",
            params,
        )
        return [(row[0], _link(row)) for row in rows]


def _link(row: Row) -> Link:
    group, _, kind = row[1].partition(":")
    drawn = f"{group}:" == _PREFIX
    return Link(
        kind=kind if drawn else SUPERSEDES,
        source=_end(row[4:9]),
        target=_end(row[9:14]),
        created_at=from_micros(row[3]),
        reason=None if drawn else kind,
        confidence=None if drawn else row[2],
    )


def _end(values: tuple[str, ...]) -> LinkEnd:
    memory_id, space, path, kind, summary = values
    return LinkEnd(id=memory_id, space=space, path=path, kind=kind, summary_micro=summary)


def _order(no: int, link: Link) -> tuple[object, ...]:
    ends = (
        link.target.space,
        link.target.path,
        link.target.id,
        link.source.space,
        link.source.path,
        link.source.id,
    )
    return (link.kind, *ends, no)
