"""Facts whose time has come, where maintenance has not been since: what they take the place of is told no more."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from hexad.memory.fact import FactRow, displaced, family_of, successor
from hexad.memory.query import Replaced
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts


def _was(row: FactRow, after: FactRow) -> Replaced:
    return Replaced(
        id=row.id,
        text=row.text,
        value=None if row.value is None else json.loads(row.value),
        valid_from=row.valid_from,
        valid_to=after.valid_from,
    )


class OverdueFact(NamedTuple):
    """A fact that is over: the id of what holds instead, and what it was."""

    by: str
    was: Replaced


def overdue(stores: Stores, keys: Iterable[tuple[str, int]], *, now: datetime) -> dict[int, OverdueFact]:
    """Return the active facts under these keys that are over by now, by row number.

    `keys` are looks of facts with their spaces' numbers. Nothing is written: `maintain` does that.
    """
    facts = Facts(stores.db, roles=stores.roles)
    overdue_facts: dict[int, OverdueFact] = {}
    for look, space_no in keys:
        families: dict[str, list[FactRow]] = {}
        for row in facts.line(look, space_no=space_no):
            families.setdefault(family_of(row.kind), []).append(row)
        for line in families.values():
            if not facts.holds_many(line[0].attribute):
                begun = [row for row in line if row.valid_from <= now]
                for row in displaced(line, now):
                    if (after := successor(row, begun)) is not None:
                        overdue_facts[row.no] = OverdueFact(by=after.id, was=_was(row, after))
    return overdue_facts
