from __future__ import annotations

import subprocess
import sys

import pytest

from hexad.errors import InvalidInput
from hexad.providers.embedders.base import resolve
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
