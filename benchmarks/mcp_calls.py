"""What a call over MCP costs beside the same call in the process, and what it takes to start `hexad mcp`.

    python -m benchmarks.mcp_calls                # some minutes
    python -m benchmarks.mcp_calls --quick
    python -m benchmarks.mcp_calls --markdown FILE

`recall` and `remember` in a store of 1,000 short memories, embedded by hashing, so that no model's time is in it: by 1, 8 and
32 callers at once, in the process (threads), over the pipes of one server (calls in flight) and over HTTP (clients with a
connection each). The callers speak the wire themselves; what the SDK's client costs is not in it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import hexad
from benchmarks.report import Table

CALLERS: Final = (1, 8, 32)
MEMORIES: Final = 1_000
ERA: Final = "2026-07-28"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": ERA,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_WORDS: Final = (
    "harbour crane ferry tide lock gate paint rope anchor noon storm quay pilot light buoy net".split()
)
Call = Callable[[str, dict[str, Any]], None]
"""Makes one call and returns when it is answered."""


def sentence(number: int) -> str:
    """Return a sentence that no other number has."""
    picked = [_WORDS[(number * step + step) % len(_WORDS)] for step in (1, 3, 5, 7)]
    return f"Note {number}: the {picked[0]} and the {picked[1]} wait for the {picked[2]} by the {picked[3]}."


def arguments_of(tool: str, number: int) -> dict[str, Any]:
    """Return the arguments of one call."""
    if tool == "remember":
        return {"text": sentence(1_000_000 + number)}
    return {
        "query": f"which {_WORDS[number % len(_WORDS)]} waits for the {_WORDS[number * 7 % len(_WORDS)]}?",
        "limit": 5,
    }


def request(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a call as its message."""
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": _META},
    }


def measured(call: Call, tool: str, *, callers: int, calls: int, first: int) -> tuple[float, float]:
    """Return calls a second and the 95th percentile of their times in milliseconds."""
    numbers: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for number in [*range(first, first + calls), *[None] * callers]:
        numbers.put(number)
    times: list[float] = []

    def work() -> None:
        while (number := numbers.get()) is not None:
            began = time.perf_counter()
            call(tool, arguments_of(tool, number))
            times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work) for _ in range(callers)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    return calls / took, sorted(times)[int(len(times) * 0.95)] * 1_000


@contextmanager
def in_process(project: Path) -> Iterator[Call]:
    """Call the library."""
    with hexad.open(project, embedder="hashing") as hx:
        calls: dict[str, Callable[..., Any]] = {"recall": hx.recall, "remember": hx.remember}
        yield lambda tool, arguments: calls[tool](
            next(iter(arguments.values())), **dict([*arguments.items()][1:])
        )


@contextmanager
def over_stdio(project: Path) -> Iterator[Call]:
    """Call a server over its pipes; callers share them, and each waits for its own answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "mcp"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    source, sink = process.stdout, process.stdin
    waiting: dict[int, threading.Event] = {}
    lock, numbers = threading.Lock(), iter(range(1, 1 << 30))

    def listen() -> None:
        for line in source:
            message = json.loads(line)
            assert not message["result"]["isError"], message
            waiting.pop(message["id"]).set()

    def call(tool: str, arguments: dict[str, Any]) -> None:
        answered = threading.Event()
        with lock:
            number = next(numbers)
            waiting[number] = answered
            sink.write(json.dumps(request(number, tool, arguments)) + "\n")
            sink.flush()
        answered.wait()

    listener = threading.Thread(target=listen)
    listener.start()
    call("recall", arguments_of("recall", 0))
    yield call
    sink.close()
    listener.join()
    process.wait()


@contextmanager
def over_http(project: Path) -> Iterator[Call]:
    """Call a server over HTTP; each caller has a connection."""
    command = [sys.executable, "-m", "hexad", "mcp", "--http", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().rsplit(":", 1)[1].split("/")[0])
    token = (project / ".hexad" / "server" / "token").read_text().strip()
    local = threading.local()

    def call(tool: str, arguments: dict[str, Any]) -> None:
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        heads = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": ERA,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        local.connection.request("POST", "/mcp", json.dumps(request(1, tool, arguments)), heads)
        response = local.connection.getresponse()
        body = response.read()
        assert b'"isError":false' in body, (response.status, body[:300])

    call("recall", arguments_of("recall", 0))
    yield call
    process.terminate()
    process.wait()


def started(arguments: list[str], project: Path, times: int, *later: dict[str, Any]) -> tuple[float, float]:
    """Return the CPU seconds of a program that is greeted and left, and the MiB that it took at most; medians.

    `later` are messages that it answers before it is left.
    """
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "server/discover",
        "params": {"_meta": _META},
    }
    used, sizes = [], []
    for _ in range(times):
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (hello, *later):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status").read_text()
        sizes.append(int(status.split("VmHWM:")[1].split()[0]) / 1_024)
        process.stdin.close()
        _, _, spent = os.wait4(process.pid, 0)
        process.returncode = 0
        used.append(spent.ru_utime + spent.ru_stime)
    return median(used), median(sizes)


def tables(work: Path, *, quick: bool) -> list[Table]:
    """Measure, and return the tables."""
    calls, times = (100, 3) if quick else (300, 11)
    project = work / "project"
    (project / ".git").mkdir(parents=True)
    with hexad.open(project, embedder="hashing") as hx:
        for number in range(MEMORIES):
            hx.remember(sentence(number))
        hx.embed_pending()
    rows, first = [], 1
    for name, way in (("in the process", in_process), ("stdio", over_stdio), ("HTTP", over_http)):
        with way(project) as call:
            for tool in ("recall", "remember"):
                found = []
                for callers in CALLERS:
                    found += measured(call, tool, callers=callers, calls=calls, first=first)
                    first += calls
                rows.append((f"{tool}, {name}", *(round(value, 1) for value in found)))
    heads = [f"{callers}: {what}" for callers in CALLERS for what in ("calls/s", "p95, ms")]
    imported = "import mcp.server.lowlevel; input(); print(flush=True); input()"
    sdk = started(["-c", f"try:\n {imported}\nexcept EOFError: pass"], project, times)
    own = started(["-m", "hexad", "mcp"], project, times)
    asked = started(["-m", "hexad", "mcp"], project, times, request(1, "recall", arguments_of("recall", 0)))
    starting = [
        ("the SDK's import alone", round(sdk[0], 3), round(sdk[1], 1), 1.0),
        ("`hexad mcp`, greeted and left", round(own[0], 3), round(own[1], 1), round(own[0] / sdk[0], 2)),
        ("and asked once to recall", round(asked[0], 3), round(asked[1], 1), round(asked[0] / sdk[0], 2)),
    ]
    return [
        Table(title=f"Calls by callers at once, {calls} each", columns=("", *heads), rows=rows),
        Table(
            title=f"Start, medians of {times}", columns=("", "CPU, s", "most memory, MiB", "×"), rows=starting
        ),
    ]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer calls: to see that it runs")
    parser.add_argument("--markdown", type=Path, help="write the tables here too")
    options = parser.parse_args()
    os.environ["HEXAD_EMBEDDER"] = "hashing"
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hexad-mcp-") as work:
        found = tables(Path(work), quick=options.quick)
    text = "\n\n".join(table.markdown() for table in found)
    text += f"\n\nLoad average {before:.1f} before and {os.getloadavg()[0]:.1f} at the end."
    text += (
        f" The callers took {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} s of CPU of their own."
    )
    print(text)
    if options.markdown is not None:
        options.markdown.write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
