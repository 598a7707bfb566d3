"""How much of a model's context a text takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.text.tokens import CharacterCounter, TokenCounter, estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 8, 2)])
def test_four_characters_make_a_token_and_a_rest_counts_as_one(text, tokens):
    assert tokens == estimate_tokens(text)


@given(st.text(), st.integers(-1, 30))
def test_a_truncated_text_fits_and_is_a_beginning(text, tokens):
    counter: TokenCounter = CharacterCounter()
    short = counter.truncate(text, tokens)

    assert counter.count(short) <= max(tokens, 0)
    assert text.startswith(short)


def test_a_text_that_fits_is_left_alone():
    assert "abcdefgh" == CharacterCounter().truncate("abcdefgh", 2)


def test_truncation_does_not_split_a_character_from_its_accent():
    assert "abc" == CharacterCounter().truncate("abce\u0301", 1)
