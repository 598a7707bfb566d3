"""The server over streamable HTTP, behind the guard of a store's HTTP server.

Every request needs a token of the store (`hexad serve token add`): its role is whom the tools act as, its spaces are
what they reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
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
from hexad.interfaces.mcp.stdio import LINE_BYTES_LIMIT

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
        with suppress(ClientDisconnect):  # in the middle of a body: there is nobody to answer
            await app(scope, receive, send)

    return until_the_client_is_gone


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
