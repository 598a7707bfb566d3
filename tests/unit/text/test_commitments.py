"""What sentences decide, agree on and leave to do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_counts import examples
from hexad.text import commitments
from hexad.text.commitments import SENTENCE_CHARS_LIMIT, statements


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("We decided to keep SQLite.", "decision"),
        ("The team has agreed on weekly releases.", "decision"),
        ("Let's go with Postgres for the orders.", "decision"),
        ("We'll stick with REST for the api.", "decision"),
        ("We picked ruff over flake8 for its speed.", "decision"),
        ("Decision: the ledger is sealed at night.", "decision"),
        ("The plan is to use S3 for uploads.", "decision"),
        ("Make it Postgres, please.", "decision"),
        ("Don't use mocks.", "convention"),
        ("I'd like to stick with pytest.", "preference"),
        ("I always want type hints.", "preference"),
        ("My preference is dark mode.", "preference"),
        ("We always hash tokens before storing them.", "convention"),
        ("From now on every module has a docstring.", "convention"),
        ("Convention: snake case for tables.", "convention"),
        ("Never commit generated files.", "convention"),
        ("TODO: add retries to the client.", "todo"),
        ("We still need to write the migration.", "todo"),
        ("Don't forget to rotate the keys.", "todo"),
        ("The index still needs to be rebuilt.", "todo"),
    ],
)
def test_a_sentence_that_binds_is_found(text, what):
    assert [(what, text)] == [(statement.what.value, statement.text) for statement in statements(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Did we decide to keep SQLite?",
        "We have not decided on it yet.",
        "Maybe we should go with Postgres.",
        "The article says we always hash tokens.",
        "If we decided to move, we would tell you.",
        "> We decided to keep SQLite.",
        "The build is green and the tests pass.",
        "Never mind the warning above.",
        "Don't use it for now.",
        "The plan is to use it later.",
        "Make it faster, please.",
        "I always want to know why.",
        "We decided to " + "x " * SENTENCE_CHARS_LIMIT,
    ],
)
def test_a_sentence_that_binds_nobody_is_not(text):
    assert [] == list(statements(text))


@pytest.mark.row("A075")
@pytest.mark.parametrize("half", ["development", "unseen"])
def test_four_in_five_of_the_choices_that_strangers_stated_are_read(half: str) -> None:
    data = Path(__file__).parents[3] / "benchmarks" / "data" / f"stated_choices.{half}.jsonl"
    choices = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    wanted = {"decision": {"decision", "convention"}, "preference": {"preference", "convention"}}

    read = [
        choice
        for choice in choices
        if wanted[choice["kind"]] & {statement.what.value for statement in statements(choice["text"])}
    ]

    assert len(choices) >= 23
    assert len(read) >= 0.8 * len(choices)


@pytest.mark.row("A075")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("We're gonna use Next.js for the frontend.", "decision"),
        ("I'm going with Fastify here.", "decision"),
        ("Postgres will be our database.", "decision"),
        ("For auth we'll rely on Keycloak.", "decision"),
        ("Agreed: no ORM.", "decision"),
        ("Redis is what we'll use for caching.", "decision"),
        ("We are not going to use Kubernetes.", "decision"),
        ("Use tabs, not spaces.", "convention"),
        ("Please don't add comments to generated code.", "convention"),
        ("You should always write docstrings.", "convention"),
        ("Switch to uv for packaging.", "convention"),
        ("Keep functions under 40 lines.", "convention"),
        ("Tests go next to the code.", "convention"),
        ("My go-to test runner is vitest.", "preference"),
        ("Remember that I use fish shell.", "preference"),
        ("Stop suggesting jQuery.", "preference"),
    ],
)
def test_what_a_project_is_told_in_passing_is_read(text: str, what: str) -> None:
    assert [what] == [statement.what.value for statement in statements(text)]


@pytest.mark.row("A075")
@pytest.mark.parametrize(
    "text",
    [
        "Let's go with the next file.",
        "I prefer not to answer.",
        "For lunch we'll have pasta.",
        "We'll be hosting a party.",
        "We'll deploy the fix tomorrow.",
        "I'm going to write tests for this.",
        "Switch to the other tab and look.",
        "Use the button on the left.",
        "My go-to excuse is traffic.",
        "Keep the tests green while you do it.",
        "The tests will be done by noon.",
        "Stop it!",
        "Final call for boarding.",
        "Should I use tabs, not spaces?",
        "They said we will use Redis.",
    ],
)
def test_what_is_about_the_next_step_or_the_evening_is_not(text: str) -> None:
    assert [] == list(statements(text))


@pytest.mark.parametrize("form", commitments._PROJECT_WORDS.split())
def test_every_form_of_a_word_of_a_project_is_found_by_its_first_word(form: str) -> None:
    """Of an optional ending or sign, with it and without it."""
    for text in (form.replace("(?:es)?", "es").replace("?", ""), re.sub(r"\(\?:es\)\?|.\?", "", form)):
        assert commitments._PROJECT.fullmatch(text)
        assert not commitments._PROJECT_BEGINNINGS.isdisjoint(commitments._WORD.findall(text))


@pytest.mark.parametrize("rule", commitments.RULES, ids=lambda rule: " ".join(sorted(rule.words)[:3]))
def test_what_a_pattern_finds_has_one_of_its_words(rule: commitments.WordedPattern) -> None:
    pattern = re.compile(rule.pattern.pattern)

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.from_regex(pattern, alphabet=st.characters(max_codepoint=127)))
    def looked_for(text: str) -> None:
        mine, there = pattern.search(text), rule.search(text, commitments.words_in(text))
        assert mine is not None
        assert there is not None
        assert mine.span() == there.span()

    looked_for()
