"""The calls that change a working set: those of `hx.session`, and of a handle on one line of work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from hexad.core.arguments import parse_whole, quoted, word_list
from hexad.core.arguments__checked import all_texts_checked
from hexad.errors import InvalidInput, LimitExceeded, NotFound
from hexad.layers.session import changes
from hexad.layers.session.live_session import Line
from hexad.layers.session.live_sessions import Desk
from hexad.layers.session.working_set import (
    INPUT_CHARS_LIMIT,
    NAME_CHARS_LIMIT,
    Boundary,
    Edit,
    OpenFile,
    ScratchNote,
    SessionTurn,
    WorkingSet,
)
from hexad.text.normalize import clean
from hexad.text.summary.turn_digest import compressed

_TASK_CHARS: Final = 480


class SessionCalls:
    """The calls that change one working set; made on the current one, or on a handle's."""

    _desk: Desk
    _project: str
    _line: Callable[[], Line]

    # What is done -----------------------------------------------------------------------------------------------

    def set_task(self, task: str | None, *, steps: Iterable[str] = ()) -> WorkingSet:
        """Say what the task is, and its steps; the steps of another task go."""
        said = None if task is None else self._said(task, "task")
        change = changes.planned(changes.task_set(said), self._texts(steps, "steps"))
        return self._desk.change(self._line(), change, check=changes.require_steps(change))

    def set_ticket(self, ticket: str | None) -> WorkingSet:
        """Say which ticket is worked on. Another one than before ends the task: the working set stays as it is, and
        the one of the new ticket goes on, or a new one begins with the files that are open.
        """  # fmt: skip
        return self._desk.change_ticket(
            self._line(), None if ticket is None else self._named(ticket, "ticket")
        )

    def add_steps(self, *steps: str) -> WorkingSet:
        """Add steps to the task; one that is there stays as it is. Raises `LimitExceeded` over 100."""
        change = changes.planned(lambda one: one, self._texts(steps, "steps"))
        return self._desk.change(self._line(), change, check=changes.require_steps(change))

    def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet:
        """Mark a step as done, or as not done: by its number from 1, or by how it begins. Raises `NotFound`."""
        line = self._line()
        state = self._desk.refreshed(
            line
        )  # steps that another program added, or of the branch that is out now
        return self._desk.change(line, changes.step_marked(changes.step_named(state, step), done=done))

    def open_file(self, path: str, *, line: int | None = None, column: int | None = None) -> WorkingSet:
        """Note that a file is open and where the cursor stands, from 1; called again, it moves. At most 100 files."""
        row, at = _place(line, "line"), _place(column, "column")
        work = self._line()
        file = OpenFile(path=self._path(path, work), line=row, column=at)
        return self._desk.change(
            work, changes.file_opened(file), check=lambda one: changes.require_room(one, file.path)
        )

    def close_file(self, path: str) -> WorkingSet:
        """Note that a file is closed; raises `NotFound` for one that is not open."""
        work = self._line()
        self._desk.refreshed(work)
        name = self._path(path, work)

        def check(one: WorkingSet) -> None:
            if all(file.path != name for file in one.open_files):
                raise NotFound(f"{name[:200]!r} is not open; `hx.session.current` lists the files that are.")

        return self._desk.change(work, changes.file_closed(name), check=check)

    def record_edit(self, path: str, *, line: int | None = None, summary: str | None = None) -> WorkingSet:
        """Note a change of a file. The last 50 are kept, all are counted."""
        work = self._line()
        edit = Edit(
            path=self._path(path, work),
            line=_place(line, "line"),
            summary=None if summary is None else self._said(summary, "summary"),
            at=self._desk.needs.clock.now(),
        )
        return self._desk.change(work, changes.edited(edit))

    def add_turn(self, role: str, text: str) -> WorkingSet:
        """Note what was said in the conversation, in at most 480 characters of its own sentences.

        The last turns stay as they are; of more than 20 the first ten become part of the conversation's summary.
        """
        turn = SessionTurn(
            role=self._named(role, "role"),
            text=self._said(text, "text"),
            characters=len(text),
            at=self._desk.needs.clock.now(),
        )
        return self._desk.change(self._line(), changes.turn_taken(turn))

    def note(self, text: str) -> WorkingSet:
        """Write a note on the scratchpad, in at most 480 characters; of more than 40 the first 20 become one."""
        note = ScratchNote(text=self._said(text, "text"), at=self._desk.needs.clock.now())
        return self._desk.change(self._line(), changes.noted(note))

    def clear_notes(self) -> WorkingSet:
        """Take every note off the scratchpad."""
        return self._desk.change(self._line(), changes.notes_cleared)

    def snapshot(self) -> WorkingSet:
        """Write what waits, and return the working set when it is on the disk, with what other processes wrote.

        Raises `StorageFailure` when the disk refuses, `NotFound` when the session was erased.
        """
        return self._desk.snapshot(self._line())

    def end(self, outcome: str | None = None) -> WorkingSet:
        """End the session: the task is done. What is left stands with its `outcome`, and is not offered any more."""
        said = None if outcome is None else self._said(outcome, "outcome")
        return self._desk.end(self._line(), Boundary.DONE, outcome=said)

    # Texts ------------------------------------------------------------------------------------------------------

    def _said(self, text: str, name: str) -> str:
        """Return a text as it is kept: without secrets first, so that none is cut in two, then short."""
        if not clean(text).strip():
            raise InvalidInput(f"{name} = {quoted(text)} says nothing; give a text.")
        if len(text) > INPUT_CHARS_LIMIT:
            raise LimitExceeded(
                f"{name} has {len(text):,} characters; a session takes up to {INPUT_CHARS_LIMIT:,} at once. "
                "`hx.remember` keeps long texts."
            )
        return compressed(self._desk.needs.mask(text), limit=_TASK_CHARS)

    def _texts(self, texts: Iterable[str], name: str) -> list[str]:
        return [self._said(one, name) for one in word_list(texts, name)]

    def _named(self, text: str, name: str) -> str:
        if not text.strip() or not text.isprintable() or len(text) > NAME_CHARS_LIMIT:
            raise InvalidInput(
                f"{name} = {quoted(text)} cannot be used; give one line of up to {NAME_CHARS_LIMIT} characters."
            )
        return self._desk.needs.mask(text.strip())

    def _path(self, path: str, work: Line) -> str:
        given = PurePath(os.path.normpath(self._named(path, "path")))
        folder = work.folder
        if given.is_absolute() and not given.is_relative_to(folder):
            with suppress(OSError, RuntimeError):  # it may go over a link to a folder
                real = Path(given).resolve()
                given = real if real.is_relative_to(folder) else given
        return (given.relative_to(folder) if given.is_relative_to(folder) else given).as_posix()


def _place(number: int | None, name: str) -> int | None:
    return None if number is None else parse_whole(number, name, least=1)


@all_texts_checked
class SessionHandle(SessionCalls):
    """One line of work, for programs that have several at a time; its calls are those of `hx.session`, on this one."""

    def __init__(self, desk: Desk, line: Line, project: str) -> None:
        self._desk, self._held, self._project = desk, line, project
        self._line = lambda: self._held

    @property
    def id(self) -> str:
        """The id of the working set; another ticket or branch makes it another one."""
        return self._held.state.id

    @property
    def current(self) -> WorkingSet:
        """The working set as it is now, with what other processes wrote; raises `NotFound` when it was erased."""
        return self._desk.refreshed(self._held)
