"""Source code: a section for each function, class and method, under its name and what it takes."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

from hexad.ingest.sources.formats.code_braces import brace_definitions
from hexad.ingest.sources.formats.code_definitions import Definition, lay_sections
from hexad.ingest.sources.formats.code_indented import flat_definitions
from hexad.ingest.sources.formats.code_languages import BRACES, FLAT
from hexad.text.chunking import Section

_ARGUMENTS_LIMIT: Final = 100
_COMMENT: Final = re.compile(r"[ \t]*#")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_sections(text: str, *, language: str | None, first_line: int = 1) -> tuple[Section, ...]:
    """Return sections that cover `text`, or none where the language's definitions are not known.

    Python is parsed; Python that does not parse, and every other language, is read by its structure: where
    definitions begin, and where their braces or their indentation end.
    """
    definitions: Sequence[Definition] = ()
    if language == "python":
        parsed = python_definitions(text)
        definitions = flat_definitions(text, FLAT["python"]) if parsed is None else parsed
    elif language in BRACES:
        definitions = brace_definitions(text, BRACES[language])
    elif language in FLAT:
        definitions = flat_definitions(text, FLAT[language])
    return lay_sections(text, definitions, first_line=first_line) if definitions else ()


def python_definitions(text: str) -> list[Definition] | None:
    """Return the module's docstring, functions and classes with their methods; None when it does not parse.

    Decorators and the comment lines directly above belong to a definition; what is defined inside a function
    is part of it. Definitions under `if`, `try` and `with` count as the module's own.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the source's own string escapes
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The last two stand for expressions nested deeper than the parser goes.
        return None
    lines = text.split("\n")
    found = _defined(module.body, lines)
    docstring = _docstring(module)
    return [docstring, *found] if docstring is not None else found


def _docstring(module: ast.Module) -> Definition | None:
    if ast.get_docstring(module, clean=False) is None:
        return None
    return Definition(name="", start=0, end=module.body[0].end_lineno or 1)


def _defined(body: Sequence[ast.stmt], lines: Sequence[str]) -> list[Definition]:
    found = []
    for statement in _statements(body):
        start = min([statement.lineno, *(each.lineno for each in statement.decorator_list)]) - 1
        while start > 0 and _COMMENT.match(lines[start - 1]):
            start -= 1
        is_class = isinstance(statement, ast.ClassDef)
        found.append(
            Definition(
                name=statement.name,
                start=start,
                end=statement.end_lineno or statement.lineno,
                children=tuple(_defined(statement.body, lines)) if is_class else (),
                signature="" if isinstance(statement, ast.ClassDef) else _signature(statement.args),
            )
        )
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[_Function | ast.ClassDef]:
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement
            case ast.If():
                yield from _statements([*statement.body, *statement.orelse])
            case ast.Try():
                handlers = [each for handler in statement.handlers for each in handler.body]
                yield from _statements([*statement.body, *handlers, *statement.orelse, *statement.finalbody])
            case ast.With():
                yield from _statements(statement.body)


def _signature(arguments: ast.arguments) -> str:
    """Return the names of the parameters as they are written: `(self, *, limit)`."""
    names = [each.arg for each in arguments.posonlyargs]
    if names:
        names.append("/")
    names += [each.arg for each in arguments.args]
    if arguments.vararg is not None:
        names.append("*" + arguments.vararg.arg)
    elif arguments.kwonlyargs:
        names.append("*")
    names += [each.arg for each in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        names.append("**" + arguments.kwarg.arg)
    inner = ", ".join(names)
    return f"({inner})" if len(inner) <= _ARGUMENTS_LIMIT else f"({inner[:_ARGUMENTS_LIMIT]}…)"
