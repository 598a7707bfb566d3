"""The before-action hook of document 1: a project's memory, recalled and put into words before a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from typing import Final

from hexad.core.clock import Clock
from hexad.core.json_types import JSONObject
from hexad.core.prompt_fence import quoted, sealed
from hexad.errors import NotFound
from hexad.memory.decision import PROJECT_SPACE
from hexad.memory.store import Stores
from hexad.memory.tables.spaces import Space
from hexad.spaces.bundles.as_text import PREAMBLE, global_summary, item_text, linked_text
from hexad.spaces.bundles.builder import Bundles
from hexad.spaces.bundles.bundle import Bundle, BundleOptions, ProjectContext
from hexad.spaces.bundles.options import check_topic
from hexad.spaces.bundles.topic import ProjectPart
from hexad.text.tokens import TokenCounter

_ITEM_COUNT_TOKENS: Final = 2  # what the number of items may add to an empty frame


class TextCost:
    """The tokens of sections as they stand in the ready text."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def section(self, section: JSONObject) -> int:
        """Return the tokens of a section's summary, with a separator."""
        return self._counter.count(item_text(section) + "\n\n")

    def raw(self, section: JSONObject, raw: str) -> int:
        """Return how many tokens more the section takes with its raw text in the summary's place."""
        return max(0, self._counter.count(item_text(section, raw) + "\n\n") - self.section(section))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    project: str
    topic: str
    options: BundleOptions


