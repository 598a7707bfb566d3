"""What was active when: experience counted by hour, day, or another stretch of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hexad.core.json_types import JSONValue
from hexad.experience.values.records import CompressionLevel


class ActivityUnit(StrEnum):
    """How long a bucket of `activity` is; in UTC, weeks from Monday on."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptActivity:
    """How active a concept was in a bucket.

    `count` is in how many timesteps, a COLD record with it counting as one; `mean` its score in them, over a COLD
    record's the sum of its scores for all of the record's timesteps; `peak` the highest score.
    """

    count: int
    mean: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityBucket:
    """What happened from `start` to before `end`.

    `compressed` is how many of its timesteps are known from COLD records only; a record counts where it begins, so
    that one of the level `coarsest` may stand for what happened later too. `coarsest` TOKEN: all is in full detail.
    """

    start: datetime
    end: datetime
    timesteps: int
    tokens: int
    compressed: int = 0
    coarsest: CompressionLevel = CompressionLevel.TOKEN
    concepts: Mapping[str, ConceptActivity] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the bucket as JSON."""
        return {
            "start": self.start.isoformat().replace("+00:00", "Z"),
            "end": self.end.isoformat().replace("+00:00", "Z"),
            "timesteps": self.timesteps,
            "tokens": self.tokens,
            "compressed": self.compressed,
            "coarsest": self.coarsest.name,
            "concepts": {
                name: {"count": concept.count, "mean": concept.mean, "peak": concept.peak}
                for name, concept in self.concepts.items()
            },
        }
