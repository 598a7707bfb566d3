"""The code graph of a store, built when it is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from hexad.code_graph.api import CodeGraphFacade
from hexad.code_graph.indexer import CodeIndexer
from hexad.code_graph.tables.graph import CodeGraphTables
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.redaction.masking import Masking


class CodeGraphService:
    """What keeps the graph, and what asks it."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        *,
        masking: Callable[[], Masking],
    ) -> None:
        project = context.directory.parent
        self.tables = CodeGraphTables(context.db, roles=stores.roles)
        self.indexer = CodeIndexer(
            CodeGraphTables(context.db),
            everything,
            clock=context.clock,
            key=context.salt,
            masking=masking,
            project=project,
        )
        self.facade = CodeGraphFacade(self.tables, stores, indexer=lambda: self.indexer, project=project)

    def follow(self, source_no: int, base: Path, space: str, empty: Collection[str]) -> None:
        """Bring the graph up to date with what was ingested from a folder."""
        self.indexer.follow(source_no, base, space=space, empty=empty)
