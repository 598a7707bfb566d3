"""`hexad docs copies`: documents as files that people edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

import hexad
from hexad.interfaces.cli.app.base import Command, confirm, note, print_json, state
from hexad.interfaces.cli.app.messages import spoken
from hexad.interfaces.cli.output.render import clean, clip, count, hanging, width

if TYPE_CHECKING:
    from hexad import CopiesReport, Hexad, WorkingCopy


@click.command(cls=Command)
@click.option("--read", is_flag=True, help="Take in what was done by hand: changes, and new files.")
@click.option("--write", is_flag=True, help="Write every copy anew; what was changed by hand is gone.")
@click.option("--dry-run", is_flag=True, help="Only say what --write would write over.")
@click.option(
    "--yes", is_flag=True, help="Do not ask before a copy that was changed by hand is written over."
)
def copies(*, read: bool, write: bool, dry_run: bool, yes: bool) -> None:
    """Show how the working copies compare with the documents.

    A copy is the same, missing, outdated, changed by hand, or a file that no document has.
    """
    if read and write:
        raise click.UsageError(
            "--read keeps what was done by hand, --write throws it away; give one of them."
        )
    if dry_run and not write:
        raise click.UsageError("--dry-run says what --write would write over; give both.")
    with state().opened() as hx:
        if read:
            _show_read(hx.xdb.documents.read_copies())
        elif write:
            _write(hx, dry_run=dry_run, yes=yes)
        else:
            _show_copies(hx.xdb.documents.copies())


def _show_copies(found: Sequence[WorkingCopy]) -> None:
    if state().json:
        print_json([copy.to_dict() for copy in found])
        return
    for copy in found:
        click.echo(f"{copy.state.value:9}  {clip(copy.path, width() - 11)}")
    if not found:
        note("There is no working copy.")


def _show_read(report: CopiesReport) -> None:
    if state().json:
        print_json(report.to_dict())
        return
    for done, paths in (
        ("created", report.created),
        ("updated", report.updated),
        ("restored", report.restored),
    ):
        for path in paths:
            click.echo(f"{done}  {clean(path)}")
    for path, reason in report.skipped:
        for line in hanging(f"skipped  {path}: {spoken(reason)}", indent=0, room=width()):
            click.echo(line, err=True)


def _write(hx: Hexad, *, dry_run: bool, yes: bool) -> None:
    wrong = [
        copy
        for copy in hx.xdb.documents.copies()
        if copy.document_id and copy.state is not hexad.CopyState.SAME
    ]
    by_hand = [copy for copy in wrong if copy.state is hexad.CopyState.CHANGED]
    if by_hand and not dry_run:
        what = count(len(by_hand), "copy that was changed by hand", "copies that were changed by hand")
        confirm(f"Write over {what}?", yes=yes, without="see with --dry-run which")
    paths = [copy.path for copy in wrong] if dry_run else hx.xdb.documents.write_copies()
    if state().json:
        print_json({"written": paths, "dry_run": dry_run})
        return
    for path in paths:
        click.echo(f"{'would be written' if dry_run else 'written'}  {clean(path)}")
    if not paths:
        note("Every working copy is as its document.")
