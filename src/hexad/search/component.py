"""Full text and vectors, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.component import Component, MemoryTable, script
from hexad.search.fulltext import CHUNK_FTS_DDL, CHUNK_FTS_FORGETS

COMPONENT: Final = Component(
    name="search",
    schema=(script(1, CHUNK_FTS_DDL, place=2), script(9, CHUNK_FTS_FORGETS, place=1)),
    memory_tables=(MemoryTable(name="vectors", counted_as="vectors"),),
    derived=("vectors", "vector_removals"),
)
