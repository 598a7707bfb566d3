from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hexad.providers.embedders.hashing import HashEmbedder


@dataclass
class Reply:
    """What the endpoint does with one request. `body` None means: answer as a sound endpoint would."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    wait_s: float = 0.0
    drip_s: float = 0.0
    claim_bytes: int | None = None
    reverse: bool = False


@dataclass
class Endpoint:
    base_url: str
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def will(self, **reply: object) -> None:
        """Answer the next request that has no reply yet like this."""
        self.replies.append(Reply(**reply))


def sound_body(texts: list[str], dimensions: int, *, reverse: bool = False) -> bytes:
    rows = HashEmbedder(dimensions).embed(texts)
    # Longer than one, as some endpoints' vectors are.
    data = [
        {"object": "embedding", "index": i, "embedding": (row * 3).tolist()} for i, row in enumerate(rows)
    ]
    return json.dumps({"object": "list", "data": data[::-1] if reverse else data}).encode()


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append(request)
            endpoint.headers.append(dict(self.headers))
            endpoint.paths.append(self.path)
            reply = endpoint.replies.pop(0) if endpoint.replies else Reply()
            time.sleep(reply.wait_s)
            body = reply.body
            if body is None:
                body = sound_body(request["input"], request.get("dimensions", 32), reverse=reply.reverse)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(reply.claim_bytes or len(body)))
                self.end_headers()
                self._send(body, reply.drip_s)
            except OSError:
                self.close_connection = True  # the client has had enough, which some tests are about

        def _send(self, body: bytes, drip_s: float) -> None:
            if not drip_s:
                self.wfile.write(body)
                return
            for byte in body:
                self.wfile.write(bytes((byte,)))
                time.sleep(drip_s)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A real HTTP server on loopback that embeds by hashing, unless told to misbehave."""
    state = Endpoint(base_url="")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def pauses() -> list[float]:
    """The seconds that a `RemoteEmbedder` built with `sleep=pauses.append` would have slept."""
    return []
