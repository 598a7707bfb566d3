"""What a run over a source is told, and what it reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from hexad.core.ids import content_hash
from hexad.core.json_types import JSONValue
from hexad.memory.memory import Trust
from hexad.memory.source import Item, Skip


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
    `waiting` says why items wait for a review (`quarantined` counts them), `unread` which times could not be read
    (`unread_times` counts them): these items are stored without one, and keep the source's words in their metadata.
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
    unread_times: int = 0
    near_duplicates: int = 0
    links: int = 0
    dry_run: bool = False
    seconds: float = 0.0
    skipped: list[Skip] = field(default_factory=list)
    repeats: list[Skip] = field(default_factory=list)
    waiting: list[Skip] = field(default_factory=list)
    unread: list[Skip] = field(default_factory=list)

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
            "unread_times": self.unread_times,
            "near_duplicates": self.near_duplicates,
            "links": self.links,
            "dry_run": self.dry_run,
            "seconds": round(self.seconds, 3),
            **{
                name: [{"source_id": each.source_id, "reason": each.reason} for each in places]
                for name, places in (
                    ("skipped", self.skipped),
                    ("repeats", self.repeats),
                    ("waiting", self.waiting),
                    ("unread", self.unread),
                )
            },
        }


OVERVIEW_ID: Final = "./"
"""Source id of a folder's overview: no file can have it."""
_LISTED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineRow:
    """One file of a folder, as the store has it."""

    source_id: str
    kind: str
    language: str
    summary: str


def overview(project: str, outline: Sequence[OutlineRow]) -> Item | None:
    """Return the overview of a folder's files; None when it has none."""
    files = [row for row in outline if row.source_id != OVERVIEW_ID]
    if not files:
        return None
    many = "1 file" if len(files) == 1 else f"{len(files)} files"
    lines = [f"Overview of the project {project}: {many}."]
    lines += _counted("Kinds", Counter(row.kind for row in files))
    lines += _counted("Languages", Counter(row.language for row in files if row.language))
    folders = Counter(str(PurePosixPath(row.source_id).parent) for row in files)
    lines += _counted("Folders", Counter({("top level" if k == "." else k): v for k, v in folders.items()}))
    for row in sorted(files, key=lambda row: (len(row.source_id), row.source_id)):
        name = PurePosixPath(row.source_id)
        if name.stem.upper() == "README" and len(name.parts) == 1:
            lines.append(f"{name.name}: {row.summary}")
    text = "\n".join(lines)
    return Item(
        source_id=OVERVIEW_ID,
        text=text,
        kind="overview",
        path=f"{project}/overview",
        title=f"Overview of {project}",
        tags=("overview",),
        content_hash=content_hash(text),
        metadata={"project": project},
    )


def _counted(title: str, counts: Counter[str]) -> list[str]:
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = f", and {len(ranked) - _LISTED} more" if len(ranked) > _LISTED else ""
    return [f"{title}: " + ", ".join(f"{name} ({count})" for name, count in ranked[:_LISTED]) + more + "."]
