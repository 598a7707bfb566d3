"""`hexad mcp` as a client starts it: a process, two pipes, one message a line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

import hexad
from hexad.interfaces.mcp.stdio import LINE_BYTES_LIMIT
from mcp_clients import (
    ERAS,
    HELLO,
    READY,
    Server,
    answer,
    answers,
    calling,
    lines,
    mode_of,
    over_stdio,
    program,
)
from programs import command


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HEXAD_EMBEDDER", "hashing")
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("era", ERAS)
def test_a_client_starts_it_stores_recalls_and_leaves(project, era):
    async def talk(client: Client):
        await answer(client, "remember", text="Deploys happen on Tuesday.")
        return client.protocol_version, (await answer(client, "recall", query="deploys"))["hits"]

    version, hits = over_stdio(talk, cwd=project, era=era)

    assert era == version
    assert ["Deploys happen on Tuesday."] == [hit["text"] for hit in hits]


def test_the_store_the_role_and_the_space_are_options_as_of_every_command(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    async def talk(client: Client):
        return (await answer(client, "remember", text="Deploys happen on Tuesday."))["memories"]

    over_stdio(talk, "--store", project, "--space", "shop", "--role", "lead", cwd=elsewhere)

    with hexad.open(project, embedder=None) as hx:
        assert ["shop"] == [memory.space for memory in hx.memories()]
    assert [] == [*elsewhere.iterdir()]


def test_what_was_asked_before_the_end_of_the_input_is_answered(project):
    calls = [
        calling(number, "remember", text=f"Fact number {number} of the list.") for number in range(1, 21)
    ]

    ran = command("mcp", input=lines(HELLO, READY, *calls), cwd=project)

    assert 0 == ran.returncode, ran.stderr
    assert [*range(21)] == sorted(answers(ran.stdout))
    with hexad.open(project, embedder=None) as hx:
        assert 20 == hx.count()


def test_a_last_line_needs_no_end(project):
    ran = command("mcp", input=lines(HELLO).rstrip("\n"), cwd=project)

    assert [0] == [*answers(ran.stdout)]


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("nonsense", -32700, "no JSON"),
        ('{"jsonrpc": "2.0", "id": 7,', -32700, "no JSON"),
        ("[1, 2]", -32600, "no JSON-RPC 2.0 message"),
        ('{"id": null}', -32600, "no JSON-RPC 2.0 message"),
        ("[" * 100_000, -32700, "no JSON"),
        ('"' + "a" * LINE_BYTES_LIMIT + '"', -32600, f"{LINE_BYTES_LIMIT:,}"),
    ],
    ids=["words", "half", "batch", "no method", "deep", "long"],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_is_heard(project, line, code, words):
    ran = command("mcp", input=lines(HELLO, READY, line, calling(1, "session")), cwd=project)

    told = answers(ran.stdout)
    assert (0, code) == (ran.returncode, told[None]["error"]["code"])
    assert words in told[None]["error"]["message"]
    assert "There is no store" in told[1]["result"]["content"][0]["text"]


def test_the_last_answers_are_written_before_it_ends(project):
    for _ in range(3):
        ran = command("mcp", input=lines(*["nonsense"] * 100), cwd=project)

        assert [-32700] * 100 == [json.loads(line)["error"]["code"] for line in ran.stdout.splitlines()]


def test_a_message_that_is_none_is_answered_under_its_id(project):
    ran = command("mcp", input=lines(HELLO, READY, {"id": 7, "verb": "recall"}), cwd=project)

    assert -32600 == answers(ran.stdout)[7]["error"]["code"]


@pytest.mark.parametrize("request_id", [7, "seven"])
def test_a_call_with_half_a_character_is_answered_under_its_id(project, request_id):
    """Python's own JSON writes such a text as an escape, which no reader of UTF-8 takes."""
    call = json.dumps(calling(request_id, "remember", text="half \ud800 of it"))

    ran = command("mcp", input=lines(HELLO, READY, call), cwd=project)

    told = answers(ran.stdout)
    assert {0, request_id} == set(told)
    assert -32700 == told[request_id]["error"]["code"]
    assert "surrogate" in told[request_id]["error"]["message"]


@pytest.mark.parametrize(
    ("params", "method"),
    [
        ({"name": "recall", "arguments": "deploys"}, "tools/call"),
        ({"name": 7}, "tools/call"),
        ({}, "tools/call"),
        ({}, "tools/forget"),
        ({"uri": 7}, "resources/read"),
    ],
)
def test_a_request_that_cannot_be_read_is_an_error_of_the_protocol(project, params, method):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    ran = command("mcp", input=lines(HELLO, READY, request, calling(2, "session")), cwd=project)

    told = answers(ran.stdout)
    assert told[1]["error"]["code"] in (-32601, -32602)
    assert "result" in told[2]


def test_text_that_is_no_unicode_is_refused_or_cleaned_and_never_ends_the_server(project):
    call = lines(calling(1, "remember", text="tea")).replace("tea", "tea \\ud800 cold")

    ran = command(
        "mcp", input=lines(HELLO, READY) + call + lines(calling(2, "recall", query="tea")), cwd=project
    )

    assert {0, 1, 2} | {None} >= set(answers(ran.stdout)) >= {0, 2}


