"""The SDK's own client, for tests of the server: beside it in the process, or over the pipes of a real one."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hexad.interfaces.mcp.memory_offer import MemoryOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import build_server

Result = TypeVar("Result")
ERAS = ("2025-11-25", "2026-07-28")


def mode_of(era: str) -> str:
    """How the client connects to speak that era."""
    return era if era.startswith("2026") else "legacy"


def program(*args: object, cwd: Path) -> StdioServerParameters:
    """`hexad mcp` as a process of its own."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "hexad", "mcp", *map(str, args)],
        env=dict(os.environ),
        cwd=cwd,
    )


def over_stdio(
    talk: Callable[[Client], Awaitable[Result]], *args: object, cwd: Path, era: str = ERAS[0]
) -> Result:
    """What a client gets from a server process that it starts and ends."""

    async def main() -> Result:
        async with Client(stdio_client(program(*args, cwd=cwd)), mode=mode_of(era)) as client:
            return await talk(client)

    return anyio.run(main)


def in_process(
    talk: Callable[[Client], Awaitable[Result]],
    path: Path,
    *,
    era: str = ERAS[0],
    role: str | None = None,
    space: str | None = None,
) -> Result:
    """What a client gets from a server in this process."""
    store = OpenStore(path=str(path), role=role, space=space)

    async def main() -> Result:
        async with Client(build_server(MemoryOffer(store)), mode=mode_of(era)) as client:
            return await talk(client)

    try:
        return anyio.run(main)
    finally:
        store.close()


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """What a call that fails says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """The text of a result."""
    return "".join(block.text for block in result.content)
