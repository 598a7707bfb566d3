"""Where sentences begin and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.summary.sentences import sentences


def split(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. J. Smith paid $3.50, e.g. by card.",
        "It opens at 5 p.m. on Tuesday.",
        "See https://example.org/a.b?c=d. it works",
        "Use v1.2.3 of No. 5, cf. Fig. 7.",
        "The U.S. economy grew.",
        "Wait... what?",
        "Well... ok",
        "1. First of all",
        "Alice vs. Bob etc. and so on",
        "no end",
    ],
)
def test_a_stop_inside_a_sentence_does_not_end_it(text):
    assert [text] == split(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. Ship it! Now? Yes.", ["It works.", "Ship it!", "Now?", "Yes."]),
        ('"Quoted." She left (at last.) Then', ['"Quoted."', "She left (at last.)", "Then"]),
        ("It was Bell Inc. Then it was not. I said no. Good.", ["It was Bell Inc.", "Then it was not.", "I said no.", "Good."]),
        ("I am sure it is me and I. Next", ["I am sure it is me and I.", "Next"]),
        ("今日は晴れ。明日は雨？「はい。」次", ["今日は晴れ。", "明日は雨？", "「はい。」", "次"]),
        ("# Title\nText here\n- one. Two\n- three\n1. four\n| a | b |", ["# Title", "Text here", "- one.", "Two", "- three", "1. four", "| a | b |"]),
        ("a\n\nb", ["a", "b"]),
        ("Alice: hi\nBob: hello", ["Alice: hi", "Bob: hello"]),
        ("Before:\n```py\nx = 1.\n\ny = 2. Z\n```\nAfter", ["Before:", "```py\nx = 1.\n\ny = 2. Z\n```", "After"]),
        ("```\nnever closed. Really", ["```\nnever closed. Really"]),
    ],
)  # fmt: skip
def test_units_and_marks_end_a_sentence(text, expected):
    assert expected == split(text)


def test_a_wrapped_line_goes_on():
    text = "This line was wrapped by an editor at some width\nand goes on. The next\nis short."

    assert ["This line was wrapped by an editor at some width\nand goes on.", "The next\nis short."] == split(
        text
    )


@given(st.text("aB1.!?。\"' \n-#`\t", max_size=60))
def test_the_spans_hold_everything_but_white_space_in_order(text):
    at = 0
    for start, end in sentences(text):
        assert at <= start < end <= len(text)
        assert "" == text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert "" == text[at:].strip()


@pytest.mark.parametrize(
    "text",
    [
        "." * 500_000,
        ". " * 200_000,
        "a. " * 100_000,
        "x\n" * 200_000,
        "```\n" * 100_000,
        ".)" * 200_000,
        "1. " * 100_000,
    ],
)
def test_a_text_made_to_be_slow_is_answered(text):
    assert sentences(text)
