from __future__ import annotations

import functools

import numpy as np
import pytest

from hexad.errors import ProviderError
from hexad.providers.embedders.base import CallableEmbedder


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
