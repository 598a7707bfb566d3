"""When one text says nothing that another does not."""

from __future__ import annotations

import pytest

from hexad.text.sameness import adds_nothing, says_the_same


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("Deploys happen on Tuesday.", "deploys happen on Tuesdays"),
        ("Deploys happen on Tuesday.", "All deploys happen on Tuesday, by the ops team."),
        ("Ship on green. Tell ops.", "Tell ops. Ship on green."),
        ("The api answers in JSON.", "An api answers in JSON!"),
    ],
)
def test_another_wording_and_less_of_it_add_nothing(text, beside):
    assert adds_nothing(text, beside)


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("Retries stop after 5.", "Retries stop after 6."),
        ("Use the cache.", "Do not use the cache."),
        ("Use the cache.", "Use the cache unless memory is short."),
        ("Use the cache.", "The cache was used formerly."),
        ("Read before write.", "Write before read."),
        ("Backups go to Frankfurt.", "Backups go to Dublin."),
        ("Keep it for a week.", "Keep it for a week, 3 copies."),
        ("All deploys happen on Tuesday, by the ops team.", "Deploys happen on Tuesday."),
        ("...", "Anything at all."),
    ],
)
def test_a_number_a_name_a_negation_a_condition_and_an_order_say_something_else(text, beside):
    assert not adds_nothing(text, beside)


def test_near_duplicates_that_differ_in_a_number_are_not_the_same():
    text = "Requests to the payment gateway are retried at most 5 times before an order of the shop is held."

    assert says_the_same(text, text.upper())
    assert not says_the_same(text, text.replace("5", "6"))
