"""`hexad xdb buds` and `hexad xdb bud …`: what may be learned, and its examples."""

from __future__ import annotations

from typing import Final

import click

import hexad
from hexad.interfaces.cli.app.base import Command, Group, note, print_json, state
from hexad.interfaces.cli.app.completing import bud_names, concept_ids, tag_names
from hexad.interfaces.cli.experience.lines import tag_kind, tag_table
from hexad.interfaces.cli.experience.options import tag_of
from hexad.interfaces.cli.experience.recall import print_steps
from hexad.interfaces.cli.output.progress import waiting
from hexad.interfaces.cli.output.render import clean, table_room

_STATUSES: Final = [bud_status.value for bud_status in hexad.BudStatus]


@click.command(cls=Command)
@click.option("--status", type=click.Choice(_STATUSES), help="Only those that stand here.")
def buds(status: str | None) -> None:
    """List the buds: tags that may become something learned."""
    with state().opened() as hx:
        found = hx.xdb.get_buds(status)
    if state().json:
        print_json([tag.to_dict() for tag in found])
        return
    if not found:
        note("No buds yet; `hexad xdb bud create` makes one." if status is None else "No bud stands there.")
        return
    for line in tag_table(found, room=table_room()):
        click.echo(line)


@click.group(cls=Group)
@click.pass_context
def bud(ctx: click.Context) -> None:
    """Create, promote and move buds, list their examples."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _show(tag: hexad.Tag, *, done: str) -> None:
    if state().json:
        print_json(tag.to_dict())
    else:
        click.echo(f"{clean(tag.id)}  {done}  {clean(tag.name)}  ({clean(tag_kind(tag))})")


@bud.command()
@click.argument("name")
@click.argument("description")
@click.option(
    "--concept",
    "concepts",
    multiple=True,
    metavar="ID",
    shell_complete=concept_ids,
    help="A concept that it is near to; repeatable.",
)
def create(name: str, description: str, *, concepts: tuple[str, ...]) -> None:
    """Create a bud; it stands at collecting.

    Then put it on experience with `hexad xdb tag`.
    """
    with state().opened() as hx:
        made = hx.xdb.create_bud_tag(name, description, related_concepts=concepts)
    _show(made, done="bud")


@bud.command()
@click.argument("tag", shell_complete=tag_names)
def promote(tag: str) -> None:
    """Make a tag a bud that stands at collecting.

    What it was put on stays.
    """
    with state().opened() as hx:
        made = hx.xdb.promote_to_bud(tag_of(hx, tag).id)
    _show(made, done="bud")


@bud.command()
@click.argument("tag", shell_complete=bud_names)
def ready(tag: str) -> None:
    """Note that a bud has enough examples."""
    with state().opened() as hx:
        moved = hx.xdb.mark_bud_ready(tag_of(hx, tag).id)
    _show(moved, done=moved.bud_status.value if moved.bud_status else "")


@bud.command()
@click.argument("tag", shell_complete=bud_names)
@click.argument("status", metavar="STATUS", type=click.Choice(_STATUSES))
def status(tag: str, status: str) -> None:
    """Move a bud to a status."""
    with state().opened() as hx:
        moved = hx.xdb.update_bud_status(tag_of(hx, tag).id, status)
    _show(moved, done=status)


@bud.command()
@click.argument("tag", shell_complete=bud_names)
@click.option("--limit", type=int, default=100, show_default=True, help="How many at most.")
@click.option("--offset", type=int, default=0, help="Leave out so many of the first.")
def examples(tag: str, *, limit: int, offset: int) -> None:
    """Show the timesteps that carry a bud.

    By themselves, by their event, or in a range.
    """
    with state().opened() as hx:
        with waiting("Looking"):
            steps = hx.xdb.get_bud_examples(tag_of(hx, tag).id, limit=limit, offset=offset)
    print_steps(steps)
