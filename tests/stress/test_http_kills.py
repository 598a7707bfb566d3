"""Command lines, agents over MCP, clients of servers and hooks write to one store while servers and writers are killed:
what was acknowledged stays, and the store is whole.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import hexad
from hexad.layers.session.working_set import EDITS_KEPT
from http_servers import HttpServer, start
from mcp_clients import Server as McpServer
from mcp_clients import calling
from test_hooks import start as start_hook

pytest.importorskip("fastapi")
WRITERS = 4


class HttpWriter(threading.Thread):
    """Remembers one text after the other through whichever server there is, and notes those that were answered."""

    def __init__(self, name: str, servers: list[HttpServer], stop: threading.Event) -> None:
        super().__init__()
        self.label, self.servers, self.stop = name, servers, stop
        self.acknowledged: dict[str, str] = {}
        self.refused: list[str] = []

    def run(self) -> None:
        number = 0
        while not self.stop.is_set():
            server = self.servers[-1]
            try:
                with hexad.connect(server.url, token=server.token_file) as hx:
                    while not self.stop.is_set():
                        number += 1
                        text = f"{self.label} wrote fact {number}."
                        self.acknowledged[hx.remember(text, id=f"mem_{self.label}_{number}").id] = text
            except hexad.ServerUnreachable:
                time.sleep(0.02)
            except hexad.HexadError as error:
                self.refused.append(repr(error))
                return


class CommandLine(threading.Thread):
    """Remembers through processes of their own, some of which are killed before they answer."""

    def __init__(self, folder: Path, stop: threading.Event, seed: int) -> None:
        super().__init__()
        self.folder, self.stop, self.random = folder, stop, random.Random(seed)
        self.acknowledged: dict[str, str] = {}

    def run(self) -> None:
        number = 0
        while not self.stop.is_set():
            number += 1
            text = f"A command line wrote fact {number}."
            process = subprocess.Popen(
                [sys.executable, "-m", "hexad", "remember", text, "-C", str(self.folder), "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "HEXAD_EMBEDDER": "none"},
                text=True,
            )
            if self.random.random() < 0.3:
                time.sleep(self.random.uniform(0.0, 1.0))
                process.kill()
            out, _ = process.communicate(timeout=120)
            if process.returncode == 0:
                self.acknowledged[json.loads(out)["id"]] = text


class Agent(threading.Thread):
    """Remembers through MCP servers of its own, calls sent without waiting; some servers are killed in the middle."""

    def __init__(self, folder: Path, stop: threading.Event, seed: int) -> None:
        super().__init__()
        self.folder, self.stop, self.random = folder, stop, random.Random(seed)
        self.acknowledged: dict[str, str] = {}

    def run(self) -> None:
        first = 1
        while not self.stop.is_set():
            with McpServer(self.folder) as server:
                server.greet()
                texts = {number: f"An agent wrote fact {number}." for number in range(first, first + 20)}
                server.say(*(calling(number, "remember", text=text) for number, text in texts.items()))
                if self.random.random() < 0.5:
                    time.sleep(self.random.uniform(0.0, 0.5))
                    server.process.kill()
                else:
                    server.process.stdin.close()
                for line in server.process.stdout:
                    message = json.loads(line) if line.endswith("\n") else {}
                    for memory in message.get("result", {}).get("structuredContent", {}).get("memories", ()):
                        self.acknowledged[memory["id"]] = texts[message["id"]]
            first += 20


class Hooks(threading.Thread):
    """Tells of edited files through hooks, of which some are killed."""

    def __init__(self, folder: Path, stop: threading.Event, seed: int) -> None:
        super().__init__()
        self.folder, self.stop, self.random = folder, stop, random.Random(seed)
        self.acknowledged: list[str] = []

    def run(self) -> None:
        for number in range(EDITS_KEPT):  # a working set has no more
            if self.stop.is_set():
                return
            name = f"file{number}.py"
            process = start_hook("tool-use")
            if self.random.random() < 0.3:
                threading.Timer(self.random.uniform(0.0, 0.5), process.kill).start()
            payload = {"cwd": str(self.folder), "tool_input": {"file_path": str(self.folder / name)}}
            try:
                told = process.communicate(json.dumps(payload).encode(), timeout=120)
            except BrokenPipeError:
                continue
            if process.returncode == 0 and told == (b"", b""):
                self.acknowledged.append(name)


def until_more_is_acknowledged(threads: Sequence[HttpWriter | CommandLine]) -> None:
    """Wait, however slow the machine is, until a thread was told of a write more, or none of them writes any longer."""
    before = sum(len(thread.acknowledged) for thread in threads)
    while any(thread.is_alive() for thread in threads) and before == sum(
        len(thread.acknowledged) for thread in threads
    ):
        time.sleep(0.02)


def torture(folder: Path, *, kills: int, seed: int) -> tuple[int, int]:
    """Kill servers under writers; return how many writes were acknowledged by servers and by command lines."""
    order, stop = random.Random(seed), threading.Event()
    servers = [start(folder)]
    writers = [HttpWriter(f"w{number}", servers, stop) for number in range(WRITERS)]
    shell = CommandLine(folder, stop, seed)
    threads: list[threading.Thread] = [*writers, shell]
    for thread in threads:
        thread.start()
    try:
        for _ in range(kills):
            time.sleep(order.uniform(0.5, 2.0))
            servers.append(start(folder))  # two serve the store for a moment
            servers[-2].kill()
            until_more_is_acknowledged(writers)
        until_more_is_acknowledged([shell])
    finally:
        stop.set()
        for thread in threads:
            thread.join(180)
        for server in servers:
            server.process.kill()
            server.process.communicate()

    acknowledged = {id: text for thread in (*writers, shell) for id, text in thread.acknowledged.items()}
    with hexad.open(folder, embedder=None, background=False) as hx:
        stored = {memory.id: memory.raw for memory in hx.memories(status=None, limit=None)}
        assert [] == hx.check()
    assert [] == [error for writer in writers for error in writer.refused]
    assert {} == {id: text for id, text in acknowledged.items() if stored.get(id) != text}
    return sum(len(writer.acknowledged) for writer in writers), len(shell.acknowledged)


def test_every_acknowledged_write_outlives_the_servers(tmp_path, record_property):
    over_http, on_the_command_line = torture(tmp_path, kills=2, seed=1)

    assert over_http >= 2
    assert on_the_command_line > 0
    record_property("killed servers", 2)
    record_property("acknowledged writes", over_http + on_the_command_line)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_every_acknowledged_write_outlives_many_servers(tmp_path, seed, record_property):
    over_http, on_the_command_line = torture(tmp_path, kills=12, seed=seed)

    assert over_http >= 12
    assert on_the_command_line > 0
    record_property("killed servers", 12)
    record_property("acknowledged writes", over_http + on_the_command_line)


def test_what_a_killed_server_acknowledged_of_a_stream_is_there(tmp_path):
    server = start(tmp_path)
    with hexad.connect(server.url, token=server.token_file) as hx:
        hx.xdb.start_session("s")
        ids = [hx.xdb.record("output", str(number)) for number in range(20)]
        hx.xdb.tag("useful", timestep_id=ids[0])
        hx.session.start("paint", session_id="work")
        hx.session.note("blue")
    server.kill()
    server.process.communicate()

    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        assert [str(number) for number in range(20)] == [step.content for step in hx.xdb.recall()]
        assert ["0"] == [step.content for step in hx.xdb.recall(tags=["useful"])]
        assert ["blue"] == [note.text for note in hx.session.get("work").scratchpad]
        assert [] == hx.check()


def test_every_surface_keeps_what_it_acknowledged_while_writers_are_killed(tmp_path, monkeypatch):
    pytest.importorskip("mcp")
    monkeypatch.setenv("HEXAD_EMBEDDER", "none")
    (tmp_path / ".git").mkdir()
    order, stop = random.Random(7), threading.Event()
    servers = [start(tmp_path)]
    client, shell = HttpWriter("client", servers, stop), CommandLine(tmp_path, stop, 7)
    agent, hooks = Agent(tmp_path, stop, 7), Hooks(tmp_path, stop, 7)
    threads = (client, shell, agent, hooks)
    for thread in threads:
        thread.start()
    try:
        deadline = time.monotonic() + 120.0
        while not (all(thread.acknowledged for thread in threads) and len(servers) > 2):
            assert time.monotonic() < deadline, [len(thread.acknowledged) for thread in threads]
            time.sleep(order.uniform(0.2, 1.0))
            if len(servers) < 3:
                servers.append(start(tmp_path))
                servers[-2].kill()
    finally:
        stop.set()
        for thread in threads:
            thread.join(180)
        for server in servers:
            server.process.kill()
            server.process.communicate()

    acknowledged = client.acknowledged | shell.acknowledged | agent.acknowledged
    with hexad.open(tmp_path, embedder=None, background=False) as hx:
        stored = {memory.id: memory.raw for memory in hx.memories(status=None, limit=None)}
        offer = hx.session.resumable()
        assert [] == hx.check()
    assert [] == client.refused
    assert {} == {id: text for id, text in acknowledged.items() if stored.get(id) != text}
    assert offer is not None
    assert [] == [
        name for name in hooks.acknowledged if name not in {edit.path for edit in offer.working_set.edits}
    ]
