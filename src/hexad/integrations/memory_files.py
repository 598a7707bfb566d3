"""Memories as the text files that a model keeps by itself: it views, writes, edits, moves and deletes them.

A file is a memory whose path is the file's, so that what a model wrote into it is recalled, redacted, exported and
erased like any other memory. Moving a file keeps its id.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Final

from hexad.core.arguments import quoted
from hexad.core.json_types import JSONValue
from hexad.database.file_locks import TimedFlock
from hexad.engine import Hexad
from hexad.errors import HexadError, InvalidInput, NotFound, StoreLocked
from hexad.memory.memory import Memory, Trust
from hexad.text.paths import validate_space

LINES_MOST: Final = 999_999
"""More lines of one file have no number that fits."""
_LEVELS_SHOWN: Final = 2
_AROUND: Final = 2
"""Lines shown before and after a change."""
_WAIT_S: Final = 30.0
_NAMED: Final = 3
_IN_PATTERNS: Final = frozenset("*?[")
_LAYOUT: Final = "file"
"""Name in a memory's metadata of what its text does not keep: its line ends, and white space at its ends."""


class FileRefused(Exception):
    """What a model asked for cannot be done; the text tells the model why."""


class MemoryFiles:
    """The files below one folder of a space.

    Paths are as the model writes them, such as `/memories/team/style.md`. Answers and refusals are for the model to
    read. Of programs that edit one file at once none undoes the other's change.
    """

    def __init__(
        self, store: Hexad, *, space: str = "default", folder: str = "memories", purge: bool = False
    ) -> None:
        """`purge` erases what is deleted, with a receipt; else it is archived, and can be restored."""
        if not isinstance(purge, bool):
            raise InvalidInput(f"purge = {quoted(purge)} must be True or False.", argument="purge")
        self._store, self._space, self._root, self._purge = store, validate_space(space), folder, purge
        self._turn = threading.Lock()

    # What is asked ---------------------------------------------------------------------------------------------

    def view(self, path: str, lines: tuple[int, int] | None = None) -> str:
        """Return a file's lines with their numbers, `lines` of it (from 1, -1 for the end), or what a folder holds."""
        inner = self._inner(path)
        if (memory := self._file(inner)) is not None:
            return self._content(path, _text(memory), lines)
        files = self._below(inner)
        if inner and not files:
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, inner, files)

    def create(self, path: str, text: str) -> str:
        """Write a new file."""
        with self._changing():
            inner = self._inner_file(path)
            if self._file(inner) is not None or self._below(inner):
                raise FileRefused(f"File {path} already exists")
            for parent in PurePosixPath(inner).parents:
                if str(parent) != "." and self._file(str(parent)) is not None:
                    raise FileRefused(f"{self._outer(str(parent))} is a file, not a folder.")
            self._write(inner, text)
        return f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> str:
        """Put `new` in the place of `old`, which occurs once in a file; the lines around it are shown."""
        with self._changing():
            memory = self._existing(path)
            text = _text(memory)
            places = _places(text, old)
            if not places:
                raise FileRefused(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
                )
            if len(places) > 1:
                numbers = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
                raise FileRefused(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
                    "Please ensure it is unique"
                )
            at = places[0]
            changed = _text(
                self._write(self._inner(path), text[:at] + new + text[at + len(old) :], memory.id)
            )
        line = text.count("\n", 0, at)
        shown = _numbered(
            changed.split("\n")[max(0, line - _AROUND) : line + _AROUND + 1], max(0, line - _AROUND) + 1
        )
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert `text` after a line of a file; 0 is its beginning."""
        with self._changing():
            memory = self._existing(path)
            lines = _text(memory).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= line <= len(lines):
                raise FileRefused(
                    f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(line, text.rstrip("\n"))
            self._write(self._inner(path), "\n".join(lines).rstrip("\n") + "\n", memory.id)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file, or a folder with all that is in it."""
        with self._changing():
            inner = self._inner(path)
            if not inner:
                raise FileRefused(f"Cannot delete the /{self._root} directory itself")
            memories = self._with(inner)
            if not memories:
                raise FileRefused(f"The path {path} does not exist")
            self._require_own(memories, "deleted")
            self._forget(memories)
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        """Move a file or a folder; memories keep their ids."""
        with self._changing():
            source, target = self._inner(old), self._inner_file(new)
            if not source:
                raise FileRefused(f"Cannot rename the /{self._root} directory itself")
            if self._with(target):
                raise FileRefused(f"The destination {new} already exists")
            if target.startswith(source + "/"):
                raise FileRefused(f"{new} is inside of {old}.")
            memories = self._with(source)
            if not memories:
                raise FileRefused(f"The path {old} does not exist")
            self._require_own(memories, "renamed")
            for memory in memories:
                self._write(target + self._inner_of(memory)[len(source) :], _text(memory), memory.id)
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> str:
        """Delete all files."""
        with self._changing():
            memories = self._below("")
            self._require_own(memories, "deleted")
            self._forget(memories)
        return "All memory cleared"

    # Memories --------------------------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let one program at a time read a file and write it; what the store refuses is told as refused."""
        lock = TimedFlock(self._store.path / ".memory-files.lock", clock=self._store._services.context.clock)
        try:
            with self._turn:
                if not lock.acquire(_WAIT_S):
                    raise StoreLocked(f"Another program has been changing memory files for {_WAIT_S:.0f} s.")
                try:
                    yield
                finally:
                    lock.release()
        except HexadError as error:
            raise FileRefused(str(error)) from error
        finally:
            lock.close()

    def _write(self, inner: str, text: str, id: str | None = None) -> Memory:
        raw = text.replace("\r\n", "\n") if "\r\n" in text else text
        body = raw.strip()
        layout: dict[str, JSONValue] = {
            "newline": "\r\n" if "\r\n" in text else "\n",
            "begin": raw[: len(raw) - len(raw.lstrip())],
            "end": raw[len(raw.rstrip()) :] if body else "",
            "blank": not body,
        }
        written = self._store.remember(
            body or inner,  # a memory has a text; an empty file's is its name
            # Without one, a text that another file has would move that file here.
            id=id or self._store._services.context.ids.new("mem"),
            space=self._space,
            path=f"{self._root}/{inner}",
            trust=Trust.AGENT.value,
            metadata={_LAYOUT: layout},
        )
        if written.status == "quarantined":
            notes = written.receipt.notes if written.receipt is not None else ()
            raise FileRefused(f"{self._outer(inner)} is not written yet. {' '.join(notes)}".strip())
        return written

    def _require_own(self, memories: list[Memory], done: str) -> None:
        """Refuse to take away what the user said or pinned, before anything is changed."""
        kept = [
            self._outer(self._inner_of(memory))
            for memory in memories
            if memory.trust is Trust.USER or memory.pinned
        ]
        if kept:
            named = ", ".join(kept[:_NAMED]) + (
                f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
            )
            raise FileRefused(
                f"Nothing was {done}: {named} is the user's own or pinned; the user alone changes that."
            )

    def _forget(self, memories: list[Memory]) -> None:
        for memory in memories:
            if self._purge:
                self._store.forget(memory.id, purge=True, confirm=True)
            else:
                self._store.forget(memory.id)

    def _with(self, inner: str) -> list[Memory]:
        memory = self._file(inner)
        return [memory] if memory is not None else self._below(inner)

    def _file(self, inner: str) -> Memory | None:
        path = f"{self._root}/{inner}"
        found = self._at(path) if inner else []
        return next((memory for memory in found if memory.path == path), None)

    def _below(self, inner: str) -> list[Memory]:
        folder = f"{self._root}/{inner}".rstrip("/") + "/"
        found = self._at(folder.rstrip("/"))
        return sorted(
            (memory for memory in found if memory.path.startswith(folder)), key=lambda memory: memory.path
        )

    def _at(self, path: str) -> list[Memory]:
        """Return what lies at a path and below it; more, where its names hold what patterns are made of."""
        plain = takewhile(lambda part: not _IN_PATTERNS.intersection(part), path.split("/"))
        try:
            return self._store.memories(space=self._space, path="/".join(plain), limit=None)
        except NotFound:  # nothing was written to the space yet
            return []

    def _existing(self, path: str) -> Memory:
        inner = self._inner(path)
        memory = self._file(inner)
        if memory is None:
            if not inner or self._below(inner):
                raise FileRefused(f"The path {path} is not a file.")
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        return memory

    # Paths -----------------------------------------------------------------------------------------------------

    def _inner(self, path: str) -> str:
        """Return a path below the folder, "" for the folder itself."""
        parts = path.split("/")
        if parts[:2] != ["", self._root]:
            raise FileRefused(f"Path must start with /{self._root}, got: {path}")
        inner: list[str] = []
        for part in parts[2:]:
            if part == "..":
                if not inner:
                    raise FileRefused(f"Path {path} would escape /{self._root} directory")
                inner.pop()
            elif part not in ("", "."):
                inner.append(part)
        return "/".join(inner)

    def _inner_file(self, path: str) -> str:
        inner = self._inner(path)
        if not inner or path.rpartition("/")[2] in ("", ".", ".."):
            raise FileRefused(f"{path} names a folder; name a file in it.")
        return inner

    def _inner_of(self, memory: Memory) -> str:
        return memory.path.removeprefix(self._root + "/")

    def _outer(self, inner: str) -> str:
        return f"/{self._root}/{inner}"

    @staticmethod
    def _content(path: str, text: str, lines: tuple[int, int] | None) -> str:
        all_lines = text.split("\n")
        if len(all_lines) > LINES_MOST:
            raise FileRefused(f"File {path} exceeds maximum line limit of {LINES_MOST:,} lines.")
        first, last = lines or (1, -1)
        if last != -1 and last < first:
            raise FileRefused(
                f"Invalid `view_range` parameter: [{first}, {last}]. It should end at -1, or not before it begins."
            )
        first = max(1, first)
        shown = all_lines[first - 1 : len(all_lines) if last == -1 else last]
        return f"Here's the content of {path} with line numbers:\n{_numbered(shown, first)}"


