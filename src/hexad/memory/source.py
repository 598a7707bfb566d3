"""What the readers of sources hand to the write path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from hexad.core.json_types import JSONValue
from hexad.memory.memory import Citation, Turn

if TYPE_CHECKING:
    from hexad.text.sections import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFields:
    """What another memory system says of an item besides its text: a fact, until when it holds, whom it is about.

    `links` are pairs of a link's kind and the source id that it leads to, inside the same source.
    """

    subject: str | None = None
    attribute: str | None = None
    value: JSONValue = None
    valid_to: datetime | None = None
    confidence: float | None = None
    data_subjects: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a source holds: a file, a document, a turn, a commit. It becomes one memory.

    `source_id` names the item inside its source and stays the same when its text changes; a text that was
    just handed in has none. `fingerprint` (`<size>:<time in ns>` of a file) and `content_hash` (`sha256:<hex>`
    of the bytes it came from) are what a store keeps as `KnownItem`, so that the next reading can be skipped. The
    first line of `text` is the line `first_line` of its source. `text` is clean, as it will be stored, so
    that sections point into what is stored. `unread` is why the source's time for it could not be read.
    """

    source_id: str | None
    text: str
    kind: str | None = None
    path: str | None = None
    title: str | None = None
    time: datetime | None = None
    unread: str | None = None
    tags: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    turn: Turn | None = None
    citations: tuple[Citation, ...] = ()
    fingerprint: str | None = None
    content_hash: str | None = None
    first_line: int = 1
    metadata: Mapping[str, JSONValue] = field(default_factory=dict)
    claim: ImportedFields | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Something that a source holds and that was not read, with the reason in words."""

    source_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownItem:
    """What a store remembers of an item that it has: the marks of `Item` by which reading can be skipped."""

    fingerprint: str | None
    content_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """An item that is as the store knows it; `fingerprint` is the one to remember from now on."""

    source_id: str
    fingerprint: str | None = None


class SourceKind(StrEnum):
    """What a source is, which says who reads it."""

    TEXT = "text"
    FILE = "file"
    FOLDER = "folder"
    CONVERSATION = "conversation"
    DOCUMENTS = "documents"
    GIT = "git"
    MEM0 = "mem0"
    CLAUDE_MEM = "claude-mem"
    MEMPALACE = "mempalace"
    MEMORY_MD = "memory-md"
    SERVER_MEMORY = "server-memory"


FOREIGN: Final = frozenset(
    {
        SourceKind.MEM0,
        SourceKind.CLAUDE_MEM,
        SourceKind.MEMPALACE,
        SourceKind.MEMORY_MD,
        SourceKind.SERVER_MEMORY,
    }
)


_OF_A_PLACE: Final = frozenset({SourceKind.MEMORY_MD, SourceKind.SERVER_MEMORY})


KEPT_BY: Final = FOREIGN - _OF_A_PLACE
