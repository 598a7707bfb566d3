"""Imports of JavaScript and TypeScript: relative, by aliases, and of packages that lie in the same root."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.imports.target import ImportTarget

SUFFIXES: Final = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
_SOURCES: Final = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""What a file that is made by the compiler is made of."""
_BUILT: Final = frozenset({"dist", "build", "lib", "out", "esm", "cjs", "es", "types", "umd"})
_EXTENDS_MOST: Final = 8


class ScriptModules:
    """The files of JavaScript and TypeScript under one root, with their manifests."""

    def __init__(self, paths: Collection[str], manifests: Mapping[str, FileFacts]) -> None:
        self._paths = {path for path in paths if path.endswith(SUFFIXES)}
        self._packages: dict[str, str] = {}
        self._manifests: dict[str, FileFacts] = {}
        self._configs: dict[str, list[str]] = {}
        self._all = manifests
        for path, facts in sorted(manifests.items()):
            name = path.rpartition("/")[2]
            if name == "package.json":
                self._manifests[dirname(path)] = facts
                if facts.package:
                    self._packages.setdefault(facts.package, dirname(path))
            elif name.endswith("config.json") or name.startswith(("tsconfig.", "jsconfig.")):
                self._configs.setdefault(dirname(path), []).append(path)
        for names in self._configs.values():
            names.sort(key=lambda path: (path.count("."), path))

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return what an import leads to; an empty `module` is the file itself."""
        if not module:
            return ImportTarget(path, name)
        module = module.partition("?")[0]
        if module.startswith("."):
            return ImportTarget(self._file(_joined(dirname(path), module)), name)
        for place in self._places(path, module):
            if (file := self._file(place)) is not None:
                return ImportTarget(file, name)
        parts = module.split("/")
        package = "/".join(parts[: 2 if module.startswith("@") else 1])
        own = package in self._packages or module.startswith(("#", "/"))
        return ImportTarget(None, name, "" if own else package)

    def _places(self, path: str, module: str) -> Iterator[str]:
        for folder in _above(path):
            found = [
                place for config in self._configs.get(folder, ()) for place in self._aliased(config, module)
            ]
            if found:
                yield from found
                break
        if module.startswith("#"):
            own = next((folder for folder in _above(path) if folder in self._manifests), None)
            if own is not None:
                yield from self._exported(own, "imports", module)
        parts = module.split("/")
        for length in range(min(len(parts), 2), 0, -1):
            package = "/".join(parts[:length])
            if package in self._packages:
                yield from self._of_package(self._packages[package], "/".join(parts[length:]))
                break

    def _aliased(self, config: str, module: str) -> Iterator[str]:
        base, paths, where = self._options(config, 0)
        for alias, places in sorted(paths.items(), key=lambda item: -len(item[0].partition("*")[0])):
            if (rest := _rest(alias, module)) is not None:
                for place in places.split("\n"):
                    yield _joined(where, place.replace("*", rest))
        if base is not None:
            yield _joined(base, module)

    def _options(self, config: str, depth: int) -> tuple[str | None, Mapping[str, str], str]:
        """Return of a `tsconfig.json` the base folder, the paths and from where they count, with what it extends."""
        facts, folder = self._all.get(config), dirname(config)
        if facts is None or depth > _EXTENDS_MOST:
            return None, {}, folder
        written = facts.attributes.get("base", {}).get("baseUrl")
        base = None if written is None else _joined(folder, written)
        paths, where = facts.attributes.get("paths", {}), base if base is not None else folder
        for above in facts.attributes.get("extends", {}).values():
            place = _joined(folder, above)
            outer = place if place in self._all else f"{place}.json"
            outer_base, outer_paths, outer_where = self._options(outer, depth + 1)
            if not paths:
                paths, where = outer_paths, outer_where
            base = base if base is not None else outer_base
        return base, paths, where

    def _of_package(self, folder: str, rest: str) -> Iterator[str]:
        yield from self._exported(folder, "exports", f"./{rest}" if rest else ".")
        if rest:
            yield from (_joined(folder, rest), _joined(folder, f"src/{rest}"))
            return
        main = self._manifests[folder].attributes.get("main", {})
        for place in main.values():
            yield from _built_from(folder, place)
        yield from (_joined(folder, "src/index"), _joined(folder, "index"))

    def _exported(self, folder: str, kind: str, name: str) -> Iterator[str]:
        exports = self._manifests[folder].attributes.get(kind, {})
        for alias, place in sorted(exports.items(), key=lambda item: -len(item[0].partition("*")[0])):
            if (rest := _rest(alias, name)) is not None:
                yield from _built_from(folder, place.replace("*", rest))

    def _file(self, place: str) -> str | None:
        if place in self._paths:
            return place
        stem, dot, suffix = place.rpartition(".")
        for source in _SOURCES.get(dot + suffix, ()):
            if stem + source in self._paths:
                return stem + source
        for ending in SUFFIXES:
            if place + ending in self._paths:
                return place + ending
        if place in self._manifests:
            for main in self._manifests[place].attributes.get("main", {}).values():
                inner = _joined(place, main)
                if inner != place and (file := self._file(inner)) is not None:
                    return file
        for ending in SUFFIXES:
            if (file := _joined(place, f"index{ending}")) in self._paths:
                return file
        return None


def _above(path: str) -> Iterator[str]:
    folder = dirname(path)
    while True:
        yield folder
        if not folder:
            return
        folder = dirname(folder)


def _joined(folder: str, place: str) -> str:
    path = normpath(join(folder, place))
    return "" if path == "." else path


def _rest(alias: str, module: str) -> str | None:
    """Return what stands for the star of an alias, None where the alias does not fit.

    >>> _rest("@/*", "@/cart/total"), _rest("shop", "shop"), _rest("shop", "shops")
    ('cart/total', '', None)
    """
    before, star, after = alias.partition("*")
    if not star:
        return "" if alias == module else None
    if module.startswith(before) and module.endswith(after) and len(module) >= len(before) + len(after):
        return module[len(before) : len(module) - len(after)]
    return None


def _built_from(folder: str, place: str) -> Iterator[str]:
    """Give a file that a package names, and where its source is by custom where that was built."""
    path = _joined(folder, place)
    yield path
    parts = [part for part in place.split("/") if part != "."]
    rest = parts
    while len(rest) > 1 and rest[0] in _BUILT:
        rest = rest[1:]
        stem = "/".join(rest)
        for ending in (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".ts"):
            if stem.endswith(ending):
                stem = stem.removesuffix(ending)
                break
        yield from (_joined(folder, f"src/{stem}"), _joined(folder, stem))
