"""What is changed in one file of an assistant, and how the change is taken out again."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from hexad.core.json_types import JSONValue
from hexad.errors import Conflict, InvalidInput
from hexad.interfaces.assistants import json_text
from hexad.interfaces.assistants.marked_block import MARKDOWN_MARKS, TOML_MARKS, BlockMarks

_OUR_HOOK: Final = re.compile(r"\bhexad\b\"? hook [a-z-]+\s*$")
_OUR_PROGRAM: Final = re.compile(r"(^|[/\\])hexad(\.exe)?$")
_OUR_FILE: Final = "generator: hexad-install"
_BY_HAND: Final[JSONValue] = {"command": "hexad", "args": ["mcp"]}
"""An entry as docs/mcp.md shows it."""


class FileEdit(Protocol):
    """A change of one file. Both raise `InvalidInput` for a file that cannot be read as what it is.

    `original` is what the file was before us as its record has it, empty where there was none; None without a record.
    """

    @property
    def what(self) -> str:
        """What the file gets, in words."""

    def put(self, text: str, original: str | None) -> str:
        """Return a file's text with what is ours; the text is empty where there is no file.

        Raises `Conflict` where something of somebody else stands in its place.
        """

    def refuse_foreign(self, text: str) -> None:
        """Raise `Conflict` where something of somebody else, or that somebody changed, stands in our place."""

    def take_out(self, text: str, original: str | None) -> str:
        """Return a file's text without what is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonEdit:
    """Members, and items of lists, in a JSON file; hooks are known again by their command."""

    what: str
    members: Mapping[tuple[str, ...], JSONValue] = field(default_factory=dict)
    items: Mapping[tuple[str, ...], JSONValue] = field(default_factory=dict)
    defaults: Mapping[tuple[str, ...], JSONValue] = field(default_factory=dict)
    """Members that such a file must have; another value of them stays."""
    comments: bool = False

    def put(self, text: str, original: str | None) -> str:
        """Return the text with our members and items."""
        text = text if text.strip() else "{}\n"
        if original is None:
            self.refuse_foreign(text)
        for path, value in {**self._missing(text), **self.members}.items():
            text = json_text.set_member(text, path, value, comments=self.comments)
        for path, value in self.items.items():
            if value not in self._list(text, path):
                text = json_text.append_item(
                    self._without_items(text, path), path, value, comments=self.comments
                )
        return text

    def refuse_foreign(self, text: str) -> None:
        """Raise `Conflict` for a member that is neither as we write it nor as the documents show it."""
        for path in self.members if text.strip() else ():
            there = self._foreign_member(text, path)
            if there is not None and _without_program(there) != _BY_HAND:
                raise Conflict(
                    f"its {'.'.join(path)} is not as `hexad install` writes it; rename or remove that member"
                )

    def _foreign_member(self, text: str, path: tuple[str, ...]) -> JSONValue:
        """Return the member where it is not as we write it, else None."""
        there = json_text.find(json_text.read_json(text, comments=self.comments), path)
        if there is None or _without_program(there.value) == _without_program(self.members[path]):
            return None
        return there.value if there.value is not None else ""

    def _missing(self, text: str) -> dict[tuple[str, ...], JSONValue]:
        root = json_text.read_json(text, comments=self.comments)
        return {path: value for path, value in self.defaults.items() if json_text.find(root, path) is None}

    def take_out(self, text: str, original: str | None) -> str:
        """Return the text without our members and items, and without the objects that were made for them."""
        if not text.strip():
            return text
        was = original or ""
        before = json_text.read_json(was if was.strip() else "{}", comments=self.comments)
        whole = text
        for path in self.items:
            if (without := self._without_items(text, path)) != text:
                text = self._pruned(without, path, before)
        for path in self.members:
            if original is None and self._foreign_member(text, path) is not None:
                continue
            there = json_text.find(before, path)
            if there is not None:
                text = json_text.set_member(text, path, there.value, comments=self.comments)
            elif (without := json_text.remove_member(text, path, comments=self.comments)) != text:
                text = self._pruned(without, path[:-1], before)
        if text == whole or was.strip():
            return text
        root = json_text.read_json(text, comments=self.comments)
        return "" if root.value == {path[0]: value for path, value in self.defaults.items()} else text

    def _list(self, text: str, path: Sequence[str]) -> list[JSONValue]:
        node = json_text.find(json_text.read_json(text, comments=self.comments), path)
        return node.value if node is not None and isinstance(node.value, list) else []

    def _without_items(self, text: str, path: Sequence[str]) -> str:
        items = self._list(text, path)
        for index in range(len(items) - 1, -1, -1):
            left = _without_our_hooks(items[index])
            if left != items[index]:
                text = json_text.remove_item(text, path, index, comments=self.comments)
                if left is not None:
                    text = json_text.append_item(text, path, left, comments=self.comments)
        return text

    def _pruned(self, text: str, path: Sequence[str], before: json_text.JsonNode) -> str:
        for length in range(len(path), 0, -1):
            node = json_text.find(json_text.read_json(text, comments=self.comments), path[:length])
            if node is None or node.children or json_text.find(before, path[:length]) is not None:
                break
            text = json_text.remove_member(text, path[:length], comments=self.comments)
        return text


