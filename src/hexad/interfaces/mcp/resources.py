"""Memories and spaces as resources, and what helps a person to name one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

import hexad
from hexad.core.prompt_fence import fenced_json
from hexad.interfaces.mcp.answers import without_blanks
from hexad.interfaces.mcp.open_store import OpenStore

MEMORY_URI: Final = "hexad://memory/"
SPACE_URI: Final = "hexad://space/"
JSON_TYPE: Final = "application/json"
_LISTED: Final = 50
_COMPLETIONS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """A resource, or a template of one, as it is listed."""

    uri: str
    name: str
    description: str
    mime_type: str = JSON_TYPE


TEMPLATES: Final = (
    ListedResource(uri=MEMORY_URI + "{id}", name="memory", description="One memory, whole, by its id."),
    ListedResource(
        uri=SPACE_URI + "{name}",
        name="space",
        description=f"A space and its {_LISTED} last changed memories.",
    ),
)


def list_resources(store: OpenStore) -> list[ListedResource]:
    """Return the spaces of the store; none where there is no store yet."""
    try:
        hx = store.get()
    except hexad.NotFound:
        return []
    return [
        ListedResource(
            uri=SPACE_URI + quote(info.name, safe=""),
            name=info.name,
            description=f"{info.memories:,} memories",
        )
        for info in hx.spaces.list()
    ]


def read_resource(store: OpenStore, uri: str) -> str:
    """Return a resource as JSON; raises `NotFound` for an address of nothing."""
    kind, name = _parted(uri)
    hx = store.get()
    if kind == MEMORY_URI:
        return _json(hx.get(name).to_dict())
    info = hx.spaces.get(name)
    memories = [
        {"uri": MEMORY_URI + quote(memory.id, safe=""), "path": memory.path, "text": memory.summary_micro}
        for memory in hx.memories(space=name, limit=_LISTED)
    ]
    return _json({**without_blanks(info.to_dict()), "last_changed": memories})


def complete(store: OpenStore, uri: str, argument: str, value: str) -> list[str]:
    """Return what an argument of a template may begin with `value` to be: the names of spaces."""
    if not uri.startswith(SPACE_URI) or argument != "name":
        return []
    try:
        names = [info.name for info in store.get().spaces.list()]
    except hexad.NotFound:
        return []
    return [name for name in names if name.startswith(value)][:_COMPLETIONS]


def _parted(uri: str) -> tuple[str, str]:
    for kind in (MEMORY_URI, SPACE_URI):
        name = unquote(uri[len(kind) :]) if uri.startswith(kind) else ""
        if name:
            return kind, name
    raise hexad.NotFound(
        f"There is no resource {uri!r}; {MEMORY_URI}ID and {SPACE_URI}NAME are those there are."
    )


def _json(value: object) -> str:
    return fenced_json(json.dumps(value, ensure_ascii=False, indent=2))
