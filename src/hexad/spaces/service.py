"""What governs an open store, built when its spaces are first asked for: policies, retention, purging, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hexad.core.json_types import JSONValue
from hexad.database.leases import Lease
from hexad.database.meta import MaintenanceLog
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.providers.spending import BudgetLine
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer
from hexad.spaces.api import SpacesFacade
from hexad.spaces.meaning_review import MeaningReview
from hexad.spaces.quarantine import QuarantineFacade
from hexad.spaces.retention import Purger, RetentionService, Sweeper

if TYPE_CHECKING:
    from hexad.spaces.files.importer import SpaceImporter


class SpacesService:
    """Spaces as users hold them, what waits for a review, and the sweeper of what is too old."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        everything: Stores,
        fulltext: FullText,
        catalog: Indexer,
        *,
        purger: Purger,
        importer: Callable[[], SpaceImporter],
        check_policy: Callable[[Mapping[str, JSONValue]], None],
        spent: Callable[[str | None], Sequence[BudgetLine]],
    ) -> None:
        """`everything` sees what `stores` may hide; `importer` needs the write path and is loaded when asked for."""
        audit = MaintenanceLog(stores.meta, actor=context.actor.describe())
        retention = RetentionService(everything, fulltext, purger, audit)
        self.spaces = SpacesFacade(
            context,
            stores,
            audit=audit,
            purger=purger,
            retention=retention,
            importer=importer,
            check_policy=check_policy,
            spent=spent,
        )
        self.sweeper = Sweeper(
            retention,
            stores.meta,
            lease=lambda: Lease(context.directory / "maintain.lock", clock=context.clock, purpose="gc"),
            clock=context.clock,
        )
        self.meaning_review = MeaningReview(
            context, everything, catalog=catalog.with_stores(everything), audit=audit
        )
        self.quarantine = QuarantineFacade(
            context,
            stores,
            catalog=catalog,
            audit=audit,
            mask=lambda value, policies: importer().masked(value, policies),
        )
