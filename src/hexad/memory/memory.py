"""The memory record (document 1, "MemoryObject") and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from hexad.core.clock import format_time
from hexad.core.json_types import JSONObject, JSONValue

MEMORY_BYTES_LIMIT: Final = 1 << 20
"""Largest text of one memory in bytes of UTF-8; longer sources are stored in numbered parts."""


INSTRUCTION_LIKE: Final = "instruction_like"
QUARANTINE: Final = "quarantine"
BESIDE: Final = "beside"
CONSOLIDATED: Final = "consolidated"
"""Name in a memory's metadata: why upkeep took it out of recall, and which memory remains in its place."""
OURS: Final = frozenset({INSTRUCTION_LIKE, QUARANTINE, BESIDE})
"""Names in a memory's metadata that are Hexad's own: what it says of the text, of a review, of a stronger memory."""


class Relevance(StrEnum):
    """How much a memory matters to its project, in words (document 1)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def importance(self) -> float:
        """How much a memory of this relevance matters in a number, where nobody gives one."""
        return _IMPORTANCE[self]


_IMPORTANCE: Final = {Relevance.HIGH: 0.8, Relevance.MEDIUM: 0.5, Relevance.LOW: 0.2}


class Trust(StrEnum):
    """Who vouches for a text, from the most to the least trusted."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """How much it is, to compare: 4 for the user, 0 for nobody known."""
        return _RANKS[self]


TRUST_OF_ROLE: Final = {
    **dict.fromkeys(("user", "human"), Trust.USER),
    **dict.fromkeys(("assistant", "agent", "model", "ai"), Trust.AGENT),
    **dict.fromkeys(("tool", "function"), Trust.TOOL),
}
"""Who vouches for what is said in a role of a conversation."""

ROLE: Final = "role"
"""Name in a turn's metadata of the role that it was said in, where who speaks goes by another name."""

_RANKS: Final = {trust: 4 - at for at, trust in enumerate(Trust)}


def least_trust(trusts: Iterable[Trust]) -> Trust:
    """Return the least of some trusts: that of whatever is made of all of them together."""
    return min(trusts, key=lambda trust: trust.rank)


class Status(StrEnum):
    """Where a memory stands: only active ones are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"


class Outcome(StrEnum):
    """What the write path did with a text."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    EVIDENCE = "evidence"  # an exact repeat: counted on the memory that is there
    ECHO = "echo"  # our own words, handed back: not a new fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A span of a memory's text: what full text and vectors index.

    `start` and `end` are offsets in characters of `Memory.raw`; `first_line` and `last_line` count from 1 in
    the source. `heading` is what the span belongs to: a trail of headings, a definition, who spoke when.
    """

    chunk_id: str
    start: int
    end: int
    first_line: int
    last_line: int
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A place in a tracked source that a memory rests on."""

    path: str
    symbol: str | None = None
    content_hash: str | None = None
    commit: str | None = None
    lines: str | None = None  # "10-20", as they stood when it was cited
    marks: str | None = None  # a short hash of each line, by which it is found again
    branch: str | None = None  # that was checked out when it was cited

    def to_dict(self) -> dict[str, str | None]:
        """Return it as JSON; without lines, marks and branch where it has none."""
        row = {name: getattr(self, name) for name in CITATION_FIELDS}
        return {name: value for name, value in row.items() if value is not None or name not in _OPTIONAL}

    def __str__(self) -> str:
        if self.symbol is not None:
            return f"{self.path}::{self.symbol}"
        return self.path if self.lines is None else f"{self.path}:{self.lines}"


CITATION_FIELDS: Final = ("path", "symbol", "content_hash", "commit", "lines", "marks", "branch")
_OPTIONAL: Final = frozenset({"lines", "marks", "branch"})


class CitationState(StrEnum):
    """What became of a cited place: it stands as it was, at another place, otherwise, not any more, or on a branch.

    On a branch means that the current checkout does not have it, since it was not merged there.
    """

    VERIFIED = "verified"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"
    ON_BRANCH = "on-branch"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCitation:
    """A citation beside the working tree. `place` is where it stands now, `path:first-last`; None if gone.

    `branch` is the one that has it, where the current checkout does not.
    """

    citation: Citation
    state: CitationState
    place: str | None = None
    branch: str | None = None

    @property
    def stale(self) -> bool:
        """Whether what was cited is not there any more as it was."""
        return self.state in (CitationState.CHANGED, CitationState.GONE)

    def to_dict(self) -> dict[str, JSONValue]:
        """Return it as JSON."""
        branch: dict[str, JSONValue] = {} if self.branch is None else {"branch": self.branch}
        return {"cited": str(self.citation), "state": self.state.value, "place": self.place, **branch}

    def __str__(self) -> str:
        at = f" to {self.place}" if self.state is CitationState.MOVED else ""
        state = f"on the branch {self.branch}" if self.branch is not None else self.state.value
        return f"cites {self.citation}: {state}{at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where a memory stands in a conversation; `position` counts from 0 within the session."""

    conversation: str
    session: str
    position: int
    speaker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMemory:
    """A memory that says almost the same as a new one; `text` is its beginning."""

    id: str
    text: str
    similarity: float

    def to_dict(self) -> JSONObject:
        """Return it as JSON."""
        return {"id": self.id, "text": self.text, "similarity": self.similarity}


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededMemory:
    """A memory whose place a new one seems to take; `text` is its beginning, `confidence` how sure that is."""

    id: str
    text: str
    confidence: float

    def to_dict(self) -> JSONObject:
        """Return it as JSON."""
        return {"id": self.id, "text": self.text, "confidence": self.confidence}


