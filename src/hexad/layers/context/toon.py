"""Token-Oriented Object Notation: JSON's data in fewer characters, where rows share their fields.

The encoder follows version 3 of the notation's specification, with commas and an indent of two spaces: an object is
lines of `key: value`, a list of objects with the same plain fields is a table whose head names them once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Final, TypeGuard

from hexad.core.json_types import JSONValue

_INDENT: Final = "  "
ROW_MARGIN: Final = _INDENT
"""What stands before a row of a table that is a member of the whole."""
_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_NUMBER: Final = r"\+?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SPECIAL: Final = r',:"\\\[\]{}\x00-\x1f'
_BARE: Final = re.compile(rf"(?!(?:true|false|null|{_NUMBER})\Z)[^\s#{_SPECIAL}-][^{_SPECIAL}]*(?<!\s)")
"""A string that nothing but itself can be without quotes."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def encode(value: JSONValue) -> str:
    r"""Return a value in the notation. Characters that it cannot carry are replaced by U+FFFD.

    >>> print(encode({"task": "ship", "rows": [{"id": 1, "text": "a, b"}, {"id": 2, "text": "c"}]}))
    task: ship
    rows[2]{id,text}:
      1,"a, b"
      2,c
    """
    if isinstance(value, Mapping):
        return "\n".join(_object(value, 0))
    if _is_list(value):
        return "\n".join(_list("", value, 0))
    return _plain(value)


def cells(values: Iterable[JSONValue]) -> str:
    """Return a row of a table, of plain values, without its margin."""
    return ",".join(map(_plain, values))


def table(name: str, fields: Sequence[str], rows: Sequence[str]) -> str:
    r"""Return a member that is a table, of rows as `cells` has them, as `encode` does of an object that has it.

    >>> table("rows", ["id", "text"], [cells([1, "a, b"]), cells([2, "c"])]) == encode(
    ...     {"rows": [{"id": 1, "text": "a, b"}, {"id": 2, "text": "c"}]}
    ... )
    True
    """
    head = f"{_name(name)}[{len(rows)}]{{{','.join(map(_name, fields))}}}:"
    return "\n".join([head, *[_INDENT + row for row in rows]])


def _object(value: Mapping[str, JSONValue], depth: int) -> Iterator[str]:
    for key, item in value.items():
        yield from _member(_name(key), item, depth)


def _member(name: str, value: JSONValue, depth: int) -> Iterator[str]:
    margin = _INDENT * depth
    if isinstance(value, Mapping):
        yield f"{margin}{name}:"
        yield from _object(value, depth + 1)
    elif _is_list(value):
        yield from _list(name, value, depth)
    else:
        yield f"{margin}{name}: {_plain(value)}"


def _list(name: str, value: Sequence[JSONValue], depth: int, *, tables: bool = True) -> Iterator[str]:
    margin = _INDENT * depth
    if not value:
        yield f"{margin}{name}: []" if name else f"{margin}[]"
        return
    head = f"{margin}{name}[{len(value)}]"
    if all(map(_is_plain, value)):
        yield f"{head}: {','.join(map(_plain, value))}"
        return
    fields = _fields(value) if tables else None
    if fields is not None:
        yield f"{head}{{{','.join(map(_name, fields))}}}:"
        for row in value:
            assert isinstance(row, Mapping)
            yield f"{margin}{_INDENT}{cells([row[field] for field in fields])}"
        return
    yield f"{head}:"
    for item in value:
        yield from _item(item, depth + 1)


def _item(value: JSONValue, depth: int) -> Iterator[str]:
    margin = _INDENT * depth
    if isinstance(value, Mapping):
        if not value:
            yield f"{margin}-"
            return
        lines = list(_object(value, depth + 1))
        yield f"{margin}- {lines[0].lstrip(' ')}"
        yield from lines[1:]
    elif _is_list(value):
        lines = list(_list("", value, depth, tables=False)) if value else ["[0]:"]
        yield f"{margin}- {lines[0].lstrip(' ')}"
        yield from lines[1:]
    else:
        yield f"{margin}- {_plain(value)}"


def _fields(rows: Sequence[JSONValue]) -> tuple[str, ...] | None:
    """Return the fields of a table; None where the rows are no plain objects with the same ones."""
    first = rows[0]
    if not isinstance(first, Mapping) or not first:
        return None
    fields = tuple(first)
    names = first.keys()
    for row in rows:
        if not isinstance(row, Mapping) or row.keys() != names:
            return None
        if not all(map(_is_plain, row.values())):
            return None
    return fields


def _is_plain(value: JSONValue) -> bool:
    # Nearly all values are plain, and what they are is told faster than that they are no collection.
    return isinstance(value, (str, int, float, NoneType)) or not (
        isinstance(value, Mapping) or _is_list(value)
    )


def _is_list(value: JSONValue) -> TypeGuard[Sequence[JSONValue]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _name(key: str) -> str:
    return key if _KEY.fullmatch(key) else _quoted(key)


def _plain(value: JSONValue) -> str:
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) else _quoted(value)
    if isinstance(value, float):
        if not isfinite(value):
            return "null"
        number = format(Decimal(repr(value)), "f")
        number = number.rstrip("0").rstrip(".") if "." in number else number
        return "0" if number == "-0" else number
    return json.dumps(value)


def _quoted(text: str) -> str:
    text = _CONTROL.sub("\ufffd", text)
    return '"' + text.translate(_ESCAPES) + '"'
