"""The terminal under the browser: curses shows lines and reads keys, and is left as it was found."""

from __future__ import annotations

import curses
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import click

from hexad.interfaces.cli.browse.view import Screen, Span

WAIT_MS: Final = 250
"""How long a look for a key takes at most: signals and a changed size are noticed after that."""
ESC_MS: Final = 25
_NAMED: Final = {
    curses.KEY_UP: "up",
    curses.KEY_DOWN: "down",
    curses.KEY_LEFT: "left",
    curses.KEY_RIGHT: "right",
    curses.KEY_HOME: "home",
    curses.KEY_END: "end",
    curses.KEY_PPAGE: "page-up",
    curses.KEY_NPAGE: "page-down",
    curses.KEY_BACKSPACE: "backspace",
    curses.KEY_DC: "delete",
    curses.KEY_ENTER: "enter",
    curses.KEY_BTAB: "back-tab",
    curses.KEY_RESIZE: "resize",
}
_TYPED: Final = {
    "\n": "enter",
    "\r": "enter",
    "\t": "tab",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x01": "home",
    "\x05": "end",
    "\x0b": "ctrl-k",
    "\x0c": "ctrl-l",
    "\x15": "ctrl-u",
    "\x17": "ctrl-w",
}


def require_terminal() -> None:
    """Raise `UsageError`, with what to use instead, unless a person at a terminal can drive the browser."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(
            "The browser needs a terminal, and stdin or stdout is none; `hexad memory list` prints the same memories."
        )
    try:
        curses.setupterm()
    except curses.error as error:
        raise click.UsageError(
            f"The browser does not know this terminal ({error}); set TERM, for example to xterm-256color, "
            "or use `hexad memory list`."
        ) from error
    if curses.tigetstr("cup") is None:
        raise click.UsageError(
            "The browser needs a terminal that can place the cursor, and TERM says that this one cannot; "
            "set TERM, for example to xterm-256color, or use `hexad memory list`."
        )


class Terminal:
    """A terminal in the browser's hands."""

    def __init__(self, window: curses.window, *, colors: bool) -> None:
        self._window = window
        self._encoding = window.encoding
        self._styles = _styles(colors=colors)
        window.keypad(True)

    def size(self) -> tuple[int, int]:
        """Return the width and height as they are now; what a terminal does not know, as some never do, stays."""
        width, height = os.get_terminal_size(sys.stdout.fileno())
        lines, columns = self._window.getmaxyx()
        width, height = width or columns, height or lines
        if (height, width) != self._window.getmaxyx():
            curses.resizeterm(height, width)
            self._window.clear()
        return width, height

    def show(self, screen: Screen) -> None:
        """Draw a screen over the one that is there."""
        self._window.erase()
        height, width = self._window.getmaxyx()
        for at, row in enumerate(screen.rows[:height]):
            self._draw(at, row, width)
        if screen.cursor is None:
            _show_cursor(0)
        else:
            _show_cursor(1)
            line, column = screen.cursor
            self._window.move(min(line, height - 1), min(column, width - 1))
        self._window.refresh()

    def _draw(self, at: int, row: tuple[Span, ...], width: int) -> None:
        column = 0
        for span in row:
            text = span.text.encode(self._encoding, "replace").decode(self._encoding)
            try:
                self._window.addstr(at, column, text, self._styles[span.style])
            except curses.error:
                # curses draws the last cell of the screen, then complains that the cursor has nowhere to go.
                break
            line, column = self._window.getyx()
            if line != at or column >= width:
                break

    def redraw(self) -> None:
        """Draw everything anew at the next `show`, whatever something else has written on the screen."""
        self._window.clear()

    def read(self) -> Iterator[str]:
        """Give the keys that wait, after waiting for a first one a short while; none when there is none."""
        self._window.timeout(WAIT_MS)
        while (key := self._key()) is not None:
            yield key
            self._window.timeout(0)

    def _key(self) -> str | None:
        try:
            read = self._window.get_wch()
        except curses.error:
            return None  # nothing was typed in time, or a signal came
        if isinstance(read, int):
            return _NAMED.get(read, "unknown")
        return _TYPED.get(read, read)


@contextmanager
def terminal(*, colors: bool) -> Iterator[Terminal]:
    """Take the terminal, and give it back as it was, whatever happens."""
    curses.set_escdelay(ESC_MS)
    window = curses.initscr()
    try:
        curses.noecho()
        curses.cbreak()
        yield Terminal(window, colors=colors)
    finally:
        window.keypad(False)
        curses.nocbreak()
        curses.echo()
        _show_cursor(1)
        curses.endwin()


def _show_cursor(visible: int) -> None:
    with suppress(curses.error):  # a terminal that cannot hide it shows it always
        curses.curs_set(visible)


def _styles(*, colors: bool) -> dict[str, int]:
    styles = {
        "plain": curses.A_NORMAL,
        "bold": curses.A_BOLD,
        "dim": curses.A_DIM,
        "accent": curses.A_NORMAL,
        "bar": curses.A_REVERSE,
        "selected": curses.A_REVERSE,
        "error": curses.A_BOLD,
    }
    if colors and curses.has_colors():
        curses.start_color()
        curses.use_default_colors()
        for number, color in ((1, curses.COLOR_CYAN), (2, curses.COLOR_RED)):
            curses.init_pair(number, color, -1)
        styles["accent"] |= curses.color_pair(1)
        styles["error"] |= curses.color_pair(2)
    return styles
