"""Derived data built anew from the truth: full text, the index of tags, vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hexad.index.catalog import Catalog
from hexad.index.fulltext import FullText
from hexad.model.memory import JSONValue, Status
from hexad.storage.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReport:
    """What was rebuilt: memories indexed anew, and vectors that are now to be computed."""

    memories: int
    vectors_queued: int
    embedder: str | None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return {"memories": self.memories, "vectors_queued": self.vectors_queued, "embedder": self.embedder}


def rebuild_text(
    stores: Stores, fulltext: FullText, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Rebuild full text and tag index from the memories; ids stay as they are. Returns how many memories."""
    numbers = stores.memories.numbers_of_all(status=Status.ACTIVE)
    with stores.db.transaction():
        stores.memories.rebuild_tags()
        fulltext.recreate()
    if progress is not None:
        progress(len(numbers), len(numbers))
    return len(numbers)


def queue_vectors(stores: Stores, catalog: Catalog, *, embedder: str, dimensions: int) -> int:
    """Drop every vector, note the new embedder, and queue all active memories. Returns how many."""
    numbers = stores.memories.numbers_of_all(status=Status.ACTIVE)
    with stores.db.transaction():
        stores.vectors.remove_all()
        stores.meta.record_embedder(embedder, dimensions, replace=True)
        for no in numbers:
            catalog.queue_embedding(no)
    return len(numbers)
