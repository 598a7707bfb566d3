"""Whatever is written in the notation, another library reads as it was; rows it would have written so itself."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hexad.layers.context.toon import encode

toons = pytest.importorskip("toons", reason="of the extra `dev`")

_CONTROL = "".join(chr(code) for code in (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)))
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=_CONTROL), max_size=20
) | st.sampled_from(["", " a", "a ", "-", "- a", "#", "true", "null", "05", "1e5", "a,b", 'say "x"', "a: b", "[1]", "{}", "\\n", "\n\t", "ü–漢🙂", "\u2028"])  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS
ROWS = st.lists(st.fixed_dictionaries({"id": TEXTS, "n": PLAIN, "text": TEXTS}), max_size=4)
VALUES = st.recursive(
    PLAIN | ROWS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.row("A059")
@settings(max_examples=150)
@given(value=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_another_library_reads_what_is_written(value: dict[str, object]) -> None:
    assert value == toons.loads(encode(value))  # type: ignore[arg-type]


@pytest.mark.row("A059")
@settings(max_examples=100)
@given(about=TEXTS, rows=ROWS)
def test_it_writes_rows_as_a_context_has_them_the_same(about: str, rows: list[dict[str, object]]) -> None:
    said = [about, *(text for row in rows for text in row.values() if isinstance(text, str))]
    assume(
        all(text.strip() == text.strip(" \t\r\n") for text in said)
    )  # ours quotes more kinds of white space
    value = {"about": about, "rows": rows}

    assert toons.dumps(value) == encode(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["", " a", "a ", "\xa0a", "true", "null", "-a", "#a", "5", "+5", "05", "1.5e3", "a,b", "a:", "[a", "a}"],
)
def test_a_text_that_could_be_something_else_is_quoted(text: str) -> None:
    assert f't: "{text}"' == encode({"t": text})


@pytest.mark.parametrize(
    "text",
    ["a", "a b", "a-", "a#", "truex", "true false", "1.5.2", "+", "+a", "1e", "v5", "5 eggs", "ü", "_"],
)
def test_a_text_that_can_be_nothing_else_is_not_quoted(text: str) -> None:
    assert f"t: {text}" == encode({"t": text})
