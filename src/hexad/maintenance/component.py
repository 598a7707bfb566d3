"""Consolidation, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.component import Component, script
from hexad.maintenance.consolidation.rows import CONSOLIDATION_DDL

COMPONENT: Final = Component(
    name="consolidation",
    schema=(script(15, CONSOLIDATION_DDL, place=4),),
    derived=("consolidated_tasks",),
)
