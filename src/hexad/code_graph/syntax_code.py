"""Code of the extra's languages, read from trees of syntax: what a text defines, imports and uses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hexad.code_graph.facts import SELF, SUPER, UNKNOWN, FileFacts, ImportFact, SymbolFact, UseFact
from hexad.ingest.sources.formats.syntax import (
    CONTAINERS,
    DefinitionNode,
    definition_nodes,
    matches,
    name_in,
    syntax_tree,
)

if TYPE_CHECKING:
    from tree_sitter import Node

# Nodes of all languages by what they are; where a name is shared it means the same.
_MEMBERS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "member_expression": (("object",), "property"),
    "nested_identifier": (("object", "module"), "property"),
    "nested_type_identifier": (("module",), "name"),
    "selector_expression": (("operand",), "field"),
    "qualified_type": (("package",), "name"),
    "field_expression": (("value", "argument"), "field"),
    "field_access": (("object",), "field"),
    "scoped_identifier": (("path", "scope"), "name"),
    "scoped_type_identifier": (("path", "scope"), "name"),
    "qualified_identifier": (("scope",), "name"),
}
"""What has a member: the fields of what it is a member of, and that of its name."""
_CALLS: Final = {"call_expression": "function", "macro_invocation": "macro"}
_INSTANCES: Final = {
    "new_expression": ("constructor", "type"),
    "object_creation_expression": ("type",),
    "composite_literal": ("type",),
    "struct_expression": ("name",),
    "as_expression": (),
    "type_cast_expression": ("type",),
    "cast_expression": ("type",),
}
"""What makes a value of a type, and the field of the type."""
_WRAPPERS: Final = frozenset(
    "await_expression parenthesized_expression non_null_expression pointer_type reference_type type_annotation"
    " unary_expression pointer_expression try_expression generic_function template_function dynamic_type"
    " parenthesized_type type_descriptor expression_list reference_expression readonly_type".split()
)
"""What means the same as the part that has a name."""
_GENERICS: Final = frozenset({"generic_type", "template_type", "generic_type_with_turbofish"})
_APPLIED: Final = frozenset(
    {"template_function", "template_method", "template_type", "generic_type", "generic_function"}
)
"""A name with arguments that are types."""
_NAMES: Final = frozenset(
    "identifier type_identifier property_identifier field_identifier package_identifier namespace_identifier"
    " private_property_identifier shorthand_property_identifier statement_identifier crate super self this".split()
)
_HOLDERS: Final = frozenset(
    "Promise Option Result Box Arc Rc RefCell Optional unique_ptr shared_ptr Readonly Partial".split()
)
"""Types of which the first argument says what the value is."""
_PASSES: Final = frozenset(
    "unwrap expect clone as_ref as_mut borrow borrow_mut get_mut lock to_owned".split()
)
"""Methods that give what they are called on."""
_IMPLICIT: Final = frozenset({"java", "cpp", "c"})
"""Languages in which a name inside of a class may be a member of it."""
_SHARED: Final = frozenset({"go", "java", "c", "cpp"})
"""Languages in which a name may be defined in another file without an import of it."""
_EVERYWHERE: Final = frozenset(
    "toString push pop shift map filter forEach reduce find some every join split slice splice concat includes indexOf"
    " replace trim keys values entries get set has add delete then catch finally bind call apply on emit log warn error"
    " info debug equals hashCode size isEmpty stream collect append insert remove contains iter into_iter next len"
    " is_empty is_some is_none ok map_err and_then unwrap_or to_string as_str begin end push_back emplace_back c_str"
    " length clear find_all test exec match write read close open start stop run Error String Close Read Write Lock"
    " Unlock Add Done Wait Printf Println Errorf Fatalf Run Helper Fatal Sprintf".split()
)
"""Names that values of the languages and their libraries have: a call of one on an unknown value says nothing."""
_BRANCHES: Final = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"}
)
_OWN_MODULES: Final = frozenset({"crate", "super", "self"})
_PATH_JOINTS: Final = re.compile(r"[./]")
_PRIMITIVE: Final = re.compile(r"[iuf]\d+|[iu]size|str|char|bool")
"""Types of Rust that are called like modules."""
_SIGNATURE_LONGEST: Final = 300
_DEEPEST: Final = 40


@dataclass(slots=True)
class _OpenDefinition:
    end: int
    qualified: str = ""
    owner: str = ""
    types: dict[str, str] = field(default_factory=dict)


class _Ranges:
    """Stretches of a text, added in their order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, node: Node) -> None:
        at = bisect_right(self._starts, node.start_byte)
        self._starts.insert(at, node.start_byte)
        self._ends.insert(at, node.end_byte)

    def covers(self, node: Node) -> bool:
        at = bisect_right(self._starts, node.start_byte) - 1
        return at >= 0 and node.start_byte < self._ends[at]


