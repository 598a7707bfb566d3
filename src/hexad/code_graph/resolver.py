"""From names to what they mean: imports to files, calls and mentions to symbols of any file, each with a confidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from hexad.code_graph.facts import SELF, SUPER, UNKNOWN, FileFacts, ImportFact, SymbolFact, UseFact
from hexad.code_graph.imports.target import ImportRules, SharedNames

_STEPS_MOST: Final = 8
"""So far re-exports, bases and types are followed."""
DIRECT: Final = 1.0
"""An import, or a name that says itself what it means."""
TYPED: Final = 0.9
"""A member of a value whose class an annotation or an assignment says."""
STAR: Final = 0.8
"""A name that came with `import *`."""
CONDITIONAL: Final = 0.7
"""An import in a branch that may not be compiled."""


_DEFAULT: Final = "default"
"""What a file of JavaScript exports without a name of its own."""
_SHARED: Final = frozenset({"go", "java", "c", "cpp"})
"""Languages whose files use names of others without an import of them."""
_INCLUDING: Final = frozenset({"c", "cpp"})
"""Languages in which an import binds no name, and a namespace goes on in other files."""


_PATH_SIGNS: Final = re.compile(r"[./=]")


class NameMeaning(NamedTuple):
    """What a chain means: a file, or a symbol in one; `is_value` says that it is an instance of that class."""

    path: str
    symbol: str = ""
    is_value: bool = False
    confidence: float = DIRECT


class Found(NamedTuple):
    """An edge of the file that was read: `source` a symbol of it or empty, `target` and `name` what it leads to."""

    kind: str
    source: str
    path: str
    name: str
    line: int
    weight: float
    confidence: float


class Missing(NamedTuple):
    """A name that leads to nothing yet. `is_open` says that it would, were it defined where its chain says."""

    symbol: str
    name: str
    line: int
    weight: int
    is_open: bool


@dataclass(slots=True)
class Resolution:
    """What came of a file: its edges, the libraries outside it imports, and the names that lead to nothing."""

    edges: list[Found] = field(default_factory=list)
    outside: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name of the library → line of the first import and how many there are."""
    missing: list[Missing] = field(default_factory=list)


