"""The way in, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, Job, Report, Stop
from hexad.database.store_context import StoreContext
from hexad.memory.store import Stores
from hexad.memory.tables.facts import Facts

if TYPE_CHECKING:
    from hexad.ingest.service import IngestService


class IngestSystems(Protocol):
    """What the jobs ask for."""

    context: StoreContext
    stores: Stores
    ingest: Lazy[IngestService]


def _ingest(systems: IngestSystems, report: Report) -> None:
    report["ingested"] = systems.ingest().queue.run()


def _ingest_waiting(systems: IngestSystems, stop: Stop) -> None:
    if systems.stores.queue.counts()[0]:
        systems.ingest().queue.run(stop=stop)


def _settle_due_facts(systems: IngestSystems, _report: Report) -> None:
    """Let facts that were to come take the place of those before, where their time has come."""
    context = systems.context
    if context.db.readonly:
        return
    keys = Facts(context.db).contested(space=None)
    if keys:
        systems.ingest().writer.settle_due(keys, now=context.clock.now())


COMPONENT: Final = Component(
    name="ingest",
    jobs=(
        Job(name="ingest queued sources", place=2, maintain=_ingest, step=_ingest_waiting),
        Job(name="settle facts", place=5, maintain=_settle_due_facts),
    ),
)
