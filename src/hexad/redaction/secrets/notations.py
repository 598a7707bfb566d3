"""Named secrets in the notations that are no assignment: tables, SQL, phrases, Dockerfiles, "… as the API key"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hexad.redaction.secrets import values
from hexad.redaction.secrets.classifier import Style, accepts, is_phrase
from hexad.redaction.secrets.names import KEYWORDS, NameClass, classify_name
from hexad.redaction.secrets.spans import FROM_NAME, FROM_STRUCTURE, Span

JUDGED_LIMIT: Final = 256
"""How much of a value is looked at, in characters."""

_SQL = re.compile(
    r"\bidentified\s{1,8}(?:with\s{1,8}\S{1,40}\s{1,8})?(?:by|as)\s{1,8}(?:password\s{1,8})?"
    r"(?:'(?P<a>[^'\n\x00]{3,128})'|\"(?P<b>[^\"\n\x00]{3,128})\")",
    re.IGNORECASE,
)
_PASSPHRASE = re.compile(
    r"pass-?phrase[\"'`*]{0,3}(?:[ ]?[:=]{1,2}|[ ](?:is|was))?[*]{0,2}[ ]{0,4}"
    r"(?:\"(?P<a>[^\"\n\x00]{8,200}+)\"|'(?P<b>[^'\n\x00]{8,200}+)'|“(?P<c>[^”\n\x00]{8,200}+)”"
    r"|„(?P<d>[^“”\n\x00]{8,200}+)[“”]|(?<=[:= s][ ])(?P<e>[a-z]{3,16}+(?:[ ][a-z]{3,16}+){3,7}+)(?=[.]?[ ]{0,4}$))",
    re.IGNORECASE | re.MULTILINE,
)
_ENV_LINE = re.compile(
    r"^[ \t]{0,24}+(?:ENV|ARG|setx|SETX)[ \t]{1,8}+(?P<name>[A-Za-z_]\w{0,63}+)[ \t]{1,8}+[\"']?"
    r"(?P<a>[^\s\"'=\x00]{4,256}+)[\"']?(?:[ \t]{1,8}/[mM])?[ \t]{0,8}\r?$",
    re.MULTILINE,
)
_VALUE_FIRST = re.compile(
    r"(?<!\S)[\"'`]?(?P<a>[A-Za-z0-9+/=_.~-]{12,256}+)[\"'`]?[ ](?:as|is)[ ](?:the|your|my|our|its|an?)[ ]"
    r"(?P<name>(?:[\w-]{1,20}+[ ]){0,2}?[\w-]{0,20}?(?:key|token|secret|password))\b",
    re.IGNORECASE,
)

_HEADER = re.compile(
    r"^[ \t]{0,8}+\|?(?:[\w \"'-]{1,40}+)(?P<comma>[,;\t|])(?:[\w \"'-]{0,40}+(?:(?P=comma)[\w \"'-]{0,40}+){0,30}+)"
    r"\r?\n(?=[^\s])",
    re.MULTILINE,
)
_RULE_LINE = re.compile(r"[\s|:+-]+")
_BLANKS: Final = " \t\r\"'`"


def find_notations(text: str, lowered: str, *, kept_names: frozenset[str]) -> Iterator[Span]:
    """Yield the secrets in `text` that its layout or its sentence ties to a name; `kept_names` are left alone.

    `lowered` is `text` in lower case, of the same length.
    """
    if "identified" in lowered:
        for found in _SQL.finditer(text):
            if not _stands_in(found[found.lastgroup or 0]):
                yield Span("password", *found.span(found.lastgroup or 0), FROM_STRUCTURE)
    if "phrase" in lowered:
        for found in _PASSPHRASE.finditer(text):
            if is_phrase(found[found.lastgroup or 0]):
                yield Span("password", *found.span(found.lastgroup or 0), FROM_NAME)
    if "ENV" in text or "ARG" in text or "setx" in lowered:
        for found in _ENV_LINE.finditer(text):
            yield from _judged(text, found["name"], found.span("a"), Style.SHELL, kept_names)
    if " as " in lowered or " is " in lowered:
        for found in _VALUE_FIRST.finditer(text):
            kind = classify_name(found["name"])
            if kind not in (None, NameClass.WEAK):
                yield from _judged(text, found["name"], found.span("a"), Style.LOOSE, kept_names)
    yield from _table_cells(text, kept_names)


def _stands_in(value: str) -> bool:
    return values.is_placeholder(value) or (values.is_wordy(value) and not values.ends_in_number(value))


def _judged(
    text: str, name: str, place: tuple[int, int], style: Style, kept_names: frozenset[str]
) -> Iterator[Span]:
    kind = None if name in kept_names else classify_name(name)
    content = text[place[0] : min(place[1], place[0] + JUDGED_LIMIT)]
    if kind is not None and accepts(kind, content, style=style, name=name):
        yield Span(kind.value, *place, FROM_NAME)


def _table_cells(text: str, kept_names: frozenset[str]) -> Iterator[Span]:
    """Yield the secrets in the columns that a line of names announces, in CSV, TSV and Markdown tables."""
    at = 0
    while (header := _HEADER.search(text, at)) is not None:
        at = header.end()
        line = text[header.start() : at]
        names = [name.strip(_BLANKS) for name in line.rstrip("\r\n").split(header["comma"])]
        columns = []
        if any(word in line.lower() for word in KEYWORDS):
            kinds = [classify_name(name) for name in names]
            columns = [index for index, kind in enumerate(kinds) if kind not in (None, NameClass.WEAK)]
        while columns and at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            row = text[at:end]
            cells = row.split(header["comma"])
            if len(cells) != len(names):
                break
            if _RULE_LINE.fullmatch(row) is None:
                for index in columns:
                    start = at + sum(len(cell) + 1 for cell in cells[:index])
                    yield from _cell(text, names[index], start, cells[index], kept_names)
            at = end + 1


def _cell(text: str, name: str, start: int, cell: str, kept_names: frozenset[str]) -> Iterator[Span]:
    content = cell.strip(_BLANKS)
    if content:
        start += cell.index(content)
        yield from _judged(text, name, (start, start + len(content)), Style.LINE, kept_names)
