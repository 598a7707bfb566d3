from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

import pytest

from hexad.errors import BudgetExceeded, InvalidInput, ProviderError
from hexad.providers.budgets.metering import MeteredEmbedder, MeteredGenerator, Price, Prices, parse_prices
from hexad.providers.embedders.openai_compatible import RemoteEmbedder
from hexad.providers.generators.base import Prompt, Reply
from hexad.providers.spending import Spend
from hexad.testing import ScriptedGenerator

PRICES = Prices({"scripted:*": Price(input=1_000_000, output=2_000_000)})


@dataclass
class Notebook:
    """A book of another making: it notes what is asked of it, and refuses what it is told to."""

    reserved: list[tuple[str | None, str, str, str, Spend]] = field(default_factory=list)
    ended: list[tuple[int, Spend | None]] = field(default_factory=list)
    refuses: bool = False

    def reserve(self, *, space, provider, model, operation, estimate):
        if self.refuses:
            raise BudgetExceeded("nothing is left")
        self.reserved.append((space, provider, model, operation, estimate))
        return len(self.reserved)

    def settle(self, number, actual):
        self.ended.append((number, actual))

    def release(self, number):
        self.ended.append((number, None))


def metered(answers, book, **options):
    return MeteredGenerator(ScriptedGenerator(answers), book, PRICES, **options)


def ask(generator, **options):
    return generator.generate(
        Prompt(**{"system": "", "text": "abcd" * 10, **options}), space="docs", operation="remember_raw"
    )


@pytest.mark.row("L141")
def test_what_a_call_may_cost_at_most_is_set_aside_before_and_what_it_cost_put_right_after():
    book = Notebook()
    reply = ask(metered(["abcdefgh"], book), max_tokens=100)

    space, provider, model, operation, estimate = book.reserved[0]
    assert ("docs", "scripted", "script", "remember_raw") == (space, provider, model, operation)
    assert estimate.input_tokens >= 10
    assert 100 == estimate.output_tokens
    assert estimate.input_tokens + 200 == estimate.usd
    assert [(1, reply.spend)] == book.ended
    assert (10, 2, 14.0) == (reply.spend.input_tokens, reply.spend.output_tokens, reply.spend.usd)


def test_without_a_bound_the_settings_bound_is_sent_and_set_aside():
    book = Notebook()
    script = ScriptedGenerator(["a"])
    ask(MeteredGenerator(script, book, PRICES, max_tokens=321))

    assert (321, 321) == (script.prompts[0].max_tokens, book.reserved[0][4].output_tokens)


@pytest.mark.row("L141")
def test_a_used_up_budget_is_said_before_anything_is_sent():
    script = ScriptedGenerator([])
    with pytest.raises(BudgetExceeded):
        ask(MeteredGenerator(script, Notebook(refuses=True), PRICES))

    assert [] == script.prompts


def test_a_call_that_cannot_have_been_charged_is_given_back():
    book = Notebook()
    with pytest.raises(ProviderError):
        ask(metered([ProviderError("refused", charged=False)], book))

    assert [(1, None)] == book.ended


def test_a_failed_call_that_may_have_been_charged_counts_with_its_estimate():
    book = Notebook()
    with pytest.raises(ProviderError):
        ask(metered([ProviderError("late")], book))

    assert [(1, book.reserved[0][4])] == book.ended


def test_a_call_that_was_broken_off_counts_with_its_estimate():
    def interrupt(prompt):
        raise KeyboardInterrupt

    book = Notebook()
    with pytest.raises(KeyboardInterrupt):
        ask(metered(interrupt, book))

    assert [(1, book.reserved[0][4])] == book.ended


def test_what_an_endpoint_does_not_say_is_estimated():
    class Silent(ScriptedGenerator):
        def generate(self, prompt):
            return Reply(text="abcdefgh", model=self.name, spend=Spend())

    book = Notebook()
    reply = ask(MeteredGenerator(Silent([]), book, PRICES))

    assert (book.reserved[0][4].input_tokens, 2) == (reply.spend.input_tokens, reply.spend.output_tokens)


class Own:
    """A generator that somebody wrote: it answers with whatever it was given, or raises it."""

    name = "own:model"

    def __init__(self, answer, place=("own", "model")):
        self._answer, self._place = answer, place

    def provider_of(self, model):
        return self._said(self._place)

    def generate(self, prompt):
        return self._said(self._answer)

    @staticmethod
    def _said(what):
        if isinstance(what, BaseException):
            raise what
        return what


GOOD = Reply(text="abcdefgh", model="own:model", spend=Spend(input_tokens=3, output_tokens=2))


@pytest.mark.row("L075", "L160")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RuntimeError("the words of the prompt"), "raised RuntimeError"),
        (KeyError("the words of the prompt"), "raised KeyError"),
        (None, "returned NoneType"),
        ("a text", "returned str"),
        (replace(GOOD, text=None), "text is NoneType"),
        (replace(GOOD, text=b"abc"), "text is bytes"),
    ],
)
def test_a_generator_that_breaks_its_promise_is_a_provider_error_and_counts(answer, said):
    book = Notebook()
    with pytest.raises(ProviderError, match=said) as raised:
        ask(MeteredGenerator(Own(answer), book, PRICES))

    assert "words of the prompt" not in str(raised.value)
    assert "own:model" in str(raised.value)
    assert [(1, book.reserved[0][4])] == book.ended


