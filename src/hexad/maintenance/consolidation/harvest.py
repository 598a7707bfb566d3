"""What a working set leaves to its project: what was done, decided, agreed on, and left to do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hexad.layers.session.working_set import WorkingSet
from hexad.memory.memory import Trust
from hexad.redaction.injection.detector import instructions_in
from hexad.text.normalize import fold
from hexad.text.quality.commitments import Said, statements

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


def harvest(one: WorkingSet) -> Iterator[Harvest]:
    """Yield what a working set leaves, what it came to first; nothing of one in which nothing was done."""
    if one.is_empty:
        return
    if one.task or one.ticket or one.edits_total or one.substeps or one.outcome:
        yield Harvest(kind=TASK, text=summary_of(one), trust=Trust.AGENT, importance=0.4)
    for what, text, trust in _said(one):
        yield Harvest(
            kind=what.value,
            text=text,
            trust=trust,
            key=_key(text) if what is Said.TODO else None,
            value=text if what is Said.TODO else None,
            importance=0.6 if what is Said.DECISION else 0.5,
            title=text if what is Said.DECISION else None,
        )
    for step in open_steps(one):
        yield Harvest(
            kind=Said.TODO.value,
            text=f"Todo: {step.rstrip('.')}. Left open by “{_line(one.subject)}”.",
            trust=Trust.AGENT,
            key=_key(step),
            value=step,
        )


def open_steps(one: WorkingSet) -> list[str]:
    """Return the steps that are not done."""
    return [_line(step.text) for step in one.substeps if not step.done and _line(step.text)]


def done_steps(one: WorkingSet) -> list[str]:
    """Return the keys of the steps that are done: todos of that name are done, too."""
    return [_key(_line(step.text)) for step in one.substeps if step.done and _line(step.text)]


def summary_of(one: WorkingSet) -> str:
    """Return what a task came to, in a text that recall finds."""
    about = _line(one.subject)
    if one.ticket and one.ticket not in about:
        about += f" (ticket {one.ticket})"
    done = [_line(step.text) for step in one.substeps if step.done]
    files = list(dict.fromkeys(edit.path for edit in reversed(one.edits)))
    more = f" and {len(files) - _FILES_NAMED} more" if len(files) > _FILES_NAMED else ""
    parts = [
        f"Task: {about.rstrip('.')}.",
        f"Done: {'; '.join(done)}." if done else "",
        f"Left open: {'; '.join(open_steps(one))}." if open_steps(one) else "",
        f"Files changed: {', '.join(files[:_FILES_NAMED])}{more}." if files else "",
        f"Branch: {one.place.branch}." if one.place.branch else "",
        f"Outcome: {_line(one.outcome)}" if one.outcome else "",
    ]
    return "\n".join(part for part in parts if part)


def _said(one: WorkingSet) -> Sequence[tuple[Said, str, Trust]]:
    """Return what was said that binds, each once, as it was said by whoever is trusted most."""
    found: dict[tuple[Said, str], tuple[str, Trust]] = {}
    for text, trust in _told(one):
        for statement in statements(text):
            key = (statement.what, fold(statement.text))
            if key not in found or found[key][1].rank < trust.rank:
                found[key] = (statement.text, trust)
    return [(what, text, trust) for (what, _), (text, trust) in found.items()][:STATEMENTS_LIMIT]


def _told(one: WorkingSet) -> Iterator[tuple[str, Trust]]:
    """Yield the texts of people and agents, the oldest first, with who vouches for each."""
    for line in one.conversation_summary.splitlines():
        role, mark, text = line.partition(": ")
        if mark and role.casefold() in _ROLES:
            yield text, _ROLES[role.casefold()]
    for turn in one.turns:
        if turn.role.casefold() in _ROLES:
            yield turn.text, _ROLES[turn.role.casefold()]
    for note in one.scratchpad:
        yield note.text, Trust.AGENT
    if one.outcome:
        yield one.outcome, Trust.AGENT


def objection(one: Harvest) -> str | None:
    """Return why something may not be promoted whatever there is, None where it may."""
    return INSTRUCTIONS if instructions_in(one.text) else None


def _line(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    return "".join(char for char in _line(text) if char.isprintable())[:KEY_CHARS_LIMIT].strip()
