"""Links between memories, also of different projects (document 1, section 10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hexad.core.arguments import is_text, quoted
from hexad.core.as_json import as_json
from hexad.core.clock import format_time
from hexad.core.json_types import JSONObject, JSONValue
from hexad.errors import InvalidInput
from hexad.memory.memory import Memory

LINK_KIND_DEFAULT: Final = "related"
SUPERSEDES: Final = "supersedes"
"""The kind of a link from a text to an older one whose place it takes."""
LINK_KIND_LIMIT: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """One end of a link: enough to decide whether to look it up."""

    id: str
    space: str
    path: str
    kind: str
    summary_micro: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the end as JSON."""
        return as_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A directed link: `source` says that `target` is, say, what it is `based-on`.

    Of the kind `supersedes` are also those that were found by what the texts say, with the `reason` and a `confidence`
    from 0 to 1; the reason `confirmed` is that of links that somebody drew. Other links have neither.
    """

    kind: str
    source: LinkEnd
    target: LinkEnd
    created_at: datetime
    reason: str | None = None
    confidence: float | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the link as JSON; `reason` and `confidence` only where it has them."""
        return as_json(self, without=("reason", "confidence") if self.reason is None else ())


def section_of(memory: Memory, *, metadata: bool = True) -> JSONObject:
    """Return document 1's section of a memory, its keys in the order given there."""
    return {
        "id": memory.id,
        "path": memory.path,
        "kind": memory.kind,
        "summary_micro": memory.summary_micro,
        "summary_short": memory.summary_short,
        "summary_long": memory.summary_long,
        "relevance": memory.relevance.value,
        "pinned": memory.pinned,
        "tags": list(memory.tags),
        **({"metadata": dict(memory.metadata)} if metadata else {}),
        "updated_at": format_time(memory.updated_at),
        **memory.provenance(),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A memory that was reached over a link; `of` is the id of the answer that it is linked with."""

    of: str
    link: Link
    memory: Memory

    def to_dict(self) -> dict[str, JSONValue]:
        """Return what was reached as JSON: document 1's section, and over which link."""
        memory = self.memory
        return {
            "of": self.of,
            "link": self.link.kind,
            "direction": "to" if self.link.target.id == memory.id else "from",
            "id": memory.id,
            "space": memory.space,
            **section_of(memory, metadata=False),
        }


def check_link_kind(kind: str) -> str:
    """Return the kind of a link; raises `InvalidInput` for what cannot be one."""
    if not is_text(kind):
        raise InvalidInput(f"kind must be a string, not {quoted(kind)}.", argument="kind")
    words = kind.replace("-", "").replace("_", "")
    if not words or len(kind) > LINK_KIND_LIMIT or not words.isalnum() or kind != kind.lower():
        raise InvalidInput(
            f"The kind {kind[:80]!r} of a link cannot be used; give 1 to {LINK_KIND_LIMIT} lower-case letters, digits, "
            "'-' and '_', such as 'based-on'."
        )
    return kind
