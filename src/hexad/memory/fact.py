"""Facts over time: what holds of a subject's attribute, since when, and what held before."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.memory.memory import Status, Trust

KINDS_APART: Final = frozenset({"pattern", "todo", "tech-stack", "convention"})
"""Kinds of project facts whose keys are their own: a convention about testing is no value of the stack's `testing`."""

STACK: Final = "tech-stack"
"""Of these the one whose keys are one under all their names: `db` is the stack's `database`. Two conventions about
tests under two names may both hold.
"""

LINE: Final = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
"""What ends what was before it. A forgotten value does: forgetting the newest does not bring back the last but one."""
TOLD: Final = (Status.ACTIVE, Status.SUPERSEDED)
"""What is told of a line."""


def family_of(kind: str) -> str:
    """Return what a fact's kind is for comparing: facts of one key in different families are about different things."""
    return kind if kind in KINDS_APART else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """One fact as it is stored. `value` is its JSON, None where the text alone says it."""

    no: int
    id: str
    space: str
    subject: str | None
    attribute: str | None
    value: str | None
    content_hash: str
    text: str
    kind: str
    trust: Trust
    status: Status
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    changed_at: datetime
    supersedes: str | None = None
    needs_review: bool = False

    @property
    def order(self) -> tuple[datetime, datetime, int]:
        """By what facts stand one after the other: when they hold, else when they were recorded, else their row."""
        return (self.valid_from, self.recorded_at, self.no)

    def differs(self, other: FactRow) -> bool:
        """Whether two facts say something else of the same thing."""
        if self.value is None and other.value is None:
            return self.content_hash != other.content_hash
        return self.value != other.value

    def contradicts(self, other: FactRow) -> bool:
        """Whether two facts say something else and neither takes the other's place."""
        return self.differs(other) and not self.yields_to(other) and not other.yields_to(self)

    def yields_to(self, other: FactRow) -> bool:
        """Whether a fact of a single-valued attribute is superseded by another: a later one that is trusted as much."""
        return other.order > self.order and self.differs(other) and other.trust.rank >= self.trust.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A value of a subject's attribute, with the time in which it held.

    `valid_from` is when it began to hold, `valid_to` when it ceased to, None while it holds. `recorded_at` is when
    the store learned it. `replaces` and `replaced_by` are ids of memories.
    """

    id: str
    space: str
    subject: str | None
    attribute: str | None
    value: JSONValue
    text: str
    kind: str
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    status: Status
    trust: Trust
    confidence: float
    replaces: str | None = None
    replaced_by: str | None = None
    contradicted_by: tuple[str, ...] = ()
    needs_review: bool = False

    def holds_at(self, when: datetime) -> bool:
        """Whether it held at a time."""
        return self.valid_from <= when and (self.valid_to is None or when < self.valid_to)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the fact as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """Something that the store learned: a fact that is new, or one that took the place of another.

    `what` is `new`, `replaced`, `late` (it held before what was known already), `contradicts`, or `forgotten`.
    """

    at: datetime
    what: str
    fact: Fact
    before: Fact | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the change as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A memory that rests on something that no longer stands; `premises` are ids of what it rests on and that fell."""

    memory_id: str
    space: str
    path: str
    text: str
    premises: tuple[str, ...]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the review as JSON."""
        return as_json(self)


def successor(fact: FactRow, line: Sequence[FactRow]) -> FactRow | None:
    """Return the fact that took the place of one: the first later one that it yields to; None while it stands."""
    later = [other for other in line if fact.yields_to(other)]
    return min(later, key=lambda other: other.order) if later else None


def displaced(line: Sequence[FactRow], now: datetime) -> list[FactRow]:
    """Return the active facts whose place another one has taken by now: what is still to come displaces nothing yet.

    Of two that are both to come at the same time, the later one to be recorded counts. Takes time in proportion to
    the line.
    """
    fallen: set[int] = set()
    seen: dict[datetime, _FactStates] = {}
    for row in sorted(line, key=lambda each: each.order, reverse=True):
        later = seen.setdefault(max(now, row.valid_from), _FactStates())
        if row.status is Status.ACTIVE and later.otherwise(row, of=lambda rank, own: rank >= own) is not None:
            fallen.add(row.no)
        later.add(row)
    return [row for row in line if row.no in fallen]


def predecessors(line: Sequence[FactRow]) -> dict[int, FactRow]:
    """Return, by row number, the fact that each of a line took the place of, in time in proportion to the line."""
    rows: dict[int, FactRow] = {}
    states = _FactStates()
    for row in sorted(line, key=lambda each: each.order):
        before = states.otherwise(row, of=lambda rank, own: rank <= own)
        if before is not None:
            rows[row.no] = before
        states.add(row)
    return rows


class _FactStates:
    """The facts of a line that were gone through: of each rank of trust the last, and the last that said otherwise."""

    def __init__(self) -> None:
        self._last: dict[int, list[tuple[int, FactRow]]] = {}
        self._count = 0

    def add(self, fact_row: FactRow) -> None:
        """Go through one more."""
        rank = fact_row.trust.rank
        same_rows = [row for row in self._last.get(rank, ()) if row[1].differs(fact_row)][:1]
        self._last[rank] = [(self._count, fact_row), *same_rows]
        self._count += 1

    def otherwise(self, fact_row: FactRow, *, of: Callable[[int, int], bool]) -> FactRow | None:
        """Return the last that says otherwise, of the ranks that fit to that of `one`."""
        fit = [
            row
            for rank, rows in self._last.items()
            if of(rank, fact_row.trust.rank)
            for row in rows
            if row[1].differs(fact_row)
        ]
        return max(fit, key=lambda row: row[0])[1] if fit else None


def predecessor(fact: FactRow, line: Sequence[FactRow]) -> FactRow | None:
    """Return the fact that one took the place of: the last earlier one that yields to it."""
    earlier = [other for other in line if other.yields_to(fact)]
    return max(earlier, key=lambda other: other.order) if earlier else None


def fact_of(row: FactRow, line: Sequence[FactRow], *, known_at: datetime | None = None) -> Fact:
    """Return a fact as it stands in its line, with the time in which it held.

    `line` are the facts against which it is held; `known_at` is when it is looked at, None for now.
    """
    after, before = successor(row, line), predecessor(row, line)
    ends = [end for end in (row.valid_to, after.valid_from if after else None) if end is not None]
    if after is None and row.status is Status.SUPERSEDED and (known_at is None or row.changed_at <= known_at):
        ends.append(row.changed_at)  # what took its place was erased; that it ended is known all the same
    standing = [other for other in line if other.status is Status.ACTIVE and other.no != row.no]
    return Fact(
        id=row.id,
        space=row.space,
        subject=row.subject,
        attribute=row.attribute,
        value=None if row.value is None else json.loads(row.value),
        text=row.text,
        kind=row.kind,
        valid_from=row.valid_from,
        valid_to=min(ends, default=None),
        recorded_at=row.recorded_at,
        status=row.status,
        trust=row.trust,
        confidence=row.confidence,
        replaces=before.id if before is not None and before.status in TOLD else None,
        replaced_by=after.id if after is not None and after.status in TOLD else None,
        contradicted_by=tuple(other.id for other in standing if other.contradicts(row))
        if row.status is Status.ACTIVE
        else (),
        needs_review=row.needs_review,
    )
