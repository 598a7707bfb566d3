"""Where a module can be changed by one small mistake, and the module with one of them in it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
SWAPPED_CALLS: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "ceil": "floor",
    "floor": "ceil",
}
EMPTY: Final = {
    "str": "''", "bytes": "b''", "int": "0", "float": "0.0", "list": "[]", "tuple": "()", "dict": "{}", "set": "set()",
    "frozenset": "frozenset()", "Sequence": "[]", "Mapping": "{}", "Iterator": "iter(())", "Iterable": "[]",
}  # fmt: skip
"""What a function returns instead of its result, by the type that it promises; anything else becomes `None`."""
SILENT: Final = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
"""Statements that are left alone: the words of a complaint are not what it does."""

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
N = TypeVar("N", bound=ast.AST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One possible mistake in one function."""

    number: int
    function: str
    """As in `__qualname__`; what a function defines inside belongs to it."""
    line: int
    kind: str
    before: str
    after: str
    apply: Callable[[], None] = field(compare=False, repr=False)


def sites(tree: ast.Module) -> list[Site]:
    """Return every possible mistake inside the functions of a module, numbered in the order of its text."""
    return [
        Site(number=number, function=function, line=node.lineno, kind=kind, before=before, after=after, apply=apply)
        for number, (function, node, kind, before, after, apply) in enumerate(_in_body(tree.body, ""))
    ]  # fmt: skip


def mutated(source: str, number: int, filename: str) -> ast.Module:
    """Return the module of a source with the mistake of this number in it."""
    tree = ast.parse(source, filename)
    sites(tree)[number].apply()
    return ast.fix_missing_locations(tree)


_Change = tuple[str, ast.AST, str, str, str, Callable[[], None]]


def _in_body(body: list[ast.stmt], scope: str) -> Iterator[_Change]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _in_body(node.body, f"{scope}{node.name}.")
        elif isinstance(node, AnyFunction) and not any(
            ast.unparse(name).endswith("overload") for name in node.decorator_list
        ):
            yield from ((f"{scope}{node.name}", *change) for change in _in_function(node))


def _in_function(function: AnyFunction) -> Iterator[tuple[ast.AST, str, str, str, Callable[[], None]]]:
    for statements in _blocks(function):
        for index, statement in enumerate(statements):
            if isinstance(statement, SILENT) or _is_text(statement):
                continue
            for kind, after in _of_statement(statement, function):
                yield (
                    statement, kind, _words(statement), _words(after), _put_at(statements, index, after),
                )  # fmt: skip
            for node in _expressions(statement):
                for kind, change, undo in _of_expression(node):
                    before = _words(statement)
                    change()
                    after_words = _words(statement)
                    undo()
                    if before != after_words:
                        at = node if isinstance(node, ast.expr) else statement
                        yield at, kind, before, after_words, change


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield each list of statements below a node, those of inner functions included."""
    for value in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
        if isinstance(value, list) and value:
            yield value
            for statement in value:
                yield from _blocks(statement)
    for handler in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        yield from _blocks(handler)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _words(node: ast.AST) -> str:
    """Return a statement without its blocks, which are not what changes."""
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        node = copy.copy(node)
        for name in {"body", "orelse", "finalbody", "handlers", "cases", "decorator_list"} & set(
            node._fields
        ):
            setattr(node, name, [ast.Pass()] if name == "body" else [])
        return ast.unparse(node).removesuffix("\n    pass")
    return ast.unparse(node)


def _put_at(statements: list[ast.stmt], index: int, after: ast.stmt) -> Callable[[], None]:
    def put() -> None:
        statements[index] = after

    return put


def _of_statement(statement: ast.stmt, function: AnyFunction) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what may stand in the place of a whole statement."""
    passes = ast.copy_location(ast.Pass(), statement)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Await):
        yield "drop a statement", passes
    elif isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Assign)
        and all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    ):
        yield "drop an assignment", passes
    elif isinstance(statement, ast.Return) and statement.value is not None:
        returns = ast.unparse(function.returns) if function.returns else ""
        empty = "None" if "None" in returns else EMPTY.get(returns.partition("[")[0], "None")
        if returns != "bool" and ast.unparse(statement.value) != empty:
            value = ast.parse(empty, mode="eval").body
            yield "return nothing", ast.copy_location(ast.Return(value=value), statement)


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement's own expressions: without its blocks and annotations."""
    skip = {
        "body",
        "orelse",
        "finalbody",
        "handlers",
        "cases",
        "annotation",
        "returns",
        "type_comment",
        "args",
    }
    if not isinstance(
        statement, AnyFunction | ast.ClassDef | ast.For | ast.With | ast.If | ast.While | ast.Try
    ):
        skip = {"annotation"}
    waiting: list[ast.AST] = []
    for name, value in ast.iter_fields(statement):
        if name not in skip and name != "decorator_list":
            waiting += [
                node for node in (value if isinstance(value, list) else [value]) if isinstance(node, ast.AST)
            ]
    yield statement
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.JoinedStr | ast.stmt):
            waiting = [*ast.iter_child_nodes(node), *waiting]


_Edit = tuple[str, Callable[[], None], Callable[[], None]]


def _edit(kind: str, node: ast.AST, name: str, after: object) -> _Edit:
    before = getattr(node, name)
    return kind, lambda: setattr(node, name, after), lambda: setattr(node, name, before)


def _of_expression(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.Compare(ops=[first, *rest]) if type(first) in OPPOSITES:
            yield _edit("negate a comparison", node, "ops", [OPPOSITES[type(first)](), *rest])
            strict = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}.get(type(first))
            if strict:
                yield _edit("move a bound", node, "ops", [strict(), *rest])
        case ast.BoolOp(op=op):
            yield _edit("swap and/or", node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC:
            if not any(
                isinstance(side, ast.Constant | ast.JoinedStr) and _is_string(side) for side in (left, right)
            ):
                yield _edit("swap an operator", node, "op", ARITHMETIC[type(op)]())
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                yield _edit("negate a condition", node, "test", test.operand)
            elif not isinstance(test, ast.Compare):
                yield _edit("negate a condition", node, "test", ast.UnaryOp(op=ast.Not(), operand=test))
        case ast.comprehension(ifs=[_, *rest]):
            yield _edit("drop a filter", node, "ifs", rest)
        case ast.Constant(value=bool(value)):
            yield _edit("change a constant", node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _edit(
                "change a constant",
                node,
                "value",
                value * 2 if isinstance(value, float) and value else value + 1,
            )
        case ast.Constant(value=str(value)) if value and not _is_statement_of_sql(value):
            yield _edit("empty a string", node, "value", "")
        case ast.Call(func=ast.Name(id=name) as func) if name in SWAPPED_CALLS:
            yield _edit(
                "swap a call",
                node,
                "func",
                ast.copy_location(ast.Name(id=SWAPPED_CALLS[name], ctx=ast.Load()), func),
            )
        case ast.Slice(upper=ast.expr()):
            yield _edit("drop a bound", node, "upper", None)
        case ast.Call(keywords=[_, *_]):
            for keyword in node.keywords:
                if keyword.arg:
                    rest = [other for other in node.keywords if other is not keyword]
                    yield _edit("drop a keyword", node, "keywords", rest)


def _is_string(node: ast.Constant | ast.JoinedStr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node.value, str)


def _is_statement_of_sql(text: str) -> bool:
    """Without one nothing runs at all, which no test has to say."""
    return text.lstrip().partition(" ")[0].upper() in {
        "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "WITH", "REPLACE", "PRAGMA", "BEGIN", "ALTER", "DROP",
    }  # fmt: skip
