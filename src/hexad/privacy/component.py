"""Erasures and what the ledger is told of, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, FileGroup, Job, Report, Treatment
from hexad.database.secure_delete import scrub
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.privacy.ledger_sync import apply_retention, move_to_ledger

if TYPE_CHECKING:
    from hexad.privacy.erasure import ErasureService


class PrivacySystems(Protocol):
    """What the jobs ask for."""

    context: StoreContext
    stores: Stores
    erasure: Lazy[ErasureService]


def _finish_erasures(systems: PrivacySystems, _: object) -> None:
    """Finish what a killed process began to erase, and what waited for others."""
    if systems.stores.meta.has_erasures_to_finish():
        systems.erasure().resume()


def _feed_ledger(systems: PrivacySystems, _report: Report) -> None:
    """Let the ledger take what upkeep noted, and apply its own retention."""
    context = systems.context
    move_to_ledger(systems.stores.meta, context.directory, clock=context.clock, crypt=context.crypt)
    apply_retention(context.directory, clock=context.clock, crypt=context.crypt)


def _scrub(systems: PrivacySystems, _report: Report) -> None:
    """Clear what removed tags, comments, nodes and the like left in the database's files."""
    scrub(systems.context.db, systems.stores.meta)


COMPONENT: Final = Component(
    name="privacy",
    jobs=(
        Job(name="finish erasures", place=3, maintain=_finish_erasures, step=_finish_erasures),
        Job(name="feed the ledger", place=9, maintain=_feed_ledger),
        Job(name="scrub", place=18, maintain=_scrub),
    ),
    files=(FileGroup(pattern="erase.lock", form=Treatment.KEPT),),
)
