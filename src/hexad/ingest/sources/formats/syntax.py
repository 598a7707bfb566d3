"""Trees of syntax for the languages of the extra `code`, and what a text in one of them defines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from time import thread_time
from typing import TYPE_CHECKING, Final

from hexad.ingest.sources.formats.parsed import Definition

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query


@dataclass(frozen=True, slots=True)
class Grammar:
    """A parser's package and function, and the files of queries that read its trees, in `grammars/`."""

    package: str
    function: str
    queries: tuple[str, ...]


_TSX: Final = Grammar("tree_sitter_typescript", "language_tsx", ("script", "typescript", "jsx"))
_CPP: Final = Grammar("tree_sitter_cpp", "language", ("c", "cpp"))
GRAMMARS: Final[Mapping[str, tuple[Grammar, ...]]] = {
    "javascript": (Grammar("tree_sitter_javascript", "language", ("script", "javascript", "jsx")), _TSX),
    "typescript": (
        Grammar("tree_sitter_typescript", "language_typescript", ("script", "typescript")),
        _TSX,
    ),
    "go": (Grammar("tree_sitter_go", "language", ("go",)),),
    "rust": (Grammar("tree_sitter_rust", "language", ("rust",)),),
    "java": (Grammar("tree_sitter_java", "language", ("java",)),),
    "c": (Grammar("tree_sitter_c", "language", ("c",)), _CPP),
    "cpp": (_CPP,),
}
"""By language, the grammar to try first; what it cannot read whole is tried with the next, as types of Flow are."""
_LIKE_CPP: Final = re.compile(r"^[ \t]*+(?:class|namespace|template)\b|\w::\w", re.MULTILINE)
"""What a header of C does not have. The grammar of C takes it for old functions without a complaint."""
CONTAINERS: Final = frozenset({"class", "interface", "enum", "struct", "trait", "namespace", "extension"})
"""Kinds of definitions that hold others."""
NESTING_LIMIT: Final = 8
"""Definitions inside of definitions that become sections; what lies deeper is part of the last."""
_SECONDS_LEAST: Final = 0.1
_SECONDS_PER_BYTE: Final = 2e-6
"""CPU seconds that a text may take. Code takes a twentieth; what is none can take parsers the square of its length."""
_AROUND: Final = frozenset(
    "ambient_declaration lexical_declaration variable_declaration expression_statement type_declaration"
    " linkage_specification".split()
)
"""What stands around a definition and is part of it, where both begin in the same row."""
_WHOLE: Final = frozenset({"export_statement", "template_declaration"})
"""What stands around a definition and is part of it in any case."""
_BEFORE: Final = frozenset(
    "comment line_comment block_comment attribute_item decorator marker_annotation annotation".split()
)
"""What stands before a definition and is part of it."""
_READ_BYTES: Final = 1 << 16
_SAMPLE_BYTES: Final = 2_048
_SAMPLE_PIECE_BYTES: Final = 48
"""A sample with more broken pieces than one for so many bytes is no code."""
_COMMENT: Final = re.compile(rb"/\*(?:[^*]|\*(?!/))*+\*/|^[ \t]*+//[^\n]*+", re.MULTILINE)
_STATEMENT_BYTES: Final = 3
"""A text with more statements than one for so many bytes is no code."""
_TOKENS_IN_PIECE: Final = 8
"""So much of what has no place is as bad as another break: where a class is cut off, all that is in it has none."""
_PIECES_MOST: Final = 2_048
"""Something broken in more pieces is no code, and asking for what is in it takes the square of their number."""


@cache
def is_readable(language: str) -> bool:
    """Whether the packages that read a language are installed (extra `code`)."""
    packages = {grammar.package for grammar in GRAMMARS.get(language, ())}
    return bool(packages) and all(find_spec(name) is not None for name in ("tree_sitter", *packages))


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A text's tree, and the grammar that it is of. Rows count from 0, columns are bytes of UTF-8."""

    root: Node
    data: bytes
    grammar: Grammar
    problem: str
    """Why not all of it could be read, and empty where it could."""


def syntax_tree(text: str, language: str) -> SyntaxTree | None:
    """Return the tree of a text, with gaps where it does not parse.

    None where nothing is installed to read the language, and for what is so far from it that reading takes too long.
    """
    if not is_readable(language):
        return None
    from tree_sitter import Parser

    data = (text + _END_OF_LINE if _is_open(text, language) else text).encode("utf-8", "replace")
    best: SyntaxTree | None = None
    fewest = 0
    for grammar in GRAMMARS["cpp" if language == "c" and _LIKE_CPP.search(text) else language]:
        parser = Parser(_parser_language(grammar))
        if len(data) > _SAMPLE_BYTES and not (
            _is_like_code(parser, data) and _is_readable_in_time(parser, data)
        ):
            continue
        root = parser.parse(data).root_node
        if root.child_count > len(data) // _STATEMENT_BYTES + 1:
            continue
        if not root.has_error:
            return SyntaxTree(root, data, grammar, "")
        pieces, extent = _broken(root)
        if pieces > _PIECES_MOST:
            continue
        if best is None or extent < fewest:
            best, fewest = (
                SyntaxTree(root, data, grammar, f"line {_broken_row(root) + 1} does not parse"),
                extent,
            )
    return best