class ProjectContexts:
    """Recalls what a project knows; what is too slow is given up, and said."""

    def __init__(
        self, stores: Stores, bundles: Bundles, *, clock: Clock, counter: TokenCounter, project: str
    ) -> None:
        """`project` is what the store's own project is called."""
        self._stores, self._own_project = stores, project
        self._bundles = bundles
        self._clock = clock
        self._counter = counter
        self._running: set[Future[None]] = set()

    def recall(
        self, project: str, topic: str, options: BundleOptions, *, deadline_ms: int | None = None
    ) -> ProjectContext:
        """Return the context of a project for a topic; within `deadline_ms` of real time, whatever is ready by then.

        Raises `NotFound` when no space, no project and no memory's `metadata.project` is called so.
        """
        if options.on_topic is None:
            options = replace(options, on_topic=True)
        request = _Request(project=project, topic=check_topic(topic), options=options)
        if deadline_ms is None:
            return list(self._steps(request))[-1]
        return self._within(request, deadline_ms)

    def close(self) -> None:
        """Wait for what was given up and still runs: it uses the store."""
        wait(tuple(self._running))

    def _within(self, request: _Request, deadline_ms: int) -> ProjectContext:
        ready: list[ProjectContext] = []

        def work() -> None:
            for context in self._steps(request):
                ready.append(context)

        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hexad-use-context")
        running = pool.submit(work)
        pool.shutdown(wait=False)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        try:
            running.result(timeout=deadline_ms / 1000)
        except FutureTimeout:
            if not running.done():
                return self._late(request, ready[-1] if ready else None, deadline_ms)
            running.result()  # an error of that name is the work's own
        return ready[-1]

    def _late(self, request: _Request, context: ProjectContext | None, deadline_ms: int) -> ProjectContext:
        what = "nothing was recalled" if context is None else "the digest was left out"
        context = context or self._empty(request)
        notes = (*context.notes, f"Not ready within deadline_ms = {deadline_ms}: {what}.")
        return replace(context, notes=notes, bundle=replace(context.bundle, notes=notes))

    def _empty(self, request: _Request) -> ProjectContext:
        bundle = Bundle(
            space=request.project,
            topic=request.topic,
            generated_at=request.options.freeze_clock or self._clock.now(),
            global_summary=global_summary(request.topic, ()),
            sections=(),
            raw=None,
            limit=request.options.limit,
        )
        return ProjectContext(project=request.project, topic=request.topic, spaces=(), bundle=bundle, text="")

    def _steps(self, request: _Request) -> Iterator[ProjectContext]:
        """Yield the context without a digest, then, where one is wanted, with it."""
        options = request.options
        scopes = self._scopes(request.project, on_topic=bool(options.on_topic))
        frame = self._counter.count(self._text(self._empty(request).bundle, request)) + _ITEM_COUNT_TOKENS
        bounded = options
        if options.max_tokens is not None:
            bounded = replace(options, max_tokens=max(0, options.max_tokens - frame))
        bundle = self._bundles.merged(
            scopes, request.project, request.topic, bounded, cost=TextCost(self._counter)
        )
        held = {memory.space for memory in bundle.memories}
        spaces = tuple(scope.space for scope in scopes if scope.numbers is None or scope.space in held)
        yield self._context(bundle, request, spaces)
        if options.digest:
            space = spaces[0] if len(spaces) == 1 else None
            yield self._context(self._bundles.with_digest(bundle, space=space), request, spaces)

    def _scopes(self, name: str, *, on_topic: bool) -> tuple[ProjectPart, ...]:
        """Return what a project consists of: the space of that name, else those whose `metadata.project` it is, else
        the memories that have it as theirs; with the decisions and facts that were recorded of that project.
        """
        spaces = self._spaces(name)
        if spaces:
            project = spaces[0].metadata.get("project") or self._own_project
            whole = tuple(ProjectPart(space=space.name) for space in spaces)
            return (*whole, *self._records(str(project), whole)) if on_topic else whole
        scopes = self._memories_of(name)
        if not scopes and name.casefold() != self._own_project.casefold():
            raise NotFound(
                f"Project {name!r} not found: no space is called so, and neither a space nor a memory has it as "
                "metadata.project. `hexad spaces list` shows the spaces there are."
            )
        return scopes

    def _spaces(self, name: str) -> list[Space]:
        space = self._stores.spaces.find(name)
        if space is not None:
            return [space]
        spaces = sorted(self._stores.spaces.list(), key=lambda space: space.name)
        for same in (str, str.casefold):
            found = [space for space in spaces if same(str(space.metadata.get("project", ""))) == same(name)]
            found = found or [space for space in spaces if same(space.name) == same(name)]
            if found:
                return found
        return []

    def _records(self, project: str, whole: Sequence[ProjectPart]) -> tuple[ProjectPart, ...]:
        """Return the decisions and facts of a project where they have a space of their own."""
        if (
            PROJECT_SPACE in {scope.space for scope in whole}
            or self._stores.spaces.find(PROJECT_SPACE) is None
        ):
            return ()
        numbers = self._stores.places.of_project(project, space=PROJECT_SPACE, records=True).get(
            PROJECT_SPACE
        )
        return (ProjectPart(space=PROJECT_SPACE, numbers=numbers),) if numbers else ()

    def _memories_of(self, project: str) -> tuple[ProjectPart, ...]:
        """Return the memories whose own `metadata.project` it is, by their spaces."""
        numbers = self._stores.places.of_project(project)
        return tuple(
            ProjectPart(space=space, numbers=numbers[space])
            for space in sorted(numbers)
            if self._stores.spaces.find(space) is not None
        )

    def _context(self, bundle: Bundle, request: _Request, spaces: tuple[str, ...]) -> ProjectContext:
        text, notes = "", bundle.notes
        if bundle.sections:
            text, more = self._fitted(bundle, request)
            notes = (*notes, *more)
        return ProjectContext(
            project=request.project,
            topic=request.topic,
            spaces=spaces,
            bundle=bundle,
            text=text,
            notes=notes,
        )

    def _fitted(self, bundle: Bundle, request: _Request) -> tuple[str, tuple[str, ...]]:
        """Return the text within `max_tokens`: the sections fit already, the digest and what is linked may not."""
        most = request.options.max_tokens
        text = self._text(bundle, request)
        if most is None or self._counter.count(text) <= most:
            return text, ()
        shorter = self._text(replace(bundle, linked=None), request)
        if self._counter.count(shorter) <= most:
            return shorter, ("max_tokens left what is linked out of the text.",)
        text = self._text(replace(bundle, linked=None, digest=None), request)
        return text, ("max_tokens left the digest and what is linked out of the text.",)

    def _text(self, bundle: Bundle, request: _Request) -> str:
        raw = {
            memory_id: str(entry["raw"])
            for memory_id, entry in zip(bundle.raw_ids, bundle.raw or (), strict=False)
        }
        parts = [PREAMBLE]
        if bundle.digest is not None:
            parts.append(f"A digest that a model made of these items:\n{quoted(bundle.digest)}")
        parts += [item_text(section, raw.get(str(section["id"]))) for section in bundle.sections]
        parts += [linked_text(linked) for linked in bundle.linked or ()]
        attributes = {"project": request.project, "topic": request.topic, "items": str(len(bundle.sections))}
        return sealed(parts, attributes=attributes)
