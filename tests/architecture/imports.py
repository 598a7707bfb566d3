"""Who may import whom, and where."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

from architecture.source import Import, Module, Violation, module_of

Modules = dict[str, Module]


def part_of(name: str, parts: Mapping[str, str]) -> str | None:
    """Return the part that module `name` belongs to: the longest prefix in `parts` decides.

    The package itself stands for its `__init__` alone, so that a new folder needs a row of its own.
    """
    prefix = name
    while prefix:
        if prefix in parts and (prefix == name or "." in prefix):
            return parts[prefix]
        prefix = prefix.rpartition(".")[0]
    return None


def own_imports(module: Module, modules: Modules, root: str) -> list[tuple[Import, str]]:
    """Return the imports of our own modules, each with the module that it loads."""
    return [
        (import_, module_of(import_.target, modules) or root)
        for import_ in module.imports
        if import_.target.split(".")[0] == root
    ]


def named_modules(module: Module, modules: Modules, root: str) -> list[tuple[int, str]]:
    """Return our modules that a string names (`"hexad.core.clock"`, `"hexad.cli.run:main"`): what loads by name."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if name in modules and name.startswith(root + "."):
                found.append((node.lineno, name))
    return found


def forbidden(
    modules: Modules,
    *,
    root: str,
    parts: Mapping[str, str],
    table: Mapping[str, Collection[str] | None],
    exceptions: Collection[tuple[str, str]],
) -> list[Violation]:
    """Return the imports that the table does not allow, and the modules that no row of it covers.

    A part may import itself and what its row names: parts, or single modules. A row of None allows all.
    """
    found = []
    for module in modules.values():
        part = part_of(module.name, parts)
        if part is None or part not in table:
            found.append(_at(module, 1, "belongs to no part of the import table; add a row for it"))
            continue
        allowed = table[part]
        if allowed is None:
            continue
        uses = [
            (import_.line, import_.target, loaded) for import_, loaded in own_imports(module, modules, root)
        ]
        uses += [(line, name, name) for line, name in named_modules(module, modules, root)]
        for line, target, loaded in uses:
            other = part_of(loaded, parts)
            if other == part or other in allowed or loaded in allowed or (module.name, loaded) in exceptions:
                continue
            names = ", ".join(sorted(allowed)) or "nothing of ours"
            found.append(_at(module, line, f"{part} imports {target} of {other}; it may import {names}"))
    return sorted(found)


def out_of_order(modules: Modules, *, folder: str, order: Sequence[str]) -> list[Violation]:
    """Return the imports inside `folder` that point upward, and what of the folder the order does not name.

    `order` names the folders and the modules directly in `folder`, from the bottom up; each may import itself and what
    stands before it. Imports for typing and imports in functions count.
    """
    places = {f"{folder}.{name}": place for place, name in enumerate(order)}
    found = []
    for module in modules.values():
        if not module.name.startswith(folder + "."):
            continue
        here = _inside(module.name, folder)
        if here not in places:
            found.append(_at(module, 1, f"{here} is not in the inner order of {folder}; add it"))
            continue
        for imported, loaded in own_imports(module, modules, folder.split(".", maxsplit=1)[0]):
            there = _inside(loaded, folder)
            if there in places and places[there] > places[here]:
                found.append(_at(module, imported.line, f"imports {loaded}, which stands above {here}"))
    return sorted(found)


def _inside(name: str, folder: str) -> str:
    """Return the folder or the module directly in `folder` that holds the module `name`."""
    return ".".join(name.split(".")[: folder.count(".") + 2])


def cycles(modules: Modules, *, root: str) -> list[Violation]:
    """Return one violation per group of modules that import each other; imports for typing and in functions count."""
    graph = {
        name: sorted({loaded for _, loaded in own_imports(module, modules, root) if loaded != name})
        for name, module in modules.items()
    }
    found = []
    for group in _components(graph):
        path = _round_trip(graph, group)
        found.append(_at(modules[path[0]], 1, "import cycle: " + " -> ".join(path)))
    return sorted(found)


