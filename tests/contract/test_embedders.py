"""One suite against every embedder. A new one is added to `KINDS` and must pass unchanged."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from hexad.errors import InvalidInput
from hexad.providers.embedders.base import Embedder, resolve
from hexad.providers.embedders.hashing import HashEmbedder

KINDS = ("hashing", "minilm", "remote", "callable")
TEXTS = [
    "We deploy on Tuesday.",
    "My cat sleeps all day and hunts all night, mostly in the garden behind the house.",
    "def add(a, b):\n    return a + b",
    "漢字 and naïve emoji 😀",
    "x",
]


class _Hashing(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint whose model is the hashing embedder."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = HashEmbedder(48).embed(request["input"])
        data = [{"index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hashing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def _vowels(texts):
    return [[float(text.lower().count(letter)) + 0.01 for letter in "aeiou"] for text in texts]


@pytest.fixture(scope="module", params=KINDS)
def embedder(request) -> Iterator[Embedder]:
    if request.param == "remote":
        with _endpoint() as base_url:
            yield resolve(f"openai:hashing@{base_url}")
        return
    spec = {"hashing": "hashing", "minilm": "default", "callable": _vowels}[request.param]
    yield resolve(spec)


def test_one_row_of_float32_per_text(embedder):
    rows = embedder.embed(TEXTS)

    assert (len(TEXTS), embedder.dimensions) == rows.shape
    assert np.float32 == rows.dtype


def test_every_row_has_length_one(embedder):
    np.testing.assert_allclose(np.linalg.norm(embedder.embed(TEXTS), axis=1), 1.0, atol=1e-5)


def test_rows_come_in_the_order_of_the_texts(embedder):
    forth, back = embedder.embed(TEXTS), embedder.embed(TEXTS[::-1])

    np.testing.assert_allclose(back[::-1], forth, atol=1e-5)
    assert len(TEXTS) == len({row.tobytes() for row in forth.round(4)}), "different texts, different rows"


def test_no_texts_give_no_rows(embedder):
    rows = embedder.embed([])

    assert (0, embedder.dimensions) == rows.shape
    assert np.float32 == rows.dtype


@pytest.mark.parametrize("blank", ["", "   ", "\n\t\u3000"])
def test_a_text_without_tokens_is_a_row_of_zeros(embedder, blank):
    rows = embedder.embed([blank, TEXTS[0], blank])

    assert [0.0, 0.0] == [float(np.abs(row).sum()) for row in rows[::2]]
    np.testing.assert_allclose(rows[1], embedder.embed_query(TEXTS[0]), atol=1e-5)


def test_only_blank_texts_are_only_zeros(embedder):
    assert 0.0 == float(np.abs(embedder.embed(["", " "])).sum())


def test_a_question_is_one_row(embedder):
    row = embedder.embed_query(TEXTS[0])

    assert ((embedder.dimensions,), np.float32) == (row.shape, row.dtype)
    np.testing.assert_allclose(row, embedder.embed(TEXTS)[0], atol=1e-5)


def test_the_same_texts_give_the_same_bits(embedder):
    assert embedder.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


def test_the_batch_around_a_text_does_not_matter(embedder):
    many = [f"{text} {number}" for number in range(30) for text in TEXTS]
    alone = np.vstack([embedder.embed([text]) for text in many[:20]])

    np.testing.assert_allclose(embedder.embed(many)[:20], alone, atol=1e-5)


def test_a_repeated_text_has_the_same_row_each_time(embedder):
    rows = embedder.embed([TEXTS[1], TEXTS[0], TEXTS[1]])

    np.testing.assert_allclose(rows[0], rows[2], atol=1e-6)


@pytest.mark.parametrize(
    "text", ["word " * 50_000, "x" * 200_000, "漢" * 50_000], ids=["words", "one word", "CJK"]
)
def test_a_long_text_has_a_row_like_any_other(embedder, text):
    assert 1.0 == pytest.approx(float(np.linalg.norm(embedder.embed_query(text))), abs=1e-5)


def test_half_a_surrogate_pair_is_no_error(embedder):
    assert (embedder.dimensions,) == embedder.embed_query("odd \ud800 text").shape


def test_four_threads_get_what_one_gets(embedder):
    expected = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as threads:
        for rows in threads.map(lambda _: embedder.embed(TEXTS), range(12)):
            np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_the_rows_belong_to_the_caller(embedder):
    rows = embedder.embed(TEXTS)
    kept = rows.copy()
    rows[:] = 7.0

    np.testing.assert_allclose(embedder.embed(TEXTS), kept, atol=1e-5)


def test_the_name_is_stable_and_not_empty(embedder):
    before = embedder.name
    embedder.embed(TEXTS[:1])

    assert before == embedder.name != ""


def test_a_lone_string_instead_of_texts_is_refused(embedder):
    with pytest.raises(InvalidInput, match="got one string"):
        embedder.embed("word")


def test_an_item_that_is_no_text_is_refused_by_position(embedder):
    with pytest.raises(InvalidInput, match="Text 1 is of type NoneType"):
        embedder.embed(["word", None])
