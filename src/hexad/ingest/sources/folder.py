"""A folder's files, in a fixed order, without what is ignored, generated, hidden or no text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hexad.ingest.sources.detect import ReadOptions
from hexad.ingest.sources.file_place import safe_id
from hexad.ingest.sources.files import FileSource, Lookup, not_regular, read_file, reason_of
from hexad.ingest.sources.gitignore import Rules, compiled, ignored, rules_above, rules_in
from hexad.memory.source import Item, Skip, Unchanged

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NEVER_READ: Final = frozenset(
    [
        *(".git", ".hg", ".svn", ".jj", ".hexad", ".venv", ".tox", ".nox", ".direnv", ".eggs"),
        *("node_modules", "bower_components", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"),
        *(".hypothesis", ".gradle", ".terraform", ".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo"),
        *(".cache", ".idea", ".ipynb_checkpoints", "__pypackages__", "site-packages", ".yarn"),
    ]
)
"""Folders that hold a tool's state or other people's code, ignored or not."""

_BUILD_FOLDERS: Final = frozenset(
    ["dist", "build", "target", "out", ".build", "_build", "coverage", "htmlcov"]
)
_BUILD_FILES: Final = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "pom.xml", "build.gradle")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file that the walk came to; `relative` is spelled as in the file system, with `/`."""

    path: Path
    relative: str


def read_folder(
    root: Path, *, uri: str, options: ReadOptions, known: Lookup
) -> Iterator[Item | Skip | Unchanged]:
    """Give everything that the folder holds: items, what is unchanged, and what is skipped, with its reason.

    The order is that of the names, a folder's content where its name stands. What is added or removed during
    the walk is seen or not; a file that vanishes is a skip.
    """
    project = safe_id(root.name) or "root"
    for found in walk(root, options=options):
        if isinstance(found, Skip):
            yield found
        else:
            file = FileSource(path=found.path, relative=found.relative, project=project, uri=uri)
            yield from read_file(file, options=options, known=known)


def walk(root: Path, *, options: ReadOptions) -> Iterator[FoundFile | Skip]:
    """Give the files below `root` that are to be read, and a skip for each file or folder that is not."""
    yield from _Walk(root, options).run()


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    relative: str
    rules: tuple[Rules, ...]


class _Walk:
    def __init__(self, root: Path, options: ReadOptions) -> None:
        self._root = root
        self._options = options
        self._include: GitIgnoreSpec | None = compiled(options.include) if options.include else None
        self._exclude: GitIgnoreSpec | None = compiled(options.exclude) if options.exclude else None
        self._seen: set[tuple[int, int]] = set()

    def run(self) -> Iterator[FoundFile | Skip]:
        # A list instead of a recursion: folders may be nested deeper than Python calls.
        rules = tuple(rules_above(self._root)) if self._options.gitignore else ()
        waiting = [_Entry(self._root, "", rules)]
        while waiting:
            entry = waiting.pop()
            problem, is_folder = self._look(entry)
            if problem is not None:
                yield Skip(source_id=safe_id(entry.relative), reason=problem)
            elif is_folder:
                try:
                    names = sorted(os.listdir(entry.path), reverse=True)
                except OSError as error:
                    yield Skip(source_id=safe_id(entry.relative) or ".", reason=reason_of(error))
                    continue
                waiting += self._inside(entry, names)
            else:
                yield FoundFile(path=entry.path, relative=entry.relative)

    def _inside(self, folder: _Entry, names: list[str]) -> list[_Entry]:
        base = folder.relative + "/" if folder.relative else ""
        rules = folder.rules
        if self._options.gitignore and ".gitignore" in names:
            rules = (*rules, *rules_in(folder.path, base=base))
        return [_Entry(folder.path / name, base + name, rules) for name in names]

    def _look(self, entry: _Entry) -> tuple[str | None, bool]:
        """Return why the entry is skipped, if it is, and whether it is a folder."""
        follow = self._options.follow_symlinks or not entry.relative
        try:
            state = os.stat(entry.path, follow_symlinks=follow)
        except OSError as error:
            return reason_of(error), False
        is_folder = stat.S_ISDIR(state.st_mode)
        if problem := not_regular(state.st_mode):
            return problem, False
        if entry.relative and (problem := self._left_out(entry, is_folder=is_folder)):
            return problem, is_folder
        if is_folder:
            place = (state.st_dev, state.st_ino)
            if place in self._seen:
                return "a link to a folder that is already read", True
            self._seen.add(place)
        return None, is_folder

    def _left_out(self, entry: _Entry, *, is_folder: bool) -> str | None:
        name = entry.path.name
        if is_folder and name in NEVER_READ:
            return f"{name} is never read"
        if is_folder and os.path.isfile(entry.path / "pyvenv.cfg"):
            return "a virtual environment of Python"
        if is_folder and name in _BUILD_FOLDERS and self._is_build(entry.path):
            return f"{name} holds what a build made"
        if self._exclude is not None and self._exclude.match_file(
            entry.relative + ("/" if is_folder else "")
        ):
            return "left out by an exclude pattern"
        if name.startswith(".") and not self._options.hidden:
            return "hidden"
        if ignored(entry.rules, entry.relative, is_folder=is_folder):
            return "ignored by .gitignore"
        if not is_folder and self._include is not None and not self._include.match_file(entry.relative):
            return "not among the include patterns"
        return None

    @staticmethod
    def _is_build(folder: Path) -> bool:
        # `build/` and `target/` are also names for a person's own folders; beside a build file they are not.
        return any((folder.parent / name).is_file() for name in _BUILD_FILES)
