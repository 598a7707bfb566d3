"""What spaces say about themselves, and what was done to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceInfo:
    """One space, as the actor sees it: what is hidden from the actor is not counted.

    `memories` are active ones; `kinds` counts them by kind; `newest` is the last change of any that is kept, archived
    ones too; `text_bytes` is the size of all texts in UTF-8.
    """

    name: str
    memories: int
    archived: int = 0
    pinned: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    newest: datetime | None = None
    text_bytes: int = 0
    metadata: Mapping[str, JSONValue]
    policies: Mapping[str, JSONValue]
    created_at: datetime
    updated_at: datetime

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the summary as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class GcReport:
    """What gc did to a space, or with `dry_run` would do.

    `archived` memories can be restored, `purged` ones are gone; `kept_pinned` are past their time and stay because
    they are pinned, `kept_young` are active and not past it. `ids` are the first of those archived or purged.
    `cutoff` is the latest last change that was old enough where no retention rule says otherwise; None when nothing
    is old without one. `rules` counts the retention rules of the space: what they match has a lifetime of its own.
    """

    space: str
    dry_run: bool
    cutoff: datetime | None
    archived: int = 0
    purged: int = 0
    kept_pinned: int = 0
    kept_young: int = 0
    ids: tuple[str, ...] = ()
    rules: int = 0

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReport:
    """What deleting a space removed, or with `dry_run` would remove.

    `memories` counts those of every status; `links_lost` were drawn to them from other spaces; `file_removed` tells
    of the space's own file; `exports_left` are exports that were found and are left where they are.
    """

    space: str
    dry_run: bool
    memories: int
    links_lost: int
    file_removed: bool = False
    exports_left: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)
