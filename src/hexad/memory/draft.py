"""The protocols by which the paths meet without importing each other, and the values they pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.json_types import JSONValue
from hexad.memory.memory import Citation, Memory, Relevance, Status, Trust, Turn

if TYPE_CHECKING:
    from hexad.text.sections import Section

DEFAULT_SPACE: Final = "default"
"""The space of what is remembered without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """How the semantic step may infer what is open (document 1, `remember_raw`).

    `model` None means the configured one; without any, and after a failure unless `strict`, it is local.
    `refresh` asks again for a text that the space has. `auto_pin` True pins, False lets neither a rule nor a model
    pin; None leaves it to the space's policy.
    """

    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    path_hint: str | None = None
    topic: str | None = None
    auto_pin: bool | None = None
    strict: bool = False
    refresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A text on its way in. None means "not given": the write path fills it, or keeps what is stored.

    `source` is the uri of a registered source; with `source_id` it names the item for good.
    """

    text: str
    space: str = DEFAULT_SPACE
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
    project: str | None = None  # where the metadata name none
    sections: tuple[Section, ...] = ()
    first_line: int = 1
    revives: bool = True  # whether a changed text brings an archived memory back
    turn: Turn | None = None
    now: datetime | None = None
    # What document 1's calls bring along:
    summary_micro: str | None = None
    summary_short: str | None = None
    summary_long: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    supersedes: str | None = None
    status: Status | None = None  # where a restored memory stands; None means active, or as it is
    spans: tuple[str, ...] | None = None  # chunks as the caller cut them, in the order of the text
    cuts: tuple[Section, ...] | None = None  # the same, as places in the clean text, with lines and headings
    structured: bool = False  # an upsert by id, else by space, path, kind and content (decision 15)
    imported: bool = False  # from a file that says what it is trusted: it never gains trust by coming back
    gated: bool = (
        False  # from another memory system: what is known already, or was handed out, is not stored again
    )
    derived_from: tuple[str, ...] = ()  # ids of memories: it is trusted no more than the least of them
    composed: bool = False  # its text is made of its other fields, and repeats what they give away
    extract: Extract | None = None  # what is open is to be inferred, by a model where there is one


class MemoryWriter(Protocol):
    """The one way in: redaction, the gate, and one transaction for all drafts of a call."""

    def write(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Store the drafts and return their memories in order, each with its receipt."""
