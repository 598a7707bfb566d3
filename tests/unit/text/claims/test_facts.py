"""Which sentences state a fact that lasts."""

from __future__ import annotations

import pytest

from hexad.text.claims.facts import corrects, stands, states_fact, tells_fact


@pytest.mark.parametrize(
    "sentence",
    [
        "My sister lives in Porto.",
        "I am allergic to peanuts.",
        "The rate limit is 250.",
        "We no longer support Python 3.9.",
        "Deploys happen on Tuesdays.",
        "The company was founded in 1987 by two sisters.",
        "My bike is a green Brompton.",
    ],
)
def test_what_lasts_is_a_fact(sentence: str) -> None:
    assert states_fact(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm stuck.",
        "The build is failing.",
        "test_login is red, it times out.",
        "I get a 500 error on the settings page.",
        "It rains a lot.",
        "This is the log.",
        "Give me five ideas for a party.",
        "Write a poem about a man who lives in Paris.",
        "A browser sends an ETag to the server.",
        "I opened the file and changed line 12.",
        "Is the limit 250?",
        "If the limit is 250, we wait.",
    ],
)
def test_what_passes_is_asked_ordered_or_told_is_none(sentence: str) -> None:
    assert not states_fact(sentence)


def test_a_pronoun_needs_a_context() -> None:
    assert not states_fact("She is a nurse.")
    assert states_fact("She is a nurse.", context=True)


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("Actually, the limit is 250.", True),
        ("No, that's wrong.", True),
        ("The owner is Kim, not Lee.", True),
        ("Never as floats, not even once in a while, please", False),
        ("The limit is actually high.", False),
    ],
)
def test_a_correction_says_that_it_is_one(sentence: str, right: bool) -> None:
    assert right == corrects(sentence)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("I had a great weekend, we went hiking.", False),
        ("I went to the gym on Monday.", False),
        ("We came home late.", False),
        ("We moved to Porto.", True),
        ("I went to Lisbon in 2019.", True),
        ("We went with Postgres.", True),
    ],
)
def test_where_somebody_went_holds_no_longer(text: str, holds: bool) -> None:
    assert holds is stands(text)


@pytest.mark.parametrize(
    "sentence",
    [
        "My sister lives in Porto.",
        "I am allergic to peanuts.",
        "The rate limit is 250.",
        "Actually, the rate limit is 250.",
        "Deploys happen on Tuesdays.",
        "I write all reports in LaTeX.",
        "For now the frontend is written in React 18.",
        "Kim's team has six people.",
        "We no longer support Python 3.9.",
    ],
)
def test_what_is_told_of_oneself_or_with_a_value_is_kept_though_nobody_asked(sentence: str) -> None:
    assert tells_fact(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Improve tests, 12 to 14.",
        "Drop both for 3.",
        "Parsing Harbour sessions [2/2]",
        "The importer checks compressed headers.",
        "OK, so the filters and the body are easy to fix.",
        "Rather than 5 columns, let's do 7 tables.",
        "We already read the hints of the shell.",
        "I merge the branch.",
        "Yes, the other agent has 2 of them.",
    ],
)
def test_what_is_said_of_the_work_at_hand_is_not_kept_unasked(sentence: str) -> None:
    assert not tells_fact(sentence)
