"""Rates: a burst, then as many as there may be; one name does not use up another's."""

from __future__ import annotations

import pytest

from hexad import FrozenClock
from hexad.interfaces.http_server.guard import Buckets


def test_more_than_the_rate_has_to_wait():
    clock = FrozenClock()
    buckets = Buckets(10, clock)
    burst = [buckets.wait_s("ann") for _ in range(21)]
    other = buckets.wait_s("bob")
    clock.advance(seconds=1)
    later = [buckets.wait_s("ann") for _ in range(11)]

    assert [0.0] * 20 == burst[:20]
    assert pytest.approx(0.1) == burst[20]
    assert 0.0 == other
    assert [0.0] * 10 == later[:10]
    assert later[10] > 0


def test_no_more_names_are_kept_than_have_room():
    buckets = Buckets(1, FrozenClock())
    for number in range(10_000):
        buckets.wait_s(f"address {number}")

    assert 4_096 >= len(buckets._levels)
