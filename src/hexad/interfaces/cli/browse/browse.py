"""`hexad memory browse`: an interactive list of what is remembered, on a terminal that curses drives."""

from __future__ import annotations

import curses
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, state
from hexad.interfaces.cli.browse.model import (
    MOVES,
    Action,
    BrowserState,
    Mode,
    Record,
    loaded,
    opened,
    pressed,
    resized,
    scrolled_within,
    with_message,
)
from hexad.interfaces.cli.browse.view import Screen, StyledSpan, record_height, screen

if TYPE_CHECKING:
    from hexad import Hexad


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

    def _draw(self, at: int, row: tuple[StyledSpan, ...], width: int) -> None:
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


@click.command(cls=Command)
@click.argument("space", required=False)
@click.option("--filter", "typed", default="", help="Begin with this filter, such as 'kind:decision refund'.")
def browse(space: str | None, typed: str) -> None:
    """Browse memories: filter, sort, open, pin, tag, archive.

    Begins with the memories of SPACE, or with all. `?` shows the keys. Needs a terminal; elsewhere use
    `hexad memory list`.
    """
    require_terminal()
    if state().json:
        raise click.UsageError("The browser has no --json output; use `hexad memory list --json`.")
    with state().opened() as hx:
        if space is not None:
            hx.spaces.get(space)
        with terminal(colors=not state().plain) as shown:
            Browser(hx, shown).run(BrowserState(space=space).filtered(typed))


class Browser:
    """Drives a terminal from a store: keys to the model, its actions to the store, its lines to the terminal."""

    def __init__(self, hx: Hexad, shown: Terminal) -> None:
        self._hx = hx
        self._shown = shown

    def run(self, at: BrowserState) -> None:
        """Show the browser until the user leaves it."""
        before: BrowserState | None = None
        while True:
            at = self._up_to_date(at)
            if at is not before:
                self._shown.show(screen(at))
                before = at
            for key in self._shown.read():
                if at.mode is not Mode.FILTER and key not in MOVES:
                    at = self._up_to_date(at)
                at, action = pressed(at, key)
                if action is not None and action.what == "quit":
                    return
                if action is not None:
                    at = self._up_to_date(self._done(at, action))

    def _up_to_date(self, at: BrowserState) -> BrowserState:
        width, height = self._shown.size()
        if (width, height) != (at.width, at.height):
            at = resized(at, width, height)
        if at.needs_rows:
            at = self._read(at)
        if at.record is not None:
            at = scrolled_within(at, record_height(at))
        return at

    def _read(self, at: BrowserState) -> BrowserState:
        """Read the part of the list that shows, and as much before and behind it."""
        start = max(0, at.top - at.room)
        options = {"space": at.space, **at.wanted.options()}
        try:
            if at.stale:
                at = replace(at, spaces=tuple(space.name for space in self._hx.spaces.list()))
                at = replace(at, total=self._hx.count(**options))
            rows = self._hx.memories(**options, order=at.order, offset=start, limit=3 * at.room)
        except hexad.HexadError as error:
            return with_message(loaded(at, (), start=0, total=0), str(error), is_error=True)
        return loaded(at, rows, start=start, total=at.total)

    def _done(self, at: BrowserState, action: Action) -> BrowserState:
        """Do what a key asked for; what the store refuses is said, and nothing else changes."""
        try:
            return self._do(at, action)
        except hexad.HexadError as error:
            return with_message(at, str(error), is_error=True)

    def _do(self, at: BrowserState, action: Action) -> BrowserState:
        hx, id_ = self._hx, action.id
        match action.what:
            case "open":
                at = self._up_to_date(at)
                return at if at.selected is None else opened(at, self._record(at.selected.id))
            case "refresh":
                self._shown.redraw()
                return self._again(at, "Read again.")
            case "pin":
                hx.pin(id_)
                return self._again(at, "Pinned.")
            case "unpin":
                hx.unpin(id_)
                return self._again(at, "Unpinned.")
            case "tag":
                memory = hx.tag(id_, add=action.add, remove=action.remove)
                return self._again(at, f"Tags: {' '.join(memory.tags) or 'none'}")
            case "archive":
                hx.forget(id_)
                return self._again(at, "Archived: gone from recall; u brings it back.")
            case _:
                hx.restore(id_)
                return self._again(at, "Back in recall.")

    def _again(self, at: BrowserState, message: str) -> BrowserState:
        at = with_message(replace(at, stale=True), message)
        return opened(at, self._record(at.record.memory.id)) if at.record is not None else at

    def _record(self, id_: str) -> Record:
        hx = self._hx
        return Record(
            memory=hx.get(id_), history=hx.history(id_), near=hx.near_duplicates(id_), links=hx.links(id_)
        )