def read_syntax(text: str, language: str) -> FileFacts:
    """Return what a text says; of what does not parse, the parts that do, and `problem` names the line."""
    lines = text.count("\n") + (not text.endswith("\n"))
    tree = syntax_tree(text, language)
    if tree is None:
        return FileFacts(language=language, lines=lines, problem="it does not parse")
    family = "cpp" if "cpp" in tree.grammar.queries else language
    reader = _SyntaxReader(family)
    reader.read(definition_nodes(tree), [captures for _, captures in matches(tree, "uses")])
    return reader.facts(language, lines, tree.problem)


class _SyntaxReader:
    def __init__(self, language: str) -> None:
        self._language = language
        self._symbols: dict[str, SymbolFact] = {}
        self._imports: dict[ImportFact, None] = {}
        self._uses: dict[tuple[str, str, str], list[int]] = {}
        self._bases: dict[str, list[str]] = {}
        self._attributes: dict[str, dict[str, str]] = {}
        self._package = ""
        self._names_at: set[int] = set()
        """Where names are declared: these are no uses."""
        self._defined_at: set[int] = set()
        """Those that are of symbols."""
        self._known: set[str] = set()
        self._is_open = language in _SHARED
        """Whether names may mean what neither is defined here nor imported by name."""
        self._packages: dict[str, ImportFact] = {}
        """Of Go: a package's name in the file → its import."""
        self._stack: list[_OpenDefinition] = [_OpenDefinition(1 << 62)]

    def facts(self, language: str, lines: int, problem: str) -> FileFacts:
        return FileFacts(
            language=language,
            lines=lines,
            symbols=tuple(self._symbols.values()),
            imports=tuple(self._imports),
            uses=tuple(
                UseFact(symbol, chain, kind, line, count)
                for (symbol, chain, kind), (line, count) in self._uses.items()
            ),
            bases={name: tuple(dict.fromkeys(chains)) for name, chains in self._bases.items()},
            attributes={name: of for name, of in self._attributes.items() if of},
            package=self._package,
            problem=problem,
        )

    def read(self, definitions: Sequence[DefinitionNode], found: Sequence[dict[str, list[Node]]]) -> None:
        """Take in what the queries found: first all that has a name, then what is used, in the order of the text."""
        places = self._define_all(definitions)
        unused = _Ranges()
        for captures in found:
            for node in captures.get("import", ()):
                self._imports.update(dict.fromkeys(_IMPORTS[self._language](node)))
                if node.type not in ("export_statement", "call_expression", "identifier"):
                    unused.add(node)
            for node in captures.get("package", ()):
                self._package = _text(node)
                unused.add(node)
            self._names_at.update(node.start_byte for node in captures.get("key", ()))
        self._bind()
        events: list[tuple[int, int, str, Node, dict[str, list[Node]]]] = []
        for captures in found:
            for role, place in (("base", 1), ("field", 1), ("local", 2), ("call", 3), ("name", 4)):
                events += [
                    (node.start_byte, place, role, node, captures)
                    for node in captures.get(role, ())
                    if role != "name" or not unused.covers(node)
                ]
        events += [(node.start_byte, 0, "", node, {}) for node, *_ in places.values()]
        events.sort(key=lambda event: (event[0], event[1], -event[3].end_byte))
        for start, _, role, node, captures in events:
            while start >= self._stack[-1].end:
                self._stack.pop()
            if not role:
                self._enter(node, *places[node.id][1:])
            else:
                _ROLES[role](self, node, captures)

    # Definitions --------------------------------------------------------------------------------------------------

    def _define_all(self, definitions: Sequence[DefinitionNode]) -> dict[int, tuple[Node, str, str]]:
        """Return the scopes that the definitions open: node, qualified name, the class that it is or is a method of."""
        places: dict[int, tuple[Node, str, str]] = {}
        open_scopes: list[tuple[int, str, str, str]] = [(1 << 62, "", "", "")]
        for each in definitions:
            self._note_name(each.name_node)
            self._defined_at.add(each.name_node.start_byte)
            while each.node.start_byte >= open_scopes[-1][0]:
                open_scopes.pop()
            _, outer, outer_kind, outer_owner = open_scopes[-1]
            owner = name_in(each.owner) if each.owner is not None else ""
            qualified = ".".join(filter(None, (outer, owner, each.name)))
            kind = each.kind
            if kind in CONTAINERS and kind != "namespace":
                owner = qualified
                self._bases.setdefault(qualified, [])
            elif kind in ("function", "method"):
                is_inside = outer_kind in CONTAINERS and outer_kind != "namespace"
                if owner or is_inside or ("." in each.name and kind == "function"):
                    kind, owner = "method", qualified.rpartition(".")[0]
                    self._bases.setdefault(owner, [])
                else:
                    kind, owner = "function", outer_owner
            if kind != "extension" and (
                qualified not in self._symbols or self._symbols[qualified].kind == "constant"
            ):
                self._symbols[qualified] = SymbolFact(
                    qualified,
                    kind,
                    each.node.start_point.row + 1,
                    each.node.end_point.row + (each.node.end_point.column > 0),
                    each.name if kind == "constant" else _signature(each.node),
                )
            if each.node.id not in places:
                places[each.node.id] = (each.node, qualified, owner)
                open_scopes.append((each.node.end_byte, qualified, each.kind, owner))
        return places

    def _enter(self, node: Node, qualified: str, owner: str) -> None:
        scope = _OpenDefinition(node.end_byte, qualified, owner, dict(self._stack[-1].types))
        symbol = self._symbols.get(qualified)
        if self._language == "go" and (receiver := node.child_by_field_name("receiver")) is not None:
            for parameter in receiver.named_children:
                if (name := parameter.child_by_field_name("name")) is not None:
                    scope.types[_text(name)] = SELF + owner
        self._stack.append(scope)
        if symbol is not None and symbol.kind in ("function", "method") and not symbol.returns:
            function = next(filter(None, map(node.child_by_field_name, ("value", "right"))), node)
            returned = next(
                filter(None, map(function.child_by_field_name, ("return_type", "result", "type"))), None
            )
            if returned is not None and (chain := self._instance(returned)):
                self._symbols[qualified] = symbol._replace(returns=chain)

    def _bind(self) -> None:
        for imported in self._imports:  # what is bound by an import is no constant of its own
            symbol = self._symbols.get(imported.alias)
            if symbol is not None and symbol.kind == "constant":
                del self._symbols[imported.alias]
        self._known = {symbol.partition(".")[0] for symbol in self._symbols}
        for imported in self._imports:
            if self._language == "go":
                name = imported.alias or _go_package(imported.module)
                self._packages[name] = imported
            elif imported.name != "*":
                self._known.add(imported.alias or imported.name or imported.module.rpartition("/")[2])
        self._is_open |= self._language == "rust" and any(
            each.name == "*" and each.module != "self" for each in self._imports
        )
        if self._language == "go":
            named = ("_", ".")
            self._imports = {
                each._replace(name="*" if each.alias in named else "", alias=""): None
                for each in self._imports
            }

    # What is used -------------------------------------------------------------------------------------------------

    def _base(self, node: Node, _: dict[str, list[Node]]) -> None:
        owner = self._stack[-1].owner
        chain = self._chain(node)
        if owner and chain and chain[0] not in UNKNOWN + SELF + SUPER and node.type != "access_specifier":
            self._bases.setdefault(owner, []).append(chain)

    def _field(self, node: Node, captures: dict[str, list[Node]]) -> None:
        owner, chain = self._stack[-1].owner, self._value(captures)
        self._note_name(node)
        if owner and chain and chain[0] != UNKNOWN:
            self._attributes.setdefault(owner, {}).setdefault(name_in(node), chain)

    def _local(self, node: Node, captures: dict[str, list[Node]]) -> None:
        scope, name, chain = self._stack[-1], name_in(node), self._value(captures)
        symbol = self._symbols.get(scope.qualified)
        if (
            symbol is not None
            and symbol.kind == "constant"
            and symbol.name == name
            and symbol.name != scope.owner
        ):
            if chain and chain[0] not in UNKNOWN and not symbol.returns:
                self._symbols[scope.qualified] = symbol._replace(returns=chain)
        elif scope.qualified and name and node.start_byte not in self._defined_at:
            if chain or name not in scope.types:
                scope.types[name] = chain or UNKNOWN
            self._note_name(node)

    def _note_name(self, node: Node | None) -> None:
        """Remember that a name stands here because it is declared."""
        while node is not None:
            self._names_at.add(node.start_byte)
            is_reference = node.type == "reference_declarator"
            node = node.named_child(0) if is_reference else node.child_by_field_name("declarator")

    def _value(self, captures: dict[str, list[Node]]) -> str | None:
        if "type" in captures and _text(captures["type"][0]) not in ("var", "auto"):
            return self._instance(captures["type"][0])
        return self._chain(captures["value"][0]) if "value" in captures else None

    def _call(self, node: Node, _: dict[str, list[Node]]) -> None:
        chain = self._chain(node)
        if chain is not None and not ("." in chain and chain.rpartition(".")[2] in _PASSES):
            self._count(chain, "calls", node)

    def _mention(self, node: Node, _: dict[str, list[Node]]) -> None:
        if node.start_byte in self._names_at or _text(node) in ("var", "_"):
            return
        whole = node
        parent = whole.parent
        while parent is not None and (parent.type in _MEMBERS or parent.type in _APPLIED):
            heads = _MEMBERS[parent.type][0] if parent.type in _MEMBERS else ("name", "function", "type")
            if parent.type in _APPLIED and parent.named_child(0) != whole:
                break
            if parent.type in _MEMBERS and not any(
                parent.child_by_field_name(head) == whole for head in heads
            ):
                return  # a member of what was looked at already
            whole, parent = parent, parent.parent
        if parent is None or parent.type in ("import_specifier", "export_specifier", "labeled_statement"):
            return
        if parent.type in _CALLS and parent.child_by_field_name(_CALLS[parent.type]) == whole:
            return
        if parent.type == "method_invocation" or (
            parent.type in _INSTANCES
            and any(parent.child_by_field_name(name) == whole for name in ("constructor", "type"))
        ):
            return
        self._count(self._chain(whole), "references", whole)

    def _count(self, chain: str | None, kind: str, node: Node) -> None:
        if not chain or chain == UNKNOWN or chain.endswith("()"):
            return
        head, dot, _ = chain.partition(".")
        if head == UNKNOWN:
            name = chain.rpartition(".")[2]
            if kind != "calls" or name in _EVERYWHERE:
                return
            chain = f"{UNKNOWN}.{name}"
        elif head[0] in SELF + SUPER:
            if not dot:
                return
        elif "/" not in head and head.removesuffix("()") not in self._known and not self._is_open:
            return
        key = (self._stack[-1].qualified, chain, kind)
        entry = self._uses.get(key)
        if entry is None:
            self._uses[key] = [node.start_point.row + 1, 1]
        else:
            entry[1] += 1

    # Names --------------------------------------------------------------------------------------------------------

    def _chain(self, node: Node | None, depth: int = 0) -> str | None:
        """Return how an expression is named, None where it has no name."""
        if node is None or depth > _DEEPEST:
            return None
        kind = node.type
        if kind in _MEMBERS:
            heads, last = _MEMBERS[kind]
            head = next(filter(None, map(node.child_by_field_name, heads)), None)
            return self._of_member(head, node.child_by_field_name(last), depth)
        if kind == "method_invocation":
            return self._of_member(
                node.child_by_field_name("object"), node.child_by_field_name("name"), depth
            )
        if kind in _CALLS:
            called = self._chain(node.child_by_field_name(_CALLS[kind]), depth + 1)
            if called is None or called[0] == UNKNOWN:
                return None
            rest, _, last = called.rpartition(".")
            return rest if rest and last in _PASSES else called + "()"
        if kind in _INSTANCES:
            of = next(filter(None, map(node.child_by_field_name, _INSTANCES[kind])), None)
            return self._instance(of or node.named_child(node.named_child_count - 1))
        if kind in _GENERICS:
            return self._chain(
                node.child_by_field_name("name") or node.child_by_field_name("type") or node.named_child(0)
            )
        if kind in _WRAPPERS:
            if kind not in ("generic_function", "template_function"):
                return self._chain(
                    node.named_child(node.named_child_count - 1 if kind == "reference_type" else 0), depth + 1
                )
            inner = node.child_by_field_name("function") or node.child_by_field_name("name")
            return self._chain(inner, depth + 1)
        return self._named(_text(node)) if kind in _NAMES and node.end_byte > node.start_byte else None

    def _of_member(self, head: Node | None, last: Node | None, depth: int) -> str | None:
        if last is None or last.end_byte == last.start_byte:  # the second stands for what is missing
            return None
        if last.type in (
            "template_function",
            "template_type",
            "template_method",
            "qualified_identifier",
            "dependent_name",
        ):
            name = name_in(last)
        else:
            name = _text(last).lstrip("#")
        if head is None:
            return self._named(name)
        value = _text(head) if head.type == "namespace_identifier" else self._chain(head, depth + 1)
        if head.type == "method_invocation" and value is not None and value[0] != UNKNOWN:
            value += "()"
        if value is not None and value in self._packages and value not in self._stack[-1].types:
            imported = self._packages[value]
            self._imports.setdefault(ImportFact(imported.module, name, f"{value}/{name}", imported.line))
            return f"{value}/{name}"
        if value is not None and self._language == "rust" and self._is_path(value, last):
            module = value.replace(".", "/")
            if set(module.split("/")) <= _OWN_MODULES:  # nothing of it was read as seen from the top yet
                if name in _OWN_MODULES:
                    return f"{value}.{name}"
                module = _from_top(last, module)
            self._imports.setdefault(ImportFact(module, name, f"{module}/{name}", last.start_point.row + 1))
            return f"{module}/{name}" if self._is_type(name, last) else f"{module}.{name}"
        return f"{value or UNKNOWN}.{name}"

    def _is_path(self, value: str, last: Node) -> bool:
        """Whether what stands before a name of Rust leads to a module, of this crate or of one that needs no `use`."""
        head = _PATH_JOINTS.split(value, maxsplit=1)[0]
        if head in _OWN_MODULES:
            return True
        is_written_so = last.parent is not None and last.parent.type.startswith("scoped_")
        return (
            is_written_so
            and head[:1].islower()
            and head not in self._known
            and not _PRIMITIVE.fullmatch(head)
        )

    @staticmethod
    def _is_type(name: str, last: Node) -> bool:
        """Whether a path of Rust ends here, or goes on with what a type has."""
        outer = last.parent.parent if last.parent is not None else None
        return name[:1].isupper() or outer is None or outer.type not in _MEMBERS

    def _named(self, name: str) -> str | None:
        scope = self._stack[-1]
        if name in ("this", "self") or (name == "Self" and self._language == "rust"):
            if not scope.owner:
                return name if name == "self" else None
            return scope.owner if name == "Self" else SELF + scope.owner
        if name == "super" and self._language != "rust":
            return SUPER + scope.owner if scope.owner else None
        local = scope.types.get(name)
        if local is not None:
            return local
        outer = scope.qualified
        while outer:
            inside = f"{outer}.{name}"
            if outer in self._bases and outer.rpartition(".")[2] == name:
                return outer
            if inside in self._symbols:
                symbol = self._symbols.get(outer)
                if symbol is None or outer not in self._bases or symbol.kind == "enum":
                    return inside
                if self._language in _IMPLICIT:
                    return f"{SELF}{outer}.{name}"
            outer = outer.rpartition(".")[0]
        if (
            self._language in _IMPLICIT
            and scope.owner in self._bases
            and name not in self._known
            and name[:1].islower()
        ):
            return f"{SELF}{scope.owner}.{name}"
        return name

    def _instance(self, node: Node | None) -> str | None:
        """Return the chain of a value of a type, None where it does not say one class."""
        if node is None:
            return None
        if node.type == "parameter_list":  # what a function of Go gives
            first = node.named_child(0)
            return self._instance(first.child_by_field_name("type") if first is not None else None)
        if node.type in ("union_type", "intersection_type"):
            return None
        if node.type in ("type_annotation", "pointer_type", "reference_type", "type_descriptor"):
            return self._instance(node.named_child(node.named_child_count - 1))
        if node.type == "qualified_identifier":
            last = node.child_by_field_name("name")
            if last is not None and last.type in _GENERICS and name_in(last) in _HOLDERS:
                return self._instance(last)
        if node.type in _GENERICS:
            name = node.child_by_field_name("name") or node.child_by_field_name("type") or node.named_child(0)
            arguments = next((each for each in node.named_children if each.type.endswith("arguments")), None)
            arguments = arguments or node.child_by_field_name("arguments")
            if name is not None and arguments is not None and name_in(name).rpartition(".")[2] in _HOLDERS:
                return self._instance(arguments.named_child(0))
            return self._instance(name)
        if node.type == "struct_specifier":
            return self._instance(node.child_by_field_name("name"))
        chain = self._chain(node)
        if chain is None or chain[0] in UNKNOWN:
            return None
        return chain if chain[0] == SELF or chain.endswith("()") else chain + "()"


