from __future__ import annotations

import sys

import pytest

from hexad.errors import InvalidInput
from hexad.providers.budgets.metering import Price, Prices, parse_prices
from hexad.providers.budgets.spending import Spend

MILLION = Spend(input_tokens=1_000_000, output_tokens=500_000)


def usd(prices: Prices, provider: str, model: str = "tiny") -> float | None:
    return prices.of(MILLION, provider=provider, model=model).usd


def test_a_named_price_is_for_a_million_tokens_of_each_kind():
    prices = Prices(parse_prices({"openai:tiny": {"input": 0.15, "output": 0.6}}))

    assert pytest.approx(0.45) == usd(prices, "openai")


def test_the_nearest_name_counts():
    named = {
        "openai@box:tiny": Price(input=1, output=0),
        "openai:tiny": Price(input=2, output=0),
        "openai:*": Price(input=3, output=0),
        "scripted:*": Price(input=4, output=0),
    }
    asked = [
        ("openai@box", "tiny"),
        ("openai@other", "tiny"),
        ("openai@box", "big"),
        ("scripted", "x"),
        ("none", "x"),
    ]

    assert [1.0, 2.0, 3.0, 4.0, None] == [usd(Prices(named), *item) for item in asked]


def test_known_prices_of_providers_are_there_without_being_named():
    assert pytest.approx(0.15 + 0.3) == usd(Prices(), "openai", "gpt-4o-mini")
    assert usd(Prices(), "anthropic", "claude-haiku-4-5") > 0
    assert usd(Prices(), "google", "gemini-2.5-flash") > 0


def test_what_another_host_asks_for_a_model_of_a_known_name_is_unknown():
    assert usd(Prices(), "openai@box", "gpt-4o-mini") is None


def test_a_model_that_nobody_knows_has_no_price():
    assert usd(Prices(), "openai", "no-such-model-1") is None


def test_without_the_package_of_prices_only_named_ones_are_known(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert usd(Prices(), "openai", "gpt-4o-mini") is None
    assert 0 == usd(Prices({"openai:*": Price(input=0, output=0)}), "openai")


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("ollama", "llama3:8b", 0),
        ("ollama@127.0.0.1:9", "llama3:8b", 0),
        ("ollama@[::1]:9", "llama3:8b", 0),
        ("ollama@box", "llama3:8b", None),
        ("ollama", "big-cloud", None),
    ],
)
def test_what_runs_on_this_machine_costs_nothing(provider, model, expected):
    assert expected == usd(Prices(), provider, model)


def test_a_price_that_a_generator_says_itself_stands():
    assert 7.0 == Prices({"a:b": Price(input=1, output=1)}).of(Spend(usd=7.0), provider="a", model="b").usd


@pytest.mark.parametrize(
    "table",
    [
        {"gpt-x": {"input": 1}},
        {"openai:x": 0.15},
        {"openai:x": {}},
        {"openai:x": {"input": 1, "cached": 2}},
        {"openai:x": {"input": -1}},
        {"openai:x": {"input": "1"}},
        {"openai:x": {"output": True}},
        {"openai:x": {"output": float("inf")}},
    ],
)
def test_a_price_that_cannot_be_used_is_refused_by_name(table):
    with pytest.raises(InvalidInput, match=next(iter(table))):
        parse_prices(table)
