"""What the ledger keeps, and what a check of it finds (document 2, sections 5.1 and 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from hexad.core.as_json import as_json
from hexad.core.clock import format_time
from hexad.core.event_types import EventType
from hexad.core.json_types import JSONValue

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
            "timestamp": format_time(self.timestamp),
            "session_id": self.session_id,
            "tick": self.tick,
            "lens_activations": None if self.lens_activations is None else dict(self.lens_activations),
            "steering_applied": None
            if self.steering_applied is None
            else [dict(steering) for steering in self.steering_applied],
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


_NOTHING: Final[Mapping[str, JSONValue]] = MappingProxyType({})


class NewAuditRecord(NamedTuple):
    """A record before it has a place in the chain; `payload` is what is encrypted and can be erased."""

    # A tuple, as there is one for each token: a frozen dataclass takes 1.3 µs longer to make.
    kind: str
    at: datetime
    subject: str
    session_id: str | None = None
    tick: int | None = None
    event_type: EventType | None = None
    payload: Mapping[str, JSONValue] | None = None
    detail: Mapping[str, JSONValue] = _NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of the ledger found: how many records, their tree hash, and the first that is wrong.

    `checkpoint` is the size of the checkpoint that was compared with, None without one: then a cut tail and a history
    that was written anew as a whole cannot be seen. `archived` records are in archives, of which `read` were read too;
    `skipped` are the sizes of checkpoints that end among archived records, and need the archive to be compared.
    """

    records: int
    root: str
    ok: bool
    first_bad: int | None = None
    problem: str | None = None
    checkpoint: int | None = None
    archived: int = 0
    read: int = 0
    skipped: Sequence[int] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the outcome as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which records belong to an incident; all that is given must hold, also of records that come later.

    Ticks and seqs include both ends, times leave out theirs.
    """

    session: str | None = None
    ticks: tuple[int, int] | None = None
    times: tuple[datetime, datetime] | None = None
    seqs: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the span as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One span of an incident: the record that marked it, when, who and why."""

    record_id: str
    at: datetime
    author: str
    reason: str
    span: Span

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the mark as JSON."""
        return {
            "record": self.record_id,
            "at": format_time(self.at),
            "author": self.author,
            "reason": self.reason,
            **self.span.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Spans of the ledger that are kept for good, under a name. `records` of them are in the ledger now."""

    name: str
    marks: Sequence[Mark]
    records: int

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the incident as JSON."""
        return as_json(self, "name", "records", "marks")


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentExport:
    """What the file of an incident holds: its `records`, proved by a checkpoint of `size` that `key` signed."""

    path: Path
    name: str
    records: int
    size: int
    root: str
    key: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerExport:
    """What a file of `export_to` holds: the `records` that `reviewer` was shown of what was `asked`.

    They are proved by a checkpoint of `size` that `key` signed.
    """

    path: Path
    reviewer: str
    asked: Mapping[str, JSONValue]
    records: int
    size: int
    root: str
    key: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long timesteps stay in the ledger before they move to archives in `folder`."""

    days: int
    folder: Path

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the policy as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What an archive holds: `records` of those from `first` to before `past`, shown by a checkpoint of `size` records.

    `record_id` is the ledger's record of it, None for one that was checked by itself. `more` says that others could be
    archived too: one file has a limit.
    """

    path: Path
    records: int
    contents: int
    first: int
    past: int
    size: int
    root: str
    sha256: str
    origin: str
    key: str
    record_id: str | None = None
    more: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return {
            "path": str(self.path),
            "record": self.record_id,
            **as_json(self, without=("path", "record_id")),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Destroyed:
    """How many contents of the ledger were destroyed, or with `dry_run` would be, and which record says so.

    `cleared` says that nothing of them is left in its files either; without it another program reads them just now, and
    the next erasure clears them.
    """

    record_id: str
    contents: int
    cleared: bool
    dry_run: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        return {"record": self.record_id, **as_json(self, without=("record_id",))}


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
        return as_json(self)
