from __future__ import annotations

import pytest

from hexad.text.standing import standing_sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "Always use type hints when you show me a function.",
        "When I ask about costs, give the sums in francs too.",
        "Whenever we talk about dates, please write the weekday.",
        "Use British spelling whenever you draft something.",
        "Never suggest paid services.",
        "Don’t ever shorten names.",
        "From now on, answer in German.",
        "Make sure to mention the licence whenever you suggest a library.",
        "I want you to always show the imports.",
        "You should always mention the version.",
        "I prefer small libraries over frameworks.",
        "I'd rather read an example than an explanation.",
        "Short answers work best for me.",
        "I'm a visual learner.",
    ],
)
def test_what_holds_for_answers_to_come_is_found_in_a_turn(sentence):
    text = f"The server is back. {sentence} Can you explain generators?"

    assert list(standing_sentences(text)) == [sentence.replace("’", "'")]


@pytest.mark.parametrize(
    "text",
    [
        "When I ran it, nothing happened.",
        "Make sure to close the file in this function.",
        "If you want to compare sequences, the matcher is slow.",
        "Should I always use a set?",
        "If I add threads, performance drops.",
        "The first version is due on Friday.",
        "It has never worked since the update.",
        'He said: "always use tabs".',
        "You have to wait until it is done.",
    ],
)
def test_what_tells_or_asks_something_holds_for_nothing(text):
    assert list(standing_sentences(text)) == []
