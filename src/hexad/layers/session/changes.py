"""What may be changed of a working set: each a function from one to the next, made again where two programs met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from hexad.core.arguments import quoted
from hexad.errors import InvalidInput, LimitExceeded, NotFound
from hexad.layers.session.working_set import (
    EDITS_KEPT,
    OPEN_FILES_LIMIT,
    SUBSTEPS_LIMIT,
    Boundary,
    Edit,
    OpenFile,
    Substep,
    WorkingSet,
)

Change = Callable[[WorkingSet], WorkingSet]


def set_task(task: str | None) -> Change:
    """Say what the task is; its steps go when it is another one."""

    def change(working_set: WorkingSet) -> WorkingSet:
        return (
            working_set
            if working_set.task == task
            else replace(working_set, task=task, substeps=() if working_set.task else working_set.substeps)
        )

    return change


def set_ticket(ticket: str | None) -> Change:
    """Say which ticket it is."""
    return lambda working_set: replace(working_set, ticket=ticket)


def add_steps(texts: Sequence[str]) -> Change:
    """Add steps behind those that are there; a step that is there stays as it is."""

    def change(working_set: WorkingSet) -> WorkingSet:
        known_step_texts = {step.text for step in working_set.substeps}
        new = [Substep(text=text) for text in dict.fromkeys(texts) if text not in known_step_texts]
        return replace(working_set, substeps=(*working_set.substeps, *new))

    return change


def with_steps(change: Change, texts: Sequence[str]) -> Change:
    """Make a change, and add steps after it."""
    add = add_steps(texts)
    return lambda working_set: add(change(working_set))


def mark_step(text: str, *, done: bool) -> Change:
    """Mark the step that says this."""

    def change(working_set: WorkingSet) -> WorkingSet:
        steps = [replace(step, done=done) if step.text == text else step for step in working_set.substeps]
        return replace(working_set, substeps=tuple(steps))

    return change


def open_file(file: OpenFile) -> Change:
    """Open a file, or move the cursor in it; it becomes the last of those that are open."""

    def change(working_set: WorkingSet) -> WorkingSet:
        return replace(
            working_set,
            open_files=(*(each for each in working_set.open_files if each.path != file.path), file),
        )

    return change


def close_file(path: str) -> Change:
    """Close a file."""
    return lambda working_set: replace(
        working_set, open_files=tuple(each for each in working_set.open_files if each.path != path)
    )


def add_edit(edit: Edit) -> Change:
    """Add an edit; the oldest goes when there are too many."""

    def change(working_set: WorkingSet) -> WorkingSet:
        return replace(
            working_set,
            edits=(*working_set.edits, edit)[-EDITS_KEPT:],
            edits_total=working_set.edits_total + 1,
        )

    return change


def clear_notes(working_set: WorkingSet) -> WorkingSet:
    """Take every note off the scratchpad."""
    return replace(working_set, scratchpad=())


def add_subjects(subjects: Sequence[str]) -> Change:
    """Say whose data it is."""
    return lambda working_set: replace(
        working_set, data_subjects=tuple(dict.fromkeys([*working_set.data_subjects, *subjects]))
    )


def end(boundary: Boundary, *, at: datetime, outcome: str | None = None) -> Change:
    """End it."""
    return lambda working_set: replace(
        working_set,
        ended_at=at,
        boundary=boundary,
        outcome=working_set.outcome if outcome is None else outcome,
    )


def rest(boundary: Boundary) -> Change:
    """Say why nobody works on it now."""
    return lambda working_set: (
        working_set if working_set.ended_at is not None else replace(working_set, boundary=boundary)
    )


def wake(working_set: WorkingSet) -> WorkingSet:
    """Work on it again after a rest; what another program ended in the meantime stays ended."""
    return working_set if working_set.ended_at is not None else replace(working_set, boundary=None)


def resume(working_set: WorkingSet) -> WorkingSet:
    """Go on with it, whatever ended it."""
    return replace(working_set, ended_at=None, boundary=None)


def at(moment: datetime, change: Change) -> Change:
    """Make a change at a moment."""

    def made(working_set: WorkingSet) -> WorkingSet:
        new = change(working_set)
        return replace(new, updated_at=max(moment, working_set.updated_at))

    return made


# What must hold before a change -----------------------------------------------------------------------------------


def require_steps(change: Change) -> Callable[[WorkingSet], None]:
    """Return what raises `LimitExceeded` where a change would leave more steps than a task may have.

    Asked before a change is made, never after: what was made must stand on top of what another program wrote, too.
    """

    def check(working_set: WorkingSet) -> None:
        count = len(change(working_set).substeps)
        if count > max(SUBSTEPS_LIMIT, len(working_set.substeps)):
            raise LimitExceeded(
                f"A task has up to {SUBSTEPS_LIMIT} steps, these would be {count}; name larger ones, or end the task."
            )

    return check


def require_room(working_set: WorkingSet, file: str) -> None:
    """Raise `LimitExceeded` for more open files than a working set has room for."""
    if len({each.path for each in working_set.open_files} | {file}) > OPEN_FILES_LIMIT:
        raise LimitExceeded(f"{OPEN_FILES_LIMIT} files are open;", remedy="close some with `{close_file}`.")


def find_step(working_set: WorkingSet, step: int | str) -> str:
    """Return what a step says that is named by its number from 1 or by its beginning; raises `NotFound`.

    Raises `InvalidInput` where several begin like that.
    """
    if isinstance(step, bool) or not isinstance(step, int | str):
        raise InvalidInput(
            f"step = {quoted(step)} names no step; give its number, from 1, or how it begins.",
            argument="step",
        )
    if isinstance(step, int):
        if 1 <= step <= len(working_set.substeps):
            return working_set.substeps[step - 1].text
        raise NotFound(f"There is no step {quoted(step)}; the task has {len(working_set.substeps)}.")
    texts = [each.text for each in working_set.substeps]
    if step in texts:
        return step
    matches = [text for text in texts if step.strip() and text.casefold().startswith(step.casefold())]
    if not matches:
        raise NotFound(f"No step begins with {step[:80]!r};", remedy="`{add_steps}` adds one.")
    if len(matches) > 1:
        raise InvalidInput(
            f"{len(matches)} steps begin with {step[:80]!r}; write more of it, or give its number."
        )
    return matches[0]
