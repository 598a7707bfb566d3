"""`hexad honeycomb show`, `stats` and `context`: the association graph, seen from a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, Group, note, state
from hexad.interfaces.cli.output.render import clean, clean_lines, clip, count, hanging, show, size, width
from hexad.interfaces.cli.store.ingest import waiting_links

if TYPE_CHECKING:
    from hexad import Hexad, HoneycombEdge, HoneycombNode, HoneycombStats, JitContext, JitPiece, Memory

_DOT_TEXT: Final = 40
_NARROWEST: Final = 39
_UNBROKEN: Final = "\u00a0"
_DIGITS_MOST: Final = 19
"""No number of a node has more."""
_LABELS: Final = {"OK": None, "LOOP_DETECTED": "a loop", "SESSION_EXPIRED": "an expired session"}
_PARTS: Final = {
    "chunk": "one chunk",
    "summary_long": "its long summary",
    "summary_short": "its short summary",
    "summary_micro": "its micro summary",
}


@click.group(cls=Group)
@click.pass_context
def honeycomb(ctx: click.Context) -> None:
    """The association graph: neighbours and walks."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@dataclass(slots=True, kw_only=True)
class _Neighbourhood:
    """What is within some steps of a node: each node once, and the edges that were looked at."""

    nodes: dict[int, HoneycombNode] = field(default_factory=dict)
    edges: list[HoneycombEdge] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)
    """What each node is called in a line."""
    left: int = 0


@honeycomb.command("show")
@click.argument("node", metavar="NODE")
@click.option(
    "--depth", type=click.IntRange(1, 6), default=2, show_default=True, help="How many steps from NODE."
)
@click.option("--overflow", is_flag=True, help="Show the edges of overflow rings, too.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Maximum number of nodes."
)
@click.option("--dot", is_flag=True, help="Print it as DOT, for Graphviz.")
def show_(node: str, *, depth: int, overflow: bool, limit: int, dot: bool) -> None:
    """Show a node and its neighbours as a tree.

    NODE is the number of a node, or the id or path of a memory; a number is a node's where there is one. Each node
    is opened once; → lists the edges to those that stand elsewhere in the tree.
    """
    if dot and state().json:
        raise click.UsageError("Choose one of --dot and --json.")
    with state().opened() as hx:
        start = _named(hx, node)
        neighbourhood = _around(hx, start, depth=depth, overflow=overflow, limit=limit)
    show(
        {
            "start": start.id,
            "nodes": [*neighbourhood.nodes.values()],
            "edges": neighbourhood.edges,
            "left_out": neighbourhood.left,
        },
        table=_show_lines(dot, neighbourhood, start, overflow, depth),
    )


def _show_lines(
    dot: bool, neighbourhood: _Neighbourhood, start: HoneycombNode, overflow: bool, depth: int
) -> Iterator[str]:
    yield from _dot(neighbourhood) if dot else _tree(neighbourhood, start, overflow=overflow, depth=depth)
    if neighbourhood.left:
        more, steps = count(neighbourhood.left, "more node", "more nodes"), count(depth, "step")
        note(f"{more if depth == 1 else 'At least ' + more} within {steps}; --limit shows them.")


def _named(hx: Hexad, name: str) -> HoneycombNode:
    """Return the node that somebody means: by its number, else by the id or path of a memory."""
    if not (name.isascii() and name.isdecimal() and len(name) <= _DIGITS_MOST):
        return hx.honeycomb.get(name)
    numbered, memory = _got(hx, int(name)), _got(hx, name)
    if numbered is not None and memory is not None and numbered.id != memory.id:
        note(f"{name} is the number of a node. The memory of that id or path is node {memory.id}.")
    return numbered or memory or hx.honeycomb.get(int(name))


def _got(hx: Hexad, node: int | str) -> HoneycombNode | None:
    try:
        return hx.honeycomb.get(node)
    except hexad.NotFound:
        return None


