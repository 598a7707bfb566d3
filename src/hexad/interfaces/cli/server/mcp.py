"""`hexad mcp`: the store as an MCP server, and as the reference memory server's knowledge graph."""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import hexad
from hexad.interfaces.cli.app.base import (
    Command,
    Group,
    NamedPath,
    absence,
    note,
    read_file,
    read_stdin,
    state,
)
from hexad.interfaces.cli.output.render import clean, count, show
from hexad.interfaces.cli.server.options import listening_options
from hexad.interfaces.mcp.knowledge_graph import SPACE, KnowledgeGraph, parse_lines

_SERVER = "hexad.interfaces.mcp.run"
_HTTP_SERVER = "hexad.interfaces.mcp.http"
_TYPED = click.core.ParameterSource.COMMANDLINE
_graph_space = click.option("--space", default=SPACE, show_default=True, help="Space that holds the graph.")


@click.group(cls=Group)
@click.option("--space", help="Space where calls write and look that name none; default: as in the commands.")
@click.option("--http", is_flag=True, help="Serve over HTTP instead, at /mcp; every request needs a token.")
@listening_options(port=8766)
@click.pass_context
def mcp(ctx: click.Context, /, **options: Any) -> None:
    """Serve the store to an agent over MCP, on stdin and stdout.

    An agent's client starts it: docs/mcp.md has the lines for each. It ends when the client closes its input. A store
    that is missing is made by the first call that writes. With --http it runs until it is told to end, and many clients
    share it; `hexad serve token` says who may ask, and the options about addresses are as of `hexad serve`.
    """
    if ctx.invoked_subcommand is None:
        _serve(ctx, graph=False, **options)


@mcp.group(cls=Group)
@_graph_space
@click.pass_context
def graph(ctx: click.Context, *, space: str) -> None:
    """Serve a knowledge graph over MCP, by the nine tools of the reference memory server.

    For agents and prompts that were made for `@modelcontextprotocol/server-memory`.
    """
    if ctx.invoked_subcommand is None:
        assert ctx.parent is not None  # it is a command of `mcp`
        _serve(ctx.parent, graph=True, **{**ctx.parent.params, "space": space})


@graph.command("import", cls=Command)
@click.argument("file", type=NamedPath())
@_graph_space
def import_(file: str, *, space: str) -> None:
    """Add what FILE holds, the reference memory server's JSON lines, to the graph; - is stdin.

    What is there already stays as it is, so that a second time adds nothing.
    """
    found = parse_lines(read_stdin() if file == "-" else _read(Path(file)), file)
    with state().opened(create=True, embeds=True) as hx:
        there = KnowledgeGraph(hx, space)
        entities = there.create_entities(found.entities)
        added = there.add_observations([(entity.name, entity.observations) for entity in found.entities])
        relations = there.create_relations(found.relations)
    observations = sum(len(entity.observations) for entity in entities) + sum(len(new) for _, new in added)
    counts = {"entities": len(entities), "observations": observations, "relations": len(relations)}
    words = (
        count(counts["entities"], "entity", "entities"),
        count(observations, "observation"),
        count(counts["relations"], "relation"),
    )
    show({"space": space, "added": counts}, table=f"{space}: {', '.join(words)} added")


@graph.command("export", cls=Command)
@_graph_space
def export(*, space: str) -> None:
    """Print the graph as the reference memory server's JSON lines."""
    with state().opened() as hx:
        found = KnowledgeGraph(hx, space).read()
    show(found.to_dict(), table=found.lines())
    note(f"{count(len(found.entities), 'entity', 'entities')}, {count(len(found.relations), 'relation')}.")


def _serve(ctx: click.Context, *, space: str | None, graph: bool, http: bool, **options: Any) -> None:
    if importlib.util.find_spec("mcp") is None:
        raise hexad.NotFound("The MCP SDK is not installed; `pip install 'hexad[mcp]'` installs it.")
    shared = state()
    shared.command = ctx.command
    # Loaded here: the SDK takes half a second, and `hexad --help` names every command.
    run = import_module(_SERVER)
    shared.say_above()
    if not http:
        given = [name for name, value in options.items() if ctx.get_parameter_source(name) == _TYPED]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} goes with --http.")
        if sys.stdin.isatty():
            note(
                "A client of MCP starts this command and writes to its input; docs/mcp.md says how. Ctrl-C ends it."
            )
        ctx.exit(run.serve(path=shared.store, role=shared.role, space=space, graph=graph))
    if shared.role is not None:
        raise click.UsageError("A server has no role: each token has one. Leave --role out.")
    try:
        serve_http = import_module(_HTTP_SERVER).serve_http
    except ModuleNotFoundError as error:
        raise hexad.NotFound(
            f"`hexad mcp --http` needs the package {error.name!r}; pip install 'hexad[server]' installs it."
        ) from error
    serve_http(options, path=shared.store, space=space, offer_of=run.offer_of(graph=graph), listening=_say)


def _say(listening: Any) -> None:
    show(
        {"url": listening.url, "store": listening.store, "token_file": listening.token_file},
        table=f"Serving {clean(str(listening.store))} on {listening.url}",
    )
    if listening.new_token:
        note(f"The owner's token is in {clean(str(listening.token_file))}. Ctrl-C ends the server.")


def _read(file: Path) -> str:
    try:
        return read_file(file).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise hexad.NotFound(f"{absence(file, 'file')}; check its name, or give - for stdin.") from error
    except OSError as error:
        raise hexad.InvalidInput(f"{str(file)!r} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise hexad.InvalidInput(
            f"{str(file)!r} is no UTF-8 text: byte {error.start} is none; convert it, for example with iconv."
        ) from error
