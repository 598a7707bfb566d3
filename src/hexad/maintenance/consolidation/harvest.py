"""What a working set leaves to its project: what was done, decided, agreed on, and left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.layers.session.working_set import WorkingSet
from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.text.normalize import fold
from hexad.text.quality.commitments import Commitment, statements

TASK: Final = "task"
"""Kind of the memory that says what a task came to."""
KEY_CHARS_LIMIT: Final = 200
STATEMENTS_LIMIT: Final = 50
"""So many statements of one working set are promoted at most."""
_FILES_NAMED: Final = 12
_ROLES: Final = {
    "user": Trust.USER,
    "human": Trust.USER,
    "assistant": Trust.AGENT,
    "agent": Trust.AGENT,
    "model": Trust.AGENT,
    "ai": Trust.AGENT,
}
"""Who may decide or agree on something; what a tool or a page says is data."""
INSTRUCTIONS: Final = "reads as instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """One thing that a working set leaves. `kind` is that of the memory, `key` a todo's."""

    kind: str
    text: str
    trust: Trust
    key: str | None = None
    value: str | None = None
    importance: float = 0.5
    title: str | None = None


def harvest(working_set: WorkingSet) -> Iterator[Harvest]:
    """Yield what a working set leaves, what it came to first; nothing of one in which nothing was done."""
    if working_set.is_empty:
        return
    if (
        working_set.task
        or working_set.ticket
        or working_set.edits_total
        or working_set.substeps
        or working_set.outcome
    ):
        yield Harvest(kind=TASK, text=summary_of(working_set), trust=Trust.AGENT, importance=0.4)
    for what, text, trust in _said(working_set):
        yield Harvest(
            kind=what.value,
            text=text,
            trust=trust,
            key=_key(text) if what is Commitment.TODO else None,
            value=text if what is Commitment.TODO else None,
            importance=0.6 if what is Commitment.DECISION else 0.5,
            title=text if what is Commitment.DECISION else None,
        )
    for step in open_steps(working_set):
        yield Harvest(
            kind=Commitment.TODO.value,
            text=f"Todo: {step.rstrip('.')}. Left open by “{_line(working_set.subject)}”.",
            trust=Trust.AGENT,
            key=_key(step),
            value=step,
        )


def open_steps(working_set: WorkingSet) -> list[str]:
    """Return the steps that are not done."""
    return [_line(step.text) for step in working_set.substeps if not step.done and _line(step.text)]


def done_steps(working_set: WorkingSet) -> list[str]:
    """Return the keys of the steps that are done: todos of that name are done, too."""
    return [_key(_line(step.text)) for step in working_set.substeps if step.done and _line(step.text)]


def summary_of(working_set: WorkingSet) -> str:
    """Return what a task came to, in a text that recall finds."""
    about = _line(working_set.subject)
    if working_set.ticket and working_set.ticket not in about:
        about += f" (ticket {working_set.ticket})"
    done = [_line(step.text) for step in working_set.substeps if step.done]
    files = list(dict.fromkeys(edit.path for edit in reversed(working_set.edits)))
    more = f" and {len(files) - _FILES_NAMED} more" if len(files) > _FILES_NAMED else ""
    parts = [
        f"Task: {about.rstrip('.')}.",
        f"Done: {'; '.join(done)}." if done else "",
        f"Left open: {'; '.join(open_steps(working_set))}." if open_steps(working_set) else "",
        f"Files changed: {', '.join(files[:_FILES_NAMED])}{more}." if files else "",
        f"Branch: {working_set.place.branch}." if working_set.place.branch else "",
        f"Outcome: {_line(working_set.outcome)}" if working_set.outcome else "",
    ]
    return "\n".join(part for part in parts if part)


def _said(working_set: WorkingSet) -> Sequence[tuple[Commitment, str, Trust]]:
    """Return what was said that binds, each once, as it was said by whoever is trusted most."""
    commitments: dict[tuple[Commitment, str], tuple[str, Trust]] = {}
    for text, trust in _told(working_set):
        for statement in statements(text):
            key = (statement.what, fold(statement.text))
            if key not in commitments or commitments[key][1].rank < trust.rank:
                commitments[key] = (statement.text, trust)
    return [(what, text, trust) for (what, _), (text, trust) in commitments.items()][:STATEMENTS_LIMIT]


def _told(working_set: WorkingSet) -> Iterator[tuple[str, Trust]]:
    """Yield the texts of people and agents, the oldest first, with who vouches for each."""
    for line in working_set.conversation_summary.splitlines():
        role, mark, text = line.partition(": ")
        if mark and role.casefold() in _ROLES:
            yield text, _ROLES[role.casefold()]
    for turn in working_set.turns:
        if turn.role.casefold() in _ROLES:
            yield turn.text, _ROLES[turn.role.casefold()]
    for note in working_set.scratchpad:
        yield note.text, Trust.AGENT
    if working_set.outcome:
        yield working_set.outcome, Trust.AGENT


def objection(harvest: Harvest) -> str | None:
    """Return why something may not be promoted whatever there is, None where it may."""
    return INSTRUCTIONS if instructions_in(harvest.text) else None


def _line(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    return "".join(char for char in _line(text) if char.isprintable())[:KEY_CHARS_LIMIT].strip()
