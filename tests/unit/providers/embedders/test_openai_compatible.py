from __future__ import annotations

import json
import socket

import numpy as np
import pytest

from hexad.core.clock import FrozenClock
from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders.hashing import HashEmbedder
from hexad.providers.embedders.openai_compatible import RemoteEmbedder

KEY = "sk-very-secret-0123456789"


def remote(endpoint, pauses, **options):
    return RemoteEmbedder(endpoint.base_url, "tiny", sleep=pauses.append, **options)


def answer(*vectors, indexes=None):
    data = [
        {"index": i, "embedding": v} for i, v in zip(indexes or range(len(vectors)), vectors, strict=True)
    ]
    return json.dumps({"data": data}).encode()


def test_a_request_is_what_openai_documents(endpoint, pauses):
    remote(endpoint, pauses, api_key=KEY, dimensions=16).embed(["one", "two"])

    expected = {"model": "tiny", "input": ["one", "two"], "encoding_format": "float", "dimensions": 16}
    assert [expected] == endpoint.requests
    assert ["/v1/embeddings"] == endpoint.paths
    assert f"Bearer {KEY}" == endpoint.headers[0]["Authorization"]


def test_without_a_key_no_authorization_is_sent(endpoint, pauses):
    remote(endpoint, pauses).embed_query("one")

    assert all("Authorization" not in headers for headers in endpoint.headers)


def test_the_name_holds_the_model_and_the_dimensions_that_were_asked_for(endpoint, pauses):
    assert "openai:tiny@16" == remote(endpoint, pauses, dimensions=16).name
    assert "openai:tiny" == remote(endpoint, pauses).name
    assert [] == endpoint.requests


def test_dimensions_that_were_not_given_are_asked_for_once(endpoint, pauses):
    embedder = remote(endpoint, pauses)

    assert (32, 32) == (embedder.dimensions, embedder.dimensions)
    assert 1 == len(endpoint.requests)


def test_vectors_are_put_in_order_by_index_and_scaled_to_length_one(endpoint, pauses):
    endpoint.will(reverse=True)
    rows = remote(endpoint, pauses, dimensions=32).embed(["alpha", "beta", "gamma"])

    np.testing.assert_allclose(rows, HashEmbedder(32).embed(["alpha", "beta", "gamma"]), atol=1e-6)


def test_many_texts_are_sent_in_batches(endpoint, pauses):
    texts = [f"text {number}" for number in range(7)]
    rows = remote(endpoint, pauses, dimensions=32, batch_size=3).embed(texts)

    assert [3, 3, 1] == [len(request["input"]) for request in endpoint.requests]
    np.testing.assert_allclose(rows, HashEmbedder(32).embed(texts), atol=1e-6)


def test_blank_texts_are_not_sent(endpoint, pauses):
    rows = remote(endpoint, pauses, dimensions=32).embed(["", "word", " \n"])

    assert [["word"]] == [request["input"] for request in endpoint.requests]
    assert [0, 1, 0] == [round(float(row @ row)) for row in rows]


def test_of_a_long_text_only_its_beginning_is_sent(endpoint, pauses):
    remote(endpoint, pauses, dimensions=32).embed_query("x" * 100_000)

    assert 8_000 == len(endpoint.requests[0]["input"][0])


def test_a_text_with_half_a_surrogate_pair_is_sent_as_valid_json(endpoint, pauses):
    remote(endpoint, pauses, dimensions=32).embed_query("odd \ud800 text")

    assert ["odd \ud800 text"] == endpoint.requests[0]["input"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_or_failing_endpoint_is_asked_again(endpoint, pauses, status):
    endpoint.will(status=status)
    endpoint.will(status=status)
    remote(endpoint, pauses, dimensions=32).embed_query("word")

    assert 3 == len(endpoint.requests)
    assert [0.5, 1.0] == pauses


def test_retry_after_is_honoured_up_to_half_a_minute(endpoint, pauses):
    endpoint.will(status=429, headers={"Retry-After": "7"})
    endpoint.will(status=429, headers={"Retry-After": "86400"})
    endpoint.will(status=429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})
    remote(endpoint, pauses, dimensions=32).embed_query("word")

    assert [7.0, 30.0, 2.0] == pauses


