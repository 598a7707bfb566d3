"""Python, read by its own parser; of what does not parse, the parts that do."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from hexad.code_graph.facts import SELF, SUPER, UNKNOWN, FileFacts, ImportFact, SymbolFact, UseFact

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PROPERTIES: Final = frozenset({"property", "cached_property"})
_HOLDERS: Final = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired"})
"""Of these types the first argument says what the value is."""
_SIGNATURE_LONGEST: Final = 300
_TOP: Final = re.compile(r"^(?:@|async\b|def\b|class\b|import\b|from\b|if\b|try\b|with\b|for\b|while\b|\w)")
_GOES_ON: Final = re.compile(r"^(?:else|elif|except|finally)\b")
_NAMED: Final = re.compile(r"^(?P<indent>[ \t]*)(?:async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>\w+)")
_IMPORTED: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import[ \t]+[\w, \t*]+|import[ \t]+[\w., \t]+)"
)


def read_python(text: str) -> FileFacts:
    """Return what a file of Python says. What cannot be parsed is read piece by piece, and `problem` names the line."""
    lines = text.count("\n") + (not text.endswith("\n"))
    try:
        tree, problem = _parsed(text), ""
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        problem = f"line {line} does not parse" if line else "it does not parse"
        tree = ast.Module(body=list(_pieces(text)), type_ignores=[])
    reader = _PythonReader(_names_at_top(tree.body))
    try:
        reader.body(tree.body, _Scope())
    except RecursionError:
        problem = problem or "it is nested too deeply"
    return reader.facts(lines, problem)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _pieces(text: str) -> Iterator[ast.stmt]:
    """Give the statements of a broken file: its blocks one by one, and of a broken block what its lines name."""
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines)
        if _TOP.match(line)
        and not _GOES_ON.match(line)
        and not (number and lines[number - 1].startswith("@"))
    ]
    for start, end in pairwise([*starts, len(lines)]):
        block = "\n" * start + "\n".join(lines[start:end])
        try:
            yield from _parsed(block).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield from _named(lines, start, end)


def _named(lines: Sequence[str], start: int, end: int) -> Iterator[ast.stmt]:
    """Give what the lines of a broken block define and import, its members where it is a class that begins well."""
    head = _NAMED.match(lines[start])
    if head is not None and head["kind"] == "class":
        members = list(_members(lines, start + 1, end))
        node = ast.ClassDef(name=head["name"], bases=[], keywords=[], body=members, decorator_list=[])
        node.lineno, node.end_lineno = start + 1, end
        yield node
        return
    for number in range(start, end):
        if (named := _NAMED.match(lines[number])) is not None and named["kind"] == "def":
            function = _parsed(f"def {named['name']}(): ...").body[0]
            function.lineno, function.end_lineno = number + 1, number + 1
            yield function
        elif _IMPORTED.match(lines[number]):
            try:
                yield from _parsed("\n" * number + lines[number].strip()).body
            except SyntaxError:
                continue


def _members(lines: Sequence[str], start: int, end: int) -> Iterator[ast.stmt]:
    heads = [number for number in range(start, end) if _NAMED.match(lines[number])]
    if not heads:
        return
    indent = min(len(lines[number]) - len(lines[number].lstrip()) for number in heads)
    heads = [number for number in heads if len(lines[number]) - len(lines[number].lstrip()) == indent]
    for first, last in pairwise([*heads, end]):
        block = [line[indent:] if line[:indent].isspace() or not line else line for line in lines[first:last]]
        try:
            yield from _parsed("\n" * first + "\n".join(block)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield from _named([""] * first + block, first, last)


def _names_at_top(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that a module has: what it defines and assigns at the top, and what it imports anywhere."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            names.add(node.name)
        for inner in ast.walk(node) if not isinstance(node, ast.Expr) else ():
            if isinstance(inner, ast.Import | ast.ImportFrom):
                names.update((alias.asname or alias.name).partition(".")[0] for alias in inner.names)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.If | ast.Try | ast.With):
            names |= _names_at_top([*node.body, *getattr(node, "orelse", ())])
    return names


@dataclass(slots=True)
class _Scope:
    """Where a statement stands; `types` has the chains of local names, `UNKNOWN` where nothing is known of one."""

    qualified: str = ""
    kind: str = "module"
    owner: str = ""
    """The class whose method it is, or a method's function."""
    types: dict[str, str] = field(default_factory=dict)


