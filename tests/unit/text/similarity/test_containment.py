"""When one text says nothing that another does not."""

from __future__ import annotations

import pytest

from hexad.text.similarity.containment import adds_nothing, puts_otherwise, says_the_same


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("Ops run the pipeline.", "ops run the pipelines"),
        ("Deploys happen on Tuesday.", "The deploys happen on Tuesday. They are made by the ops team."),
        ("- Ship `main`, (on green)", "* ship main on green"),
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
        ("Deploys happen on Tuesday.", "All deploys happen on Tuesday, by the ops team."),
        ("Ship main.", "Refuse to ship main."),
        ("Ship main.", "Ship main. That is obsolete."),
        ("Das Update läuft freitags.", "Das Update läuft freitags nicht."),
        ("Ship it. Tell ops. Ship it.", "Ship it. Tell ops."),
        ("...", "Anything at all."),
    ],
)
def test_a_number_a_name_a_negation_a_condition_and_an_order_say_something_else(text, beside):
    assert not adds_nothing(text, beside)


@pytest.mark.row("A077", "A078")
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Anna likes tea", "Anne likes tea"),
        ("Roger signs it", "Rogers signs it"),
        ("Turn on the cache", "Turn off the cache"),
        ("You may restart it", "You must restart it"),
        ("We could use Redis", "We use Redis"),
        ("All shards are locked", "Some shards are locked"),
        ("Always log it", "Sometimes log it"),
        ("Nobody signs it", "Anybody signs it"),
        ("My key opens it", "Your key opens it"),
        ("Copy it from Oslo to Bergen", "Copy it to Oslo from Bergen"),
        ("Set it to -5", "Set it to 5"),
        ("Require load >= 5", "Require load <= 5"),
        ("It is 1.05 long", "It is 10.5 long"),
        ("It may hold 1,000 rows", "It may hold 1.000 rows"),
        ("It costs 5 $", "It costs 5 €"),
        ("It is written in C", "It is written in C++"),
        ("See src/a.py", "See src_a.py"),
        ("Builds pass ✅", "Builds pass ❌"),
        ("Ask the US team", "Ask the us team, Bob"),
        ("The cache is on", "Is the cache on?"),
        ("It is in plan A", "It is in plan"),
    ],
)
def test_two_texts_that_say_different_things_are_never_one(first, other):
    rest = " so that the export of all orders to the store in Frankfurt never waits for the report of the warehouse."

    assert not says_the_same(first + rest, other + rest)
    assert not says_the_same(other + rest, first + rest)


@pytest.mark.parametrize(
    ("text", "known", "otherwise"),
    [
        ("We counted again: 470 boxes on shelf 4.", "Shelf 4 has 470 boxes. shelf 4 boxes", True),
        ("We deploy with Fly; renew it in 2027.", "We deploy with Fly.", False),
        ("We deploy with Fly, says Anna.", "We deploy with Fly.", False),
        ("We deploy with Fly, never by hand.", "We deploy with Fly.", False),
        ("We deploy with Fly and the finance department pays every invoice.", "We deploy with Fly.", False),
    ],
)
def test_a_fact_in_other_words_is_told_from_one_that_says_more(text, known, otherwise):
    assert otherwise == puts_otherwise(text, known)


def test_near_duplicates_that_differ_in_a_number_are_not_the_same():
    text = "Requests to the payment gateway are retried at most 5 times before an order of the shop is held."

    assert says_the_same(text, text.upper())
    assert not says_the_same(text, text.replace("5", "6"))
