"""What somebody said of an answer: it was helpful, or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTally:
    """How many verdicts said what. `share` is how many of them said `helpful`, 0 to 1; None where there are none."""

    helpful: int
    wrong: int
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPeriod:
    """The verdicts that were given from `start` to before `end`."""

    start: datetime
    end: datetime
    tally: VerdictTally


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """What was called wrong, and how often: a memory, or, where `memory_id` is None, all else of a layer.

    `queries` and `notes` are those of the verdicts that called it wrong, the last first and each once.
    """

    memory_id: str | None
    layer: MemoryLayer
    tally: VerdictTally
    queries: Sequence[str]
    notes: Sequence[str]
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackStats:
    """What was said of answers, in numbers.

    `layers` and `query_classes` are the same by name, those without a verdict left out; a verdict without a question
    is of no class. `trend` is six periods of 30 days up to now, the last one last, and `change` what the share of
    `helpful` rose or fell by from the last but one to the last: None where either has fewer than five verdicts.
    `mistakes` are what was called wrong most often.
    """

    tally: VerdictTally
    layers: Mapping[str, VerdictTally]
    query_classes: Mapping[str, VerdictTally]
    trend: Sequence[VerdictPeriod]
    change: float | None
    mistakes: Sequence[Mistake]

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the numbers as JSON."""
        return as_json(self)
