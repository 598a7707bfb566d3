"""The project layer: what was remembered of the project, each fact with what it replaced, or as it stood at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hexad.layers.contract import LayerSource, MemoryItem, MemoryQuery
from hexad.layers.project.values import value_text
from hexad.memory.fact import LINE, TOLD, Fact, FactRow, fact_of, family_of
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.tables.facts import Facts
from hexad.memory.tables.spaces import Spaces
from hexad.redaction.injection.detector import instructions_in
from hexad.text.similarity.containment import look_of_fact

EARLIER_MOST: Final = 8
"""So many earlier values are told where a question asks what was; else the last one."""
_SHOWN: Final = 120
_SECONDS_A_DAY: Final = 86_400.0


class ProjectLayer:
    """Implements `LayerSource`: what `inner` recalls, facts in the light of their history.

    The current value stands in the item; a note says what it replaced, and when; to a question about what was, all
    that was before it. Asked for an earlier time, the value that held then stands in its place; what was not true yet
    is left out.
    """

    def __init__(self, inner: LayerSource, facts: Facts, spaces: Spaces) -> None:
        self._inner, self._facts, self._spaces = inner, facts, spaces

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return MemoryLayer.PROJECT

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Nothing: all that it gives are memories."""
        return self._inner.item(item_id, now=now)

    def warm(self) -> None:
        """Load what `inner` would wait for."""
        self._inner.warm()

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what `inner` finds, best first."""
        found = []
        for item in self._inner.items(query, limit=limit):
            told = item if item.key is None else self._as_of_query(item, query)
            if told is not None:
                found.append(told)
        return found

    def _as_of_query(self, item: MemoryItem, query: MemoryQuery) -> MemoryItem | None:
        if self._facts.holds_many(item.key):
            return replace(item, key=None)  # of several values that hold at once none contradicts another
        if query.as_of is None and item.at > query.now:
            return replace(
                item, key=None
            )  # what is still to come takes no place yet: its own note says from when on
        line = self._line(item)
        own = next((row for row in line if row.id == item.memory_id), None)
        if own is None:
            return item
        fact = fact_of(own, line)
        if query.as_of is not None and not fact.holds_at(query.as_of):
            held = [
                then
                for row in line
                if row.status in TOLD and (then := fact_of(row, line)).holds_at(query.as_of)
            ]
            return _as_it_was(item, held[-1], query) if held else None
        most = EARLIER_MOST if query.query_class is QueryClass.HISTORICAL else 1
        earlier = [f"{_value_shown(row)} ({row.id})" for row in _earlier(fact, line, most=most)]
        if not earlier:
            return item
        note = f"Since {own.valid_from:%Y-%m-%d}; before it was {'; before that '.join(earlier)}."
        return replace(item, notes=(*item.notes, note))

    def _line(self, item: MemoryItem) -> list[FactRow]:
        look = look_of_fact(item.group, item.key)
        space = None if item.space is None else self._spaces.find(item.space)
        if look is None or space is None:
            return []
        family = family_of(item.kind)
        return [
            row
            for row in self._facts.line(look, space_no=space.no, statuses=LINE)
            if family_of(row.kind) == family
        ]


def _earlier(fact: Fact, line: Sequence[FactRow], *, most: int) -> list[FactRow]:
    """Return what a fact took the place of, and what that did, the latest first."""
    found_rows: list[FactRow] = []
    rows = {row.id: row for row in line}
    before = rows.get(fact.replaces or "")
    while before is not None and len(found_rows) < most:
        found_rows.append(before)
        before = rows.get(fact_of(before, line).replaces or "")
    return found_rows


def _as_it_was(item: MemoryItem, fact: Fact, query: MemoryQuery) -> MemoryItem:
    until = "" if fact.valid_to is None else f" until {fact.valid_to:%Y-%m-%d}"
    return replace(
        item,
        id=fact.id,
        memory_id=fact.id,
        text=fact.text,
        summary=None,
        value=fact.value,
        at=fact.valid_from,
        recency=max(0.0, (query.now - fact.valid_from).total_seconds() / _SECONDS_A_DAY),
        confidence=fact.confidence,
        trust=fact.trust,
        citations=(),
        instruction_like=tuple(instructions_in(fact.text)),
        notes=(*item.notes, f"It held from {fact.valid_from:%Y-%m-%d}{until}."),
    )


def _value_shown(row: FactRow) -> str:
    if instructions_in(row.text):
        return "something that reads as instructions"
    value = fact_of(row, ()).value
    text = " ".join((row.text if value is None else value_text(value)).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
