"""Hexad: a local, inspectable, provable memory engine for AI agents.

>>> import hexad
>>> with hexad.open(":memory:", embedder=None) as hx:
...     _ = hx.remember("Ship when recall is under 200 ms.", kind="decision", tags=["release"])
...     [hit.text for hit in hx.recall("when do we ship?")]
['Ship when recall is under 200 ms.']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hexad.client.awaited import aconnect, aopen
    from hexad.client.connection import connect
    from hexad.code_graph.values import (
        CodeAnswer,
        CodeHit,
        CodeIndexReport,
        CodeNode,
        CodeOverview,
        CodeQuestion,
        CodeSlice,
    )
    from hexad.config import StreamDurability
    from hexad.core.actor import Actor
    from hexad.core.clock import Clock, FrozenClock, SystemClock
    from hexad.core.erasure import ErasureReceipt, parse_receipt
    from hexad.core.event_types import EventType
    from hexad.core.ids import IdSource, TimeSortedIds
    from hexad.core.redactions import Redactions, redactions
    from hexad.core.tracing import Span, listen
    from hexad.core.version import __version__
    from hexad.database.encryption.record import EncryptionProgress, EncryptionReport, EncryptionState
    from hexad.engine import Hexad
    from hexad.errors import (
        AccessDenied,
        BudgetExceeded,
        Conflict,
        HexadError,
        IntegrityError,
        InvalidInput,
        InvalidMemory,
        InvalidSpace,
        InvalidTarget,
        LedgerBroken,
        LimitExceeded,
        NotFound,
        ProviderError,
        QuotaExceeded,
        ServerUnreachable,
        StorageFailure,
        StoreLocked,
        UntrustedSettings,
    )
    from hexad.experience.tiers.compression import compress_records
    from hexad.experience.values.contract import LifecycleContract, LimitSource
    from hexad.experience.values.documents import (
        CopiesReport,
        CopyState,
        Document,
        DocumentType,
        DocumentVersion,
        WorkingCopy,
    )
    from hexad.experience.values.levels import CompressionLevel, Fidelity
    from hexad.experience.values.losses import LostSegment, LostTicks
    from hexad.experience.values.pressure import (
        Amount,
        CompressionReport,
        CompressionStep,
        SessionTotals,
        Stopped,
        StorageUsage,
    )
    from hexad.experience.values.records import (
        ActivityBucket,
        ActivityUnit,
        ConceptActivity,
        SessionInfo,
        StreamAnswer,
        StreamReport,
        TimestepRecord,
        Timesteps,
    )
    from hexad.experience.values.tags import (
        BudStatus,
        Comment,
        PackReport,
        Tag,
        TagApplication,
        TagSource,
        TagType,
        Target,
        TargetType,
    )
    from hexad.experience.values.tiers import (
        CompactionRecord,
        CompactionTrigger,
        CompressedRecord,
        ContextEvent,
        ContextWindow,
        EventRecord,
        Submission,
        SubmissionStatus,
        TimeWindow,
    )
    from hexad.honeycomb.scoring import calculate_relevance, cosine_similarity, temporal_decay
    from hexad.honeycomb.values import (
        HoneycombEdge,
        HoneycombNode,
        HoneycombRules,
        HoneycombStats,
        JitContext,
        JitPiece,
        Safety,
    )
    from hexad.ingest.report import IngestReport, Progress
    from hexad.ingest.sources.checkout import Workplace
    from hexad.integrations.agent_memory import AgentMemory
    from hexad.layers.contract import (
        EvidenceBlock,
        FusedContext,
        LayerPlan,
        LeftOut,
        MemoryItem,
        MemoryQuery,
        Plan,
        ScoredItem,
        TaskType,
        Weights,
    )
    from hexad.layers.project.values import Category, ComponentSummary, Detected, Finding, ProjectFact
    from hexad.layers.router.query_language import QueryText, parse_query_text
    from hexad.layers.session.working_set import (
        Boundary,
        Edit,
        OpenFile,
        Resumable,
        ScratchNote,
        SessionState,
        SessionTurn,
        Substep,
        TaskEnd,
        WorkingSet,
    )
    from hexad.layers.user.values import (
        Expertise,
        LearnedChange,
        LearningReport,
        Pattern,
        Preference,
        ProjectException,
        ResolvedPreference,
        Suggestion,
        Suppression,
        UserRule,
    )
    from hexad.lifecycle.export import export_json
    from hexad.lifecycle.init_and_encrypt import decrypt, encrypt, encryption_state, init, rekey
    from hexad.lifecycle.opening import open
    from hexad.lifecycle.trust import (
        TrustedSettings,
        revoke_trust,
        trust_settings,
        trusted_settings,
        untrusted_settings,
    )
    from hexad.maintenance.consolidation.values import (
        ConsolidationAction,
        ConsolidationChange,
        ConsolidationReport,
        ConsolidationScope,
        LayerSize,
        LeftAlone,
    )
    from hexad.maintenance.quality import Flaw, MemoryQuality, QualityFinding, export_quality
    from hexad.maintenance.reindex import ReindexReport
    from hexad.maintenance.status import MaintenanceReport, StoreStatus
    from hexad.memory.decision import Decision, SourceCommit, Why
    from hexad.memory.fact import Fact, FactChange, Review
    from hexad.memory.feedback import Feedback, FeedbackStats, Mistake, Verdict, VerdictPeriod, VerdictTally
    from hexad.memory.layer_names import MemoryLayer, QueryClass
    from hexad.memory.link import Link, Linked, LinkEnd
    from hexad.memory.memory import (
        CheckedCitation,
        Chunk,
        Citation,
        CitationState,
        Memory,
        NearMemory,
        Outcome,
        Receipt,
        Relevance,
        Status,
        SupersededMemory,
        Trust,
        Turn,
    )
    from hexad.memory.query import Dropped, Explanation, Hit, Hits, Replaced, Successor
    from hexad.memory.source import Skip
    from hexad.memory.space import DeleteReport, GcReport, SpaceInfo
    from hexad.privacy.report import ExportItem, Scope, WipeReport
    from hexad.providers.embedders.base import Embedder
    from hexad.providers.generators.base import Generator, Prompt, Reply
    from hexad.providers.spending import BudgetLine, Spend, Spent
    from hexad.redaction.injection.detector import instructions_in
    from hexad.spaces.bundles.bundle import Bundle, KindList, ProjectContext
    from hexad.spaces.bundles.hook import ContextHook
    from hexad.spaces.bundles.orderings.external import ExternalOrdering
    from hexad.spaces.files.report import (
        ExportReport,
        FileConflict,
        FolderReport,
        ReadReport,
        RestoreReport,
        Verified,
    )
    from hexad.spaces.files.signed_export import verify_export

# Where each public name lives. They are loaded when first asked for, so that `import hexad` stays cheap.
_HOMES: Final = {
    "hexad.client.awaited": ("aconnect", "aopen"),
    "hexad.client.connection": ("connect",),
    "hexad.core.actor": ("Actor",),
    "hexad.core.clock": ("Clock", "FrozenClock", "SystemClock"),
    "hexad.config": ("StreamDurability",),
    "hexad.core.erasure": ("ErasureReceipt", "parse_receipt"),
    "hexad.core.event_types": ("EventType",),
    "hexad.core.ids": ("IdSource", "TimeSortedIds"),
    "hexad.core.redactions": ("Redactions", "redactions"),
    "hexad.core.tracing": ("Span", "listen"),
    "hexad.core.version": ("__version__",),
    "hexad.database.encryption.record": ("EncryptionProgress", "EncryptionReport", "EncryptionState"),
    "hexad.engine": ("Hexad",),
    "hexad.errors": (
        "AccessDenied", "BudgetExceeded", "Conflict", "HexadError", "IntegrityError", "InvalidInput",
        "InvalidMemory", "InvalidSpace", "InvalidTarget", "LedgerBroken", "LimitExceeded", "NotFound",
        "ProviderError", "QuotaExceeded", "ServerUnreachable", "StorageFailure", "StoreLocked", "UntrustedSettings",
    ),
    "hexad.experience.tiers.compression": ("compress_records",),
    "hexad.experience.values.contract": ("LifecycleContract", "LimitSource"),
    "hexad.experience.values.documents": (
        "CopiesReport", "CopyState", "Document", "DocumentType", "DocumentVersion", "WorkingCopy",
    ),
    "hexad.experience.values.losses": ("LostSegment", "LostTicks"),
    "hexad.experience.values.pressure": (
        "Amount", "CompressionReport", "CompressionStep", "SessionTotals", "Stopped", "StorageUsage",
    ),
    "hexad.experience.values.levels": ("CompressionLevel", "Fidelity"),
    "hexad.experience.values.records": (
        "ActivityBucket", "ActivityUnit", "ConceptActivity", "SessionInfo",
        "StreamAnswer", "StreamReport", "TimestepRecord", "Timesteps",
    ),
    "hexad.experience.values.tags": (
        "BudStatus", "Comment", "PackReport", "Tag", "TagApplication", "TagSource", "TagType", "Target",
        "TargetType",
    ),
    "hexad.experience.values.tiers": (
        "CompactionRecord", "CompactionTrigger", "CompressedRecord", "ContextEvent", "ContextWindow",
        "EventRecord", "Submission", "SubmissionStatus", "TimeWindow",
    ),
    "hexad.code_graph.values": (
        "CodeAnswer", "CodeHit", "CodeIndexReport", "CodeNode", "CodeOverview", "CodeQuestion", "CodeSlice",
    ),
    "hexad.honeycomb.scoring": ("calculate_relevance", "cosine_similarity", "temporal_decay"),
    "hexad.honeycomb.values": (
        "HoneycombEdge", "HoneycombNode", "HoneycombRules", "HoneycombStats", "JitContext", "JitPiece",
        "Safety",
    ),
    "hexad.ingest.report": ("IngestReport", "Progress"),
    "hexad.ingest.sources.checkout": ("Workplace",),
    "hexad.layers.contract": (
        "EvidenceBlock", "FusedContext", "LayerPlan", "LeftOut", "MemoryItem", "MemoryQuery", "Plan",
        "ScoredItem", "TaskType", "Weights",
    ),
    "hexad.layers.project.values": ("Category", "ComponentSummary", "Detected", "Finding", "ProjectFact"),
    "hexad.layers.router.query_language": ("QueryText", "parse_query_text"),
    "hexad.layers.session.working_set": (
        "Boundary", "Edit", "OpenFile", "Resumable", "ScratchNote", "SessionState", "SessionTurn", "Substep",
        "TaskEnd", "WorkingSet",
    ),
    "hexad.layers.user.values": (
        "Expertise", "LearnedChange", "LearningReport", "Pattern", "Preference", "ProjectException",
        "ResolvedPreference", "Suggestion", "Suppression", "UserRule",
    ),
    "hexad.lifecycle.export": ("export_json",),
    "hexad.lifecycle.init_and_encrypt": ("decrypt", "encrypt", "encryption_state", "init", "rekey"),
    "hexad.integrations.agent_memory": ("AgentMemory",),
    "hexad.lifecycle.opening": ("open",),
    "hexad.lifecycle.trust": (
        "TrustedSettings", "revoke_trust", "trust_settings", "trusted_settings", "untrusted_settings",
    ),
    "hexad.maintenance.consolidation.values": (
        "ConsolidationAction", "ConsolidationChange", "ConsolidationReport", "ConsolidationScope",
        "LayerSize", "LeftAlone",
    ),
    "hexad.maintenance.quality": ("Flaw", "MemoryQuality", "QualityFinding", "export_quality"),
    "hexad.maintenance.reindex": ("ReindexReport",),
    "hexad.maintenance.status": ("MaintenanceReport", "StoreStatus"),
    "hexad.memory.decision": ("Decision", "SourceCommit", "Why"),
    "hexad.memory.fact": ("Fact", "FactChange", "Review"),
    "hexad.memory.feedback": ("Feedback", "FeedbackStats", "Mistake", "Verdict", "VerdictPeriod", "VerdictTally"),
    "hexad.memory.layer_names": ("MemoryLayer", "QueryClass"),
    "hexad.memory.link": ("Link", "LinkEnd", "Linked"),
    "hexad.memory.memory": (
        "CheckedCitation", "Chunk", "Citation", "CitationState", "Memory", "NearMemory", "Outcome", "Receipt",
        "Relevance", "Status", "SupersededMemory", "Trust", "Turn",
    ),
    "hexad.memory.query": ("Dropped", "Explanation", "Hit", "Hits", "Replaced", "Successor"),
    "hexad.memory.source": ("Skip",),
    "hexad.memory.space": ("DeleteReport", "GcReport", "SpaceInfo"),
    "hexad.privacy.report": ("ExportItem", "Scope", "WipeReport"),
    "hexad.providers.spending": ("BudgetLine", "Spend", "Spent"),
    "hexad.providers.embedders.base": ("Embedder",),
    "hexad.providers.generators.base": ("Generator", "Prompt", "Reply"),
    "hexad.redaction.injection.detector": ("instructions_in",),
    "hexad.spaces.bundles.bundle": ("Bundle", "KindList", "ProjectContext"),
    "hexad.spaces.bundles.hook": ("ContextHook",),
    "hexad.spaces.bundles.orderings.external": ("ExternalOrdering",),
    "hexad.spaces.files.report": (
        "ExportReport", "FileConflict", "FolderReport", "ReadReport", "RestoreReport", "Verified",
    ),
    "hexad.spaces.files.signed_export": ("verify_export",),
}  # fmt: skip
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AccessDenied", "ActivityBucket", "ActivityUnit", "Actor", "AgentMemory", "Amount", "Boundary", "BudStatus",
    "BudgetExceeded", "BudgetLine", "Bundle", "Category", "CheckedCitation", "Chunk", "Citation", "CitationState",
    "Clock", "CodeAnswer", "CodeHit", "CodeIndexReport",
    "CodeNode", "CodeOverview", "CodeQuestion", "CodeSlice", "Comment",
    "CompactionRecord", "CompactionTrigger", "ComponentSummary", "CompressedRecord", "CompressionLevel",
    "CompressionReport", "CompressionStep", "ConceptActivity", "Conflict", "ConsolidationAction",
    "ConsolidationChange", "ConsolidationReport", "ConsolidationScope", "ContextEvent", "ContextHook",
    "ContextWindow", "CopiesReport", "CopyState", "Decision", "DeleteReport", "Detected", "Document",
    "DocumentType", "DocumentVersion", "Dropped", "Edit", "Embedder", "EncryptionProgress",
    "EncryptionReport", "EncryptionState", "ErasureReceipt", "EventRecord", "EventType", "EvidenceBlock",
    "Expertise", "Explanation", "ExportItem", "ExportReport", "ExternalOrdering", "Fact", "FactChange",
    "Feedback", "FeedbackStats", "Fidelity", "FileConflict", "Finding", "Flaw", "FolderReport", "FrozenClock",
    "FusedContext", "GcReport", "Generator", "Hexad", "HexadError", "Hit", "Hits", "HoneycombEdge",
    "HoneycombNode", "HoneycombRules", "HoneycombStats", "IdSource", "IngestReport", "IntegrityError",
    "InvalidInput", "InvalidMemory", "InvalidSpace", "InvalidTarget", "JitContext", "JitPiece", "KindList",
    "LayerPlan", "LayerSize", "LearnedChange", "LearningReport", "LedgerBroken", "LeftAlone", "LeftOut",
    "LifecycleContract", "LimitExceeded", "LimitSource", "Link", "LinkEnd", "Linked", "LostSegment", "LostTicks",
    "MaintenanceReport",
    "Memory", "MemoryItem", "MemoryLayer", "MemoryQuality", "MemoryQuery", "Mistake", "NearMemory",
    "NotFound", "OpenFile", "Outcome", "PackReport", "Pattern", "Plan", "Preference", "Progress",
    "ProjectContext", "ProjectException", "ProjectFact", "Prompt", "ProviderError", "QualityFinding",
    "QueryClass", "QueryText", "QuotaExceeded", "ReadReport", "Receipt", "Redactions", "ReindexReport", "Relevance",
    "Replaced", "Reply", "ResolvedPreference", "RestoreReport", "Resumable", "Review", "Safety", "Scope",
    "ScoredItem", "ScratchNote", "ServerUnreachable", "SessionInfo", "SessionState", "SessionTotals", "SessionTurn",
    "Skip", "SourceCommit", "SpaceInfo", "Span", "Spend", "Spent", "Status", "Stopped", "StorageFailure",
    "StorageUsage", "StoreLocked", "StoreStatus", "StreamAnswer", "StreamDurability", "StreamReport", "Submission",
    "SubmissionStatus", "Substep", "Successor", "Suggestion", "SupersededMemory", "Suppression", "SystemClock", "Tag",
    "TagApplication", "TagSource", "TagType", "Target", "TargetType", "TaskEnd", "TaskType", "TimeSortedIds",
    "TimeWindow", "TimestepRecord", "Timesteps", "Trust", "TrustedSettings", "Turn", "UntrustedSettings", "UserRule",
    "Verdict", "VerdictPeriod", "VerdictTally", "Verified", "Weights", "Why", "WipeReport", "WorkingCopy",
    "WorkingSet", "Workplace", "__version__", "aconnect", "aopen", "calculate_relevance", "compress_records",
    "connect", "cosine_similarity", "decrypt", "encrypt", "encryption_state", "export_json", "export_quality",
    "init", "instructions_in", "listen", "open", "parse_query_text", "parse_receipt", "redactions", "rekey",
    "revoke_trust", "temporal_decay", "trust_settings", "trusted_settings", "untrusted_settings", "verify_export",
]  # fmt: skip


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'hexad' has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
