"""JSON that people wrote, changed in place: what is not changed keeps its bytes, comments and order included.

Read with comments and commas before a closing bracket, as the editors' own files have them, or strictly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from hexad.core.json_types import JSONValue
from hexad.errors import InvalidInput

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_COMMENTED: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REMARK: Final = re.compile(r"[ \t]*//[^\n]*(?=\n)")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DEPTH_LIMIT: Final = 200
_INDENT: Final = "  "
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(slots=True, eq=False)
class JsonNode:
    """A value in a text: where it stands, what it is, and for an object or a list its children."""

    start: int
    end: int = 0
    kind: str = "scalar"
    keys: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Where each child begins: its key in an object, itself in a list."""
    children: list[JsonNode] = field(default_factory=list)
    value: JSONValue = None
    """Of a scalar, and of every node once it was read."""


class _JsonReader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self._text, self._comments = text, comments
        self._at = len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0

    def read(self) -> JsonNode:
        self._skip()
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise self._error("something stands after its end")
        return node

    def _error(self, what: str) -> InvalidInput:
        before = self._text[: self._at]
        line, column = before.count("\n") + 1, self._at - (before.rfind("\n") + 1) + 1
        return InvalidInput(f"line {line}, column {column}: {what}")

    def _skip(self) -> None:
        match = (_COMMENTED if self._comments else _SPACE).match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self, depth: int) -> JsonNode:
        if depth > _DEPTH_LIMIT:
            raise self._error("too many brackets inside each other")
        start = self._next()
        if start in ("{", "["):
            return self._container(start, depth)
        match = (_STRING if start == '"' else _SCALAR).match(self._text, self._at)
        if match is None:
            raise self._error("no value stands here" if start else "the file ends too early")
        node = JsonNode(self._at, match.end())
        try:
            node.value = json.loads(match.group())
        except ValueError as error:
            raise self._error(f"{error}") from error
        self._at = match.end()
        return node

    def _container(self, bracket: str, depth: int) -> JsonNode:
        node = JsonNode(self._at, kind="object" if bracket == "{" else "list")
        closing = "}" if bracket == "{" else "]"
        self._at += 1
        self._skip()
        while self._next() != closing:
            self._child(node, depth)
            self._skip()
            if self._next() == ",":
                self._at += 1
                self._skip()
                if self._next() == closing and not self._comments:
                    raise self._error("a comma stands before a closing bracket")
            elif self._next() != closing:
                raise self._error(f"a comma or {closing!r} is missing")
        self._at += 1
        node.end = self._at
        values = [child.value for child in node.children]
        node.value = dict(zip(node.keys, values, strict=True)) if bracket == "{" else values
        return node

    def _child(self, node: JsonNode, depth: int) -> None:
        node.starts.append(self._at)
        if node.kind == "object":
            key = self._value(depth) if self._next() == '"' else None
            if key is None:
                raise self._error("a name in double quotes is missing")
            if key.value in node.keys:
                raise self._error(f"{str(key.value)[:80]!r} stands there twice")
            node.keys.append(str(key.value))
            self._skip()
            if self._next() != ":":
                raise self._error("a colon is missing")
            self._at += 1
            self._skip()
        node.children.append(self._value(depth + 1))


def read_json(text: str, *, comments: bool = False) -> JsonNode:
    """Return what a text says, with places. Raises `InvalidInput` that names line and column."""
    return _JsonReader(text, comments=comments).read()


def find(root: JsonNode, path: Sequence[str]) -> JsonNode | None:
    """Return the node at a path of names; None where it is not there."""
    node = root
    for name in path:
        if node.kind != "object" or name not in node.keys:
            return None
        node = node.children[node.keys.index(name)]
    return node


def set_member(text: str, path: Sequence[str], value: JSONValue, *, comments: bool = False) -> str:
    """Return the text with `value` at a path of names; objects that are missing on the way are made.

    Raises `InvalidInput` where something else than an object stands on the way.
    """
    root = read_json(text, comments=comments)
    for depth in range(len(path)):
        parent = _expect(find(root, path[:depth]), "object", path[:depth])
        if path[depth] not in parent.keys:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _inserted(text, parent, path[depth], value, comments=comments)
    node = find(root, path)
    assert node is not None
    if node.value == value:
        return text
    return text[: node.start] + _dumped(value, _indent_at(text, node.start), _unit(text)) + text[node.end :]