_ROLES: Final[Mapping[str, Callable[[_SyntaxReader, Node, dict[str, list[Node]]], None]]] = {
    "base": _SyntaxReader._base,
    "field": _SyntaxReader._field,
    "local": _SyntaxReader._local,
    "call": _SyntaxReader._call,
    "name": _SyntaxReader._mention,
}


def _text(node: Node | None) -> str:
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def _signature(node: Node) -> str:
    """Return what stands before a definition's body; what parameters are by default is left out."""
    if node.type in ("preproc_function_def", "macro_definition", "type_alias_declaration", "type_item"):
        return _short(_text(node).partition("\n")[0].partition("=")[0].partition("{")[0])
    data, start = node.text or b"", node.start_byte
    function = next(filter(None, map(node.child_by_field_name, ("value", "right"))), node)
    body = function.child_by_field_name("body") or node.child_by_field_name("type")
    is_type = node.type in ("type_spec", "type_alias")
    if node.type == "function_definition" or (
        body is not None and not is_type and body.end_byte < node.end_byte - 1
    ):
        body = function.child_by_field_name("body") or node.child_by_field_name("body")
    end = node.end_byte if body is None or body.start_byte <= start else body.start_byte
    cuts = sorted(_defaults(function))
    shown, at = b"", start
    for first, last in cuts:
        if at <= first and last <= end:
            shown += data[at - start : first - start] + "…".encode()
            at = last
    shown += data[at - start : end - start]
    return _short(shown.decode("utf-8", "replace").rstrip("{ \n\t;").removesuffix("=>").rstrip("= \n\t"))


