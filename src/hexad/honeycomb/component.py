"""The association graph, as the store puts it together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.component import Component, script
from hexad.honeycomb.tables.schema import HONEYCOMB_DDL, HONEYCOMB_PROMISES
from hexad.honeycomb.tables.visits import HoneycombVisits

COMPONENT: Final = Component(
    name="honeycomb",
    schema=(script(14, HONEYCOMB_DDL),),
    promises=HONEYCOMB_PROMISES,
    erasers=(HoneycombVisits,),
)
