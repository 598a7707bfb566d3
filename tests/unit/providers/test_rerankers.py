from __future__ import annotations

import json
import socket

import numpy as np
import pytest

from hexad.errors import InvalidInput, NotFound, ProviderError
from hexad.providers.generators.endpoints import GeneratorAccess
from hexad.providers.rerankers import RerankScores, estimate, resolve_reranker
from llm_server import Say

TEXTS = ["about cranes", "about locks", "about tea"]


def body(*scores, key="relevance_score", **more):
    """What Cohere, Jina and vLLM answer: scores by index, the best first."""
    results = [{"index": index, key: score} for index, score in scores]
    return Say(body=json.dumps({"results": results, **more}).encode())


def hosted(llm, kind="openai", **access):
    return resolve_reranker(f"{kind}:tiny@{llm.base_url}", access=GeneratorAccess(**access))


def ask(llm, kind="openai", within_s=5.0, **access):
    return hosted(llm, kind, **access).rerank("Which locks?", TEXTS, within_s=within_s)


@pytest.mark.parametrize("kind", ["openai", "cohere", "jina"])
def test_a_request_is_what_cohere_documents_and_scores_come_back_in_the_order_of_the_texts(llm, kind):
    llm.always(body((1, 0.9), (2, 0.2), (0, 0.1), usage={"total_tokens": 40}))

    assert RerankScores([0.1, 0.9, 0.2], 40) == ask(llm, kind, key="sk-own")
    assert "/v1/rerank" == llm.asked[0].path
    assert {"model": "tiny", "query": "Which locks?", "documents": TEXTS} == llm.asked[0].body
    assert "Bearer sk-own" == llm.asked[0].headers["Authorization"]
    assert f"{kind}@{llm.url.removeprefix('http://')}" == hosted(llm, kind).provider


def test_text_embeddings_inference_is_asked_and_read_in_its_own_words(llm):
    answer = [{"index": 2, "score": 3.5}, {"index": 0, "score": -1.0}, {"index": 1, "score": 0}]
    llm.always(Say(body=json.dumps(answer).encode()))

    assert RerankScores([-1.0, 0.0, 3.5], None) == ask(llm, "tei")
    assert {"query": "Which locks?", "texts": TEXTS, "truncate": True} == llm.asked[0].body


def test_an_answer_of_some_texts_scores_these(llm):
    llm.always(body((2, 0.5)))

    assert RerankScores([None, None, 0.5], None) == ask(llm)


@pytest.mark.parametrize(
    "answer",
    [
        body((3, 0.5)),
        body((-1, 0.5)),
        body((0, 0.5), (0, 0.6)),
        body((0, float("nan"))),
        body((0, float("inf"))),
        body((0, "0.5")),
        body((0, None)),
        body((True, 0.5)),
        body(("0", 0.5)),
        body(),
        Say(body=b"[]"),
        Say(body=b"[1]"),
        Say(body=b"{}"),
        Say(body=b'"results"'),
        Say(body=b"<html>"),
        Say(body=b'{"results": [{"index": 0, "relevance_score": 0.5}'),
    ],
)
def test_an_answer_that_cannot_be_believed_is_a_failure(llm, answer):
    llm.always(answer)

    with pytest.raises(ProviderError, match="/v1/rerank answered with"):
        ask(llm)


def test_a_busy_endpoint_is_asked_again_as_long_as_the_time_allows(llm):
    llm.will(status=429, headers={"Retry-After": "0"})
    llm.always(body((0, 0.5)))
    assert [0.5, None, None] == ask(llm).values

    llm.always(Say(status=429, headers={"Retry-After": "60"}))
    with pytest.raises(ProviderError, match="answered 429") as caught:
        ask(llm)
    assert not caught.value.charged
    assert 3 == len(llm.asked)


