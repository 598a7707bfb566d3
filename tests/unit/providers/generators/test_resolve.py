from __future__ import annotations

import sys

import pytest

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.generators.base import Prompt, instructions
from hexad.providers.generators.endpoints import GeneratorAccess
from hexad.providers.generators.resolve import first_model, resolve_generator
from hexad.testing import ScriptedGenerator

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def ask(generator, **options):
    return generator.generate(Prompt(**{"system": "Extract.", "text": "a text", **options}))


# Names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "provider", "model"),
    [
        ("openai:gpt-x", "openai", "gpt-x"),
        ("OpenAI:gpt-x", "openai", "gpt-x"),
        ("anthropic:claude-x", "anthropic", "claude-x"),
        ("google:gemini-x", "google", "gemini-x"),
        ("gemini:gemini-x", "google", "gemini-x"),
        ("ollama:llama3:8b", "ollama", "llama3:8b"),
        ("hf:org/model:fast", "huggingface", "org/model:fast"),
        ("huggingface:org/model", "huggingface", "org/model"),
        ("openai:org/model@1@https://host:8443/v1", "openai@host:8443", "org/model@1"),
        ("ollama:llama3:8b@http://box", "ollama@box", "llama3:8b"),
        ("google:claude-x@20240620", "google", "claude-x@20240620"),
        ("openai:text-x@v1.5", "openai", "text-x@v1.5"),
        ("ollama:llama3@sha256:3f2a9c0b77", "ollama", "llama3@sha256:3f2a9c0b77"),
    ],
)
def test_a_name_says_provider_model_and_place(spec, provider, model):
    assert (provider, model) == resolve_generator(spec).provider_of(None)


@pytest.mark.parametrize("spec", ["gpt-x", "nobody:gpt-x", "", ":", "openai:", "openai", "https://host/v1"])
def test_an_unknown_name_is_refused_with_the_names_that_are_known(spec):
    with pytest.raises(InvalidInput, match=r"openai:MODEL|model's name"):
        resolve_generator(spec)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "http://",
        "http://host:99999999/v1",
        "http://host/v1?key=1",
        "http://host/v1#x",
        "http://a b",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_by_name(url):
    with pytest.raises(InvalidInput, match="cannot be used; give one like https://host/v1"):
        resolve_generator(f"openai:tiny@{url}")


def test_a_url_with_a_password_is_refused_without_being_repeated():
    with pytest.raises(InvalidInput, match="HEXAD_LLM_API_KEY") as raised:
        resolve_generator("openai:tiny@https://me:hunter2@host/v1")

    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "place",
    [
        "gateway.local:8000/v1",
        "gateway.local",
        "box:8000",
        "box/v1",
        "localhost",
        "10.0.0.7",
        "10.0.0.7:8000/v1",
        "[::1]:8000",
        "me:hunter2@box:8000",
    ],
)
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_an_endpoint_without_its_scheme_is_no_part_of_a_models_name(provider, place):
    for refused in (
        lambda: resolve_generator(f"{provider}:llama3@{place}"),
        lambda: first_model(f"{provider}:own", (f"llama3@{place}",)),
    ):
        with pytest.raises(InvalidInput, match=r"@http:// or @https://") as raised:
            refused()

        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("spec", [None, "none"])
