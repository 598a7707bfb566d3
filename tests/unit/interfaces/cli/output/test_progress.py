"""Progress on stderr: silent when quick, a plain line now and then, a bar on a terminal."""

from __future__ import annotations

import io
import sys
import threading
import time
from datetime import UTC, datetime

import click
import pytest

import hexad
from hexad.interfaces.cli.output.progress import LINE_EVERY_S, meter, waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock() -> hexad.FrozenClock:
    return hexad.FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(autouse=True)
def running():
    """The context that a running command has."""
    with click.Context(click.Command("hexad")):
        yield


def test_quick_work_says_nothing_and_does_not_import_rich(clock, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    with meter("Reading", clock=clock) as show:
        for done in range(1, 101):
            clock.advance(seconds=0.001)
            show(done, 100)

    assert ("", "") == capsys.readouterr()
    assert "rich" not in sys.modules


def test_elsewhere_than_on_a_terminal_a_plain_line_appears_now_and_then(clock, capsys):
    with meter("Reading", clock=clock) as show:
        for done in range(1, 121):
            clock.advance(seconds=0.1)
            show(done, 120, "a.md")
    out, err = capsys.readouterr()

    assert "" == out
    assert "Reading: 120 of 120 items, 10/s" == err.splitlines()[-1]
    assert 4 >= len(err.splitlines()) >= 12 / LINE_EVERY_S
    assert " left" in err.splitlines()[0]


def test_who_has_hardly_begun_tells_no_time_that_is_left(clock, capsys):
    with meter("Decrypting", clock=clock, unit="bytes") as show:
        clock.advance(seconds=0.6)
        show(232, 708_840)
        clock.advance(seconds=6)
        show(300_000, 708_840)
    first, second = capsys.readouterr().err.splitlines()

    assert "Decrypting: 232 of 708,840 bytes" == first
    assert " left" in second


def test_on_a_terminal_a_bar_appears_and_is_cleared(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with meter("Reading", clock=clock) as show:
        for done in range(1, 31):
            clock.advance(seconds=0.1)
            show(done, 30, "[red]name[/red] \x1b[31m.md")
    text = terminal.getvalue()

    assert "30/30" in text
    assert "[red]name[/red]" in click.unstyle(text)
    assert "\x1b[31m.md" not in text
    assert text.endswith("\x1b[2K")


# Waiting ----------------------------------------------------------------------------------------------------


def test_work_of_unknown_length_shows_that_it_goes_on_and_leaves_no_trace(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("hexad.interfaces.cli.output.progress.SHOWN_AFTER_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")

    with waiting("Measuring"):
        deadline = time.monotonic() + 30
        while "Measuring …" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)

    assert "Measuring …" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is empty again


def test_work_that_ends_before_the_sign_is_drawn_draws_none(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    for _ in range(50):
        with waiting("Measuring"):
            pass

    assert "" == terminal.getvalue()


def test_nothing_turns_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr("hexad.interfaces.cli.output.progress.SHOWN_AFTER_S", 0.0)
    before = threading.active_count()

    with waiting("Measuring"):
        assert before == threading.active_count()

    assert ("", "") == capsys.readouterr()
