"""The governance layer: decisions, framed as prior context with their age and their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hexad.layers.contract import LayerSource, MemoryItem, MemoryQuery
from hexad.memory.decision import DECISION, ago
from hexad.memory.layer_names import MemoryLayer
from hexad.memory.tables.decisions import Decisions


class GovernanceLayer:
    """Implements `LayerSource`: the decisions that `inner` recalls, each with what a reader must know of it.

    A model that is handed an old decision without its age takes it for a rule.
    """

    def __init__(self, inner: LayerSource, decisions: Decisions) -> None:
        self._inner, self._decisions = inner, decisions

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return MemoryLayer.GOVERNANCE

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Nothing: all that it gives are memories."""
        return self._inner.item(item_id, now=now)

    def warm(self) -> None:
        """Load what `inner` would wait for."""
        self._inner.warm()

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what `inner` finds, best first; decided after the time that is asked for, it is left out."""
        items = self._inner.items(query, limit=limit)
        known_decisions = self._decisions.of_memories(
            [item.memory_id for item in items if item.memory_id is not None]
        )
        found = []
        for item in items:
            decision = known_decisions.get(item.memory_id or "")
            if decision is None:
                found.append(item)
                continue
            if query.as_of is not None and decision.created_at > query.as_of:
                continue
            notes = [*item.notes, decision.framing(query.now)]
            older = self._decisions.before(decision)[:1]
            notes += [
                f"It took the place of {earlier.id} ({ago(earlier.created_at, query.now)})"
                + ("." if earlier.instruction_like else f": {earlier.title}")
                for earlier in older
            ]
            why = f" Why: {decision.rationale}" if decision.rationale else ""
            found.append(
                replace(
                    item,
                    kind=DECISION,
                    summary=f"{decision.title}{why}"
                    if len(item.text) > len(decision.title) + len(why)
                    else None,
                    value=None if item.key is None else decision.title,
                    notes=tuple(notes),
                )
            )
        return found
