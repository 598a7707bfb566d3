"""Paths of memories and names of spaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexad.errors import InvalidMemory, InvalidSpace
from hexad.text.paths import (
    PATH_LIMIT,
    SPACE_NAME_LIMIT,
    matches,
    normalize_path,
    space_file_name,
    space_key,
    space_of_file_name,
    validate_space,
)

segments = st.lists(st.text("abc*?[]./-", max_size=4), max_size=6).map("/".join)


@pytest.mark.row("L019")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lexon/runtime/release_checklist", "lexon/runtime/release_checklist"),
        ("/lexon//runtime/./topic/", "lexon/runtime/topic"),
        (" a / b c ", "a/b c"),
        ("módulo/größe/計画", "módulo/größe/計画"),
        ("v1..2/x", "v1..2/x"),
    ],
)
def test_a_path_is_kept_but_for_empty_segments(path, expected):
    assert expected == normalize_path(path)


@pytest.mark.row("L019")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "empty"),
        ("///", "empty"),
        ("a/../b", r"'a/\.\./b'.*'\.\.'"),
        ("a\nb", "control character"),
        ("a\0b", "control character"),
        ("a\ud800", "control character"),
        ("x" * (PATH_LIMIT + 1), "513 characters; the limit is 512"),
        ("x" * 10_000_000, "limit is 512"),
    ],
)
def test_a_path_that_cannot_be_kept_is_refused_with_the_remedy(path, says):
    with pytest.raises(InvalidMemory, match=says) as caught:
        normalize_path(path)

    assert len(str(caught.value)) < 400


@given(segments)
def test_normalising_a_path_twice_changes_nothing(path):
    try:
        once = normalize_path(path)
    except InvalidMemory:
        return
    assert once == normalize_path(once)


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("src/app/main.py", "src/app", True),
        ("src/app/main.py", "/src/app/", True),
        ("src/apple", "src/app", False),
        ("src/app", "src/app/main.py", False),
        ("src/app", "", True),
        ("src/app/main.py", "src/*/main.py", True),
        ("src/app/x/main.py", "src/*/main.py", False),
        ("src/app/x/main.py", "src/**/main.py", True),
        ("src/main.py", "src/**/main.py", True),
        ("src/app/x/main.py", "**/*.py", True),
        ("main.py", "**/*.py", True),
        ("src", "src/**", True),
        ("a/b/a/c", "**/a/c", True),
        ("a/b/a/c", "**/b/c", False),
        ("src/main.py", "*.py", False),
        ("src/a1", "src/a[0-9]", True),
        ("pages/[id].tsx", "pages/[id].tsx", True),
        ("SRC/x", "src/*", False),
    ],
)
def test_a_pattern_is_a_prefix_of_whole_segments_or_a_glob(path, pattern, expected):
    assert expected is matches(path, pattern)


@given(segments, segments)
def test_matching_never_fails_and_a_path_is_under_itself(path, pattern):
    matches(path, pattern)

    assert matches(path.strip("/"), path)


def test_a_pattern_full_of_stars_is_answered():
    assert not matches("a" * PATH_LIMIT, "*a" * 200 + "b")
    assert not matches("a/" * 255 + "a", "**/a/" * 100 + "b")


@pytest.mark.parametrize(
    "name", ["default", "lexon/runtime", "a.b-c_d", "größe", "計画", "हिन्दी", "x" * 128, "a/con"]
)
def test_letters_digits_and_inner_slashes_name_a_space(name):
    assert name == validate_space(name)
    assert name == space_of_file_name(space_file_name(name))


@pytest.mark.parametrize(
    "name",
    ["", "..", "a/../b", "a..b", "/a", "a/", "a//b", "a b", "a%2Fb", "a\\b", "a:b", ".hidden", "a/.b", "con", "NUL",
     "com1.x", "x" * 129, "計" * 100, "a\n", "e\u0301", "\u00b2", "\u0301", "a\ud800", "emoji😀", "~", "a*"],
)  # fmt: skip
def test_any_other_name_is_refused_and_never_folded(name):
    with pytest.raises(InvalidSpace, match=r"^Invalid space "):
        validate_space(name)
    with pytest.raises(InvalidSpace, match=r"^Invalid space "):
        space_file_name(name)


def test_a_refusal_of_a_huge_name_is_short():
    with pytest.raises(InvalidSpace) as caught:
        validate_space("x" * 1_000_000)

    assert len(str(caught.value)) < 200


def test_a_file_name_with_a_slash_belongs_to_no_space():
    assert "lexon%2Fruntime" == space_file_name("lexon/runtime")
    with pytest.raises(InvalidSpace, match="%2F"):
        space_of_file_name("lexon/runtime")


@given(st.text("aAbB1/._-é", min_size=1, max_size=12), st.text("aAbB1/._-é", min_size=1, max_size=12))
def test_two_spaces_never_share_a_file(left, right):
    try:
        files = (space_file_name(left), space_file_name(right))
    except InvalidSpace:
        return
    assert (left == right) is (files[0] == files[1])
    assert len(files[0]) <= 3 * SPACE_NAME_LIMIT


def test_names_that_differ_in_case_alone_have_one_key():
    assert space_key("Lexon/Runtime") == space_key("lexon/runtime")
    assert space_key("a") != space_key("b")