def test_an_endpoint_that_keeps_failing_is_an_error_after_four_attempts(endpoint, pauses):
    for _ in range(4):
        endpoint.will(status=503)
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1:\d+/v1/embeddings answered 503"):
        remote(endpoint, pauses, dimensions=32).embed_query("word")

    assert 4 == len(endpoint.requests)


@pytest.mark.parametrize(("status", "hint"), [(400, "model"), (401, "key"), (404, "base URL")])
def test_a_refusal_is_not_repeated_and_says_what_to_check(endpoint, pauses, status, hint):
    endpoint.will(status=status)
    with pytest.raises(ProviderError, match=f"answered {status}.*{hint}"):
        remote(endpoint, pauses, dimensions=32).embed_query("word")

    assert (1, []) == (len(endpoint.requests), pauses)


def test_a_redirect_is_not_followed(endpoint, pauses):
    endpoint.will(status=307, headers={"Location": f"{endpoint.base_url}/elsewhere"})
    with pytest.raises(ProviderError, match="redirects are not followed"):
        remote(endpoint, pauses, dimensions=32, api_key=KEY).embed_query("word")

    assert ["/v1/embeddings"] == endpoint.paths


def test_no_connection_is_an_error_that_names_the_endpoint(pauses):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    embedder = RemoteEmbedder(f"http://127.0.0.1:{port}/v1", "tiny", dimensions=32, sleep=pauses.append)
    with pytest.raises(ProviderError, match=f"127.0.0.1:{port}/v1/embeddings did not answer in 4 attempts"):
        embedder.embed_query("word")

    assert [0.5, 1.0, 2.0] == pauses


def test_a_slow_answer_is_given_up_and_asked_for_again(endpoint, pauses):
    endpoint.will(wait_s=1.5)
    rows = remote(endpoint, pauses, dimensions=32, timeout_s=1.0).embed(["word"])

    assert (1, 32) == rows.shape
    assert [0.5] == pauses


def test_an_answer_that_drips_for_ever_is_given_up(endpoint, pauses):
    class Impatient(FrozenClock):
        """A clock by which every look at it takes 20 seconds: no test has to wait for a real drip."""

        def monotonic(self) -> float:
            self.advance(seconds=20)
            return super().monotonic()

    for _ in range(4):
        endpoint.will(drip_s=0.002)
    with pytest.raises(ProviderError, match="no whole answer in 30"):
        remote(endpoint, pauses, dimensions=32, clock=Impatient()).embed_query("word")


def test_an_answer_that_breaks_off_is_asked_for_again(endpoint, pauses):
    endpoint.will(claim_bytes=10_000)
    rows = remote(endpoint, pauses, dimensions=32).embed(["word"])

    assert (1, 32) == rows.shape
    assert 2 == len(endpoint.requests)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"<html>Welcome</html>", "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b"[1, 2]", "without a list 'data'"),
        (b'{"data": {"0": [1]}}', "without a list 'data'"),
        (b'{"data": [3]}', "without a list 'data'"),
        (answer([1.0, 0.0]), "1 vectors for 2 texts"),
        (answer([1.0], [1.0], [1.0]), "3 vectors for 2 texts"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[0, 0]), "wrong indexes"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[1, 2]), "wrong indexes"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[False, True]), "wrong indexes"),
        (answer([1.0, 0.0], [0.0, 1.0], indexes=[[], {}]), "wrong indexes"),
        (answer([1.0, 0.0], [0.0]), "unequal length"),
        (answer([], []), "2 rows of 0 numbers"),
        (answer(["1.0", "2.0"], ["3.0", "4.0"]), "rows of numbers"),
        (answer("AACAPw==", "AACAPw=="), "rows of numbers"),
        (answer(None, None), "rows of numbers"),
        (answer([True, False], [True, True]), "rows of numbers"),
        (answer([[1.0]], [[2.0]]), "rows of numbers"),
        (answer([10**400], [1]), "rows of numbers"),
        (answer([1.0, float("nan")], [0.0, 1.0]), "NaN or infinity"),
        (answer([1.0, float("inf")], [0.0, 1.0]), "NaN or infinity"),
    ],
)
def test_an_unusable_answer_is_an_error_and_never_a_vector(endpoint, pauses, body, complaint):
    embedder = remote(endpoint, pauses, api_key=KEY)
    endpoint.will(body=answer([1.0, 0.0]))
    assert 2 == embedder.dimensions
    endpoint.will(body=body)
    with pytest.raises(ProviderError, match=complaint) as raised:
        embedder.embed(["one", "two"])

    assert endpoint.base_url in str(raised.value)
    assert 2 == len(endpoint.requests), "a wrong answer is not asked for again"


