"""The table families of one store, built from one database."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hexad.storage.audiences import Audiences
from hexad.storage.connection import Database
from hexad.storage.derivations import Derivations
from hexad.storage.duplicates import Duplicates
from hexad.storage.links import Links
from hexad.storage.memories import Memories
from hexad.storage.meta import Meta
from hexad.storage.origins import Origins
from hexad.storage.places import Places
from hexad.storage.purge import Purges
from hexad.storage.signatures import Signatures
from hexad.storage.sources import IngestQueue, Sources
from hexad.storage.spaces import Spaces
from hexad.storage.tasks import Tasks
from hexad.storage.vectors import Vectors
from hexad.storage.views import Views

if TYPE_CHECKING:
    from hexad.storage.honeycomb import HoneycombNodes


class Stores:
    """What the paths are handed: the families, and the transaction that joins them."""

    def __init__(self, db: Database, *, roles: tuple[str, ...] | None = None) -> None:
        self.db = db
        self.roles = roles  # of whoever opened the store; None sees everything
        self.meta = Meta(db)
        self.spaces = Spaces(db, roles=roles)
        self.memories = Memories(db, roles=roles)
        self.places = Places(db, roles=roles)
        self.duplicates = Duplicates(db, roles=roles)
        self.links = Links(db, roles=roles)
        self.sources = Sources(db, roles=roles)
        self.queue = IngestQueue(db)
        self.vectors = Vectors(db)
        self.tasks = Tasks(db)
        self.audiences = Audiences(db)
        self.purges = Purges(db)
        self.derivations = Derivations(db)
        self.origins = Origins(db)
        self.signatures = Signatures(db)
        self.views = Views(db, roles=roles)

    @cached_property
    def honeycomb(self) -> HoneycombNodes:
        """The association graph; loaded now, because a recall does without it."""
        from hexad.storage.honeycomb import HoneycombNodes

        return HoneycombNodes(self.db, roles=self.roles)
