from __future__ import annotations

import math
from enum import IntEnum

import pytest

from hexad.core.arguments import is_number, is_whole, parse_count, parse_pairs, parse_share
from hexad.errors import InvalidInput


class _Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize("value", [0, 1, -7, 10**400, _Level.LOW])
def test_whole_numbers_of_any_size_are_whole(value: object) -> None:
    assert is_whole(value)
    assert is_number(value)


@pytest.mark.parametrize("value", [True, False, None, "1", b"1", [1], 1j, math.nan])
def test_what_only_looks_like_a_number_is_none(value: object) -> None:
    assert not is_whole(value)
    assert not is_number(value)


def test_a_fraction_is_a_number_and_not_whole_even_where_it_has_no_fraction() -> None:
    assert is_number(2.0)
    assert not is_whole(2.0)


def test_both_bounds_are_within() -> None:
    assert [False, True, True, False] == [is_whole(value, 1, 2) for value in (0, 1, 2, 3)]
    assert [False, True, True, False] == [is_number(value, 0, 0.5) for value in (-1e-9, 0, 0.5, 0.51)]


def test_a_list_of_pairs_may_hold_any_list_of_two() -> None:
    assert [(1, "a"), ("b", 2)] == parse_pairs([(1, "a"), ["b", 2]], "edges", of="from, to")
    with pytest.raises(InvalidInput, match=r"edges\[1\] = 'bc' is no pair; give two values \(from, to\)"):
        parse_pairs([(1, 2), "bc"], "edges", of="from, to")


def test_counts_and_shares_take_the_numbers_of_numpy() -> None:
    np = pytest.importorskip("numpy")

    assert 3 == parse_count(np.int64(3), "count")
    assert 0.5 == parse_share(np.float32(0.5), "share")
    with pytest.raises(InvalidInput, match=r"share = 1\.5 cannot be used"):
        parse_share(1.5, "share")
