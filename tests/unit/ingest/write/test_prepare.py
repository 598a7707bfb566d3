from __future__ import annotations

import pytest

from hexad.ingest.write.prepare import SPANS_LIMIT, completed, locate


def cut(text, spans):
    found = locate(text, spans)
    return None if found is None else [text[span.start : span.end] for span in found]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("one two three", ["one", "two three"]),
        ("one two three", ["one two", "two three"]),
        ("a a a", ["a", "a", "a"]),
        ("  indented\n\nrest", ["  indented", "rest"]),
    ],
    ids=["apart", "overlapping", "the same thrice", "indented"],
)
def test_spans_are_found_in_their_order(text, spans):
    assert spans == cut(text, spans)


def test_a_chunk_that_repeats_is_found_at_its_own_place():
    found = locate("a a a", ["a", "a", "a"])

    assert found is not None
    assert [(0, 1), (2, 3), (4, 5)] == [(span.start, span.end) for span in found]


def test_white_space_around_a_span_does_not_matter():
    assert ["one", "two"] == cut("one two", [" one\r\n", "\ttwo "])


@pytest.mark.parametrize(
    "spans", [[], ["two", "one"], ["four"], [" "], ["one", ""], ["one"] * (SPANS_LIMIT + 1)],
    ids=["none", "disorder", "absent", "blank", "empty", "too many"],
)  # fmt: skip
def test_spans_that_do_not_fit_are_not_placed(spans):
    assert cut("one two three " * 3_000 if len(spans) > 100 else "one two three", spans) is None


def test_lines_count_from_one():
    found = locate("a\nb\nc", ["b\nc"])

    assert found is not None
    assert [(2, 3)] == [(span.first_line, span.last_line) for span in found]


def test_what_spans_leave_out_becomes_spans():
    text = "zero one two three four"
    found = locate(text, ["one", "three"])
    assert found is not None

    assert ["zero", "one", "two", "three", "four"] == [
        text[span.start : span.end].strip() for span in completed(text, found)
    ]
