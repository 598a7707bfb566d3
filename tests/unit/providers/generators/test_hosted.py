"""Text generators of providers, each over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import threading
import time
import traceback

import pytest

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.generators.base import Prompt
from hexad.providers.generators.endpoints import GeneratorAccess
from hexad.providers.generators.resolve import resolve_generator
from llm_server import Say, llm_server

KEY = "sk-very-secret-0123456789"
SECRET_TEXT = "the launch code is tangerine"
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}


def hosted(llm, *, spec="openai:tiny@{base_url}", key=KEY, timeout_s=20.0, **access):
    return resolve_generator(
        spec.format(base_url=llm.base_url, url=llm.url),
        access=GeneratorAccess(key=key, timeout_s=timeout_s, **access),
    )


def prompt(**options):
    return Prompt(**{"system": "Extract.", "text": SECRET_TEXT, **options})


def failure(generator, **options):
    """Return the error of a call, having looked through everything that a log of it would show."""
    with pytest.raises(ProviderError) as raised:
        generator.generate(prompt(**options))
    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value)
    assert KEY not in shown
    assert SECRET_TEXT not in shown
    return raised.value


# What is sent, and what comes back ----------------------------------------------------------------------------------


@pytest.mark.row("L071", "L075")
@pytest.mark.parametrize("kind", ["openai", "huggingface", "hf"])
def test_a_compatible_endpoint_is_asked_for_a_completion_with_its_key(llm, kind):
    llm.will('{"path": "docs/a"}', input_tokens=120, output_tokens=9)
    reply = hosted(llm, spec=kind + ":org/tiny:fast@{base_url}").generate(
        prompt(schema=SCHEMA, temperature=0.25, max_tokens=77)
    )

    (asked,) = llm.asked
    assert '{"path": "docs/a"}' == reply.text
    assert (120, 9, None) == (reply.spend.input_tokens, reply.spend.output_tokens, reply.spend.usd)
    assert "/v1/chat/completions" == asked.path
    assert f"Bearer {KEY}" == asked.headers["authorization"]
    assert "org/tiny:fast" == asked.body["model"]
    assert (0.25, 77) == (asked.body["temperature"], asked.body["max_tokens"])
    assert ["Extract.", SECRET_TEXT] == [message["content"] for message in asked.body["messages"]]
    assert ["system", "user"] == [message["role"] for message in asked.body["messages"]]
    assert "json_schema" == asked.body["response_format"]["type"]
    assert "path" in asked.body["response_format"]["json_schema"]["schema"]["properties"]


@pytest.mark.row("L072")
def test_anthropic_is_asked_in_its_own_format(llm):
    llm.will('{"path": "docs/a"}', input_tokens=50, output_tokens=5)
    reply = hosted(llm, spec="anthropic:claude-haiku-4-5@{url}").generate(
        prompt(schema=SCHEMA, max_tokens=77)
    )

    (asked,) = llm.asked
    assert ('{"path": "docs/a"}', 50, 5) == (reply.text, reply.spend.input_tokens, reply.spend.output_tokens)
    assert "/v1/messages" == asked.path
    assert KEY == asked.headers["x-api-key"]
    assert "authorization" not in {name.lower() for name in asked.headers}
    assert ("claude-haiku-4-5", 77, "Extract.") == (
        asked.body["model"],
        asked.body["max_tokens"],
        asked.body["system"],
    )
    assert "json_schema" == asked.body["output_config"]["format"]["type"]
    assert SECRET_TEXT in asked.text


@pytest.mark.row("L073")
@pytest.mark.parametrize("kind", ["google", "gemini"])
def test_google_is_asked_in_its_own_format(llm, kind):
    llm.will('{"path": "docs/a"}', input_tokens=50, output_tokens=5)
    reply = hosted(llm, spec=kind + ":gemini-2.5-flash@{url}").generate(prompt(schema=SCHEMA, max_tokens=77))

    (asked,) = llm.asked
    assert ('{"path": "docs/a"}', 50, 5) == (reply.text, reply.spend.input_tokens, reply.spend.output_tokens)
    assert asked.path.endswith("/models/gemini-2.5-flash:generateContent")
    assert KEY not in asked.path
    assert KEY == asked.headers["x-goog-api-key"]
    config = asked.body["generationConfig"]
    assert (77, "application/json") == (config["maxOutputTokens"], config["responseMimeType"])
    assert SECRET_TEXT in asked.text


@pytest.mark.row("L074")
def test_ollama_is_asked_through_its_compatible_endpoint_without_a_key(llm):
    llm.will('{"path": "docs/a"}')
    reply = hosted(llm, spec="ollama:llama3:8b@{url}", key=None).generate(
        prompt(schema=SCHEMA, max_tokens=77)
    )

    (asked,) = llm.asked
    assert '{"path": "docs/a"}' == reply.text
    assert ("/v1/chat/completions", "llama3:8b", 77) == (
        asked.path,
        asked.body["model"],
        asked.body["max_tokens"],
    )
    assert "json_schema" == asked.body["response_format"]["type"]
    assert "authorization" not in {name.lower() for name in asked.headers}


def test_nothing_but_what_a_request_needs_is_in_its_headers(llm, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
    for spec in ("openai:tiny@{base_url}", "anthropic:claude-haiku-4-5@{url}"):
        llm.will("fine")
        hosted(llm, spec=spec).generate(prompt())

    sent = [{name.lower() for name in asked.headers} for asked in llm.asked]
    usual = {"host", "accept", "accept-encoding", "content-type", "content-length", "user-agent"}
    assert [usual | {"authorization"}, usual | {"x-api-key", "anthropic-version"}] == sent


def test_without_a_bound_of_its_own_a_call_asks_for_no_more_than_the_settings_allow(llm):
    llm.will("fine")
    hosted(llm, max_tokens=321).generate(prompt())

    assert 321 == llm.asked[0].body["max_tokens"]


def test_a_text_is_returned_as_it_was_said_fences_and_all(llm):
    llm.will('```json\n{"path": "a"}\n```')

    assert '```json\n{"path": "a"}\n```' == hosted(llm).generate(prompt(schema=SCHEMA)).text


def test_a_text_with_half_a_surrogate_pair_is_sent_without_it(llm):
    llm.will("fine")
    hosted(llm).generate(prompt(text="odd \ud800 text"))

    assert "odd ? text" == llm.asked[0].body["messages"][-1]["content"]


def test_a_cut_answer_is_returned_as_far_as_it_came(llm):
    llm.will('{"path": "do', finish="length")

    assert '{"path": "do' == hosted(llm).generate(prompt(schema=SCHEMA)).text


@pytest.mark.row("L075")
def test_an_endpoint_that_refuses_response_format_is_told_the_schema_in_words_from_then_on(llm):
    llm.will(status=400, body=b'{"error": {"message": "response_format is not supported"}}')
    llm.always('{"path": "docs/a"}')
    generator = hosted(llm)
    for _ in range(2):
        assert '{"path": "docs/a"}' == generator.generate(prompt(schema=SCHEMA)).text

    assert [True, False, False] == [asked.constrained for asked in llm.asked]
    for asked in llm.asked[1:]:
        system, text = (message["content"] for message in asked.body["messages"])
        assert '"path"' in system
        assert SECRET_TEXT == text, "the schema stands with the instructions, not with what may be anybody's"


def test_a_model_that_cannot_be_held_to_a_schema_is_told_it_in_words(llm):
    llm.will('{"path": "docs/a"}')
    hosted(llm, spec="anthropic:claude-3-haiku-20240307@{url}").generate(prompt(schema=SCHEMA))

    assert not llm.asked[0].constrained
    assert "JSON schema" in llm.asked[0].text


# Failures -----------------------------------------------------------------------------------------------------------


def test_a_busy_provider_is_asked_again_after_the_pause_that_it_asks_for(llm):
    llm.will(status=429, headers={"Retry-After": "1"}, body=b"{}")
    llm.will("fine")
    started = time.monotonic()

    assert "fine" == hosted(llm).generate(prompt()).text
    assert 2 == len(llm.asked)
    assert time.monotonic() - started >= 1.0


def test_a_pause_longer_than_the_time_left_is_not_waited_for(llm):
    llm.will(status=429, headers={"Retry-After": "86400"}, body=b"{}")
    started = time.monotonic()
    error = failure(hosted(llm))

    assert "answered 429" in str(error)
    assert (1, False) == (len(llm.asked), error.charged)
    assert time.monotonic() - started < 60


@pytest.mark.row("L160")
def test_a_failing_provider_is_an_error_after_three_attempts_and_charges_nothing(llm):
    for _ in range(4):
        llm.will(status=503, headers={"Retry-After": "0"}, body=b"<html>")
    error = failure(hosted(llm))

    assert "openai@127.0.0.1" in str(error)
    assert ":tiny answered 503" in str(error)
    assert (3, False) == (len(llm.asked), error.charged)


@pytest.mark.row("L160")
@pytest.mark.parametrize(
    ("status", "remedy"), [(400, "model"), (401, "key"), (403, "key"), (404, "model"), (413, "too long")]
)
def test_a_refusal_is_not_repeated_and_says_what_to_check(llm, status, remedy):
    echo = json.dumps({"error": {"message": f"no {KEY} for {SECRET_TEXT}"}}).encode()
    llm.will(status=status, body=echo)
    error = failure(hosted(llm))

    assert f"answered {status}" in str(error)
    assert remedy in str(error)
    assert (1, False) == (len(llm.asked), error.charged)


@pytest.mark.parametrize(
    "misbehaviour",
    [
        {"body": b'{"choices": [{"mess'},
        {"body": b"<html>Welcome</html>", "content_type": "text/html"},
        {"body": b"[1, 2]"},
        {"body": b'{"choices": "none"}'},
        {"body": b""},
        {"body": b"\xff\xfe\xfa"},
        {"claim_bytes": 100_000},
        {"no_choices": True},
        {"tool_call": True},
        {"text": ""},
        {"text": " \n"},
        {"text": "packed", "headers": {"Content-Encoding": "gzip"}},
    ],
    ids=lambda item: ", ".join(f"{name} {str(value)[:20]}" for name, value in item.items()),
)
@pytest.mark.row("L160")
def test_an_unusable_answer_is_an_error_that_may_have_been_charged_and_is_not_asked_for_again(
    llm, misbehaviour
):
    llm.will(**misbehaviour)
    llm.always("a second answer")
    error = failure(hosted(llm), schema=SCHEMA)

    assert "openai@127.0.0.1" in str(error)
    assert (1, True) == (len(llm.asked), error.charged)


@pytest.mark.parametrize("spec", ["anthropic:claude-haiku-4-5@{url}", "google:gemini-2.5-flash@{url}"])
@pytest.mark.parametrize("misbehaviour", [{"no_choices": True}, {"body": b"[]"}, {"body": b'{"content": 3}'}])
def test_an_unusable_answer_of_another_format_is_an_error_too(llm, spec, misbehaviour):
    llm.will(**misbehaviour)

    assert failure(hosted(llm, spec=spec)).charged


@pytest.mark.row("L160")
def test_a_refusal_in_words_is_an_answer_or_an_error_but_never_empty(llm):
    llm.will(refusal="I cannot help with that.")
    error = failure(hosted(llm))

    assert error.charged


def test_an_answer_without_end_is_not_read_to_its_end(llm):
    llm.will("long", flood_bytes=100 * 1024 * 1024)
    error = failure(hosted(llm))

    assert "sent over 4,194,304 bytes" in str(error)
    assert llm.bytes_sent < 50 * 1024 * 1024


def test_a_silent_provider_is_given_up_when_the_time_is_over(llm):
    hosted(llm).generate(prompt())  # whatever is loaded for the first call is loaded
    llm.will(hang=True)
    started = time.monotonic()
    error = failure(hosted(llm, timeout_s=0.5))

    assert "no whole answer in 0.5 s" in str(error)
    assert (2, True) == (len(llm.asked), error.charged)
    assert time.monotonic() - started < 60


def test_the_time_bounds_the_whole_answer_however_steadily_it_drips(llm):
    llm.will("slow", drip_s=0.05)
    started = time.monotonic()
    error = failure(hosted(llm, timeout_s=1.0))

    assert "no whole answer in 1 s" in str(error)
    assert time.monotonic() - started < 60


def test_a_slow_answer_within_the_time_is_an_answer(llm):
    llm.will("slow", wait_s=0.3)

    assert "slow" == hosted(llm).generate(prompt()).text


def test_no_connection_is_an_error_that_names_the_place_and_charges_nothing():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    generator = resolve_generator(f"openai:tiny@http://127.0.0.1:{port}/v1", access=GeneratorAccess(key=KEY))
    error = failure(generator)

    assert f"openai@127.0.0.1:{port}:tiny could not be reached" in str(error)
    assert not error.charged


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere(llm, status):
    with llm_server() as other:
        llm.will(status=status, headers={"Location": f"{other.base_url}/chat/completions"}, body=b"")
        error = failure(hosted(llm))

    assert "redirects are not followed" in str(error)
    assert (1, []) == (len(llm.asked), other.asked)


def test_no_proxy_of_the_environment_sees_a_request(llm, monkeypatch):
    with llm_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        llm.will("direct")

        assert "direct" == hosted(llm).generate(prompt()).text
    assert [] == proxy.asked


def test_no_log_holds_the_key(llm, caplog):
    caplog.set_level(logging.DEBUG)
    llm.will(status=401, body=b"{}")
    failure(hosted(llm))
    llm.will("fine")
    hosted(llm).generate(prompt())

    assert KEY not in caplog.text


# Where and by whom it may be called ---------------------------------------------------------------------------------


def test_it_can_be_called_inside_a_running_event_loop(llm):
    llm.always("fine")

    async def serve() -> list[str]:
        direct = hosted(llm).generate(prompt()).text
        return [direct, (await asyncio.to_thread(hosted(llm).generate, prompt())).text]

    assert ["fine", "fine"] == asyncio.run(serve())


def test_several_threads_share_one_generator_and_do_not_wait_for_each_other(llm):
    generator = hosted(llm)
    llm.always(_echo)
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = generator.generate(prompt(text=f"number {number}")).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: f"number {number}" for number in range(8)} == answers
    assert llm.most_at_once > 1


def _echo(asked):
    return Say(text=asked.body["messages"][-1]["content"], wait_s=0.3)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_it_can_be_called_again_in_a_forked_process(llm):
    llm.always("fine")
    generator = hosted(llm)
    generator.generate(prompt())
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if generator.generate(prompt()).text == "fine" else 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)

    assert 0 == os.waitstatus_to_exitcode(status)


# Models and keys ----------------------------------------------------------------------------------------------------


@pytest.mark.row("L084")
def test_a_call_may_ask_for_another_model_of_the_same_place(llm):
    llm.always("fine")
    generator = hosted(llm)
    replies = [generator.generate(prompt(model=model)) for model in (None, "other:8b", "openai:third")]

    assert ["tiny", "other:8b", "third"] == [asked.body["model"] for asked in llm.asked]
    assert f"{generator.provider_of('third')[0]}:third" == replies[2].model


@pytest.mark.row("L084")
def test_a_call_may_name_another_provider_and_the_key_of_the_first_does_not_go_along(llm):
    generator = hosted(llm)

    assert ("anthropic", "claude-x") == generator.provider_of("anthropic:claude-x")
    with pytest.raises(ProviderError, match="no key for anthropic:claude-x: set ANTHROPIC_API_KEY") as raised:
        generator.generate(prompt(model="anthropic:claude-x"))
    assert not raised.value.charged
    assert [] == llm.asked


@pytest.mark.parametrize(
    "model", ["openai:x@http://127.0.0.1:9/v1", "x@https://elsewhere/v1", "two words", " ", "a/../b", "a?b"]
)
def test_a_model_given_with_a_call_names_no_place(llm, model):
    with pytest.raises(InvalidInput, match="model"):
        hosted(llm).generate(prompt(model=model))

    assert [] == llm.asked


def test_the_usual_key_of_a_provider_goes_to_its_own_host_alone(llm):
    keys = {"openai": KEY}
    llm.will("fine")
    resolve_generator(f"openai:tiny@{llm.base_url}", access=GeneratorAccess(keys=keys)).generate(prompt())

    assert "authorization" not in {name.lower() for name in llm.asked[0].headers}


def test_without_a_key_a_provider_is_not_asked():
    with pytest.raises(
        ProviderError, match="no key for openai:tiny: set HEXAD_LLM_API_KEY or OPENAI_API_KEY"
    ):
        resolve_generator("openai:tiny").generate(prompt())


@pytest.mark.parametrize("key", ["", "two words", f"{KEY}\r\nX-Evil:1", "schlüssel"])
def test_a_key_that_cannot_be_a_header_is_refused_when_it_is_needed_without_being_repeated(llm, key):
    with pytest.raises(ProviderError, match="key for openai@") as raised:
        hosted(llm, key=key).generate(prompt())

    assert not key or key not in str(raised.value)
    assert (False, []) == (raised.value.charged, llm.asked)


def test_keys_are_in_no_text_that_an_object_prints():
    assert KEY not in repr(GeneratorAccess(key=KEY, keys={"openai": KEY}))
