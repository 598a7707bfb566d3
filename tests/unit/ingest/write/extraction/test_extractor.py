"""The parts of an extraction that need no store: prompts, answers, paths."""

from __future__ import annotations

import json

import pytest

from hexad.ingest.write.extraction.model_prompt import (
    SENT_CHARACTERS,
    UnusableAnswer,
    build_prompt,
    joined_tags,
    parse_answer,
    placed,
)
from hexad.memory.draft import Draft, Extract
from hexad.text.tokens import fence_of

ANSWER = {
    "path": "a/b/c", "summary_micro": "One.", "summary_short": "Two.", "summary_long": "Three.", "tags": ["T"], "relevance": "High",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "hint", "project", "expected"),
    [
        ("shop/a/b", None, "shop", "shop/a/b"),
        ("Shop/A b/C", None, "Shop", "shop/a-b/c"),
        ("a", None, "shop", "shop/a"),
        ("shop", None, "shop", None),
        ("../a", None, "shop", None),
        ("a\nb", None, "shop", None),
        ("", None, "shop", None),
        ("!!!/???", None, "shop", None),
        ("docs/x", "docs", "shop", "docs/x"),
        ("docs/x", "docs/", "shop", "docs/x"),
        ("docsx/y", "docs", "shop", "docs"),
        ("other", "Docs/A.md", "shop", "Docs/A.md"),
        ("1/2/3/4/5/6/7/8", None, "shop", "shop/1/2/3/4/5"),
    ],
)
def test_a_models_path_is_put_under_what_the_caller_said(path, hint, project, expected):
    assert expected == placed(path, hint=hint, project=project)


def test_the_callers_tags_all_stay_and_others_fill_up():
    assert ("a", "b", "c") == joined_tags(("b", "a"), ("b", "c", "d"), limit=3)
    assert ("a", "b", "c") == joined_tags(("a", "b", "c"), ("d",), limit=2)


def test_an_answer_is_read_and_what_nobody_asked_for_is_not():
    answer = parse_answer(json.dumps({**ANSWER, "pin": "yes", "id": 7}))

    assert ("high", ("T",), False) == (answer.relevance.value, answer.tags, answer.pin)


@pytest.mark.parametrize(
    ("key", "value"), [("path", 5), ("relevance", "x"), ("tags", {}), ("summary_long", "…")]
)
def test_an_answer_that_is_refused_is_described_without_its_words(key, value):
    with pytest.raises(UnusableAnswer) as raised:
        parse_answer(json.dumps({**ANSWER, key: value}))

    assert str(raised.value).startswith(key)
    assert "One." not in str(raised.value)


def test_the_same_text_gives_the_same_prompt_and_another_one_another_fence():
    draft = Draft(text="The text.", kind="note", extract=Extract())
    prompts = [build_prompt(draft, kind="note", project="shop", may_pin=False)[0] for _ in range(2)]

    assert prompts[0] == prompts[1]
    assert fence_of("The text.") != fence_of("The text")


def test_the_model_may_speak_of_a_pin_only_where_it_counts():
    draft = Draft(text="The text.", kind="note", extract=Extract())

    for may_pin in (True, False):
        schema = build_prompt(draft, kind="note", project="shop", may_pin=may_pin)[0].schema
        assert schema is not None
        assert may_pin == ("pin" in schema["properties"])  # type: ignore[operator]


@pytest.mark.parametrize("size", [SENT_CHARACTERS, SENT_CHARACTERS + 1, 1_000_000])
def test_what_is_sent_has_a_bound(size):
    draft = Draft(text="Word and word. " * (size // 15 + 1), kind="note", extract=Extract())
    prompt, notes = build_prompt(draft, kind="note", project="shop", may_pin=False)

    assert len(prompt.text) < 26_000
    assert notes
