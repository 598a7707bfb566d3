"""`hexad memory …`: single memories by id or path, and the links between them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

import hexad
from hexad.interfaces.cli.app.base import Command, Function, Group, confirm, note, note_more, several, state
from hexad.interfaces.cli.memory.scopes import check_scope, list_scope, say_removed, scope_options, wipe_scope
from hexad.interfaces.cli.memory.spaces import DRY_RUN, collect, empty, gc_options
from hexad.interfaces.cli.output.render import (
    clean,
    clean_lines,
    count,
    fitted,
    memory_lines,
    memory_table,
    show,
    table_room,
    width,
)

if TYPE_CHECKING:
    from hexad import ErasureReceipt, Hexad, Link, Memory


_ORDERS = ("updated", "created", "path", "relevance", "kind")
_STATUSES = ("active", "archived", "superseded", "quarantined", "any")


def _one(function: Function) -> Function:
    """Add the argument and the option that name one memory."""
    function = click.option("--space", help="Look only in this space (paths may repeat across spaces).")(
        function
    )
    return click.argument("id_or_path", metavar="ID_OR_PATH")(function)


def _change(change: Callable[[Hexad], Memory], done: str, *, embeds: bool = False) -> Memory:
    with state().opened(embeds=embeds) as hx:
        memory = change(hx)
    show(memory, table=f"{memory.id}  {done}  {clean(memory.path)}")
    return memory


def _restore(id_or_path: str, space: str | None) -> None:
    _change(lambda hx: hx.restore(id_or_path, space=space), "restored", embeds=True)


@click.group(
    cls=Group,
    lazy={
        "browse": "hexad.interfaces.cli.browse.browse:browse",
        "export": "hexad.interfaces.cli.memory.scopes:export",
        "quarantine": "hexad.interfaces.cli.memory.quarantine:quarantine",
    },
)
@click.pass_context
def memory(ctx: click.Context) -> None:
    """List, browse, pin, tag, link, export and prune memories."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@memory.command("list")
@click.option("--space", help="Only this space.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; repeated: with all of them.")
@click.option("--path", help="Only under this path (whole parts), or matching a pattern with *.")
@click.option(
    "--status", type=click.Choice(_STATUSES), default="active", show_default=True, help="Only this status."
)
@click.option("--text", help="Only with these words in it, ignoring case.")
@click.option("--pinned/--unpinned", default=None, help="Only those that are pinned, or that are not.")
@click.option("--order", type=click.Choice(_ORDERS), default="updated", show_default=True, help="Sort order.")
@click.option("--limit", type=int, default=50, show_default=True, help="Maximum number.")
@click.option("--offset", type=int, default=0, help="Skip this many at the start.")
@scope_options
def list_(
    *,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    status: str,
    limit: int,
    scope: str | None,
    session: str | None,
    **options: Any,
) -> None:
    """List memories, the last changed first.

    With --scope, all memories of the scope whatever their status; only --limit and --offset select among them. Of a
    session its working set is listed too; without --session all working sets are.
    """
    check_scope(scope, session, names_one=False)
    if scope is not None:
        _refuse_others(allowed=("scope", "session", "limit", "offset"))
        list_scope(scope, session, limit=limit, offset=options["offset"])
        return
    chosen = None if status == "any" else status
    with state().opened() as hx:
        memories = hx.memories(
            kinds=several(kinds), tags=several(tags), status=chosen, limit=limit, **options
        )
    show(memories, table=_list_lines(memories, chosen, limit))


def _list_lines(memories: list[Memory], chosen: str | None, limit: int) -> Iterator[str]:
    if not memories:
        note("No memory matches.")
        return
    yield from memory_table(memories, room=table_room(), status=chosen is None)
    if len(memories) == limit:
        note_more(count(limit, "memory", "memories"))


