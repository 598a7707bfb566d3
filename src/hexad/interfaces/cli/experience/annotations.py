"""`hexad xdb tag`, `untag`, `tags`, `comment`, `uncomment`, `comments`: what is said of experience."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from hexad.interfaces.cli.app.base import Command, confirm, note, state
from hexad.interfaces.cli.app.completion import tag_names
from hexad.interfaces.cli.experience.options import (
    TICKS,
    require_one_target,
    session_option,
    tag_of,
    target_options,
)
from hexad.interfaces.cli.experience.render import application_table, comment_lines, tag_kind, target
from hexad.interfaces.cli.output.render import clean, show, table_room, width

if TYPE_CHECKING:
    from hexad import Comment, TagApplication


_LAST_TICK = 1 << 53


@click.command(cls=Command)
@click.argument("tag", shell_complete=tag_names)
@target_options
@click.option("--confidence", type=float, default=1.0, show_default=True, help="0 to 1: confidence in it.")
@click.option("--note", "text", help="Why.")
def tag(*, tag: str, confidence: float, text: str | None, **given: Any) -> None:
    """Put TAG, a tag's id or name, on a timestep, event or range.

    A name that no tag has becomes a new custom tag.
    """
    require_one_target(given)
    with state().opened() as hx:
        use = hx.xdb.tag(tag, confidence=confidence, note=text, **given)
        used = tag_of(hx, tag)
    show({"id": use, "tag": used}, table=f"{use}  tagged  {clean(used.name)}  ({clean(tag_kind(used))})")


@click.command(cls=Command)
@click.argument("application")
def untag(application: str) -> None:
    """Remove one use of a tag, by its id APPLICATION.

    The tag stays, and so do its other uses; `hexad tags show TAG` lists them.
    """
    with state().opened() as hx:
        hx.xdb.untag(application)
    show({"id": application, "removed": True}, table=f"{clean(application)}  removed")


@click.command(cls=Command)
@click.argument("timestep")
@click.option("--inherited", is_flag=True, help="Also the concepts above those that it is tagged with.")
def tags(timestep: str, *, inherited: bool) -> None:
    """Show what TIMESTEP is tagged with, and by what.

    By itself, by its event, by a range that holds it.
    """
    with state().opened() as hx:
        uses = hx.xdb.get_applications_for_timestep(timestep, inherited=inherited)
        names = {tag.id: tag.name for tag in hx.xdb.get_tags_for_timestep(timestep, inherited=inherited)}
    show([{"tag": names.get(use.tag_id), **use.to_dict()} for use in uses], table=_tags_lines(uses, names))


def _tags_lines(uses: list[TagApplication], names: dict[str, str]) -> Iterator[str]:
    if not uses:
        note("It carries no tag.")
        return
    yield from application_table(uses, names, room=table_room())


@click.command(cls=Command)
@click.argument("text", required=False)
@target_options
@click.option("--edit", "edited", metavar="ID", help="Change what this comment says, instead of adding one.")
def comment(*, text: str | None, edited: str | None, **given: Any) -> None:
    """Add the comment TEXT to a timestep, an event or a range.

    With --edit the comment of this id says TEXT from now on; the older text is kept in the store.
    """
    if text is None:
        raise click.UsageError("Nothing to add: give a TEXT.")
    if edited is None:
        require_one_target(given)
    elif any(value is not None for value in given.values()):
        raise click.UsageError("--edit names a comment, which stays where it is: leave the target out.")
    with state().opened() as hx:
        if edited is None:
            comment = hx.xdb.get_comment(hx.xdb.comment(text, **given))
        else:
            comment = hx.xdb.edit_comment(edited, text)
    show(
        comment,
        table=f"{comment.id}  {'commented' if edited is None else 'edited'}  {clean(target(comment.target))}",
    )


@click.command(cls=Command)
@click.argument("comment")
@click.option("--dry-run", is_flag=True, help="Only report what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def uncomment(comment: str, *, dry_run: bool, yes: bool) -> None:
    """Remove a comment for good, by its id COMMENT.

    What it said before an edit goes too.
    """
    with state().opened() as hx:
        comment_info = hx.xdb.get_comment(comment)
        if not dry_run:
            confirm(
                f"Remove the comment {clean(comment_info.id)} on {clean(target(comment_info.target))} for good?",
                yes=yes,
                without="see with --dry-run what it says",
            )
            hx.xdb.remove_comment(comment)
    show({**comment_info.to_dict(), "dry_run": dry_run}, table=_uncomment_lines(comment_info, dry_run))


def _uncomment_lines(comment_info: Comment, dry_run: bool) -> Iterator[str]:
    yield f"{comment_info.id}  {'would be removed' if dry_run else 'removed'}"
    if dry_run:
        for line in comment_lines([comment_info], room=width()):
            note(line)


@click.command(cls=Command)
@session_option("Of this session.", required=True)
@click.option("--ticks", "tick_range", type=TICKS, metavar="A-B", help="Only on these ticks.")
def comments(*, session_id: str, tick_range: tuple[int, int] | None) -> None:
    """List the comments of a session, the oldest first.

    With --ticks those on these ticks, and on events and ranges that share one.
    """
    first, last = tick_range or (0, _LAST_TICK)
    with state().opened() as hx:
        hx.xdb.session(session_id)
        comments = hx.xdb.get_comments_for_range(session_id, first, last)
    show(comments, table=_comments_lines(comments))


def _comments_lines(comments: list[Comment]) -> Iterator[str]:
    yield from comment_lines(comments, room=width())
    if not comments:
        note("No comments.")
