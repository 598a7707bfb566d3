"""Calls to models within their budgets: set aside before, put right after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from hexad.config import Settings
from hexad.core.arguments import is_number, is_whole, quoted
from hexad.core.clock import Clock
from hexad.core.tracing import HERE, span
from hexad.database.connection import Database
from hexad.errors import HexadError, InvalidInput, InvalidSpace, ProviderError
from hexad.memory.policy import SpaceBudget, parse_space_budget
from hexad.providers.budgets.table import Budgets
from hexad.providers.embedders.base import Embedder, QueryEmbedder
from hexad.providers.embedders.openai_compatible import RemoteEmbedder
from hexad.providers.generators.base import Generator, GeneratorSpec, Prompt, Reply, instructions
from hexad.providers.generators.endpoints import MAX_TOKENS, GeneratorAccess, parse_endpoint
from hexad.providers.generators.resolve import first_model, resolve_generator
from hexad.providers.spending import BudgetBook, Spend, within_budget
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from hexad.providers.embedders.rows import FloatRows
    from hexad.providers.rerankers import Reranker


_MILLION: Final = 1_000_000
_LOCAL: Final = "ollama"
_THIS_MACHINE: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_EXAMPLE: Final = '"openai:MODEL" = {input = 0.15, output = 0.60}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens of each kind."""

    input: float
    output: float


class Prices:
    """Prices by name, and behind them those that the package `genai-prices` knows, where it is installed.

    A name is `provider:model`, or `provider:*` for all its models; one of `openai` holds for `openai@host` too, unless
    that is named itself. A model that Ollama runs on this machine costs nothing.
    """

    def __init__(self, named: Mapping[str, Price] | None = None) -> None:
        self._named = {name.lower(): price for name, price in (named or {}).items()}

    def of(self, spend: Spend, *, provider: str, model: str) -> Spend:
        """Return `spend` with its US dollars; None where no price is known."""
        if spend.usd is not None:
            return spend
        price = self._price(provider, model)
        if price is not None:
            usd = (spend.input_tokens * price.input + spend.output_tokens * price.output) / _MILLION
            return replace(spend, usd=usd)
        return replace(spend, usd=_known(spend, provider, model))

    def _price(self, provider: str, model: str) -> Price | None:
        kind, _, host = provider.partition("@")
        for name in (f"{provider}:{model}", f"{kind}:{model}", f"{provider}:*", f"{kind}:*"):
            if (price := self._named.get(name.lower())) is not None:
                return price
        here = not host or urlsplit(f"//{host}").hostname in _THIS_MACHINE
        if (
            kind == _LOCAL and here and not model.endswith("-cloud")
        ):  # such a one is passed on to their servers
            return Price(input=0.0, output=0.0)
        return None


def parse_prices(table: Mapping[str, object]) -> dict[str, Price]:
    """Return the prices that `[prices]` in `hexad.toml` names; raises `InvalidInput`."""
    prices: dict[str, Price] = {}
    for name, value in table.items():
        if ":" not in name.strip(":"):
            raise InvalidInput(f"[prices] {name!r} is not provider:model; write it like {_EXAMPLE}.")
        if not isinstance(value, Mapping) or not value or set(value) - {"input", "output"}:
            raise InvalidInput(
                f"[prices] {name!r} = {quoted(value)} cannot be used; write it like {_EXAMPLE}."
            )
        amounts = {"input": 0.0, "output": 0.0}
        for side, amount in value.items():
            if not is_number(amount, 0) or amount == math.inf:
                raise InvalidInput(
                    f"[prices] {name!r}: {side} = {quoted(amount)} cannot be used; give US dollars per million tokens."
                )
            amounts[side] = float(amount)
        prices[name] = Price(input=amounts["input"], output=amounts["output"])
    return prices


def _known(spend: Spend, provider: str, model: str) -> float | None:
    if "@" in provider:
        return None  # what another host asks for a model of this name is not known
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    usage = Usage(input_tokens=spend.input_tokens, output_tokens=spend.output_tokens)
    try:
        return float(calc_price(usage, model, provider_id=provider).total_price)
    except LookupError:
        return None


_ENVELOPE_TOKENS: Final = 32
"""What a request has beside its texts: roles, separators, the schema's wrapping."""
_QUERY: Final = "recall"
_MOST_TOKENS: Final = 100_000_000
_MOST_USD: Final = 1e9
_NAME_CHARACTERS: Final = 1_000
"""Most of each that one call can have used, or be called."""

EmbedPart = Callable[[Sequence[str]], "FloatRows"]


