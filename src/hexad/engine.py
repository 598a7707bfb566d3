"""`Hexad`: lifecycle, wiring and delegation; no algorithm lives here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hexad.core.arguments import (
    parse_choice,
    parse_place,
    parse_text,
    parse_time,
    parse_whole,
    subject_list,
    value_list,
    word_list,
)
from hexad.core.clock import Clock
from hexad.core.closing import Closing
from hexad.engine__asking import RoutedCalls
from hexad.engine__records import RecordCalls
from hexad.engine__structured import StructuredCalls
from hexad.ingest.report import IngestOptions, IngestReport, Progress
from hexad.maintenance.consolidation.service import ConsolidationCalls
from hexad.maintenance.reindex import ReindexReport, queue_vectors, rebuild_text
from hexad.maintenance.status__status import MaintenanceReport, StoreStatus
from hexad.memory.draft import Draft
from hexad.memory.memory import Citation, JSONValue, Memory, Relevance, Trust
from hexad.providers.embedders.base import Embedder
from hexad.services import Parts
from hexad.services__deciding import KnowledgeCalls
from hexad.spaces.access import require_owner

if TYPE_CHECKING:
    from hexad.experience.api import Xdb
    from hexad.honeycomb.api import HoneycombFacade
    from hexad.maintenance.quality.values import MemoryQuality
    from hexad.spaces.api import SpacesFacade
    from hexad.spaces.quarantine import QuarantineFacade


class Hexad(RecordCalls, StructuredCalls, KnowledgeCalls, RoutedCalls, ConsolidationCalls, Closing):
    """One open store. Made by `hexad.open`; safe to share between threads; close it, or use it in `with`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def spaces(self) -> SpacesFacade:
        """Named containers of memories: policies, retention, files."""
        return self._parts.governing.spaces

    @property
    def quarantine(self) -> QuarantineFacade:
        """What waits for a review: texts that read as instructions, writes to protected places."""
        return self._parts.governing.quarantine

    def __repr__(self) -> str:
        role = self._parts.base.actor.role
        return f"Hexad({str(self.path)!r}{'' if role is None else f', role={role!r}'})"

    @property
    def honeycomb(self) -> HoneycombFacade:
        """The association graph: nodes with at most six edges a ring, and context by walking it."""
        return self._parts.honeycombing.facade

    @property
    def xdb(self) -> Xdb:
        """The experience database: what an agent read, wrote and did, token by token."""
        return self._parts.experiencing.xdb

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._parts.place.directory

    @property
    def clock(self) -> Clock:
        """Where this store takes its times from."""
        return self._parts.clock

    # Writing ----------------------------------------------------------------------------------------------------

    def remember(  # noqa: PLR0913 - one keyword for each field of a memory; a bag of options would hide them
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
        data_subjects: Iterable[str] | None = None,
        derived_from: Iterable[str] | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        project: str | None = None,
        freeze_clock: datetime | str | None = None,
    ) -> Memory:
        """Store a text durably and return its memory; `memory.receipt` says what was done with it.

        Secrets are removed first. The same text again in the same space is evidence for the memory that is
        there; a text that a recall handed out comes back as an echo; an `id` or `source_id` that is known
        changes its memory and keeps the older text (`history`). What is not given is filled in, or kept. `project`
        counts where the metadata name none; without either it is the space's `metadata.project`, else the store's.
        `trust` says who vouches for the text: user, agent, tool, web or unknown. `derived_from` are ids of memories
        that it was made of: it is trusted no more than the least of them. What may not stand (docs/security.md) is
        kept with the status `quarantined`, and the receipt's notes say why.

        Raises `InvalidInput` (`InvalidMemory`, `InvalidSpace`) for a value that cannot be used, `LimitExceeded`
        for a text over 1 MiB, `Conflict` for an id of another space; then nothing was stored.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     memory = hx.remember("Deploys happen on Tuesday.", kind="decision", tags=["Release"])
        ...     memory.tags, memory.receipt.outcome.value
        (('release',), 'created')
        """
        draft = Draft(
            text=text,
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
            citations=None
            if citations is None
            else value_list(citations, "citations", of="`Citation` objects"),
            data_subjects=None if data_subjects is None else subject_list(data_subjects),
            derived_from=() if derived_from is None else word_list(derived_from, "derived_from"),
            metadata=metadata,
            project=project,
            now=parse_time(freeze_clock, "freeze_clock"),
        )
        self._parts.handouts.flush()
        memory = self._parts.writing.writer.write([draft])[0]
        self._parts.wake()
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
        self._parts.handouts.flush()
        report = self._parts.writing.ingestor.ingest(source, options, progress=progress)
        if dry_run:
            return report
        if embed or (embed is None and not self._parts.background):
            self.embed_pending()
        self._parts.wake()
        return report

    def embed_pending(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Compute the vectors that are still missing, and the links, here and now; returns for how many memories.

        Raises `ProviderError` when the embedder fails. A store without an embedder has nothing to do.
        """
        return self._embed_and_link(progress)[0]

    def _embed_and_link(self, progress: Callable[[int], None] | None) -> tuple[int, int]:
        job = self._parts.embedding
        embedded = job.run(progress=progress) if job is not None else 0
        return embedded, self._parts.link_pending()

    def enqueue(self, source: str | Path, *, space: str = "default", tags: Iterable[str] = ()) -> None:
        """Queue a source durably; `maintain` or the background of any process ingests it."""
        self._parts.writing.queue.put(source, space=space, tags=word_list(tags, "tags"))
        self._parts.wake()

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
        self._parts.writing.watcher.follow(
            source, space=space, tags=word_list(tags, "tags"), git=git, stop=stop, on_report=on_report
        )

    # Upkeep -----------------------------------------------------------------------------------------------------

    def check(self) -> list[str]:
        """Return in words what is wrong with the store and with the user layer; an empty list when all is well.

        Raises `AccessDenied` for an actor from whom anything is hidden: what is wrong is said by name.
        """
        parts = self._parts
        require_owner(parts.base.actor, parts.everything, doing="a check")
        dimensions = parts.store_dimensions()
        from hexad.maintenance.check import check

        found = check(
            parts.stores,
            parts.fulltext,
            directory=parts.place.directory,
            keys=parts.place.keys,
            dimensions=dimensions,
            crypt=parts.place.crypt,
        )
        return found + parts.check_user()

    def memory_quality(self, *, space: str | None = None, listed: int = 100) -> MemoryQuality:
        """Return an audit of the active memories: junk, duplicates, echoes, what is stale, contradictory, secret or
        without provenance. It changes nothing.

        Every flaw is counted; of each kind at most `listed` findings are named, with ids, an excerpt, the rule and the
        remedy. An actor with a role is told of what the role may see. docs/imports.md describes the rules;
        `hexad.export_quality` looks at another system's export.

        Raises `NotFound` for a space that was never created.
        """
        from hexad.maintenance.quality.api import QualityAudit

        self._parts.handouts.flush()
        audit = QualityAudit(self._parts.stores, clock=self._parts.clock)
        return audit.run(space=parse_text(space, "space"), listed=parse_whole(listed, "listed", least=0))

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
        parts = self._parts
        require_owner(parts.base.actor, parts.everything, doing="a reindex")
        if embedder is not None:
            parts = self._parts = parts.with_embedder(embedder)
        memories = rebuild_text(parts.stores, parts.fulltext)
        queued = 0
        if (embedder is not None or vectors) and parts.embedder is not None:
            queued = queue_vectors(
                parts.stores,
                parts.catalog,
                embedder=parts.embedder.name,
                dimensions=parts.embedder.dimensions,
            )
        links = parts.honeycombing.linking.queue_all()
        parts.wake()
        name = parts.embedder.name if parts.embedder else None
        return ReindexReport(memories=memories, vectors_queued=queued, links_queued=links, embedder=name)

    def maintain(self, *, progress: Callable[[int], None] | None = None) -> MaintenanceReport:
        """Do now what the background would do: queued sources, gc, sealing, vectors, notes of what was recalled.

        gc runs over every space whose policy sets a lifetime and allows deletion, whoever asks. Consolidation runs
        where it is due: once a day for the project, once a month for the user layer (docs/consolidation.md).
        """
        handouts = self._parts.handouts.flush()
        ingested = self._parts.writing.queue.run()
        self._parts.finish_erasures()
        self._parts.tend_sessions()
        self._parts.settle_due_facts()
        learned = self._parts.learn()
        consolidated = self._parts.consolidate_when_due(look=True)
        swept = self._parts.governing.sweeper.sweep()
        self._parts.move_to_ledger()
        self._parts.retain_ledger()
        sealed, problems = self._parts.seal_when_due()
        report = MaintenanceReport(
            ingested=ingested,
            archived=swept.archived,
            purged=swept.purged,
            sealed=sealed,
            problems=tuple(problems),
            compacted=self._parts.compact_idle(),
            let_go=self._parts.let_go_when_due(),
            compressed=self._parts.compress(),
            freed_bytes=self._parts.tidy(),
            handouts=handouts,
            consolidated=0 if consolidated is None else len(consolidated.changes),
            user_layer=self._parts.user_layer_state(learned),
        )
        embedded, linked = self._embed_and_link(progress)  # last: compactions become memories, too
        return replace(report, embedded=embedded, linked=linked, links_pending=self._parts.links_pending())

    def wait_for_background(self, timeout_s: float = 60.0) -> bool:
        """Wait until the background thread has nothing left to do; False when that took too long."""
        return self._parts.wait_idle(timeout_s)

    def status(self) -> StoreStatus:
        """Return versions, durability, sizes, embedder, keys and what waits: what `hexad doctor` prints."""
        return self._parts.status()

    def close(self) -> None:
        """Finish the batch in hand and release the store; may be called twice."""
        self._parts.close()
