"""Purging: the one place where memories end for good."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from hexad.memory.store import Stores
from hexad.search.fulltext import FullText

PURGE_BATCH: Final = 500
"""Memories that one transaction purges where a caller cuts its work into batches; others write in between."""


class Purger:
    """Removes memories with everything that belongs to them; outside the promise that nothing is lost."""

    def __init__(self, stores: Stores, fulltext: FullText, *, key: Callable[[], bytes]) -> None:
        self._stores = stores
        self._fulltext = fulltext
        self._key = key

    def purge(
        self, numbers: Collection[int], *, reason: str, at: datetime, receipt: str | None = None
    ) -> int:
        """Remove these memories, leaving tombstones with `reason`; returns how many there were.

        `receipt` is the id of the erasure that it is part of. Joins the transaction around it. Their ids can be given
        again. What a source brought is not brought again by an ingest as long as it is unchanged.
        """
        if not numbers:
            return 0
        with self._stores.db.joined():
            listed = sorted(set(numbers))
            self._fulltext.remove_memories(listed)
            return self._stores.purges.purge(listed, reason=reason, at=at, key=self._key, receipt=receipt)

    def scrub(self) -> None:
        """Take out of the full-text index the words that purged memories left in it; not inside a transaction.

        Once after all purges of one call: it writes the index anew, in short transactions.
        """
        self._fulltext.scrub()
