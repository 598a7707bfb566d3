"""`hexad recall`: the best answers, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from hexad.interfaces.cli.app.base import Command, note, several, state
from hexad.interfaces.cli.output.render import clean, clip, explanation_lines, hanging, hit_lines, show, width

if TYPE_CHECKING:
    from hexad import Hexad, Hits

_LEFT_OUT_MOST: Final = 5
"""So many are shown of what was left out for one reason."""


@click.command(cls=Command)
@click.argument("query")
@click.option(
    "--limit",
    type=int,
    help="Maximum number of hits, the best first. Default: 10; 50 in the order of time if QUERY wants several.",
)
@click.option(
    "--min-relevance",
    type=float,
    help="Leave out hits of less relevance, 0 to 1; 0 leaves out none. Default: all, or none if all have little.",
)
@click.option("--max-tokens", type=int, help="Token budget for the texts of all hits.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; repeated: with all of them.")
@click.option("--path", help="Only under this path (whole parts), or matching a pattern with *.")
@click.option("--space", "spaces", multiple=True, help="Only from this space; may be repeated.")
@click.option("--since", help="Only what was valid or written from this time on: RFC 3339 or a date.")
@click.option("--until", help="Only what was valid or written before this time: RFC 3339 or a date.")
@click.option("--as-of", help="State at this time: facts with the value they had. RFC 3339 or a date.")
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice(["session", "project", "user", "governance", "graph", "vector"]),
    help="Only this layer; may be repeated. Default: project, governance and vector, which are of memories.",
)
@click.option("--no-feedback", is_flag=True, help="Ignore feedback on earlier answers.")
@click.option("--explain", is_flag=True, help="Show each hit's score in parts, and what was considered.")
@click.option(
    "--semantic/--lexical",
    default=None,
    help="Insist on meaning, or search by words alone, which is faster; default: by both, as far as there are vectors.",
)
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Insist on the configured reranker, or do without it; default: use it if there is one.",
)
@click.option(
    "--full", is_flag=True, help="With --json: each hit's whole record, not only the passage that answers."
)
@click.option("--follow-links", is_flag=True, help="Also show what the hits are linked with, in any space.")
def recall(
    query: str,
    *,
    semantic: bool | None,
    rerank: bool | None,
    explain: bool,
    follow_links: bool,
    no_feedback: bool,
    full: bool,
    **options: Any,
) -> None:
    """Print what best answers QUERY, best first.

    A QUERY that wants several memories ("in what order did I ...", "how many times ...", "list all ...", "summarise how
    ...") gets them in the order of time, with their dates, unless --limit is given.

    Prints nothing on stdout, with exit code 0, when nothing is relevant; --min-relevance 0 shows what is nearest
    even then.
    """
    with state().opened(embeds=semantic is not False) as hx:
        hits = hx.recall(
            query,
            space=several(options.pop("spaces")),
            kinds=several(options.pop("kinds")),
            tags=several(options.pop("tags")),
            layers=several(options.pop("layers")),
            feedback=not no_feedback,
            explain=explain,
            semantic=semantic,
            rerank=rerank,
            follow_links=follow_links,
            **options,
        )
        left = _best_left_out(hits, hx)
    shown: object = None
    if state().json:
        answer = hits.to_dict(full=full)
        shown = answer if explain or follow_links else answer["hits"]
    show(shown, table=_lines(hits, left, query=query, at_all=options["min_relevance"] == 0))
    for line in hits.notes:
        note(
            line.replace("semantic=True", "--semantic")
        )  # a note is data, and no error that carries its argument


def _best_left_out(hits: Hits, hx: Hexad) -> dict[str, list[tuple[str, float, str]]]:
    """Return, for each reason to leave something out, the first that it hit: id, relevance and text."""
    if hits.explanation is None:
        return {}
    relevances = {row["id"]: row["relevance"] for row in hits.explanation.considered}
    best: dict[str, list[tuple[str, float, str]]] = {}
    for left in hits.dropped:
        rows, relevance = best.setdefault(left.reason, []), relevances.get(left.memory_id)
        if len(rows) < _LEFT_OUT_MOST and isinstance(relevance, float):
            rows.append((left.memory_id, relevance, hx.get(left.memory_id).raw))
    return best


def _lines(
    hits: Hits, left: Mapping[str, Sequence[tuple[str, float, str]]], *, query: str, at_all: bool
) -> Iterator[str]:
    room = width()
    for number, hit in enumerate(hits, start=1):
        yield from hit_lines(
            number,
            hit,
            query=query,
            explain=hits.explanation is not None,
            room=room,
            dated=hits.sequence is not None,
        )
    if not hits:
        none_passes = any(line.startswith("No memory") for line in hits.notes)
        hint = "" if at_all or none_passes else "; --min-relevance 0 shows what is nearest"
        note(f"Nothing {'' if at_all else 'relevant '}was found{hint}.")
    for linked in hits.linked:
        memory, way = linked.memory, "→" if linked.link.target.id == linked.memory.id else "←"
        head = f"{linked.of} {way} {linked.link.kind} {way} {memory.id}  {memory.space}:{memory.path}"
        yield click.style(clean(head), bold=True)
        yield from hanging(clean(memory.summary_micro), indent=4, room=room)
    if hits.explanation is not None:
        yield from explanation_lines(hits.explanation, room=room)
        for reason, number in Counter(dropped.reason for dropped in hits.dropped).items():
            yield from hanging(f"dropped: {number:,} {reason}", indent=0, room=room)
            for memory_id, relevance, text in left.get(reason, ()):
                yield clip(f"  {memory_id}  relevance {relevance:.2f}  {' '.join(text.split())}", room)
            if 0 < len(left.get(reason, ())) < number:
                yield "  …"
