"""What is done to a working set, and how texts are kept in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from hexad.core.arguments import parse_whole, quoted, require_whole, word_list
from hexad.errors import InvalidInput, LimitExceeded, NotFound
from hexad.layers.session import changes, conversation
from hexad.layers.session.manager import LiveSession, SessionManager
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
from hexad.text.summary.summarize import compressed

_TASK_CHARS: Final = 480


class SessionEditor:
    """Changes one working set: the current one, or a handle's; `live` says which when a change is made."""

    def __init__(self, manager: SessionManager, live: Callable[[], LiveSession]) -> None:
        self._manager, self._live = manager, live

    # What is done -----------------------------------------------------------------------------------------------

    def set_task(self, task: str | None, *, steps: Iterable[str] = ()) -> WorkingSet:
        """Say what the task is, and its steps; the steps of another task go."""
        text = None if task is None else self.short_text(task, "task")
        change = changes.with_steps(changes.set_task(text), self.short_texts(steps, "steps"))
        return self._manager.change(self._live(), change, check=changes.require_steps(change))

    def set_ticket(self, ticket: str | None) -> WorkingSet:
        """Say which ticket is worked on."""
        return self._manager.change_ticket(
            self._live(), None if ticket is None else self.checked_name(ticket, "ticket")
        )

    def add_steps(self, *steps: str) -> WorkingSet:
        """Add steps to the task."""
        change = changes.with_steps(lambda working_set: working_set, self.short_texts(steps, "steps"))
        return self._manager.change(self._live(), change, check=changes.require_steps(change))

    def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet:
        """Mark a step as done, or as not done."""
        line = self._live()
        state = self._manager.refresh(line)  # other programs add steps, and a branch has its own
        return self._manager.change(line, changes.mark_step(changes.find_step(state, step), done=done))

    def open_file(self, path: str, *, line: int | None = None, column: int | None = None) -> WorkingSet:
        """Note that a file is open and where the cursor stands, from 1."""
        row, at = _position(line, "line"), _position(column, "column")
        work = self._live()
        file = OpenFile(path=self._path(path, work), line=row, column=at)
        return self._manager.change(
            work,
            changes.open_file(file),
            check=lambda working_set: changes.require_room(working_set, file.path),
        )

    def close_file(self, path: str) -> WorkingSet:
        """Note that a file is closed."""
        work = self._live()
        self._manager.refresh(work)
        name = self._path(path, work)

        def check(working_set: WorkingSet) -> None:
            if all(file.path != name for file in working_set.open_files):
                raise NotFound(
                    f"{name[:200]!r} is not open;", remedy="`{hx.session.current}` lists the files that are."
                )

        return self._manager.change(work, changes.close_file(name), check=check)

    def record_edit(self, path: str, *, line: int | None = None, summary: str | None = None) -> WorkingSet:
        """Note a change of a file."""
        work = self._live()
        edit = Edit(
            path=self._path(path, work),
            line=_position(line, "line"),
            summary=None if summary is None else self.short_text(summary, "summary"),
            at=self._manager.context.clock.now(),
        )
        return self._manager.change(work, changes.add_edit(edit))

    def add_turn(self, role: str, text: str) -> WorkingSet:
        """Note what was said in the conversation, in at most 480 characters of its own sentences."""
        turn = SessionTurn(
            role=self.checked_name(role, "role"),
            text=self.short_text(text, "text"),
            characters=len(text),
            at=self._manager.context.clock.now(),
        )
        return self._manager.change(self._live(), conversation.add_turn(turn))

    def note(self, text: str) -> WorkingSet:
        """Write a note on the scratchpad, in at most 480 characters."""
        note = ScratchNote(text=self.short_text(text, "text"), at=self._manager.context.clock.now())
        return self._manager.change(self._live(), conversation.add_note(note))

    def clear_notes(self) -> WorkingSet:
        """Take every note off the scratchpad."""
        return self._manager.change(self._live(), changes.clear_notes)

    def snapshot(self) -> WorkingSet:
        """Write what waits, and return the working set when it is on the disk, with what other processes wrote."""
        return self._manager.snapshot(self._live())

    def end(self, outcome: str | None = None) -> WorkingSet:
        """End the session."""
        text = None if outcome is None else self.short_text(outcome, "outcome")
        return self._manager.end(self._live(), Boundary.DONE, outcome=text)

    # Texts ------------------------------------------------------------------------------------------------------

    def short_text(self, text: str, name: str) -> str:
        """Return a text as it is kept: without secrets first, so that none is cut in two, then short."""
        if not clean(text).strip():
            raise InvalidInput(f"{name} = {quoted(text)} says nothing; give a text.", argument=name)
        require_whole(text, name)
        if len(text) > INPUT_CHARS_LIMIT:
            raise LimitExceeded(
                f"{name} has {len(text):,} characters; a session takes up to {INPUT_CHARS_LIMIT:,} at once. "
                "`hx.remember` keeps long texts."
            )
        return compressed(self._manager.mask(text), limit=_TASK_CHARS)

    def short_texts(self, texts: Iterable[str], name: str) -> list[str]:
        """Return texts as they are kept."""
        return [self.short_text(text, name) for text in word_list(texts, name)]

    def checked_name(self, text: str, name: str) -> str:
        """Return one line that names something, without secrets; raises `InvalidInput`."""
        if not text.strip() or not text.isprintable() or len(text) > NAME_CHARS_LIMIT:
            raise InvalidInput(
                f"{name} = {quoted(text)} cannot be used; give one line of up to {NAME_CHARS_LIMIT} characters.",
                argument=name,
            )
        return self._manager.mask(text.strip())

    def _path(self, path: str, work: LiveSession) -> str:
        pure_path = PurePath(os.path.normpath(self.checked_name(path, "path")))
        folder = work.folder
        if pure_path.is_absolute() and not pure_path.is_relative_to(folder):
            with suppress(OSError, RuntimeError):  # it may go over a link to a folder
                real = Path(pure_path).resolve()
                pure_path = real if real.is_relative_to(folder) else pure_path
        return (pure_path.relative_to(folder) if pure_path.is_relative_to(folder) else pure_path).as_posix()


def _position(number: int | None, name: str) -> int | None:
    return None if number is None else parse_whole(number, name, least=1)