def append_item(text: str, path: Sequence[str], value: JSONValue, *, comments: bool = False) -> str:
    """Return the text with `value` at the end of the list at a path, which is made where it is missing."""
    node = find(read_json(text, comments=comments), path)
    if node is None:
        return set_member(text, path, [value], comments=comments)
    return _inserted(text, _expect(node, "list", path), None, value, comments=comments)


def remove_member(text: str, path: Sequence[str], *, comments: bool = False) -> str:
    """Return the text without what stands at a path of names, or as it is where nothing does."""
    parent = find(read_json(text, comments=comments), path[:-1])
    if parent is None or parent.kind != "object" or path[-1] not in parent.keys:
        return text
    return _without(text, parent, parent.keys.index(path[-1]), comments=comments)


def remove_item(text: str, path: Sequence[str], index: int, *, comments: bool = False) -> str:
    """Return the text without an item of the list at a path."""
    parent = _expect(find(read_json(text, comments=comments), path), "list", path)
    return _without(text, parent, index, comments=comments)


def _expect(node: JsonNode | None, kind: str, path: Sequence[str]) -> JsonNode:
    assert node is not None
    if node.kind != kind:
        raise InvalidInput(f"{'.'.join(path) or 'its content'} is no {kind}")
    return node


def _dumped(value: JSONValue, indent: str, unit: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text.replace("\n", "\n" + indent)


def _unit(text: str) -> str:
    """Return by what the text indents: what the first indented line begins with."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else _INDENT


def _indent_at(text: str, at: int) -> str:
    """Return what the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inserted(text: str, parent: JsonNode, name: str | None, value: JSONValue, *, comments: bool) -> str:
    unit = _unit(text)
    outer = _indent_at(text, parent.start)
    inner = (
        _indent_at(text, parent.starts[0])
        if parent.starts and "\n" in text[parent.start : parent.starts[0]]
        else outer + unit
    )
    item = ("" if name is None else json.dumps(name, ensure_ascii=False) + ": ") + _dumped(value, inner, unit)
    if not parent.children:
        inside = text[parent.start + 1 : parent.end - 1]
        kept = inside.rstrip() if inside.strip() else ""
        return f"{text[: parent.start + 1]}{kept}\n{inner}{item}\n{outer}{text[parent.end - 1 :]}"
    last = parent.children[-1].end
    one_line = "\n" not in text[parent.start : parent.end]
    comma = _comma_after(text, last, parent.end, comments=comments)
    gap = " " if one_line else f"\n{inner}"
    if comma is not None:
        at = _after_remark(text, comma + 1, comments=comments)
        return f"{text[:at]}{gap}{item},{text[at:]}"
    at = _after_remark(text, last, comments=comments)
    return f"{text[:last]},{text[last:at]}{gap}{item}{text[at:]}"


def _after_remark(text: str, at: int, *, comments: bool) -> int:
    """Return where a remark ends that follows on the same line, or the place itself."""
    match = _REMARK.match(text, at) if comments else None
    return at if match is None else match.end()


def _comma_after(text: str, at: int, end: int, *, comments: bool) -> int | None:
    """Return where the comma stands that follows a child, None where there is none before the end."""
    match = (_COMMENTED if comments else _SPACE).match(text, at, end)
    assert match is not None
    return match.end() if text[match.end()] == "," else None


def _without(text: str, parent: JsonNode, index: int, *, comments: bool) -> str:
    start, end = parent.starts[index], parent.children[index].end
    after = _comma_after(text, end, parent.end, comments=comments)
    if len(parent.children) == 1:
        before = text[parent.start + 1 : start]
        tail = text[(end if after is None else after + 1) : parent.end - 1]
        blank = not before.strip() and not tail.strip()
        return text[: parent.start + 1] + ("" if blank else before.rstrip() + tail) + text[parent.end - 1 :]
    if index == 0:
        return text[:start] + text[parent.starts[1] :]
    if after is None:
        # The last: the comma before it goes, with what stands between; comments of what stays are kept.
        comma = _comma_after(text, parent.children[index - 1].end, parent.end, comments=comments)
        assert comma is not None
        between = text[comma + 1 : start].rstrip(" \t\r\n")
        return text[:comma] + between + text[end:]
    left = (
        len(text[:start].rstrip(" \t\r\n")) if not comments or text[:start].rstrip().endswith(",") else start
    )
    return (
        text[:left] + text[after + 1 :]
        if left < start
        else text[:start] + text[after + 1 :].lstrip(" \t\r\n")
    )
