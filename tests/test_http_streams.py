"""Tokens line by line, changes as they happen, exports and the ledger over real HTTP; clients that vanish or wait."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

import hexad
from hexad import EventType
from hexad.audit import AuditLog, AuditLogWriter
from http_servers import HttpServer, serving

pytest.importorskip("fastapi")
PATIENCE_S = 30.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpServer]:
    with serving(tmp_path) as running:
        yield running


def until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds; no test is about how long that takes."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def lines(*contents: object) -> bytes:
    return b"".join(
        json.dumps({"event_type": "output", "content": content}).encode() + b"\n" for content in contents
    )


def recorded(server: HttpServer) -> list[str]:
    return [step["content"] for step in server.get("/v1/xdb/recall", params={"limit": 1000}).json()]


# Tokens ---------------------------------------------------------------------------------------------------------------


def test_tokens_come_in_line_by_line(server):
    server.post("/v1/xdb/start-session", {"session_id": "s"})

    answer = server.request(
        "POST", "/v1/xdb/tokens?session_id=s", content=iter([lines("At", " noon"), lines(".")[:-1]])
    )
    told = [json.loads(line) for line in answer.text.splitlines()]

    assert {"rows": 3, "last": "ts-s-3", "done": True} == told[-1]
    assert ["At", " noon", "."] == recorded(server)


def test_a_bad_line_is_named_and_what_stood_before_it_stays(server):
    server.post("/v1/xdb/start-session", {"session_id": "s"})

    broken = server.request(
        "POST", "/v1/xdb/tokens?session_id=s", content=lines("a", "b") + b"{\n" + lines("c")
    )
    wrong = server.request("POST", "/v1/xdb/tokens?session_id=s", content=lines("d", 5, "e"))
    first = server.request("POST", "/v1/xdb/tokens?session_id=s", content=b"[]\n")

    assert "Line 3" in json.loads(broken.text.splitlines()[-1])["problem"]["detail"]
    assert "Line 2" in json.loads(wrong.text.splitlines()[-1])["problem"]["detail"]
    assert (422, "line") == (first.status_code, first.json()["argument"])
    assert ["a", "b", "d"] == recorded(server)


def test_a_stream_without_a_session_is_refused(server):
    missing = server.request("POST", "/v1/xdb/tokens", content=lines("a"))
    unknown = server.request("POST", "/v1/xdb/tokens?session_id=nobody", content=lines("a"))

    assert (422, "session_id") == (missing.status_code, missing.json()["argument"])
    assert 404 == unknown.status_code


def raw(server: HttpServer, head: str, body: bytes = b"") -> socket.socket:
    """Open a connection and send the beginning of a request."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
    text = f"{head}\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    connection.sendall(text.encode() + body)
    return connection


def test_a_client_that_vanishes_in_the_middle_leaves_whole_lines(server):
    server.post("/v1/xdb/start-session", {"session_id": "s"})
    content = lines("a", "b") + lines("half")[:20]
    connection = raw(
        server,
        "POST /v1/xdb/tokens?session_id=s HTTP/1.1",
        b"Content-Length: 100000\r\n\r\n" + content,
    )
    acknowledged = connection.recv(65_536)
    while b"ts-s-2" not in acknowledged:
        acknowledged += connection.recv(65_536)
    connection.close()

    assert ["a", "b"] == recorded(server)
    assert [] == server.post("/v1/maintenance/check", {}).json()


def test_a_client_that_vanishes_in_the_middle_of_a_body_stores_nothing(server):
    connection = raw(
        server,
        "POST /v1/memories HTTP/1.1",
        b'Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"text": "half of',
    )
    connection.close()

    assert 0 == server.get("/v1/memories/count").json()
    server.end()
    assert server.process.stderr is not None
    assert "Traceback" not in server.process.stderr.read()


def test_a_slow_reader_does_not_keep_others_waiting(server):
    server.post("/v1/xdb/start-session", {"session_id": "s"})
    server.post(
        "/v1/xdb/record-many",
        {
            "rows": [{"event_type": "input", "content": "word " * 2_000} for _ in range(400)],
            "session_id": "s",
        },
    )
    slow = [raw(server, "GET /v1/xdb/recall?limit=400 HTTP/1.1", b"\r\n") for _ in range(20)]

    answer = server.post("/v1/memories", {"text": "Meanwhile."})
    for connection in slow:
        connection.close()

    assert 200 == answer.status_code


# Changes --------------------------------------------------------------------------------------------------------------


