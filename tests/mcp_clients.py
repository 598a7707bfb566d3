"""The SDK's own client, for tests of the server: beside it in the process, or over the pipes of a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
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


# The wire itself --------------------------------------------------------------------------------------------------------

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": ERAS[0],
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calling(number: int, tool: str, **arguments: object) -> dict:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def lines(*messages: object) -> str:
    return "".join(
        f"{message if isinstance(message, str) else json.dumps(message)}\n" for message in messages
    )


def answers(out: str) -> dict:
    """What came back, by the id of the request that it answers; what is no request's under None."""
    told = [json.loads(line) for line in out.splitlines()]
    return {message.get("id"): message for message in told}


class Server:
    """A server process whose pipes a test holds."""

    def __init__(self, project, *args: object, **options: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hexad", "mcp", *map(str, args)],
            cwd=project,
            env=dict(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def say(self, *messages: object) -> None:
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def hear(self) -> dict:
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def greet(self) -> None:
        self.say(HELLO, READY)
        assert "result" in self.hear()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                pipe.close()
