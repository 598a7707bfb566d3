"""`hexad decide` records a decision; `hexad why` prints what was decided about a path or a topic."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hexad.core.lines import single_line
from hexad.interfaces.cli.app.base import Command, note, read_stdin, several, state
from hexad.interfaces.cli.output.render import clean, hanging, show, width

if TYPE_CHECKING:
    from hexad import Decision, Hexad, Why


@click.command(cls=Command)
@click.argument("topic")
@click.option("--space", help="Only decisions of this space.")
@click.option("--limit", type=int, default=5, show_default=True, help="Maximum number of decisions.")
def why(topic: str, space: str | None, limit: int) -> None:
    """Print what was decided about TOPIC, and why.

    A path of the repository is taken first: the decisions that cite it, or a folder that it is in, and the commits
    that FILE, FILE:LINE, FILE:FIRST-LAST or FILE::SYMBOL comes from, with their reasons. Else TOPIC is looked for by
    its words. Prints nothing on stdout, with exit code 0, when nothing is recorded.
    """
    with state().opened() as hx:
        why = hx.governance.why(_from_root(topic, hx), space=space, limit=limit)
    show(why, table=_why_lines(why))
    for line in why.notes:
        note(clean(line))


def _from_root(topic: str, hx: Hexad) -> str:
    """Return a file named from the folder that one is in as the store calls it; anything else as it was typed."""
    root = hx.path.parent.resolve()
    for named in (topic, re.split("[:#]", topic, maxsplit=1)[0]):  # what follows is a line or a symbol
        try:
            file = Path(os.path.abspath(named))
            there = file.exists()
        except (OSError, ValueError):
            return topic
        if named and there and file.is_relative_to(root) and file != root:
            return file.relative_to(root).as_posix() + topic.removeprefix(named)
    # What is not there may be a file that was renamed or deleted, beside those of the folder that one is in.
    is_below = file.is_relative_to(root) and file.parent.is_dir() and file.suffix
    if named and is_below and " " not in named and not (root / named).exists():
        return file.relative_to(root).as_posix() + topic.removeprefix(named)
    return topic


def _why_lines(why: Why) -> Iterator[str]:
    if not why:
        note(f"No decision about {clean(why.topic)!r} is recorded; `hexad decide` records one.")
    room = width()
    for number, decision in enumerate(why.decisions):
        if number:
            yield ""
        yield from _decision_lines(decision, why, room=room)
        for older in why.before.get(decision.id, ()):
            yield ""
            yield from hanging(f"Before it: {single_line(older.title)}", indent=2, room=room)
            yield from _part_lines(older, why, indent=4, room=room)
    for number, commit in enumerate(why.commits):
        if number or why.decisions:
            yield ""
        yield click.style(clean(single_line(commit.title)), bold=True)
        told = commit.told(why.asked_at)
        yield from _lines_of(told, title=commit.title, id=commit.memory_id, indent=2, room=room)


def _decision_lines(decision: Decision, why: Why, *, room: int) -> Iterator[str]:
    yield click.style(clean(single_line(decision.title)), bold=True)
    yield from _part_lines(decision, why, indent=2, room=room)


def _part_lines(decision: Decision, why: Why, *, indent: int, room: int) -> Iterator[str]:
    told = decision.told(why.asked_at)
    yield from _lines_of(told, title=decision.title, id=decision.id, indent=indent, room=room)


def _lines_of(told: str, *, title: str, id: str, indent: int, room: int) -> Iterator[str]:
    texts = [line for line in told.split("\n") if line.strip() and line != single_line(title)]
    for line in [*texts, id]:
        yield from hanging(line, indent=indent, room=room)


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
@click.option("--key", help="What it decides, such as `orm`; supersedes the one decided before under it.")
@click.option(
    "--supersedes", metavar="ID", help="The decision, or its memory, that it supersedes; both are kept."
)
@click.option("--depends-on", multiple=True, metavar="ID", help="A memory it depends on; repeatable.")
@click.option("--by", metavar="NAME", help="Who decided; default: whoever opens the store.")
@click.option("--space", help="Space to store it in; default: that of the one it supersedes, else `project`.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--importance", type=float, default=0.8, show_default=True, help="0 to 1.")
@click.option(
    "--trust",
    type=click.Choice(["user", "agent", "tool", "web", "unknown"]),
    default="user",
    show_default=True,
    help="Trust level of its author.",
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
    show(
        decision.to_dict(now),
        table=_recorded_lines(decision, supersedes=options["supersedes"]),
    )


def _recorded_lines(decision: Decision, *, supersedes: str | None) -> Iterator[str]:
    yield f"{decision.id}  {clean(single_line(decision.title))}"
    if decision.status is not None and decision.status.value == "quarantined":
        note("It waits for a review: `hexad memory quarantine list`.")
    elif supersedes is not None and decision.supersedes is not None:
        note(f"It takes the place of {decision.supersedes}; both are kept.")
    if not decision.rationale:
        note("No reason was recorded; --because says it, and whoever asks why is told it.")
