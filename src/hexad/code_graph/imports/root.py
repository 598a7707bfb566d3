"""What imports mean in all the languages of one root: in each file by the rules of its own language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Final

from hexad.code_graph.facts import FileFacts
from hexad.code_graph.imports import c, scripts
from hexad.code_graph.imports.c import CIncludes
from hexad.code_graph.imports.go import GoPackages
from hexad.code_graph.imports.java import JavaPackages
from hexad.code_graph.imports.manifests import is_manifest
from hexad.code_graph.imports.python import PythonFiles
from hexad.code_graph.imports.rust import RustModules, moved_modules
from hexad.code_graph.imports.scripts import ScriptModules
from hexad.code_graph.imports.target import DefinedName, Definitions, ImportRules, ImportTarget

_SHARING: Final = (CIncludes, GoPackages, JavaPackages, RustModules)


class RootImports:
    """What imports mean in all the languages of one root; `facts_of` gives what a file says."""

    def __init__(
        self,
        paths: Collection[str],
        facts_of: Callable[[str], FileFacts | None],
        definitions: Definitions,
        *,
        moving: Callable[[], Collection[str]],
    ) -> None:
        """`moving` gives the files that say of modules of Rust in which files they are."""
        self._paths, self._facts_of, self._definitions = paths, facts_of, definitions
        self._moving = moving

    def target(self, path: str, module: str, name: str) -> ImportTarget:
        """Return what an import in the file `path` leads to."""
        return self._rules(path).target(path, module, name)

    def elsewhere(self, path: str, name: str) -> DefinedName | None:
        """Return where a name is defined that a file uses without an import of it; None where nothing says so."""
        rules = self._rules(path)
        return rules.elsewhere(path, name) if isinstance(rules, _SHARING) else None

    def _rules(self, path: str) -> ImportRules:
        if path.endswith((".py", ".pyi", ".pyw")):
            return self._python
        if path.endswith(scripts.SUFFIXES):
            return self._scripts
        if path.endswith(c.SUFFIXES):
            return self._c
        return self._others.get(path.rpartition(".")[2], self._python)

    @cached_property
    def _python(self) -> PythonFiles:
        return PythonFiles(self._paths)

    @cached_property
    def _manifests(self) -> dict[str, FileFacts]:
        read = ((path, self._facts_of(path)) for path in self._paths if is_manifest(path))
        return {path: facts for path, facts in read if facts is not None}

    @cached_property
    def _scripts(self) -> ScriptModules:
        return ScriptModules(self._paths, self._manifests)

    @cached_property
    def _c(self) -> CIncludes:
        return CIncludes(self._paths, self._includes_of, self._definitions)

    @cached_property
    def _others(self) -> dict[str, ImportRules]:
        return {
            "go": GoPackages(self._paths, self._manifests, self._definitions),
            "rs": RustModules(self._paths, self._manifests, self._definitions, moving=self._moved_modules),
            "java": JavaPackages(self._paths, self._package_of),
        }

    def _includes_of(self, path: str) -> Iterable[str]:
        facts = self._facts_of(path)
        return () if facts is None else [imported.module for imported in facts.imports]

    def _moved_modules(self) -> Mapping[str, Mapping[str, str]]:
        facts = {path: self._facts_of(path) for path in self._moving()}
        return {path: moved_modules(of) for path, of in facts.items() if of is not None}

    def _package_of(self, path: str) -> str:
        facts = self._facts_of(path)
        return "" if facts is None else facts.package
