"""`hexad mcp --http` as a process: the SDK's client over real connections, tokens as logins, and what must not come in."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import hexad
from hexad.interfaces.http_server.tokens import TokenFile
from mcp_clients import ERAS, HELLO, answer, failure, mode_of, text_of

KINDS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server process, where it listens, and the tokens that there are."""

    process: subprocess.Popen
    project: Path
    port: int
    tokens: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def ask(self, talk, *, token: str = "owner", era: str = ERAS[0]):
        """What a client with this token gets."""

        async def main():
            headers = {"authorization": f"Bearer {self.tokens.get(token, token)}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http_client:
                transport = streamable_http_client(self.url, http_client=http_client)
                async with Client(transport, mode=mode_of(era)) as client:
                    return await talk(client)

        return anyio.run(main)

    def post(self, body: bytes, **headers: str) -> tuple[int, str]:
        """Status and body of the answer to a request that the owner sends."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            login = {"authorization": f"Bearer {self.tokens['owner']}"}
            connection.request("POST", "/mcp", body, {**KINDS, **login, **headers})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Running]:
    project = tmp_path_factory.mktemp("project")
    (project / ".git").mkdir()
    env = {**os.environ, "HEXAD_EMBEDDER": "hashing", "HEXAD_USER_DIR": str(tmp_path_factory.mktemp("user"))}
    with hexad.open(project, embedder=None) as hx:
        hx.remember("The salary of Ann is high.", id="mem_board", space="board")
        hx.spaces.set_policy("board", {"visibility": [{"paths": ["**"], "roles": ["board"]}]})
        hx.remember("The harbour closes at noon.", id="mem_harbour", space="harbour")
        tokens = TokenFile(hx.path)
        tokens.ensure_first()
        owner = tokens.first_token.read_text().strip()
        guest, limited = tokens.add(role="guest")[1], tokens.add(role="owner", spaces=["harbour"])[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "mcp", "--http", "--port", "0", "--json"],
        cwd=project,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = ""
    while not told.endswith("}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        told += line
    port = int(json.loads(told)["url"].split(":")[2].split("/")[0])
    yield Running(
        process=process,
        project=project,
        port=port,
        tokens={"owner": owner, "guest": guest, "limited": limited},
    )
    process.terminate()
    complaints = process.communicate(timeout=60)[1]
    assert "Traceback" not in complaints, complaints


@pytest.mark.parametrize("where", ["text", "tags", "metadata"])
def test_half_a_character_in_an_argument_is_refused(running, where):
    value = {"text": "half \ud800 of it", "tags": ["half \ud800"], "metadata": {"a": "\ud800"}}[where]
    arguments = {"text": "Never stored.", where: value}
    named = {"name": "remember", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": named}

    status, said = running.post(json.dumps(call).encode(), **{"mcp-protocol-version": ERAS[0]})

    error = json.loads(said)
    assert (400, 7, -32700) == (status, error["id"], error["error"]["code"]), said
    assert "half of a character (a lone surrogate)" in error["error"]["message"]
    with hexad.open(running.project, embedder=None) as hx:
        assert [] == hx.memories(text="stored") + hx.memories(text="half")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "The message is no JSON"),
        (b'{"id": "\xff"}', "bytes that are no UTF-8"),
        (b"[" * 200_000, "no JSON"),
    ],
)
def test_a_body_that_is_no_message_is_refused_in_the_words_of_stdin(running, era, body, said):
    status, answered = running.post(body, **{"mcp-protocol-version": era})

    assert (400, True) == (status, said in json.loads(answered)["error"]["message"]), answered


@pytest.mark.parametrize("era", ERAS)
def test_a_client_stores_and_recalls_over_http(running, era):
    async def talk(client: Client):
        await answer(client, "remember", text=f"Deploys of {era} happen on Tuesday.", space=era)
        return client.protocol_version, (await answer(client, "recall", query="deploys", space=era))["hits"]

    version, hits = running.ask(talk, era=era)

    assert era == version
    assert [f"Deploys of {era} happen on Tuesday."] == [hit["text"] for hit in hits]


def test_a_token_s_role_is_whom_the_tools_act_as(running):
    async def talk(client: Client):
        hits = (await answer(client, "recall", query="salary of Ann", min_relevance=0))["hits"]
        return "mem_board" in [hit["id"] for hit in hits], (
            await client.call_tool("expand", {"id": "mem_board"})
        )

    seen, whole = running.ask(talk)
    hidden, refused = running.ask(talk, token="guest")

    assert (True, False) == (seen, whole.is_error)
    assert (False, True) == (hidden, refused.is_error)
    assert "salary" not in text_of(refused)


@pytest.mark.parametrize("era", ERAS)
def test_a_token_for_a_space_reaches_that_one_alone(running, era):
    async def talk(client: Client):
        found = await answer(client, "recall", query="Ann and the harbour", min_relevance=0)
        told = [
            await failure(client, "recall", query="Ann", space="board"),
            await failure(client, "expand", id="mem_board"),
            await failure(client, "remember", text="tea", space="board"),
            await failure(client, "session", action="note", text="tea"),
        ]
        assert "not found in space 'harbour'" in await failure(client, "forget", id_or_path="mem_board")
        whole = await answer(client, "expand", id="mem_harbour")
        (stored,) = (await answer(client, "remember", text=f"The crane lifts {era}."))["memories"]
        listed = (await client.list_resources()).resources
        with pytest.raises(MCPError) as caught:
            await client.read_resource("hexad://memory/mem_board")
        return found["hits"], told, whole, stored, listed, str(caught.value)

    hits, told, whole, stored, listed, refused = running.ask(talk, token="limited", era=era)

    assert {"harbour"} == {hit["space"] for hit in hits}
    assert [] == [message for message in [*told, refused] if "token" not in message or "salary" in message]
    assert ("mem_harbour", "harbour") == (whole["id"], stored["space"])
    assert ["hexad://space/harbour"] == [resource.uri for resource in listed]


@pytest.mark.parametrize("era", ERAS)
def test_a_token_for_a_space_is_offered_what_it_may_use_alone(running, era):
    async def talk(client: Client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("why", {"topic": ""})
        return tools, prompts, caught.value.error

    tools, prompts, _ = running.ask(talk, era=era)
    tools_left, prompts_left, refused = running.ask(talk, token="limited", era=era)

    assert ({"session", "graph"}, {"context", "resume", "why"}) == (tools - tools_left, prompts)
    assert set() == prompts_left
    assert -32602 == refused.code
    assert "use a token without --space" in refused.message


def test_a_token_for_a_space_is_told_the_same_of_another_s_id_and_of_none(running):
    async def talk(client: Client):
        told = {}
        for name in ("mem_board", "mem_nobodys"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"hexad://memory/{name}")
            messages = [
                await failure(client, "expand", id=name),
                await failure(client, "remember", text="tea", id=name),
                await failure(client, "forget", id_or_path=name),
                str(caught.value),
            ]
            told[name] = [message.replace(name, "ID") for message in messages]
        (stored,) = (await answer(client, "remember", text="The pier has two cranes."))["memories"]
        changed = await answer(client, "remember", text="The pier has three cranes.", id=stored["id"])
        return told, changed["memories"][0]["outcome"]

    told, outcome = running.ask(talk, token="limited")

    assert told["mem_nobodys"] == told["mem_board"]
    assert "id 'ID' in the spaces of this token" in told["mem_board"][0]
    assert "updated" == outcome


@pytest.mark.parametrize("token", ["", "hexad_wrong", "Ünïcode"])
def test_nobody_is_let_in_without_a_token(running, token):
    status, body = running.post(
        json.dumps(HELLO).encode(), authorization=f"Bearer {token}".encode("latin-1").decode("latin-1")
    )

    assert 401 == status
    assert "hexad serve token add" in body


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example.com"}, 421), ({"origin": "http://evil.example.com"}, 403)],
    ids=["host", "origin"],
)
def test_a_page_of_somewhere_else_does_not_reach_it(running, headers, status):
    assert status == running.post(json.dumps(HELLO).encode(), **headers)[0]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nonsense", 400),
        (b"[" * 100_000, 400),
        (b"\xff\xfe", 400),
        (b"", 400),
        (b'{"jsonrpc": "2.0"}', 400),
    ],
    ids=["words", "deep", "no text", "empty", "no method"],
)
def test_a_body_that_is_no_message_is_refused_and_the_next_one_answered(running, body, status):
    assert status == running.post(body)[0]
    assert 200 == running.post(json.dumps(HELLO).encode())[0]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(running):
    assert 413 == running.post(b"", **{"content-length": str(17 << 20)})[0]


def test_a_client_that_is_gone_in_the_middle_of_a_call_leaves_nothing_half_written(running):
    turns = [{"role": "user", "content": f"Wall {number} is painted."} for number in range(100)]
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "remember", "arguments": {"text": turns, "space": "walls"}},
    }
    call["params"]["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": ERAS[1],
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps(call).encode()
    heads = {
        **KINDS,
        "host": f"127.0.0.1:{running.port}",
        "authorization": f"Bearer {running.tokens['owner']}",
        "mcp-protocol-version": ERAS[1],
        "mcp-method": "tools/call",
        "mcp-name": "remember",
        "content-length": str(len(body)),
    }
    head = (
        "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in heads.items()) + "\r\n"
    )
    for sent in (head.encode() + body, head.encode() + body[: len(body) // 2]):
        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(sent)

    async def talk(client: Client):
        return await answer(client, "remember", text="The tea is cold.", space="walls")

    assert running.ask(talk)["memories"]
    with hexad.open(running.project, embedder=None) as hx:
        turns = [memory for memory in hx.memories(space="walls", limit=None) if memory.turn is not None]
        assert len(turns) in (0, 100)
        assert [] == hx.check()


def test_clients_at_once_get_their_own_answers(running):
    async def main():
        headers = {"authorization": f"Bearer {running.tokens['owner']}"}
        found = {}

        async def one_client(number: int) -> None:
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http_client:
                transport = streamable_http_client(running.url, http_client=http_client)
                async with Client(transport, mode=mode_of(ERAS[number % 2])) as client:
                    text = f"Client {number} is of its own."
                    (memory,) = (await answer(client, "remember", text=text, space="many"))["memories"]
                    found[number] = (await answer(client, "expand", id=memory["id"]))["text"]

        async with anyio.create_task_group() as tasks:
            for number in range(16):
                tasks.start_soon(one_client, number)
        return found

    assert {number: f"Client {number} is of its own." for number in range(16)} == anyio.run(main)


def test_it_ends_on_sigterm_while_a_client_is_connected(tmp_path):
    (tmp_path / ".git").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "hexad", "mcp", "--http", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "HEXAD_EMBEDDER": "hashing"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    port = int(line.rsplit(":", 1)[1].split("/")[0])
    token = (tmp_path / ".hexad" / "server" / "token").read_text().strip()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/mcp", json.dumps(HELLO), {**KINDS, "authorization": f"Bearer {token}"})
    assert 200 == connection.getresponse().status

    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) in (0, 143, -signal.SIGTERM)
    connection.close()
    assert "Traceback" not in process.communicate()[1]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--port", "9000"), "--port goes with --http"),
        (("--http", "--role", "guest"), "each token has one"),
        (("--http", "--host", "0.0.0.0"), "--plain-text"),
        (("--http", "--certificate", "none.pem"), "key"),
        (("--http", "--space", "b a/d"), "Invalid space 'b a/d'"),
        (("--space", "b a/d"), "Invalid space 'b a/d'"),
        (("--role", "Foo!"), "Role 'Foo!' cannot be used"),
    ],
)
def test_options_that_cannot_be_used_are_named(tmp_path, monkeypatch, run, args, words):
    monkeypatch.chdir(tmp_path)

    ran = run("mcp", *args)

    assert ran.code in (1, 2)
    assert words in ran.err
