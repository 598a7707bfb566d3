"""What a new fact does to those that were known: a single-valued attribute has one value at a time.

The line of a key's facts is ordered by when they hold, then by when they were recorded. One is superseded when a later
one says something else and is trusted as much. So the outcome does not depend on the order in which they arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hexad.memory.decision import DECISION, said_of
from hexad.memory.fact import FactRow, displaced, family_of, predecessor, predecessors, successor
from hexad.memory.memory import Memory, Outcome, Status
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.search.indexer import Indexer
from hexad.text.similarity.lookalikes import look_of_fact


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    """Keeps the lines of facts in order, and records what memories decide; in the caller's transaction."""

    stores: Stores
    catalog: Indexer
    facts: Facts
    decisions: Decisions
    author: str  # who opened the store

    def settled(self, memory: Memory, *, space_no: int, now: datetime) -> Memory:
        """Return a memory that was just written as it stands among the facts of its key."""
        look = look_of_fact(memory.subject, memory.attribute)
        if look is None or memory.status is not Status.ACTIVE:
            return memory
        if self.facts.holds_many(memory.attribute):
            return memory
        family = family_of(memory.kind)
        line = [row for row in self.facts.line(look, space_no=space_no) if family_of(row.kind) == family]
        if len(line) < 2:
            return memory
        return self._told(memory, line, self._arranged(line, now=now), now=now)

    def arrange(self, look: str, *, space_no: int, now: datetime) -> None:
        """Bring the facts of a key to where they stand by now: what was to come may have come."""
        lines: dict[str, list[FactRow]] = {}
        for row in self.facts.line(look, space_no=space_no):
            lines.setdefault(family_of(row.kind), []).append(row)
        for line in lines.values():
            if not self.facts.holds_many(line[0].attribute):
                self._arranged(line, now=now)

    def _arranged(self, line: Sequence[FactRow], *, now: datetime) -> list[FactRow]:
        """Supersede what has been displaced, and return what stands."""
        fallen = displaced(line, now)
        for row in fallen:
            self.supersede(row.no, now=now)
        gone, ours = {row.no for row in fallen}, {row.id for row in line}
        before = predecessors(line)
        for row in line:
            older = before.get(row.no)
            if older is not None and (row.supersedes is None or row.supersedes in ours):
                self.facts.set_supersedes(row.no, older.id)
        return [row for row in line if row.status is Status.ACTIVE and row.no not in gone]

    def _told(
        self, memory: Memory, line: Sequence[FactRow], standing: Sequence[FactRow], *, now: datetime
    ) -> Memory:
        own = next(row for row in line if row.id == memory.id)
        found_memory = replace(
            self.stores.memories.by_no([own.no])[own.no], receipt=memory.receipt, chunks=memory.chunks
        )
        later = successor(own, line)
        if later is not None and found_memory.status is Status.SUPERSEDED:
            return _noted(found_memory, f"{later.id!r} holds since a later time: this is what held before.")
        others = [row for row in standing if row.contradicts(own)]
        if others:
            return _noted(
                found_memory,
                f"It contradicts {', '.join(row.id for row in others)}, trusted more or less; all are kept.",
            )
        older = predecessor(own, line)
        if older is None:
            return found_memory
        when = "" if own.valid_from <= now else f" from {own.valid_from:%Y-%m-%d} on"
        return _noted(found_memory, f"It takes the place of {older.id!r}{when}.")

    def supersede(self, no: int, *, now: datetime) -> None:
        """Take a memory out of recall because another one took its place; what rests on it is to be reviewed."""
        if self.catalog.archive(no, at=now):
            self.stores.memories.set_status(no, Status.SUPERSEDED, at=now)

    def decided(self, memory: Memory) -> None:
        """Record what a memory of kind `decision` says, where it says something new."""
        receipt = memory.receipt
        if memory.kind != DECISION or receipt is None or receipt.outcome is Outcome.UNCHANGED:
            return
        said = said_of(memory)
        self.decisions.add(
            self.stores.memories.number(memory.id),
            said,
            project=str(memory.metadata.get("project") or ""),
            by=said.created_by or self.author,
            at=memory.created_at if receipt.outcome is Outcome.CREATED else memory.updated_at,
            supersedes=memory.supersedes,
        )


def _noted(memory: Memory, note: str) -> Memory:
    receipt = memory.receipt
    if receipt is None:  # nothing was written: it was brought back
        return memory
    return replace(memory, receipt=replace(receipt, notes=(*receipt.notes, note)))