def _without_program(server: JSONValue) -> JSONValue:
    """Return a server's entry without where its `hexad` lies, which differs from environment to environment."""
    if isinstance(server, dict) and isinstance(args := server.get("args"), list):
        if isinstance(command := server.get("command"), str) and _OUR_PROGRAM.search(command):
            return {**server, "command": "hexad"}
        if isinstance(command, str) and args[:2] == ["-m", "hexad"]:
            return {**server, "command": "hexad", "args": args[2:]}
    return server


def _without_our_hooks(item: JSONValue) -> JSONValue:
    """Return an item of a list of hooks without ours; None where nothing is left."""
    if not isinstance(item, dict):
        return item
    command, hooks = item.get("command"), item.get("hooks")
    if isinstance(command, str) and _OUR_HOOK.search(command):
        return None
    if isinstance(hooks, list):
        left = [hook for hook in hooks if _without_our_hooks(hook) is not None]
        if len(left) < len(hooks):
            return {**item, "hooks": left} if left else None
    return item


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEdit:
    """A marked block in a text file."""

    what: str
    content: str
    marks: BlockMarks = MARKDOWN_MARKS

    def put(self, text: str, original: str | None) -> str:
        """Return the text with the block."""
        del original
        return self.marks.put(text, self.content)

    def refuse_foreign(self, text: str) -> None:
        """Accept all: what stands between our marks is ours."""
        del text

    def take_out(self, text: str, original: str | None) -> str:
        """Return the text without the block."""
        del original
        return self.marks.take_out(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlEdit:
    """A marked block of tables at the end of a TOML file."""

    what: str
    content: str
    table: str

    def put(self, text: str, original: str | None) -> str:
        """Return the text with the block. Raises `InvalidInput` where its table stands elsewhere in the file, too."""
        del original
        tomllib.loads(text)
        new = TOML_MARKS.put(text, self.content)
        try:
            tomllib.loads(new)
        except tomllib.TOMLDecodeError as error:
            servers, name = self.table.split(".")
            tables = tomllib.loads(TOML_MARKS.take_out(text)).get(servers)
            if isinstance(tables, dict) and name in tables:
                reason = f"it has [{self.table}] already, outside of a block of ours; remove that"
            else:
                reason = f"its {servers} cannot get [{self.table}]; write it as tables, [{servers}.NAME]"
            raise InvalidInput(reason) from error
        return new

    def refuse_foreign(self, text: str) -> None:
        """Accept all: what stands between our marks is ours."""
        del text

    def take_out(self, text: str, original: str | None) -> str:
        """Return the text without the block."""
        del original
        return TOML_MARKS.take_out(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeFile:
    """A file that is ours as a whole."""

    what: str
    content: str

    def put(self, text: str, original: str | None) -> str:
        """Return the file's content; raises `Conflict` for a file of somebody else."""
        del original
        self.refuse_foreign(text)
        return self.content

    def refuse_foreign(self, text: str) -> None:
        """Raise `Conflict` for a file of somebody else."""
        if text and text != self.content and _OUR_FILE not in text:
            raise Conflict("it is not from `hexad install`; move it away")

    def take_out(self, text: str, original: str | None) -> str:
        """Return what was there before; a file of somebody else stays."""
        if text and _OUR_FILE not in text:
            return text
        return "" if original is None or _OUR_FILE in original else original
