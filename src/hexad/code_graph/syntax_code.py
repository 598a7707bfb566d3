"""Code of the extra's languages, read from trees of syntax: what a text defines, imports and uses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hexad.code_graph.facts import SELF, SUPER, UNKNOWN, FileFacts, ImportFact, SymbolFact, UseFact
from hexad.code_graph.syntax_imports import DEEPEST, IMPORTS, from_top, go_package, text_of
from hexad.ingest.sources.formats.syntax import (
    CONTAINERS,
    DefinitionNode,
    Parents,
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
_GIVING: Final = frozenset({*_CALLS, "method_invocation"})
"""Calls, of which what they give is said elsewhere."""
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
_OWN_MODULES: Final = frozenset({"crate", "super", "self"})
_TOOLS: Final = frozenset({"rustfmt", "clippy", "diagnostic", "miri", "rust_analyzer"})
"""What attributes of Rust are for that no crate defines: `#[rustfmt::skip]`."""
_PATH_JOINTS: Final = re.compile(r"[./]")
_PRIMITIVE: Final = re.compile(r"[iuf]\d+|[iu]size|str|char|bool")
"""Types of Rust that are called like modules."""
_SIGNATURE_LONGEST: Final = 300


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
    reader = _SyntaxReader(family, tree.data, Parents(tree.root))
    reader.read(definition_nodes(tree), [captures for _, captures in matches(tree, "uses")])
    return reader.facts(language, lines, tree.problem)


class _SyntaxReader:
    def __init__(self, language: str, data: bytes, parents: Parents) -> None:
        self._language, self._data, self._parents = language, data, parents
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
        self._typed_at: set[int] = set()
        """Those of values of which a type is declared that names a class."""
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
                self._imports.update(dict.fromkeys(IMPORTS[self._language](node, self._parents)))
                if node.type not in ("export_statement", "call_expression", "identifier"):
                    unused.add(node)
            for node in captures.get("package", ()):
                self._package = text_of(node)
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
        open_scopes: list[tuple[int, str, str]] = [(1 << 62, "", "")]
        for each in definitions:
            self._note_name(each.name_node)
            self._defined_at.add(each.name_node.start_byte)
            while each.node.start_byte >= open_scopes[-1][0]:
                open_scopes.pop()
            if len(open_scopes) > DEEPEST:
                continue
            _, outer, outer_owner = open_scopes[-1]
            owner = name_in(each.owner) if each.owner is not None else ""
            qualified = ".".join(filter(None, (outer, owner, each.name)))
            kind, value = each.kind, ""
            if kind in CONTAINERS and kind != "namespace":
                owner = qualified
                self._bases.setdefault(qualified, [])
            elif each.node.type == "enum_constant":
                if each.node.child_by_field_name("body") is None:
                    value = f"{outer}()"
                else:  # a class of its own that extends the enum
                    owner = qualified
                    self._bases[qualified] = [outer]
            elif kind in ("function", "method"):
                is_inside = outer != "" and outer == outer_owner
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
                    each.name if kind == "constant" else _signature(each.node, self._data),
                    value,
                )
            if each.node.id not in places:
                places[each.node.id] = (each.node, qualified, owner)
                open_scopes.append((each.node.end_byte, qualified, owner))
        return places

    def _enter(self, node: Node, qualified: str, owner: str) -> None:
        scope = _OpenDefinition(node.end_byte, qualified, owner, dict(self._stack[-1].types))
        symbol = self._symbols.get(qualified)
        if self._language == "go" and (receiver := node.child_by_field_name("receiver")) is not None:
            for parameter in receiver.named_children:
                if (name := parameter.child_by_field_name("name")) is not None:
                    scope.types[text_of(name)] = SELF + owner
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
                name = imported.alias or go_package(imported.module)
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
            # What a call gives is known only where its definition is found; the declared type is there to read.
            is_kept = node.start_byte in self._typed_at and (
                "value" in captures and captures["value"][0].type in _GIVING
            )
            if not is_kept and (chain or name not in scope.types):
                scope.types[name] = chain or UNKNOWN
            if chain and "type" in captures and self._language in _IMPLICIT:
                self._typed_at.add(node.start_byte)
            self._note_name(node)

    def _note_name(self, node: Node | None) -> None:
        """Remember that a name stands here because it is declared."""
        while node is not None:
            self._names_at.add(node.start_byte)
            is_reference = node.type == "reference_declarator"
            node = node.named_child(0) if is_reference else node.child_by_field_name("declarator")

    def _value(self, captures: dict[str, list[Node]]) -> str | None:
        if "type" in captures and text_of(captures["type"][0]) not in ("var", "auto"):
            return self._instance(captures["type"][0])
        if "value" not in captures:
            return None
        value = captures["value"][0]
        chain = self._chain(value)
        # The chain of a call of Java is that of what is called.
        return f"{chain}()" if chain is not None and value.type == "method_invocation" else chain

    def _call(self, node: Node, _: dict[str, list[Node]]) -> None:
        chain = self._chain(node)
        if chain is not None and not ("." in chain and chain.rpartition(".")[2] in _PASSES):
            self._count(chain, "calls", node)

    def _mention(self, node: Node, _: dict[str, list[Node]]) -> None:
        if node.start_byte in self._names_at or text_of(node) in ("var", "_"):
            return
        whole = node
        parent = self._parents.of(whole)
        while parent is not None and (parent.type in _MEMBERS or parent.type in _APPLIED):
            heads = _MEMBERS[parent.type][0] if parent.type in _MEMBERS else ("name", "function", "type")
            if parent.type in _APPLIED and parent.named_child(0) != whole:
                break
            if parent.type in _MEMBERS and not any(
                parent.child_by_field_name(head) == whole for head in heads
            ):
                return  # a member of what was looked at already
            whole, parent = parent, self._parents.of(parent)
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
        if node is None or depth > DEEPEST:
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
        return self._named(text_of(node)) if kind in _NAMES and node.end_byte > node.start_byte else None

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
            name = text_of(last).lstrip("#")
        if head is None:
            return self._named(name)
        value = text_of(head) if head.type == "namespace_identifier" else self._chain(head, depth + 1)
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
                module = from_top(last, module, self._parents)
            self._imports.setdefault(ImportFact(module, name, f"{module}/{name}", last.start_point.row + 1))
            return f"{module}/{name}" if self._is_type(name, last) else f"{module}.{name}"
        return f"{value or UNKNOWN}.{name}"

    def _is_path(self, value: str, last: Node) -> bool:
        """Whether what stands before a name of Rust leads to a module, of this crate or of one that needs no `use`."""
        head = _PATH_JOINTS.split(value, maxsplit=1)[0]
        if head in _OWN_MODULES:
            return True
        around = self._parents.of(last)
        is_written_so = around is not None and around.type.startswith("scoped_")
        return (
            is_written_so
            and head[:1].islower()
            and head not in _TOOLS
            and head not in self._known
            and not _PRIMITIVE.fullmatch(head)
        )

    def _is_type(self, name: str, last: Node) -> bool:
        """Whether a path of Rust ends here, or goes on with what a type has."""
        around = self._parents.of(last)
        outer = self._parents.of(around) if around is not None else None
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


def _signature(node: Node, data: bytes) -> str:
    """Return what stands before a definition's body; what parameters are by default is left out."""
    if node.type in ("preproc_function_def", "macro_definition", "type_alias_declaration", "type_item"):
        return _short(text_of(node).partition("\n")[0].partition("=")[0].partition("{")[0])
    start = node.start_byte
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
            shown += data[at:first] + "…".encode()
            at = last
    shown += data[at:end]
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
