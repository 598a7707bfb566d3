"""`hexad spaces …`: named containers of memories, and what is redacted in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hexad.interfaces.cli.base import Group, note, parse_object, print_json, state
from hexad.interfaces.cli.render import clean, table, table_room

if TYPE_CHECKING:
    from hexad import SpaceInfo


@click.group(cls=Group)
@click.pass_context
def spaces(ctx: click.Context) -> None:
    """List and create spaces, and set what is redacted in them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _as_json(space: SpaceInfo) -> dict[str, Any]:
    return {
        "name": space.name,
        "memories": space.memories,
        "metadata": dict(space.metadata),
        "policies": dict(space.policies),
        "created_at": space.created_at.isoformat(),
        "updated_at": space.updated_at.isoformat(),
    }


@spaces.command("list")
def list_() -> None:
    """List all spaces."""
    with state().opened() as hx:
        found = hx.spaces.list()
    if state().json:
        print_json([_as_json(space) for space in found])
        return
    if not found:
        note("There is no space yet; `hexad remember` makes the first.")
        return
    rows = [
        (
            space.name,
            f"{space.memories:,}",
            f"{space.updated_at:%Y-%m-%d %H:%M}",
            json.dumps(dict(space.policies), ensure_ascii=False) if space.policies else "",
        )
        for space in found
    ]
    for line in table(rows, heads=("space", "memories", "updated", "policies"), room=table_room()):
        click.echo(line)


@spaces.command()
@click.argument("name")
@click.option("--metadata", metavar="JSON", help="A JSON object about the space.")
def create(name: str, metadata: str | None) -> None:
    """Create the space NAME."""
    with state().opened() as hx:
        space = hx.spaces.create(name, parse_object(metadata, "--metadata"))
    _show(space)


@spaces.command()
@click.argument("name")
@click.argument("policy", metavar="[JSON]", required=False)
@click.option("--pii", "pii", multiple=True, help="Redact this, such as email, phone or all; repeatable.")
@click.option("--env-allow", multiple=True, help="Keep this variable's value in .env files; repeatable.")
def policy(name: str, policy: str | None, pii: tuple[str, ...], env_allow: tuple[str, ...]) -> None:
    """Show the policy of the space NAME, or replace it.

    JSON replaces the whole policy; --pii and --env-allow replace one entry of it. A policy applies to what is
    written from now on.
    """
    wanted = parse_object(policy, "JSON")
    with state().opened() as hx:
        space = hx.spaces.get(name)
        entries = {"pii_redaction": list(pii), "env_allow": list(env_allow)}
        given = {key: values for key, values in entries.items() if values}
        if wanted is not None or given:
            space = hx.spaces.set_policy(name, {**(space.policies if wanted is None else wanted), **given})
    _show(space)


def _show(space: SpaceInfo) -> None:
    if state().json:
        print_json(_as_json(space))
        return
    click.echo(f"{space.name}  {json.dumps(dict(space.policies), ensure_ascii=False)}")


@spaces.command("write-file")
@click.argument("name")
def write_file(name: str) -> None:
    """Write the space NAME as a portable file.

    The file is JSON, in the store's folder spaces/; its path is printed.
    """
    with state().opened() as hx:
        path = hx.spaces.write_file(name)
    if state().json:
        print_json({"space": name, "path": str(path)})
    else:
        click.echo(clean(str(path)))
