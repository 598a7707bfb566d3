"""How many entities are kept of those that servers acknowledge when 20 calls a server are sent at once.

    python -m benchmarks.mcp_graph                      # `hexad mcp graph`, and the reference memory server beside it
    python -m benchmarks.mcp_graph --suite DIR          # a folder in which npm has installed that one

1, 2 and 4 servers on one store (or on one file), each sent 20 calls of `create_entities` without waiting for answers; then
the graph is read by another server. Without `npm` the reference server is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.report import Table

PACKAGE: Final = "@modelcontextprotocol/server-memory@2026.8.31"
SERVERS: Final = (1, 2, 4)
CALLS: Final = 20
RUNS: Final = 10


def fetched(folder: Path) -> list[str] | None:
    """Return the command of the reference server, installing it where it is not; None without `npm`."""
    program = folder / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return None
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        subprocess.run([npm, "install", "--silent", PACKAGE], cwd=folder, check=True, timeout=600)
    return [node, str(program)]


def started(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a server and greet it."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    about = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    }
    say(process, {"id": 0, "method": "initialize", "params": about}, {"method": "notifications/initialized"})
    hear(process)
    return process


def say(process: subprocess.Popen[str], *messages: dict[str, Any]) -> None:
    """Send messages at once."""
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages))
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the next answer."""
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def calling(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def kept(command: Sequence[str], servers: int) -> tuple[int, int]:
    """Return how many entities were acknowledged, and how many of these are in the graph then."""
    with tempfile.TemporaryDirectory(prefix="hexad-graph-") as temporary:
        folder = Path(temporary)
        (folder / ".git").mkdir()
        env = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl"), "HEXAD_EMBEDDER": "hashing"}
        running = [started(command, folder, env) for _ in range(servers)]
        for at, process in enumerate(running):
            entities = [
                [{"name": f"{at}-{number}", "entityType": "test", "observations": ["is kept"]}]
                for number in range(CALLS)
            ]
            say(
                process,
                *(
                    calling(number, "create_entities", entities=each)
                    for number, each in enumerate(entities, 1)
                ),
            )
        acknowledged = set()
        for at, process in enumerate(running):
            for _ in range(CALLS):
                answer = hear(process)
                if "result" in answer and not answer["result"].get("isError"):
                    acknowledged.add(f"{at}-{answer['id'] - 1}")
        for process in running:
            process.communicate()
        reader = started(command, folder, env)
        say(reader, calling(1, "read_graph"))
        graph = hear(reader)["result"].get("structuredContent", {"entities": []})
        reader.communicate()
        return len(acknowledged), len(acknowledged & {entity["name"] for entity in graph["entities"]})


def main() -> int:
    """Print the table; the exit code is 1 where `hexad mcp graph` lost something."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, help="folder of the reference server; default: a temporary one")
    parser.add_argument("--runs", type=int, default=RUNS, help="how often each is tried")
    options = parser.parse_args()
    lost, rows = 0, []
    with tempfile.TemporaryDirectory(prefix="hexad-reference-") as temporary:
        reference = fetched(options.suite or Path(temporary))
        for name, command in (
            ("hexad mcp graph", [sys.executable, "-m", "hexad", "mcp", "graph"]),
            ("the reference memory server", reference),
        ):
            if command is None:
                print("npm is not installed: the reference server is left out.", file=sys.stderr)
                continue
            for servers in SERVERS:
                found = Counter(kept(command, servers) for _ in range(options.runs))
                told = ", ".join(
                    f"{there} of {said}{f' ({times} times)' if len(found) > 1 else ''}"
                    for (said, there), times in sorted(found.items())
                )
                rows.append((name, servers, told))
                if command is not reference:
                    lost += sum((said - there) * times for (said, there), times in found.items())
    columns = ("", "servers", "kept of what was acknowledged")
    print(Table(title=f"{options.runs} runs each", columns=columns, rows=rows).markdown())
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
