"""What one file of code says: its symbols, its imports, and what they use. Nothing here looks at another file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

UNKNOWN: Final = "?"
"""Stands at the head of a chain for a value of which the file does not say what it is."""
SELF: Final = "@"
"""Stands before the qualified name of a class, for an instance of it."""
SUPER: Final = "^"
"""Stands before the qualified name of a class, for an instance of its bases."""


class SymbolFact(NamedTuple):
    """A definition. `qualified` has the names that it stands in; `returns` is the chain of what a call gives."""

    qualified: str
    kind: str
    line: int
    end_line: int
    signature: str = ""
    returns: str = ""

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.qualified.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The qualified name of what it stands in; empty at the top of a file."""
        return self.qualified.rpartition(".")[0]


class ImportFact(NamedTuple):
    """An import as it is written: `module` with the dots before it, `name` what is taken of it, `alias` its name here.

    `name` is empty where the module itself is imported, and `*` where everything in it is. `is_conditional` says that
    it stands in a branch that may not be compiled.
    """

    module: str
    name: str
    alias: str
    line: int
    is_conditional: bool = False


class UseFact(NamedTuple):
    """A call (`kind` is `calls`) or a mention (`references`) inside of a symbol; an empty `symbol` is the file itself.

    `chain` is how it is named: parts with dots between them, and `()` behind one that is called on the way.
    """

    symbol: str
    chain: str
    kind: str
    line: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """All that is kept of one file.

    `bases` maps a class to the chains of what it inherits from, `attributes` a class to its instances' attributes and
    the chains of what they are. `problem` says in words why not all of it could be read, and is empty where it could.
    """

    language: str
    lines: int
    symbols: tuple[SymbolFact, ...] = ()
    imports: tuple[ImportFact, ...] = ()
    uses: tuple[UseFact, ...] = ()
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    package: str = ""
    problem: str = ""

    def to_json(self) -> str:
        """Return the facts as JSON, for `from_json`."""
        document = [
            self.language,
            self.lines,
            self.symbols,
            self.imports,
            self.uses,
            self.bases,
            self.attributes,
            self.package,
            self.problem,
        ]
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> FileFacts:
        """Return what `to_json` wrote."""
        language, lines, symbols, imports, uses, bases, attributes, package, problem = json.loads(text)
        return cls(
            language=language,
            lines=lines,
            symbols=tuple(SymbolFact(*row) for row in symbols),
            imports=tuple(ImportFact(*row) for row in imports),
            uses=tuple(UseFact(*row) for row in uses),
            bases={name: tuple(chains) for name, chains in bases.items()},
            attributes=attributes,
            package=package,
            problem=problem,
        )

    def names(self) -> set[str]:
        """Return every name that stands in it, each by itself."""
        names = {self.package, *self.bases, *self.attributes}
        for symbol in self.symbols:
            names.update((symbol.qualified, symbol.signature, symbol.returns))
        for imported in self.imports:
            names.update((imported.module, imported.name, imported.alias))
        names.update(use.chain for use in self.uses)
        for chains in self.bases.values():
            names.update(chains)
        for attributes in self.attributes.values():
            names.update(attributes)
            names.update(attributes.values())
        return names - {""}

    def without(self, names: Iterable[str]) -> FileFacts:
        """Return the facts without those in which one of these names stands."""
        bad = set(names)
        return FileFacts(
            language=self.language,
            lines=self.lines,
            symbols=tuple(
                symbol
                for symbol in self.symbols
                if not bad & {symbol.qualified, symbol.signature, symbol.returns}
            ),
            imports=tuple(row for row in self.imports if not bad & {row.module, row.name, row.alias}),
            uses=tuple(use for use in self.uses if not bad & {use.chain, use.symbol}),
            bases={
                name: tuple(chain for chain in chains if chain not in bad)
                for name, chains in self.bases.items()
                if name not in bad
            },
            attributes={
                name: {
                    attribute: chain
                    for attribute, chain in attributes.items()
                    if not bad & {attribute, chain}
                }
                for name, attributes in self.attributes.items()
                if name not in bad
            },
            package="" if self.package in bad else self.package,
            problem=self.problem,
        )
