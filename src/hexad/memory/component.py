"""Memories, spaces and their sources, as the store puts them together with the other systems."""

from __future__ import annotations

from typing import Final

from hexad.database.change_counters import DDL as CHANGES_DDL
from hexad.database.component import Component, MemoryTable, SchemaStep, script
from hexad.database.erasure_book import ERASURE_DDL, NAMING_DDL
from hexad.memory.tables.derivations import DDL as DERIVATIONS_DDL
from hexad.memory.tables.facts import add_fact_looks
from hexad.memory.tables.schema import (
    DECISION_DDL,
    FACT_DDL,
    FOUNDATION_DDL,
    KNOWN_DECISIONS,
    MEMORY_PROMISES,
    STRUCTURED_DDL,
)

COMPONENT: Final = Component(
    name="memory",
    schema=(
        script(1, CHANGES_DDL, place=0),
        script(1, FOUNDATION_DDL, place=1),
        script(2, STRUCTURED_DDL),
        script(9, ERASURE_DDL, place=0),
        script(11, DERIVATIONS_DDL),
        SchemaStep(number=12, apply=add_fact_looks),
        script(13, NAMING_DDL),
        script(15, DECISION_DDL, place=1),
        script(15, FACT_DDL, place=2),
        script(15, KNOWN_DECISIONS, place=5),
    ),
    memory_tables=(
        MemoryTable(name="memory_versions", counted_as="earlier versions"),
        MemoryTable(name="chunks", counted_as="chunks"),
        MemoryTable(name="evidence", counted_as="evidence"),
        MemoryTable(name="turns", counted_as="conversation turns"),
        MemoryTable(name="memory_origins", counted_as="items of space files"),
        MemoryTable(name="source_items", counted_as="items of sources", stays=True),
        MemoryTable(name="decision_records", counted_as="decisions", stays=True),
        MemoryTable(name="memory_tags"),
        MemoryTable(name="usage"),
        MemoryTable(name="handouts"),
        MemoryTable(name="relations", column="from_no"),
        MemoryTable(name="relations", column="to_no"),
        MemoryTable(name="minhash_bands"),
        MemoryTable(name="tasks"),
        MemoryTable(name="signatures"),
        MemoryTable(name="derivations"),
    ),
    promises=MEMORY_PROMISES,
)
