"""The parts that govern a store, built when its spaces are first asked for: policies, retention, purging, files.

Kept apart from `wiring` as the write path is: a command that only recalls starts without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hexad.core.actor import Actor
from hexad.core.clock import Clock
from hexad.core.json_types import JSONValue
from hexad.database.encryption.cipher import EXPORTS, StoreKeys
from hexad.database.encryption.secrets_file import KeyStore
from hexad.database.encryption.store_files import own_files
from hexad.database.leases import Lease
from hexad.database.meta import MaintenanceLog
from hexad.memory.store import Stores
from hexad.providers.budgets.spending import BudgetLine
from hexad.search.fulltext import FullText
from hexad.search.indexer import Indexer
from hexad.spaces.api import SpacesFacade, SpacesNeeds
from hexad.spaces.files.api import FilesNeeds
from hexad.spaces.files.importer import SpaceImporter
from hexad.spaces.quarantine import QuarantineFacade, QuarantineNeeds
from hexad.spaces.retention import Purger, RetentionService, Sweeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Governing:
    """What governs a store."""

    spaces: SpacesFacade
    quarantine: QuarantineFacade
    sweeper: Sweeper


@dataclass(frozen=True, slots=True, kw_only=True)
class GoverningNeeds:
    """What it is handed; `everything` sees what `stores` may hide from the actor."""

    stores: Stores
    everything: Stores
    fulltext: FullText
    catalog: Indexer
    clock: Clock
    directory: Path
    keys: KeyStore
    actor: Actor
    spent: Callable[[str | None], Sequence[BudgetLine]]
    check_policy: Callable[[Mapping[str, JSONValue]], None]
    importer: Callable[[], SpaceImporter]
    wake: Callable[[], None]
    crypt: StoreKeys | None


def build_governing(needs: GoverningNeeds) -> Governing:
    """Return what governs one store."""
    audit = MaintenanceLog(needs.stores.meta, actor=needs.actor.describe())
    purger = Purger(needs.everything, needs.fulltext, key=lambda: needs.keys.redaction_salt)
    retention = RetentionService(needs.everything, needs.fulltext, purger, audit)
    spaces = SpacesFacade(
        SpacesNeeds(
            stores=needs.stores,
            clock=needs.clock,
            directory=needs.directory,
            actor=needs.actor,
            audit=audit,
            purger=purger,
            retention=retention,
            check_policy=needs.check_policy,
            spent=needs.spent,
        ),
        FilesNeeds(
            stores=needs.stores,
            clock=needs.clock,
            directory=needs.directory,
            actor=needs.actor,
            audit=audit,
            keys=needs.keys,
            importer=needs.importer,
            wake=needs.wake,
            own=own_files(needs.directory, needs.crypt, EXPORTS),
        ),
    )
    sweeper = Sweeper(
        retention,
        needs.stores.meta,
        lease=lambda: Lease(needs.directory / "maintain.lock", clock=needs.clock, purpose="gc"),
        clock=needs.clock,
    )
    quarantine = QuarantineFacade(
        QuarantineNeeds(
            stores=needs.stores,
            catalog=needs.catalog,
            clock=needs.clock,
            actor=needs.actor,
            audit=audit,
            mask=lambda given, policies: needs.importer().masked(given, policies),
            key=lambda: needs.keys.redaction_salt,
        )
    )
    return Governing(spaces=spaces, quarantine=quarantine, sweeper=sweeper)
