"""Layers that are loaded once there is something for them to tell: most stores have nothing in some of the six."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from hexad.errors import HexadError
from hexad.layers.contract import LayerSource, MemoryItem, MemoryQuery
from hexad.memory.layer_names import MemoryLayer


class LayerOnDemand:
    """Implements `LayerSource` for a layer that may have nothing: it answers so until `look` found something.

    `has_any` says whether anything is there, `load` gives the layer itself.
    """

    def __init__(
        self, name: MemoryLayer, *, has_any: Callable[[], bool], load: Callable[[], LayerSource]
    ) -> None:
        self._name, self._has_any, self._load = name, has_any, load
        self._source: LayerSource | None = None

    @property
    def name(self) -> MemoryLayer:
        """The layer that it answers for."""
        return self._name

    def look(self) -> None:
        """Load the layer where there is something by now: before it is asked, since its time to answer is short."""
        if self._source is None and self._may_have_any():
            self._source = self._load()

    def _may_have_any(self) -> bool:
        try:
            return self._has_any()
        except (HexadError, OSError):
            return True  # the layer itself says what is wrong

    def items(self, query: MemoryQuery, *, limit: int) -> Sequence[MemoryItem]:
        """Return what the layer answers; nothing as long as it has nothing."""
        return () if self._source is None else self._source.items(query, limit=limit)

    def item(self, item_id: str, *, now: datetime) -> MemoryItem | None:
        """Return the whole of what `items` gave under an id."""
        return None if self._source is None else self._source.item(item_id, now=now)

    def warm(self) -> None:
        """Let the layer load what its first answer would wait for."""
        if self._source is not None:
            self._source.warm()
