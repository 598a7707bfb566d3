"""The lists that an export is made of, each with the tables that it tells of and how it is read.

A section is named as the export names it. What is derived and says nothing new (full text, vectors, signatures,
counts) is in `DERIVED`, what else is told elsewhere in `TOLD_WITH`; together they name every table that there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hexad.layers.feedback.table import GIVEN_BY


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSection:
    """A list of the export, read from `sql` page by page.

    The first column is the key of the page, greater than `:after`; of the others the names say what they are: `at` and
    `…_at` are times, `json_…` is JSON, `timed_…` a JSON list of objects with times, `is_…` is true or false.
    """

    name: str
    tables: tuple[str, ...]
    columns: str
    source: str
    key: str = "no"
    where: str = "1"
    whole_only: bool = False


OF_MEMORIES: Final = """(:whole
 OR (:subject IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(m.data_subjects) d WHERE d.value = :subject))
 OR EXISTS (SELECT 1 FROM turns t JOIN conversation_sessions c ON c.no = t.session_no
             WHERE t.memory_no = m.no AND c.session IN (SELECT value FROM json_each(:sessions)))
 OR m.metadata ->> '$.conversation_session' IN (SELECT value FROM json_each(:sessions))
 OR (m.metadata ->> '$.session' IN (SELECT value FROM json_each(:sessions))
     AND m.space_no IN (SELECT no FROM spaces WHERE name = 'experience')))"""
"""Which memories are about it: all, a person's, or those of sessions: turns, what names one, summaries of one."""
_OF_SESSIONS: Final = "(:sessions IS NULL OR {} IN (SELECT value FROM json_each(:sessions)))"
_TAGGED: Final = _OF_SESSIONS.format("a.session_id")
_OF_DOCUMENT: Final = (
    "CASE WHEN :subject IS NOT NULL"
    " THEN d.id IN (SELECT document_id FROM document_subjects WHERE subject = :subject)"
    " ELSE :sessions IS NULL END"
)

