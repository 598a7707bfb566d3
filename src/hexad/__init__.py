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
    from hexad.clock import Clock, FrozenClock, SystemClock
    from hexad.encrypting import decrypt, encrypt, encryption_state, init, rekey
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
        StorageFailure,
        StoreLocked,
    )
    from hexad.experience.compression import compress_records
    from hexad.exporting import export_json
    from hexad.facade.quality import export_quality
    from hexad.ids import IdSource, TimeSortedIds
    from hexad.model.activity import ActivityBucket, ActivityUnit, ConceptActivity
    from hexad.model.actor import Actor
    from hexad.model.association import calculate_relevance, cosine_similarity, temporal_decay
    from hexad.model.bundle import Bundle, KindList, ProjectContext
    from hexad.model.concept import PackReport
    from hexad.model.consolidation import (
        ConsolidationAction,
        ConsolidationChange,
        ConsolidationReport,
        ConsolidationScope,
        LayerSize,
        LeftAlone,
    )
    from hexad.model.contract import Spend
    from hexad.model.decision import Decision, Why
    from hexad.model.document import (
        CopiesReport,
        CopyState,
        Document,
        DocumentType,
        DocumentVersion,
        WorkingCopy,
    )
    from hexad.model.durability import StreamDurability
    from hexad.model.encryption import EncryptionProgress, EncryptionReport, EncryptionState
    from hexad.model.erasure import ErasureReceipt, parse_receipt
    from hexad.model.experience import (
        CompressionLevel,
        EventType,
        Fidelity,
        SessionInfo,
        StreamReport,
        TimestepRecord,
    )
    from hexad.model.facts import Fact, FactChange, Review
    from hexad.model.feedback import Feedback, Verdict
    from hexad.model.governance import DeleteReport, GcReport, SpaceInfo
    from hexad.model.honeycomb import (
        HoneycombEdge,
        HoneycombNode,
        HoneycombRules,
        HoneycombStats,
        JitContext,
        JitPiece,
        Safety,
    )
    from hexad.model.ingestion import IngestReport, Progress
    from hexad.model.layers import (
        EvidenceBlock,
        FusedContext,
        LayerPlan,
        LeftOut,
        MemoryItem,
        MemoryLayer,
        MemoryQuery,
        Plan,
        QueryClass,
        ScoredItem,
        TaskType,
        Weights,
    )
    from hexad.model.lifecycle import LifecycleContract, LimitSource
    from hexad.model.link import Link, Linked, LinkEnd
    from hexad.model.memory import Chunk, Citation, Memory, Outcome, Receipt, Relevance, Status, Trust, Turn
    from hexad.model.pressure import Amount, CompressionReport, CompressionStep, Stopped, StorageUsage
    from hexad.model.privacy import ExportItem, Scope, WipeReport
    from hexad.model.project_facts import Category, ComponentSummary, Detected, Finding, ProjectFact
    from hexad.model.quality import Flaw, MemoryQuality, QualityFinding
    from hexad.model.query import Dropped, Explanation, Hit, Hits, Replaced
    from hexad.model.query_text import QueryText, parse_query_text
    from hexad.model.source import Skip
    from hexad.model.spacefiles import (
        ExportReport,
        FileConflict,
        FolderReport,
        ReadReport,
        RestoreReport,
        Verified,
    )
    from hexad.model.spending import BudgetLine, Spent
    from hexad.model.status import MaintenanceReport, StoreStatus
    from hexad.model.tag import (
        BudStatus,
        Comment,
        Tag,
        TagApplication,
        TagSource,
        TagType,
        Target,
        TargetType,
    )
    from hexad.model.tiers import (
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
    from hexad.model.user import Expertise, Pattern, Preference, ProjectException, Suppression, UserRule
    from hexad.model.user_answers import LearnedChange, LearningReport, ResolvedPreference, Suggestion
    from hexad.model.working_set import (
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
        Workplace,
    )
    from hexad.observe import Span, listen
    from hexad.opening import open
    from hexad.providers.base import Embedder
    from hexad.providers.generator import Generator, Prompt, Reply
    from hexad.providers.orderings import ExternalOrdering
    from hexad.recall.hook import ContextHook
    from hexad.storage.exports import verify_export
    from hexad.text.instructions import instructions_in
    from hexad.upkeep.reindex import ReindexReport

__version__: Final = "0.1.0"

# Where each public name lives. They are loaded when first asked for, so that `import hexad` stays cheap.
_HOMES: Final = {
    "hexad.clock": ("Clock", "FrozenClock", "SystemClock"),
    "hexad.encrypting": ("decrypt", "encrypt", "encryption_state", "init", "rekey"),
    "hexad.engine": ("Hexad",),
    "hexad.errors": (
        "AccessDenied", "BudgetExceeded", "Conflict", "HexadError", "IntegrityError", "InvalidInput", "InvalidMemory",
        "InvalidSpace", "InvalidTarget", "LedgerBroken", "LimitExceeded", "NotFound", "ProviderError",
        "QuotaExceeded", "StorageFailure", "StoreLocked",
    ),
    "hexad.exporting": ("export_json",),
    "hexad.ids": ("IdSource", "TimeSortedIds"),
    "hexad.model.activity": ("ActivityBucket", "ActivityUnit", "ConceptActivity"),
    "hexad.model.actor": ("Actor",),
    "hexad.model.association": ("calculate_relevance", "cosine_similarity", "temporal_decay"),
    "hexad.model.bundle": ("Bundle", "KindList", "ProjectContext"),
    "hexad.model.consolidation": (
        "ConsolidationAction", "ConsolidationChange", "ConsolidationReport", "ConsolidationScope", "LayerSize",
        "LeftAlone",
    ),
    "hexad.model.contract": ("Spend",),
    "hexad.model.concept": ("PackReport",),
    "hexad.model.decision": ("Decision", "Why"),
    "hexad.model.document": (
        "CopiesReport", "CopyState", "Document", "DocumentType", "DocumentVersion", "WorkingCopy",
    ),
    "hexad.model.durability": ("StreamDurability",),
    "hexad.model.encryption": ("EncryptionProgress", "EncryptionReport", "EncryptionState"),
    "hexad.model.erasure": ("ErasureReceipt", "parse_receipt"),
    "hexad.model.experience": (
        "CompressionLevel", "EventType", "Fidelity", "SessionInfo", "StreamReport",
        "TimestepRecord",
    ),
    "hexad.model.facts": ("Fact", "FactChange", "Review"),
    "hexad.model.feedback": ("Feedback", "Verdict"),
    "hexad.model.project_facts": ("Category", "ComponentSummary", "Detected", "Finding", "ProjectFact"),
    "hexad.model.governance": ("DeleteReport", "GcReport", "SpaceInfo"),
    "hexad.experience.compression": ("compress_records",),
    "hexad.model.honeycomb": (
        "HoneycombEdge", "HoneycombNode", "HoneycombRules", "HoneycombStats", "JitContext", "JitPiece", "Safety",
    ),
    "hexad.model.lifecycle": ("LifecycleContract", "LimitSource"),
    "hexad.model.pressure": ("Amount", "CompressionReport", "CompressionStep", "Stopped", "StorageUsage"),
    "hexad.model.link": ("Link", "LinkEnd", "Linked"),
    "hexad.model.ingestion": ("IngestReport", "Progress"),
    "hexad.model.memory": (
        "Chunk", "Citation", "Memory", "Outcome", "Receipt", "Relevance", "Status", "Trust", "Turn",
    ),
    "hexad.model.privacy": ("ExportItem", "Scope", "WipeReport"),
    "hexad.model.layers": (
        "EvidenceBlock", "FusedContext", "LayerPlan", "LeftOut", "MemoryItem", "MemoryLayer", "MemoryQuery", "Plan",
        "QueryClass", "ScoredItem", "TaskType", "Weights",
    ),
    "hexad.facade.quality": ("export_quality",),
    "hexad.text.instructions": ("instructions_in",),
    "hexad.model.quality": ("Flaw", "MemoryQuality", "QualityFinding"),
    "hexad.model.query": ("Dropped", "Explanation", "Hit", "Hits", "Replaced"),
    "hexad.model.query_text": ("QueryText", "parse_query_text"),
    "hexad.model.source": ("Skip",),
    "hexad.model.spacefiles": (
        "ExportReport", "FileConflict", "FolderReport", "ReadReport", "RestoreReport", "Verified",
    ),
    "hexad.model.spending": ("BudgetLine", "Spent"),
    "hexad.model.status": ("MaintenanceReport", "StoreStatus"),
    "hexad.model.tag": (
        "BudStatus", "Comment", "Tag", "TagApplication", "TagSource", "TagType", "Target", "TargetType",
    ),
    "hexad.model.tiers": (
        "CompactionRecord", "CompactionTrigger", "CompressedRecord", "ContextEvent", "ContextWindow", "EventRecord",
        "Submission", "SubmissionStatus", "TimeWindow",
    ),
    "hexad.model.working_set": (
        "Boundary", "Edit", "OpenFile", "Resumable", "ScratchNote", "SessionState", "SessionTurn", "Substep", "TaskEnd",
        "WorkingSet", "Workplace",
    ),
    "hexad.model.user": (
        "Expertise", "Pattern", "Preference", "ProjectException", "Suppression", "UserRule",
    ),
    "hexad.model.user_answers": ("LearnedChange", "LearningReport", "ResolvedPreference", "Suggestion"),
    "hexad.observe": ("Span", "listen"),
    "hexad.opening": ("open",),
    "hexad.providers.base": ("Embedder",),
    "hexad.providers.generator": ("Generator", "Prompt", "Reply"),
    "hexad.providers.orderings": ("ExternalOrdering",),
    "hexad.recall.hook": ("ContextHook",),
    "hexad.storage.exports": ("verify_export",),
    "hexad.upkeep.reindex": ("ReindexReport",),
}  # fmt: skip
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AccessDenied", "ActivityBucket", "ActivityUnit", "Actor", "Amount", "Boundary", "BudStatus",
    "BudgetExceeded", "BudgetLine", "Bundle", "Category", "Chunk", "Citation", "Clock", "Comment",
    "CompactionRecord", "CompactionTrigger", "ComponentSummary", "CompressedRecord", "CompressionLevel",
    "CompressionReport", "CompressionStep", "ConceptActivity", "Conflict", "ConsolidationAction",
    "ConsolidationChange", "ConsolidationReport", "ConsolidationScope", "ContextEvent", "ContextHook",
    "ContextWindow", "CopiesReport", "CopyState", "Decision", "DeleteReport", "Detected", "Document",
    "DocumentType", "DocumentVersion", "Dropped", "Edit", "Embedder", "EncryptionProgress",
    "EncryptionReport", "EncryptionState", "ErasureReceipt", "EventRecord", "EventType",
    "EvidenceBlock", "Expertise", "Explanation", "ExportItem", "ExportReport", "ExternalOrdering",
    "Fact", "FactChange", "Feedback", "Fidelity", "FileConflict", "Finding", "Flaw", "FolderReport",
    "FrozenClock", "FusedContext", "GcReport", "Generator", "Hexad", "HexadError", "Hit", "Hits",
    "HoneycombEdge", "HoneycombNode", "HoneycombRules", "HoneycombStats", "IdSource", "IngestReport",
    "IntegrityError", "InvalidInput", "InvalidMemory", "InvalidSpace", "InvalidTarget", "JitContext",
    "JitPiece", "KindList", "LayerPlan", "LayerSize", "LearnedChange", "LearningReport", "LedgerBroken",
    "LeftAlone", "LeftOut", "LifecycleContract", "LimitExceeded", "LimitSource", "Link", "LinkEnd",
    "Linked", "MaintenanceReport", "Memory", "MemoryItem", "MemoryLayer", "MemoryQuality",
    "MemoryQuery", "NotFound", "OpenFile", "Outcome", "PackReport", "Pattern", "Plan", "Preference",
    "Progress", "ProjectContext", "ProjectException", "ProjectFact", "Prompt", "ProviderError",
    "QualityFinding", "QueryClass", "QueryText", "QuotaExceeded", "ReadReport", "Receipt",
    "ReindexReport", "Relevance", "Replaced", "Reply", "ResolvedPreference", "RestoreReport",
    "Resumable", "Review", "Safety", "Scope", "ScoredItem", "ScratchNote", "SessionInfo",
    "SessionState", "SessionTurn", "Skip", "SpaceInfo", "Span", "Spend", "Spent", "Status", "Stopped",
    "StorageFailure", "StorageUsage", "StoreLocked", "StoreStatus", "StreamDurability", "StreamReport",
    "Submission", "SubmissionStatus", "Substep", "Suggestion", "Suppression", "SystemClock", "Tag",
    "TagApplication", "TagSource", "TagType", "Target", "TargetType", "TaskEnd", "TaskType",
    "TimeSortedIds", "TimeWindow", "TimestepRecord", "Trust", "Turn", "UserRule", "Verdict", "Verified",
    "Weights", "Why", "WipeReport", "WorkingCopy", "WorkingSet", "Workplace", "__version__",
    "calculate_relevance", "compress_records", "cosine_similarity", "decrypt", "encrypt",
    "encryption_state", "export_json", "export_quality", "init", "instructions_in", "listen", "open",
    "parse_query_text", "parse_receipt", "rekey", "temporal_decay", "verify_export",
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
