"""Document 3's three functions: its examples, its edges, and what holds for all values."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hexad
from hexad import InvalidInput, calculate_relevance, cosine_similarity, temporal_decay
from hexad.honeycomb.scoring import combined_relevance

DAY_S = 86_400.0
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.floats(-1e300, 1e300)
pairs = st.integers(0, 8).flatmap(
    lambda size: st.tuples(
        st.lists(numbers, min_size=size, max_size=size), st.lists(numbers, min_size=size, max_size=size)
    )
)


@pytest.mark.row("O021", "O067")
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 0], [1, 0], 1.0),
        ([1, 0], [0, 1], 0.0),
        ([1, 0], [-1, 0], 0.0),
        ([3, 4], [4, 3], 0.96),
        ([], [], 0.0),
        ([], [1.0], 0.0),
        ([0, 0], [1, 1], 0.0),
        ([0, 0], [0, 0], 0.0),
        ([1e-300, 1e-300], [1e300, 1e300], 1.0),
        ([5e-324, 0.0], [1.0, 0.0], 1.0),
        ([1.7e308, 1.7e308], [1.7e308, 0.0], math.sqrt(0.5)),
    ],
)
def test_a_cosine_is_clamped_and_survives_every_size(first, second, expected):
    assert expected == pytest.approx(cosine_similarity(first, second), abs=1e-15)


@pytest.mark.row("O021")
def test_a_cosine_takes_numpy_rows_and_tuples():
    row = np.array([0.6, 0.8], dtype=np.float32)

    assert cosine_similarity(row, (0.6, 0.8)) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.row("O021", "O078")
@given(pairs)
def test_a_cosine_lies_between_0_and_1_and_knows_no_order(pair):
    first, second = pair
    value = cosine_similarity(first, second)

    assert 0.0 <= value <= 1.0
    assert value == cosine_similarity(second, first)


@pytest.mark.row("O021")
@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.0], [1.0, 2.0], "has 1 numbers and vec_b 2"),
        ([math.nan], [1.0], r"vec_a\[0\] is nan"),
        ([1.0], [math.inf], r"vec_b\[0\] is inf"),
        (["x"], [1.0], "vec_a is no vector"),
        (3, [1.0], "vec_a is no vector"),
    ],
)
def test_what_cannot_be_compared_is_refused(first, second, words):
    with pytest.raises(InvalidInput, match=words):
        cosine_similarity(first, second)


@pytest.mark.row("O022", "O023", "O043", "O068")
def test_decay_is_a_half_after_each_half_life():
    curve = [temporal_decay(0, days * DAY_S) for days in range(8)]

    assert [0.5**days for days in range(8)] == curve
    assert 0.008 == round(curve[7], 3)
    assert 1.0 == temporal_decay(10.0, 3.0)
    assert 0.5 == temporal_decay(0, 60, half_life=60) == temporal_decay(0, 60, half_life=timedelta(minutes=1))
    assert 0.0 == temporal_decay(0, 1e300)


@pytest.mark.row("O023")
def test_decay_takes_datetimes_and_the_formula_as_it_is_written():
    start = datetime(2026, 1, 1, tzinfo=UTC)

    assert 0.5 == temporal_decay(start, start + timedelta(days=1))
    assert math.exp(-1) == temporal_decay(start, start + timedelta(days=1), mode="tau")


@pytest.mark.row("O022")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: temporal_decay(0, 1, half_life=0), "half_life = 0 cannot"),
        (lambda: temporal_decay(0, 1, half_life=timedelta(seconds=-1)), "cannot be used"),
        (lambda: temporal_decay(0, 1, half_life=math.inf), "cannot be used"),
        (lambda: temporal_decay(0, 10**400), "current_time = 1000"),
        (lambda: temporal_decay(0, 1, mode="linear"), "choose one of half-life, tau"),
        (lambda: temporal_decay(math.nan, 1), "created_time = nan is not a time"),
        (lambda: temporal_decay(datetime(2026, 1, 1, tzinfo=UTC), 1), "created_time = datetime"),
        (
            lambda: temporal_decay(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)),
            "only one of them has a time zone",
        ),
    ],
)
def test_times_that_cannot_be_used_are_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()


@pytest.mark.row("O024")
@pytest.mark.parametrize(
    ("cosine", "decay", "expected"),
    [(0.95, 1.0, 0.965), (0.95, 0.2, 0.725), (0.5, 1.0, 0.65), (0.5, 0.2, 0.41)],
)
def test_the_documents_examples_come_out_with_its_0_995_read_as_0_965(cosine, decay, expected):
    # A vector at that cosine to the first axis, and the age that leaves that much.
    other = [cosine, math.sqrt(1 - cosine**2)]
    age_s = -math.log2(decay) * DAY_S

    assert expected == pytest.approx(calculate_relevance([1, 0], other, 0, age_s))
    assert expected == pytest.approx(combined_relevance(cosine, decay))


@pytest.mark.row("O025")
def test_weights_are_settable_and_shares_of_a_whole():
    old = {"created_time": 0, "current_time": 1000 * DAY_S}

    assert 1.0 == calculate_relevance([1], [1], **old, cosine_weight=1, decay_weight=0)
    assert 0.25 == calculate_relevance([1], [1], **old, cosine_weight=0.25, decay_weight=0.75)
    # What is old and only somewhat alike falls behind what is alike.
    assert calculate_relevance([1, 0], [1, 1], **old) < calculate_relevance([1, 0], [1, 0], **old)
    with pytest.raises(InvalidInput, match=r"add up to 1\.2; they must add up to 1"):
        calculate_relevance([1], [1], 0, 0, cosine_weight=0.9, decay_weight=0.3)
    with pytest.raises(InvalidInput, match=r"cosine_weight = -0\.5"):
        calculate_relevance([1], [1], 0, 0, cosine_weight=-0.5, decay_weight=1.5)


@pytest.mark.row("O024", "O078")
@given(pairs, moments, moments, st.floats(0, 1))
def test_a_relevance_lies_between_0_and_1(pair, created, current, weight):
    value = calculate_relevance(*pair, created, current, cosine_weight=weight, decay_weight=1 - weight)

    assert 0.0 <= value <= 1.0


def test_the_functions_are_public():
    assert {"cosine_similarity", "temporal_decay", "calculate_relevance"} <= set(hexad.__all__)
