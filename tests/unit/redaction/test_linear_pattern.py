"""Expressions of policies find what `re` finds, in time that grows with the text."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexad.redaction.linear_pattern import LinearPattern, UnusablePattern

ATOMS = (
    "a", "b", "é", ".", r"\w", r"\d", r"\s", r"\b", r"\B", "[ab]", "[^a]", "(?<!a)", "(?=b)", r"(?!\d)", "(?i:B)", "^", "$",
)  # fmt: skip
REPEATED = ("*", "+", "?", "{1,3}", "{2,}", "*?", "+?", "{0,2}?")
SLOW = (
    (r"name.*value.*!", "name value "), (r"x.*y|x", "x"), (r"[a-z]+@corp", "a"), (r"(a+)+!", "a"),
    (r"(\w+\s?)+!", "ab "), (r"a.*b.*c.*d", "ab c "), (r"(?:x|xx)+y", "x"), (r"\w+\d\w+!", "é1"), (r"(?i)q.*z", "Q"),
)  # fmt: skip


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
            st.tuples(inner, st.sampled_from(REPEATED)).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        ),
        max_leaves=8,
    )


def found_by_re(source: str, text: str) -> list[tuple[int, int]]:
    compiled = re.compile(source)
    group = "value" if "value" in compiled.groupindex else 0
    return [match.span(group) for match in compiled.finditer(text) if match[group]]


@settings(max_examples=400)
@given(source=expressions(), named=st.booleans(), text=st.text("aabbxé1 \nBñ", max_size=14))
def test_it_finds_what_re_finds(source: str, named: bool, text: str) -> None:
    if named:
        source = f"a?.*(?P<value>{source})b?"
    try:
        pattern = LinearPattern(source)
    except UnusablePattern:
        return
    if not pattern.matches_nothing():
        assert found_by_re(source, text) == list(pattern.spans(text))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"(?P<value>\d+)-x.*y", "12-x1 34-x5y"),
        (r"\bпароль: (\w+).*!", "мой пароль: тайна, да!"),
        (r"(?i)ſtraße.*K", "STRASSE ſTRASSE STRAßE ſtraße ... K"),
        (r"(?s)<<.*?>>", "a <<b\nc>> d >> <<>>"),
        (r"(?m)^k.*v$", "kv\nk v \nkxv"),
        (r"[\w.+-]+@[\w-]+\.\w+", "to ada@example.org and ä.b@x-y.de."),
    ],
)
def test_words_lines_and_cases_are_those_of_re(source: str, text: str) -> None:
    assert found_by_re(source, text) == list(LinearPattern(source).spans(text))


@pytest.mark.parametrize(("source", "unit"), SLOW, ids=[source for source, _ in SLOW])
def test_its_work_grows_with_the_text(source: str, unit: str) -> None:
    small, large = (steps(source, (unit * size)[:size]) for size in (1_000, 8_000))
    assert large <= small * 8 * 1.3, "eight times the text"


def steps(source: str, text: str) -> int:
    """Return how many lines of the matcher ran; an expression that goes to `re` has none to count."""
    pattern = LinearPattern(source)
    count = 0

    def trace(frame: object, event: str, _: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        for _ in pattern.spans("@corp y! " + text):
            pass
    finally:
        sys.settrace(before)
    assert count > 0
    return count


def test_what_needs_no_care_goes_to_re_itself() -> None:
    for source in (r"B-\d{5}", r"EMP-\d+", r"(?i)emp(?:loyee)?[ -]?(?P<value>\d+)", r"\d{3}-\d{2}-\d{4}"):
        assert LinearPattern(source)._program is None, source


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (r"(.+)\1", "back-reference"),
        (r"(?>a+)b", "atomic"),
        (r"a++b", "possessive"),
        (r"(x)?(?(1)y|z)+w", "whether a group"),
        (r"(?=.*x)y", "looks ahead"),
        (r"(?:a?)+b", "may be empty"),
        (r"\w{0,300}x\w{0,300}y", "too many"),
        ("(", "not valid"),
    ],
)
def test_what_it_cannot_run_is_refused_with_the_reason(source: str, reason: str) -> None:
    with pytest.raises(UnusablePattern, match=reason):
        LinearPattern(source)
