"""Questions to all layers at once: the calls, and the router that they share with what closes a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from hexad.model.checked import all_flags_checked

if TYPE_CHECKING:
    from hexad.facade.context import Contexts
    from hexad.model.layers import FusedContext, MemoryItem, Plan, ScoredItem
    from hexad.recall.project_context import ProjectContexts
    from hexad.wiring import Parts


class RouterUpkeep:
    """The part of `Parts` that has to do with contexts."""

    if TYPE_CHECKING:

        @cached_property
        def contexts(self) -> ProjectContexts:
            """What stands before an agent's step."""

    @cached_property
    def router(self) -> Contexts:
        """What asks all layers; loaded now, because a recall does without."""
        from hexad.contexting import build_contexts

        return build_contexts(self)  # type: ignore[arg-type]  # `Parts` is the only one that has this part

    def _finish_contexts(self) -> None:
        if "contexts" in self.__dict__:
            self.contexts.close()
        if "router" in self.__dict__:
            self.router.close()


@all_flags_checked
class RoutedCalls:
    """The part of `Hexad` that asks all layers."""

    _parts: Parts

    def plan(
        self,
        query: str,
        *,
        max_tokens: int = 2_000,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
        model: str | None = None,
    ) -> Plan:
        """Return what a question is and how `context` would answer it: layers, weights, tokens and deadlines.

        Rules decide, with reasons; `model` asks a text generator instead (`"default"`, or `provider:MODEL`), and the
        rules again where it has no answer. Raises `InvalidInput` for a value that cannot be used.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     plan = hx.plan("How is the address book structured?")
        ...     plan.query_class.value, plan.task_type.value
        ('architectural', 'explain')
        """
        return self._parts.router.plan(
            query, max_tokens=max_tokens, layers=layers, deterministic=deterministic, model=model
        )

    def context(
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
    ) -> FusedContext:
        """Return what all layers know of a task, for a model: at most `max_tokens`, as data, with ids to cite.

        All layers are asked at once, each for 50 ms and 150 ms in all; `late`, `failed` and `absent` name those that
        gave nothing. `wait` waits for each of them; `deterministic` does too, and then the same state gives the same
        bytes. `task` is a sentence, or the query language (`layer:project kind:decision since:2w "auth"`:
        docs/context.md). `layers` None asks those of the plan. `format` is `toon`, `json`, `markdown` or None, the
        smaller of the first two; `details` False keeps to summaries. `dropped` says what was left out, why, and what
        it would have cost.

        Raises `InvalidInput` for a value that cannot be used, `NotFound` for a space that was never created.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.")
        ...     [block.text for block in hx.context("when do we deploy?").system_items]
        ['Deploys happen on Tuesday.']
        """
        from hexad.facade.context import Narrowed, parse_layers
        from hexad.recall.route import Wanted

        found = self._parts.router.context(
            task,
            wanted=Wanted(
                max_tokens=max_tokens, layers=parse_layers(layers), deterministic=deterministic, wait=wait
            ),
            narrowed=Narrowed(space=space, kinds=kinds, since=since, until=until, as_of=as_of),
            form=format,
            details=details,
            model=model,
        )
        self._parts.wake()
        return found

    def query(
        self,
        text: str,
        *,
        limit: int = 20,
        layers: Iterable[str] | None = None,
        deterministic: bool = False,
    ) -> tuple[ScoredItem, ...]:
        """Return the items of all layers that answer best: scored, without duplicates, contradictions resolved.

        `text` is a sentence, or the query language. Each score is the sum of its parts. Raises as `context` does.
        """
        from hexad.facade.context import Narrowed, parse_layers
        from hexad.recall.route import Wanted

        wanted = Wanted(layers=parse_layers(layers), deterministic=deterministic)
        return self._parts.router.query(text, wanted=wanted, narrowed=Narrowed(), limit=limit)

    def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem:
        """Return the whole of what a context showed in short: a block, an item, a hit of a recall, or an id.

        `max_tokens` cuts its text, and a note says so. Raises `NotFound` for an id that is not there.
        """
        return self._parts.router.expand(what, max_tokens=max_tokens)
