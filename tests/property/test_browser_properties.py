"""Whatever is typed, at whatever size: the browser shows lines that fit, and its cursor is on a memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hexad
from example_counts import SHARED_FIXTURES, examples
from hexad import Hexad
from hexad.interfaces.cli.browse.browse import Browser
from hexad.interfaces.cli.browse.model import BrowserState
from hexad.interfaces.cli.browse.view import Screen, plain, wrapped
from hexad.interfaces.cli.output.render import columns

NAMED = [
    *(
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "page-up",
        "page-down",
        "enter",
        "esc",
        "tab",
        "back-tab",
    ),
    *("backspace", "delete", "ctrl-u", "ctrl-k", "ctrl-w", "ctrl-l", "unknown"),
]
LETTERS = [*"/sSpta urnbgGjk?x:. 記🎉", "\u0301", "\x1b"]
KEYS = st.lists(st.sampled_from(NAMED + LETTERS), max_size=40)
SIZES = st.tuples(st.integers(1, 130), st.integers(1, 50))


class Fingers:
    """A terminal in which keys are pressed and whose size changes, that looks at every screen it is given."""

    def __init__(self, bursts: list[tuple[list[str], tuple[int, int]]]) -> None:
        self.bursts = bursts
        self.now = (80, 24)

    def size(self) -> tuple[int, int]:
        return self.now

    def show(self, shown: Screen) -> None:
        width, height = self.now
        assert len(shown.rows) <= height
        for row in shown.rows:
            text = "".join(span.text for span in row)
            assert columns(text) <= width
            assert text == plain(text)

    def redraw(self) -> None:
        pass

    def read(self) -> list[str]:
        if not self.bursts:
            return ["esc", "esc", "esc", "q"]
        keys, self.now = self.bursts.pop(0)
        return [key for key in keys if key != "q"]


@pytest.fixture(scope="module")
def store() -> Iterator[Hexad]:
    with hexad.open(":memory:", embedder=None, background=False) as hx:
        for number in range(25):
            text = f"Item {number} \x1b[2J 記憶の容れ物 🎉\u200d " + "word " * number * 9
            hx.remember(text, space=("port", "記憶")[number % 2], tags=["even", "記憶"][: number % 3])
        yield hx


@settings(
    max_examples=examples(30),
    derandomize=True,
    suppress_health_check=SHARED_FIXTURES,
)
@given(bursts=st.lists(st.tuples(KEYS, SIZES), max_size=6))
def test_no_keys_and_no_size_break_the_browser(store, bursts):
    Browser(store, Fingers([*bursts])).run(BrowserState())  # type: ignore[arg-type]

    assert 25 == store.count(status=None)


@settings(max_examples=200, derandomize=True)
@given(text=st.text(max_size=300), room=st.integers(2, 90))
def test_a_wrapped_text_fits_and_loses_no_word(text, room):
    lines = wrapped(text, room)

    assert all(columns(line) <= room for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(text).split())
