"""Document 1's recall result: what is known about a topic, ordered, ready to be placed before an agent's step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, overload

from hexad.core.clock import format_time
from hexad.core.json_types import JSONObject, JSONValue
from hexad.core.prompt_fence import fenced_json
from hexad.memory.link import Linked
from hexad.memory.memory import Memory
from hexad.memory.policy import Backend

LIMIT_DEFAULT: Final = 5
LIMIT_MOST: Final = 100
RAW_LIMIT_DEFAULT: Final = 2
RAW_LIMIT_MOST: Final = 50
TOPIC_RELEVANCE: Final = "topic_relevance"
"""The key under which a section says how likely it answers the topic: its `relevance` is what it is worth at all."""
SUPERSEDED_BY: Final = "superseded_by"
"""The key under which a section says what took its place."""
SUMMARY_LINES: Final = 6
"""Sections that `global_summary` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """Document 1's options of `recall_context` and `recall_kind`, and ours; `docs/bundles.md` explains each.

    `backend` is a name as the caller gave it: of an ordering of ours, or of one that the program brought along.
    `order="strict"` puts what is pinned before the rest and, inside each half, high relevance before medium before
    low, whatever the scores. `path` keeps what is at or under a path. `max_tokens` bounds sections and raw texts.
    `follow_links` adds what the sections are linked with, in other spaces too. `digest` asks the text generator
    for a digest of the bundle. `on_topic` leaves out what has nothing to do with the topic; None is what the call does.
    `notes` say what was put in place of a value; they are no option.
    """

    limit: int = LIMIT_DEFAULT
    raw_limit: int = RAW_LIMIT_DEFAULT
    include_raw: bool = False
    include_metadata: bool = True
    prefer_kinds: tuple[str, ...] = ()
    prefer_tags: tuple[str, ...] = ()
    require_high_relevance: bool = False
    freeze_clock: datetime | None = None
    backend: str | None = None
    order: str = "score"
    path: str | None = None
    max_tokens: int | None = None
    follow_links: bool = False
    digest: bool = False
    on_topic: bool | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sections:
    """What a bundle and a list by kind have in common.

    `memories` are the whole records behind `sections`, in the same order; `scores` what each was ordered by;
    `backend` the ordering that was used; `raw_ids` the memories of `raw`. None of these is part of the JSON.
    `notes` say what was left out or replaced; they stand in the JSON when there is something to say.
    """

    space: str
    generated_at: datetime
    sections: tuple[JSONObject, ...]
    raw: tuple[JSONObject, ...] | None
    limit: int
    linked: tuple[Linked, ...] | None = None
    notes: tuple[str, ...] = ()
    backend: str = Backend.BASIC.value
    memories: tuple[Memory, ...] = ()
    scores: tuple[float, ...] = field(default=())
    raw_ids: tuple[str, ...] = ()

    def _tail(self, *, digest: str | None = None) -> dict[str, JSONValue]:
        value: dict[str, JSONValue] = {"sections": list(self.sections)}
        if self.raw is not None:
            value["raw"] = list(self.raw)
        value["limit"] = self.limit
        if digest is not None:
            value["digest"] = digest
        if self.linked is not None:
            value["linked"] = [linked.to_dict() for linked in self.linked]
        if self.notes:
            value["notes"] = list(self.notes)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle(_Sections, Mapping[str, JSONValue]):
    """What `recall_context` returns: item access and `to_json()` in document 1's order of keys."""

    topic: str
    global_summary: str
    digest: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the bundle as JSON: `raw`, `digest`, `linked` and `notes` only where there are any."""
        return {
            "space": self.space,
            "topic": self.topic,
            "generated_at": format_time(self.generated_at),
            "global_summary": self.global_summary,
            **self._tail(digest=self.digest),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the bundle as JSON text, the same bytes for the same state."""
        return fenced_json(json.dumps(self.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False))

    def __getitem__(self, key: str) -> JSONValue:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())


@dataclass(frozen=True, slots=True, kw_only=True)
class KindList(_Sections, Sequence[JSONObject]):
    """What `recall_kind` returns: the sections of one kind, in order."""

    kind: str

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the list as JSON: `raw`, `linked` and `notes` only where there are any."""
        return {
            "space": self.space,
            "kind": self.kind,
            "generated_at": format_time(self.generated_at),
            **self._tail(),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the list as JSON text, the same bytes for the same state."""
        return fenced_json(json.dumps(self.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False))

    @overload
    def __getitem__(self, index: int) -> JSONObject: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[JSONObject]: ...
    def __getitem__(self, index: int | slice) -> JSONObject | Sequence[JSONObject]:
        return self.sections[index]

    def __len__(self) -> int:
        return len(self.sections)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectContext:
    """What `use_context` recalled for one step of an agent: the bundle, and the text to place before the step.

    `spaces` are those that the bundle is from. `text` is empty when nothing was found, and when it came too late.
    """

    project: str
    topic: str
    spaces: tuple[str, ...]
    bundle: Bundle
    text: str
    notes: tuple[str, ...] = ()

    def prepend(self, prompt: str) -> str:
        """Return the text and then `prompt`; `prompt` alone when there is no text."""
        return f"{self.text}\n\n{prompt}" if self.text else prompt

    def messages(self, *, role: str = "user") -> list[dict[str, str]]:
        """Return the text as a list of one chat message, to stand before the others; empty without a text.

        The role is `user` unless told otherwise: what was recalled has no authority over a model.
        """
        return [{"role": role, "content": self.text}] if self.text else []

    def __str__(self) -> str:
        return self.text
