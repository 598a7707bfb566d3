"""Command lines and clients of servers write to one store while servers and writers are killed: what was
acknowledged stays, and the store is whole.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import hexad
from http_servers import HttpServer, start

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
        time.sleep(1.0)
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


def test_every_acknowledged_write_outlives_the_servers(tmp_path):
    over_http, on_the_command_line = torture(tmp_path, kills=2, seed=1)

    assert over_http > 0
    assert on_the_command_line >= 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_every_acknowledged_write_outlives_many_servers(tmp_path, seed):
    over_http, on_the_command_line = torture(tmp_path, kills=12, seed=seed)

    assert over_http > 100
    assert on_the_command_line > 0


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
