"""`hexad mcp`: the store as an MCP server."""

from __future__ import annotations

import importlib.util
from importlib import import_module

import click

import hexad
from hexad.interfaces.cli.app.base import Command, state


@click.command(cls=Command)
@click.option("--space", help="Space where calls write and look that name none; default: as in the commands.")
@click.pass_context
def mcp(ctx: click.Context, *, space: str | None) -> None:
    """Serve the store to an agent over MCP, on stdin and stdout.

    An agent's client starts it: docs/mcp.md has the lines for each. It ends when the client closes its input. A store
    that is missing is made by the first call that writes.
    """
    if importlib.util.find_spec("mcp") is None:
        raise hexad.NotFound("The MCP SDK is not installed; `pip install 'hexad[mcp]'` installs it.")
    # Loaded here: the SDK takes half a second, and `hexad --help` names every command.
    serve = import_module("hexad.interfaces.mcp.run").serve
    shared = state()
    ctx.exit(serve(path=shared.store, role=shared.role, space=space))
