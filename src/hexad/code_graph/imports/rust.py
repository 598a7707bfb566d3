"""Imports of Rust: paths of modules from the crate's root, from where they stand, and of other crates of the root."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.imports.target import DefinedName, Definitions, ImportTarget

_SURE: Final = 0.8
"""A method whose type has the name, in the same crate."""
MOVED: Final = "="
"""Stands in the import of a module that an attribute moves to a file: first, and behind the modules around it."""
_ROOTS: Final = ("src/lib.rs", "src/main.rs", "lib.rs", "main.rs")
_OWN_ROOTS: Final = frozenset({"bin", "tests", "examples", "benches"})
"""Folders whose files are crates of their own."""


def moved_modules(facts: FileFacts) -> Mapping[str, str]:
    """Return the modules of Rust that a file says are in files of other names: where, and the name."""
    return {each.module: each.alias for each in facts.imports if each.module.startswith(MOVED)}


class RustModules:
    """The modules of Rust under one root, by its `Cargo.toml` files.

    `moving` gives the files that say of modules in which files they are, with what `moved_modules` returns of each.
    """

    def __init__(
        self,
        paths: Collection[str],
        manifests: Mapping[str, FileFacts],
        definitions: Definitions,
        *,
        moving: Callable[[], Mapping[str, Mapping[str, str]]],
    ) -> None:
        self._paths = {path for path in paths if path.endswith(".rs")}
        self._definitions, self._moving = definitions, moving
        self._crates = {
            dirname(path): facts
            for path, facts in manifests.items()
            if path.rpartition("/")[2] == "Cargo.toml"
        }
        self._names = {
            name: folder
            for folder, facts in self._crates.items()
            for name in (facts.attributes.get("package", {}).get("name"), facts.package)
            if name
        }

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return what `use module::name` leads to; the parts of `module` have slashes between them."""
        if module.startswith(MOVED):
            return ImportTarget(self._moved_to(path, module))
        parts = module.split("/") if module else [name]
        name = name if module else ""
        head, rest = parts[0], parts[1:]
        at: str | None = path
        if head == "crate":
            at = self._root(path)
        elif head == "super":
            at = self._parent(path)
            while rest and rest[0] == "super":
                at, rest = self._parent(at) if at else None, rest[1:]
        elif head != "self":
            inner = self._child(path, head)
            if inner is not None:
                at = inner
            else:
                head = self._crate_named(path, head)
                if head not in self._names:
                    return ImportTarget(None, name, head)
                at = self._library(self._names[head])
        return ImportTarget(None, name) if at is None else self._walk(at, rest, name)

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return a member of a type that another file of the crate adds to it, where there is one alone."""
        owner, dot, last = name.rpartition(".")
        if not dot:
            return None
        crate = self._crate_of(path)
        found = [
            each
            for each in self._definitions(last)
            if each.path != path
            and (each.qualified == name or each.qualified.endswith(f".{owner.rpartition('.')[2]}.{last}"))
            and each.path in self._paths
            and self._crate_of(each.path) == crate
        ]
        return found[0]._replace(confidence=_SURE) if len(found) == 1 else None

    def _walk(self, at: str, rest: Sequence[str], name: str) -> ImportTarget:
        names = [part for part in (*rest, name) if part]
        while names and names[0] != "*" and (inner := self._child(at, names[0])) is not None:
            at, names = inner, names[1:]
        return ImportTarget(at, ".".join(names))

    @cached_property
    def _moved(self) -> Mapping[str, Mapping[str, str]]:
        """Of each file, its modules in files of other names: the name and the file."""
        moved: dict[str, dict[str, str]] = {}
        for path, modules in self._moving().items():
            for written, name in modules.items():
                if (file := self._moved_to(path, written)) is not None:
                    moved.setdefault(path, {}).setdefault(name, file)
        return moved

    @cached_property
    def _declared_by(self) -> Mapping[str, str]:
        """Of each file that a module was moved to, the one that says so."""
        return {file: path for path, modules in self._moved.items() for file in modules.values()}

    def _moved_to(self, path: str, written: str) -> str | None:
        """Return the file that an attribute names, seen from the file's folder; inside of modules, from theirs."""
        _, inner, file = written.split(MOVED, 2)
        folder = join(self._own_folder(path), inner) if inner else dirname(path)
        place = normpath(join(folder, file))
        return place if place in self._paths else None

    def _child(self, path: str, name: str) -> str | None:
        if (moved := self._moved.get(path, {}).get(name)) is not None:
            return moved
        folder = self._folder(path)
        for place in (f"{name}.rs", f"{name}/mod.rs"):
            if (file := join(folder, place)) in self._paths:
                return file
        return None

    def _folder(self, path: str) -> str:
        """Return the folder in which the modules of a file are: beside one that an attribute names."""
        return dirname(path) if path in self._declared_by else self._own_folder(path)

    @staticmethod
    def _own_folder(path: str) -> str:
        folder, _, name = path.rpartition("/")
        is_top = name in ("mod.rs", "lib.rs", "main.rs") or folder.rpartition("/")[2] in _OWN_ROOTS
        return folder if is_top else join(folder, name.removesuffix(".rs"))

    def _parent(self, path: str) -> str | None:
        if (declaring := self._declared_by.get(path)) is not None:
            return declaring
        folder, _, name = path.rpartition("/")
        if name == "mod.rs":
            folder = dirname(folder)
        for place in (
            join(folder, "mod.rs"),
            f"{folder}.rs",
            join(folder, "lib.rs"),
            join(folder, "main.rs"),
        ):
            if place in self._paths and place != path:
                return place
        # Modules of a file that an attribute names are beside it; of several, those of the one that is named first.
        return next((file for file in self._declared_by if dirname(file) == folder), None)

    def _crate_of(self, path: str) -> str | None:
        folder = dirname(path)
        while folder not in self._crates:
            if not folder:
                return None
            folder = dirname(folder)
        return folder

    def _crate_named(self, path: str, name: str) -> str:
        """Return the name of the crate that a file calls by a name: a manifest above it may have given it another."""
        folder = dirname(path)
        while True:
            facts = self._crates.get(folder)
            renamed = {} if facts is None else facts.attributes.get("dependencies", {})
            if name in renamed or not folder:
                return renamed.get(name, name)
            folder = dirname(folder)

    def _library(self, folder: str) -> str | None:
        own = self._crates[folder].attributes.get("lib", {}).get("path")
        places = (own, *_ROOTS) if own else _ROOTS
        return next((file for place in places if (file := join(folder, place)) in self._paths), None)

    def _root(self, path: str) -> str | None:
        if dirname(path).rpartition("/")[2] in _OWN_ROOTS:
            return path
        crate = self._crate_of(path)
        return None if crate is None else self._library(crate)
