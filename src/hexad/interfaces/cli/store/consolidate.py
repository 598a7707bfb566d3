"""`hexad consolidate`: put what is known in order, and say what was changed, and why."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

import click

from hexad.interfaces.cli.app.base import EXIT_INTERRUPTED, Command, note, print_json, state
from hexad.interfaces.cli.output.render import clean, count, size

if TYPE_CHECKING:
    from hexad import ConsolidationChange, ConsolidationReport, LayerSize

_SHOWN: Final = 20
_DONE: Final = {
    "promoted": "from sessions to the project",
    "confirmed": "said again",
    "done": "done",
    "merged": "merged",
    "dropped": "dropped from recall",
    "archived": "archived",
    "rescored": "weighed anew",
    "removed": "removed",
    "learned": "learned",
}


@click.command(cls=Command)
@click.option(
    "--scope",
    type=click.Choice(["session", "project", "user"]),
    help="What ended sessions left, the project by itself, or what is known of you; default: all three.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--archive-months", type=float, metavar="N", help="Archive what was untouched for so long; once."
)
@click.option("--all", "everything", is_flag=True, help="Show every change, not only the first of each kind.")
@click.pass_context
def consolidate(
    ctx: click.Context, *, scope: str | None, dry_run: bool, archive_months: float | None, everything: bool
) -> None:
    """Put what is known in order.

    What ended tasks left becomes memories of the project; duplicates are merged; what hardly matters or was untouched
    for long is archived; drafts, patterns and preferences that are not seen any more become less sure; layers over
    their quotas are made smaller. Nothing is purged, and what is pinned, decided or cited stays. Run again, it changes
    nothing. Ctrl-C ends it after the transaction in hand. `hexad maintain` does what is due by itself.
    """
    with state().opened() as hx, _until_interrupted() as stop:
        report = hx.consolidate(scope, dry_run=dry_run, archive_months=archive_months, stop=stop)
    if state().json:
        print_json(report.to_dict())
    else:
        _show(report, everything=everything)
    if report.interrupted:
        ctx.exit(EXIT_INTERRUPTED)


@contextmanager
def _until_interrupted() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C in the block ask for an end between two transactions."""
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        asked.append(number)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)


def _show(report: ConsolidationReport, *, everything: bool) -> None:
    for action, number in report.counts.items():
        would = "would be " if report.dry_run else ""
        click.echo(f"{click.style(f'{number:,}', bold=True)} {would}{_DONE[action]}")
        changes = [change for change in report.changes if change.action.value == action]
        for change in changes if everything else changes[:_SHOWN]:
            click.echo(f"  {_line(change)}")
        if len(changes) > _SHOWN and not everything:
            click.echo(f"  and {len(changes) - _SHOWN:,} more (--all shows them)")
    if not report.changes:
        click.echo("Everything is in order; nothing was changed.")
    for left in report.skipped:
        note(f"Left alone: {count(left.count, 'item')}: {clean(left.reason)}")
    for name, after in report.after.items():
        before = report.before.get(name, after)
        if (before.count, before.bytes) != (after.count, after.bytes):
            click.echo(f"{name}: {_size(before)} → {_size(after)}")
    for warning in report.warnings:
        note(clean(warning))
    for undo in report.undo:
        note(clean(undo))
    if report.interrupted:
        note("It was interrupted; what was done stays done, and the next run does the rest.")


def _line(change: ConsolidationChange) -> str:
    kept = "" if change.remains is None else f" into {change.remains}"
    sure = (
        ""
        if change.before is None or change.after is None
        else f" ({change.before:.2f} → {change.after:.2f})"
    )
    return clean(f"{', '.join(change.ids)}{kept}: {change.reason}{sure}")


def _size(found: LayerSize) -> str:
    quota = "" if found.quota is None else f" of {found.quota:,}"
    return f"{found.count:,}{quota} ({size(found.bytes)})"
