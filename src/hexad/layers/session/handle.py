"""One of several sessions that a program has in hand at a time."""

from __future__ import annotations

from collections.abc import Iterable

from hexad.core.arguments import all_texts_checked
from hexad.database.sqlite_errors import all_failures_translated
from hexad.layers.session.editor import SessionEditor
from hexad.layers.session.manager import LiveSession, SessionManager
from hexad.layers.session.working_set import WorkingSet


@all_failures_translated
@all_texts_checked
class SessionHandle:
    """One line of work, for programs that have several at a time; its calls are those of `hx.session`, on this one."""

    def __init__(self, manager: SessionManager, session: LiveSession) -> None:
        self._manager, self._session = manager, session
        self._editor = SessionEditor(manager, lambda: session)

    @property
    def id(self) -> str:
        """The id of the working set; another ticket or branch makes it another one."""
        return self._session.state.id

    @property
    def current(self) -> WorkingSet:
        """The working set as it is now, with what other processes wrote; raises `NotFound` when it was erased."""
        return self._manager.refresh(self._session)

    # What is done -----------------------------------------------------------------------------------------------

    def set_task(self, task: str | None, *, steps: Iterable[str] = ()) -> WorkingSet:
        """Say what the task is, and its steps."""
        return self._editor.set_task(task, steps=steps)

    def set_ticket(self, ticket: str | None) -> WorkingSet:
        """Say which ticket is worked on."""
        return self._editor.set_ticket(ticket)

    def add_steps(self, *steps: str) -> WorkingSet:
        """Add steps to the task."""
        return self._editor.add_steps(*steps)

    def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet:
        """Mark a step as done, or as not done."""
        return self._editor.mark_step(step, done=done)

    def open_file(self, path: str, *, line: int | None = None, column: int | None = None) -> WorkingSet:
        """Note that a file is open and where the cursor stands, from 1."""
        return self._editor.open_file(path, line=line, column=column)

    def close_file(self, path: str) -> WorkingSet:
        """Note that a file is closed."""
        return self._editor.close_file(path)

    def record_edit(self, path: str, *, line: int | None = None, summary: str | None = None) -> WorkingSet:
        """Note a change of a file."""
        return self._editor.record_edit(path, line=line, summary=summary)

    def add_turn(self, role: str, text: str) -> WorkingSet:
        """Note what was said in the conversation, in at most 480 characters of its own sentences."""
        return self._editor.add_turn(role, text)

    def note(self, text: str) -> WorkingSet:
        """Write a note on the scratchpad, in at most 480 characters."""
        return self._editor.note(text)

    def clear_notes(self) -> WorkingSet:
        """Take every note off the scratchpad."""
        return self._editor.clear_notes()

    def snapshot(self) -> WorkingSet:
        """Write what waits, and return the working set when it is on the disk, with what other processes wrote."""
        return self._editor.snapshot()

    def end(self, outcome: str | None = None) -> WorkingSet:
        """End the session."""
        return self._editor.end(outcome)
