"""The server over streamable HTTP, behind the guard of a store's HTTP server.

Every request needs a token of the store (`hexad serve token add`): its role is whom the tools act as, its spaces are
what they reach.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from threading import Lock
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import PARSE_ERROR, JSONRPCError
from starlette.requests import ClientDisconnect

from hexad.core.actor import OWNER
from hexad.core.clock import SystemClock
from hexad.interfaces.http_server.guard import App, Receive, RequestGuard, Scope, Send
from hexad.interfaces.http_server.serve import (
    BACKLOG,
    Listening,
    ServeOptions,
    addresses,
    check_options,
    open_listener,
    uvicorn_server,
)
from hexad.interfaces.http_server.tokens import Login, TokenFile
from hexad.interfaces.mcp.login_offer import LoginOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import Context, Offer, build_server
from hexad.interfaces.mcp.stdio import LINE_BYTES_LIMIT, parsed

PATH: Final = "/mcp"


def application(server: Server[Any], *, guarded: bool = False) -> App:
    """Return the application that answers at `/mcp`, in every era of the protocol.

    A body is as long as a message on stdin may be. Without a guard before it, it refuses requests for another host and
    from pages of another origin than this machine, so that no web page reaches it by a name that was pointed here.
    """
    guarding = TransportSecuritySettings(enable_dns_rebinding_protection=False) if guarded else None
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=LINE_BYTES_LIMIT, transport_security=guarding
    )

    async def until_the_client_is_gone(scope: Scope, receive: Receive, send: Send) -> None:
        posted = _PostedMessage(receive, send)
        with suppress(ClientDisconnect):  # in the middle of a body: there is nobody to answer
            await app(scope, posted.receive, posted.send)

    return until_the_client_is_gone


class _PostedMessage:
    """One request with its answer: what is no message is refused in the words that stdin has for it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._asked, self._said = bytearray(), bytearray()
        self._begun: MutableMapping[str, Any] | None = None
        """How an answer begins that may be a refusal of the message, kept until all of it is there."""

    async def receive(self) -> MutableMapping[str, Any]:
        event = await self._receive()
        if len(self._asked) <= LINE_BYTES_LIMIT:
            self._asked += event.get("body", b"")
        return event

    async def send(self, event: MutableMapping[str, Any]) -> None:
        if event["type"] == "http.response.start" and event["status"] == HTTPStatus.BAD_REQUEST:
            self._begun = event
            return
        if self._begun is None:
            self._asked.clear()  # it was read, and its answer may go on for hours
            await self._send(event)
            return
        self._said += event.get("body", b"")
        if event.get("more_body"):
            return
        body = self._refusal() or bytes(self._said)
        headers = [pair for pair in self._begun["headers"] if pair[0].lower() != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._begun, "headers": [*headers, length]})
        await self._send({**event, "body": body})

    def _refusal(self) -> bytes | None:
        """Return what is said of a message that cannot be read; None where it is refused for something else."""
        try:
            code = json.loads(self._said)["error"]["code"]
        except (ValueError, LookupError, TypeError):
            return None
        message = parsed(bytes(self._asked)) if code == PARSE_ERROR else None
        if not isinstance(message, JSONRPCError):
            return None
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


class LoginStores:
    """A store opened once for each role that asks."""

    def __init__(self, path: str | None, space: str | None) -> None:
        self._path, self._space = path, space
        self._stores: dict[str, OpenStore] = {}
        self._lock = Lock()

    def of(self, role: str) -> OpenStore:
        """Return where the calls of a role find the store."""
        with self._lock:
            if role not in self._stores:
                self._stores[role] = OpenStore(
                    path=self._path, role=None if role == OWNER else role, space=self._space
                )
            return self._stores[role]

    def close(self) -> None:
        """Close all of them."""
        for store in self._stores.values():
            store.close()


def serve_http(
    fields: Mapping[str, Any],
    *,
    path: str | None,
    space: str | None,
    offer_of: Callable[[OpenStore], Offer],
    listening: Callable[[Listening], None],
) -> None:
    """Serve the store at `path` until the process is told to end; a store that is missing is made.

    `fields` are fields of `ServeOptions`.

    Raises what opening the store raises, what `check_options` does, and `StoreLocked` for a port that is taken.
    """
    options = ServeOptions(**fields)
    check_options(options)
    listener = open_listener(options.host, options.port)
    stores = LoginStores(path, space)
    try:
        hx = stores.of(OWNER).get(create=True)
        tokens = TokenFile(hx.path)
        is_new = tokens.ensure_first()
        url, hosts, origins = addresses(options, listener)

        def offer_to(ctx: Context) -> Offer:
            assert ctx.request is not None  # the guard let it in
            login: Login = ctx.request.scope["state"]["login"]
            return LoginOffer(offer_of(stores.of(login.role)), login)

        server = build_server(offer_of(stores.of(OWNER)), offer_to)
        guard = RequestGuard(
            application(server, guarded=True),
            tokens=tokens,
            hosts=hosts,
            origins=origins,
            limits=options.limits,
            clock=SystemClock(),
        )
        listener.listen(BACKLOG)
        listening(
            Listening(url=f"{url}{PATH}", store=hx.path, token_file=tokens.first_token, new_token=is_new)
        )
        uvicorn_server(guard, options).run(sockets=[listener])
    finally:
        stores.close()
        listener.close()