@pytest.mark.row("L075", "L160")
@pytest.mark.parametrize("place", [KeyError("x"), None, "own", ("own",), ("own", None), ("", "model")])
def test_a_generator_that_does_not_say_where_it_sends_is_a_provider_error_before_anything_is_sent(place):
    book = Notebook()
    with pytest.raises(ProviderError, match="provider_of"):
        ask(MeteredGenerator(Own(GOOD, place), book, PRICES))

    assert [] == book.reserved


@pytest.mark.row("L141", "L142", "L143")
@pytest.mark.parametrize(
    "spend",
    [
        None,
        Spend(input_tokens=-1_000, output_tokens=2),
        Spend(input_tokens=3, output_tokens=-1),
        Spend(input_tokens=10**30, output_tokens=2),
        Spend(input_tokens=1.5, output_tokens=2),
        Spend(input_tokens=True, output_tokens=2),
        Spend(input_tokens=float("nan"), output_tokens=2),
    ],
)
def test_counts_that_no_call_can_have_used_are_estimated(spend):
    book = Notebook()
    reply = ask(MeteredGenerator(Own(replace(GOOD, spend=spend)), book, PRICES))

    assert (book.reserved[0][4].input_tokens, 2) == (reply.spend.input_tokens, reply.spend.output_tokens)
    assert [(1, reply.spend)] == book.ended


@pytest.mark.row("L142", "L143")
@pytest.mark.parametrize("usd", [-5.0, float("nan"), float("inf"), "5", True])
def test_a_price_that_nothing_can_cost_is_not_believed(usd):
    book = Notebook()
    spend = Spend(input_tokens=3, output_tokens=2, usd=usd)
    prices = Prices({"own:*": Price(input=1_000_000, output=2_000_000)})
    reply = ask(MeteredGenerator(Own(replace(GOOD, spend=spend)), book, prices))

    assert 7.0 == reply.spend.usd


@pytest.mark.parametrize("model", [None, 5, "", "a\x1b[2Jb", "x" * 5_000])
def test_a_model_whose_name_cannot_be_shown_is_called_what_was_asked_for(model):
    reply = ask(MeteredGenerator(Own(replace(GOOD, model=model)), Notebook(), PRICES))

    assert "own:model" == reply.model


@pytest.mark.row("L084")
def test_the_settings_model_is_asked_for_unless_the_call_names_one():
    script = ScriptedGenerator(["a", "b"])
    generator = MeteredGenerator(script, Notebook(), PRICES, model="from-settings")
    ask(generator)
    ask(generator, model="of-the-call")

    assert ["from-settings", "of-the-call"] == [prompt.model for prompt in script.prompts]
    assert "scripted:from-settings" == generator.name


# Embedders ----------------------------------------------------------------------------------------------------------


def embedder(llm, book, **options):
    remote = RemoteEmbedder(llm.base_url, "tiny", **{"dimensions": 32, **options})
    prices = Prices({"openai:*": Price(input=1_000_000, output=0)})
    return MeteredEmbedder(remote, book, prices)


@pytest.mark.row("L141")
def test_an_embedder_counts_the_tokens_that_its_endpoint_says(llm):
    book = Notebook()
    with embedder(llm, book).charged(["a" * 40, "b" * 40], space="docs", operation="embed") as embed:
        embed(["a" * 40])
        embed(["b" * 40])

    space, provider, model, operation, estimate = book.reserved[0]
    assert ("docs", "tiny", "embed", 20, 20.0) == (
        space,
        model,
        operation,
        estimate.input_tokens,
        estimate.usd,
    )
    assert provider.startswith("openai@127.0.0.1:")
    assert [(1, Spend(input_tokens=20, usd=20.0))] == book.ended
    assert 1 == len(book.reserved)


def test_an_endpoint_that_does_not_say_what_it_used_is_estimated(llm):
    book = Notebook()
    llm.will(body=b'{"data": [{"index": 0, "embedding": [' + b", ".join([b"1.0"] * 32) + b"]}]}")
    embedder(llm, book).embed_query("a" * 80, "docs")

    assert ("docs", 20) == (book.reserved[0][0], book.ended[0][1].input_tokens)


def test_texts_whose_endpoint_refuses_are_given_back(llm):
    book = Notebook()
    llm.will(status=400, body=b"{}")
    with pytest.raises(ProviderError):
        embedder(llm, book).embed(["text"])

    assert [(1, None)] == book.ended


def test_texts_whose_answer_cannot_be_used_are_counted(llm):
    book = Notebook()
    llm.will(body=b"<html>")
    with pytest.raises(ProviderError):
        embedder(llm, book).embed(["a" * 40])

    assert 10 == book.ended[0][1].input_tokens


def test_asking_for_the_dimensions_is_charged_too(llm):
    book = Notebook()
    metered = embedder(llm, book, dimensions=None)

    assert (32, 32) == (metered.dimensions, metered.dimensions)
    assert [None] == [space for space, *_ in book.reserved]


def test_a_used_up_budget_sends_no_text(llm):
    with pytest.raises(BudgetExceeded):
        embedder(llm, Notebook(refuses=True)).embed_query("text")

    assert [] == llm.asked


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