def _components(graph: Mapping[str, list[str]]) -> list[set[str]]:
    """Return the groups of more than one node that all reach each other."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        stack = list(graph[start])
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(graph[node])
        reach[start] = seen
    groups: list[set[str]] = []
    for node in sorted(graph):
        if node in reach[node] and not any(node in group for group in groups):
            groups.append({other for other in reach[node] if node in reach[other]})
    return groups


def _round_trip(graph: Mapping[str, list[str]], group: set[str]) -> list[str]:
    """Return a shortest way from the group's first module back to it."""
    start = min(group)
    queue = [[start]]
    seen: set[str] = set()
    while queue:
        path = queue.pop(0)
        for after in graph[path[-1]]:
            if after == start:
                return [*path, start]
            if after in group and after not in seen:
                seen.add(after)
                queue.append([*path, after])
    raise AssertionError(group)


def relative(modules: Modules) -> list[Violation]:
    return [
        _at(module, import_.line, f"relative import of {import_.target}; write the whole name")
        for module in modules.values()
        for import_ in module.imports
        if import_.level
    ]


def hidden(
    modules: Modules,
    *,
    root: str,
    own_places: Collection[str],
    stdlib_allowed: Mapping[tuple[str, str], str],
    by_name_allowed: Mapping[str, str],
) -> list[Violation]:
    """Return imports inside functions of our own or the standard library, and imports by a computed name."""
    found = []
    for module in modules.values():
        for import_ in module.imports:
            if not import_.in_function or import_.type_checking:
                continue
            top = import_.target.split(".")[0]
            if top == root and module.name not in own_places:
                found.append(
                    _at(
                        module,
                        import_.line,
                        f"imports {import_.target} inside a function; move it to the top",
                    )
                )
            if top in sys.stdlib_module_names and not _listed(module.name, import_.target, stdlib_allowed):
                found.append(
                    _at(
                        module,
                        import_.line,
                        f"imports {import_.target} of the standard library inside a function",
                    )
                )
        loads = {"importlib.import_module", "__import__", "importlib.__import__"}
        if module.name not in by_name_allowed:
            for import_ in module.imports:
                if import_.target in loads or import_.target.split(".")[0] == "runpy":
                    found.append(
                        _at(module, import_.line, "imports by name; the table cannot see through that")
                    )
            found += [
                _at(module, node.lineno, "imports by name; the table cannot see through that")
                for node in _nodes_named(module, loads)
            ]
    return sorted(set(found))


def _listed(module: str, target: str, allowed: Mapping[tuple[str, str], str]) -> bool:
    return any(
        module == where and (target == what or target.startswith(what + ".")) for where, what in allowed
    )


def _nodes_named(module: Module, names: Collection[str]) -> Iterator[ast.Name | ast.Attribute]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name | ast.Attribute) and module.qualified(node) in names:
            yield node


def banned(modules: Modules, names: Mapping[str, str]) -> list[Violation]:
    """Return every import of a module in `names`, wherever it stands."""
    return [
        _at(module, import_.line, f"imports {import_.target}: {names[import_.target.split('.')[0]]}")
        for module in modules.values()
        for import_ in module.imports
        if import_.target.split(".")[0] in names
    ]


def third_party(
    modules: Modules, *, root: str, late: Collection[str], early: Mapping[str, Collection[str]]
) -> list[Violation]:
    """Return third-party imports that run too early, in the wrong place, or that no list names.

    `late` may be imported inside functions and for typing only; `early` maps a name to where it may stand at
    the top of a file (inside functions and elsewhere it may not stand at all).
    """
    found = []
    for module in modules.values():
        for import_ in module.imports:
            top = import_.target.split(".")[0]
            if top == root or top in sys.stdlib_module_names or import_.level:
                continue
            if top in early:
                if not module.within(*early[top]):
                    where = ", ".join(early[top])
                    found.append(_at(module, import_.line, f"imports {top}, which belongs in {where} alone"))
            elif top not in late:
                found.append(_at(module, import_.line, f"imports {top}, which no list of dependencies names"))
            elif not import_.in_function and not import_.type_checking:
                found.append(
                    _at(
                        module,
                        import_.line,
                        f"imports {top} at the top; import it in the function that needs it",
                    )
                )
    return sorted(found)


def _at(module: Module, line: int, message: str) -> Violation:
    return Violation(module=module.name, line=line, message=message)
