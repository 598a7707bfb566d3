from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hexad.errors import ProviderError
from hexad.providers.embedders.first_vectors import MAP_FILE, FirstVectorModel
from hexad.providers.embedders.minilm import MiniLmEmbedder

TEXTS = [
    "The otter sleeps by day in a den of reeds beside the weir.",
    "def load(path):\n    return json.loads(path.read_text())",
    "The invoice for the new crane was paid in March.",
    "A store that was written by a newer version is refused.",
]


@pytest.fixture(scope="module")
def model() -> FirstVectorModel:
    return FirstVectorModel()


def test_rows_have_length_one_and_say_nothing_of_a_text_without_words(model):
    rows = model.embed([*TEXTS, "", " \n"])

    assert rows.shape == (len(TEXTS) + 2, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows[:-2], axis=1), 1, atol=1e-6)
    assert not rows[-2:].any()


def test_each_text_is_nearest_to_its_own_real_vector(model):
    cosines = model.embed(TEXTS) @ MiniLmEmbedder(threads=1).embed(TEXTS).T

    assert list(range(len(TEXTS))) == cosines.argmax(axis=1).tolist()
    assert cosines.diagonal().min() > 0.4


def test_a_text_has_the_same_row_whatever_stands_beside_it(model):
    together = model.embed(TEXTS)

    assert np.allclose(together, np.concatenate([model.embed([text]) for text in TEXTS]), atol=1e-6)


def test_another_model_file_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"\0" * 12_100_000)

    with pytest.raises(ProviderError, match="other embeddings than expected"):
        FirstVectorModel(tmp_path).embed(["otter"])
    with pytest.raises(ProviderError, match="cannot be read"):
        FirstVectorModel(tmp_path / "missing").embed(["otter"])


def test_the_map_says_what_made_it():
    with np.load(MAP_FILE, allow_pickle=False) as arrays:
        note = str(arrays["note"])

    assert "benchmarks.fit_first_vectors" in note
    assert MiniLmEmbedder.name in note
    assert Path(MAP_FILE).stat().st_size < 310_000
