"""Imports as the extra's languages write them, read from trees of syntax."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from hexad.code_graph.facts import ImportFact
from hexad.code_graph.imports.rust import MOVED
from hexad.ingest.sources.formats.syntax import Parents

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST: Final = 40
"""So deep in one another definitions, modules and the parts of names are told apart."""
_BRANCHES: Final = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"}
)
_FILE_OF_MODULE: Final = re.compile(
    r'#\s*+\[\s*+(?P<condition>cfg_attr\s*+\(.*,\s*+)?path\s*+=\s*+"(?P<path>[^"\n]++)"', re.DOTALL
)


def text_of(node: Node | None) -> str:
    """Return what a node has in the text; nothing where there is none."""
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")


def _string(node: Node | None) -> str:
    return text_of(node).strip("\"'`<>")


def _script_imports(node: Node, parents: Parents) -> Iterator[ImportFact]:
    if node.type == "identifier":  # module.exports = NAME
        yield ImportFact("", text_of(node), "default", node.start_point.row + 1)
    elif node.type == "call_expression":
        yield from _required(node, parents)
    elif node.type == "export_statement" and (default := _exported_default(node)):
        yield ImportFact("", default, "default", node.start_point.row + 1)
    else:
        yield from _script_clauses(node)


def _required(node: Node, parents: Parents) -> Iterator[ImportFact]:
    """Give what `require(…)` and `import(…)` bind where they are assigned."""
    line = node.start_point.row + 1
    arguments = node.child_by_field_name("arguments")
    module = _string(arguments.named_child(0) if arguments is not None else None)
    declared = parents.of(node)
    while declared is not None and declared.type in ("await_expression", "member_expression"):
        declared = parents.of(declared)
    name = declared.child_by_field_name("name") if declared is not None else None
    if name is not None and name.type == "identifier":
        yield ImportFact(module, "", text_of(name), line)
    elif name is not None and name.type == "object_pattern":
        for each in name.named_children:
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            yield ImportFact(module, text_of(key or each), text_of(value or each), line)
    else:
        yield ImportFact(module, "", "", line)


def _exported_default(node: Node) -> str:
    """Return the name of what a file exports as a whole, empty where it exports nothing so, or what has no name."""
    if not any(child.type == "default" for child in node.children):
        return ""
    default = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    if default is None or default.type == "identifier":
        return text_of(default)
    return text_of(default.child_by_field_name("name"))


def _script_clauses(node: Node) -> Iterator[ImportFact]:
    line, source = node.start_point.row + 1, node.child_by_field_name("source")
    module = _string(source)
    clauses = [child for child in node.named_children if child.type.endswith(("clause", "_export"))]
    if not clauses and source is not None:
        yield ImportFact(module, "*" if node.type == "export_statement" else "", "", line)
    for clause in clauses:
        if clause.type == "import_require_clause":
            inner = _string(clause.child_by_field_name("source"))
            yield ImportFact(inner, "", text_of(clause.named_child(0)), line)
        elif clause.type == "namespace_export":
            yield ImportFact(module, "", text_of(clause.named_child(0)), line)
        elif clause.type == "export_clause":
            yield from _specifiers(clause, module, line)
        else:
            yield from _imported_names(clause, module, line)


def _imported_names(clause: Node, module: str, line: int) -> Iterator[ImportFact]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield ImportFact(module, "default", text_of(part), line)
        elif part.type == "namespace_import":
            yield ImportFact(module, "", text_of(part.named_child(0)), line)
        else:
            yield from _specifiers(part, module, line)


def _specifiers(node: Node, module: str, line: int) -> Iterator[ImportFact]:
    for each in node.named_children:
        parts = [_string(child) for child in each.named_children] or ["default"]
        name = each.child_by_field_name("name")
        yield ImportFact(module, _string(name) if name is not None else "default", parts[-1], line)


def _go_imports(node: Node) -> Iterator[ImportFact]:
    name = node.child_by_field_name("name")
    yield ImportFact(_string(node.child_by_field_name("path")), "", text_of(name), node.start_point.row + 1)


def go_package(path: str) -> str:
    """Return how a package is called in the code, by its path: without a version and what says that it is of Go."""
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit() else parts[-1]
    return last.partition(".")[0].removeprefix("go-").removesuffix("-go").replace("-", "_")


def _rust_imports(node: Node, parents: Parents) -> Iterator[ImportFact]:
    declared = parents.of(node)
    if declared is not None and declared.type == "mod_item":
        found: Iterator[ImportFact] = _rust_modules(node, declared, parents)
    else:
        found = _rust_uses(node)
    for imported in found:
        yield imported._replace(module=from_top(node, imported.module, parents))


def _rust_modules(name: Node, declared: Node, parents: Parents) -> Iterator[ImportFact]:
    """Give what `mod name;` may mean: files that attributes name, and one of its name where a condition may fail."""
    called, line = text_of(name), name.start_point.row + 1
    inner = "/".join(_modules_around(declared, parents))
    attributes = [each for each in parents.before(declared) if each.type == "attribute_item"]
    files = list(filter(None, (_FILE_OF_MODULE.match(text_of(each)) for each in attributes)))
    for file in files:
        yield ImportFact(f"{MOVED}{inner}{MOVED}{file['path']}", "", called, line)
    if all(file["condition"] for file in files):
        yield ImportFact("self", called, called, line)


def from_top(node: Node, path: str, parents: Parents) -> str:
    """Return a path as it would be written at the top of its file: `super` leads out of `mod tests { … }` first."""
    inner = _modules_around(node, parents)
    parts = path.split("/")
    if not inner or parts[0] not in ("self", "super"):
        return path
    ups = next((at for at, part in enumerate(parts) if part != "super"), len(parts))
    left = inner[: max(len(inner) - ups, 0)]
    head = ["super"] * (ups - len(inner)) if ups > len(inner) else ["self", *left]
    return "/".join([*head, *parts[max(ups, 1) if parts[0] == "self" else ups :]])


def _modules_around(node: Node, parents: Parents) -> list[str]:
    """Return the modules of a file of Rust that a node stands in, the outermost first."""
    inner: list[str] = []
    for above in islice(parents.around(node), DEEPEST):
        if above.type == "mod_item" and above.child_by_field_name("body") is not None:
            inner.insert(0, text_of(above.child_by_field_name("name")))
    return inner


def _rust_uses(node: Node, before: str = "", depth: int = 0) -> Iterator[ImportFact]:
    line = node.start_point.row + 1
    if node.type in ("scoped_use_list", "use_list"):
        inside = _joined(before, node.child_by_field_name("path"))
        items = node.child_by_field_name("list") or node
        for each in items.named_children if depth < DEEPEST else ():
            yield from _rust_uses(each, inside, depth + 1)
    elif node.type == "use_as_clause":
        path = _joined(before, node.child_by_field_name("path"))
        module, _, name = path.rpartition("/")
        yield ImportFact(module, name, text_of(node.child_by_field_name("alias")), line)
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
    return "/".join(filter(None, (before, text_of(node).replace(" ", "").replace("::", "/").strip("/"))))


def _java_imports(node: Node) -> Iterator[ImportFact]:
    name, line = text_of(node.named_child(0)), node.start_point.row + 1
    if any(child.type == "asterisk" for child in node.children):
        yield ImportFact(name, "*", "", line)
    else:
        module, _, last = name.rpartition(".")
        yield ImportFact(module, last, last, line)


def _c_imports(node: Node, parents: Parents) -> Iterator[ImportFact]:
    if node.type in ("string_literal", "system_lib_string"):
        kind = "<" if node.type == "system_lib_string" else ""
        yield ImportFact(
            kind + _string(node),
            "",
            "",
            node.start_point.row + 1,
            is_conditional=_is_conditional(node, parents),
        )


def _is_conditional(node: Node, parents: Parents) -> bool:
    """Whether something of C stands between `#if` and `#endif`, of what guards a file from a second include apart."""
    return any(
        above.type in _BRANCHES and not _is_guard(above) for above in islice(parents.around(node), DEEPEST)
    )


def _is_guard(branch: Node) -> bool:
    """Whether a branch is `#ifndef NAME` or `#if !defined(NAME)` and first defines that name."""
    asked = branch.child_by_field_name("name") or branch.child_by_field_name("condition")
    first = next(
        (each for each in branch.named_children if each not in (asked,) and each.type != "comment"), None
    )
    if asked is None or first is None or first.type != "preproc_def":
        return False
    written = "".join(text_of(asked).split())
    is_negated = branch.children[0].type == "#ifndef" or written.startswith("!defined")
    return is_negated and written.removeprefix("!defined").strip("()") == text_of(
        first.child_by_field_name("name")
    )


IMPORTS: Final[Mapping[str, Callable[[Node, Parents], Iterator[ImportFact]]]] = {
    "javascript": _script_imports,
    "typescript": _script_imports,
    "go": lambda node, _: _go_imports(node),
    "rust": _rust_imports,
    "java": lambda node, _: _java_imports(node),
    "c": _c_imports,
    "cpp": _c_imports,
}
