"""What calls models for pay, and the book in which that is kept: built from the settings when a store is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.config import Settings
from hexad.core.clock import Clock
from hexad.database.connection import Database
from hexad.errors import InvalidInput, InvalidSpace, ProviderError
from hexad.memory.policy import SpaceBudget, parse_space_budget
from hexad.providers.budgets.metering import MeteredEmbedder, MeteredGenerator, Prices, parse_prices
from hexad.providers.budgets.table import Budgets
from hexad.providers.embedders.base import Embedder, QueryEmbedder
from hexad.providers.embedders.openai_compatible import RemoteEmbedder
from hexad.providers.generators.base import Generator, GeneratorSpec
from hexad.providers.generators.endpoints import GeneratorAccess, parse_endpoint
from hexad.providers.generators.resolve import first_model, resolve_generator

DEFAULT: Final = "default"


class MeteredModels:
    """The budgets of a store, and its text generator within them; `generator` is None where none is set."""

    def __init__(self, db: Database, settings: Settings, spec: GeneratorSpec, *, clock: Clock) -> None:
        plan = ModelPlan(settings, spec)
        self.budgets = Budgets(db, clock=clock, project=plan.project)
        self._prices = plan.prices
        self._plan = plan
        self.generator = None if plan.generator is None else self._metered(plan.generator, plan.model)

    def generator_for(self, model: str | None) -> MeteredGenerator | None:
        """Return what answers a call that names `model`: the store's generator, else the one that `model` names.

        None where there is none, or the store was opened with `generator=None`. Raises `InvalidInput` for a
        model that names no provider where nothing else does, `ProviderError` where it is the settings' model.
        """
        if model is None and self._plan.problem is not None:
            raise ProviderError(str(self._plan.problem))
        if self.generator is not None or model is None or self._plan.off:
            return self.generator
        endpoint = parse_endpoint(model)
        if endpoint is None or endpoint.own:
            raise InvalidInput(
                f"The model {model[:80]!r} names no provider, and no generator is set; write provider:MODEL, or set "
                "`generator` in hexad.toml."
            )
        generator = resolve_generator(model, access=self._plan.access)
        return None if generator is None else self._metered(generator, None)

    def embedder(self, embedder: Embedder | None) -> Embedder | None:
        """Return the embedder, metered when it is behind an endpoint; what runs here costs nothing."""
        if isinstance(embedder, RemoteEmbedder):
            return MeteredEmbedder(embedder, self.budgets, self._prices)
        return embedder

    def _metered(self, generator: Generator, model: str | None) -> MeteredGenerator:
        return MeteredGenerator(
            generator, self.budgets, self._prices, model=model, max_tokens=self._plan.access.max_tokens
        )


class ModelPlan:
    """What the settings say about models; raises `InvalidInput` for what cannot be used. Nothing is loaded.

    A call asks for its own model, else `memory_semantic_model`, else `llm_model`, else the generator's own.
    """

    def __init__(self, settings: Settings, spec: GeneratorSpec) -> None:
        self.access = GeneratorAccess(
            key=settings.llm_api_key,
            keys=settings.provider_keys,
            timeout_s=settings.llm_timeout_s,
            max_tokens=settings.llm_max_tokens,
        )
        self.prices = Prices(parse_prices(settings.prices))
        self.project = _project_budget(settings)
        self.off = spec is None or spec == "none" or (spec == DEFAULT and settings.generator == "none")
        models = (settings.memory_semantic_model, settings.llm_model)
        self.model: str | None = None
        self.problem: InvalidInput | None = None
        if spec == DEFAULT:
            spec, self.model = self._default(settings.generator, models)
        elif isinstance(spec, str):
            self.model = first_model(spec, models)[1]
        else:
            self.model = next((model for model in models if model), None)
        self.generator = resolve_generator(spec, access=self.access)

    def _default(self, generator: str | None, models: Sequence[str | None]) -> tuple[str | None, str | None]:
        try:
            return first_model(generator, models)
        except InvalidInput as error:
            if generator is not None or models[0] is None:
                raise
            # Another program's variable may name a bare model: nobody who asks no model should be held up by it.
            self.problem = error
            return None, None


def _project_budget(settings: Settings) -> SpaceBudget:
    try:
        return parse_space_budget(settings.budget or None)  # type: ignore[arg-type]  # it says what is no JSON
    except InvalidSpace as error:
        words = str(error).removeprefix("Invalid space policy ")
        raise InvalidInput(f"[budget] in hexad.toml: {words}") from error


def query_embedder(embedder: Embedder) -> QueryEmbedder:
    """Return what embeds a question, and charges it to the space that was asked where that costs something."""
    if isinstance(embedder, MeteredEmbedder):
        return embedder.embed_query
    return lambda text, _space: embedder.embed_query(text)
