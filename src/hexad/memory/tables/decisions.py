"""Decisions: rows that are only added, each with the memory by which it is recalled."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, cast

from hexad.database.codec import dump, from_micros, load_object, load_strings, parse, to_micros
from hexad.database.connection import Connection, Database, Row, SQLValue
from hexad.errors import NotFound
from hexad.memory.decision import DECISION, DECISION_PREFIX, Decision, DecisionText, said_of
from hexad.memory.memory import INSTRUCTION_LIKE, Memory, Status, Trust
from hexad.memory.tables.memories import Memories
from hexad.memory.tables.rows import seen_by_sql

_GENERATED: Final = re.compile(r"mem_([0-9A-HJKMNP-TV-Z]{26})")
_FROM: Final = (
    "FROM decision_records d LEFT JOIN memories m ON m.no = d.memory_no"
    " LEFT JOIN spaces s ON s.no = m.space_no"
)
# From the memories to their decisions, and in no order that all decisions have: else all of these are looked through.
_OF_MEMORIES: Final = "d.memory_no IN (SELECT x.no FROM memories x WHERE {})"


class Decisions:
    """The decisions of one store, as far as `roles` may see their memories; None sees all, erased ones too."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self._db, self._roles = db, roles
        self._columns = (
            "d.id, d.title, d.description, d.rationale, d.alternatives_json, d.links_json, d.created_by, d.created_at,"
            " d.project_id, d.erased_at, d.receipt, m.id, s.name, m.status, m.trust, m.importance, m.metadata,"
            f" (SELECT o.id FROM decision_records o WHERE o.no = d.supersedes{self._visibility_sql('o')}),"
            " (SELECT json_group_array(n.id ORDER BY n.no) FROM decision_records n WHERE n.supersedes = d.no"
            f"{self._visibility_sql('n')})"
        )

    # Reading ------------------------------------------------------------------------------------------------------

    def get(self, name: str) -> Decision:
        """Return the decision of an id, or the last one that a memory of that id says; raises `NotFound`."""
        decisions = self._where("d.id = :name", name=name) or self._where(
            f"{_OF_MEMORIES.format('x.id = :name')} ORDER BY +d.no DESC LIMIT 1", name=name
        )
        if not decisions:
            raise NotFound(
                f"Decision {name!r} not found;", remedy="`{hx.governance.query()}` lists what was decided."
            )
        return decisions[0]

    def of_memories(self, ids: Collection[str]) -> dict[str, Decision]:
        """Return the last decision that each of these memories says, by the memory's id."""
        decisions = self._where(
            f"{_OF_MEMORIES.format('x.id IN (SELECT value FROM json_each(:ids))')} ORDER BY +d.no",
            ids=json.dumps(sorted(ids)),
        )
        return {cast("str", decision.memory_id): decision for decision in decisions}

    def query(
        self,
        *,
        space: str | None = None,
        project: str | None = None,
        by: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        in_force: bool | None = None,
        tags: Sequence[str] | None = None,
        limit: int,
    ) -> list[Decision]:
        """Return decisions, the newest first; of `tags` all must be there.

        What waits for a review is left out; what is erased matches no name and no tag.
        """
        stands = (
            "(m.status = 'active' AND NOT EXISTS"
            " (SELECT 1 FROM decision_records n WHERE n.supersedes = d.no))"
        )
        lacks_tag = (
            "EXISTS (SELECT 1 FROM json_each(:tags) w WHERE NOT EXISTS"
            " (SELECT 1 FROM memory_tags t WHERE t.memory_no = m.no AND t.tag = w.value))"
        )
        conditions: list[tuple[str, SQLValue]] = [
            ("s.name = :space", space),
            ("d.project_id = :project", project),
            ("d.created_by = :by", by),
            ("d.created_at >= :since", None if since is None else to_micros(since)),
            ("d.created_at < :until", None if until is None else to_micros(until)),
            (f"coalesce({stands}, 0) = :stands", None if in_force is None else int(in_force)),
        ]
        where = ["(m.status IS NULL OR m.status <> 'quarantined')"]
        params: dict[str, SQLValue] = {"limit": limit}
        for condition, value in conditions:
            if value is not None:
                where.append(condition)
                params[condition.rpartition(":")[2]] = value
        if tags:
            where.append(f"NOT {lacks_tag}")
            params["tags"] = json.dumps(list(tags))
        return self._where(
            f"{' AND '.join(where)} ORDER BY d.created_at DESC, d.no DESC LIMIT :limit", **params
        )

    def citing(self, paths: Sequence[str], *, space: str | None) -> list[Decision]:
        """Return the decisions that cite one of these paths, or that a file of that name brought; newest first.

        A link may name a place in the file (`src/x.py:12`, `src/x.py#parse`).
        """
        cites = (
            "EXISTS (SELECT 1 FROM json_each(d.links_json) l JOIN json_each(:paths) p ON l.value = p.value"
            "  OR instr(l.value, p.value || ':') = 1 OR instr(l.value, p.value || '#') = 1)"
            " OR EXISTS (SELECT 1 FROM json_each(m.citations) c JOIN json_each(:paths) p"
            "  ON c.value ->> '$.path' = p.value)"
            " OR m.source_id IN (SELECT value FROM json_each(:paths))"
        )
        return self._where(
            f"m.status IN ('active', 'superseded') AND (:space IS NULL OR s.name = :space) AND ({cites})"
            " ORDER BY d.created_at DESC, d.no DESC",
            paths=json.dumps(list(paths)),
            space=space,
        )

    def before(self, decision: Decision) -> list[Decision]:
        """Return those that a decision took the place of, directly or over others, the newest first."""
        decisions, wanted_id = list[Decision](), decision.supersedes
        while wanted_id is not None:
            decisions.append(self.get(wanted_id))
            wanted_id = decisions[-1].supersedes
        return decisions

    def last_of(self, decision: Decision) -> Decision:
        """Return the last of the line that a decision is in: itself where nothing superseded it."""
        while decision.superseded_by:
            decision = self.get(decision.superseded_by[-1])
        return decision

    def _where(self, where: str, **params: SQLValue) -> list[Decision]:
        if self._roles is not None:
            params["roles"] = json.dumps(self._roles)
            where = f"d.memory_no IS NOT NULL{self._visibility_sql('d')} AND {where}"
        rows = self._db.query(f"SELECT {self._columns} {_FROM} WHERE {where}", params)
        return [_decision(row) for row in rows]

    def _visibility_sql(self, alias: str) -> str:
        """Return ` AND …` that a decision's memory may be seen; it takes the parameter `:roles`."""
        if self._roles is None:
            return ""
        seen = seen_by_sql("x").replace("?", ":roles")
        return f" AND {alias}.memory_no IN (SELECT x.no FROM memories x WHERE x.no = {alias}.memory_no AND {seen})"

    # Writing: always inside the caller's transaction ----------------------------------------------------------------

    def add(
        self,
        memory_no: int,
        text: DecisionText,
        *,
        project: str,
        by: str,
        at: datetime,
        supersedes: str | None,
    ) -> None:
        """Record what a memory decides, unless its last row says the same.

        `supersedes` is the id of the memory whose decision it takes the place of; a memory that decides anew takes
        the place of what it decided before.
        """
        columns: tuple[SQLValue, ...] = (
            text.title, text.description, text.rationale, dump(list(text.alternatives)), dump(list(text.links)),
        )  # fmt: skip
        with self._db.joined() as con:
            last = con.execute(
                "SELECT no, title, description, rationale, alternatives_json, links_json FROM decision_records"
                " WHERE memory_no = ? ORDER BY no DESC LIMIT 1",
                (memory_no,),
            ).fetchone()
            if last is not None and tuple(last[1:]) == columns:
                return
            older = last
            if older is None and supersedes is not None:
                older = con.execute(
                    "SELECT d.no FROM memories m JOIN decision_records d ON d.memory_no = m.no WHERE m.id = ?"
                    " ORDER BY d.no DESC LIMIT 1",
                    (supersedes,),
                ).fetchone()
            con.execute(
                "INSERT INTO decision_records(id, memory_no, project_id, title, description, rationale,"
                " alternatives_json, links_json, created_by, created_at, supersedes) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
                (
                    _new_id(con, memory_no),
                    memory_no,
                    project,
                    *columns,
                    by,
                    to_micros(at),
                    None if older is None else older[0],
                ),
            )