def _defaults(node: Node) -> Iterator[tuple[int, int]]:
    parameters = node.child_by_field_name("parameters")
    declarator = node.child_by_field_name("declarator")
    while parameters is None and declarator is not None:
        parameters = declarator.child_by_field_name("parameters")
        declarator = declarator.child_by_field_name("declarator")
    for parameter in parameters.named_children if parameters is not None else ():
        for name in ("value", "right", "default_value"):
            if (value := parameter.child_by_field_name(name)) is not None:
                yield value.start_byte, value.end_byte


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SIGNATURE_LONGEST else line[: _SIGNATURE_LONGEST - 1] + "…"


# Imports, as each language writes them ----------------------------------------------------------------------------


def _string(node: Node | None) -> str:
    return _text(node).strip("\"'`<>")


def _script_imports(node: Node) -> Iterator[ImportFact]:
    if node.type == "identifier":  # module.exports = NAME
        yield ImportFact("", _text(node), "default", node.start_point.row + 1)
    elif node.type == "call_expression":
        yield from _required(node)
    elif node.type == "export_statement" and (default := _exported_default(node)):
        yield ImportFact("", default, "default", node.start_point.row + 1)
    else:
        yield from _script_clauses(node)


def _required(node: Node) -> Iterator[ImportFact]:
    """Give what `require(…)` and `import(…)` bind where they are assigned."""
    line = node.start_point.row + 1
    arguments = node.child_by_field_name("arguments")
    module = _string(arguments.named_child(0) if arguments is not None else None)
    declared = node.parent
    while declared is not None and declared.type in ("await_expression", "member_expression"):
        declared = declared.parent
    name = declared.child_by_field_name("name") if declared is not None else None
    if name is not None and name.type == "identifier":
        yield ImportFact(module, "", _text(name), line)
    elif name is not None and name.type == "object_pattern":
        for each in name.named_children:
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            yield ImportFact(module, _text(key or each), _text(value or each), line)
    else:
        yield ImportFact(module, "", "", line)


