"""What is junk by its words alone, and what only looks like it."""

from __future__ import annotations

import pytest

from hexad.text.junk import junk_rule
from hexad.text.negation import without_negation

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    go()\nValueError: no'


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("small_talk", "Hi there!"), ("small_talk", "ok thanks, talk to you later"),
        ("announcement", "I will now read the configuration file."),
        ("announcement", "Let me check the tests. Next, I'll run the linter."),
        ("boilerplate", "You are a helpful assistant."), ("boilerplate", "Thanks! Let me know if you need anything else."),
        ("trace", TRACE), ("trace", "2026-01-01 10:00 start\n2026-01-01 10:01 stop"),
        ("test", "test memory 3"), ("test", "Hello world"), ("test", "asdf"),
        ("heartbeat", "HEARTBEAT_OK"), ("heartbeat", "Cron job ran successfully at 10:00"),
        ("empty", "[REDACTED:api-key]"), ("empty", "…"),
    ],
)  # fmt: skip
def test_junk_is_known_by_its_rule(rule, text):
    assert rule == junk_rule(text)


@pytest.mark.parametrize(
    "text",
    [
        "Deploys happen on Tuesday.",
        "Yes, we ship on Tuesday.",
        "I'm starting next month.",
        "Let me check showed that the cache is stale because of a wrong key.",
        "I will now always use Postgres: the fix for lost rows was a transaction.",
        TRACE + "\nThis came from an empty basket; guard against it in checkout before asking for the price.",
        "Test the backup every Monday at noon.",
        "No changes to the public API without a deprecation of two releases.",
        "Thanks to the new index, recall takes 40 ms.",
        "Mara says hello to the harbour master each morning.",
        "42",
        "Je préfère le thé.",
        "会議は火曜日です。",
    ],
)
def test_what_says_something_is_left_alone(text):
    assert junk_rule(text) is None


def test_a_statement_and_its_opposite_have_the_same_words():
    pairs = (
        ("We deploy on Fridays.", "We do not deploy on Fridays."),
        ("Mara likes tea", "Mara doesn't like tea"),
        ("The api uses Redis.", "The api no longer uses Redis."),
    )
    for left, right in pairs:
        one, other = without_negation(left), without_negation(right)
        assert one is not None
        assert other is not None
        assert (one[0], False, True) == (other[0], one[1], other[1])


def test_a_question_and_a_long_text_state_nothing():
    assert without_negation("Do we not deploy on Fridays?") is None
    assert without_negation("word " * 100) is None
