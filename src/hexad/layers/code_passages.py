"""What a context shows of code and its documentation: definitions whole, and nothing that only stands around them.

A recall finds spans of some dozen lines. What somebody edits is a function or a class, so the definition that a span
is of takes its place, with the lines as they stand in the file. Import lists, changelogs and directives that stand for
text which a program writes elsewhere say nothing of how code behaves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from hexad.code_graph.tables.graph import CodeGraphTables, CodeNodeRow
from hexad.layers.contract import MemoryItem, MemoryQuery
from hexad.memory.layer_names import QueryClass
from hexad.memory.query import Hit
from hexad.memory.store import Stores
from hexad.search.recall.code_ranking import CODE, asks_of_changes, is_changelog

GUIDE: Final = "guide"
CLASS_CHARACTERS: Final = 2_400
"""A method of a class that is no longer than this is shown with the whole class."""
DEFINITION_CHARACTERS: Final = 8_000
"""Of a longer class the head and the signatures of its members are shown; 2,000 tokens hold no more."""
SHORT_CHARACTERS: Final = 320
"""A longer definition has a summary beside it: its signature and the first sentence of what is said of it."""
GUIDE_WORDS_LEAST: Final = 8
"""A passage of documentation of which fewer words are left without its directives says nothing."""
_FUNCTIONS: Final = frozenset({"function", "method", "property"})
_CONTAINERS: Final = frozenset({"class", "interface", "struct", "trait", "enum", "impl", "type"})
_DIRECTIVE: Final = re.compile(
    r"^([ \t]*)(?:\.\.[ \t]+(?:auto\w+|(?:current)?module|toctree|contents)::|:::[ \t]+[\w.]+[ \t]*$).*\n?"
    r"(?:(?:\1[ \t]+:\w[^\n]*|\1[ \t]+[\w.*/-]+[ \t]*|[ \t]*)(?:\n|\Z))*",
    re.MULTILINE,
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_DOCSTRING: Final = re.compile(r"""[rRuU]?(\"{3}|'{3})\s*(.+?)(?:\n[ \t]*\n|\1|\Z)""", re.DOTALL)


class DefinitionLines(NamedTuple):
    """Lines of a file that are a definition, or several beside each other: the first, the last, and what they are.

    Of a class `head` is the last line that a span of it has.
    """

    first: int
    last: int
    nodes: tuple[CodeNodeRow, ...]
    head: int = 0


class CodePassages:
    """Puts definitions in the place of spans of code, as far as the code graph knows them."""

    def __init__(self, tables: CodeGraphTables, stores: Stores) -> None:
        self._tables, self._stores = tables, stores

    def shown(self, hits: Sequence[Hit], items: Sequence[MemoryItem], query: MemoryQuery) -> list[MemoryItem]:
        """Return the items, each of one of `hits`, as a context shows them, without those that say nothing of it."""
        changes = query.query_class is QueryClass.HISTORICAL or asks_of_changes(query.text)
        told = any(hit.memory.kind in (CODE, GUIDE) for hit in hits)
        shown: list[MemoryItem] = []
        whole: set[tuple[str, str]] = set()
        for hit, item in zip(hits, items, strict=True):
            if told and not changes and is_changelog(hit.memory.kind, hit.memory.source_id):
                continue
            found = self._of_code(hit, item) if hit.memory.kind == CODE else item
            if (
                found is not None and found is not item
            ):  # two methods of a short class are shown as that class
                if (hit.id, found.location) in whole:
                    continue
                whole.add((hit.id, found.location))
            if hit.memory.kind == GUIDE and hit.memory.source is not None:
                found = _without_directives(item)
            if found is not None:
                shown.append(found)
        return shown

    def _of_code(self, hit: Hit, item: MemoryItem) -> MemoryItem | None:
        file_no = self._file_no(hit)
        if hit.chunk is None or file_no is None:
            return item
        members = self._tables.members(file_no)
        definition = definition_of_span(members, hit.chunk.first_line, hit.chunk.last_line)
        if definition is None:
            return None if self._is_import_list(file_no, members, hit) else item
        lines = hit.memory.raw.split("\n")
        offset = hit.chunk.first_line - 1 - hit.memory.raw.count("\n", 0, hit.chunk.start)
        definition = _widened(definition, members, lines, offset)
        text = _text_of(definition, members, lines, offset)
        path = (hit.memory.source_id or "").partition("#")[0]
        return replace(
            item,
            text=text,
            summary=summary_of_code(definition, text) if len(text) > SHORT_CHARACTERS else None,
            location=f"{path}:{definition.first}-{definition.last}",
        )

    def _file_no(self, hit: Hit) -> int | None:
        identity = self._stores.memories.identify(memory_id=hit.id)
        return None if identity is None else self._tables.file_of_memory(identity.no)

    def _is_import_list(self, file_no: int, members: Sequence[CodeNodeRow], hit: Hit) -> bool:
        """Whether a span that is of no definition, and has no constant, holds imports."""
        assert hit.chunk is not None
        first, last = hit.chunk.first_line, hit.chunk.last_line
        if any(first <= node.line <= last for node in members):
            return False
        return any(first <= line <= last for line in self._tables.import_lines(file_no))