_END_OF_LINE: Final = "\n"


def _is_open(text: str, language: str) -> bool:
    """Whether the end of the last line, which a text that was cleaned has not, is missed by the grammar.

    It is a part of all of Go, of the comments of Rust and of the lines of a preprocessor. Behind any other text
    grammars recover at many times the price from what is no code.
    """
    if text.endswith(_END_OF_LINE):
        return False
    last = text[text.rfind(_END_OF_LINE) + 1 :].lstrip()
    return language == "go" or last.startswith(_LINES_OF.get(language, ()))


_LINES_OF: Final[Mapping[str, tuple[str, ...]]] = {"c": ("#",), "cpp": ("#",), "rust": ("//",)}


def _is_like_code(parser: Parser, data: bytes) -> bool:
    """Whether a sample from the beginning or the middle of a text parses for the most part, without its comments."""
    data = _COMMENT.sub(b"", data)
    for at in (0, len(data) // 2):
        sample = data[data.find(b"\n", at) + 1 if at else 0 :][:_SAMPLE_BYTES]
        root = parser.parse(sample).root_node
        pieces, _ = _broken(root)
        is_dense = root.child_count > len(sample) // _STATEMENT_BYTES + 1
        if not is_dense and pieces <= len(sample) // _SAMPLE_PIECE_BYTES:
            return True
    return False


def _is_readable_in_time(parser: Parser, data: bytes) -> bool:
    """Whether a text can be parsed in the time that is given to one of its length.

    A parser can be stopped only where it asks for the text piece by piece; the tree of that is not used.
    """
    end = thread_time() + _SECONDS_LEAST + len(data) * _SECONDS_PER_BYTE
    try:
        parser.parse(
            lambda at, _: data[at : at + _READ_BYTES], progress_callback=lambda *_: thread_time() > end
        )
    except ValueError:
        parser.reset()
        return False
    return True


def matches(tree: SyntaxTree, kind: str = "") -> Iterator[tuple[int, dict[str, list[Node]]]]:
    """Give what the queries of a kind find in a tree: the number of the pattern, and nodes by the names of captures."""
    from tree_sitter import QueryCursor

    yield from QueryCursor(_query(tree.grammar, kind)).matches(tree.root)


class Siblings:
    """The nodes of what each node stands in: one that is asked for the one before it counts from the first."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[list[Node], dict[int, int]]] = {}

    def before(self, node: Node, parent: Node | None) -> list[Node]:
        """Return what stands before a node and may be part of it, and the node before that, in their order."""
        if parent is None:
            return []
        if parent.id not in self._of:
            children = parent.children
            self._of[parent.id] = children, {child.id: at for at, child in enumerate(children)}
        children, places = self._of[parent.id]
        at = places.get(node.id, 0)
        first = at
        while first and children[first - 1].type in _BEFORE:
            first -= 1
        return children[max(first - 1, 0) : at]


class Parents:
    """The parents of all named nodes of a tree: a node that is asked for its own walks down to itself from the root."""

    def __init__(self, root: Node) -> None:
        self._parents: dict[int, Node] = {}
        self._siblings = Siblings()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            for child in node.named_children:
                self._parents[child.id] = node
                if child.named_child_count:
                    waiting.append(child)

    def of(self, node: Node) -> Node | None:
        """Return what a named node stands in; None for the root."""
        return self._parents.get(node.id)

    def before(self, node: Node) -> list[Node]:
        """Return what stands before a named node and may be part of it, and the node before that, in their order."""
        return self._siblings.before(node, self.of(node))

    def around(self, node: Node) -> Iterator[Node]:
        """Give what a named node stands in, the innermost first."""
        above = self.of(node)
        while above is not None:
            yield above
            above = self.of(above)


def _broken(root: Node) -> tuple[int, int]:
    """Return in how many pieces a tree is broken, and how many bytes they have."""
    pieces = extent = 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            pieces += 1 + node.child_count // _TOKENS_IN_PIECE
            extent += node.end_byte - node.start_byte
        elif node.has_error:
            waiting += node.children
    return pieces, extent


def _broken_row(node: Node) -> int:
    while node.has_error and not node.is_error:
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None:
            break
        node = inner
    return node.start_point.row


@cache
def _parser_language(grammar: Grammar) -> Language:
    from tree_sitter import Language

    return Language(getattr(import_module(grammar.package), grammar.function)())


@cache
def _query(grammar: Grammar, kind: str) -> Query:
    """Return the query of a grammar's definitions, or with `kind` that of its files `NAME.KIND.scm`."""
    from tree_sitter import Query

    folder = files("hexad.ingest.sources.formats") / "grammars"
    names = [f"{name}.{kind}.scm" if kind else f"{name}.scm" for name in grammar.queries]
    return Query(_parser_language(grammar), "\n".join((folder / name).read_text("utf-8") for name in names))


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """A definition in a tree: what kind it is of, the node that names it, and that of what it is a method of."""

    kind: str
    node: Node
    name_node: Node
    owner: Node | None = None

    @property
    def name(self) -> str:
        """Its name, with dots between the parts of it: `Shop`, `ns.Shop.sell`, `~Shop`."""
        return name_in(self.name_node)

    @property
    def is_declared(self) -> bool:
        """Whether it is a function without a body: that of an interface, or one that is defined elsewhere."""
        return self.kind in ("function", "method") and not any(
            self.node.child_by_field_name(field) for field in ("body", "value", "right")
        )


def definition_nodes(tree: SyntaxTree) -> list[DefinitionNode]:
    """Return what a tree defines, in the order of the text, what holds others first."""
    found: dict[int, tuple[int, DefinitionNode]] = {}
    for pattern, captures in matches(tree):
        capture = next(name for name in captures if name.startswith("definition."))
        node, owners = captures[capture][0], captures.get("owner")
        for name_node in captures.get("name", ()):
            definition = DefinitionNode(
                capture.removeprefix("definition."), node, name_node, owners[0] if owners else None
            )
            before = found.get(name_node.start_byte)
            if before is None or pattern < before[0]:
                found[name_node.start_byte] = (pattern, definition)
    definitions = [definition for _, definition in found.values() if definition.name]
    return sorted(definitions, key=lambda each: (each.node.start_byte, -each.node.end_byte))


def name_in(node: Node) -> str:
    """Return the name that a declarator, a receiver or a type has in it, with dots between its parts."""
    while True:
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("type")
        if inner is None and node.type in ("parameter_list", "reference_declarator", "pointer_type"):
            inner = node.named_child(node.named_child_count - 1)
        elif inner is None and node.type in ("template_type", "generic_type", "template_function"):
            inner = node.child_by_field_name("name") or node.named_child(0)
        if inner is None:
            break
        node = inner
    if node.type in ("qualified_identifier", "scoped_type_identifier", "nested_identifier"):
        parts = [child for child in node.named_children if not child.type.endswith("arguments")]
        return ".".join(filter(None, map(name_in, parts)))
    text = (node.text or b"").decode("utf-8", "replace")
    return "".join(text.split()).strip("\"'").replace("::", ".").lstrip("#")


def syntax_definitions(text: str, language: str) -> list[Definition] | None:
    """Return the definitions of a text for sections; None where nothing is installed to read the language."""
    tree = syntax_tree(text, language)
    if tree is None:
        return None
    return _sections(definition_nodes(tree), text.count("\n") + 1, NESTING_LIMIT, Siblings())


def _sections(nodes: Sequence[DefinitionNode], end: int, level: int, siblings: Siblings) -> list[Definition]:
    sections: list[Definition] = []
    at = 0
    while at < len(nodes):
        outer = nodes[at]
        following = at + 1
        while following < len(nodes) and nodes[following].node.start_byte < outer.node.end_byte:
            following += 1
        holds = level > 0 and (outer.kind in CONTAINERS or outer.kind == "constant")
        children = _sections(nodes[at + 1 : following], end, level - 1, siblings) if holds else []
        at = following
        if (outer.kind == "constant" and not children) or outer.is_declared:
            continue
        name = outer.name if outer.owner is None else f"{name_in(outer.owner)}.{outer.name}"
        stop = min(outer.node.end_point.row + (outer.node.end_point.column > 0), end)
        sections.append(
            Definition(name=name, start=_first_row(outer.node, siblings), end=stop, children=tuple(children))
        )
    return sections


def _first_row(node: Node, siblings: Siblings) -> int:
    """Return the row in which a definition begins, with the comments and attributes directly above it."""
    while (parent := node.parent) is not None and (
        parent.type in _WHOLE or (parent.type in _AROUND and parent.start_point.row == node.start_point.row)
    ):
        node = parent
    row, before = node.start_point.row, siblings.before(node, parent)
    while before and before[-1].type in _BEFORE:
        each = before.pop()
        last = each.end_point.row - (each.end_point.column == 0)
        above = before[-1] if before else None
        if last < row - 1 or (
            above is not None and above.end_point.row == each.start_point.row and above.end_point.column > 0
        ):
            break
        row = each.start_point.row
    return row
