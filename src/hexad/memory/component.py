"""Memories, spaces and their sources, as the store puts them together with the other systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hexad.database.change_counters import DDL as CHANGES_DDL
from hexad.database.component import (
    Component,
    ExportSection,
    FileGroup,
    MemoryTable,
    SchemaStep,
    Treatment,
    script,
)
from hexad.database.connection import Database
from hexad.database.encryption.cipher import MEMORY_DB
from hexad.database.erasure_book import ERASURE_DDL, NAMING_DDL
from hexad.database.store_context import StoreContext
from hexad.memory.memory import Status
from hexad.memory.store import Stores
from hexad.memory.tables.derivations import DDL as DERIVATIONS_DDL
from hexad.memory.tables.facts import Facts, add_fact_looks
from hexad.memory.tables.schema import (
    CHANGED_DDL,
    DECISION_DDL,
    FACT_DDL,
    FOUNDATION_DDL,
    KNOWN_DECISIONS,
    MEMORY_PROMISES,
    SMALLER_MARKS,
    STRUCTURED_DDL,
    VECTOR_CHUNKS_DDL,
    shorten_rows,
)
from hexad.memory.tables.standing import add_standing

OF_MEMORIES: Final = """(:whole
 OR (:subject IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(m.data_subjects) d WHERE d.value = :subject))
 OR EXISTS (SELECT 1 FROM turns t JOIN conversation_sessions c ON c.no = t.session_no
             WHERE t.memory_no = m.no AND c.session IN (SELECT value FROM json_each(:sessions)))
 OR m.metadata ->> '$.conversation_session' IN (SELECT value FROM json_each(:sessions))
 OR (m.metadata ->> '$.session' IN (SELECT value FROM json_each(:sessions))
     AND m.space_no IN (SELECT no FROM spaces WHERE name = 'experience')))"""
"""Which memories are about it: all, a person's, or those of sessions: turns, what names one, summaries of one."""

_EXPORT: Final = (
    ExportSection(
        name="spaces",
        place=0,
        tables=("spaces",),
        columns="p.name, p.metadata AS json_metadata, p.policies AS json_policies, p.created_at, p.updated_at",
        source="spaces p",
        key="p.no",
        whole_only=True,
    ),
    ExportSection(
        name="sources",
        place=1,
        tables=("sources",),
        columns="s.uri, s.kind, p.name AS space, s.last_run_at",
        source="sources s JOIN spaces p ON p.no = s.space_no",
        key="s.no",
        whole_only=True,
    ),
    ExportSection(
        name="queued_sources",
        place=2,
        tables=("ingest_queue",),
        columns="q.source, q.options AS json_options, q.enqueued_at, q.error",
        source="ingest_queue q",
        key="q.no",
        whole_only=True,
    ),
    ExportSection(
        name="decisions",
        place=14,
        tables=("decision_records",),
        columns=(
            "d.id, d.project_id, d.title, d.description, d.rationale, d.alternatives_json AS json_alternatives,"
            " d.links_json AS json_links, d.created_by, d.created_at, d.erased_at, d.receipt,"
            " m.id AS memory_id, (SELECT o.id FROM decision_records o WHERE o.no = d.supersedes) AS supersedes"
        ),
        source="decision_records d LEFT JOIN memories m ON m.no = d.memory_no",
        key="d.no",
        where=(
            "CASE WHEN :subject IS NOT NULL"
            " THEN EXISTS (SELECT 1 FROM json_each(m.data_subjects) WHERE value = :subject)"
            " ELSE :sessions IS NULL END"
        ),
    ),
    ExportSection(
        name="fact_attributes",
        place=15,
        tables=("fact_attributes",),
        columns="f.name, f.declared_at",
        source="(SELECT row_number() OVER (ORDER BY look) AS no, name, declared_at FROM fact_attributes) f",
        key="f.no",
        whole_only=True,
    ),
    ExportSection(
        name="spending",
        place=20,
        tables=("spending",),
        columns=(
            "c.at, c.space, c.provider, c.model, c.operation, c.settled AS is_settled, c.input_tokens,"
            " c.output_tokens, c.usd"
        ),
        source="spending c",
        key="c.no",
        whole_only=True,
    ),
    ExportSection(
        name="tombstones",
        place=21,
        tables=("tombstones",),
        columns="t.id, t.space, t.content_mac, t.purged_at, t.reason",
        source="tombstones t",
        key="t.no",
        whole_only=True,
    ),
    ExportSection(
        name="receipts",
        place=22,
        tables=("erasures", "erasure_counts", "erasure_flags", "erasure_pending"),
        columns=(
            "e.id, e.at, e.actor, e.purge AS is_purge, e.selection_mac, e.mac,"
            " (SELECT json_group_array(json_object('place', c.place, 'count', c.count, 'bytes', c.bytes))"
            "  FROM erasure_counts c WHERE c.erasure_no = e.no) AS json_erased,"
            " (SELECT json_group_array(json_object('place', p.place, 'reason', p.reason))"
            "  FROM erasure_pending p WHERE p.erasure_no = e.no) AS json_pending,"
            " (SELECT json_group_array(f.memory_id) FROM erasure_flags f WHERE f.erasure_no = e.no) AS json_flagged"
        ),
        source="erasures e",
        key="e.no",
        whole_only=True,
    ),
    ExportSection(
        name="upkeep",
        place=23,
        tables=("maintenance_log",),
        columns="l.at, l.what, l.detail AS json_detail",
        source="maintenance_log l",
        key="l.no",
        whole_only=True,
    ),
)