def _around(hx: Hexad, start: HoneycombNode, *, depth: int, overflow: bool, limit: int) -> _Neighbourhood:
    neighbourhood = _Neighbourhood(nodes={start.id: start})
    left: set[int] = set()
    level = [start]
    for _ in range(depth):
        following = []
        for node in level:
            for edge in _edges(node, overflow=overflow):
                if edge.target_id not in neighbourhood.nodes:
                    if len(neighbourhood.nodes) >= limit:
                        left.add(edge.target_id)
                        continue
                    target = _got(hx, edge.target_id)
                    if target is None:  # removed meanwhile
                        continue
                    neighbourhood.nodes[target.id] = target
                    following.append(target)
                neighbourhood.edges.append(edge)
        level = following
    neighbourhood.left = len(left)
    neighbourhood.words = {node.id: _words(hx, node) for node in neighbourhood.nodes.values()}
    return neighbourhood


def _edges(node: HoneycombNode, *, overflow: bool) -> Iterator[HoneycombEdge]:
    yield from node.neighbors
    if overflow:
        for ring in node.fractal_layer:
            yield from ring


def _tree(
    neighbourhood: _Neighbourhood, start: HoneycombNode, *, overflow: bool, depth: int
) -> Iterator[str]:
    room = max(width() - 1, _NARROWEST)
    shown = {start.id}

    def said(node: HoneycombNode) -> str:
        return _said(node, neighbourhood.words[node.id])

    def lines(node: HoneycombNode, head: str, left: int) -> Iterator[str]:
        edges = [
            edge for edge in _edges(node, overflow=overflow) if left and edge.target_id in neighbourhood.nodes
        ]
        # Who stands below here is opened here, not below a later one: level by level, as a walk goes.
        opened = [edge for edge in edges if edge.target_id not in shown]
        shown.update(edge.target_id for edge in opened)
        others = [edge for edge in edges if edge not in opened]
        for edge in opened:
            last = edge is opened[-1] and not others
            target = neighbourhood.nodes[edge.target_id]
            yield clip(
                f"{head}{'└─' if last else '├─'} {edge.relevance_score:.2f} {_type(edge)}  {said(target)}",
                room,
            )
            yield from lines(target, f"{head}{'   ' if last else '│  '}", left - 1)
        if others:
            yield from _elsewhere(others, head=head, room=room)

    yield clip(said(start), room)
    if start.memory_id is not None:
        yield click.style(clip(f"   {start.memory_id}", room), dim=True)
    yield from lines(start, "", depth)
    beyond = sum(len(ring) for ring in start.fractal_layer)
    if beyond and not overflow:
        yield from hanging(
            f"and {count(beyond, 'edge')} in overflow: --overflow shows them", indent=0, room=room
        )


def _type(edge: HoneycombEdge) -> str:
    return clean(edge.relationship_type) + (f" ring {edge.ring}" if edge.ring else "")


