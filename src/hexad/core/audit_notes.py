"""What a system notes for the audit ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from hexad.core.json_types import JSONValue


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Something that a reviewer must be able to see later."""

    what: str
    at: datetime
    detail: Mapping[str, JSONValue] = field(default_factory=dict)


class AuditSink(Protocol):
    """Where events for the ledger go."""

    def record(self, event: AuditEvent) -> None:
        """Keep `event` for good."""
