"""What a call to a model costs, in US dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from hexad.errors import InvalidInput
from hexad.providers.budgets.spending import Spend

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
                f"[prices] {name!r} = {str(value)[:80]} cannot be used; write it like {_EXAMPLE}."
            )
        amounts = {"input": 0.0, "output": 0.0}
        for side, amount in value.items():
            if (
                isinstance(amount, bool)
                or not isinstance(amount, int | float)
                or not 0 <= amount < float("inf")
            ):
                raise InvalidInput(
                    f"[prices] {name!r}: {side} = {amount!r} cannot be used; give US dollars per million tokens."
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
