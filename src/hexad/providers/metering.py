"""Calls to models within their budgets: set aside before, put right after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hexad.errors import ProviderError
from hexad.model.contract import BudgetBook, Spend
from hexad.observe import span
from hexad.providers.generator import Generator, Prompt, Reply, instructions
from hexad.providers.generators.places import MAX_TOKENS
from hexad.providers.prices import Prices
from hexad.providers.remote import RemoteEmbedder
from hexad.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from hexad.providers.rows import FloatRows

_ENVELOPE_TOKENS: Final = 32
"""What a request has beside its texts: roles, separators, the schema's wrapping."""
_QUERY: Final = "recall"

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
        return ":".join(self._generator.provider_of(self._model))

    def generate(self, prompt: Prompt, *, space: str | None, operation: str) -> Reply:
        """Return the answer, with what it cost. What the call may cost at most is set aside before it is made.

        `space` is charged, None when no single one asked. Raises `BudgetExceeded` before anything is sent,
        `ProviderError` when there is no answer; then what may have been charged stays counted.
        """
        prompt = replace(
            prompt, model=prompt.model or self._model, max_tokens=prompt.max_tokens or self._max_tokens
        )
        provider, model = self._generator.provider_of(prompt.model)
        estimate = self._prices.of(self._estimate(prompt), provider=provider, model=model)
        number = self._book.reserve(
            space=space, provider=provider, model=model, operation=operation, estimate=estimate
        )
        try:
            with span("chat", provider=provider, model=model, operation=operation) as attributes:
                reply = self._generator.generate(prompt)
                attributes["input_tokens"] = reply.spend.input_tokens
                attributes["output_tokens"] = reply.spend.output_tokens
        except ProviderError as error:
            if error.charged:
                self._book.settle(number, estimate)
            else:
                self._book.release(number)
            raise
        except BaseException:
            self._book.settle(number, estimate)  # nobody knows how far it came
            raise
        spend = reply.spend
        if not spend.input_tokens and not spend.output_tokens:  # an endpoint that does not say what it used
            spend = replace(
                spend, input_tokens=estimate.input_tokens, output_tokens=estimate_tokens(reply.text)
            )
        spend = self._prices.of(spend, provider=provider, model=model)
        self._book.settle(number, spend)
        return replace(reply, spend=spend)

    def _estimate(self, prompt: Prompt) -> Spend:
        said = estimate_tokens(instructions(prompt)) + estimate_tokens(prompt.text) + _ENVELOPE_TOKENS
        return Spend(input_tokens=said, output_tokens=prompt.max_tokens or self._max_tokens)


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
                rows, tokens = self._embedder.embed_measured(part)
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
