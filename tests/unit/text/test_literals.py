from __future__ import annotations

import pytest

from hexad.text.literals import (
    LITERALS_MOST,
    exact_tokens,
    literal_pattern,
    marked_code,
    match_phrases,
    quoted_phrases,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the "big move" and “ship it”', ("big move", "ship it")),
        ("what does `git rebase` do", ()),
        ('an empty "" and a sign "!"', ()),
        ("it's Anna's and the others' turn", ()),
        ('one " alone', ()),
    ],
)
def test_what_stands_in_quotation_marks_is_a_phrase(text: str, expected: tuple[str, ...]) -> None:
    assert expected == quoted_phrases(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which service runs 8.2.0?", ("8.2.0",)),
        ("error E1234, (PROJ-142) and --no-verify!", ("E1234", "PROJ-142", "--no-verify")),
        ("where is a.b.c or std::vector or src/main.py", ("a.b.c", "std::vector", "src/main.py")),
        ("a\x00b1 and 0\x00", ("b1", "0")),
        ("a well-known sentence, with no such thing - none.", ()),
        ("Anna's and PROJ-7's", ("PROJ-7",)),
    ],
)
def test_tokens_that_stand_for_themselves(text: str, expected: tuple[str, ...]) -> None:
    assert expected == exact_tokens(text)


def test_what_stands_in_backticks_is_named_and_not_quoted() -> None:
    assert ("git rebase", "x") == marked_code("what does `git rebase` do, and `x` and `git rebase`? ``")


def test_times_are_no_tokens_where_they_are_read_as_times() -> None:
    assert ("A1",) == exact_tokens("what ran on A1 in 2023 or on 2024-03-15 or the 3rd", dates=False)


def test_a_question_of_many_tokens_is_read_in_part() -> None:
    assert LITERALS_MOST == len(exact_tokens(" ".join(f"a{number}" for number in range(100))))


@pytest.mark.parametrize(
    ("literal", "text", "found"),
    [
        ("8.2.0", "runs 8.2.0.", True),
        ("8.2.0", "runs v8.2.0 now", True),
        ("v8.2.0", "runs 8.2.0 now", True),
        ("8.2", "runs 8.2.0", False),
        ("8.2", "runs 18.2", False),
        ("8.2.0", "M 8 2 0 L", False),
        ("PROJ-14", "PROJ-142", False),
        ("proj-142", "see PROJ-142,", True),
        ("--force", "with ---force", False),
        ("ship it", "Ship\n it!", True),
        ("ship it", "ship items", False),
    ],
)
def test_a_literal_is_found_as_a_whole(literal: str, text: str, found: bool) -> None:
    assert found is (literal_pattern(literal).search(text) is not None)


def test_a_phrase_cannot_leave_its_quotation_marks() -> None:
    assert '"say ""x"" OR y"' == match_phrases(['say "x" OR y'])
