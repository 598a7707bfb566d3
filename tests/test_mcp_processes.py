"""Many servers on one store, their calls sent without waiting for answers: nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import random
import threading

import pytest

import hexad
from mcp_clients import Server, calling
from programs import command

SERVERS = 4


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    (tmp_path / ".git").mkdir()
    return tmp_path


def acknowledged(server: Server) -> dict[int, dict]:
    """What a server answered until it ended or was killed, by request."""
    found = {}
    for line in server.process.stdout:
        if line.endswith("\n"):
            message = json.loads(line)
            if "result" in message:
                found[message["id"]] = message["result"]
    return found


def hearing(servers: list[Server]) -> tuple[list[threading.Thread], list[dict[int, dict]]]:
    found: list[dict[int, dict]] = [{} for _ in servers]

    def listen(number: int) -> None:
        found[number] = acknowledged(servers[number])

    threads = [threading.Thread(target=listen, args=(number,)) for number in range(len(servers))]
    for thread in threads:
        thread.start()
    return threads, found


def test_servers_at_once_keep_all_that_they_acknowledge(project):
    servers = [Server(project) for _ in range(SERVERS)]
    for server in servers:
        server.greet()
    threads, found = hearing(servers)
    for number, server in enumerate(servers):
        server.say(
            *(
                calling(call, "remember", text=f"Server {number} says sentence {call} of its own.")
                for call in range(1, 21)
            )
        )
        server.process.stdin.close()
    for thread in threads:
        thread.join()
    for server in servers:
        server.__exit__()

    assert [list(range(1, 21))] * SERVERS == [sorted(answers) for answers in found]
    with hexad.open(project, embedder=None) as hx:
        assert {
            f"Server {number} says sentence {call} of its own."
            for number in range(SERVERS)
            for call in range(1, 21)
        } == {memory.raw for memory in hx.memories(limit=None)}
        assert [] == hx.check()


@pytest.mark.parametrize("seed", [1, 2])
def test_servers_that_are_killed_lose_nothing_that_they_acknowledged(project, seed):
    chance = random.Random(seed)
    servers = [Server(project) for _ in range(4)]
    for server in servers:
        server.greet()
    threads, found = hearing(servers)
    for number, server in enumerate(servers):
        server.say(
            *(
                calling(call, "remember", text=f"Server {number} says sentence {call} of its own.")
                for call in range(1, 101)
            )
        )
    timers = [threading.Timer(chance.uniform(0.05, 1.5), server.process.kill) for server in servers]
    for timer in timers:
        timer.start()
    for thread in [*timers, *threads]:
        thread.join()
    for server in servers:
        server.__exit__()

    stored = {
        (number, call): memory["id"]
        for number, answers in enumerate(found)
        for call, answer in answers.items()
        if call
        for memory in answer["structuredContent"]["memories"]
    }
    with hexad.open(project, embedder=None) as hx:
        texts = {memory.id: memory.raw for memory in hx.memories(limit=None)}
        assert {
            (number, call): f"Server {number} says sentence {call} of its own." for number, call in stored
        } == {key: texts.get(id_) for key, id_ in stored.items()}
        assert [] == hx.check()


def test_servers_and_commands_share_a_store_while_a_server_is_killed(project):
    """Two agents, one of whose servers is killed, and a person at a terminal, all at once."""
    agent, killed = Server(project), Server(project)
    for server in (agent, killed):
        server.greet()
    threads, found = hearing([agent, killed])
    for number, server in enumerate((agent, killed)):
        server.say(
            *(
                calling(call, "remember", text=f"Server {number} says sentence {call} of its own.")
                for call in range(1, 41)
            )
        )
    timer = threading.Timer(0.5, killed.process.kill)
    timer.start()
    typed = [
        command("remember", f"The person types sentence {call}.", "--json", cwd=project) for call in range(3)
    ]
    agent.process.stdin.close()
    for thread in [timer, *threads]:
        thread.join()
    for server in (agent, killed):
        server.__exit__()

    assert [0] * 3 == [ran.returncode for ran in typed]
    assert [*range(1, 41)] == sorted(found[0])
    told = {
        memory["id"]
        for answers in found
        for answer in answers.values()
        for memory in answer["structuredContent"]["memories"]
    } | {json.loads(ran.stdout)["id"] for ran in typed}
    with hexad.open(project, embedder=None) as hx:
        assert told <= {memory.id for memory in hx.memories(limit=None)}
        assert [] == hx.check()