class ModuleView:
    """One file as others see it."""

    def __init__(self, path: str, facts: FileFacts) -> None:
        self.path, self.facts = path, facts
        self.symbols: Mapping[str, SymbolFact] = {symbol.qualified: symbol for symbol in facts.symbols}

    @cached_property
    def bindings(self) -> Mapping[str, ImportFact]:
        """Imported names, and what each was imported as."""
        bound: dict[str, ImportFact] = {}
        if self.facts.language in _INCLUDING:
            return bound
        for imported in self.facts.imports:
            if imported.name == "*":
                continue
            name = imported.alias or imported.module.partition(".")[0]
            if name not in bound:
                bound[name] = imported
        return bound

    @cached_property
    def dotted(self) -> frozenset[str]:
        """Modules imported whole, under their own names: `a.b` of `import a.b`."""
        return frozenset(
            imported.module for imported in self.facts.imports if not imported.name and not imported.alias
        )

    @cached_property
    def stars(self) -> tuple[ImportFact, ...]:
        """Imports of everything."""
        return tuple(imported for imported in self.facts.imports if imported.name == "*")

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__` of a package of Python."""
        return self.path.endswith(("/__init__.py", "/__init__.pyi")) or self.path in (
            "__init__.py",
            "__init__.pyi",
        )


class Resolver:
    """Resolves the files of one root. `view` gives a file by its path, None for one that is not there."""

    def __init__(self, view: Callable[[str], ModuleView | None], rules: ImportRules) -> None:
        self._view, self._rules = view, rules
        self._shared = rules if isinstance(rules, SharedNames) else None

    def resolve(self, path: str, facts: FileFacts) -> Resolution:
        """Return what a file leads to."""
        view = ModuleView(path, facts)
        resolution = Resolution()
        self._imports(view, resolution)
        for use in facts.uses:
            self._use(view, use, resolution)
        self._of_packages(view, resolution)
        return resolution

    # Imports ------------------------------------------------------------------------------------------------------

    def _imports(self, view: ModuleView, resolution: Resolution) -> None:
        by_file: dict[str, tuple[int, int, float]] = {}
        for imported in view.facts.imports:
            target = self._rules.target(view.path, imported.module, imported.name)
            if target.path is None:
                if target.outside:
                    line, count = resolution.outside.get(target.outside, (imported.line, 0))
                    resolution.outside[target.outside] = (line, count + 1)
                parts = [*_PATH_SIGNS.split(imported.module), imported.name]
                resolution.missing += [
                    Missing("", part, imported.line, 1, True) for part in parts if part and part != "*"
                ]
                continue
            if target.path != view.path:
                line, count, sure = by_file.get(target.path, (imported.line, 0, 0.0))
                sure = max(sure, CONDITIONAL if imported.is_conditional else DIRECT)
                by_file[target.path] = (line, count + 1, sure)
            if target.name and target.name != "*":
                meaning = self._member(NameMeaning(target.path), target.name, 0)
                if meaning is None:
                    resolution.missing.append(Missing("", target.name, imported.line, 1, True))
                elif meaning.symbol and meaning.path != view.path:
                    resolution.edges.append(
                        Found(
                            "references",
                            "",
                            meaning.path,
                            meaning.symbol,
                            imported.line,
                            1,
                            meaning.confidence,
                        )
                    )
        resolution.edges += [
            Found("imports", "", path, "", line, count, sure) for path, (line, count, sure) in by_file.items()
        ]

    def _of_packages(self, view: ModuleView, resolution: Resolution) -> None:
        """Add the files that are used of packages that are imported whole and have no file of their own."""
        stars = [star for star in view.stars if self._rules.target(view.path, star.module, "*").path is None]
        if not stars:
            return
        heads = {use.chain.partition(".")[0].removesuffix("()") for use in view.facts.uses}
        used: dict[str, int] = {}
        for name in sorted(heads - view.bindings.keys() - view.symbols.keys()):
            for star in stars:
                path = self._rules.target(view.path, star.module, name).path
                if path is not None and path != view.path:
                    used.setdefault(path, star.line)
                    break
        resolution.edges += [Found("imports", "", path, "", line, 1, DIRECT) for path, line in used.items()]

    # Uses ---------------------------------------------------------------------------------------------------------

    def _use(self, view: ModuleView, use: UseFact, resolution: Resolution) -> None:
        head, _, rest = use.chain.partition(".")
        if head == UNKNOWN:
            resolution.missing.append(Missing(use.symbol, rest, use.line, use.times, False))
            return
        meaning = self._chain(view, use.chain, 0)
        if meaning is None and head[0] == SELF and self._is_shared(view):
            # Inside of a class, a name may be a member's or stand on its own.
            meaning = self._name(view, use.chain.rpartition(".")[2], 0)
        if meaning is not None and not meaning.symbol and use.kind == "calls":
            meaning = self._member(
                meaning, _DEFAULT, 0
            )  # a file of JavaScript may export one function as a whole
        if meaning is None:
            if self._is_shared(view) and head[0] not in SELF + SUPER:
                resolution.missing.append(Missing(use.symbol, head, use.line, use.times, True))
            last = use.chain.rpartition(".")[2]
            if rest and (
                view.facts.language in _INCLUDING
                or self._chain(view, use.chain.rpartition(".")[0], 0) is not None
            ):
                resolution.missing.append(Missing(use.symbol, last, use.line, use.times, True))
            return
        if not meaning.symbol or (meaning.path, meaning.symbol) == (view.path, use.symbol):
            return
        resolution.edges.append(
            Found(use.kind, use.symbol, meaning.path, meaning.symbol, use.line, use.times, meaning.confidence)
        )

    def _chain(self, view: ModuleView, chain: str, depth: int) -> NameMeaning | None:
        if depth > _STEPS_MOST or not chain:
            return None
        meaning = self._followed(*self._head(view, chain, depth), depth)
        if meaning is None and view.facts.language in _INCLUDING:
            meaning = self._followed(*self._in_namespace(view, chain, depth), depth)
        return meaning

    def _followed(self, meaning: NameMeaning | None, rest: list[str], depth: int) -> NameMeaning | None:
        """Return what members of members of something mean."""
        for part in rest:
            if meaning is None:
                return None
            name = part.removesuffix("()")
            meaning = self._member(meaning, name, depth)
            if meaning is not None and part.endswith("()"):
                meaning = self._called(meaning, depth)
        return meaning

    def _head(self, view: ModuleView, chain: str, depth: int) -> tuple[NameMeaning | None, list[str]]:
        """Return what the beginning of a chain means, and the parts behind it."""
        if chain[0] in SELF + SUPER:
            owner = next(
                (
                    name
                    for name in _prefixes(chain[1:])
                    if name in view.facts.attributes or name in view.facts.bases
                ),
                None,
            )
            if owner is None:
                return None, []
            rest = chain[1 + len(owner) + 1 :]
            parts = rest.split(".") if rest else []
            if chain[0] == SELF:
                return NameMeaning(view.path, owner, True, TYPED), parts
            return self._of_bases(view, owner, parts, depth)
        # A function inside of another one is called by its whole name.
        for name in _prefixes(chain):
            if "(" not in name and "." in name and name in view.symbols:
                rest = chain[len(name) :]
                meaning: NameMeaning | None = NameMeaning(view.path, name)
                if rest.startswith("()"):
                    meaning, rest = self._called(NameMeaning(view.path, name), depth), rest[2:]
                return meaning, rest.lstrip(".").split(".") if rest else []
        whole = self._whole_module(view, chain)
        if whole is not None:
            return whole
        head, _, rest = chain.partition(".")
        meaning = self._name(view, head.removesuffix("()"), depth)
        if meaning is not None and head.endswith("()"):
            meaning = self._called(meaning, depth)
        return meaning, rest.split(".") if rest else []

    def _in_namespace(self, view: ModuleView, chain: str, depth: int) -> tuple[NameMeaning | None, list[str]]:
        """Return what the beginning of `a::b::c` means where another file has that in a namespace, and the rest."""
        parts = chain.split(".")
        called = next((at for at, part in enumerate(parts, start=1) if part.endswith("()")), len(parts))
        for length in range(called, 1, -1):
            meaning = self._elsewhere(view, ".".join(parts[:length]).removesuffix("()"))
            if meaning is not None:
                if parts[length - 1].endswith("()"):
                    meaning = self._called(meaning, depth)
                return meaning, parts[length:]
        return None, []

    def _whole_module(self, view: ModuleView, chain: str) -> tuple[NameMeaning | None, list[str]] | None:
        """Return what `a.b.c` means where `a.b` was imported under its whole name."""
        for name in _prefixes(chain):
            if name in view.dotted and "." in name:
                target = self._rules.target(view.path, name, "")
                rest = chain[len(name) + 1 :]
                if target.path is not None:
                    return NameMeaning(target.path), rest.split(".") if rest else []
        return None

    def _of_bases(
        self, view: ModuleView, owner: str, parts: list[str], depth: int
    ) -> tuple[NameMeaning | None, list[str]]:
        if not parts:
            return None, []
        name = parts[0].removesuffix("()")
        for base in self._bases(view, owner, depth):
            meaning = self._member(base._replace(is_value=True), name, depth + 1)
            if meaning is not None:
                if parts[0].endswith("()"):
                    return self._called(meaning, depth), parts[1:]
                return meaning, parts[1:]
        return None, []

    def _name(self, view: ModuleView, name: str, depth: int) -> NameMeaning | None:
        """Return what a name at the top of a file means."""
        if depth > _STEPS_MOST:
            return None
        if name in view.symbols:
            return NameMeaning(view.path, name)
        imported = view.bindings.get(name)
        if imported is not None:
            return self._imported(view, imported, depth)
        for star in view.stars:
            target = self._rules.target(view.path, star.module, "*")
            if target.path is None:  # a package without a file of its own
                target = self._rules.target(view.path, star.module, name)
                meaning = (
                    self._member(NameMeaning(target.path), target.name, depth + 1) if target.path else None
                )
            else:
                inner = None if target.path == view.path else self._view(target.path)
                meaning = None if inner is None else self._name(inner, name, depth + 1)
            if meaning is not None:
                return meaning._replace(confidence=min(STAR, meaning.confidence))
        return self._elsewhere(view, name)

    def _elsewhere(self, view: ModuleView, name: str) -> NameMeaning | None:
        defined = None if self._shared is None else self._shared.elsewhere(view.path, name)
        if defined is None:
            return None
        return NameMeaning(defined.path, defined.qualified, False, defined.confidence)

    @staticmethod
    def _is_shared(view: ModuleView) -> bool:
        """Whether files of its language use names of others without an import."""
        return view.facts.language in _SHARED

    def _imported(self, view: ModuleView, imported: ImportFact, depth: int) -> NameMeaning | None:
        if not imported.name and not imported.alias:  # `import a.b` binds `a`
            target = self._rules.target(view.path, imported.module.partition(".")[0], "")
        else:
            target = self._rules.target(view.path, imported.module, imported.name)
        if target.path is None:
            return None
        if not target.name:
            return NameMeaning(target.path)
        if target.path == view.path and target.name == imported.alias:
            return None
        meaning = self._member(NameMeaning(target.path), target.name, depth + 1)
        return NameMeaning(target.path) if meaning is None and target.name == _DEFAULT else meaning

    def _member(self, of: NameMeaning, name: str, depth: int) -> NameMeaning | None:
        """Return what `name` means on a file, a class or a value."""
        view = self._view(of.path)
        if view is None or depth > _STEPS_MOST:
            return None
        if not of.symbol:
            meaning = self._name(view, name, depth + 1)
            head, _, rest = name.partition(".")
            if meaning is None and rest and head in view.symbols and view.symbols[head].kind == "namespace":
                return self._member(of, rest, depth + 1)  # what a module of Rust inside of the file gives on
            if meaning is None and view.is_package:
                inner = self._rules.target(view.path, ".", name)
                if inner.path is not None and not inner.name:
                    return NameMeaning(inner.path)
            return meaning
        symbol = view.symbols.get(of.symbol)
        inside = f"{of.symbol}.{name}"
        if symbol is not None and symbol.kind in ("constant", "namespace") and inside in view.symbols:
            return NameMeaning(of.path, inside, False, of.confidence)
        if symbol is None and of.symbol not in view.facts.bases:
            return self._elsewhere(view, inside)
        if symbol is not None and symbol.kind != "class" and of.symbol not in view.facts.bases:
            return self._value_of(view, symbol, name, depth)
        return self._class_member(view, of, name, depth)

    def _value_of(
        self, view: ModuleView, symbol: SymbolFact | None, name: str, depth: int
    ) -> NameMeaning | None:
        """Return a member of what a constant or a property holds."""
        if symbol is None or symbol.kind not in ("constant", "property") or not symbol.returns:
            return None
        value = self._chain(view, symbol.returns, depth + 1)
        return None if value is None else self._typed(self._member(value, name, depth + 1))

    @staticmethod
    def _typed(meaning: NameMeaning | None) -> NameMeaning | None:
        return None if meaning is None else meaning._replace(confidence=min(TYPED, meaning.confidence))

    def _class_member(self, view: ModuleView, of: NameMeaning, name: str, depth: int) -> NameMeaning | None:
        qualified = f"{of.symbol}.{name}"
        if qualified in view.symbols:
            confidence = min(of.confidence, TYPED) if of.is_value else of.confidence
            return NameMeaning(view.path, qualified, False, confidence)
        chain = view.facts.attributes.get(of.symbol, {}).get(name)
        if chain is not None and chain != f"{SELF}{of.symbol}.{name}":
            return self._typed(self._chain(view, chain, depth + 1))
        for base in self._bases(view, of.symbol, depth):
            inner = self._view(base.path)
            if inner is not None and (base.path, base.symbol) != (of.path, of.symbol):
                member = self._member(base._replace(is_value=of.is_value), name, depth + 1)
                if member is not None:
                    return member._replace(confidence=min(of.confidence, member.confidence))
        return self._member_elsewhere(view, of, name, depth)

    def _member_elsewhere(
        self, view: ModuleView, of: NameMeaning, name: str, depth: int
    ) -> NameMeaning | None:
        """Return a member of a class that another file adds to it, or of the class that this file adds to."""
        member = self._elsewhere(view, f"{of.symbol}.{name}")
        if member is not None:
            return member._replace(confidence=min(of.confidence, member.confidence))
        if of.symbol not in view.symbols and (declared := self._elsewhere(view, of.symbol)) is not None:
            return self._member(declared._replace(is_value=of.is_value), name, depth + 1)
        return None

    def _bases(self, view: ModuleView, qualified: str, depth: int) -> Iterator[NameMeaning]:
        for chain in view.facts.bases.get(qualified, ()):
            base = self._chain(view, chain, depth + 1)
            if base is not None and base.symbol:
                yield base

    def _called(self, of: NameMeaning, depth: int) -> NameMeaning | None:
        """Return what a call gives: an instance of a class, or what a function says that it returns."""
        view = self._view(of.path)
        symbol = None if view is None else view.symbols.get(of.symbol)
        if view is None or symbol is None or of.is_value:
            return None
        if symbol.kind == "class" or of.symbol in view.facts.bases:
            return of._replace(is_value=True)
        if symbol.kind in ("function", "method") and symbol.returns and depth < _STEPS_MOST:
            return self._typed(self._chain(view, symbol.returns, depth + 1))
        return None


def _prefixes(chain: str) -> Iterator[str]:
    """Give the beginnings of a chain, the longest first."""
    name = chain
    while name:
        yield name
        name = name.rpartition(".")[0]
