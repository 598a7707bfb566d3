"""The server over streamable HTTP, as an application for an ASGI server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from mcp.server.lowlevel.server import Server

from hexad.interfaces.mcp.stdio import LINE_BYTES_LIMIT

PATH: Final = "/mcp"
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def application(server: Server[Any], *, host: str = "127.0.0.1") -> App:
    """Return the application that answers at `/mcp`, in every era of the protocol.

    On an address of this machine alone it refuses requests for another host and from pages of another origin, so that
    no web page reaches it by a name that was pointed here. A body is as long as a message on stdin may be.
    """
    return server.streamable_http_app(
        streamable_http_path=PATH, host=host, max_request_body_size=LINE_BYTES_LIMIT
    )
