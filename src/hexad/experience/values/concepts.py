"""Concept packs as values: what is loaded into the folksonomy (document 2, sections 3.2 and 11.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hexad.core.json_types import JSONValue

PARENT: Final = "parent"
"""The relation that makes the hierarchy; every other one is named by the pack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """One concept of a pack. Parents and relations name terms of the same pack, or ids of any."""

    id: str
    term: str
    definition: str | None = None
    layer: int | None = None
    domain: str | None = None
    lens: bool = True
    parents: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()  # (relation, target)
    details: Mapping[str, JSONValue] = field(default_factory=dict)  # what else the pack says


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptPack:
    """A pack as read; `fingerprint` is the SHA-256 of what it was read from."""

    id: str
    version: str | None
    concepts: tuple[Concept, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackReport:
    """What loading a pack did. `dangling` relations and `orphans` name a concept that no loaded pack has."""

    pack_id: str
    version: str | None
    concepts: int
    created: int
    removed: int
    aliases: int
    relations: int
    dangling: int
    orphans: tuple[str, ...]
    unchanged: bool = False

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return {
            "pack_id": self.pack_id,
            "version": self.version,
            "concepts": self.concepts,
            "created": self.created,
            "removed": self.removed,
            "aliases": self.aliases,
            "relations": self.relations,
            "dangling": self.dangling,
            "orphans": list(self.orphans),
            "unchanged": self.unchanged,
        }
