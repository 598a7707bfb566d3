"""Anthropic's memory tool over a Hexad store: the files that Claude keeps are memories (extra `anthropic`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hexad.core.arguments import quoted
from hexad.integrations.memory_files import FileRefused, MemoryFiles
from hexad.integrations.open_store import require_open_store

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from pydantic import BaseModel, ValidationError
except ModuleNotFoundError as error:
    raise ImportError(
        f"hexad.integrations.anthropic needs the package {error.name!r}; install the extra: "
        "pip install 'hexad[anthropic]'."
    ) from error

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaFunctionToolResultType
    from anthropic.types.beta import (
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from hexad.engine import Hexad

__all__ = ["AsyncHexadMemoryTool", "HexadMemoryTool"]
_COMMANDS: Final = ("view", "create", "str_replace", "insert", "delete", "rename")


def _told(call: Callable[[], str], command: BaseModel | None = None) -> str:
    """Return an answer; what is refused is told as the tool's error, which the model reads.

    The SDK hands a model's call over as it is, values of other types among it.
    """
    try:
        if command is not None:
            type(command).model_validate(command.model_dump(warnings=False), strict=True)
        return call()
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc']))} = {quoted(each['input'])}: {each['msg']}"
            for each in error.errors()
        )
        raise ToolError(
            f"The command {getattr(command, 'command', '')} cannot be carried out: {wrong}."
        ) from error
    except FileRefused as error:
        raise ToolError(str(error)) from error


def _known(command: BetaMemoryTool20250818Command) -> BetaMemoryTool20250818Command:
    """Return a command that there is; the SDK hands anything else on as well, as a model has made it up."""
    if getattr(command, "command", None) not in _COMMANDS:
        asked = getattr(command, "command", command)
        raise ToolError(f"There is no command {quoted(asked)}; it is one of {', '.join(_COMMANDS)}.")
    return command


def _lines(view_range: list[int] | None) -> tuple[int, int] | None:
    if not view_range:
        return None
    if len(view_range) != 2:
        raise FileRefused(f"Invalid `view_range` parameter: {view_range}. It should be two line numbers.")
    return view_range[0], view_range[1]


class HexadMemoryTool(BetaAbstractMemoryTool):
    """The tool `memory` of the Messages API, for `client.beta.messages.run_tools`.

    `/memories/team/style.md` is the memory at `memories/team/style.md` of `space`: `store.recall` finds it, and what is
    remembered under that path is a file to the model. With `purge`, what the model deletes is erased for good, with a
    receipt; else it is archived.
    """

    def __init__(self, store: Hexad, *, space: str = "default", purge: bool = False) -> None:
        """Raise `InvalidInput` for anything but an open store."""
        super().__init__()
        self._files = MemoryFiles(require_open_store(store, by="the memory tool"), space=space, purge=purge)

    def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Carry out what a model asked for; what there is no command for is told as the tool's error."""
        return super().execute(_known(command))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with numbered lines, or a folder's files."""
        return _told(lambda: self._files.view(command.path, _lines(command.view_range)), command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        return _told(lambda: self._files.create(command.path, command.file_text), command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once."""
        return _told(lambda: self._files.replace(command.path, command.old_str, command.new_str), command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line."""
        return _told(
            lambda: self._files.insert(command.path, command.insert_line, command.insert_text), command
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder."""
        return _told(lambda: self._files.delete(command.path), command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path), command)

    def clear_all_memory(self) -> str:
        """Delete all files."""
        return _told(self._files.clear)


class AsyncHexadMemoryTool(BetaAsyncAbstractMemoryTool):
    """`HexadMemoryTool` for the asynchronous client; the store works in a thread."""

    def __init__(self, store: Hexad, *, space: str = "default", purge: bool = False) -> None:
        """Raise `InvalidInput` for anything but an open store."""
        super().__init__()
        self._tool = HexadMemoryTool(store, space=space, purge=purge)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """As `HexadMemoryTool.execute`."""
        return await super().execute(_known(command))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with numbered lines, or a folder's files."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete all files."""
        return await asyncio.to_thread(self._tool.clear_all_memory)
