"""What somebody said of an answer: it was helpful, or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hexad.core.as_json import as_json
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
        return as_json(self)
