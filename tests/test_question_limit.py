"""A question has a limit, and what is longer is refused before any work on it, on every surface."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

import hexad
from hexad import Hexad, LimitExceeded
from hexad.core.arguments import QUESTION_LIMIT
from opener import Opener
from ran import Run

LONG = "gate " * 20_000
CALLS: dict[str, Callable[[Hexad, str], object]] = {
    "recall": lambda hx, text: hx.recall(text),
    "context": lambda hx, text: hx.context(text),
    "plan": lambda hx, text: hx.plan(text),
    "query": lambda hx, text: hx.query(text),
    "why": lambda hx, text: hx.governance.why(text),
    "governance.query": lambda hx, text: hx.governance.query(text),
    "memories": lambda hx, text: hx.memories(text=text),
    "count": lambda hx, text: hx.count(text=text),
    "recall_context": lambda hx, text: hx.recall_context("default", text),
    "jit_context": lambda hx, text: hx.honeycomb.jit_context(text),
    "recall_events": lambda hx, text: hx.xdb.recall_events(text),
    "search_documents": lambda hx, text: hx.xdb.search_documents(text),
    "find_concept": lambda hx, text: hx.xdb.find_concept(text),
    "parse_query_text": lambda hx, text: hexad.parse_query_text(text),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_question_that_is_too_long_names_its_length_and_the_limit(opened: Opener, call: str) -> None:
    hx = opened()
    hx.remember("The gate opens at noon.")
    with pytest.raises(LimitExceeded, match=rf"{len(LONG):,} characters; at most {QUESTION_LIMIT:,}"):
        CALLS[call](hx, LONG)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "unit",
    ["gate ", "a/", "::", '"', "a b ", "since:"],
    ids=["words", "path", "colons", "quotes", "letters", "filters"],
)
def test_a_question_of_that_length_has_an_answer(opened: Opener, call: str, unit: str) -> None:
    hx = opened()
    hx.remember("The gate opens at noon.")
    with suppress(hexad.InvalidInput):  # a filter that is none, or no words at all
        CALLS[call](hx, (unit * QUESTION_LIMIT)[:QUESTION_LIMIT])


def test_a_look_for_many_different_words_names_how_many(opened: Opener) -> None:
    hx = opened()
    hx.remember("The gate opens at noon.")
    assert [] != hx.memories(text="gate " * 1_000)
    with pytest.raises(LimitExceeded, match="text has 1,500 different words; at most 256"):
        hx.memories(text=" ".join(map(str, range(1_500))))


def test_a_topic_that_is_too_long_for_the_name_of_a_file_is_a_topic(opened: Opener) -> None:
    assert "No decision" in str(opened().governance.why("1.2.3.4.5-" * 100))


def test_on_the_command_line_it_is_one_clear_sentence(run: Run, opened: Opener, project) -> None:  # type: ignore[no-untyped-def]
    opened().remember("The gate opens at noon.")
    for command in (("recall", LONG), ("context", LONG), ("why", LONG)):
        refused = run(*command, "-C", str(project))
        assert 2 == refused.code
        assert f"at most {QUESTION_LIMIT:,}" in refused.err
