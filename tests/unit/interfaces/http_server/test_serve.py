"""Connections: whoever takes too long for the head of a request is let go, and nobody else."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn")

from hexad.interfaces.http_server.guard import Limits
from hexad.interfaces.http_server.serve import ServeOptions, open_listener, uvicorn_server

PATIENCE_S = 30.0
HEAD_S = 0.5


@pytest.fixture
def port() -> Iterator[int]:
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                ended = (await receive())["type"] == "lifespan.shutdown"
                await send({"type": f"lifespan.{'shutdown' if ended else 'startup'}.complete"})
                if ended:
                    return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    listener = open_listener("127.0.0.1", 0)
    listener.listen(8)
    server = uvicorn_server(app, ServeOptions(limits=Limits(head_s=HEAD_S)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE_S)
    listener.close()


def answer_to(port: int, parts: list[bytes], *, pause_s: float) -> bytes:
    """What comes back until the server closes the connection, or has answered with `ok`."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        answer = b""
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:
                break
            time.sleep(pause_s)
        while not answer.endswith(b"ok") and (data := connection.recv(4_096)):
            answer += data
        return answer


@pytest.mark.parametrize(
    "parts",
    [
        [b"POST /"],
        [b"POST / HTTP/1.1\r\n", *[b"X: 1\r\n"] * 20],
        [b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HT", *[b"x"] * 20],
    ],
)
def test_a_head_that_does_not_end_is_let_go(port, parts):
    answer = answer_to(port, parts, pause_s=HEAD_S / 5)

    assert b" 408 " in answer
    assert not answer.endswith(b"ok")


def test_a_body_may_take_longer(port):
    head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 6\r\n\r\n"

    assert b" 200 " in answer_to(port, [head, b"abc", b"def"], pause_s=2 * HEAD_S)
