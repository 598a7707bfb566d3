"""The experience database, as the store puts it together with the other systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from hexad.core.lazy import Lazy
from hexad.database.component import (
    OF_SESSIONS,
    Component,
    ExportSection,
    FileGroup,
    Job,
    Report,
    Stop,
    Treatment,
    never,
    script,
)
from hexad.database.encryption.cipher import DOCUMENTS, STREAM
from hexad.database.encryption.store_files import own_files
from hexad.database.store_context import StoreContext
from hexad.experience.documents import check_copies, heal_copies
from hexad.experience.stream.key_change import STREAM_KEY_CHANGE
from hexad.experience.stream.log import list_logs
from hexad.experience.stream.segment_files import check_stream
from hexad.experience.tables.cold_ranges import check_cold
from hexad.experience.tables.documents import Documents, check_documents
from hexad.experience.tables.schema import (
    AUTO_TAG_DDL,
    DDL,
    DOCUMENT_DDL,
    REMOVED_DOCUMENT_DDL,
    RETIRED_LOGS_DDL,
    SIDE_DDL,
    STREAM_ERASURE_DDL,
    TAG_DDL,
    TAG_PROMISES,
    TIER_DDL,
)
from hexad.experience.tables.windows import WINDOW_PROMISES
from hexad.memory.store import Stores

if TYPE_CHECKING:
    from hexad.experience.service import ExperienceService


def _stream(context: StoreContext) -> Iterator[str]:
    cipher = None if context.crypt is None else context.crypt.cipher(STREAM)
    yield from check_stream(context.db, context.directory / "stream", cipher)


def _copies(context: StoreContext) -> Iterator[str]:
    own = own_files(context.directory, context.crypt, DOCUMENTS)
    yield from check_copies(context.directory / "documents", Documents(context.db), own)


_TAGGED: Final = OF_SESSIONS.format("a.session_id")
_OF_DOCUMENT: Final = (
    "CASE WHEN :subject IS NOT NULL"
    " THEN d.id IN (SELECT document_id FROM document_subjects WHERE subject = :subject)"
    " ELSE :sessions IS NULL END"
)

_EXPORT: Final = (
    ExportSection(
        name="sessions",
        place=3,
        tables=("sessions", "session_subjects"),
        columns=(
            "s.id, s.created_at, s.ended_at, s.max_context_tokens, s.auto_compact AS is_auto_compact,"
            " s.compacted_through, s.context_summary,"
            " (SELECT json_group_array(u.subject) FROM session_subjects u WHERE u.session_no = s.no)"
            " AS json_data_subjects"
        ),
        source="sessions s",
        key="s.no",
        where=OF_SESSIONS.format("s.id") + " AND s.no NOT IN (SELECT session_no FROM erased_sessions)",
    ),
    ExportSection(
        name="compressed_records",
        place=5,
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
            f"({OF_SESSIONS.format('s.id')} OR r.no IN (SELECT c.record_no FROM compressed_record_sessions c"
            " JOIN sessions o ON o.no = c.session_no WHERE o.id IN (SELECT value FROM json_each(:sessions))))"
        ),
    ),
    ExportSection(
        name="compactions",
        place=6,
        tables=("compaction_records",),
        columns=(
            "c.id, s.id AS session_id, c.at, c.range_start, c.range_end, c.timesteps, c.tokens_before,"
            " c.tokens_after, c.summary, c.concept_tags AS json_concept_tags,"
            " c.top_k_activations AS json_top_k_activations, c.trigger, c.generated_by"
        ),
        source="compaction_records c JOIN sessions s ON s.no = c.session_no",
        key="c.no",
        where=OF_SESSIONS.format("s.id"),
    ),
    ExportSection(
        name="windows",
        place=7,
        tables=("time_windows", "window_submissions"),
        columns=(
            "w.id, s.id AS session_id, w.first_tick, w.last_tick, w.start_at, w.end_at, w.fidelity,"
            " w.pinned AS is_pinned, w.pinned_reason, w.token_count, w.created_at,"
            " (SELECT json_group_array(u.id) FROM window_submissions x JOIN submissions u ON u.no = x.submission_no"
            "  WHERE x.window_no = w.no) AS json_submissions"
        ),
        source="time_windows w JOIN sessions s ON s.no = w.session_no",
        key="w.no",
        where=OF_SESSIONS.format("s.id"),
    ),
    ExportSection(
        name="submissions",
        place=8,
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
        place=9,
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
        place=10,
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
        place=11,
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
        place=12,
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
        place=13,
        tables=("removed_documents",),
        columns="d.id, d.doc_type, d.path, d.removed_at, d.body AS json_body",
        source="removed_documents d",
        key="d.no",
        where=_OF_DOCUMENT,
    ),
    ExportSection(
        name="concept_packs",
        place=17,
        tables=("concept_packs",),
        columns="p.id, p.version, p.loaded_at",
        source="concept_packs p",
        key="p.no",
        whole_only=True,
    ),
)

_DERIVED: Final = (
    "stream_concepts", "stream_segments", "stream_segment_sessions", "stream_retired_logs", "stream_cold",
    "stream_sidecars", "stream_replaced_segments", "auto_tagged_logs", "stream_erased", "stream_erasing",
    "erased_sessions", "concepts", "concept_relations", "concept_aliases",
)  # fmt: skip


class ExperienceSystems(Protocol):
    """What the jobs ask for."""

    context: StoreContext
    stores: Stores
    experience: Lazy[ExperienceService]


def _sealed(systems: ExperienceSystems, stop: Stop = never) -> tuple[int, Sequence[str]]:
    """Seal what was recorded, by whomever, where it is large or old; return how many timesteps, and what is wrong
    with logs that stay for that.
    """  # fmt: skip
    if systems.experience.loaded is None and not list_logs(systems.context.directory / "stream" / "log"):
        return 0, ()
    report = systems.experience().experience.seal(stop=stop)
    return report.rows, report.problems


def _seal(systems: ExperienceSystems, report: Report) -> None:
    report["sealed"], problems = _sealed(systems)
    report["problems"] = tuple(problems)


def _compact(systems: ExperienceSystems, report: Report) -> None:
    there = (systems.context.directory / "stream").is_dir()
    report["compacted"] = systems.experience().compact_all(stop=never) if there else 0


def _compact_when_due(systems: ExperienceSystems, stop: Stop) -> None:
    """Compact the windows that this process found full, and each hour those that were left, full or idle."""
    if (experience := systems.experience.loaded) is not None:
        experience.compactor.work(stop=stop)


def _release_windows(systems: ExperienceSystems) -> int:
    """Let go of windows whose grace is over; return how many."""
    now = systems.context.clock.now()
    if systems.experience.loaded is None and not systems.stores.meta.has_windows_to_settle(now):
        return 0
    return systems.experience().tiers.release_when_due()


def _release(systems: ExperienceSystems, report: Report) -> None:
    report["let_go"] = _release_windows(systems)


def _compress(systems: ExperienceSystems, report: Report) -> None:
    limited = systems.context.settings.xdb_max_storage_bytes is not None
    needed = systems.experience.loaded is not None or limited or systems.stores.meta.has_cold()
    report["compressed"] = systems.experience().compress() if needed else 0


def _compress_when_due(systems: ExperienceSystems, stop: Stop) -> None:
    """Compress experience that is over its limits, once this process has to do with experience."""
    if (experience := systems.experience.loaded) is not None:
        experience.compress_when_due(stop=stop)


def _freed_bytes(systems: ExperienceSystems, *, stop: Stop = never, when_due: bool = False) -> int:
    """Remove from the stream's files what left for COLD records; return how many bytes came free."""
    there = (systems.context.directory / "stream" / "segments").is_dir()
    if not there or (when_due and systems.experience.loaded is None):
        return 0
    return systems.experience().experience.tidy(stop=stop, when_due=when_due).freed_bytes


