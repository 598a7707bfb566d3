"""`hexad memory browse`: an interactive list of what is remembered, in the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

import hexad
from hexad.interfaces.cli.app.base import Command, state
from hexad.interfaces.cli.browse.model import (
    MOVES,
    Action,
    Mode,
    Record,
    State,
    loaded,
    opened,
    pressed,
    resized,
    scrolled_within,
    told,
)
from hexad.interfaces.cli.browse.screen import Terminal, require_terminal, terminal
from hexad.interfaces.cli.browse.view import record_height, screen

if TYPE_CHECKING:
    from hexad import Hexad


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
        raise click.UsageError(
            "The browser prints nothing, so --json means nothing to it; use `hexad memory list`."
        )
    with state().opened() as hx:
        if space is not None:
            hx.spaces.get(space)
        with terminal(colors=not state().plain) as shown:
            Browser(hx, shown).run(State(space=space).filtered(typed))


class Browser:
    """Drives a terminal from a store: keys to the model, its actions to the store, its lines to the terminal."""

    def __init__(self, hx: Hexad, shown: Terminal) -> None:
        self._hx = hx
        self._shown = shown

    def run(self, at: State) -> None:
        """Show the browser until the user leaves it."""
        before: State | None = None
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

    def _up_to_date(self, at: State) -> State:
        width, height = self._shown.size()
        if (width, height) != (at.width, at.height):
            at = resized(at, width, height)
        if at.needs_rows:
            at = self._read(at)
        if at.record is not None:
            at = scrolled_within(at, record_height(at))
        return at

    def _read(self, at: State) -> State:
        """Read the part of the list that shows, and as much before and behind it."""
        start = max(0, at.top - at.room)
        options = {"space": at.space, **at.wanted.options()}
        try:
            if at.stale:
                at = replace(at, spaces=tuple(space.name for space in self._hx.spaces.list()))
                at = replace(at, total=self._hx.count(**options))
            rows = self._hx.memories(**options, order=at.order, offset=start, limit=3 * at.room)
        except hexad.HexadError as error:
            return told(loaded(at, (), start=0, total=0), str(error), is_error=True)
        return loaded(at, rows, start=start, total=at.total)

    def _done(self, at: State, action: Action) -> State:
        """Do what a key asked for; what the store refuses is said, and nothing else changes."""
        try:
            return self._do(at, action)
        except hexad.HexadError as error:
            return told(at, str(error), is_error=True)

    def _do(self, at: State, action: Action) -> State:
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

    def _again(self, at: State, message: str) -> State:
        at = told(replace(at, stale=True), message)
        return opened(at, self._record(at.record.memory.id)) if at.record is not None else at

    def _record(self, id_: str) -> Record:
        hx = self._hx
        return Record(
            memory=hx.get(id_), history=hx.history(id_), near=hx.near_duplicates(id_), links=hx.links(id_)
        )
