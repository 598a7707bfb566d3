"""Calls to a reranker within their budgets and their time. Loaded where there is one: a cold recall does without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hexad.core.background_loop import SideCalls, TooManyCalls
from hexad.core.tracing import span
from hexad.errors import ProviderError
from hexad.providers.budgets.metering import Prices
from hexad.providers.rerankers import Reranker, RerankScores, estimate
from hexad.providers.spending import BudgetBook, Spend, within_budget

_RERANK: Final = "rerank"
_AT_ONCE: Final = 8
"""So many questions a reranker has at once; what came too late for its question is one of them until it ends."""


class MeteredReranker:
    """A reranker whose calls are kept within the budgets and a time: `timeout_s` bounds what a question waits for."""

    def __init__(self, reranker: Reranker, book: BudgetBook, prices: Prices, *, timeout_s: float) -> None:
        self._reranker, self._book, self._prices, self._timeout_s = reranker, book, prices, timeout_s
        self._calls = SideCalls("hexad-rerank", most=_AT_ONCE)

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self._reranker.provider}:{self._reranker.model}"

    def scores(self, question: str, texts: Sequence[str], *, space: str | None) -> Sequence[float | None]:
        """Return a score for each text, None where it got none.

        `space` is charged, None when no single one was asked. Raises `BudgetExceeded` before anything is sent,
        `ProviderError` when there are no scores in time; then what may have been charged stays counted.
        """
        provider, model = self._reranker.provider, self._reranker.model
        worst = self._priced(estimate(question, texts))
        with (
            within_budget(
                self._book, space=space, provider=provider, model=model, operation=_RERANK, estimate=worst
            ) as call,
            span("rerank", provider=provider, model=model, texts=len(texts)) as attributes,
        ):
            scores = self._in_time(question, texts)
            attributes["input_tokens"] = scores.tokens or worst.input_tokens
            if scores.tokens is not None:
                call.actual = self._priced(scores.tokens)
        return scores.values

    def _in_time(self, question: str, texts: Sequence[str]) -> RerankScores:
        """Ask in a thread of its own: neither a function nor the search for a host's address can be stopped."""
        try:
            return self._calls.call(
                lambda: self._reranker.rerank(question, texts, within_s=self._timeout_s),
                within_s=self._timeout_s,
            )
        except TooManyCalls:
            raise ProviderError(
                f"Reranker {self.name!r} is busy with {_AT_ONCE} earlier questions; raise rerank_timeout_s, or choose "
                "a faster model.",
                charged=False,
            ) from None
        except TimeoutError:
            raise ProviderError(
                f"Reranker {self.name!r} gave no scores in {self._timeout_s:g} s; raise rerank_timeout_s, or "
                "choose a faster model."
            ) from None

    def _priced(self, tokens: int) -> Spend:
        spend = Spend(input_tokens=tokens)
        return self._prices.of(spend, provider=self._reranker.provider, model=self._reranker.model)