def _text(memory: Memory) -> str:
    """Return a file's text with its own line ends."""
    layout = memory.metadata.get(_LAYOUT)
    if not isinstance(layout, dict):
        return memory.raw  # somebody else remembered it under the path
    body = "" if layout.get("blank") else memory.raw
    text = f"{layout.get('begin') or ''}{body.strip()}{layout.get('end') or ''}"
    return text.replace("\n", "\r\n") if layout.get("newline") == "\r\n" else text


def _places(text: str, old: str) -> list[int]:
    places: list[int] = []
    at = text.find(old) if old else -1
    while at >= 0:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start=first))


def _listing(path: str, inner: str, files: list[Memory]) -> str:
    shown = path.rstrip("/")
    sizes: dict[str, int] = {}
    skip = len(PurePosixPath(inner).parts) + 1  # the root's own name
    for memory in files:
        parts = PurePosixPath(memory.path).parts[skip:]
        if any(part.startswith(".") for part in parts):
            continue
        size = len(_text(memory).encode())
        for depth in range(1, min(len(parts), _LEVELS_SHOWN) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + size
    total = sum(len(_text(memory).encode()) for memory in files)
    rows = [
        f"{_size(total)}\t{shown}",
        *(f"{_size(size)}\t{shown}/{name}" for name, size in sorted(sizes.items())),
    ]
    header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
    return "\n".join([header, *rows])


def _size(count: int) -> str:
    size = float(count)
    for unit in "BKMG":
        if size < 1024 or unit == "G":
            return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"
        size /= 1024
    raise AssertionError(unit)
