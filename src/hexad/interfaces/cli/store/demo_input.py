"""What `hexad demo` reads of a folder, and what it asks of that."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hexad import Hexad, Memory

QUESTIONS: Final = 5
DOCUMENT_BYTES: Final = 100_000
"""What the documents may have together: with 200 commits some 13 s of one core, most of it for vectors."""
FILE_BYTES: Final = 32_000
_LEAST_BYTES: Final = 20
_WALKED: Final = 20_000
_LOOKED_AT: Final = 200
_GIT_S: Final = 20
_PROSE: Final = frozenset({".md", ".markdown", ".rst", ".adoc", ".txt"})
_FOLDERS_OF_DOCUMENTS: Final = frozenset({"doc", "docs", "documentation", "adr", "guides"})
_NOT_WALKED: Final = frozenset({"node_modules", "build", "dist", "target", "venv", "vendor", "__pycache__"})
_KINDS: Final = ("guide", "decision", "code", "config", "log", "note")
_OWN_MARK: Final = Path("src", "hexad", "interfaces", "cli", "store", "demo_input.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the source id of what answers it, where that is known."""

    text: str
    answer: str | None = None


_OWN: Final = (
    Question(text="Why does recall not need a vector database?", answer="why-not.md"),
    Question(
        text="How old may a decision be before it asks for a look at its reasons?", answer="decisions.md"
    ),
    Question(text="Can I bring in memories from mem0?", answer="imports.md"),
    Question(text="Which files does the installation for an editor change?", answer="assistants.md"),
)


def documents_of(root: Path) -> list[Path]:
    """Return which files to read: the README, documents, other texts; of each those near the top, small ones first."""
    ranked = []
    for relative in islice(_files(root), _WALKED):
        path = root / relative
        try:
            size = path.stat().st_size if path.is_file() and not path.is_symlink() else 0
        except OSError:
            continue
        if _LEAST_BYTES <= size <= FILE_BYTES:
            ranked.append((_rank(relative), max(len(relative.parts), 2), size, relative.as_posix(), path))
    chosen, total = [], 0
    for *_, size, _, path in sorted(ranked):
        total += size
        if total > DOCUMENT_BYTES:
            break
        chosen.append(path)
    return chosen


def _rank(relative: PurePosixPath) -> int:
    if relative.suffix.lower() not in _PROSE:
        return 3
    at_top = len(relative.parts) == 1
    if at_top and relative.stem.lower() == "readme":
        return 0
    return 1 if at_top or relative.parts[0].lower() in _FOLDERS_OF_DOCUMENTS else 2


def _files(root: Path) -> Iterator[PurePosixPath]:
    """Give the files of a folder by their names in it: those that git knows, where it is a repository."""
    try:
        listed = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "ls-files", "-z"],
            cwd=root,
            capture_output=True,
            timeout=_GIT_S,
            check=True,
        ).stdout.decode("utf-8", "surrogateescape")
    except (OSError, subprocess.SubprocessError):
        listed = ""
    if listed:
        yield from (PurePosixPath(name) for name in listed.split("\0") if name)
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_WALKED)
        for name in sorted(names):
            if not name.startswith("."):
                yield PurePosixPath(Path(folder, name).relative_to(root).as_posix())


def questions(hx: Hexad, root: Path) -> list[Question]:
    """Return the questions for a repository: prepared ones for Hexad's own, else from what was read.

    Where there are commits, the last one is about a commit.
    """
    commit = next(_phrases(hx, "commit"), None)
    prepared = iter(_OWN) if (root / _OWN_MARK).exists() else _derived(hx)
    asked = list(islice(prepared, QUESTIONS - (commit is not None)))
    return asked if commit is None else [*asked, commit]


def _derived(hx: Hexad) -> Iterator[Question]:
    """Give questions made of names in the store: one of each kind in turn, until there is nothing left."""
    waiting = {kind: _phrases(hx, kind) for kind in _KINDS}
    while waiting:
        for kind in tuple(waiting):
            question = next(waiting[kind], None)
            if question is None:
                del waiting[kind]
            else:
                yield question


def _phrases(hx: Hexad, kind: str) -> Iterator[Question]:
    memories = sorted(hx.memories(kinds=[kind], limit=_LOOKED_AT), key=lambda memory: memory.path)
    seen_phrases: set[str] = set()
    for memory in memories:
        phrase = _phrase(memory)
        if phrase is not None and phrase not in seen_phrases:
            seen_phrases.add(phrase)
            yield Question(text=phrase, answer=memory.source_id if kind == "commit" else None)


def _phrase(memory: Memory) -> str | None:
    """Return what a person might ask of a memory: a commit's subject, a heading, a definition's name."""
    if memory.kind == "commit":
        first = memory.raw.strip().splitlines()[0] if memory.raw.strip() else ""
        return f"Which change: {first}?" if len(first.split()) >= 4 else None
    for chunk in memory.chunks:
        name = chunk.heading.split("\n")[-1].strip()
        if len(name) >= 8:
            return f"Where is {name}?" if memory.kind == "code" else f"What about {name}?"
    words = memory.summary_micro.split()
    return " ".join(words[:12]) if len(words) >= 2 else None
