"""A source tree as the checkers see it: parsed modules, their imports, and names traced to where they come from."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Violation:
    """One breach of one rule, with what to do about it."""

    module: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported name. `target` is a module, or a module and one name of it; `bound` the name it gets here.

    `import a.b` loads `a.b` and binds `a`, so what `bound` means can be less than `target`.
    """

    target: str
    bound: str
    means: str
    line: int
    level: int
    in_function: bool
    type_checking: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    name: str
    tree: ast.Module
    line_count: int
    is_package: bool
    imports: tuple[Import, ...]
    aliases: dict[str, str] = field(compare=False)

    def qualified(self, node: ast.AST) -> str | None:
        """Return what `node` names with import aliases undone (`t.time` → `time.time`); None for no name."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    def within(self, *places: str) -> bool:
        """Whether the module is one of `places` or inside one of them."""
        return any(self.name == place or self.name.startswith(place + ".") for place in places)


def read_tree(root: Path, package: str = "", *, with_any_of: Collection[str] = ("",)) -> dict[str, Module]:
    """Parse every `*.py` below `root`; names are dotted and start with `package` when it is given.

    With `with_any_of`, only the files whose text holds one of these words.
    """
    modules = {}
    for file in sorted(root.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if not any(word in text for word in with_any_of):
            continue
        parts = list(file.relative_to(root).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(([package] if package else []) + (parts[:-1] if is_package else parts))
        modules[name] = parse(name, text, is_package=is_package)
    return modules


def parse(name: str, text: str, *, is_package: bool = False) -> Module:
    tree = ast.parse(text, filename=name)
    imports = tuple(_imports(tree))
    return Module(
        name=name,
        tree=tree,
        line_count=len(text.splitlines()),
        is_package=is_package,
        imports=imports,
        aliases={import_.bound: import_.means for import_ in imports},
    )


def _imports(tree: ast.Module) -> list[Import]:
    found: list[Import] = []
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while waiting:
        node, in_function, type_checking = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += [
                _one_import(node, name, in_function=in_function, type_checking=type_checking)
                for name in node.names
            ]
            continue
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        # Expressions hold no statements: only what does is looked into.
        parts: list[tuple[ast.AST, bool, bool]] = []
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            children = getattr(node, part, None)
            if isinstance(children, list):
                # The `else` of such an `if` does run.
                guarded = type_checking or (
                    part == "body" and isinstance(node, ast.If) and _guards(node.test)
                )
                parts += [(child, inside, guarded) for child in children]
        waiting += reversed(parts)
    return found


def _guards(test: ast.expr) -> bool:
    return isinstance(test, ast.Name | ast.Attribute) and ast.unparse(test) in {
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    }


def _one_import(
    node: ast.Import | ast.ImportFrom, name: ast.alias, *, in_function: bool, type_checking: bool
) -> Import:
    if isinstance(node, ast.ImportFrom):
        target = f"{node.module}.{name.name}" if node.module else name.name
        bound, means, level = name.asname or name.name, target, node.level
    else:
        first = name.name.split(".")[0]
        target, level = name.name, 0
        bound, means = (name.asname, target) if name.asname else (first, first)
    return Import(
        target=target,
        bound=bound,
        means=means,
        line=node.lineno,
        level=level,
        in_function=in_function,
        type_checking=type_checking,
    )


def module_of(target: str, modules: dict[str, Module]) -> str | None:
    """Return the module of the tree that `target` is, or is a name of; None when it is none of the tree's."""
    while target:
        if target in modules:
            return target
        target = target.rpartition(".")[0]
    return None


def docstrings(tree: ast.Module) -> set[int]:
    """Return the `id()` of every docstring's constant, and of bare strings that stand as comments."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def functions(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function with its name inside the module (`Class.method`, `outer.inner`)."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)
