"""What is junk by its words alone, and what only looks like it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hexad.text.noise import is_program_output, junk_rule
from hexad.text.similarity.containment import without_negation

DATA = Path(__file__).parents[2] / "data" / "memories"
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


def test_what_agents_memories_fill_up_with_is_junk():
    missed = [text for text in json.loads((DATA / "junk.json").read_text()) if junk_rule(text) is None]

    assert [] == missed


def test_what_only_looks_like_junk_is_left_alone():
    taken = {
        text: rule
        for text in json.loads((DATA / "sound.json").read_text())
        if (rule := junk_rule(text)) is not None
    }

    assert {} == taken


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("tool", "Ran command: ls -la"), ("tool", '{"tool": "search", "args": {"q": "auth"}, "status": "success"}'),
        ("nothing", "No relevant information found."), ("page", "Home | About us | Contact | Sign in"),
        ("data", "550e8400-e29b-41d4-a716-446655440000"), ("data", "[=====>              ] 27%"),
        ("data", "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4"),
        ("listing", "README.md\nsetup.py\nsrc/app.py"), ("trace", "added 214 packages in 9s"),
        ("boilerplate", "You are Claude, an AI assistant created by Anthropic. " + "Use the tools with care. " * 40),
        ("announcement", "Great, that worked. Now I'll update the docs."), ("small_talk", "User said hi."),
    ],
)  # fmt: skip
def test_what_no_person_says_is_known_by_its_form(rule, text):
    assert rule == junk_rule(text)


@pytest.mark.parametrize(
    "text",
    ["\n" * 400_000 + "x", "<a " * 100_000 + ">", "[" * 200_000, "1 " * 299, "tool " * 119, "a/" * 200_000],
)
def test_a_text_that_is_made_to_cost_time_costs_little(text):
    assert junk_rule(text) in (None, "empty", "tool", "page", "small_talk", "data", "listing")


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
        ("Use tabs.", "Do not use tabs."),
        ("Mara has a car", "Mara has no car"),
        ("The user likes tea", "The user dislikes tea"),
        ("The cache is enabled", "The cache is disabled"),
    )
    for left, right in pairs:
        first, other = without_negation(left), without_negation(right)
        assert first is not None
        assert other is not None
        assert (first[0], False, True) == (other[0], first[1], other[1])


def test_a_question_and_a_long_text_state_nothing():
    assert without_negation("Do we not deploy on Fridays?") is None
    assert without_negation("word " * 100) is None


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-01 12:00:03 ERROR worker timeout",
        "2026-03-01T12:00:03Z [main] WARN c.e.App - slow",
        "Mar  1 12:00:03 web1 sshd[411]: session opened",
        '{"level": "error", "ts": 1, "msg": "boom"}',
        '127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23',
        "ERROR:root:boom",
        'level=error msg="boom" worker=3',
        '  File "a.py", line 3, in run',
        "    at run (bar.js:1:2)",
    ],
)
def test_a_line_of_a_log_alone_is_one(line: str) -> None:
    assert is_program_output(line)


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-01 12:00 we met Ines in Porto",
        "Error E1042 means that the disk is full",
        "INFO: the office is closed on Friday",
        "Warning: never deploy on Friday",
        "Level 3 is the hardest",
        '{"level": 3}',
    ],
)
def test_a_sentence_with_a_time_or_a_level_is_none(line: str) -> None:
    assert not is_program_output(line)