class _PythonReader:
    def __init__(self, top: set[str]) -> None:
        self._top = top
        self._symbols: dict[str, SymbolFact] = {}
        self._imports: list[ImportFact] = []
        self._uses: dict[tuple[str, str, str], list[int]] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._attributes: dict[str, dict[str, str]] = {}

    def facts(self, lines: int, problem: str) -> FileFacts:
        return FileFacts(
            language="python",
            lines=lines,
            symbols=tuple(self._symbols.values()),
            imports=tuple(self._imports),
            uses=tuple(
                UseFact(symbol, chain, kind, line, count)
                for (symbol, chain, kind), (line, count) in self._uses.items()
            ),
            bases=self._bases,
            attributes={name: of for name, of in self._attributes.items() if of},
            problem=problem,
        )

    # Statements ---------------------------------------------------------------------------------------------------

    def body(self, body: Sequence[ast.stmt], scope: _Scope) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.Assign():
                self._expression(node.value, scope)
                for target in node.targets:
                    self._assigned(target, self._chain(node.value, scope), node, scope)
            case ast.AnnAssign():
                self._annotation(node.annotation, scope)
                if node.value is not None:
                    self._expression(node.value, scope)
                self._assigned(node.target, self._instance(node.annotation, scope), node, scope)
            case _:
                self._compound(node, scope)

    def _compound(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self._expression(item.context_expr, scope)
                if item.optional_vars is not None:
                    self._assigned(item.optional_vars, self._chain(item.context_expr, scope), node, scope)
            self.body(node.body, scope)
            return
        if isinstance(node, ast.For | ast.AsyncFor):
            self._assigned(node.target, None, node, scope)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child, scope)
            elif isinstance(child, ast.expr):
                self._expression(child, scope)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                if isinstance(child, ast.ExceptHandler) and child.name:
                    scope.types[child.name] = UNKNOWN
                for inner in ast.iter_child_nodes(child):
                    if isinstance(inner, ast.expr):
                        self._expression(inner, scope)
                self.body(child.body, scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                self._imports.append(ImportFact(alias.name, "", alias.asname or "", node.lineno))
            else:
                bound = alias.asname or alias.name
                module = "." * node.level + (node.module or "")
                self._imports.append(ImportFact(module, alias.name, bound, node.lineno))
            scope.types.pop(bound, None)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        qualified = _inside(scope.qualified, node.name)
        for base in node.bases:
            self._expression(base, scope)
        for decorator in node.decorator_list:
            self._expression(decorator, scope)
        for keyword in node.keywords:
            self._expression(keyword.value, scope)
        bases = [self._chain(base, scope) for base in node.bases]
        self._bases[qualified] = tuple(base for base in bases if base is not None and base[0] != UNKNOWN)
        self._attributes.setdefault(qualified, {})
        shown = f"class {node.name}" + (f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else "")
        self._define(SymbolFact(qualified, "class", _first_line(node), node.end_lineno or 0, _short(shown)))
        self.body(node.body, _Scope(qualified, "class", qualified, dict(scope.types)))

    def _function(self, node: _Function, scope: _Scope) -> None:
        qualified = _inside(scope.qualified, node.name)
        is_method = scope.kind == "class"
        decorators = {name for each in node.decorator_list for name in _last_names(each)}
        for decorator in node.decorator_list:
            self._expression(decorator, scope)
        kind = "method" if is_method else "function"
        if is_method and decorators & _PROPERTIES:
            kind = "property"
        inner = _Scope(qualified, "function", scope.owner, dict(scope.types))
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        defaults = (default for default in [*node.args.defaults, *node.args.kw_defaults] if default)
        for default in defaults:
            self._expression(default, scope)
        for argument in (*arguments, node.args.vararg, node.args.kwarg):
            if argument is None:
                continue
            if argument.annotation is not None:
                self._annotation(argument.annotation, scope)
            inner.types[argument.arg] = self._instance(argument.annotation, scope) or UNKNOWN
        for variadic in (node.args.vararg, node.args.kwarg):
            if variadic is not None:
                inner.types[variadic.arg] = UNKNOWN
        if is_method and arguments and "staticmethod" not in decorators:
            inner.types[arguments[0].arg] = SELF + scope.owner
        if node.returns is not None:
            self._annotation(node.returns, scope)
        returns = self._instance(node.returns, scope) or ""
        if returns == "Self()" and scope.owner:
            returns = SELF + scope.owner
        signature = _short(_signature(node))
        self._define(SymbolFact(qualified, kind, _first_line(node), node.end_lineno or 0, signature, returns))
        self.body(node.body, inner)

    def _assigned(self, target: ast.expr, chain: str | None, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._assigned(element, None, node, scope)
        elif isinstance(target, ast.Starred):
            self._assigned(target.value, None, node, scope)
        elif isinstance(target, ast.Name):
            self._named(target.id, chain, node, scope)
        elif isinstance(target, ast.Attribute):
            owner = self._chain(target.value, scope)
            if owner is not None and owner.startswith(SELF) and chain and chain[0] != UNKNOWN:
                self._attributes.setdefault(owner[1:], {}).setdefault(target.attr, chain)
            self._expression(target.value, scope)
        else:
            self._expression(target, scope)

    def _named(self, name: str, chain: str | None, node: ast.stmt, scope: _Scope) -> None:
        if scope.kind == "function":
            scope.types[name] = chain or UNKNOWN
            return
        if scope.kind == "class":
            if chain and chain[0] != UNKNOWN:
                self._attributes.setdefault(scope.qualified, {}).setdefault(name, chain)
            if not name.isupper():
                return
        returns = chain if chain is not None and chain[0] not in (UNKNOWN, "(") else ""
        self._define(
            SymbolFact(
                _inside(scope.qualified, name), "constant", node.lineno, node.end_lineno or 0, name, returns
            )
        )

    def _define(self, symbol: SymbolFact) -> None:
        """Keep a definition; of several under one name (an overload, a setter) the last, and the first's lines."""
        before = self._symbols.get(symbol.qualified)
        if before is not None and before.kind == "property":
            return
        self._symbols[symbol.qualified] = symbol

    # Expressions --------------------------------------------------------------------------------------------------

    def _expression(self, node: ast.expr, scope: _Scope) -> None:
        if isinstance(node, ast.Call):
            self._use(node.func, "calls", scope)
            for argument in node.args:
                self._expression(argument, scope)
            for keyword in node.keywords:
                self._expression(keyword.value, scope)
        elif isinstance(node, ast.Name | ast.Attribute):
            self._use(node, "references", scope)
        elif isinstance(node, ast.Lambda):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self._expression(default, scope)
            names = [argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]]
            self._expression(node.body, _hidden(scope, names))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            self._comprehension(node, scope)
        elif isinstance(node, ast.NamedExpr):
            self._expression(node.value, scope)
            if scope.kind == "function":
                scope.types[node.target.id] = self._chain(node.value, scope) or UNKNOWN
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, scope)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: _Scope
    ) -> None:
        names = [
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        ]
        inner = _hidden(scope, names)
        for generator in node.generators:
            self._expression(generator.iter, inner)
            for condition in generator.ifs:
                self._expression(condition, inner)
        if isinstance(node, ast.DictComp):
            self._expression(node.key, inner)
            self._expression(node.value, inner)
        else:
            self._expression(node.elt, inner)

    def _use(self, node: ast.expr, kind: str, scope: _Scope) -> None:
        chain = self._chain(node, scope)
        if isinstance(node, ast.Attribute):
            inner: ast.expr = node.value
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if not isinstance(inner, ast.Name):
                self._expression(inner, scope)  # what is called on the way, or an index
        elif not isinstance(node, ast.Name):
            self._expression(node, scope)
        if chain is None or chain == UNKNOWN or chain.endswith("()"):
            return
        head, dot, _ = chain.partition(".")
        if head == UNKNOWN:
            name = chain.rpartition(".")[2]
            if kind == "calls" and name not in _EVERYWHERE and not name.startswith("__"):
                self._count(scope, f"{UNKNOWN}.{name}", kind, node.lineno)
            return
        if head[0] in SELF + SUPER:
            if dot and (kind == "calls" or "." in chain):
                self._count(scope, chain, kind, node.lineno)
        elif self._is_of_module(head.removesuffix("()")) or (
            kind == "calls" and not dot and head in scope.types
        ):
            self._count(scope, chain, kind, node.lineno)

    def _is_of_module(self, name: str) -> bool:
        """Whether a name that is none of a function's own is the module's, or may have come with `import *`."""
        return name in self._top or ("*" in self._top and name not in _BUILTINS)

    def _count(self, scope: _Scope, chain: str, kind: str, line: int) -> None:
        symbol = scope.qualified
        entry = self._uses.get((symbol, chain, kind))
        if entry is None:
            self._uses[symbol, chain, kind] = [line, 1]
        else:
            entry[1] += 1

    def _chain(self, node: ast.expr | None, scope: _Scope) -> str | None:
        """Return how an expression is named, None where it has no name."""
        match node:
            case ast.Name():
                local = scope.types.get(node.id)
                if local is not None:
                    return local
                own = _inside(scope.qualified, node.id)
                return own if own in self._symbols and scope.kind == "function" else node.id
            case ast.Attribute():
                value = self._chain(node.value, scope)
                return f"{value or UNKNOWN}.{node.attr}"
            case ast.Call():
                if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.owner:
                    return SUPER + scope.owner
                called = self._chain(node.func, scope)
                return None if called is None or called[0] == UNKNOWN else called + "()"
            case ast.Await():
                return self._chain(node.value, scope)
        return None

    def _instance(self, annotation: ast.expr | None, scope: _Scope) -> str | None:
        """Return the chain of a value of a type, None where the annotation does not say one class."""
        match annotation:
            case ast.Name() | ast.Attribute():
                chain = self._chain(annotation, scope)
                return None if chain is None or chain[0] == UNKNOWN else chain + "()"
            case ast.Constant(value=str(text)):
                try:
                    return self._instance(ast.parse(text, mode="eval").body, scope)
                except (SyntaxError, ValueError, MemoryError):
                    return None
            case ast.BinOp(op=ast.BitOr()):
                sides = [side for side in (annotation.left, annotation.right) if not _is_none(side)]
                return self._instance(sides[0], scope) if len(sides) == 1 else None
            case ast.Subscript():
                if set(_last_names(annotation.value)) & _HOLDERS:
                    inner = annotation.slice
                    first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
                    return self._instance(first, scope)
                return self._instance(annotation.value, scope)
        return None

    def _annotation(self, node: ast.expr, scope: _Scope) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
            except (SyntaxError, ValueError, MemoryError):
                return
        self._expression(node, scope)


