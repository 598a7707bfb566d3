"""How large, how careful and how documented the code is."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from architecture.source import Module, Violation, functions

Modules = dict[str, Module]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def long_modules(modules: Modules, *, limit: int, allowed: Mapping[str, str]) -> list[Violation]:
    """Return the modules over `limit` lines that have no reason in `allowed`, and the reasons that nobody needs."""
    needless = [
        Violation(module=name, line=1, message=f"has at most {limit} lines or is gone; take it off the list")
        for name in allowed
        if name not in modules or modules[name].line_count <= limit
    ]
    return needless + [
        Violation(module=module.name, line=1, message=f"has {module.line_count} lines; at most {limit}")
        for module in modules.values()
        if module.line_count > limit and module.name not in allowed
    ]


def repeated_classes(modules: Modules, *, allowed: Mapping[str, Collection[str]]) -> list[Violation]:
    """Return the classes whose name another class of the package has, wherever they stand in a module.

    `allowed` maps a name to the modules that may have it; a name that stands in other ones is one to look at again.
    """
    places: dict[str, list[tuple[str, int]]] = {}
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append((module.name, node.lineno))
    needless = [
        Violation(module=module, line=1, message=f"has no class {name} any more; take it off the list")
        for name, where in allowed.items()
        for module in where
        if module not in {place for place, _ in places.get(name, [])}
    ]
    return needless + [
        Violation(
            module=where[0][0], line=where[0][1], message=f"{name} is a class in {others} too; rename one"
        )
        for name, where in places.items()
        if len(where) > 1 and sorted(module for module, _ in where) != sorted(allowed.get(name, ()))
        for others in [", ".join(module for module, _ in where[1:])]
    ]


def long_functions(modules: Modules, *, limit: int) -> list[Violation]:
    found = []
    for module, name, node in _all_functions(modules):
        lines = _own_lines(node)
        if lines > limit:
            found.append(
                Violation(
                    module=module.name, line=node.lineno, message=f"{name} has {lines} lines; at most {limit}"
                )
            )
    return found


def _own_lines(node: Function) -> int:
    """Count from `def` to the last line, the docstring left out."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node, clean=False) is not None:
        text = node.body[0]
        lines -= (text.end_lineno or text.lineno) - text.lineno + 1
    return lines


def many_parameters(
    modules: Modules, *, limit: int, allowed: Mapping[tuple[str, str], str]
) -> list[Violation]:
    found = []
    for module, name, node in _all_functions(modules):
        arguments = node.args
        count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
        count += (arguments.vararg is not None) + (arguments.kwarg is not None)
        first = (arguments.posonlyargs + arguments.args)[:1]
        count -= bool(first) and first[0].arg in {"self", "cls"}
        if count > limit and (module.name, name) not in allowed:
            found.append(
                Violation(
                    module=module.name,
                    line=node.lineno,
                    message=f"{name} has {count} parameters; at most {limit}",
                )
            )
    return found


def broad_excepts(modules: Modules, *, allowed: Mapping[tuple[str, str], str]) -> list[Violation]:
    """Return handlers that catch everything. One that ends in a bare `raise` only cleans up: it may."""
    found = []
    for module in modules.values():
        for where, handler in _handlers(module.tree):
            if not _is_broad(handler) or _raises_again(handler) or (module.name, where) in allowed:
                continue
            found.append(
                Violation(
                    module=module.name,
                    line=handler.lineno,
                    message=f"catches everything in {where or 'the module'}; name the errors that are expected",
                )
            )
    return found


def _handlers(tree: ast.AST, where: str = "") -> Iterator[tuple[str, ast.ExceptHandler]]:
    for node in ast.iter_child_nodes(tree):
        inner = where
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{where}.{node.name}" if where else node.name
        if isinstance(node, ast.ExceptHandler):
            yield where, node
        yield from _handlers(node, inner)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(kind).split(".")[-1] in {"Exception", "BaseException"} for kind in kinds)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def empty_names(modules: Modules, *, names: Collection[str]) -> list[Violation]:
    """Return where a variable or a parameter gets one of `names`, which do not say what it holds."""
    return [
        Violation(
            module=module.name, line=line, message=f"{name!r} does not say what it holds; name the thing"
        )
        for module in modules.values()
        for name, line in _bound(module.tree)
        if name in names
    ]


def _bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name, node.lineno


def missing_docstrings(modules: Modules) -> list[Violation]:
    """Return public modules, classes, functions and methods that say nothing about themselves."""
    found = []
    for module in modules.values():
        if any(part.startswith("_") and not part.startswith("__") for part in module.name.split(".")):
            continue
        if ast.get_docstring(module.tree) is None:
            found.append(Violation(module=module.name, line=1, message="the module has no docstring"))
        for name, node in _public(module.tree):
            if ast.get_docstring(node) is None:
                found.append(
                    Violation(module=module.name, line=node.lineno, message=f"{name} has no docstring")
                )
    return found


def _public(
    tree: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    for node in tree.body:
        if not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ) or node.name.startswith("_"):
            continue
        marks = {ast.unparse(mark).split(".")[-1] for mark in node.decorator_list}
        if marks & {"overload", "setter", "override"}:
            continue
        yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _public(node, f"{prefix}{node.name}.")


def _all_functions(modules: Modules) -> Iterator[tuple[Module, str, Function]]:
    for module in modules.values():
        for name, node in functions(module.tree):
            yield module, name, node
