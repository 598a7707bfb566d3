"""What a piece of code says of itself: its first comment, and the names it defines."""

from __future__ import annotations

from typing import Final

from hexad.core.lazy import lazy_pattern
from hexad.text.summary.sentences import sentences

SAMPLE_LINES: Final = 60
"""Lines looked at to tell code from prose."""
CODE_SHARE: Final = 0.4
"""From this share of code-like lines on, a text is code."""
NAMES_LIMIT: Final = 60
DOC_CHARACTERS: Final = 1_600
DEFINED_CHARACTERS: Final = 130
"""Characters of one sentence of names, so that the first fits a micro summary beside a short comment."""

_CODE_LINE = lazy_pattern(
    r"[ \t]*(?:"
    r"(?:def|class|return|import|from|if|elif|else|for|while|try|except|with|raise|async|await|yield"
    r"|assert)\b"
    r"[^.?!]*[:)\]}\w*\"']$"
    r"|from[ \t]+[\w.]+[ \t]+import\b.*|import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?(?:,[ \t]*[\w.]+)*;?$"
    r"|[ \t]+[\w.*]+,$|[\"'][^\"']*[\"'](?:[ \t]*:[ \t]*\S.*)?,$"
    r"|@\w|#include\b|#!|//|/\*|\*/|[})\]]+[;,]?$"
    r"|(?:export|const|let|var|function|public|private|protected|static|final|void|fn|pub|impl|struct|enum"
    r"|use|func|package|type|interface|namespace|using|module|require|local"
    r"|SELECT|INSERT|CREATE|UPDATE|DELETE)\b"
    r".*[;{(})=,]$"
    r"|[\w.\[\]'\"$*]+(?:: ?[\w\[\], |.]+)? ?(?:[-+*/|&:]?=|\+=|<-) ?\S"
    r"|[\w.]+\(.*\)[;:,]?$"
    r"|.*[;{]$"
    r")"
)
_DEFINITION = lazy_pattern(
    r"(?m)^[ \t]*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async"
    r"|pub(?:\(\w+\))?|unsafe|declare|inline|virtual|override)[ \t]+){0,5}"
    r"(?:def|class|function\*?|func(?:[ \t]+\([^)\n]{0,80}\))?|fn|struct|enum|interface|trait|type|impl"
    r"|module"
    r"|namespace|record|object|protocol)[ \t]+([A-Za-z_$][\w$]*)"
)
_DOCSTRING = lazy_pattern(r"[rRbBuU]{0,2}(\"\"\"|''')")
_COMMENT = lazy_pattern(r"[ \t]*(?:#(?!!|include|define|if|endif|pragma)|//+!?|--+|;+|\*(?!/)|/\*+!?)[ \t]?")
_BOILERPLATE = lazy_pattern(
    r"(?i)copyright|licen[sc]e|spdx|all rights reserved|-\*-|vim?:|eslint|prettier|noqa|pylint"
    r"|type: ignore|coding[:=]"
)
_SECTION = lazy_pattern(
    r"(?m)^[ \t]*(?:[:@]\w+|(?:Args|Arguments|Parameters|Returns?|Raises|Examples?|Notes?)\b:?\s*$|-{3,})"
)


def outline(text: str, *, title: str | None = None) -> list[str] | None:
    """Return sentences that describe a piece of code, most telling first; None when `text` is not code.

    The first docstring or comment, but for licences and instructions to tools, then the names defined, in
    their order. Code with neither, such as settings, is described by its title and its lines.
    """
    lines = text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES]
    if not _is_code(lines):
        return None
    described = _documented(text) or _commented(lines)
    names = _defined(text)
    if not described and not names:
        shown = [title or "", *lines]
        described = [" ".join(line.split()) for line in shown if any(map(str.isalnum, line))]
    return described + names or None


def _is_code(lines: list[str]) -> bool:
    """Return whether enough lines look like a program; docstrings and comments do not count."""
    code = prose = 0
    quote = ""
    for line in lines:
        line = line[:200].rstrip()
        marks = next((mark for mark in ('"""', "'''") if mark in line), "")
        if quote:
            quote = "" if marks == quote else quote
            continue
        if marks and line.count(marks) == 1:
            quote = marks
            code += 1
        elif marks and line.lstrip("rRbBuU \t").startswith(marks) and line.endswith(marks):
            continue  # a docstring of one line
        elif line and _CODE_LINE.match(line):
            code += 1
        elif line and not _COMMENT.match(line):
            prose += 1
    if code == 1:
        return _defines(lines[0])
    return code > 0 and code >= CODE_SHARE * (code + prose)


def _defines(line: str) -> bool:
    return _DEFINITION.match(line) is not None and line.rstrip().endswith((":", "{", ")", ";"))


def begins_with(text: str) -> str | None:
    """Return the name of what a piece of code begins to define, after comments and decorators; None for no name.

    >>> begins_with("@cached\\ndef total(orders):\\n    return sum(orders)")
    'total'
    """
    for line in text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES]:
        if not line.strip() or _COMMENT.match(line) or line.lstrip().startswith(("@", "#[", "template<")):
            continue
        match = _DEFINITION.match(line)
        return match[1] if match is not None else None
    return None


def _documented(text: str) -> list[str]:
    """Return the first paragraphs of the first docstring, up to its list of arguments."""
    opening = _DOCSTRING.search(text)
    if opening is None:
        return []
    mark = opening.group(1)
    closing = text.find(mark, opening.end(), opening.end() + 4 * DOC_CHARACTERS)
    body = text[opening.end() : closing if closing >= 0 else opening.end() + DOC_CHARACTERS]
    section = _SECTION.search(body)
    return _sentences(body[: section.start()] if section and section.start() > 0 else body)


def _commented(lines: list[str]) -> list[str]:
    """Return the first run of comment lines that is no boilerplate."""
    run: list[str] = []
    for line in lines:
        mark = _COMMENT.match(line)
        if mark and not _BOILERPLATE.search(line[:200]):
            run.append(line[mark.end() :].rstrip("*/ "))
        elif any(run):
            break
        else:
            run = []
    return _sentences("\n".join(run))


def _sentences(body: str) -> list[str]:
    body = body[:DOC_CHARACTERS]
    texts = [" ".join(body[start:end].split()) for start, end in sentences(body)]
    return [sentence for sentence in texts if any(map(str.isalnum, sentence))]


def _defined(text: str) -> list[str]:
    """Return sentences `Defines a, b, c.`, each short."""
    names: dict[str, None] = {}
    for definition in _DEFINITION.finditer(text):
        names[definition.group(1)] = None
        if len(names) >= NAMES_LIMIT:
            break
    parts: list[str] = []
    shown = ""
    for name in names:
        if shown and len(shown) + len(name) + 2 > DEFINED_CHARACTERS:
            parts.append(f"Defines {shown}.")
            shown = ""
        shown = f"{shown}, {name}" if shown else name[:DEFINED_CHARACTERS]
    return [*parts, f"Defines {shown}."] if shown else parts
