"""Consolidation, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, FileGroup, Job, Report, Stop, Treatment, never, script
from hexad.maintenance.consolidation.rows import CONSOLIDATION_DDL

if TYPE_CHECKING:
    from hexad.maintenance.consolidation.service import ConsolidationService


class ConsolidationSystems(Protocol):
    """What the jobs ask for."""

    consolidation: Lazy[ConsolidationService]

    @property
    def may_consolidate(self) -> bool:
        """Whether this program may by itself."""


def _changes(systems: ConsolidationSystems, *, stop: Stop = never, look: bool = False) -> int:
    """Consolidate what is due; return how many changes that made."""
    if not systems.may_consolidate:
        return 0
    report = systems.consolidation().run_when_due(stop=stop, look=look)
    return 0 if report is None else len(report.changes)


def _consolidate(systems: ConsolidationSystems, report: Report) -> None:
    report["consolidated"] = _changes(systems, look=True)


COMPONENT: Final = Component(
    name="consolidation",
    schema=(script(15, CONSOLIDATION_DDL, place=4),),
    jobs=(
        Job(name="consolidate", place=7, maintain=_consolidate),
        Job(name="consolidate when due", place=16, step=lambda systems, stop: _changes(systems, stop=stop)),
    ),
    derived=("consolidated_tasks",),
    files=(FileGroup(pattern="maintain.lock", form=Treatment.KEPT),),
)
