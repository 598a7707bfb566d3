"""What definitions look like in languages that are read by their structure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

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
    return re.compile("|".join(parts), re.DOTALL)


def _line(*alternatives: str) -> Pattern:
    return re.compile(r"[ \t]*+(?:" + "|".join(alternatives) + ")")


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
        containers=re.compile(r"(?!)"),
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
        containers=re.compile(r"(?!)"),
        functions=_line(
            r"(?:extend[ \t]+)?"
            r"(?:type|interface|enum|union|input|scalar|query|mutation|fragment)[ \t]+" + _NAME
        ),
    ),
    "terraform": BraceLanguage(
        skipped=_pattern(_SLASH_COMMENTS, r"#[^\n]*+", _DOUBLE),
        containers=re.compile(r"(?!)"),
        functions=_line(
            r"(?P<name>(?:resource|data|module|variable|output|provider|locals)\b[^{\n]{0,120})\{"
        ),
    ),
    "shell": BraceLanguage(
        skipped=_pattern(r"(?:(?<=\s)|(?<=^))#[^\n]*+", r'"(?:[^"\\]|\\.)*+"', r"'[^']*+'"),
        containers=re.compile(r"(?!)"),
        functions=_line(r"function[ \t]+(?P<type>[\w:.-]+)", r"(?P<name>[\w:.-]+)[ \t]*\([ \t]*\)"),
    ),
    "perl": BraceLanguage(
        skipped=_pattern(r"(?:(?<=\s)|(?<=^))#[^\n]*+", _DOUBLE, _SINGLE),
        containers=re.compile(r"(?!)"),
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
        definitions=re.compile(
            r"[ \t]*+create[ \t]+(?:or[ \t]+replace[ \t]+)?"
            r"(?:(?:unique|temp|temporary|virtual|materialized)[ \t]+)*"
            r"(?:table|view|function|procedure|trigger|index|type|schema|sequence)[ \t]+"
            r"(?:if[ \t]+not[ \t]+exists[ \t]+)?"
            r"(?P<name>[\w.\"`\[\]]+)",
            re.IGNORECASE,
        ),
        comment="--",
    ),
    "toml": FlatLanguage(definitions=re.compile(r"\[{1,2}(?P<name>[^\]\n]{1,120})\]")),
    "ini": FlatLanguage(definitions=re.compile(r"\[(?P<name>[^\]\n]{1,120})\]")),
    "yaml": FlatLanguage(definitions=re.compile(r"(?P<name>[\w.\"'/-]{1,80})[ \t]*:(?:[ \t]|$)")),
    "make": FlatLanguage(definitions=re.compile(r"(?P<name>[\w./%-]{1,80})[ \t]*:(?!=)")),
}
