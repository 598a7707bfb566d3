"""Written by docs/awaited_stub.py from the calls of an open store; do not edit."""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack, overload

from hexad.code_graph.values import CodeAnswer, CodeIndexReport, CodeOverview
from hexad.core.actor import Actor
from hexad.core.clock import Clock
from hexad.core.erasure import ErasureReceipt
from hexad.core.event_types import EventType
from hexad.core.ids import IdSource
from hexad.core.json_types import JSONValue
from hexad.experience.recording.batches import Rows
from hexad.experience.summaries import Inference
from hexad.experience.values.contract import LifecycleContract
from hexad.experience.values.documents import (
    CopiesReport,
    Document,
    DocumentType,
    DocumentVersion,
    RemovedDocument,
    WorkingCopy,
)
from hexad.experience.values.levels import CompressionLevel, Fidelity
from hexad.experience.values.losses import LostSegment
from hexad.experience.values.pressure import CompressionReport, SessionTotals, StorageUsage
from hexad.experience.values.records import (
    ActivityBucket,
    ActivityUnit,
    SessionInfo,
    StreamAnswer,
    StreamReport,
    TimestepRecord,
    Timesteps,
)
from hexad.experience.values.tags import BudStatus, Comment, PackReport, Tag, TagApplication, TagType
from hexad.experience.values.tiers import (
    CompactionRecord,
    CompressedRecord,
    ContextWindow,
    EventRecord,
    Submission,
    SubmissionStatus,
    TimeWindow,
)
from hexad.honeycomb.values import (
    HoneycombEdge,
    HoneycombNode,
    HoneycombRules,
    HoneycombStats,
    JitContext,
    Safety,
)
from hexad.ingest.report import IngestReport, Progress
from hexad.ingest.sources.checkout import Workplace
from hexad.ingest.structured_calls import OptionsText, RawOptions, StructuredOptions
from hexad.layers.contract import FusedContext, MemoryItem, Plan, ScoredItem
from hexad.layers.project.values import (
    ComponentSummary,
    Detected,
    ProjectFact,
)
from hexad.layers.session.working_set import Resumable, WorkingSet
from hexad.layers.user.layer import UserStatement
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
from hexad.lifecycle.opening import EmbedderSpec
from hexad.maintenance.consolidation.values import ConsolidationReport
from hexad.maintenance.quality import MemoryQuality
from hexad.maintenance.reindex import ReindexReport
from hexad.maintenance.status import MaintenanceReport, StoreStatus
from hexad.memory.decision import (
    Decision,
    Why,
)
from hexad.memory.fact import (
    Fact,
    FactChange,
    Review,
)
from hexad.memory.feedback import Feedback, FeedbackStats
from hexad.memory.link import Link
from hexad.memory.memory import Citation, Memory, Trust
from hexad.memory.query import Hits
from hexad.memory.space import DeleteReport, GcReport, SpaceInfo
from hexad.privacy.report import ExportItem, WipeReport
from hexad.providers.embedders.base import Embedder
from hexad.providers.generators.base import GeneratorSpec
from hexad.providers.rerankers import RerankSpec
from hexad.providers.spending import BudgetLine
from hexad.spaces.bundles.bundle import Bundle, KindList, ProjectContext
from hexad.spaces.bundles.hook import Topic
from hexad.spaces.bundles.options import GivenOptions
from hexad.spaces.bundles.orderings.external import OrderingSpec
from hexad.spaces.files.report import ExportReport, FolderReport, ReadReport, RestoreReport, Verified

