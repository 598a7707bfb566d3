"""`hexad mcp`, once its options are read."""

from __future__ import annotations

import logging
import sys
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server

from hexad.interfaces.mcp.graph_offer import GraphOffer
from hexad.interfaces.mcp.memory_offer import MemoryOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import build_server
from hexad.interfaces.mcp.stdio import serve_stdio


def serve(*, path: str | None, role: str | None, space: str | None, graph: bool = False) -> int:
    """Serve the store at `path` until the client is gone; returns the exit code.

    `graph` serves a knowledge graph in it, by the tools of the reference memory server.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="hexad mcp: %(message)s")
    store = OpenStore(path=path, role=role, space=space)
    try:
        offer = GraphOffer(store) if graph else MemoryOffer(store)
        return anyio.run(_serve, build_server(offer))
    finally:
        store.close()


async def _serve(server: Server[Any]) -> int:
    number = await serve_stdio(server)
    return 0 if number is None else 128 + number