def _elsewhere(edges: Sequence[HoneycombEdge], *, head: str, room: int) -> Iterator[str]:
    """Give the edges to nodes that stand elsewhere in the tree: whose texts need not be said again."""
    each = (f"{edge.target_id} {_type(edge)} {edge.relevance_score:.2f}" for edge in edges)
    whole = ", ".join(words.replace(" ", _UNBROKEN) for words in each)
    for line in textwrap.wrap(
        f"→{_UNBROKEN}{whole}",
        room,
        initial_indent=f"{head}└─ ",
        subsequent_indent=f"{head}     ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield clip(line.replace(_UNBROKEN, " "), room)


def _said(node: HoneycombNode, words: str) -> str:
    rest = "" if node.is_active else " (inactive)"
    return f"{node.id}{rest}  {words}"


def _words(hx: Hexad, node: HoneycombNode) -> str:
    """Return what a node is called in a line: code by its path and what it defines, all else by its text.

    Files of code begin alike, with imports and licences.
    """
    memory = _memory(hx, node.memory_id)
    if memory is None or memory.kind != "code":
        return clean(" ".join(node.data.split()))
    names = dict.fromkeys(chunk.heading for chunk in memory.chunks if chunk.heading)
    return clean(": ".join(filter(None, (memory.path, ", ".join(names)))))


def _memory(hx: Hexad, memory_id: str | None) -> Memory | None:
    if memory_id is None:
        return None
    try:
        return hx.get(memory_id)
    except hexad.NotFound:  # removed meanwhile
        return None


def _dot(neighbourhood: _Neighbourhood) -> Iterator[str]:
    yield "digraph honeycomb {"
    yield "  node [shape=hexagon];"
    for node in neighbourhood.nodes.values():
        style = "" if node.is_active else ", style=dashed"
        label = _quoted(f"{node.id}: {clip(neighbourhood.words[node.id], _DOT_TEXT)}")
        yield f"  {node.id} [label={label}{style}];"
    for edge in neighbourhood.edges:
        style = ", style=dashed" if edge.ring else ""
        label = _quoted(f"{edge.relevance_score:.2f} {clean(edge.relationship_type)}")
        yield f"  {edge.from_id} -> {edge.target_id} [label={label}{style}];"
    yield "}"


def _quoted(text: str) -> str:
    # In a label a backslash begins an escape, and `&lt;` stands for `<`.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{escaped}"'


@honeycomb.command()
def stats() -> None:
    """Show the graph in numbers.

    Nodes, edges by type, degrees, overflow, components, and the nodes that walks pass most.
    """
    with state().opened() as hx:
        stats = hx.honeycomb.stats()
        there = [(_got(hx, node), rank) for node, rank in stats.hubs]
        hubs = [(_said(node, _words(hx, node)), rank) for node, rank in there if node is not None]
        waiting = waiting_links(hx)
    show(stats, table=_stats_lines(waiting, stats, hubs))


def _stats_lines(waiting: str | None, stats: HoneycombStats, hubs: list[tuple[str, float]]) -> Iterator[str]:
    if waiting is not None:
        note(waiting)
    if not stats.nodes and waiting is not None:
        return
    if not stats.nodes:
        note(
            "The graph is empty. A memory becomes a node when it has its vector (`hexad maintain`), and "
            "`hx.honeycomb.add_node` adds others."
        )
        return
    room = max(width() - 1, _NARROWEST)
    for words in _numbers(stats):
        yield from hanging(words, indent=0, room=room)
    for said, rank in hubs:
        yield clip(f"  {rank:6.1%}  {said}", room)


def _numbers(stats: HoneycombStats) -> Iterator[str]:
    own = stats.nodes - stats.memory_nodes
    yield (
        f"{count(stats.nodes, 'node')}: {count(stats.memory_nodes, 'memory', 'memories')}, {own:,} added "
        f"(there is room for {stats.max_nodes:,}); {stats.inactive:,} inactive"
    )
    yield (
        f"{count(stats.edges, 'edge')}: {stats.edges - stats.overflow_edges:,} in main rings, "
        f"{stats.overflow_edges:,} in overflow; {stats.explicit_edges:,} inserted, the others derived"
    )
    if stats.relations:
        kinds = ", ".join(f"{clean(name)} {number:,}" for name, number in stats.relations.items())
        yield f"types of edges: {kinds}"
    degrees = ", ".join(
        f"{number:,} with {k or 'none'}" for k, number in enumerate(stats.out_degrees) if number
    )
    if degrees:
        yield f"nodes by edges in the main ring: {degrees}"
    if stats.overflow_rings:
        rings = ", ".join(f"{number:,} with {depth}" for depth, number in stats.overflow_rings.items())
        yield f"nodes by overflow rings: {rings}"
    yield (
        f"{count(stats.components, 'component')}, the largest of {count(stats.largest_component, 'node')}; "
        f"{count(stats.isolated, 'node')} without any edge"
    )
    if stats.embedding_bytes:
        yield f"{size(stats.embedding_bytes)} of embeddings of added nodes"
    if stats.hubs:
        yield "hubs, and how much of a long random walk passes there:"


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
    help="Order of the walk; default: best for memories alone.",
)
@click.option(
    "--entries",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of entry nodes of a breadth-first walk.",
)
@click.option(
    "--relation", "relations", multiple=True, help="Walk edges of this type alone; may be repeated."
)
@click.option("--no-overflow", is_flag=True, help="Stay in the main rings.")
@click.option(
    "--scope",
    type=click.Choice(["all", "nodes", "memories"]),
    default="all",
    show_default=True,
    help="Which nodes to visit.",
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
    relations: tuple[str, ...],
    no_overflow: bool,
    scope: str,
    space: str | None,
    session: str | None,
    trace: bool,
) -> None:
    """Print the context that a walk collects.

    It begins where QUERY points, and ends where the budget of tokens does. Each text comes below its node's number
    and, of a memory, its id, its path and where in its source it stands.
    """
    if not query and start is None:
        raise click.UsageError("Say what the context is for, or name a node with --start.")
    with state().opened(embeds=bool(query)) as hx:
        context = hx.honeycomb.jit_context(
            " ".join(query) if query else None,
            max_tokens,
            start=None if start is None else _named(hx, start).id,
            entries=entries,
            threshold=threshold,
            relations=relations or None,
            overflow=not no_overflow,
            walk=walk,
            scope=scope,
            space=space,
            session=session,
        )
        origins = [_origin(piece, _memory(hx, piece.memory_id)) for piece in context.pieces]
    show(context, table=_context_lines(context, origins, trace=trace))


