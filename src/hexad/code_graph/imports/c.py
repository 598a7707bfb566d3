"""Includes of C and C++: beside the file, then in folders from which the path leads to a file of the root."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from posixpath import dirname, join, normpath
from typing import Final

from hexad.code_graph.imports.target import DefinedName, Definitions, ImportTarget, nearest

SUFFIXES: Final = (".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp", ".cxx", ".inl", ".inc", ".ipp")
_INCLUDED_MOST: Final = 1_000
INCLUDED: Final = 0.9
"""A definition in a file that is included, or beside a header that is."""
ALONE: Final = 0.7
"""The only definition of a name in the root."""


class CIncludes:
    """The files of C and C++ under one root; `includes_of` gives what a file includes, as it is written."""

    def __init__(
        self, paths: Collection[str], includes_of: Callable[[str], Iterable[str]], definitions: Definitions
    ) -> None:
        self._includes_of, self._definitions = includes_of, definitions
        self._paths: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        for path in sorted(paths):
            if path.endswith(SUFFIXES):
                self._paths.add(path)
                self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return the file that is included; `module` begins with `<` where it stands in angle brackets."""
        place = module.removeprefix("<")
        beside = normpath(join(dirname(path), place))
        if beside in self._paths and not module.startswith("<"):
            return ImportTarget(beside, name)
        tail = normpath(place)
        found = [
            file
            for file in self._by_name.get(tail.rpartition("/")[2], ())
            if (file == tail or file.endswith(f"/{tail}")) and file != path
        ]
        file = nearest(path, found)
        if file is None:
            return ImportTarget(None, name, place)
        return ImportTarget(file, name)

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return a definition in what is included, in the file beside such a header, or the only one of the root."""
        found = [
            each
            for each in self._definitions(name.rpartition(".")[2])
            if each.path in self._paths
            and each.path != path
            and (each.qualified == name or each.qualified.endswith(f".{name}"))
        ]
        if not found:
            return None
        included = self._closure(path)
        seen = [each for each in found if each.path in included]
        if not seen:
            stems = {file.rpartition("/")[2].partition(".")[0] for file in (*included, path)}
            found = [each for each in found if not _is_private(each)]
            seen = [each for each in found if each.path.rpartition("/")[2].partition(".")[0] in stems]
        if seen:
            best = nearest(path, [each.path for each in seen])
            return next(each for each in seen if each.path == best)._replace(confidence=INCLUDED)
        return found[0]._replace(confidence=ALONE) if len(found) == 1 else None

    def _closure(self, path: str) -> frozenset[str]:
        """Return the files that a file includes, and those that these include."""
        known = self._closures.get(path)
        if known is not None:
            return known
        included: set[str] = set()
        waiting = [path]
        while waiting and len(included) < _INCLUDED_MOST:
            file = waiting.pop()
            for module in self._includes_of(file):
                inner = self.target(file, module, "").path
                if inner is not None and inner not in included:
                    included.add(inner)
                    waiting.append(inner)
        self._closures[path] = frozenset(included)
        return self._closures[path]


def _is_private(definition: DefinedName) -> bool:
    """Whether only the file itself can use it: it is static, or a macro or a type outside of a header."""
    is_header = ".h" in definition.path[-4:]
    return not is_header and (definition.signature.startswith("static ") or "(" not in definition.signature)
