"""Imports of Python, found as the interpreter would."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from posixpath import dirname
from typing import Final

from hexad.code_graph.imports.target import ImportTarget

_PYTHON: Final = (".py", ".pyi")
_ASIDE: Final = frozenset({"test", "tests", "example", "examples", "docs", "doc", "samples", "benchmarks"})


class PythonFiles:
    """The files of Python under one root, and what an import in one of them means.

    Paths are tried as the interpreter would: beside the file and above it, outside of packages; then in every folder
    that holds a package, `src` layouts among them; at last in every folder that holds one of a package's first name
    without an `__init__.py` (a namespace package, which several distributions may share).
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {path for path in paths if path.endswith(_PYTHON)}
        self._tops: dict[str, list[str]] = {}
        self._spaces: dict[str, list[str]] = {}
        """First name of a namespace package → the folders that hold a folder of that name."""
        for path in self._paths:
            self._note_top(path)

    def add(self, path: str) -> None:
        """Know of another file."""
        self._paths.add(path)
        self._note_top(path)

    def _note_top(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        if stem == "__init__":
            above = dirname(folder)
            if folder and not self._is_package(above):
                self._add(self._tops, folder.rpartition("/")[2], above)
                self._note_space(above)
        elif not self._is_package(folder):
            if folder.rpartition("/")[2] in ("", "src", "lib", "python"):
                self._add(self._tops, stem, folder)
            self._note_space(folder)

    def _note_space(self, folder: str) -> None:
        while folder:
            folder, _, name = folder.rpartition("/")
            self._add(self._spaces, name, folder)

    @staticmethod
    def _add(places: dict[str, list[str]], name: str, folder: str) -> None:
        folders = places.setdefault(name, [])
        if folder not in folders:
            folders.append(folder)
            folders.sort(key=lambda each: (bool(_ASIDE & set(each.split("/"))), each.count("/"), each))

    def _is_package(self, folder: str) -> bool:
        return bool(folder) and any(f"{folder}/__init__{suffix}" in self._paths for suffix in _PYTHON)

    def module(self, place: str) -> str | None:
        """Return the file of a module by its path without a suffix, a package's `__init__` included."""
        for name in (f"{place}.py", f"{place}/__init__.py", f"{place}.pyi", f"{place}/__init__.pyi"):
            if name in self._paths:
                return name
        return None

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return what `from module import name` in the file `path` leads to; `name` is empty for `import module`."""
        dotted = module.lstrip(".")
        level = len(module) - len(dotted)
        parts = dotted.split(".") if dotted else []
        places = self._relative(path, level, parts) if level else self._absolute(path, parts)
        last: str | None = None
        for place in places:
            found_path = self.module(place)
            inner = self.module(f"{place}/{name}") if name and name != "*" else None
            # A name of a package may be its own or a module in it; the interpreter takes its own first.
            if inner is not None:
                return ImportTarget(inner)
            if found_path is not None:
                return ImportTarget(found_path, name)
            last = place
        del last
        return ImportTarget(None, name, "" if level or not parts else parts[0])

    @staticmethod
    def _relative(path: str, level: int, parts: list[str]) -> Iterator[str]:
        folder = dirname(path)
        for _ in range(level - 1):
            if not folder:
                return
            folder = dirname(folder)
        yield "/".join(part for part in (folder, *parts) if part)

    def _absolute(self, path: str, parts: list[str]) -> Iterator[str]:
        if not parts or (parts[0] in sys.stdlib_module_names and parts[0] not in self._tops):
            return
        rest = "/".join(parts)
        folder = dirname(path)
        while True:
            if not self._is_package(folder):
                yield f"{folder}/{rest}" if folder else rest
            if not folder:
                break
            folder = dirname(folder)
        for folder in (
            *_nearest_first(path, self._tops.get(parts[0], ())),
            *_nearest_first(path, self._spaces.get(parts[0], ())),
        ):
            yield f"{folder}/{rest}" if folder else rest


def _nearest_first(path: str, folders: Sequence[str]) -> Sequence[str]:
    """Return folders that hold a package of one name, of distributions side by side that of the file's own first."""
    if len(folders) < 2:
        return folders
    own = path.split("/")[:-1]

    def key(folder: str) -> tuple[bool, int]:
        parts = folder.split("/")
        pairs = zip(own, parts, strict=False)
        shared = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(own), len(parts)))
        return bool(_ASIDE & set(parts)), -shared

    return sorted(folders, key=key)
