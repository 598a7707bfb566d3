"""Document 1's recall result: what is known about a topic, ordered, ready to be placed before an agent's step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from hexad.model.memory import JSONObject, JSONValue, Memory, format_time
from hexad.model.policy import Backend

LIMIT_DEFAULT: Final = 5
LIMIT_MOST: Final = 100
RAW_LIMIT_DEFAULT: Final = 2
RAW_LIMIT_MOST: Final = 50
SUMMARY_LINES: Final = 6
"""Sections that `global_summary` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """Document 1's options of `recall_context` and `recall_kind`, and ours.

    `order="strict"` puts what is pinned before the rest and, inside each half, high relevance before medium before
    low, whatever the scores. `path` keeps what is at or under a path. `max_tokens` bounds the sections' text.
    `follow_links` adds what the sections are linked to, in other spaces too. `digest` asks the text generator for
    a digest of the bundle.
    """

    limit: int = LIMIT_DEFAULT
    raw_limit: int = RAW_LIMIT_DEFAULT
    include_raw: bool = False
    include_metadata: bool = True
    prefer_kinds: tuple[str, ...] = ()
    prefer_tags: tuple[str, ...] = ()
    require_high_relevance: bool = False
    freeze_clock: datetime | None = None
    backend: Backend | None = None
    order: str = "score"
    path: str | None = None
    max_tokens: int | None = None
    follow_links: bool = False
    digest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle(Mapping[str, JSONValue]):
    """What `recall_context` returns: item access and `to_json()` in document 1's order of keys.

    `memories` are the whole records behind `sections`, in the same order; `scores` what each ordered by; `notes`
    say what was left out or replaced. None of the three is part of the JSON but `notes`, which stands there when
    there is something to say.
    """

    space: str
    topic: str
    generated_at: datetime
    global_summary: str
    sections: tuple[JSONObject, ...]
    raw: tuple[JSONObject, ...] | None
    limit: int
    digest: str | None = None
    linked: tuple[JSONObject, ...] | None = None
    notes: tuple[str, ...] = ()
    backend: Backend = Backend.BASIC
    memories: tuple[Memory, ...] = ()
    scores: tuple[float, ...] = field(default=())

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the bundle as JSON: `raw`, `digest`, `linked` and `notes` only where there are any."""
        value: dict[str, JSONValue] = {
            "space": self.space,
            "topic": self.topic,
            "generated_at": format_time(self.generated_at),
            "global_summary": self.global_summary,
            "sections": list(self.sections),
        }
        if self.raw is not None:
            value["raw"] = list(self.raw)
        value["limit"] = self.limit
        if self.digest is not None:
            value["digest"] = self.digest
        if self.linked is not None:
            value["linked"] = list(self.linked)
        if self.notes:
            value["notes"] = list(self.notes)
        return value

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the bundle as JSON text, the same bytes for the same state."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False)

    def __getitem__(self, key: str) -> JSONValue:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())