_TOLD_WITH: Final = (
    "memories", "memory_tags", "memory_versions", "evidence", "usage", "relations", "speakers", "conversation_sessions",
    "turns", "chunks", "memory_origins", "audiences", "source_items", "derivations",
)  # fmt: skip
_DERIVED: Final = (
    "meta", "changes", "schema_migrations", "handouts", "minhash_bands", "minhash_marks", "tasks", "signatures",
    "spending_days", "standing",
)  # fmt: skip


def _count_memories(context: StoreContext) -> Mapping[str, int]:
    stores = Stores(context.db, roles=context.actor.roles)
    waiting, failed = stores.queue.counts()
    since, now = stores.queue.waits_since(), context.db.clock.now()
    return {
        "memories": stores.memories.count(),
        "archived": stores.memories.count(status=Status.ARCHIVED),
        "quarantined": 0 if stores.roles is not None else stores.memories.count(status=Status.QUARANTINED),
        "queue_waiting": waiting,
        "queue_failed": failed,
        "queue_age_s": 0 if since is None else max(0, int((now - since).total_seconds())),
    }


def _undeclare_facts(db: Database, dry_run: bool) -> Mapping[str, int]:
    if not dry_run:
        with db.transaction():
            Facts(db).undeclare()
    return {}


COMPONENT: Final = Component(
    name="memory",
    schema=(
        script(1, CHANGES_DDL, "foundation"),
        script(1, FOUNDATION_DDL, place=1),
        script(2, STRUCTURED_DDL, "structured"),
        script(9, ERASURE_DDL, "erasure"),
        script(11, DERIVATIONS_DDL, "derivations"),
        SchemaStep(number=12, apply=add_fact_looks, name="facts by their look"),
        script(13, NAMING_DDL, "memories named by notes"),
        script(15, DECISION_DDL, place=1),
        script(15, FACT_DDL, place=2),
        script(15, KNOWN_DECISIONS, place=5),
        SchemaStep(number=16, apply=add_standing, name="standing instructions"),
        script(18, VECTOR_CHUNKS_DDL, "one meaning of project_id"),
        script(22, CHANGED_DDL, "memories by their last change"),
        script(24, SMALLER_MARKS, "smaller marks and edges"),
        SchemaStep(number=25, apply=shorten_rows, name="shorter rows"),
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
        MemoryTable(name="minhash_marks"),
        MemoryTable(name="tasks"),
        MemoryTable(name="signatures"),
        MemoryTable(name="derivations"),
        MemoryTable(name="standing"),
    ),
    promises=MEMORY_PROMISES,
    export=_EXPORT,
    told_with=_TOLD_WITH,
    derived=_DERIVED,
    counts=(_count_memories,),
    wipes=(_undeclare_facts,),
    files=(
        FileGroup(
            pattern="memory.db",
            form=Treatment.DATABASE,
            purpose=MEMORY_DB,
            label="memories, full text, vectors, tags (memory.db)",
            place=0,
        ),
    ),
)