def _new_id(con: Connection, memory_no: int) -> str:
    """Return an id after that of the memory where Hexad made it; one that a caller gave might name somebody."""
    row = con.execute(
        "SELECT id, hex(randomblob(13)) FROM memories WHERE no = ?1",
        (memory_no,),
    ).fetchone()
    assert row is not None
    name, random = row
    generated = _GENERATED.fullmatch(name)
    if generated is None:
        return f"{DECISION_PREFIX}{random}"
    id = f"{DECISION_PREFIX}{generated[1]}"
    # Also those of a memory that was purged and is back from a file: their rows stay.
    (count,) = con.execute(
        "SELECT count(*) FROM decision_records WHERE id = ?1 OR (id >= ?1 || '-' AND id < ?1 || '.')", (id,)
    ).fetchall()[0]
    return f"{id}-{count + 1}" if count else id


def _decision(row: Row) -> Decision:
    metadata = {} if row[16] is None else load_object(row[16])
    instructions = metadata.get(INSTRUCTION_LIKE)
    return Decision(
        id=row[0],
        title=row[1],
        description=row[2],
        rationale=row[3],
        alternatives=tuple(parse(row[4])),
        links=load_strings(row[5]),
        created_by=row[6],
        created_at=from_micros(row[7]),
        project=row[8],
        erased_at=None if row[9] is None else from_micros(row[9]),
        receipt=row[10],
        memory_id=row[11],
        space=row[12],
        status=None if row[13] is None else Status(row[13]),
        trust=Trust.USER if row[14] is None else Trust(row[14]),
        importance=0.5 if row[15] is None else row[15],
        needs_review=bool(metadata.get("needs_review")),
        instruction_like=tuple(map(str, instructions)) if isinstance(instructions, list | tuple) else (),
        supersedes=row[17],
        superseded_by=load_strings(row[18]),
    )