def test_no_generator_is_a_choice(spec):
    assert resolve_generator(spec) is None


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"timeout_s": 1e9}, {"max_tokens": 0}])
def test_a_bound_out_of_range_is_refused(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        GeneratorAccess(**options)


@pytest.mark.parametrize("spec", [7, object(), ScriptedGenerator])
def test_what_is_no_generator_is_refused(spec):
    with pytest.raises(InvalidInput, match="is no generator"):
        resolve_generator(spec)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google", "ollama", "huggingface"])
def test_without_the_extra_a_call_says_what_to_install(kind, monkeypatch):
    generator = resolve_generator(f"{kind}:tiny", access=GeneratorAccess())  # a key would be of no use yet
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(ProviderError, match=r"pip install 'hexad\[llm\]'") as raised:
        ask(generator)

    assert not raised.value.charged


# Which model --------------------------------------------------------------------------------------------------------


@pytest.mark.row("L084")
@pytest.mark.parametrize(
    ("generator", "semantic", "general", "expected"),
    [
        ("openai:own", None, None, ("openai:own", None)),
        ("openai:own", None, "general", ("openai:own", "general")),
        ("openai:own", "semantic", "general", ("openai:own", "semantic")),
        ("openai:own", "anthropic:x", None, ("openai:own", "anthropic:x")),
        (None, None, None, (None, None)),
        (None, None, "anthropic:x", ("anthropic:x", None)),
        (None, "google:y", "anthropic:x", ("google:y", None)),
        ("openai:own", "openai:z@http://box/v1", None, ("openai:z@http://box/v1", None)),
        ("none", "semantic", "general", ("none", None)),
    ],
)
def test_the_semantic_model_wins_over_the_general_one_and_both_over_the_generators_own(
    generator, semantic, general, expected
):
    assert expected == first_model(generator, (semantic, general))


@pytest.mark.row("L084")
def test_a_model_of_no_provider_is_refused_where_no_generator_is_named():
    with pytest.raises(InvalidInput, match="provider:MODEL"):
        first_model(None, ("gpt-x", None))


def test_a_model_of_no_provider_is_told_by_the_settings_that_may_hold_it_and_a_blank_one_is_none():
    with pytest.raises(InvalidInput, match=r"'gpt-x' of the settings \(memory_semantic_model, llm_model"):
        first_model(None, ("gpt-x", None))
    assert (None, None) == first_model(None, (" ", "\t"))


# Functions ----------------------------------------------------------------------------------------------------------


def test_a_function_of_one_text_gets_instructions_and_text_together():
    heard = []

    def answer(prompt: str) -> str:
        heard.append(prompt)
        return "said"

    reply = ask(resolve_generator(answer))

    assert (["Extract.\n\na text"], "said") == (heard, reply.text)
    assert reply.model.startswith("function:")
    assert (4, 1) == (reply.spend.input_tokens, reply.spend.output_tokens)


def test_a_function_of_two_texts_gets_them_apart_and_the_schema_with_the_first():
    heard = []

    def answer(system: str, text: str, *, verbose: bool = False) -> str:
        heard.append((system, text))
        return "{}"

    ask(resolve_generator(answer), schema=SCHEMA)

    assert "a text" == heard[0][1]
    assert heard[0][0].startswith("Extract.")
    assert '"path"' in heard[0][0]


def test_a_second_parameter_with_a_default_is_no_prompt():
    def answer(prompt: str, model: str = "tiny") -> str:
        return model

    assert "tiny" == ask(resolve_generator(answer)).text


def test_a_method_and_an_object_that_can_be_called_are_functions():
    class Answer:
        def __call__(self, prompt: str) -> str:
            return "called"

        def say(self, system: str, text: str) -> str:
            return f"{system}|{text}"

    assert "called" == ask(resolve_generator(Answer())).text
    assert "Extract.|a text" == ask(resolve_generator(Answer().say)).text


@pytest.mark.parametrize("function", [lambda: "", lambda a, b, c: "", lambda prompt, *, key: ""])
def test_a_function_that_takes_neither_one_text_nor_two_is_refused(function):
    with pytest.raises(InvalidInput, match="cannot be a generator"):
        resolve_generator(function)


@pytest.mark.row("L160")
def test_a_function_that_raises_is_a_provider_error_without_its_words():
    def answer(prompt: str) -> str:
        raise RuntimeError(f"could not digest {prompt}")

    with pytest.raises(ProviderError, match="raised RuntimeError") as raised:
        ask(resolve_generator(answer))
    assert "a text" not in str(raised.value)


@pytest.mark.parametrize("answer", [None, 7, b"bytes", {"path": "a"}])
def test_a_function_that_returns_no_text_is_a_provider_error(answer):
    with pytest.raises(ProviderError, match=f"returned {type(answer).__name__}"):
        ask(resolve_generator(lambda prompt: answer))


# Scripts and texts --------------------------------------------------------------------------------------------------


def test_a_script_answers_in_order_and_remembers_what_it_was_asked():
    script = ScriptedGenerator(["one", {"path": "a"}, ProviderError("down")])

    assert ["one", '{"path": "a"}'] == [ask(script).text, ask(script, model="big").text]
    with pytest.raises(ProviderError, match="down"):
        ask(script)
    assert [None, "big", None] == [prompt.model for prompt in script.prompts]
    with pytest.raises(AssertionError, match="asked 4 times"):
        ask(script)


def test_a_script_may_be_a_function():
    script = ScriptedGenerator(lambda prompt: prompt.text.upper(), provider="acme", model="tiny")

    assert ("A TEXT", "acme:tiny") == (ask(script).text, ask(script).model)


def test_an_object_with_the_protocol_is_taken_as_it_is():
    script = ScriptedGenerator([])

    assert resolve_generator(script) is script


def test_instructions_hold_the_schema_only_where_there_is_one():
    assert "Extract." == instructions(Prompt(system="Extract.", text="a"))
    assert instructions(Prompt(system="", text="a", schema=SCHEMA)).startswith("Answer with one JSON object")