def _exported_default(node: Node) -> str:
    """Return the name of what a file exports as a whole, empty where it exports nothing so, or what has no name."""
    if not any(child.type == "default" for child in node.children):
        return ""
    default = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    if default is None or default.type == "identifier":
        return _text(default)
    return _text(default.child_by_field_name("name"))


def _script_clauses(node: Node) -> Iterator[ImportFact]:
    line, source = node.start_point.row + 1, node.child_by_field_name("source")
    module = _string(source)
    clauses = [child for child in node.named_children if child.type.endswith(("clause", "_export"))]
    if not clauses and source is not None:
        yield ImportFact(module, "*" if node.type == "export_statement" else "", "", line)
    for clause in clauses:
        if clause.type == "import_require_clause":
            inner = _string(clause.child_by_field_name("source"))
            yield ImportFact(inner, "", _text(clause.named_child(0)), line)
        elif clause.type == "namespace_export":
            yield ImportFact(module, "", _text(clause.named_child(0)), line)
        elif clause.type == "export_clause":
            yield from _specifiers(clause, module, line)
        else:
            yield from _imported_names(clause, module, line)


def _imported_names(clause: Node, module: str, line: int) -> Iterator[ImportFact]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield ImportFact(module, "default", _text(part), line)
        elif part.type == "namespace_import":
            yield ImportFact(module, "", _text(part.named_child(0)), line)
        else:
            yield from _specifiers(part, module, line)