def _tidy(systems: ExperienceSystems, report: Report) -> None:
    report["freed_bytes"] = _freed_bytes(systems)


def _heal(systems: ExperienceSystems, report: Report) -> None:
    context = systems.context
    documents = Documents(context.db)
    own = own_files(context.directory, context.crypt, DOCUMENTS)
    report["copies"] = (
        heal_copies(context.directory / "documents", documents, own) if documents.count() else 0
    )


_JOBS: Final = (
    Job(name="seal", place=10, maintain=_seal, step=_sealed),
    Job(name="compact", place=11, maintain=_compact, step=_compact_when_due),
    Job(
        name="release windows",
        place=12,
        maintain=_release,
        step=lambda systems, _stop: _release_windows(systems),
    ),
    Job(name="compress", place=13, maintain=_compress, step=_compress_when_due),
    Job(
        name="tidy",
        place=14,
        maintain=_tidy,
        step=lambda systems, stop: _freed_bytes(systems, stop=stop, when_due=True),
    ),
    Job(name="heal copies", place=19, maintain=_heal),
)

COMPONENT: Final = Component(
    name="experience",
    schema=(
        script(3, DDL, "stream"),
        script(4, TAG_DDL, "folksonomy"),
        script(5, DOCUMENT_DDL, "documents"),
        script(6, TIER_DDL, "tiers"),
        script(7, SIDE_DDL, "sidecars"),
        script(8, AUTO_TAG_DDL, "upkeep"),
        script(8, REMOVED_DOCUMENT_DDL, place=1),
        script(10, STREAM_ERASURE_DDL, "stream erasure"),
        script(23, RETIRED_LOGS_DDL, "retired logs by segment"),
    ),
    jobs=_JOBS,
    files=(
        FileGroup(pattern="stream/log/*", form=Treatment.DROPPED),
        FileGroup(pattern="stream/*.tmp", form=Treatment.DROPPED),
        FileGroup(
            pattern="stream/*", form=Treatment.FILE, purpose=STREAM, label="experience (stream)", place=2
        ),
        FileGroup(
            pattern="documents/*",
            form=Treatment.FILE,
            purpose=DOCUMENTS,
            label="working copies (documents)",
            place=4,
        ),
    ),
    key_changes=(STREAM_KEY_CHANGE,),
    promises=(*TAG_PROMISES, *WINDOW_PROMISES),
    checks=(
        _stream,
        lambda context: check_cold(context.db),
        lambda context: check_documents(context.db),
    ),
    file_checks=(_copies,),
    export=_EXPORT,
    derived=_DERIVED,
    subjects=(
        "SELECT subject FROM session_subjects WHERE session_no NOT IN (SELECT session_no FROM erased_sessions)",
        "SELECT subject FROM document_subjects",
    ),
)
