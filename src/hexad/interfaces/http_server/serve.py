"""`hexad serve`: a socket, a certificate where there has to be one, and uvicorn."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hexad.core.clock import SystemClock
from hexad.errors import AccessDenied, InvalidInput, NotFound, StoreLocked
from hexad.interfaces.http_server.app import build
from hexad.interfaces.http_server.guard import App, Limits
from hexad.interfaces.http_server.stores import Key, Open, ServedStore
from hexad.interfaces.http_server.tokens import TokenFile

HOST: Final = "127.0.0.1"
PORT: Final = 8765
BACKLOG: Final = 512
_GRACE_S: Final = 10
_KEEP_ALIVE_S: Final = 15
_HEAD_BYTES: Final = 64 << 10
_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Where to listen, and who may ask."""

    host: str = HOST
    port: int = PORT
    certificate: Path | None = None
    key: Path | None = None
    plain_text: bool = False
    """Whether a bind beyond loopback may go without TLS: something before it has it."""
    allow_hosts: Sequence[str] = ()
    allow_origins: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """What a server says when it listens."""

    url: str
    store: Path
    token_file: Path
    new_token: bool


def check_options(options: ServeOptions) -> None:
    """Raise `InvalidInput` and `AccessDenied` for what cannot be served, or should not be."""
    if (options.certificate is None) != (options.key is None):
        raise InvalidInput("TLS takes a certificate and its key;", remedy="give {certificate} and {key}.")
    for name, path in (("certificate", options.certificate), ("key", options.key)):
        if path is not None and not path.is_file():
            raise NotFound(f"{name} = {str(path)!r} is not there; give a file in PEM form.", argument=name)
    if not is_loopback(options.host) and options.certificate is None and not options.plain_text:
        raise AccessDenied(
            f"{options.host} is not this machine alone, and without TLS whoever is on the way reads its tokens;",
            argument="host",
            remedy="give {certificate} and {key}, or {plain_text} where something in front has TLS.",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    options: ServeOptions,
    open_store: Open,
    *,
    key: Key = None,
    listening: Callable[[Listening], None] = lambda _: None,
) -> None:
    """Serve a store until the process is told to end; then what is under way is finished and the store closed.

    `listening` is called when requests are taken. Raises what `check_options` and opening raise, `StoreLocked` for a
    port that is taken.
    """
    check_options(options)
    listener = open_listener(options.host, options.port)
    try:
        store = ServedStore(open_store, key=key)
        try:
            tokens = TokenFile(store.path)
            is_new = tokens.ensure_first()
            url, hosts, origins = addresses(options, listener)
            app = build(
                store,
                tokens,
                hosts=hosts,
                origins=origins,
                limits=options.limits,
                clock=SystemClock(),
            )
            listener.listen(BACKLOG)
            listening(Listening(url=url, store=store.path, token_file=tokens.first_token, new_token=is_new))
            server = uvicorn_server(app, options)
            store.is_ending = lambda: server.should_exit
            server.run(sockets=[listener])
        finally:
            store.close()
    finally:
        listener.close()


def addresses(options: ServeOptions, listener: socket.socket) -> tuple[str, list[str], list[str]]:
    """Return a server's own address, and the hosts and the origins of pages that requests may name."""
    scheme = "http" if options.certificate is None else "https"
    host, port = options.host, listener.getsockname()[1]
    names = host_names(host, port)
    origins = [*(f"{scheme}://{name}" for name in names), *options.allow_origins]
    return f"{scheme}://{_bracketed(host)}:{port}", [*names, *options.allow_hosts], origins


class _TimedConnection(H11Protocol):
    """A connection whose client may not take as long as it likes for the head of a request."""

    def __init__(self, *args: Any, head_s: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_s = head_s
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._time_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _time_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._head_s, self._let_go)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _let_go(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(_TOO_SLOW)
            self.transport.close()


def uvicorn_server(app: App, options: ServeOptions) -> uvicorn.Server:
    """Return what answers requests until the process is told to end; what is under way is finished first."""
    config = uvicorn.Config(
        app,
        http=partial(_TimedConnection, head_s=options.limits.head_s),  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        ssl_certfile=None if options.certificate is None else str(options.certificate),
        ssl_keyfile=None if options.key is None else str(options.key),
    )
    return uvicorn.Server(config)


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that has an address; raises `InvalidInput`, and `StoreLocked` for a port that is taken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"host = {host!r} is no address of this machine: {error}.", argument="host"
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise StoreLocked(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            argument="port",
            remedy="Give another {port}.",
        ) from error
    return listener


def host_names(host: str, port: int) -> list[str]:
    """Return what a request may call a server."""
    names = {host, "127.0.0.1", "localhost", "::1"} if is_loopback(host) else {host}
    return [f"{_bracketed(name)}:{port}" for name in sorted(names)]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
