"""Working sets, decisions and verdicts on answers, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.component import Component, MemoryTable, script
from hexad.layers.feedback.table import FEEDBACK_DDL, FeedbackEraser
from hexad.layers.session.table import WORKING_SET_DDL, WorkingSetEraser, check_working_sets
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import check_decisions

COMPONENT: Final = Component(
    name="layers",
    schema=(script(15, WORKING_SET_DDL, place=0), script(15, FEEDBACK_DDL, place=3)),
    memory_tables=(MemoryTable(name="feedback", counted_as="feedback"),),
    checks=(
        lambda context: check_working_sets(context.db),
        lambda context: check_decisions(Stores(context.db, roles=context.actor.roles)),
    ),
    erasers=(WorkingSetEraser, FeedbackEraser),
)