class Listener(threading.Thread):
    """Reads events until it is closed."""

    def __init__(self, server: HttpServer, *, token: str | None = None, last: str | None = None) -> None:
        super().__init__(daemon=True)
        self.events: list[tuple[str, str, dict]] = []
        headers = {
            "Authorization": f"Bearer {token or server.token}",
            **({"Last-Event-ID": last} if last else {}),
        }
        self._client = httpx2.Client(trust_env=False, timeout=60, headers=headers)
        self._url = f"{server.url}/v1/changes"
        self.start()

    def run(self) -> None:
        fields: dict[str, str] = {}
        try:
            with self._client, self._client.stream("GET", self._url) as response:
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    fields[name] = value
                    if not line and "data" in fields:
                        self.events.append((fields["id"], fields["event"], json.loads(fields["data"])))
                        fields = {}
        except httpx2.TransportError:
            pass

    def close(self) -> None:
        """Wait for the end of what the server has ended."""
        self.join(PATIENCE_S)

    def named(self, name: str) -> list[dict]:
        return [data for _, event, data in self.events if event == name]


@pytest.fixture
def listen(server: HttpServer) -> Iterator[Callable[..., Listener]]:
    listeners: list[Listener] = []

    def begin(**options: str) -> Listener:
        listeners.append(Listener(server, **options))
        assert until(lambda: bool(listeners[-1].named("state")))
        return listeners[-1]

    yield begin
    if server.process.poll() is None:
        server.end()
    for listener in listeners:
        listener.close()


def test_changes_are_told_whoever_makes_them(server, run, listen):
    listener = listen()

    made = server.post("/v1/memories", {"text": "Over HTTP."}).json()
    run("remember", "On the command line.")

    assert until(lambda: len(listener.named("memory")) >= 2)
    assert made["id"] == listener.named("memory")[0]["id"]
    assert "memories" in listener.named("change")[-1]
    last = listener.events[-1][0]
    again = server.post("/v1/memories", {"text": "While nobody listened."}).json()
    later = listen(last=last)
    assert until(lambda: again["id"] in [memory["id"] for memory in later.named("memory")])


def test_a_token_for_a_space_is_told_of_that_one(server, run, listen):
    token = json.loads(run("serve", "token", "add", "--role", "owner", "--space", "ours", "--json").out)[
        "token"
    ]
    listener = listen(token=token)

    server.post("/v1/memories", {"text": "Theirs.", "space": "theirs"})
    server.post("/v1/memories", {"text": "Ours.", "space": "ours"})

    assert until(lambda: bool(listener.named("memory")))
    assert {"ours"} == {memory["space"] for memory in listener.named("memory")}
    assert ([{}], []) == (listener.named("state"), listener.named("change"))


def test_a_server_ends_while_somebody_listens(server, listen):
    listener = listen()

    server.end()

    assert until(lambda: not listener.is_alive())


# An export, and the ledger --------------------------------------------------------------------------------------------


def test_an_export_is_lines_of_json(server):
    server.post("/v1/memories", {"text": "Ann leads.", "data_subjects": ["ann"]})

    items = [
        json.loads(line) for line in server.get("/v1/export", params={"subject": "ann"}).text.splitlines()
    ]
    refused = server.get("/v1/export", params={"scope": "galaxy"})

    assert ["export", "memories"] == [item["section"] for item in items]
    assert (422, "scope") == (refused.status_code, refused.json()["argument"])


def test_the_ledger_is_for_reviewers_with_a_credential(tmp_path, run):
    hexad.open(tmp_path, embedder=None).close()
    with AuditLogWriter(tmp_path / ".hexad" / "audit", "be-1") as writer:
        writer.record("s", 1, EventType.INPUT, "Hello", {}, [])
    with AuditLog(tmp_path / ".hexad" / "audit") as log:
        credential = log.reviewers.add("rita")
    token = json.loads(run("serve", "token", "add", "--role", "reviewer", "--json").out)["token"]

    limited = json.loads(
        run("serve", "token", "add", "--role", "reviewer", "--space", "default", "--json").out
    )["token"]

    with serving(tmp_path) as server:
        within = server.get(
            "/v1/audit/records", token=limited, headers={"Hexad-Reviewer-Credential": credential}
        )
        owner = server.get("/v1/audit/records", headers={"Hexad-Reviewer-Credential": credential})
        bare = server.get("/v1/audit/records", token=token)
        records = server.get(
            "/v1/audit/records", token=token, headers={"Hexad-Reviewer-Credential": credential}
        )
        verified = server.post("/v1/audit/verify", {}, token=token)

    assert (403, 403, 403) == (owner.status_code, bare.status_code, within.status_code)
    assert ["Hello"] == [record["raw_content"] for record in records.json() if record["session_id"] == "s"]
    assert verified.json()["ok"]
