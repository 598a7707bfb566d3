"""What somebody said of an answer: it was helpful, or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hexad.core.clock import format_time
from hexad.core.json_types import JSONValue
from hexad.memory.layer_names import MemoryLayer, QueryClass


class Verdict(StrEnum):
    """What an answer was worth."""

    HELPFUL = "helpful"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One verdict on one item as the answer to a question.

    `memory_id` is None for what is no memory: of that neither its id, nor the question, nor a note is kept, and it
    counts for its layer alone. `query_class` is None without a question. `effect` says what became of the memory.
    """

    id: str
    memory_id: str | None
    layer: MemoryLayer
    verdict: Verdict
    query: str
    query_class: QueryClass | None
    note: str
    given_by: str
    given_at: datetime
    effect: str = ""

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return {
            "id": self.id,
            "memory_id": self.memory_id,
            "layer": self.layer.value,
            "verdict": self.verdict.value,
            "query": self.query,
            "query_class": None if self.query_class is None else self.query_class.value,
            "note": self.note,
            "given_by": self.given_by,
            "given_at": format_time(self.given_at),
            "effect": self.effect,
        }
