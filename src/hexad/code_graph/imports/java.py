"""Imports of Java: a class lies in a file of its name, in the folders of its package."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from hexad.code_graph.imports.target import DefinedName, ImportTarget, nearest

_ENDING: Final = ".java"


class JavaPackages:
    """The classes of Java under one root; `package_of` says in which package a file says that it is."""

    def __init__(self, paths: Collection[str], package_of: Callable[[str], str]) -> None:
        self._package_of = package_of
        self._by_name: dict[str, list[str]] = {}
        self._folders: set[str] = set()
        for path in sorted(paths):
            if path.endswith(_ENDING):
                folder, _, name = path.rpartition("/")
                self._by_name.setdefault(name.removesuffix(_ENDING), []).append(path)
                parts = folder.split("/")
                self._folders.update("/".join(parts[start:]) for start in range(len(parts)))

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return the file of a class, and of what stands in it the name."""
        parts = [*module.split("."), name] if module else [name]
        for length in range(len(parts), 0, -1):
            file = self._class(path, parts[:length])
            if file is not None:
                names = parts[length - 1 :]
                return ImportTarget(file, "*" if names[-1] == "*" else ".".join(names))
        return ImportTarget(None, name, "" if module.replace(".", "/") in self._folders else module)

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return a class of the same package, or what stands in it."""
        head = name.partition(".")[0]
        package = self._package_of(path)
        file = self._class(path, [*package.split("."), head] if package else [head])
        return None if file is None or file == path else DefinedName(file, name)

    def _class(self, path: str, parts: list[str]) -> str | None:
        place = "/".join(parts) + _ENDING
        found = [
            file for file in self._by_name.get(parts[-1], ()) if file == place or file.endswith(f"/{place}")
        ]
        return nearest(path, found)
