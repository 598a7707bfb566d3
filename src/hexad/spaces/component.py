"""Spaces' policies, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, Job, Report

if TYPE_CHECKING:
    from hexad.spaces.service import SpacesService


class SpacesSystems(Protocol):
    """What the jobs ask for."""

    spaces: Lazy[SpacesService]


def _sweep(systems: SpacesSystems, report: Report) -> None:
    swept = systems.spaces().sweeper.sweep()
    report["archived"], report["purged"] = swept.archived, swept.purged


COMPONENT: Final = Component(
    name="spaces",
    jobs=(
        Job(
            name="sweep",
            place=8,
            maintain=_sweep,
            step=lambda systems, stop: systems.spaces().sweeper.sweep_when_due(stop=stop),
        ),
    ),
)
