from __future__ import annotations

import pytest

from hexad.text.requests import asks_for_work


@pytest.mark.parametrize(
    "question",
    [
        "Could you write me a helper that reads the settings?",
        "Please rewrite the loop that adds up the totals.",
        "How should I go about the next month?",
        "What should I base the web part on?",
        "How do generators work?",
        "I want to store birthdays, how do I do that?",
        "Draw me a diagram of it.",
        "What is a good way to collect opinions?",
        "Thanks! Can I make it faster?",
        "Any ideas for a logo?",
    ],
)
def test_a_request_wants_something_made_explained_or_advised(question):
    assert asks_for_work(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is my deadline?",
        "Who reviews my code?",
        "When did I start with the login page?",
        "What did you recommend for caching?",
        "Can you remind me when the board meets?",
        "How many libraries have I tried so far?",
        "Which bugs did I fix?",
        "How long was the service ever offline?",
        "In what order did I work on the parts?",
        "Give me an overview of everything I have built.",
    ],
)
def test_what_is_to_be_remembered_is_no_request(question):
    assert not asks_for_work(question)
