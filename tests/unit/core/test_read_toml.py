from __future__ import annotations

import pytest

from hexad.core.arguments import read_toml


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a." * 500_000 + "a = 1", "more than 64 parts .at line 1"),
        ("x = 1\n[" + '"a".' * 100 + "a]", "more than 64 parts .at line 2"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "9" * 5_000, "digits"),
        ("x", "Expected"),
    ],
)
def test_what_cannot_be_read_is_a_value_error_at_once(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_toml(text)


def test_dots_elsewhere_are_no_key() -> None:
    text = 'version = "' + "1." * 60 + '1"\n"www.a.example".b.c = "' + ". " * 100 + '"  # ' + ". " * 100

    assert {"version", "www.a.example"} == set(read_toml(text))
