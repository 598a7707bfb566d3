"""The table families of one store, built from one database."""

from __future__ import annotations

from contextlib import AbstractContextManager

from hexad.core.tracing import Value, is_observed, span
from hexad.database.connection import Database
from hexad.database.meta import STORE_ID, Meta
from hexad.database.task_queue import Tasks
from hexad.memory.tables.derivations import Derivations
from hexad.memory.tables.duplicates import NearDuplicates
from hexad.memory.tables.file_origins import Origins
from hexad.memory.tables.links import Links
from hexad.memory.tables.memories import Memories
from hexad.memory.tables.ngram_filters import Signatures
from hexad.memory.tables.purge import Purges
from hexad.memory.tables.ranking_columns import Places
from hexad.memory.tables.sources import IngestQueue, Sources
from hexad.memory.tables.space_columns import Views
from hexad.memory.tables.spaces import Spaces
from hexad.memory.tables.updates import Updates
from hexad.memory.tables.visibility import Audiences


class Stores:
    """What the paths are handed: the families, and the transaction that joins them."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self.db = db
        self.roles = roles  # of whoever opened the store; None sees everything
        self.meta = Meta(db)
        self.spaces = Spaces(db, roles=roles)
        self.memories = Memories(db, roles=roles)
        self.places = Places(db, roles=roles)
        self.duplicates = NearDuplicates(db, roles=roles)
        self.links = Links(db, roles=roles)
        self.updates = Updates(db, roles=roles)
        self.sources = Sources(db, roles=roles)
        self.queue = IngestQueue(db)
        self.tasks = Tasks(db)
        self.audiences = Audiences(db)
        self.purges = Purges(db)
        self.derivations = Derivations(db)
        self.origins = Origins(db)
        self.signatures = Signatures(db)
        self.views = Views(db, roles=roles)
        self._id: str | None = None

    def span(self, name: str, **attributes: Value) -> AbstractContextManager[dict[str, Value]]:
        """Return the span of an operation on the memories of this store, which it names where anybody is told."""
        if not is_observed():
            return span(name, **attributes)
        if self._id is None:
            self._id = self.meta.get(STORE_ID)
        return span(name, **attributes) if self._id is None else span(name, store=self._id, **attributes)
