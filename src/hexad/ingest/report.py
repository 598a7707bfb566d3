"""What a run over a source is told, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field

from hexad.core.json_types import JSONValue
from hexad.memory.memory import Trust
from hexad.memory.source import Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; `total` is None where it cannot be known cheaply."""

    done: int
    total: int | None
    current: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """What a caller may say about a run."""

    space: str = "default"
    kind: str | None = None
    tags: tuple[str, ...] = ()
    trust: Trust = Trust.TOOL
    project: str | None = None
    dry_run: bool = False


@dataclass(slots=True, kw_only=True)
class IngestReport:
    """What a run did; with `dry_run`, what it would do.

    `skipped` lists at most 1,000 places with reasons; `skips` counts them all. `repeats` lists as many items of another
    memory system that were not stored because the store says so already (`repeated` counts them); `links` are new ones.
    """

    source: str
    space: str
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    repeated: int = 0
    archived: int = 0
    skips: int = 0
    redacted: int = 0
    quarantined: int = 0
    near_duplicates: int = 0
    links: int = 0
    dry_run: bool = False
    seconds: float = 0.0
    skipped: list[Skip] = field(default_factory=list)
    repeats: list[Skip] = field(default_factory=list)

    @property
    def items(self) -> int:
        """How many items the source holds."""
        return self.created + self.updated + self.unchanged + self.repeated

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return {
            "source": self.source,
            "space": self.space,
            "items": self.items,
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "repeated": self.repeated,
            "archived": self.archived,
            "skips": self.skips,
            "redacted": self.redacted,
            "quarantined": self.quarantined,
            "near_duplicates": self.near_duplicates,
            "links": self.links,
            "dry_run": self.dry_run,
            "seconds": round(self.seconds, 3),
            "skipped": [{"source_id": skip.source_id, "reason": skip.reason} for skip in self.skipped],
            "repeats": [{"source_id": skip.source_id, "reason": skip.reason} for skip in self.repeats],
        }
