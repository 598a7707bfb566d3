"""`Hexad`: what users hold, call after call; no algorithm lives here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self, TypeVar, Unpack, overload

from hexad.core.arguments import (
    all_flags_checked,
    is_whole,
    listed_words,
    parse_choice,
    parse_place,
    parse_seconds,
    parse_text,
    parse_time,
    parse_whole,
    quoted,
    subject_list,
    value_list,
    word_list,
)
from hexad.core.clock import Clock, format_time
from hexad.core.json_types import JSONValue
from hexad.core.tracing import Value, before_span, is_observed, span
from hexad.database.codec import to_micros
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import Conflict, HexadError, InvalidInput
from hexad.ingest.report import IngestOptions, IngestReport, Progress
from hexad.memory.draft import Draft
from hexad.memory.link import LINK_KIND_DEFAULT, SUPERSEDES, Link, check_link_kind
from hexad.memory.memory import QUARANTINE, Citation, Memory, Relevance, Status, Trust
from hexad.memory.query import Filters, Hits
from hexad.memory.tables.duplicates import NEAR_DUPLICATE
from hexad.memory.tables.rows import ORDERS
from hexad.providers.embedders.base import Embedder
from hexad.search.recall.query_terms import LIMIT, RecallOptions
from hexad.services import Services
from hexad.spaces.bundles.bundle import Bundle, KindList, ProjectContext
from hexad.spaces.bundles.hook import ContextHook, Topic
from hexad.spaces.bundles.options import (
    GivenOptions,
    check_deadline,
    check_project,
    check_topic,
    parse_bundle_options,
)
from hexad.text.normalize import slug, slugs
from hexad.text.paths import validate_space

if TYPE_CHECKING:
    from hexad.code_graph.api import CodeGraphFacade
    from hexad.core.erasure import ErasureReceipt
    from hexad.experience.api import Xdb
    from hexad.honeycomb.api import HoneycombFacade
    from hexad.ingest.structured_calls import OptionsText, RawOptions, StructuredOptions
    from hexad.layers.contract import FusedContext, MemoryItem, Plan, ScoredItem
    from hexad.layers.governance import GovernanceFacade
    from hexad.layers.project.api import ProjectFacade
    from hexad.layers.project.facts_api import FactsFacade
    from hexad.layers.session.api import SessionFacade
    from hexad.layers.user.api import UserFacade
    from hexad.maintenance.consolidation.values import ConsolidationReport
    from hexad.maintenance.quality import MemoryQuality
    from hexad.maintenance.reindex import ReindexReport
    from hexad.maintenance.status import MaintenanceReport, StoreStatus
    from hexad.memory.feedback import Feedback, FeedbackStats
    from hexad.privacy.report import ExportItem, WipeReport
    from hexad.spaces.api import SpacesFacade
    from hexad.spaces.quarantine import QuarantineFacade


Part = TypeVar("Part")


_MOST_TOLD: Final = 1_000_000_000
"""The largest number of a call that is told before it was looked at: it may be anything yet."""


@all_failures_translated
@all_flags_checked
class Hexad:
    """One open store. Made by `hexad.open`; safe to share between threads; close it, or use it in `with`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._held(object())

    def __repr__(self) -> str:
        role = self._services.context.actor.role
        return f"Hexad({str(self.path)!r}{'' if role is None else f', role={role!r}'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A call that was refused changes nothing: a store that was made for it goes with it.
        self._services.close(undo=isinstance(error, HexadError))

    def close(self) -> None:
        """Finish the batch in hand and release the store; may be called twice."""
        self._services.close()

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._services.context.directory

    @property
    def clock(self) -> Clock:
        """Where this store takes its times from."""
        return self._services.clock

    # Its systems --------------------------------------------------------------------------------------------------

    @property
    def spaces(self) -> SpacesFacade:
        """Named containers of memories: policies, retention, files."""
        return self._held(self._services.spaces().spaces)

    @property
    def quarantine(self) -> QuarantineFacade:
        """What waits for a review: texts that read as instructions, writes to protected places."""
        return self._held(self._services.spaces().quarantine)

    @property
    def session(self) -> SessionFacade:
        """What is being worked on right now, and what was when somebody left: task, files, edits, conversation."""
        return self._held(self._services.session().facade)

    @property
    def project(self) -> ProjectFacade:
        """What is true of the project: patterns, conventions, todos, tech stack, components, decisions."""
        return self._held(self._services.project())

    @property
    def user(self) -> UserFacade:
        """What is known of a person across projects: preferences, patterns, expertise; opened by the first call."""
        return self._held(self._services.user().facade)

    @property
    def governance(self) -> GovernanceFacade:
        """Decisions with their reasons: append-only, told as prior context with their age."""
        return self._held(self._services.governance())

    @property
    def facts(self) -> FactsFacade:
        """Facts over time: what holds, what held at a time, what was learned since."""
        return self._held(self._services.facts())

    @property
    def graph(self) -> CodeGraphFacade:
        """How the code hangs together: what imports, calls and tests what, and what a change may break."""
        return self._held(self._services.code_graph().facade)

    @property
    def honeycomb(self) -> HoneycombFacade:
        """The association graph: nodes with at most six edges a ring, and context by walking it."""
        return self._held(self._services.honeycomb().facade)

    @property
    def xdb(self) -> Xdb:
        """The experience database: what an agent read, wrote and did, token by token."""
        return self._held(self._services.experience().xdb)

    def _held(self, part: Part) -> Part:
        """Return a part that its user may keep without the store, which then stays open."""
        self._services.parts.add(part)
        return part

    # Writing ------------------------------------------------------------------------------------------------------

    @overload
    def remember(
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
    def remember(
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

    def remember(  # noqa: PLR0913 - one keyword for each field of a memory; a bag of options would hide them
        self,
        text: str | Sequence[Mapping[str, object]],
        *,
        conversation: str | None = None,
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
    ) -> Memory | list[Memory]:
        """Store a text durably and return its memory; `memory.receipt` says what was done with it.

        Secrets are removed first. The same text again in the same space is evidence for the memory that is
        there; a text that a recall handed out comes back as an echo; an `id` or `source_id` that is known
        changes its memory and keeps the older text (`history`). What is not given is filled in, or kept. `project`
        counts where the metadata name none; without either it is the space's `metadata.project`, else the store's.
        `trust` says who vouches for the text: user, agent, tool, web or unknown. `derived_from` are ids of memories
        that it was made of: it is trusted no more than the least of them. What may not stand (docs/security.md) is
        kept with the status `quarantined`, and the receipt's notes say why. `cites` are places of the code that it
        rests on, below the store's folder: `src/a.py:10-20`, `src/a.py::Map.get`, `src/a.py`; recall then says of each
        whether it still stands so (docs/memories.md). Without a `kind` it is what the text says
        of itself: a decision, a convention, a todo, a preference, code, a log, else a note.

        A list of messages (`role`, `content`, optional `name` and `time`) is a conversation: each message becomes a
        turn, followed in the list that comes back by the facts, preferences, decisions, conventions and todos that
        its user said in it, each derived from it and linked to it. What is there already comes back unchanged
        (docs/memories.md).

        Raises `InvalidInput` (`InvalidMemory`, `InvalidSpace`) for a value that cannot be used, `LimitExceeded`
        for a text over 1 MiB, `Conflict` for an id of another space; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.", kind="decision", tags=["Release"])
        ...     memory.tags, memory.receipt.outcome.value
        (('release',), 'created')
        """
        with before_span("upsert_memory"):
            draft = Draft(
                text=text if isinstance(text, str) else "",
                space=space,
                kind=kind,
                path=path,
                id=id,
                source_id=source_id,
                tags=None if tags is None else word_list(tags, "tags"),
                pinned=pinned,
                relevance=None if relevance is None else parse_choice(Relevance, relevance, "relevance"),
                importance=importance,
                confidence=confidence,
                trust=parse_choice(Trust, trust, "trust"),
                valid_from=parse_time(valid_from, "valid_from"),
                valid_to=parse_time(valid_to, "valid_to"),
                subject=subject,
                attribute=attribute,
                value=value,
                citations=self._cited(citations, cites),
                data_subjects=None if data_subjects is None else subject_list(data_subjects),
                derived_from=() if derived_from is None else word_list(derived_from, "derived_from"),
                metadata=metadata,
                project=project,
                now=parse_time(freeze_clock, "freeze_clock"),
            )
            if isinstance(text, str) and conversation is not None:
                raise InvalidInput(
                    "conversation is for a list of messages; a single text belongs to none.",
                    argument="conversation",
                )
        self._services.handouts.flush()
        service = self._services.ingest()
        if isinstance(text, str):
            memories = service.writer.write([draft])
        else:
            conversation = parse_text(conversation, "conversation")
            memories = service.messages.remember(text, draft, conversation=conversation)
        self._services.wake()
        return memories[0] if isinstance(text, str) else memories

    def _cited(
        self, citations: Iterable[Citation] | None, cites: Iterable[str] | None
    ) -> tuple[Citation, ...] | None:
        given = None if citations is None else value_list(citations, "citations", of="`Citation` objects")
        if cites is None:
            return given
        return (*(given or ()), *self._services.citations().cite(word_list(cites, "cites")))

    def remember_structured(
        self,
        space: str,
        payload: Mapping[str, JSONValue] | str,
        options: OptionsText = None,
        **given: Unpack[StructuredOptions],
    ) -> Memory:
        """Store a record as you made it: document 1's MemoryObject as a mapping or JSON text, or `Memory.to_dict()`.

        What is missing is filled from `raw`: summaries, tags as sorted slugs, hash, chunks; without `raw` the longest
        summary is the text. A record that is there is changed: the one with the payload's `id`, else the one of
        this space with the same path, kind and content. Then what the payload leaves out stays, the pin and
        `created_at` first of all; the same payload again changes nothing. A space that is missing is made.

        Options, as keywords or as a mapping or JSON text: `project` (where the metadata name none) and `freeze_clock`.
        `memory.receipt` says what was done. Raises `InvalidMemory` for a field that cannot be stored and for what is
        no JSON, with line and column, `Conflict` for an id of another space; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember_structured("runtime", '{"raw": "Ship on Monday.", "tags": ["Release Plan"]}')
        ...     memory.summary_micro, memory.tags, memory.receipt.outcome.value
        ('Ship on Monday.', ('release-plan',), 'created')
        """
        self._services.handouts.flush()
        with span("remember_structured") as seen:
            memory = self._services.ingest().intake.structured(space, payload, options, given)
            seen["space"] = space
        self._services.wake()
        return memory

    def _left_to_spend(self, space: str) -> dict[str, Value]:
        """Return what is left of a space's budget in US dollars, as an attribute; nothing where nobody is told."""
        if not is_observed():
            return {}
        left = [line.left_usd for line in self.spaces.budget(space) if line.left_usd is not None]
        return {"budget_usd": min(left)} if left else {}

    def remember_raw(
        self, space: str, kind: str, raw: str, options: OptionsText = None, **given: Unpack[RawOptions]
    ) -> Memory:
        """Store a text and infer what is open: path, the three summaries, tags and relevance.

        The text generator is asked; without one, when it fails, and when its answer cannot be used twice, the text
        is read by rules. `memory.receipt.semantic` is the model or `"local"`, `memory.receipt.notes` say why. Secrets
        are taken out before anything is sent. A text that the space has is not sent again.

        Options, as keywords or as document 1's mapping or JSON text: `model`, `temperature`, `max_tokens`, `path_hint`
        (the path, or where it begins; a folder when it ends in `/`), `project`, `topic` (the path's last part),
        `tags` (they stay, others are added), `metadata`, `auto_pin` (True pins; False keeps rules and the model from
        it), `relevance`, `trust`, `id`, `source_id` (a known one changes its memory), `freeze_clock`, and `strict`:
        raise the provider's error and store nothing.

        Raises `InvalidInput` (`InvalidMemory`, `InvalidSpace`) for a value that cannot be used, `LimitExceeded` for a
        text over 1 MiB, with `strict` also `ProviderError` and `BudgetExceeded`; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None, generator=None) as hx:
        ...     memory = hx.remember_raw("ops", "decision", "We decided to seal the ledger each night.", project="shop")
        ...     memory.path, memory.relevance.value, memory.receipt.semantic
        ('shop/decision/decided-seal-ledger-night', 'high', 'local')
        """
        self._services.handouts.flush()
        with span("remember_raw", backend=self._services.context.settings.memory_backend) as seen:
            memory = self._services.ingest().intake.raw(space, kind, raw, options, given)
            seen.update(space=space, **self._left_to_spend(space))
        self._services.wake()
        return memory

    def ingest(
        self,
        source: str | Path,
        *,
        space: str = "default",
        kind: str | None = None,
        tags: Iterable[str] = (),
        trust: str = "tool",
        project: str | None = None,
        embed: bool | None = None,
        dry_run: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport:
        """Bring a source into the store, or up to date: a file, a folder, conversations or documents as JSON
        lines, or `git:RANGE`. Returns what was created, changed, skipped (with reasons) and archived.

        `kind` says what it is where the content does not; with `mem0`, `claude-mem`, `mempalace`, `memory-md` or
        `server-memory` it is what that memory system wrote (docs/imports.md). `dry_run` stores nothing and returns
        what would be done; it works batch by batch, so that repeats further apart than a batch are not seen.

        What is unchanged costs one look or one hash; a changed item keeps its memory's id and history; an item
        that vanished archives its memory. `embed=True` waits for the vectors, `False` leaves them to the
        background; by default they are computed here when there is no background thread.

        Raises `NotFound` when there is no such source, `InvalidInput` when it cannot be read.
        """
        source = parse_place(source, "source")
        options = IngestOptions(
            space=space,
            kind=parse_text(kind, "kind"),
            tags=word_list(tags, "tags"),
            trust=parse_choice(Trust, trust, "trust"),
            project=parse_text(project, "project"),
            dry_run=dry_run,
        )
        self._services.handouts.flush()
        report = self._services.ingest().ingestor.ingest(source, options, progress=progress)
        if dry_run:
            return report
        if embed or (embed is None and not self._services.context.background):
            self.embed_pending()
        self._services.wake()
        return report

    def enqueue(self, source: str | Path, *, space: str = "default", tags: Iterable[str] = ()) -> None:
        """Queue a source durably; `maintain` or the background of any process ingests it."""
        validate_space(space)
        self._services.ingest().queue.put(
            parse_place(source, "source"), space=space, tags=word_list(tags, "tags")
        )
        self._services.wake()

    def watch(
        self,
        source: str | Path,
        *,
        space: str = "default",
        tags: Iterable[str] = (),
        git: bool = False,
        stop: Callable[[], bool] = lambda: False,
        on_report: Callable[[IngestReport], None] | None = None,
    ) -> None:
        """Follow a folder (or `folder/*.md`) until `stop()`: every change passes the durable queue.

        With `git`, new commits become memories too. Raises `NotFound` when there is no such folder.
        """
        self._services.ingest().watcher.follow(
            source, space=space, tags=word_list(tags, "tags"), git=git, stop=stop, on_report=on_report
        )

    # Asking -------------------------------------------------------------------------------------------------------

    def recall(  # noqa: PLR0913 - one keyword for each thing that may be asked; a bag of options would hide them
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
    ) -> Hits:
        """Return what best answers `query`, best first; empty when nothing is relevant.

        `space` None means all spaces; `tags` must all be there; `path` is a prefix of whole parts or a pattern
        with `*`; `since` (inclusive) and `until` (exclusive) ask when a memory was valid, else written.
        `max_tokens` bounds the hits' texts together. `semantic=False` answers from full text alone, `True`
        insists on vectors (`ProviderError` when there are none to be had), None uses them when the store has
        some. `rerank=False` keeps the store's own order, `True` insists on the reranker that the store was opened with
        (`ProviderError`, `BudgetExceeded`), None uses it when there is one and says in `notes` when it failed or was
        late. Each hit carries `relevance`, 0 to 1: how likely it answers. `min_relevance` leaves out what has less;
        0 gives everything, in order; None gives the best, or nothing where even the best one has so little that
        the question is most likely about something else. `explain` adds what was considered and dropped, and why.
        `follow_links` adds under `linked` what the hits
        are linked with, also in other spaces. `association`, 0 to 1, lets a memory gain so much of the mean score
        of its neighbours in the honeycomb; off by default, for it helps some collections and not others. `feedback`
        False leaves out what was said of earlier answers.

        `limit` None gives the best 10. Where the question wants several memories ("in what order did I …", "how many
        times …", "list all …", "summarise how …") and neither `layers` nor `as_of` is given, it gives up to 50 of them
        in the order of time; `sequence` of the answer, and a note, say that it was understood so.

        `layers` None is what memories are of: `project`, `governance` (decisions) and `vector` (what was ingested).
        Named, `session` and `user` answer too, with hits that are no memories: `expand` takes them, `get` does not.
        `as_of` gives what held at a time: facts with the value of then, also one that was superseded since
        (docs/facts.md).

        Raises `NotFound` when `space` was never created, `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.", kind="decision")
        ...     [hit.text for hit in hx.recall("when do we deploy?")]
        ['Deploys happen on Tuesday.']
        """
        with self._searching(query, limit=LIMIT if limit is None else limit) as seen:
            spaces = (
                (space,) if isinstance(space, str) else None if space is None else word_list(space, "space")
            )
            for name in spaces or ():
                self._services.stores.spaces.get(name)
            options = RecallOptions(
                filters=Filters(
                    spaces=spaces,
                    kinds=None if kinds is None else tuple(map(slug, word_list(kinds, "kinds"))),
                    tags=None if tags is None else slugs(word_list(tags, "tags")),
                    path=parse_text(path, "path"),
                    since=parse_time(since, "since"),
                    until=parse_time(until, "until"),
                    roles=self._services.stores.roles,
                ),
                limit=LIMIT if limit is None else limit,
                whole=limit is None and layers is None and as_of is None,
                definitions=True,
                max_tokens=max_tokens,
                explain=explain,
                semantic=semantic,
                rerank=rerank,
                min_relevance=min_relevance,
                follow_links=follow_links,
                association=association,
                feedback=feedback,
            )
            when = parse_time(as_of, "as_of")
            if layers is None and when is None:
                hits = self._services.search.recaller.recall(query, options)
            else:
                hits = self._services.contexts().recall(query, options, layers=layers, as_of=when)
            seen["items_returned"] = len(hits)
            if spaces is not None and len(spaces) == 1:
                seen["space"] = spaces[0]
        self._services.wake()
        return hits

    def _searching(self, query: object, **known: object) -> AbstractContextManager[dict[str, Value]]:
        """Return the span of a search with what is known when it begins; before it was looked at it may be anything."""
        if not is_observed():
            return self._services.stores.span("search_memory")
        told = {name: value for name, value in known.items() if is_whole(value, 0, _MOST_TOLD)}
        words = {"query": query} if isinstance(query, str) else {}
        return self._services.stores.span("search_memory", **told, **words)

    def plan(
        self,
        query: str,
        *,
        max_tokens: int = 2_000,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        model: str | None = None,
        plain: bool = True,
    ) -> Plan:
        """Return what a question is and how `context` would answer it: layers, weights, tokens and deadlines.

        Rules decide, with reasons; `model` asks a text generator instead (`"default"`, or `provider:MODEL`), and the
        rules again where it has no answer. `notes` says which filters a plain sentence is understood to carry; `plain`
        False leaves its words as they are. Raises `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     plan = hx.plan("How is the address book structured?")
        ...     plan.query_class.value, plan.task_type.value
        ('architectural', 'explain')
        """
        return self._services.contexts().plan(
            query,
            max_tokens=max_tokens,
            layers=layers,
            deterministic=deterministic,
            model=model,
            plain=plain,
        )

    def context(  # noqa: PLR0913 - one keyword for each thing that may be asked; a bag of options would hide them
        self,
        task: str,
        max_tokens: int = 2_000,
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
        without: Iterable[str] = (),
    ) -> FusedContext:
        """Return what all layers know of a task, for a model: at most `max_tokens`, as data, with ids to cite.

        All layers are asked at once, each for 50 ms and 150 ms in all; `late`, `failed` and `absent` name those that
        gave nothing. `wait` waits for each of them; `deterministic` does too, and then the same state gives the same
        bytes. `task` is a sentence, or the query language (`layer:project kind:decision since:2w "auth"`:
        docs/context.md). A sentence that asks for records may carry filters too ("decisions about auth since last
        week"): `notes` says how it was understood, filters that leave nothing are left out, and `plain` False takes
        its words as they are. `layers` None asks those of the plan. `format` is `toon`, `json`, `markdown` or None, the
        smaller of the first two; `details` False keeps to summaries. `without` are ids of memories that the model has
        before it already: they take no room. `dropped` says what was left out, why, and what it would have cost.

        Raises `InvalidInput` for a value that cannot be used, `NotFound` for a space that was never created.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.")
        ...     [block.text for block in hx.context("when do we deploy?").system_items]
        ['Deploys happen on Tuesday.']
        """
        with span("context") as seen, self._searching(task, max_tokens=max_tokens) as found:
            context = self._services.contexts().context(
                task,
                max_tokens=max_tokens,
                layers=layers,
                deterministic=deterministic,
                format=format,
                details=details,
                space=space,
                kinds=kinds,
                since=since,
                until=until,
                as_of=as_of,
                wait=wait,
                model=model,
                plain=plain,
                without=without,
            )
            found["items_returned"] = len(context)
            seen.update(items_returned=len(context), tokens=context.tokens)
        self._services.wake()
        return context

    def query(
        self,
        text: str,
        *,
        limit: int = 20,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        plain: bool = True,
    ) -> tuple[ScoredItem, ...]:
        """Return the items of all layers that answer best: scored, without duplicates, contradictions resolved.

        `text` is a sentence, or the query language; `plain` as in `context`, and `plan` says what is understood. Each
        score is the sum of its parts. Raises as `context` does.
        """
        with self._searching(text, limit=limit) as seen:
            items = self._services.contexts().query(
                text, limit=limit, layers=layers, deterministic=deterministic, plain=plain
            )
            seen["items_returned"] = len(items)
            return items

    def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem:
        """Return the whole of what a context showed in short: a block, an item, a hit of a recall, or an id.

        `max_tokens` cuts its text, and a note says so. Raises `NotFound` for an id that is not there.
        """
        self._services.db.require_open()
        return self._services.contexts().expand(what, max_tokens=max_tokens)

    def feedback(
        self, what: object, verdict: str, *, query: str | None = None, note: str | None = None
    ) -> Feedback:
        """Say that an answer was `helpful` or `wrong`, and return what was noted; later answers heed it.

        `what` is a hit, an item or block of a context, or an id. With the `query` that it answered it counts for
        questions like that one, and for the weight of its layer where such questions are asked; without, for every
        question by half. It moves a memory by at most a tenth of the best score. `wrong` makes what was inferred less
        sure and marks all else for a review (`hx.facts.needs_review`); nothing is deleted. Of what is no memory only
        its layer is noted. The same again is noted once; another verdict on the same takes its place.

        Raises `NotFound` for an id that is not there, `InvalidInput` for another verdict.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.")
        ...     said = hx.feedback(memory.id, "wrong", query="when do we deploy?")
        ...     said.effect, [review.memory_id == memory.id for review in hx.facts.needs_review()]
        ('marked for a review', [True])
        """
        return self._services.feedback().give(what, verdict, query=query, note=note)

    def feedbacks(self, what: object | None = None, *, limit: int | None = None) -> list[Feedback]:
        """Return what was said of answers, the last first; `what` narrows it to one memory.

        Whoever has a role is shown its own. Raises as `feedback` does.
        """
        return self._services.feedback().verdicts(what, limit=limit)

    def feedback_stats(self, *, limit: int | None = 10) -> FeedbackStats:
        """Return what was said of answers in numbers: what share helped, how it changes, what is wrong most often.

        In all, by layer and by class of question, over the last six times 30 days, and the `limit` memories that were
        called wrong most often, with the questions. Whoever has a role is told of its own verdicts. Nothing is changed.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.", id="deploys")
        ...     for query, verdict in [("when do we deploy?", "helpful"), ("who deploys?", "wrong")]:
        ...         said = hx.feedback(memory.id, verdict, query=query)
        ...     stats = hx.feedback_stats()
        ...     stats.tally.share, [(mistake.memory_id, *mistake.queries) for mistake in stats.mistakes]
        (0.5, [('deploys', 'who deploys?')])
        """
        return self._services.feedback().stats(limit=limit)

    def retract_feedback(self, id: str) -> Feedback:
        """Take back what was said, by its id, and return it: answers are as if it had never been said.

        Raises `NotFound` for an id that is not there.
        """
        return self._services.feedback().retract(id)

    # Bundles ------------------------------------------------------------------------------------------------------

    def recall_context(self, space: str, topic: str, options: GivenOptions = None, **more: object) -> Bundle:
        """Return what a space knows about a topic: sections in order, the same bytes for the same state.

        Options as keywords, as a mapping, or as JSON text: `limit` (5), `raw_limit` (2), `include_raw`,
        `include_metadata`, `prefer_kinds`, `prefer_tags`, `require_high_relevance`, `freeze_clock`, `backend`,
        `order`, `path`, `max_tokens`, `follow_links`, `digest`, `on_topic`; docs/bundles.md explains each. What was
        replaced or left out stands in `notes`.

        Raises `NotFound` when `space` was never created, `InvalidInput` for an option that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="shop", path="shop/gateway/retries")
        ...     print(hx.recall_context("shop", "retries", limit=3).global_summary)
        Context bundle for 'retries' (1 items):
        • shop/gateway/retries — Retries stop after five.
        """
        with before_span("recall_context"):
            chosen = parse_bundle_options(options, more)
        with span("recall_context", limit=chosen.limit, **_topic_of(topic)) as seen:
            with self._searching(topic, limit=chosen.limit) as found:
                bundle = self._services.bundles().context(space, topic, chosen)
                found.update(space=space, items_returned=len(bundle.sections))
            seen.update(space=space, backend=bundle.backend, items_returned=len(bundle.sections))
            seen.update(self._left_to_spend(space))
        self._services.wake()
        return bundle

    def recall_kind(self, space: str, kind: str, options: GivenOptions = None, **more: object) -> KindList:
        """Return a space's memories of one kind, in order; a sequence of sections. Options of `recall_context`.

        Raises `NotFound` when `space` was never created, `InvalidInput` for an option that cannot be used.
        """
        with before_span("recall_kind"):
            chosen = parse_bundle_options(options, more)
        with span("recall_kind", limit=chosen.limit) as seen:
            with self._searching(None, limit=chosen.limit) as found:
                kind_list = self._services.bundles().kind(space, kind, chosen)
                found.update(space=space, items_returned=len(kind_list))
            seen.update(space=space, backend=kind_list.backend, items_returned=len(kind_list))
        self._services.wake()
        return kind_list

    def use_context(
        self,
        project: str,
        topic: Topic,
        options: GivenOptions = None,
        *,
        deadline_ms: int | None = None,
        **more: object,
    ) -> ContextHook:
        """Return the hook before an agent's step: a project's bundle, and the text to place before the step.

        `project` is a space, else the `metadata.project` of spaces, else of memories; its decisions and facts belong
        to it. Read it as a value, enter it with `with`, or decorate the step's function with it; then `topic` may be
        a function of that function's arguments. Options of `recall_context`; what has nothing to do with the topic is
        left out unless `on_topic=False`, and each section has its `topic_relevance`, 0 to 1. What is not ready
        `deadline_ms` after the recall began is left out, and `notes` says so. Recalling raises `NotFound` when there
        is no such project; options that cannot be used raise `InvalidInput` here.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="shop", id="mem_retries")
        ...     with hx.use_context("shop", "retries") as context:
        ...         "[mem_retries]" in context.prepend("Fix the gateway.")
        True
        """
        with before_span("use_context"):
            chosen = parse_bundle_options(options, more)
            check_project(project)
            check_deadline(deadline_ms)
            if not callable(topic):
                check_topic(topic)

        def recall(about: str) -> ProjectContext:
            with span("use_context", limit=chosen.limit, **_topic_of(about)) as seen:
                with self._searching(about, limit=chosen.limit) as found:
                    context = self._services.project_contexts().recall(
                        project, about, chosen, deadline_ms=deadline_ms
                    )
                    found["items_returned"] = len(context.bundle.sections)
                seen.update(
                    project=project,
                    backend=context.bundle.backend,
                    items_returned=len(context.bundle.sections),
                )
            self._services.wake()
            return context

        return ContextHook(recall, topic)

    # Reading ------------------------------------------------------------------------------------------------------

    def get(self, id_or_path: str, *, space: str | None = None) -> Memory:
        """Return one memory, whatever its status. Raises `NotFound`.

        That is a look at the record, as a list is one, and no use of it: `recall`, bundles, `context` and `expand` set
        `last_used_at`, which keeps a memory from growing old.
        """
        memories = self._services.stores.memories
        with self._services.stores.db.read():
            no = memories.resolve(id_or_path, space=space)
            return memories.by_no([no])[no]

    def memories(
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
    ) -> list[Memory]:
        """Return memories, the last changed first; `status` None means any, `limit` None all.

        `text` are words that all occur somewhere in the memory, as they are written but for their case: a look, not
        a recall. `order` is `updated`, `created` (both newest first), `path`, `relevance` or `kind`; `offset` leaves
        out the first ones.

        Raises `NotFound` for a space that was never created, `InvalidInput` for another value.
        """
        parse_whole(1 if limit is None else limit, "limit", least=1)
        parse_whole(offset, "offset", least=0)
        if order not in tuple(ORDERS):
            raise InvalidInput(
                f"order = {quoted(order)} is not known; choose one of {', '.join(ORDERS)}.", argument="order"
            )
        filters, chosen = self._listed(space, kinds, tags, path, text, pinned, status)
        memories = self._services.stores.memories
        with self._services.stores.db.read():
            numbers = memories.numbers(
                filters, status=chosen, order=order, limit=-1 if limit is None else limit, offset=offset
            )
            found_memories = memories.by_no(numbers)
        return [found_memories[no] for no in numbers]

    def count(
        self,
        *,
        space: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        path: str | None = None,
        text: str | None = None,
        pinned: bool | None = None,
        status: str | None = "active",
    ) -> int:
        """Return how many memories `memories` would list without a limit. Raises what it raises."""
        filters, chosen = self._listed(space, kinds, tags, path, text, pinned, status)
        return self._services.stores.memories.count_where(filters, status=chosen)

    def _listed(
        self,
        space: str | None,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        path: str | None,
        text: str | None,
        pinned: bool | None,
        status: str | None,
    ) -> tuple[Filters, Status | None]:
        if space is not None:
            self._services.stores.spaces.get(space)
        if pinned is not None and not isinstance(pinned, bool):
            raise InvalidInput(
                f"pinned must be True, False or None, not {quoted(pinned)}.", argument="pinned"
            )
        filters = Filters(
            spaces=None if space is None else (space,),
            kinds=None if kinds is None else tuple(map(slug, word_list(kinds, "kinds"))),
            tags=None if tags is None else slugs(word_list(tags, "tags")),
            path=parse_text(path, "path"),
            text=None if (words := parse_text(text, "text")) is None else listed_words(words),
            pinned=pinned,
            roles=self._services.stores.roles,
        )
        return filters, None if status is None else parse_choice(Status, status, "status")

    def history(self, id_or_path: str, *, space: str | None = None) -> Sequence[Mapping[str, JSONValue]]:
        """Return what a memory said before, oldest first: `version`, `replaced_at`, `raw`. Raises `NotFound`."""
        memories = self._services.stores.memories
        no = memories.resolve(id_or_path, space=space)
        return [
            {"version": version, "replaced_at": format_time(at), "raw": raw}
            for version, at, raw in memories.history(no)
        ]

    def near_duplicates(self, id_or_path: str, *, space: str | None = None) -> Sequence[tuple[str, float]]:
        """Return `(id, similarity)` of memories that say almost the same: shown, never merged."""
        stores = self._services.stores
        return stores.duplicates.linked(stores.memories.resolve(id_or_path, space=space), NEAR_DUPLICATE)

    # Changing -----------------------------------------------------------------------------------------------------

    def restore(self, id_or_path: str, *, space: str | None = None) -> Memory:
        """Bring an archived memory back into recall. Raises what `forget` does, and `Conflict` for one that waits for
        a review or was rejected in one: only `hx.quarantine.release` lets it in.
        """
        memory = self._change(id_or_path, space, self._bring_back, archived=True)
        self._services.wake()
        return memory

    def _bring_back(self, no: int) -> None:
        memory = self._services.stores.memories.by_no([no])[no]
        note = memory.metadata.get(QUARANTINE)
        if (
            isinstance(note, Mapping)
            and memory.status is not Status.ACTIVE
            and note.get("verdict") != "released"
        ):
            stands = "was rejected" if "verdict" in note else "waits for a review"
            raise Conflict(
                f"Memory {memory.id!r} {stands}; the store's owner can let it in: `hexad memory quarantine release`."
            )
        self._services.catalog.restore(no, at=self._services.clock.now())
        self._services.settle_fact(no)

    def pin(self, *names: str, space: str | None = None) -> Memory:
        """Pin a memory: `pin(space, id_or_path)` as in document 1, or `pin(id_or_path)`.

        Of several memories at one path it is the active one that was changed last. `updated_at` becomes now.
        Raises `NotFound` with document 1's words, and `Conflict` for a path of several spaces without a space.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ship on green.", space="runtime", path="release/rule")
        ...     hx.pin("runtime", "release/rule").pinned
        True
        """
        return self._set_pin(names, space, pinned=True)

    def unpin(self, *names: str, space: str | None = None) -> Memory:
        """Unpin a memory, named as for `pin`. Raises what `pin` does."""
        return self._set_pin(names, space, pinned=False)

    def _set_pin(self, names: tuple[str, ...], space: str | None, *, pinned: bool) -> Memory:
        memories, now = self._services.stores.memories, self._services.clock.now()
        with span("pin", pinned=pinned) as seen:
            if len(names) not in {1, 2} or (len(names) == 2 and space is not None):
                raise InvalidInput(
                    f"{names!r} does not name one memory; give its id or path, or space and id or path."
                )
            if len(names) == 2:
                space = names[0]

            def change(no: int) -> None:
                if is_observed():
                    seen["changed"] = memories.by_no([no])[no].pinned != pinned
                memories.set_pinned(no, pinned, at=now)

            return self._change(names[-1], space, change)

    def tag(
        self,
        id_or_path: str,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        space: str | None = None,
    ) -> Memory:
        """Add tags to a memory and take tags away; everything else of it stays. Returns the memory as it is then.

        A tag that is there already, or gone already, is no error. Raises what `forget` does, and `InvalidInput` for
        a tag without a letter or digit.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.", tags=["release", "draft"])
        ...     hx.tag(memory.id, add=["Ops Team"], remove=["draft"]).tags
        ('ops-team', 'release')
        """
        with before_span("update_memory"):
            added, removed = word_list(add, "add"), word_list(remove, "remove")
        now, retagger = self._services.clock.now(), self._services.ingest().retagger
        return self._change(
            id_or_path, space, lambda no: retagger.change(no, add=added, remove=removed, at=now)
        )

    def _change(
        self, id_or_path: str, space: str | None, change: Callable[[int], object], *, archived: bool = False
    ) -> Memory:
        with self._services.stores.span("update_memory") as seen:
            memory = self._changed(id_or_path, space, change, archived=archived)
            seen.update(memory=memory.id, count=1)
            return memory

    def _changed(
        self, id_or_path: str, space: str | None, change: Callable[[int], object], *, archived: bool = False
    ) -> Memory:
        memories = self._services.stores.memories
        with self._services.stores.db.transaction():
            no = memories.resolve_one(id_or_path, space=space, archived=archived)
            change(no)
            return memories.by_no([no])[no]

    # Links --------------------------------------------------------------------------------------------------------

    def link(self, source: str, target: str, *, kind: str = LINK_KIND_DEFAULT) -> Link:
        """Link two memories by id or path, also of different spaces; returns the link.

        `kind` says how, read from source to target (`related`, `based-on`, …). Drawn again, it is the same link.
        A recall follows links only when asked (`follow_links`), and only to what the actor may see. `supersedes` says
        that the target is out of date: it confirms what was found by the texts, or says it where nothing was found,
        and undoes an `unlink` of that kind.

        Raises `NotFound` for a memory that is not there, `Conflict` for a path that memories of several spaces have,
        `InvalidInput` for a kind that cannot be used or a memory linked with itself, `Conflict` also for one that would
        supersede what is trusted more.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     rule = hx.remember("Secrets live in the vault.", space="platform")
        ...     step = hx.remember("The release reads the signing key.", space="release")
        ...     _ = hx.link(step.id, rule.id, kind="based-on")
        ...     [linked.memory.raw for linked in hx.recall("signing key", space="release", follow_links=True).linked]
        ['Secrets live in the vault.']
        """
        stores = self._services.stores
        self._services.ingest().redactor.refuse_secret_link(check_link_kind(kind))
        with stores.db.transaction():
            source_no = stores.memories.resolve_one(source, spaces=False)
            target_no = stores.memories.resolve_one(target, spaces=False)
            if source_no == target_no:
                raise InvalidInput(f"Memory {source!r} cannot be linked with itself; name another target.")
            now = self._services.clock.now()
            if kind == SUPERSEDES:
                self._services.ingest().update_judge.confirm(source_no, target_no, at=now)
            else:
                stores.links.put(source_no, target_no, kind, at=now)
                self._services.nodes().relate(source_no, target_no, kind, at=to_micros(now))
            target_id = stores.memories.by_no([target_no])[target_no].id
            links = [
                link
                for _, link in stores.links.of([source_no], incoming=False, active_only=False, updates=True)
            ]
        return next(link for link in reversed(links) if link.kind == kind and link.target.id == target_id)

    def unlink(self, source: str, target: str, *, kind: str | None = None) -> int:
        """Remove the link from `source` to `target`, of one kind or of all; returns how many there were.

        One of the kind `supersedes` is not found again, whatever is written later: both texts hold. `link` undoes it.

        Raises `NotFound` for a memory that is not there, `Conflict` as `link` does.
        """
        parse_text(kind, "kind")
        stores = self._services.stores
        with stores.db.transaction():
            source_no = stores.memories.resolve_one(source, spaces=False)
            target_no = stores.memories.resolve_one(target, spaces=False)
            removed = stores.links.remove(source_no, target_no, kind)
            if kind in (None, SUPERSEDES):
                now = self._services.clock.now()
                removed += self._services.ingest().update_judge.reject(source_no, target_no, at=now)
            if removed:  # what else speaks for a connection is looked at anew
                self._services.nodes().edges.drop_pair(source_no, target_no, auto_only=True)
        self._services.wake()
        return removed

    def links(self, id_or_path: str, *, space: str | None = None) -> Sequence[Link]:
        """Return a memory's links, from it and to it, to memories that are active. Raises `NotFound`.

        Those of the kind `supersedes` that were found by what the texts say have a `reason` and a `confidence`.
        """
        stores = self._services.stores
        with stores.db.read():
            no = stores.memories.resolve(id_or_path, space=space)
            return [link for _, link in stores.links.of([no], updates=True)]

    # What is held, and erasing it ---------------------------------------------------------------------------------

    def export(
        self, scope: str | None = None, *, session: str | None = None, subject: str | None = None
    ) -> Iterator[ExportItem]:
        """Iterate over everything that is held about a scope, or about a person: what a request for access asks for.

        `scope` is `"project"`, all of the store (the default), or `"session"` with its id: the memories of that
        conversation, what was recorded of it, with its tags and comments, and its part of the honeycomb. `subject`
        takes a person instead: memories, sessions and documents that name them among their `data_subjects`. Each item
        names the list that it belongs to (`memories`, `links`, `sessions`, …) and is JSON; the first one says what is
        left out: keys, and the contents of the ledger. Read page by page: memory does not grow with the store.
        What is in a segment that cannot be read is not in it: then the last list, `missing`, says so.

        `"user"` is what the user layer holds of whoever opened the store: preferences, patterns, rules, what projects
        published.

        Raises `NotFound` for a session that there is not, and a person of whom nothing is held, with the nearest names;
        `InvalidInput` for another scope or one beside a `subject`,
        `AccessDenied` for an actor from whom anything is hidden.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ann leads the release.", data_subjects=["ann"])
        ...     [item.section for item in hx.export(subject="ann")]
        ['export', 'memories']
        """
        return self._services.exporter().export(scope, session=session, subject=subject)

    def write_export(
        self,
        file: Path | str,
        scope: str | None = None,
        *,
        session: str | None = None,
        subject: str | None = None,
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Mapping[str, int]:
        """Write `export` as one JSON file for its owner alone (mode 0600); returns how many items each list has.

        The file is in plain text, also of an encrypted store: it is for somebody to read. Raises what `export` does,
        `Conflict` for a file that is there, unless `force` replaces it.
        """
        exporter = self._services.exporter()
        items = exporter.export(scope, session=session, subject=subject)
        return exporter.write(file, items, force=force, progress=progress)

    def decrypted(self, file: Path | str) -> Iterator[bytes]:
        """Iterate over the content of an encrypted file of this store, piece by piece; nothing is written.

        It reads working copies, space files, exports, evidence and segments, wherever they lie by now. Keys and the
        ledger it does not read. Raises `AccessDenied` for an actor from whom anything is hidden, `NotFound`,
        `InvalidInput` for a file that is not encrypted, `IntegrityError` for one that these keys do not open.
        """
        return self._services.exporter().decrypted(file)

    def memories_in(
        self, scope: str, *, session: str | None = None, limit: int = 50, offset: int = 0
    ) -> list[Memory]:
        """Return the memories of a scope, whatever their status, the last changed first. Raises as `export` does."""
        return self._services.exporter().memories(scope, session=session, limit=limit, offset=offset)

    @overload
    def forget(self, id_or_path: str, *, space: str | None = None) -> Memory: ...
    @overload
    def forget(
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
    def forget(
        self, id_or_path: str, *, space: str | None = None, purge: Literal[True], confirm: bool = False,
        dry_run: bool = False,
    ) -> ErasureReceipt: ...  # fmt: skip
    @overload
    def forget(
        self, id_or_path: str, *, space: str | None = None, purge: bool = False, dry_run: Literal[True]
    ) -> ErasureReceipt: ...
    def forget(
        self,
        id_or_path: str | None = None,
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
    ) -> Memory | ErasureReceipt:
        """Archive what is named or selected: gone from recall, recoverable with `restore`; or purge it for good.

        One id or path alone archives that memory and returns it. Everything else returns a receipt. What is selected
        is all for which everything given holds: memories of a `space`, of a `source` (its name, an item of it, or a
        prefix of items that ends in `/`), with a `tag`, at or below a `path`, of a `session`, about a person
        (`subject`), or from before a moment. `tag`, `session`, `subject` and `before` also reach recorded experience
        and documents, and `session` and `subject` sessions of the honeycomb, none of which can be archived: they go
        with `purge` alone. What an actor may not see, it does not erase. docs/erasure.md says what goes where.

        `purge` removes everything that belongs to it, in every file of the store, and what was made of it alone; the
        receipt names the memories that rest on it besides. It needs `allow_delete` in the policies of the spaces, or
        `confirm` from the store's owner; for what is in no space, `confirm`. What another process still holds is
        `pending` in the receipt and `maintain` completes it. `dry_run` only says what would happen. `progress` is told
        how many memories are done.

        Raises `NotFound`, also for a `subject` of whom nothing is there (it names the nearest), `Conflict` for a path
        that memories of several spaces have where no space is given, `InvalidInput` for a selection that cannot be
        used or says nothing, `AccessDenied`, `StoreLocked` while
        somebody else erases.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Ada asked for a refund.", data_subjects=["ada@example.org"])
        ...     receipt = hx.forget(subject="ada@example.org", purge=True, confirm=True)
        ...     receipt.count("memories"), receipt.pending, receipt.verify()
        (1, (), True)
        """
        conditions = {
            "source": source, "tag": tag, "path": path, "session": session, "subject": subject, "before": before,
        }  # fmt: skip
        selects = any(value is not None for value in conditions.values())
        if id_or_path is not None and not (selects or purge or dry_run):
            with self._services.stores.span("delete_memory", purge=False) as seen:
                memory = self._changed(
                    id_or_path,
                    space,
                    lambda no: self._services.catalog.archive(no, at=self._services.clock.now()),
                )
                seen.update(memory=memory.id, count=1)
                return memory
        return self._services.erasure().forget(
            {"id": id_or_path, "space": space, **conditions},
            purge=purge,
            confirm=confirm,
            dry_run=dry_run,
            progress=progress,
        )

    def erasures(self, *, limit: int | None = None) -> list[ErasureReceipt]:
        """Return what the store knows of what was forgotten by selection, the newest first: counts, and what waits.

        What was selected, and the key to prove it, only the receipts hold that were given out.
        """
        parse_whole(1 if limit is None else limit, "limit", least=1)
        return self._services.erasure().receipts(limit=-1 if limit is None else limit)

    def wipe(
        self,
        scope: str,
        *,
        session: str | None = None,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> WipeReport:
        """Remove all of a scope of `export` for good, and return the receipts that say what.

        `"session"` is what `forget(session=…, purge=True)` does. `"project"` does that with every session and every
        space, and removes documents, tags and nodes of the honeycomb; spaces stay, empty, with their policies. The
        ledger keeps its records without their contents, and what the project published to the user layer goes. `"user"`
        removes what that holds of whoever opened the store. It is for the store's owner, who has to `confirm`;
        `dry_run` only says what would go.

        Raises what `export` and `forget` do, `AccessDenied` without `confirm`.
        """
        return self._services.wiper().wipe(
            scope, session=session, confirm=confirm, dry_run=dry_run, progress=progress
        )

    # Maintenance --------------------------------------------------------------------------------------------------

    def check(self, *, accept_losses: bool = False) -> list[str]:
        """Return in words what is wrong with the store and with the user layer; an empty list when all is well.

        With `accept_losses` files that are lost (logs of the stream, key files) are missed no longer from then on;
        the ledger is told which.

        Raises `AccessDenied` for an actor from whom anything is hidden: what is wrong is said by name.
        """
        return self._services.check(accept_losses=accept_losses)

    def memory_quality(self, *, space: str | None = None, listed: int = 100) -> MemoryQuality:
        """Return an audit of the active memories: junk, duplicates, echoes, what is stale, contradictory, secret or
        without provenance. It changes nothing.

        Every flaw is counted; of each kind at most `listed` findings are named, with ids, an excerpt, the rule and the
        remedy. An actor with a role is told of what the role may see. docs/imports.md describes the rules;
        `hexad.export_quality` looks at another system's export.

        Raises `NotFound` for a space that was never created.
        """
        self._services.handouts.flush()
        return self._services.quality().run(
            space=parse_text(space, "space"), listed=parse_whole(listed, "listed", least=0)
        )

    def reindex(
        self,
        *,
        embedder: str | Embedder | Callable[[Sequence[str]], object] | None = None,
        vectors: bool = False,
    ) -> ReindexReport:
        """Build the derived indexes anew; ids stay. With `embedder`, re-embed everything with that one.

        `vectors=True` computes the vectors anew with the store's own embedder. They are queued, and so are
        the derived links of the honeycomb; the background or `embed_pending` computes them. Raises
        `AccessDenied` as `check` does.
        """
        return self._services.reindex(embedder, vectors=vectors)

    def embed_pending(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Compute the vectors that are still missing, and the links, here and now; returns for how many memories.

        Raises `ProviderError` when the embedder fails. A store without an embedder has nothing to do.
        """
        return self._services.embed_and_link(progress)[0]

    def maintain(self, *, progress: Callable[[int], None] | None = None) -> MaintenanceReport:
        """Do now what the background would do: queued sources, gc, sealing, vectors, notes of what was recalled.

        gc runs over every space whose policy sets a lifetime and allows deletion, whoever asks. Consolidation runs
        where it is due: once a day for the project, once a month for the user layer (docs/consolidation.md).
        """
        return self._services.maintain(progress=progress)

    def consolidate(
        self,
        scope: str | None = None,
        *,
        dry_run: bool = False,
        archive_months: float | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> ConsolidationReport:
        """Put what is known in order, and return every change with its reason; nothing is purged.

        `"session"`: what ended tasks left becomes memories of the project, as drafts. `"project"`: duplicates are
        merged, what hardly matters or was untouched for long is archived, drafts that nobody saw again become less
        sure, layers that are over their quotas are made smaller. `"user"`: what the projects have in common is learned,
        and what is not seen any more becomes less sure. None is all three. What is pinned, decided or cited stays.

        A second time it changes nothing. `dry_run` only says what would be done. `archive_months` takes the place of
        the setting this once; `stop` is asked between small transactions. `report.undo` says how to take it back.
        `maintain` and the background do what is due by themselves: docs/consolidation.md.

        Raises `InvalidInput` for a value that cannot be used, `AccessDenied` for an actor from whom anything is hidden,
        `StoreLocked` while another program consolidates.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     for text in ("Releases are cut on Tuesday by ops.", "Releases are cut (on Tuesday) by ops!"):
        ...         _ = hx.remember(text)
        ...     report = hx.consolidate("project")
        ...     report.counts, report.changes[0].reason
        ({'merged': 1}, 'says the same')
        """
        return self._services.consolidation().run(
            scope,
            dry_run=dry_run,
            archive_months=archive_months,
            stop=stop,
            flush=self._services.flush_sessions,
        )

    def wait_for_background(self, timeout_s: float = 60.0) -> bool:
        """Wait until the background thread finds nothing that it can do now; False when that took longer: it goes on.

        What waits for an embedder that fails, for a budget or for another program is not waited for, and `status()`
        counts it; without a background thread nothing is.
        """
        parse_seconds(timeout_s, "timeout_s")
        return self._services.wait_idle(timeout_s)

    def changes(self) -> Mapping[str, int]:
        """Return how often each part of the store was changed, by any process: another number says where to look.

        Parts are `memories`, `spaces`, `documents` and such; what changed in them the numbers do not say.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     before = hx.changes().get("memories", 0)
        ...     _ = hx.remember("Deploys happen on Tuesday.")
        ...     hx.changes()["memories"] > before
        True
        """
        return dict(self._services.changes.all())

    def status(self) -> StoreStatus:
        """Return versions, durability, sizes, embedder, keys and what waits: what `hexad doctor` prints."""
        return self._services.status()


def _topic_of(topic: object) -> dict[str, Value]:
    return {"topic": topic} if isinstance(topic, str) else {}