def _context_lines(context: JitContext, origins: Sequence[str], *, trace: bool) -> Iterator[str]:
    room = max(width() - 1, _NARROWEST)
    if not context.pieces:
        note(_why_nothing(context))
    for piece, origin in zip(context.pieces, origins, strict=True):
        for words in (origin, _why(piece))[: 1 + trace]:
            for line in hanging(words, indent=0, room=room):
                yield click.style(line, dim=True)
        # Only our own lines begin at the margin: no text can pass for the head of another piece.
        text = clean_lines(piece.text)
        yield from hanging(text, indent=2, room=room) if trace else (textwrap.indent(text, "  ", bool),)
    limits = ", ".join(f"{name} {value:g}" for name, value in context.thresholds.items())
    left = ", ".join(f"{number:,} {reason}" for reason, number in context.left_out.items())
    note(
        f"{count(len(context.pieces), 'piece')}, {context.tokens:,} of {context.max_tokens:,} tokens; "
        f"thresholds: {limits}" + (f"; left out: {left}" if left else "")
    )
    for words in context.notes:
        note(clean(words))
    _warn(context.safety)


def _origin(piece: JitPiece, memory: Memory | None) -> str:
    """Say which node a piece is, and of a memory its id, its path and where in its source the text stands."""
    if memory is None:
        return str(piece.id)
    chunk = next(
        (chunk for chunk in memory.chunks if memory.raw[chunk.start : chunk.end] == piece.text), None
    )
    parts = [str(piece.id), memory.id, clean(memory.path)]
    if memory.source_id is not None:
        parts.append(clean(memory.source_id) + (f":{chunk.first_line}" if chunk is not None else ""))
    if chunk is not None and chunk.heading:
        parts.append(clean(chunk.heading))
    return "  ".join(parts)


def _why(piece: JitPiece) -> str:
    """Say how a piece was reached, how strongly, and how near it is to the query."""
    edge = piece.via
    parts = [
        "entry" if edge is None else f"from {edge.from_id} over {_type(edge)}",
        f"strength {piece.strength:.2f}",
    ]
    if piece.relevance_to_focus is not None:
        parts.append(f"cosine {piece.relevance_to_focus:.2f}")
    parts.append(count(piece.tokens, "token"))
    if piece.form in _PARTS:
        parts.append(f"{_PARTS[piece.form]} in place of the whole")
    return f"{piece.id}  {', '.join(parts)}"


def _why_nothing(context: JitContext) -> str:
    if context.visited:
        return f"Nothing that was found fits into {count(context.max_tokens, 'token')}."
    return "Where the walk begins is inactive." if context.left_out else "Nothing was found to begin at."


def _warn(code: hexad.Safety) -> None:
    if (what := _LABELS.get(code.value)) is not None:
        note(f"The loop breaker sees {what} ({code.value}).")