_PAGE: Final = 200
_BACKUP: Final = "Put a backup in its place."
_PROMISES: Final = (
    (
        "SELECT m.id FROM memories m WHERE m.kind = 'decision'"
        " AND NOT EXISTS (SELECT 1 FROM decision_records d WHERE d.memory_no = m.no) ORDER BY m.no",
        "Memory {0!r} is a decision, and no row of decisions says so. " + _BACKUP,
    ),
    (
        "SELECT d.id FROM decision_records d WHERE d.erased_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.no = d.memory_no) ORDER BY d.no",
        "Decision {0!r} belongs to a memory that is not there, and no erasure took it. " + _BACKUP,
    ),
    (
        "SELECT d.id FROM decision_records d WHERE d.supersedes >= d.no"
        " OR d.supersedes NOT IN (SELECT o.no FROM decision_records o) ORDER BY d.no",
        "Decision {0!r} takes the place of one that is not before it. " + _BACKUP,
    ),
    (
        "SELECT d.id FROM decision_records d WHERE NOT iif(json_valid(d.alternatives_json),"
        " json_type(d.alternatives_json) = 'array', 0)"
        " OR NOT iif(json_valid(d.links_json), json_type(d.links_json) = 'array', 0) ORDER BY d.no",
        "Decision {0!r} has alternatives or links that are no lists. " + _BACKUP,
    ),
)


def check_decisions(db: Database, memories: Memories) -> Iterator[str]:
    """Yield in words what is wrong with the rows of decisions; nothing when all is well."""
    broken = False
    for sql, words in _PROMISES:
        for (name,) in db.query(sql):
            broken = True
            yield words.format(name)
    if not broken:
        yield from _compared(db, memories)


def _compared(db: Database, memories: Memories) -> Iterator[str]:
    after = 0
    while rows := _last_rows(db, after):
        memory_by_no = memories.by_no([row[0] for row in rows])
        for no, name, *columns in rows:
            memory = memory_by_no[no]
            if memory.kind == DECISION and not _says(memory, columns):
                yield f"Decision {name!r} says something else than its memory {memory.id!r}. {_BACKUP}"
        after = rows[-1][0]


def _last_rows(db: Database, after: int) -> list[Row]:
    return [
        tuple(row)
        for row in db.query(
            "SELECT d.memory_no, d.id, d.title, d.description, d.rationale, d.alternatives_json FROM decision_records d"
            " WHERE d.memory_no > ?1 AND d.no = (SELECT max(l.no) FROM decision_records l"
            " WHERE l.memory_no = d.memory_no) ORDER BY d.memory_no LIMIT ?2",
            (after, _PAGE),
        )
    ]


def _says(memory: Memory, columns: list[object]) -> bool:
    """Whether a row says what its memory does; one that is made of the memory's text alone names no more."""
    decision = said_of(memory)
    title, description, rationale, alternatives = columns
    if description == memory.raw and not rationale:
        return True
    listed = json.loads(dump(list(decision.alternatives)))
    return (title, description, rationale, json.loads(cast("str", alternatives))) == (
        decision.title,
        decision.description,
        decision.rationale,
        listed,
    )