def _specifiers(node: Node, module: str, line: int) -> Iterator[ImportFact]:
    for each in node.named_children:
        parts = [_string(child) for child in each.named_children] or ["default"]
        name = each.child_by_field_name("name")
        yield ImportFact(module, _string(name) if name is not None else "default", parts[-1], line)


def _go_imports(node: Node) -> Iterator[ImportFact]:
    name = node.child_by_field_name("name")
    yield ImportFact(_string(node.child_by_field_name("path")), "", _text(name), node.start_point.row + 1)


def _go_package(path: str) -> str:
    """Return how a package is called in the code, by its path: without a version and what says that it is of Go."""
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit() else parts[-1]
    return last.partition(".")[0].removeprefix("go-").removesuffix("-go").replace("-", "_")


def _rust_imports(node: Node) -> Iterator[ImportFact]:
    for imported in _rust_uses(node):
        yield imported._replace(module=_from_top(node, imported.module))


def _from_top(node: Node, path: str) -> str:
    """Return a path as it would be written at the top of its file: `super` leads out of `mod tests { … }` first."""
    inner: list[str] = []
    above = node.parent
    while above is not None:
        if above.type == "mod_item" and above.child_by_field_name("body") is not None:
            inner.insert(0, _text(above.child_by_field_name("name")))
        above = above.parent
    parts = path.split("/")
    if not inner or parts[0] not in ("self", "super"):
        return path
    ups = next((at for at, part in enumerate(parts) if part != "super"), len(parts))
    left = inner[: max(len(inner) - ups, 0)]
    head = ["super"] * (ups - len(inner)) if ups > len(inner) else ["self", *left]
    return "/".join([*head, *parts[max(ups, 1) if parts[0] == "self" else ups :]])