SECTIONS: Final = (
    ExportSection(
        name="spaces",
        tables=("spaces",),
        columns="p.name, p.metadata AS json_metadata, p.policies AS json_policies, p.created_at, p.updated_at",
        source="spaces p",
        key="p.no",
        whole_only=True,
    ),
    ExportSection(
        name="sources",
        tables=("sources",),
        columns="s.uri, s.kind, p.name AS space, s.last_run_at",
        source="sources s JOIN spaces p ON p.no = s.space_no",
        key="s.no",
        whole_only=True,
    ),
    ExportSection(
        name="queued_sources",
        tables=("ingest_queue",),
        columns="q.source, q.options AS json_options, q.enqueued_at, q.error",
        source="ingest_queue q",
        key="q.no",
        whole_only=True,
    ),
    ExportSection(
        name="sessions",
        tables=("sessions", "session_subjects"),
        columns=(
            "s.id, s.created_at, s.ended_at, s.max_context_tokens, s.auto_compact AS is_auto_compact,"
            " s.compacted_through, s.context_summary,"
            " (SELECT json_group_array(u.subject) FROM session_subjects u WHERE u.session_no = s.no)"
            " AS json_data_subjects"
        ),
        source="sessions s",
        key="s.no",
        where=_OF_SESSIONS.format("s.id") + " AND s.no NOT IN (SELECT session_no FROM erased_sessions)",
    ),
    ExportSection(
        name="working_sets",
        tables=("working_sets",),
        columns=(
            "w.id, w.repository, w.worktree, w.branch, w.started_at, w.updated_at, w.ended_at, w.boundary,"
            " w.data_subjects AS json_data_subjects, w.state AS json_state"
        ),
        source="working_sets w",
        key="w.no",
        where=(
            f"({_OF_SESSIONS.format('w.id')} OR (:subject IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM json_each(w.data_subjects) d WHERE d.value = :subject)))"
        ),
    ),
    ExportSection(
        name="compressed_records",
        tables=("compressed_records", "compressed_record_sessions", "compressed_tags", "compressed_concepts"),
        columns=(
            "r.id, r.level, r.start_at, r.end_at, s.id AS session_id, r.first_tick, r.last_tick, r.event_id, r.role,"
            " r.summary, r.top_k_activations AS json_top_k_activations, r.significant_tags AS json_significant_tags,"
            " r.sources AS json_sources, r.token_count, r.record_count, r.timesteps,"
            " (SELECT json_group_array(o.id) FROM compressed_record_sessions c JOIN sessions o ON o.no = c.session_no"
            "  WHERE c.record_no = r.no) AS json_sessions"
        ),
        source="compressed_records r LEFT JOIN sessions s ON s.no = r.session_no",
        key="r.no",
        where=(
            f"({_OF_SESSIONS.format('s.id')} OR r.no IN (SELECT c.record_no FROM compressed_record_sessions c"
            " JOIN sessions o ON o.no = c.session_no WHERE o.id IN (SELECT value FROM json_each(:sessions))))"
        ),
    ),
    ExportSection(
        name="compactions",
        tables=("compaction_records",),
        columns=(
            "c.id, s.id AS session_id, c.at, c.range_start, c.range_end, c.timesteps, c.tokens_before,"
            " c.tokens_after, c.summary, c.concept_tags AS json_concept_tags,"
            " c.top_k_activations AS json_top_k_activations, c.trigger, c.generated_by"
        ),
        source="compaction_records c JOIN sessions s ON s.no = c.session_no",
        key="c.no",
        where=_OF_SESSIONS.format("s.id"),
    ),
    ExportSection(
        name="windows",
        tables=("time_windows", "window_submissions"),
        columns=(
            "w.id, s.id AS session_id, w.first_tick, w.last_tick, w.start_at, w.end_at, w.fidelity,"
            " w.pinned AS is_pinned, w.pinned_reason, w.token_count, w.created_at,"
            " (SELECT json_group_array(u.id) FROM window_submissions x JOIN submissions u ON u.no = x.submission_no"
            "  WHERE x.window_no = w.no) AS json_submissions"
        ),
        source="time_windows w JOIN sessions s ON s.no = w.session_no",
        key="w.no",
        where=_OF_SESSIONS.format("s.id"),
    ),
    ExportSection(
        name="submissions",
        tables=("submissions",),
        columns="u.id, u.bud_tag_id, u.status, u.submitted_at, u.resolved_at",
        source="submissions u",
        key="u.no",
        where=(
            "(:sessions IS NULL OR u.no IN (SELECT x.submission_no FROM window_submissions x"
            " JOIN time_windows w ON w.no = x.window_no JOIN sessions s ON s.no = w.session_no"
            " WHERE s.id IN (SELECT value FROM json_each(:sessions))))"
        ),
    ),
    ExportSection(
        name="tags",
        tables=("tags", "bud_concepts"),
        columns=(
            "t.id, t.name, t.tag_type, t.entity_type, t.bud_status, t.created_at, t.created_by, t.description,"
            " (SELECT json_group_array(b.concept_id) FROM bud_concepts b WHERE b.bud_no = t.no) AS json_concepts"
        ),
        source="tags t",
        key="t.no",
        where=(
            "t.concept_id IS NULL AND (:sessions IS NULL OR t.no IN"
            " (SELECT a.tag_no FROM tag_applications a WHERE a.session_id IN (SELECT value FROM json_each(:sessions))))"
        ),
    ),
    ExportSection(
        name="tag_applications",
        tables=("tag_applications",),
        columns=(
            "a.id, t.id AS tag_id, t.name AS tag, a.session_id, a.target_type, a.event_id, a.range_start,"
            " a.range_end, a.confidence, a.source, a.created_at, a.note"
        ),
        source="tag_applications a JOIN tags t ON t.no = a.tag_no",
        key="a.no",
        where=_TAGGED,
    ),
    ExportSection(
        name="comments",
        tables=("comments", "comment_versions"),
        columns=(
            "a.id, a.session_id, a.target_type, a.event_id, a.range_start, a.range_end, a.content, a.created_at,"
            " a.updated_at, (SELECT json_group_array(v.content ORDER BY v.version) FROM comment_versions v"
            " WHERE v.comment_no = a.no) AS json_said_before"
        ),
        source="comments a",
        key="a.no",
        where=_TAGGED,
    ),
    ExportSection(
        name="documents",
        tables=("documents", "document_tags", "document_versions", "document_subjects"),
        columns=(
            "d.id, d.doc_type, d.name, d.path, d.version, d.content, d.created_at, d.updated_at, d.source, d.summary,"
            " d.tags AS json_tags,"
            " (SELECT json_group_array(json_object('version', v.version, 'content', v.content) ORDER BY v.revision)"
            "  FROM document_versions v WHERE v.document_no = d.no) AS json_earlier_versions,"
            " (SELECT json_group_array(u.subject) FROM document_subjects u WHERE u.document_id = d.id)"
            " AS json_data_subjects"
        ),
        source="documents d",
        key="d.no",
        where=_OF_DOCUMENT,
    ),
    ExportSection(
        name="removed_documents",
        tables=("removed_documents",),
        columns="d.id, d.doc_type, d.path, d.removed_at, d.body AS json_body",
        source="removed_documents d",
        key="d.no",
        where=_OF_DOCUMENT,
    ),
    ExportSection(
        name="decisions",
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
        tables=("fact_attributes",),
        columns="f.name, f.declared_at",
        source="(SELECT row_number() OVER (ORDER BY look) AS no, name, declared_at FROM fact_attributes) f",
        key="f.no",
        whole_only=True,
    ),
    ExportSection(
        name="feedback",
        tables=("feedback",),
        columns=(
            "f.id, m.id AS memory_id, f.layer, f.verdict, f.query, f.query_class, f.note, f.given_by, f.given_at,"
            " f.flagged AS is_flagged, f.confidence AS confidence_before"
        ),
        source="feedback f LEFT JOIN memories m ON m.no = f.memory_no",
        key="f.no",
        where=f"({OF_MEMORIES} OR (:subject IS NOT NULL AND {GIVEN_BY}))",
    ),
    ExportSection(
        name="concept_packs",
        tables=("concept_packs",),
        columns="p.id, p.version, p.loaded_at",
        source="concept_packs p",
        key="p.no",
        whole_only=True,
    ),
    ExportSection(
        name="honeycomb_nodes",
        tables=("honeycomb_nodes", "honeycomb_contents", "honeycomb_edges"),
        columns=(
            "n.id, m.id AS memory_id, c.data AS text, n.active AS is_active, n.created_at, c.dimensions, c.format,"
            " (SELECT json_group_array(json_object('from', e.from_id, 'to', e.to_id, 'to_memory', t.id, 'ring', e.ring,"
            "   'score', e.score, 'relation', e.relation, 'auto', json(iif(e.is_auto, 'true', 'false')),"
            "   'created_at', e.created_at, 'renewed_at', e.renewed_at) ORDER BY e.from_id, e.ring, e.seat)"
            "  FROM honeycomb_edges e LEFT JOIN memories t ON t.no = e.to_id"
            # Of a part of the store, edges that lead into it are told where they end: nothing else of it tells them.
            "  WHERE e.from_id = n.id OR (e.to_id = n.id AND NOT :whole AND NOT EXISTS"
            f"   (SELECT 1 FROM memories m WHERE m.no = e.from_id AND {OF_MEMORIES})))"
            " AS timed_edges,"
            " (SELECT coalesce(sum(a.count), 0) FROM honeycomb_accesses a WHERE a.session = '' AND a.node_id = n.id)"
            " AS looks"
        ),
        source=(
            "honeycomb_nodes n LEFT JOIN honeycomb_contents c ON c.node_id = n.id"
            " LEFT JOIN memories m ON m.no = n.id AND n.is_memory"
        ),
        key="n.id",
        where=OF_MEMORIES,
    ),
    ExportSection(
        name="honeycomb_sessions",
        tables=("honeycomb_sessions", "honeycomb_accesses"),
        columns=(
            "g.session, g.started_at, (SELECT json_group_array(json_object('node', a.node_id, 'memory_id', m.id,"
            "   'count', a.count, 'first_at', a.first_at, 'last_at', a.last_at) ORDER BY a.node_id)"
            "  FROM honeycomb_accesses a LEFT JOIN memories m ON m.no = a.node_id WHERE a.session = g.session)"
            " AS timed_looks"
        ),
        source="honeycomb_sessions g",
        key="g.session",
        where=_OF_SESSIONS.format("g.session"),
    ),
    ExportSection(
        name="spending",
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
        tables=("tombstones",),
        columns="t.id, t.space, t.content_mac, t.purged_at, t.reason",
        source="tombstones t",
        key="t.no",
        whole_only=True,
    ),
    ExportSection(
        name="receipts",
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
        tables=("maintenance_log",),
        columns="l.at, l.what, l.detail AS json_detail",
        source="maintenance_log l",
        key="l.no",
        whole_only=True,
    ),
)
"""Every list but memories, links and timesteps, in the order of the export."""

TOLD_WITH: Final = (
    "memories", "memory_tags", "memory_versions", "evidence", "usage", "relations", "speakers", "conversation_sessions",
    "turns", "chunks", "memory_origins", "audiences", "source_items",
    "derivations",
)  # fmt: skip
"""Tables whose rows are told with a memory, a link or a section."""
DERIVED: Final = (
    "meta", "changes", "schema_migrations", "handouts", "vectors", "vector_removals", "minhash_bands", "tasks",
    "signatures", "stream_concepts", "stream_segments", "stream_segment_sessions", "stream_retired_logs", "stream_cold",
    "stream_sidecars", "stream_replaced_segments", "auto_tagged_logs", "stream_erased", "stream_erasing",
    "honeycomb_counts", "honeycomb_removals", "honeycomb_entities",
    "consolidated_tasks", "erased_sessions", "concepts", "concept_relations", "concept_aliases", "spending_days",
)  # fmt: skip
"""Tables that say nothing of anybody: indexes, manifests, counts, and the concepts of packs that came from outside."""
