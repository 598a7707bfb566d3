"""`hx.session`: what is being worked on right now, and what was when somebody left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

from hexad.core.arguments import (
    absence,
    all_texts_checked,
    expanded,
    parse_offset,
    parse_path,
    parse_whole,
    quoted,
    subject_list,
)
from hexad.database.sqlite_errors import all_failures_translated
from hexad.errors import Conflict, InvalidInput, NotFound
from hexad.ingest.sources.checkout import Checkout, Workplace
from hexad.layers.session import changes
from hexad.layers.session.editor import SessionEditor
from hexad.layers.session.handle import SessionHandle
from hexad.layers.session.manager import LiveSession, SessionManager
from hexad.layers.session.working_set import (
    Boundary,
    Resumable,
    SessionState,
    TaskEnd,
    WorkingSet,
    texts_of,
)
from hexad.redaction.injection.detector import instructions_in


@all_failures_translated
@all_texts_checked
class SessionFacade:
    """What is being worked on, one working set for each session; safe to share between threads.

    A change is in memory when a call returns, and on the disk within a second; `start`, `resume`, `end`, another ticket
    and another branch are on the disk when they return, and so is everything when `snapshot` or `close` does. After a
    kill the last of these is what comes back. The first change without a session does what `start` does.
    """

    def __init__(self, manager: SessionManager, project: str) -> None:
        self._manager, self._project = manager, project
        self._editor = SessionEditor(manager, self._current_session)

    # Beginning and going on -------------------------------------------------------------------------------------

    def start(
        self,
        task: str | None = None,
        *,
        ticket: str | None = None,
        steps: Iterable[str] = (),
        fresh: bool = False,
        folder: str | Path | None = None,
        session_id: str | None = None,
        data_subjects: Iterable[str] = (),
    ) -> WorkingSet:
        """Go on with what was left here, or begin; returns the working set, which is on the disk then.

        Here is the repository, worktree and branch of `folder`, by default the store's. What is gone on with is the
        session of that place that was changed last, that nobody has in hand, and that `task` and `ticket` do not
        contradict. With `fresh` that one ends and a new one begins. `session_id` names it, for example as the recorded
        session of `hx.xdb`. `data_subjects` are the people whose data it is. Several sessions may be side by side,
        of one process or of several; the calls of `hx.session` are about the one that was started or resumed last.

        >>> import hexad
        >>> with hexad.open(":memory:", embedder=None) as hx:
        ...     _ = hx.session.start("login feature", steps=["tokens", "tests"])
        ...     _ = hx.session.mark_step("tokens")
        ...     [(step.text, step.done) for step in hx.session.current.substeps]
        [('tokens', True), ('tests', False)]
        """
        text = None if task is None else self._editor.short_text(task, "task")
        key = None if ticket is None else self._editor.checked_name(ticket, "ticket")
        texts, mask = self._editor.short_texts(steps, "steps"), self._manager.mask
        people = [mask(data_subject) for data_subject in subject_list(data_subjects)]
        change = changes.with_steps(
            (lambda working_set: working_set) if text is None else changes.set_task(text), texts
        )
        where = self._manager.checkout(_folder(folder))
        changes.require_steps(change)(self._manager.new(where.place))
        line = self._started(where, text, key, fresh=fresh, session_id=self._session_id(session_id))
        if key is not None:
            self._manager.change_ticket(line, key, back=text is None and session_id is None and not fresh)
        if text is not None or texts:
            self._manager.change(line, change, check=changes.require_steps(change))
        if people:
            self._manager.change(line, changes.add_subjects(people))
        return self._manager.snapshot(line)

    def resumable(self, *, folder: str | Path | None = None) -> Resumable | None:
        """Return what one was working on here and may go on with, and the question that says so; None for nothing.

        Nothing is changed by asking. `list` shows what was left on other branches and in other worktrees.

        >>> import hexad, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with hexad.open(folder, embedder=None) as hx:
        ...     _ = hx.session.start("login feature")
        >>> with hexad.open(folder, embedder=None) as hx:
        ...     hx.session.resumable().question
        'You were working on login feature (just now). Resume?'
        """
        working_set = self._manager.offered(self._manager.checkout(_folder(folder)).place)
        if working_set is None or working_set.is_empty:
            return None
        return Resumable(
            working_set=working_set,
            as_of=self._manager.context.clock.now(),
            instruction_like=instructions_in("\n".join(text for _, text, _ in texts_of(working_set))),
        )

    def resume(
        self, session_id: str | None = None, *, folder: str | Path | None = None, shared: bool = False
    ) -> WorkingSet:
        """Go on with a session, whatever ended it; without an id with the one that `resumable` offers.

        It is about the place of `folder` from then on. A session that another process has in hand, named by its id or
        taken because of `shared`, stays with that process: what both change is kept. Raises `NotFound`.
        """
        where = self._manager.checkout(_folder(folder))
        if session_id is not None:
            line = self._manager.resume(self._manager.sets.get(session_id), where)
            if folder is not None:
                self._manager.move(line, where)
            return line.state
        working_set = self._manager.offered(where.place, shared=shared)
        if working_set is None or (working_set.is_empty and not shared):
            raise NotFound(
                "There is no session to go on with here;",
                remedy="`{hx.session.list()}` shows those of other places and those that have ended.",
            )
        return self._manager.resume(working_set, where).state

    def handle(self, session_id: str | None = None) -> SessionHandle:
        """Return a handle on a session active in this process, by default the current one; raises `NotFound`."""
        line = self._manager.current if session_id is None else self._manager.session_of(session_id)
        if line is None:
            raise NotFound("No session is active here; `start` or `resume` takes one.")
        return SessionHandle(self._manager, line)

    # What is done -----------------------------------------------------------------------------------------------

    def set_task(self, task: str | None, *, steps: Iterable[str] = ()) -> WorkingSet:
        """Say what the task is, and its steps; the steps of another task go."""
        return self._editor.set_task(task, steps=steps)

    def set_ticket(self, ticket: str | None) -> WorkingSet:
        """Say which ticket is worked on. Another one than before ends the task: the working set stays as it is, and
        the one of the new ticket goes on, or a new one begins with the files that are open.
        """  # fmt: skip
        return self._editor.set_ticket(ticket)

    def add_steps(self, *steps: str) -> WorkingSet:
        """Add steps to the task; one that is there stays as it is. Raises `LimitExceeded` over 100."""
        return self._editor.add_steps(*steps)

    def mark_step(self, step: int | str, *, done: bool = True) -> WorkingSet:
        """Mark a step as done, or as not done: by its number from 1, or by how it begins. Raises `NotFound`."""
        return self._editor.mark_step(step, done=done)

    def open_file(self, path: str, *, line: int | None = None, column: int | None = None) -> WorkingSet:
        """Note that a file is open and where the cursor stands, from 1; called again, it moves. At most 100 files."""
        return self._editor.open_file(path, line=line, column=column)

    def close_file(self, path: str) -> WorkingSet:
        """Note that a file is closed; raises `NotFound` for one that is not open."""
        return self._editor.close_file(path)

    def record_edit(self, path: str, *, line: int | None = None, summary: str | None = None) -> WorkingSet:
        """Note a change of a file. The last 50 are kept, all are counted."""
        return self._editor.record_edit(path, line=line, summary=summary)

    def add_turn(self, role: str, text: str) -> WorkingSet:
        """Note what was said in the conversation, in at most 480 characters of its own sentences.

        The last turns stay as they are; of more than 20 the first ten become part of the conversation's summary.
        """
        return self._editor.add_turn(role, text)

    def note(self, text: str) -> WorkingSet:
        """Write a note on the scratchpad, in at most 480 characters; of more than 40 the first 20 become one."""
        return self._editor.note(text)

    def clear_notes(self) -> WorkingSet:
        """Take every note off the scratchpad."""
        return self._editor.clear_notes()

    def snapshot(self) -> WorkingSet:
        """Write what waits, and return the working set when it is on the disk, with what other processes wrote.

        Raises `StorageFailure` when the disk refuses, `NotFound` when the session was erased.
        """
        return self._editor.snapshot()

    def end(self, outcome: str | None = None) -> WorkingSet:
        """End the session: the task is done. What is left stands with its `outcome`, and is not offered any more."""
        return self._editor.end(outcome)

    # Looking ----------------------------------------------------------------------------------------------------

    @property
    def current(self) -> WorkingSet | None:
        """What this process is working on, with what others wrote to it; None before `start` and after `end`."""
        line = self._manager.current
        if line is None:
            return None
        try:
            working_set = self._manager.refresh(line)
        except NotFound:  # it was erased
            return None
        return None if self._manager.current is None else working_set

    @property
    def state(self) -> SessionState | None:
        """Document 4's `SessionState` of the current session; None where there is none."""
        working_set = self.current
        return None if working_set is None else working_set.session_state(self._project)

    def place(self, folder: str | Path | None = None) -> Workplace:
        """Return the repository, the worktree and the branch of a folder, by default the store's."""
        return self._manager.checkout(_folder(folder)).place

    def get(self, session_id: str) -> WorkingSet:
        """Return a working set by its session's id; raises `NotFound`."""
        line = self._manager.session_of(session_id)
        return self._manager.sets.get(session_id) if line is None else self._manager.refresh(line)

    def list(
        self,
        *,
        folder: str | Path | None = None,
        everywhere: bool = True,
        ended: bool | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[WorkingSet]:
        """Return working sets, the last changed first: all, or with `everywhere=False` those of a folder's worktree.

        `ended` True or False takes those that ended, or go on. What is changed here and not written yet is in it.
        """
        parse_whole(limit, "limit", least=1)
        self._manager.write_all()
        place = None if everywhere else self._manager.checkout(_folder(folder)).place
        return self._manager.sets.list(
            repository=None if place is None else place.repository,
            worktree=None if place is None else place.worktree,
            ended=ended,
            limit=limit,
            offset=parse_offset(offset),
        )

    # What follows -----------------------------------------------------------------------------------------------

    @property
    def inactive_after(self) -> timedelta:
        """After so long without a change a session rests, and others are offered to go on with it."""
        return self._manager.inactive_after

    @inactive_after.setter
    def inactive_after(self, duration: timedelta) -> None:
        if not isinstance(duration, timedelta) or duration <= timedelta(0):
            raise InvalidInput(
                f"inactive_after = {quoted(duration)} cannot be used; give a positive timedelta.",
                argument="inactive_after",
            )
        self._manager.set_inactive_after(duration)

    def on_task_end(self, listener: Callable[[TaskEnd], None]) -> None:
        """Have `listener` called when a task ends here: another ticket, another branch, a fresh start, or `end`.

        It is called when the end is on the disk, by the thread whose call ended it; what it raises reaches that call.
        """
        self._manager.listeners.append(listener)

    def tend(self) -> int:
        """Write what waits and let sessions rest that nobody changed for `inactive_after`; returns how many rest now.

        A background thread does it; `hx.maintain` does where there is none.
        """
        return self._manager.flush_idle()

    # Inside -----------------------------------------------------------------------------------------------------------

    def _current_session(self) -> LiveSession:
        if self._manager.current is None:
            self.start()
        line = self._manager.current
        assert line is not None
        return line

    def _started(
        self, where: Checkout, task: str | None, ticket: str | None, *, fresh: bool, session_id: str | None
    ) -> LiveSession:
        manager, here = self._manager, self._manager.current
        if session_id is not None and manager.sets.has(session_id):
            if fresh:
                raise Conflict(
                    f"There is a session {session_id!r};",
                    remedy="`{resume}` goes on with it, another id begins anew.",
                )
            return manager.resume(manager.sets.get(session_id), where)
        if here is not None and here.checkout is not None and here.checkout.place == where.place:
            if fresh:
                manager.end(here, Boundary.FRESH)
            elif session_id is None and _fits(here.state, task, ticket):
                return here
        offered = manager.offered(where.place)
        if offered is not None and fresh:
            manager.end_stored(offered, Boundary.FRESH)
        elif offered is not None and session_id is None and _fits(offered, task, ticket):
            return manager.resume(offered, where)
        return manager.begin(manager.new(where.place, session_id), where)

    def _session_id(self, value: str | None) -> str | None:
        if value is None:
            return None
        name = self._editor.checked_name(value, "session_id")
        if name != value:
            raise InvalidInput(
                "session_id holds what looks like a secret, or white space around it; give another.",
                argument="session_id",
            )
        return name


def _folder(value: str | Path | None) -> Path | None:
    if value is None:
        return None
    folder = expanded(parse_path(value, "folder"), "folder")
    if not folder.is_dir():
        raise NotFound(f"{absence(folder, 'folder')}; give one that is there.")
    return folder


def _fits(working_set: WorkingSet, task: str | None, ticket: str | None) -> bool:
    """Whether somebody who works on this goes on with that session."""
    same = task is None or working_set.task is None or working_set.task.casefold() == task.casefold()
    return same and (ticket is None or working_set.ticket in (None, ticket))
