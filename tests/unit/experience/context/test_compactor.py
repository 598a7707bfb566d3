"""Where a context window is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.experience.context.compactor import all_of, borders, cut_event, older_half
from hexad.experience.query.totals import LiveStep

STEPS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=40).map(
    lambda rows: [LiveStep(tick, tokens, event) for tick, (tokens, event) in enumerate(rows, start=1)]
)


@given(STEPS)
def test_something_is_taken_wherever_there_is_something(steps):
    taken = older_half(steps, sum(step.tokens for step in steps))
    assert (1 if steps else 0) <= taken <= len(steps)


@given(STEPS)
def test_at_a_border_no_event_is_cut(steps):
    for at in borders(steps):
        assert not cut_event(steps, at)


@given(STEPS)
def test_without_a_good_border_the_half_is_reached_by_the_token(steps):
    total = sum(step.tokens for step in steps)
    taken = older_half(steps, total)
    before = sum(step.tokens for step in steps[:taken])
    if cut_event(steps, taken) and before < total / 2:
        assert before + steps[taken].tokens > 0.75 * total  # that one is most of the window, and stays
    elif cut_event(steps, taken):
        assert sum(step.tokens for step in steps[: taken - 1]) < total / 2 or taken == 1


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("aabb", 2),
        ("aaab", 3),
        ("abbb", 1),
        ("abab", 2),  # no border: the third event is not over
        ("abba", 2),
        ("aaaaaaaaab", 5),  # the border is too late
    ],
)
def test_the_border_nearest_to_the_half_wins(events, expected):
    steps = [LiveStep(tick, 10, event) for tick, event in enumerate(events, start=1)]
    assert expected == older_half(steps, 10 * len(steps))


def test_of_a_longer_window_what_was_read_goes_up_to_its_last_border():
    steps = [LiveStep(tick, 1, tick // 4) for tick in range(1, 99)]
    assert 95 == older_half(steps, 1_000)
    assert 95 == all_of(steps, more=True)
    assert 98 == all_of(steps, more=False)


def test_an_event_as_long_as_what_was_read_is_cut_at_its_end():
    steps = [LiveStep(tick, 1, "long") for tick in range(1, 99)]
    assert 98 == all_of(steps, more=True)


def test_a_timestep_that_is_most_of_the_window_stays_while_there_is_something_older():
    steps = [LiveStep(1, 10, "a"), LiveStep(2, 6, "b"), LiveStep(3, 820, "c")]
    assert 2 == older_half(steps, 836, room=1_000)
    assert 3 == older_half(steps, 836, room=819)
    assert 1 == older_half(steps[2:], 820, room=1_000)