class MeteredGenerator:
    """A text generator whose calls are kept within the budgets.

    `model` is what a prompt asks for that names no model itself: the settings' `memory_semantic_model`, else
    `llm_model`, else None, which means the generator's own.
    """

    def __init__(
        self,
        generator: Generator,
        book: BudgetBook,
        prices: Prices,
        *,
        model: str | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self._generator = generator
        self._book = book
        self._prices = prices
        self._model = model
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """`provider:model` of what answers a prompt that names no model."""
        return ":".join(self._place(self._model))

    def generate(self, prompt: Prompt, *, space: str | None, operation: str) -> Reply:
        """Return the answer, with what it cost. What the call may cost at most is set aside before it is made.

        `space` is charged, None when no single one asked. Raises `BudgetExceeded` before anything is sent,
        `ProviderError` when there is no answer; then what may have been charged stays counted.
        """
        prompt = replace(
            prompt, model=prompt.model or self._model, max_tokens=prompt.max_tokens or self._max_tokens
        )
        provider, model = self._place(prompt.model)
        estimate = self._prices.of(self._estimate(prompt), provider=provider, model=model)
        with (
            within_budget(
                self._book,
                space=space,
                provider=provider,
                model=model,
                operation=operation,
                estimate=estimate,
            ) as call,
            span("chat", provider=provider, model=model, operation=operation) as attributes,
        ):
            reply = self._answer(prompt, f"{provider}:{model}")
            attributes["input_tokens"] = reply.spend.input_tokens
            attributes["output_tokens"] = reply.spend.output_tokens
            spend = reply.spend
            if (
                not spend.input_tokens and not spend.output_tokens
            ):  # an endpoint that does not say what it used
                spend = replace(
                    spend, input_tokens=estimate.input_tokens, output_tokens=estimate_tokens(reply.text)
                )
            call.actual = self._prices.of(spend, provider=provider, model=model)
        return replace(reply, spend=call.actual)

    def _place(self, model: str | None) -> tuple[str, str]:
        """Return the provider and the model that a prompt goes to; raises `ProviderError` for what is neither."""
        place = _answer_of(
            lambda: self._generator.provider_of(model),
            f"The provider_of of {_called(self._generator)}",
            charged=False,
        )
        if not isinstance(place, tuple) or len(place) != 2 or not all(map(_is_name, place)):
            raise ProviderError(
                f"The provider_of of {_called(self._generator)} returned no provider and model; return two texts.",
                charged=False,
            )
        return place

    def _answer(self, prompt: Prompt, place: str) -> Reply:
        """Return the generator's reply with nothing in it that no reply can have; raises `ProviderError`."""
        reply = _answer_of(lambda: self._generator.generate(prompt), f"Generator {place!r}", charged=True)
        if not isinstance(reply, Reply):
            raise ProviderError(f"Generator {place!r} returned {type(reply).__name__}; return a hexad.Reply.")
        if not isinstance(reply.text, str):
            raise ProviderError(
                f"Generator {place!r} returned a reply whose text is {type(reply.text).__name__}; return a string."
            )
        model = reply.model if _is_name(reply.model) else place
        return replace(reply, model=model, spend=_believed(reply.spend))

    def _estimate(self, prompt: Prompt) -> Spend:
        tokens = estimate_tokens(instructions(prompt)) + estimate_tokens(prompt.text) + _ENVELOPE_TOKENS
        return Spend(input_tokens=tokens, output_tokens=prompt.max_tokens or self._max_tokens)


def _answer_of(call: Callable[[], object], who: str, *, charged: bool) -> object:
    """Return what a generator says; raises `ProviderError` where it raises what no generator may."""
    try:
        return call()
    except (HexadError, AssertionError):  # the latter is a test's own word
        raise
    # Foreign code may raise anything, and whoever waits for a text must be able to tell a failed generator from
    # a defect of ours. Its words may hold the prompt: they go no further.
    except Exception as error:
        raise ProviderError(
            f"{who} raised {type(error).__name__}; mend it, or set another generator.", charged=charged
        ) from error


def _called(generator: object) -> str:
    return type(generator).__qualname__


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _NAME_CHARACTERS and name.isprintable()


def _believed(spend: object) -> Spend:
    """Return what a generator says that it used: nothing, which is then estimated, for what no call can have used."""
    if not isinstance(spend, Spend):
        return Spend()
    counts: tuple[object, object] = (spend.input_tokens, spend.output_tokens)
    if not all(is_whole(count, 0, _MOST_TOKENS) for count in counts):
        spend = replace(spend, input_tokens=0, output_tokens=0)
    usd: object = spend.usd
    if usd is not None and not is_number(usd, 0, _MOST_USD):
        spend = replace(spend, usd=None)
    return spend


class MeteredEmbedder:
    """An embedder behind an endpoint, whose calls are kept within the budgets.

    The provider is `openai` at its own host, `openai@host` elsewhere. Where nothing says for which space a text is
    embedded, the project's budget alone is charged.
    """

    def __init__(self, embedder: RemoteEmbedder, book: BudgetBook, prices: Prices) -> None:
        self._embedder = embedder
        self._book = book
        self._prices = prices
        self.name = embedder.name

    @property
    def dimensions(self) -> int:
        """The length of the vectors; the endpoint is asked, and charged, where it has to be."""
        if self._embedder.known_dimensions is None:
            with self.charged(["dimensions"], space=None, operation="embed") as embed:
                embed([])  # nothing but what shows the length
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> FloatRows:
        """Return one row per text; raises `BudgetExceeded` before anything is sent, `ProviderError`."""
        with self.charged(texts, space=None, operation="embed") as embed:
            return embed(texts)

    def embed_query(self, text: str, space: str | None = None) -> FloatRows:
        """Return the row of one question that was asked of `space`, None for none or for several."""
        with self.charged([text], space=space, operation=_QUERY) as embed:
            row: FloatRows = embed([text])[0]
        return row

    @contextmanager
    def charged(self, texts: Sequence[str], *, space: str | None, operation: str) -> Iterator[EmbedPart]:
        """Set aside what `texts` cost, and give a function that embeds them in as many parts as one likes.

        What was used counts when the block ends, however it ends. Raises `BudgetExceeded` before anything is
        sent.
        """
        provider, model = self._embedder.provider, self._embedder.model
        estimate = self._priced(self._embedder.estimate_tokens(texts))
        number = self._book.reserve(
            space=space, provider=provider, model=model, operation=operation, estimate=estimate
        )
        used = 0

        def embed(part: Sequence[str]) -> FloatRows:
            nonlocal used
            try:
                with span("embed", provider=provider, model=model, count=len(part)) as told:
                    rows, tokens = self._embedder.embed_measured(part)
                    told.update(input_tokens=tokens, dimensions=rows.shape[1])
            except ProviderError as error:
                used += self._embedder.estimate_tokens(part) if error.charged else 0
                raise
            except BaseException:
                used += self._embedder.estimate_tokens(part)  # nobody knows how far it came
                raise
            used += tokens
            return rows

        try:
            yield embed
        finally:
            if used:
                self._book.settle(number, self._priced(used))
            else:
                self._book.release(number)

    def _priced(self, tokens: int) -> Spend:
        spend = Spend(input_tokens=tokens)
        return self._prices.of(spend, provider=self._embedder.provider, model=self._embedder.model)


DEFAULT: Final = "default"


class MeteredModels:
    """The budgets of a store, and its text generator within them; `generator` is None where none is set."""

    def __init__(self, db: Database, plan: ModelPlan, *, clock: Clock) -> None:
        self.budgets = Budgets(db, clock=clock, project=plan.project)
        self.prices = plan.prices
        self._plan = plan
        self.reranker = plan.reranker
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
            return MeteredEmbedder(embedder, self.budgets, self.prices)
        return embedder

    def _metered(self, generator: Generator, model: str | None) -> MeteredGenerator:
        return MeteredGenerator(
            generator, self.budgets, self.prices, model=model, max_tokens=self._plan.access.max_tokens
        )


class ModelPlan:
    """What the settings say about models; raises `InvalidInput` for what cannot be used. Nothing is loaded.

    A call asks for its own model, else `memory_semantic_model`, else `llm_model`, else the generator's own.
    """

    def __init__(self, settings: Settings, spec: GeneratorSpec, reranker: Reranker | None = None) -> None:
        self.reranker = reranker
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

    def embed(text: str, _space: str | None) -> FloatRows:
        with span("embed", provider=HERE, model=embedder.name, count=1) as told:
            row = embedder.embed_query(text)
            told["dimensions"] = len(row)
            return row

    return embed


def passage_embedder(embedder: Embedder) -> EmbedPart:
    """Return what embeds texts, with a span for each call to the model."""
    if isinstance(embedder, MeteredEmbedder):
        return embedder.embed

    def embed(texts: Sequence[str]) -> FloatRows:
        with span("embed", provider=HERE, model=embedder.name, count=len(texts)) as told:
            rows = embedder.embed(texts)
            told["dimensions"] = rows.shape[1]
            return rows

    return embed
