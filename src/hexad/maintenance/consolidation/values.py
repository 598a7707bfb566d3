"""What a consolidation did, or would do: every change with its reason, what it left alone, how large the layers are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue

DECAYED: Final = "decayed"
"""Name in a draft's metadata: how sure it was before it grew old, and how sure it was made."""
PROMOTED: Final = "promoted"
"""Name in the metadata of what a session left: when it was written last by that session and by nobody else."""
MERGED_INTO: Final = "merged-into"
"""Kind of the link from what was merged to what remains."""


class ConsolidationScope(StrEnum):
    """What may be consolidated by itself."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


class ConsolidationAction(StrEnum):
    """What consolidation does with something."""

    PROMOTED = "promoted"  # from a session to the project
    CONFIRMED = "confirmed"  # a draft that a session said again
    DONE = "done"  # a todo whose step was done
    MERGED = "merged"
    DROPPED = "dropped"
    ARCHIVED = "archived"
    RESCORED = "rescored"
    REMOVED = "removed"  # a working set, or a pattern of nobody any more
    LEARNED = "learned"  # across projects


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationChange:
    """One change: what was done with which ids of which layer, why, and what remains in their place.

    `before` and `after` are confidences, where those changed.
    """

    action: ConsolidationAction
    layer: str
    ids: tuple[str, ...]
    reason: str
    remains: str | None = None
    before: float | None = None
    after: float | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """What a rule would have taken and did not: how many, why, and the first of their ids."""

    reason: str
    count: int
    ids: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSize:
    """How large a layer is: items that are recalled, and the bytes of their texts; None where there is no quota."""

    layer: str
    count: int = 0
    bytes: int = 0
    quota: int | None = None
    quota_bytes: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether it is larger than it may be."""
        return (self.quota is not None and self.count > self.quota) or (
            self.quota_bytes is not None and self.bytes > self.quota_bytes
        )

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self) | {"over": self.is_over}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What `hx.consolidate` did, or would do. Nothing is lost: `undo` says how each kind of change is taken back."""

    scopes: tuple[ConsolidationScope, ...]
    at: datetime
    dry_run: bool = False
    changes: tuple[ConsolidationChange, ...] = ()
    skipped: tuple[LeftAlone, ...] = ()
    before: Mapping[str, LayerSize] = field(default_factory=dict)
    after: Mapping[str, LayerSize] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind of change there are, by name."""
        return dict(sorted(Counter(change.action.value for change in self.changes).items()))

    @property
    def over_quota(self) -> tuple[str, ...]:
        """The layers that are larger than they may be, after it."""
        return tuple(size.layer for size in self.after.values() if size.is_over)

    @property
    def undo(self) -> tuple[str, ...]:
        """How what was done is taken back, for the kinds of change that there are."""
        there = {change.action for change in self.changes}
        return tuple(text for actions, text in _UNDO if there & actions)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(
            self, "scopes", "at", "dry_run", "counts", "changes", "skipped", "before", "after", "over_quota",
            "warnings", "undo", "interrupted",
        )  # fmt: skip


_UNDO: Final = (
    (
        frozenset(
            {
                ConsolidationAction.MERGED,
                ConsolidationAction.DROPPED,
                ConsolidationAction.ARCHIVED,
                ConsolidationAction.DONE,
            }
        ),
        "hx.restore(id), or `hexad memory restore ID`, brings a memory back; what was merged once stays apart then.",
    ),
    (
        frozenset({ConsolidationAction.PROMOTED}),
        "hx.forget(id), or `hexad forget ID`, archives a promoted memory; it is not promoted again.",
    ),
    (
        frozenset({ConsolidationAction.RESCORED}),
        "Evidence brings confidence back: hx.project.observe or confirm, and accept or prefer of hx.user.",
    ),
    (
        frozenset({ConsolidationAction.REMOVED}),
        "What was removed does not come back; session_days = 0 without a quota of sessions keeps working sets.",
    ),
)
