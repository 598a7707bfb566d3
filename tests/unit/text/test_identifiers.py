"""The words inside identifiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.identifiers import split_identifiers


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parseJSONFile", ["parse", "JSON", "File"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("getURLsFor", ["get", "URLs", "For"]),
        ("MyClass.doThing(x)", ["My", "Class", "do", "Thing"]),
        ("utf8_decode", ["utf", "8"]),
        ("sha256sum", ["sha", "256", "sum"]),
        ("größeMessen", ["größe", "Messen"]),
        ("iOS", ["OS"]),
    ],
)
def test_compound_words_are_split(text, parts):
    assert parts == split_identifiers(text)


@pytest.mark.parametrize(
    "text",
    ["", "plain words here", "snake_case kebab-case dotted.name", "NASA École Tuesday GRÖSSE", "1234 2023-05-07",
     "a1b2c3d4e5f6a7b8", "aB" * 60],
)  # fmt: skip
def test_what_the_full_text_splits_itself_and_what_is_data_gives_nothing(text):
    assert [] == split_identifiers(text)


@given(st.text(), st.text())
def test_every_part_stands_in_the_text_in_order(left, right):
    text = f"{left}fooBar {right}"
    at = 0
    for part in split_identifiers(text):
        at = text.index(part, at) + len(part)

    assert "foo" in split_identifiers("fooBar")


@pytest.mark.parametrize("text", ["aA" * 300_000, "A" * 600_000, "Aa1 " * 150_000, "é" * 600_000])
def test_a_text_made_to_be_slow_is_answered(text):
    assert isinstance(split_identifiers(text), list)


@given(
    text=st.text(st.characters(max_codepoint=127)) | st.from_regex(r"[A-Za-z0-9 _.-]{0,40}", fullmatch=True)
)
def test_a_letter_of_another_script_changes_nothing_of_the_words_before_it(text):
    assert split_identifiers(text) == split_identifiers(text + " \u00e9")
