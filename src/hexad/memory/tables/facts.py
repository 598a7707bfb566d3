"""Facts by the look of their keys: the line of what a subject's attribute was, and which attributes hold several."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from hexad.database.change_counters import bump
from hexad.database.codec import from_micros, optional_time, to_micros
from hexad.database.connection import Connection, Database, Row
from hexad.memory.fact import STACK, FactRow, Review
from hexad.memory.memory import Status, Trust
from hexad.memory.tables.rows import seen_sql
from hexad.text.key_names import keys_alike, spellings, topic_key
from hexad.text.similarity.lookalikes import look_of, look_of_fact

_COLUMNS: Final = (
    "m.no, m.id, s.name, m.subject, m.attribute, m.value, m.content_hash, m.raw, m.kind, m.trust, m.status,"
    " m.confidence, m.happened_at, m.valid_to, m.created_at, m.updated_at, m.supersedes,"
    " m.metadata ->> '$.needs_review'"
)
_FROM: Final = "FROM memories m JOIN spaces s ON s.no = m.space_no"
_PREMISES: Final = "('link:depends-on', 'link:depends_on', 'link:based-on', 'link:based_on')"


class Facts:
    """The facts of one store, as far as `roles` may see them; None sees all."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db, self._roles = db, roles

    def line(
        self, look: str, *, space_no: int, statuses: Collection[Status] = (Status.ACTIVE, Status.SUPERSEDED)
    ) -> list[FactRow]:
        """Return a space's facts whose keys look so, in the order in which they hold."""
        seen, params = seen_sql("m", self._roles)
        rows = self._db.query(
            f"SELECT {_COLUMNS} {_FROM} WHERE m.fact_look = ? AND +m.space_no = ?"
            f" AND +m.status IN (SELECT value FROM json_each(?)){seen}",
            (look, space_no, json.dumps(sorted(statuses)), *params),
        )
        return sorted((_fact(row) for row in rows), key=lambda fact: fact.order)

    def looks(
        self, subject: str | None, attribute: str | None, *, space: str | None
    ) -> list[tuple[str, int]]:
        """Return `(look, space number)` of the keys of facts about a subject, an attribute, or both."""
        whole = look_of_fact(subject, attribute) if subject is not None and attribute is not None else None
        rows = self._db.query(
            f"SELECT DISTINCT m.fact_look, m.space_no, m.subject, m.attribute {_FROM}"
            f" WHERE m.fact_look IS NOT NULL{'' if whole is None else ' AND m.fact_look = ?2'}"
            " AND (?1 IS NULL OR s.name = ?1) ORDER BY 2, 1",
            (space,) if whole is None else (space, whole),
        )
        looks = [None if name is None or whole else look_of(name) for name in (subject, attribute)]
        lines = [
            (look, no)
            for look, no, *names in rows
            if all(want in (None, look_of(name or "")) for want, name in zip(looks, names, strict=True))
        ]
        return list(dict.fromkeys(lines))

    def stack_looks(self, subject: str | None, topic: str, *, space: str | None) -> list[tuple[str, int]]:
        """Return `(look, space number)` of the keys of the stack, of a subject or all, that ask for a topic."""
        rows = self._db.query(
            f"SELECT DISTINCT m.fact_look, m.space_no, m.subject, m.attribute {_FROM}"
            " WHERE m.fact_look IS NOT NULL AND m.attribute IS NOT NULL AND +m.kind = ?1"
            " AND (?2 IS NULL OR s.name = ?2) ORDER BY 2, 1",
            (STACK, space),
        )
        own = None if subject is None else look_of(subject)
        lines = [
            (look, no)
            for look, no, name, attribute in rows
            if own in (None, look_of(name or "")) and topic_key(attribute) == topic
        ]
        return list(dict.fromkeys(lines))

    def changed(self, *, since: datetime, until: datetime | None, space: str | None) -> list[tuple[str, int]]:
        """Return `(look, space number)` of the keys under which something was recorded or changed in a time."""
        rows = self._db.query(
            f"SELECT DISTINCT m.fact_look, m.space_no {_FROM} WHERE m.fact_look IS NOT NULL"
            " AND (m.created_at >= ?1 OR m.updated_at >= ?1) AND (?2 IS NULL OR m.created_at < ?2)"
            " AND (?3 IS NULL OR s.name = ?3) ORDER BY 2, 1",
            (to_micros(since), None if until is None else to_micros(until), space),
        )
        return [(look, no) for look, no in rows]

    def contested(self, *, space: str | None) -> list[tuple[str, int]]:
        """Return `(look, space number)` of the keys under which facts stand that say something else."""
        rows = self._db.query(
            f"SELECT m.fact_look, m.space_no {_FROM} WHERE m.fact_look IS NOT NULL AND m.status = 'active'"
            " AND (?1 IS NULL OR s.name = ?1) GROUP BY 1, 2"
            " HAVING count(DISTINCT coalesce(m.value, m.content_hash)) > 1 ORDER BY 2, 1",
            (space,),
        )
        return [(look, no) for look, no in rows]

    def standing_name(
        self, subject: str | None, attribute: str | None, *, kind: str, space_no: int
    ) -> str | None:
        """Return under which name a fact of the stack stands: another one of the attribute, or the attribute itself."""
        names = () if attribute is None or kind != STACK else keys_alike(attribute)
        if len(names) < 2:
            return attribute
        own = look_of_fact(subject, attribute)
        looks = {own, *(look_of_fact(subject, name) for name in spellings(names))}
        row = self._db.query_one(
            "SELECT attribute FROM memories WHERE fact_look IN (SELECT value FROM json_each(?)) AND +space_no = ?"
            " AND +kind = ? AND +status = 'active' ORDER BY fact_look <> ?, no LIMIT 1",
            (json.dumps(sorted(look for look in looks if look)), space_no, kind, own),
        )
        return attribute if row is None else row[0]

    # Several values at once -------------------------------------------------------------------------------------

    def holds_many(self, attribute: str | None) -> bool:
        """Whether an attribute was declared to hold several values at once."""
        if attribute is None:
            return False
        return (
            self._db.query_one("SELECT 1 FROM fact_attributes WHERE look = ?", (look_of(attribute),))
            is not None
        )

    def declare(self, attribute: str, *, many: bool, at: datetime) -> None:
        """Say whether an attribute holds several values at once."""
        with self._db.joined() as con:
            if many:
                con.execute(
                    "INSERT INTO fact_attributes(look, name, declared_at) VALUES(?,?,?) ON CONFLICT DO NOTHING",
                    (look_of(attribute), attribute, to_micros(at)),
                )
            else:
                con.execute("DELETE FROM fact_attributes WHERE look = ?", (look_of(attribute),))

    def undeclare(self) -> None:
        """Forget every declaration."""
        with self._db.joined() as con:
            con.execute("DELETE FROM fact_attributes")

    def declared(self) -> list[str]:
        """Return the attributes that hold several values, by name."""
        return [row[0] for row in self._db.query("SELECT name FROM fact_attributes ORDER BY name")]

    # Writing: always inside the caller's transaction --------------------------------------------------------------

    def set_supersedes(self, no: int, memory_id: str | None) -> None:
        """Say which memory another one takes the place of."""
        if self._db.query_one("SELECT 1 FROM memories WHERE no = ? AND supersedes IS ?", (no, memory_id)):
            return
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET supersedes = ?, rev = ? WHERE no = ?",
                (memory_id, bump(con, "memories"), no),
            )

    # What rests on what -------------------------------------------------------------------------------------------

    def to_review(self, *, space: str | None) -> list[Review]:
        """Return the active memories that are marked for a review, with the premises of theirs that fell."""
        seen, roles = seen_sql("m", self._roles)
        rows = self._db.query(
            f"SELECT m.no, m.id, s.name, m.path, coalesce(m.summary_micro, m.raw) {_FROM}"
            " WHERE m.status = 'active' AND m.metadata ->> '$.needs_review' = 1 AND (? IS NULL OR s.name = ?)"
            f"{seen} ORDER BY m.no",
            (space, space, *roles),
        )
        fallen = self._fallen([row[0] for row in rows])
        return [
            Review(
                memory_id=row[1],
                space=row[2],
                path=row[3],
                text=row[4],
                premises=tuple(fallen.get(row[0], ())),
            )
            for row in rows
        ]

    def _fallen(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        seen, roles = seen_sql("p", self._roles)
        premises: dict[int, list[str]] = {}
        for no, premise in self._db.query(
            "SELECT r.from_no, p.id FROM relations r JOIN memories p ON p.no = r.to_no"
            f" WHERE r.from_no IN (SELECT value FROM json_each(?)) AND r.kind IN {_PREMISES}"
            f" AND (p.status <> 'active' OR p.metadata ->> '$.needs_review' = 1){seen} ORDER BY p.no",
            (json.dumps(list(numbers)), *roles),
        ):
            premises.setdefault(no, []).append(premise)
        return premises

    def reviewed(self, no: int) -> bool:
        """Take the mark off a memory; False when it had none."""
        with self._db.joined() as con:
            con.execute(
                "UPDATE memories SET metadata = json_remove(metadata, '$.needs_review'), rev = ?"
                " WHERE no = ? AND metadata ->> '$.needs_review' IS NOT NULL",
                (bump(con, "memories"), no),
            )
            return bool(con.changes)


def _fact(row: Row) -> FactRow:
    return FactRow(
        no=row[0],
        id=row[1],
        space=row[2],
        subject=row[3],
        attribute=row[4],
        value=row[5],
        content_hash=row[6],
        text=row[7],
        kind=row[8],
        trust=Trust(row[9]),
        status=Status(row[10]),
        confidence=row[11],
        valid_from=from_micros(row[12]),
        valid_to=optional_time(row[13]),
        recorded_at=from_micros(row[14]),
        changed_at=from_micros(row[15]),
        supersedes=row[16],
        needs_review=bool(row[17]),
    )


_DDL: Final = """
ALTER TABLE memories ADD COLUMN fact_look TEXT;   -- of subject and attribute; NULL: no fact
DROP INDEX memories_by_fact;
CREATE INDEX memories_by_fact ON memories(fact_look) WHERE fact_look IS NOT NULL;
"""


def add_fact_looks(con: Connection) -> None:
    """Add the column, and fill it for the facts that are there."""
    con.execute(_DDL)
    facts = con.execute(
        "SELECT no, subject, attribute FROM memories WHERE subject IS NOT NULL OR attribute IS NOT NULL"
    ).fetchall()
    for no, subject, attribute in facts:
        look = look_of_fact(subject, attribute)
        con.execute("UPDATE memories SET fact_look = ? WHERE no = ?", (look, no))
