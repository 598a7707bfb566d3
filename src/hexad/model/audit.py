"""What the ledger keeps, and what a check of it finds (document 2, sections 5.1 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hexad.model.experience import EventType
from hexad.model.memory import JSONValue

GENESIS: Final = "genesis"
"""What stands for the hash before the first record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One record of the ledger; `id` is `audit-{seq}`.

    `kind` is `timestep` for what a model did, else the word of an event (`gc`, `erasure`, `reviewer.query`). The
    contents are None when they were erased: the hashes stay and still verify. `subject` is whose data it is, by default
    the session's.
    """

    id: str
    seq: int
    timestamp: datetime
    kind: str
    session_id: str | None
    tick: int | None
    event_type: EventType | None
    subject: str
    lens_activations: Mapping[str, float] | None = None
    steering_applied: Sequence[Mapping[str, JSONValue]] | None = None
    raw_content: str | None = None
    detail: Mapping[str, JSONValue] = field(default_factory=dict)
    erased: bool = False
    prev_record_hash: str
    record_hash: str
    four_field_hash: str | None = None  # document 2's formula over prev, session, tick and content

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the record as JSON, document 2's fields first."""
        return {
            "id": self.id,
            "timestamp": self.timestamp.isoformat().replace("+00:00", "Z"),
            "session_id": self.session_id,
            "tick": self.tick,
            "lens_activations": None if self.lens_activations is None else dict(self.lens_activations),
            "steering_applied": None
            if self.steering_applied is None
            else [dict(one) for one in self.steering_applied],
            "event_type": None if self.event_type is None else self.event_type.value,
            "raw_content": self.raw_content,
            "prev_record_hash": self.prev_record_hash,
            "record_hash": self.record_hash,
            "seq": self.seq,
            "kind": self.kind,
            "subject": self.subject,
            "detail": dict(self.detail),
            "erased": self.erased,
            "four_field_hash": self.four_field_hash,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditRecord:
    """A record before it has a place in the chain; `payload` is what is encrypted and can be erased."""

    kind: str
    at: datetime
    subject: str
    session_id: str | None = None
    tick: int | None = None
    event_type: EventType | None = None
    payload: Mapping[str, JSONValue] | None = None
    detail: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of the ledger found: how many records, their tree hash, and the first that is wrong.

    `checkpoint` is the size of the checkpoint that was compared with, None without one: then a cut tail and a history
    that was written anew as a whole cannot be seen.
    """

    records: int
    root: str
    ok: bool
    first_bad: int | None = None
    problem: str | None = None
    checkpoint: int | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the outcome as JSON."""
        return {
            "records": self.records,
            "root": self.root,
            "ok": self.ok,
            "first_bad": self.first_bad,
            "problem": self.problem,
            "checkpoint": self.checkpoint,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """Who may read the ledger: until `expires_at`, and only what `scope` names (None: everything)."""

    name: str
    added_at: datetime
    expires_at: datetime | None
    sessions: Sequence[str] | None = None
    revoked: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the reviewer as JSON."""
        return {
            "name": self.name,
            "added_at": self.added_at.isoformat().replace("+00:00", "Z"),
            "expires_at": None
            if self.expires_at is None
            else self.expires_at.isoformat().replace("+00:00", "Z"),
            "sessions": None if self.sessions is None else list(self.sessions),
            "revoked": self.revoked,
        }
