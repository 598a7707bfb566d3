"""The router of a store and the layers that it asks, built when a context is first asked for: a recall does without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hexad.code_graph.tables.graph import CodeGraphTables
from hexad.core.arguments import word_list
from hexad.database.store_context import StoreContext
from hexad.layers.code_passages import CodePassages
from hexad.layers.context.api import ContextFilters, Contexts, Source, parse_layers
from hexad.layers.context.layered_recall import LayeredRecall, Narrower
from hexad.layers.contract import FusedContext, LayerSource, MemoryItem, MemoryQuery, Plan, ScoredItem
from hexad.layers.on_demand import LayerOnDemand
from hexad.layers.recalled_layers import (
    GovernanceLayer,
    ProjectLayer,
    RecalledLayer,
    SharedRecall,
)
from hexad.layers.router.plan import RouteModel, RouteRequest
from hexad.memory.layer_names import MemoryLayer, QueryClass
from hexad.memory.query import Hit, Hits
from hexad.memory.store import Stores
from hexad.memory.tables.decisions import Decisions
from hexad.memory.tables.facts import Facts
from hexad.search.recall.query_terms import RecallOptions
from hexad.search.recall.recall_log import RecallLog
from hexad.search.recall.recaller import Recaller
from hexad.text.tokens import CharacterCounter

if TYPE_CHECKING:
    from hexad.layers.code_graph import CodeGraphLayer
    from hexad.layers.session.service import SessionService
    from hexad.layers.user.service import UserService

GraphRecall = Callable[[MemoryQuery], Sequence[Hit]]
"""What a recall finds for a query."""


Service = TypeVar("Service")


class OnDemand(NamedTuple, Generic[Service]):
    """A system that is made when it is first asked for, and whether it has anything to tell before that."""

    service: Callable[[], Service]
    has_any: Callable[[], bool]


class ContextService:
    """Asks all layers of an open store."""

    def __init__(
        self,
        context: StoreContext,
        stores: Stores,
        recaller: Recaller,
        *,
        handouts: RecallLog,
        session: OnDemand[SessionService],
        user: OnDemand[UserService],
        graph: Callable[[CodeGraphTables, GraphRecall | None], CodeGraphLayer],
        factors: Callable[[QueryClass], Mapping[MemoryLayer, float]],
        generator_for: Callable[[str | None], RouteModel | None],
    ) -> None:
        """`graph` makes the layer of the code graph, which is asked for only where code was indexed.

        `factors` says what verdicts make of the layers' authority for a class of questions.
        """
        self._context, self._stores, self._recaller = context, stores, recaller
        self._session, self._user, self._graph = session.service, user.service, graph
        self._on_demand = (
            LayerOnDemand(MemoryLayer.SESSION, has_any=session.has_any, load=lambda: self._session().layer),
            LayerOnDemand(MemoryLayer.USER, has_any=user.has_any, load=lambda: self._user().layer),
        )
        self._code_graph = CodeGraphTables(context.db, roles=stores.roles)
        self._shared = SharedRecall(recaller, stores.db.caches)
        self._contexts = Contexts(
            context,
            stores,
            self._sources(),
            counter=CharacterCounter(),
            handouts=handouts,
            generator_for=generator_for,
            factors=factors,
            recall_notes=self._shared.notes,
        )

    @property
    def router(self) -> Contexts:
        """What asks the layers, once those are loaded that have something by now."""
        for layer in self._on_demand:
            layer.look()
        return self._contexts

    def recall(
        self, query: str, options: RecallOptions, *, layers: Iterable[str] | None, as_of: datetime | None
    ) -> Hits:
        """Return the best hits of some layers, as of a time."""
        others: Mapping[MemoryLayer, Callable[[], LayerSource]] = {
            MemoryLayer.SESSION: lambda: self._session().layer,
            MemoryLayer.USER: lambda: self._user().layer,
        }
        if not self._code_graph.is_empty():
            others = {**others, MemoryLayer.GRAPH: lambda: self._graph_layer(found=False)}
        layered = LayeredRecall(self._stores, self._recaller, others, clock=self._context.clock)
        return layered.recall(query, options, Narrower(layers=layers, as_of=as_of))

    def plan(
        self,
        question: str,
        *,
        max_tokens: int,
        layers: Iterable[str] | None,
        deterministic: bool,
        model: str | None,
        plain: bool,
    ) -> Plan:
        """Return how a question would be answered."""
        return self.router.plan(
            question,
            max_tokens=max_tokens,
            layers=layers,
            deterministic=deterministic,
            model=model,
            narrowed=ContextFilters(plain=plain),
        )

    def context(  # noqa: PLR0913 - one keyword for each thing that may be asked
        self,
        task: str,
        *,
        max_tokens: int,
        layers: Iterable[str] | None,
        deterministic: bool,
        format: str | None,
        details: bool,
        space: str | Sequence[str] | None,
        kinds: Sequence[str] | None,
        since: datetime | str | None,
        until: datetime | str | None,
        as_of: datetime | str | None,
        wait: bool,
        model: str | None,
        plain: bool,
        without: Iterable[str],
    ) -> FusedContext:
        """Return what all layers know of a task."""
        return self.router.context(
            task,
            wanted=RouteRequest(
                max_tokens=max_tokens, layers=parse_layers(layers), deterministic=deterministic, wait=wait
            ),
            narrowed=ContextFilters(
                space=space, kinds=kinds, since=since, until=until, as_of=as_of, plain=plain
            ),
            form=format,
            details=details,
            model=model,
            without=word_list(without, "without"),
        )

    def query(
        self, text: str, *, limit: int, layers: Iterable[str] | None, deterministic: bool, plain: bool
    ) -> tuple[ScoredItem, ...]:
        """Return the items of all layers that answer best."""
        request = RouteRequest(layers=parse_layers(layers), deterministic=deterministic)
        return self.router.query(text, wanted=request, narrowed=ContextFilters(plain=plain), limit=limit)

    def expand(self, what: object, *, max_tokens: int | None = None) -> MemoryItem:
        """Return the whole of what a context showed in short."""
        return self.router.expand(what, max_tokens=max_tokens)

    def close(self) -> None:
        """Wait for what is still asked."""
        self._contexts.close()
        self._shared.close()

    def _graph_layer(self, *, found: bool = True) -> CodeGraphLayer:
        return self._graph(self._code_graph, self._shared.hits if found else None)

    def _vector_layer(self) -> LayerSource:
        passages = CodePassages(self._code_graph, self._stores)
        return RecalledLayer(MemoryLayer.VECTOR, self._shared, self._stores, code=passages.shown)

    def _graph_source(self) -> LayerSource | None:
        return None if self._code_graph.is_empty() else self._graph_layer()

    def _sources(self) -> Mapping[MemoryLayer, Source]:
        """Return what gives each layer that there is; the code graph is none before code was indexed."""
        db, roles = self._context.db, self._stores.roles

        def recalled(name: MemoryLayer) -> LayerSource:
            return RecalledLayer(name, self._shared, self._stores)

        return {
            **{layer.name: partial(_itself, layer) for layer in self._on_demand},
            MemoryLayer.PROJECT: lambda: ProjectLayer(
                recalled(MemoryLayer.PROJECT), Facts(db, roles=roles), self._stores.spaces
            ),
            MemoryLayer.GOVERNANCE: lambda: GovernanceLayer(
                recalled(MemoryLayer.GOVERNANCE), Decisions(db, roles=roles)
            ),
            MemoryLayer.GRAPH: self._graph_source,
            MemoryLayer.VECTOR: self._vector_layer,
        }


def _itself(layer: LayerSource) -> LayerSource:
    return layer
