"""A scripted text generator behind real HTTP, which misbehaves on request.

It speaks OpenAI's, Anthropic's and Google's wire formats, and embeds by hashing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hexad.testing import HashEmbedder


@dataclass(frozen=True, kw_only=True)
class Say:
    """What the server does with one request.

    `text` is what the model says, put into the wire format of the path that was asked; the other fields make it
    an answer that something is wrong with. `body` replaces the whole answer. `claim_bytes` announces more than
    is sent; `flood_bytes` sends that many spaces after the body; `wait_s` is a pause before anything is sent,
    `drip_s` one after each byte, `hang` a silence until the client or the server goes away.
    """

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    wait_s: float = 0.0
    drip_s: float = 0.0
    hang: bool = False
    claim_bytes: int | None = None
    flood_bytes: int = 0
    no_choices: bool = False
    refusal: str | None = None
    tool_call: bool = False
    finish: str = "stop"
    input_tokens: int = 11
    output_tokens: int = 7


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Everything that the request says to the model, as one text."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def constrained(self) -> bool:
        """Whether the request asks for JSON by the provider's own means."""
        config = self.body.get("generationConfig", {})
        wanted = ("response_format", "output_config", "output_format", "tools")
        return any(name in self.body for name in wanted) or "responseMimeType" in config


@dataclass
class LlmServer:
    """The server's address, its script and what it was asked."""

    url: str
    script: list[Say] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    otherwise: Callable[[Asked], Say] = lambda asked: Say(text="{}")
    closing: threading.Event = field(default_factory=threading.Event)
    bytes_sent: int = 0
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base_url(self) -> str:
        """Where an OpenAI-compatible client expects its endpoint."""
        return f"{self.url}/v1"

    def will(self, text: str = "", **misbehaviour: Any) -> None:
        """Answer the next request that has no answer yet like this."""
        self.script.append(Say(text=text, **misbehaviour))

    def always(self, answer: str | Say | Callable[[Asked], Say]) -> None:
        """Answer like this whenever the script is empty."""
        if isinstance(answer, str):
            answer = Say(text=answer)
        self.otherwise = answer if callable(answer) else lambda asked, said=answer: said


def _body(path: str, model: str, say: Say) -> bytes:
    if path.endswith("/messages"):
        answer = _anthropic(model, say)
    elif ":generateContent" in path:
        answer = _google(model, say)
    else:
        answer = _openai(model, say)
    return json.dumps(answer).encode()


def _embeddings(request: dict[str, Any]) -> bytes:
    """Embed by hashing, at ten tokens a text."""
    rows = HashEmbedder(request.get("dimensions", 32)).embed(request["input"])
    data = [{"index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]
    return json.dumps({"data": data, "usage": {"total_tokens": 10 * len(data)}}).encode()


def _openai(model: str, say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": say.refusal}
    if say.tool_call:
        call = {"id": "call_1", "type": "function", "function": {"name": "pin_everything", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if say.tool_call else say.finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": model,
        "choices": [] if say.no_choices else [choice],
        "usage": {
            "prompt_tokens": say.input_tokens,
            "completion_tokens": say.output_tokens,
            "total_tokens": say.input_tokens + say.output_tokens,
        },
    }


def _anthropic(model: str, say: Say) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if say.no_choices else [{"type": "text", "text": say.text}],
        "stop_reason": "refusal" if say.refusal is not None else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": say.input_tokens, "output_tokens": say.output_tokens},
    }


def _google(model: str, say: Say) -> dict[str, Any]:
    candidate = {
        "content": {"role": "model", "parts": [{"text": say.text}]},
        "finishReason": "STOP",
        "index": 0,
    }
    return {
        "candidates": [] if say.no_choices else [candidate],
        "usageMetadata": {
            "promptTokenCount": say.input_tokens,
            "candidatesTokenCount": say.output_tokens,
            "totalTokenCount": say.input_tokens + say.output_tokens,
        },
        "modelVersion": model,
        "responseId": "response-1",
    }


def _handler(state: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            asked = Asked(path=self.path, headers=dict(self.headers), body=json.loads(data))
            with state.lock:
                state.asked.append(asked)
                say = state.script.pop(0) if state.script else None
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
            try:
                self._answer(asked, say or state.otherwise(asked))
            except OSError:
                self.close_connection = True  # the client has had enough, which some tests are about
            finally:
                with state.lock:
                    state.at_once -= 1

        def do_GET(self) -> None:
            # A redirect may turn the request into this one.
            state.asked.append(Asked(path=self.path, headers=dict(self.headers), body={}))
            self.send_error(404)

        def _answer(self, asked: Asked, say: Say) -> None:
            if say.hang:
                state.closing.wait(60)
                return
            state.closing.wait(say.wait_s)
            body = say.body
            if body is None and asked.path.endswith("/embeddings"):
                body = _embeddings(asked.body)
            if body is None:
                body = _body(asked.path, str(asked.body.get("model", "tiny")), say)
            self.send_response(say.status)
            self.send_header("Content-Type", say.content_type)
            for name, value in say.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(say.claim_bytes or len(body) + say.flood_bytes))
            self.end_headers()
            for part in [body] if not say.drip_s else [bytes((byte,)) for byte in body]:
                self.wfile.write(part)
                if say.drip_s and state.closing.wait(say.drip_s):
                    return
            for _ in range(0, say.flood_bytes, 65_536):
                self.wfile.write(b" " * 65_536)
                state.bytes_sent += 65_536

        def log_message(self, *args: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that goes away in the middle is what some tests are about


@contextmanager
def llm_server(*, port: int = 0) -> Iterator[LlmServer]:
    """Serve on loopback for as long as the block runs, at a port that is free where none is given."""
    state = LlmServer(url="")
    server = _Server(("127.0.0.1", port), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
