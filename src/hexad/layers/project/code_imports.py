"""Which modules the code of a Python project cannot do without."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

FILES_MOST: Final = 2_000


def needed_modules(
    paths: Sequence[str], text_of: Callable[[str], str | None], wanted: Iterable[str]
) -> dict[str, str]:
    """Return those of the wanted modules that the code imports when it is loaded, each with a file that does.

    What is imported for type checkers, inside of a function, or where the code is ready for its absence, is not needed:
    a project that works with something when it is there supports it, and does not use it.
    """
    missing, files = set(wanted), {}
    for path in paths[:FILES_MOST]:
        if not missing:
            break
        text = text_of(path)
        if text is None or not any(name.partition(".")[0] in text for name in missing):
            continue
        try:
            modules = set(_imported(ast.parse(text).body))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for name in missing & modules:
            files[name] = path
        missing -= modules
    return files


def _imported(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Give each module with those that hold it: `a.b` and `a` for `import a.b`."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_holders(alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.module is not None and not node.level:
                yield from _with_holders(node.module)
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.dump(node.test):
                yield from _imported([*node.body, *node.orelse])
        elif isinstance(node, ast.With):
            yield from _imported(node.body)
        elif isinstance(node, ast.Try) and not _guards(node):
            yield from _imported([*node.body, *node.orelse, *node.finalbody])


def _with_holders(module: str) -> Iterator[str]:
    parts = module.split(".")
    for number in range(1, len(parts) + 1):
        yield ".".join(parts[:number])


def _guards(node: ast.Try) -> bool:
    return any(
        handler.type is None
        or any(name in ast.dump(handler.type) for name in ("Import", "ModuleNot", "'Exception'"))
        for handler in node.handlers
    )