def definition_of_span(members: Sequence[CodeNodeRow], first: int, last: int) -> DefinitionLines | None:
    """Return the definition that most of the lines `first` to `last` are of; of several short ones all; None without.

    `members` are the symbols of the file. A function that stands in another is part of it; a span of a class that is in
    none of its methods is of the class.
    """
    touched = [node for node in members if node.line <= last and node.end_line >= first]
    functions = [node for node in touched if node.kind in _FUNCTIONS]
    begun = [node for node in touched if node.kind in _CONTAINERS and first <= node.line]
    if begun and all(node.qualified.startswith(f"{begun[0].qualified}.") for node in functions):
        return DefinitionLines(begun[0].line, begun[0].end_line, (begun[0],), last)
    outer = [node for node in functions if not any(_holds(other, node) for other in functions)]
    inside = [node for node in outer if first <= node.line and node.end_line <= last]
    if len(inside) > 1:
        return DefinitionLines(min(n.line for n in inside), max(n.end_line for n in inside), tuple(inside))
    if outer:
        best = max(outer, key=lambda node: min(node.end_line, last) - max(node.line, first))
        return DefinitionLines(best.line, best.end_line, (best,))
    classes = [node for node in touched if node.kind in _CONTAINERS]
    if classes:
        inner = min(classes, key=lambda node: node.end_line - node.line)
        return DefinitionLines(inner.line, inner.end_line, (inner,))
    return None


def _holds(outer: CodeNodeRow, inner: CodeNodeRow) -> bool:
    return (
        outer is not inner and inner.qualified.startswith(f"{outer.qualified}.") and outer.kind in _FUNCTIONS
    )


def _widened(
    definition: DefinitionLines, members: Sequence[CodeNodeRow], lines: Sequence[str], offset: int
) -> DefinitionLines:
    """Return the class that a definition stands in where that is short, else the definition."""
    name = definition.nodes[0].qualified
    around = [node for node in members if node.kind in _CONTAINERS and name.startswith(f"{node.qualified}.")]
    for node in sorted(around, key=lambda node: node.line - node.end_line):
        if len(_joined(lines, node.line, node.end_line, offset)) <= CLASS_CHARACTERS:
            return DefinitionLines(node.line, node.end_line, (node,))
    return definition


def _joined(lines: Sequence[str], first: int, last: int, offset: int) -> str:
    return "\n".join(lines[max(0, first - 1 - offset) : last - offset])


def _text_of(
    definition: DefinitionLines, members: Sequence[CodeNodeRow], lines: Sequence[str], offset: int
) -> str:
    """Return the lines of a definition as they stand; of too long a class its head and what its members take."""
    text = _joined(lines, definition.first, definition.last, offset)
    own = definition.nodes[0]
    if len(text) <= DEFINITION_CHARACTERS or own.kind not in _CONTAINERS:
        return text
    inner = [
        node
        for node in members
        if node.kind in _FUNCTIONS and node.qualified.rpartition(".")[0] == own.qualified
    ]
    if not inner:
        return text
    shown = [node for node in inner if node.end_line <= definition.head]
    until = shown[-1].end_line if shown else inner[0].line - 1
    head = _joined(lines, definition.first, until, offset).rstrip()
    rest = (node for node in inner if node.line > until)
    return "\n".join([head, "", *(f"line {node.line}: {node.signature or node.name}" for node in rest)])


def summary_of_code(definition: DefinitionLines, text: str) -> str:
    """Return what a definition is called and takes, and the first sentence of its docstring, on one line."""
    heads = [node.signature or node.qualified for node in definition.nodes]
    said = _DOCSTRING.search(text)
    doc = " ".join(said.group(2).split())[:SHORT_CHARACTERS] if said and len(heads) == 1 else ""
    return "; ".join(heads) + (f": {doc}" if doc else "")


def _without_directives(item: MemoryItem) -> MemoryItem | None:
    """Return documentation without what stands for text that a program writes; None where little else is left."""
    text = _DIRECTIVE.sub("", item.text)
    if text == item.text:
        return item
    if len(_WORD.findall(text)) < GUIDE_WORDS_LEAST:
        return None
    return replace(item, text=text.strip("\n"), summary=item.summary and _DIRECTIVE.sub("", item.summary))
