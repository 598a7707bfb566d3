"""`hexad honeycomb show`, `stats` and `context`: the association graph, seen from a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.base import Command, Group, note, print_json, state
from hexad.interfaces.cli.render import clean, clip, count, hanging, size, width

if TYPE_CHECKING:
    from hexad import Hexad, HoneycombEdge, HoneycombNode, HoneycombStats, JitContext

_DOT_TEXT: Final = 40
_LABELS: Final = {"OK": None, "LOOP_DETECTED": "a loop", "SESSION_EXPIRED": "an expired session"}


@click.group(cls=Group)
@click.pass_context
def honeycomb(ctx: click.Context) -> None:
    """The association graph: what is around, and walks."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@dataclass(slots=True, kw_only=True)
class _Neighbourhood:
    """What is within some steps of a node: each node once, and the edges that were looked at."""

    nodes: dict[int, HoneycombNode] = field(default_factory=dict)
    edges: list[HoneycombEdge] = field(default_factory=list)
    left: int = 0


@honeycomb.command()
@click.argument("node", metavar="NODE")
@click.option(
    "--depth", type=click.IntRange(1, 6), default=2, show_default=True, help="How many steps from NODE."
)
@click.option("--overflow", is_flag=True, help="Show the edges of overflow rings, too.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="How many nodes at most."
)
@click.option("--dot", is_flag=True, help="Print it as DOT, for Graphviz.")
def show(node: str, *, depth: int, overflow: bool, limit: int, dot: bool) -> None:
    """Show a node and what is around it, as a tree.

    NODE is the id of a node, or the id or path of a memory. Each node is opened once; → says where it stands again.
    """
    with state().opened() as hx:
        start = hx.honeycomb.get(int(node) if node.isdecimal() else node)
        found = _around(hx, start, depth=depth, overflow=overflow, limit=limit)
    if state().json:
        print_json(
            {
                "start": start.id,
                "nodes": [one.to_dict() for one in found.nodes.values()],
                "edges": [edge.to_dict() for edge in found.edges],
                "left_out": found.left,
            }
        )
        return
    for line in _dot(found) if dot else _tree(found, start, overflow=overflow, depth=depth):
        click.echo(line)
    if found.left:
        note(f"{count(found.left, 'more node', 'more nodes')} within {depth} steps; --limit shows them.")


def _around(hx: Hexad, start: HoneycombNode, *, depth: int, overflow: bool, limit: int) -> _Neighbourhood:
    found = _Neighbourhood(nodes={start.id: start})
    left: set[int] = set()
    level = [start]
    for _ in range(depth):
        following = []
        for one in level:
            for edge in _edges(one, overflow=overflow):
                if edge.target_id not in found.nodes:
                    if len(found.nodes) >= limit:
                        left.add(edge.target_id)
                        continue
                    found.nodes[edge.target_id] = hx.honeycomb.get(edge.target_id)
                    following.append(found.nodes[edge.target_id])
                found.edges.append(edge)
        level = following
    found.left = len(left)
    return found


def _edges(node: HoneycombNode, *, overflow: bool) -> Iterator[HoneycombEdge]:
    yield from node.neighbors
    if overflow:
        for ring in node.fractal_layer:
            yield from ring


def _tree(found: _Neighbourhood, start: HoneycombNode, *, overflow: bool, depth: int) -> Iterator[str]:
    room = max(width() - 1, 40)
    shown: set[int] = set()

    def lines(node: HoneycombNode, head: str, left: int) -> Iterator[str]:
        shown.add(node.id)
        edges = (
            [edge for edge in _edges(node, overflow=overflow) if edge.target_id in found.nodes]
            if left
            else []
        )
        # Who stands below here is opened here, not below a later one: level by level, as a walk goes.
        opened = {edge.target_id for edge in edges if edge.target_id not in shown}
        shown.update(opened)
        for place, edge in enumerate(edges):
            last = place == len(edges) - 1
            target = found.nodes[edge.target_id]
            ring = f" ring {edge.ring}" if edge.ring else ""
            mark = "" if edge.target_id in opened else " →"
            line = f"{edge.relevance_score:.2f} {edge.relationship_type}{ring}{mark}  {_said(target)}"
            yield clip(f"{head}{'└─' if last else '├─'} {line}", room)
            if edge.target_id in opened:
                opened.discard(edge.target_id)
                yield from lines(target, f"{head}{'   ' if last else '│  '}", left - 1)

    yield clip(_said(start), room)
    yield from lines(start, "", depth)
    beyond = sum(len(ring) for ring in start.fractal_layer)
    if beyond and not overflow:
        yield f"and {count(beyond, 'edge')} in overflow: --overflow shows them"


def _said(node: HoneycombNode) -> str:
    rest = "" if node.is_active else " (inactive)"
    return f"{node.id}{rest}  {_words(node)}"


def _words(node: HoneycombNode) -> str:
    return clean(" ".join(node.data.split()))


def _dot(found: _Neighbourhood) -> Iterator[str]:
    yield "digraph honeycomb {"
    yield "  node [shape=hexagon];"
    for node in found.nodes.values():
        style = "" if node.is_active else ", style=dashed"
        label = _quoted(f"{node.id}: {clip(_words(node), _DOT_TEXT)}")
        yield f"  {node.id} [label={label}{style}];"
    for edge in found.edges:
        style = ", style=dashed" if edge.ring else ""
        label = _quoted(f"{edge.relevance_score:.2f} {edge.relationship_type}")
        yield f"  {edge.from_id} -> {edge.target_id} [label={label}{style}];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@honeycomb.command()
