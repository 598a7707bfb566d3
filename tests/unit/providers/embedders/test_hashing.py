from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from hexad.errors import InvalidInput
from hexad.providers.embedders.hashing import HashEmbedder

TEXTS = ["The deploy happens on Tuesday.", "Naïve Σ 漢字 text", "x" * 10_000, "a b a b a"]


def cosine(left: str, right: str) -> float:
    a, b = HashEmbedder().embed([left, right])
    return float(a @ b)


def test_its_bits_are_pinned():
    expected = "061e02595b729385"
    rows = HashEmbedder(64).embed(TEXTS)

    assert expected == hashlib.sha256(rows.astype("<f4").tobytes()).hexdigest()[:16]


def test_it_does_not_depend_on_pythons_hash_seed():
    script = (
        "from hexad.providers.embedders.hashing import HashEmbedder as H;"
        "print(H(64).embed(['The deploy happens on Tuesday.']).tobytes().hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(runs)


@pytest.mark.parametrize(
    ("text", "similar", "unrelated"),
    [
        ("When do we deploy?", "We deploy on Tuesday", "My cat eats fish"),
        ("deployment of the server", "deploying servers", "a recipe for apple cake"),
        ("parse_config reads the file", "the config file is parsed", "nothing in common here"),
    ],
)
def test_shared_words_and_parts_of_words_make_texts_similar(text, similar, unrelated):
    assert cosine(text, similar) > cosine(text, unrelated) + 0.1


def test_upper_and_lower_case_are_the_same():
    assert 1.0 == pytest.approx(cosine("Hello World", "hello WORLD"), abs=1e-6)


def test_repeating_a_word_counts_less_each_time():
    once, twice, often = (cosine("tea", f"{'tea ' * times} house") for times in (1, 2, 16))

    assert once < twice < often
    assert twice < cosine("tea", "tea tea")


def test_the_name_holds_the_dimensions():
    assert ("hashing-384@1", 384) == (HashEmbedder(384).name, HashEmbedder(384).dimensions)


def test_no_dimensions_are_refused():
    with pytest.raises(InvalidInput, match="dimensions is 0"):
        HashEmbedder(0)


def test_half_a_surrogate_pair_has_a_vector_or_none_but_no_error():
    row = HashEmbedder().embed_query("odd \ud800 text")

    assert 1.0 == pytest.approx(float(np.linalg.norm(row)), abs=1e-5)
