"""`hexad mcp`, once its options are read."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server

from hexad.interfaces.mcp.graph_offer import GraphOffer
from hexad.interfaces.mcp.memory_offer import MemoryOffer
from hexad.interfaces.mcp.open_store import OpenStore
from hexad.interfaces.mcp.server import Offer, build_server
from hexad.interfaces.mcp.stdio import serve_stdio


def serve(*, path: str | None, role: str | None, space: str | None, graph: bool = False) -> int:
    """Serve the store at `path` until the client is gone; returns the exit code.

    `graph` serves a knowledge graph in it, by the tools of the reference memory server.
    """
    store = OpenStore(path=path, role=role, space=space)
    try:
        return anyio.run(_serve, build_server(offer_of(graph=graph)(store)))
    finally:
        store.close()


def offer_of(*, graph: bool) -> Callable[[OpenStore], Offer]:
    """Return what makes the offer of a store: its memory, or a knowledge graph in it."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="hexad mcp: %(message)s")
    return GraphOffer if graph else MemoryOffer


async def _serve(server: Server[Any]) -> int:
    number = await serve_stdio(server)
    return 0 if number is None else 128 + number
