"""What `hexad demo` asks: five questions whose answers lie in different kinds of source, and a topic."""

from __future__ import annotations

from collections import Counter
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
    """A question, in words where its answer should lie, and what of the store is asked."""

    text: str
    where: str
    kinds: tuple[str, ...] | None = None
    path: str | None = None


_OWN: Final = (
    Question(
        text="Which code splits camelCase and snake_case identifiers into words?",
        where="code under src",
        kinds=("code",),
        path="src",
    ),
    Question(text="What happens to a store whose key is lost?", where="guides", kinds=("guide",)),
    Question(text="Why is full text not in a tokenizer written in Python?", where="guides", kinds=("guide",)),
    Question(
        text="Which change linked memories of different projects?",
        where="the commit history",
        kinds=("commit",),
    ),
    Question(text="What is the line length for ruff?", where="all of it"),
)
_OWN_IN_OTHER_WORDS: Final = Question(text="May I use this at work for free?", where="all of it")
_OWN_MARK: Final = Path("src", "hexad", "interfaces", "cli", "demo_questions.py")


def questions(hx: Hexad, root: Path, *, history: bool) -> list[Question]:
    """Return the questions for a repository: prepared ones for Hexad's own, else from what was ingested."""
    derived = _derived(hx)
    if not (root / _OWN_MARK).exists():
        return [question for _, question in zip(range(QUESTIONS), derived, strict=False)]
    if history:
        return list(_OWN)
    return [question for question in _OWN if "commit" not in question.where] + [next(derived)]


def in_other_words(asked: list[Question], root: Path) -> Question:
    """Return a question for recall by meaning: a prepared one for Hexad's own repository, else the first again."""
    return _OWN_IN_OTHER_WORDS if (root / _OWN_MARK).exists() else asked[0]


def topic_of(hx: Hexad, root: Path) -> str:
    """Return what a bundle is asked for: a prepared topic for Hexad's own repository, else a common tag or word."""
    if (root / _OWN_MARK).exists():
        return "redaction"
    memories = sorted(hx.memories(limit=_LOOKED_AT), key=lambda memory: memory.path)
    words = Counter(
        word
        for memory in memories
        for word in memory.summary_micro.lower().split()
        if len(word) > 4 and word.isalpha()
    )
    return max(words, key=lambda word: (words[word], word), default="project")


def hide_the_questions(hx: Hexad, root: Path) -> None:
    """Archive this very file in the demo's store: it would be the best answer to every question in it."""
    for memory in hx.memories(path="*/" + _OWN_MARK.with_suffix("").as_posix()):
        if (root / _OWN_MARK).exists():
            hx.forget(memory.id)


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
