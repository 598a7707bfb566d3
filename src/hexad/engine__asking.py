"""Questions: to memories, to all layers at once, and what was said of the answers; with what closes a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from hexad.core.arguments import parse_text, parse_time, word_list
from hexad.core.arguments__checked import all_flags_checked
from hexad.core.tracing import span
from hexad.memory.query import Filters, Hits
from hexad.search.recall.options import RecallOptions
from hexad.text.normalize import slug, slugs

if TYPE_CHECKING:
    from hexad.layers.context.api import Contexts
    from hexad.layers.contract import FusedContext, MemoryItem, Plan, ScoredItem
    from hexad.layers.feedback.api import FeedbackDesk
    from hexad.layers.feedback.values import Feedback
    from hexad.services import Parts
    from hexad.spaces.bundles.project_context import ProjectContexts


class RouterUpkeep:
    """The part of `Parts` that has to do with contexts."""

    if TYPE_CHECKING:

        @cached_property
        def contexts(self) -> ProjectContexts:
            """What stands before an agent's step."""

    @cached_property
    def router(self) -> Contexts:
        """What asks all layers; loaded now, because a recall does without."""
        from hexad.layers.context.service import build_contexts

        return build_contexts(self)  # type: ignore[arg-type]  # `Parts` is the only one that has this part

    @cached_property
    def opinions(self) -> FeedbackDesk:
        """What was said of answers; loaded now, because a recall does without."""
        from hexad.layers.context.service import build_feedback

        return build_feedback(self)  # type: ignore[arg-type]  # as above

    def _finish_contexts(self) -> None:
        if "contexts" in self.__dict__:
            self.contexts.close()
        if "router" in self.__dict__:
            self.router.close()


@all_flags_checked
class RoutedCalls:
    """The part of `Hexad` that answers questions."""

    _parts: Parts

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
        limit: int = 10,
        max_tokens: int | None = None,
        explain: bool = False,
        semantic: bool | None = None,
        follow_links: bool = False,
        association: float = 0.0,
        feedback: bool = True,
    ) -> Hits:
        """Return what best answers `query`, best first; empty when nothing is relevant.

        `space` None means all spaces; `tags` must all be there; `path` is a prefix of whole parts or a pattern
        with `*`; `since` (inclusive) and `until` (exclusive) ask when a memory was valid, else written.
        `max_tokens` bounds the hits' texts together. `semantic=False` answers from full text alone, `True`
        insists on vectors (`ProviderError` when there are none to be had), None uses them when the store has
        some. `explain` adds what was considered and dropped, and why. `follow_links` adds under `linked` what the hits
        are linked with, also in other spaces. `association`, 0 to 1, lets a memory gain so much of the mean score
        of its neighbours in the honeycomb; off by default, for it helps some collections and not others. `feedback`
        False leaves out what was said of earlier answers.

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
        spaces = (space,) if isinstance(space, str) else None if space is None else word_list(space, "space")
        for name in spaces or ():
            self._parts.stores.spaces.get(name)
        options = RecallOptions(
            filters=Filters(
                spaces=spaces,
                kinds=None if kinds is None else tuple(map(slug, word_list(kinds, "kinds"))),
                tags=None if tags is None else slugs(word_list(tags, "tags")),
                path=parse_text(path, "path"),
                since=parse_time(since, "since"),
                until=parse_time(until, "until"),
                roles=self._parts.stores.roles,
            ),
            limit=limit,
            max_tokens=max_tokens,
            explain=explain,
            semantic=semantic,
            follow_links=follow_links,
            association=association,
            feedback=feedback,
        )
        when = parse_time(as_of, "as_of")
        with span("search_memory", limit=limit):
            if layers is None and when is None:
                hits = self._parts.recaller.recall(query, options)
            else:
                from hexad.layers.context.layered_recall__layered import Narrower, recall_layered

                narrower = Narrower(layers=layers, as_of=when)
                hits = recall_layered(self._parts, query, options, narrower)
        self._parts.wake()
        return hits

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
        from hexad.layers.context.api import Narrowed

        return self._parts.router.plan(
            query,
            max_tokens=max_tokens,
            layers=layers,
            deterministic=deterministic,
            model=model,
            narrowed=Narrowed(plain=plain),
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
        plain: bool = True,
    ) -> FusedContext:
        """Return what all layers know of a task, for a model: at most `max_tokens`, as data, with ids to cite.

        All layers are asked at once, each for 50 ms and 150 ms in all; `late`, `failed` and `absent` name those that
        gave nothing. `wait` waits for each of them; `deterministic` does too, and then the same state gives the same
        bytes. `task` is a sentence, or the query language (`layer:project kind:decision since:2w "auth"`:
        docs/context.md). A sentence that asks for records may carry filters too ("decisions about auth since last
        week"): `notes` says how it was understood, filters that leave nothing are left out, and `plain` False takes
        its words as they are. `layers` None asks those of the plan. `format` is `toon`, `json`, `markdown` or None, the
        smaller of the first two; `details` False keeps to summaries. `dropped` says what was left out, why, and what
        it would have cost.

        Raises `InvalidInput` for a value that cannot be used, `NotFound` for a space that was never created.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.remember("Deploys happen on Tuesday.")
        ...     [block.text for block in hx.context("when do we deploy?").system_items]
        ['Deploys happen on Tuesday.']
        """
        from hexad.layers.context.api import Narrowed, parse_layers
        from hexad.layers.router.plan import Wanted

        found = self._parts.router.context(
            task,
            wanted=Wanted(
                max_tokens=max_tokens, layers=parse_layers(layers), deterministic=deterministic, wait=wait
            ),
            narrowed=Narrowed(space=space, kinds=kinds, since=since, until=until, as_of=as_of, plain=plain),
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
        plain: bool = True,
    ) -> tuple[ScoredItem, ...]:
        """Return the items of all layers that answer best: scored, without duplicates, contradictions resolved.

        `text` is a sentence, or the query language; `plain` as in `context`, and `plan` says what is understood. Each
        score is the sum of its parts. Raises as `context` does.
        """
        from hexad.layers.context.api import Narrowed, parse_layers
        from hexad.layers.router.plan import Wanted

        wanted = Wanted(layers=parse_layers(layers), deterministic=deterministic)
        return self._parts.router.query(text, wanted=wanted, narrowed=Narrowed(plain=plain), limit=limit)

    def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem:
        """Return the whole of what a context showed in short: a block, an item, a hit of a recall, or an id.

        `max_tokens` cuts its text, and a note says so. Raises `NotFound` for an id that is not there.
        """
        self._parts.base.db.require_open()
        return self._parts.router.expand(what, max_tokens=max_tokens)

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
        return self._parts.opinions.give(what, verdict, query=query, note=note)

    def feedbacks(self, what: object | None = None, *, limit: int | None = None) -> list[Feedback]:
        """Return what was said of answers, the last first; `what` narrows it to one memory.

        Whoever has a role is shown its own. Raises as `feedback` does.
        """
        return self._parts.opinions.given(what, limit=limit)

    def retract_feedback(self, id: str) -> Feedback:
        """Take back what was said, by its id, and return it: answers are as if it had never been said.

        Raises `NotFound` for an id that is not there.
        """
        return self._parts.opinions.retract(id)
