"""Imports of Go: a package is a folder, called by the path of its module; its files share their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from posixpath import dirname, join, normpath

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.imports.target import DefinedName, Definitions, ImportTarget, nearest


class GoPackages:
    """The packages of Go under one root, by its `go.mod` files."""

    def __init__(
        self, paths: Collection[str], manifests: Mapping[str, FileFacts], definitions: Definitions
    ) -> None:
        self._definitions = definitions
        self._files: dict[str, list[str]] = {}
        for path in sorted(paths):
            if path.endswith(".go"):
                self._files.setdefault(dirname(path), []).append(path)
        self._modules: dict[str, str] = {}
        for path, facts in manifests.items():
            if path.rpartition("/")[2] == "go.mod" and facts.package:
                self._modules[facts.package] = dirname(path)
                for name, place in facts.attributes.get("replace", {}).items():
                    self._modules.setdefault(name, normpath(join(dirname(path), place)))

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return the file of a package in which a name is defined; with `*` the first of the package's files."""
        folder = self._folder(path, module)
        if folder is None:
            return ImportTarget(None, name, module)
        if name == "*":
            files = [file for file in self._files[folder] if not file.endswith("_test.go")]
            return ImportTarget(next(iter(files), None))
        found = self._in_folder(folder, name, with_tests=False) if name else None
        return ImportTarget(None, name) if found is None else ImportTarget(found.path, name)

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return the definition in another file of the same package."""
        return self._in_folder(dirname(path), name, with_tests=path.endswith("_test.go"))

    def _folder(self, path: str, module: str) -> str | None:
        parts = module.split("/")
        for length in range(len(parts), 0, -1):
            root = self._modules.get("/".join(parts[:length]))
            if root is not None:
                folder = normpath(join(root, *parts[length:]))
                folder = "" if folder == "." else folder
                return folder if folder in self._files else None
        vendored = [folder for folder in self._files if f"/{folder}".endswith(f"/vendor/{module}")]
        return nearest(path, vendored)

    def _in_folder(self, folder: str, name: str, *, with_tests: bool) -> DefinedName | None:
        for each in self._definitions(name.rpartition(".")[2]):
            is_there = each.qualified == name and dirname(each.path) == folder and each.path.endswith(".go")
            if is_there and (with_tests or not each.path.endswith("_test.go")):
                return each
        return None
