"""How much the experience takes, and what compressing it did (document 2, section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.experience.values.levels import CompressionLevel, Fidelity


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much there is of something. `records` are timesteps in full, else COLD records."""

    records: int = 0
    timesteps: int = 0
    tokens: int = 0
    bytes: int = 0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the amount as JSON."""
        return as_json(self)


class SessionTotals(dict[str, Amount]):
    """How much there is by session; `notes` say what is missing since a segment cannot be read."""

    def __init__(self, totals: Mapping[str, Amount], notes: Iterable[str] = ()) -> None:
        super().__init__(totals)
        self.notes = tuple(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageUsage:
    """What the experience of a store takes, in bytes, and of what.

    Files are measured, rows of the database counted: `tables_bytes` are the pages of all its tables but those of COLD
    records. Bytes of HOT, WARM and SUBMITTED are their part of logs and segments, by timesteps. `cold_bytes` are
    held against `cold_limit_bytes`, `total_bytes` against `total_limit_bytes`, where one is set, each times
    `compression_threshold`. `warm_used_tokens` are those under pins, which the quota bounds: what is WARM for a time of
    grace is not pinned, and what is pinned may be SUBMITTED besides. `notes` say which segments cannot be read: their
    bytes count, and their timesteps do not.
    """

    total_bytes: int
    cold_bytes: int
    cold_limit_bytes: int
    compression_threshold: float
    total_limit_bytes: int | None
    logs_bytes: int
    segments_bytes: int
    documents_bytes: int
    exports_bytes: int
    tables_bytes: int
    by_fidelity: Mapping[Fidelity, Amount] = field(default_factory=dict)
    by_level: Mapping[CompressionLevel, Amount] = field(default_factory=dict)
    compactions: Amount = field(default_factory=Amount)
    warm_quota_tokens: int = 0
    warm_used_tokens: int = 0
    notes: Sequence[str] = ()

    @property
    def over_threshold(self) -> bool:
        """Whether compression has something to do."""
        bound = self.cold_limit_bytes * self.compression_threshold
        total = (
            None if self.total_limit_bytes is None else self.total_limit_bytes * self.compression_threshold
        )
        return self.cold_bytes > bound or (total is not None and self.total_bytes > total)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the usage as JSON, fidelities and levels by name."""
        value = as_json(
            self, "total_bytes", "cold_bytes", "cold_limit_bytes", "compression_threshold", "total_limit_bytes",
            "over_threshold", "logs_bytes", "segments_bytes", "documents_bytes", "exports_bytes", "tables_bytes",
            "by_fidelity", "by_level", "compactions", "warm_quota_tokens", "warm_used_tokens",
        )  # fmt: skip
        levels = {level.name: amount.to_dict() for level, amount in self.by_level.items()}
        return value | {"by_level": levels} | ({"notes": list(self.notes)} if self.notes else {})


class Stopped(StrEnum):
    """Why compression went no further."""

    UNDER_THRESHOLD = "under_threshold"
    NOTHING_LEFT = "nothing_left"  # over the threshold still: all of COLD is at YEAR
    ASKED = "asked"  # whoever called wants to end
    ELSEWHERE = "elsewhere"  # another process is compressing


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionStep:
    """What went from one level to the next; `records` became `into`, `passes` batches of at most `largest_batch`."""

    source: CompressionLevel
    target: CompressionLevel
    records: int
    into: int
    bytes_freed: int
    passes: int = 1
    largest_batch: int = 0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the step as JSON, levels by name."""
        return as_json(self) | {"source": self.source.name, "target": self.target.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionReport:
    """What `check_and_compress` did. `bytes_…` are those that were held against `limit_bytes`."""

    bytes_before: int
    bytes_after: int
    limit_bytes: int
    compression_threshold: float
    stopped: Stopped
    steps: Sequence[CompressionStep] = ()
    expired_sessions: Sequence[str] = ()  # ended ones whose context was compacted to make room
    summaries: Mapping[str, int] = field(
        default_factory=dict
    )  # by who wrote them: a generator's name, or `local`
    notes: Sequence[str] = ()

    @property
    def bytes_freed(self) -> int:
        """By how much it became less; what others stored meanwhile counts against it."""
        return self.bytes_before - self.bytes_after

    @property
    def records(self) -> int:
        """How many records became part of coarser ones; one counts once for each level."""
        return sum(step.records for step in self.steps)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(
            self, "bytes_before", "bytes_after", "bytes_freed", "limit_bytes", "compression_threshold", "stopped",
            "records", "steps", "expired_sessions", "summaries", "notes",
        )  # fmt: skip