def _refuse_others(*, allowed: tuple[str, ...]) -> None:
    """Raise `UsageError` for an option that was typed and is not among those."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        source = ctx.get_parameter_source(name)
        if (
            name not in allowed
            and source is click.core.ParameterSource.COMMANDLINE
            and parameter.expose_value
        ):
            raise click.UsageError(
                f"{parameter.opts[0]} does not go with --scope, which is all that is held."
            )


@memory.command("show")
@_one
def show_(id_or_path: str, space: str | None) -> None:
    """Show a whole record.

    Every field, the stored text, and its near-duplicates.
    """
    with state().opened() as hx:
        memory = hx.get(id_or_path, space=space)
        near = hx.near_duplicates(memory.id)
    alike = [{"id": other, "similarity": similarity} for other, similarity in near]
    show({**memory.to_dict(), "near_duplicates": alike}, table=_memory_lines(memory, near))


def _memory_lines(memory: Memory, near: Sequence[tuple[str, float]]) -> Iterator[str]:
    yield from memory_lines(memory, room=width())
    for other, similarity in near:
        note(f"Near-duplicate: {other} ({similarity:.2f})")


@memory.command()
@_one
def history(id_or_path: str, space: str | None) -> None:
    """Show the earlier versions of a memory, oldest first."""
    with state().opened() as hx:
        versions = hx.history(id_or_path, space=space)
    show([dict(version) for version in versions], table=_history_lines(versions))


def _history_lines(versions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not versions:
        note("There is no earlier version.")
    for version in versions:
        head = f"version {version['version']}, until {version['replaced_at']}"
        yield click.style(head, bold=True)
        yield textwrap.indent(
            clean_lines(str(version["raw"])), "  ", bool
        )  # so that no text begins a version


@memory.command()
@_one
def pin(id_or_path: str, space: str | None) -> None:
    """Pin a memory: it ranks before others."""
    _change(lambda hx: hx.pin(id_or_path, space=space), "pinned")


@memory.command()
@_one
def unpin(id_or_path: str, space: str | None) -> None:
    """Unpin a memory."""
    _change(lambda hx: hx.unpin(id_or_path, space=space), "unpinned")


@memory.command()
@_one
def restore(id_or_path: str, space: str | None) -> None:
    """Bring an archived memory back into recall."""
    _restore(id_or_path, space)


class _Tagging(Command):
    """Takes `-word` for a tag to take away, not for a row of short options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, tags to take away set apart first."""
        return super().parse_args(ctx, [_APART + arg if _REMOVAL.match(arg) else arg for arg in args])


_APART = "\x00"
_REMOVAL = re.compile(r"-(?![-C]|h$)")


@memory.command(cls=_Tagging)
@_one
@click.argument("changes", metavar="[+TAG|-TAG]...", nargs=-1)
@click.option("--add", multiple=True, metavar="TAG", help="Add this tag, as +TAG does; repeatable.")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag, as -TAG does; repeatable.")
def tag(
    *,
    id_or_path: str,
    space: str | None,
    changes: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
) -> None:
    """Add tags to a memory, or remove them: `+new -old`.

    Everything else stays. A tag without a sign is added.
    """
    added = [*add, *(change.removeprefix("+") for change in changes if not change.startswith(_APART))]
    removed = [*remove, *(change[2:] for change in changes if change.startswith(_APART))]
    if not added and not removed:
        raise click.UsageError("Nothing to change: give +TAG to add one, -TAG to take one away.")
    with state().opened() as hx:
        changed = hx.tag(id_or_path, add=added, remove=removed, space=space)
    show(changed, table=f"{changed.id}  tagged  {clean(' '.join(changed.tags)) or '(no tags)'}")


@memory.command()
@click.argument("space")
@gc_options
def gc(*, space: str, ttl_days: float | None, dry_run: bool, purge: bool, yes: bool) -> None:
    """Archive the expired memories of the space SPACE.

    The same as `hexad spaces gc`.
    """
    collect(space, ttl_days=ttl_days, dry_run=dry_run, purge=purge, yes=yes)


@memory.command()
@click.argument("id_or_path", metavar="[ID_OR_PATH]", required=False)
@click.option("--id", "id_", metavar="ID", help="The same, as an option.")
@click.option("--space", help="Look only in this space (paths may repeat across spaces).")
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(*, id_or_path: str | None, id_: str | None, space: str | None, dry_run: bool, yes: bool) -> None:
    """Remove a memory for good.

    Its history goes too, and what was derived from it alone; `hexad forget` archives it instead.
    """
    if (id_or_path is None) == (id_ is None):
        raise click.UsageError("Give the memory once: ID_OR_PATH, or --id ID.")
    name = id_or_path if id_or_path is not None else str(id_)
    with state().opened() as hx:
        memory = hx.get(name, space=space)
        if not dry_run:
            what = f"{memory.id} ({clean(memory.path)})"
            confirm(f"Remove the memory {what} for good?", yes=yes, without=DRY_RUN)
        receipt = hx.forget(memory.id, purge=True, confirm=True, dry_run=dry_run)
    show(receipt, table=_delete_lines(memory, dry_run, receipt))


def _delete_lines(memory: Memory, dry_run: bool, receipt: ErasureReceipt) -> Iterator[str]:
    yield f"{memory.id}  {'would be gone' if dry_run else 'deleted'}  {clean(memory.path)}"
    say_removed([receipt])


@memory.command()
@click.argument("space", required=False)
@scope_options
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def wipe(*, space: str | None, scope: str | None, session: str | None, dry_run: bool, yes: bool) -> None:
    """Remove all memories of a space, or a scope, for good.

    Exactly one of SPACE and --scope. Archived memories and their history go too; a space and its policy stay, its
    files and exports, and what was made of it in other spaces: `hexad forget --space SPACE --purge` takes all of that.
    Of a scope everything goes that `hexad memory export` shows: memories, recorded experience, tags and comments,
    documents; the ledger keeps its records without their contents.
    """
    check_scope(scope, session)
    if (space is None) == (scope is None):
        raise click.UsageError("Give exactly one of SPACE and --scope.")
    if scope is not None:
        wipe_scope(scope, session, dry_run=dry_run, yes=yes)
        return
    wiped = empty(str(space), dry_run=dry_run, yes=yes, create=False)
    if wiped is None:
        return
    space_info, removed = wiped
    show(
        {**space_info.to_dict(), "removed": {"memories": removed}},
        table=f"{clean(str(space))}  wiped  {count(removed, 'memory', 'memories')}",
    )


@memory.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--kind", default="related", show_default=True, help="How, read from FROM to TO.")
def link(source: str, target: str, kind: str) -> None:
    """Link two memories by id or path, also of different spaces.

    `hexad recall --follow-links` and bundles with --follow-links show what an answer is linked with. --kind supersedes
    says that TO is out of date, confirms what was found so, or undoes `unlink`.
    """
    with state().opened() as hx:
        before = hx.links(source)
        link = hx.link(source, target, kind=kind)
    show(link, table=_link_line(link))
    if kind == "supersedes":
        for opposite in before:
            if (opposite.kind, opposite.source.id) == (kind, link.target.id):
                ends = f"{opposite.source.id} superseded {link.source.id}"
                note(f"It replaces the opposite link ({opposite.reason}): {ends}.")


@memory.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--kind", help="Only the link of this kind; default: all from FROM to TO.")
def unlink(source: str, target: str, kind: str | None) -> None:
    """Remove the links from one memory to another.

    A link of the kind supersedes is not found again: both texts hold. Without such a link it ends with exit code 3.
    """
    with state().opened() as hx:
        removed = hx.unlink(source, target, kind=kind)
    if not removed:
        named = "link" if kind is None else f"link of the kind {kind!r}"
        raise hexad.NotFound(
            f"There is no {named} from {source!r} to {target!r}; `hexad memory links {source}` lists those there are."
        )
    show({"removed": removed}, table=f"{count(removed, 'link', 'links')} removed")


@memory.command()
@click.argument("id_or_path", metavar="ID_OR_PATH")
@click.option("--space", help="Look only in this space (paths may repeat across spaces).")
def links(id_or_path: str, space: str | None) -> None:
    """List a memory's links, from it and to it."""
    with state().opened() as hx:
        links = hx.links(id_or_path, space=space)
    show(links, table=_links_lines(links))


def _links_lines(links: Sequence[Link]) -> Iterator[str]:
    if not links:
        note("It is linked with nothing.")
    for link in links:
        yield _link_line(link)


def _link_line(link: Link) -> str:
    ends = [f"{end.id}  {clean(end.space)}:{clean(end.path)}" for end in (link.source, link.target)]
    reason = "" if link.confidence is None else f" ({link.reason}, {link.confidence:.2f})"
    second = "\n".join(fitted(f"  {link.kind}{reason} → {ends[1]}"))
    return "\n".join([*fitted(ends[0]), second.replace(link.kind, click.style(link.kind, bold=True), 1)])