@pytest.mark.parametrize(("status", "asked"), [(400, 1), (401, 1), (404, 1), (301, 1), (503, 3)])
def test_a_refusal_names_the_status_and_costs_nothing(llm, status, asked):
    llm.always(Say(status=status, headers={"Retry-After": "0"}))

    with pytest.raises(ProviderError, match=f"answered {status}") as caught:
        ask(llm)
    assert (False, asked) == (caught.value.charged, len(llm.asked))


def test_an_answer_that_hangs_ends_with_the_time_and_may_have_cost(llm):
    llm.always(Say(hang=True))

    with pytest.raises(ProviderError, match="did not answer in time") as caught:
        ask(llm, within_s=0.2)
    assert caught.value.charged


def test_a_connection_that_is_refused_is_not_said_to_be_late():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        reranker = resolve_reranker(f"openai:tiny@http://127.0.0.1:{taken.getsockname()[1]}/v1")

        with pytest.raises(ProviderError, match=r"did not answer \(ConnectionRefusedError") as caught:
            reranker.rerank("Which locks?", TEXTS, within_s=0.3)
    assert not caught.value.charged


def test_the_usual_keys_go_to_the_usual_hosts_alone(llm):
    llm.always(body((0, 0.5)))
    ask(llm, "cohere", keys={"cohere": "sk-usual"})

    assert "Authorization" not in llm.asked[0].headers
    with pytest.raises(ProviderError, match="set HEXAD_RERANK_API_KEY or COHERE_API_KEY") as caught:
        resolve_reranker("cohere:rerank-v3.5").rerank("q", TEXTS, within_s=1)
    assert not caught.value.charged


@pytest.mark.parametrize(
    "answer", [[1, 2.5, -3], (0.1, 0.2, 0.3), np.array([1, 2, 3], dtype=np.float32), iter([1.0, 2.0, 3.0])]
)
def test_a_function_gives_a_number_for_each_text(answer):
    scores = resolve_reranker(lambda question, texts: answer).rerank("q", TEXTS, within_s=1)

    assert 3 == len(scores.values)
    assert all(type(score) is float for score in scores.values)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([1, 2], "2 scores for 3 texts"),
        ([1, 2, float("nan")], "returned nan, which is no finite number"),
        ([1, 2, None], "returned None, which is no finite number"),
        ([1, 2, True], "returned True, which is no finite number"),
        ("abc", "returned str"),
        (None, "returned NoneType"),
        (5, "returned int"),
    ],
)
def test_what_a_function_returns_instead_is_a_failure(answer, said):
    with pytest.raises(ProviderError, match=said):
        resolve_reranker(lambda question, texts: answer).rerank("q", TEXTS, within_s=1)


@pytest.mark.parametrize("error", [ValueError("about locks went wrong"), NotFound("gone")])
def test_what_a_function_raises_is_a_failure_without_its_texts(error):
    def rerank(question, texts):
        raise error

    with pytest.raises(ProviderError, match=f"raised {type(error).__name__}") as caught:
        resolve_reranker(rerank).rerank("q", TEXTS, within_s=1)
    assert "about locks" not in str(caught.value)


def test_nobody_is_named_by_none():
    assert None is resolve_reranker(None)
    assert None is resolve_reranker("none")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gpt", "Unknown reranker 'gpt'"),
        ("anthropic:claude", "Unknown reranker"),
        ("openai:bge", "names no endpoint"),
        ("tei:bge", "names no endpoint"),
        ("openai:bge@http://user:secret@host/v1", "set HEXAD_RERANK_API_KEY"),
        ("openai:bge@ftp://host/v1", "cannot be used"),
        (5, "is no reranker"),
        (FunctionError := type("FunctionError", (), {}), "is no reranker"),
    ],
)
def test_what_is_no_reranker_is_refused(spec, said):
    with pytest.raises(InvalidInput, match=said):
        resolve_reranker(spec)


def test_the_question_is_read_with_each_text():
    assert 3 * 3 + sum(len(text) // 4 for text in TEXTS) <= estimate("Which locks?", TEXTS) <= 25