def _rust_uses(node: Node, before: str = "") -> Iterator[ImportFact]:
    line = node.start_point.row + 1
    if node.parent is not None and node.parent.type == "mod_item":
        yield ImportFact("self", _text(node), _text(node), line)
    elif node.type in ("scoped_use_list", "use_list"):
        inside = _joined(before, node.child_by_field_name("path"))
        items = node.child_by_field_name("list") or node
        for each in items.named_children:
            yield from _rust_uses(each, inside)
    elif node.type == "use_as_clause":
        path = _joined(before, node.child_by_field_name("path"))
        module, _, name = path.rpartition("/")
        yield ImportFact(module, name, _text(node.child_by_field_name("alias")), line)
    elif node.type == "use_wildcard":
        yield ImportFact(
            _joined(before, node.named_child(0) if node.named_child_count else None), "*", "", line
        )
    elif node.type == "self" and before:
        module, _, name = before.rpartition("/")
        yield ImportFact(module, name, name, line)
    elif node.type in ("scoped_identifier", "identifier", "crate", "super"):
        module, _, name = _joined(before, node).rpartition("/")
        yield ImportFact(module, name, name, line)


def _joined(before: str, node: Node | None) -> str:
    return "/".join(filter(None, (before, _text(node).replace(" ", "").replace("::", "/").strip("/"))))


