"""Where the program touches the world: SQL, the environment, the clock, files."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from architecture.source import Module, Violation, docstrings

Modules = dict[str, Module]

# What a statement starts with. Prose starts with the same words ("Select a space"), so a second word that only
# SQL has is asked for too; lower-case SQL is looked for with the same patterns.
_STATEMENT: Final = re.compile(
    r"""\s*(?:
      SELECT\s[\s\S]*\bFROM\b | SELECT\s+(?:[\d?*]|\w+\() | WITH\s+(?:RECURSIVE\s+)?\w+[^"]*\bAS\s*\(
    | (?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO\b | UPDATE\s+(?:OR\s+\w+\s+)?\S+\s+SET\b | DELETE\s+FROM\b
    | (?:CREATE|DROP|ALTER)\s+(?:TEMP\s+|TEMPORARY\s+|UNIQUE\s+|VIRTUAL\s+)*(?:TABLE|INDEX|VIEW|TRIGGER)\b
    | PRAGMA\s+\w | ATTACH\s+(?:DATABASE|'|\?) | VACUUM\s+INTO\b | SAVEPOINT\s+\w+\s*;?\s*$
    | BEGIN\s+(?:IMMEDIATE|DEFERRED|EXCLUSIVE|TRANSACTION)
    )""",
    re.VERBOSE,
)
# One of these words alone is SQL only where it is executed.
_WORDS: Final = {"BEGIN", "COMMIT", "END", "ROLLBACK", "VACUUM", "ANALYZE", "REINDEX"}
_EXECUTE: Final = {"execute", "executemany", "executescript", "query", "query_one"}

_CLOCKS: Final = frozenset(
    ["datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"]
    + [
        f"time.{name}{ns}"
        for name in ("time", "monotonic", "perf_counter", "process_time")
        for ns in ("", "_ns")
    ]
    + ["time.localtime", "time.gmtime", "time.ctime", "time.strftime", "time.asctime", "time.clock_gettime"]
)
_ENVIRONMENT: Final = frozenset(
    ["os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv", "os.path.expandvars"]
)
_OS_WRITERS: Final = (
    "write", "writev", "pwrite", "sendfile", "replace", "rename", "renames", "unlink", "remove",
    "rmdir", "removedirs", "mkdir", "makedirs", "link", "symlink", "chmod", "fchmod", "chown",
    "truncate", "ftruncate", "posix_fallocate", "fsync", "fdatasync", "sync", "mkfifo", "utime",
)  # fmt: skip
_WRITERS: Final = frozenset(f"os.{name}" for name in _OS_WRITERS)
_READERS: Final = {"shutil.get_terminal_size", "shutil.which", "shutil.disk_usage", "tempfile.gettempdir"}
_WRITING_MODULES: Final = ("shutil", "tempfile")
_WRITING_METHODS: Final = {
    "write_text", "write_bytes", "unlink", "rename", "mkdir", "rmdir", "touch", "symlink_to",
    "hardlink_to", "chmod", "lchmod", "tofile", "extractall",
}  # fmt: skip
_WRITING_FLAGS: Final = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
_MODE: Final = re.compile(r"[rwxabt+U]{1,4}")


def sql(
    modules: Modules, *, places: Collection[str], allowed: Mapping[tuple[str, str], str]
) -> list[Violation]:
    """Return the strings that look like SQL statements outside `places`."""
    found = []
    for module in modules.values():
        if module.within(*places):
            continue
        executed = _executed(module.tree)
        for node, text in _texts(module):
            word = id(node) in executed and text.strip(" ;").upper() in _WORDS
            if (word or _is_statement(text)) and not _text_listed(module.name, text, allowed):
                found.append(_at(module, node, f"SQL outside storage: {text.strip()[:60]!r}"))
    return sorted(found)


def _texts(module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield every string but docstrings; what an f-string inserts stands as `x`."""
    skipped = docstrings(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield (
                node,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node, node.value


def _executed(tree: ast.Module) -> set[int]:
    """Return the `id()` of every first argument of a call that executes a statement."""
    return {
        id(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _EXECUTE
        and node.args
    }


def _is_statement(text: str) -> bool:
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return bool(_STATEMENT.match(text.upper() if first.islower() else text))


def _text_listed(module: str, text: str, allowed: Mapping[tuple[str, str], str]) -> bool:
    return any(module == where and text.strip().startswith(start) for where, start in allowed)


def environment(modules: Modules, *, places: Collection[str]) -> list[Violation]:
    return _uses(modules, _ENVIRONMENT, places=places, allowed={}, words="reads the environment")


def clock(
    modules: Modules, *, places: Collection[str], allowed: Mapping[tuple[str, str], str]
) -> list[Violation]:
    return _uses(modules, _CLOCKS, places=places, allowed=allowed, words="reads the clock")


def _uses(
    modules: Modules,
    names: Collection[str],
    *,
    places: Collection[str],
    allowed: Mapping[tuple[str, str], str],
    words: str,
) -> list[Violation]:
    found = []
    for module in modules.values():
        if module.within(*places):
            continue
        for line, name in _mentions(module, names):
            if (module.name, name) not in allowed:
                found.append(Violation(module=module.name, line=line, message=f"{words}: {name}"))
    return sorted(set(found))


def _mentions(module: Module, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield every import and every use of `names`; a use need not be a call: handing one on is a use too."""
    for import_ in module.imports:
        if import_.target in names:
            yield import_.line, import_.target
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = module.qualified(node)
            if name in names:
                yield node.lineno, name


def writes(
    modules: Modules, *, root: str, places: Collection[str], allowed: Mapping[tuple[str, str], str]
) -> list[Violation]:
    """Return what creates, changes or removes files outside `places`; reading is free."""
    found = []
    for module in modules.values():
        if module.within(*places):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                what = _written_by(module, node, root)
                if what and (module.name, what) not in allowed:
                    found.append(_at(module, node, f"writes files: {what}(…)"))
    return sorted(found)


def _written_by(module: Module, call: ast.Call, root: str) -> str | None:
    """Return the name of a call that writes, or None."""
    name = module.qualified(call.func) or ""
    if name.split(".")[0] == root or name in _READERS:
        return None
    if name in _WRITERS or name.split(".")[0] in _WRITING_MODULES:
        return name
    if name == "os.open":
        if call.args and module.qualified(call.args[0]) == "os.devnull":
            return None
        flags = ast.unparse(call.args[1]) if len(call.args) > 1 else "O_RDWR"
        return name if any(flag in flags for flag in _WRITING_FLAGS) else None
    if name in {"open", "io.open", "os.fdopen", "gzip.open", "codecs.open"}:
        return name if _writing_mode(call, position=1) else None
    if not isinstance(call.func, ast.Attribute):
        return None
    method = call.func.attr
    # `Path.unlink` takes one argument at most: two are somebody else's method of that name.
    if method in _WRITING_METHODS and not (method in {"unlink", "rename"} and len(call.args) > 1):
        return method
    if method == "open":
        return method if _writing_mode(call, position=0) else None
    # str.replace takes two arguments and datetime.replace keywords: one lone argument is Path.replace.
    if method == "replace" and len(call.args) == 1 and not call.keywords:
        return method
    return None


def _writing_mode(call: ast.Call, *, position: int) -> bool:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), None)
    if given is None and len(call.args) > position:
        given = call.args[position]
    if given is None:
        return False
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return bool(_MODE.fullmatch(given.value)) and bool(set(given.value) & set("wax+"))
    # A mode that is computed may be a writing one. `something.open(name)` has no mode: only `open` can tell.
    return position == 1


def _at(module: Module, node: ast.expr, message: str) -> Violation:
    return Violation(module=module.name, line=node.lineno, message=message)
