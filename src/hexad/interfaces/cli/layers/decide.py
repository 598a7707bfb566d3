"""`hexad decide`: record what was decided, why, and instead of what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hexad.interfaces.cli.app.base import Command, note, print_json, read_stdin, several, state
from hexad.interfaces.cli.output.render import clean

if TYPE_CHECKING:
    from hexad import Decision


@click.command(cls=Command)
@click.argument("title")
@click.option(
    "--because", "rationale", default="", metavar="TEXT", help="The reason; `-` reads it from stdin."
)
@click.option("--description", default="", help="What it means in full, where the title does not say it.")
@click.option(
    "--instead-of", "alternatives", multiple=True, metavar="TEXT", help="What was not chosen; repeatable."
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="PATH",
    help="A path, document or address it is about; repeatable.",
)
@click.option(
    "--supersedes", metavar="ID", help="The decision, or its memory, whose place it takes; both are kept."
)
@click.option("--depends-on", multiple=True, metavar="ID", help="A memory it rests on; repeatable.")
@click.option("--by", metavar="NAME", help="Who decided; default: whoever opens the store.")
@click.option("--space", default="project", show_default=True, help="Where it is kept; made when new.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--importance", type=float, default=0.8, show_default=True, help="0 to 1.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="user",
    show_default=True,
    help="Who vouches for it.",
)
def decide(title: str, rationale: str, tags: Sequence[str], **options: Any) -> None:
    """Record a decision: TITLE says in one line what was decided.

    Decisions are only added. A later one supersedes an earlier one, and both are kept; `hexad why` tells them.
    """
    if rationale == "-":
        rationale = read_stdin().strip()
    with state().opened(create=True, embeds=True) as hx:
        decision = hx.governance.decide(title, rationale=rationale, tags=several(tags), **options)
        now = hx.clock.now()
    if state().json:
        print_json(decision.to_dict(now))
    else:
        _show(decision, supersedes=options["supersedes"])


def _show(decision: Decision, *, supersedes: str | None) -> None:
    click.echo(f"{decision.id}  {clean(decision.title)}")
    if decision.status is not None and decision.status.value == "quarantined":
        note("It waits for a review: `hexad memory quarantine list`.")
    elif supersedes is not None and decision.supersedes is not None:
        note(f"It takes the place of {decision.supersedes}; both are kept.")
    if not decision.rationale:
        note("No reason was recorded; --because says it, and whoever asks why is told it.")
