"""What a call over HTTP costs beside the same call in the process, what `hexad serve` takes to start, and tokens a second.

    python -m benchmarks.http_calls                # some minutes
    python -m benchmarks.http_calls --quick
    python -m benchmarks.http_calls --markdown FILE

`recall`, `remember` and `count` (which asks next to nothing) in a store of 1,000 short memories, embedded by hashing, by 1, 8
and 32 callers at once: in the process (threads), over HTTP (a connection each, spoken by themselves), and through
`hexad.connect`. Tokens come in line by line, in one request, and are on the disk when the last line is acknowledged.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
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
from benchmarks.mcp_calls import CALLERS, MEMORIES, Call, arguments_of, measured, sentence
from benchmarks.report import Table

TOOLS: Final = ("recall", "remember", "count")
_PATHS: Final = {"recall": "/v1/recall", "remember": "/v1/memories", "count": "/v1/memories/count"}


@contextmanager
def in_process(project: Path) -> Iterator[Call]:
    """Call the library."""
    with hexad.open(project, embedder="hashing") as hx:
        yield called_on(hx)


def called_on(hx: Any) -> Call:
    """Return calls on something that has the verbs of an open store."""
    calls: dict[str, Callable[..., Any]] = {
        "recall": lambda arguments: hx.recall(arguments["query"], limit=5),
        "remember": lambda arguments: hx.remember(arguments["text"]),
        "count": lambda arguments: hx.count(),
    }
    return lambda tool, arguments: calls[tool](arguments)


@contextmanager
def server(project: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Start a server; give it and what it says."""
    command = [sys.executable, "-m", "hexad", "serve", "--port", "0", "--json", "--rate", "1000000"]
    process = subprocess.Popen(
        command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        text += process.stdout.readline()
    try:
        yield process, json.loads(text)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def over_http(project: Path) -> Iterator[Call]:
    """Ask a server; each caller has a connection."""
    with server(project) as (_, told):
        port, token = int(told["url"].rpartition(":")[2]), Path(told["token_file"]).read_text().strip()
        local = threading.local()

        def call(tool: str, arguments: dict[str, Any]) -> None:
            if not hasattr(local, "connection"):
                local.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            heads = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            method, body = ("GET", None) if tool == "count" else ("POST", json.dumps(arguments))
            local.connection.request(method, _PATHS[tool], body, heads)
            response = local.connection.getresponse()
            content = response.read()
            assert response.status == 200, content[:300]

        call("recall", arguments_of("recall", 0))
        yield call


@contextmanager
def through_client(project: Path) -> Iterator[Call]:
    """Ask a server as `hexad.connect` does."""
    with server(project) as (_, told), hexad.connect(told["url"], token=Path(told["token_file"])) as hx:
        hx.count()
        yield called_on(hx)


def streamed(project: Path, tokens: int) -> tuple[float, float]:
    """Return tokens a second of one request, and of single `record` calls of the same server."""
    with server(project) as (_, told):
        with hexad.connect(told["url"], token=Path(told["token_file"])) as hx:
            hx.xdb.start_session("bench")
            began = time.perf_counter()
            for number in range(100):
                hx.xdb.record("output", f" token{number}", {"pack::Ferry": 0.5})
            single = 100 / (time.perf_counter() - began)
        port, token = int(told["url"].rpartition(":")[2]), Path(told["token_file"]).read_text().strip()
        lines = [
            json.dumps(
                {
                    "event_type": "output",
                    "content": f" token{number}",
                    "concept_activations": {"pack::Ferry": 0.5},
                }
            ).encode()
            + b"\n"
            for number in range(tokens)
        ]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        heads = {"authorization": f"Bearer {token}", "content-type": "application/x-ndjson"}
        pieces = [b"".join(lines[start : start + 1_000]) for start in range(0, tokens, 1_000)]
        began = time.perf_counter()
        answers: list[bytes] = []
        connection.request(
            "POST", "/v1/xdb/tokens?session_id=bench", iter(pieces), heads, encode_chunked=True
        )
        answers.append(connection.getresponse().read())
        took = time.perf_counter() - began
        assert b'"done": true' in answers[0], answers[0][-300:]
    return tokens / took, single


def started(project: Path, times: int) -> tuple[float, float, float, float]:
    """Return seconds until a server listens, its CPU by then, and MiB it took, then and after a recall; medians."""
    found: list[tuple[float, float, float, float]] = []
    for _ in range(times):
        began = time.perf_counter()
        with server(project) as (process, told):
            took = time.perf_counter() - began
            status = Path(f"/proc/{process.pid}/status").read_text()
            stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            spent = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
            with hexad.connect(told["url"], token=Path(told["token_file"])) as hx:
                hx.recall("which crane waits?")
            later = Path(f"/proc/{process.pid}/status").read_text()
        found.append((took, spent, _resident(status), _resident(later)))
    took, spent, first, then = (median(values) for values in zip(*found, strict=True))
    return took, spent, first, then


def _resident(status: str) -> float:
    return int(status.split("VmHWM:")[1].split(maxsplit=1)[0]) / 1_024


def tables(work: Path, *, quick: bool) -> list[Table]:
    """Measure, and return the tables."""
    calls, times, tokens = (60, 2, 5_000) if quick else (300, 5, 50_000)
    project = work / "project"
    (project / ".git").mkdir(parents=True)
    with hexad.open(project, embedder="hashing") as hx:
        for number in range(MEMORIES):
            hx.remember(sentence(number))
        hx.embed_pending()
    rows, first = [], 1
    ways = (("in the process", in_process), ("HTTP", over_http), ("`hexad.connect`", through_client))
    for name, way in ways:
        with way(project) as call:
            for tool in TOOLS:
                found: list[float] = []
                for callers in CALLERS:
                    found += measured(call, tool, callers=callers, calls=calls, first=first)
                    first += calls
                rows.append((f"{tool}, {name}", *(round(value, 1) for value in found)))
    heads = [f"{callers}: {what}" for callers in CALLERS for what in ("calls/s", "p95, ms")]
    took, spent, size, later = started(project, times)
    stream, single = streamed(project, tokens)
    return [
        Table(title=f"Calls by callers at once, {calls} each", columns=("", *heads), rows=rows),
        Table(
            title=f"Start, medians of {times}",
            columns=("", "s", "CPU, s", "most memory, MiB"),
            rows=[
                ("`hexad serve`, until it listens", round(took, 2), round(spent, 2), round(size, 1)),
                ("and asked once to recall", "", "", round(later, 1)),
            ],
        ),
        Table(
            title="Tokens a second, on the disk",
            columns=("", "tokens/s"),
            rows=[
                (f"{tokens:,} lines of one request", round(stream)),
                ("`record`, one request each", round(single)),
            ],
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
    with tempfile.TemporaryDirectory(prefix="hexad-http-") as work:
        os.environ["HEXAD_USER_DIR"] = str(Path(work) / "user")
        found = tables(Path(work), quick=options.quick)
    text = "\n\n".join(table.markdown() for table in found)
    text += f"\n\nLoad average {before:.1f} before and {os.getloadavg()[0]:.1f} at the end."
    print(text)
    if options.markdown is not None:
        options.markdown.write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
