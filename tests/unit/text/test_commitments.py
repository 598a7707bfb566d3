"""What sentences decide, agree on and leave to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