def stats() -> None:
    """Show the graph in numbers.

    Nodes, edges by type, degrees, overflow, components, and the nodes that walks pass most.
    """
    with state().opened() as hx:
        found = hx.honeycomb.stats()
        hubs = [(hx.honeycomb.get(node), rank) for node, rank in found.hubs]
    if state().json:
        print_json(found.to_dict())
        return
    for line in _numbers(found):
        click.echo(line)
    if hubs:
        click.echo("hubs:")
    for node, rank in hubs:
        click.echo(clip(f"  {rank:.4f}  {_said(node)}", max(width() - 1, 40)))


def _numbers(found: HoneycombStats) -> Iterator[str]:
    own = found.nodes - found.memory_nodes
    yield (
        f"{count(found.nodes, 'node')}: {count(found.memory_nodes, 'memory', 'memories')} and {own:,} of "
        f"{found.max_nodes:,} others, {found.inactive:,} inactive"
    )
    yield (
        f"{count(found.edges, 'edge')}, {found.overflow_edges:,} of them in overflow, "
        f"{found.explicit_edges:,} inserted by somebody"
    )
    if found.relations:
        yield "types: " + ", ".join(f"{name} {number:,}" for name, number in found.relations.items())
    degrees = ", ".join(f"{number:,} with {k}" for k, number in enumerate(found.out_degrees) if number)
    if degrees:
        yield f"edges in the main ring: {degrees}"
    if found.overflow_rings:
        rings = ", ".join(f"{number:,} with {depth}" for depth, number in found.overflow_rings.items())
        yield f"overflow rings: {rings}"
    yield (
        f"{count(found.components, 'component')}, the largest of {count(found.largest_component, 'node')}, "
        f"{found.isolated:,} alone"
    )
    if found.embedding_bytes:
        yield f"{size(found.embedding_bytes)} of embeddings"


@honeycomb.command(cls=Command)
@click.argument("query", nargs=-1, metavar="QUERY...")
@click.option("--start", metavar="NODE", help="Begin at this node instead.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=2_000, show_default=True, help="Budget of the text."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Walk edges above this score; default: as the store says.",
)
@click.option(
    "--walk",
    type=click.Choice(["best", "breadth"]),
    help="What comes first; default: best for memories alone.",
)
@click.option(
    "--entries", type=click.IntRange(min=1), default=1, show_default=True, help="Of a breadth-first walk."
)
@click.option("--no-overflow", is_flag=True, help="Stay in the main rings.")
@click.option(
    "--scope",
    type=click.Choice(["all", "nodes", "memories"]),
    default="all",
    show_default=True,
    help="What to enter.",
)
@click.option("--space", help="Enter memories of this space alone.")
@click.option("--session", help="Count the walk in this session, for the loop breaker.")
@click.option("--trace", is_flag=True, help="Show why each piece is there.")
def context(
    query: tuple[str, ...],
    *,
    start: str | None,
    max_tokens: int,
    threshold: float | None,
    walk: str | None,
    entries: int,
    no_overflow: bool,
    scope: str,
    space: str | None,
    session: str | None,
    trace: bool,
) -> None:
    """Print what a walk brings together.

    It begins where QUERY points, and ends where the budget of tokens does.
    """
    if not query and start is None:
        raise click.UsageError("Say what the context is for, or name a node with --start.")
    with state().opened(embeds=bool(query)) as hx:
        found = hx.honeycomb.jit_context(
            " ".join(query) if query else None,
            max_tokens,
            start=int(start) if start is not None and start.isdecimal() else start,
            entries=entries,
            threshold=threshold,
            overflow=not no_overflow,
            walk=walk,
            scope=scope,
            space=space,
            session=session,
        )
    if state().json:
        print_json(found.to_dict())
        return
    _show_context(found, trace=trace)


def _show_context(found: JitContext, *, trace: bool) -> None:
    if not found.pieces:
        note("Nothing was found to begin at, or nothing that fits.")
    elif trace:
        for piece in found.pieces:
            edge = piece.via
            way = (
                "entry" if edge is None else f"{edge.relationship_type} from {edge.from_id}, ring {edge.ring}"
            )
            head = f"{piece.id}  {piece.strength:.2f}  {way}, {count(piece.tokens, 'token')}"
            click.echo(click.style(head, dim=True))
            for line in hanging(clean(piece.text), indent=2, room=max(width() - 1, 40)):
                click.echo(line)
    else:
        click.echo(clean(found.text))
    limits = ", ".join(f"{name} {value:g}" for name, value in found.thresholds.items())
    note(
        f"{count(len(found.pieces), 'piece')}, {found.tokens:,} of {found.max_tokens:,} tokens; "
        f"thresholds: {limits}"
    )
    for words in found.notes:
        note(clean(words))
    _warn(found.safety)


def _warn(code: hexad.Safety) -> None:
    if (what := _LABELS.get(code.value)) is not None:
        note(f"The loop breaker sees {what} ({code.value}).")