_BUILTINS: Final = frozenset(dir(builtins))
_EVERYWHERE: Final = frozenset(
    name
    for kind in (str, bytes, list, dict, set, frozenset, tuple, int, float, type, BaseException)
    for name in dir(kind)
) | frozenset(
    "close open read write readline readlines writelines flush seek tell fileno info debug warning error exception "
    "critical log group groups match search findall finditer sub fullmatch span put get_nowait acquire release wait "
    "notify send throw exists is_file is_dir mkdir read_text write_text read_bytes write_bytes resolve relative_to "
    "iterdir glob rglob unlink as_posix joinpath with_suffix with_name stat execute fetchone fetchall commit "
    "rollback cursor timestamp isoformat strftime total_seconds date time astimezone replace decode encode "
    "most_common appendleft popleft extendleft submit result cancel shutdown parse_args add_argument "
    "assertEqual assertTrue assertFalse assertIn assertIs assertRaises assertIsNone assertNotIn assertIsInstance "
    "mock_calls assert_called_once_with setattr getattr".split()
)
"""Names that values of the language and its library have: a call of one on an unknown value says nothing."""


def _inside(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _hidden(scope: _Scope, names: Sequence[str]) -> _Scope:
    return _Scope(scope.qualified, scope.kind, scope.owner, {**scope.types, **dict.fromkeys(names, UNKNOWN)})


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _last_names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id


def _first_line(node: _Function | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _signature(node: _Function) -> str:
    """Return what it takes and gives; what parameters are by default is left out, for it may be a secret."""
    arguments = node.args
    shown: list[str] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    without_default = len(positional) - len(arguments.defaults)
    for number, argument in enumerate(positional):
        shown.append(_parameter(argument, has_default=number >= without_default))
        if arguments.posonlyargs and number == len(arguments.posonlyargs) - 1:
            shown.append("/")
    if arguments.vararg is not None:
        shown.append("*" + _parameter(arguments.vararg, has_default=False))
    elif arguments.kwonlyargs:
        shown.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        shown.append(_parameter(argument, has_default=default is not None))
    if arguments.kwarg is not None:
        shown.append("**" + _parameter(arguments.kwarg, has_default=False))
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    gives = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{word} {node.name}({', '.join(shown)}){gives}"


def _parameter(argument: ast.arg, *, has_default: bool) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation is not None else ""
    return f"{argument.arg}{kind}" + (" = …" if has_default else "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SIGNATURE_LONGEST else line[: _SIGNATURE_LONGEST - 1] + "…"
