from __future__ import annotations

import pytest

from hexad.providers.http_requests import Backoff


def test_each_pause_is_twice_the_one_before_and_the_last_attempt_has_none() -> None:
    backoff = Backoff(4)

    assert [0.5, 1.0, 2.0, None] == [
        backoff.pause_s(None),
        backoff.pause_s(429),
        backoff.pause_s(503),
        backoff.pause_s(500),
    ]


def test_a_pause_that_is_asked_for_takes_the_place_of_our_own() -> None:
    backoff = Backoff(4)

    assert [7.0, 1.0] == [backoff.pause_s(429, " 7 "), backoff.pause_s(429)]


@pytest.mark.parametrize("header", ["", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "9999999999", "٣"])
def test_a_header_that_is_no_number_of_seconds_is_passed_over(header: str) -> None:
    assert Backoff(2).pause_s(503, header) == 0.5


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_a_refusal_for_good_is_not_asked_again(status: int) -> None:
    assert Backoff(4).pause_s(status, "1") is None
