"""Reference documents: what an agent is told once and looks up often (document 2, section 3, "Document")."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

DOCUMENT_BYTES_LIMIT: Final = 8 << 20
"""Largest document in bytes of UTF-8."""
PATH_CHARS_LIMIT: Final = 512
PART_BYTES_LIMIT: Final = 200
"""Largest part of a path in bytes: it becomes a file name, and a temporary one for a moment."""


class DocumentType(StrEnum):
    """What a document is for."""

    SYSTEM_INSTRUCTION = "system_instruction"
    TOOL_DOCUMENTATION = "tool_documentation"
    TRIBAL_POLICY = "tribal_policy"
    SPECIFICATION = "specification"
    REFERENCE = "reference"


FOLDERS: Final[Mapping[DocumentType, str]] = {
    DocumentType.SYSTEM_INSTRUCTION: "system_instructions",
    DocumentType.TOOL_DOCUMENTATION: "tool_docs",
    DocumentType.TRIBAL_POLICY: "policies",
    DocumentType.SPECIFICATION: "specs",
    DocumentType.REFERENCE: "reference",
}
"""Where the working copies of each type lie, below `documents/`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A reference document as it is now. `revision` counts its contents from 1; `version` is what people call it."""

    id: str
    doc_type: DocumentType
    name: str
    path: str
    version: str
    content: str
    content_hash: str
    created_at: datetime
    updated_at: datetime
    source: str
    summary: str | None = None
    tags: tuple[str, ...] = ()
    revision: int = 1
    data_subjects: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the document as JSON, in document 2's order."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVersion:
    """What a document said from one time on; `replaced_at` is None for what it says now."""

    revision: int
    version: str
    content: str
    content_hash: str
    replaced_at: datetime | None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the version as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedDocument:
    """A document that was taken away; a purged one cannot be brought back."""

    id: str
    doc_type: DocumentType
    path: str
    removed_at: datetime
    purged: bool

    def to_dict(self) -> dict[str, JSONValue]:
        """Return what is known of it as JSON."""
        return as_json(self)


class CopyState(StrEnum):
    """How a working copy compares with its document."""

    SAME = "same"
    MISSING = "missing"
    OUTDATED = "outdated"  # what the document said before
    CHANGED = "changed"  # by hand, or damaged
    UNKNOWN = "unknown"  # a file without a document


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingCopy:
    """A file below `documents/`; `path` is relative to that folder."""

    path: str
    document_id: str | None
    state: CopyState

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the copy as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiesReport:
    """What reading the working copies did, by logical path; `skipped` says of each file why it was left out."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self) | {
            "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped]
        }


def check_document_path(path: str) -> str:
    """Return a logical path; raises `InvalidInput` for what cannot be laid out as a file."""
    short = isinstance(path, str) and len(path) <= PATH_CHARS_LIMIT
    normal = unicodedata.normalize("NFC", path) if short else ""
    if not all(map(_is_file_name, normal.split("/"))):
        raise InvalidInput(
            f"The path {str(path)[:120]!r} of a document cannot be used; give names separated by '/', such as "
            f"'guides/deploy.md': none of them empty, over {PART_BYTES_LIMIT} bytes, or beginning with '.'."
        )
    return normal


def _is_file_name(part: str) -> bool:
    printable = all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in part)
    plain = printable and not set(part) & set('\\:*?"<>|')
    return (
        plain
        and bool(part)
        and part == part.strip()
        and not part.startswith(".")
        and not part.endswith(".")
        and len(part.encode()) <= PART_BYTES_LIMIT
    )
