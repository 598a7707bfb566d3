"""What the gate asks of the store: near-duplicates, links between memories, and texts handed out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

from hexad.database.codec import to_micros
from hexad.database.connection import Connection, Database
from hexad.memory.tables.rows import seen_sql

NEAR_DUPLICATE: Final = "near_duplicate"
_DROPPED_BITS: Final = 32
"""Of a mark's 64, which half a table of many millions can spare: what shares the rest is compared word by word."""
_MARKS: Final = 11
_UNUSED: Final = (None,) * _MARKS
_PUT_MARKS: Final = f"INSERT INTO minhash_marks VALUES(?{',?' * _MARKS})"
HANDOUTS_KEPT: Final = 50_000
"""Passages remembered as handed out; the oldest go first."""


_FEW_PASSAGES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOut:
    """A memory that a recall returned, with the hashes of the passages that the caller saw."""

    memory_no: int
    passages: tuple[int, ...]
    at: datetime


def _marks_of(bands: Sequence[int]) -> list[int]:
    return sorted({band >> _DROPPED_BITS for band in bands})


class NearDuplicates:
    """Fingerprints and links of one store, as far as `roles` may see the memories that they name."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db = db
        self._roles = roles

    def put_bands(self, memory_no: int, bands: Sequence[int], *, new: bool = False) -> None:
        """Replace the fingerprint of a memory; a `new` one has none yet."""
        with self._db.joined() as con:
            if not new:
                con.execute("DELETE FROM minhash_marks WHERE memory_no = ?", (memory_no,))
            self._put_marks(con, {memory_no: _marks_of(bands)})

    def put_new(self, fingerprints: Mapping[int, Sequence[int]]) -> set[int]:
        """Store the fingerprints of new memories; returns which of them share a band with another memory."""
        marks_of = {no: _marks_of(bands) for no, bands in fingerprints.items()}
        counts = Counter(chain.from_iterable(marks_of.values()))
        known = self._db.query(
            "SELECT j.value FROM json_each(?) j"
            " WHERE EXISTS (SELECT 1 FROM minhash_bands b WHERE b.band = j.value)",
            (json.dumps(list(counts)),),
        )
        shared = {mark for mark, count in counts.items() if count > 1}
        shared.update(mark for (mark,) in known)
        with self._db.joined() as con:
            self._put_marks(con, marks_of)
        return {no for no, marks in marks_of.items() if not shared.isdisjoint(marks)} if shared else set()

    @staticmethod
    def _put_marks(con: Connection, marks_of: Mapping[int, Sequence[int]]) -> None:
        con.executemany(
            "INSERT INTO minhash_bands(band, memory_no) VALUES(?,?)",
            sorted((mark, no) for no, marks in marks_of.items() for mark in marks),
        )
        rows = [(no, *marks, *_UNUSED[len(marks) :]) for no, marks in marks_of.items() if marks]
        con.executemany(_PUT_MARKS, rows)

    def candidates(
        self, space_no: int, bands: Sequence[int], *, limit: int, below: int | None = None
    ) -> list[tuple[int, str, str]]:
        """Return `(row number, id, text)` of active memories of a space that share a band, oldest first.

        `below` is a number that only later ones have, which do not count.
        """
        if not bands:
            return []
        marks = ",".join("?" * len(bands))
        earlier = "" if below is None else " AND memory_no < ?"
        found = self._db.query(
            f"SELECT memory_no FROM minhash_bands WHERE band IN ({marks}){earlier} LIMIT ?",
            (*(band >> _DROPPED_BITS for band in bands), *(() if below is None else (below,)), limit),
        )
        if not found:  # as with most texts
            return []
        seen, roles = seen_sql("m", self._roles)
        # With `+`, SQLite does not go over the whole space to find a few rows of known number (test_query_growth).
        rows = self._db.query(
            "SELECT m.no, m.id, m.raw FROM memories m WHERE +m.status = 'active' AND +m.space_no = ? AND m.no IN"
            f" (SELECT value FROM json_each(?)){seen} ORDER BY m.no",
            (space_no, json.dumps([row[0] for row in found]), *roles),
        )
        return [(no, memory_id, raw) for no, memory_id, raw in rows]

    def link(self, from_no: int, to_no: int, kind: str, score: float, *, at: datetime) -> None:
        """Store that one memory relates to another."""
        with self._db.joined() as con:
            con.execute(
                "INSERT OR REPLACE INTO relations(from_no, to_no, kind, score, created_at) VALUES(?,?,?,?,?)",
                (from_no, to_no, kind, score, to_micros(at)),
            )

    def unlink(self, memory_no: int, kind: str) -> None:
        """Remove a memory's links of a kind, in both directions."""
        with self._db.joined() as con:
            con.execute(
                "DELETE FROM relations WHERE kind = ?2 AND (from_no = ?1 OR to_no = ?1)", (memory_no, kind)
            )

    def linked(self, memory_no: int, kind: str) -> list[tuple[str, float]]:
        """Return `(id, score)` of memories linked to this one, in either direction, best first."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            "SELECT m.id, r.score FROM relations r JOIN memories m ON m.no = r.to_no"
            f" WHERE r.from_no = ? AND r.kind = ?{seen}"
            " UNION SELECT m.id, r.score FROM relations r JOIN memories m ON m.no = r.from_no"
            f" WHERE r.to_no = ? AND r.kind = ?{seen} ORDER BY 2 DESC, 1",
            (memory_no, kind, *roles) * 2,
        )
        return [(memory_id, score) for memory_id, score in rows]

    def record_handouts(self, handouts: Iterable[HandedOut]) -> None:
        """Remember what recalls returned: `last_used_at`, uses, and the passages that may come back."""
        with self._db.joined() as con:
            for handout in handouts:
                at = to_micros(handout.at)
                con.execute(
                    "INSERT INTO usage(memory_no, last_used_at, uses) SELECT no, ?2, 1 FROM memories WHERE no = ?1"
                    " ON CONFLICT(memory_no) DO UPDATE SET last_used_at = max(last_used_at, ?2), uses = uses + 1",
                    (handout.memory_no, at),
                )
                con.executemany(
                    "INSERT INTO handouts(hash, memory_no, handed_at) SELECT ?1, no, ?3 FROM memories WHERE no = ?2"
                    " ON CONFLICT(hash, memory_no) DO UPDATE SET handed_at = max(handed_at, ?3)",
                    [(passage, handout.memory_no, at) for passage in handout.passages],
                )
            con.execute(
                "DELETE FROM handouts WHERE handed_at < (SELECT handed_at FROM handouts"
                " ORDER BY handed_at DESC LIMIT 1 OFFSET ?)",
                (HANDOUTS_KEPT,),
            )

    def any_handed_out(self) -> bool:
        """Whether any recall handed anything out that is remembered."""
        return self._db.query_one("SELECT 1 FROM handouts LIMIT 1") is not None

    def echoed(self, memory_no: int, passages: Sequence[int]) -> str | None:
        """Return the id of an older active memory of the same space whose passages, handed out, are all of these."""
        seen, roles = seen_sql("m", self._roles)
        row = self._db.query_one(
            "SELECT m.id FROM handouts h CROSS JOIN memories m ON m.no = h.memory_no"
            " WHERE +m.status = 'active' AND m.no < ?1"
            " AND +m.space_no = (SELECT space_no FROM memories WHERE no = ?1)"
            " AND h.hash IN (SELECT value FROM json_each(?2))"
            f"{seen} GROUP BY m.no HAVING count(DISTINCT h.hash) = json_array_length(?2) ORDER BY m.no LIMIT 1",
            (memory_no, json.dumps(list(passages)), *roles),
        )
        return None if row is None else row[0]

    def handed_out(self, space_no: int, passages: Sequence[int]) -> Mapping[int, int]:
        """Return, for each passage that was handed out, the active memory of the space that it came from."""
        if not passages:
            return {}
        seen, roles = seen_sql("m", self._roles)
        few = len(passages) <= _FEW_PASSAGES  # as nearly all texts have; a list in JSON takes twice the time
        among = ",".join("?" * len(passages)) if few else "SELECT value FROM json_each(?)"
        rows = self._db.query(
            "SELECT h.hash, min(h.memory_no) FROM handouts h CROSS JOIN memories m ON m.no = h.memory_no"
            f" WHERE +m.status = 'active' AND +m.space_no = ? AND h.hash IN ({among}){seen} GROUP BY h.hash",
            (space_no, *(passages if few else [json.dumps(list(passages))]), *roles),
        )
        return dict(rows)
