"""A summary of a whole folder as one memory, so that "what is this project?" has an answer to find.

Document 4, section 2.2.4: project-level summaries belong to what vectors index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from hexad.core.ids import content_hash
from hexad.memory.source import Item

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