def test_what_others_print_does_not_reach_the_client(project, tmp_path):
    noisy = tmp_path / "sitecustomize.py"
    noisy.write_text(
        "import hexad, sys\n"
        "real = hexad.open\n"
        "def loud(*args, **options):\n"
        "    print('printed', flush=True)\n"
        "    return real(*args, **options)\n"
        "hexad.open = loud\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}

    ran = subprocess.run(
        [sys.executable, "-m", "hexad", "mcp"],
        input=lines(HELLO, READY, calling(1, "remember", text="tea")),
        capture_output=True,
        text=True,
        cwd=project,
        env=env,
        timeout=120,
        check=False,
    )

    assert {0, 1} == set(answers(ran.stdout))
    assert "printed" in ran.stderr


# How it ends ----------------------------------------------------------------------------------------------------------


def test_it_ends_when_its_client_is_gone_without_a_word(project):
    with Server(project) as server:
        server.greet()
        server.process.stdin.close()

        assert 0 == server.process.wait(timeout=60)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_the_client_keeps_the_pipe_open(project, number, code):
    with Server(project) as server:
        server.greet()
        server.say(calling(1, "remember", text="Deploys happen on Tuesday."))
        assert not server.hear()["result"]["isError"]

        server.process.send_signal(number)

        assert code == server.process.wait(timeout=60)
        assert "" == server.process.stderr.read()
    with hexad.open(project, embedder=None) as hx:
        assert (1, []) == (hx.count(), hx.check())


def test_it_ends_by_a_signal_while_its_client_reads_nothing(project):
    """The pipe is full, and the thread that writes to it stands still."""
    with hexad.open(project, embedder=None) as hx:
        (memory,) = [hx.remember("Deploys happen on Tuesday. " * 9_000)]
    with Server(project) as server:
        server.greet()
        server.say(*(calling(number, "expand", id=memory.id) for number in range(1, 9)))
        time.sleep(1)

        server.process.terminate()

        assert 143 == server.process.wait(timeout=60)


def test_it_ends_when_nobody_reads_its_answers_any_more(project):
    with Server(project) as server:
        server.greet()
        server.process.stdout.close()
        server.say(calling(1, "session"))

        assert 0 == server.process.wait(timeout=60)


def test_a_client_that_is_gone_in_the_middle_of_a_call_leaves_nothing_half_written(project):
    for _ in range(3):
        with Server(project) as server:
            server.greet()
            turns = [
                {"role": "user", "content": f"We decided to paint wall {number} in colour {number}."}
                for number in range(200)
            ]
            server.say(calling(1, "remember", text=turns, conversation="walls"))
            server.process.stdin.close()
            server.process.stdout.close()
            assert 0 == server.process.wait(timeout=120)

    with hexad.open(project, embedder=None) as hx:
        assert [] == hx.check()
        turns = [memory for memory in hx.memories(limit=None) if memory.turn is not None]
        assert len(turns) in (0, 200)


def test_a_call_that_is_cancelled_is_not_answered_and_the_next_one_is(project):
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    turns = [{"role": "user", "content": f"Wall {number} is painted."} for number in range(200)]
    with Server(project) as server:
        server.greet()
        server.say(
            calling(1, "remember", text=turns), cancel, calling(2, "remember", text="The tea is cold.")
        )

        assert 2 == server.hear()["id"]
        server.process.stdin.close()
        assert "" == server.process.stdout.read()
        assert 0 == server.process.wait(timeout=60)
    with hexad.open(project, embedder=None) as hx:
        assert [] == hx.check()
        assert 1 == len(hx.memories(text="tea"))


def test_progress_is_told_to_whoever_asks_for_it(project):
    with hexad.open(project, embedder=None) as hx:
        for number in range(30):
            hx.remember(f"Fact {number} of the list.", tags=["list"])
        hx.spaces.set_policy("default", {"allow_delete": True})
    heard = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def talk(client: Client):
        return await client.call_tool("forget", {"tag": "list", "purge": True}, progress_callback=note)

    result = over_stdio(talk, cwd=project)

    assert not result.is_error
    assert heard and sorted(heard) == heard and 30 == heard[-1]


def test_threads_of_a_client_get_their_own_answers(project):
    """A hundred calls at once: each answer is the one of its question."""

    async def main():
        async with Client(stdio_client(program(cwd=project)), mode=mode_of(ERAS[1])) as client:
            found = {}

            async def store(number: int) -> None:
                (memory,) = (await answer(client, "remember", text=f"Fact {number} is of its own."))[
                    "memories"
                ]
                found[number] = (await answer(client, "expand", id=memory["id"]))["text"]

            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    tasks.start_soon(store, number)
            return found

    assert {number: f"Fact {number} is of its own." for number in range(100)} == anyio.run(main)


def test_it_is_started_without_the_sdk_by_saying_what_to_install(project, monkeypatch, run):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    ran = run("mcp")

    assert "pip install 'hexad[mcp]'" in ran.err
    assert 1 <= ran.code


def test_the_help_of_the_commands_does_not_load_the_sdk():
    code = (
        "import sys\n"
        "from hexad.interfaces.cli.app.main import main\n"
        "main(['--help'])\n"
        "assert not {'mcp', 'pydantic', 'starlette'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120)


def test_a_server_that_was_only_greeted_has_loaded_no_engine(project):
    """Ten servers are started for ten windows, and most of them are asked nothing."""
    code = (
        "import sys\n"
        "from hexad.interfaces.cli.app.main import main\n"
        "main(['mcp'])\n"
        "heavy = {'hexad.engine', 'hexad.services', 'apsw', 'numpy', 'duckdb', 'onnxruntime', 'fastapi'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=lines(HELLO, READY, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        capture_output=True,
        text=True,
        cwd=project,
        timeout=120,
        check=True,
    )

    assert {0, 1} == set(answers(ran.stdout))
    assert "[]" == ran.stderr.splitlines()[-1]
