"""Source code: a section for each function, class and method, under its name and what it takes."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.ingest.sources.formats.parsed import Definition
from hexad.ingest.sources.formats.syntax import NESTING_LIMIT, syntax_definitions
from hexad.text.chunking import LineIndex
from hexad.text.sections import Section

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BraceLanguage:
    """A language whose bodies stand in braces.

    `skipped` matches what holds braces that do not count: strings and comments. `containers` and `functions`
    match at the beginning of a line and name what they define; `members` only directly inside a container.
    """

    skipped: Pattern
    containers: Pattern
    functions: Pattern
    members: Pattern | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatLanguage:
    """A language in which a definition goes on to the next one that is indented no deeper."""

    definitions: Pattern
    containers: Pattern | None = None
    comment: str = "#"


# Possessive quantifiers: a string that is never closed is tried once, not once for every character.
_SLASH_COMMENTS: Final = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_DOUBLE: Final = r'"(?:[^"\\\n]|\\[^\n])*+"'
_SINGLE: Final = r"'(?:[^'\\\n]|\\[^\n])*+'"
_BACKTICK: Final = r"`(?:[^`\\]|\\.)*+(?:`|\Z)"
_RAW_BACKTICK: Final = r"`[^`]*+(?:`|\Z)"
_TRIPLE: Final = r'"""(?:[^"]|"(?!""))*+(?:"""|\Z)'
# One character only: Rust's lifetimes and labels are a quote without its fellow.
_CHARACTER: Final = r"'(?:[^'\\\n]|\\[^'\n]{1,10}|\\')'"


def _pattern(*parts: str) -> Pattern:
    return lazy_pattern("|".join(parts), re.DOTALL)


def _line(*alternatives: str) -> Pattern:
    return lazy_pattern(r"[ \t]*+(?:" + "|".join(alternatives) + ")")


_NAME: Final = r"(?P<name>[^\W\d][\w$]*)"
_NO_KEYWORD: Final = (
    r"(?!(?:if|else|for|while|switch|catch|return|throw|new|do|try|with|await|yield|case|synchronized|using|lock|"
    r"foreach|match|when|function|sizeof|delete|goto|assert|elif)\b)"
)
_C_FAMILY_CALL: Final = (
    _NO_KEYWORD
    + r"(?:[\w<>\[\],.?&*:~@]++[ \t]++){1,8}[*&]*(?P<name>~?[^\W\d][\w:~]*)[ \t]*\((?![^()\n]*\)[ \t]*;)"
)
_MODIFIERS: Final = (
    r"(?:(?:public|private|protected|internal|fileprivate|static|final|abstract|sealed|open|override|data|inline|"
    r"export|default|declare|async|readonly|virtual|partial|unsafe|suspend|operator|implicit|case|inner|companion|"
    r"mutating|strictfp|native|required|convenience|external|const|lazy|annotation|value|tailrec)[ \t]+)*"
)
_JS_MEMBER: Final = (
    _MODIFIERS
    + r"(?:get[ \t]+|set[ \t]+|\*[ \t]*)?"
    + _NO_KEYWORD
    + r"(?P<name>#?[^\W\d][\w$]*)[ \t]*(?:<[^>\n]{0,80}>)?\([^\n]*$"
)


def _curly(
    *, containers: str, functions: str, strings: tuple[str, ...], members: str | None = None
) -> BraceLanguage:
    return BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, *strings),
        containers=_line(_MODIFIERS + rf"(?:{containers})[ \t]+" + _NAME),
        functions=_line(functions),
        members=_line(members) if members else None,
    )


_SCRIPT: Final = _curly(
    containers="class|interface|enum|namespace|module",
    functions=_MODIFIERS
    + r"(?:function\b[ \t]*\*?[ \t]*(?P<name>[\w$]+)"
    + r"|type[ \t]+(?P<type>[\w$]+)[^=\n]{0,80}="
    + r"|(?:const|let|var)[ \t]+(?P<constant>[\w$]+)[^=\n]{0,120}=[ \t]*(?:async\b[ \t]*)?"
    + r"(?:function\b|\([^\n]*=>[^\n]*$|\([^)\n]*$|[\w$]+[ \t]*=>))",
    members=_JS_MEMBER,
    strings=(_BACKTICK, _DOUBLE, _SINGLE),
)
_JVM_STRINGS: Final = (_TRIPLE, _DOUBLE, _CHARACTER)

BRACES: Final = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, _RAW_BACKTICK, _DOUBLE, _CHARACTER),
        containers=lazy_pattern(r"(?!)"),
        functions=_line(
            r"func[ \t]+(?:\([^)\n]*?\*?(?P<receiver>\w+)(?:\[[^\]\n]*\])?\)[ \t]*)?" + _NAME,
            r"type[ \t]+(?P<type>\w+)",
        ),
    ),
    "rust": BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, r'r#"(?:[^"]|"(?!#))*+(?:"#|\Z)', _DOUBLE, _CHARACTER),
        containers=_line(
            r"(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:unsafe[ \t]+)?(?:trait|mod)[ \t]+" + _NAME,
            r"(?:unsafe[ \t]+)?impl\b(?:<[^{\n]{0,80}?>)?[ \t]+"
            r"(?:[^{\n]{0,120}?[ \t]for[ \t]+)?(?P<type>[\w:]+)",
        ),
        functions=_line(
            r"(?:pub(?:\([^)\n]*\))?[ \t]+)?"
            r"(?:(?:async|const|unsafe|default|extern(?:[ \t]+\"[^\"\n]*\")?)[ \t]+)*"
            r"(?:fn|struct|enum|union)[ \t]+" + _NAME,
            r"macro_rules![ \t]*(?P<type>\w+)",
        ),
    ),
    "java": _curly(
        containers="class|interface|enum|record|@interface",
        functions=_C_FAMILY_CALL,
        strings=_JVM_STRINGS,
        members=_MODIFIERS + _NO_KEYWORD + r"(?P<name>[A-Z]\w*)[ \t]*\([^;\n]*$",
    ),
    "csharp": _curly(
        containers="class|interface|enum|record|struct|namespace",
        functions=_C_FAMILY_CALL,
        strings=_JVM_STRINGS,
        members=_MODIFIERS + _NO_KEYWORD + r"(?P<name>[A-Z]\w*)[ \t]*\([^;\n]*$",
    ),
    "kotlin": _curly(
        containers="class|interface|object|enum[ \t]+class",
        functions=_MODIFIERS + r"fun\b[ \t]*(?:<[^>\n]{0,80}>[ \t]*)?(?:[\w<>?]+\.)?" + _NAME,
        strings=_JVM_STRINGS,
    ),
    "scala": _curly(
        containers="class|trait|object|enum",
        functions=_MODIFIERS + r"def[ \t]+" + _NAME,
        strings=_JVM_STRINGS,
    ),
    "swift": _curly(
        containers="class|struct|enum|protocol|extension|actor",
        functions=r"(?:@\w+[ \t]+)*"
        + _MODIFIERS
        + r"(?:func[ \t]+"
        + _NAME
        + r"|(?P<type>init|deinit)\b[?!]?)",
        strings=(_TRIPLE, _DOUBLE),
    ),
    "dart": _curly(
        containers="class|mixin|extension|enum", functions=_C_FAMILY_CALL, strings=(_TRIPLE, _DOUBLE, _SINGLE)
    ),
    "php": BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, r"#(?!\[)[^\n]*+", _DOUBLE, _SINGLE),
        containers=_line(_MODIFIERS + r"(?:class|interface|trait|enum)[ \t]+" + _NAME),
        functions=_line(_MODIFIERS + r"function[ \t]+&?" + _NAME),
    ),
    "c": _curly(
        containers="(?!)",
        functions=_C_FAMILY_CALL
        + r"|(?:typedef[ \t]+)?(?:struct|enum|union)[ \t]+(?P<type>\w+)[ \t]*(?:\{|$)",
        strings=(_DOUBLE, _CHARACTER),
    ),
    "cpp": _curly(
        containers="class|struct|namespace|union|enum(?:[ \t]+class)?",
        functions=_C_FAMILY_CALL,
        strings=(_DOUBLE, _CHARACTER),
        members=_NO_KEYWORD + r"(?:explicit[ \t]+)?(?P<name>~?[A-Za-z_]\w*)[ \t]*\([^;\n]*$",
    ),
    "zig": _curly(
        containers="(?!)",
        functions=r"(?:pub[ \t]+)?(?:export[ \t]+|inline[ \t]+)*fn[ \t]+" + _NAME,
        strings=(_DOUBLE, _CHARACTER),
    ),
    "protobuf": _curly(
        containers="service|message|enum", functions=r"rpc[ \t]+" + _NAME, strings=(_DOUBLE, _SINGLE)
    ),
    "graphql": BraceLanguage(
        skipped=_pattern(r"#[^\n]*+", _TRIPLE, _DOUBLE),
        containers=lazy_pattern(r"(?!)"),
        functions=_line(
            r"(?:extend[ \t]+)?"
            r"(?:type|interface|enum|union|input|scalar|query|mutation|fragment)[ \t]+" + _NAME
        ),
    ),
    "terraform": BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, r"#[^\n]*+", _DOUBLE),
        containers=lazy_pattern(r"(?!)"),
        functions=_line(
            r"(?P<name>(?:resource|data|module|variable|output|provider|locals)\b[^{\n]{0,120})\{"
        ),
    ),
    "shell": BraceLanguage(
        skipped=_pattern(r"(?:(?<=\s)|(?<=^))#[^\n]*+", r'"(?:[^"\\]|\\.)*+"', r"'[^']*+'"),
        containers=lazy_pattern(r"(?!)"),
        functions=_line(r"function[ \t]+(?P<type>[\w:.-]+)", r"(?P<name>[\w:.-]+)[ \t]*\([ \t]*\)"),
    ),
    "perl": BraceLanguage(
        skipped=_pattern(r"(?:(?<=\s)|(?<=^))#[^\n]*+", _DOUBLE, _SINGLE),
        containers=lazy_pattern(r"(?!)"),
        functions=_line(r"sub[ \t]+" + _NAME),
    ),
}

FLAT: Final = {
    "python": FlatLanguage(
        definitions=_line(r"(?:async[ \t]+)?def[ \t]+" + _NAME, r"class[ \t]+(?P<type>\w+)"),
        containers=_line(r"class[ \t]+(?P<type>\w+)"),
    ),
    "ruby": FlatLanguage(
        definitions=_line(
            r"def[ \t]+(?:self\.)?(?P<name>\w+[?!=]?)", r"(?:class|module)[ \t]+(?P<type>[\w:]+)"
        ),
        containers=_line(r"(?:class|module)[ \t]+(?P<type>[\w:]+)"),
    ),
    "elixir": FlatLanguage(
        definitions=_line(
            r"(?:defp?|defmacrop?)[ \t]+(?P<name>\w+[?!]?)", r"defmodule[ \t]+(?P<type>[\w.]+)"
        ),
        containers=_line(r"defmodule[ \t]+(?P<type>[\w.]+)"),
    ),
    "lua": FlatLanguage(definitions=_line(r"(?:local[ \t]+)?function[ \t]+(?P<name>[\w.:]+)"), comment="--"),
    "sql": FlatLanguage(
        definitions=lazy_pattern(
            r"[ \t]*+create[ \t]+(?:or[ \t]+replace[ \t]+)?"
            r"(?:(?:unique|temp|temporary|virtual|materialized)[ \t]+)*"
            r"(?:table|view|function|procedure|trigger|index|type|schema|sequence)[ \t]+"
            r"(?:if[ \t]+not[ \t]+exists[ \t]+)?"
            r"(?P<name>[\w.\"`\[\]]+)",
            re.IGNORECASE,
        ),
        comment="--",
    ),
    "toml": FlatLanguage(definitions=lazy_pattern(r"\[{1,2}(?P<name>[^\]\n]{1,120})\]")),
    "ini": FlatLanguage(definitions=lazy_pattern(r"\[(?P<name>[^\]\n]{1,120})\]")),
    "yaml": FlatLanguage(definitions=lazy_pattern(r"(?P<name>[\w.\"'/-]{1,80})[ \t]*:(?:[ \t]|$)")),
    "make": FlatLanguage(definitions=lazy_pattern(r"(?P<name>[\w./%-]{1,80})[ \t]*:(?!=)")),
}


def lay_sections(text: str, definitions: Sequence[Definition], *, first_line: int = 1) -> tuple[Section, ...]:
    """Return sections that cover the text without overlap: the definitions, and what lies between them.

    What lies between stands without a heading, or under the name of the class that it belongs to. Lines that
    two definitions share go to the first.
    """
    layout = _Layout(LineIndex(text, first_line=first_line), first_line)
    layout.lay(definitions, 0, text.count("\n") + 1, heading="", prefix="")
    return tuple(layout.sections)


class _Layout:
    def __init__(self, index: LineIndex, first_line: int) -> None:
        self._index = index
        self._first_line = first_line
        self.sections: list[Section] = []

    def lay(
        self, definitions: Sequence[Definition], start: int, end: int, *, heading: str, prefix: str
    ) -> None:
        at = start
        for each in definitions:
            begin, stop = max(each.start, at), min(each.end, end)
            if begin >= stop:
                continue
            self._add(at, begin, heading)
            name, added = prefix + each.name, len(self.sections)
            if each.children:
                self.lay(each.children, begin, stop, heading=name + each.signature, prefix=name + ".")
                if added < len(self.sections):
                    self.sections[added] = replace(self.sections[added], opens=True)
            else:
                self._add(begin, stop, name + each.signature)
            at = stop
        self._add(at, end, heading)

    def _add(self, first: int, after: int, heading: str) -> None:
        start = self._index.start(self._first_line + first)
        end = self._index.start(self._first_line + after)
        if start < end:
            self.sections.append(self._index.section(start, end, heading))


LINE_LOOKED_AT: Final = 400
"""A definition shows at the beginning of its line; minified lines are not searched to their end."""


def flat_definitions(text: str, language: FlatLanguage) -> list[Definition]:
    """Return the outermost definitions, and those directly inside of containers as their children."""
    lines = text.split("\n")
    definitions: list[tuple[int, int, str, bool]] = []
    for number, line in enumerate(lines):
        head = line[:LINE_LOOKED_AT]
        if match := language.definitions.match(head):
            is_container = language.containers is not None and language.containers.match(head) is not None
            definitions.append(
                (number, len(line) - len(line.lstrip()), definition_name(match.groupdict()), is_container)
            )
    starts = [_with_comments(lines, number, language.comment) for number, *_ in definitions]
    return _nested(definitions, starts, range(len(definitions)), len(lines), NESTING_LIMIT)


def definition_name(groups: dict[str, str | None]) -> str:
    """Return the name that a definition's pattern caught, whichever of its groups did."""
    receiver = groups.pop("receiver", None)
    name = next((value.strip() for value in groups.values() if value), "")
    return f"{receiver}.{name}" if receiver else name


def _with_comments(lines: Sequence[str], number: int, comment: str) -> int:
    while number > 0 and lines[number - 1].lstrip().startswith((comment, "@")):
        number -= 1
    return number


def _nested(
    spans: Sequence[tuple[int, int, str, bool]], starts: Sequence[int], span: range, end: int, level: int
) -> list[Definition]:
    """Return those of `spans` in `span` that lie in no other, with what the containers contain."""
    definitions = []
    at = span.start
    while at < span.stop:
        _, indent, name, is_container = spans[at]
        following = at + 1
        while following < span.stop and spans[following][1] > indent:
            following += 1
        stop = starts[following] if following < span.stop else end
        inner = range(at + 1, following if is_container and level else at + 1)
        children = _nested(spans, starts, inner, stop, level - 1)
        definitions.append(Definition(name=name, start=starts[at], end=stop, children=tuple(children)))
        at = following
    return definitions


_ABOVE: Final = ("//", "/*", "*", "@", "#[", "#!", "[", "#")
"""What the lines directly above a definition begin with when they belong to it: comments and attributes."""
_BODY_WITHIN_LINES: Final = 20
"""Where the opening brace has to be; a declaration without a body ends before."""


@dataclass(frozen=True, slots=True)
class _Found:
    line: int
    depth: int
    name: str
    is_container: bool


def brace_definitions(text: str, language: BraceLanguage) -> list[Definition]:
    """Return the outermost definitions, and those directly inside of containers as their children."""
    lines = text.split("\n")
    depths, masked = _depths(text, language, len(lines))
    definitions = []
    for number, line in enumerate(lines):
        if masked[number] or not line or depths[number] < 0:
            continue
        head = line[:LINE_LOOKED_AT]
        match, is_container = language.containers.match(head), True
        if match is None:
            match, is_container = language.functions.match(head), False
        if match is None and depths[number] > 0 and language.members is not None:
            match = language.members.match(head)
        if match is not None:
            definitions.append(
                _Found(number, depths[number], definition_name(match.groupdict()), is_container)
            )
    return _Nesting(lines, depths, masked).within(definitions, 0, len(lines), depth=min(depths, default=0))


def _depths(text: str, language: BraceLanguage, lines: int) -> tuple[list[int], bytearray]:
    """Return for each line how deep in braces it begins, and whether it begins inside a string or comment."""
    tokens = re.compile(language.skipped.pattern + r"|[{}\n]", language.skipped.flags)
    depths = [0] * (lines + 1)
    masked = bytearray(lines + 1)
    line = depth = 0
    for match in tokens.finditer(text):
        token = match[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth = max(depth - 1, 0)  # one too many would push all that follows out of reach
        elif token == "\n":
            line += 1
            depths[line] = depth
        else:
            for _ in range(token.count("\n")):
                line += 1
                depths[line], masked[line] = depth, 1
    depths[lines] = 0
    return depths, masked


class _Nesting:
    def __init__(self, lines: Sequence[str], depths: Sequence[int], masked: Sequence[int]) -> None:
        self._lines = lines
        self._depths = depths
        self._masked = masked

    def within(
        self,
        nested_definitions: Sequence[_Found],
        start: int,
        end: int,
        *,
        depth: int,
        level: int = NESTING_LIMIT,
    ) -> list[Definition]:
        """Return the definitions at `depth` between two lines, each with what it contains."""
        candidates = [each for each in self._between(nested_definitions, start, end) if each.depth == depth]
        definitions: list[Definition] = []
        at = start
        for number, each in enumerate(candidates):
            if each.line < at:
                continue
            limit = candidates[number + 1].line if number + 1 < len(candidates) else end
            stop = min(self._end(each, limit, end), end)
            inner = (
                self._between(nested_definitions, each.line + 1, stop) if each.is_container and level else []
            )
            children = (
                self.within(inner, each.line + 1, stop, depth=depth + 1, level=level - 1) if inner else []
            )
            begin = max(self._with_comments(each.line, at), at)
            definitions.append(Definition(name=each.name, start=begin, end=stop, children=tuple(children)))
            at = stop
        return definitions

    @staticmethod
    def _between(definitions: Sequence[_Found], start: int, end: int) -> Sequence[_Found]:
        first = bisect_left(definitions, start, key=lambda each: each.line)
        return definitions[first : bisect_left(definitions, end, lo=first, key=lambda each: each.line)]

    def _end(self, definition: _Found, next_line: int, end: int) -> int:
        """Return the line after the definition's last: after its closing brace, or after its statement."""
        depth = definition.depth
        opened = False
        for line in range(definition.line + 1, end + 1):
            if self._depths[line] > depth:
                opened = True
            elif opened or "{" in self._lines[line - 1]:
                return line
            elif line >= next_line or line - definition.line > _BODY_WITHIN_LINES:
                return min(line, max(next_line, definition.line + 1))
            elif self._is_statement(self._lines[line - 1].rstrip()):
                return line
        return end

    @staticmethod
    def _is_statement(line: str) -> bool:
        return line.endswith(");") or (line.endswith((";", ",")) and "(" not in line)

    def _with_comments(self, line: int, floor: int) -> int:
        while line > floor and (self._masked[line] or self._lines[line - 1].lstrip().startswith(_ABOVE)):
            line -= 1
        return line


_ARGUMENTS_LIMIT: Final = 100
_COMMENT: Final = lazy_pattern(r"[ \t]*#")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_sections(text: str, *, language: str | None, first_line: int = 1) -> tuple[Section, ...]:
    """Return sections that cover `text`, or none where the language's definitions are not known.

    Python is parsed, and so are the languages of the extra `code` where it is installed. Python that does not parse,
    and every other language, is read by its structure: where definitions begin, and where their braces or their
    indentation end.
    """
    definitions = definitions_in(text, language=language)
    return lay_sections(text, definitions, first_line=first_line) if definitions else ()


def definitions_in(text: str, *, language: str | None) -> Sequence[Definition]:
    """Return the definitions of a text, or none where the language's are not known."""
    if language == "python":
        parsed = python_definitions(text)
        return flat_definitions(text, FLAT["python"]) if parsed is None else parsed
    if language is not None and (known := syntax_definitions(text, language)) is not None:
        return known
    if language in BRACES:
        return brace_definitions(text, BRACES[language])
    return flat_definitions(text, FLAT[language]) if language in FLAT else ()


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
    definitions = _defined(module.body, lines)
    docstring = _docstring(module)
    return [docstring, *definitions] if docstring is not None else definitions


def _docstring(module: ast.Module) -> Definition | None:
    if ast.get_docstring(module, clean=False) is None:
        return None
    return Definition(name="", start=0, end=module.body[0].end_lineno or 1)


def _defined(body: Sequence[ast.stmt], lines: Sequence[str]) -> list[Definition]:
    definitions = []
    for statement in _statements(body):
        start = min([statement.lineno, *(each.lineno for each in statement.decorator_list)]) - 1
        while start > 0 and _COMMENT.match(lines[start - 1]):
            start -= 1
        is_class = isinstance(statement, ast.ClassDef)
        definitions.append(
            Definition(
                name=statement.name,
                start=start,
                end=statement.end_lineno or statement.lineno,
                children=tuple(_defined(statement.body, lines)) if is_class else (),
                signature="" if isinstance(statement, ast.ClassDef) else _signature(statement.args),
            )
        )
    return definitions


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
