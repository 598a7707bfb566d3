"""What puts a memory into every index and takes it out again, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final, NamedTuple

from hexad.memory.memory import Memory, Status
from hexad.memory.store import Stores
from hexad.memory.tables.memories import NewChunk, StoredChunk
from hexad.memory.tables.ngram_filters import TextSignatures
from hexad.search.fulltext import FullText, IndexedChunk
from hexad.search.vectors.table import Vectors
from hexad.text.similarity.ngram_filter import signature

NONE_SIGNED: Final[Mapping[str, bytes]] = {}
EMBED: Final = "embed"
"""Kind of the tasks that compute a memory's vectors."""


class IndexedMemory(NamedTuple):
    """A memory without chunks, with those that it is to have, and the signatures of its texts that are known."""

    no: int
    memory: Memory
    chunks: Sequence[NewChunk]
    signed: Mapping[str, bytes]


class Indexer:
    """The indexes of one store, kept in step with its memories."""

    def __init__(self, stores: Stores, fulltext: FullText) -> None:
        self._stores = stores
        self._fulltext = fulltext

    def with_stores(self, stores: Stores) -> Indexer:
        """Return a catalog of the same indexes for stores that show something else."""
        return Indexer(stores, self._fulltext)

    def add(
        self,
        no: int,
        memory: Memory,
        chunks: Sequence[NewChunk],
        *,
        signed: Mapping[str, bytes] = NONE_SIGNED,
    ) -> None:
        """Store and index the chunks of a memory that has none; its vectors follow as a task.

        `signed` are signatures of texts of it that are known already.
        """
        self.add_all([IndexedMemory(no, memory, chunks, signed)])

    def add_all(self, memories: Sequence[IndexedMemory]) -> None:
        """Store and index the chunks of memories, each as `add` does."""
        numbers = iter(self._stores.memories.put_chunks([(each.no, each.chunks) for each in memories]))
        self._fulltext.add_rows(
            [
                (
                    next(numbers),
                    memory.raw[new.chunk.start : new.chunk.end],
                    new.context,
                    new.identifiers,
                )
                for _, memory, chunks, _ in memories
                for new in chunks
            ],
            changes=len(memories),
        )
        self._stores.signatures.put(
            [
                (
                    no,
                    sign(memory.path, memory.summary_short, memory.summary_long, memory.raw, signed=signed),
                )
                for no, memory, _, signed in memories
            ]
        )
        self._stores.tasks.put_all(EMBED, [each.no for each in memories])

    def remove(self, no: int) -> None:
        """Take a memory out of the indexes and drop its chunks."""
        memory, chunks = self._load(no)
        if memory.status is Status.ACTIVE:
            self._fulltext.remove(_indexed(memory, chunks))
        Vectors(self._stores.db).remove_memory(no)
        self._stores.memories.drop_chunks(no)
        self._stores.signatures.drop(no)
        self._stores.tasks.drop(no)

    def archive(self, no: int, *, at: datetime) -> bool:
        """Make a memory recoverable instead of recalled; False when it was not active, or is purged meanwhile.

        What rests on it is marked for a review.
        """
        with self._stores.db.transaction():
            if self._stores.memories.identify_no(no) is None:
                return False
            memory, chunks = self._load(no)
            if memory.status is not Status.ACTIVE:
                return False
            self._fulltext.remove(_indexed(memory, chunks))
            Vectors(self._stores.db).remove_memory(no)
            self._stores.tasks.drop(no)
            self._stores.memories.set_status(no, Status.ARCHIVED, at=at)
            self._stores.links.flag_dependants([no])
        return True

    def restore(self, no: int, *, at: datetime) -> bool:
        """Bring an archived memory back into recall; False when it is active already."""
        with self._stores.db.transaction():
            memory, chunks = self._load(no)
            if memory.status is Status.ACTIVE:
                return False
            self._stores.memories.set_status(no, Status.ACTIVE, at=at)
            self._fulltext.add(_indexed(memory, chunks))
            self.queue_embedding(no)
        return True

    @contextmanager
    def rewritten(self, no: int) -> Iterator[None]:
        """Keep full text in step while the words under which a memory's chunks are found change in the block."""
        memory, chunks = self._load(no)
        indexed = memory.status is Status.ACTIVE
        if indexed:
            self._fulltext.remove(_indexed(memory, chunks))
        yield
        if indexed:
            self._fulltext.add(_indexed(*self._load(no)))

    def queue_embedding(self, no: int) -> None:
        """Ask for the vectors of a memory; whoever opens the store with an embedder computes them."""
        self._stores.tasks.put(EMBED, no)

    def _load(self, no: int) -> tuple[Memory, list[StoredChunk]]:
        return self._stores.memories.by_no([no])[no], self._stores.memories.chunks_of([no]).get(no, [])


def sign(
    path: str, short: str | None, long: str | None, raw: str, *, signed: Mapping[str, bytes] = NONE_SIGNED
) -> TextSignatures:
    """Return the signatures of a memory's texts; a summary that is None or equal to `raw` shares that one's."""

    def of(text: str) -> bytes:
        known = signed.get(text)
        return signature(text) if known is None else known

    return TextSignatures(
        path=of(path),
        short=b"" if short is None or short == raw else of(short),
        long=b"" if long is None or long == raw else of(long),
        raw=of(raw),
    )


def _indexed(memory: Memory, chunks: Sequence[StoredChunk]) -> list[IndexedChunk]:
    return [
        IndexedChunk(
            no=stored.no,
            body=memory.chunk_text(stored.chunk),
            context=stored.context,
            identifiers=stored.identifiers,
        )
        for stored in chunks
    ]