def _java_imports(node: Node) -> Iterator[ImportFact]:
    name, line = _text(node.named_child(0)), node.start_point.row + 1
    if any(child.type == "asterisk" for child in node.children):
        yield ImportFact(name, "*", "", line)
    else:
        module, _, last = name.rpartition(".")
        yield ImportFact(module, last, last, line)


def _c_imports(node: Node) -> Iterator[ImportFact]:
    if node.type in ("string_literal", "system_lib_string"):
        kind = "<" if node.type == "system_lib_string" else ""
        yield ImportFact(
            kind + _string(node), "", "", node.start_point.row + 1, is_conditional=_is_conditional(node)
        )


def _is_conditional(node: Node) -> bool:
    """Whether something of C stands between `#if` and `#endif`, of what guards a file from a second include apart."""
    above = node.parent
    while above is not None:
        if above.type in _BRANCHES and not _is_guard(above):
            return True
        above = above.parent
    return False


def _is_guard(branch: Node) -> bool:
    """Whether a branch is `#ifndef NAME` or `#if !defined(NAME)` and first defines that name."""
    asked = branch.child_by_field_name("name") or branch.child_by_field_name("condition")
    first = next(
        (each for each in branch.named_children if each not in (asked,) and each.type != "comment"), None
    )
    if asked is None or first is None or first.type != "preproc_def":
        return False
    written = "".join(_text(asked).split())
    is_negated = branch.children[0].type == "#ifndef" or written.startswith("!defined")
    return is_negated and written.removeprefix("!defined").strip("()") == _text(
        first.child_by_field_name("name")
    )


_IMPORTS: Final[Mapping[str, Callable[[Node], Iterator[ImportFact]]]] = {
    "javascript": _script_imports,
    "typescript": _script_imports,
    "go": _go_imports,
    "rust": _rust_imports,
    "java": _java_imports,
    "c": _c_imports,
    "cpp": _c_imports,
}
