"""A server of a store as a process of its own, for tests that ask it over real HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

_START_S = 60.0


@dataclass(slots=True)
class HttpServer:
    """A running `hexad serve`."""

    process: subprocess.Popen[str]
    url: str
    store: Path
    token_file: Path

    @property
    def token(self) -> str:
        """The owner's token."""
        return self.token_file.read_text(encoding="ascii").strip()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def request(self, method: str, path: str, *, token: str | None = "", **options: Any) -> httpx2.Response:
        """Send a request with the owner's token, another one, or none."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers.setdefault("Authorization", f"Bearer {token or self.token}")
        with httpx2.Client(trust_env=False, timeout=60) as client:
            return client.request(method, self.url + path, headers=headers, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """Send a GET."""
        return self.request("GET", path, **options)

    def post(self, path: str, body: object, **options: Any) -> httpx2.Response:
        """Send a JSON body."""
        return self.request("POST", path, json=body, **options)

    def kill(self) -> None:
        """End the process as a lost machine does."""
        self.process.kill()
        self.process.wait(30)

    def end(self) -> int:
        """Ask the process to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def start(folder: Path, *options: str, environ: Mapping[str, str] | None = None) -> HttpServer:
    """Start a server of a project's store on a free port, and return it when it listens."""
    # A fixture of a module has no user layer of its own yet, and the one of whoever runs the tests is nobody's business.
    own = {"HEXAD_EMBEDDER": "none", "HEXAD_USER_DIR": str(folder.parent / "user-of-server")}
    env = {**os.environ, **own, **(environ or {})}
    command = [sys.executable, "-m", "hexad", "serve", "-C", str(folder), "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=folder
    )
    assert process.stdout is not None
    text, deadline = "", time.monotonic() + _START_S
    while not text.rstrip().endswith("}"):
        line = process.stdout.readline()
        if not line or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"no server: {text}{process.communicate()[1]}")
        text += line
    told = json.loads(text)
    return HttpServer(
        process=process, url=told["url"], store=Path(told["store"]), token_file=Path(told["token_file"])
    )


@contextlib.contextmanager
def serving(folder: Path, *options: str, environ: Mapping[str, str] | None = None) -> Iterator[HttpServer]:
    """Serve a store for the length of a block."""
    server = start(folder, *options, environ=environ)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()
        for stream in (server.process.stdout, server.process.stderr):
            if stream is not None:
                stream.close()
