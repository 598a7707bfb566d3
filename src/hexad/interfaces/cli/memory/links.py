"""`hexad memory link`, `unlink` and `links`: what belongs together, also across spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hexad.interfaces.cli.app.base import Command, note, print_json, state
from hexad.interfaces.cli.output.render import clean, count

if TYPE_CHECKING:
    from hexad import Link


@click.command(cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--kind", default="related", show_default=True, help="How, read from FROM to TO.")
def link(source: str, target: str, kind: str) -> None:
    """Link two memories by id or path, also of different spaces.

    `hexad recall --follow-links` and bundles with --follow-links show what an answer is linked with.
    """
    with state().opened() as hx:
        made = hx.link(source, target, kind=kind)
    if state().json:
        print_json(made.to_dict())
    else:
        click.echo(_line(made))


@click.command(cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--kind", help="Only the link of this kind; default: all from FROM to TO.")
def unlink(source: str, target: str, kind: str | None) -> None:
    """Remove the links from one memory to another."""
    with state().opened() as hx:
        removed = hx.unlink(source, target, kind=kind)
    if state().json:
        print_json({"removed": removed})
    elif removed:
        click.echo(f"{count(removed, 'link', 'links')} removed")
    else:
        note("There is no such link; `hexad memory links ID` lists those there are.")


@click.command(cls=Command)
@click.argument("id_or_path", metavar="ID_OR_PATH")
@click.option("--space", help="Look only in this space (paths may repeat across spaces).")
def links(id_or_path: str, space: str | None) -> None:
    """List a memory's links, from it and to it."""
    with state().opened() as hx:
        found = hx.links(id_or_path, space=space)
    if state().json:
        print_json([link.to_dict() for link in found])
        return
    if not found:
        note("It is linked with nothing.")
    for link in found:
        click.echo(_line(link))


def _line(made: Link) -> str:
    ends = [f"{end.id}  {clean(end.space)}:{clean(end.path)}" for end in (made.source, made.target)]
    return f"{ends[0]}\n  {click.style(made.kind, bold=True)} → {ends[1]}"
