"""Links from a memory to the older ones whose place it takes by its words: rows of `relations` of kind `updates:…`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from hexad.database.codec import to_micros
from hexad.database.connection import Database
from hexad.memory.memory import Trust
from hexad.memory.tables.rows import seen_sql

_PREFIX: Final = "updates:"
OF_KIND: Final = "r.kind >= 'updates:' AND r.kind < 'updates;'"
"""Which rows of `relations r` these links are."""

CONFIRMED: Final = "confirmed"
"""The reason of a link that somebody drew or confirmed; no rule makes another one of these two memories."""
AGAIN: Final = "said again"
"""The reason of a link from what was said again to what had taken its place in between."""
_REJECTED: Final = "rejected"
"""The reason of a link that somebody took away: it stays as a note that no rule makes it again."""
STANDING: Final = f"{OF_KIND} AND r.kind <> '{_PREFIX}{_REJECTED}'"
"""Which of these rows are links."""
_HELD: Final = f"('{_PREFIX}{CONFIRMED}', '{_PREFIX}{AGAIN}')"
_VERDICTS: Final = f"('{_PREFIX}{CONFIRMED}', '{_PREFIX}{_REJECTED}', '{_PREFIX}{AGAIN}')"

SURE: Final = 0.7
"""From this confidence on the older memory counts as superseded; below, the newer only stands first of near-equals."""


IS_PLAIN: Final = (
    "(m.fact_look IS NULL AND"
    " (m.source_no IS NULL OR m.source_no IN (SELECT no FROM sources WHERE kind = 'caller')))"
)
"""Which rows of `memories m` were told as texts: facts with a key have lines of their own, and items of a source follow
their source."""
_TRUSTS: Final = {trust.value: trust for trust in Trust}


class UpdateLink(NamedTuple):
    """That memory `new` takes the place of `old`, for which reason, and how sure that is."""

    old: int
    new: int
    reason: str
    confidence: float


class OlderText(NamedTuple):
    """A memory that a new one is compared with."""

    no: int
    id: str
    text: str
    happened_at: int
    trust: Trust
    is_turn: bool


class PlainText(NamedTuple):
    """A memory that may be compared with another candidate of a question."""

    no: int
    text: str
    space_no: int
    happened_at: int
    trust: Trust


class Updates:
    """The updates of one store, as far as `roles` may see the memories that they name."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db, self._roles = db, roles

    def texts(self, match: str, *, space_no: int, characters: int, limit: int) -> list[OlderText]:
        """Return plain memories of a space that match an FTS5 expression and are no longer than that, newest first."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.no, m.id, m.raw, m.happened_at, m.trust,"
            " EXISTS (SELECT 1 FROM turns t WHERE t.memory_no = m.no) FROM"
            " (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY rowid DESC LIMIT ?) f"
            " CROSS JOIN chunks c ON c.no = f.rowid CROSS JOIN memories m ON m.no = c.memory_no"
            f" WHERE m.status = 'active' AND m.space_no = ? AND {IS_PLAIN}"
            f" AND length(m.raw) <= ?{seen}",
            (match, limit, space_no, characters, *roles),
        )
        return [
            OlderText(no, id_, raw, at, _TRUSTS[trust], bool(is_turn))
            for no, id_, raw, at, trust, is_turn in rows
        ]

    def plain(self, numbers: Collection[int], *, characters: int) -> list[PlainText]:
        """Return the plain ones among these memories, as far as they are no longer than that."""
        rows = self._db.query(
            "SELECT m.no, m.raw, m.space_no, m.happened_at, m.trust"
            " FROM json_each(?) j CROSS JOIN memories m ON m.no = j.value"
            f" WHERE {IS_PLAIN} AND length(m.raw) <= ?",
            (json.dumps(sorted(numbers)), characters),
        )
        return [PlainText(no, raw, space_no, at, Trust(trust)) for no, raw, space_no, at, trust in rows]

    def put(self, link: UpdateLink, *, at: datetime) -> bool:
        """Store a link in the caller's transaction; False where somebody has judged these two memories."""
        with self._db.joined() as con:
            con.execute(
                "INSERT OR REPLACE INTO relations(from_no, to_no, kind, score, created_at)"
                " SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM relations v"
                f" WHERE v.from_no = ?1 AND v.to_no = ?2 AND v.kind IN {_VERDICTS})"
                " AND NOT EXISTS (SELECT 1 FROM relations v"
                f" WHERE v.from_no = ?2 AND v.to_no = ?1 AND v.kind IN {_HELD})",
                (link.new, link.old, _PREFIX + link.reason, link.confidence, to_micros(at)),
            )
            return bool(con.changes)

    def put_new(self, links: Sequence[UpdateLink], *, at: datetime) -> None:
        """Store the links of a new memory in the caller's transaction: nobody has judged it and another one."""
        if links:
            with self._db.joined() as con:
                con.executemany(
                    "INSERT INTO relations(from_no, to_no, kind, score, created_at) VALUES(?,?,?,?,?)",
                    [
                        (link.new, link.old, _PREFIX + link.reason, link.confidence, to_micros(at))
                        for link in links
                    ],
                )

    def confirm(self, *, new: int, old: int, at: datetime) -> None:
        """Store in the caller's transaction that one memory takes the place of another, and not the other way round."""
        self._judge(CONFIRMED, new, old, at=at)
        with self._db.joined() as con:
            con.execute(
                f"DELETE FROM relations AS r WHERE r.from_no = ? AND r.to_no = ? AND {OF_KIND}", (old, new)
            )

    def revive(self, *, new: int, old: int, at: datetime) -> None:
        """Store in the caller's transaction that a memory said again takes the place of what had taken its own."""
        self._judge(AGAIN, new, old, at=at)
        with self._db.joined() as con:
            con.execute(
                f"DELETE FROM relations AS r WHERE r.from_no = ? AND r.to_no = ? AND {OF_KIND}", (old, new)
            )

    def reject(self, *, new: int, old: int, at: datetime) -> bool:
        """Take such a link away for good, in the caller's transaction; False where there is none."""
        there = self._db.query_one(
            f"SELECT 1 FROM relations r WHERE r.from_no = ? AND r.to_no = ? AND {STANDING}", (new, old)
        )
        if there is not None:
            self._judge(_REJECTED, new, old, at=at)
        return there is not None

    def _judge(self, verdict: str, new: int, old: int, *, at: datetime) -> None:
        with self._db.joined() as con:
            con.execute(
                f"DELETE FROM relations AS r WHERE r.from_no = ? AND r.to_no = ? AND {OF_KIND}", (new, old)
            )
            con.execute(
                "INSERT INTO relations(from_no, to_no, kind, score, created_at) VALUES(?,?,?,?,?)",
                (new, old, _PREFIX + verdict, float(verdict != _REJECTED), to_micros(at)),
            )

    def rejected(self, numbers: Collection[int]) -> set[tuple[int, int]]:
        """Return the pairs, the older one of these memories first, of which somebody said that it is not so.

        Its link was taken away, or the older one was said to take the place of the newer one.
        """
        rows = self._db.query(
            "SELECT r.to_no, r.from_no FROM json_each(?1) j CROSS JOIN relations r ON r.to_no = j.value"
            f" AND r.kind = '{_PREFIX}{_REJECTED}' UNION"
            " SELECT r.from_no, r.to_no FROM json_each(?1) j CROSS JOIN relations r ON r.from_no = j.value"
            f" AND r.kind IN {_HELD}",
            (json.dumps(sorted(numbers)),),
        )
        return {(old, new) for old, new in rows}

    def drop(self, no: int) -> None:
        """Remove a memory's links of this kind, in both directions, since its text has changed; not what was judged."""
        with self._db.joined() as con:
            for column in ("from_no", "to_no"):
                con.execute(
                    f"DELETE FROM relations AS r WHERE r.{column} = ? AND {OF_KIND} AND r.kind NOT IN {_VERDICTS}",
                    (no,),
                )

    def of(self, numbers: Collection[int], *, until: datetime | None = None) -> list[UpdateLink]:
        """Return the links from active memories to these, and to what takes the place of those in turn.

        With `until` only from memories that hold since then or earlier.
        """
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "WITH RECURSIVE u(old, new, kind, score, since) AS ("
            f" SELECT r.to_no, r.from_no, r.kind, r.score, r.created_at FROM json_each(?1) j CROSS JOIN relations r"
            f" ON r.to_no = j.value AND {STANDING} UNION"
            " SELECT r.to_no, r.from_no, r.kind, r.score, r.created_at FROM u CROSS JOIN relations r"
            f" ON r.to_no = u.new AND {STANDING})"
            " SELECT u.old, u.new, u.kind, u.score FROM u CROSS JOIN memories m ON m.no = u.new"
            " WHERE m.status = 'active' AND (?2 IS NULL OR"
            f" (m.happened_at <= ?2 AND (u.kind <> '{_PREFIX}{AGAIN}' OR u.since <= ?2))){seen}"
            " ORDER BY 1, 4 DESC, 2 DESC",
            (json.dumps(sorted(numbers)), None if until is None else to_micros(until), *roles),
        )
        return [UpdateLink(old, new, kind.removeprefix(_PREFIX), score) for old, new, kind, score in rows]
