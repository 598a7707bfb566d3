"""What `hexad demo` asks: five questions whose answers lie in different kinds of source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hexad import Hexad, Memory

QUESTIONS: Final = 5
_LOOKED_AT: Final = 200
_KINDS: Final = ("code", "guide", "decision", "commit", "config", "log", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and in words where its answer should lie."""

    text: str
    where: str


_OWN: Final = (
    Question(text="Which code lets waiting writers share one sync of the WAL?", where="code"),
    Question(text="Which exit code says that the store is locked?", where="a guide"),
    Question(text="Why is SQLite taken from apsw and not from the standard library?", where="a decision"),
    Question(text="Which change added leases and the key file?", where="the commit history"),
    Question(text="Which make target runs the long stress tests?", where="configuration"),
)


def questions(hx: Hexad, root: Path, *, history: bool) -> list[Question]:
    """Return the questions for a repository: prepared ones for Hexad's own, else from what was ingested."""
    derived = _derived(hx)
    if not (root / "src" / "hexad" / "interfaces").is_dir():
        return [question for _, question in zip(range(QUESTIONS), derived, strict=False)]
    if history:
        return list(_OWN)
    return [question for question in _OWN if "commit" not in question.where] + [next(derived)]


def _derived(hx: Hexad) -> Iterator[Question]:
    """Give questions made of names in the store: one of each kind in turn, until there is nothing left."""
    waiting = {kind: _phrases(hx, kind) for kind in _KINDS}
    while waiting:
        for kind in tuple(waiting):
            phrase = next(waiting[kind], None)
            if phrase is None:
                del waiting[kind]
            else:
                yield Question(
                    text=phrase, where="the commit history" if kind == "commit" else f"kind {kind}"
                )


def _phrases(hx: Hexad, kind: str) -> Iterator[str]:
    memories = sorted(hx.memories(kinds=[kind], limit=_LOOKED_AT), key=lambda memory: memory.path)
    seen: set[str] = set()
    for memory in memories:
        phrase = _phrase(memory)
        if phrase is not None and phrase not in seen:
            seen.add(phrase)
            yield phrase


def _phrase(memory: Memory) -> str | None:
    """Return what a person might ask of a memory: a commit's subject, a heading, a definition's name."""
    if memory.kind == "commit":
        first = memory.raw.strip().splitlines()[0] if memory.raw.strip() else ""
        return f"Which change: {first}?" if len(first.split()) >= 2 else None
    for chunk in memory.chunks:
        name = chunk.heading.split("\n")[-1].strip()
        if len(name) >= 8:
            return f"Where is {name}?" if memory.kind == "code" else f"What about {name}?"
    words = memory.summary_micro.split()
    return " ".join(words[:12]) if len(words) >= 2 else None
