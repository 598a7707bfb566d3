from __future__ import annotations

import functools
import subprocess
import sys

import numpy as np
import pytest

from hexad.errors import InvalidInput, ProviderError
from hexad.providers.embedders.base import CallableEmbedder, resolve
from hexad.providers.embedders.hashing import HashEmbedder


def test_none_means_lexical_only():
    assert resolve(None) is None


def test_default_is_the_model_that_ships_and_is_shared():
    embedder = resolve("default")

    assert "minilm-l6-v2-int8@8199be6f699a" == embedder.name
    assert embedder is resolve("default")
    assert embedder is not resolve("default", threads=1)


def test_hashing_takes_dimensions():
    assert ("hashing-256@1", "hashing-64@1") == (
        resolve("hashing").name,
        resolve("hashing", dimensions=64).name,
    )


@pytest.mark.parametrize(
    ("spec", "dimensions", "name"),
    [
        (
            "openai:text-embedding-3-small@https://api.example.org/v1",
            384,
            "openai:text-embedding-3-small@384",
        ),
        ("openai:nomic-embed-text@http://localhost:11434/v1", None, "openai:nomic-embed-text"),
        ("openai:org/model@v2@http://[::1]:8080", None, "openai:org/model@v2"),
    ],
)
def test_an_endpoint_is_named_by_model_and_base_url(spec, dimensions, name):
    assert name == resolve(spec, dimensions=dimensions).name


def test_a_function_is_wrapped():
    def mine(texts):
        return [[1.0]] * len(texts)

    assert resolve(mine).name.endswith("mine")


def test_an_embedder_passes_through_without_being_asked_anything():
    class Theirs:
        name = "theirs@1"

        @property
        def dimensions(self):
            raise AssertionError("asking may cost a request")

        embed = embed_query = __call__ = lambda self, texts: None

    theirs, hashing = Theirs(), HashEmbedder()

    assert theirs is resolve(theirs)
    assert hashing is resolve(hashing)


@pytest.mark.parametrize(
    "spec", ["", "Default", "minilm", "openai:model", "openai:@http://host", "http://host/v1"]
)
def test_an_unknown_name_is_refused_with_the_valid_forms(spec):
    with pytest.raises(InvalidInput, match=r"'default', 'hashing', 'openai:<model>@<base URL>'") as raised:
        resolve(spec)

    assert repr(spec) in str(raised.value)


@pytest.mark.parametrize("spec", [3, ["default"], HashEmbedder, object()])
def test_what_is_no_embedder_is_refused(spec):
    with pytest.raises(InvalidInput, match="is no embedder; give 'default'"):
        resolve(spec)


def test_importing_and_resolving_load_no_heavy_library():
    script = (
        "import sys; from hexad.providers.embedders.base import resolve;"
        "resolve('default'); resolve('hashing'); resolve('openai:m@http://h/v1', api_key='k');"
        "print(sorted({'numpy', 'onnxruntime', 'http.client', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


def test_the_usual_key_of_openai_goes_to_no_other_endpoint(endpoint):
    spec = f"openai:tiny@{endpoint.base_url}"
    resolve(spec, openai_key="sk-the-usual-one", dimensions=4).embed(["a text"])
    resolve(spec, api_key="sk-for-it", openai_key="sk-the-usual-one", dimensions=4).embed(["a text"])

    assert [None, "Bearer sk-for-it"] == [headers.get("Authorization") for headers in endpoint.headers]


def lengths(texts):
    return [[3.0 * len(text), 4.0 * len(text)] for text in texts]


def test_lists_become_rows_of_length_one():
    rows = CallableEmbedder(lengths).embed(["a", "bb"])

    assert np.float32 == rows.dtype
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8]], rtol=1e-6)


def test_an_array_of_whole_numbers_is_as_good():
    rows = CallableEmbedder(lambda texts: np.array([[3, 4]] * len(texts))).embed(["a"])

    np.testing.assert_allclose(rows, [[0.6, 0.8]], rtol=1e-6)


def test_the_name_says_where_the_function_is_from():
    assert f"callable:{__name__}.lengths" == CallableEmbedder(lengths).name
    assert "callable:functools.partial" == CallableEmbedder(functools.partial(lengths)).name


def test_the_callers_array_is_not_changed():
    mine = np.array([[3.0, 4.0]])
    CallableEmbedder(lambda texts: mine).embed(["a"])

    assert [[3.0, 4.0]] == mine.tolist()


def test_the_function_never_sees_a_blank_text_nor_more_than_128_at_once():
    seen: list[list[str]] = []

    def watched(texts):
        seen.append(list(texts))
        return lengths(texts)

    CallableEmbedder(watched).embed(["", *("x" * n for n in range(1, 200)), "\t"])

    assert 199 == sum(map(len, seen)) - len(["dimensions"])
    assert 128 == max(map(len, seen))
    assert all(text.strip() for texts in seen for text in texts)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "rows of numbers"),
        ("text", "rows of numbers"),
        ([1.0, 2.0], "rows of numbers"),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], "3 rows"),
        ([[1.0], [1.0, 2.0]], "unequal length"),
        ([[1.0, float("nan")]], "NaN"),
        ([[]], "0 numbers"),
        ([[1 + 2j]], "rows of numbers"),
    ],
)
def test_an_unusable_answer_is_an_error_that_names_the_function(answer, complaint):
    def broken(texts):
        return answer

    with pytest.raises(ProviderError, match=complaint) as raised:
        CallableEmbedder(broken).embed(["one"])

    assert "broken" in str(raised.value)


def test_dimensions_that_change_are_an_error():
    answers = iter([[[1.0, 2.0]], [[1.0, 2.0, 3.0]]])
    embedder = CallableEmbedder(lambda texts: next(answers))
    assert 2 == embedder.dimensions

    with pytest.raises(ProviderError, match="vectors of 3 numbers where 2 were expected"):
        embedder.embed(["two"])


def test_whatever_the_function_raises_is_a_provider_error_with_its_cause():
    class OddError(Exception):
        pass

    def failing(texts):
        raise OddError("no memory on the card")

    with pytest.raises(ProviderError, match="OddError: no memory on the card") as raised:
        CallableEmbedder(failing).embed(["one"])

    assert isinstance(raised.value.__cause__, OddError)


def test_an_error_of_ours_from_the_function_travels_as_it_is():
    def failing(texts):
        raise ProviderError("said clearly already")

    with pytest.raises(ProviderError, match=r"^said clearly already$"):
        CallableEmbedder(failing).embed(["one"])