BEGINNING_LIMIT: Final = 80
"""Characters of another memory's text that a receipt shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the write path did with one text: not stored, handed back with the memory.

    `near_duplicates` say almost the same, `supersedes` say something else of the same; both are kept.
    """

    outcome: Outcome
    near_duplicates: tuple[NearMemory, ...] = ()
    supersedes: tuple[SupersededMemory, ...] = ()
    redacted: int = 0
    semantic: str = "local"  # "local", or the model that inferred what was open
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One durable thing that is known. Times are aware and in UTC; a query's score is never part of it."""

    id: str
    space: str
    path: str
    kind: str
    raw: str
    summary_micro: str
    summary_short: str
    summary_long: str
    tags: tuple[str, ...] = ()
    metadata: JSONObject = field(default_factory=dict)
    relevance: Relevance = Relevance.MEDIUM
    importance: float = 0.5
    confidence: float = 1.0
    pinned: bool = False
    chunks: tuple[Chunk, ...] = ()
    created_at: datetime
    updated_at: datetime
    last_used_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: str | None = None
    trust: Trust = Trust.USER
    status: Status = Status.ACTIVE
    citations: tuple[Citation, ...] = ()
    subject: str | None = None
    attribute: str | None = None
    value: JSONValue = None
    data_subjects: tuple[str, ...] = ()
    source: str | None = None
    source_id: str | None = None
    turn: Turn | None = None
    evidence: int = 1
    receipt: Receipt | None = field(default=None, compare=False)

    @property
    def content_hash(self) -> str:
        """The `sha256:<hex>` of the stored text, as in `metadata["hash"]`."""
        return str(self.metadata["hash"])

    @property
    def instruction_like(self) -> tuple[str, ...]:
        """What of the text reads as instructions to a model (docs/security.md); empty for most."""
        value = self.metadata.get(INSTRUCTION_LIKE)
        return tuple(map(str, value)) if isinstance(value, list | tuple) else ()

    def chunk_text(self, chunk: Chunk) -> str:
        """Return the span of `raw` that `chunk` names."""
        return self.raw[chunk.start : chunk.end]

    def provenance(self) -> dict[str, JSONValue]:
        """Return what a reader must know of a text that its user did not say: trust, source, what it reads as."""
        fields: dict[str, JSONValue] = {}
        if self.trust is not Trust.USER:
            fields["trust"] = self.trust.value
            if self.source_id is not None:
                fields["source"] = self.source_id
        if self.instruction_like:
            fields[INSTRUCTION_LIKE] = list(self.instruction_like)
        return fields

    def to_dict(self) -> dict[str, JSONValue]:
        """Return document 1's MemoryObject, keys in its order, with Hexad's own fields after them."""
        return {
            "id": self.id,
            "path": self.path,
            "kind": self.kind,
            "raw": self.raw,
            "summary_micro": self.summary_micro,
            "summary_short": self.summary_short,
            "summary_long": self.summary_long,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "relevance": self.relevance.value,
            "pinned": self.pinned,
            "chunks": [{"chunk_id": chunk.chunk_id, "text": self.chunk_text(chunk)} for chunk in self.chunks],
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "space": self.space,
            "importance": self.importance,
            "confidence": self.confidence,
            "last_used_at": format_time(self.last_used_at) if self.last_used_at else None,
            "valid_from": format_time(self.valid_from) if self.valid_from else None,
            "valid_to": format_time(self.valid_to) if self.valid_to else None,
            "supersedes": self.supersedes,
            "trust": self.trust.value,
            "status": self.status.value,
            "citations": [dict(citation.to_dict()) for citation in self.citations],
            "subject": self.subject,
            "attribute": self.attribute,
            "value": self.value,
            "data_subjects": list(self.data_subjects),
            "source": self.source,
            "source_id": self.source_id,
            "turn": None
            if self.turn is None
            else {
                "conversation": self.turn.conversation,
                "session": self.turn.session,
                "position": self.turn.position,
                "speaker": self.turn.speaker,
            },
            "evidence": self.evidence,
        }
