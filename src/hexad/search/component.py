"""Full text and vectors, as the store puts them together with the other systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from hexad.database.component import Component, FileGroup, Job, MemoryTable, Report, Stop, Treatment, script
from hexad.database.encryption.cipher import CACHE
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.search.fulltext import CHUNK_FTS_DDL, CHUNK_FTS_FORGETS, FullText
from hexad.search.indexer import EMBED
from hexad.search.recall.recall_log import RecallLog
from hexad.search.service import SearchService
from hexad.search.vectors.check import check_vectors
from hexad.search.vectors.table import SENTENCES_DDL, Vectors


class SearchSystems(Protocol):
    """What the jobs ask for."""

    handouts: RecallLog
    search: SearchService


def _count_index(context: StoreContext) -> Mapping[str, int | str | None]:
    stores = Stores(context.db, roles=context.actor.roles)
    sees_all = stores.roles is None
    recorded = stores.meta.recorded_embedder()
    pending, failed = stores.tasks.counts(EMBED)
    return {
        "chunks": FullText(context.db).count() if sees_all else stores.memories.count_of("chunks"),
        "vectors": Vectors(context.db).count() if sees_all else stores.memories.count_of("vectors"),
        "store_embedder": None if recorded is None else recorded[0],
        "embeddings_pending": pending,
        "embeddings_failed": failed,
    }


def _note_recalls(systems: SearchSystems, report: Report) -> None:
    report["handouts"] = systems.handouts.flush()


def _flush(systems: SearchSystems, stop: Stop) -> None:
    systems.handouts.flush()
    systems.search.store_computed()
    systems.search.compute_first(stop)


def _check_vectors(context: StoreContext) -> Iterator[str]:
    recorded = Stores(context.db).meta.recorded_embedder()
    yield from check_vectors(context.db, dimensions=None if recorded is None else recorded[1], awaited=EMBED)


COMPONENT: Final = Component(
    name="search",
    schema=(
        script(1, CHUNK_FTS_DDL, place=2),
        script(9, CHUNK_FTS_FORGETS, place=1),
        script(17, SENTENCES_DDL, "vectors of sentences"),
    ),
    jobs=(
        Job(
            name="note recalls",
            place=0,
            maintain=_note_recalls,
            step=_flush,
        ),
    ),
    memory_tables=(MemoryTable(name="vectors", counted_as="vectors"),),
    checks=(lambda context: FullText(context.db).check(), _check_vectors),
    derived=("vectors", "vector_removals"),
    counts=(_count_index,),
    files=(FileGroup(pattern="cache/*", form=Treatment.DROPPED, purpose=CACHE, label="caches", place=3),),
)
