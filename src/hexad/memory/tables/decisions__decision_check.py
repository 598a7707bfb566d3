"""Whether the rows of decisions and the memories that say them tell the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from hexad.database.codec import dump
from hexad.database.connection import Database
from hexad.memory.decision import DECISION, said_of
from hexad.memory.memory import Memory
from hexad.memory.store import Stores

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


def check_decisions(stores: Stores) -> Iterator[str]:
    """Yield in words what is wrong with the rows of decisions; nothing when all is well."""
    broken = False
    for sql, words in _PROMISES:
        for (name,) in stores.db.query(sql):
            broken = True
            yield words.format(name)
    if not broken:
        yield from _compared(stores)


def _compared(stores: Stores) -> Iterator[str]:
    after = 0
    while rows := _last_rows(stores.db, after):
        memories = stores.memories.by_no([cast("int", row[0]) for row in rows])
        for no, name, *told in rows:
            memory = memories[cast("int", no)]
            if memory.kind == DECISION and not _says(memory, told):
                yield f"Decision {name!r} says something else than its memory {memory.id!r}. {_BACKUP}"
        after = cast("int", rows[-1][0])


def _last_rows(db: Database, after: int) -> list[tuple[object, ...]]:
    return [
        tuple(row)
        for row in db.query(
            "SELECT d.memory_no, d.id, d.title, d.description, d.rationale, d.alternatives_json FROM decision_records d"
            " WHERE d.memory_no > ?1 AND d.no = (SELECT max(l.no) FROM decision_records l"
            " WHERE l.memory_no = d.memory_no) ORDER BY d.memory_no LIMIT ?2",
            (after, _PAGE),
        )
    ]


def _says(memory: Memory, told: list[object]) -> bool:
    """Whether a row says what its memory does; one that is made of the memory's text alone names no more."""
    said = said_of(memory)
    title, description, rationale, alternatives = told
    if description == memory.raw and not rationale:
        return True
    listed = json.loads(dump(list(said.alternatives)))
    return (title, description, rationale, json.loads(cast("str", alternatives))) == (
        said.title,
        said.description,
        said.rationale,
        listed,
    )
