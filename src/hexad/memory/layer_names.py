"""The names of the six layers and of the classes of questions."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class MemoryLayer(StrEnum):
    """The layers in order of authority: what an earlier one says weighs more."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"
    GOVERNANCE = "governance"
    GRAPH = "graph"
    VECTOR = "vector"

    @property
    def rank(self) -> int:
        """Where it stands in authority: 0 for the session, 5 for what was ingested."""
        return _RANKS[self]


_RANKS: Final = {layer: at for at, layer in enumerate(MemoryLayer)}


class QueryClass(StrEnum):
    """What kind of thing is asked about."""

    PROCEDURAL = "procedural"
    FACTUAL = "factual"
    ARCHITECTURAL = "architectural"
    USER = "user"
    HISTORICAL = "historical"
    GENERAL = "general"
