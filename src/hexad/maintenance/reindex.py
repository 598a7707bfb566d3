"""Derived data built anew from the truth: full text, the index of tags, signatures, vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hexad.core.as_json import as_json
from hexad.core.json_types import JSONValue
from hexad.errors import IntegrityError
from hexad.memory.memory import Status
from hexad.memory.store import Stores
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer, sign
from hexad.search.vectors.table import Vectors

_BATCH: Final = 500
_NAMED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReport:
    """What was rebuilt: memories indexed anew, vectors to be computed, links of the honeycomb to be derived."""

    memories: int
    vectors_queued: int
    links_queued: int
    embedder: str | None

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the report as JSON."""
        return as_json(self)


def rebuild_text(
    stores: Stores, fulltext: FullText, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Rebuild full text, tag index and signatures from the memories; ids stay. Returns how many memories."""
    numbers = stores.memories.numbers_of_all(status=Status.ACTIVE)
    with stores.db.transaction():
        stores.memories.rebuild_tags()
        fulltext.recreate()
    _rebuild_signatures(stores)
    if progress is not None:
        progress(len(numbers), len(numbers))
    return len(numbers)


def _rebuild_signatures(stores: Stores) -> None:
    """Sign all texts anew, in steps between which others may write: what is not done yet only costs time.

    Raises `IntegrityError` at the end for memories whose texts are none; the others are signed.
    """
    last: int | None = 0
    damaged: list[int] = []
    while last is not None:
        with stores.db.transaction():
            texts = stores.signatures.texts(last, limit=_BATCH)
            whole = [row for row in texts if _is_whole(row)]
            damaged += [row[0] for row in texts if not _is_whole(row)]
            stores.signatures.put((no, sign(path, short, long, raw)) for no, path, short, long, raw in whole)
        last = texts[-1][0] if texts else None
    if damaged:
        named = ", ".join(map(str, damaged[:_NAMED]))
        raise IntegrityError(
            f"{len(damaged)} memories are damaged and were left out of the index (rows {named}); all others are in it. "
            "Run `hexad check`, and put a backup in the store's place."
        )
    stores.signatures.note_rebuilt()


def _is_whole(row: tuple[int, str, str | None, str | None, str]) -> bool:
    """Whether a row has the texts that the table promises; what a disk gives back may be anything."""
    _, path, short, long, raw = row
    texts = (path, raw if short is None else short, raw if long is None else long, raw)
    return all(isinstance(text, str) for text in texts)


def queue_vectors(stores: Stores, catalog: Indexer, *, embedder: str, dimensions: int) -> int:
    """Drop every vector, note the new embedder, and queue all active memories. Returns how many."""
    numbers = stores.memories.numbers_of_all(status=Status.ACTIVE)
    with stores.db.transaction():
        Vectors(stores.db).remove_all()
        stores.meta.record_embedder(embedder, dimensions, replace=True)
        for no in numbers:
            catalog.queue_embedding(no)
    return len(numbers)