class Opening:
    def __await__(self) -> Generator[Any, None, AsyncHexad]: ...
    async def __aenter__(self) -> AsyncHexad: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class BoundSessionProxy:
    id: str
    async def record(
        self,
        event_type: EventType | str,
        content: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        event_id: str | None = None,
        event_start: bool = False,
        event_end: bool = False,
        token_id: int | None = None,
        role: str | None = None,
        token_count: int | None = None,
    ) -> str: ...
    async def on_input(
        self, content: str, role: str, concept_activations: Mapping[str, float] | None = None
    ) -> str: ...
    async def on_output_token(
        self, token: str, token_id: int, concept_activations: Mapping[str, float] | None = None
    ) -> str: ...
    async def record_many(self, rows: Rows) -> list[str]: ...
    async def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Timesteps: ...
    async def recall_by_concept(
        self, concept_id: str, *, min_activation: float = ..., limit: int = 100
    ) -> Timesteps: ...
    async def recall_surprising(self, *, limit: int = 50) -> Timesteps: ...
    async def recall_events(
        self,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> StreamAnswer[EventRecord]: ...
    async def activity(
        self,
        *,
        by: ActivityUnit | str = "hour",
        concepts: Sequence[str] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 1000,
    ) -> StreamAnswer[ActivityBucket]: ...
    async def compressed_records(
        self,
        *,
        level: CompressionLevel | str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[CompressedRecord]: ...
    async def tag(
        self,
        tag_name_or_id: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        confidence: float = 1.0,
        note: str | None = None,
    ) -> str: ...
    async def tag_applications(
        self, tag_name_or_id: str, *, limit: int = 100, offset: int = 0
    ) -> list[TagApplication]: ...
    async def comment(
        self,
        content: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
    ) -> str: ...
    async def get_context_state(self, session_id: str | None = None) -> dict[str, JSONValue]: ...
    async def request_compaction(self, session_id: str | None = None) -> CompactionRecord | None: ...
    async def compactions(
        self, session_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[CompactionRecord]: ...
    async def context(self, session_id: str | None = None) -> ContextWindow: ...
    async def pin_window(self, tick_range: Sequence[int], *, reason: str | None = None) -> TimeWindow: ...
    async def windows(
        self,
        *,
        tick_range: tuple[int, int] | None = None,
        fidelity: Fidelity | str | None = None,
        pinned: bool | None = None,
    ) -> list[TimeWindow]: ...
    async def get_comments_for_range(self, start_tick: int, end_tick: int) -> list[Comment]: ...
    async def end(self) -> None: ...

class SessionHandleProxy:
    id: str
    @property
    def current(self) -> Awaitable[WorkingSet]: ...
    async def set_task(self, task: str | None, *, steps: Iterable[str] = ...) -> WorkingSet: ...
    async def set_ticket(self, ticket: str | None) -> WorkingSet: ...
    async def add_steps(self, *steps: str) -> WorkingSet: ...
    async def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet: ...
    async def open_file(
        self, path: str, *, line: int | None = None, column: int | None = None
    ) -> WorkingSet: ...
    async def close_file(self, path: str) -> WorkingSet: ...
    async def record_edit(
        self, path: str, *, line: int | None = None, summary: str | None = None
    ) -> WorkingSet: ...
    async def add_turn(self, role: str, text: str) -> WorkingSet: ...
    async def note(self, text: str) -> WorkingSet: ...
    async def clear_notes(self) -> WorkingSet: ...
    async def snapshot(self) -> WorkingSet: ...
    async def end(self, outcome: str | None = None) -> WorkingSet: ...

class AsyncSpacesFacade:
    async def create(
        self,
        name: str,
        metadata: Mapping[str, JSONValue] | str | None = None,
        *,
        reset: bool = False,
        freeze_clock: datetime | str | None = None,
    ) -> SpaceInfo: ...
    async def list(self) -> Sequence[SpaceInfo]: ...
    async def get(self, name: str) -> SpaceInfo: ...
    async def set_metadata(
        self, name: str, metadata: Mapping[str, JSONValue] | str, *, merge: bool = False
    ) -> SpaceInfo: ...
    async def budget(self, name: str | None = None) -> Sequence[BudgetLine]: ...
    async def set_policy(
        self, name: str, policy: Mapping[str, JSONValue] | str, *, merge: bool = False
    ) -> SpaceInfo: ...
    async def gc(
        self,
        name: str,
        *,
        ttl_days: float | None = None,
        dry_run: bool = False,
        purge: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> GcReport: ...
    async def delete(self, name: str, *, dry_run: bool = False) -> DeleteReport: ...
    async def write_file(self, name: str, *, progress: Callable[[int], None] | None = None) -> Path: ...
    async def read_file(
        self,
        file: str | Path,
        *,
        name: str | None = None,
        dry_run: bool = False,
        trust: Trust | str | None = None,
        policies: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ReadReport: ...
    async def read_folder(
        self,
        folder: str | Path,
        *,
        format: str = "lexon",
        trust: Trust | str | None = None,
        policies: bool = False,
    ) -> FolderReport: ...
    async def export(
        self,
        name: str,
        out: str | Path | None = None,
        *,
        include_archived: bool = True,
        force: bool = False,
        freeze_clock: datetime | str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ExportReport: ...
    async def verify(self, file: str | Path, *, trusted_key: str | None = None) -> Verified: ...
    async def restore(
        self,
        file: str | Path,
        *,
        name: str | None = None,
        trusted_key: str | None = None,
        dry_run: bool = False,
        merge: bool = False,
        trust: Trust | str | None = None,
        policies: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> RestoreReport: ...

class AsyncQuarantineFacade:
    async def list(self, *, space: str | None = None, limit: int | None = None) -> Sequence[Memory]: ...
    async def count(self, *, space: str | None = None) -> int: ...
    async def get(self, memory_id: str) -> Memory: ...
    async def sentences(self, memory_id: str) -> Sequence[str]: ...
    async def release(
        self, memory_id: str, *, why: str, by: str | None = None, overrule: bool = False
    ) -> Memory: ...
    async def reject(self, memory_id: str, *, why: str, by: str | None = None) -> Memory: ...

class AsyncSessionFacade:
    @property
    def current(self) -> Awaitable[WorkingSet | None]: ...
    def handle(self, session_id: str | None = None) -> SessionHandleProxy: ...
    async def start(
        self,
        task: str | None = None,
        *,
        ticket: str | None = None,
        steps: Iterable[str] = ...,
        fresh: bool = False,
        folder: str | Path | None = None,
        session_id: str | None = None,
        data_subjects: Iterable[str] = ...,
    ) -> WorkingSet: ...
    async def resumable(self, *, folder: str | Path | None = None) -> Resumable | None: ...
    async def resume(
        self, session_id: str | None = None, *, folder: str | Path | None = None, shared: bool = False
    ) -> WorkingSet: ...
    async def set_task(self, task: str | None, *, steps: Iterable[str] = ...) -> WorkingSet: ...
    async def set_ticket(self, ticket: str | None) -> WorkingSet: ...
    async def add_steps(self, *steps: str) -> WorkingSet: ...
    async def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet: ...
    async def open_file(
        self, path: str, *, line: int | None = None, column: int | None = None
    ) -> WorkingSet: ...
    async def close_file(self, path: str) -> WorkingSet: ...
    async def record_edit(
        self, path: str, *, line: int | None = None, summary: str | None = None
    ) -> WorkingSet: ...
    async def add_turn(self, role: str, text: str) -> WorkingSet: ...
    async def note(self, text: str) -> WorkingSet: ...
    async def clear_notes(self) -> WorkingSet: ...
    async def snapshot(self) -> WorkingSet: ...
    async def end(self, outcome: str | None = None) -> WorkingSet: ...
    async def place(self, folder: str | Path | None = None) -> Workplace: ...
    async def get(self, session_id: str) -> WorkingSet: ...
    async def list(
        self,
        *,
        folder: str | Path | None = None,
        everywhere: bool = True,
        ended: bool | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[WorkingSet]: ...
    async def tend(self) -> int: ...

class AsyncProjectFacade:
    async def remember(
        self,
        *,
        category: str,
        key: str,
        value: JSONValue,
        importance: float | None = None,
        confidence: float | None = None,
        component: str | None = None,
        links: Iterable[str] = ...,
        tags: Iterable[str] | None = None,
        valid_from: datetime | str | None = None,
        trust: str = "user",
        space: str = ...,
    ) -> ProjectFact: ...
    async def remember_decision(
        self,
        title: str,
        *,
        key: str | None = None,
        description: str = "",
        rationale: str = "",
        alternatives: Iterable[JSONValue] = ...,
        links: Iterable[str] = ...,
        by: str | None = None,
        supersedes: str | None = None,
        component: str | None = None,
        importance: float = ...,
        tags: Iterable[str] | None = None,
        space: str | None = None,
    ) -> Decision: ...
    async def remember_component(
        self, name: str, summary: str, *, files: Iterable[str] = ..., space: str = ...
    ) -> ComponentSummary: ...
    async def observe(
        self,
        *,
        category: str,
        key: str,
        value: JSONValue,
        seen_in: Iterable[str] = ...,
        confidence: float = ...,
        component: str | None = None,
        space: str = ...,
    ) -> ProjectFact | None: ...
    async def confirm(
        self, category: str, key: str, *, component: str | None = None, space: str = ...
    ) -> ProjectFact: ...
    async def done(
        self, key: str, *, component: str | None = None, space: str | None = None
    ) -> ProjectFact: ...
    async def detect(
        self, root: str | Path | None = None, *, space: str = ..., dry_run: bool = False
    ) -> Detected: ...
    async def forget_detected(self, *, space: str = ..., dry_run: bool = False) -> list[ProjectFact]: ...
    async def get(
        self,
        category: str | None = None,
        *,
        key: str | None = None,
        component: str | None = None,
        min_confidence: float = 0.0,
        drafts: bool = True,
        space: str | None = ...,
        limit: int = 200,
    ) -> list[ProjectFact]: ...
    async def get_patterns(self, *, min_confidence: float = 0.0, space: str = ...) -> list[ProjectFact]: ...
    async def get_conventions(
        self, *, min_confidence: float = 0.0, space: str = ...
    ) -> list[ProjectFact]: ...
    async def get_todos(
        self, *, component: str | None = None, space: str | None = None
    ) -> list[ProjectFact]: ...
    async def get_decisions(
        self, *, in_force: bool | None = True, space: str | None = None, limit: int = 50
    ) -> list[Decision]: ...
    async def get_tech_stack(
        self, *, component: str | None = None, min_confidence: float = 0.0, space: str = ...
    ) -> dict[str, ProjectFact]: ...
    async def components(self, *, space: str = ...) -> list[ComponentSummary]: ...
    async def component(self, name: str, *, space: str = ...) -> ComponentSummary: ...

class AsyncUserFacade:
    async def observe(
        self, description: str, *, antipattern: bool = False, delta_evidence: int = 1
    ) -> Pattern: ...
    async def patterns(self, pattern_type: str | None = None) -> list[Pattern]: ...
    async def set_expertise(self, area: str, level: str, *, source: str = "explicit") -> Expertise: ...
    async def expertise(self, area: str | None = None) -> list[Expertise]: ...
    async def add_rule(self, text: str) -> UserRule: ...
    async def rules(self) -> list[UserRule]: ...
    async def forget(self, row_id: str) -> None: ...
    async def counts(self) -> Mapping[str, int]: ...
    async def wipe(self, *, confirm: bool = False, dry_run: bool = False) -> Mapping[str, int]: ...
    async def rescore(self, *, dry_run: bool = False) -> tuple[LearnedChange, ...]: ...
    async def check(self) -> list[str]: ...
    async def prefer(self, key: str, value: str, *, also: bool = False) -> Preference: ...
    async def update_preference(
        self,
        *,
        key: str,
        value: JSONValue,
        source: str = "inferred",
        delta_evidence: int = 1,
        idempotency_key: str | None = None,
    ) -> Preference: ...
    async def preferences(
        self, key: str | None = None, *, source: str | None = None, min_confidence: float = 0.0
    ) -> list[Preference]: ...
    async def preference(self, key: str) -> ResolvedPreference | None: ...
    async def accept(self, key: str, value: str, *, idempotency_key: str | None = None) -> Preference: ...
    async def reject(self, key: str, value: str, *, idempotency_key: str | None = None) -> Preference: ...
    async def suggestions(self, *, limit: int = 10) -> list[Suggestion]: ...
    async def offer(self, *, limit: int = 3) -> str | None: ...
    async def suppress(self, value: str, *, key: str | None = None, here: bool = False) -> Suppression: ...
    async def allow(self, value: str, *, key: str | None = None) -> int: ...
    async def suppressions(self) -> list[Suppression]: ...
    async def exception(self, key: str, value: str, *, reason: str) -> ProjectException: ...
    async def exceptions(self, *, everywhere: bool = False) -> list[ProjectException]: ...
    async def learn(self, *, dry_run: bool = False) -> LearningReport: ...
    async def retract(self, *, everything: bool = False) -> int: ...
    async def stated(self) -> Sequence[UserStatement]: ...

class AsyncGovernanceFacade:
    async def decide(
        self,
        title: str,
        *,
        description: str = "",
        rationale: str = "",
        alternatives: Iterable[JSONValue] = ...,
        links: Iterable[str] = ...,
        by: str | None = None,
        key: str | None = None,
        supersedes: str | None = None,
        depends_on: Iterable[str] = ...,
        space: str | None = None,
        tags: Iterable[str] | None = None,
        importance: float = ...,
        trust: str = "user",
    ) -> Decision: ...
    async def supersede(self, old: str, title: str, **given: object) -> Decision: ...
    async def get(self, id: str) -> Decision: ...
    async def history(self, id: str) -> list[Decision]: ...
    async def query(
        self,
        text: str | None = None,
        *,
        space: str | None = None,
        project: str | None = None,
        by: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        in_force: bool | None = None,
        tags: Sequence[str] | None = None,
        limit: int = 50,
    ) -> list[Decision]: ...
    async def why(self, topic: str, *, space: str | None = None, limit: int = 5) -> Why: ...

class AsyncFactsFacade:
    async def current(
        self, subject: str | None = None, attribute: str | None = None, *, space: str | None = None
    ) -> list[Fact]: ...
    async def as_of(
        self,
        when: datetime | str,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        space: str | None = None,
        known_at: datetime | str | None = None,
    ) -> list[Fact]: ...
    async def history(
        self, subject: str | None = None, attribute: str | None = None, *, space: str | None = None
    ) -> list[Fact]: ...
    async def what_changed(
        self, since: datetime | str, until: datetime | str | None = None, *, space: str | None = None
    ) -> list[FactChange]: ...
    async def contradictions(self, *, space: str | None = None) -> list[tuple[Fact, Fact]]: ...
    async def needs_review(self, *, space: str | None = None) -> list[Review]: ...
    async def reviewed(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    async def declare(self, attribute: str, *, many: bool = True) -> None: ...
    async def declared(self) -> list[str]: ...

class AsyncHoneycombFacade:
    async def configure(
        self, **changes: float | timedelta | tuple[timedelta | None, ...]
    ) -> HoneycombRules: ...
    async def add_node(
        self, text: str, embedding: Iterable[float] | None = None, *, format: str = ...
    ) -> int: ...
    async def add_nodes(
        self, nodes: Iterable[tuple[str, Iterable[float] | None]], *, format: str = ...
    ) -> list[int]: ...
    async def get(self, node: int | str, *, session: str | None = None) -> HoneycombNode: ...
    async def remove(self, node: int) -> None: ...
    async def deactivate(self, node: int | str) -> None: ...
    async def activate(self, node: int | str) -> None: ...
    async def insert(
        self, focus: int | str, node: int | str, *, relation: str | None = None, score: float | None = None
    ) -> HoneycombEdge: ...
    async def insert_many(
        self,
        pairs: Iterable[tuple[int | str, int | str]],
        *,
        relation: str | None = None,
        score: float | None = None,
    ) -> list[HoneycombEdge]: ...
    async def neighbors(self, node: int | str) -> list[HoneycombEdge]: ...
    async def overflow(self, node: int | str) -> list[HoneycombEdge]: ...
    async def find_most_relevant(
        self, query: str | Iterable[float], *, limit: int = 1, scope: str = "all"
    ) -> list[tuple[int, float]]: ...
    async def jit_context(
        self,
        query: str | Iterable[float] | None = None,
        max_tokens: int = ...,
        *,
        start: int | str | None = None,
        entries: int = 1,
        threshold: float | None = None,
        relations: Sequence[str] | None = None,
        overflow: bool = True,
        walk: str | None = None,
        scope: str = "all",
        space: str | None = None,
        session: str | None = None,
    ) -> JitContext: ...
    async def start_session(self, session: str | None = None) -> None: ...
    async def access(self, node: int | str, *, session: str | None = None) -> Safety: ...
    async def check_safety(self, node: int | str, *, session: str | None = None) -> Safety: ...
    async def stats(self) -> HoneycombStats: ...

class AsyncCodeGraphFacade:
    async def index(
        self,
        folder: str | Path | None = None,
        *,
        space: str = "default",
        progress: Callable[[Progress], None] | None = None,
    ) -> CodeIndexReport: ...
    async def query(
        self,
        question: str,
        target: str,
        *,
        to: str | None = None,
        depth: int = 1,
        limit: int = 50,
        space: str | None = None,
    ) -> CodeAnswer: ...
    async def impact(
        self, target: str, *, depth: int = 1, limit: int = 50, space: str | None = None
    ) -> CodeAnswer: ...
    async def show(self, *, space: str | None = None) -> CodeOverview: ...

class AsyncXdb:
    documents: AsyncDocumentRepository
    async def session(self, session_id: str) -> BoundSessionProxy: ...
    async def start_session(
        self,
        session_id: str,
        max_context_tokens: int | None = None,
        *,
        compaction: bool | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> BoundSessionProxy: ...
    async def end_session(self, *, session_id: str | None = None) -> None: ...
    async def sessions(self) -> list[SessionInfo]: ...
    async def session_totals(self) -> SessionTotals: ...
    async def get_state(self) -> dict[str, JSONValue]: ...
    async def seal(self) -> StreamReport: ...
    async def record(
        self,
        event_type: EventType | str,
        content: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        event_id: str | None = None,
        event_start: bool = False,
        event_end: bool = False,
        token_id: int | None = None,
        role: str | None = None,
        token_count: int | None = None,
        session_id: str | None = None,
    ) -> str: ...
    async def on_input(
        self,
        content: str,
        role: str,
        concept_activations: Mapping[str, float] | None = None,
        *,
        session_id: str | None = None,
    ) -> str: ...
    async def on_output_token(
        self,
        token: str,
        token_id: int,
        concept_activations: Mapping[str, float] | None = None,
        *,
        session_id: str | None = None,
    ) -> str: ...
    async def record_many(self, rows: Rows, *, session_id: str | None = None) -> list[str]: ...
    async def flush(self) -> None: ...
    async def recall(
        self,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        text_search: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        session_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Timesteps: ...
    async def recall_by_concept(
        self, concept_id: str, *, min_activation: float = ..., session_id: str | None = None, limit: int = 100
    ) -> Timesteps: ...
    async def recall_surprising(self, *, session_id: str | None = None, limit: int = 50) -> Timesteps: ...
    async def get_timestep(self, timestep_id: str) -> TimestepRecord | None: ...
    async def recall_events(
        self,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        match: Literal["all", "any"] = "all",
        concepts: Mapping[str, tuple[float, float]] | Sequence[str] | None = None,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        event_types: Sequence[EventType | str] | None = None,
        event_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> StreamAnswer[EventRecord]: ...
    async def activity(
        self,
        *,
        by: ActivityUnit | str = "hour",
        concepts: Sequence[str] | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 1000,
    ) -> StreamAnswer[ActivityBucket]: ...
    async def get_compressed_record(self, record_id: str) -> CompressedRecord | None: ...
    async def compressed_records(
        self,
        *,
        level: CompressionLevel | str | None = None,
        session_id: str | None = None,
        time_range: tuple[datetime | str | None, datetime | str | None] | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[CompressedRecord]: ...
    async def tag(
        self,
        tag_name_or_id: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        confidence: float = 1.0,
        note: str | None = None,
        session_id: str | None = None,
    ) -> str: ...
    async def untag(self, application_id: str) -> None: ...
    async def remove_tag(self, tag_name_or_id: str, *, force: bool = False) -> int: ...
    async def tag_applications(
        self, tag_name_or_id: str, *, session_id: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[TagApplication]: ...
    async def get_tags_for_timestep(self, timestep_id: str, *, inherited: bool = False) -> list[Tag]: ...
    async def get_applications_for_timestep(
        self, timestep_id: str, *, inherited: bool = False
    ) -> list[TagApplication]: ...
    async def find_tags(
        self,
        *,
        name_pattern: str | None = None,
        tag_type: TagType | str | None = None,
        bud_status: BudStatus | str | None = None,
        entity_type: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Tag]: ...
    async def create_entity_tag(
        self, name: str, entity_type: str, *, description: str | None = None
    ) -> Tag: ...
    async def load_concept_pack(self, path: Path | str) -> PackReport: ...
    async def browse_concepts(self, parent_concept_id: str | None = None) -> list[Tag]: ...
    async def find_concept(self, query: str, *, limit: int = 100) -> list[Tag]: ...
    async def create_bud_tag(
        self, name: str, description: str, *, related_concepts: Sequence[str] | None = None
    ) -> Tag: ...
    async def get_buds(self, status: BudStatus | str | None = None) -> list[Tag]: ...
    async def get_bud_examples(
        self, bud_tag_id: str, *, limit: int = 100, offset: int = 0
    ) -> list[TimestepRecord]: ...
    async def promote_to_bud(self, tag_id: str) -> Tag: ...
    async def mark_bud_ready(self, bud_tag_id: str) -> Tag: ...
    async def update_bud_status(self, bud_tag_id: str, status: BudStatus | str) -> Tag: ...
    async def comment(
        self,
        content: str,
        *,
        timestep_id: str | None = None,
        event_id: str | None = None,
        tick_range: Sequence[int] | None = None,
        session_id: str | None = None,
    ) -> str: ...
    async def edit_comment(self, comment_id: str, content: str) -> Comment: ...
    async def get_comment(self, comment_id: str) -> Comment: ...
    async def remove_comment(self, comment_id: str) -> None: ...
    async def get_comments_for_range(
        self, session_id: str, start_tick: int, end_tick: int
    ) -> list[Comment]: ...
    async def get_document(self, path: str) -> Document | None: ...
    async def remove_document(self, path_or_id: str, *, purge: bool = False) -> RemovedDocument: ...
    async def restore_document(self, path_or_id: str) -> Document: ...
    async def search_documents(
        self, query: str, *, doc_type: DocumentType | str | None = None, limit: int = 100
    ) -> list[Document]: ...
    async def list_documents(self, doc_type: DocumentType | str | None = None) -> list[Document]: ...
    async def get_context_state(self, session_id: str | None = None) -> dict[str, JSONValue]: ...
    async def get_context_states(
        self, session_ids: Sequence[str] | None = None
    ) -> list[dict[str, JSONValue]]: ...
    async def request_compaction(self, session_id: str | None = None) -> CompactionRecord | None: ...
    async def compactions(
        self, session_id: str | None = None, *, limit: int = 100, offset: int = 0
    ) -> list[CompactionRecord]: ...
    async def context(self, session_id: str | None = None) -> ContextWindow: ...
    async def set_summarizer(self, inference: Inference | None) -> None: ...
    async def pin_window(
        self, tick_range: Sequence[int], *, session_id: str | None = None, reason: str | None = None
    ) -> TimeWindow: ...
    async def unpin_window(self, window_id: str) -> TimeWindow: ...
    async def get_window(self, window_id: str) -> TimeWindow: ...
    async def windows(
        self,
        *,
        session_id: str | None = None,
        tick_range: tuple[int, int] | None = None,
        fidelity: Fidelity | str | None = None,
        pinned: bool | None = None,
    ) -> list[TimeWindow]: ...
    async def get_windows_for_tag(self, tag_name_or_id: str) -> list[TimeWindow]: ...
    async def warm_tokens(self) -> int: ...
    async def submit_graft(self, bud_tag_id: str, submission_id: str) -> list[str]: ...
    async def resolve_submission(self, submission_id: str, accepted: bool) -> Submission: ...
    async def get_submission(self, submission_id: str) -> Submission: ...
    async def submissions(self, status: SubmissionStatus | str | None = None) -> list[Submission]: ...
    async def get_windows_for_submission(self, submission_id: str) -> list[TimeWindow]: ...
    async def export_submission(self, submission_id: str, out: Path | str | None = None) -> Path: ...
    async def verify_export(self, submission_id_or_path: str | Path) -> list[str]: ...
    async def usage(self) -> StorageUsage: ...
    async def check_and_compress(
        self, *, max_storage_bytes: int | None = None, compression_threshold: float | None = None
    ) -> CompressionReport: ...
    async def accept_lost_segment(self, segment: str, *, confirm: bool = False) -> LostSegment: ...
    async def lost_segments(self) -> list[LostSegment]: ...
    async def set_contract(self, contract: Mapping[str, object] | str | Path | None) -> LifecycleContract: ...

class AsyncDocumentRepository:
    async def add_document(
        self,
        name: str,
        content: str,
        doc_type: DocumentType | str,
        *,
        path: str | None = None,
        tags: Iterable[str] = ...,
        version: str | None = None,
        source: str | None = None,
        summary: str | None = None,
        data_subjects: Iterable[str] = ...,
    ) -> Document: ...
    async def update_document(
        self,
        doc_id: str,
        content: str,
        *,
        version: str | None = None,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        source: str | None = None,
        data_subjects: Iterable[str] | None = None,
    ) -> Document: ...
    async def remove_document(self, path_or_id: str, *, purge: bool = False) -> RemovedDocument: ...
    async def restore_document(self, path_or_id: str) -> Document: ...
    async def removed_documents(self) -> list[RemovedDocument]: ...
    async def get_document(self, doc_id: str) -> Document | None: ...
    async def get_by_path(self, path: str) -> Document | None: ...
    async def versions(self, doc_id: str) -> list[DocumentVersion]: ...
    async def search(
        self,
        *,
        text_query: str | None = None,
        doc_type: DocumentType | str | None = None,
        tags: Iterable[str] | None = None,
        match: Literal["all", "any"] = "all",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Document]: ...
    async def list_by_type(self, doc_type: DocumentType | str) -> list[Document]: ...
    async def all(self) -> list[Document]: ...
    async def count(self) -> int: ...
    async def file(self, doc_id: str) -> Path: ...
    async def copies(self) -> list[WorkingCopy]: ...
    async def write_copies(self) -> list[str]: ...
    async def read_copies(self) -> CopiesReport: ...

class _AsyncCalls:
    spaces: AsyncSpacesFacade
    quarantine: AsyncQuarantineFacade
    session: AsyncSessionFacade
    project: AsyncProjectFacade
    user: AsyncUserFacade
    governance: AsyncGovernanceFacade
    facts: AsyncFactsFacade
    honeycomb: AsyncHoneycombFacade
    graph: AsyncCodeGraphFacade
    xdb: AsyncXdb
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    async def close(self) -> None: ...
    def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> AsyncIterator[ExportItem]: ...
    @overload
    async def remember(
        self,
        text: str,
        *,
        space: str = "default",
        kind: str | None = None,
        path: str | None = None,
        id: str | None = None,
        source_id: str | None = None,
        tags: Iterable[str] | None = None,
        pinned: bool | None = None,
        relevance: str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        trust: str = "user",
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        subject: str | None = None,
        attribute: str | None = None,
        value: JSONValue = None,
        citations: Iterable[Citation] | None = None,
        cites: Iterable[str] | None = None,
        data_subjects: Iterable[str] | None = None,
        derived_from: Iterable[str] | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        project: str | None = None,
        freeze_clock: datetime | str | None = None,
    ) -> Memory: ...
    @overload
    async def remember(
        self,
        text: Sequence[Mapping[str, object]],
        *,
        conversation: str | None = None,
        space: str = "default",
        tags: Iterable[str] | None = None,
        trust: str = "user",
        data_subjects: Iterable[str] | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        project: str | None = None,
        freeze_clock: datetime | str | None = None,
    ) -> list[Memory]: ...
    async def remember_structured(
        self,
        space: str,
        payload: Mapping[str, JSONValue] | str,
        options: OptionsText = None,
        **given: Unpack[StructuredOptions],
    ) -> Memory: ...
    async def remember_raw(
        self, space: str, kind: str, raw: str, options: OptionsText = None, **given: Unpack[RawOptions]
    ) -> Memory: ...
    async def ingest(
        self,
        source: str | Path,
        *,
        space: str = "default",
        kind: str | None = None,
        tags: Iterable[str] = ...,
        trust: str = "tool",
        project: str | None = None,
        embed: bool | None = None,
        dry_run: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport: ...
    async def enqueue(
        self, source: str | Path, *, space: str = "default", tags: Iterable[str] = ...
    ) -> None: ...
    async def recall(
        self,
        query: str,
        *,
        space: str | Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        layers: Iterable[str] | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        explain: bool = False,
        semantic: bool | None = None,
        rerank: bool | None = None,
        min_relevance: float | None = None,
        follow_links: bool = False,
        association: float = 0.0,
        feedback: bool = True,
    ) -> Hits: ...
    async def plan(
        self,
        query: str,
        *,
        max_tokens: int = 2000,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        model: str | None = None,
        plain: bool = True,
    ) -> Plan: ...
    async def context(
        self,
        task: str,
        max_tokens: int = 2000,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        *,
        format: str | None = None,
        details: bool = True,
        space: str | Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        wait: bool = False,
        model: str | None = None,
        plain: bool = True,
        without: Iterable[str] = ...,
    ) -> FusedContext: ...
    async def query(
        self,
        text: str,
        *,
        limit: int = 20,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        plain: bool = True,
    ) -> tuple[ScoredItem, ...]: ...
    async def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem: ...
    async def feedback(
        self, what: object, verdict: str, *, query: str | None = None, note: str | None = None
    ) -> Feedback: ...
    async def feedbacks(self, what: object | None = None, *, limit: int | None = None) -> list[Feedback]: ...
    async def feedback_stats(self, *, limit: int | None = 10) -> FeedbackStats: ...
    async def retract_feedback(self, id: str) -> Feedback: ...
    async def recall_context(
        self, space: str, topic: str, options: GivenOptions = None, **more: object
    ) -> Bundle: ...
    async def recall_kind(
        self, space: str, kind: str, options: GivenOptions = None, **more: object
    ) -> KindList: ...
    async def use_context(
        self,
        project: str,
        topic: Topic,
        options: GivenOptions = None,
        *,
        deadline_ms: int | None = None,
        **more: object,
    ) -> ProjectContext: ...
    async def get(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    async def memories(
        self,
        *,
        space: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        text: str | None = None,
        pinned: bool | None = None,
        status: str | None = "active",
        order: str = "updated",
        limit: int | None = 50,
        offset: int = 0,
    ) -> list[Memory]: ...
    async def count(
        self,
        *,
        space: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        text: str | None = None,
        pinned: bool | None = None,
        status: str | None = "active",
    ) -> int: ...
    async def history(
        self, id_or_path: str, *, space: str | None = None
    ) -> Sequence[Mapping[str, JSONValue]]: ...
    async def near_duplicates(
        self, id_or_path: str, *, space: str | None = None
    ) -> Sequence[tuple[str, float]]: ...
    async def restore(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    async def pin(self, *names: str, space: str | None = None) -> Memory: ...
    async def unpin(self, *names: str, space: str | None = None) -> Memory: ...
    async def tag(
        self,
        id_or_path: str,
        *,
        add: Iterable[str] = ...,
        remove: Iterable[str] = ...,
        space: str | None = None,
    ) -> Memory: ...
    async def link(self, source: str, target: str, *, kind: str = ...) -> Link: ...
    async def unlink(self, source: str, target: str, *, kind: str | None = None) -> int: ...
    async def links(self, id_or_path: str, *, space: str | None = None) -> Sequence[Link]: ...
    async def write_export(
        self,
        file: Path | str,
        scope: str | None = None,
        *,
        session: str | None = None,
        subject: str | None = None,
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Mapping[str, int]: ...
    async def memories_in(
        self, scope: str, *, session: str | None = None, limit: int = 50, offset: int = 0
    ) -> list[Memory]: ...
    @overload
    async def forget(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    @overload
    async def forget(
        self,
        *,
        space: str | None = None,
        source: str | None = None,
        tag: str | None = None,
        path: str | None = None,
        session: str | None = None,
        subject: str | None = None,
        before: datetime | str | None = None,
        purge: bool = False,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ErasureReceipt: ...
    @overload
    async def forget(
        self,
        id_or_path: str,
        *,
        space: str | None = None,
        purge: Literal[True],
        confirm: bool = False,
        dry_run: bool = False,
    ) -> ErasureReceipt: ...
    @overload
    async def forget(
        self, id_or_path: str, *, space: str | None = None, purge: bool = False, dry_run: Literal[True]
    ) -> ErasureReceipt: ...
    async def erasures(self, *, limit: int | None = None) -> list[ErasureReceipt]: ...
    async def wipe(
        self,
        scope: str,
        *,
        session: str | None = None,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> WipeReport: ...
    async def check(self, *, accept_losses: bool = False) -> list[str]: ...
    async def memory_quality(self, *, space: str | None = None, listed: int = 100) -> MemoryQuality: ...
    async def reindex(
        self,
        *,
        embedder: str | Embedder | Callable[[Sequence[str]], object] | None = None,
        vectors: bool = False,
    ) -> ReindexReport: ...
    async def embed_pending(self, *, progress: Callable[[int], None] | None = None) -> int: ...
    async def maintain(self, *, progress: Callable[[int], None] | None = None) -> MaintenanceReport: ...
    async def consolidate(
        self,
        scope: str | None = None,
        *,
        dry_run: bool = False,
        archive_months: float | None = None,
        stop: Callable[[], bool] = ...,
    ) -> ConsolidationReport: ...
    async def wait_for_background(self, timeout_s: float = 60.0) -> bool: ...
    async def changes(self) -> Mapping[str, int]: ...
    async def status(self) -> StoreStatus: ...

class AsyncHexad(_AsyncCalls):
    """An open store whose calls are awaited; made by `hexad.aopen`."""

    @property
    def path(self) -> Path: ...
    @property
    def clock(self) -> Clock: ...

class AsyncRemoteHexad(_AsyncCalls):
    """A store behind a server, whose calls are awaited; made by `hexad.aconnect`."""

    @property
    def url(self) -> str: ...

def aopen(
    path: str | Path | None = None,
    *,
    actor: str | Mapping[str, str] | Actor | None = None,
    embedder: EmbedderSpec = "default",
    generator: GeneratorSpec = "default",
    rerank: RerankSpec = "default",
    orderings: Mapping[str, OrderingSpec] | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    background: bool | None = None,
    readonly: bool = False,
    create: bool = True,
    purpose: str | None = None,
    key: bytes | str | Path | None = None,
    user_dir: str | Path | None = None,
    user_key: bytes | str | Path | None = None,
    threads: int = ...,
) -> Opening: ...
def aconnect(
    url: str,
    *,
    token: str | Path | None = None,
    timeout_s: float = ...,
    certificate: str | Path | None = None,
) -> AsyncRemoteHexad: ...
