"""Spaces' policies, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import Component, FileGroup, Job, Report, Treatment
from hexad.database.encryption.cipher import EXPORTS

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
    files=tuple(
        FileGroup(
            pattern=pattern,
            form=Treatment.FILE,
            purpose=EXPORTS,
            label="exports, evidence, space files",
            place=5,
            links=True,
        )
        for pattern in ("spaces/*", "exports/*")
    ),
)
