"""What is stored of a text, and how texts compare."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.errors import InvalidInput
from hexad.text.graphemes import cut
from hexad.text.normalize import SLUG_LIMIT, clean, fold, nfkc, slug, slugs

any_text = st.text(st.characters(exclude_categories=()))


def test_line_ends_become_line_feeds_and_the_end_is_trimmed():
    assert "a\nb\nc\n\nd" == clean("a\r\nb\rc\r\n\r\nd \t\r\n")


def test_nuls_go_and_lone_surrogates_become_the_replacement_character():
    assert "ab\ufffdc" == clean("a\0b\ud800c")


def test_two_surrogates_that_are_one_character_become_it():
    assert "\U0001f600" == clean("\ud83d\ude00")


def test_no_normal_form_is_forced_on_what_is_stored():
    assert "e\u0301 \ufb01" == clean("e\u0301 \ufb01")


@given(any_text)
def test_cleaning_twice_changes_nothing_and_the_result_is_utf8(text):
    once = clean(text)
    once.encode("utf-8")

    assert once == clean(once)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Deploys happen on Tuesday.", "deploys  happen\non TUESDAY"),
        ("e\u0301tude", "\u00c9TUDE"),
        ("Straße", "STRASSE"),
        ("“quoted”", "quoted"),
        ("\uff46ull width", "full width"),
    ],
)
def test_texts_that_read_alike_fold_alike(left, right):
    assert fold(left) == fold(right)


def test_texts_that_differ_in_more_than_dress_fold_apart():
    assert fold("C++") != fold("C")
    assert fold("?") != fold("!")
    assert fold("it's 1.5") != fold("it's 15")


@given(any_text)
def test_folding_twice_changes_nothing_for_plain_text(text):
    plain = "".join(character for character in text if character.isascii())

    assert fold(plain) == fold(fold(plain))


def test_a_megabyte_of_shuffled_marks_is_normalised_in_pieces():
    # In one call, `unicodedata.normalize` sorts this by insertion: minutes of work.
    marks = "a" + "\u0327\u0301\uff9e" * 300_000

    assert 900_000 == len(nfkc(marks))


def test_pieces_change_nothing_where_marks_are_few():
    import unicodedata

    text = "e\u0301 \u2500" * 40 + "\u2550" * 200 + "e\u0301"

    assert unicodedata.normalize("NFKC", text) == nfkc(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Release Check-list!", "release-check-list"),
        ("snake_case Path/to.File", "snake-case-path-to-file"),
        ("C++", "cpp"),
        ("C#", "csharp"),
        ("#topic", "topic"),
        ("Größe", "größe"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("リリース 計画", "リリース-計画"),
        ("—", ""),
    ],
)
def test_slugs_are_lower_case_words_joined_by_dashes(text, expected):
    assert expected == slug(text)


@given(any_text)
def test_a_slug_is_bounded_and_stable(text):
    name = slug(text)

    assert len(name) <= SLUG_LIMIT
    assert not name.startswith("-")
    assert not name.endswith("-")
    assert name == slug(name)


@pytest.mark.row("L029")
def test_tags_are_slugs_sorted_and_unique():
    assert ("ga", "release-1", "runtime") == slugs(["Runtime", "release 1", "GA", "runtime"])


def test_a_tag_without_letters_is_refused_with_its_value():
    with pytest.raises(InvalidInput, match=r"'!!'"):
        slugs(["ok", "!!"])


def test_one_string_in_place_of_a_list_of_tags_is_refused():
    with pytest.raises(InvalidInput, match=r"\[\"release\"\]"):
        slugs("release")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("plain", 3, "pla"),
        ("ae\u0301x", 2, "a"),
        ("a\U0001f44d\U0001f3fdb", 2, "a"),
        ("a\U0001f468\u200d\U0001f469\u200d\U0001f467", 4, "a"),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 3, "\U0001f1e9\U0001f1ea"),
        ("a\r\nb", 2, "a"),
        ("\u1112\u1161\u11ab", 2, ""),
        ("whole", 9, "whole"),
        ("none", 0, ""),
    ],
)
def test_a_cut_never_falls_inside_what_a_reader_sees_as_one_character(text, limit, expected):
    assert expected == cut(text, limit)


def test_a_cluster_that_no_script_writes_is_cut_all_the_same():
    assert 500 == len(cut("a" + "\u0301" * 1000, 500))


@given(any_text, st.integers(-2, 40))
def test_a_cut_is_a_beginning_of_at_most_the_limit(text, limit):
    assert text.startswith(cut(text, limit))
    assert len(cut(text, limit)) <= max(limit, 0)
