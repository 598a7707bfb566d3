"""`hexad mcp`: the store as an MCP server, and as the reference memory server's knowledge graph."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from pathlib import Path

import click

import hexad
from hexad.interfaces.cli.app.base import Command, Group, note, read_bounded, read_stdin, state
from hexad.interfaces.cli.output.render import count, show
from hexad.interfaces.mcp.knowledge_graph import SPACE, KnowledgeGraph, parse_lines

_SERVER = "hexad.interfaces.mcp.run"
_graph_space = click.option("--space", default=SPACE, show_default=True, help="Space that holds the graph.")


@click.group(cls=Group)
@click.option("--space", help="Space where calls write and look that name none; default: as in the commands.")
@click.pass_context
def mcp(ctx: click.Context, *, space: str | None) -> None:
    """Serve the store to an agent over MCP, on stdin and stdout.

    An agent's client starts it: docs/mcp.md has the lines for each. It ends when the client closes its input. A store
    that is missing is made by the first call that writes.
    """
    if ctx.invoked_subcommand is None:
        _serve(ctx, space=space, graph=False)


@mcp.group(cls=Group)
@_graph_space
@click.pass_context
def graph(ctx: click.Context, *, space: str) -> None:
    """Serve a knowledge graph over MCP, by the nine tools of the reference memory server.

    For agents and prompts that were made for `@modelcontextprotocol/server-memory`.
    """
    if ctx.invoked_subcommand is None:
        _serve(ctx, space=space, graph=True)


@graph.command("import", cls=Command)
@click.argument("file")
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


def _serve(ctx: click.Context, *, space: str | None, graph: bool) -> None:
    if importlib.util.find_spec("mcp") is None:
        raise hexad.NotFound("The MCP SDK is not installed; `pip install 'hexad[mcp]'` installs it.")
    # Loaded here: the SDK takes half a second, and `hexad --help` names every command.
    serve = import_module(_SERVER).serve
    shared = state()
    ctx.exit(serve(path=shared.store, role=shared.role, space=space, graph=graph))


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return read_bounded(stream, repr(str(file))).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise hexad.NotFound(
            f"There is no file {str(file)!r}; check its name, or give - for stdin."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise hexad.InvalidInput(f"{str(file)!r} cannot be read as UTF-8: {error}.") from error