def test_an_answer_far_larger_than_its_vectors_is_not_read_to_the_end(endpoint, pauses):
    endpoint.will(body=b" " * 1_000_000 + answer([1.0] * 32))
    with pytest.raises(ProviderError, match="sent over 67584 bytes"):
        remote(endpoint, pauses, dimensions=32).embed_query("word")


def test_dimensions_that_change_are_an_error(endpoint, pauses):
    embedder = remote(endpoint, pauses)
    assert 32 == embedder.dimensions
    endpoint.will(body=answer([1.0, 0.0, 0.0]))
    with pytest.raises(ProviderError, match="vectors of 3 numbers where 32 were expected"):
        embedder.embed_query("word")


def test_other_dimensions_than_asked_for_are_an_error(endpoint, pauses):
    endpoint.will(body=answer([1.0, 0.0, 0.0]))
    with pytest.raises(ProviderError, match="vectors of 3 numbers where 32 were expected"):
        remote(endpoint, pauses, dimensions=32).embed_query("word")


def test_huge_and_tiny_numbers_become_rows_of_length_one(endpoint, pauses):
    endpoint.will(body=answer([3e300, 4e300], [3e-300, 4e-300], [0.0, 0.0]))
    rows = remote(endpoint, pauses, dimensions=2).embed(["huge", "tiny", "nothing"])

    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8], [0.0, 0.0]], rtol=1e-6)


@pytest.mark.parametrize("status", [401, 404, 307, 503])
def test_no_error_says_the_key_or_what_the_endpoint_said(endpoint, pauses, status):
    for _ in range(4):
        endpoint.will(status=status, body=f"Incorrect API key provided: {KEY}".encode())
    embedder = remote(endpoint, pauses, dimensions=32, api_key=KEY)
    with pytest.raises(ProviderError) as raised:
        embedder.embed_query("a private text")

    said = f"{raised.value!r} {raised.value.__cause__!r} {embedder!r}"
    assert KEY not in said
    assert "private" not in said
    assert "Incorrect" not in said


@pytest.mark.parametrize("key", ["", "two words", f"{KEY}\r\nX-Evil:1", "schlüssel"])
def test_a_key_that_cannot_be_a_header_is_refused_without_being_repeated(key):
    with pytest.raises(InvalidInput, match="API key") as raised:
        RemoteEmbedder("http://127.0.0.1:9/v1", "tiny", api_key=key)

    assert not key or key not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/v1",
        "file:///etc/passwd",
        "host/v1",
        "http://",
        "http://host:99999999/v1",
        "http://[::1/v1",
        "http://host/v1?key=1",
        "http://host/v1#part",
        "http://host/v 1",
        "http://host/v1\r\nX: 1",
    ],
)
def test_an_unusable_base_url_is_refused_by_name(url):
    with pytest.raises(InvalidInput, match=r"Base URL .* cannot be used; give one like https://host/v1"):
        RemoteEmbedder(url, "tiny")


def test_a_password_in_the_base_url_is_refused_without_being_repeated():
    with pytest.raises(InvalidInput, match="api_key") as raised:
        RemoteEmbedder("https://me:hunter2@host/v1", "tiny")

    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"dimensions": 0}, "0"), ({"batch_size": 0}, "0"), ({"timeout_s": 0.0}, r"0\.0")],
)
def test_an_option_out_of_range_is_refused_by_value(options, named):
    with pytest.raises(InvalidInput, match=named):
        RemoteEmbedder("http://127.0.0.1:9/v1", "tiny", **options)
