"""Document 1's calls on a store: structured memories, context bundles, links. Delegation only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from hexad.core.tracing import span
from hexad.database.codec import to_micros
from hexad.errors import InvalidInput
from hexad.memory.link import LINK_KIND_DEFAULT, Link, check_link_kind
from hexad.memory.memory import JSONValue, Memory
from hexad.services import Parts
from hexad.spaces.bundles.bundle import Bundle, KindList, ProjectContext
from hexad.spaces.bundles.hook import ContextHook, Topic
from hexad.spaces.bundles.options import (
    GivenOptions,
    check_deadline,
    check_project,
    check_topic,
    parse_bundle_options,
)

if TYPE_CHECKING:
    from hexad.ingest.structured.calls import OptionsText, RawOptions, StructuredOptions


class StructuredCalls:
    """The part of `Hexad` that document 1 names."""

    _parts: Parts

    # Bundles ----------------------------------------------------------------------------------------------------

    def recall_context(self, space: str, topic: str, options: GivenOptions = None, **more: object) -> Bundle:
        """Return what a space knows about a topic: sections in order, the same bytes for the same state.

        Options as keywords, as a mapping, or as JSON text: `limit` (5), `raw_limit` (2), `include_raw`,
        `include_metadata`, `prefer_kinds`, `prefer_tags`, `require_high_relevance`, `freeze_clock`, `backend`,
        `order`, `path`, `max_tokens`, `follow_links`, `digest`; docs/bundles.md explains each. What was replaced or
        left out stands in `notes`.

        Raises `NotFound` when `space` was never created, `InvalidInput` for an option that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="shop", path="shop/gateway/retries")
        ...     print(hx.recall_context("shop", "retries", limit=3).global_summary)
        Context bundle for 'retries' (1 items):
        • shop/gateway/retries — Retries stop after five.
        """
        chosen = parse_bundle_options(options, more)
        with span("recall_context", space=space, limit=chosen.limit) as seen:
            bundle = self._parts.bundles.context(space, topic, chosen)
            seen.update(backend=bundle.backend, items_returned=len(bundle.sections))
        self._parts.wake()
        return bundle

    def recall_kind(self, space: str, kind: str, options: GivenOptions = None, **more: object) -> KindList:
        """Return a space's memories of one kind, in order; a sequence of sections. Options of `recall_context`.

        Raises `NotFound` when `space` was never created, `InvalidInput` for an option that cannot be used.
        """
        chosen = parse_bundle_options(options, more)
        with span("recall_kind", space=space, limit=chosen.limit) as seen:
            found = self._parts.bundles.kind(space, kind, chosen)
            seen.update(backend=found.backend, items_returned=len(found))
        self._parts.wake()
        return found

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

        `project` is a space, else the `metadata.project` of one or more spaces. Read it as a value, enter it with
        `with`, or decorate the step's function with it; then `topic` may be a function of that function's arguments.
        Options of `recall_context`. What is not ready `deadline_ms` after the recall began is left out, and
        `notes` says so. Recalling raises `NotFound` when there is no such project; options that cannot be used raise
        `InvalidInput` here.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Retries stop after five.", space="shop", id="mem_retries")
        ...     with hx.use_context("shop", "retries") as context:
        ...         "[mem_retries]" in context.prepend("Fix the gateway.")
        True
        """
        chosen = parse_bundle_options(options, more)
        check_project(project)
        check_deadline(deadline_ms)
        if not callable(topic):
            check_topic(topic)

        def recall(about: str) -> ProjectContext:
            with span("use_context", project=project, limit=chosen.limit) as seen:
                context = self._parts.contexts.recall(project, about, chosen, deadline_ms=deadline_ms)
                seen.update(backend=context.bundle.backend, items_returned=len(context.bundle.sections))
            self._parts.wake()
            return context

        return ContextHook(recall, topic)

    # Writing ----------------------------------------------------------------------------------------------------

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
        self._parts.handouts.flush()
        memory = self._parts.writing.intake.structured(space, payload, options, given)
        self._parts.wake()
        return memory

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
        self._parts.handouts.flush()
        memory = self._parts.writing.intake.raw(space, kind, raw, options, given)
        self._parts.wake()
        return memory

    # Links ------------------------------------------------------------------------------------------------------

    def link(self, source: str, target: str, *, kind: str = LINK_KIND_DEFAULT) -> Link:
        """Link two memories by id or path, also of different spaces; returns the link.

        `kind` says how, read from source to target (`related`, `based-on`, …). Drawn again, it is the same link.
        A recall follows links only when asked (`follow_links`), and only to what the actor may see.

        Raises `NotFound` for a memory that is not there, `Conflict` for a path that memories of several spaces have,
        `InvalidInput` for a kind that cannot be used or a memory linked with itself.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     rule = hx.remember("Secrets live in the vault.", space="platform")
        ...     step = hx.remember("The release reads the signing key.", space="release")
        ...     _ = hx.link(step.id, rule.id, kind="based-on")
        ...     [linked.memory.raw for linked in hx.recall("signing key", space="release", follow_links=True).linked]
        ['Secrets live in the vault.']
        """
        stores = self._parts.stores
        self._parts.writing.redactor.refuse_secret_link(check_link_kind(kind))
        with stores.db.transaction():
            source_no = stores.memories.resolve_one(source, spaces=False)
            target_no = stores.memories.resolve_one(target, spaces=False)
            if source_no == target_no:
                raise InvalidInput(f"Memory {source!r} cannot be linked with itself; name another target.")
            now = self._parts.clock.now()
            stores.links.put(source_no, target_no, kind, at=now)
            stores.honeycomb.relate(source_no, target_no, kind, at=to_micros(now))
            target_id = stores.memories.by_no([target_no])[target_no].id
            links = [link for _, link in stores.links.of([source_no], incoming=False, active_only=False)]
        return next(link for link in links if link.kind == kind and link.target.id == target_id)

    def unlink(self, source: str, target: str, *, kind: str | None = None) -> int:
        """Remove the link from `source` to `target`, of one kind or of all; returns how many there were.

        Raises `NotFound` for a memory that is not there, `Conflict` as `link` does.
        """
        stores = self._parts.stores
        with stores.db.transaction():
            source_no = stores.memories.resolve_one(source, spaces=False)
            target_no = stores.memories.resolve_one(target, spaces=False)
            removed = stores.links.remove(source_no, target_no, kind)
            if removed:  # what else speaks for a connection is looked at anew
                stores.honeycomb.edges.drop_pair(source_no, target_no, auto_only=True)
        self._parts.wake()
        return removed

    def links(self, id_or_path: str, *, space: str | None = None) -> Sequence[Link]:
        """Return a memory's links, from it and to it, to memories that are active. Raises `NotFound`."""
        stores = self._parts.stores
        with stores.db.read():
            no = stores.memories.resolve(id_or_path, space=space)
            return [link for _, link in stores.links.of([no])]
