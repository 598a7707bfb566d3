"""The protocols by which the paths meet without importing each other, and the values they pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from hexad.model.memory import Citation, JSONValue, Memory, Relevance, Trust, Turn
from hexad.model.source import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A text on its way in. None means "not given": the write path fills it, or keeps what is stored.

    `source` is the uri of a registered source; with `source_id` it names the item for good.
    """

    text: str
    space: str = "default"
    kind: str | None = None
    path: str | None = None
    id: str | None = None
    title: str | None = None
    source: str | None = None
    source_id: str | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool | None = None
    relevance: Relevance | None = None
    importance: float | None = None
    confidence: float | None = None
    trust: Trust = Trust.USER
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    subject: str | None = None
    attribute: str | None = None
    value: JSONValue = None
    citations: tuple[Citation, ...] | None = None
    data_subjects: tuple[str, ...] | None = None
    metadata: Mapping[str, JSONValue] | None = None
    sections: tuple[Section, ...] = ()
    first_line: int = 1
    revives: bool = True  # whether a changed text brings an archived memory back
    turn: Turn | None = None
    now: datetime | None = None


class MemoryWriter(Protocol):
    """The one way in: redaction, the gate, and one transaction for all drafts of a call."""

    def write(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Store the drafts and return their memories in order, each with its receipt."""


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
