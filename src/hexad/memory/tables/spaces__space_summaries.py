"""Summaries of all spaces in two queries, however many memories there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from hexad.database.codec import from_micros
from hexad.database.connection import Database
from hexad.memory.memory import Status
from hexad.memory.tables.rows import seen_sql


@dataclass(slots=True)
class SpaceSummary:
    """What is in a space: active memories by kind, and of those that are kept the archived ones."""

    active: int = 0
    archived: int = 0
    pinned: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    newest: datetime | None = None
    text_bytes: int = 0


class SpaceSummaries:
    """Counts what `roles` may see."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None) -> None:
        self._db = db
        self._roles = roles

    def of(self, space_no: int | None = None) -> dict[int, SpaceSummary]:
        """Return the summaries of all spaces that hold something, or of one, by row number."""
        seen, roles = seen_sql("m", self._roles)
        one = "m.space_no = ?" if space_no is not None else "1"
        rows = self._db.query(
            # The size of a text is known without reading it.
            "SELECT m.space_no, m.status, m.kind, count(*), sum(m.pinned), max(m.updated_at), sum(octet_length(m.raw))"
            f" FROM memories m WHERE {one}{seen} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (*(() if space_no is None else (space_no,)), *roles),
        )
        found: dict[int, SpaceSummary] = {}
        for no, status, kind, count, pinned, newest, size in rows:
            summary = found.setdefault(cast("int", no), SpaceSummary())
            many = cast("int", count)
            if status == Status.ACTIVE:
                summary.active += many
                summary.pinned += cast("int", pinned)
                summary.kinds[cast("str", kind)] = many
            elif status == Status.ARCHIVED:
                summary.archived += many
            last = from_micros(cast("int", newest))
            summary.newest = last if summary.newest is None else max(summary.newest, last)
            summary.text_bytes += cast("int", size)
        return found
